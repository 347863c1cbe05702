/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Elements that hold frames back while the GPU works on them: what the elements around have to know of it. */
#ifndef __GST_CCL_HELD_H__
#define __GST_CCL_HELD_H__

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

/* The time so many frames take, at 25 frames a second where the caps do not say. */
GstClockTime gst_ccl_held_latency (const GstVideoInfo * info, guint n_frames);
void gst_ccl_held_add_latency (GstQuery * query, GstClockTime latency);

/* How many may be held back: upstream, which takes its buffers from a pool of some size, would else wait for those we hold, for
 * ever. Of the streaming thread. */
typedef struct
{
  guint granted;                /* for how many it has buffers; G_MAXUINT: it never asked for a pool */
  guint asked;                  /* for how many it was told to ask; not told again */
  guint32 stream;               /* seqnum of the start of the last one; none: GST_SEQNUM_INVALID */
  gboolean started;             /* the element was, and no stream since */
} GstCclHeld;

/* At the start of the element. */
void gst_ccl_held_start (GstCclHeld * held);

/* At the start of a stream. Upstream that went on while the element was stopped, be it alone or with a queue before it, sends
 * the same event again, and has the pool it had. */
void gst_ccl_held_start_stream (GstCclHeld * held, GstEvent * event);

/* In an allocation query: a pool has to do without so many. */
void gst_ccl_held_ask_for_buffers (GstCclHeld * held, GstQuery * query, guint n_frames);

gboolean gst_ccl_held_has_room (const GstCclHeld * held, guint n_frames);

/* There is no room for so many: upstream is told, once, to ask for buffers again. */
void gst_ccl_held_want_room (GstCclHeld * held, GstBaseTransform * transform, guint n_frames);

/* What may leave next, NULL when nothing may; `all`: before something that must not overtake the frames, so none is held
 * back. */
typedef GstFlowReturn (*GstCclHeldNext) (gpointer self, gboolean all, GstBuffer ** output);

/* Pushes all frames held: before anything that must not overtake them. Some are left after an error. */
GstFlowReturn gst_ccl_held_drain (GstBaseTransform * transform, GstCclHeldNext next);

G_END_DECLS

#endif
