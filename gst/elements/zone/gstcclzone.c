/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclzone
 * @title: cclzone
 * @short_description: says which blobs are in which zones, who enters, leaves, stays and crosses
 *
 * Compares the blobs of each frame with polygons and lines that the user names (JSON text in #cclzone:zones, or a file
 * in #cclzone:config; docs/zones.md describes it). Pictures are not touched: any format in any memory passes.
 *
 * - each #GstCclBlob gets the zones it is in, and each buffer a #GstCclZoneMeta with the zones and their counts;
 *   cclmeta2json writes both
 * - objects with a track (put ccltrack upstream) post element messages named "ccl-zone" when they enter or leave a
 *   polygon, stay in one for its dwell time, or cross a line
 *
 * The fields of a message: event (enter, leave, dwell, cross), zone (its name), track-id, inside (objects in the
 * polygon now), x and y (pixels of the frame), duration (leave and dwell: how long it has been inside, ns), direction
 * (cross: forward or backward), timestamp, running-time and stream-time (ns).
 *
 * ## People who cross a line
 * |[
 * gst-launch-1.0 -m filesrc location=video.avi ! decodebin ! videoconvert ! cclmotion ! ccllabel mask-source=mask-meta
 *     min-area=200 ! ccltrack !
 *     cclzone zones='{"units":"relative","zones":[{"name":"gate","line":[[0.5,0],[0.5,1]]}]}' ! fakesink
 * ]|
 */

#include "gstcclzone.h"

#include <string.h>

#include <gst/video/video.h>
#include <gst/ccl/ccl.h>

#include "base/gstcclenums.h"
#include "base/gstcclpropertyrow.h"
#include "base/gstcclhint.h"
#include "base/gstcclminavgmax.h"
#include "base/gstccltime.h"
#include "gstcclzones.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_zone_debug);
#define GST_CAT_DEFAULT gst_ccl_zone_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-raw(ANY)"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-raw(ANY)"));

/* What is remembered of a track. */
typedef struct
{
  guint64 id;
  gdouble x, y;                 /* where it was, fractions of the frame */
  gdouble area;                 /* as last measured, pixels of the frame */
  GstClockTime last_seen;
  guint32 inside;               /* one bit per zone */
  guint32 dwelt;                /* its dwell event was posted */
  GstClockTime entered[GST_CCL_ZONES_MAX];
} Object;

/* A blob as the zones see it. */
typedef struct
{
  gdouble x, y;                 /* evaluation point, fractions of the frame */
  gdouble area;                 /* pixels of the frame; 0: not measured */
} Sighting;

/* What a message says beside the zone and the object. */
typedef struct
{
  const gchar *name;
  const gchar *direction;       /* NULL: none */
  GstClockTime duration;        /* GST_CLOCK_TIME_NONE: none */
} Event;

struct _GstCclzone
{
  GstBaseTransform parent;

  /* Under the object lock. */
  gchar *zones_text;
  gchar *config;
  gboolean running;             /* since these two were read at the start */
  GstCclZoneSet *next_set;      /* for the next frame; NULL: as before */
  gint evaluation_point;
  gboolean post_messages;
  GstClockTime linger;
  guint64 n_frames, n_events;
  GstCclMinAvgMax host;
  guint n_zones;                /* of zones */
  GstCclZone zones[GST_CCL_ZONES_MAX];  /* points in fractions of the frame; written by the streaming thread only */

  /* Streaming thread. */
  GstCclZoneSet *set;           /* NULL: none */
  guint width, height;
  gboolean is_placed;           /* the zones were compared with the frame */
  guint n_without_zones, n_without_blobs, n_without_tracks;     /* see gstcclhint.h */
  gboolean warned_of_number;    /* with those of elements before it there are too many zones */
  guint n_before;               /* zones that the frame has from elements before */
  gboolean tracked;             /* a blob with a track was seen */
  GHashTable *objects;          /* guint64 id -> Object */
  GstClockTime frame_duration;  /* of the caps, or a guess */
  GstClockTime now;             /* of the frame, running time; made up where frames have none */
  GstBuffer *buffer;            /* the frame */
};

enum
{
  PROP_0,
  PROP_ZONES,
  PROP_CONFIG,
  PROP_EVALUATION_POINT,
  PROP_POST_MESSAGES,
  PROP_LINGER,
  PROP_STATS,
  N_PROPERTIES,
};

enum
{
  SIGNAL_RELOAD,
  N_SIGNALS,
};

static GParamSpec *properties[N_PROPERTIES];
static guint signals[N_SIGNALS];

#define DEFAULT_LINGER GST_SECOND

#define gst_cclzone_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstCclzone, gst_cclzone, GST_TYPE_BASE_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_zone_debug, "cclzone", 0, "zones, lines and who is there"));
GST_ELEMENT_REGISTER_DEFINE (cclzone, "cclzone", GST_RANK_NONE, GST_TYPE_CCLZONE);

/* ---------------------------------------------------------------- zones */

static GstCclZoneSet *
set_of_text (const gchar * text, GError ** error)
{
  return gst_ccl_zone_set_new (text && *text ? text : "{\"zones\":[]}", error);
}

/* That of a start gives way to one that was set while it was read. */
static void
take_set (GstCclzone * self, GstCclZoneSet * set, gboolean is_start)
{
  GstCclZoneSet *other = set;

  GST_OBJECT_LOCK (self);
  if (!is_start || !self->next_set) {
    other = self->next_set;
    self->next_set = set;
  }
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&other, gst_ccl_zone_set_free);
}

/* Takes the set, or the error. While running a mistake is only warned of: the zones stay as they are. Before, nothing is
 * said of it: the start reads everything again. */
static gboolean
change_set (GstCclzone * self, GstCclZoneSet * set, GError * error)
{
  gboolean running;

  if (set) {
    take_set (self, set, FALSE);
    return TRUE;
  }
  GST_OBJECT_LOCK (self);
  running = self->running;
  GST_OBJECT_UNLOCK (self);
  if (running)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("The new zones are not taken: %s", error->message), (NULL));
  g_error_free (error);
  return FALSE;
}

/* The set that the properties ask for, and no other. */
static GstCclZoneSet *
read_set (GstCclzone * self, GError ** error)
{
  GstCclZoneSet *set;
  gchar *text, *path;

  GST_OBJECT_LOCK (self);
  text = g_strdup (self->zones_text);
  path = g_strdup (self->config);
  g_clear_pointer (&self->next_set, gst_ccl_zone_set_free);
  self->running = TRUE;
  GST_OBJECT_UNLOCK (self);
  set = !text && path ? gst_ccl_zone_set_new_from_file (path, error) : set_of_text (text, error);
  g_free (path);
  g_free (text);
  return set;
}

/* The points of the zones in fractions of frames as they are now. Under the object lock. */
static void
place_zones (GstCclzone * self)
{
  for (guint i = 0; self->set && i < self->n_zones; i++) {
    const GstCclZoneRule *const rule = &self->set->rules[i];

    for (guint k = 0; k < 2 * rule->n_points; k++) {
      const guint size = k & 1 ? self->height : self->width;

      self->zones[i].points[k] = self->set->relative ? rule->points[k] : rule->points[k] / MAX (size, 1);
    }
  }
}

static void
clear_zones (GstCclZone * zones, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_free (zones[i].name);
    g_free (zones[i].points);
  }
}

/* The zone that was called so before; -1: none. */
static gint
find_zone (const GstCclZone * zones, guint n, const GstCclZoneRule * rule)
{
  for (guint i = 0; i < n; i++)
    if (zones[i].kind == rule->kind && strcmp (zones[i].name, rule->name) == 0)
      return (gint) i;
  return -1;
}

static void
renumber (Object * object, const gint * was, guint n)
{
  const Object before = *object;

  object->inside = object->dwelt = 0;
  for (guint i = 0; i < n; i++) {
    if (was[i] < 0)
      continue;
    object->inside |= (before.inside >> was[i] & 1) << i;
    object->dwelt |= (before.dwelt >> was[i] & 1) << i;
    object->entered[i] = before.entered[was[i]];
  }
}

/* A zone that keeps its name keeps what it has counted and who is in it. Under the object lock. */
static void
install_set (GstCclzone * self, GstCclZoneSet * set)
{
  GstCclZone zones[GST_CCL_ZONES_MAX];
  gint was[GST_CCL_ZONES_MAX];
  GHashTableIter iter;
  gpointer object;

  for (guint i = 0; i < set->n_rules; i++) {
    const GstCclZoneRule *const rule = &set->rules[i];

    was[i] = find_zone (self->zones, self->n_zones, rule);
    zones[i] = was[i] >= 0 ? self->zones[was[i]] : (GstCclZone) {.kind = rule->kind };
    zones[i].name = g_strdup (rule->name);
    zones[i].n_points = rule->n_points;
    zones[i].points = g_new0 (gdouble, 2 * rule->n_points);
  }
  g_hash_table_iter_init (&iter, self->objects);
  while (g_hash_table_iter_next (&iter, NULL, &object))
    renumber (object, was, set->n_rules);

  clear_zones (self->zones, self->n_zones);
  memcpy (self->zones, zones, set->n_rules * sizeof *zones);
  self->n_zones = set->n_rules;
  g_clear_pointer (&self->set, gst_ccl_zone_set_free);
  self->set = set;
  place_zones (self);
}

/* The box around a zone, fractions of the frame. */
static void
get_extent (const GstCclZone * zone, gdouble least[2], gdouble most[2])
{
  for (guint k = 0; k < 2; k++) {
    least[k] = G_MAXDOUBLE;
    most[k] = -G_MAXDOUBLE;
  }
  for (guint k = 0; k < 2 * zone->n_points; k++) {
    least[k & 1] = MIN (least[k & 1], zone->points[k]);
    most[k & 1] = MAX (most[k & 1], zone->points[k]);
  }
}

/* Zones that nothing in a frame of this size can ever be in. A line may lie on the frame's edge, and is not crossed. */
static void
warn_of_places (GstCclzone * self)
{
  const gdouble pixels = (gdouble) self->width * self->height;

  if (self->is_placed || !self->set || pixels == 0)
    return;
  self->is_placed = TRUE;
  for (guint i = 0; i < self->n_zones; i++) {
    const gboolean is_line = self->zones[i].kind == GST_CCL_ZONE_LINE;
    gdouble least[2], most[2];

    get_extent (&self->zones[i], least, most);
    if (most[0] <= 0 || most[1] <= 0 || least[0] >= 1 || least[1] >= 1)
      GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("The zone \"%s\" is not within frames of %ux%u pixels: "
              "nobody %s.", self->zones[i].name, self->width, self->height, is_line ? "crosses it" : "is ever in it"),
          ("Its points are from (%.5g, %.5g) to (%.5g, %.5g). With \"units\":\"relative\" they are fractions of the "
              "frame and hold for every size.", least[0] * self->width, least[1] * self->height, most[0] * self->width,
              most[1] * self->height));
    else if (self->set->rules[i].min_area > pixels)
      GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("The zone \"%s\" counts no blob: min_area is %.10g, frames have "
              "%.10g pixels.", self->zones[i].name, self->set->rules[i].min_area, pixels), (NULL));
  }
}

/* Lines and dwell times take tracks; all takes blobs and zones. */
static gboolean
needs_tracks (GstCclzone * self)
{
  for (guint i = 0; i < self->n_zones; i++)
    if (self->zones[i].kind == GST_CCL_ZONE_LINE || GST_CLOCK_TIME_IS_VALID (self->set->rules[i].dwell))
      return TRUE;
  return FALSE;
}

static void
hint_when_in_vain (GstCclzone * self, const GstCclBlobMeta * meta)
{
  if (gst_ccl_hint_is_due (&self->n_without_zones, self->n_zones > 0))
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("There are no zones."),
        ("Set zones, or config to a file with them: docs/zones.md."));
  if (gst_ccl_hint_is_due (&self->n_without_blobs, meta != NULL))
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("Nobody can be in the zones: the frames carry no blobs."),
        ("Put ccllabel upstream, and between the two no element that drops metadata (see docs/metadata.md)."));
  if (meta && gst_ccl_blob_meta_get_length (meta) > 0 && needs_tracks (self)
      && gst_ccl_hint_is_due (&self->n_without_tracks, self->tracked))
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("Nobody crosses or dwells: the blobs have no tracks."),
        ("Put ccltrack between ccllabel and cclzone."));
}

/* ---------------------------------------------------------------- events */

static void
post (GstCclzone * self, guint zone, const Object * object, Event event)
{
  GstBaseTransform *const transform = GST_BASE_TRANSFORM (self);
  const GstClockTime pts = GST_BUFFER_PTS (self->buffer);
  GstStructure *structure;
  gboolean wanted;

  GST_OBJECT_LOCK (self);
  self->n_events++;
  wanted = self->post_messages;
  GST_OBJECT_UNLOCK (self);
  GST_LOG_OBJECT (self, "track %" G_GUINT64_FORMAT ": %s %s", object->id, event.name, self->zones[zone].name);
  if (!wanted)
    return;

  structure = gst_structure_new ("ccl-zone",
      "event", G_TYPE_STRING, event.name,
      "zone", G_TYPE_STRING, self->zones[zone].name,
      "track-id", G_TYPE_UINT64, object->id,
      "inside", G_TYPE_UINT, self->zones[zone].n_inside,
      "x", G_TYPE_DOUBLE, object->x * self->width,
      "y", G_TYPE_DOUBLE, object->y * self->height,
      "timestamp", G_TYPE_UINT64, pts,
      "running-time", G_TYPE_UINT64, gst_ccl_running_time (transform, pts),
      "stream-time", G_TYPE_UINT64, gst_ccl_stream_time (transform, pts), NULL);
  if (event.direction)
    gst_structure_set (structure, "direction", G_TYPE_STRING, event.direction, NULL);
  if (GST_CLOCK_TIME_IS_VALID (event.duration))
    gst_structure_set (structure, "duration", G_TYPE_UINT64, event.duration, NULL);
  gst_element_post_message (GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), structure));
}

/* Under the object lock where others read the counts. */
static void
count (GstCclzone * self, guint zone, gint inside, gint direction)
{
  GST_OBJECT_LOCK (self);
  self->zones[zone].n_inside += inside;
  self->zones[zone].n_forward += direction > 0;
  self->zones[zone].n_backward += direction < 0;
  GST_OBJECT_UNLOCK (self);
}

static GstClockTime
time_inside (GstCclzone * self, const Object * object, guint zone)
{
  return self->now > object->entered[zone] ? self->now - object->entered[zone] : 0;
}

static void
enter (GstCclzone * self, guint zone, Object * object)
{
  object->inside |= 1u << zone;
  object->dwelt &= ~(1u << zone);
  object->entered[zone] = self->now;
  count (self, zone, 1, 1);
  post (self, zone, object, (Event) {"enter",.duration = GST_CLOCK_TIME_NONE });
}

static void
leave (GstCclzone * self, guint zone, Object * object)
{
  object->inside &= ~(1u << zone);
  count (self, zone, -1, -1);
  post (self, zone, object, (Event) {"leave",.duration = time_inside (self, object, zone) });
}

static void
check_dwell (GstCclzone * self, guint zone, Object * object)
{
  const GstClockTime dwell = self->set->rules[zone].dwell;

  if (!GST_CLOCK_TIME_IS_VALID (dwell) || object->dwelt & (1u << zone) || time_inside (self, object, zone) < dwell)
    return;
  object->dwelt |= 1u << zone;
  post (self, zone, object, (Event) {"dwell",.duration = time_inside (self, object, zone) });
}

static void
check_polygon (GstCclzone * self, guint zone, Object * object, gboolean is_inside)
{
  const gboolean was_inside = object->inside >> zone & 1;

  if (is_inside && !was_inside)
    enter (self, zone, object);
  else if (!is_inside && was_inside)
    leave (self, zone, object);
  if (is_inside)
    check_dwell (self, zone, object);
}

static void
check_line (GstCclzone * self, guint zone, const Object * object, gdouble from_x, gdouble from_y)
{
  const gint direction = gst_ccl_line_crossed (self->zones[zone].points, from_x, from_y, object->x, object->y);

  if (direction == 0)
    return;
  count (self, zone, 0, direction);
  post (self, zone, object, (Event) {"cross", direction > 0 ? "forward" : "backward", GST_CLOCK_TIME_NONE});
}

/* ---------------------------------------------------------------- blobs and objects */

static gboolean
is_in_polygon (GstCclzone * self, guint zone, const Sighting * sighting)
{
  return self->zones[zone].kind == GST_CCL_ZONE_POLYGON && sighting->area >= self->set->rules[zone].min_area
      && gst_ccl_polygon_contains (self->zones[zone].points, self->zones[zone].n_points, sighting->x, sighting->y);
}

static guint32
zones_of (GstCclzone * self, const Sighting * sighting)
{
  guint32 bits = 0;

  for (guint i = 0; i < self->n_zones; i++)
    if (is_in_polygon (self, i, sighting))
      bits |= 1u << i;
  return bits;
}

static Sighting
see_blob (GstCclzone * self, const GstCclBlobMeta * meta, guint index, gint evaluation_point)
{
  Sighting sighting = {.area = gst_ccl_blob_meta_get_area (meta, index) };
  gdouble x, y, width, height;

  if (evaluation_point == GST_CCL_EVALUATION_CENTROID) {
    gst_ccl_blob_meta_get_centroid (meta, index, &x, &y);
    x += 0.5;
    y += 0.5;
  } else {
    gst_ccl_blob_meta_get_box (meta, index, &x, &y, &width, &height);
    x += width / 2;
    y += height - 0.5;          /* in the lowest row of its pixels, not below it */
  }
  sighting.x = x / MAX (meta->width, 1);
  sighting.y = y / MAX (meta->height, 1);
  return sighting;
}

/* A track between sightings (area 0) is as large as it was. */
static Object *
find_object (GstCclzone * self, guint64 id, Sighting * sighting, gboolean * is_new)
{
  Object *object = g_hash_table_lookup (self->objects, &id);

  *is_new = object == NULL;
  if (*is_new) {
    object = g_new0 (Object, 1);
    object->id = id;
    g_hash_table_insert (self->objects, &object->id, object);
  }
  if (sighting->area > 0)
    object->area = sighting->area;
  else
    sighting->area = object->area;
  return object;
}

static void
follow_object (GstCclzone * self, guint64 id, Sighting * sighting)
{
  gboolean is_new;
  Object *const object = find_object (self, id, sighting, &is_new);
  const gdouble from_x = object->x, from_y = object->y;

  object->x = sighting->x;
  object->y = sighting->y;
  object->last_seen = self->now;
  for (guint i = 0; i < self->n_zones; i++) {
    if (self->zones[i].kind == GST_CCL_ZONE_POLYGON)
      check_polygon (self, i, object, is_in_polygon (self, i, sighting));
    else if (!is_new && sighting->area >= self->set->rules[i].min_area)
      check_line (self, i, object, from_x, from_y);
  }
}

/* Who was not seen for long has left. */
static void
dismiss_objects (GstCclzone * self, GstClockTime linger)
{
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, self->objects);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    Object *const object = value;

    /* Time that went backwards says nothing about when. */
    object->last_seen = MIN (object->last_seen, self->now);
    if (self->now - object->last_seen <= linger)
      continue;
    for (guint i = 0; i < self->n_zones; i++)
      if (object->inside >> i & 1)
        leave (self, i, object);
    g_hash_table_iter_remove (&iter);
  }
}

static void
clear_inside (GstCclzone * self)
{
  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < self->n_zones; i++)
    self->zones[i].n_inside = 0;
  GST_OBJECT_UNLOCK (self);
}

static void
forget_objects (GstCclzone * self)
{
  g_hash_table_remove_all (self->objects);
  clear_inside (self);
}

/* Without tracks only how many are where is known. A blob that several tracks share is not one more of them. */
static void
count_untracked (GstCclzone * self, const GstCclBlob * blobs, guint n)
{
  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < self->n_zones; i++) {
    self->zones[i].n_inside = 0;
    for (guint k = 0; k < n; k++)
      self->zones[i].n_inside += (guint64) blobs[k].zones >> (self->n_before + i) & 1;
  }
  GST_OBJECT_UNLOCK (self);
}

/* From the first track on those that enter are counted, and no longer the blobs before it. */
static void
note_tracks (GstCclzone * self, const GstCclBlob * blobs, guint n)
{
  for (guint i = 0; i < n && !self->tracked; i++)
    if (blobs[i].track_id != 0) {
      self->tracked = TRUE;
      clear_inside (self);
    }
}

static gboolean
is_followed (const GstCclBlob * blob)
{
  return blob->track_id != 0 && !(blob->flags & (GST_CCL_BLOB_FLAG_TENTATIVE | GST_CCL_BLOB_FLAG_LOST));
}

/* The bits of the blob: those of zones from elements before, and ours behind them. */
static guint32
all_zones_of (GstCclzone * self, const GstCclBlob * blob, const Sighting * sighting)
{
  const guint64 before = ((guint64) 1 << self->n_before) - 1;

  return (guint32) ((blob->zones & before) | (guint64) zones_of (self, sighting) << self->n_before);
}

/* A new list: copies of the buffer may hold the old one. */
static void
check_blobs (GstCclzone * self, GstCclBlobMeta * meta, gint evaluation_point)
{
  const guint n = gst_ccl_blob_meta_get_length (meta);
  GstCclBlobList *list;
  GstCclBlob *blobs;

  if (n > 0) {
    list = gst_ccl_blob_list_copy (meta->list, &blobs);
    note_tracks (self, blobs, n);
    for (guint i = 0; i < n; i++) {
      Sighting sighting = see_blob (self, meta, i, evaluation_point);

      if (is_followed (&blobs[i]))
        follow_object (self, blobs[i].track_id, &sighting);
      blobs[i].zones = all_zones_of (self, &blobs[i], &sighting);
    }
    gst_ccl_blob_meta_set_list (meta, list);
    gst_ccl_blob_list_unref (list);
  }
  if (!self->tracked)
    count_untracked (self, gst_ccl_blob_list_get (meta->list, 0), n);
}

/* ---------------------------------------------------------------- one frame */

/* Frames nobody analysed say neither who is there nor who is gone. */
static gboolean
was_analysed (const GstCclBlobMeta * meta)
{
  return !meta || !(meta->flags & (GST_CCL_BLOB_META_FLAG_SKIPPED | GST_CCL_BLOB_META_FLAG_GLOBAL_CHANGE));
}

static void
take_time (GstCclzone * self, GstBuffer * buffer)
{
  const GstClockTime running_time = gst_ccl_running_time (GST_BASE_TRANSFORM (self), GST_BUFFER_PTS (buffer));

  self->now = GST_CLOCK_TIME_IS_VALID (running_time) ? running_time : self->now + self->frame_duration;
}

/* One meta has all zones of a frame, those of elements before first. */
static void
attach_zones (GstCclzone * self, GstBuffer * buffer, GstCclZoneMeta * before)
{
  const guint n = MIN (self->n_zones, GST_CCL_ZONES_MAX - self->n_before);
  GstCclZone zones[GST_CCL_ZONES_MAX];

  if (n < self->n_zones && !self->warned_of_number)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("A frame has at most %d zones: %u of these are left out.",
            GST_CCL_ZONES_MAX, self->n_zones - n), ("A cclzone before this one has %u.", self->n_before));
  self->warned_of_number |= n < self->n_zones;
  if (self->n_before > 0)
    memcpy (zones, before->zones, self->n_before * sizeof *zones);
  memcpy (zones + self->n_before, self->zones, n * sizeof *zones);
  gst_buffer_add_ccl_zone_meta (buffer, zones, self->n_before + n);
  if (before)
    gst_buffer_remove_meta (buffer, &before->meta);
}

static GstFlowReturn
gst_cclzone_transform_ip (GstBaseTransform * transform, GstBuffer * buffer)
{
  GstCclzone *const self = GST_CCLZONE (transform);
  const gint64 begin = g_get_monotonic_time ();
  GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);
  GstCclZoneMeta *const before = gst_buffer_get_ccl_zone_meta (buffer);
  GstClockTime linger;
  gint evaluation_point;

  GST_OBJECT_LOCK (self);
  if (self->next_set) {
    install_set (self, g_steal_pointer (&self->next_set));
    self->is_placed = FALSE;
  }
  evaluation_point = self->evaluation_point;
  linger = self->linger;
  GST_OBJECT_UNLOCK (self);

  warn_of_places (self);
  self->buffer = buffer;
  self->n_before = before ? before->n_zones : 0;
  take_time (self, buffer);
  if (meta && self->n_zones > 0 && was_analysed (meta))
    check_blobs (self, meta, evaluation_point);
  hint_when_in_vain (self, meta);
  if (was_analysed (meta))
    dismiss_objects (self, linger);
  if (self->n_zones > 0)
    attach_zones (self, buffer, before);
  self->buffer = NULL;

  GST_OBJECT_LOCK (self);
  self->n_frames++;
  gst_ccl_min_avg_max_add (&self->host, g_get_monotonic_time () - begin);
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

static gboolean
gst_cclzone_set_caps (GstBaseTransform * transform, GstCaps * in_caps, GstCaps * out_caps)
{
  GstCclzone *const self = GST_CCLZONE (transform);
  const GstStructure *const structure = gst_caps_get_structure (in_caps, 0);
  gint width = 0, height = 0, fps_n = 0, fps_d = 1;

  gst_structure_get_int (structure, "width", &width);
  gst_structure_get_int (structure, "height", &height);
  gst_structure_get_fraction (structure, "framerate", &fps_n, &fps_d);
  self->frame_duration = fps_n > 0 ? gst_util_uint64_scale_int (GST_SECOND, fps_d, fps_n) : GST_SECOND / 25;
  GST_OBJECT_LOCK (self);
  self->is_placed &= self->width == (guint) width && self->height == (guint) height;
  self->width = width;
  self->height = height;
  place_zones (self);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_cclzone_sink_event (GstBaseTransform * transform, GstEvent * event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    forget_objects (GST_CCLZONE (transform));
  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (transform, event);
}

static void
clear_counts (GstCclzone * self)
{
  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < self->n_zones; i++)
    self->zones[i].n_inside = self->zones[i].n_forward = self->zones[i].n_backward = 0;
  self->n_frames = self->n_events = 0;
  self->host = (GstCclMinAvgMax) { 0 };
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_cclzone_stop (GstBaseTransform * transform)
{
  GstCclzone *const self = GST_CCLZONE (transform);

  GST_OBJECT_LOCK (self);
  self->running = FALSE;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_cclzone_start (GstBaseTransform * transform)
{
  GstCclzone *const self = GST_CCLZONE (transform);
  GError *error = NULL;
  GstCclZoneSet *const set = read_set (self, &error);

  g_hash_table_remove_all (self->objects);
  clear_counts (self);
  self->tracked = self->is_placed = self->warned_of_number = FALSE;
  self->n_without_zones = self->n_without_blobs = self->n_without_tracks = 0;
  self->now = 0;
  if (set) {
    take_set (self, set, TRUE);
    return TRUE;
  }
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("The zones cannot be read: %s", error->message),
      ("They are JSON such as {\"zones\":[{\"name\":\"door\",\"polygon\":[[0,0],[90,0],[90,90]]}]}: see "
          "docs/zones.md."));
  g_error_free (error);
  gst_cclzone_stop (transform);
  return FALSE;
}

/* ---------------------------------------------------------------- properties and signals */

static gboolean
gst_cclzone_reload (GstCclzone * self)
{
  GError *error = NULL;
  GstCclZoneSet *set;
  gchar *path;

  GST_OBJECT_LOCK (self);
  path = g_strdup (self->config);
  GST_OBJECT_UNLOCK (self);
  if (!path)
    return FALSE;
  set = gst_ccl_zone_set_new_from_file (path, &error);
  g_free (path);
  return change_set (self, set, error);
}

static void
set_zones (GstCclzone * self, const gchar * text)
{
  GError *error = NULL;
  GstCclZoneSet *set;

  /* Before it is parsed: a start meanwhile reads it, or gives way to what comes of it. */
  GST_OBJECT_LOCK (self);
  g_free (self->zones_text);
  self->zones_text = g_strdup (text);
  GST_OBJECT_UNLOCK (self);
  set = set_of_text (text, &error);
  change_set (self, set, error);
}

/* The properties that are fields and nothing else. */
static const GstCclPropertyRow fields[N_PROPERTIES] = {
  [PROP_EVALUATION_POINT] = GST_CCL_PROPERTY_ROW (GstCclzone, evaluation_point),
  [PROP_POST_MESSAGES] = GST_CCL_PROPERTY_ROW (GstCclzone, post_messages),
  [PROP_LINGER] = GST_CCL_PROPERTY_ROW (GstCclzone, linger),
};

static void
gst_cclzone_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstCclzone *const self = GST_CCLZONE (object);

  switch (id) {
    case PROP_ZONES:
      set_zones (self, g_value_get_string (value));
      break;
    case PROP_CONFIG:
      GST_OBJECT_LOCK (self);
      g_free (self->config);
      self->config = g_value_dup_string (value);
      GST_OBJECT_UNLOCK (self);
      break;
    default:
      GST_OBJECT_LOCK (self);
      if (!gst_ccl_property_row_set (self, &fields[id], value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      GST_OBJECT_UNLOCK (self);
  }
}

static void
append_structure (GValue * array, GstStructure * structure)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&value, structure);
  gst_value_array_append_and_take_value (array, &value);
}

static GstStructure *
create_stats (GstCclzone * self)
{
  GstStructure *structure = gst_structure_new ("cclzone-stats",
      "frames", G_TYPE_UINT64, self->n_frames, "events", G_TYPE_UINT64, self->n_events, NULL);
  GValue array = G_VALUE_INIT;

  g_value_init (&array, GST_TYPE_ARRAY);
  for (guint i = 0; i < self->n_zones; i++)
    append_structure (&array, gst_structure_new ("zone",
            "name", G_TYPE_STRING, self->zones[i].name,
            "inside", G_TYPE_UINT, self->zones[i].n_inside,
            "forward", G_TYPE_UINT64, self->zones[i].n_forward,
            "backward", G_TYPE_UINT64, self->zones[i].n_backward, NULL));
  gst_structure_take_value (structure, "zones", &array);
  gst_ccl_min_avg_max_host_to_structure (&self->host, structure);
  return structure;
}

static void
gst_cclzone_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCclzone *const self = GST_CCLZONE (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_ZONES:
      g_value_set_string (value, self->zones_text);
      break;
    case PROP_CONFIG:
      g_value_set_string (value, self->config);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, create_stats (self));
      break;
    default:
      if (!gst_ccl_property_row_get (self, &fields[id], value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
install_properties (GObjectClass * klass)
{
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  properties[PROP_ZONES] = g_param_spec_string ("zones", "Zones",
      "JSON, for example {\"units\":\"relative\",\"zones\":[{\"name\":\"door\","
      "\"polygon\":[[0,0],[0.2,0],[0.2,0.5]],\"dwell\":5},{\"name\":\"gate\",\"line\":[[0.5,0],[0.5,1]]}]}; "
      "see docs/zones.md", NULL, playing);
  properties[PROP_CONFIG] = g_param_spec_string ("config", "Configuration",
      "File with the same JSON, read at the start when zones is unset, and by the signal reload", NULL, playing);
  properties[PROP_EVALUATION_POINT] = g_param_spec_enum ("evaluation-point", "Evaluation point",
      "Which point of a blob decides where it is", GST_TYPE_CCL_EVALUATION_POINT, GST_CCL_EVALUATION_CENTROID,
      playing);
  properties[PROP_POST_MESSAGES] = g_param_spec_boolean ("post-messages", "Post messages",
      "Post element messages \"ccl-zone\" on the bus when an object enters, leaves, dwells or crosses", TRUE, playing);
  properties[PROP_LINGER] = g_param_spec_uint64 ("linger", "Linger",
      "Time out of sight after which a track has left, nanoseconds", 0, G_MAXINT64, DEFAULT_LINGER, playing);
  properties[PROP_STATS] = g_param_spec_boxed ("stats", "Statistics",
      "Since the start: frames, events, zones (an array: name, inside, forward or entered, backward or "
      "left); " GST_CCL_HOST_TIME_FIELDS, GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (klass, N_PROPERTIES, properties);

  /**
   * GstCclzone::reload:
   *
   * Reads the file in #cclzone:config again. A file with a mistake is warned of, and the zones stay as they are.
   *
   * Returns: whether the file was read
   */
  signals[SIGNAL_RELOAD] = g_signal_new_class_handler ("reload", G_TYPE_FROM_CLASS (klass),
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, G_CALLBACK (gst_cclzone_reload), NULL, NULL, NULL,
      G_TYPE_BOOLEAN, 0);
}

static void
gst_cclzone_finalize (GObject * object)
{
  GstCclzone *const self = GST_CCLZONE (object);

  clear_zones (self->zones, self->n_zones);
  g_clear_pointer (&self->set, gst_ccl_zone_set_free);
  g_clear_pointer (&self->next_set, gst_ccl_zone_set_free);
  g_free (self->zones_text);
  g_free (self->config);
  g_hash_table_unref (self->objects);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cclzone_class_init (GstCclzoneClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *const transform = GST_BASE_TRANSFORM_CLASS (klass);

  object->set_property = gst_cclzone_set_property;
  object->get_property = gst_cclzone_get_property;
  object->finalize = gst_cclzone_finalize;
  install_properties (object);

  gst_element_class_add_static_pad_template (element, &sink_template);
  gst_element_class_add_static_pad_template (element, &src_template);
  gst_element_class_set_static_metadata (element, "Blob zones", "Filter/Analyzer/Video",
      "Says which blobs are in which zones, and who enters, leaves, stays and crosses lines", "gst-ccl contributors");

  transform->start = gst_cclzone_start;
  transform->stop = gst_cclzone_stop;
  transform->set_caps = gst_cclzone_set_caps;
  transform->sink_event = gst_cclzone_sink_event;
  transform->transform_ip = gst_cclzone_transform_ip;

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_EVALUATION_POINT, 0);
}

static void
gst_cclzone_init (GstCclzone * self)
{
  self->post_messages = TRUE;
  self->linger = DEFAULT_LINGER;
  self->objects = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, g_free);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
