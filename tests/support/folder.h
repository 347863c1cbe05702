/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Temporary folders. */
#ifndef CCL_TEST_FOLDER_H
#define CCL_TEST_FOLDER_H

#include <glib.h>

/* Removes the folder and what is in it. */
void remove_folder (const gchar * folder);

#endif
