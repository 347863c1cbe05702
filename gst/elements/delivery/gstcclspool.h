/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Lines in a file of SQLite. What write() has taken survives a crash of the process and of the machine: it returns after the
 * data is synced. One process at a time has the file. One thread at a time calls these functions, each of which may wait for
 * the disk.
 */
#ifndef __GST_CCL_SPOOL_H__
#define __GST_CCL_SPOOL_H__

#include "delivery/gstccldeliveryqueue.h"

G_BEGIN_DECLS

typedef struct _GstCclSpool GstCclSpool;

/* What open() found. */
typedef struct
{
  guint64 n_rows, bytes;        /* lines, and the sum of their costs */
  guint64 last_id;              /* the largest id that was ever written */
  gchar instance[17];           /* of the file: 16 hexadecimal digits */
  gchar *moved_aside;           /* the new name of a damaged file; NULL: it was not damaged. g_free() */
  guint64 n_damaged;            /* lines in that file, at least 1 */
} GstCclSpoolContents;

/* Opens or creates the file, and updates an older schema. A damaged file is moved aside, and a new one created. NULL: `error`
 * says why; `contents` then needs no freeing. */
GstCclSpool *gst_ccl_spool_open (const gchar * location, GstCclSpoolContents * contents, GError ** error);
void gst_ccl_spool_close (GstCclSpool * spool);

/* Adds the entries (GstCclDeliveryEntry, in the order of ids) and deletes rows (of guint64 ids) in one transaction. FALSE: all is
 * as before. */
gboolean gst_ccl_spool_write (GstCclSpool * spool, const GQueue * entries, const GArray * deleted, GError ** error);

/* Appends the next lines after an id, up to `max_bytes` of costs but at least one. FALSE: the file is damaged. */
gboolean gst_ccl_spool_load (GstCclSpool * spool, guint64 after, guint max_messages, guint64 max_bytes, GQueue * entries,
    GError ** error);

/* Deletes the oldest lines after an id, of `bytes` or a little more. Returns their number, and their costs in `bytes`. */
guint64 gst_ccl_spool_drop_oldest (GstCclSpool * spool, guint64 after, guint64 * bytes);

/* Makes the log file short, so that a full disk has space to delete lines. */
void gst_ccl_spool_shrink (GstCclSpool * spool);

G_END_DECLS

#endif
