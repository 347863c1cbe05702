/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "upstream.h"

guint
n_reconfigures (GstHarness * harness)
{
  GstEvent *event;
  guint n = 0;

  while ((event = gst_harness_try_pull_upstream_event (harness))) {
    n += GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE;
    gst_event_unref (event);
  }
  return n;
}

static GstPadProbeReturn
answer_with_limited_pool (GstPad * pad, GstPadProbeInfo * info, gpointer max)
{
  GstQuery *const query = GST_PAD_PROBE_INFO_QUERY (info);
  GstVideoInfo video;
  GstCaps *caps;

  (void) pad;
  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  gst_query_parse_allocation (query, &caps, NULL);
  fail_unless (gst_video_info_from_caps (&video, caps));
  gst_query_add_allocation_pool (query, NULL, video.size, 2, GPOINTER_TO_UINT (max));
  return GST_PAD_PROBE_HANDLED;
}

void
limit_pool (GstPad * pad, guint max)
{
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PUSH, answer_with_limited_pool,
      GUINT_TO_POINTER (max), NULL);
}

guint
ask_for_buffers (GstHarness * harness)
{
  GstCaps *const caps = gst_pad_get_current_caps (harness->srcpad);
  GstQuery *const query = gst_query_new_allocation (caps, TRUE);
  guint min = 0;

  gst_caps_unref (caps);
  fail_unless (gst_pad_peer_query (harness->srcpad, query));
  for (guint i = 0; i < gst_query_get_n_allocation_pools (query); i++)
    gst_query_parse_nth_allocation_pool (query, i, NULL, NULL, &min, NULL);
  gst_query_unref (query);
  return min;
}

gboolean
query_latency (GstPad * pad, GstClockTime * min)
{
  GstQuery *const query = gst_query_new_latency ();
  const gboolean ok = gst_pad_query (pad, query);

  gst_query_parse_latency (query, NULL, min, NULL);
  gst_query_unref (query);
  return ok;
}

GstClockTime
harness_latency (GstHarness * harness)
{
  GstPad *const pad = gst_pad_get_peer (harness->sinkpad);
  GstClockTime min = GST_CLOCK_TIME_NONE;

  fail_unless (query_latency (pad, &min));
  gst_object_unref (pad);
  return min;
}
