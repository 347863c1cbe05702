/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Numbers of the flat form: little endian, at any address. Each function moves the pointer on. */

#ifndef __GST_CCL_FLAT_BYTES_H__
#define __GST_CCL_FLAT_BYTES_H__

#include <glib.h>
#include <string.h>

G_BEGIN_DECLS

/* With copies, because the bytes may have any alignment. */
static inline void
put32 (guint8 ** p, guint32 value)
{
  const guint32 le = GUINT32_TO_LE (value);

  memcpy (*p, &le, sizeof (le));
  *p += sizeof (le);
}

static inline void
put64 (guint8 ** p, guint64 value)
{
  const guint64 le = GUINT64_TO_LE (value);

  memcpy (*p, &le, sizeof (le));
  *p += sizeof (le);
}

static inline void
put_double (guint8 ** p, gdouble value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof (bits));
  put64 (p, bits);
}

static inline void
put_float (guint8 ** p, gfloat value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof (bits));
  put32 (p, bits);
}

static inline guint32
get32 (const guint8 ** p)
{
  guint32 le;

  memcpy (&le, *p, sizeof (le));
  *p += sizeof (le);
  return GUINT32_FROM_LE (le);
}

static inline guint64
get64 (const guint8 ** p)
{
  guint64 le;

  memcpy (&le, *p, sizeof (le));
  *p += sizeof (le);
  return GUINT64_FROM_LE (le);
}

static inline gdouble
get_double (const guint8 ** p)
{
  const guint64 bits = get64 (p);
  gdouble value;

  memcpy (&value, &bits, sizeof (value));
  return value;
}

static inline gfloat
get_float (const guint8 ** p)
{
  const guint32 bits = get32 (p);
  gfloat value;

  memcpy (&value, &bits, sizeof (value));
  return value;
}

static inline guint32
get32_at (const guint8 * data, gsize at)
{
  data += at;
  return get32 (&data);
}

G_END_DECLS

#endif
