/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A folder on a disk that loses power. The program's calls that write or sync its files go on as they are, and are recorded:
 * what was synced is on the disk; of the rest a cut keeps some sectors and loses others. A new or removed name is on the disk
 * once its folder was synced.
 */
#ifndef CCL_TEST_POWERCUT_H
#define CCL_TEST_POWERCUT_H

#include <glib.h>

/* Begins to record the calls for this folder, whose present files are on the disk. `before` runs in front of each call. */
void power_watch (const gchar * folder, void (*before) (void));
void power_unwatch (void);

/* Writes into a new folder what is on the disk after a cut now. Only in `before`. */
void power_cut (const gchar * to, GRand * random);

/* Of all folders since the program began. */
guint power_n_writes (void);
guint power_n_syncs (void);

#endif
