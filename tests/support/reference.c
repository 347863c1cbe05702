/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "reference.h"

void
assert_blob (const GstCclBlob * blob, const CclComponent * component)
{
  ck_assert_uint_eq (blob->label, component->label);
  ck_assert_uint_eq (blob->flags, component->flags);
  ck_assert_int_eq (blob->x, component->x0);
  ck_assert_int_eq (blob->y, component->y0);
  ck_assert_int_eq (blob->width, component->x1 - component->x0);
  ck_assert_int_eq (blob->height, component->y1 - component->y0);
  ck_assert_int_eq (blob->first_x, component->first_x);
  fail_unless_equals_uint64 (blob->area, component->moments.area);
  fail_unless_equals_uint64 (blob->m10, component->moments.m10);
  fail_unless_equals_uint64 (blob->m01, component->moments.m01);
  fail_unless_equals_uint64 (blob->m20, component->moments.m20);
  fail_unless_equals_uint64 (blob->m11, component->moments.m11);
  fail_unless_equals_uint64 (blob->m02, component->moments.m02);
  fail_unless_equals_uint64 (blob->track_id, 0);
}

void
assert_blobs_filtered (GstBuffer * buffer, const Mask * mask, guint connectivity, const CclFilter * filter)
{
  GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);
  CclConfig config = ccl_config_default ();
  const CclMask view = {.data = mask->pixels,.stride = mask->width,.width = mask->width,.height = mask->height };
  CclContext *context;
  CclTable table;

  config.algorithm = "reference";
  config.selects = TRUE;
  config.connectivity = connectivity;
  config.max_width = mask->width;
  config.max_height = mask->height;
  config.max_components = MIN (mask->width * mask->height, CCL_MAX_COMPONENTS);
  fail_unless (ccl_context_new (&config, &context) == CCL_OK, "%s", ccl_error_message ());
  fail_unless (ccl_analyze (context, &view, filter, NULL, &table) == CCL_OK, "%s", ccl_error_message ());

  fail_unless (meta != NULL, "no blobs attached");
  ck_assert_uint_eq (meta->ref_width, mask->width);
  ck_assert_uint_eq (meta->ref_height, mask->height);
  ck_assert_uint_eq (meta->width, mask->width);
  ck_assert_uint_eq (meta->height, mask->height);
  ck_assert_uint_eq (meta->n_kept, table.n_kept);
  ck_assert_uint_eq (meta->n_total, table.n_found);
  ck_assert_uint_eq (meta->connectivity, connectivity);
  ck_assert_uint_eq (meta->flags, 0);
  ck_assert_uint_eq (gst_ccl_blob_meta_get_length (meta), table.n_components);
  for (guint i = 0; i < table.n_components; i++)
    assert_blob (gst_ccl_blob_meta_get_blob (meta, i), &table.components[i]);
  ccl_context_free (context);
}

void
assert_blobs (GstBuffer * buffer, const Mask * mask, guint connectivity)
{
  assert_blobs_filtered (buffer, mask, connectivity, NULL);
}
