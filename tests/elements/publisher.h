/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A sink that publishes numbered lines of several sources, and what has to arrive of them. */
#ifndef CCL_TEST_PUBLISHER_H
#define CCL_TEST_PUBLISHER_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include "support/harness.h"
#include "support/skip.h"

#define MAX_SOURCES 8

/* A push that waits for a server takes longer, one on a busy machine does not. */
#define MAX_PUSH_TIME (5 * G_TIME_SPAN_SECOND)

typedef struct
{
  GstHarness *harness;
  GstBus *bus;
  guint n_sources;
  guint next[MAX_SOURCES];      /* number of the next line of a source, from 1 */
  gint64 longest_push;          /* microseconds */
} LinePublisher;

/* Starts a sink with settings as gst-launch-1.0 takes them. `servers` is its property; it is freed. */
LinePublisher *open_publisher (const gchar * element, gchar * servers, const gchar * settings, guint n_sources);

/* Pushes `n` lines of each source in turn, with a pause between the turns in microseconds. */
void push_lines (LinePublisher * publisher, guint n, gulong pause);

/* Pushes a line of the first source with `size` bytes more. */
void push_large_line (LinePublisher * publisher, gsize size);

/* Pushes 13 items of CBOR of the first source. The last bytes of two are those of a line's end. */
void push_items (LinePublisher * publisher);

/* The items have arrived, byte for byte and in order. */
void check_items (const GPtrArray * lines);

guint64 publisher_stat (LinePublisher * publisher, const gchar * field);

/* Waits until a number in the statistics has a value, at most 30 seconds. */
void wait_for_publisher (LinePublisher * publisher, const gchar * field, guint64 value);

/* Waits until all lines are with the broker, and none was dropped. */
void wait_for_all_lines (LinePublisher * publisher);

/* Waits for a warning or error with these words; none has the text in `secret` (NULL: no secret). */
void wait_for_message (LinePublisher * publisher, GstMessageType type, const gchar * words, const gchar * secret);

void close_publisher (LinePublisher * publisher);

/* What arrived: each source has its lines in order, without a gap except `missing` (0: none). Returns the number of lines that
 * came again, at any time after they came first. */
guint check_lines (LinePublisher * publisher, const GPtrArray * lines, guint missing);

/* The element does not start with these settings, and says why: `words`. No text has "secret" inside. */
void expect_wrong_settings (const gchar * element, const gchar * settings, const gchar * words);

#endif
