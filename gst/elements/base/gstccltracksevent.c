/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltracksevent.h"

static void
append_int (GValue * array, gint number)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_INT);
  g_value_set_int (&value, number);
  gst_value_array_append_and_take_value (array, &value);
}

static void
append_box (GValue * array, const GstCclTrackBox * box)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, GST_TYPE_ARRAY);
  append_int (&value, box->x);
  append_int (&value, box->y);
  append_int (&value, box->width);
  append_int (&value, box->height);
  gst_value_array_append_and_take_value (array, &value);
}

GstEvent *
gst_ccl_tracks_event_new (const GstCclTrackBoxes * boxes)
{
  GstStructure *const structure = gst_structure_new (GST_CCL_TRACKS_EVENT, "width", G_TYPE_UINT, boxes->width,
      "height", G_TYPE_UINT, boxes->height, NULL);
  GValue array = G_VALUE_INIT;

  g_value_init (&array, GST_TYPE_ARRAY);
  for (guint i = 0; i < boxes->n; i++)
    append_box (&array, &boxes->boxes[i]);
  gst_structure_take_value (structure, "boxes", &array);
  return gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM, structure);
}

/* FALSE: not four ints, or nothing inside. */
static gboolean
read_box (const GValue * value, GstCclTrackBox * box)
{
  gint numbers[4];

  if (!GST_VALUE_HOLDS_ARRAY (value) || gst_value_array_get_size (value) != G_N_ELEMENTS (numbers))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    const GValue *const number = gst_value_array_get_value (value, i);

    if (!G_VALUE_HOLDS_INT (number))
      return FALSE;
    numbers[i] = g_value_get_int (number);
  }
  *box = (GstCclTrackBox) {
  numbers[0], numbers[1], numbers[2], numbers[3]};
  return box->width > 0 && box->height > 0;
}

const gchar *
gst_ccl_tracks_event_parse (GstEvent * event, GstCclTrackBoxes * boxes)
{
  const GstStructure *const structure = gst_event_get_structure (event);
  const GValue *const array = gst_structure_get_value (structure, "boxes");

  if (!gst_structure_get_uint (structure, "width", &boxes->width)
      || !gst_structure_get_uint (structure, "height", &boxes->height)
      || !boxes->width || !boxes->height || boxes->width > CCL_MAX_SIZE || boxes->height > CCL_MAX_SIZE)
    return "the size of its frame is missing or impossible";
  if (!array || !GST_VALUE_HOLDS_ARRAY (array))
    return "it has no boxes";
  if (gst_value_array_get_size (array) > CCL_MOTION_MAX_BOXES)
    return "it has too many boxes";
  boxes->n = gst_value_array_get_size (array);
  for (guint i = 0; i < boxes->n; i++)
    if (!read_box (gst_value_array_get_value (array, i), &boxes->boxes[i]))
      return "a box is not four ints with a size above 0";
  return NULL;
}
