/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The flat form of a blob meta, for tests that change its bytes. */
#ifndef CCL_TEST_FLATFORM_H
#define CCL_TEST_FLATFORM_H

#include <glib.h>
#include <string.h>

/* Writes the checksum of all bytes before it: CRC-32, bit by bit. `size` is at least 4. */
static inline void
repair_flat_form (guint8 * data, gsize size)
{
  guint32 crc = 0xffffffff;

  for (gsize i = 0; i < size - 4; i++) {
    crc ^= data[i];
    for (guint bit = 0; bit < 8; bit++)
      crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  crc = GUINT32_TO_LE (~crc);
  memcpy (data + size - 4, &crc, sizeof crc);
}

#endif
