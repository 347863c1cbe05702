/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* An array that grows with the objects of a frame, whose number other elements determine. Without memory it fails, where a
 * GArray ends the program. */
#ifndef __GST_CCL_VECTOR_H__
#define __GST_CCL_VECTOR_H__

#include <glib.h>
#include <string.h>

G_BEGIN_DECLS

typedef struct
{
  gpointer data;                /* NULL: it never had an element */
  guint len;
  guint capacity;
  guint element_size;
} GstCclVector;

#define gst_ccl_vector_at(vector, type, i) (((type *) (vector)->data) + (i))

static inline void
gst_ccl_vector_clear (GstCclVector * vector)
{
  g_clear_pointer (&vector->data, g_free);
  vector->len = vector->capacity = 0;
}

/* New elements have no value. FALSE without memory: the vector stays as it was. */
static inline gboolean
gst_ccl_vector_set_size (GstCclVector * vector, gsize n)
{
  if (n > vector->capacity) {
    const gsize capacity = MIN (MAX (n, 2 * (gsize) vector->capacity), G_MAXUINT);
    gpointer const data = n <= capacity ? g_try_realloc_n (vector->data, capacity, vector->element_size) : NULL;

    if (!data)
      return FALSE;
    vector->data = data;
    vector->capacity = capacity;
  }
  vector->len = n;
  return TRUE;
}

/* Copies n elements behind the last one. FALSE without memory: the vector stays as it was. */
static inline gboolean
gst_ccl_vector_append (GstCclVector * vector, gconstpointer elements, guint n)
{
  const gsize end = (gsize) vector->len * vector->element_size;

  if (!gst_ccl_vector_set_size (vector, (gsize) vector->len + n))
    return FALSE;
  if (n > 0)
    memcpy ((guint8 *) vector->data + end, elements, (gsize) n * vector->element_size);
  return TRUE;
}

/* A copy of `size` bytes; NULL without memory. (transfer full) */
static inline GBytes *
gst_ccl_bytes_try_new (gconstpointer data, gsize size)
{
  gpointer const copy = g_try_malloc (MAX (size, 1));

  if (!copy)
    return NULL;
  if (size > 0)
    memcpy (copy, data, size);
  return g_bytes_new_take (copy, size);
}

G_END_DECLS

#endif
