/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Inside ccllabel: its settings, its frames, and what its files share. */
#ifndef __GST_CCL_LABEL_PRIVATE_H__
#define __GST_CCL_LABEL_PRIVATE_H__

#include <gst/ccl/gstcclblobmeta.h>

#include "analysis/contour.h"
#include "base/gstcclanalyzer.h"
#include "label/gstcclblobfilter.h"
#include "label/gstccllabel.h"
#include "label/gstcclmasksource.h"
#include "label/gstcclpicture.h"
#include "label/gstcclvolume.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_ccl_label_debug);

/* The choice of the code that labels the pixels. */
typedef struct
{
  gint backend;
  gint algorithm;
  gint connectivity;
} GstCclLabelMethod;

/* The properties. Written under the object lock; the streaming thread copies them once per frame. */
typedef struct
{
  GstCclLabelMethod method;
  GstCclMaskChoice mask;
  gint foreground;              /* GstCclForeground */
  guint background_value;
  gint threshold;
  gboolean invert;
  CclFilter filter;             /* without a selection */
  GstCclBlobFilter *expression; /* the property `filter`; NULL: none. Counted in each copy of the settings */
  guint max_components;
  gint order;
  guint features;
  guint attach;
  guint max_mirror;
  gboolean contours;
  gdouble contour_epsilon;
  guint contour_max_points;
  const gchar *roi_type;        /* interned */
  guint interval;
  guint volume;
  guint async_depth;
  gboolean skip_when_late;
  gint output;
  guint threads;
  gboolean timing;
  gboolean batch;
} GstCclLabelSettings;

typedef struct
{
  GstCclRequest common;
  GstCclLabelMethod method;
  gint width, height;
  guint max_components;
  gint order;
  guint features;               /* of the core */
  gboolean is_map;              /* of label maps */
  guint background_value;       /* of label maps */
  gboolean selects;
  guint depth;
  guint volume;                 /* frames; 0: none */
  guint threads;
  gboolean labels;
  gboolean timing;
  gboolean batch;
} GstCclLabelRequest;

typedef struct
{
  GstCclFrame common;
  GstCclLabelSettings settings; /* at the arrival of the frame */
  GstCclFoundMask mask;
  GstCclPictureView picture;    /* mapped only to measure intensity */
  gboolean is_map;              /* it is a label map */
  CclSelection selection;       /* a copy of the expression's, for a mask with classes */
  guint32 *labels;              /* the slot's label image, if the output needs one */
  CclMemory labels_memory;
  gint volume_frame;            /* its index in the volume */
  CclTable table;               /* once collected */
  GstCclBlobList *list;         /* NULL: nothing is attached */
} GstCclLabelFrame;

/* Guarded by the object lock. */
typedef struct
{
  guint64 components;
  guint64 truncated;
  guint64 volumes;
  GstCclMinAvgMax upload, kernel, contour;
  GstCclMinAvgMax batch, wait;  /* frames launched together; the time until their launch */
  GstCclMinAvgMax pack;
  const gchar *algorithm, *volume_algorithm;
} GstCclLabelStats;

struct _GstCclLabel
{
  GstCclAnalyzer parent;

  GstCclLabelSettings settings; /* object lock */
  GstCclLabelStats stats;       /* object lock */

  /* Streaming thread. */
  GstCclLabelSettings now;      /* the settings of the current frame */
  gint mask_width, mask_height; /* of the last mask seen */
  GstCclLabelMethod accepted;   /* the last method that worked; connectivity 0: none */
  GstCclLabelMethod rejected;   /* the last method that contradicts itself, until a setting changes */
  guint rejected_volume;        /* with this many frames */
  CclContext *labeller;
  CclContours *contours;
  GstCclVolume volume;          /* with the property volume, output waits here */
  GstCclLabelFrame slots[CCL_MAX_DEPTH];
  guint64 n_submitted;          /* since start or flush, for interval */

  gboolean warned_truncated, warned_saturated, warned_no_mask, warned_threshold, checked_values, warned_features;
  gboolean warned_background, warned_numbers, warned_holes;
  gint limited_width, limited_height;   /* of the mask that the limits were last compared with */
  guint n_without_blobs;        /* see gstcclhint.h */
  guint n_full_frames;          /* in a row without background */
  guint n_opaque_frames;        /* in a row whose alpha is 255 in each pixel */
  guint n_without_alpha;        /* see gstcclhint.h */
};

/* gstccllabelcontext.c: the contexts of the core */
guint gst_ccl_label_wanted_volume (GstCclLabel * self);
gboolean gst_ccl_label_wants_map (const GstCclLabel * self);
gboolean gst_ccl_label_start_contexts (GstCclLabel * self);
void gst_ccl_label_init_contexts (GstCclAnalyzerClass * klass);

/* gstcclblobfilter.c: the property `filter` */
void gst_ccl_label_set_filter (GstCclLabel * self, const gchar * text);

/* gstccllabelframes.c: from mask to metadata */
void gst_ccl_label_init_frames (GstCclAnalyzerClass * klass);

/* gstccllabelhints.c: warnings about settings and masks that look like mistakes */
void gst_ccl_label_warn_of_settings (GstCclLabel * self);
void gst_ccl_label_warn_of_threshold (GstCclLabel * self, const GstCclLabelFrame * frame);
void gst_ccl_label_warn_of_limits (GstCclLabel * self);
guint gst_ccl_label_missing_features (const GstCclLabelRequest * request);
void gst_ccl_label_warn_of_features (GstCclLabel * self, const GstCclLabelRequest * request);
guint gst_ccl_label_max_holes (const GstCclLabelFrame * frame);
void gst_ccl_label_warn_of_table (GstCclLabel * self, const GstCclLabelFrame * frame);
void gst_ccl_label_warn_of_saturation (GstCclLabel * self, const GstCclLabelFrame * frame);
void gst_ccl_label_hint_when_full (GstCclLabel * self, const GstCclLabelFrame * frame);
void gst_ccl_label_hint_when_no_mask (GstCclLabel * self, const GstCclLabelFrame * frame);
void gst_ccl_label_hint_when_opaque (GstCclLabel * self, const GstCclLabelFrame * frame);
void gst_ccl_label_hint_when_no_alpha (GstCclLabel * self);
void gst_ccl_label_hint_when_dim (GstCclLabel * self, const GstCclLabelFrame * frame);
void gst_ccl_label_reset_hints (GstCclLabel * self);

/* gstccllabelpicture.c: caps that mask-source allows; the picture that leaves with output=mask, labels and colors */
GstCaps *gst_ccl_label_sink_caps (GstCclAnalyzer * analyzer);
void gst_ccl_label_set_mask_source (GstCclLabel * self, gint source);
GstCaps *gst_ccl_label_picture_caps (gint output, GstPadDirection direction, GstCaps * caps);
GstCaps *gst_ccl_label_fixate_picture (gint output, GstCaps * possible);
gboolean gst_ccl_label_draw_picture (gint output, const GstVideoInfo * info, GstBuffer * buffer,
    const guint32 * labels, guint width, guint height);

G_END_DECLS

#endif
