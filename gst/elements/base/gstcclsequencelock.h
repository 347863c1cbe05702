/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Caps are asked for from any thread, and the base class takes several steps to an answer: all of them have to be about the same
 * output of the element. */
#ifndef __GST_CCL_STEADY_H__
#define __GST_CCL_STEADY_H__

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* The base class's answer. n_changes is counted up before and after each change of what its caps depend on, so that it is odd in
 * the middle of one and never the same again. */
static inline gboolean
gst_ccl_query_steadily (GstBaseTransformClass * parent, GstBaseTransform * transform, GstPadDirection direction,
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
