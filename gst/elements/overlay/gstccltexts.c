/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltexts.h"

#include <string.h>

#include <pango/pangocairo.h>

/* Maximum number of texts that are kept as pictures while they are not drawn, and of their bytes. A count that changes in every
 * frame is a new text each time. */
#define MAX_TEXTS 1024
#define MAX_BYTES (16 << 20)

/* A text as a mask to paint through. */
typedef struct
{
  cairo_surface_t *mask;
  gint width, height;
  guint64 used;                 /* number of the frame */
} Text;

struct _GstCclTexts
{
  PangoFontMap *font_map;
  PangoContext *context;
  PangoFontDescription *font;
  gboolean scale_font;
  gint font_size;               /* Pango units that the texts were made with */
  GHashTable *by_words;         /* gchar* -> Text */
  gsize n_bytes;                /* of their masks */

  /* Of the frame that is drawn. */
  guint64 frame;
  guint width, height;
  gdouble cell;                 /* side of a cell of the map: half a line of text */
  guint columns, rows;
  guint8 *map;                  /* cells: 1 where a text is */
};

static void
text_free (gpointer data)
{
  Text *const text = data;

  cairo_surface_destroy (text->mask);
  g_free (text);
}

GstCclTexts *
gst_ccl_texts_new (void)
{
  GstCclTexts *const texts = g_new0 (GstCclTexts, 1);

  /* A font map must be used in one thread at a time, so the default one cannot be used. */
  texts->font_map = pango_cairo_font_map_new ();
  texts->context = pango_font_map_create_context (texts->font_map);
  texts->by_words = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, text_free);
  return texts;
}

void
gst_ccl_texts_free (GstCclTexts * texts)
{
  g_hash_table_unref (texts->by_words);
  g_clear_pointer (&texts->font, pango_font_description_free);
  g_object_unref (texts->context);
  g_object_unref (texts->font_map);
  g_free (texts->map);
  g_free (texts);
}

/* ---------------------------------------------------------------- pictures of texts */

static Text *
text_new (GstCclTexts * texts, const gchar * words)
{
  PangoLayout *layout = pango_layout_new (texts->context);
  Text *text = g_new0 (Text, 1);
  cairo_t *cr;

  pango_layout_set_font_description (layout, texts->font);
  pango_layout_set_text (layout, words, -1);
  pango_layout_get_pixel_size (layout, &text->width, &text->height);
  text->width = CLAMP (text->width, 1, 8192);
  text->height = CLAMP (text->height, 1, 2048);
  text->mask = cairo_image_surface_create (CAIRO_FORMAT_A8, text->width, text->height);
  /* Without memory the text is not drawn: a surface in an error state would end all drawing with this pen. */
  if (cairo_surface_status (text->mask) != CAIRO_STATUS_SUCCESS) {
    g_clear_pointer (&text->mask, cairo_surface_destroy);
    g_object_unref (layout);
    return text;
  }
  cr = cairo_create (text->mask);
  pango_cairo_show_layout (cr, layout);
  cairo_destroy (cr);
  g_object_unref (layout);
  return text;
}

static gsize
get_bytes (const Text * text)
{
  return text->mask ? (gsize) cairo_image_surface_get_stride (text->mask) * text->height : 0;
}

static Text *
get_text (GstCclTexts * texts, const gchar * words)
{
  Text *text = g_hash_table_lookup (texts->by_words, words);

  if (!text) {
    text = text_new (texts, words);
    g_hash_table_insert (texts->by_words, g_strdup (words), text);
    texts->n_bytes += get_bytes (text);
  }
  text->used = texts->frame;
  return text;
}

/* Says whether the text is to be removed: it was not drawn in this frame. */
static gboolean
release_unused (gpointer words, gpointer value, gpointer data)
{
  const Text *const text = value;
  GstCclTexts *const texts = data;

  if (text->used == texts->frame)
    return FALSE;
  texts->n_bytes -= get_bytes (text);
  return TRUE;
}

static void
forget_all (GstCclTexts * texts)
{
  g_hash_table_remove_all (texts->by_words);
  texts->n_bytes = 0;
}

/* ---------------------------------------------------------------- frames */

void
gst_ccl_texts_set_font (GstCclTexts * texts, const gchar * description)
{
  g_clear_pointer (&texts->font, pango_font_description_free);
  texts->font = pango_font_description_from_string (description);
  texts->scale_font = pango_font_description_get_size (texts->font) == 0;
  forget_all (texts);
  texts->font_size = 0;
}

/* The size of letters is a fixed fraction of the canvas, with a minimum so that they can be read. */
static void
scale_font (GstCclTexts * texts, gdouble side)
{
  const gint size = texts->scale_font ? (gint) (MAX (10, side / 38) * PANGO_SCALE) : -1;

  if (texts->font_size == size)
    return;
  texts->font_size = size;
  if (size > 0)
    pango_font_description_set_absolute_size (texts->font, size);
  forget_all (texts);
}

void
gst_ccl_texts_begin (GstCclTexts * texts, const GstCclPen * pen, guint64 frame)
{
  texts->frame = frame;
  texts->width = pen->width;
  texts->height = pen->height;
  scale_font (texts, MIN (pen->width, pen->height));
  texts->cell = MAX (get_text (texts, "0")->height / 2.0, 2);
  texts->columns = texts->width / texts->cell + 1;
  texts->rows = texts->height / texts->cell + 1;
  g_free (texts->map);
  texts->map = g_try_malloc0 ((gsize) texts->columns * texts->rows);    /* without it no text is drawn */
}

void
gst_ccl_texts_end (GstCclTexts * texts)
{
  if (g_hash_table_size (texts->by_words) > MAX_TEXTS || texts->n_bytes > MAX_BYTES)
    g_hash_table_foreach_remove (texts->by_words, release_unused, texts);
}

guint
gst_ccl_texts_n_kept (const GstCclTexts * texts, gsize * n_bytes)
{
  *n_bytes = texts->n_bytes;
  return g_hash_table_size (texts->by_words);
}

/* ---------------------------------------------------------------- places */

/* Takes the cells of a background. FALSE: it is partly outside the canvas, or a cell is taken. */
static gboolean
reserve_cells (GstCclTexts * texts, const GstVideoRectangle * r)
{
  guint left, right, top, bottom;

  if (r->x < 0 || r->y < 0 || r->x + r->w > (gint) texts->width || r->y + r->h > (gint) texts->height)
    return FALSE;
  left = r->x / texts->cell;
  top = r->y / texts->cell;
  right = MIN ((guint) ((r->x + r->w - 1) / texts->cell), texts->columns - 1);
  bottom = MIN ((guint) ((r->y + r->h - 1) / texts->cell), texts->rows - 1);
  for (guint row = top; row <= bottom; row++)
    if (memchr (texts->map + row * texts->columns + left, 1, right - left + 1))
      return FALSE;
  for (guint row = top; row <= bottom; row++)
    memset (texts->map + row * texts->columns + left, 1, right - left + 1);
  return TRUE;
}

/* The text is paler than the object's colour, so that it can be read on the dark background. */
static void
draw_text (GstCclPen * pen, const Text * text, const GstVideoRectangle * r, GstCclColour colour)
{
  const gint pad_x = (r->w - text->width) / 2, pad_y = (r->h - text->height) / 2;       /* whole pixels keep letters sharp */

  gst_ccl_canvas_touch (pen->canvas, r->x, r->y, r->x + r->w, r->y + r->h);
  gst_ccl_pen_use_dark (pen, 1);
  cairo_rectangle (pen->cr, r->x, r->y, r->w, r->h);
  cairo_fill (pen->cr);
  cairo_set_source_rgb (pen->cr, (1 + 2 * colour.red) / 3, (1 + 2 * colour.green) / 3, (1 + 2 * colour.blue) / 3);
  cairo_mask_surface (pen->cr, text->mask, r->x + pad_x, r->y + pad_y);
}

static gboolean
try_place (GstCclTexts * texts, GstCclPen * pen, const Text * text, const GstVideoRectangle * r, GstCclColour colour)
{
  if (!text->mask || !texts->map || !reserve_cells (texts, r))
    return FALSE;
  draw_text (pen, text, r, colour);
  return TRUE;
}

static GstVideoRectangle
background_of (const GstCclPen * pen, const Text * text)
{
  return (GstVideoRectangle) {
  .w = text->width + 2 * (gint) (pen->line + pen->edge),.h = text->height};
}

gboolean
gst_ccl_texts_draw_beside (GstCclTexts * texts, GstCclPen * pen, const gchar * words, const GstCclBox * box,
    GstCclColour colour)
{
  const Text *const text = get_text (texts, words);
  GstVideoRectangle r = background_of (pen, text);
  const gint gap = pen->line + 2 * pen->edge;
  const gint x0 = (gint) gst_ccl_pen_clamp (box->x0) - gap, x1 = (gint) gst_ccl_pen_clamp (box->x1) + gap;
  const gint y0 = (gint) gst_ccl_pen_clamp (box->y0) - gap, y1 = (gint) gst_ccl_pen_clamp (box->y1) + gap;
  const gint max_x = (gint) texts->width - r.w, near_x = CLAMP (x0, 0, MAX (max_x, 0));
  const gint places[][2] = {
    {near_x, y0 - r.h}, {x1 - r.w, y0 - r.h}, {near_x, y1}, {x1 - r.w, y1},
    {x0 + gap, y0 + gap}, {x1, y0}, {x0 - r.w, y0}, {x1, y1 - r.h}, {x0 - r.w, y1 - r.h},
    {near_x, y0 - 2 * r.h}, {near_x, y1 + r.h},
  };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    r.x = places[i][0];
    r.y = places[i][1];
    if (try_place (texts, pen, text, &r, colour))
      return TRUE;
  }
  return FALSE;
}

gboolean
gst_ccl_texts_draw_at (GstCclTexts * texts, GstCclPen * pen, const gchar * words, const gdouble * point,
    GstCclColour colour)
{
  const Text *const text = get_text (texts, words);
  GstVideoRectangle r = background_of (pen, text);
  const gint max_x = (gint) texts->width - r.w, max_y = (gint) texts->height - r.h;
  const gint x = (gint) gst_ccl_pen_clamp (point[0]) - r.w / 2, y = (gint) gst_ccl_pen_clamp (point[1]) - r.h / 2;

  r.x = CLAMP (x, 0, MAX (max_x, 0));
  for (gint i = 0; i < 7; i++) {        /* there, above, below, ... */
    r.y = CLAMP (y + (i & 1 ? -1 : 1) * (i + 1) / 2 * r.h, 0, MAX (max_y, 0));
    if (try_place (texts, pen, text, &r, colour))
      return TRUE;
  }
  return FALSE;
}

gboolean
gst_ccl_texts_draw_in_corner (GstCclTexts * texts, GstCclPen * pen, const gchar * words, GstCclColour colour)
{
  const Text *const text = get_text (texts, words);
  GstVideoRectangle r = background_of (pen, text);

  r.x = r.y = pen->line + pen->edge;
  return try_place (texts, pen, text, &r, colour);
}
