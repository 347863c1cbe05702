/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclinband.h"

#define NAME "ccl-event"

void
gst_ccl_inband_push (GstBaseTransform * transform, const GstStructure * structure, const gchar * event)
{
  GstStructure *const copy = gst_structure_copy (structure);
  gchar *const element = gst_object_get_name (GST_OBJECT (transform));

  gst_structure_set_name (copy, NAME);
  gst_structure_set (copy, "element", G_TYPE_STRING, element, "event", G_TYPE_STRING, event, NULL);
  g_free (element);
  gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (transform), gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, copy));
}

gboolean
gst_ccl_inband_is_event (GstEvent * event)
{
  return gst_event_has_name (event, NAME);
}
