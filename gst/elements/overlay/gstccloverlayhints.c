/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Warnings of ccloverlay about metadata that do not come: what it is to draw is not there. */

#include "gstccloverlayprivate.h"

#include <gst/video/video.h>
#include <gst/ccl/ccl.h>
#include <gst/ccl/gstcclblobmeasures.h>

#include "base/gstcclenums.h"
#include "base/gstcclhint.h"

#define GST_CAT_DEFAULT gst_ccl_overlay_debug

static gboolean
has_contour (const GstCclBlobMeta * meta, guint index)
{
  return gst_ccl_blob_meta_get_blob (meta, index)->n_contour > 0;
}

static gboolean
has_rectangle (const GstCclBlobMeta * meta, guint index)
{
  return gst_ccl_blob_meta_get_hull (meta, index, NULL, NULL, NULL);
}

/* Also where the blob has none. */
static gboolean
has_holes (const GstCclBlobMeta * meta, guint index)
{
  return gst_ccl_blob_meta_get_filled_area (meta, index, NULL, NULL);
}

/* What is drawn from measures that ccllabel does not take unless it is told to. */
static const struct
{
  guint draw;
  const gchar *says, *setting;
    gboolean (*has) (const GstCclBlobMeta * meta, guint index);
} needs[GST_CCL_OVERLAY_N_NEEDS] = {
  {GST_CCL_DRAW_CONTOUR, "contour, but no blob has one", "contours=true", has_contour},
  {GST_CCL_DRAW_HULL, "hull, but no blob has a contour", "contours=true", has_contour},
  {GST_CCL_DRAW_RECTANGLE, "rectangle, but no blob has a hull", "features=hull", has_rectangle},
  {GST_CCL_DRAW_HOLE, "hole, but holes are not measured", "features=holes", has_holes},
};

static gboolean
any_has (const GstCclBlobMeta * meta, guint need)
{
  for (guint i = 0; i < gst_ccl_blob_meta_get_length (meta); i++)
    if (needs[need].has (meta, i))
      return TRUE;
  return FALSE;
}

/* One hint is enough for what needs the same setting. */
static gboolean
is_asked (guint draw, guint need)
{
  return draw & needs[need].draw && !(needs[need].draw == GST_CCL_DRAW_HULL && draw & GST_CCL_DRAW_CONTOUR);
}

static void
post_nothing (GstCclOverlay * self)
{
  GST_ELEMENT_WARNING (self, STREAM, FAILED, ("Nothing to draw: the frames carry no blobs, zones or regions."),
      ("Put ccllabel upstream, and between the two no element that drops metadata (see docs/metadata.md)."));
}

static void
post_need (GstCclOverlay * self, guint need)
{
  GST_ELEMENT_WARNING (self, STREAM, FAILED, ("draw says %s. Set %s of ccllabel.", needs[need].says,
          needs[need].setting), ("Said once per start."));
}

void
gst_ccl_overlay_give_hints (GstCclOverlay * self, GstBuffer * buffer, guint draw)
{
  const GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

  if (gst_ccl_hint_is_due (&self->n_without_metas, meta || gst_buffer_get_ccl_zone_meta (buffer)
          || gst_buffer_get_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)))
    post_nothing (self);
  for (guint i = 0; i < GST_CCL_OVERLAY_N_NEEDS; i++) {
    if (self->n_without[i] >= GST_CCL_HINT_FRAMES)
      continue;
    if (!is_asked (draw, i))
      self->n_without[i] = 0;
    else if (meta && gst_ccl_blob_meta_get_length (meta) > 0
        && gst_ccl_hint_is_due (&self->n_without[i], any_has (meta, i)))
      post_need (self, i);
  }
}

/* A stream can be one picture. */
void
gst_ccl_overlay_give_hints_at_end (GstCclOverlay * self)
{
  if (gst_ccl_hint_is_due_at_end (&self->n_without_metas))
    post_nothing (self);
  for (guint i = 0; i < GST_CCL_OVERLAY_N_NEEDS; i++)
    if (gst_ccl_hint_is_due_at_end (&self->n_without[i]))
      post_need (self, i);
}

/* Called at the start. */
void
gst_ccl_overlay_reset_hints (GstCclOverlay * self)
{
  self->n_without_metas = 0;
  for (guint i = 0; i < GST_CCL_OVERLAY_N_NEEDS; i++)
    self->n_without[i] = 0;
}
