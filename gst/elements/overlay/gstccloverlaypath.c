/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whether a drawing is attached to the buffer for an element downstream, or blended into the picture. */

#include "gstccloverlayprivate.h"

#include <string.h>

#include <gst/video/video.h>

#include "base/gstcclframemap.h"

#define GST_CAT_DEFAULT gst_ccl_overlay_debug

const gchar *
gst_ccl_overlay_path_name (GstCclOverlayPath path)
{
  static const gchar *const names[] = { "none", "attach", "blend", "carry" };

  return names[path];
}

/* ---------------------------------------------------------------- caps */

static gboolean
has_feature (GstCaps * caps)
{
  return gst_caps_features_contains (gst_caps_get_features (caps, 0),
      GST_CAPS_FEATURE_META_GST_VIDEO_OVERLAY_COMPOSITION);
}

/* A copy of `caps`, all with the composition feature or all without. */
static GstCaps *
switch_feature (GstCaps * caps, gboolean with)
{
  GstCaps *result = gst_caps_copy (caps);

  for (guint i = 0; i < gst_caps_get_size (result); i++) {
    GstCapsFeatures *const features = gst_caps_get_features (result, i);

    if (gst_caps_features_is_any (features))
      continue;
    gst_caps_features_remove (features, GST_CAPS_FEATURE_META_GST_VIDEO_OVERLAY_COMPOSITION);
    if (with)
      gst_caps_features_add (features, GST_CAPS_FEATURE_META_GST_VIDEO_OVERLAY_COMPOSITION);
  }
  return result;
}

/* The feature can be added, and removed if the element blends. Caps with the feature come first, because the pixels stay
 * untouched then. */
GstCaps *
gst_ccl_overlay_other_caps (GstPadDirection direction, GstCaps * caps, gboolean is_refused)
{
  if (direction == GST_PAD_SINK && is_refused)
    return switch_feature (caps, FALSE);
  return gst_caps_merge (switch_feature (caps, direction == GST_PAD_SINK), switch_feature (caps,
          direction == GST_PAD_SRC));
}

static gboolean
is_system_memory (GstCaps * caps)
{
  const GstCapsFeatures *const features = gst_caps_get_features (caps, 0);

  for (guint i = 0; i < gst_caps_features_get_size (features); i++) {
    const gchar *const feature = gst_caps_features_get_nth (features, i);

    if (g_str_has_prefix (feature, "memory:") && strcmp (feature, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY) != 0)
      return FALSE;
  }
  return TRUE;
}

/* ---------------------------------------------------------------- choice */

static void
set_path (GstCclOverlay * self, GstCclOverlayPath path)
{
  if (path == self->path)
    return;
  GST_INFO_OBJECT (self, "path: %s", gst_ccl_overlay_path_name (path));
  if (path == GST_CCL_OVERLAY_PATH_CARRY)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("No element downstream draws on pictures in this memory or format."),
        ("The drawing is attached to every buffer all the same (GstVideoOverlayCompositionMeta). To see it, put "
            "ccloverlay behind an element that brings pictures to system memory, or use a sink that draws overlays; of "
            "fields in buffers of their own (interlace-mode=alternate) before interlace or behind deinterlace."));
  GST_OBJECT_LOCK (self);
  self->path = path;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
is_drawn_downstream (GstCclOverlay * self, GstCaps * caps)
{
  GstQuery *query = gst_query_new_allocation (caps, FALSE);
  const gboolean is_drawn = gst_pad_peer_query (GST_BASE_TRANSFORM_SRC_PAD (self), query)
      && gst_query_find_allocation_meta (query, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);

  gst_query_unref (query);
  return is_drawn;
}

/* Caps alone do not say that downstream draws overlays: a sink with ANY caps ignores them. An element that draws them answers
 * the ALLOCATION query with their API. If none does, and blending is possible, the caps lose the feature again. */
void
gst_ccl_overlay_choose_path (GstCclOverlay * self)
{
  GstPad *const pad = GST_BASE_TRANSFORM_SRC_PAD (self);
  GstCaps *const caps = gst_pad_get_current_caps (pad);
  gboolean is_drawn;

  if (!caps)
    return;
  is_drawn = is_drawn_downstream (self, caps);
  if (is_drawn && has_feature (caps)) {
    set_path (self, GST_CCL_OVERLAY_PATH_ATTACH);
  } else if (is_system_memory (caps) && gst_ccl_canvas_can_blend (&self->info)) {
    GstCaps *const without = switch_feature (caps, FALSE);

    set_path (self, GST_CCL_OVERLAY_PATH_BLEND);
    if (has_feature (caps) && gst_pad_peer_query_accept_caps (pad, without)) {
      g_atomic_int_set (&self->is_refused, TRUE);
      gst_base_transform_update_src_caps (GST_BASE_TRANSFORM (self), without);
    }
    gst_caps_unref (without);
  } else {
    set_path (self, is_drawn ? GST_CCL_OVERLAY_PATH_ATTACH : GST_CCL_OVERLAY_PATH_CARRY);
  }
  gst_caps_unref (caps);
}

/* ---------------------------------------------------------------- output */

static gboolean
blend (GstCclOverlay * self, GstBuffer * buffer, guint64 * pixels)
{
  GstVideoOverlayCompositionMeta *under;
  GstVideoFrame frame;

  /* The map takes no reference, so that the buffer's metadata stay writable. */
  if (!gst_ccl_frame_map (&frame, &self->info, buffer,
          (GstMapFlags) (GST_MAP_READWRITE | GST_VIDEO_FRAME_MAP_FLAG_NO_REF))) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
        ("The picture cannot be written to, or its video meta and its caps contradict each other."),
        ("buffer %" GST_PTR_FORMAT, buffer));
    return FALSE;
  }
  /* Overlays of elements upstream: no element downstream would draw them. */
  while ((under = gst_buffer_get_video_overlay_composition_meta (buffer))) {
    gst_video_overlay_composition_blend (under->overlay, &frame);
    gst_buffer_remove_video_overlay_composition_meta (buffer, under);
  }
  if (self->canvas)
    *pixels = gst_ccl_canvas_blend (self->canvas, &frame);
  gst_video_frame_unmap (&frame);
  return TRUE;
}

/* A buffer has one composition: the drawing goes on top of those that are there. */
static void
attach (GstCclOverlay * self, GstBuffer * buffer, guint64 * pixels)
{
  GstVideoOverlayCompositionMeta *const meta = gst_buffer_get_video_overlay_composition_meta (buffer);
  GstVideoOverlayComposition *composition = meta ? gst_video_overlay_composition_ref (meta->overlay) : NULL;

  composition = gst_ccl_canvas_compose (self->canvas, composition, pixels);
  if (meta)
    gst_buffer_remove_video_overlay_composition_meta (buffer, meta);
  if (composition) {
    gst_buffer_add_video_overlay_composition_meta (buffer, composition);
    gst_video_overlay_composition_unref (composition);
  }
}

gboolean
gst_ccl_overlay_put (GstCclOverlay * self, GstBuffer * buffer, guint64 * pixels)
{
  const gboolean is_empty = !self->canvas || gst_ccl_canvas_is_empty (self->canvas);

  if (self->path == GST_CCL_OVERLAY_PATH_BLEND)
    return (is_empty && !gst_buffer_get_video_overlay_composition_meta (buffer)) || blend (self, buffer, pixels);
  if (!is_empty)
    attach (self, buffer, pixels);
  return TRUE;
}
