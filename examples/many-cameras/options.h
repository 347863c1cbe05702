/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the user asks for. */
#ifndef MANY_CAMERAS_OPTIONS_H
#define MANY_CAMERAS_OPTIONS_H

#include <glib.h>

/* Frames that are due before that time are not counted, ns. */
#define WARM_UP G_GINT64_CONSTANT (1000000000)

typedef struct
{
  guint n_cameras, seconds;
  gchar *size;                  /* as text, and as numbers: */
  guint width, height;
  gchar *memory;                /* system, pinned or cuda */
  gchar *label;                 /* properties of ccllabel, or NULL */
  gchar *file;                  /* a picture or video, or NULL */
  gdouble rate;                 /* frames per second of each camera */
  gboolean together;            /* all cameras at the same moments */
} Options;

#endif
