/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Inside cclmotion: its settings, its frames, and what its files share. */
#ifndef __GST_CCL_MOTION_PRIVATE_H__
#define __GST_CCL_MOTION_PRIVATE_H__

#include "motion.h"
#include "base/gstcclanalyzer.h"
#include "base/gstccltracksevent.h"
#include "motion/gstcclmotion.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_ccl_motion_debug);

/* The properties. Written under the object lock; the streaming thread copies them once per frame. */
typedef struct
{
  gint backend;
  gint method;
  guint work_height;
  guint threads;
  CclMotionParams params;       /* but for absorb_ms */
  GstClockTime absorb_time;
  gdouble min_motion;
  gint post_messages;
  GstClockTime off_delay;
  guint async_depth;
  guint ignore_serial;          /* counts the values of self->ignore */
} GstCclMotionSettings;

typedef struct
{
  GstCclRequest common;
  gint method;
  gint width, height;
  guint work_height;
  guint threads;
  gboolean has_chroma;
} GstCclMotionRequest;

typedef struct
{
  GstCclFrame common;
  GstCclMotionSettings settings;        /* as they were when the frame came */
  GstBuffer *mask;
  GstMapInfo mask_map;
  GstVideoFrame video;          /* mapped for its chroma; buffer NULL: not */
  CclMotionInfo info;           /* once collected */
  GstClockTime time;
  gboolean has_time;            /* else `time` is a guess */
  gboolean steps_back;          /* in time */
} GstCclMotionFrame;

/* Guarded by the object lock. */
typedef struct
{
  guint64 learning;
  guint64 with_motion;
  guint64 global_changes;
  gdouble area_ratio;           /* of the last frame */
  GstCclMinAvgMax detect;
} GstCclMotionStats;

/* A period of motion, for the messages about it. */
typedef struct
{
  gboolean is_moving;
  GstClockTime began, last_motion;      /* timestamps of the first and the last frame with motion */
} GstCclMotionPeriod;

struct _GstCclMotion
{
  GstCclAnalyzer parent;

  /* Object lock. */
  GstCclMotionSettings settings;
  GstCclMotionStats stats;
  gchar *ignore;
  gchar *background_location;   /* NULL: none */
  gint wanted_output;
  GstCclTrackBoxes tracks;      /* of the last event */
  gboolean tracks_are_new;      /* the detector does not have them yet */

  /* The application saves the background from its own thread: so the streaming thread takes this lock for each call of the core
   * and to change `detector`. The object lock is taken inside, never around it. */
  GMutex detector_lock;
  CclMotion *detector;
  guint64 n_unsaved;            /* frames since the background was saved */

  /* Streaming thread. */
  GstCclMotionSettings now;     /* the settings of the current frame */
  gboolean loads_background;    /* with the next frame */
  gboolean warned_of_tracks;
  guint ignored_serial;         /* of the polygons that the detector has; 0: none */
  guint mask_width, mask_height;
  GstBufferPool *pool;          /* of masks */
  GstCclMotionFrame slots[CCL_MAX_DEPTH];
  GstClockTime last_time;       /* PTS of the frame before */
  GstCclMotionPeriod period;
  gboolean caps_are_new;        /* no warning about the size of their masks was posted yet */
};

/* gstcclmotiondetector.c: the detector of the core, and its pool of masks */
guint gst_ccl_motion_mask_width (guint width, guint height, guint mask_height);
guint gst_ccl_motion_mask_height (guint height, guint work_height);
void gst_ccl_motion_recreate_pool (GstCclMotion * self);
void gst_ccl_motion_init_detector (GstCclAnalyzerClass * klass);

/* gstcclmotionframes.c: from picture to mask */
void gst_ccl_motion_restart_learning (GstCclMotion * self);
void gst_ccl_motion_init_frames (GstCclAnalyzerClass * klass);

/* gstcclmotionbackground.c */
GParamSpec *gst_ccl_motion_install_background (GObjectClass * klass);
void gst_ccl_motion_set_background_location (GstCclMotion * self, const gchar * location);      /* with the object lock */
void gst_ccl_motion_load_background (GstCclMotion * self);
gboolean gst_ccl_motion_save_background (GstCclMotion * self);  /* any thread; FALSE: a warning was posted */
void gst_ccl_motion_save_background_at_end (GstCclMotion * self);

/* gstcclmotiontracks.c */
void gst_ccl_motion_forget_tracks (GstCclMotion * self);
CclStatus gst_ccl_motion_hold_tracks (GstCclMotion * self);
void gst_ccl_motion_init_tracks (GstCclAnalyzerClass * klass);

/* gstcclmotionmessages.c */
void gst_ccl_motion_update_period (GstCclMotion * self, const GstCclMotionFrame * frame);
/* `info`: NULL when no frame ends the period. */
void gst_ccl_motion_end_period (GstCclMotion * self, gint messages, const CclMotionInfo * info);
void gst_ccl_motion_warn_of_settings (GstCclMotion * self);
void gst_ccl_motion_warn_of_open (GstCclMotion * self);
/* `what`: a setting, or data. Without the detector lock, as for every message. */
void gst_ccl_motion_warn_of_no_effect (GstCclMotion * self, const gchar * what, const gchar * hint);
void gst_ccl_motion_hint_when_all_learnt (GstCclMotion * self);

G_END_DECLS

#endif
