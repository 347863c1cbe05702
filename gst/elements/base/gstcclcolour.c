/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclcolour.h"

#include <math.h>

GstCclColour
gst_ccl_colour_of_argb (guint32 argb)
{
  return (GstCclColour) {
    (argb >> 16 & 255) / 255.0, (argb >> 8 & 255) / 255.0, (argb & 255) / 255.0, (argb >> 24) / 255.0};
}

/* Steps of the golden ratio around the circle of hues separate neighbouring numbers. Every second colour is paler, so that the
 * next nearest hues differ too. */
GstCclColour
gst_ccl_colour_of_number (guint64 number)
{
  const gdouble hue = 6 * fmod (number * 0.6180339887498949, 1), saturation = number & 1 ? 0.9 : 0.6;
  gdouble part[3];

  for (gint i = 0; i < 3; i++) {
    /* Distance from this primary in sixths of the circle. The part is maximal within one sixth, and minimal from two on. */
    const gdouble distance = fabs (fmod (hue - 2 * i + 9, 6) - 3);
    part[i] = 1 - saturation * CLAMP (distance - 1, 0, 1);
  }
  /* Pure blue is too dark to be seen on asphalt. */
  if (part[2] > part[0] && part[2] > part[1])
    part[1] = MAX (part[1], 0.45);
  return (GstCclColour) { part[0], part[1], part[2], 1};
}
