/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Programs that tests start: servers on ports of this machine. */
#ifndef CCL_TEST_SERVERS_H
#define CCL_TEST_SERVERS_H

#include <gio/gio.h>

/* The path of a program, also where a user's PATH does not look; NULL: not installed. */
gchar *find_server (const gchar * name);

/* A port nobody listens to at the moment. */
guint unused_port (void);

/* Starts a program, which says nothing. It ends with the test program, even if that is killed. */
GSubprocess *start_server (const gchar * const *arguments);

/* Waits until something listens at the port; the test fails if nothing does. */
void wait_for_port (guint port);

/* Ends a program at once, as a crash would. */
void kill_server (GSubprocess * process);

#endif
