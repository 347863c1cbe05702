/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The settings of a connection, as far as all protocols have them. */
#ifndef __GST_CCL_SETTINGS_H__
#define __GST_CCL_SETTINGS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Frees, or duplicates after a copy of the struct, the strings at these offsets. */
void gst_ccl_settings_free_strings (gpointer settings, const gsize * offsets, guint n);
void gst_ccl_settings_copy_strings (gpointer settings, const gsize * offsets, guint n);

/* An address with a login in front of @ is an error at the start. Replaces the login by ***, so that nothing shows it. */
void gst_ccl_settings_hide_login (gchar * address);

/* Whether the file of a property can be read, or there is none. */
gboolean gst_ccl_settings_check_file (const gchar * property, const gchar * path, GError ** error);

/* Whether the password is there, or none is set. No error repeats a setting that may be the password itself. */
gboolean gst_ccl_settings_check_password (const gchar * password_env, const gchar * username, GError ** error,
    const gchar ** hint);

G_END_DECLS

#endif
