/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tables over the bits of a byte, made at build time by make_byte_table.c. */
#ifndef CCL_CPU_BYTE_TABLE_H
#define CCL_CPU_BYTE_TABLE_H

#include <stdint.h>

/* ccl_byte_positions[b][k] is the position of the k-th lowest bit of b, 0 past the last. */
extern const uint8_t ccl_byte_positions[256][8];
/* ccl_byte_ranks[b][i]: number of bits of b below bit i. */
extern const uint8_t ccl_byte_ranks[256][8];

#endif
