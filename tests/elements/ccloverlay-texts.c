/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The memory that ccloverlay's texts take, in many frames with new texts each. */

#ifndef _GNU_SOURCE
# define _GNU_SOURCE            /* RTLD_NEXT */
#endif
#include <dlfcn.h>

#include <cairo.h>

#include "ccloverlay-parts.h"
#include "overlay/gstccltexts.h"

#define N_FRAMES 100000         /* an hour of video at 28 frames a second */
#define MAX_TEXTS 1024
#define MAX_BYTES (16 << 20)

static const GstCclColour white = { 1, 1, 1, 1 };

/* Draws a new text in each of the frames. Returns the maximum number of texts that are kept, and of their bytes. */
static guint
draw_counts (const gchar * font, const gchar * format, guint n_frames, gsize * max_bytes)
{
  GstCclCanvas *const canvas = new_canvas ();
  GstCclPen pen = gst_ccl_pen_new (canvas, 0);
  GstCclTexts *const texts = gst_ccl_texts_new ();
  guint max_texts = 0;

  *max_bytes = 0;
  gst_ccl_texts_set_font (texts, font);
  for (guint frame = 0; frame < n_frames; frame++) {
    gchar *const words = g_strdup_printf (format, frame);
    gsize n_bytes;

    gst_ccl_texts_begin (texts, &pen, frame);
    gst_ccl_texts_draw_at (texts, &pen, words, (const gdouble[]) { 80, 60 }, white);
    gst_ccl_texts_end (texts);
    max_texts = MAX (max_texts, gst_ccl_texts_n_kept (texts, &n_bytes));
    *max_bytes = MAX (*max_bytes, n_bytes);
    g_free (words);
  }
  gst_ccl_texts_free (texts);
  gst_ccl_canvas_free (canvas);
  return max_texts;
}

GST_START_TEST (test_number_of_texts)
{
  gsize max_bytes;
  const guint max_texts = draw_counts ("Sans 6", "gate %u", N_FRAMES, &max_bytes);

  fail_unless (max_texts > 1 && max_texts <= MAX_TEXTS + 2, "%u texts", max_texts);
  fail_unless (max_bytes <= MAX_BYTES);
}

GST_END_TEST;

GST_START_TEST (test_bytes_of_large_texts)
{
  gsize max_bytes;

  /* About a million pixels each. */
  draw_counts ("Sans 400", "%03u", 100, &max_bytes);
  fail_unless (max_bytes > MAX_BYTES / 4 && max_bytes <= MAX_BYTES, "%" G_GSIZE_FORMAT " bytes", max_bytes);
}

GST_END_TEST;

static gboolean no_memory;

/* Instead of cairo's own. The size -1 makes it fail as without memory. */
cairo_surface_t *
cairo_image_surface_create (cairo_format_t format, int width, int height)
{
  cairo_surface_t *(*const create) (cairo_format_t, int, int) = dlsym (RTLD_NEXT, "cairo_image_surface_create");

  return no_memory ? create (format, -1, -1) : create (format, width, height);
}

/* The text is missing; later ones are drawn. */
GST_START_TEST (test_text_without_memory)
{
  GstCclCanvas *const canvas = new_canvas ();
  GstCclPen pen = gst_ccl_pen_new (canvas, 0);
  GstCclTexts *const texts = gst_ccl_texts_new ();
  gsize n_bytes, more_bytes;

  gst_ccl_texts_set_font (texts, "Sans 6");
  gst_ccl_texts_begin (texts, &pen, 1);
  gst_ccl_texts_n_kept (texts, &n_bytes);
  no_memory = TRUE;
  fail_if (gst_ccl_texts_draw_at (texts, &pen, "lost", (const gdouble[]) { 80, 60 }, white));
  gst_ccl_texts_n_kept (texts, &more_bytes);
  fail_unless_equals_uint64 (more_bytes, n_bytes);
  no_memory = FALSE;
  fail_unless (gst_ccl_texts_draw_at (texts, &pen, "drawn", (const gdouble[]) { 80, 60 }, white));
  fail_unless_equals_int (cairo_status (pen.cr), CAIRO_STATUS_SUCCESS);
  gst_ccl_texts_free (texts);
  gst_ccl_canvas_free (canvas);
}

GST_END_TEST;

static Suite *
ccloverlay_texts_suite (void)
{
  Suite *const suite = suite_create ("ccloverlay-texts");
  TCase *const tc = tcase_create ("general");

  tcase_set_timeout (tc, 120);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_number_of_texts);
  tcase_add_test (tc, test_bytes_of_large_texts);
  tcase_add_test (tc, test_text_without_memory);
  return suite;
}

GST_CHECK_MAIN (ccloverlay_texts);
