/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccldrawing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/gstcclmetas.h"
#include "base/gstcclvector.h"
#include "gstcclshapes.h"
#include "gstccltexts.h"
#include "gstccltrails.h"
#include "gstcclzonedrawing.h"

static const GstCclColour white = { 1, 1, 1, 1 };

/* An object to draw: a blob, or a region of interest of another element. Coordinates are in the plane of pixel squares. */
typedef struct
{
  gdouble x0, y0, x1, y1;
  gdouble x, y;                 /* centroid */
  gdouble xx, xy, yy;           /* covariance; 0: unknown */
  gdouble area;
  guint64 track_id;
  guint label;
  guint32 flags;
  const gchar *name;            /* type of a region; NULL for a blob */
  guint index;                  /* of a blob in its list */
  gboolean has_trail;           /* its tracker provides a trail */
} Object;

struct _GstCclDrawing
{
  GstCclPalette *palette;
  GstCclTrails *trails;
  GstCclTexts *texts;
  GstCclVector objects;         /* of Object: this frame's */
  GstCclVector track_ids;       /* of guint64: the tracks of these objects */
  guint64 frame;

  /* Of the frame that is drawn. */
  const GstCclBlobMeta *blobs;  /* NULL: the objects are regions */
  const GstCclDrawingStyle *style;
  GstCclPen pen;
};

GstCclDrawing *
gst_ccl_drawing_new (void)
{
  GstCclDrawing *drawing = g_new0 (GstCclDrawing, 1);

  drawing->palette = gst_ccl_palette_new ();
  drawing->trails = gst_ccl_trails_new ();
  drawing->texts = gst_ccl_texts_new ();
  drawing->objects.element_size = sizeof (Object);
  drawing->track_ids.element_size = sizeof (guint64);
  gst_ccl_drawing_set_font (drawing, GST_CCL_DRAWING_FONT);
  return drawing;
}

void
gst_ccl_drawing_free (GstCclDrawing * drawing)
{
  gst_ccl_palette_free (drawing->palette);
  gst_ccl_trails_free (drawing->trails);
  gst_ccl_texts_free (drawing->texts);
  gst_ccl_vector_clear (&drawing->objects);
  gst_ccl_vector_clear (&drawing->track_ids);
  g_free (drawing);
}

void
gst_ccl_drawing_set_font (GstCclDrawing * drawing, const gchar * description)
{
  gst_ccl_texts_set_font (drawing->texts, description);
}

void
gst_ccl_drawing_reset (GstCclDrawing * drawing)
{
  gst_ccl_trails_reset (drawing->trails);
  gst_ccl_palette_reset (drawing->palette);
}

/* ---------------------------------------------------------------- objects of a frame */

/* A matrix can map an object to infinity. */
static gboolean
is_somewhere (const Object * object)
{
  return isfinite (object->x0) && isfinite (object->y0) && isfinite (object->x1) && isfinite (object->y1)
      && isfinite (object->x) && isfinite (object->y);
}

static gboolean
collect_blobs (GstCclDrawing * drawing, const GstCclBlobMeta * meta)
{
  const guint n = gst_ccl_blob_meta_get_length (meta);

  for (guint i = 0; i < n; i++) {
    const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, i);
    const GstCclBlobPlace place = gst_ccl_blob_get_place (meta, i);
    Object object = {.label = blob->label,.flags = blob->flags,.track_id = blob->track_id,.index = i,
      .has_trail = blob->n_trail > 0,
      .x = place.x,.y = place.y,.x0 = place.x0,.y0 = place.y0,.x1 = place.x1,.y1 = place.y1
    };

    gst_ccl_blob_meta_get_covariance (meta, i, &object.xx, &object.xy, &object.yy);
    object.area = gst_ccl_blob_meta_get_area (meta, i);
    if (is_somewhere (&object) && !gst_ccl_vector_append (&drawing->objects, &object, 1))
      return FALSE;
  }
  return TRUE;
}

/* Regions of other elements too, with the identities that ccltrack or another tracker gave them. */
static gboolean
collect_regions (GstCclDrawing * drawing, GstBuffer * buffer)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  while ((roi = gst_ccl_next_roi (buffer, &state))) {
    Object object = {.x0 = roi->x,.y0 = roi->y,.x1 = (gdouble) roi->x + roi->w,.y1 = (gdouble) roi->y + roi->h };

    object.track_id = gst_ccl_roi_get_track_id (roi);
    object.label = drawing->objects.len + 1;
    object.x = (object.x0 + object.x1) / 2;
    object.y = (object.y0 + object.y1) / 2;
    object.area = (gdouble) roi->w * roi->h;
    object.name = g_quark_to_string (roi->roi_type);
    if (!gst_ccl_vector_append (&drawing->objects, &object, 1))
      return FALSE;
  }
  return TRUE;
}

/* The oldest track comes first, so that its text gets the first free place in every frame. */
static int
compare_objects (gconstpointer a, gconstpointer b)
{
  const Object *const p = a, *const q = b;
  const guint64 m = p->track_id ? p->track_id : G_MAXUINT64, n = q->track_id ? q->track_id : G_MAXUINT64;

  return m != n ? (m < n ? -1 : 1) : p->label < q->label ? -1 : p->label > q->label;
}

/* FALSE: no memory. qsort(), because GLib's functions end the program without memory. */
static gboolean
collect_objects (GstCclDrawing * drawing, GstBuffer * metas)
{
  GstCclVector *const objects = &drawing->objects, *const ids = &drawing->track_ids;

  objects->len = ids->len = 0;
  if (!(drawing->blobs ? collect_blobs (drawing, drawing->blobs) : collect_regions (drawing, metas))
      || !gst_ccl_vector_set_size (ids, objects->len))
    return FALSE;
  if (objects->len > 0)
    qsort (objects->data, objects->len, sizeof (Object), compare_objects);
  for (guint i = 0; i < objects->len; i++)
    *gst_ccl_vector_at (ids, guint64, i) = gst_ccl_vector_at (objects, Object, i)->track_id;
  return TRUE;
}

static void
update_trails (GstCclDrawing * drawing, gboolean is_new)
{
  const guint length = drawing->style->trail_length;

  if (length == 0)
    gst_ccl_trails_reset (drawing->trails);
  for (guint i = 0; is_new && length > 0 && i < drawing->objects.len; i++) {
    const Object *const object = gst_ccl_vector_at (&drawing->objects, Object, i);
    const GstCclPoint place = { object->x / drawing->pen.width, object->y / drawing->pen.height };

    if (object->track_id != 0 && !object->has_trail)
      gst_ccl_trails_add (drawing->trails, object->track_id, place, length, drawing->frame);
  }
  gst_ccl_trails_forget_unseen (drawing->trails, drawing->frame);
}

/* ---------------------------------------------------------------- one object */

/* Whether the blob belongs to several tracks. Each of these may have a predicted blob too. */
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

static GstCclColour
colour_of_object (const GstCclDrawing * drawing, const Object * object)
{
  if (drawing->style->color_by == GST_CCL_COLOR_BY_FIXED)
    return gst_ccl_colour_of_argb (drawing->style->colour);
  if (drawing->style->color_by == GST_CCL_COLOR_BY_LABEL)
    return gst_ccl_colour_of_number (object->label);
  if (object->track_id != 0)
    return gst_ccl_palette_colour_of_track (drawing->palette, object->track_id);
  /* Without an id, it belongs to no track or to several. */
  return object->flags & GST_CCL_BLOB_FLAG_MERGED ? white : gst_ccl_colour_of_number (object->label);
}

/* The box is dashed if it is predicted. It has a second, outer box if several tracks share it. */
static void
draw_boxes (GstCclDrawing * drawing, const Object * object, GstCclColour colour, gdouble alpha)
{
  const gboolean dashed = (object->flags & GST_CCL_BLOB_FLAG_PREDICTED) != 0;
  const gdouble away = 2 * drawing->pen.line + drawing->pen.edge;
  const GstCclBox box = { object->x0, object->y0, object->x1, object->y1 };
  const GstCclBox outer = { box.x0 - away, box.y0 - away, box.x1 + away, box.y1 + away };

  gst_ccl_pen_draw_box (&drawing->pen, &box, dashed, colour, alpha);
  if (is_shared (object))
    gst_ccl_pen_draw_box (&drawing->pen, &outer, dashed, colour, alpha);
}

static void
draw_contour (GstCclDrawing * drawing, const Object * object, GstCclColour colour, gdouble alpha)
{
  guint n_values = 0;
  gdouble *const points =
      drawing->blobs ? gst_ccl_blob_meta_get_contour (drawing->blobs, object->index, &n_values) : NULL;

  if (!points)
    return;
  for (guint i = 0; i < n_values; i++)
    points[i] = gst_ccl_pen_clamp (points[i]);
  gst_ccl_pen_draw_polygon (&drawing->pen, points, n_values / 2, colour, alpha);
  g_free (points);
}

static void
draw_shapes (GstCclDrawing * drawing, const Object * object, GstCclColour colour, gdouble alpha)
{
  const guint draw = drawing->style->draw;

  if (!drawing->blobs)
    return;
  if (draw & GST_CCL_DRAW_HULL)
    gst_ccl_draw_hull (&drawing->pen, drawing->blobs, object->index, colour, alpha);
  if (draw & GST_CCL_DRAW_RECTANGLE)
    gst_ccl_draw_rectangle (&drawing->pen, drawing->blobs, object->index, colour, alpha);
  if (draw & GST_CCL_DRAW_HOLE)
    gst_ccl_draw_holes (&drawing->pen, drawing->blobs, object->index, colour, alpha);
}

static void
draw_object (GstCclDrawing * drawing, const Object * object)
{
  const guint draw = drawing->style->draw;
  const GstCclColour colour = colour_of_object (drawing, object);
  const gdouble alpha = strength (object);

  if (draw & GST_CCL_DRAW_BOX)
    draw_boxes (drawing, object, colour, alpha);
  if (draw & GST_CCL_DRAW_CONTOUR)
    draw_contour (drawing, object, colour, alpha);
  draw_shapes (drawing, object, colour, alpha);
  if (draw & GST_CCL_DRAW_ELLIPSE) {
    const GstCclEllipse ellipse = { object->x, object->y, object->xx, object->xy, object->yy };

    gst_ccl_pen_draw_ellipse (&drawing->pen, &ellipse, colour, alpha);
  }
  if (draw & GST_CCL_DRAW_CENTROID)
    gst_ccl_pen_draw_dot (&drawing->pen, object->x, object->y, colour, alpha);
}

/* Positions from its tracker or, without these, positions seen by this element. */
static void
draw_trail (GstCclDrawing * drawing, const Object * object)
{
  GstCclPen *const pen = &drawing->pen;
  const GstCclColour colour = colour_of_object (drawing, object);
  guint n_values = 0, n;
  gdouble *points = drawing->blobs ? gst_ccl_blob_meta_get_trail (drawing->blobs, object->index, &n_values) : NULL;

  if (points) {
    n = MIN (n_values / 2, drawing->style->trail_length);
    gst_ccl_trail_draw (pen, points + (n_values - 2 * n), n, colour);
  } else if ((points = gst_ccl_trails_get (drawing->trails, object->track_id, pen->width, pen->height, &n))) {
    gst_ccl_trail_draw (pen, points, n, colour);
  }
  g_free (points);
}

/* The start of the name that is valid UTF-8 and fits, and a space. */
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
  const GstCclBox box = { object->x0, object->y0, object->x1, object->y1 };
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
    gst_ccl_texts_draw_beside (drawing->texts, &drawing->pen, words, &box, colour_of_object (drawing, object));
}

/* ---------------------------------------------------------------- a frame */

/* A blob that several tracks share counts as those tracks, which are listed for it. */
static void
draw_count (GstCclDrawing * drawing, const Object * objects, guint n_objects)
{
  gchar words[32];
  guint n = 0;

  for (guint i = 0; i < n_objects; i++)
    n += !is_shared (&objects[i]) || objects[i].track_id != 0;
  g_snprintf (words, sizeof words, n == 1 ? "%u object" : "%u objects", n);
  gst_ccl_texts_draw_in_corner (drawing->texts, &drawing->pen, words, white);
}

static void
draw_frame (GstCclDrawing * drawing, const GstCclZoneMeta * zones)
{
  const guint draw = drawing->style->draw;
  const Object *const objects = drawing->objects.data;
  const guint n = drawing->objects.len;

  if (draw & GST_CCL_DRAW_COUNT)
    draw_count (drawing, objects, n);
  for (guint i = 0; draw & GST_CCL_DRAW_ZONE && zones && i < zones->n_zones; i++)
    gst_ccl_zone_draw (&drawing->pen, drawing->texts, &zones->zones[i], i);
  for (guint i = 0; draw & GST_CCL_DRAW_TRAIL && i < n; i++)
    if (objects[i].track_id != 0)
      draw_trail (drawing, &objects[i]);
  for (guint i = 0; i < n; i++)
    draw_object (drawing, &objects[i]);
  for (guint i = 0; i < n; i++)
    draw_words (drawing, &objects[i]);
}

gboolean
gst_ccl_drawing_draw (GstCclDrawing * drawing, GstCclCanvas * canvas, const GstCclDrawingStyle * style,
    GstBuffer * metas, gboolean is_new, guint * n_objects)
{
  drawing->blobs = gst_buffer_get_ccl_blob_meta (metas);
  drawing->style = style;
  drawing->pen = gst_ccl_pen_new (canvas, style->line_width);
  drawing->frame += is_new;
  if (!collect_objects (drawing, metas))
    return FALSE;
  gst_ccl_texts_begin (drawing->texts, &drawing->pen, drawing->frame);
  gst_ccl_palette_assign (drawing->palette, drawing->track_ids.data, drawing->track_ids.len, drawing->frame);
  update_trails (drawing, is_new);
  draw_frame (drawing, gst_buffer_get_ccl_zone_meta (metas));
  gst_ccl_texts_end (drawing->texts);
  *n_objects = drawing->objects.len;
  return TRUE;
}
