/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pack.h"

#include "simd.h"

/* host/tier/ */
#define DECLARE(index, suffix, flag) CclPackRows ccl_pack_rows_##suffix;
CCL_SIMD_TIERS(DECLARE)

CclPackRows *ccl_pack_rows(uint32_t cpu_flags)
{
    static CclPackRows *const versions[] = {
#define VERSION(index, suffix, flag) [index] = ccl_pack_rows_##suffix,
        CCL_SIMD_TIERS(VERSION)
    };
    return versions[ccl_simd(cpu_flags)];
}
