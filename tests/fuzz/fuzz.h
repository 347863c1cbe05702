/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A target takes one input, made of any bytes, and must neither crash nor break what it asserts. libFuzzer calls it, or
 * replay.c with the inputs of the corpus. */
#ifndef CCL_FUZZ_H
#define CCL_FUZZ_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* The target: tests/fuzz/TARGET.c. */
int LLVMFuzzerTestOneInput (const guint8 * data, gsize size);

/* Starts GStreamer: plain.c without any plugin, pipe.c with our elements. */
int LLVMFuzzerInitialize (int *argc, char ***argv);

/* For LLVMFuzzerInitialize(): no plugin is loaded. Critical messages end the program, because a wrong argument for a function is
 * a fault of ours. */
void fuzz_init (void);

/* ---------------------------------------------------------------- an input as a source of values */

typedef struct
{
  const guint8 *at, *end;
} FuzzBytes;

static inline gboolean
fuzz_is_empty (const FuzzBytes * bytes)
{
  return bytes->at >= bytes->end;
}

/* 0 behind the end. */
static inline guint8
fuzz_byte (FuzzBytes * bytes)
{
  return fuzz_is_empty (bytes) ? 0 : *bytes->at++;
}

static inline guint
fuzz_below (FuzzBytes * bytes, guint limit)
{
  return fuzz_byte (bytes) % limit;
}

static inline gboolean
fuzz_flag (FuzzBytes * bytes)
{
  return fuzz_byte (bytes) & 1;
}

static inline guint64
fuzz_bits (FuzzBytes * bytes, guint n_bytes)
{
  guint64 value = 0;

  for (guint i = 0; i < n_bytes; i++)
    value |= (guint64) fuzz_byte (bytes) << 8 * i;
  return value;
}

/* Small numbers, limits of types, or any bits. */
gint64 fuzz_integer (FuzzBytes * bytes);
gdouble fuzz_double (FuzzBytes * bytes);

/* At most 255 bytes without a zero, perhaps no UTF-8. (transfer full) */
gchar *fuzz_text (FuzzBytes * bytes);

/* The input as text: with a zero behind it. (transfer full) */
gchar *fuzz_whole_text (const guint8 * data, gsize size);

/* ---------------------------------------------------------------- elements between two pads */

typedef struct
{
  GstElement *bin;
  GstPad *src, *sink;           /* of the target: src feeds the elements, sink takes what they push */
} FuzzPipe;

/* `line` is one of elements in a row, as gst-launch-1.0 takes it. */
void fuzz_pipe_open (FuzzPipe * pipe, const gchar * line);
void fuzz_pipe_close (FuzzPipe * pipe);

/* Both take the event or buffer. */
gboolean fuzz_pipe_event (FuzzPipe * pipe, GstEvent * event);
GstFlowReturn fuzz_pipe_push (FuzzPipe * pipe, GstBuffer * buffer);

/* What happens in streams besides frames: flushes, gaps, segments, the end of the stream, late frames, tracks from downstream. */
void fuzz_pipe_disturb (FuzzPipe * pipe, FuzzBytes * bytes);

G_END_DECLS

#endif
