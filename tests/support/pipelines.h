/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pipelines that run to their end. */
#ifndef CCL_TEST_PIPELINES_H
#define CCL_TEST_PIPELINES_H

#include <gst/check/gstcheck.h>

/* Plays until the end of the stream, for at most 20 seconds, and stops. An error fails the test. */
void play_to_end (GstElement * pipeline);

#endif
