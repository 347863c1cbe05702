/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Of a page-locked mask the device packs the first rows to bits, over the bus, and the calling thread, which would only
 * wait, the last ones meanwhile: the caller's share, a part of the mask.
 */
#ifndef CCL_CUDA_SHARE_H
#define CCL_CUDA_SHARE_H

#define CCL_SHARE_FIRST (1.0f / 3) /* until it is known how long packing takes */
#define CCL_SHARE_MIN (1.0f / 16)
#define CCL_SHARE_MAX (7.0f / 8)

/* The next mask's share, with which the device has its own rows and the caller's at the same time. How long the caller takes
 * depends on where masks are (its caches, or memory) and on the threads that help it, so the last mask says it, of which it
 * packed a part of `share` in `caller_us`, the launch included. The device takes `device_us` to pack a whole mask, and an
 * eighth of that to get one as bits. */
static inline float ccl_share_next(float share, float caller_us, float device_us)
{
    const float best = device_us / (device_us + device_us / 8 + caller_us / share);
    const float next = (share + best) / 2;
    return next < CCL_SHARE_MIN ? CCL_SHARE_MIN : next > CCL_SHARE_MAX ? CCL_SHARE_MAX : next;
}

#endif
