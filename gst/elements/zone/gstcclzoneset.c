/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The zones that the user has set, and warnings about zones that nothing can be in. */

#include "gstcclzoneprivate.h"

#include <string.h>

#include "base/gstcclhint.h"

#define GST_CAT_DEFAULT gst_ccl_zone_debug

G_STATIC_ASSERT (CCL_MAX_ZONES == GST_CCL_ZONES_MAX);
G_STATIC_ASSERT ((int) CCL_ZONE_POLYGON == (int) GST_CCL_ZONE_POLYGON);
G_STATIC_ASSERT ((int) CCL_ZONE_LINE == (int) GST_CCL_ZONE_LINE);

GstCclZoneSet *
gst_cclzone_set_of_text (const gchar * text, GError ** error)
{
  return gst_ccl_zone_set_new (text && *text ? text : "{\"zones\":[]}", error);
}

/* That of a start gives way to one that was set while it was read. */
void
gst_cclzone_take_set (GstCclzone * self, GstCclZoneSet * set, gboolean is_start)
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
gboolean
gst_cclzone_change_set (GstCclzone * self, GstCclZoneSet * set, GError * error)
{
  gboolean running;

  if (set) {
    gst_cclzone_take_set (self, set, FALSE);
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
GstCclZoneSet *
gst_cclzone_read_set (GstCclzone * self, GError ** error)
{
  GstCclZoneSet *set;
  gchar *text, *path;

  GST_OBJECT_LOCK (self);
  text = g_strdup (self->zones_text);
  path = g_strdup (self->config);
  g_clear_pointer (&self->next_set, gst_ccl_zone_set_free);
  self->running = TRUE;
  GST_OBJECT_UNLOCK (self);
  set = !text && path ? gst_ccl_zone_set_new_from_file (path, error) : gst_cclzone_set_of_text (text, error);
  g_free (path);
  g_free (text);
  return set;
}

/* Points in fractions of frames for the metadata, and in pixels of the present frames for the watch. `was`: the zones before.
 * Under the object lock. */
void
gst_cclzone_place_zones (GstCclzone * self, const gint * was)
{
  CclZone zones[GST_CCL_ZONES_MAX];

  for (guint i = 0; self->set && i < self->n_zones; i++) {
    const GstCclZoneRule *const rule = &self->set->rules[i];

    for (guint k = 0; k < 2 * rule->n_points; k++) {
      const guint size = MAX (k & 1 ? self->height : self->width, 1);

      self->zones[i].points[k] = self->set->relative ? rule->points[k] : rule->points[k] / size;
      self->pixels[i][k] = self->set->relative ? rule->points[k] * size : rule->points[k];
    }
    zones[i] = (CclZone) {
      .kind = (CclZoneKind) rule->kind,
      .n_points = rule->n_points,
      .points = self->pixels[i],
      .min_area = rule->min_area,
      .dwell = rule->dwell,
    };
  }
  ccl_zone_watch_set (self->watch, zones, self->n_zones, was);
}

void
gst_cclzone_clear_zones (GstCclZone * zones, guint n)
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

/* A zone that keeps its name keeps what it has counted and the objects in it. Under the object lock. */
void
gst_cclzone_install_set (GstCclzone * self, GstCclZoneSet * set)
{
  GstCclZone zones[GST_CCL_ZONES_MAX];
  gint was[GST_CCL_ZONES_MAX];

  for (guint i = 0; i < GST_CCL_ZONES_MAX; i++)
    g_clear_pointer (&self->pixels[i], g_free);
  for (guint i = 0; i < set->n_rules; i++) {
    const GstCclZoneRule *const rule = &set->rules[i];

    was[i] = find_zone (self->zones, self->n_zones, rule);
    zones[i] = was[i] >= 0 ? self->zones[was[i]] : (GstCclZone) {.kind = rule->kind };
    zones[i].name = g_strdup (rule->name);
    zones[i].n_points = rule->n_points;
    zones[i].points = g_new0 (gdouble, 2 * rule->n_points);
    self->pixels[i] = g_new0 (gdouble, 2 * rule->n_points);
  }
  gst_cclzone_clear_zones (self->zones, self->n_zones);
  memcpy (self->zones, zones, set->n_rules * sizeof *zones);
  self->n_zones = set->n_rules;
  g_clear_pointer (&self->set, gst_ccl_zone_set_free);
  self->set = set;
  gst_cclzone_place_zones (self, was);
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
void
gst_cclzone_warn_of_places (GstCclzone * self)
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

void
gst_cclzone_give_hints (GstCclzone * self, const GstCclBlobMeta * meta)
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
