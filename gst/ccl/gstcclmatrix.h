/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Row-major 3x3 matrices for points in the plane of pixel squares, (x', y', w) = m · (x, y, 1), and how they follow the
 * transforms of a frame. */

#ifndef __GST_CCL_MATRIX_H__
#define __GST_CCL_MATRIX_H__

#include <gst/gst.h>
#include <gst/video/video.h>
#include <gst/video/gstvideosink.h>     /* GstVideoRectangle */

G_BEGIN_DECLS

typedef gdouble GstCclMatrix[9];

G_GNUC_INTERNAL
void gst_ccl_matrix_set_identity (GstCclMatrix m);

G_GNUC_INTERNAL
gboolean gst_ccl_matrix_is_identity (const GstCclMatrix m);

/* `product` may be a or b. */
G_GNUC_INTERNAL
void gst_ccl_matrix_multiply (const GstCclMatrix a, const GstCclMatrix b, GstCclMatrix product);

/* Finite, and not singular. */
G_GNUC_INTERNAL
gboolean gst_ccl_matrix_is_usable (const GstCclMatrix m);

/* FALSE when the matrix is not usable. `inverse` may be m. */
G_GNUC_INTERNAL
gboolean gst_ccl_matrix_invert (const GstCclMatrix m, GstCclMatrix inverse);

G_GNUC_INTERNAL
void gst_ccl_matrix_map (const GstCclMatrix m, gdouble * x, gdouble * y);

/* The derivative of the mapping at (x, y), d(x', y') / d(x, y). It is the same everywhere for an affine matrix. */
G_GNUC_INTERNAL
void gst_ccl_matrix_get_jacobian (const GstCclMatrix m, gdouble x, gdouble y, gdouble j[4]);

/* GstVideoMetaTransformMatrix of GStreamer 1.28. It is declared here for builds against older headers. They then follow crops
 * and flips when they run on a newer GStreamer, and cclmetaremap can use it with any version. */
typedef struct
{
  const GstVideoInfo *in_info;
  GstVideoRectangle in_rectangle;
  const GstVideoInfo *out_info;
  GstVideoRectangle out_rectangle;
  gfloat matrix[3][3];
} GstCclMatrixTransform;

#define GST_CCL_MATRIX_TRANSFORM "gst-video-matrix"

/* A matrix into a frame, and that frame's size. */
typedef struct
{
  GstCclMatrix matrix;
  guint width, height;
} GstCclFrameMatrix;

/* For a GstMetaTransformFunction: updates it for the frame that `type` and `data` describe: a copy, another size or, from
 * GStreamer 1.28 on, a crop or flip. FALSE: not known. */
G_GNUC_INTERNAL
gboolean gst_ccl_frame_matrix_follow (GstCclFrameMatrix * frame, GQuark type, gpointer data);

/* The same for points in fractions of the frame: the matrix to fractions of the new frame. */
G_GNUC_INTERNAL
gboolean gst_ccl_fractions_follow (GstCclMatrix change, GQuark type, gpointer data);

G_END_DECLS

#endif
