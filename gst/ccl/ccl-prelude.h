/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PRELUDE_H__
#define __GST_CCL_PRELUDE_H__

#include <gst/gst.h>

#ifndef GST_CCL_API
# ifdef BUILDING_GST_CCL
#  define GST_CCL_API GST_API_EXPORT
# else
#  define GST_CCL_API GST_API_IMPORT
# endif
#endif

#endif
