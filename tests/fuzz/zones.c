/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The text of zones, and cclzone with the zones that are valid. */
#include "fuzz.h"

#include <math.h>

#include "zone/gstcclzones.h"

static void
check_rule (const GstCclZoneRule * rule)
{
  g_assert_true (rule->name && *rule->name);
  g_assert_cmpuint (rule->n_points, >=, rule->kind == GST_CCL_ZONE_LINE ? 2 : 3);
  g_assert_cmpuint (rule->n_points, <=, GST_CCL_ZONE_POINTS_MAX);
  for (guint i = 0; i < 2 * rule->n_points; i++)
    g_assert_true (isfinite (rule->points[i]));
  g_assert_true (rule->min_area >= 0);
  g_assert_cmpuint (rule->n_classes, <=, GST_CCL_ZONE_CLASSES_MAX);
}

static void
use_zones (const gchar * text)
{
  FuzzPipe pipe;
  GstCaps *const caps = gst_caps_from_string ("video/x-raw,format=GRAY8,width=16,height=8,framerate=25/1");
  GstElement *zone;
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  fuzz_pipe_open (&pipe, "cclzone name=zone ! cclmeta2json name=json");
  zone = gst_bin_get_by_name (GST_BIN (pipe.bin), "zone");
  g_object_set (zone, "zones", text, NULL);
  gst_object_unref (zone);
  fuzz_pipe_event (&pipe, gst_event_new_caps (caps));
  fuzz_pipe_event (&pipe, gst_event_new_segment (&segment));
  fuzz_pipe_push (&pipe, gst_buffer_new_allocate (NULL, 16 * 8, NULL));
  fuzz_pipe_close (&pipe);
  gst_caps_unref (caps);
}

int
LLVMFuzzerTestOneInput (const guint8 * data, gsize size)
{
  gchar *const text = fuzz_whole_text (data, size);
  GError *error = NULL;
  GstCclZoneSet *const set = gst_ccl_zone_set_new (text, &error);

  g_assert_true ((set == NULL) == (error != NULL));
  if (set) {
    g_assert_cmpuint (set->n_rules, <=, GST_CCL_MAX_ZONES);
    for (guint i = 0; i < set->n_rules; i++)
      check_rule (&set->rules[i]);
    gst_ccl_zone_set_free (set);
    use_zones (text);
  }
  g_clear_error (&error);
  g_free (text);
  return 0;
}
