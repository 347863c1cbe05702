/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Functions that only the files of libgstccl call. */

#ifndef __GST_CCL_PRIVATE_H__
#define __GST_CCL_PRIVATE_H__

#include <gst/ccl/ccl.h>
#include "kernels/ccl.h"

G_BEGIN_DECLS

/* Measures of groups that are not always there: for each measured blob the counts behind them, a structure that begins
 * with its label, with ascending labels.
 *
 * A new column takes: a value here, at the end, because the flat form knows columns by it; a public structure with its label,
 * numbers of 32 bits, numbers of 64 and reserved space (gstcclblobmeasures.h); a row in gst_ccl_column_infos and an assertion
 * of its size (gstcclblobcolumns.c); gst_ccl_blob_list_set_...(), ..._get_...() and getters by index, each in
 * debian/libgstccl-1.0-0.symbols; members at the end of GstCclBlobRow, also in python/gi/overrides/GstCcl.py; its row in
 * docs/metadata.md; cases in tests/libs/blobflat.c, testblobs.h, blobmeta-table.c and layout.c. The version of the flat form
 * stays. A number that a column needs later replaces reserved space and follows the last number of 64 bits: readers before it
 * skip the end of an entry. */
typedef enum
{
  GST_CCL_COLUMN_SHAPE,         /* GstCclShapeCounts */
  GST_CCL_COLUMN_HULL,          /* GstCclHullCounts */
  GST_CCL_COLUMN_FILLED,        /* GstCclFilledCounts */
  GST_CCL_COLUMN_HOLES,         /* GstCclHole: of each blob as many as it has */
  GST_CCL_COLUMN_CLASS_ID,      /* GstCclClassId */
  GST_CCL_COLUMN_INTENSITY,     /* GstCclIntensityCounts */
  GST_CCL_N_COLUMNS,
} GstCclColumn;

struct _GstCclBlobList
{
  gatomicrefcount refcount;
  guint n_blobs;
  GBytes *points;               /* of GstCclPoint; NULL: none */
  GBytes *columns[GST_CCL_N_COLUMNS];   /* NULL: not measured */
  GstCclBlob blobs[];
};

/* What an entry of a column is: numbers of 32 bits, then numbers of 64, then reserved members, which the flat form lacks. */
typedef struct
{
  guint n_words, n_longs;
  gsize size;                   /* in memory */
  gboolean repeats;             /* a blob can have several */
  gboolean (*is_valid) (gconstpointer counts);  /* of one blob, from the flat form */
} GstCclColumnInfo;

G_GNUC_INTERNAL
extern const GstCclColumnInfo gst_ccl_column_infos[GST_CCL_N_COLUMNS];

/* Columns in the flat form, with the versions that have them. 0: without columns. */
G_GNUC_INTERNAL
guint32 gst_ccl_flat_columns_get_version (const GstCclBlobList * list);

G_GNUC_INTERNAL
gsize gst_ccl_flat_columns_get_size (const GstCclBlobList * list, guint32 version);

G_GNUC_INTERNAL
void gst_ccl_flat_columns_put (guint8 ** p, const GstCclBlobList * list, guint32 version);

/* The size of the columns, more than `left` when they do not fit there. */
G_GNUC_INTERNAL
guint64 gst_ccl_flat_columns_measure (const guint8 * columns, guint64 left, guint32 version);

/* Reads columns that were measured. 0: all of them are valid, or unknown and left out. */
G_GNUC_INTERNAL
GstCclError gst_ccl_flat_columns_get (const guint8 ** p, GstCclBlobList * list, guint32 version, gboolean * has_unknown);

G_GNUC_INTERNAL
void gst_ccl_blob_list_set_column (GstCclBlobList * list, GstCclColumn column, GBytes * bytes);

/* The counts of a blob of a meta that has pixels; NULL: it was not measured. */
G_GNUC_INTERNAL
gconstpointer gst_ccl_blob_meta_find_counts (const GstCclBlobMeta * meta, guint index, GstCclColumn column);

/* The entries of a blob, and their number. */
G_GNUC_INTERNAL
gconstpointer gst_ccl_blob_meta_find_entries (const GstCclBlobMeta * meta, guint index, GstCclColumn column, guint * n_entries);

/* Far more than ccllabel ever makes (CCL_MAX_COMPONENTS). */
#define GST_CCL_MAX_BLOBS (1u << 24)

/* The last meta of this API: elements attach theirs behind those of elements upstream. NULL: none. */
static inline gpointer
gst_ccl_buffer_get_last_meta (GstBuffer * buffer, GType api)
{
  gpointer state = NULL;
  GstMeta *meta, *last = NULL;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, api)))
    last = meta;
  return last;
}

/* Centroid, covariance and axes in mask pixels; for a blob without pixels, the centre of its box and zeros. */
G_GNUC_INTERNAL
void gst_ccl_blob_get_shape (const GstCclBlob * blob, CclShape * shape);

/* The same in the frame. Zeros past the end. */
G_GNUC_INTERNAL
void gst_ccl_blob_meta_get_mapped_shape (const GstCclBlobMeta * meta, guint index, CclShape * shape);

/* Measures of a group, in pixels of the mask. FALSE, and zeros: not measured. */
G_GNUC_INTERNAL
gboolean gst_ccl_blob_meta_get_shape_measures (const GstCclBlobMeta * meta, guint index, CclShapeMeasures * measures);

G_GNUC_INTERNAL
gboolean gst_ccl_blob_meta_get_hull_measures (const GstCclBlobMeta * meta, guint index, CclHullMeasures * measures);

G_GNUC_INTERNAL
gboolean gst_ccl_blob_meta_get_intensity_measures (const GstCclBlobMeta * meta, guint index, CclIntensityMeasures * measures);

/* The blobs of a meta, for writing: the meta gets a copy of its list. The buffer must be writable. NULL without blobs or
 * without memory. */
G_GNUC_INTERNAL
GstCclBlob *gst_ccl_blob_meta_edit (GstCclBlobMeta * meta);

/* The flat form in memory of the caller. */
G_GNUC_INTERNAL
gsize gst_ccl_blob_meta_get_flat_size (const GstCclBlobMeta * meta);

G_GNUC_INTERNAL
void gst_ccl_blob_meta_write_flat (const GstCclBlobMeta * meta, guint8 * data);

/* Fills the members of a meta from its flat form; the caller owns the list. FALSE: `error` says why, and the members have
 * no meaning. */
G_GNUC_INTERNAL
gboolean gst_ccl_blob_meta_read_flat (GstCclBlobMeta * meta, const guint8 * data, gsize size, GError ** error);

G_END_DECLS

#endif
