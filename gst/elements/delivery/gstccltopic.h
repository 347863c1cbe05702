/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The topic of a message, from a pattern and the message's text. */
#ifndef __GST_CCL_TOPIC_H__
#define __GST_CCL_TOPIC_H__

#include <glib.h>

G_BEGIN_DECLS

/* In a pattern: stands for the member "source" of a line. */
#define GST_CCL_TOPIC_SOURCE "{source-id}"

/* The source that a text names: the first member "source" of its object. "unknown": it names none. (transfer full) */
gchar *gst_ccl_topic_source (const gchar * text, gsize size);

/* Whether the pattern has GST_CCL_TOPIC_SOURCE inside. */
gboolean gst_ccl_topic_has_source (const gchar * pattern);

/* The pattern with the source in place of GST_CCL_TOPIC_SOURCE. (transfer full) */
gchar *gst_ccl_topic_insert (const gchar * pattern, const gchar * source);

/* The pattern with the source of the text, `size` bytes, in place of GST_CCL_TOPIC_SOURCE. The characters / + # of a source
 * become _, so that it is one level. A text without a source has the source "unknown". (transfer full) */
gchar *gst_ccl_topic_expand (const gchar * pattern, const gchar * text, gsize size);

G_END_DECLS

#endif
