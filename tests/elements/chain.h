/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The whole chain, and a stream of frames through it. */
#ifndef CHAIN_TEST_H
#define CHAIN_TEST_H

#include <gst/ccl/ccl.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <string.h>

#include "support/harness.h"
#include "support/upstream.h"

#define FRAME (GST_SECOND / 25)

typedef struct
{
  gint width, height;
  GstVideoFormat format;
} Picture;

typedef struct
{
  GstHarness *harness;
  GstBus *bus;
  GstVideoInfo info;
  const Picture *picture;
  guint n;                      /* frames pushed */
  GstClockTime time;            /* of the next */
  GQueue expected;              /* timestamps of what is in the chain */
  guint depth;                  /* maximum number of frames in ccllabel's queue */

  /* What came out. */
  guint frames, with_blobs, merged, zone_messages, motion_messages;
  guint64 newest, oldest_allowed;       /* ids of tracks */
  GHashTable *lost;
  gboolean is_meddled_with;     /* by another thread */
} Stream;

#ifdef HAVE_OVERLAY
#define N_ELEMENTS 7
#else
#define N_ELEMENTS 6
#endif

extern const gchar *const elements[N_ELEMENTS];
extern const Picture pictures[3];
GstElement *element (Stream * stream, const gchar * name);
void set_zones (Stream * stream, guint version);
void set_picture (Stream * stream, const Picture * picture);
void open_stream (Stream * stream);
void close_stream (Stream * stream);
void check_frame (Stream * stream, GstBuffer * buffer);

/* Until no more than `left` frames are in the chain. */
void pull_frames (Stream * stream, guint left);
void push_frame (Stream * stream, GstClockTime pts);
void next_frame (Stream * stream);

/* Sanitizers and valgrind keep memory for their own ends, and look for leaks themselves: GStreamer's tracer, which is
 * never freed, would be one. */
gboolean memory_is_ours (void);

/* Both ways are empty; so is the overlay's cache of texts, the size of which goes up and down. */
void settle (Stream * stream);

/* Each adds the tests of a file. */
void chain_add_stream_tests (Suite * suite);
void chain_add_threads_tests (Suite * suite);
void chain_add_pools_tests (Suite * suite);

#endif
