/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The enumerations of the elements' properties. */
#ifndef __GST_CCL_ENUMS_H__
#define __GST_CCL_ENUMS_H__

#include <gst/gst.h>
#include "ccl.h"
#include "motion.h"

G_BEGIN_DECLS

typedef enum
{
  GST_CCL_BACKEND_AUTO,
  GST_CCL_BACKEND_CUDA,
  GST_CCL_BACKEND_CPU,
} GstCclBackend;

#define GST_TYPE_CCL_BACKEND (gst_ccl_backend_get_type ())
GType gst_ccl_backend_get_type (void);

/* Values are GST_CCL_ALGORITHM_AUTO and 1 + the index of a method's first entry in the core's table. */
#define GST_CCL_ALGORITHM_AUTO 0

#define GST_TYPE_CCL_ALGORITHM (gst_ccl_algorithm_get_type ())
GType gst_ccl_algorithm_get_type (void);

/* Name of an algorithm as the core takes it; NULL for auto. */
const gchar *gst_ccl_algorithm_get_name (gint algorithm);

/* Whether there is an implementation for this backend, with any connectivity. TRUE for auto. */
gboolean gst_ccl_algorithm_has_backend (gint algorithm, CclBackendKind backend);

/* Whether it labels volumes instead of single frames. */
gboolean gst_ccl_algorithm_is_for_volumes (gint algorithm);

#define GST_TYPE_CCL_CONNECTIVITY (gst_ccl_connectivity_get_type ())
GType gst_ccl_connectivity_get_type (void);

#define GST_TYPE_CCL_BORDER (gst_ccl_border_get_type ())
GType gst_ccl_border_get_type (void);

#define GST_TYPE_CCL_SORT (gst_ccl_sort_get_type ())
GType gst_ccl_sort_get_type (void);

typedef enum
{
  GST_CCL_ATTACH_BLOB = (1 << 0),
  GST_CCL_ATTACH_ROI = (1 << 1),
  GST_CCL_ATTACH_ANALYTICS = (1 << 2),
} GstCclAttach;

#define GST_TYPE_CCL_ATTACH (gst_ccl_attach_get_type ())
GType gst_ccl_attach_get_type (void);

typedef enum
{
  GST_CCL_FEATURES_BASIC = (1 << 0),
  GST_CCL_FEATURES_SHAPE = (1 << 1),
  GST_CCL_FEATURES_HULL = (1 << 2),
  GST_CCL_FEATURES_HOLES = (1 << 3),
  GST_CCL_FEATURES_INTENSITY = (1 << 4),
} GstCclFeatures;

#define GST_TYPE_CCL_FEATURES (gst_ccl_features_get_type ())
GType gst_ccl_features_get_type (void);
/* Groups as CCL_FEATURE_..., and the names of those: "shape+hull", with "basic" for CCL_FEATURE_TABLE. (transfer full) */
guint gst_ccl_features_to_core (guint features);
gchar *gst_ccl_features_of_core (guint core);

typedef enum
{
  GST_CCL_OUTPUT_PASSTHROUGH,
  GST_CCL_OUTPUT_MASK,
  GST_CCL_OUTPUT_LABELS,
  GST_CCL_OUTPUT_COLORS,
} GstCclOutput;

typedef enum
{
  GST_CCL_FOREGROUND_THRESHOLD,
  GST_CCL_FOREGROUND_EQUAL,
} GstCclForeground;

#define GST_TYPE_CCL_FOREGROUND (gst_ccl_foreground_get_type ())
GType gst_ccl_foreground_get_type (void);

#define GST_TYPE_CCL_OUTPUT (gst_ccl_output_get_type ())
GType gst_ccl_output_get_type (void);

typedef enum
{
  GST_CCL_MASK_SOURCE_AUTO,
  GST_CCL_MASK_SOURCE_FRAME,
  GST_CCL_MASK_SOURCE_MASK_META,
  GST_CCL_MASK_SOURCE_SEGMENTATION_MTD,
  GST_CCL_MASK_SOURCE_ALPHA,
} GstCclMaskSource;

#define GST_TYPE_CCL_MASK_SOURCE (gst_ccl_mask_source_get_type ())
GType gst_ccl_mask_source_get_type (void);

#define GST_TYPE_CCL_MOTION_METHOD (gst_ccl_motion_method_get_type ())
GType gst_ccl_motion_method_get_type (void);

typedef enum
{
  GST_CCL_SHADOW_KEEP,
  GST_CCL_SHADOW_DROP,
} GstCclShadow;

#define GST_TYPE_CCL_SHADOW (gst_ccl_shadow_get_type ())
GType gst_ccl_shadow_get_type (void);

typedef enum
{
  GST_CCL_MOTION_OUTPUT_PASSTHROUGH,
  GST_CCL_MOTION_OUTPUT_MASK,
} GstCclMotionOutput;

#define GST_TYPE_CCL_MOTION_OUTPUT (gst_ccl_motion_output_get_type ())
GType gst_ccl_motion_output_get_type (void);

typedef enum
{
  GST_CCL_POST_NONE,
  GST_CCL_POST_EDGES,
  GST_CCL_POST_ALL,
} GstCclPostMessages;

#define GST_TYPE_CCL_POST_MESSAGES (gst_ccl_post_messages_get_type ())
GType gst_ccl_post_messages_get_type (void);

#define GST_TYPE_CCL_TRACK_METHOD (gst_ccl_track_method_get_type ())
GType gst_ccl_track_method_get_type (void);

typedef enum
{
  GST_CCL_TRACK_INPUT_AUTO,
  GST_CCL_TRACK_INPUT_CCL,
  GST_CCL_TRACK_INPUT_ROI,
  GST_CCL_TRACK_INPUT_ANALYTICS,
} GstCclTrackInput;

#define GST_TYPE_CCL_TRACK_INPUT (gst_ccl_track_input_get_type ())
GType gst_ccl_track_input_get_type (void);

typedef enum
{
  GST_CCL_TRACK_EMIT_TENTATIVE = (1 << 0),
  GST_CCL_TRACK_EMIT_MERGED = (1 << 1),
  GST_CCL_TRACK_EMIT_PREDICTED = (1 << 2),
  GST_CCL_TRACK_EMIT_LOST = (1 << 3),
  GST_CCL_TRACK_EMIT_TENTATIVE_BOXES = (1 << 4),
} GstCclTrackEmit;

#define GST_TYPE_CCL_TRACK_EMIT (gst_ccl_track_emit_get_type ())
GType gst_ccl_track_emit_get_type (void);

typedef enum
{
  GST_CCL_ID_RESET_STREAM_START = (1 << 0),
  GST_CCL_ID_RESET_FLUSH = (1 << 1),
  GST_CCL_ID_RESET_DISCONT = (1 << 2),
  GST_CCL_ID_RESET_CAPS = (1 << 3),
  GST_CCL_ID_RESET_EOS = (1 << 4),
} GstCclIdReset;

#define GST_TYPE_CCL_ID_RESET (gst_ccl_id_reset_get_type ())
GType gst_ccl_id_reset_get_type (void);

typedef enum
{
  GST_CCL_EVALUATION_CENTROID,
  GST_CCL_EVALUATION_BOTTOM_CENTER,
} GstCclEvaluationPoint;

#define GST_TYPE_CCL_EVALUATION_POINT (gst_ccl_evaluation_point_get_type ())
GType gst_ccl_evaluation_point_get_type (void);

typedef enum
{
  GST_CCL_DRAW_BOX = (1 << 0),
  GST_CCL_DRAW_CENTROID = (1 << 1),
  GST_CCL_DRAW_ELLIPSE = (1 << 2),
  GST_CCL_DRAW_ID = (1 << 3),
  GST_CCL_DRAW_AREA = (1 << 4),
  GST_CCL_DRAW_TRAIL = (1 << 5),
  GST_CCL_DRAW_ZONE = (1 << 6),
  GST_CCL_DRAW_COUNT = (1 << 7),
  GST_CCL_DRAW_CONTOUR = (1 << 8),
  GST_CCL_DRAW_HULL = (1 << 9),
  GST_CCL_DRAW_RECTANGLE = (1 << 10),
  GST_CCL_DRAW_HOLE = (1 << 11),
} GstCclDraw;

#define GST_TYPE_CCL_DRAW (gst_ccl_draw_get_type ())
GType gst_ccl_draw_get_type (void);

typedef enum
{
  GST_CCL_COLOR_BY_LABEL,
  GST_CCL_COLOR_BY_TRACK,
  GST_CCL_COLOR_BY_FIXED,
} GstCclColorBy;

#define GST_TYPE_CCL_COLOR_BY (gst_ccl_color_by_get_type ())
GType gst_ccl_color_by_get_type (void);

typedef enum
{
  GST_CCL_REMAP_KEEP,
  GST_CCL_REMAP_RESTORE,
} GstCclRemapMode;

#define GST_TYPE_CCL_REMAP_MODE (gst_ccl_remap_mode_get_type ())
GType gst_ccl_remap_mode_get_type (void);

G_END_DECLS

#endif
