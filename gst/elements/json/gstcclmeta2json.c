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
 * Behind a capsfilter of application/cbor, or before an element that reads nothing else, it writes the same fields as CBOR.
 *
 * With events-only=true it writes the events of cclzone and cclmotion instead, one line for each.
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
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! ccllabel threshold=127 !
 *     cclmeta2json source-id=door ! application/cbor ! filesink location=blobs.cbor
 * ]| As CBOR.
 */

#include "gstcclmeta2jsonprivate.h"
#include "gstccljson.h"
#include "gstccljsonevents.h"
#include "gstccljsonregions.h"
#include "base/gstccldocument.h"
#include "base/gstcclhint.h"
#include "base/gstcclinband.h"
#include "base/gstccltime.h"

#include <gst/video/video.h>

GST_DEBUG_CATEGORY_STATIC (gst_ccl_meta2json_debug);
#define GST_CAT_DEFAULT gst_ccl_meta2json_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS_ANY);

#ifdef HAVE_CBOR
#define CBOR_CAPS "; application/cbor, schema=(string){ ccl-blob-1, dlstreamer, ccl-event-1 }"
#else
#define CBOR_CAPS
#endif

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS
    ("application/x-json, schema=(string){ ccl-blob-1, dlstreamer, ccl-event-1 }, framing=(string)ndjson" CBOR_CAPS));

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
  GstCclJsonThinning thinning;
  gboolean empty_frames;
  GstCclJsonFormat format = {.cbor = self->stream_cbor };

  GST_OBJECT_LOCK (self);
  source = g_strdup (self->source_id ? self->source_id : GST_OBJECT_NAME (self));
  tags = g_strdup (self->tags_line);
  time = self->time;
  empty_frames = self->empty_frames;
  thinning = self->thinning;
  frame->trails = self->trails;
  format.precision = self->precision;
  GST_OBJECT_UNLOCK (self);

  frame->source = source;
  frame->tags = tags;
  set_times (self, buffer, time, frame);
  gst_ccl_json_summary_add_blobs (&self->run, frame->blobs, frame->zones);
  hint_when_empty (self, frame, time);
  if ((empty_frames || gst_ccl_blob_meta_get_length (frame->blobs) > 0)
      && gst_ccl_json_thinning_lets_pass (&thinning, &self->written, frame))
    line = gst_ccl_json_line (frame, self->stream_schema, format);
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
count_line (GstCclMeta2Json * self, const GString * line)
{
  GST_OBJECT_LOCK (self);
  self->stats.lines++;
  self->stats.bytes += line->len;
  GST_OBJECT_UNLOCK (self);
}

static void
count_frame (GstCclMeta2Json * self, GstClockTime host_time)
{
  GST_OBJECT_LOCK (self);
  self->stats.frames++;
  gst_ccl_min_avg_max_add (&self->stats.host, host_time / (gdouble) GST_USECOND);
  GST_OBJECT_UNLOCK (self);
}

/* --- events --- */

static gboolean
wants_events (GstCclMeta2Json * self)
{
  gboolean wanted;

  GST_OBJECT_LOCK (self);
  wanted = self->events_only;
  GST_OBJECT_UNLOCK (self);
  return wanted;
}

static void
clear_events (GstCclMeta2Json * self)
{
  g_queue_clear_full (&self->events, (GDestroyNotify) gst_structure_free);
  g_queue_clear_full (&self->lines, (GDestroyNotify) gst_buffer_unref);
}

/* The next event of the frame or of one before it; an event may have overtaken frames (see gstcclinband.h). */
static GstStructure *
take_event (GstCclMeta2Json * self, GstClockTime pts)
{
  const GstStructure *const event = g_queue_peek_head (&self->events);
  guint64 timestamp;

  if (event && GST_CLOCK_TIME_IS_VALID (pts) && gst_structure_get_uint64 (event, "timestamp", &timestamp)
      && GST_CLOCK_TIME_IS_VALID (timestamp) && timestamp > pts)
    return NULL;
  return g_queue_pop_head (&self->events);
}

/* The lines of the events up to the frame, or of all at the end, each with the times of the frame. */
static void
queue_lines_of_events (GstCclMeta2Json * self, GstBuffer * buffer, gboolean last)
{
  GstCclJsonFrame frame = {.seq = self->seq };
  GstStructure *event;
  GstCclJsonTime time;
  gchar *source, *tags;
  GstCclJsonFormat format = {.cbor = self->stream_cbor };

  GST_OBJECT_LOCK (self);
  source = g_strdup (self->source_id ? self->source_id : GST_OBJECT_NAME (self));
  tags = g_strdup (self->tags_line);
  time = self->time;
  format.precision = self->precision;
  GST_OBJECT_UNLOCK (self);

  frame.source = source;
  frame.tags = tags;
  set_times (self, buffer, time, &frame);
  while ((event = take_event (self, last ? GST_CLOCK_TIME_NONE : frame.pts))) {
    GString *const line = gst_ccl_json_event_line (&frame, event, format);

    count_line (self, line);
    g_queue_push_tail (&self->lines, buffer_of_line (line, buffer));
    gst_structure_free (event);
  }
  g_free (source);
  g_free (tags);
}

/* Events that come after the last frame have its times. */
static void
push_last_events (GstCclMeta2Json * self)
{
  GstBuffer *const frame = gst_buffer_new (), *line;

  GST_BUFFER_PTS (frame) = self->last_pts;
  queue_lines_of_events (self, frame, TRUE);
  while ((line = g_queue_pop_head (&self->lines)))
    gst_pad_push (GST_BASE_TRANSFORM_SRC_PAD (self), line);
  gst_buffer_unref (frame);
}

/* --- streaming --- */

/* FALSE: an error is posted. */
static gboolean
queue_line_of_frame (GstCclMeta2Json * self, GstBuffer * frame)
{
  GString *line;

  if (!line_of_buffer (self, frame, &line))
    return FALSE;
  if (line) {
    count_line (self, line);
    g_queue_push_tail (&self->lines, buffer_of_line (line, frame));
  }
  return TRUE;
}

static void
add_to_summary (GstCclMeta2Json * self, GstBuffer * frame)
{
  const GstCclBlobMeta *const blobs = gst_buffer_get_ccl_blob_meta (frame);

  if (blobs && !(blobs->flags & GST_CCL_BLOB_META_FLAG_SKIPPED))
    gst_ccl_json_summary_add_blobs (&self->run, blobs, gst_buffer_get_ccl_zone_meta (frame));
}

/* Instead of transform(), because neither the number of lines nor their length is known before they are written. It is called
 * until it has no buffer. */
static GstFlowReturn
gst_ccl_meta2json_generate_output (GstBaseTransform * trans, GstBuffer ** outbuf)
{
  GstCclMeta2Json *self = GST_CCL_META2JSON (trans);
  const GstClockTime start = gst_util_get_timestamp ();
  GstBuffer *frame = trans->queued_buf;
  gboolean ok = TRUE;

  trans->queued_buf = NULL;
  *outbuf = NULL;
  if (frame) {
    gst_ccl_json_summary_add_frame (&self->run, g_get_monotonic_time ());
    self->last_pts = GST_BUFFER_PTS (frame);
    if (self->stream_schema == GST_CCL_JSON_SCHEMA_EVENT) {
      add_to_summary (self, frame);
      queue_lines_of_events (self, frame, FALSE);
    } else {
      ok = queue_line_of_frame (self, frame);
    }
    GST_LOG_OBJECT (self, "frame %" G_GUINT64_FORMAT ": %u lines", self->seq, g_queue_get_length (&self->lines));
    self->seq++;
    count_frame (self, gst_util_get_timestamp () - start);
    if (ok && g_queue_is_empty (&self->lines))
      push_gap (self, frame);
    gst_buffer_unref (frame);
  }
  *outbuf = g_queue_pop_head (&self->lines);
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
  if (!wants_events (self) && gst_ccl_hint_is_due_at_end (&self->n_without_meta))
    warn_of_no_meta (self);
  if (wants_summary (self))
    gst_element_post_message (GST_ELEMENT (self),
        gst_message_new_element (GST_OBJECT (self), gst_ccl_json_summary_to_structure (&self->run)));
}

static gboolean
gst_ccl_meta2json_sink_event (GstBaseTransform * trans, GstEvent * event)
{
  GstCclMeta2Json *const self = GST_CCL_META2JSON (trans);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_EOS:
      if (self->seq > 0)
        push_last_events (self);
      at_end (self);
      break;
    case GST_EVENT_FLUSH_STOP:
      clear_events (self);
      break;
    case GST_EVENT_CUSTOM_DOWNSTREAM:
      if (gst_ccl_inband_is_event (event) && wants_events (self))
        g_queue_push_tail (&self->events, gst_structure_copy (gst_event_get_structure (event)));
      break;
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
}

/* --- caps and allocation --- */

/* JSON is the first choice of a downstream element that accepts both. */
static GstCaps *
new_caps (const gchar * schema)
{
  GstCaps *const caps = gst_caps_new_simple ("application/x-json", "schema", G_TYPE_STRING, schema,
      "framing", G_TYPE_STRING, "ndjson", NULL);

#ifdef HAVE_CBOR
  gst_caps_append_structure (caps, gst_structure_new ("application/cbor", "schema", G_TYPE_STRING, schema, NULL));
#endif
  return caps;
}

static GstCaps *
gst_ccl_meta2json_transform_caps (GstBaseTransform * trans, GstPadDirection direction, GstCaps * caps, GstCaps * filter)
{
  GstCclMeta2Json *self = GST_CCL_META2JSON (trans);
  static const gchar *const schemas[] = { "ccl-blob-1", "dlstreamer", "ccl-event-1" };
  GstCaps *other, *filtered;

  if (direction == GST_PAD_SRC)
    return filter ? gst_caps_ref (filter) : gst_caps_new_any ();

  GST_OBJECT_LOCK (self);
  other = new_caps (schemas[self->events_only ? GST_CCL_JSON_SCHEMA_EVENT : self->schema]);
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
  const GstStructure *const out = gst_caps_get_structure (outcaps, 0);
  const gchar *schema = gst_structure_get_string (out, "schema");
  gint width = 0, height = 0;

  /* Any caps are accepted, raw or encoded. Without a size in the caps the size is 0. */
  gst_structure_get_int (in, "width", &width);
  gst_structure_get_int (in, "height", &height);
  self->width = (guint) MAX (width, 0);
  self->height = (guint) MAX (height, 0);
  self->stream_cbor = gst_structure_has_name (out, "application/cbor");
  self->stream_schema = g_strcmp0 (schema, "dlstreamer") == 0 ? GST_CCL_JSON_SCHEMA_DLSTREAMER
      : g_strcmp0 (schema, "ccl-event-1") == 0 ? GST_CCL_JSON_SCHEMA_EVENT : GST_CCL_JSON_SCHEMA_CCL;
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
  self->written = (GstCclJsonWritten) {
  0};
  self->last_pts = GST_CLOCK_TIME_NONE;
  self->n_without_meta = self->n_without_trail = self->n_without_time = 0;

  GST_OBJECT_LOCK (self);
  self->stats = (GstCclMeta2JsonStats) {
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
  clear_events (self);
  return TRUE;
}

static void
gst_ccl_meta2json_finalize (GObject * object)
{
  GstCclMeta2Json *const self = GST_CCL_META2JSON (object);

  clear_events (self);
  gst_ccl_meta2json_clear_settings (self);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ccl_meta2json_class_init (GstCclMeta2JsonClass * klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_ccl_meta2json_debug, "cclmeta2json", 0, "blob metadata to JSON");

  gobject_class->finalize = gst_ccl_meta2json_finalize;
  gst_ccl_meta2json_install_properties (gobject_class);

  gst_element_class_set_static_metadata (element_class, "Blob metadata to JSON", "Formatter/Metadata/Video",
      "Writes the blobs of each frame as one line of JSON, or as CBOR", "gst-ccl contributors");
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
}

static void
gst_ccl_meta2json_init (GstCclMeta2Json * self)
{
  g_queue_init (&self->events);
  g_queue_init (&self->lines);
  gst_ccl_meta2json_init_settings (self);
}
