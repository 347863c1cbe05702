/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Texts on dark backgrounds that do not cover each other. */
#ifndef __GST_CCL_TEXTS_H__
#define __GST_CCL_TEXTS_H__

#include <glib.h>

#include "gstcclpen.h"

G_BEGIN_DECLS

typedef struct _GstCclTexts GstCclTexts;

/* Used by one thread at a time. */
GstCclTexts *gst_ccl_texts_new (void);
void gst_ccl_texts_free (GstCclTexts * texts);

/* `description`: as pango_font_description_from_string() reads it; without a size it follows the shorter side of the
 * canvas. */
void gst_ccl_texts_set_font (GstCclTexts * texts, const gchar * description);

/* Starts a canvas without texts. `frame`: number of the frame, by which texts that are not drawn lose their pictures. */
void gst_ccl_texts_begin (GstCclTexts * texts, const GstCclPen * pen, guint64 frame);
void gst_ccl_texts_end (GstCclTexts * texts);

/* Number of texts whose pictures are kept, and the bytes of these. */
guint gst_ccl_texts_n_kept (const GstCclTexts * texts, gsize * n_bytes);

/* Each draws a text at the first place that no other text covers. FALSE: there is none, and nothing is drawn.
 * Above, below, in or beside a box: */
gboolean gst_ccl_texts_draw_beside (GstCclTexts * texts, GstCclPen * pen, const gchar * words, const GstCclBox * box,
    GstCclColour colour);
/* Centred on a point, or as near to it as the canvas allows: */
gboolean gst_ccl_texts_draw_at (GstCclTexts * texts, GstCclPen * pen, const gchar * words, const gdouble * point,
    GstCclColour colour);
/* In the top left corner: */
gboolean gst_ccl_texts_draw_in_corner (GstCclTexts * texts, GstCclPen * pen, const gchar * words, GstCclColour colour);

G_END_DECLS

#endif
