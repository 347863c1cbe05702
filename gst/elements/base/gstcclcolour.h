/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Colours of numbers. */
#ifndef __GST_CCL_COLOUR_H__
#define __GST_CCL_COLOUR_H__

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  gdouble red, green, blue, alpha;
} GstCclColour;

GstCclColour gst_ccl_colour_of_argb (guint32 argb);

/* Numbers close to each other have colours that differ. */
GstCclColour gst_ccl_colour_of_number (guint64 number);

G_END_DECLS

#endif
