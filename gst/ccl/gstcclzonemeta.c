/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:gstcclzonemeta
 * @title: GstCclZoneMeta
 * @short_description: the zones of a frame and what they have counted
 *
 * `cclzone` adds one #GstCclZoneMeta to each buffer, for overlays and programs
 * that show the zones or their counts.
 */

#include "gstcclmatrix.h"
#include "gstcclprivate.h"

#include <gst/ccl/gstcclzonemeta.h>

G_DEFINE_BOXED_TYPE (GstCclZone, gst_ccl_zone, gst_ccl_zone_copy, gst_ccl_zone_free);

/* FALSE: no memory. Other elements may have set any number of points. */
static gboolean
copy_zone (GstCclZone * copy, const GstCclZone * zone)
{
  const gsize n = 2 * (gsize) zone->n_points;
  gdouble *const points = n > 0 ? g_try_new (gdouble, n) : NULL;

  if (n > 0 && points == NULL)
    return FALSE;
  if (n > 0)
    memcpy (points, zone->points, n * sizeof (gdouble));
  *copy = *zone;
  copy->name = g_strdup (zone->name);
  copy->points = points;
  return TRUE;
}

static void
clear_zone (GstCclZone * zone)
{
  g_free (zone->name);
  g_free (zone->points);
}

/**
 * gst_ccl_zone_copy:
 * @zone: a zone
 *
 * Copies a zone.
 *
 * Returns: (transfer full) (nullable): a copy; free it with
 *   gst_ccl_zone_free(). %NULL without memory for the points
 *
 * Since: 0.1
 */
GstCclZone *
gst_ccl_zone_copy (const GstCclZone * zone)
{
  GstCclZone *copy;

  g_return_val_if_fail (zone != NULL, NULL);

  copy = g_new (GstCclZone, 1);
  if (!copy_zone (copy, zone))
    g_clear_pointer (&copy, g_free);
  return copy;
}

/**
 * gst_ccl_zone_free:
 * @zone: (transfer full): a zone from gst_ccl_zone_copy()
 *
 * Frees a zone.
 *
 * Since: 0.1
 */
void
gst_ccl_zone_free (GstCclZone * zone)
{
  g_return_if_fail (zone != NULL);

  clear_zone (zone);
  g_free (zone);
}

/**
 * gst_ccl_zone_get_point:
 * @zone: a zone
 * @index: 0 to n_points - 1
 * @x: (out): column, fraction of the width of the frame
 * @y: (out): row, fraction of its height
 *
 * Gets a corner of the polygon or an end of the line.
 *
 * Returns: %FALSE past the last point
 *
 * Since: 0.1
 */
gboolean
gst_ccl_zone_get_point (const GstCclZone * zone, guint index, gdouble * x, gdouble * y)
{
  const gboolean exists = zone != NULL && index < zone->n_points;

  *x = exists ? zone->points[2 * index] : 0;
  *y = exists ? zone->points[2 * index + 1] : 0;
  return exists;
}

/* ---------------------------------------------------------------- the meta */

static void
clear_zones (GstCclZoneMeta * meta)
{
  for (guint i = 0; i < meta->n_zones; i++)
    clear_zone (&meta->zones[i]);
  g_clear_pointer (&meta->zones, g_free);
  meta->n_zones = 0;
}

/* Of a meta that has no zones. FALSE: no memory, and it still has none. */
static gboolean
copy_zones (GstCclZoneMeta * meta, const GstCclZone * zones, guint n_zones)
{
  meta->zones = n_zones > 0 ? g_new (GstCclZone, n_zones) : NULL;
  for (; meta->n_zones < n_zones; meta->n_zones++)
    if (!copy_zone (&meta->zones[meta->n_zones], &zones[meta->n_zones])) {
      clear_zones (meta);
      return FALSE;
    }
  return TRUE;
}

static gboolean
gst_ccl_zone_meta_init (GstMeta * meta, gpointer params, GstBuffer * buffer)
{
  GstCclZoneMeta *const zone_meta = (GstCclZoneMeta *) meta;

  zone_meta->n_zones = 0;
  zone_meta->zones = NULL;
  return TRUE;
}

static void
free_meta (GstMeta * meta, GstBuffer * buffer)
{
  clear_zones ((GstCclZoneMeta *) meta);
}

/* In a mirror image the left and right sides of a line are exchanged, so its ends are exchanged too. */
static void
map_zone (GstCclZone * zone, const GstCclMatrix change)
{
  const gboolean is_mirrored = change[0] * change[4] - change[1] * change[3] < 0;

  for (guint i = 0; i < zone->n_points; i++)
    gst_ccl_matrix_map (change, &zone->points[2 * i], &zone->points[2 * i + 1]);
  if (is_mirrored && zone->kind == GST_CCL_ZONE_LINE && zone->n_points == 2) {
    const gdouble first[2] = { zone->points[0], zone->points[1] };

    memmove (zone->points, zone->points + 2, sizeof first);
    memcpy (zone->points + 2, first, sizeof first);
  }
}

/* Fractions of the frame do not change when the frame is scaled. */
static gboolean
gst_ccl_zone_meta_transform (GstBuffer * dest, GstMeta * meta, GstBuffer * buffer, GQuark type, gpointer data)
{
  const GstCclZoneMeta *const from = (const GstCclZoneMeta *) meta;
  GstCclZoneMeta *added;
  GstCclMatrix change;

  if (!gst_ccl_fractions_follow (change, type, data))
    return FALSE;
  added = gst_buffer_add_ccl_zone_meta (dest, from->zones, from->n_zones);
  if (added == NULL)
    return FALSE;
  for (guint i = 0; i < added->n_zones && !gst_ccl_matrix_is_identity (change); i++)
    map_zone (&added->zones[i], change);
  return TRUE;
}

GType
gst_ccl_zone_meta_api_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    static const gchar *tags[] = {
      GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_ORIENTATION_STR, NULL
    };

    g_once_init_leave (&type, gst_meta_api_type_register ("GstCclZoneMetaAPI", tags));
  }
  return type;
}

/**
 * gst_ccl_zone_meta_get_info: (skip)
 *
 * Gets the #GstMetaInfo. The first call registers the meta.
 *
 * Returns: (transfer none): the info
 *
 * Since: 0.1
 */
const GstMetaInfo *
gst_ccl_zone_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter (&info)) {
    const GstMetaInfo *const registered = gst_meta_register (GST_CCL_ZONE_META_API_TYPE, "GstCclZoneMetaImpl",
        sizeof (GstCclZoneMeta), gst_ccl_zone_meta_init, free_meta, gst_ccl_zone_meta_transform);

    g_once_init_leave (&info, registered);
  }
  return info;
}

/**
 * gst_buffer_add_ccl_zone_meta: (skip)
 * @buffer: a writable buffer
 * @zones: (array length=n_zones) (nullable): zones to copy
 * @n_zones: number of zones, up to %GST_CCL_MAX_ZONES
 *
 * Adds a meta with copies of @zones.
 *
 * Returns: (transfer none) (nullable): the meta; it belongs to @buffer. %NULL
 *   when @buffer is not writable, or without memory
 *
 * Since: 0.1
 */
GstCclZoneMeta *
gst_buffer_add_ccl_zone_meta (GstBuffer * buffer, const GstCclZone * zones, guint n_zones)
{
  GstCclZoneMeta *meta;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (n_zones <= GST_CCL_MAX_ZONES && (zones != NULL || n_zones == 0), NULL);

  meta = (GstCclZoneMeta *) gst_buffer_add_meta (buffer, GST_CCL_ZONE_META_INFO, NULL);
  if (meta != NULL && !copy_zones (meta, zones, n_zones)) {
    gst_buffer_remove_meta (buffer, &meta->meta);
    return NULL;
  }
  return meta;
}

/**
 * gst_buffer_get_ccl_zone_meta: (skip)
 * @buffer: a buffer
 *
 * Gets the zones of a frame. If there are several metas, this is the last one,
 * from the nearest element upstream. cclzone adds its zones to a meta that is
 * already there.
 *
 * Returns: (transfer none) (nullable): the meta, alive as long as it is on
 *   @buffer; %NULL when the buffer has none
 *
 * Since: 0.1
 */
GstCclZoneMeta *
gst_buffer_get_ccl_zone_meta (GstBuffer * buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  gst_ccl_zone_meta_get_info ();
  return gst_ccl_buffer_get_last_meta (buffer, GST_CCL_ZONE_META_API_TYPE);
}

/**
 * gst_buffer_dup_ccl_zone_meta: (rename-to gst_buffer_get_ccl_zone_meta)
 * @buffer: a buffer
 *
 * Copies the meta that gst_buffer_get_ccl_zone_meta() gets. In bindings this is
 * `buffer_get_ccl_zone_meta`, because the copy may outlive the buffer.
 *
 * Returns: (transfer full) (nullable): a copy; %NULL when the buffer has no
 *   meta, or without memory
 *
 * Since: 0.1
 */
GstCclZoneMeta *
gst_buffer_dup_ccl_zone_meta (GstBuffer * buffer)
{
  const GstCclZoneMeta *const meta = gst_buffer_get_ccl_zone_meta (buffer);

  return meta != NULL ? gst_ccl_zone_meta_copy (meta) : NULL;
}

G_DEFINE_BOXED_TYPE (GstCclZoneMeta, gst_ccl_zone_meta, gst_ccl_zone_meta_copy, gst_ccl_zone_meta_free);

/**
 * gst_ccl_zone_meta_copy:
 * @meta: a zone meta
 *
 * Copies a meta and its zones. The copy is on no buffer.
 *
 * Returns: (transfer full) (nullable): the copy; %NULL without memory
 *
 * Since: 0.1
 */
GstCclZoneMeta *
gst_ccl_zone_meta_copy (const GstCclZoneMeta * meta)
{
  GstCclZoneMeta *copy;

  g_return_val_if_fail (meta != NULL, NULL);

  copy = g_new0 (GstCclZoneMeta, 1);
  copy->meta.info = GST_CCL_ZONE_META_INFO;
  if (!copy_zones (copy, meta->zones, meta->n_zones))
    g_clear_pointer (&copy, g_free);
  return copy;
}

/**
 * gst_ccl_zone_meta_free:
 * @meta: (transfer full): the result of gst_ccl_zone_meta_copy()
 *
 * Frees a copy and its zones.
 *
 * Since: 0.1
 */
void
gst_ccl_zone_meta_free (GstCclZoneMeta * meta)
{
  g_return_if_fail (meta != NULL);

  clear_zones (meta);
  g_free (meta);
}

/**
 * gst_ccl_zone_meta_get_length:
 * @meta: a zone meta
 *
 * Gets the number of zones.
 *
 * Returns: the number of zones
 *
 * Since: 0.1
 */
guint
gst_ccl_zone_meta_get_length (const GstCclZoneMeta * meta)
{
  g_return_val_if_fail (meta != NULL, 0);

  return meta->n_zones;
}

/**
 * gst_ccl_zone_meta_get_zone: (skip)
 * @meta: a zone meta
 * @index: 0 to length - 1
 *
 * Gets a zone.
 *
 * Returns: (transfer none) (nullable): the zone, alive as long as the meta;
 *   %NULL past the end
 *
 * Since: 0.1
 */
const GstCclZone *
gst_ccl_zone_meta_get_zone (const GstCclZoneMeta * meta, guint index)
{
  return index < gst_ccl_zone_meta_get_length (meta) ? &meta->zones[index] : NULL;
}

/**
 * gst_ccl_zone_meta_dup_zone: (rename-to gst_ccl_zone_meta_get_zone)
 * @meta: a zone meta
 * @index: 0 to length - 1
 *
 * Copies a zone. In bindings this is `get_zone`, because the copy may outlive
 * the buffer.
 *
 * Returns: (transfer full) (nullable): a copy; %NULL past the end
 *
 * Since: 0.1
 */
GstCclZone *
gst_ccl_zone_meta_dup_zone (const GstCclZoneMeta * meta, guint index)
{
  const GstCclZone *const zone = gst_ccl_zone_meta_get_zone (meta, index);

  return zone != NULL ? gst_ccl_zone_copy (zone) : NULL;
}
