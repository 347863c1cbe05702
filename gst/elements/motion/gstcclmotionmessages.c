/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Messages about periods of motion, and warnings about settings that look like mistakes. */

#include "gstcclmotionprivate.h"

#include "base/gstcclenums.h"
#include "base/gstcclinband.h"
#include "base/gstccltime.h"

#define GST_CAT_DEFAULT gst_ccl_motion_debug

static GstStructure *
new_structure (GstCclMotion * self, const gchar * state, GstClockTime timestamp, const CclMotionInfo * info)
{
  GstBaseTransform *const transform = GST_BASE_TRANSFORM (self);
  const gdouble pixels = info && info->pixels ? info->pixels : 1;

  return gst_structure_new ("ccl-motion", "state", G_TYPE_STRING, state,
      "running-time", G_TYPE_UINT64, gst_ccl_running_time (transform, timestamp),
      "stream-time", G_TYPE_UINT64, gst_ccl_stream_time (transform, timestamp),
      "timestamp", G_TYPE_UINT64, timestamp,
      "duration", G_TYPE_UINT64, GST_CLOCK_TIME_IS_VALID (timestamp) && timestamp >= self->period.began
      ? timestamp - self->period.began : 0,
      "n-foreground", G_TYPE_UINT64, info ? info->foreground : 0,
      "area-ratio", G_TYPE_DOUBLE, info ? info->foreground / pixels : 0.0,
      "global-change", G_TYPE_BOOLEAN, info ? (info->flags & CCL_MOTION_GLOBAL_CHANGE) != 0 : FALSE, NULL);
}

static void
post (GstCclMotion * self, const gchar * state, GstClockTime timestamp, const CclMotionInfo * info)
{
  GST_DEBUG_OBJECT (self, "motion %s at %" GST_TIME_FORMAT, state, GST_TIME_ARGS (timestamp));
  gst_element_post_message (GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self),
          new_structure (self, state, timestamp, info)));
}

/* Begin and end pass downstream too, whatever is posted. */
static void
send_downstream (GstCclMotion * self, const gchar * state, GstClockTime timestamp, const CclMotionInfo * info)
{
  GstStructure *const structure = new_structure (self, state, timestamp, info);

  gst_ccl_inband_push (GST_BASE_TRANSFORM (self), structure, g_str_equal (state,
          "begin") ? "motion-begin" : "motion-end");
  gst_structure_free (structure);
}

void
gst_ccl_motion_end_period (GstCclMotion * self, gint messages, const CclMotionInfo * info)
{
  if (!self->period.is_moving)
    return;
  self->period.is_moving = FALSE;
  send_downstream (self, "end", self->period.last_motion, info);
  if (messages != GST_CCL_POST_NONE)
    post (self, "end", self->period.last_motion, info);
}

/* A period of motion begins with a frame that has at least min-motion foreground, or a global change. It ends after off-delay
 * without such a frame. */
void
gst_ccl_motion_update_period (GstCclMotion * self, const GstCclMotionFrame * frame)
{
  const CclMotionInfo *const info = &frame->info;
  const GstCclMotionSettings *const settings = &frame->settings;
  const gboolean changed = (info->flags & CCL_MOTION_GLOBAL_CHANGE) != 0;
  const gboolean moves = changed || (info->foreground && info->foreground >= settings->min_motion * info->pixels);
  const gint messages = settings->post_messages;
  const GstClockTime time = frame->time;

  if (frame->steps_back)
    gst_ccl_motion_end_period (self, messages, NULL);   /* off-delay cannot be counted backwards */
  if (moves) {
    self->period.last_motion = time;
    if (!self->period.is_moving) {
      self->period.is_moving = TRUE;
      self->period.began = time;
      send_downstream (self, "begin", time, info);
      if (messages != GST_CCL_POST_NONE)
        post (self, "begin", time, info);
    } else if (messages == GST_CCL_POST_ALL || (changed && messages == GST_CCL_POST_EDGES)) {
      post (self, "update", time, info);
    }
  } else if (self->period.is_moving && time >= self->period.last_motion + settings->off_delay) {
    gst_ccl_motion_end_period (self, messages, info);
  } else if (self->period.is_moving && messages == GST_CCL_POST_ALL) {
    post (self, "update", time, info);
  }
}

void
gst_ccl_motion_warn_of_no_effect (GstCclMotion * self, const gchar * what, const gchar * hint)
{
  static const gchar *const methods[] = {
    [CCL_MOTION_DIFF] = "diff",[CCL_MOTION_EMA] = "ema",[CCL_MOTION_MOG2] = "mog2",[CCL_MOTION_FEEDBACK] = "feedback",
  };

  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s has no effect with method=%s.", what, methods[self->now.method]),
      ("%s", hint));
}

/* Settings that the method does not have. */
static void
warn_of_method (GstCclMotion * self)
{
  const CclMotionParams *const params = &self->now.params, defaults = ccl_motion_params_default ();

  if (self->now.method != CCL_MOTION_FEEDBACK) {
    if (self->background_location)
      gst_ccl_motion_warn_of_no_effect (self, "background-location", "Only method=feedback saves its background.");
    return;
  }
  if (params->learning_rate >= 0)
    gst_ccl_motion_warn_of_no_effect (self, "learning-rate",
        "absorb-time is how long a still object stays foreground.");
  if (params->freeze)
    gst_ccl_motion_warn_of_no_effect (self, "freeze-on-motion",
        "An object that stops stays foreground for absorb-time.");
  if (params->warmup_frames != defaults.warmup_frames)
    gst_ccl_motion_warn_of_no_effect (self, "warmup-frames", "It learns for 1.5 seconds and at least 12 frames.");
}

/* Settings with which all masks are empty, and those without effect. */
void
gst_ccl_motion_warn_of_settings (GstCclMotion * self)
{
  const gdouble max_motion = self->now.params.max_motion, min_motion = self->now.min_motion;

  warn_of_method (self);
  if (max_motion == 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("max-motion=0: all that moves counts as change of the whole "
            "picture, and the mask stays empty."), ("It is a part of the picture, 0.8 when not set; 1 turns it off."));
  else if (min_motion > max_motion)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("min-motion=%g is above max-motion=%g: messages tell of changes "
            "of the whole picture only.", min_motion, max_motion), (NULL));
}

/* Opening keeps foreground in which a square of this size fits. */
void
gst_ccl_motion_warn_of_open (GstCclMotion * self)
{
  const guint thinnest = 2 * self->now.params.open + 1;

  if (thinnest > 1 && (thinnest > self->mask_width || thinnest > self->mask_height))
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("open=%u leaves nothing of a mask of %ux%u pixels.",
            self->now.params.open, self->mask_width, self->mask_height),
        ("What is thinner than %u pixels goes.", thinnest));
}

/* A file that is shorter than the warm-up has no motion, which looks like a mistake somewhere else. */
void
gst_ccl_motion_hint_when_all_learnt (GstCclMotion * self)
{
  guint64 frames;
  gboolean all;

  GST_OBJECT_LOCK (self);
  frames = self->parent.stats.frames;
  all = frames > 0 && self->stats.learning == frames && self->stats.global_changes == 0;
  GST_OBJECT_UNLOCK (self);
  if (all)
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("The stream ended after %" G_GUINT64_FORMAT " frames, in the warm-up: "
            "there was no mask yet.", frames),
        ("method=feedback learns from 1.5 seconds and 12 frames first, the other methods from warmup-frames=%u.",
            self->now.params.warmup_frames));
}
