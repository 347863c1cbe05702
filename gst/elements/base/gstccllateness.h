/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Quality of service: decides whether a frame is too late for the sink.
 *
 * GstBaseTransform's own `qos` drops late frames. An analysing element lets them through without analysis instead. Every
 * function takes the object lock of the element.
 */
#ifndef __GST_CCL_LATENESS_H__
#define __GST_CCL_LATENESS_H__

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

typedef struct
{
  GstClockTime earliest;        /* running time before which a frame is late; GST_CLOCK_TIME_NONE: no frame is late */
  gdouble proportion;           /* of the sink's speed, for the QOS message */
  guint64 n_late;               /* frames that were late since the start */
} GstCclLateness;

/* After a flush, and at the start of a segment. */
void gst_ccl_lateness_reset (GstCclLateness * lateness, GstBaseTransform * transform);

/* A QOS event of downstream. */
void gst_ccl_lateness_update (GstCclLateness * lateness, GstBaseTransform * transform, GstEvent * event);

/* TRUE: the buffer is late; it was counted, and a QOS message posted. `n_processed`: frames that were analysed. */
gboolean gst_ccl_lateness_check (GstCclLateness * lateness, GstBaseTransform * transform, GstBuffer * buffer,
    guint64 n_processed);

G_END_DECLS

#endif
