/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclmeta2json
 * @title: cclmeta2json
 *
 * Writes the blobs of each frame as one line of JSON (newline-delimited JSON, one buffer for each frame, same
 * timestamps), for anything that reads text: a file, a pipe, a socket, a message broker. docs/json.md describes the
 * fields.
 *
 * It reads the #GstCclBlobMeta that ccllabel attaches. On frames without one it reads what other analysers attach:
 * regions of interest or, without those, object detections (GStreamer 1.24); each counts as a filled rectangle.
 *
 * A frame that was not analysed (ccllabel interval, skip-when-late) has no line: its time passes downstream as a gap.
 *
 * ## Examples
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! ccllabel threshold=127 !
 *     cclmeta2json ! fdsink
 * ]| Blobs of a moving ball on the terminal.
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! ccllabel threshold=127 !
 *     cclmeta2json source-id=door precision=2 empty-frames=false ! filesink location=blobs.ndjson
 * ]| Only the frames with blobs, two digits after the point.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstcclmeta2json.h"
#include "gstccljson.h"
#include "base/gstcclhint.h"
#include "base/gstcclminavgmax.h"
#include "base/gstccltime.h"

#include <gst/video/video.h>
#ifdef HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

GST_DEBUG_CATEGORY_STATIC (gst_ccl_meta2json_debug);
#define GST_CAT_DEFAULT gst_ccl_meta2json_debug

/* NTP counts from 1900. */
#define NTP_TO_UNIX (G_GUINT64_CONSTANT (2208988800) * GST_SECOND)

typedef enum
{
  GST_CCL_JSON_TIME_AUTO,
  GST_CCL_JSON_TIME_REFERENCE,
  GST_CCL_JSON_TIME_CLOCK,
  GST_CCL_JSON_TIME_SYSTEM,
  GST_CCL_JSON_TIME_NONE,
} GstCclJsonTime;

typedef struct
{
  guint64 frames, lines, bytes;
  GstCclMinAvgMax host;
} Stats;

struct _GstCclMeta2Json
{
  GstBaseTransform parent;

  /* Properties, under the object lock. */
  GstCclJsonSchema schema;
  GstCclJsonTime time;
  gboolean empty_frames;
  gboolean trails;
  gint precision;
  gchar *source_id;
  gchar *tags;                  /* as set */
  gchar *tags_line;             /* as written; NULL when tags is unset or wrong */
  GError *tags_error;
  Stats stats;

  /* Streaming thread. */
  GstCclJsonSchema stream_schema;       /* of the caps sent */
  guint width;
  guint height;
  guint64 seq;
  guint n_without_meta, n_without_trail, n_without_time;        /* see gstcclhint.h */
};

enum
{
  PROP_0,
  PROP_SCHEMA,
  PROP_TIME,
  PROP_EMPTY_FRAMES,
  PROP_TRAILS,
  PROP_PRECISION,
  PROP_SOURCE_ID,
  PROP_TAGS,
  PROP_STATS,
};

#define DEFAULT_SCHEMA GST_CCL_JSON_SCHEMA_CCL
#define DEFAULT_TIME GST_CCL_JSON_TIME_AUTO
#define DEFAULT_EMPTY_FRAMES TRUE
#define DEFAULT_PRECISION -1

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS_ANY);

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("application/x-json, schema=(string){ ccl-blob-1, dlstreamer }, framing=(string)ndjson"));

#define gst_ccl_meta2json_parent_class parent_class
G_DEFINE_TYPE (GstCclMeta2Json, gst_ccl_meta2json, GST_TYPE_BASE_TRANSFORM);
GST_ELEMENT_REGISTER_DEFINE (cclmeta2json, "cclmeta2json", GST_RANK_NONE, GST_TYPE_CCL_META2JSON);

#define GST_TYPE_CCL_JSON_SCHEMA (gst_ccl_json_schema_get_type ())
static GType
gst_ccl_json_schema_get_type (void)
{
  static const GEnumValue values[] = {
    {GST_CCL_JSON_SCHEMA_CCL, "ccl-blob-1: every measure of every blob", "ccl"},
    {GST_CCL_JSON_SCHEMA_DLSTREAMER, "As DL Streamer's gvametaconvert writes it", "dlstreamer"},
    {0, NULL, NULL},
  };
  static GType type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclJsonSchema", values));
  return type;
}

#define GST_TYPE_CCL_JSON_TIME (gst_ccl_json_time_get_type ())
static GType
gst_ccl_json_time_get_type (void)
{
  static const GEnumValue values[] = {
    {GST_CCL_JSON_TIME_AUTO, "The buffer's reference timestamp, else the pipeline clock if it tells UTC, else null",
        "auto"},
    {GST_CCL_JSON_TIME_REFERENCE, "The buffer's reference timestamp (timestamp/x-ntp, timestamp/x-unix), else null",
        "reference"},
    {GST_CCL_JSON_TIME_CLOCK, "Running time on the pipeline clock, whichever it is, converted to UTC", "clock"},
    {GST_CCL_JSON_TIME_SYSTEM, "This machine's time when the line is written", "system"},
    {GST_CCL_JSON_TIME_NONE, "Always null", "none"},
    {0, NULL, NULL},
  };
  static GType type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclJsonTime", values));
  return type;
}

/* --- time --- */

static GstClockTime
utc_from_reference (GstBuffer * buffer)
{
  static GstStaticCaps ntp_caps = GST_STATIC_CAPS ("timestamp/x-ntp");
  static GstStaticCaps unix_caps = GST_STATIC_CAPS ("timestamp/x-unix");
  GstCaps *ntp = gst_static_caps_get (&ntp_caps), *unix_time = gst_static_caps_get (&unix_caps);
  GstReferenceTimestampMeta *meta;
  GstClockTime utc = GST_CLOCK_TIME_NONE;

  if ((meta = gst_buffer_get_reference_timestamp_meta (buffer, ntp)) && meta->timestamp >= NTP_TO_UNIX)
    utc = meta->timestamp - NTP_TO_UNIX;
  else if ((meta = gst_buffer_get_reference_timestamp_meta (buffer, unix_time)))
    utc = meta->timestamp;
  gst_caps_unref (ntp);
  gst_caps_unref (unix_time);
  return utc;
}

/* What to add to the time of a clock to get UTC. FALSE when the clock itself does not tell. */
static gboolean
clock_tells_utc (GstClock * clock, GstClockTimeDiff * to_utc)
{
  GstClockType type = GST_CLOCK_TYPE_MONOTONIC;

  *to_utc = 0;
  /* By name: this one class is no reason to link libgstnet. */
  if (g_str_equal (G_OBJECT_TYPE_NAME (clock), "GstNtpClock")) {
    *to_utc = -(GstClockTimeDiff) NTP_TO_UNIX;
    return TRUE;
  }
  if (G_OBJECT_TYPE (clock) == GST_TYPE_SYSTEM_CLOCK)
    g_object_get (clock, "clock-type", &type, NULL);
  return type == GST_CLOCK_TYPE_REALTIME;
}

static GstClockTime
system_utc (void)
{
  return (GstClockTime) g_get_real_time () * GST_USECOND;
}

static GstClockTime
utc_from_clock (GstCclMeta2Json * self, GstClockTime running_time, gboolean any_clock)
{
  GstClock *clock = gst_element_get_clock (GST_ELEMENT (self));
  GstClockTime base_time = gst_element_get_base_time (GST_ELEMENT (self));
  GstClockTime utc = GST_CLOCK_TIME_NONE;
  GstClockTimeDiff to_utc;

  if (!clock)
    return GST_CLOCK_TIME_NONE;
  if (GST_CLOCK_TIME_IS_VALID (running_time) && GST_CLOCK_TIME_IS_VALID (base_time)) {
    if (clock_tells_utc (clock, &to_utc)) {
      utc = base_time + running_time + to_utc;
    } else if (any_clock) {
      to_utc = GST_CLOCK_DIFF (gst_clock_get_time (clock), system_utc ());
      utc = base_time + running_time + to_utc;
    }
  }
  gst_object_unref (clock);
  return utc;
}

static void
set_utc (GstCclMeta2Json * self, GstBuffer * buffer, GstCclJsonTime time, GstCclJsonFrame * frame)
{
  frame->utc = GST_CLOCK_TIME_NONE;
  if (time == GST_CCL_JSON_TIME_AUTO || time == GST_CCL_JSON_TIME_REFERENCE) {
    frame->utc = utc_from_reference (buffer);
    frame->time_source = "reference";
  }
  if (!GST_CLOCK_TIME_IS_VALID (frame->utc) && (time == GST_CCL_JSON_TIME_AUTO || time == GST_CCL_JSON_TIME_CLOCK)) {
    frame->utc = utc_from_clock (self, frame->running_time, time == GST_CCL_JSON_TIME_CLOCK);
    frame->time_source = "clock";
  }
  if (time == GST_CCL_JSON_TIME_SYSTEM) {
    frame->utc = system_utc ();
    frame->time_source = "system";
  }
  if (!GST_CLOCK_TIME_IS_VALID (frame->utc))
    frame->time_source = "none";
}

static void
set_times (GstCclMeta2Json * self, GstBuffer * buffer, GstCclJsonTime time, GstCclJsonFrame * frame)
{
  frame->pts = GST_BUFFER_PTS (buffer);
  frame->running_time = gst_ccl_running_time (GST_BASE_TRANSFORM (self), frame->pts);
  frame->stream_time = gst_ccl_stream_time (GST_BASE_TRANSFORM (self), frame->pts);
  set_utc (self, buffer, time, frame);
}

/* --- regions of other elements --- */

/* 0 + 1 + ... + (n - 1), and the same of the squares. */
static guint64
sum_below (guint64 n)
{
  return n == 0 ? 0 : n * (n - 1) / 2;
}

static guint64
sum_of_squares_below (guint64 n)
{
  return n == 0 ? 0 : n * (n - 1) * (2 * n - 1) / 6;
}

/* Up to here no sum of squares overflows: 65535^4 / 3 is less than 2^64. */
#define REGION_END_MAX 65535

static gboolean
can_be_measured (gint64 x, gint64 y, gint64 width, gint64 height)
{
  return MAX (x, x + width) <= REGION_END_MAX && MAX (y, y + height) <= REGION_END_MAX;
}

/* A region has no mask: it counts as its filled rectangle, and is measured as one, from column and row 0 on. */
static GstCclBlob
blob_of_rectangle (gint64 x, gint64 y, gint64 width, gint64 height)
{
  const guint64 x0 = MAX (x, 0), x1 = MAX (x + width, (gint64) x0);
  const guint64 y0 = MAX (y, 0), y1 = MAX (y + height, (gint64) y0);
  const guint64 n_x = x1 - x0, n_y = y1 - y0;
  const guint64 sum_x = sum_below (x1) - sum_below (x0), sum_y = sum_below (y1) - sum_below (y0);

  return (GstCclBlob) {
    .x = (gint32) x0,.y = (gint32) y0,.width = (gint32) n_x,.height = (gint32) n_y,.first_x = (gint32) x0,
    .area = n_x * n_y,.m10 = n_y * sum_x,.m01 = n_x * sum_y,.m11 = sum_x * sum_y,
    .m20 = n_y * (sum_of_squares_below (x1) - sum_of_squares_below (x0)),
    .m02 = n_x * (sum_of_squares_below (y1) - sum_of_squares_below (y0)),
    .mtd_id = GST_CCL_MTD_ID_NONE,
  };
}

static GstCclJsonRegion
region_of_roi (GstVideoRegionOfInterestMeta * roi)
{
  const GstStructure *detection = gst_video_region_of_interest_meta_get_param (roi, "detection");
  GstCclJsonRegion region = {
    .type = g_quark_to_string (roi->roi_type),
    .id = roi->id,.parent_id = roi->parent_id,.label_id = -1,.confidence = -1
  };

  if (detection) {
    gst_structure_get_double (detection, "confidence", &region.confidence);
    gst_structure_get_int (detection, "label_id", &region.label_id);
  }
  return region;
}

static GstCclBlob
blob_of_roi (GstVideoRegionOfInterestMeta * roi)
{
  const GstStructure *object_id = gst_video_region_of_interest_meta_get_param (roi, "object_id");
  GstCclBlob blob = blob_of_rectangle (roi->x, roi->y, roi->w, roi->h);
  gint track = 0;

  if (object_id && gst_structure_get_int (object_id, "id", &track) && track > 0)
    blob.track_id = (guint64) track;
  return blob;
}

/* The regions of a frame in the form the writer knows, pairwise. */
typedef struct
{
  GArray *blobs;                /* of GstCclBlob */
  GArray *regions;              /* of GstCclJsonRegion */
  guint n_left_out;             /* that cannot be measured */
} Regions;

static void
add_region (Regions * list, GstCclBlob blob, GstCclJsonRegion region)
{
  blob.label = list->blobs->len + 1;
  g_array_append_val (list->blobs, blob);
  g_array_append_val (list->regions, region);
}

static void
add_rois (Regions * list, GstBuffer * buffer)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  while ((roi = (GstVideoRegionOfInterestMeta *) gst_buffer_iterate_meta_filtered (buffer, &state,
              GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    if (can_be_measured (roi->x, roi->y, roi->w, roi->h))
      add_region (list, blob_of_roi (roi), region_of_roi (roi));
    else
      list->n_left_out++;
  }
}

#ifdef HAVE_GST_ANALYTICS
/* Identity that a tracker related to the detection, from 1; 0: none. */
static guint64
track_of_detection (GstAnalyticsRelationMeta * meta, guint id)
{
  GstAnalyticsTrackingMtd tracking;
  GstClockTime first_seen, last_seen;
  gboolean lost;
  guint64 track = 0;

  if (gst_analytics_relation_meta_get_direct_related (meta, id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
          gst_analytics_tracking_mtd_get_mtd_type (), NULL, &tracking))
    gst_analytics_tracking_mtd_get_info (&tracking, &track, &first_seen, &last_seen, &lost);
  return track;
}

static void
add_detections (Regions * list, GstBuffer * buffer)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd detection;
  gpointer state = NULL;

  while (meta && gst_analytics_relation_meta_iterate (meta, &state, gst_analytics_od_mtd_get_mtd_type (), &detection)) {
    GstCclJsonRegion region = {.id = detection.id,.parent_id = -1,.label_id = -1,.confidence = -1 };
    gfloat confidence = -1;
    gint x, y, width, height;
    GstCclBlob blob;

    if (!gst_analytics_od_mtd_get_location (&detection, &x, &y, &width, &height, &confidence))
      continue;
    if (!can_be_measured (x, y, width, height)) {
      list->n_left_out++;
      continue;
    }
    region.type = g_quark_to_string (gst_analytics_od_mtd_get_obj_type (&detection));
    region.confidence = confidence;
    blob = blob_of_rectangle (x, y, width, height);
    blob.track_id = track_of_detection (meta, detection.id);
    add_region (list, blob, region);
  }
}
#endif

/* Analysers that know both forms attach one of each for an object: only one form is read. */
static Regions
regions_of_buffer (GstBuffer * buffer)
{
  Regions list = {
    g_array_new (FALSE, FALSE, sizeof (GstCclBlob)), g_array_new (FALSE, FALSE, sizeof (GstCclJsonRegion))
  };

  add_rois (&list, buffer);
#ifdef HAVE_GST_ANALYTICS
  if (list.blobs->len + list.n_left_out == 0)
    add_detections (&list, buffer);
#endif
  return list;
}

/* --- one frame --- */

static void
hint_when_no_meta (GstCclMeta2Json * self, gboolean has_meta)
{
  if (gst_ccl_hint_is_due (&self->n_without_meta, has_meta))
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("No blobs to write: the frames carry no blob metadata."),
        ("Put ccllabel upstream, and between the two no element that drops metadata (see docs/metadata.md)."));
}

static gboolean
has_trail (const GstCclBlobMeta * meta)
{
  const GstCclBlob *const blobs = gst_ccl_blob_list_get (meta->list, 0);

  for (guint i = 0; i < gst_ccl_blob_meta_get_length (meta); i++)
    if (blobs[i].n_trail > 0)
      return TRUE;
  return FALSE;
}

/* Fields that were asked for and stay empty. */
static void
hint_when_in_vain (GstCclMeta2Json * self, const GstCclJsonFrame * frame, GstCclJsonTime time)
{
  if (frame->trails && gst_ccl_blob_meta_get_length (frame->blobs) > 0
      && gst_ccl_hint_is_due (&self->n_without_trail, has_trail (frame->blobs)))
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("trails=true, but no blob has a trail."),
        ("ccltrack upstream gives them theirs, unless its history is 0."));
  if (time == GST_CCL_JSON_TIME_REFERENCE
      && gst_ccl_hint_is_due (&self->n_without_time, GST_CLOCK_TIME_IS_VALID (frame->utc)))
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("time=reference, but no buffer has a reference timestamp: utc is null."),
        ("rtspsrc add-reference-timestamp-meta=true attaches them; time=auto takes the clock where there is none."));
}

/* The line for the frame, NULL when it has none; the snapshot of the properties is taken here. */
static GString *
line_of_frame (GstCclMeta2Json * self, GstBuffer * buffer, GstCclJsonFrame * frame)
{
  GString *line = NULL;
  gchar *source, *tags;
  GstCclJsonTime time;
  gboolean empty_frames;
  gint precision;

  GST_OBJECT_LOCK (self);
  source = g_strdup (self->source_id ? self->source_id : GST_OBJECT_NAME (self));
  tags = g_strdup (self->tags_line);
  time = self->time;
  empty_frames = self->empty_frames;
  frame->trails = self->trails;
  precision = self->precision;
  GST_OBJECT_UNLOCK (self);

  frame->source = source;
  frame->tags = tags;
  set_times (self, buffer, time, frame);
  hint_when_in_vain (self, frame, time);
  if (empty_frames || gst_ccl_blob_meta_get_length (frame->blobs) > 0)
    line = gst_ccl_json_line (frame, self->stream_schema, precision);
  g_free (source);
  g_free (tags);
  return line;
}

static GString *
line_of_regions (GstCclMeta2Json * self, GstBuffer * buffer)
{
  Regions list = regions_of_buffer (buffer);
  const guint n = list.blobs->len;
  GstCclBlobMeta view = {
    .list = gst_ccl_blob_list_new ((GstCclBlob *) list.blobs->data, n),
    .ref_width = self->width,.ref_height = self->height,.width = self->width,.height = self->height,
    .n_kept = n,.n_total = n + list.n_left_out,.matrix = {1, 0, 0, 0, 1, 0, 0, 0, 1},
  };
  GstCclJsonFrame frame = {.seq = self->seq,.blobs = &view,.regions = (GstCclJsonRegion *) list.regions->data };
  GString *line = line_of_frame (self, buffer, &frame);

  hint_when_no_meta (self, view.n_total > 0);
  if (list.n_left_out > 0)
    GST_WARNING_OBJECT (self, "%u regions left out, which reach beyond %d columns or rows", list.n_left_out, REGION_END_MAX);
  gst_ccl_blob_list_unref (view.list);
  g_array_unref (list.blobs);
  g_array_unref (list.regions);
  return line;
}

static GString *
line_of_buffer (GstCclMeta2Json * self, GstBuffer * buffer)
{
  const GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);

  if (!meta)
    return line_of_regions (self, buffer);
  hint_when_no_meta (self, TRUE);
  if (meta->flags & GST_CCL_BLOB_META_FLAG_SKIPPED)
    return NULL;

  GstCclJsonFrame frame = {.seq = self->seq,.blobs = meta,.zones = gst_buffer_get_ccl_zone_meta (buffer) };

  return line_of_frame (self, buffer, &frame);
}

static GstBuffer *
buffer_of_line (GString * line, GstBuffer * frame)
{
  const GstBufferFlags kept = GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_RESYNC | GST_BUFFER_FLAG_LIVE;
  const gsize length = line->len;
  GstBuffer *buffer = gst_buffer_new_wrapped (g_string_free (line, FALSE), length);

  gst_buffer_copy_into (buffer, frame, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  GST_BUFFER_OFFSET (buffer) = GST_BUFFER_OFFSET_END (buffer) = GST_BUFFER_OFFSET_NONE;
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAGS (frame) & kept);
  return buffer;
}

/* Time goes on downstream although this frame has no line. */
static void
push_gap (GstCclMeta2Json * self, GstBuffer * frame)
{
  if (GST_BUFFER_PTS_IS_VALID (frame))
    gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (self),
        gst_event_new_gap (GST_BUFFER_PTS (frame), GST_BUFFER_DURATION (frame)));
}

static void
count_frame (GstCclMeta2Json * self, const GString * line, GstClockTime host_time)
{
  GST_OBJECT_LOCK (self);
  self->stats.frames++;
  self->stats.lines += line != NULL;
  self->stats.bytes += line ? line->len : 0;
  gst_ccl_min_avg_max_add (&self->stats.host, host_time / (gdouble) GST_USECOND);
  GST_OBJECT_UNLOCK (self);
}

/* Instead of transform(): how long the output is, is known only when it is written. */
static GstFlowReturn
gst_ccl_meta2json_generate_output (GstBaseTransform * trans, GstBuffer ** outbuf)
{
  GstCclMeta2Json *self = GST_CCL_META2JSON (trans);
  const GstClockTime start = gst_util_get_timestamp ();
  GstBuffer *frame = trans->queued_buf;
  GString *line;

  *outbuf = NULL;
  trans->queued_buf = NULL;
  if (!frame)
    return GST_FLOW_OK;

  line = line_of_buffer (self, frame);
  GST_LOG_OBJECT (self, "frame %" G_GUINT64_FORMAT ": %" G_GSIZE_FORMAT " bytes", self->seq, line ? line->len : 0);
  self->seq++;
  count_frame (self, line, gst_util_get_timestamp () - start);
  if (line)
    *outbuf = buffer_of_line (line, frame);
  else
    push_gap (self, frame);
  gst_buffer_unref (frame);
  return GST_FLOW_OK;
}

/* --- caps and allocation --- */

static GstCaps *
gst_ccl_meta2json_transform_caps (GstBaseTransform * trans, GstPadDirection direction, GstCaps * caps, GstCaps * filter)
{
  GstCclMeta2Json *self = GST_CCL_META2JSON (trans);
  GstCaps *other, *filtered;

  if (direction == GST_PAD_SRC)
    return filter ? gst_caps_ref (filter) : gst_caps_new_any ();

  GST_OBJECT_LOCK (self);
  other = gst_caps_new_simple ("application/x-json",
      "schema", G_TYPE_STRING, self->schema == GST_CCL_JSON_SCHEMA_CCL ? "ccl-blob-1" : "dlstreamer",
      "framing", G_TYPE_STRING, "ndjson", NULL);
  GST_OBJECT_UNLOCK (self);
  if (!filter)
    return other;
  filtered = gst_caps_intersect_full (filter, other, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (other);
  return filtered;
}

static gboolean
gst_ccl_meta2json_set_caps (GstBaseTransform * trans, GstCaps * incaps, GstCaps * outcaps)
{
  GstCclMeta2Json *self = GST_CCL_META2JSON (trans);
  const GstStructure *in = gst_caps_get_structure (incaps, 0);
  const GstStructure *out = gst_caps_get_structure (outcaps, 0);
  gint width = 0, height = 0;

  /* Any caps with a size will do, raw or encoded; without one the size is 0. */
  gst_structure_get_int (in, "width", &width);
  gst_structure_get_int (in, "height", &height);
  self->width = (guint) MAX (width, 0);
  self->height = (guint) MAX (height, 0);
  self->stream_schema = g_strcmp0 (gst_structure_get_string (out, "schema"), "dlstreamer") == 0 ?
      GST_CCL_JSON_SCHEMA_DLSTREAMER : GST_CCL_JSON_SCHEMA_CCL;
  return TRUE;
}

/* Pixels are never looked at: any layout is fine, and what downstream wants for its text says nothing about them. */
static gboolean
gst_ccl_meta2json_propose_allocation (GstBaseTransform * trans, GstQuery * decide_query, GstQuery * query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_add_allocation_meta (query, GST_CCL_BLOB_META_API_TYPE, NULL);
  gst_query_add_allocation_meta (query, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE, NULL);
  return TRUE;
}

/* Lines are allocated as they are written. */
static gboolean
gst_ccl_meta2json_decide_allocation (GstBaseTransform * trans, GstQuery * query)
{
  while (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_remove_nth_allocation_pool (query, 0);
  return TRUE;
}

/* --- state and properties --- */

static gboolean
gst_ccl_meta2json_start (GstBaseTransform * trans)
{
  GstCclMeta2Json *self = GST_CCL_META2JSON (trans);
  GError *error;

  self->seq = 0;
  self->n_without_meta = self->n_without_trail = self->n_without_time = 0;

  GST_OBJECT_LOCK (self);
  self->stats = (Stats) { 0 };
  error = self->tags_error ? g_error_copy (self->tags_error) : NULL;
  GST_OBJECT_UNLOCK (self);
  if (!error)
    return TRUE;
  GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("Property tags cannot be used: %s", error->message),
      ("Give one such as tags='{\"site\":\"A\"}', with quotation marks around the names."));
  g_error_free (error);
  return FALSE;
}

/* Wrong tags stop the element from starting; while it runs they are refused and the old ones stay. */
static void
set_tags (GstCclMeta2Json * self, const gchar * text)
{
  GError *error = NULL;
  gchar *line = text && *text ? gst_ccl_json_tags (text, &error) : NULL;

  if (error && GST_BASE_TRANSFORM_SRC_PAD (self) && GST_PAD_IS_ACTIVE (GST_BASE_TRANSFORM_SRC_PAD (self))) {
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("Property tags cannot be used: %s", error->message),
        ("The tags set before are kept."));
    g_error_free (error);
    return;
  }
  GST_OBJECT_LOCK (self);
  g_free (self->tags);
  g_free (self->tags_line);
  g_clear_error (&self->tags_error);
  self->tags = g_strdup (text);
  self->tags_line = line;
  self->tags_error = error;
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_meta2json_set_property (GObject * object, guint prop_id, const GValue * value, GParamSpec * pspec)
{
  GstCclMeta2Json *self = GST_CCL_META2JSON (object);

  if (prop_id == PROP_TAGS) {
    set_tags (self, g_value_get_string (value));
    return;
  }

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
    case PROP_SCHEMA:
      self->schema = g_value_get_enum (value);
      break;
    case PROP_TIME:
      self->time = g_value_get_enum (value);
      break;
    case PROP_EMPTY_FRAMES:
      self->empty_frames = g_value_get_boolean (value);
      break;
    case PROP_TRAILS:
      self->trails = g_value_get_boolean (value);
      break;
    case PROP_PRECISION:
      self->precision = g_value_get_int (value);
      break;
    case PROP_SOURCE_ID:
      g_free (self->source_id);
      self->source_id = g_value_dup_string (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);

  if (prop_id == PROP_SCHEMA)
    gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
}

static GstStructure *
create_stats (GstCclMeta2Json * self)
{
  const Stats *const stats = &self->stats;
  GstStructure *structure = gst_structure_new ("cclmeta2json-stats",
      "frames", G_TYPE_UINT64, stats->frames,
      "lines", G_TYPE_UINT64, stats->lines,
      "bytes", G_TYPE_UINT64, stats->bytes, NULL);

  gst_ccl_min_avg_max_host_to_structure (&stats->host, structure);
  return structure;
}

static void
gst_ccl_meta2json_get_property (GObject * object, guint prop_id, GValue * value, GParamSpec * pspec)
{
  GstCclMeta2Json *self = GST_CCL_META2JSON (object);

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
    case PROP_SCHEMA:
      g_value_set_enum (value, self->schema);
      break;
    case PROP_TIME:
      g_value_set_enum (value, self->time);
      break;
    case PROP_EMPTY_FRAMES:
      g_value_set_boolean (value, self->empty_frames);
      break;
    case PROP_TRAILS:
      g_value_set_boolean (value, self->trails);
      break;
    case PROP_PRECISION:
      g_value_set_int (value, self->precision);
      break;
    case PROP_SOURCE_ID:
      g_value_set_string (value, self->source_id);
      break;
    case PROP_TAGS:
      g_value_set_string (value, self->tags);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, create_stats (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_meta2json_finalize (GObject * object)
{
  GstCclMeta2Json *self = GST_CCL_META2JSON (object);

  g_free (self->source_id);
  g_free (self->tags);
  g_free (self->tags_line);
  g_clear_error (&self->tags_error);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
install_properties (GObjectClass * gobject_class)
{
  const GParamFlags live = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property (gobject_class, PROP_SCHEMA,
      g_param_spec_enum ("schema", "Schema", "Names and layout of the fields; docs/json.md describes both",
          GST_TYPE_CCL_JSON_SCHEMA, DEFAULT_SCHEMA, live));
  g_object_class_install_property (gobject_class, PROP_TIME,
      g_param_spec_enum ("time", "Time", "Where the field utc comes from; the field time_source says which it was. "
          "pts, running_time and stream_time are always written", GST_TYPE_CCL_JSON_TIME, DEFAULT_TIME, live));
  g_object_class_install_property (gobject_class, PROP_EMPTY_FRAMES,
      g_param_spec_boolean ("empty-frames", "Empty frames", "Write a line for a frame without blobs too; "
          "the field seq counts every frame either way", DEFAULT_EMPTY_FRAMES, live));
  g_object_class_install_property (gobject_class, PROP_TRAILS,
      g_param_spec_boolean ("trails", "Trails", "Write where the track of each blob has been (ccltrack history) as the "
          "field trail, in every line", FALSE, live));
  g_object_class_install_property (gobject_class, PROP_PRECISION,
      g_param_spec_int ("precision", "Precision",
          "Digits after the decimal point, for shorter lines; -1: all, so that the exact double can be read back",
          -1, 15, DEFAULT_PRECISION, live));
  g_object_class_install_property (gobject_class, PROP_SOURCE_ID,
      g_param_spec_string ("source-id", "Source ID",
          "Name of the camera or stream for the field source; unset: name of this element", NULL, live));
  g_object_class_install_property (gobject_class, PROP_TAGS,
      g_param_spec_string ("tags", "Tags",
          "JSON object added to every line as the field tags, such as {\"site\":\"A\"}; unset: no such field",
          NULL, live));
  g_object_class_install_property (gobject_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics", "Since the start: frames, lines (written), bytes; "
          GST_CCL_HOST_TIME_FIELDS, GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_ccl_meta2json_class_init (GstCclMeta2JsonClass * klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_ccl_meta2json_debug, "cclmeta2json", 0, "blob metadata to JSON");

  gobject_class->set_property = gst_ccl_meta2json_set_property;
  gobject_class->get_property = gst_ccl_meta2json_get_property;
  gobject_class->finalize = gst_ccl_meta2json_finalize;
  install_properties (gobject_class);

  gst_element_class_set_static_metadata (element_class, "Blob metadata to JSON", "Formatter/Metadata/Video",
      "Writes the blobs of each frame as one line of JSON", "gst-ccl contributors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->transform_caps = gst_ccl_meta2json_transform_caps;
  trans_class->set_caps = gst_ccl_meta2json_set_caps;
  trans_class->propose_allocation = gst_ccl_meta2json_propose_allocation;
  trans_class->decide_allocation = gst_ccl_meta2json_decide_allocation;
  trans_class->generate_output = gst_ccl_meta2json_generate_output;
  trans_class->start = gst_ccl_meta2json_start;
  trans_class->transform_ip_on_passthrough = FALSE;

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_JSON_SCHEMA, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_JSON_TIME, 0);
}

static void
gst_ccl_meta2json_init (GstCclMeta2Json * self)
{
  self->schema = DEFAULT_SCHEMA;
  self->time = DEFAULT_TIME;
  self->empty_frames = DEFAULT_EMPTY_FRAMES;
  self->precision = DEFAULT_PRECISION;
}
