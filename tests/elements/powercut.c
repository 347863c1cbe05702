/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#define _GNU_SOURCE             /* RTLD_NEXT */
#include "powercut.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <gmodule.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR 512

/* A write that is not synced; `bytes` NULL: the file got the size `offset`. */
typedef struct
{
  goffset offset;
  GBytes *bytes;
} Change;

typedef struct
{
  GByteArray *synced;
  GPtrArray *changes;
} File;

/* A name that the folder got or, with NULL, lost. */
typedef struct
{
  gchar *name;
  File *file;
} Entry;

static GMutex lock;

/* Under `lock`. */
static gchar *watched;          /* with a slash behind; NULL: none */
static void (*call_before) (void);
static GPtrArray *files;        /* owns them */
static GHashTable *names, *synced_names;        /* of File */
static GPtrArray *entries;      /* not synced, in order */
static guint n_writes, n_syncs;

/* ---------------------------------------------------------------- what is on the disk */

static void
free_change (gpointer data)
{
  Change *const change = data;

  if (change->bytes)
    g_bytes_unref (change->bytes);
  g_free (change);
}

static void
free_file (gpointer data)
{
  File *const file = data;

  g_byte_array_unref (file->synced);
  g_ptr_array_unref (file->changes);
  g_free (file);
}

static void
free_entry (gpointer data)
{
  g_free (((Entry *) data)->name);
  g_free (data);
}

static File *
new_file (void)
{
  File *const file = g_new (File, 1);

  file->synced = g_byte_array_new ();
  file->changes = g_ptr_array_new_with_free_func (free_change);
  g_ptr_array_add (files, file);
  return file;
}

static void
set_size (GByteArray * data, goffset size)
{
  const guint old = data->len;

  g_byte_array_set_size (data, (guint) size);
  if (data->len > old)
    memset (data->data + old, 0, data->len - old);
}

static void
write_part (GByteArray * data, goffset offset, gconstpointer from, gsize size)
{
  if (data->len < offset + (goffset) size)
    set_size (data, offset + (goffset) size);
  memcpy (data->data + offset, from, size);
}

/* `random`: each sector of a write reaches the disk or not; NULL: all do. */
static void
apply (GByteArray * data, const Change * change, GRand * random)
{
  gsize size, at, n;
  const guint8 *const from = change->bytes ? g_bytes_get_data (change->bytes, &size) : NULL;

  if (!from) {
    if (!random || g_rand_boolean (random))
      set_size (data, change->offset);
    return;
  }
  for (at = 0; at < size; at += n) {
    n = MIN (SECTOR - (gsize) (change->offset + (goffset) at) % SECTOR, size - at);
    if (!random || g_rand_boolean (random))
      write_part (data, change->offset + (goffset) at, from + at, n);
  }
}

static void
apply_entry (GHashTable * table, const Entry * entry)
{
  if (entry->file)
    g_hash_table_insert (table, g_strdup (entry->name), entry->file);
  else
    g_hash_table_remove (table, entry->name);
}

/* The contents after a cut: nothing that was not synced, all of it, or some sectors. */
static GByteArray *
contents_after_cut (const File * file, GRand * random)
{
  GByteArray *const data = g_byte_array_new ();
  const gint kept = g_rand_int_range (random, 0, 3);

  g_byte_array_append (data, file->synced->data, file->synced->len);
  for (guint i = 0; kept && i < file->changes->len; i++)
    apply (data, g_ptr_array_index (file->changes, i), kept == 1 ? NULL : random);
  return data;
}

void
power_cut (const gchar * to, GRand * random)
{
  GHashTable *const table = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const guint n_entries = (guint) g_rand_int_range (random, 0, (gint32) entries->len + 1);
  GHashTableIter each;
  gpointer name, file;

  g_hash_table_iter_init (&each, synced_names);
  while (g_hash_table_iter_next (&each, &name, &file))
    g_hash_table_insert (table, g_strdup (name), file);
  for (guint i = 0; i < n_entries; i++)
    apply_entry (table, g_ptr_array_index (entries, i));
  g_mkdir (to, 0700);
  g_hash_table_iter_init (&each, table);
  while (g_hash_table_iter_next (&each, &name, &file)) {
    GByteArray *const data = contents_after_cut (file, random);
    gchar *const path = g_build_filename (to, name, NULL);
    FILE *const stream = fopen (path, "wb");

    g_assert_true (stream && fwrite (data->data, 1, data->len, stream) == data->len);
    fclose (stream);
    g_free (path);
    g_byte_array_unref (data);
  }
  g_hash_table_unref (table);
}

/* ---------------------------------------------------------------- recording */

static void
begin_with_file (const gchar * name)
{
  gchar *const path = g_build_filename (watched, name, NULL), *data;
  File *const file = new_file ();
  gsize size;

  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  g_byte_array_append (file->synced, (const guint8 *) data, (guint) size);
  g_hash_table_insert (names, g_strdup (name), file);
  g_hash_table_insert (synced_names, g_strdup (name), file);
  g_free (data);
  g_free (path);
}

void
power_watch (const gchar * folder, void (*before) (void))
{
  GDir *const directory = g_dir_open (folder, 0, NULL);
  const gchar *name;

  g_mutex_lock (&lock);
  watched = g_strconcat (folder, "/", NULL);
  call_before = before;
  files = g_ptr_array_new_with_free_func (free_file);
  names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  synced_names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  entries = g_ptr_array_new_with_free_func (free_entry);
  while ((name = g_dir_read_name (directory)))
    begin_with_file (name);
  g_mutex_unlock (&lock);
  g_dir_close (directory);
}

void
power_unwatch (void)
{
  g_mutex_lock (&lock);
  g_clear_pointer (&watched, g_free);
  g_clear_pointer (&names, g_hash_table_unref);
  g_clear_pointer (&synced_names, g_hash_table_unref);
  g_clear_pointer (&entries, g_ptr_array_unref);
  g_clear_pointer (&files, g_ptr_array_unref);
  g_mutex_unlock (&lock);
}

guint
power_n_writes (void)
{
  return n_writes;
}

guint
power_n_syncs (void)
{
  return n_syncs;
}

static void
add_entry (const gchar * name, File * file)
{
  Entry *const entry = g_new (Entry, 1);

  *entry = (Entry) {
  g_strdup (name), file};
  g_ptr_array_add (entries, entry);
  apply_entry (names, entry);
}

/* Takes `lock` if the path is that of the folder ("") or of a file in it. Returns the name; NULL: without the lock. */
static const gchar *
lock_for_path (const gchar * path)
{
  gsize n;

  g_mutex_lock (&lock);
  n = watched ? strlen (watched) : 0;
  if (n && strlen (path) == n - 1 && !strncmp (path, watched, n - 1))
    path += n - 1;
  else if (n && g_str_has_prefix (path, watched))
    path += n;
  else
    n = 0;
  if (n) {
    call_before ();
    return path;
  }
  g_mutex_unlock (&lock);
  return NULL;
}

/* The same for a descriptor. A file is new with its first write. `name` has 256 bytes. */
static gboolean
lock_for_descriptor (int descriptor, gchar * name, File ** file)
{
  gchar link[64], path[4096];
  const gchar *found;
  gssize n;

  g_snprintf (link, sizeof link, "/proc/self/fd/%d", descriptor);
  n = readlink (link, path, sizeof path - 1);
  if (n < 0)
    return FALSE;
  path[n] = 0;
  found = lock_for_path (path);
  if (!found)
    return FALSE;
  g_strlcpy (name, found, 256);
  *file = *name ? g_hash_table_lookup (names, name) : NULL;
  if (*name && !*file) {
    *file = new_file ();
    add_entry (name, *file);
  }
  return TRUE;
}

static void
record_change (File * file, goffset offset, GBytes * bytes)
{
  Change *const change = g_new (Change, 1);

  *change = (Change) {
  offset, bytes};
  g_ptr_array_add (file->changes, change);
  n_writes++;
}

/* A folder is synced apart from its files. */
static void
record_sync (File * file)
{
  n_syncs++;
  if (file) {
    for (guint i = 0; i < file->changes->len; i++)
      apply (file->synced, g_ptr_array_index (file->changes, i), NULL);
    g_ptr_array_set_size (file->changes, 0);
  } else {
    for (guint i = 0; i < entries->len; i++)
      apply_entry (synced_names, g_ptr_array_index (entries, i));
    g_ptr_array_set_size (entries, 0);
  }
}

/* ---------------------------------------------------------------- calls of SQLite, which come here before the C library */

#define REAL(name) ((__typeof__ (&name)) dlsym (RTLD_NEXT, #name))

G_MODULE_EXPORT ssize_t
pwrite64 (int descriptor, const void *data, size_t size, off64_t offset)
{
  gchar name[256];
  File *file;
  ssize_t n;

  if (!lock_for_descriptor (descriptor, name, &file))
    return REAL (pwrite64) (descriptor, data, size, offset);
  n = REAL (pwrite64) (descriptor, data, size, offset);
  if (n > 0)
    record_change (file, offset, g_bytes_new (data, (gsize) n));
  g_mutex_unlock (&lock);
  return n;
}

G_MODULE_EXPORT int
ftruncate64 (int descriptor, off64_t size)
{
  gchar name[256];
  File *file;
  int result;

  if (!lock_for_descriptor (descriptor, name, &file))
    return REAL (ftruncate64) (descriptor, size);
  result = REAL (ftruncate64) (descriptor, size);
  if (result == 0)
    record_change (file, size, NULL);
  g_mutex_unlock (&lock);
  return result;
}

/* No power fails in truth, so nothing waits for the disk. */
G_MODULE_EXPORT int
fdatasync (int descriptor)
{
  gchar name[256];
  File *file;

  if (lock_for_descriptor (descriptor, name, &file)) {
    record_sync (file);
    g_mutex_unlock (&lock);
  }
  return 0;
}

G_MODULE_EXPORT int
fsync (int descriptor)
{
  return fdatasync (descriptor);
}

G_MODULE_EXPORT int
unlink (const char *path)
{
  const gchar *const name = lock_for_path (path);
  int result;

  if (!name)
    return REAL (unlink) (path);
  result = REAL (unlink) (path);
  if (result == 0)
    add_entry (name, NULL);
  g_mutex_unlock (&lock);
  return result;
}
