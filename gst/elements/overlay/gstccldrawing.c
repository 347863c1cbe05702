/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccldrawing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pango/pangocairo.h>

/* Frames the trail and the colour of an object that is not seen are kept, in case it comes back. */
#define PATIENCE 90
/* Colours that tracks share. */
#define N_COLOURS 24
/* Texts kept as pictures. */
#define MAX_TEXTS 1024

typedef struct
{
  gdouble red, green, blue, alpha;
} Colour;

static const Colour ink = { 0.05, 0.05, 0.07, 0.65 };
static const Colour plain = { 1, 1, 1, 1 };

/* Something to draw: a blob, or a region of interest of any other element. In the plane of pixel squares. */
typedef struct
{
  gdouble x0, y0, x1, y1;
  gdouble x, y;                 /* centroid */
  gdouble xx, xy, yy;           /* covariance; 0: unknown */
  gdouble area;
  guint64 track_id;
  guint label;
  guint32 flags;
  const gchar *name;            /* what a region says it is; NULL of a blob */
  guint index;                  /* of a blob in its list */
  gboolean has_trail;           /* its tracker says where it has been */
} Object;

typedef struct
{
  gfloat x, y;                  /* in fractions of the frame */
} Place;

/* The last places of a track, a ring. */
typedef struct
{
  Place *places;
  guint capacity, n, next;
  guint64 seen;
} Trail;

typedef struct
{
  guint number;                 /* colour_of_number() */
  guint64 seen;
} TrackColour;

/* A text as a mask to paint through. */
typedef struct
{
  cairo_surface_t *mask;
  gint width, height;
  guint64 used;
} Text;

/* Where texts are: cells of half a line. */
typedef struct
{
  gdouble cell;
  guint columns, rows;
  guint8 *taken;
} TextMap;

struct _GstCclDrawing
{
  PangoFontMap *font_map;
  PangoContext *context;
  PangoFontDescription *font;
  gboolean scale_font;
  gint font_size;               /* Pango units that the texts were made with */
  GHashTable *texts;            /* gchar* -> Text */
  GHashTable *trails;           /* guint64* -> Trail */
  GHashTable *colours;          /* guint64* -> TrackColour */
  guint n_tracks[N_COLOURS];    /* of each colour */
  GArray *objects;              /* of Object: this frame's */
  guint64 frame;

  /* Of the frame being drawn. */
  const GstCclBlobMeta *blobs;  /* NULL: the objects are regions */
  GstCclCanvas *canvas;
  cairo_t *cr;
  const GstCclDrawingStyle *style;
  guint width, height;
  gdouble line, edge;           /* width of a line and of its dark edge on either side, whole pixels */
  TextMap map;
};

/* ---------------------------------------------------------------- life */

static void
trail_free (gpointer data)
{
  Trail *const trail = data;

  g_free (trail->places);
  g_free (trail);
}

static void
text_free (gpointer data)
{
  Text *const text = data;

  cairo_surface_destroy (text->mask);
  g_free (text);
}

GstCclDrawing *
gst_ccl_drawing_new (void)
{
  GstCclDrawing *drawing = g_new0 (GstCclDrawing, 1);

  /* A font map of its own: it may be used in one thread at a time only. */
  drawing->font_map = pango_cairo_font_map_new ();
  drawing->context = pango_font_map_create_context (drawing->font_map);
  drawing->texts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, text_free);
  drawing->trails = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, trail_free);
  drawing->colours = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  drawing->objects = g_array_new (FALSE, FALSE, sizeof (Object));
  gst_ccl_drawing_set_font (drawing, GST_CCL_DRAWING_FONT);
  return drawing;
}

void
gst_ccl_drawing_free (GstCclDrawing * drawing)
{
  g_hash_table_unref (drawing->texts);
  g_hash_table_unref (drawing->trails);
  g_hash_table_unref (drawing->colours);
  g_array_unref (drawing->objects);
  pango_font_description_free (drawing->font);
  g_object_unref (drawing->context);
  g_object_unref (drawing->font_map);
  g_free (drawing->map.taken);
  g_free (drawing);
}

void
gst_ccl_drawing_set_font (GstCclDrawing * drawing, const gchar * description)
{
  g_clear_pointer (&drawing->font, pango_font_description_free);
  drawing->font = pango_font_description_from_string (description);
  drawing->scale_font = pango_font_description_get_size (drawing->font) == 0;
  g_hash_table_remove_all (drawing->texts);
  drawing->font_size = 0;
}

void
gst_ccl_drawing_reset (GstCclDrawing * drawing)
{
  g_hash_table_remove_all (drawing->trails);
  g_hash_table_remove_all (drawing->colours);
  memset (drawing->n_tracks, 0, sizeof drawing->n_tracks);
}

/* ---------------------------------------------------------------- colours */

/* Steps of the golden ratio round the circle of hues leave no two of any few numbers in a row near each other; every
 * second one is paler, so that the next nearest hues differ too. */
static Colour
colour_of_number (guint64 number)
{
  const gdouble hue = 6 * fmod (number * 0.6180339887498949, 1), saturation = number & 1 ? 0.9 : 0.6;
  gdouble part[3];

  for (gint i = 0; i < 3; i++) {
    /* How far round from this primary, in sixths of the circle: full within one, none from two on. */
    const gdouble away = fabs (fmod (hue - 2 * i + 9, 6) - 3);
    part[i] = 1 - saturation * CLAMP (away - 1, 0, 1);
  }
  /* Pure blue is too dark to be seen on asphalt. */
  if (part[2] > part[0] && part[2] > part[1])
    part[1] = MAX (part[1], 0.45);
  return (Colour) { part[0], part[1], part[2], 1 };
}

/* The eye tells greens apart better than blues, and those better than reds. */
static gdouble
colour_distance (Colour a, Colour b)
{
  const gdouble red = a.red - b.red, green = a.green - b.green, blue = a.blue - b.blue;

  return 2 * red * red + 4 * green * green + 3 * blue * blue;
}

/* Of the colours that fewest tracks have the one farthest from those in the picture; `first` when there are none. */
static guint
choose_colour (const GstCclDrawing * drawing, const gboolean * in_picture, guint first)
{
  guint chosen = first, fewest = G_MAXUINT;
  gdouble farthest = -1;

  for (guint i = 0; i < N_COLOURS; i++) {
    const guint number = (first + i) % N_COLOURS, n = drawing->n_tracks[number];
    gdouble nearest = G_MAXDOUBLE;
    for (guint other = 0; other < N_COLOURS; other++)
      if (in_picture[other])
        nearest = MIN (nearest, colour_distance (colour_of_number (number), colour_of_number (other)));
    if (n < fewest || (n == fewest && nearest > farthest)) {
      chosen = number;
      fewest = n;
      farthest = nearest;
    }
  }
  return chosen;
}

static gboolean
is_colour_free (gpointer track_id, gpointer colour, gpointer user_data)
{
  GstCclDrawing *const drawing = user_data;
  const TrackColour *const of_track = colour;

  if (of_track->seen + PATIENCE >= drawing->frame)
    return FALSE;
  drawing->n_tracks[of_track->number]--;
  return TRUE;
}

/* A track keeps its colour for as long as it is seen, and a while longer. */
static void
assign_colours (GstCclDrawing * drawing)
{
  const Object *const objects = (const Object *) drawing->objects->data;
  gboolean in_picture[N_COLOURS] = { FALSE };

  g_hash_table_foreach_remove (drawing->colours, is_colour_free, drawing);
  for (guint i = 0; i < drawing->objects->len; i++) {
    TrackColour *const colour = g_hash_table_lookup (drawing->colours, &objects[i].track_id);
    if (colour) {
      in_picture[colour->number] = TRUE;
      colour->seen = drawing->frame;
    }
  }
  for (guint i = 0; i < drawing->objects->len; i++) {
    const guint64 id = objects[i].track_id;
    if (id == 0 || g_hash_table_contains (drawing->colours, &id))
      continue;
    TrackColour *const colour = g_new (TrackColour, 1);
    *colour = (TrackColour) { choose_colour (drawing, in_picture, id % N_COLOURS), drawing->frame };
    drawing->n_tracks[colour->number]++;
    in_picture[colour->number] = TRUE;
    g_hash_table_insert (drawing->colours, g_memdup2 (&id, sizeof id), colour);
  }
}

static Colour
colour_of_track (const GstCclDrawing * drawing, guint64 track_id)
{
  const TrackColour *const colour = g_hash_table_lookup (drawing->colours, &track_id);

  return colour_of_number (colour ? colour->number : track_id);
}

static Colour
colour_of_object (const GstCclDrawing * drawing, const Object * object)
{
  const guint32 argb = drawing->style->colour;

  if (drawing->style->color_by == GST_CCL_COLOR_BY_FIXED)
    return (Colour) { (argb >> 16 & 255) / 255.0, (argb >> 8 & 255) / 255.0, (argb & 255) / 255.0,
      (argb >> 24) / 255.0 };
  if (drawing->style->color_by == GST_CCL_COLOR_BY_LABEL)
    return colour_of_number (object->label);
  if (object->track_id != 0)
    return colour_of_track (drawing, object->track_id);
  /* Of nobody, or of several. */
  return object->flags & GST_CCL_BLOB_FLAG_MERGED ? plain : colour_of_number (object->label);
}

static void
use_colour (GstCclDrawing * drawing, Colour colour, gdouble alpha)
{
  cairo_set_source_rgba (drawing->cr, colour.red, colour.green, colour.blue, colour.alpha * alpha);
}

/* ---------------------------------------------------------------- lines */

/* Every line has a dark edge: it is seen on any ground. */
static void
stroke_path (GstCclDrawing * drawing, Colour colour, gdouble alpha, const gdouble * dashes, gint n_dashes)
{
  cairo_set_line_width (drawing->cr, drawing->line + 2 * drawing->edge);
  cairo_set_dash (drawing->cr, dashes, n_dashes, 0);
  use_colour (drawing, ink, alpha);
  cairo_stroke_preserve (drawing->cr);
  cairo_set_line_width (drawing->cr, drawing->line);
  use_colour (drawing, colour, alpha);
  cairo_stroke (drawing->cr);
}

/* Where lines meet they end in a point, but not in one that reaches further than this, times half their width. Corners of boxes
 * have one. (Round corners would do, but to draw those of contours takes Cairo 2.8 times as long.) */
#define MITER 1.5

static gdouble
reach (const GstCclDrawing * drawing)
{
  return MITER * (drawing->line / 2 + drawing->edge) + 1;
}

/* What is no number is far away. */
static gdouble
near (gdouble value)
{
  return fmax (fmin (value, GST_CCL_CANVAS_FAR / 2), -GST_CCL_CANVAS_FAR / 2);
}

static void
touch_polyline (GstCclDrawing * drawing, const gdouble * points, guint n, gboolean closed)
{
  for (guint i = 0; i + 1 < n + closed; i++) {
    const gdouble *const a = points + 2 * i, *const b = points + 2 * ((i + 1) % n);
    gst_ccl_canvas_touch_line (drawing->canvas, a[0], a[1], b[0], b[1], reach (drawing));
  }
}

static void
path_polyline (GstCclDrawing * drawing, const gdouble * points, guint n, gboolean closed)
{
  cairo_new_path (drawing->cr);
  for (guint i = 0; i < n; i++)
    cairo_line_to (drawing->cr, points[2 * i], points[2 * i + 1]);
  if (closed)
    cairo_close_path (drawing->cr);
  touch_polyline (drawing, points, n, closed);
}

/* The frame of a rectangle, on whole pixels, as four rectangles. */
static void
fill_frame (GstCclDrawing * drawing, gdouble x0, gdouble y0, gdouble x1, gdouble y1, gdouble width)
{
  cairo_rectangle (drawing->cr, x0, y0, x1 - x0, width);
  cairo_rectangle (drawing->cr, x0, y1 - width, x1 - x0, width);
  cairo_rectangle (drawing->cr, x0, y0 + width, width, y1 - y0 - 2 * width);
  cairo_rectangle (drawing->cr, x1 - width, y0 + width, width, y1 - y0 - 2 * width);
  cairo_fill (drawing->cr);
}

/* The line surrounds the pixels of the object; where that would be outside of the frame it is inside of both. */
static void
draw_box (GstCclDrawing * drawing, const Object * object, Colour colour, gdouble alpha)
{
  const gdouble line = drawing->line, edge = drawing->edge, around = line + 2 * edge;
  const gdouble x0 = MAX (near (floor (object->x0) - around), -edge);
  const gdouble y0 = MAX (near (floor (object->y0) - around), -edge);
  const gdouble x1 = MAX (MIN (near (ceil (object->x1) + around), drawing->width + edge), x0 + 2 * around);
  const gdouble y1 = MAX (MIN (near (ceil (object->y1) + around), drawing->height + edge), y0 + 2 * around);
  const gdouble dashes[] = { 4 * line, 3 * line };

  gst_ccl_canvas_touch (drawing->canvas, x0, y0, x1, y0 + around);
  gst_ccl_canvas_touch (drawing->canvas, x0, y1 - around, x1, y1);
  gst_ccl_canvas_touch (drawing->canvas, x0, y0, x0 + around, y1);
  gst_ccl_canvas_touch (drawing->canvas, x1 - around, y0, x1, y1);
  cairo_set_antialias (drawing->cr, CAIRO_ANTIALIAS_NONE);
  if (object->flags & GST_CCL_BLOB_FLAG_PREDICTED) {
    const gdouble middle = edge + line / 2;

    cairo_rectangle (drawing->cr, x0 + middle, y0 + middle, x1 - x0 - 2 * middle, y1 - y0 - 2 * middle);
    stroke_path (drawing, colour, alpha, dashes, 2);
  } else {
    use_colour (drawing, ink, alpha);
    fill_frame (drawing, x0, y0, x1, y1, line + 2 * edge);
    use_colour (drawing, colour, alpha);
    fill_frame (drawing, x0 + edge, y0 + edge, x1 - edge, y1 - edge, line);
  }
  cairo_set_antialias (drawing->cr, CAIRO_ANTIALIAS_DEFAULT);
}

/* Several tracks in one blob: a second, outer box. */
static void
draw_merged (GstCclDrawing * drawing, const Object * object, Colour colour, gdouble alpha)
{
  const gdouble away = 2 * drawing->line + drawing->edge;
  Object outer = *object;

  outer.x0 -= away;
  outer.y0 -= away;
  outer.x1 += away;
  outer.y1 += away;
  draw_box (drawing, &outer, colour, alpha);
}

#define ELLIPSE_POINTS 40

/* Two standard deviations along each axis: the ellipse with the same second moments as the blob. */
static void
draw_ellipse (GstCclDrawing * drawing, const Object * object, Colour colour, gdouble alpha)
{
  const gdouble mean = (object->xx + object->yy) / 2, half = (object->xx - object->yy) / 2;
  const gdouble spread = hypot (half, object->xy), angle = atan2 (object->xy, half) / 2;
  const gdouble a = 2 * sqrt (MAX (mean + spread, 0)), b = 2 * sqrt (MAX (mean - spread, 0));
  gdouble points[2 * ELLIPSE_POINTS];

  if (!(a > 0))
    return;
  for (guint i = 0; i < ELLIPSE_POINTS; i++) {
    const gdouble t = 2 * G_PI * i / ELLIPSE_POINTS, u = a * cos (t), v = MAX (b, 0.5) * sin (t);

    points[2 * i] = near (object->x + u * cos (angle) - v * sin (angle));
    points[2 * i + 1] = near (object->y + u * sin (angle) + v * cos (angle));
  }
  path_polyline (drawing, points, ELLIPSE_POINTS, TRUE);
  stroke_path (drawing, colour, alpha, NULL, 0);
}

static void
draw_contour (GstCclDrawing * drawing, const Object * object, Colour colour, gdouble alpha)
{
  guint n_values = 0;
  gdouble *const points =
      drawing->blobs ? gst_ccl_blob_meta_get_contour (drawing->blobs, object->index, &n_values) : NULL;

  if (!points)
    return;
  for (guint i = 0; i < n_values; i++)
    points[i] = near (points[i]);
  path_polyline (drawing, points, n_values / 2, TRUE);
  stroke_path (drawing, colour, alpha, NULL, 0);
  g_free (points);
}

static void
draw_dot (GstCclDrawing * drawing, gdouble x, gdouble y, Colour colour, gdouble alpha)
{
  const gdouble radius = 1.25 * drawing->line + 0.5, around = radius + drawing->edge;

  if (near (x) != x || near (y) != y)
    return;
  gst_ccl_canvas_touch (drawing->canvas, x - around - 1, y - around - 1, x + around + 1, y + around + 1);
  use_colour (drawing, ink, alpha);
  cairo_arc (drawing->cr, x, y, around, 0, 2 * G_PI);
  cairo_fill (drawing->cr);
  use_colour (drawing, colour, alpha);
  cairo_arc (drawing->cr, x, y, radius, 0, 2 * G_PI);
  cairo_fill (drawing->cr);
}

/* ---------------------------------------------------------------- trails */

static void
extend_trail (GstCclDrawing * drawing, const Object * object)
{
  const guint capacity = drawing->style->trail_length;
  const Place place = { object->x / drawing->width, object->y / drawing->height };
  Trail *trail = g_hash_table_lookup (drawing->trails, &object->track_id);

  if (trail && trail->capacity != capacity) {
    g_hash_table_remove (drawing->trails, &object->track_id);
    trail = NULL;
  }
  if (!trail) {
    trail = g_new0 (Trail, 1);
    trail->places = g_new (Place, capacity);
    trail->capacity = capacity;
    g_hash_table_insert (drawing->trails, g_memdup2 (&object->track_id, sizeof object->track_id), trail);
  }
  trail->seen = drawing->frame;
  trail->places[trail->next] = place;
  trail->next = (trail->next + 1) % capacity;
  trail->n = MIN (trail->n + 1, capacity);
}

static gboolean
is_forgotten (gpointer id, gpointer trail, gpointer drawing)
{
  return ((Trail *) trail)->seen + PATIENCE < ((GstCclDrawing *) drawing)->frame;
}

/* Is every point between the first and the last so near the line between these two that nobody sees it? */
static gboolean
is_straight (const gdouble * points, guint n, gdouble tolerance)
{
  const gdouble dx = points[2 * n - 2] - points[0], dy = points[2 * n - 1] - points[1];
  const gdouble length = hypot (dx, dy), limit = tolerance * length;

  for (guint i = 1; i + 1 < n; i++) {
    const gdouble px = points[2 * i] - points[0], py = points[2 * i + 1] - points[1], along = px * dx + py * dy;

    if (!(fabs (px * dy - py * dx) <= limit) || along < 0 || along > length * length)
      return FALSE;
  }
  return TRUE;
}

/* Most points that one straight piece stands for. */
#define STRAIGHT_POINTS 32

/* Leaves out points in the middle of straight pieces, in place: strokes take their time per point. */
static guint
straighten (gdouble * points, guint n, gdouble tolerance)
{
  guint left = 0, at = 0;

  while (at < n) {
    guint last = MIN (at + 1, n - 1);

    points[2 * left] = points[2 * at];
    points[2 * left++ + 1] = points[2 * at + 1];
    while (last + 1 < n && last - at < STRAIGHT_POINTS && is_straight (points + 2 * at, last - at + 2, tolerance))
      last++;
    at = at + 1 < n ? last : n;
  }
  return left;
}

#define TRAIL_SHADES 5

/* Where an object has been, oldest first: as its tracker says, or as seen here. NULL: nowhere. */
static gdouble *
get_places (GstCclDrawing * drawing, const Object * object, guint * n_places)
{
  const guint length = drawing->style->trail_length;
  const Trail *const trail = g_hash_table_lookup (drawing->trails, &object->track_id);
  guint n = 0;
  gdouble *places = drawing->blobs ? gst_ccl_blob_meta_get_trail (drawing->blobs, object->index, &n) : NULL;

  *n_places = MIN (n / 2, length);
  if (places) {
    memmove (places, places + (n - 2 * *n_places), 2 * *n_places * sizeof (gdouble));
  } else if (trail) {
    *n_places = trail->n;
    places = g_new (gdouble, 2 * trail->n);
    for (guint i = 0; i < trail->n; i++) {
      const Place *const place = &trail->places[(trail->next + trail->capacity - trail->n + i) % trail->capacity];

      places[2 * i] = place->x * drawing->width;
      places[2 * i + 1] = place->y * drawing->height;
    }
  }
  return places;
}

/* Leaves out places that a line of this width cannot show, but not the last. */
static guint
thin_out (const GstCclDrawing * drawing, gdouble * points, guint n)
{
  guint left = 0;

  for (guint i = 0; i < n; i++) {
    const gdouble x = near (points[2 * i]), y = near (points[2 * i + 1]);

    if (left > 0 && i + 1 < n && hypot (x - points[2 * left - 2], y - points[2 * left - 1]) < drawing->line + 1)
      continue;
    points[2 * left] = x;
    points[2 * left + 1] = y;
    left++;
  }
  return left;
}

/* Fainter the older: in a few pieces, each of one shade. */
static void
draw_trail (GstCclDrawing * drawing, const Object * object, Colour colour)
{
  guint n;
  gdouble *const points = get_places (drawing, object, &n);

  if (!points)
    return;
  n = thin_out (drawing, points, n);
  cairo_set_line_join (drawing->cr, CAIRO_LINE_JOIN_ROUND);
  for (guint shade = 0; shade < TRAIL_SHADES && n > 1; shade++) {
    const guint first = shade * (n - 1) / TRAIL_SHADES, last = (shade + 1) * (n - 1) / TRAIL_SHADES;
    gdouble *const piece = points + 2 * first;
    const gdouble end[2] = { points[2 * last], points[2 * last + 1] };

    if (last == first)
      continue;
    path_polyline (drawing, piece, straighten (piece, last - first + 1, drawing->line / 8), FALSE);
    /* Where the next shade begins. */
    points[2 * last] = end[0];
    points[2 * last + 1] = end[1];
    stroke_path (drawing, colour, (shade + 1.0) / TRAIL_SHADES, NULL, 0);
  }
  cairo_set_line_join (drawing->cr, CAIRO_LINE_JOIN_MITER);
  g_free (points);
}

/* ---------------------------------------------------------------- texts */

/* Lines and letters are a fixed part of the frame's height, but never too small to be seen. */
static void
set_scale (GstCclDrawing * drawing)
{
  const gdouble side = MIN (drawing->height, drawing->width);
  const gdouble wanted = drawing->style->line_width > 0 ? drawing->style->line_width : 1 + side / 360;
  const gint size = drawing->scale_font ? (gint) (MAX (10, side / 38) * PANGO_SCALE) : -1;

  drawing->line = MAX (floor (wanted + 0.5), 1);
  drawing->edge = MAX (floor (drawing->line / 3 + 0.5), 1);
  if (drawing->font_size == size)
    return;
  drawing->font_size = size;
  if (size > 0)
    pango_font_description_set_absolute_size (drawing->font, size);
  g_hash_table_remove_all (drawing->texts);
}

static Text *
get_text (GstCclDrawing * drawing, const gchar * words)
{
  Text *text = g_hash_table_lookup (drawing->texts, words);

  if (!text) {
    PangoLayout *layout = pango_layout_new (drawing->context);
    cairo_t *cr;

    text = g_new0 (Text, 1);
    pango_layout_set_font_description (layout, drawing->font);
    pango_layout_set_text (layout, words, -1);
    pango_layout_get_pixel_size (layout, &text->width, &text->height);
    text->width = CLAMP (text->width, 1, 8192);
    text->height = CLAMP (text->height, 1, 2048);
    text->mask = cairo_image_surface_create (CAIRO_FORMAT_A8, text->width, text->height);
    cr = cairo_create (text->mask);
    pango_cairo_show_layout (cr, layout);
    cairo_destroy (cr);
    g_object_unref (layout);
    g_hash_table_insert (drawing->texts, g_strdup (words), text);
  }
  text->used = drawing->frame;
  return text;
}

static gboolean
is_unused (gpointer words, gpointer text, gpointer drawing)
{
  return ((Text *) text)->used != ((GstCclDrawing *) drawing)->frame;
}

static gdouble
line_height (GstCclDrawing * drawing)
{
  return get_text (drawing, "0")->height;
}

static void
clear_map (GstCclDrawing * drawing)
{
  TextMap *const map = &drawing->map;

  map->cell = MAX (line_height (drawing) / 2, 2);
  map->columns = drawing->width / map->cell + 1;
  map->rows = drawing->height / map->cell + 1;
  map->taken = g_realloc (map->taken, (gsize) map->columns * map->rows);
  memset (map->taken, 0, (gsize) map->columns * map->rows);
}

/* Is there room for a text, whole and over no other? Takes it then. */
static gboolean
take_room (GstCclDrawing * drawing, const GstVideoRectangle * r)
{
  TextMap *const map = &drawing->map;
  guint left, right, top, bottom;

  if (r->x < 0 || r->y < 0 || r->x + r->w > (gint) drawing->width || r->y + r->h > (gint) drawing->height)
    return FALSE;
  left = r->x / map->cell;
  top = r->y / map->cell;
  right = MIN ((guint) ((r->x + r->w - 1) / map->cell), map->columns - 1);
  bottom = MIN ((guint) ((r->y + r->h - 1) / map->cell), map->rows - 1);
  for (guint row = top; row <= bottom; row++)
    if (memchr (map->taken + row * map->columns + left, 1, right - left + 1))
      return FALSE;
  for (guint row = top; row <= bottom; row++)
    memset (map->taken + row * map->columns + left, 1, right - left + 1);
  return TRUE;
}

/* Dark plate, text in the object's colour. */
static void
draw_text (GstCclDrawing * drawing, const Text * text, const GstVideoRectangle * r, Colour colour)
{
  const gdouble pad_x = (r->w - text->width) / 2, pad_y = (r->h - text->height) / 2;

  gst_ccl_canvas_touch (drawing->canvas, r->x, r->y, r->x + r->w, r->y + r->h);
  use_colour (drawing, ink, 1);
  cairo_rectangle (drawing->cr, r->x, r->y, r->w, r->h);
  cairo_fill (drawing->cr);
  cairo_set_source_rgb (drawing->cr, (1 + 2 * colour.red) / 3, (1 + 2 * colour.green) / 3, (1 + 2 * colour.blue) / 3);
  cairo_mask_surface (drawing->cr, text->mask, r->x + pad_x, r->y + pad_y);
}

static GstVideoRectangle
plate_of (const GstCclDrawing * drawing, const Text * text)
{
  return (GstVideoRectangle) {
    .w = text->width + 2 * (gint) (drawing->line + drawing->edge),.h = text->height};
}

/* Above the object, below, inside, beside; the first with room. None: the object goes without. */
static void
place_text (GstCclDrawing * drawing, const Object * object, const gchar * words, Colour colour)
{
  const Text *const text = get_text (drawing, words);
  GstVideoRectangle r = plate_of (drawing, text);
  const gint gap = drawing->line + 2 * drawing->edge;
  const gint x0 = (gint) near (object->x0) - gap, x1 = (gint) near (object->x1) + gap;
  const gint y0 = (gint) near (object->y0) - gap, y1 = (gint) near (object->y1) + gap;
  const gint last_x = (gint) drawing->width - r.w, on_x = CLAMP (x0, 0, MAX (last_x, 0));
  const gint places[][2] = {
    {on_x, y0 - r.h}, {x1 - r.w, y0 - r.h}, {on_x, y1}, {x1 - r.w, y1},
    {x0 + gap, y0 + gap}, {x1, y0}, {x0 - r.w, y0}, {x1, y1 - r.h}, {x0 - r.w, y1 - r.h},
    {on_x, y0 - 2 * r.h}, {on_x, y1 + r.h},
  };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    r.x = places[i][0];
    r.y = places[i][1];
    if (take_room (drawing, &r)) {
      draw_text (drawing, text, &r, colour);
      return;
    }
  }
}

/* Centred on a point, as far as the frame allows. */
static void
place_text_at (GstCclDrawing * drawing, const gchar * words, gdouble x, gdouble y, Colour colour)
{
  const Text *const text = get_text (drawing, words);
  GstVideoRectangle r = plate_of (drawing, text);
  const gint last_x = (gint) drawing->width - r.w, last_y = (gint) drawing->height - r.h;
  const gint at_y = (gint) near (y) - r.h / 2;

  for (gint i = 0; i < 7; i++) {        /* there, above, below, ... */
    r.x = CLAMP ((gint) near (x) - r.w / 2, 0, MAX (last_x, 0));
    r.y = CLAMP (at_y + (i & 1 ? -1 : 1) * (i + 1) / 2 * r.h, 0, MAX (last_y, 0));
    if (take_room (drawing, &r)) {
      draw_text (drawing, text, &r, colour);
      return;
    }
  }
}

/* ---------------------------------------------------------------- zones */

static void
draw_arrow (GstCclDrawing * drawing, gdouble x, gdouble y, gdouble dx, gdouble dy, Colour colour)
{
  const gdouble size = 5 * drawing->line + 4, length = hypot (dx, dy);
  gdouble points[6];

  if (!(length > 0))
    return;
  dx *= size / length;
  dy *= size / length;
  points[0] = x + dx / 2 + dy;
  points[1] = y + dy / 2 - dx;
  points[2] = x + 1.5 * dx;
  points[3] = y + 1.5 * dy;
  points[4] = x + dx / 2 - dy;
  points[5] = y + dy / 2 + dx;
  path_polyline (drawing, points, 3, FALSE);
  stroke_path (drawing, colour, 1, NULL, 0);
}

static void
draw_zone (GstCclDrawing * drawing, const GstCclZone * zone, guint index)
{
  const gboolean is_line = zone->kind == GST_CCL_ZONE_LINE;
  /* Half a step off the objects' colours. */
  const Colour colour = colour_of_number (index * 2 + 7);
  gdouble *points = g_new (gdouble, 2 * MAX (zone->n_points, 1));
  gdouble x = 0, y = 0;
  gchar *words;

  for (guint i = 0; i < zone->n_points; i++) {
    points[2 * i] = near (zone->points[2 * i] * drawing->width);
    points[2 * i + 1] = near (zone->points[2 * i + 1] * drawing->height);
    x += points[2 * i] / zone->n_points;
    y += points[2 * i + 1] / zone->n_points;
  }
  if (zone->n_points >= 2) {
    path_polyline (drawing, points, zone->n_points, !is_line);
    stroke_path (drawing, colour, 0.9, NULL, 0);
    if (is_line) {
      /* Forward is from the left to the right of who walks along it; y grows downwards. */
      draw_arrow (drawing, x, y, points[1] - points[3], points[2] - points[0], colour);
      words = g_strdup_printf ("%s  +%" G_GUINT64_FORMAT "  -%" G_GUINT64_FORMAT, zone->name, zone->n_forward,
          zone->n_backward);
      place_text_at (drawing, words, points[0], points[1], colour);
    } else {
      words = g_strdup_printf ("%s  %u", zone->name, zone->n_inside);
      place_text_at (drawing, words, x, y, colour);
    }
    g_free (words);
  }
  g_free (points);
}

/* ---------------------------------------------------------------- objects */

/* A matrix can take an object beyond what numbers can say. */
static gboolean
is_somewhere (const Object * object)
{
  return isfinite (object->x0) && isfinite (object->y0) && isfinite (object->x1) && isfinite (object->y1)
      && isfinite (object->x) && isfinite (object->y);
}

static void
collect_blobs (GstCclDrawing * drawing, const GstCclBlobMeta * meta)
{
  const guint n = gst_ccl_blob_meta_get_length (meta);

  for (guint i = 0; i < n; i++) {
    const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, i);
    Object object = {.label = blob->label,.flags = blob->flags,.track_id = blob->track_id,.index = i,
      .has_trail = blob->n_trail > 0
    };

    gst_ccl_blob_meta_get_box (meta, i, &object.x0, &object.y0, &object.x1, &object.y1);
    object.x1 += object.x0;
    object.y1 += object.y0;
    gst_ccl_blob_meta_get_centroid (meta, i, &object.x, &object.y);
    object.x += 0.5;
    object.y += 0.5;
    gst_ccl_blob_meta_get_covariance (meta, i, &object.xx, &object.xy, &object.yy);
    object.area = gst_ccl_blob_meta_get_area (meta, i);
    if (is_somewhere (&object))
      g_array_append_val (drawing->objects, object);
  }
}

/* Also those of elements that know nothing of ours, with the identities that ccltrack or others gave them. */
static void
collect_regions (GstCclDrawing * drawing, GstBuffer * buffer)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  while ((roi = (GstVideoRegionOfInterestMeta *) gst_buffer_iterate_meta_filtered (buffer, &state,
              GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const GstStructure *const id = gst_video_region_of_interest_meta_get_param (roi, "object_id");
    Object object = {.x0 = roi->x,.y0 = roi->y,.x1 = (gdouble) roi->x + roi->w,.y1 = (gdouble) roi->y + roi->h };
    gint track_id = 0;

    if (id)
      gst_structure_get_int (id, "id", &track_id);
    object.track_id = MAX (track_id, 0);
    object.label = drawing->objects->len + 1;
    object.x = (object.x0 + object.x1) / 2;
    object.y = (object.y0 + object.y1) / 2;
    object.area = (gdouble) roi->w * roi->h;
    object.name = g_quark_to_string (roi->roi_type);
    g_array_append_val (drawing->objects, object);
  }
}

/* Oldest track first: its text has the first choice of a place, in every frame. */
static gint
compare_objects (gconstpointer a, gconstpointer b)
{
  const Object *const p = a, *const q = b;
  const guint64 m = p->track_id ? p->track_id : G_MAXUINT64, n = q->track_id ? q->track_id : G_MAXUINT64;

  return m != n ? (m < n ? -1 : 1) : p->label < q->label ? -1 : p->label > q->label;
}

/* By several tracks; each of them may have a predicted one of its own besides. */
static gboolean
is_shared (const Object * object)
{
  return (object->flags & GST_CCL_BLOB_FLAG_MERGED) && !(object->flags & GST_CCL_BLOB_FLAG_PREDICTED);
}

static gdouble
strength (const Object * object)
{
  return object->flags & GST_CCL_BLOB_FLAG_TENTATIVE ? 0.5 : object->flags & GST_CCL_BLOB_FLAG_LOST ? 0.4 : 1;
}

static void
draw_object (GstCclDrawing * drawing, const Object * object)
{
  const guint draw = drawing->style->draw;
  const Colour colour = colour_of_object (drawing, object);
  const gdouble alpha = strength (object);

  if (draw & GST_CCL_DRAW_BOX) {
    draw_box (drawing, object, colour, alpha);
    if (is_shared (object))
      draw_merged (drawing, object, colour, alpha);
  }
  if (draw & GST_CCL_DRAW_CONTOUR)
    draw_contour (drawing, object, colour, alpha);
  if (draw & GST_CCL_DRAW_ELLIPSE)
    draw_ellipse (drawing, object, colour, alpha);
  if (draw & GST_CCL_DRAW_CENTROID)
    draw_dot (drawing, object->x, object->y, colour, alpha);
}

/* As much of the name as is text and has room, and a space behind it. */
static void
put_name (gchar * words, const gchar * name)
{
  const gchar *valid_end;

  g_snprintf (words, 39, "%s", name);
  g_utf8_validate (words, -1, &valid_end);
  strcpy (words + (valid_end - words), " ");
}

static void
draw_words (GstCclDrawing * drawing, const Object * object)
{
  const guint draw = drawing->style->draw;
  gchar words[96] = "", *end = words;

  if (draw & GST_CCL_DRAW_ID) {
    const gboolean merged = is_shared (object);

    if (object->name)
      put_name (words, object->name);
    end = words + strlen (words);
    if (object->track_id != 0 && !(object->flags & GST_CCL_BLOB_FLAG_TENTATIVE))
      end += g_snprintf (end, 32, "#%" G_GUINT64_FORMAT "%s", object->track_id, merged ? "+" : "");
    else if (merged)
      end += g_snprintf (end, 32, "merged");
    else if (object->track_id == 0 && !object->name)
      end += g_snprintf (end, 32, "%u", object->label);
  }
  if (draw & GST_CCL_DRAW_AREA && object->area > 0)
    g_snprintf (end, 24, "%s%.0f px", end > words ? "  " : "", object->area);
  g_strstrip (words);
  if (words[0])
    place_text (drawing, object, words, colour_of_object (drawing, object));
}

/* A blob that several tracks share counts as those that are listed for it. */
static void
draw_count (GstCclDrawing * drawing, const Object * objects, guint n_objects)
{
  gchar words[32];
  GstVideoRectangle r;
  const Text *text;
  guint n = 0;

  for (guint i = 0; i < n_objects; i++)
    n += !is_shared (&objects[i]) || objects[i].track_id != 0;
  g_snprintf (words, sizeof words, n == 1 ? "%u object" : "%u objects", n);
  text = get_text (drawing, words);
  r = plate_of (drawing, text);
  r.x = r.y = drawing->line + drawing->edge;
  if (take_room (drawing, &r))
    draw_text (drawing, text, &r, plain);
}

static void
draw_everything (GstCclDrawing * drawing, const GstCclZoneMeta * zones)
{
  const guint draw = drawing->style->draw;
  const Object *const objects = (const Object *) drawing->objects->data;
  const guint n = drawing->objects->len;

  if (draw & GST_CCL_DRAW_COUNT)
    draw_count (drawing, objects, n);
  for (guint i = 0; draw & GST_CCL_DRAW_ZONE && zones && i < zones->n_zones; i++)
    draw_zone (drawing, &zones->zones[i], i);
  for (guint i = 0; draw & GST_CCL_DRAW_TRAIL && i < n; i++)
    if (objects[i].track_id != 0)
      draw_trail (drawing, &objects[i], colour_of_object (drawing, &objects[i]));
  for (guint i = 0; i < n; i++)
    draw_object (drawing, &objects[i]);
  for (guint i = 0; i < n; i++)
    draw_words (drawing, &objects[i]);
}

guint
gst_ccl_drawing_draw (GstCclDrawing * drawing, GstCclCanvas * canvas, const GstCclDrawingStyle * style,
    GstBuffer * metas, gboolean is_new)
{
  const GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (metas);

  drawing->blobs = meta;
  drawing->canvas = canvas;
  drawing->cr = gst_ccl_canvas_get_cairo (canvas);
  cairo_set_miter_limit (drawing->cr, MITER);
  drawing->style = style;
  drawing->width = gst_ccl_canvas_get_width (canvas);
  drawing->height = gst_ccl_canvas_get_height (canvas);
  drawing->frame += is_new;
  set_scale (drawing);
  clear_map (drawing);

  g_array_set_size (drawing->objects, 0);
  if (meta)
    collect_blobs (drawing, meta);
  else
    collect_regions (drawing, metas);
  g_array_sort (drawing->objects, compare_objects);

  assign_colours (drawing);
  if (style->trail_length == 0)
    g_hash_table_remove_all (drawing->trails);
  for (guint i = 0; is_new && style->trail_length > 0 && i < drawing->objects->len; i++) {
    const Object *const object = &g_array_index (drawing->objects, Object, i);
    if (object->track_id != 0 && !object->has_trail)
      extend_trail (drawing, object);
  }
  g_hash_table_foreach_remove (drawing->trails, is_forgotten, drawing);

  draw_everything (drawing, gst_buffer_get_ccl_zone_meta (metas));
  if (g_hash_table_size (drawing->texts) > MAX_TEXTS)
    g_hash_table_foreach_remove (drawing->texts, is_unused, drawing);
  return drawing->objects->len;
}
