/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Masks through ccllabel, ccltrack and cclzone: an object that walks on is counted once, one that turns back not at all, and one
 * that comes back slowly twice. Whole, in pieces that grow together on the way, behind a post, and with noise around it. */

#include "cclzone.h"

#define WIDTH 320
#define HEIGHT 120
#define PERSON_WIDTH 20
#define PERSON_HEIGHT 60

typedef enum
{
  WHOLE, PIECES, POST, NOISE, N_LOOKS
} Look;

static const gchar *const names[] = { "whole", "in pieces", "behind a post", "with noise" };

static void
fill (guint8 * mask, gint x, gint y, gint width, gint height, guint8 value)
{
  for (gint row = MAX (y, 0); row < MIN (y + height, HEIGHT); row++)
    for (gint column = MAX (x, 0); column < MIN (x + width, WIDTH); column++)
      mask[row * WIDTH + column] = value;
}

/* A person whose left edge is at x. Its pieces grow together over the line. The post covers five columns left of the line. */
static void
draw_person (guint8 * mask, gint x, Look look, GRand * random)
{
  fill (mask, x, 30, PERSON_WIDTH, PERSON_HEIGHT, 255);
  if (look == PIECES && x < 170) {
    fill (mask, x, 42, PERSON_WIDTH, 4, 0);
    fill (mask, x, 70, PERSON_WIDTH, 4, 0);
  }
  if (look == POST)
    fill (mask, 150, 0, 5, HEIGHT, 0);
  for (gint i = 0; look == NOISE && i < 6; i++)
    fill (mask, g_rand_int_range (random, 0, WIDTH), g_rand_int_range (random, 0, HEIGHT), 3, 3, 255);
}

/* A person walks from place to place with 3 pixels a frame, or slowly, one pixel in two frames, and stands for 20 frames at each.
 * Returns the crossings of the line in the middle; `inside`: how many are at most in the left half. */
static guint64
walk_places (Look look, const gint * places, guint n, gboolean slowly, guint * inside)
{
  GstHarness *h = gst_harness_new_parse ("ccllabel ! ccltrack ! cclzone zones=\"{\\\"units\\\":\\\"relative\\\",\\\"zones\\\":["
      "{\\\"name\\\":\\\"line\\\",\\\"line\\\":[[0.5,0],[0.5,1]]},"
      "{\\\"name\\\":\\\"left\\\",\\\"polygon\\\":[[0,0],[0.5,0],[0.5,1],[0,1]]}]}\"");
  GRand *random = g_rand_new_with_seed (3);
  GstCclZone line = { 0 };
  gint x = places[0];
  guint frame = 0, stand = 0;

  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=320,height=120,framerate=30/1");
  *inside = 0;
  for (guint next = 1; next < n; frame++) {
    guint8 *mask = g_malloc0 (WIDTH * HEIGHT);
    GstBuffer *buffer;

    draw_person (mask, x, look, random);
    buffer = gst_buffer_new_wrapped (mask, WIDTH * HEIGHT);
    GST_BUFFER_PTS (buffer) = gst_util_uint64_scale (frame, GST_SECOND, 30);
    buffer = gst_harness_push_and_pull (h, buffer);
    line = zone_of (buffer, 0);
    *inside = MAX (*inside, zone_of (buffer, 1).n_inside);
    gst_buffer_unref (buffer);
    if (ABS (places[next] - x) < 3)
      next += ++stand % 20 == 0;
    else if (!slowly)
      x += places[next] > x ? 3 : -3;
    else if (frame % 2 == 0)
      x += places[next] > x ? 1 : -1;
  }
  g_rand_free (random);
  gst_harness_teardown (h);
  return line.n_forward + line.n_backward;
}

GST_START_TEST (test_walks)
{
  static const gint on[] = { 20, 280 }, back[] = { 20, 120, 20 }, twice[] = { 20, 260, 20 }, stands[] = { 20, 149, 151, 148, 280 };
  static const gint near[] = { 110, 190, 110 };
  static const struct
  {
    const gchar *name;
    const gint *places;
    guint n, n_crossings;
    gboolean slowly;
  } walks[] = {
    {"walks on", on, G_N_ELEMENTS (on), 1}, {"turns back", back, G_N_ELEMENTS (back), 0},
    {"comes back", twice, G_N_ELEMENTS (twice), 2}, {"stands on the line", stands, G_N_ELEMENTS (stands), 1},
    {"comes back slowly", near, G_N_ELEMENTS (near), 2, TRUE},
  };

  for (guint look = 0; look < N_LOOKS; look++)
    for (guint i = 0; i < G_N_ELEMENTS (walks); i++) {
      guint inside;
      const guint64 n = walk_places (look, walks[i].places, walks[i].n, walks[i].slowly, &inside);

      fail_unless (n == walks[i].n_crossings, "%s, %s: %" G_GUINT64_FORMAT " crossings", names[look], walks[i].name, n);
      fail_unless (inside == 1, "%s, %s: %u are on the left", names[look], walks[i].name, inside);
    }
}

GST_END_TEST;

TCase *
zone_walk_tests (void)
{
  TCase *tests = tcase_create ("walks");

  tcase_add_test (tests, test_walks);
  return tests;
}
