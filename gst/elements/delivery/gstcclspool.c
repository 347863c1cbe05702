/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclspool.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

/* The version of the schema. 1 had no time of arrival. */
#define SCHEMA 2
#define APPLICATION_ID 0x63636c53       /* "cclS" */

/* Larger files are not checked as a whole when they are opened. */
#define MAX_CHECKED_BYTES ((goffset) 64 << 20)

#define STRING(x) STRING_OF (x)
#define STRING_OF(x) #x
#define COST "(length(payload) + length(CAST(source AS BLOB)) + length(CAST(topic AS BLOB)) + " \
    STRING (GST_CCL_DELIVERY_MESSAGE_COST) ")"

struct _GstCclSpool
{
  sqlite3 *database;
  sqlite3_stmt *insert, *delete, *load;
};

/* ---------------------------------------------------------------- statements */

static gboolean
set_error (GstCclSpool * self, GError ** error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE, "%s", sqlite3_errmsg (self->database));
  return FALSE;
}

static gboolean
execute (GstCclSpool * self, const gchar * statements, GError ** error)
{
  return sqlite3_exec (self->database, statements, NULL, NULL, NULL) == SQLITE_OK || set_error (self, error);
}

static gboolean
prepare (GstCclSpool * self, const gchar * statement, sqlite3_stmt ** result, GError ** error)
{
  return sqlite3_prepare_v2 (self->database, statement, -1, result, NULL) == SQLITE_OK || set_error (self, error);
}

/* The first two columns of the first row as numbers. FALSE: an error. No row is 0. */
static gboolean
read_numbers (GstCclSpool * self, const gchar * statement, guint64 numbers[2], GError ** error)
{
  sqlite3_stmt *query = NULL;
  gint result;

  numbers[0] = numbers[1] = 0;
  if (!prepare (self, statement, &query, error))
    return FALSE;
  result = sqlite3_step (query);
  for (gint i = 0; result == SQLITE_ROW && i < MIN (2, sqlite3_column_count (query)); i++)
    numbers[i] = (guint64) sqlite3_column_int64 (query, i);
  sqlite3_finalize (query);
  return result == SQLITE_ROW || result == SQLITE_DONE || set_error (self, error);
}

/* ---------------------------------------------------------------- open */

void
gst_ccl_spool_close (GstCclSpool * self)
{
  sqlite3_finalize (self->insert);
  sqlite3_finalize (self->delete);
  sqlite3_finalize (self->load);
  sqlite3_close (self->database);
  g_free (self);
}

static gboolean
create_schema (GstCclSpool * self, guint64 version, GError ** error)
{
  gchar *const instance = g_strdup_printf ("%08x%08x", g_random_int (), g_random_int ());
  gchar *const create = g_strdup_printf ("BEGIN IMMEDIATE;"
      "CREATE TABLE lines (id INTEGER PRIMARY KEY AUTOINCREMENT, source TEXT NOT NULL, topic TEXT NOT NULL,"
      " payload BLOB NOT NULL, arrived INTEGER NOT NULL DEFAULT 0);"
      "CREATE TABLE info (instance TEXT NOT NULL);"
      "INSERT INTO info VALUES ('%s');"
      "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", instance, APPLICATION_ID, SCHEMA);
  const gchar *const update = "BEGIN IMMEDIATE;"
      "ALTER TABLE lines ADD COLUMN arrived INTEGER NOT NULL DEFAULT 0;"
      "PRAGMA user_version = " STRING (SCHEMA) "; COMMIT";
  const gboolean is_done = version == SCHEMA || execute (self, version == 0 ? create : update, error);

  g_free (create);
  g_free (instance);
  return is_done;
}

static gboolean
read_instance (GstCclSpool * self, gchar instance[17], GError ** error)
{
  sqlite3_stmt *query = NULL;
  gboolean is_read;

  if (!prepare (self, "SELECT instance FROM info", &query, error))
    return FALSE;
  is_read = sqlite3_step (query) == SQLITE_ROW && sqlite3_column_text (query, 0);
  if (is_read)
    g_strlcpy (instance, (const gchar *) sqlite3_column_text (query, 0), 17);
  else
    set_error (self, error);
  sqlite3_finalize (query);
  return is_read;
}

/* Takes the file for this process alone, which also makes shared memory beside it needless, and reads its version. */
static gboolean
lock_file (GstCclSpool * self, guint64 * version, GError ** error)
{
  guint64 numbers[2];

  if (!execute (self, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
          "PRAGMA journal_size_limit = 4194304", error)
      || !execute (self, "BEGIN IMMEDIATE; COMMIT", error)
      || !read_numbers (self, "PRAGMA user_version", numbers, error))
    return FALSE;
  *version = numbers[0];
  return TRUE;
}

static gboolean
check_integrity (GstCclSpool * self, GError ** error)
{
  guint64 numbers[2];

  if (!read_numbers (self, "SELECT count(*) FROM pragma_quick_check WHERE quick_check <> 'ok'", numbers, error))
    return FALSE;
  if (numbers[0])
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "its pages are damaged");
  return numbers[0] == 0;
}

static gboolean
read_contents (GstCclSpool * self, GstCclSpoolContents * contents, GError ** error)
{
  guint64 numbers[2];

  if (!read_instance (self, contents->instance, error)
      || !read_numbers (self, "SELECT seq FROM sqlite_sequence WHERE name = 'lines'", numbers, error))
    return FALSE;
  contents->last_id = numbers[0];
  if (!read_numbers (self, "SELECT count(*), sum(" COST ") FROM lines", numbers, error))
    return FALSE;
  contents->n_rows = numbers[0];
  contents->bytes = numbers[1];
  return TRUE;
}

static gboolean
prepare_all (GstCclSpool * self, GError ** error)
{
  return prepare (self, "INSERT INTO lines (id, source, topic, payload, arrived) VALUES (?, ?, ?, ?, ?)", &self->insert,
      error)
      && prepare (self, "DELETE FROM lines WHERE id = ?", &self->delete, error)
      && prepare (self, "SELECT id, source, topic, payload, arrived FROM lines WHERE id > ? ORDER BY id LIMIT ?",
      &self->load, error);
}

/* FALSE with an error: the file cannot be used; `is_damaged` says whether it is to be moved aside. */
static gboolean
set_up (GstCclSpool * self, gboolean is_large, GstCclSpoolContents * contents, gboolean * is_damaged, GError ** error)
{
  guint64 version;

  if (!lock_file (self, &version, error)) {
    const gint code = sqlite3_errcode (self->database);

    *is_damaged = code == SQLITE_NOTADB || code == SQLITE_CORRUPT;
    return FALSE;
  }
  if (version > SCHEMA) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "a newer version of gst-ccl wrote it");
    return FALSE;
  }
  if (!create_schema (self, version, error) || (!is_large && !check_integrity (self, error))
      || !read_contents (self, contents, error) || !prepare_all (self, error)) {
    const gint code = sqlite3_errcode (self->database);

    *is_damaged = code != SQLITE_FULL && code != SQLITE_IOERR;
    return FALSE;
  }
  return TRUE;
}

static GstCclSpool *
open_once (const gchar * location, GstCclSpoolContents * contents, gboolean * is_damaged, GError ** error)
{
  GstCclSpool *const self = g_new0 (GstCclSpool, 1);
  GStatBuf status;
  const gboolean is_large = g_stat (location, &status) == 0 && status.st_size > MAX_CHECKED_BYTES;

  *is_damaged = FALSE;
  if (sqlite3_open_v2 (location, &self->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK) {
    sqlite3_busy_timeout (self->database, 1000);
    if (set_up (self, is_large, contents, is_damaged, error))
      return self;
  } else {
    set_error (self, error);
  }
  gst_ccl_spool_close (self);
  return NULL;
}

/* The number of lines in a damaged file, as far as it can still be counted. */
static guint64
count_damaged (const gchar * location)
{
  GstCclSpool spool = { NULL };
  guint64 numbers[2] = { 0, 0 };

  if (sqlite3_open_v2 (location, &spool.database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK)
    read_numbers (&spool, "SELECT count(*) FROM lines", numbers, NULL);
  sqlite3_close (spool.database);
  return MAX (numbers[0], 1);
}

static gboolean
move_aside (const gchar * location, GstCclSpoolContents * contents)
{
  gchar *const aside = g_strdup_printf ("%s.damaged-%" G_GINT64_FORMAT, location, g_get_real_time () / G_USEC_PER_SEC);
  gboolean is_moved;

  contents->n_damaged = count_damaged (location);
  is_moved = g_rename (location, aside) == 0;
  for (guint i = 0; is_moved && i < 2; i++) {
    gchar *const log = g_strconcat (location, i ? "-shm" : "-wal", NULL), *const log_aside =
        g_strconcat (aside, i ? "-shm" : "-wal", NULL);

    g_rename (log, log_aside);
    g_free (log);
    g_free (log_aside);
  }
  contents->moved_aside = is_moved ? aside : NULL;
  if (!is_moved)
    g_free (aside);
  return is_moved;
}

GstCclSpool *
gst_ccl_spool_open (const gchar * location, GstCclSpoolContents * contents, GError ** error)
{
  GError *reason = NULL;
  gboolean is_damaged;
  GstCclSpool *self;

  *contents = (GstCclSpoolContents) {
  0};
  self = open_once (location, contents, &is_damaged, &reason);
  if (!self && is_damaged && move_aside (location, contents)) {
    g_clear_error (&reason);
    self = open_once (location, contents, &is_damaged, &reason);
  }
  if (!self) {
    g_clear_pointer (&contents->moved_aside, g_free);
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ_WRITE, "The spool %s cannot be used: %s.",
        location, reason->message);
    g_error_free (reason);
  }
  return self;
}

/* ---------------------------------------------------------------- lines */

static gboolean
step_once (GstCclSpool * self, sqlite3_stmt * statement, GError ** error)
{
  const gboolean is_done = sqlite3_step (statement) == SQLITE_DONE || set_error (self, error);

  sqlite3_reset (statement);
  return is_done;
}

static gboolean
insert_entry (GstCclSpool * self, const GstCclDeliveryEntry * entry, GError ** error)
{
  const GstCclDeliveryMessage *const message = &entry->message;
  gsize size;
  gconstpointer const data = g_bytes_get_data (message->payload, &size);

  sqlite3_bind_int64 (self->insert, 1, (sqlite3_int64) message->id);
  sqlite3_bind_text (self->insert, 2, message->source, -1, SQLITE_STATIC);
  sqlite3_bind_text (self->insert, 3, message->topic, -1, SQLITE_STATIC);
  sqlite3_bind_blob64 (self->insert, 4, data ? data : "", size, SQLITE_STATIC);
  sqlite3_bind_int64 (self->insert, 5, message->arrived_utc);
  return step_once (self, self->insert, error);
}

gboolean
gst_ccl_spool_write (GstCclSpool * self, const GQueue * entries, const GArray * deleted, GError ** error)
{
  gboolean is_written = execute (self, "BEGIN IMMEDIATE", error);

  for (guint i = 0; is_written && i < deleted->len; i++) {
    sqlite3_bind_int64 (self->delete, 1, (sqlite3_int64) g_array_index (deleted, guint64, i));
    is_written = step_once (self, self->delete, error);
  }
  for (GList * node = entries->head; is_written && node; node = node->next)
    is_written = insert_entry (self, node->data, error);
  is_written = is_written && execute (self, "COMMIT", error);
  if (!is_written && !sqlite3_get_autocommit (self->database))
    execute (self, "ROLLBACK", NULL);
  return is_written;
}

/* The time in the file is that of the machine's clock, 0 in version 1 of the schema. A clock that was set back is ignored. */
static void
set_arrival (GstCclDeliveryMessage * message, gint64 arrived_utc)
{
  const gint64 age = arrived_utc ? MAX (message->arrived_utc - arrived_utc, 0) : 0;

  message->arrived -= age;
  message->arrived_utc -= age;
}

/* NULL: no memory. */
static GstCclDeliveryEntry *
read_entry (sqlite3_stmt * row)
{
  GstCclDeliveryMessage *const message =
      gst_ccl_delivery_message_new (g_strdup ((const gchar *) sqlite3_column_text (row, 1)),
      g_strdup ((const gchar *) sqlite3_column_text (row, 2)), sqlite3_column_blob (row, 3),
      (gsize) sqlite3_column_bytes (row, 3));
  GstCclDeliveryEntry *const entry = (GstCclDeliveryEntry *) message;

  if (message) {
    message->id = (guint64) sqlite3_column_int64 (row, 0);
    set_arrival (message, sqlite3_column_int64 (row, 4));
    entry->is_spooled = TRUE;
  }
  return entry;
}

gboolean
gst_ccl_spool_load (GstCclSpool * self, guint64 after, guint max_messages, guint64 max_bytes, GQueue * entries,
    GError ** error)
{
  guint64 bytes = 0;
  gint result;

  sqlite3_bind_int64 (self->load, 1, (sqlite3_int64) after);
  sqlite3_bind_int64 (self->load, 2, max_messages);
  while ((result = sqlite3_step (self->load)) == SQLITE_ROW && (bytes == 0 || bytes < max_bytes)) {
    GstCclDeliveryEntry *const entry = read_entry (self->load);

    if (!entry)
      break;
    bytes += entry->cost;
    g_queue_push_tail (entries, entry);
  }
  if (result != SQLITE_DONE && result != SQLITE_ROW)
    set_error (self, error);
  sqlite3_reset (self->load);
  return result == SQLITE_DONE || result == SQLITE_ROW;
}

guint64
gst_ccl_spool_drop_oldest (GstCclSpool * self, guint64 after, guint64 * bytes)
{
  sqlite3_stmt *query = NULL;
  guint64 last = after, n = 0, sum = 0;
  gchar *text;

  if (prepare (self, "SELECT id, " COST " FROM lines WHERE id > ? ORDER BY id", &query, NULL)) {
    sqlite3_bind_int64 (query, 1, (sqlite3_int64) after);
    for (; sum < *bytes && sqlite3_step (query) == SQLITE_ROW; n++) {
      last = (guint64) sqlite3_column_int64 (query, 0);
      sum += (guint64) sqlite3_column_int64 (query, 1);
    }
  }
  sqlite3_finalize (query);
  text =
      g_strdup_printf ("DELETE FROM lines WHERE id > %" G_GUINT64_FORMAT " AND id <= %" G_GUINT64_FORMAT, after, last);
  if (!execute (self, text, NULL))
    n = sum = 0;
  g_free (text);
  *bytes = sum;
  return n;
}

void
gst_ccl_spool_shrink (GstCclSpool * self)
{
  sqlite3_wal_checkpoint_v2 (self->database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}
