/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "backends.h"

#include <string.h>

const gchar *const backends[2] = { "cpu", "cuda" };

GstContext *
shared_cuda_context (gboolean * have_cuda)
{
  static GstElement *keeper;
  static gboolean tried, started;
  GstQuery *query = gst_query_new_context ("gst.cuda.context");
  GstContext *context = NULL;
  GstPad *pad;

  if (!tried) {
    tried = TRUE;
    keeper = gst_element_factory_make ("ccllabel", NULL);
    fail_unless (keeper != NULL, "no element ccllabel: GST_PLUGIN_PATH?");
    gst_util_set_object_arg (G_OBJECT (keeper), "backend", "cuda");
    started = gst_element_set_state (keeper, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE;
    if (!started) {
      gst_element_set_state (keeper, GST_STATE_NULL);
      gst_clear_object (&keeper);
    }
  }
  if (have_cuda)
    *have_cuda = started;
  if (started) {
    pad = gst_element_get_static_pad (keeper, "sink");
    if (gst_pad_query (pad, query)) {
      gst_query_parse_context (query, &context);
      gst_context_ref (context);
    }
    gst_object_unref (pad);
  }
  gst_query_unref (query);
  return context;
}

gboolean
have_backend (const gchar * name)
{
  gboolean have = TRUE;
  GstContext *context;

  if (strcmp (name, "cuda") != 0)
    return TRUE;
  context = shared_cuda_context (&have);
  if (context)
    gst_context_unref (context);
  return have;
}
