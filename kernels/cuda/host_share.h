/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The device and the calling thread together pack a page-locked mask to bits. The device packs the first rows, over the bus.
 * The thread, which would only wait otherwise, packs the last rows: the host share, a fraction of the mask.
 */
#ifndef CCL_CUDA_HOST_SHARE_H
#define CCL_CUDA_HOST_SHARE_H

#define CCL_SHARE_FIRST (1.0f / 3) /* until the duration of packing is known */
#define CCL_SHARE_MIN (1.0f / 16)
#define CCL_SHARE_MAX (7.0f / 8)

/* The share for the next mask, with which the device has its own rows and the caller's at the same time. The caller's speed
 * depends on where masks are (its caches, or memory) and on the threads that help. So it is taken from the last mask, of which
 * the caller packed the fraction `share` in `caller_us`, the launch included. The device takes `device_us` to pack a whole
 * mask, and an eighth of that to read one as bits. */
static inline float ccl_share_next(float share, float caller_us, float device_us)
{
    const float best = device_us / (device_us + device_us / 8 + caller_us / share);
    const float next = (share + best) / 2;
    return next < CCL_SHARE_MIN ? CCL_SHARE_MIN : next > CCL_SHARE_MAX ? CCL_SHARE_MAX : next;
}

#endif
