/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the files of cclmeta2json share. */
#ifndef __GST_CCL_META2JSON_PRIVATE_H__
#define __GST_CCL_META2JSON_PRIVATE_H__

#include "gstcclmeta2json.h"
#include "gstccljsonframe.h"
#include "gstccljsonsummary.h"
#include "gstccljsonthin.h"
#include "gstccljsontime.h"
#include "base/gstcclminavgmax.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 frames, lines, bytes;
  GstCclMinAvgMax host;
} GstCclMeta2JsonStats;

struct _GstCclMeta2Json
{
  GstBaseTransform parent;

  /* Properties, under the object lock. */
  GstCclJsonSchema schema;
  GstCclJsonTime time;
  gboolean empty_frames;
  gboolean trails;
  gboolean summary;
  gboolean events_only;
  GstCclJsonThinning thinning;
  gint precision;
  gchar *source_id;
  gchar *tags;                  /* as set */
  gchar *tags_line;             /* as written; NULL when tags is unset or wrong */
  GError *tags_error;
  GstCclMeta2JsonStats stats;

  /* Streaming thread. */
  GstCclJsonSchema stream_schema;       /* of the caps sent, as stream_cbor */
  gboolean stream_cbor;
  guint width;
  guint height;
  guint64 seq;
  GstCclJsonSummary run;
  GstCclJsonWritten written;
  GQueue events;                /* of GstStructure: those that came since the last frame */
  GQueue lines;                 /* of GstBuffer: those of the last frame that have not left yet */
  GstClockTime last_pts;
  guint n_without_meta, n_without_trail, n_without_time;        /* see gstcclhint.h */
};

/* The properties, their values, and what is freed at the end. */
void gst_ccl_meta2json_install_properties (GObjectClass * klass);
void gst_ccl_meta2json_init_settings (GstCclMeta2Json * self);
void gst_ccl_meta2json_clear_settings (GstCclMeta2Json * self);

G_END_DECLS

#endif
