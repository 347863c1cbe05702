/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Inside the canvas: what its files share. */
#ifndef __GST_CCL_CANVAS_PRIVATE_H__
#define __GST_CCL_CANVAS_PRIVATE_H__

#include "gstcclcanvas.h"

#include "base/gstcclvector.h"

G_BEGIN_DECLS

struct _GstCclCanvas
{
  guint width, height, stride;
  guint8 *pixels;
  cairo_surface_t *surface;
  cairo_t *cairo;
  guint columns, rows;
  guint8 *tiles;                /* per tile: whether it was drawn on */
  guint8 *coarse;               /* space for a map of larger tiles */
  guint *open;                  /* per column: 1 + index of the region that starts there and may grow downwards */
  GstCclVector regions;         /* of GstVideoRectangle, in pixels, inside the picture */
  gboolean empty;
};

/* The tiles that were drawn on, as regions: exactly these tiles, or at most `max` regions around them. Array of
 * GstVideoRectangle, valid until the next call. */
const GstCclVector *gst_ccl_canvas_find_regions (GstCclCanvas * canvas, guint max);

G_END_DECLS

#endif
