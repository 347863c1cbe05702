/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Properties that are a plain member of their object: one line each, in a table by property id.
 *
 *     static const GstCclPropertyRow rows[N_PROPERTIES] = {
 *       [PROP_THRESHOLD] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.threshold),
 *     };
 *
 * set_property() and get_property() handle the other properties themselves. They call the functions below for the rest, with
 * the object lock.
 */
#ifndef __GST_CCL_PROPERTY_ROW_H__
#define __GST_CCL_PROPERTY_ROW_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Flags of properties: may change while the element plays, may also follow a controller, can only be read. */
#define GST_CCL_PARAM_PLAYING (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)
#define GST_CCL_PARAM_CONTROLLED (GST_CCL_PARAM_PLAYING | GST_PARAM_CONTROLLABLE)
#define GST_CCL_PARAM_READ_ONLY (G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)

typedef struct
{
  guint32 offset, size;         /* size 0: no row */
} GstCclPropertyRow;

#define GST_CCL_PROPERTY_ROW(Type, member) { G_STRUCT_OFFSET (Type, member), sizeof (((Type *) 0)->member) }

/* The member is a number, an enum, flags, or a string that the object owns (g_free()). FALSE: there is no such row. */
gboolean gst_ccl_property_row_set (gpointer object, const GstCclPropertyRow * row, const GValue * value);
gboolean gst_ccl_property_row_get (gconstpointer object, const GstCclPropertyRow * row, GValue * value);

G_END_DECLS

#endif
