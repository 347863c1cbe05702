/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Properties that are a field of their object and nothing else: one line each, in a table by property id.
 *
 *     static const GstCclPropertyRow fields[N_PROPERTIES] = {
 *       [PROP_THRESHOLD] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.threshold),
 *     };
 *
 * set_property() and get_property() treat what is more than that and leave the rest to the functions below, under the
 * object lock.
 */
#ifndef __GST_CCL_PROPERTY_ROW_H__
#define __GST_CCL_PROPERTY_ROW_H__

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  guint32 offset, size;         /* size 0: no field */
} GstCclPropertyRow;

#define GST_CCL_PROPERTY_ROW(Type, member) { G_STRUCT_OFFSET (Type, member), sizeof (((Type *) 0)->member) }

/* A number, an enum or flags. FALSE: the property is no field; then nothing was done. */
gboolean gst_ccl_property_row_set (gpointer object, const GstCclPropertyRow * field, const GValue * value);
gboolean gst_ccl_property_row_get (gconstpointer object, const GstCclPropertyRow * field, GValue * value);

G_END_DECLS

#endif
