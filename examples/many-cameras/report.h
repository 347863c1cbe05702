/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the program says at the end. */
#ifndef MANY_CAMERAS_REPORT_H
#define MANY_CAMERAS_REPORT_H

#include "cameras.h"

/* What the statistics of ccllabel say, on average over the cameras, while they play. (transfer full) */
gchar *describe_labels (const Cameras * cameras);

/* Prints what was measured, once all threads have ended. TRUE: the cameras were sustained. */
gboolean report (const Cameras * cameras);

#endif
