/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The background in a file: loaded with the first frame after the start, saved at the end and on demand. */

#include "gstcclmotionprivate.h"

#include <errno.h>
#include <glib/gstdio.h>

#define GST_CAT_DEFAULT gst_ccl_motion_debug

static gchar *
dup_location (GstCclMotion * self)
{
  gchar *location;

  GST_OBJECT_LOCK (self);
  location = g_strdup (self->background_location);
  GST_OBJECT_UNLOCK (self);
  return location;
}

void
gst_ccl_motion_set_background_location (GstCclMotion * self, const gchar * location)
{
  g_free (self->background_location);
  self->background_location = location && *location ? g_strdup (location) : NULL;
}

/* At most `max` bytes of a regular file. FALSE: `error` is set. */
static gboolean
read_file (const gchar * location, gsize max, guint8 ** bytes, gsize * size, GError ** error)
{
  GStatBuf status;
  FILE *file;

  if (g_stat (location, &status) == 0 && !S_ISREG (status.st_mode)) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "it is no regular file");
    return FALSE;
  }
  file = g_fopen (location, "rb");
  if (!file) {
    const gint code = errno;
    g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), "%s", g_strerror (code));
    return FALSE;
  }
  *bytes = g_try_malloc (max);
  *size = *bytes ? fread (*bytes, 1, max, file) : 0;
  if (!*bytes || ferror (file))
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_IO, *bytes ? "it cannot be read" : "there is no memory for it");
  fclose (file);
  return !*error;
}

/* ---------------------------------------------------------------- load */

static void
warn_of_load (GstCclMotion * self, const gchar * location, const gchar * why)
{
  GST_ELEMENT_WARNING (self, RESOURCE, READ, ("The background in %s is not used: %s.", location, why),
      ("Learning begins anew. It is saved at the end."));
}

static void
load_bytes (GstCclMotion * self, const gchar * location, const guint8 * bytes, gsize size)
{
  CclStatus status;

  g_mutex_lock (&self->detector_lock);
  gst_ccl_cuda_push (&self->parent.cuda);
  status = ccl_motion_load_background (self->detector, bytes, size);
  gst_ccl_cuda_pop (&self->parent.cuda);
  g_mutex_unlock (&self->detector_lock);
  if (status == CCL_OK)
    GST_INFO_OBJECT (self, "loaded the background in %s", location);
  else
    warn_of_load (self, location, ccl_error_message ());
}

/* The detector is open, and no frame is in flight. */
void
gst_ccl_motion_load_background (GstCclMotion * self)
{
  const gsize wanted = ccl_motion_background_size (self->detector);
  gchar *const location = dup_location (self);
  guint8 *bytes = NULL;
  gsize size = 0;
  GError *error = NULL;

  /* One byte more shows that a file is too long. */
  if (location && wanted && read_file (location, wanted + 1, &bytes, &size, &error))
    load_bytes (self, location, bytes, size);
  else if (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    GST_INFO_OBJECT (self, "no background in %s yet", location);
  else if (error)
    warn_of_load (self, location, error->message);
  g_clear_error (&error);
  g_free (bytes);
  g_free (location);
}

/* ---------------------------------------------------------------- save */

/* What another program wrote stays. */
static gboolean
may_overwrite (const gchar * location, GError ** error)
{
  guint8 *bytes = NULL;
  gsize size = 0;
  gboolean is_ours;

  if (!read_file (location, CCL_MOTION_MAGIC_SIZE, &bytes, &size, error)) {
    if (g_error_matches (*error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
      g_clear_error (error);
    g_free (bytes);
    return !*error;
  }
  is_ours = size == 0 || (size == CCL_MOTION_MAGIC_SIZE && ccl_motion_is_background (bytes));
  if (!is_ours)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_EXIST, "the file is no background, and is not overwritten");
  g_free (bytes);
  return is_ours;
}

/* The bytes of the background; NULL: there is none yet, and `error` says why. */
static guint8 *
copy_background (GstCclMotion * self, gsize * size, GError ** error)
{
  CclStatus status = CCL_ERROR_ARGUMENT;
  guint8 *bytes = NULL;

  g_mutex_lock (&self->detector_lock);
  *size = self->detector ? ccl_motion_background_size (self->detector) : 0;
  if (*size)
    bytes = g_try_malloc (*size);
  if (bytes) {
    gst_ccl_cuda_push (&self->parent.cuda);
    status = ccl_motion_save_background (self->detector, bytes);
    gst_ccl_cuda_pop (&self->parent.cuda);
  }
  if (status == CCL_OK)
    self->n_unsaved = 0;
  g_mutex_unlock (&self->detector_lock);
  if (status == CCL_OK)
    return bytes;
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_AGAIN, "%s", bytes ? ccl_error_message ()
      : *size ? "there is no memory for it" : "no frame was learnt from with method=feedback");
  g_free (bytes);
  return NULL;
}

/* The file is replaced at once, or stays as it was. */
static gboolean
save_to (GstCclMotion * self, const gchar * location, gboolean is_asked)
{
  GError *error = NULL;
  gsize size;
  guint8 *const bytes = copy_background (self, &size, &error);
  gboolean is_saved = FALSE;

  if (bytes)
    is_saved = may_overwrite (location, &error) && g_file_set_contents (location, (gchar *) bytes, size, &error);
  if (is_saved)
    GST_INFO_OBJECT (self, "saved the background to %s: %" G_GSIZE_FORMAT " bytes", location, size);
  else if (bytes || is_asked)
    GST_ELEMENT_WARNING (self, RESOURCE, WRITE, ("The background is not saved to %s: %s.", location, error->message),
        (NULL));
  else
    GST_INFO_OBJECT (self, "no background to save: %s", error->message);
  g_clear_error (&error);
  g_free (bytes);
  return is_saved;
}

gboolean
gst_ccl_motion_save_background (GstCclMotion * self)
{
  gchar *const location = dup_location (self);
  const gboolean is_saved = location && save_to (self, location, TRUE);

  if (!location)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("The background is not saved: there is no background-location."),
        (NULL));
  g_free (location);
  return is_saved;
}

/* At the end: unless nothing was learnt since the last time. */
void
gst_ccl_motion_save_background_at_end (GstCclMotion * self)
{
  gchar *const location = dup_location (self);

  if (location && self->n_unsaved)
    save_to (self, location, FALSE);
  g_free (location);
}

/* The property, and the signal. */
GParamSpec *
gst_ccl_motion_install_background (GObjectClass * klass)
{
  /**
   * GstCclMotion::save-background:
   *
   * Saves the background to #cclmotion:background-location now. Any thread may call it. Why it was not saved is posted as a
   * warning.
   *
   * Returns: whether it was saved
   */
  g_signal_new_class_handler ("save-background", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_ccl_motion_save_background), NULL, NULL, NULL, G_TYPE_BOOLEAN, 0);
  return g_param_spec_string ("background-location", "Background location",
      "File from which the background is loaded at the start, and to which it is saved at the end (not set = none; "
      "method=feedback only)", NULL, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
}
