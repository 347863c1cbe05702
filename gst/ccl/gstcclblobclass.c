/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Classes of the blobs of label maps. */

#include "gstcclprivate.h"

/**
 * gst_ccl_blob_list_set_class_ids: (skip)
 * @list: a list that was not passed on yet
 * @class_ids: (nullable) (transfer none): an array of #GstCclClassId with
 *   ascending labels; %NULL: the blobs are of a mask
 *
 * Sets the values that the blobs have in a label map. A blob without an entry
 * for its label has none.
 *
 * Since: 0.1
 */
void
gst_ccl_blob_list_set_class_ids (GstCclBlobList * list, GBytes * class_ids)
{
  g_return_if_fail (list != NULL);

  gst_ccl_blob_list_set_column (list, GST_CCL_COLUMN_CLASS_ID, class_ids);
}

/**
 * gst_ccl_blob_list_get_class_ids: (skip)
 * @list: (nullable): a list; %NULL has none
 *
 * Gets the values that gst_ccl_blob_list_set_class_ids() has set.
 *
 * Returns: (transfer none) (nullable): an array of #GstCclClassId
 *
 * Since: 0.1
 */
GBytes *
gst_ccl_blob_list_get_class_ids (const GstCclBlobList * list)
{
  return list != NULL ? list->columns[GST_CCL_COLUMN_CLASS_ID] : NULL;
}

/**
 * gst_ccl_blob_meta_get_class_id:
 * @meta: a blob meta
 * @index: 0 to length - 1
 * @class_id: (out) (optional): the value of its pixels
 *
 * Gets the class or instance of a blob of a label map, as ccllabel
 * foreground=equal finds it.
 *
 * Returns: %FALSE when the blob is not of a label map
 *
 * Since: 0.1
 */
gboolean
gst_ccl_blob_meta_get_class_id (const GstCclBlobMeta * meta, guint index, guint * class_id)
{
  const GstCclClassId *entry;

  g_return_val_if_fail (meta != NULL, FALSE);

  entry = gst_ccl_blob_meta_find_counts (meta, index, GST_CCL_COLUMN_CLASS_ID);
  if (class_id != NULL)
    *class_id = entry != NULL ? entry->class_id : 0;
  return entry != NULL;
}
