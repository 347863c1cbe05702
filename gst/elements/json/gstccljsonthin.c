/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccljsonthin.h"

/* splitmix64. */
static guint64
mix (guint64 value)
{
  value += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  value = (value ^ value >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  value = (value ^ value >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return value ^ value >> 31;
}

/* A sum, because the order of the blobs means nothing. Blobs without a track count. */
static guint64
state_of_blobs (const GstCclBlobMeta * meta)
{
  guint64 state = 0;

  for (guint i = 0; i < gst_ccl_blob_meta_get_length (meta); i++) {
    const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, i);

    if (!(blob->flags & GST_CCL_BLOB_FLAG_TENTATIVE))
      state += mix (mix (blob->track_id) + blob->zones);
  }
  return state;
}

static guint64
state_of_frame (const GstCclJsonFrame * frame)
{
  guint64 state = state_of_blobs (frame->blobs);

  for (guint i = 0; frame->zones && i < frame->zones->n_zones; i++) {
    const GstCclZone *const zone = &frame->zones->zones[i];

    state =
        mix (mix (mix (mix (state + g_str_hash (zone->name)) + zone->n_inside) + zone->n_forward) + zone->n_backward);
  }
  return state;
}

gboolean
gst_ccl_json_thinning_lets_pass (const GstCclJsonThinning * thinning, GstCclJsonWritten * written,
    const GstCclJsonFrame * frame)
{
  const GstCclJsonWritten now = {.is_any = TRUE,.time = frame->pts,.state =
        thinning->on_change ? state_of_frame (frame) : 0
  };

  /* After a step back in time the interval begins anew. */
  if (written->is_any && GST_CLOCK_TIME_IS_VALID (now.time) && GST_CLOCK_TIME_IS_VALID (written->time)
      && now.time >= written->time && now.time - written->time < thinning->interval)
    return FALSE;
  if (written->is_any && thinning->on_change && now.state == written->state)
    return FALSE;
  *written = now;
  return TRUE;
}
