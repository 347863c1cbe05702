/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmetricnames.h"

#include <string.h>

#define COUNTER "counter"
#define GAUGE "gauge"

/* Several elements share a field only where it means the same. */
static const GstCclMetricName fields[] = {
  {"frames", "gstccl_frames_total", COUNTER, "Frames that the element took."},
  {"skipped", "gstccl_frames_skipped_total", COUNTER, "Frames that passed without analysis."},
  {"late", "gstccl_frames_late_total", COUNTER, "Frames that were late for the sink (QoS), not analysed."},
  {"truncated", "gstccl_frames_truncated_total", COUNTER, "Frames with more components than the table takes."},
  {"components", "gstccl_components_total", COUNTER, "Components that were found."},
  {"volumes", "gstccl_volumes_total", COUNTER, "Volumes that were labelled."},
  {"batch-avg", "gstccl_batch_average_frames", GAUGE, "Frames launched together, on average since the start."},
  {"batch-max", "gstccl_batch_max_frames", GAUGE, "Frames launched together, at most since the start."},
  {"gpu", "gstccl_gpu_index", GAUGE, "The GPU of the analysis; -1: none."},
  {"gpu-changes", "gstccl_gpu_changes_total", COUNTER, "Changes to another GPU after a failure."},
  {"host-bytes", "gstccl_host_memory_bytes", GAUGE, "Memory of the analysis on the host."},
  {"device-bytes", "gstccl_device_memory_bytes", GAUGE, "Memory of the analysis on the GPU."},

  {"learning", "gstccl_frames_learning_total", COUNTER, "Frames of the warm-up."},
  {"with-motion", "gstccl_frames_with_motion_total", COUNTER, "Frames with motion."},
  {"global-changes", "gstccl_global_changes_total", COUNTER, "Changes of the whole picture, such as of light."},
  {"area-ratio", "gstccl_motion_area_ratio", GAUGE, "Share of moving pixels in the last frame."},

  {"detections", "gstccl_detections_total", COUNTER, "Blobs, regions or detections that the tracker took."},
  {"tracks", "gstccl_tracks", GAUGE, "Tracks now."},
  {"started", "gstccl_tracks_started_total", COUNTER, "Tracks that started."},
  {"ended", "gstccl_tracks_ended_total", COUNTER, "Tracks that ended."},
  {"backwards", "gstccl_backward_timestamps_total", COUNTER, "Frames with a timestamp before that of the last frame."},
  {"resets", "gstccl_tracker_resets_total", COUNTER, "Resets of the tracker."},

  {"events", "gstccl_zone_events_total", COUNTER, "Events of all zones."},

  {"drawn", "gstccl_frames_drawn_total", COUNTER, "Frames with a drawing."},
  {"objects", "gstccl_objects_drawn_total", COUNTER, "Objects that were drawn."},
  {"pixels", "gstccl_pixels_drawn_total", COUNTER, "Pixels that were drawn."},
  {"remapped", "gstccl_frames_remapped_total", COUNTER, "Frames whose metadata was remapped."},

  {"lines", "gstccl_lines_total", COUNTER, "Lines that were written."},
  {"bytes", "gstccl_output_bytes_total", COUNTER, "Bytes that were written or sent."},

  {"connected", "gstccl_connected", GAUGE, "Whether the sink is connected to its broker."},
  {"connects", "gstccl_connects_total", COUNTER, "Connections to the broker."},
  {"failures", "gstccl_connection_failures_total", COUNTER, "Connections that failed or broke."},
  {"accepted", "gstccl_messages_accepted_total", COUNTER, "Messages that the sink accepted."},
  {"sent", "gstccl_messages_sent_total", COUNTER, "Messages that were sent, repetitions included."},
  {"published", "gstccl_messages_published_total", COUNTER, "Messages that were published."},
  {"acknowledged", "gstccl_messages_acknowledged_total", COUNTER, "Messages that the broker acknowledged."},
  {"dropped", "gstccl_messages_dropped_total", COUNTER, "Messages that were dropped."},
  {"dropped-full", "gstccl_messages_dropped_full_total", COUNTER, "Messages dropped as the queue was full."},
  {"dropped-too-large", "gstccl_messages_dropped_too_large_total", COUNTER, "Messages dropped larger than the queue."},
  {"dropped-refused", "gstccl_messages_dropped_refused_total", COUNTER, "Messages dropped that the broker refused."},
  {"dropped-lost", "gstccl_messages_dropped_lost_total", COUNTER, "Messages dropped that a connection lost."},
  {"dropped-stopped", "gstccl_messages_dropped_stopped_total", COUNTER, "Messages dropped when the sink stopped."},
  {"dropped-spool-full", "gstccl_messages_dropped_spool_full_total", COUNTER,
      "Messages dropped as the spool was full."},
  {"dropped-spool-error", "gstccl_messages_dropped_spool_error_total", COUNTER,
      "Messages dropped as the spool failed."},
  {"recovered", "gstccl_messages_recovered_total", COUNTER, "Messages that the spool had from an earlier run."},
  {"queued", "gstccl_queued_messages", GAUGE, "Messages that wait."},
  {"queued-messages", "gstccl_queued_messages", GAUGE, "Messages that wait."},
  {"queued-bytes", "gstccl_queued_bytes", GAUGE, "Bytes of the messages that wait."},
  {"in-flight", "gstccl_in_flight_messages", GAUGE, "Messages that were sent and not yet acknowledged."},
  {"spool-messages", "gstccl_spool_messages", GAUGE, "Messages in the spool on disk."},
  {"spool-bytes", "gstccl_spool_bytes", GAUGE, "Bytes of the spool on disk."},
  {"spool-max-bytes", "gstccl_spool_max_bytes", GAUGE, "Bytes that the spool on disk may have."},
};

static const GstCclMetricName zone_fields[] = {
  {"inside", "gstccl_zone_inside", GAUGE, "Objects in the zone now."},
  {"forward", "gstccl_zone_forward_total", COUNTER, "Objects that crossed the line forward, or entered the zone."},
  {"backward", "gstccl_zone_backward_total", COUNTER, "Objects that crossed the line backward, or left the zone."},
};

static const GstCclMetricName times[] = {
  {"host", "gstccl_processing_seconds", "summary", "Time that the element spent on a frame."},
  {"latency", "gstccl_latency_seconds", "summary", "Time from the arrival of a frame or message until it leaves."},
  {"wait", "gstccl_wait_seconds", "summary", "Time until the launch of a batch."},
  {"pack", "gstccl_pack_seconds", "summary", "Time to pack a mask to bits on the host."},
  {"upload", "gstccl_upload_seconds", "summary", "Time to upload a mask to the GPU."},
  {"kernel", "gstccl_kernel_seconds", "summary", "Time of the labelling itself."},
  {"contour", "gstccl_contour_seconds", "summary", "Time to trace the outlines of a frame."},
  {"detect", "gstccl_detect_seconds", "summary", "Time from submission until the motion mask is there."},
};

static const gchar *const labels[][2] = {
  {"backend", "backend"},
  {"algorithm", "algorithm"},
  {"volume-algorithm", "volume_algorithm"},
  {"path", "path"},
};

static const GstCclMetricName *
find (const GstCclMetricName * table, guint n, const gchar * field, gsize length)
{
  for (guint i = 0; i < n; i++)
    if (strlen (table[i].field) == length && memcmp (table[i].field, field, length) == 0)
      return &table[i];
  return NULL;
}

const GstCclMetricName *
gst_ccl_metric_name_of_field (const gchar * field)
{
  return find (fields, G_N_ELEMENTS (fields), field, strlen (field));
}

const GstCclMetricName *
gst_ccl_metric_name_of_zone_field (const gchar * field)
{
  return find (zone_fields, G_N_ELEMENTS (zone_fields), field, strlen (field));
}

const GstCclMetricName *
gst_ccl_metric_name_of_time (const gchar * field, gsize length)
{
  return find (times, G_N_ELEMENTS (times), field, length);
}

const gchar *
gst_ccl_metric_label_of_field (const gchar * field)
{
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    if (g_str_equal (labels[i][0], field))
      return labels[i][1];
  return NULL;
}
