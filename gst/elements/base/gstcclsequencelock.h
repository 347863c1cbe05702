/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A sequence lock for the settings that the caps of an element depend on.
 *
 * Any thread may ask for caps, and GstBaseTransform needs several steps for an answer. All steps must see the same output of
 * the element. A counter is incremented before and after each change, so it is odd during a change and never repeats.
 */
#ifndef __GST_CCL_SEQUENCE_LOCK_H__
#define __GST_CCL_SEQUENCE_LOCK_H__

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* The answer of `parent`, repeated for CAPS until no change came in between. */
static inline gboolean
gst_ccl_sequence_lock_query (GstBaseTransformClass * parent, GstBaseTransform * transform, GstPadDirection direction,
    GstQuery * query, gint * n_changes)
{
  gboolean ok;
  gint before;

  do {
    before = g_atomic_int_get (n_changes);
    ok = parent->query (transform, direction, query);
  } while (GST_QUERY_TYPE (query) == GST_QUERY_CAPS && (before % 2 || before != g_atomic_int_get (n_changes)));
  return ok;
}

G_END_DECLS

#endif
