/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The polygons of the property `ignore`: "x,y;x,y;x,y|x,y;...". */
#ifndef __GST_CCL_IGNORE_H__
#define __GST_CCL_IGNORE_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* One array of x, y (gdouble) per polygon. NULL: `error` names the character. NULL and "" are no polygons.
 * (transfer full) */
GPtrArray *gst_ccl_ignore_parse (const gchar * text, GError ** error);

/* Fills the polygons with 1 in a map of width x height bytes, `width` bytes a row, for frames of frame_width x frame_height
 * pixels. Coordinates of a polygon are pixels of the frame, or fractions of it if none is above 1. FALSE: out of memory. */
gboolean gst_ccl_ignore_fill (GPtrArray * polygons, gdouble frame_width, gdouble frame_height, guint8 * map,
    guint width, guint height);

G_END_DECLS

#endif
