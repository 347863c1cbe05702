/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* How many live cameras does this machine label? Runs them in one process and says what became of their frames.
 *
 *     meson devenv -C build examples/many-cameras 8 10            # 8 cameras for 10 seconds
 *     meson devenv -C build examples/many-cameras --help
 *
 * Each camera is `appsrc ! ccllabel ! fakesink`, with a streaming thread of its own, in one pipeline, so that all share
 * the device. A frame is due at its time whatever the machine is doing, and latency counts from then until it leaves
 * ccllabel with its blobs. A camera keeps two frames waiting; if a third comes the oldest is dropped. The masks are
 * drawn or read before the clock starts; the cameras take turns through them without copying. The clock starts when every camera
 * has had its first frame, for which ccllabel allocates memory: a thousand cameras need a second for that.
 * With async-depth=N a frame leaves ccllabel N frames later, so that no camera is sustained by the measure below.
 *
 * Exit status: 0 when the cameras were sustained (at most one frame in a thousand dropped, 99 of 100 labelled before
 * their next one was due), 1 when they were not, 2 when nothing could be measured.
 */

#include <gst/gst.h>

#include <stdio.h>

#include "cameras.h"
#include "masks.h"
#include "program.h"
#include "report.h"

static Options chosen = {.rate = 30 };

static const GOptionEntry entries[] = {
  {"size", 0, 0, G_OPTION_ARG_STRING, &chosen.size, "of the masks (1920x1080)", "WIDTHxHEIGHT"},
  {"rate", 0, 0, G_OPTION_ARG_DOUBLE, &chosen.rate, "frames per second of each camera (30)", "N"},
  {"memory", 0, 0, G_OPTION_ARG_STRING, &chosen.memory,
        "where the masks are: system (default; packed to bits on their way to "
        "a GPU), pinned (page-locked, as ccllabel offers it upstream; a byte per pixel goes to the GPU) or cuda",
      "MEMORY"},
  {"label", 0, 0, G_OPTION_ARG_STRING, &chosen.label, "properties of ccllabel: --label='backend=cpu min-area=20'",
      "PROPERTIES"},
  {"mask", 0, 0, G_OPTION_ARG_FILENAME, &chosen.file,
      "a picture or video as masks, light on dark ground; without it discs " "that move", "FILE"},
  {"together", 0, 0, G_OPTION_ARG_NONE, &chosen.together,
        "all cameras at the same moments, as with a common trigger; " "without it their frames are spread evenly",
      NULL},
  {NULL}
};

static guint
whole_number (const gchar * text)
{
  guint64 value;

  if (!g_ascii_string_to_unsigned (text, 10, 1, 100000, &value, NULL))
    fail ("a number from 1 on is needed, not", text);
  return (guint) value;
}

/* Fills `chosen` from the command line. */
static void
read_options (int argc, char **argv)
{
  GOptionContext *const context = g_option_context_new ("CAMERAS [SECONDS]");
  GError *error = NULL;

  g_option_context_set_summary (context, "How many live cameras does this machine label?");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, &error))
    fail (error->message, NULL);
  g_option_context_free (context);
  if (argc < 2 || argc > 3)
    fail ("how many cameras? many-cameras CAMERAS [SECONDS]; --help", NULL);
  chosen.n_cameras = whole_number (argv[1]);
  chosen.seconds = argc == 3 ? whole_number (argv[2]) : 10;
  chosen.memory = chosen.memory ? chosen.memory : g_strdup ("system");
  chosen.size = chosen.size ? chosen.size : g_strdup ("1920x1080");
  if (sscanf (chosen.size, "%ux%u", &chosen.width, &chosen.height) != 2 || !chosen.width || !chosen.height
      || chosen.rate <= 0)
    fail ("no size of a mask, or no rate", chosen.size);
  if (!g_strv_contains ((const gchar * const[]) { "system", "pinned", "cuda", NULL }, chosen.memory))
    fail ("no such memory", chosen.memory);
}

int
main (int argc, char **argv)
{
  GstCaps *caps;
  GPtrArray *masks;
  Cameras *cameras;
  gchar *labels;
  gboolean sustained;

  read_options (argc, argv);
  masks = make_masks (&chosen, &caps);
  cameras = open_cameras (&chosen, masks, caps);
  run_cameras (cameras);
  labels = describe_labels (cameras);
  gst_element_set_state (cameras->pipeline, GST_STATE_NULL);    /* ends the threads that count */
  sustained = report (cameras);
  g_print ("%s", labels);

  g_free (labels);
  close_cameras (cameras);
  gst_caps_unref (caps);
  g_ptr_array_unref (masks);
  g_free (chosen.size);
  g_free (chosen.memory);
  g_free (chosen.label);
  g_free (chosen.file);
  return sustained ? 0 : 1;
}
