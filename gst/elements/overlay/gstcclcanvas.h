/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A transparent picture of the size of a frame. It keeps a map of the tiles that were drawn on. So blending it into a frame,
 * making overlay rectangles and clearing it take time for these tiles only. */
#ifndef __GST_CCL_CANVAS_H__
#define __GST_CCL_CANVAS_H__

#include <cairo.h>
#include <gst/gst.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

typedef struct _GstCclCanvas GstCclCanvas;

/* NULL without memory, or if a side is 0 or above 32767. */
GstCclCanvas *gst_ccl_canvas_new (guint width, guint height);
void gst_ccl_canvas_free (GstCclCanvas * canvas);

guint gst_ccl_canvas_get_width (const GstCclCanvas * canvas);
guint gst_ccl_canvas_get_height (const GstCclCanvas * canvas);

/* The caller draws with this, and marks the area with one of the touch functions. Pixels outside the marked areas are neither
 * shown nor cleared. */
cairo_t *gst_ccl_canvas_get_cairo (GstCclCanvas * canvas);
void gst_ccl_canvas_touch (GstCclCanvas * canvas, gdouble x0, gdouble y0, gdouble x1, gdouble y1);
/* Marks all within `radius` of the line. Lines beyond +-GST_CCL_CANVAS_FAR are ignored. */
void gst_ccl_canvas_touch_line (GstCclCanvas * canvas, gdouble x0, gdouble y0, gdouble x1, gdouble y1, gdouble radius);
#define GST_CCL_CANVAS_FAR 65536

gboolean gst_ccl_canvas_is_empty (const GstCclCanvas * canvas);
void gst_ccl_canvas_wipe (GstCclCanvas * canvas);

/* Whether the canvas can be blended into frames with these caps in system memory. */
gboolean gst_ccl_canvas_can_blend (const GstVideoInfo * info);
/* `frame` is mapped for reading and writing. Returns the number of pixels that were visited. */
guint64 gst_ccl_canvas_blend (GstCclCanvas * canvas, GstVideoFrame * frame);

/* Adds at most GST_CCL_CANVAS_RECTANGLES rectangles above those of `under` (transfer full; may be NULL), and their pixels to
 * `pixels`. NULL: there are no rectangles. */
GstVideoOverlayComposition *gst_ccl_canvas_compose (GstCclCanvas * canvas, GstVideoOverlayComposition * under,
    guint64 * pixels);
#define GST_CCL_CANVAS_RECTANGLES 64

G_END_DECLS

#endif
