/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What stands in for the background model on CUDA, with the CUDA toolkit and without. */
#include "backend.h"
#include "motion_backend.h"

static CclStatus no_motion(CclMotion *motion)
{
    (void)motion;
    return ccl_fail(CCL_ERROR_UNSUPPORTED, "this build has no background model on CUDA");
}

static void no_motion_to_close(CclMotion *motion)
{
    (void)motion;
}

const MotionBackend motion_cuda_backend = { .open = no_motion, .close = no_motion_to_close };
