/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclenums.h"

#include <string.h>

#include "analysis/measures.h"
#include "analysis/track.h"

/* ---------------------------------------------------------------- types that are made */

static const struct
{
  GFlagsValue value;
  guint core;
} features[] = {
  {{GST_CCL_FEATURES_BASIC, "Box, area, centroid and covariance: always", "basic"}, CCL_FEATURE_TABLE},
  {{GST_CCL_FEATURES_SHAPE, "Holes, perimeters, circularity and compactness", "shape"}, CCL_FEATURE_SHAPE},
  {{GST_CCL_FEATURES_HULL, "Convex hull, diameters and smallest rectangle", "hull"}, CCL_FEATURE_HULL},
  {{GST_CCL_FEATURES_HOLES, "Filled area, and each hole with its area and box", "holes"}, CCL_FEATURE_HOLES},
  {{GST_CCL_FEATURES_INTENSITY, "Luma and chroma of the frame under the mask", "intensity"}, CCL_FEATURE_INTENSITY},
};

guint
gst_ccl_features_to_core (guint wanted)
{
  guint core = 0;

  for (guint i = 1; i < G_N_ELEMENTS (features); i++)
    core |= wanted & features[i].value.value ? features[i].core : 0;
  return core;
}

gchar *
gst_ccl_features_of_core (guint core)
{
  GString *const names = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (features); i++)
    if (core & features[i].core)
      g_string_append_printf (names, "%s%s", names->len ? "+" : "", features[i].value.value_nick);
  return g_string_free (names, FALSE);
}

/* A build with the GPU's methods says what they lack. */
static gboolean
is_of_cpu_only (guint core, CclForeground foreground)
{
  return ccl_backend_built (CCL_BACKEND_CUDA) && !(ccl_features (CCL_BACKEND_CUDA, NULL, foreground, FALSE) & core);
}

static GType
register_features (void)
{
  /* The type keeps the array for the life of the process. */
  GFlagsValue *const values = g_new0 (GFlagsValue, G_N_ELEMENTS (features) + 1);

  for (guint i = 0; i < G_N_ELEMENTS (features); i++) {
    values[i] = features[i].value;
    if (is_of_cpu_only (features[i].core, CCL_FOREGROUND_THRESHOLD))
      values[i].value_name = g_strconcat (values[i].value_name, " (CPU)", NULL);
  }
  return g_flags_register_static ("GstCclFeatures", values);
}

static GType
register_foreground (void)
{
  static GEnumValue values[] = {
    {GST_CCL_FOREGROUND_THRESHOLD, "Pixels above the threshold; all of them connect", "threshold"},
    {GST_CCL_FOREGROUND_EQUAL, "A label map: pixels other than background-value; only equal ones connect", "equal"},
    {0, NULL, NULL}
  };

  if (is_of_cpu_only (CCL_FEATURE_TABLE, CCL_FOREGROUND_EQUAL))
    values[1].value_name = "A label map: pixels other than background-value; only equal ones connect (CPU)";
  return g_enum_register_static ("GstCclForeground", values);
}

/* Two for each measure that is a number: "area", smallest first, and "area-desc". */
static GType
register_sort (void)
{
  GArray *const values = g_array_new (TRUE, TRUE, sizeof (GEnumValue));
  GEnumValue value = { CCL_ORDER_RASTER, "By first pixel, row by row", "raster" };

  g_array_append_val (values, value);
  for (gint i = 0; i < CCL_N_NUMBERS; i++) {
    const CclMeasureInfo *const info = ccl_measure_info (i);
    gchar *const groups = gst_ccl_features_of_core (info->feature);

    value.value = ccl_order_by (i, FALSE);
    value.value_name = g_strdup_printf ("%s%s%s%s%s%s", info->text, info->unit[0] ? ", in " : "", info->unit,
        info->feature ? " (" : "", groups, info->feature ? ")" : "");
    value.value_nick = info->name;
    g_array_append_val (values, value);
    value.value = ccl_order_by (i, TRUE);
    value.value_name = g_strconcat (value.value_name, "; largest first", NULL);
    value.value_nick = g_strconcat (info->name, "-desc", NULL);
    g_array_append_val (values, value);
    g_free (groups);
  }
  /* The type keeps the array for the life of the process. */
  return g_enum_register_static ("GstCclSort", (GEnumValue *) g_array_free (values, FALSE));
}

/* ---------------------------------------------------------------- types */

/* `make_type`: the expression that makes the type, once. */
#define DEFINE_TYPE_BY(name, make_type)      \
  GType                                      \
  gst_ccl_##name##_get_type (void)           \
  {                                          \
    static gsize type = 0;                   \
    if (g_once_init_enter (&type))           \
      g_once_init_leave (&type, make_type);  \
    return type;                             \
  }

#define DEFINE_TYPE(name, Name, register_type) DEFINE_TYPE_BY (name, register_type ("GstCcl" Name, name))

static const GEnumValue backend[] = {
  {GST_CCL_BACKEND_AUTO, "CUDA if there is a device, otherwise the CPU", "auto"},
  {GST_CCL_BACKEND_CUDA, "CUDA on an NVIDIA GPU; an error without one", "cuda"},
  {GST_CCL_BACKEND_CPU, "The CPU", "cpu"},
  {0, NULL, NULL}
};

DEFINE_TYPE (backend, "Backend", g_enum_register_static)

static const GEnumValue connectivity[] = {
  {CCL_CONNECT_4, "Pixels that share an edge belong together; volumes are 6-connected", "4"},
  {CCL_CONNECT_8, "Pixels that share an edge or a corner belong together; volumes are 26-connected", "8"},
  {0, NULL, NULL}
};

DEFINE_TYPE (connectivity, "Connectivity", g_enum_register_static)

static const GEnumValue border[] = {
  {CCL_BORDER_KEEP, "Keep them like any other", "keep"},
  {CCL_BORDER_FLAG, "Keep them and flag the borders they touch", "flag"},
  {CCL_BORDER_DROP, "Leave them out", "drop"},
  {0, NULL, NULL}
};

DEFINE_TYPE (border, "Border", g_enum_register_static)

static const GFlagsValue attach[] = {
  {GST_CCL_ATTACH_BLOB, "GstCclBlobMeta: every blob, exact", "blob"},
  {GST_CCL_ATTACH_ROI, "GstVideoRegionOfInterestMeta, one per blob up to max-mirror", "roi"},
  {GST_CCL_ATTACH_ANALYTICS, "GstAnalytics object detections up to max-mirror (GStreamer 1.24)", "analytics"},
  {0, NULL, NULL}
};

DEFINE_TYPE (attach, "Attach", g_flags_register_static)
static const GEnumValue output[] = {
  {GST_CCL_OUTPUT_PASSTHROUGH, "The input, unchanged", "passthrough"},
  {GST_CCL_OUTPUT_MASK, "GRAY8: 255 in blobs that pass the filters, otherwise 0", "mask"},
  {GST_CCL_OUTPUT_LABELS, "The label of each pixel: GRAY16_LE or GRAY16_BE (at most 65535) or RGBA (32 bits, little endian)",
      "labels"},
  {GST_CCL_OUTPUT_COLORS, "RGB or RGBA to look at: the colour of its label for each blob, black around them", "colors"},
  {0, NULL, NULL}
};

DEFINE_TYPE (output, "Output", g_enum_register_static)

/* *INDENT-OFF* */
static const GEnumValue mask_source[] = {
  {GST_CCL_MASK_SOURCE_AUTO, "The mask in the frame's metadata or, without one, the picture", "auto"},
  {GST_CCL_MASK_SOURCE_FRAME, "The picture: its gray or luma plane", "frame"},
  {GST_CCL_MASK_SOURCE_ALPHA, "The picture: its alpha plane, in system memory", "alpha"},
  {GST_CCL_MASK_SOURCE_MASK_META, "GstCclMaskMeta, as cclmotion attaches it", "mask-meta"},
  {GST_CCL_MASK_SOURCE_SEGMENTATION_MTD, "GstAnalyticsSegmentationMtd: see segmentation and region-id (GStreamer 1.26)",
      "segmentation-mtd"},
  {0, NULL, NULL}
};
/* *INDENT-ON* */

DEFINE_TYPE (mask_source, "MaskSource", g_enum_register_static)

static const GEnumValue motion_method[] = {
  {CCL_MOTION_DIFF, "Differs from the frame before", "diff"},
  {CCL_MOTION_EMA, "Differs from a running mean", "ema"},
  {CCL_MOTION_MOG2, "Fits none of up to three Gaussians per pixel (Zivkovic & van der Heijden 2006)", "mog2"},
  {CCL_MOTION_FEEDBACK, "Fits no mode of its pixel; thresholds follow false alarms, still objects stay foreground", "feedback"},
  {0, NULL, NULL}
};

DEFINE_TYPE (motion_method, "MotionMethod", g_enum_register_static)

static const GEnumValue shadow[] = {
  {GST_CCL_SHADOW_KEEP, "Shadows are foreground", "keep"},
  {GST_CCL_SHADOW_DROP, "Pixels that are only a darker background are not foreground", "drop"},
  {0, NULL, NULL}
};

DEFINE_TYPE (shadow, "Shadow", g_enum_register_static)

static const GEnumValue motion_output[] = {
  {GST_CCL_MOTION_OUTPUT_PASSTHROUGH, "The input, unchanged, with the mask in metadata (GstCclMaskMeta)", "passthrough"},
  {GST_CCL_MOTION_OUTPUT_MASK, "The mask as GRAY8 video", "mask"},
  {0, NULL, NULL}
};

DEFINE_TYPE (motion_output, "MotionOutput", g_enum_register_static)

static const GEnumValue post_messages[] = {
  {GST_CCL_POST_NONE, "None", "none"},
  {GST_CCL_POST_EDGES, "When motion begins and ends", "edges"},
  {GST_CCL_POST_ALL, "When it begins and ends, and an update for every frame between", "all"},
  {0, NULL, NULL}
};

DEFINE_TYPE (post_messages, "PostMessages", g_enum_register_static)

static const GEnumValue track_method[] = {
  {CCL_TRACK_KALMAN, "Motion predicted (Kalman filter), gate by Mahalanobis distance, merging and splitting", "kalman"},
  {CCL_TRACK_IOU, "Overlap with the box as last seen", "iou"},
  {0, NULL, NULL}
};

DEFINE_TYPE (track_method, "TrackMethod", g_enum_register_static)

static const GEnumValue track_input[] = {
  {GST_CCL_TRACK_INPUT_AUTO, "The blobs of ccllabel; on frames without, roi; without those, analytics", "auto"},
  {GST_CCL_TRACK_INPUT_CCL, "GstCclBlobMeta", "ccl"},
  {GST_CCL_TRACK_INPUT_ROI, "GstVideoRegionOfInterestMeta of any element", "roi"},
  {GST_CCL_TRACK_INPUT_ANALYTICS, "Object detections of any element (GStreamer 1.24)", "analytics"},
  {0, NULL, NULL}
};

DEFINE_TYPE (track_input, "TrackInput", g_enum_register_static)

static const GFlagsValue track_emit[] = {
  {GST_CCL_TRACK_EMIT_TENTATIVE, "Name blobs whose track is not confirmed yet", "tentative"},
  {GST_CCL_TRACK_EMIT_MERGED, "Add a blob for each track inside a blob that several share", "merged"},
  {GST_CCL_TRACK_EMIT_PREDICTED, "Add a blob for each track that was not seen, where it should be", "predicted"},
  {GST_CCL_TRACK_EMIT_LOST, "Add a blob for each track that ends", "lost"},
  {GST_CCL_TRACK_EMIT_TENTATIVE_BOXES, "Name regions and object detections whose track is not confirmed yet",
      "tentative-boxes"},
  {0, NULL, NULL}
};

DEFINE_TYPE (track_emit, "TrackEmit", g_flags_register_static)

static const GFlagsValue id_reset[] = {
  {GST_CCL_ID_RESET_STREAM_START, "A new stream begins", "stream-start"},
  {GST_CCL_ID_RESET_FLUSH, "After a flushing seek", "flush"},
  {GST_CCL_ID_RESET_DISCONT, "A buffer is flagged DISCONT", "discont"},
  {GST_CCL_ID_RESET_CAPS, "The caps change (a new frame size always resets)", "caps"},
  {GST_CCL_ID_RESET_EOS, "The stream ends", "eos"},
  {0, NULL, NULL}
};

DEFINE_TYPE (id_reset, "IdReset", g_flags_register_static)

static const GEnumValue evaluation_point[] = {
  {GST_CCL_EVALUATION_CENTROID, "Centre of gravity", "centroid"},
  {GST_CCL_EVALUATION_BOTTOM_CENTER, "Middle of the lower edge of the box: where a person stands", "bottom-center"},
  {0, NULL, NULL}
};

DEFINE_TYPE (evaluation_point, "EvaluationPoint", g_enum_register_static)
     static const GFlagsValue draw[] = {
       {GST_CCL_DRAW_BOX, "Box: dashed when predicted, faint when tentative, double when merged", "box"},
       {GST_CCL_DRAW_CENTROID, "Centre of gravity", "centroid"},
       {GST_CCL_DRAW_ELLIPSE, "Ellipse with the same second moments", "ellipse"},
       {GST_CCL_DRAW_ID, "Number of the track; without one, the label", "id"},
       {GST_CCL_DRAW_AREA, "Area in pixels of the frame", "area"},
       {GST_CCL_DRAW_TRAIL, "Past positions of the track", "trail"},
       {GST_CCL_DRAW_ZONE, "Zones and what they count", "zone"},
       {GST_CCL_DRAW_COUNT, "Number of objects", "count"},
       {GST_CCL_DRAW_CONTOUR, "Outline, where ccllabel contours=true traced it", "contour"},
       {GST_CCL_DRAW_HULL, "Convex hull of the outline", "hull"},
       {GST_CCL_DRAW_RECTANGLE, "Smallest rectangle, from ccllabel features=hull", "rectangle"},
       {GST_CCL_DRAW_HOLE, "Box of each hole, from ccllabel features=holes", "hole"},
       {0, NULL, NULL}
     };

static const GEnumValue color_by[] = {
  {GST_CCL_COLOR_BY_LABEL, "Blobs, by their number in the frame", "label"},
  {GST_CCL_COLOR_BY_TRACK, "Tracks", "track"},
  {GST_CCL_COLOR_BY_FIXED, "Nothing: all objects have the same color", "fixed"},
  {0, NULL, NULL}
};

DEFINE_TYPE (draw, "Draw", g_flags_register_static)
DEFINE_TYPE (color_by, "ColorBy", g_enum_register_static)

static const GEnumValue remap_mode[] = {
  {GST_CCL_REMAP_KEEP, "Attach the blobs in a form that other elements copy", "keep"},
  {GST_CCL_REMAP_RESTORE, "Restore the blobs for the new frame", "restore"},
  {0, NULL, NULL}
};

DEFINE_TYPE (remap_mode, "RemapMode", g_enum_register_static)

/* A method can have an entry for each backend; the property lists its name once. */
static gboolean
is_first_row (guint index)
{
  for (guint i = 0; i < index; i++)
    if (strcmp (ccl_algorithm (i)->name, ccl_algorithm (index)->name) == 0)
      return FALSE;
  return TRUE;
}

/* "Runs (CPU, 4- and 8-connected)": the abilities of each entry of a name. */
static gchar *
describe_algorithm (guint index)
{
  static const gchar *const connectivities[2][3] = {
    {"4-connected", "8-connected", "4- and 8-connected"},
    {"volumes, 6-connected", "volumes, 26-connected", "volumes, 6- and 26-connected"},
  };
  const CclAlgorithmInfo *const first = ccl_algorithm (index);
  GString *text = g_string_new (first->title);
  const gchar *separator = " (";

  for (guint i = index; ccl_algorithm (i); i++) {
    const CclAlgorithmInfo *const row = ccl_algorithm (i);
    const guint which = row->connectivity == CCL_CONNECT_4 ? 0 : row->connectivity == CCL_CONNECT_8 ? 1 : 2;

    if (strcmp (row->name, first->name) != 0)
      continue;
    g_string_append_printf (text, "%s%s, %s", separator, row->backend == CCL_BACKEND_CUDA ? "CUDA" : "CPU",
        connectivities[row->volume][which]);
    separator = "; ";
  }
  g_string_append_c (text, ')');
  return g_string_free (text, FALSE);
}

static GType
register_algorithms (void)
{
  GArray *values = g_array_new (TRUE, TRUE, sizeof (GEnumValue));
  GEnumValue value = { GST_CCL_ALGORITHM_AUTO, "The fastest for the backend and connectivity", "auto" };

  g_array_append_val (values, value);
  for (guint i = 0; ccl_algorithm (i); i++) {
    if (!is_first_row (i))
      continue;
    value.value = 1 + i;
    value.value_name = describe_algorithm (i);
    value.value_nick = ccl_algorithm (i)->name;
    g_array_append_val (values, value);
  }
  /* The type keeps the array for the life of the process. */
  return g_enum_register_static ("GstCclAlgorithm", (GEnumValue *) g_array_free (values, FALSE));
}

DEFINE_TYPE_BY (algorithm, register_algorithms ())

const gchar *
gst_ccl_algorithm_get_name (gint algorithm)
{
  return algorithm == GST_CCL_ALGORITHM_AUTO ? NULL : ccl_algorithm (algorithm - 1)->name;
}

gboolean
gst_ccl_algorithm_is_for_volumes (gint algorithm)
{
  return algorithm != GST_CCL_ALGORITHM_AUTO && ccl_algorithm (algorithm - 1)->volume;
}

gboolean
gst_ccl_algorithm_has_backend (gint algorithm, CclBackendKind kind)
{
  const gchar *name = gst_ccl_algorithm_get_name (algorithm);

  if (!name)
    return TRUE;
  for (guint i = 0; ccl_algorithm (i); i++)
    if (ccl_algorithm (i)->backend == kind && strcmp (ccl_algorithm (i)->name, name) == 0)
      return TRUE;
  return FALSE;
}

DEFINE_TYPE_BY (features, register_features ())
    DEFINE_TYPE_BY (foreground, register_foreground ())
    DEFINE_TYPE_BY (sort, register_sort ())
