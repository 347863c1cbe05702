/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The masks that the cameras show. */
#ifndef MANY_CAMERAS_MASKS_H
#define MANY_CAMERAS_MASKS_H

#include <gst/gst.h>

#include "options.h"

/* Draws or reads masks before the clock starts, as buffers. (transfer full) */
GPtrArray *make_masks (const Options * options, GstCaps ** caps);

#endif
