/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* An element whose first frames lack the metadata that it needs posts one warning. Without it the pipeline would run and show
 * nothing. */
#ifndef __GST_CCL_HINT_H__
#define __GST_CCL_HINT_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_CCL_HINT_FRAMES 30

/* Call it for every frame; `came`: the frame has the metadata. TRUE once, after the first GST_CCL_HINT_FRAMES frames, if none
 * had it. `n_without` is 0 at the start. */
static inline gboolean
gst_ccl_hint_is_due (guint * n_without, gboolean came)
{
  if (*n_without >= GST_CCL_HINT_FRAMES)
    return FALSE;
  *n_without = came ? G_MAXUINT : *n_without + 1;
  return *n_without == GST_CCL_HINT_FRAMES;
}

/* Call it at the end of the stream. TRUE once, if there were frames and none had the metadata, and no hint was given. */
static inline gboolean
gst_ccl_hint_is_due_at_end (guint * n_without)
{
  const gboolean is_due = *n_without > 0 && *n_without < GST_CCL_HINT_FRAMES;

  if (is_due)
    *n_without = GST_CCL_HINT_FRAMES;
  return is_due;
}

G_END_DECLS

#endif
