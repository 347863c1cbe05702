/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Objects in zones, their events, and the counts. */

#include "gstcclzoneprivate.h"

#include "base/gstcclinband.h"
#include "base/gstccltime.h"
#include "zone/gstccltrackplaces.h"

#define GST_CAT_DEFAULT gst_ccl_zone_debug

static const gchar *
event_name (const CclZoneEvent * event)
{
  static const gchar *const names[] = { "enter", "leave", "dwell", "cross" };

  return names[event->kind];
}

/* Counts the event. TRUE: a message is wanted. */
static gboolean
count_event (GstCclzone * self, const CclZoneEvent * event)
{
  GstCclZone *const zone = &self->zones[event->zone];
  gboolean wanted;

  GST_OBJECT_LOCK (self);
  zone->n_inside += event->kind == CCL_ZONE_ENTER;
  zone->n_inside -= event->kind == CCL_ZONE_LEAVE && zone->n_inside > 0;
  zone->n_forward += event->kind == CCL_ZONE_ENTER || (event->kind == CCL_ZONE_CROSS && event->direction > 0);
  zone->n_backward += event->kind == CCL_ZONE_LEAVE || (event->kind == CCL_ZONE_CROSS && event->direction < 0);
  self->n_events++;
  wanted = self->post_messages;
  GST_OBJECT_UNLOCK (self);
  return wanted;
}

void
gst_cclzone_on_event (void *data, const CclZoneEvent * event)
{
  GstCclzone *const self = data;
  GstBaseTransform *const transform = GST_BASE_TRANSFORM (self);
  const GstCclZone *const zone = &self->zones[event->zone];
  const GstClockTime pts = GST_BUFFER_PTS (self->buffer);
  GstStructure *structure;
  gboolean wanted;

  GST_LOG_OBJECT (self, "track %" G_GUINT64_FORMAT ": %s %s", event->id, event_name (event), zone->name);
  wanted = count_event (self, event);
  structure = gst_structure_new ("ccl-zone",
      "event", G_TYPE_STRING, event_name (event),
      "zone", G_TYPE_STRING, zone->name,
      "track-id", G_TYPE_UINT64, event->id,
      "inside", G_TYPE_UINT, zone->n_inside,
      "x", G_TYPE_DOUBLE, event->x,
      "y", G_TYPE_DOUBLE, event->y,
      "timestamp", G_TYPE_UINT64, pts,
      "running-time", G_TYPE_UINT64, gst_ccl_running_time (transform, pts),
      "stream-time", G_TYPE_UINT64, gst_ccl_stream_time (transform, pts), NULL);
  if (event->direction)
    gst_structure_set (structure, "direction", G_TYPE_STRING, event->direction > 0 ? "forward" : "backward", NULL);
  if (event->duration != CCL_ZONE_NO_TIME)
    gst_structure_set (structure, "duration", G_TYPE_UINT64, event->duration, NULL);
  gst_ccl_inband_push (transform, structure, event_name (event));
  if (wanted)
    gst_element_post_message (GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), structure));
  else
    gst_structure_free (structure);
}

/* ---------------------------------------------------------------- blobs and objects */

static void
clear_inside (GstCclzone * self)
{
  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < self->n_zones; i++)
    self->zones[i].n_inside = 0;
  GST_OBJECT_UNLOCK (self);
}

/* Identities have changed: upstream has reset its tracks, or the stream is another one. */
void
gst_cclzone_forget_objects (GstCclzone * self)
{
  ccl_zone_watch_forget (self->watch);
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

static gboolean
counts_place (const GstCclZoneRule * rule, const GstCclTrackPlace * place)
{
  const CclZone zone = {.min_area = rule->min_area,.classes = rule->classes,.n_classes = rule->n_classes };

  return ccl_zone_counts (&zone, place->area, place->class_number);
}

/* The polygons that a blob without a track is in. */
static guint32
zones_of_place (GstCclzone * self, const GstCclTrackPlace * place)
{
  guint32 bits = 0;

  for (guint i = 0; i < self->n_zones; i++)
    if (self->zones[i].kind == GST_CCL_ZONE_POLYGON && counts_place (&self->set->rules[i], place)
        && ccl_polygon_contains (self->pixels[i], self->zones[i].n_points, place->x, place->y))
      bits |= 1u << i;
  return bits;
}

/* The zones of elements upstream keep their bits; ours come behind them. */
static guint32
add_zones (GstCclzone * self, guint32 bits, guint32 ours)
{
  const guint64 before = ((guint64) 1 << self->n_before) - 1;

  return (guint32) ((bits & before) | (guint64) ours << self->n_before);
}

/* FALSE without memory. */
static gboolean
see_tracks (GstCclzone * self, const GstCclBlobMeta * meta, gboolean centroid, gdouble margin)
{
  guint n;
  GstCclTrackPlace *const places = gst_ccl_track_places_new (meta, is_followed, centroid, &n);

  for (guint i = 0; i < n; i++) {
    const GstCclTrackPlace *const place = &places[i];
    const CclZonePosition position = {
      place->id, place->x, place->y, place->area, margin * place->height, place->class_number
    };

    if (ccl_zone_watch_see (self->watch, &position, self->now) != CCL_OK)
      GST_WARNING_OBJECT (self, "%s", ccl_error_message ());
  }
  g_free (places);
  return places != NULL;
}

/* Copies of the buffer may hold the old list of blobs, so a new one is written. FALSE without memory. */
gboolean
gst_cclzone_check_blobs (GstCclzone * self, GstCclBlobMeta * meta, gboolean centroid, gdouble margin)
{
  const guint n = gst_ccl_blob_meta_get_length (meta);
  GstCclBlobList *list;
  GstCclBlob *blobs;

  if (!self->tracked)
    count_untracked (self, NULL, 0);
  if (n == 0)
    return TRUE;
  list = gst_ccl_blob_list_copy (meta->list, &blobs);
  if (!list)
    return FALSE;
  note_tracks (self, blobs, n);
  if (!see_tracks (self, meta, centroid, margin)) {
    gst_ccl_blob_list_unref (list);
    return FALSE;
  }
  for (guint i = 0; i < n; i++) {
    const GstCclTrackPlace place = gst_ccl_track_place_of_blob (meta, i, centroid);
    const guint32 ours = is_followed (&blobs[i]) ? ccl_zone_watch_inside (self->watch, blobs[i].track_id)
        : zones_of_place (self, &place);

    blobs[i].zones = add_zones (self, blobs[i].zones, ours);
  }
  if (!self->tracked)
    count_untracked (self, blobs, n);
  gst_ccl_blob_meta_set_list (meta, list);
  gst_ccl_blob_list_unref (list);
  return TRUE;
}
