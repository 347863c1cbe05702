/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclremapframe.h"

static void
set_row (gfloat row[3], gdouble a, gdouble b, gdouble c)
{
  row[0] = a;
  row[1] = b;
  row[2] = c;
}

/* Turns a frame of w x h pixels, in the plane of pixel squares. TRUE: width and height are exchanged. */
static gboolean
turn (gfloat m[3][3], gint direction, gdouble w, gdouble h)
{
  static const struct
  {
    gint8 xx, xy, yx, yy;
  } turns[] = {
    [GST_VIDEO_ORIENTATION_IDENTITY] = {1, 0, 0, 1},
    [GST_VIDEO_ORIENTATION_90R] = {0, -1, 1, 0},
    [GST_VIDEO_ORIENTATION_180] = {-1, 0, 0, -1},
    [GST_VIDEO_ORIENTATION_90L] = {0, 1, -1, 0},
    [GST_VIDEO_ORIENTATION_HORIZ] = {-1, 0, 0, 1},
    [GST_VIDEO_ORIENTATION_VERT] = {1, 0, 0, -1},
    [GST_VIDEO_ORIENTATION_UL_LR] = {0, 1, 1, 0},
    [GST_VIDEO_ORIENTATION_UR_LL] = {0, -1, -1, 0},
  };
  const gboolean is_known = direction >= 0 && direction < (gint) G_N_ELEMENTS (turns);
  const gint xx = is_known ? turns[direction].xx : 1, xy = is_known ? turns[direction].xy : 0;
  const gint yx = is_known ? turns[direction].yx : 0, yy = is_known ? turns[direction].yy : 1;

  /* A negative axis begins at the other end. */
  set_row (m[0], xx, xy, (xx < 0 ? w : 0) + (xy < 0 ? h : 0));
  set_row (m[1], yx, yy, (yx < 0 ? w : 0) + (yy < 0 ? h : 0));
  set_row (m[2], 0, 0, 1);
  return xy != 0;
}

gboolean
gst_ccl_remap_describe (const GstCclRemapSettings * settings, gint kept_width, gint kept_height, gint width,
    gint height, GstCclRemapFrame * frame)
{
  /* Each of the four can be as large as any gint. */
  const gint64 cropped_width = (gint64) kept_width - settings->left - settings->right;
  const gint64 cropped_height = (gint64) kept_height - settings->top - settings->bottom;
  const gboolean is_known = width > 0 && height > 0;
  GstCclMatrixTransform *const transform = &frame->transform;
  gboolean swapped;

  if (cropped_width < 1 || cropped_height < 1)
    return FALSE;
  swapped = turn (transform->matrix, settings->direction, cropped_width, cropped_height);
  frame->turned_width = swapped ? cropped_height : cropped_width;
  frame->turned_height = swapped ? cropped_width : cropped_height;
  frame->width = is_known ? width : frame->turned_width;
  frame->height = is_known ? height : frame->turned_height;
  for (gint i = 0; i < 3; i++) {
    transform->matrix[0][i] *= (gdouble) frame->width / frame->turned_width;
    transform->matrix[1][i] *= (gdouble) frame->height / frame->turned_height;
  }
  gst_video_info_set_format (&frame->infos[0], GST_VIDEO_FORMAT_GRAY8, kept_width, kept_height);
  gst_video_info_set_format (&frame->infos[1], GST_VIDEO_FORMAT_GRAY8, frame->width, frame->height);
  transform->in_info = &frame->infos[0];
  transform->out_info = &frame->infos[1];
  transform->in_rectangle = (GstVideoRectangle) {
  settings->left, settings->top, cropped_width, cropped_height};
  transform->out_rectangle = (GstVideoRectangle) {
  0, 0, frame->width, frame->height};
  return TRUE;
}
