/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Draws objects, their trails, zones and texts onto a canvas. */
#ifndef __GST_CCL_DRAWING_H__
#define __GST_CCL_DRAWING_H__

#include <gst/gst.h>
#include <gst/ccl/ccl.h>
#include "gstcclcanvas.h"
#include "base/gstcclenums.h"

G_BEGIN_DECLS

typedef struct
{
  guint draw;                   /* GstCclDraw */
  gint color_by;                /* GstCclColorBy */
  guint32 colour;               /* ARGB */
  gdouble line_width;           /* pixels; 0: by the shorter side of the frame */
  guint trail_length;           /* frames */
} GstCclDrawingStyle;

typedef struct _GstCclDrawing GstCclDrawing;

GstCclDrawing *gst_ccl_drawing_new (void);
void gst_ccl_drawing_free (GstCclDrawing * drawing);

/* `description`: see gst_ccl_texts_set_font(). */
void gst_ccl_drawing_set_font (GstCclDrawing * drawing, const gchar * description);
#define GST_CCL_DRAWING_FONT "Sans Bold"

/* Forgets the trails and the colours of tracks. */
void gst_ccl_drawing_reset (GstCclDrawing * drawing);

/* Draws the zones and the objects in the metadata of `metas`: blobs, or regions of interest where there are no blobs.
 * `is_new`: the metadata belong to this frame, so trails grow. FALSE: there is no
 * memory for this number of objects, and nothing is drawn. */
gboolean gst_ccl_drawing_draw (GstCclDrawing * drawing, GstCclCanvas * canvas, const GstCclDrawingStyle * style,
    GstBuffer * metas, gboolean is_new, guint * n_objects);

G_END_DECLS

#endif
