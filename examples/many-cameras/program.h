/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Time, errors and pipelines, as the other files use them. */
#ifndef MANY_CAMERAS_PROGRAM_H
#define MANY_CAMERAS_PROGRAM_H

#include <gst/gst.h>

/* Monotonic time, ns. */
gint64 now (void);
void sleep_until (gint64 time);

/* Ends the program with status 2. */
G_NORETURN void fail (const gchar * what, const gchar * details);
G_NORETURN void fail_with (GstMessage * message);

/* Fails if an element of the pipeline has posted an error. */
void check_bus (GstElement * pipeline);

/* gst_parse_launch() that fails with a message. */
GstElement *launch (const gchar * description);

/* Pushes into an appsrc. Takes the buffer. */
void push_buffer (GstElement * source, GstBuffer * buffer);

#endif
