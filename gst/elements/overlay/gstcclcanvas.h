/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A transparent picture of the size of a frame that knows where it has been drawn on: only there it costs anything to
 * blend it into the frame, to hand it on as overlay rectangles, and to wipe it. */
#ifndef __GST_CCL_CANVAS_H__
#define __GST_CCL_CANVAS_H__

#include <cairo.h>
#include <gst/gst.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

typedef struct _GstCclCanvas GstCclCanvas;

/* NULL when there is no memory for it, or the size is none. */
GstCclCanvas *gst_ccl_canvas_new (guint width, guint height);
void gst_ccl_canvas_free (GstCclCanvas * canvas);

guint gst_ccl_canvas_get_width (const GstCclCanvas * canvas);
guint gst_ccl_canvas_get_height (const GstCclCanvas * canvas);

/* To draw with. Whoever draws says where, with one of the touch functions: what is drawn elsewhere is not seen, and
 * never wiped. */
cairo_t *gst_ccl_canvas_get_cairo (GstCclCanvas * canvas);
void gst_ccl_canvas_touch (GstCclCanvas * canvas, gdouble x0, gdouble y0, gdouble x1, gdouble y1);
/* Everything within `radius` of the line; coordinates up to GST_CCL_CANVAS_FAR. */
void gst_ccl_canvas_touch_line (GstCclCanvas * canvas, gdouble x0, gdouble y0, gdouble x1, gdouble y1, gdouble radius);
#define GST_CCL_CANVAS_FAR 65536

gboolean gst_ccl_canvas_is_empty (const GstCclCanvas * canvas);
void gst_ccl_canvas_wipe (GstCclCanvas * canvas);

/* Can frames of this kind, in system memory, be blended into? */
gboolean gst_ccl_canvas_can_blend (const GstVideoInfo * info);
/* `frame` is mapped for reading and writing. Returns the pixels it went through. */
guint64 gst_ccl_canvas_blend (GstCclCanvas * canvas, GstVideoFrame * frame);

/* Adds its rectangles, GST_CCL_CANVAS_RECTANGLES at most, after those of `under` (taken; may be NULL); NULL when there
 * are none at all. */
GstVideoOverlayComposition *gst_ccl_canvas_compose (GstCclCanvas * canvas, GstVideoOverlayComposition * under,
    guint64 * pixels);
#define GST_CCL_CANVAS_RECTANGLES 64

G_END_DECLS

#endif
