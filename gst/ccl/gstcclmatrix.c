/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmatrix.h"

#include <math.h>
#include <string.h>

static const GstCclMatrix IDENTITY = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };

void
gst_ccl_matrix_set_identity (GstCclMatrix m)
{
  memcpy (m, IDENTITY, sizeof (GstCclMatrix));
}

gboolean
gst_ccl_matrix_is_identity (const GstCclMatrix m)
{
  for (gint i = 0; i < 9; i++)
    if (m[i] != IDENTITY[i])
      return FALSE;
  return TRUE;
}

void
gst_ccl_matrix_multiply (const GstCclMatrix a, const GstCclMatrix b, GstCclMatrix product)
{
  GstCclMatrix m;

  for (gint i = 0; i < 3; i++)
    for (gint j = 0; j < 3; j++)
      m[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
  memcpy (product, m, sizeof (GstCclMatrix));
}

gboolean
gst_ccl_matrix_is_usable (const GstCclMatrix m)
{
  const gdouble det = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6])
      + m[2] * (m[3] * m[7] - m[4] * m[6]);

  for (gint i = 0; i < 9; i++)
    if (!isfinite (m[i]))
      return FALSE;
  return isfinite (det) && det != 0;
}

gboolean
gst_ccl_matrix_invert (const GstCclMatrix m, GstCclMatrix inverse)
{
  const GstCclMatrix adjugate = {
    m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
    m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
    m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3],
  };
  const gdouble det = m[0] * adjugate[0] + m[1] * adjugate[3] + m[2] * adjugate[6];

  if (!gst_ccl_matrix_is_usable (m))
    return FALSE;
  for (gint i = 0; i < 9; i++)
    inverse[i] = adjugate[i] / det;
  return TRUE;
}

/* The denominator of the projection; a point on its horizon has no image and is mapped without dividing. */
static gdouble
gst_ccl_matrix_get_w (const GstCclMatrix m, gdouble x, gdouble y)
{
  const gdouble w = m[6] * x + m[7] * y + m[8];

  return w != 0 ? w : 1;
}

void
gst_ccl_matrix_map (const GstCclMatrix m, gdouble * x, gdouble * y)
{
  const gdouble w = gst_ccl_matrix_get_w (m, *x, *y);
  const gdouble mapped_x = (m[0] * *x + m[1] * *y + m[2]) / w;
  const gdouble mapped_y = (m[3] * *x + m[4] * *y + m[5]) / w;

  *x = mapped_x;
  *y = mapped_y;
}

/* The derivative of the mapping at (x, y), d(x', y') / d(x, y). It is the same everywhere for an affine matrix. */
void
gst_ccl_matrix_get_jacobian (const GstCclMatrix m, gdouble x, gdouble y, gdouble j[4])
{
  const gdouble w = gst_ccl_matrix_get_w (m, x, y);

  gst_ccl_matrix_map (m, &x, &y);
  j[0] = (m[0] - m[6] * x) / w;
  j[1] = (m[1] - m[7] * x) / w;
  j[2] = (m[3] - m[6] * y) / w;
  j[3] = (m[4] - m[7] * y) / w;
}

/* ---------------------------------------------------------------- transforms */

/* Called for every conversion, also with equal sizes. */
static gboolean
follow_scale (GstCclFrameMatrix * frame, const GstVideoMetaTransform * scale)
{
  const gint from_width = GST_VIDEO_INFO_WIDTH (scale->in_info), from_height = GST_VIDEO_INFO_HEIGHT (scale->in_info);
  const gint width = GST_VIDEO_INFO_WIDTH (scale->out_info), height = GST_VIDEO_INFO_HEIGHT (scale->out_info);

  if (from_width <= 0 || from_height <= 0 || width <= 0 || height <= 0)
    return FALSE;

  const GstCclMatrix change = {
    (gdouble) width / from_width, 0, 0, 0, (gdouble) height / from_height, 0, 0, 0, 1
  };

  gst_ccl_matrix_multiply (change, frame->matrix, frame->matrix);
  frame->width = width;
  frame->height = height;
  return TRUE;
}

#if GST_CHECK_VERSION (1, 28, 0)
G_STATIC_ASSERT (G_STRUCT_OFFSET (GstCclMatrixTransform, matrix) ==
    G_STRUCT_OFFSET (GstVideoMetaTransformMatrix, matrix));
G_STATIC_ASSERT (G_STRUCT_OFFSET (GstCclMatrixTransform, out_rectangle) ==
    G_STRUCT_OFFSET (GstVideoMetaTransformMatrix, out_rectangle));
G_STATIC_ASSERT (sizeof (((GstCclMatrixTransform *) 0)->matrix) ==
    sizeof (((GstVideoMetaTransformMatrix *) 0)->matrix));
#endif

/* Whether the matrix puts a rectangle of the input's size exactly onto one of the output's, both with their corner at
 * (0, 0). */
static gboolean
fills_output (const GstCclMatrix change, const GstCclMatrixTransform * transform)
{
  gdouble x0 = 0, y0 = 0, x1 = transform->in_rectangle.w, y1 = transform->in_rectangle.h;

  gst_ccl_matrix_map (change, &x0, &y0);
  gst_ccl_matrix_map (change, &x1, &y1);
  return fabs (MIN (x0, x1)) < 0.25 && fabs (MIN (y0, y1)) < 0.25
      && fabs (MAX (x0, x1) - transform->out_rectangle.w) < 0.25
      && fabs (MAX (y0, y1) - transform->out_rectangle.h) < 0.25;
}

/* Undoes the rounding of a ratio of sizes to a float, if the value was such a ratio. */
static gdouble
unrounded (gfloat value, gint to, gint from)
{
  return from > 0 && value == (gfloat) to / (gfloat) from ? (gdouble) to / from : value;
}

/* The matrix maps points of in_rectangle to points of out_rectangle, each relative to the corner of its rectangle. Elements
 * define points in two ways: converters and videocrop use the plane of pixel squares, as this library does; videoflip uses
 * indices of pixels (x becomes width - 1 - x). The definition under which the result covers out_rectangle is used. */
static gboolean
follow_matrix (GstCclFrameMatrix * frame, const GstCclMatrixTransform * transform)
{
  const GstVideoRectangle *const in = &transform->in_rectangle, *const out = &transform->out_rectangle;
  const GstCclMatrix from_in = { 1, 0, -in->x, 0, 1, -in->y, 0, 0, 1 };
  const GstCclMatrix to_out = { 1, 0, out->x, 0, 1, out->y, 0, 0, 1 };
  const GstCclMatrix to_centres = { 1, 0, -0.5, 0, 1, -0.5, 0, 0, 1 }, from_centres = { 1, 0, 0.5, 0, 1, 0.5, 0, 0, 1 };
  GstCclMatrix change, of_numbers;

  for (gint i = 0; i < 9; i++)
    change[i] = transform->matrix[i / 3][i % 3];
  change[0] = unrounded (transform->matrix[0][0], out->w, in->w);
  change[4] = unrounded (transform->matrix[1][1], out->h, in->h);

  if (!fills_output (change, transform)) {
    gst_ccl_matrix_multiply (change, to_centres, of_numbers);
    gst_ccl_matrix_multiply (from_centres, of_numbers, of_numbers);
    if (fills_output (of_numbers, transform))
      memcpy (change, of_numbers, sizeof (GstCclMatrix));
  }
  gst_ccl_matrix_multiply (change, from_in, change);
  gst_ccl_matrix_multiply (to_out, change, change);
  gst_ccl_matrix_multiply (change, frame->matrix, frame->matrix);
  frame->width = GST_VIDEO_INFO_WIDTH (transform->out_info);
  frame->height = GST_VIDEO_INFO_HEIGHT (transform->out_info);
  return TRUE;
}

gboolean
gst_ccl_frame_matrix_follow (GstCclFrameMatrix * frame, GQuark type, gpointer data)
{
  gboolean followed = FALSE;

  if (GST_META_TRANSFORM_IS_COPY (type))        /* a part of the bytes of a frame is no frame */
    return !((const GstMetaTransformCopy *) data)->region;
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE (type))
    followed = follow_scale (frame, data);
  else if (type == g_quark_from_static_string (GST_CCL_MATRIX_TRANSFORM))
    followed = follow_matrix (frame, data);
  return followed && gst_ccl_matrix_is_usable (frame->matrix);
}

gboolean
gst_ccl_fractions_follow (GstCclMatrix change, GQuark type, gpointer data)
{
  const GstCclMatrixTransform *const transform = data;
  GstCclFrameMatrix frame;

  gst_ccl_matrix_set_identity (change);
  if (GST_META_TRANSFORM_IS_COPY (type))
    return !((const GstMetaTransformCopy *) data)->region;
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE (type))
    return TRUE;
  if (type != g_quark_from_static_string (GST_CCL_MATRIX_TRANSFORM))
    return FALSE;

  gst_ccl_matrix_set_identity (frame.matrix);
  frame.matrix[0] = GST_VIDEO_INFO_WIDTH (transform->in_info);
  frame.matrix[4] = GST_VIDEO_INFO_HEIGHT (transform->in_info);
  if (!gst_ccl_frame_matrix_follow (&frame, type, data) || frame.width == 0 || frame.height == 0)
    return FALSE;
  change[0] = 1.0 / frame.width;
  change[4] = 1.0 / frame.height;
  gst_ccl_matrix_multiply (change, frame.matrix, change);
  return gst_ccl_matrix_is_usable (change);
}
