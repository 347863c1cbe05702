/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "deliverylink.h"

#define PATIENCE (100 * G_TIME_SPAN_SECOND)

static void
start_link (gpointer transport, GstCclDelivery * delivery)
{
}

static void
stop_link (gpointer transport)
{
}

static gboolean
is_held (Link * link)
{
  gboolean held;

  g_mutex_lock (&link->lock);
  held = link->is_held;
  g_mutex_unlock (&link->lock);
  return held;
}

static GstCclSendResult
send_by_link (gpointer transport, const GstCclDeliveryMessage * message, gchar * reason)
{
  Link *const link = transport;
  const gchar letter = *(const gchar *) g_bytes_get_data (message->payload, NULL);
  GstCclSendResult result;
  gboolean answers, is_full, refuses;

  g_mutex_lock (&link->lock);
  link->n_calls++;
  result = link->result;
  answers = link->answers_inside;
  is_full = link->is_full;
  refuses = link->refuses_inside;
  if (result <= GST_CCL_SEND_ACCEPTED_ONCE) {
    g_array_append_val (link->ids, message->id);
    g_string_append_c (link->letters, letter);
    link->is_poisoned |= letter == link->poison;
  }
  g_mutex_unlock (&link->lock);
  while (is_held (link))
    g_usleep (1000);
  if (answers)
    gst_ccl_delivery_acknowledged (link->delivery, message->id);
  if (refuses)
    gst_ccl_delivery_refused (link->delivery, message->id, "by the broker");
  if (is_full)
    gst_ccl_delivery_postponed (link->delivery, message->id, "full");
  return result;
}

static void
count (Link * link, guint * counter)
{
  g_mutex_lock (&link->lock);
  ++*counter;
  g_mutex_unlock (&link->lock);
}

static void
on_connected (gpointer owner)
{
  count (owner, &((Link *) owner)->n_connected);
}

static void
on_disconnected (gpointer owner, const gchar * reason)
{
  count (owner, &((Link *) owner)->n_disconnected);
}

static void
on_refused (gpointer owner, const gchar * topic, const gchar * reason)
{
  Link *const link = owner;

  count (link, &link->n_refused);
  g_mutex_lock (&link->lock);
  g_strlcpy (link->reason, reason, sizeof link->reason);
  g_mutex_unlock (&link->lock);
}

static void
on_warning (gpointer owner, const gchar * text)
{
  count (owner, &((Link *) owner)->n_warnings);
}

static void
on_full (gpointer owner, const gchar * reason)
{
  count (owner, &((Link *) owner)->n_full);
}

gboolean
try_link (Link * link, const GstCclDeliverySettings * settings, const GstCclDeliveryLimits * limits, GError ** error)
{
  static const GstCclDeliveryTransport functions = { start_link, stop_link, send_by_link };
  static const GstCclDeliveryOwner calls = { on_connected, on_disconnected, on_refused, on_warning, on_full };

  *link = (Link) {
  .ids = g_array_new (FALSE, FALSE, sizeof (guint64)),.letters = g_string_new (NULL)};
  g_mutex_init (&link->lock);
  link->delivery = gst_ccl_delivery_new (&functions, link, &calls, link);
  if (limits)
    gst_ccl_delivery_set_limits (link->delivery, limits);
  if (gst_ccl_delivery_start (link->delivery, settings, error))
    return TRUE;
  close_link (link);
  return FALSE;
}

void
open_link (Link * link, guint max_in_flight)
{
  const GstCclDeliverySettings settings = {.max_in_flight = max_in_flight };

  fail_unless (try_link (link, &settings, NULL, NULL));
}

void
close_link (Link * link)
{
  gst_ccl_delivery_free (link->delivery);
  g_array_unref (link->ids);
  g_string_free (link->letters, TRUE);
  g_mutex_clear (&link->lock);
}

GstCclPushResult
push_letters (Link * link, const gchar * letters)
{
  GstCclPushResult result = GST_CCL_PUSH_QUEUED;

  for (; *letters; letters++) {
    GstCclDeliveryMessage *const message = gst_ccl_delivery_message_new (g_strdup ("s"), g_strdup ("t"), letters, 1);

    result = gst_ccl_delivery_push (link->delivery, message);
    if (result == GST_CCL_PUSH_FULL)
      gst_ccl_delivery_message_free (message);
  }
  return result;
}

GstCclDeliveryStats
get_stats (Link * link)
{
  GstCclDeliveryStats stats;

  gst_ccl_delivery_get_stats (link->delivery, &stats);
  return stats;
}

void
expect_sent (Link * link, const gchar * letters)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  gboolean is_sent = FALSE;
  gchar *sent = NULL;

  while (!is_sent && g_get_monotonic_time () < end) {
    g_usleep (1000);
    g_free (sent);
    g_mutex_lock (&link->lock);
    sent = g_strdup (link->letters->str);
    g_mutex_unlock (&link->lock);
    is_sent = strlen (sent) >= strlen (letters);
  }
  fail_unless_equals_string (sent, letters);
  g_free (sent);
  /* send() returns after it has recorded the message. */
  while (get_stats (link).sent < strlen (letters) && g_get_monotonic_time () < end)
    g_usleep (1000);
  fail_unless_equals_uint64 (get_stats (link).sent, strlen (letters));
}

void
acknowledge (Link * link, guint i)
{
  guint64 id;

  g_mutex_lock (&link->lock);
  id = g_array_index (link->ids, guint64, i);
  g_mutex_unlock (&link->lock);
  gst_ccl_delivery_acknowledged (link->delivery, id);
}
