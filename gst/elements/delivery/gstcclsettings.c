/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclsettings.h"

#include <string.h>

void
gst_ccl_settings_free_strings (gpointer settings, const gsize * offsets, guint n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&G_STRUCT_MEMBER (gchar *, settings, offsets[i]), g_free);
}

void
gst_ccl_settings_copy_strings (gpointer settings, const gsize * offsets, guint n)
{
  for (guint i = 0; i < n; i++) {
    gchar **const string = G_STRUCT_MEMBER_P (settings, offsets[i]);

    *string = g_strdup (*string);
  }
}

void
gst_ccl_settings_hide_login (gchar * address)
{
  gchar *const at = address ? strrchr (address, '@') : NULL;
  const gchar *const scheme = at ? strstr (address, "://") : NULL;
  gchar *const login = scheme && scheme < at ? address + (scheme - address) + strlen ("://") : address;
  const gsize stars = at ? MIN ((gsize) (at - login), 3) : 0;

  if (!at)
    return;
  memset (login, '*', stars);
  memmove (login + stars, at, strlen (at) + 1);
}

gboolean
gst_ccl_settings_check_file (const gchar * property, const gchar * path, GError ** error)
{
  g_autoptr (GError) reason = NULL;
  gchar *contents;

  if (!path)
    return TRUE;
  if (g_file_get_contents (path, &contents, NULL, &reason)) {
    g_free (contents);
    return TRUE;
  }
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, "%s cannot be read: %s.", property,
      reason->message);
  return FALSE;
}

gboolean
gst_ccl_settings_check_password (const gchar * password_env, const gchar * username, GError ** error,
    const gchar ** hint)
{
  const gboolean is_missing = password_env && !g_getenv (password_env);

  if (!password_env || (!is_missing && username))
    return TRUE;
  *hint = is_missing ? "password-env is the name of the variable, not the password itself." : NULL;
  g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, is_missing
      ? "The environment variable that password-env names is not set." : "password-env without username.");
  return FALSE;
}
