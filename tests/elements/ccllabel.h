/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the test programs of ccllabel share: masks, buffers made of them, and the blobs they must give. */
#ifndef CCLLABEL_TEST_H
#define CCLLABEL_TEST_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <gst/ccl/gstcclblobmeta.h>
#include <string.h>

#include "ccl.h"
#include "upstream.h"

/* 1: foreground. Value-sized so that tests can write MASK ("#.", ".#"). */
typedef struct
{
  guint width, height;
  guint8 *pixels;
} Mask;

static inline Mask
mask_new (guint width, guint height)
{
  return (Mask) { width, height, g_malloc0 ((gsize) width * height) };
}

static inline void
mask_free (Mask * mask)
{
  g_clear_pointer (&mask->pixels, g_free);
}

static inline Mask
mask_from_rows (const gchar * const *rows)
{
  Mask mask = mask_new (strlen (rows[0]), g_strv_length ((gchar **) rows));

  for (guint y = 0; y < mask.height; y++)
    for (guint x = 0; x < mask.width; x++)
      mask.pixels[y * mask.width + x] = rows[y][x] == '#';
  return mask;
}

#define MASK(...) mask_from_rows ((const gchar *const[]) { __VA_ARGS__, NULL })

/* The same mask for the same seed, everywhere. */
static inline Mask
mask_random (guint width, guint height, guint seed, gdouble density)
{
  Mask mask = mask_new (width, height);
  GRand *random = g_rand_new_with_seed (seed);

  for (gsize i = 0; i < (gsize) width * height; i++)
    mask.pixels[i] = g_rand_double (random) < density;
  g_rand_free (random);
  return mask;
}

/* n blobs of one pixel. */
static inline Mask
mask_dots (guint n)
{
  Mask mask = mask_new (2 * n, 1);

  for (guint i = 0; i < n; i++)
    mask.pixels[2 * i] = 1;
  return mask;
}

/* Writes the mask as the values `on` and `off` into the first plane. */
static inline void
draw_mask (guint8 * data, gsize stride, guint pixel_size, const Mask * mask, guint on, guint off)
{
  for (guint y = 0; y < mask->height; y++)
    for (guint x = 0; x < mask->width; x++) {
      const guint value = mask->pixels[y * mask->width + x] ? on : off;
      if (pixel_size == 2)
        GST_WRITE_UINT16_LE (data + y * stride + 2 * x, value);
      else
        data[y * stride + x] = value;
    }
}

/* A buffer as its caps have it, no meta; what is not the mask is noise. */
static inline GstBuffer *
buffer_from_values (GstVideoFormat format, const Mask * mask, guint on, guint off)
{
  GstVideoInfo info;
  GstBuffer *buffer;
  GstMapInfo map;

  gst_video_info_set_format (&info, format, mask->width, mask->height);
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = i * 37 + 11;
  draw_mask (map.data + info.offset[0], info.stride[0], GST_VIDEO_INFO_COMP_PSTRIDE (&info, 0), mask, on, off);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

static inline GstBuffer *
buffer_from_mask (GstVideoFormat format, const Mask * mask)
{
  const gboolean gray = format == GST_VIDEO_FORMAT_GRAY8 || format == GST_VIDEO_FORMAT_GRAY16_LE;

  if (gray)
    return buffer_from_values (format, mask, format == GST_VIDEO_FORMAT_GRAY8 ? 1 : 256, 0);
  return buffer_from_values (format, mask, 128, 127);
}

static inline gchar *
caps_string (GstVideoFormat format, guint width, guint height)
{
  return g_strdup_printf ("video/x-raw, format=(string)%s, width=(int)%u, height=(int)%u, framerate=(fraction)25/1",
      gst_video_format_to_string (format), width, height);
}

/* The caps of a mask into a harness. */
static inline void
set_mask_caps (GstHarness * harness, GstVideoFormat format, const Mask * mask)
{
  gchar *caps = caps_string (format, mask->width, mask->height);
  gst_harness_set_src_caps_str (harness, caps);
  g_free (caps);
}

static inline void
assert_blob (const GstCclBlob * blob, const CclComponent * component)
{
  ck_assert_uint_eq (blob->label, component->label);
  ck_assert_uint_eq (blob->flags, component->flags);
  ck_assert_int_eq (blob->x, component->x0);
  ck_assert_int_eq (blob->y, component->y0);
  ck_assert_int_eq (blob->width, component->x1 - component->x0);
  ck_assert_int_eq (blob->height, component->y1 - component->y0);
  ck_assert_int_eq (blob->first_x, component->first_x);
  fail_unless_equals_uint64 (blob->area, component->moments.area);
  fail_unless_equals_uint64 (blob->m10, component->moments.m10);
  fail_unless_equals_uint64 (blob->m01, component->moments.m01);
  fail_unless_equals_uint64 (blob->m20, component->moments.m20);
  fail_unless_equals_uint64 (blob->m11, component->moments.m11);
  fail_unless_equals_uint64 (blob->m02, component->moments.m02);
  fail_unless_equals_uint64 (blob->track_id, 0);
}

/* The buffer must carry what the reference method finds in the mask. */
static inline void
assert_blobs_filtered (GstBuffer * buffer, const Mask * mask, guint connectivity, const CclFilter * filter)
{
  GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);
  CclConfig config = ccl_config_default ();
  const CclMask view = {.data = mask->pixels,.stride = mask->width,.width = mask->width,.height = mask->height };
  CclContext *context;
  CclTable table;

  config.algorithm = "reference";
  config.connectivity = connectivity;
  config.max_width = mask->width;
  config.max_height = mask->height;
  config.max_components = MIN (mask->width * mask->height, CCL_MAX_COMPONENTS);
  fail_unless (ccl_context_new (&config, &context) == CCL_OK, "%s", ccl_error_message ());
  fail_unless (ccl_analyze (context, &view, filter, NULL, &table) == CCL_OK, "%s", ccl_error_message ());

  fail_unless (meta != NULL, "no blobs attached");
  ck_assert_uint_eq (meta->ref_width, mask->width);
  ck_assert_uint_eq (meta->ref_height, mask->height);
  ck_assert_uint_eq (meta->width, mask->width);
  ck_assert_uint_eq (meta->height, mask->height);
  ck_assert_uint_eq (meta->n_kept, table.n_kept);
  ck_assert_uint_eq (meta->n_total, table.n_found);
  ck_assert_uint_eq (meta->connectivity, connectivity);
  ck_assert_uint_eq (meta->flags, 0);
  ck_assert_uint_eq (gst_ccl_blob_meta_get_length (meta), table.n_components);
  for (guint i = 0; i < table.n_components; i++)
    assert_blob (gst_ccl_blob_meta_get_blob (meta, i), &table.components[i]);
  ccl_context_free (context);
}

static inline void
assert_blobs (GstBuffer * buffer, const Mask * mask, guint connectivity)
{
  assert_blobs_filtered (buffer, mask, connectivity, NULL);
}

static inline guint
n_blobs (GstBuffer * buffer)
{
  GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);

  fail_unless (meta != NULL, "no blobs attached");
  return gst_ccl_blob_meta_get_length (meta);
}

/* ---------------------------------------------------------------- backends */

static const gchar *const backends[] = { "cpu", "cuda" };

/* Making a CUDA context takes a good part of a second. One element per process is kept running, and the others get the
 * context it answers CONTEXT queries with; NULL where there is none to share. */
static inline GstContext *
shared_cuda_context (gboolean * have_cuda)
{
  static GstElement *keeper;
  static gboolean tried, started;
  GstQuery *query = gst_query_new_context ("gst.cuda.context");
  GstContext *context = NULL;
  GstPad *pad;

  if (!tried) {
    tried = TRUE;
    keeper = gst_element_factory_make ("ccllabel", NULL);
    fail_unless (keeper != NULL, "no element ccllabel: GST_PLUGIN_PATH?");
    gst_util_set_object_arg (G_OBJECT (keeper), "backend", "cuda");
    started = gst_element_set_state (keeper, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE;
    if (!started) {
      gst_element_set_state (keeper, GST_STATE_NULL);
      gst_clear_object (&keeper);
    }
  }
  if (have_cuda)
    *have_cuda = started;
  if (started) {
    pad = gst_element_get_static_pad (keeper, "sink");
    if (gst_pad_query (pad, query)) {
      gst_query_parse_context (query, &context);
      gst_context_ref (context);
    }
    gst_object_unref (pad);
  }
  gst_query_unref (query);
  return context;
}

static inline gboolean
have_backend (const gchar * name)
{
  gboolean have = TRUE;
  GstContext *context;

  if (strcmp (name, "cuda") != 0)
    return TRUE;
  context = shared_cuda_context (&have);
  if (context)
    gst_context_unref (context);
  return have;
}

/* Tests of the element run once per backend (loop tests over backends); one without a device is not there. */
#define NEED_BACKEND(index)                                                                         \
  G_STMT_START {                                                                                    \
    if (!have_backend (backends[index])) {                                                          \
      g_printerr ("%s: skipped, backend=%s is not there\n", __func__, backends[index]);             \
      return;                                                                                       \
    }                                                                                               \
  } G_STMT_END

static inline void
add_ghost_pad (GstElement * bin, GstElement * element, const gchar * name)
{
  GstPad *pad = gst_element_get_static_pad (element, name);

  gst_element_add_pad (bin, gst_ghost_pad_new (name, pad));
  gst_object_unref (pad);
}

/* A harness around a bin with one ccllabel, which is in `context` before it starts. */
static inline GstHarness *
harness_in_context (guint backend, const gchar * settings, GstContext * context)
{
  gchar *line = g_strdup_printf ("bin.( ccllabel name=label backend=%s %s )", backends[backend], settings);
  GstElement *bin = gst_parse_launch (line, NULL), *label;
  GstHarness *harness;

  fail_unless (bin != NULL, "%s", line);
  gst_object_ref_sink (bin);
  label = gst_bin_get_by_name (GST_BIN (bin), "label");
  add_ghost_pad (bin, label, "sink");
  add_ghost_pad (bin, label, "src");
  gst_object_unref (label);
  if (context)
    gst_element_set_context (bin, context);
  harness = gst_harness_new_with_element (bin, "sink", "src");
  gst_object_unref (bin);
  g_free (line);
  return harness;
}

static inline GstHarness *
label_harness (guint backend, const gchar * settings)
{
  GstContext *context = backend ? shared_cuda_context (NULL) : NULL;
  GstHarness *harness = harness_in_context (backend, settings, context);

  if (context)
    gst_context_unref (context);
  return harness;
}

/* The ccllabel in a harness, (transfer none). */
static inline GstElement *
label_of (GstHarness * harness)
{
  GstElement *label = gst_bin_get_by_name (GST_BIN (harness->element), "label");

  gst_object_unref (label);
  return label;
}

static inline void
set_label (GstHarness * harness, const gchar * name, const gchar * value)
{
  gst_util_set_object_arg (G_OBJECT (label_of (harness)), name, value);
}

/* Pushes a mask as GRAY8 with the n-th frame's time. */
static inline GstFlowReturn
push_mask (GstHarness * harness, const Mask * mask, guint n)
{
  GstBuffer *buffer = buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, mask);

  GST_BUFFER_PTS (buffer) = n * 40 * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
  return gst_harness_push (harness, buffer);
}

static inline guint64
stat_uint64 (GstHarness * harness, const gchar * name)
{
  GstStructure *stats = NULL;
  guint64 value = 0;

  g_object_get (label_of (harness), "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), "stats has no %s", name);
  gst_structure_free (stats);
  return value;
}

static inline gchar *
stat_string (GstHarness * harness, const gchar * name)
{
  GstStructure *stats = NULL;
  gchar *value;

  g_object_get (label_of (harness), "stats", &stats, NULL);
  value = g_strdup (gst_structure_get_string (stats, name));
  gst_structure_free (stats);
  return value;
}

/* ---------------------------------------------------------------- messages */

static inline GstBus *
watch_bus (GstHarness * harness)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (harness->element, bus);
  return bus;
}

/* The next error (or warning) on the bus must contain `text`. */
static inline void
assert_message (GstBus * bus, GstMessageType type, const gchar * text)
{
  GstMessage *message = gst_bus_pop_filtered (bus, type);
  GError *error = NULL;

  fail_unless (message != NULL, "no %s on the bus, expected: %s", gst_message_type_get_name (type), text);
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, text) != NULL, "expected \"%s\" in \"%s\"", text, error->message);
  g_error_free (error);
  gst_message_unref (message);
}

static inline void
assert_no_message (GstBus * bus, GstMessageType type)
{
  GstMessage *message = gst_bus_pop_filtered (bus, type);

  fail_unless (message == NULL, "unexpected %" GST_PTR_FORMAT, message);
}

static inline void
drop_bus (GstHarness * harness, GstBus * bus)
{
  gst_element_set_bus (harness->element, NULL);
  gst_object_unref (bus);
}

#endif
