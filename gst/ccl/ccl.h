/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All of libgstccl-1.0. */

#ifndef __GST_CCL_H__
#define __GST_CCL_H__

#include <gst/ccl/ccl-prelude.h>
#include <gst/ccl/gstcclblobmeasures.h>
#include <gst/ccl/gstcclblobmeta.h>
#include <gst/ccl/gstcclmaskmeta.h>
#include <gst/ccl/gstcclzonemeta.h>

#endif
