/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The assignment of colours to tracks. */
#ifndef __GST_CCL_PALETTE_H__
#define __GST_CCL_PALETTE_H__

#include <glib.h>

#include "base/gstcclcolour.h"

G_BEGIN_DECLS

/* Number of frames for which the colour and the trail of an object are kept after it was last seen, in case it returns. */
#define GST_CCL_MAX_UNSEEN_FRAMES 90

/* Number of colours that tracks share. */
#define GST_CCL_PALETTE_SIZE 24

typedef struct _GstCclPalette GstCclPalette;

GstCclPalette *gst_ccl_palette_new (void);
void gst_ccl_palette_free (GstCclPalette * palette);
void gst_ccl_palette_reset (GstCclPalette * palette);

/* Gives each track without a colour the colour that differs most from those in the frame. An id of 0 is no track. `frame`:
 * number of the frame, by which unseen tracks lose their colours. */
void gst_ccl_palette_assign (GstCclPalette * palette, const guint64 * track_ids, guint n, guint64 frame);

GstCclColour gst_ccl_palette_colour_of_track (const GstCclPalette * palette, guint64 track_id);

G_END_DECLS

#endif
