/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclkeptmeta.h"

static gboolean
kept_init (GstMeta * meta, gpointer params, GstBuffer * buffer)
{
  *(GstCclKeptMeta *) meta = (GstCclKeptMeta) {
  .meta = *meta};
  return TRUE;
}

static void
kept_free (GstMeta * meta, GstBuffer * buffer)
{
  gst_clear_buffer (&((GstCclKeptMeta *) meta)->holder);
}

static const GstMetaInfo *get_info (void);

GstCclKeptMeta *
gst_ccl_buffer_add_kept_meta (GstBuffer * buffer, GstBuffer * holder)
{
  GstCclKeptMeta *const kept = (GstCclKeptMeta *) gst_buffer_add_meta (buffer, get_info (), NULL);

  kept->holder = gst_buffer_ref (holder);
  return kept;
}

static gboolean
kept_transform (GstBuffer * target, GstMeta * meta, GstBuffer * buffer, GQuark type, gpointer data)
{
  const GstCclKeptMeta *const from = (const GstCclKeptMeta *) meta;
  GstCclKeptMeta *const kept = gst_ccl_buffer_add_kept_meta (target, from->holder);

  kept->width = from->width;
  kept->height = from->height;
  kept->par_n = from->par_n;
  kept->par_d = from->par_d;
  return TRUE;
}

static GType
kept_api_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    static const gchar *no_tags[] = { NULL };
    g_once_init_leave (&type, gst_meta_api_type_register ("GstCclKeptMetaAPI", no_tags));
  }
  return type;
}

static const GstMetaInfo *
get_info (void)
{
  static gsize info = 0;

  if (g_once_init_enter (&info))
    g_once_init_leave (&info, (gsize) gst_meta_register (kept_api_get_type (), "GstCclKeptMeta",
            sizeof (GstCclKeptMeta), kept_init, kept_free, kept_transform));
  return (const GstMetaInfo *) info;
}

GstCclKeptMeta *
gst_ccl_buffer_get_kept_meta (GstBuffer * buffer)
{
  return (GstCclKeptMeta *) gst_buffer_get_meta (buffer, kept_api_get_type ());
}
