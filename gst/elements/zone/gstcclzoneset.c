/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The zones that the user has set, and warnings about zones that nothing can be in. */

#include "gstcclzoneprivate.h"

#include <string.h>

#include "base/gstcclhint.h"

#define GST_CAT_DEFAULT gst_ccl_zone_debug

G_STATIC_ASSERT (CCL_MAX_ZONES == GST_CCL_MAX_ZONES);
G_STATIC_ASSERT ((int) CCL_ZONE_POLYGON == (int) GST_CCL_ZONE_POLYGON);
G_STATIC_ASSERT ((int) CCL_ZONE_LINE == (int) GST_CCL_ZONE_LINE);

GstCclZoneSet *
gst_cclzone_set_of_text (const gchar * text, GError ** error)
{
  return gst_ccl_zone_set_new (text && *text ? text : "{\"zones\":[]}", error);
}

/* A set that the start has read gives way to one that the application set meanwhile. */
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

/* While the element runs, a mistake is warned of and the zones stay as they are. Before the start there is no message,
 * because the start reads everything again. */
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

/* Reads the set that the properties ask for, and drops one that was set before. */
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
  CclZone zones[GST_CCL_MAX_ZONES];
  const gboolean relative = self->set && self->set->relative;
  const gdouble size[2] = { MAX (self->width, 1), MAX (self->height, 1) };

  for (guint i = 0; self->set && i < self->n_zones; i++) {
    const GstCclZoneRule *const rule = &self->set->rules[i];

    for (guint k = 0; k < rule->n_points; k++) {
      gdouble point[2];

      gst_ccl_zone_rule_get_point (rule, relative, size[1] / size[0], k, point);
      for (guint axis = 0; axis < 2; axis++) {
        self->zones[i].points[2 * k + axis] = relative ? point[axis] : point[axis] / size[axis];
        self->pixels[i][2 * k + axis] = relative ? point[axis] * size[axis] : point[axis];
      }
    }
    zones[i] = (CclZone) {
      .kind = (CclZoneKind) rule->kind,.n_points = rule->n_points,.points = self->pixels[i],.min_area =
          rule->min_area,.classes = rule->classes,.n_classes = rule->n_classes,.dwell = rule->dwell,.min_time =
          rule->min_time,.direction = { (rule->direction[2] - rule->direction[0]) * (relative ? size[0] : 1),
        (rule->direction[3] - rule->direction[1]) * (relative ? size[1] : 1)
    },};
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

/* The index of the zone with the kind and name of the rule; -1: none. */
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
  GstCclZone zones[GST_CCL_MAX_ZONES];
  gint was[GST_CCL_MAX_ZONES];

  for (guint i = 0; i < GST_CCL_MAX_ZONES; i++)
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
get_extent (const GstCclZone * zone, gdouble min[2], gdouble max[2])
{
  for (guint k = 0; k < 2; k++) {
    min[k] = G_MAXDOUBLE;
    max[k] = -G_MAXDOUBLE;
  }
  for (guint k = 0; k < 2 * zone->n_points; k++) {
    min[k & 1] = MIN (min[k & 1], zone->points[k]);
    max[k & 1] = MAX (max[k & 1], zone->points[k]);
  }
}

/* Warns of zones in which no object of a frame of this size can be. A line on the edge of the frame is not warned of. */
void
gst_cclzone_warn_of_places (GstCclzone * self)
{
  const gdouble pixels = (gdouble) self->width * self->height;

  if (self->is_placed || !self->set || pixels == 0)
    return;
  self->is_placed = TRUE;
  for (guint i = 0; i < self->n_zones; i++) {
    const gboolean is_line = self->zones[i].kind == GST_CCL_ZONE_LINE;
    gdouble min[2], max[2];

    get_extent (&self->zones[i], min, max);
    if (max[0] <= 0 || max[1] <= 0 || min[0] >= 1 || min[1] >= 1)
      GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("The zone \"%s\" is not within frames of %ux%u pixels: "
              "nobody %s.", self->zones[i].name, self->width, self->height, is_line ? "crosses it" : "is ever in it"),
          ("Its points are from (%.5g, %.5g) to (%.5g, %.5g). With \"units\":\"relative\" they are fractions of the "
              "frame and hold for every size.", min[0] * self->width, min[1] * self->height, max[0] * self->width,
              max[1] * self->height));
    else if (self->set->rules[i].min_area > pixels)
      GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("The zone \"%s\" counts no blob: min_area is %.10g, frames have "
              "%.10g pixels.", self->zones[i].name, self->set->rules[i].min_area, pixels), (NULL));
  }
}

/* Lines and dwell times take tracks; every zone takes blobs. */
static gboolean
needs_tracks (GstCclzone * self)
{
  for (guint i = 0; i < self->n_zones; i++)
    if (self->zones[i].kind == GST_CCL_ZONE_LINE || GST_CLOCK_TIME_IS_VALID (self->set->rules[i].dwell))
      return TRUE;
  return FALSE;
}

static gboolean
needs_classes (GstCclzone * self)
{
  for (guint i = 0; i < self->n_zones; i++)
    if (self->set->rules[i].n_classes > 0)
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
  if (meta && gst_ccl_blob_meta_get_length (meta) > 0 && needs_classes (self)
      && gst_ccl_hint_is_due (&self->n_without_classes, gst_ccl_blob_list_get_class_ids (meta->list) != NULL))
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("Zones with a class count nobody: the blobs have no classes."),
        ("ccllabel foreground=equal gives blobs of label maps a class."));
}
