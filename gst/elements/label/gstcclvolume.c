/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclvolume.h"

typedef struct
{
  GstBuffer *buffer;            /* NULL once taken */
  GstCclBlobList *list;
  gint frame;
  GstClockTime arrived;
} Queued;

static Queued *
nth_queued (const GstCclVolume * volume, guint n)
{
  return &g_array_index (volume->queued, Queued, n);
}

static void
clear_queued (gpointer data)
{
  Queued *const queued = data;

  gst_clear_buffer (&queued->buffer);
  g_clear_pointer (&queued->list, gst_ccl_blob_list_unref);
}

void
gst_ccl_volume_init (GstCclVolume * volume)
{
  volume->queued = g_array_new (FALSE, FALSE, sizeof (Queued));
  g_array_set_clear_func (volume->queued, clear_queued);
}

void
gst_ccl_volume_clear (GstCclVolume * volume)
{
  g_clear_pointer (&volume->queued, g_array_unref);
  g_clear_pointer (&volume->voxels, g_free);
  g_clear_pointer (&volume->labels, g_free);
}

/* ---------------------------------------------------------------- the labeller */

CclStatus
gst_ccl_volume_open (GstCclVolume * volume, const CclConfig * config, guint n_frames)
{
  CclConfig volume_config = *config;

  volume_config.volume = n_frames;
  volume_config.order = CCL_ORDER_RASTER;
  volume_config.max_components = 1; /* labels are looked up, rows are not read */
  volume_config.depth = 1;
  volume_config.labels = FALSE;
  volume->max_frames = n_frames;
  return ccl_context_new (&volume_config, &volume->labeller);
}

static void
forget_stack (GstCclVolume * volume)
{
  volume->n_stacked = 0;
  for (guint i = 0; i < volume->queued->len; i++)
    nth_queued (volume, i)->frame = GST_CCL_VOLUME_NO_FRAME;
}

void
gst_ccl_volume_close (GstCclVolume * volume)
{
  ccl_context_free (volume->labeller);
  volume->labeller = NULL;
  volume->max_frames = 0;
  forget_stack (volume);
}

CclStatus
gst_ccl_volume_add (GstCclVolume * volume, const CclMask * mask, gint * frame)
{
  const CclStatus status = ccl_volume_add (volume->labeller, mask);

  *frame = status == CCL_OK ? volume->n_stacked++ : GST_CCL_VOLUME_NO_FRAME;
  return status;
}

/* ---------------------------------------------------------------- ids */

static gboolean
ensure_scratch (GstCclVolume * volume, guint n)
{
  if (n <= volume->n_scratch)
    return TRUE;
  g_free (volume->voxels);
  g_free (volume->labels);
  volume->voxels = g_try_new (CclVoxel, n);
  volume->labels = g_try_new (guint32, n);
  volume->n_scratch = volume->voxels && volume->labels ? n : 0;
  return volume->n_scratch != 0;
}

/* The blobs are those that passed the filter of their frame. Each blob is looked up in the volume at its first pixel. FALSE
 * without memory. */
static gboolean
collect_voxels (GstCclVolume * volume, guint * n_voxels)
{
  guint n = 0;

  for (guint i = 0; i < volume->queued->len; i++)
    if (nth_queued (volume, i)->list)
      n += gst_ccl_blob_list_get_length (nth_queued (volume, i)->list);
  if (!ensure_scratch (volume, n))
    return FALSE;
  n = 0;
  for (guint i = 0; i < volume->queued->len; i++) {
    const Queued *const queued = nth_queued (volume, i);

    if (queued->frame == GST_CCL_VOLUME_NO_FRAME || !queued->list)
      continue;
    for (guint k = 0; k < gst_ccl_blob_list_get_length (queued->list); k++) {
      const GstCclBlob *const blob = gst_ccl_blob_list_get (queued->list, k);

      volume->voxels[n++] = (CclVoxel) {
      blob->first_x, blob->y, queued->frame};
    }
  }
  *n_voxels = n;
  return TRUE;
}

static void
write_ids (GstCclVolume * volume)
{
  const guint32 *label = volume->labels;

  for (guint i = 0; i < volume->queued->len; i++) {
    const Queued *const queued = nth_queued (volume, i);

    if (queued->frame == GST_CCL_VOLUME_NO_FRAME || !queued->list)
      continue;
    /* No other element has the list yet. */
    for (guint k = 0; k < gst_ccl_blob_list_get_length (queued->list); k++)
      ((GstCclBlob *) gst_ccl_blob_list_get (queued->list, k))->volume_id = volume->n_components + *label++;
  }
}

static CclStatus
find_ids (GstCclVolume * volume)
{
  CclVolumeTable table;
  CclStatus status;
  guint n;

  if (!volume->n_stacked)
    return CCL_OK;
  status = ccl_volume_label (volume->labeller, NULL, &table);
  if (status != CCL_OK)
    return status;
  if (!collect_voxels (volume, &n))
    return ccl_fail (CCL_ERROR_OUT_OF_MEMORY, "no memory for the ids of a volume's blobs");
  status = ccl_volume_look_up (volume->labeller, volume->voxels, n, volume->labels);
  if (status != CCL_OK)
    return status;
  write_ids (volume);
  volume->n_components += table.n_found;
  volume->n_volumes++;
  return CCL_OK;
}

/* ---------------------------------------------------------------- buffers */

void
gst_ccl_volume_queue (GstCclVolume * volume, GstBuffer * buffer, GstCclBlobList * list, gint frame,
    GstClockTime arrived)
{
  const Queued queued = { buffer, list ? gst_ccl_blob_list_ref (list) : NULL, frame, arrived };

  g_array_append_val (volume->queued, queued);
}

guint
gst_ccl_volume_n_queued (const GstCclVolume * volume)
{
  return volume->queued->len - volume->n_taken;
}

CclStatus
gst_ccl_volume_finish (GstCclVolume * volume)
{
  const CclStatus status = find_ids (volume);

  volume->n_stacked = 0;
  volume->complete = TRUE;
  return status;
}

GstBuffer *
gst_ccl_volume_take (GstCclVolume * volume, GstClockTime * arrived)
{
  Queued *queued;

  if (!volume->complete)
    return NULL;
  if (volume->n_taken == volume->queued->len) {
    g_array_set_size (volume->queued, 0);
    volume->n_taken = 0;
    volume->complete = FALSE;
    return NULL;
  }
  queued = nth_queued (volume, volume->n_taken++);
  *arrived = queued->arrived;
  g_clear_pointer (&queued->list, gst_ccl_blob_list_unref);
  return g_steal_pointer (&queued->buffer);
}

void
gst_ccl_volume_discard (GstCclVolume * volume)
{
  g_array_set_size (volume->queued, 0);
  volume->n_taken = 0;
  volume->complete = FALSE;
  volume->n_stacked = 0;
  if (volume->labeller)
    ccl_volume_clear (volume->labeller);
}
