/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclmeta2json
 * @title: cclmeta2json
 *
 * Writes the blobs of each frame as one line of newline-delimited JSON, in a buffer with the same timestamps. The next
 * element can be any that reads text: a file, a pipe, a socket, a message broker. docs/json.md describes the fields.
 *
 * It reads the #GstCclBlobMeta that ccllabel attaches. On frames without one, it reads regions of interest of other
 * elements or, without those, object detections (GStreamer 1.24). Each counts as a filled rectangle.
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

#include "gstcclmeta2json.h"
#include "gstccljson.h"
#include "gstccljsonenums.h"
#include "gstccljsonregions.h"
#include "gstccljsonsummary.h"
#include "gstccljsontime.h"
#include "base/gstccldocument.h"
#include "base/gstcclhint.h"
#include "base/gstcclminavgmax.h"
#include "base/gstcclpropertyrow.h"
#include "base/gstccltime.h"

#include <gst/video/video.h>

GST_DEBUG_CATEGORY_STATIC (gst_ccl_meta2json_debug);
#define GST_CAT_DEFAULT gst_ccl_meta2json_debug

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
  gboolean summary;
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
  GstCclJsonSummary run;
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
  PROP_SUMMARY,
  PROP_STATS,
  N_PROPERTIES,
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

/* --- one frame --- */

static void
set_times (GstCclMeta2Json * self, GstBuffer * buffer, GstCclJsonTime time, GstCclJsonFrame * frame)
{
  frame->pts = GST_BUFFER_PTS (buffer);
  frame->running_time = gst_ccl_running_time (GST_BASE_TRANSFORM (self), frame->pts);
  frame->stream_time = gst_ccl_stream_time (GST_BASE_TRANSFORM (self), frame->pts);
  gst_ccl_json_frame_set_utc (frame, buffer, time, GST_ELEMENT (self));
}

static void
warn_of_no_meta (GstCclMeta2Json * self)
{
  GST_ELEMENT_WARNING (self, STREAM, FAILED, ("No blobs to write: the frames carry no blob metadata."),
      ("Put ccllabel upstream, and between the two no element that drops metadata (see docs/metadata.md)."));
}

static void
hint_when_no_meta (GstCclMeta2Json * self, gboolean has_meta)
{
  if (gst_ccl_hint_is_due (&self->n_without_meta, has_meta))
    warn_of_no_meta (self);
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

/* Warns of requested fields that stay empty. */
static void
hint_when_empty (GstCclMeta2Json * self, const GstCclJsonFrame * frame, GstCclJsonTime time)
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
  gst_ccl_json_summary_add_blobs (&self->run, frame->blobs, frame->zones);
  hint_when_empty (self, frame, time);
  if (empty_frames || gst_ccl_blob_meta_get_length (frame->blobs) > 0)
    line = gst_ccl_json_line (frame, self->stream_schema, precision);
  g_free (source);
  g_free (tags);
  return line;
}

/* FALSE: no memory, and the error is posted. */
static gboolean
line_of_regions (GstCclMeta2Json * self, GstBuffer * buffer, GString ** line)
{
  GstCclJsonRegions list;
  GstCclBlobMeta view = {
    .ref_width = self->width,.ref_height = self->height,.width = self->width,.height = self->height,
    .matrix = {1, 0, 0, 0, 1, 0, 0, 0, 1},
  };
  GstCclJsonFrame frame = {.seq = self->seq,.blobs = &view };

  if (gst_ccl_json_regions_read (&list, buffer))
    view.list = gst_ccl_blob_list_new (list.blobs.data, list.blobs.len);
  if (!view.list) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("No memory for the regions of a frame."), (NULL));
    gst_ccl_json_regions_clear (&list);
    return FALSE;
  }
  view.n_kept = list.blobs.len;
  view.n_total = list.blobs.len + list.n_left_out;
  frame.regions = list.regions.data;
  frame.is_analysed = view.n_total > 0;
  *line = line_of_frame (self, buffer, &frame);

  hint_when_no_meta (self, view.n_total > 0);
  if (list.n_left_out > 0)
    GST_WARNING_OBJECT (self, "%u regions left out, which reach beyond %d columns or rows", list.n_left_out,
        GST_CCL_JSON_MAX_REGION_END);
  gst_ccl_blob_list_unref (view.list);
  gst_ccl_json_regions_clear (&list);
  return TRUE;
}

/* NULL: the frame has no line. FALSE: an error is posted. */
static gboolean
line_of_buffer (GstCclMeta2Json * self, GstBuffer * buffer, GString ** line)
{
  const GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);

  *line = NULL;
  if (!meta)
    return line_of_regions (self, buffer, line);
  hint_when_no_meta (self, TRUE);
  if (meta->flags & GST_CCL_BLOB_META_FLAG_SKIPPED)
    return TRUE;

  GstCclJsonFrame frame = {
    .seq = self->seq,.blobs = meta,.zones = gst_buffer_get_ccl_zone_meta (buffer),.is_analysed = TRUE
  };

  *line = line_of_frame (self, buffer, &frame);
  return TRUE;
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

/* Sends a gap event, because this frame has no line. */
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

/* Instead of transform(), because the length of the output is not known before it is written. */
static GstFlowReturn
gst_ccl_meta2json_generate_output (GstBaseTransform * trans, GstBuffer ** outbuf)
{
  GstCclMeta2Json *self = GST_CCL_META2JSON (trans);
  const GstClockTime start = gst_util_get_timestamp ();
  GstBuffer *frame = trans->queued_buf;
  GString *line;
  gboolean ok;

  *outbuf = NULL;
  trans->queued_buf = NULL;
  if (!frame)
    return GST_FLOW_OK;

  gst_ccl_json_summary_add_frame (&self->run, g_get_monotonic_time ());
  ok = line_of_buffer (self, frame, &line);
  GST_LOG_OBJECT (self, "frame %" G_GUINT64_FORMAT ": %" G_GSIZE_FORMAT " bytes", self->seq, line ? line->len : 0);
  self->seq++;
  count_frame (self, line, gst_util_get_timestamp () - start);
  if (line)
    *outbuf = buffer_of_line (line, frame);
  else if (ok)
    push_gap (self, frame);
  gst_buffer_unref (frame);
  return ok ? GST_FLOW_OK : GST_FLOW_ERROR;
}

static gboolean
wants_summary (GstCclMeta2Json * self)
{
  gboolean wanted;

  GST_OBJECT_LOCK (self);
  wanted = self->summary;
  GST_OBJECT_UNLOCK (self);
  return wanted;
}

/* A picture or a short clip ends before the hint is due. */
static void
at_end (GstCclMeta2Json * self)
{
  if (gst_ccl_hint_is_due_at_end (&self->n_without_meta))
    warn_of_no_meta (self);
  if (wants_summary (self))
    gst_element_post_message (GST_ELEMENT (self),
        gst_message_new_element (GST_OBJECT (self), gst_ccl_json_summary_to_structure (&self->run)));
}

static gboolean
gst_ccl_meta2json_sink_event (GstBaseTransform * trans, GstEvent * event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    at_end (GST_CCL_META2JSON (trans));
  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
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

  /* Any caps are accepted, raw or encoded. Without a size in the caps the size is 0. */
  gst_structure_get_int (in, "width", &width);
  gst_structure_get_int (in, "height", &height);
  self->width = (guint) MAX (width, 0);
  self->height = (guint) MAX (height, 0);
  self->stream_schema = g_strcmp0 (gst_structure_get_string (out, "schema"), "dlstreamer") == 0 ?
      GST_CCL_JSON_SCHEMA_DLSTREAMER : GST_CCL_JSON_SCHEMA_CCL;
  return TRUE;
}

/* The element reads no pixels, so any layout is fine. The query of downstream is about text, so it is not forwarded. */
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
  gst_ccl_json_summary_clear (&self->run);
  self->n_without_meta = self->n_without_trail = self->n_without_time = 0;

  GST_OBJECT_LOCK (self);
  self->stats = (Stats) {
  0};
  error = self->tags_error ? g_error_copy (self->tags_error) : NULL;
  GST_OBJECT_UNLOCK (self);
  if (!error)
    return TRUE;
  GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("Property tags cannot be used: %s", error->message),
      ("Give one such as tags='{\"site\":\"A\"}', with quotation marks around the names."));
  g_error_free (error);
  return FALSE;
}

/* Also after Ctrl-C, which ends a pipeline without EOS and without messages. */
static gboolean
gst_ccl_meta2json_stop (GstBaseTransform * trans)
{
  GstCclMeta2Json *const self = GST_CCL_META2JSON (trans);

  if (wants_summary (self)) {
    gchar *const text = gst_ccl_json_summary_to_string (&self->run);

    gst_printerrln ("%s: %s", GST_OBJECT_NAME (self), text);
    g_free (text);
  }
  gst_ccl_json_summary_clear (&self->run);
  return TRUE;
}

/* With wrong tags the element does not start. While it runs, wrong tags are refused and the old ones stay. */
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

/* Properties that are plain members; `tags` is one that is only read so. */
static const GstCclPropertyRow rows[N_PROPERTIES] = {
  [PROP_SCHEMA] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, schema),
  [PROP_TIME] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, time),
  [PROP_EMPTY_FRAMES] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, empty_frames),
  [PROP_TRAILS] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, trails),
  [PROP_PRECISION] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, precision),
  [PROP_SOURCE_ID] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, source_id),
  [PROP_TAGS] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, tags),
  [PROP_SUMMARY] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, summary),
};

static void
gst_ccl_meta2json_set_property (GObject * object, guint prop_id, const GValue * value, GParamSpec * pspec)
{
  GstCclMeta2Json *self = GST_CCL_META2JSON (object);

  if (prop_id == PROP_TAGS) {
    set_tags (self, g_value_get_string (value));
    return;
  }

  GST_OBJECT_LOCK (self);
  if (!gst_ccl_property_row_set (self, &rows[prop_id], value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
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
  if (prop_id == PROP_STATS)
    g_value_take_boxed (value, create_stats (self));
  else if (!gst_ccl_property_row_get (self, &rows[prop_id], value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
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
  const GParamFlags flags = GST_CCL_PARAM_PLAYING;

  g_object_class_install_property (gobject_class, PROP_SCHEMA,
      g_param_spec_enum ("schema", "Schema", "Names and layout of the fields",
          GST_TYPE_CCL_JSON_SCHEMA, DEFAULT_SCHEMA, flags));
  g_object_class_install_property (gobject_class, PROP_TIME,
      g_param_spec_enum ("time", "Time", "Source of the field utc", GST_TYPE_CCL_JSON_TIME, DEFAULT_TIME, flags));
  g_object_class_install_property (gobject_class, PROP_EMPTY_FRAMES,
      g_param_spec_boolean ("empty-frames", "Empty frames", "Write a line for frames without blobs too",
          DEFAULT_EMPTY_FRAMES, flags));
  g_object_class_install_property (gobject_class, PROP_TRAILS, g_param_spec_boolean ("trails", "Trails",
          "Write the trail of each track (see history of ccltrack)", FALSE, flags));
  g_object_class_install_property (gobject_class, PROP_PRECISION, g_param_spec_int ("precision", "Precision",
          "Maximum number of digits after the decimal point (-1 = all, the exact value)", -1, 15, DEFAULT_PRECISION,
          flags));
  g_object_class_install_property (gobject_class, PROP_SOURCE_ID, g_param_spec_string ("source-id", "Source ID",
          "Name of the stream for the field source (unset = name of this element)", NULL, flags));
  g_object_class_install_property (gobject_class, PROP_TAGS, g_param_spec_string ("tags", "Tags",
          "JSON object for the field tags of every line, such as {\"site\":\"A\"} (unset = no such field)", NULL,
          flags));
  g_object_class_install_property (gobject_class, PROP_SUMMARY, g_param_spec_boolean ("summary", "Summary",
          "At the end print frames, time, objects and events on stderr", FALSE, flags));
  g_object_class_install_property (gobject_class, PROP_STATS, g_param_spec_boxed ("stats", "Statistics",
          "Since the start: frames, lines (written), bytes; " GST_CCL_HOST_TIME_FIELDS, GST_TYPE_STRUCTURE,
          GST_CCL_PARAM_READ_ONLY));
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
  gst_ccl_element_class_set_document (element_class, "cclmeta2json");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->transform_caps = gst_ccl_meta2json_transform_caps;
  trans_class->set_caps = gst_ccl_meta2json_set_caps;
  trans_class->propose_allocation = gst_ccl_meta2json_propose_allocation;
  trans_class->decide_allocation = gst_ccl_meta2json_decide_allocation;
  trans_class->generate_output = gst_ccl_meta2json_generate_output;
  trans_class->start = gst_ccl_meta2json_start;
  trans_class->stop = gst_ccl_meta2json_stop;
  trans_class->sink_event = gst_ccl_meta2json_sink_event;
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
