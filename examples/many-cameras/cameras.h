/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cameras: pipelines, the threads that push frames when they are due, and what was measured. */
#ifndef MANY_CAMERAS_CAMERAS_H
#define MANY_CAMERAS_CAMERAS_H

#include <gst/gst.h>

#include "options.h"

typedef struct _Cameras Cameras;

typedef struct
{
  Cameras *all;
  GstElement *source, *label;
  gint has_begun;               /* atomic: a frame of it has left ccllabel */
  /* Its streaming thread writes these until it has ended. */
  GArray *latencies;            /* gdouble, milliseconds */
  guint n_in_time;              /* frames that left before the clock stopped */
} Camera;

struct _Cameras
{
  const Options *options;
  GPtrArray *masks;
  GstElement *pipeline;
  Camera *cameras;              /* options->n_cameras */
  gint n_begun;                 /* atomic: cameras that have had their first frame */
  gint started;                 /* atomic: every camera has */
  gint64 start;                 /* monotonic time, ns */
  gint64 length;                /* of time until the last frames have to have left, ns */
  guint64 n_due;                /* frames after the warming up */
  gdouble processor_seconds;    /* for these frames */
};

/* Opens the cameras and pushes the first frames. Returns when each has begun, and says how long that took. */
Cameras *open_cameras (const Options * options, GPtrArray * masks, GstCaps * caps);

/* Lets them run for the time of the options, and ends their streams. */
void run_cameras (Cameras * cameras);

void close_cameras (Cameras * cameras);

#endif
