/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A pipeline in which an element never gets what it lives on runs for ever and shows nothing: it says so, once. */
#ifndef __GST_CCL_HINT_H__
#define __GST_CCL_HINT_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_CCL_HINT_FRAMES 30

/* Called for every frame. TRUE once, when the first frames have come and none of them brought it; `n_without` is 0 at
 * the start. */
static inline gboolean
gst_ccl_hint_is_due (guint * n_without, gboolean came)
{
  if (*n_without >= GST_CCL_HINT_FRAMES)
    return FALSE;
  *n_without = came ? G_MAXUINT : *n_without + 1;
  return *n_without == GST_CCL_HINT_FRAMES;
}

G_END_DECLS

#endif
