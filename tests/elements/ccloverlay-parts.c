/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parts of ccloverlay without a pipeline: colours, lines, texts, trails, zones and whole frames, drawn onto a canvas whose
 * bytes are compared. */

#include <math.h>
#include <string.h>

#include "ccloverlay-parts.h"
#include "overlay/gstccldrawing.h"
#include "overlay/gstccltexts.h"
#include "overlay/gstccltrails.h"
#include "overlay/gstcclzonedrawing.h"

static const GstCclColour green = { 0, 1, 0, 1 };
#define GREEN 0xff00ff00
#define DARK_ALPHA 0xa6         /* 0.65 */

/* ---------------------------------------------------------------- colours */

static gdouble
distance (GstCclColour a, GstCclColour b)
{
  return fabs (a.red - b.red) + fabs (a.green - b.green) + fabs (a.blue - b.blue);
}

GST_START_TEST (test_colours)
{
  const GstCclColour argb = gst_ccl_colour_of_argb (0x80ff3300);

  fail_unless (argb.red == 1 && argb.green == 0.2 && argb.blue == 0 && argb.alpha == 128 / 255.0);
  for (guint i = 0; i < 1000; i++) {
    const GstCclColour a = gst_ccl_colour_of_number (i);

    fail_unless (MIN (MIN (a.red, a.green), a.blue) >= 0 && MAX (MAX (a.red, a.green), a.blue) <= 1 && a.alpha == 1);
    fail_unless (distance (a, gst_ccl_colour_of_number (i + 1)) > 0.5, "%u and the next", i);
  }
}

GST_END_TEST;

GST_START_TEST (test_palette)
{
  GstCclPalette *const palette = gst_ccl_palette_new ();
  /* All three begin their search at the same colour; the next ones in the table are similar. */
  const guint64 ids[] = { 2, 2 + GST_CCL_PALETTE_SIZE, 0, 2 + 2 * GST_CCL_PALETTE_SIZE }, other = 77;
  GstCclColour first, again;

  gst_ccl_palette_assign (palette, ids, G_N_ELEMENTS (ids), 1);
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    for (guint k = 0; k < i; k++)
      if (ids[i] != 0 && ids[k] != 0)
        fail_unless (distance (gst_ccl_palette_colour_of_track (palette, ids[i]),
                gst_ccl_palette_colour_of_track (palette, ids[k])) > 1, "%u and %u", i, k);

  /* A track keeps its colour while it is out of sight. */
  first = gst_ccl_palette_colour_of_track (palette, ids[1]);
  fail_unless (distance (first, gst_ccl_colour_of_number (ids[1])) > 0, "it has not the colour of its number");
  gst_ccl_palette_assign (palette, &other, 1, 1 + GST_CCL_MAX_UNSEEN_FRAMES);
  again = gst_ccl_palette_colour_of_track (palette, ids[1]);
  fail_unless (memcmp (&first, &again, sizeof first) == 0);
  /* Then it loses it, and so has the colour of its number. */
  gst_ccl_palette_assign (palette, &other, 1, 2 + GST_CCL_MAX_UNSEEN_FRAMES);
  again = gst_ccl_palette_colour_of_track (palette, ids[1]);
  first = gst_ccl_colour_of_number (ids[1]);
  fail_unless (memcmp (&first, &again, sizeof first) == 0);
  gst_ccl_palette_free (palette);
}

GST_END_TEST;

/* ---------------------------------------------------------------- lines */

/* The part of a box that a pixel belongs to: 0 none, 1 edge, 2 line. `d`: distance from the pixels of the object, from 1. */
static gint
part_of_box (gint d, gint line, gint edge)
{
  if (d < 1 || d > line + 2 * edge)
    return 0;
  return d > edge && d <= edge + line ? 2 : 1;
}

GST_START_TEST (test_box)
{
  const GstCclBox box = { 40, 30, 60, 45 };

  for (gint line = 1; line < 7; line++) {
    GstCclCanvas *const canvas = new_canvas ();
    GstCclPen pen = gst_ccl_pen_new (canvas, line);

    fail_unless (pen.line == line && pen.edge >= 1);
    gst_ccl_pen_draw_box (&pen, &box, FALSE, green, 1);
    for (gint y = 0; y < HEIGHT; y++)
      for (gint x = 0; x < WIDTH; x++) {
        const gint dx = x < 40 ? 40 - x : x >= 60 ? x - 59 : 0, dy = y < 30 ? 30 - y : y >= 45 ? y - 44 : 0;
        const gint part = part_of_box (MAX (dx, dy), line, (gint) pen.edge);
        const guint32 value = pixel (canvas, x, y);

        if (part == 1) {
          fail_unless_equals_int (value >> 24, DARK_ALPHA);
          continue;
        }
        fail_unless (value == (part == 2 ? GREEN : 0), "line %d: (%d, %d) is %08x", line, x, y, value);
      }
    /* All of it was marked. */
    gst_ccl_canvas_wipe (canvas);
    fail_unless_equals_int (count_all (canvas), 0);
    gst_ccl_canvas_free (canvas);
  }
}

GST_END_TEST;

/* An object as large as the canvas has its lines inside. One that is far away does no harm. */
GST_START_TEST (test_box_at_the_border)
{
  GstCclCanvas *const canvas = new_canvas ();
  GstCclPen pen = gst_ccl_pen_new (canvas, 2);
  const GstCclBox all = { 0, 0, WIDTH, HEIGHT }, far = { -1e30, 5, 1e30, NAN };

  gst_ccl_pen_draw_box (&pen, &all, FALSE, green, 1);
  fail_unless_equals_int (count_colour (canvas, GREEN), WIDTH * HEIGHT - (WIDTH - 4) * (HEIGHT - 4));
  gst_ccl_pen_draw_box (&pen, &far, FALSE, green, 1);
  gst_ccl_pen_draw_box (&pen, &far, TRUE, green, 1);
  gst_ccl_canvas_free (canvas);
}

GST_END_TEST;

GST_START_TEST (test_dashes)
{
  GstCclCanvas *const solid = new_canvas (), *const dashed = new_canvas ();
  GstCclPen a = gst_ccl_pen_new (solid, 2), b = gst_ccl_pen_new (dashed, 2);
  const GstCclBox box = { 20, 20, 140, 100 };
  const gdouble level[] = { 20, 50, 120, 50 };
  guint n_solid, n_dashed;

  gst_ccl_pen_draw_box (&a, &box, FALSE, green, 1);
  gst_ccl_pen_draw_box (&b, &box, TRUE, green, 1);
  n_solid = count_colour (solid, GREEN);
  n_dashed = count_colour (dashed, GREEN);
  fail_unless (n_dashed > n_solid * 0.45 && n_dashed < n_solid * 0.7, "%u of %u", n_dashed, n_solid);
  /* The next line of the same pen is solid. */
  gst_ccl_canvas_wipe (dashed);
  gst_ccl_pen_draw_polyline (&b, level, 2, green, 1);
  fail_unless_equals_int (count_colour (dashed, GREEN), 100 * 2);
  gst_ccl_canvas_free (solid);
  gst_ccl_canvas_free (dashed);
}

GST_END_TEST;

/* Of a level line every row and column is known. A slanted one is all within the marked area. */
GST_START_TEST (test_lines)
{
  GstCclCanvas *const canvas = new_canvas ();
  GstCclPen pen = gst_ccl_pen_new (canvas, 2);
  const gdouble level[] = { 20, 50, 120, 50 }, slanted[] = { -30, -10, 90, 75, 200, 20 };

  gst_ccl_pen_draw_polyline (&pen, level, 2, green, 1);
  fail_unless_equals_int (count_colour (canvas, GREEN), 100 * 2);
  fail_unless_equals_int (count_all (canvas), 100 * 4);
  fail_unless (pixel (canvas, 70, 49) == GREEN && pixel (canvas, 70, 50) == GREEN);
  gst_ccl_canvas_wipe (canvas);
  gst_ccl_pen_draw_polyline (&pen, slanted, 3, green, 1);
  gst_ccl_pen_draw_polygon (&pen, slanted, 3, green, 1);
  fail_unless (count_all (canvas) > 200);
  gst_ccl_canvas_wipe (canvas);
  fail_unless_equals_int (count_all (canvas), 0);
  gst_ccl_canvas_free (canvas);
}

GST_END_TEST;

/* Standard deviations of 10 and 5 pixels: the ellipse reaches 20 and 10 pixels from the centre, with the line on it. */
GST_START_TEST (test_ellipse)
{
  GstCclCanvas *const canvas = new_canvas ();
  GstCclPen pen = gst_ccl_pen_new (canvas, 1);
  const GstCclEllipse ellipse = { 80, 60, 100, 0, 25 }, unknown = { 80, 60, 0, 0, 0 };

  gst_ccl_pen_draw_ellipse (&pen, &unknown, green, 1);
  fail_unless_equals_int (count_all (canvas), 0);
  gst_ccl_pen_draw_ellipse (&pen, &ellipse, green, 1);
  fail_unless (count_drawn (canvas, 58, 55, 62, 65) > 0 && count_drawn (canvas, 98, 55, 102, 65) > 0);
  fail_unless (count_drawn (canvas, 75, 48, 85, 52) > 0 && count_drawn (canvas, 75, 68, 85, 72) > 0);
  fail_unless_equals_int (count_drawn (canvas, 0, 0, 57, HEIGHT) + count_drawn (canvas, 103, 0, WIDTH, HEIGHT), 0);
  fail_unless_equals_int (count_drawn (canvas, 0, 0, WIDTH, 47) + count_drawn (canvas, 0, 73, WIDTH, HEIGHT), 0);
  fail_unless_equals_int (count_drawn (canvas, 70, 55, 90, 65), 0);
  gst_ccl_canvas_free (canvas);
}

GST_END_TEST;

/* ---------------------------------------------------------------- texts */

typedef struct
{
  GstCclCanvas *canvas;
  GstCclPen pen;
  GstCclTexts *texts;
} TextFixture;

static TextFixture
new_texts (void)
{
  TextFixture f = {.canvas = new_canvas () };

  f.pen = gst_ccl_pen_new (f.canvas, 1);
  f.texts = gst_ccl_texts_new ();
  gst_ccl_texts_set_font (f.texts, "Sans Bold");
  gst_ccl_texts_begin (f.texts, &f.pen, 1);
  return f;
}

static void
free_texts (TextFixture * f)
{
  gst_ccl_texts_end (f->texts);
  gst_ccl_texts_free (f->texts);
  gst_ccl_canvas_free (f->canvas);
}

/* The same text at the same place many times: each covers pixels that none covered before, until there is no place. */
GST_START_TEST (test_texts_do_not_overlap)
{
  TextFixture f = new_texts ();
  const GstCclBox box = { 60, 50, 90, 70 };
  guint n = 0, n_drawn = 0, n_plate = 0;

  while (gst_ccl_texts_draw_beside (f.texts, &f.pen, "#1", &box, green)) {
    const guint now = count_all (f.canvas);

    if (n == 0)
      n_plate = now;
    fail_unless_equals_int (now - n_drawn, n_plate);
    n_drawn = now;
    fail_unless (++n < 20);
  }
  fail_unless (n >= 2, "%u places", n);
  fail_unless_equals_int (count_all (f.canvas), n_drawn);

  /* The next frame has its places anew. */
  gst_ccl_canvas_wipe (f.canvas);
  gst_ccl_texts_begin (f.texts, &f.pen, 2);
  fail_unless (gst_ccl_texts_draw_beside (f.texts, &f.pen, "#1", &box, green));
  fail_unless_equals_int (count_all (f.canvas), n_plate);
  free_texts (&f);
}

GST_END_TEST;

/* Above the box where there is space, and within the canvas in any case. */
GST_START_TEST (test_places_of_texts)
{
  TextFixture f = new_texts ();
  const GstCclBox middle = { 60, 50, 90, 70 }, top = { 60, 0, 90, 20 };
  const gdouble outside[] = { 1e9, NAN };

  fail_unless (gst_ccl_texts_draw_beside (f.texts, &f.pen, "#1", &middle, green));
  fail_unless (count_all (f.canvas) > 0);
  fail_unless_equals_int (count_drawn (f.canvas, 0, 50, WIDTH, HEIGHT), 0);
  gst_ccl_canvas_wipe (f.canvas);
  gst_ccl_texts_begin (f.texts, &f.pen, 2);
  fail_unless (gst_ccl_texts_draw_beside (f.texts, &f.pen, "#1", &top, green));
  fail_unless_equals_int (count_drawn (f.canvas, 0, 0, WIDTH, 20), 0);
  gst_ccl_canvas_wipe (f.canvas);
  gst_ccl_texts_begin (f.texts, &f.pen, 3);
  fail_unless (gst_ccl_texts_draw_at (f.texts, &f.pen, "#1", outside, green));
  fail_unless (count_drawn (f.canvas, WIDTH - 4, HEIGHT - 4, WIDTH, HEIGHT) > 0);
  gst_ccl_canvas_wipe (f.canvas);
  gst_ccl_texts_begin (f.texts, &f.pen, 4);
  fail_unless (gst_ccl_texts_draw_in_corner (f.texts, &f.pen, "#1", green));
  fail_if (gst_ccl_texts_draw_in_corner (f.texts, &f.pen, "#1", green), "the corner is taken");
  free_texts (&f);
}

GST_END_TEST;

/* ---------------------------------------------------------------- trails */

GST_START_TEST (test_trails)
{
  GstCclTrails *const trails = gst_ccl_trails_new ();
  guint n;
  gdouble *places;

  fail_unless (gst_ccl_trails_get (trails, 1, WIDTH, HEIGHT, &n) == NULL && n == 0);
  for (guint i = 0; i < 7; i++)
    gst_ccl_trails_add (trails, 1, (GstCclPoint) { i / 8.0, 0.5}, 4, i);
  places = gst_ccl_trails_get (trails, 1, 80, 60, &n);
  fail_unless_equals_int (n, 4);
  for (guint i = 0; i < n; i++)
    fail_unless (places[2 * i] == 10 * (i + 3) && places[2 * i + 1] == 30, "the newest four, oldest first");
  g_free (places);

  gst_ccl_trails_add (trails, 1, (GstCclPoint) { 0.25, 0.25}, 3, 7);
  places = gst_ccl_trails_get (trails, 1, 80, 60, &n);
  fail_unless_equals_int (n, 1);
  g_free (places);
  gst_ccl_trails_forget_unseen (trails, 7 + GST_CCL_MAX_UNSEEN_FRAMES);
  places = gst_ccl_trails_get (trails, 1, 80, 60, &n);
  fail_unless (places != NULL);
  g_free (places);
  gst_ccl_trails_forget_unseen (trails, 8 + GST_CCL_MAX_UNSEEN_FRAMES);
  fail_unless (gst_ccl_trails_get (trails, 1, 80, 60, &n) == NULL);
  gst_ccl_trails_free (trails);
}

GST_END_TEST;

GST_START_TEST (test_trail_simplified)
{
  gdouble crowded[] = { 10, 10, 10.5, 10, 11, 10, 20, 10, 20.1, 10 };
  gdouble corner[] = { 0, 0, 5, 0, 10, 0, 15, 0, 20, 0, 20, 5, 20, 10, 20, 15 };
  gdouble back[] = { 0, 0, 10, 0, 4, 0 };

  fail_unless_equals_int (gst_ccl_trail_thin_out (crowded, 5, 2), 3);
  fail_unless (crowded[2] == 20 && crowded[4] == 20.1, "the last place stays");
  fail_unless_equals_int (gst_ccl_trail_straighten (corner, 8, 0.25), 3);
  fail_unless (corner[2] == 20 && corner[3] == 0 && corner[5] == 15, "the corner stays");
  fail_unless_equals_int (gst_ccl_trail_straighten (back, 3, 0.25), 3);
}

GST_END_TEST;

/* The newer the part, the stronger its line. */
GST_START_TEST (test_trail_fades)
{
  GstCclCanvas *const canvas = new_canvas ();
  GstCclPen pen = gst_ccl_pen_new (canvas, 2);
  gdouble points[2 * 26];
  guint last = 0;

  for (guint i = 0; i < 26; i++) {
    points[2 * i] = 20 + 4 * i;
    points[2 * i + 1] = 60;
  }
  gst_ccl_trail_draw (&pen, points, 26, green);
  for (guint shade = 0; shade < 5; shade++) {
    const guint alpha = pixel (canvas, 30 + 20 * shade, 60) >> 24;

    fail_unless (alpha > last, "shade %u: %u after %u", shade, alpha, last);
    last = alpha;
  }
  fail_unless_equals_int (last, 255);
  gst_ccl_canvas_free (canvas);
}

GST_END_TEST;

/* ---------------------------------------------------------------- zones */

GST_START_TEST (test_zones)
{
  TextFixture f = new_texts ();
  gdouble square[] = { 0.25, 0.25, 0.75, 0.25, 0.75, 0.75, 0.25, 0.75 }, down[] = { 0.5, 0.1, 0.5, 0.9 };
  const GstCclZone polygon = {.name = (gchar *) "a",.kind = GST_CCL_ZONE_POLYGON,.n_points = 4,.points = square };
  const GstCclZone line = {.name = (gchar *) "a",.kind = GST_CCL_ZONE_LINE,.n_points = 2,.points = down };
  guint n_left, n_right;

  gst_ccl_zone_draw (&f.pen, f.texts, &polygon, 0);
  for (guint x = 40; x < 120; x++)
    fail_unless (pixel (f.canvas, x, 30) != 0 && pixel (f.canvas, x, 90) != 0);
  fail_unless_equals_int (count_drawn (f.canvas, 0, 0, 37, HEIGHT), 0);
  gst_ccl_canvas_wipe (f.canvas);
  gst_ccl_texts_begin (f.texts, &f.pen, 2);

  /* Of a line that goes down, forward is to the left of the picture: there the arrow points. */
  gst_ccl_zone_draw (&f.pen, f.texts, &line, 0);
  n_left = count_drawn (f.canvas, 60, 52, 76, 68);
  n_right = count_drawn (f.canvas, 84, 52, 100, 68);
  fail_unless (n_left > 10 && n_right == 0, "%u and %u pixels", n_left, n_right);
  free_texts (&f);
}

GST_END_TEST;

/* ---------------------------------------------------------------- frames */

static GstBuffer *
new_frame (const GstCclBlob * blobs, guint n)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobList *const list = gst_ccl_blob_list_new (blobs, n);

  gst_buffer_add_ccl_blob_meta (buffer, list, WIDTH, HEIGHT);
  gst_ccl_blob_list_unref (list);
  return buffer;
}

static GstCclBlob
new_blob (guint64 track_id, gint x, gint y)
{
  const guint64 area = 100;

  return (GstCclBlob) {
    .label = 1,.x = x,.y = y,.width = 10,.height = 10,.first_x = x,.area = area,.m10 = area * x + 450,
    .m01 = area * y + 450,.track_id = track_id,.mtd_id = GST_CCL_MTD_ID_NONE,
  };
}

/* Draws a frame with one blob; returns how many pixels have the colour. */
static guint
draw_blob (GstCclDrawing * drawing, const GstCclDrawingStyle * style, const GstCclBlob * blob, guint32 colour)
{
  GstCclCanvas *const canvas = new_canvas ();
  GstBuffer *const frame = new_frame (blob, 1);
  guint n;

  fail_unless (gst_ccl_drawing_draw (drawing, canvas, style, frame, TRUE, &n));
  fail_unless_equals_int (n, 1);
  n = count_colour (canvas, colour);
  gst_buffer_unref (frame);
  gst_ccl_canvas_free (canvas);
  return n;
}

GST_START_TEST (test_frames)
{
  GstCclDrawing *const drawing = gst_ccl_drawing_new ();
  GstCclDrawingStyle style = {.draw = GST_CCL_DRAW_BOX,.color_by = GST_CCL_COLOR_BY_FIXED,.colour = GREEN,
    .line_width = 1
  };
  GstCclBlob blob = new_blob (3, 70, 50);
  const guint frame = 4 * 12 + 4;       /* pixels of a line of 1, edge of 1, around 10 x 10 */

  fail_unless_equals_int (draw_blob (drawing, &style, &blob, GREEN), frame);
  blob.flags = GST_CCL_BLOB_FLAG_MERGED;
  blob.track_id = 0;
  fail_unless (draw_blob (drawing, &style, &blob, GREEN) > 2 * frame, "a second, outer box");
  blob.flags = GST_CCL_BLOB_FLAG_TENTATIVE;
  fail_unless_equals_int (draw_blob (drawing, &style, &blob, GREEN), 0);
  blob.flags = GST_CCL_BLOB_FLAG_PREDICTED;
  fail_unless (draw_blob (drawing, &style, &blob, GREEN) < frame, "dashed");
  style.draw = 0;
  blob.flags = 0;
  fail_unless_equals_int (draw_blob (drawing, &style, &blob, GREEN), 0);
  gst_ccl_drawing_free (drawing);
}

GST_END_TEST;

/* Trails grow with new frames, and start anew after a reset. */
GST_START_TEST (test_frames_with_trails)
{
  GstCclDrawing *const drawing = gst_ccl_drawing_new ();
  const GstCclDrawingStyle style = {.draw = GST_CCL_DRAW_TRAIL,.color_by = GST_CCL_COLOR_BY_FIXED,.colour = GREEN,
    .line_width = 2,.trail_length = 10
  };
  guint n = 0;

  for (guint i = 0; i < 8; i++) {
    const GstCclBlob blob = new_blob (3, 10 + 10 * i, 50);

    n = draw_blob (drawing, &style, &blob, GREEN);
  }
  fail_unless (n > 10, "%u pixels", n);
  gst_ccl_drawing_reset (drawing);
  {
    const GstCclBlob blob = new_blob (3, 100, 50);

    fail_unless_equals_int (draw_blob (drawing, &style, &blob, GREEN), 0);
  }
  gst_ccl_drawing_free (drawing);
}

GST_END_TEST;

static Suite *
ccloverlay_parts_suite (void)
{
  Suite *const suite = suite_create ("ccloverlay-parts");
  TCase *const drawing = tcase_create ("drawing");

  suite_add_tcase (suite, drawing);
  tcase_add_test (drawing, test_colours);
  tcase_add_test (drawing, test_palette);
  tcase_add_test (drawing, test_box);
  tcase_add_test (drawing, test_box_at_the_border);
  tcase_add_test (drawing, test_dashes);
  tcase_add_test (drawing, test_lines);
  tcase_add_test (drawing, test_ellipse);
  tcase_add_test (drawing, test_texts_do_not_overlap);
  tcase_add_test (drawing, test_places_of_texts);
  tcase_add_test (drawing, test_trails);
  tcase_add_test (drawing, test_trail_simplified);
  tcase_add_test (drawing, test_trail_fades);
  tcase_add_test (drawing, test_zones);
  tcase_add_test (drawing, test_frames);
  tcase_add_test (drawing, test_frames_with_trails);
  return suite;
}

GST_CHECK_MAIN (ccloverlay_parts);
