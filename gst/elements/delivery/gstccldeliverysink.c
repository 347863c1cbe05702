/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccldeliverysinkprivate.h"

#include <string.h>

#include "delivery/gstcclline.h"
#include "delivery/gstccltopic.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_delivery_sink_debug);
#define GST_CAT_DEFAULT gst_ccl_delivery_sink_debug

#define FOREVER (-1)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("application/x-json; application/cbor; text/x-raw"));

static GstBaseSinkClass *parent_class;
static gint private_offset;

GstCclDeliverySinkPrivate *
gst_ccl_delivery_sink_get_private (GstCclDeliverySink * self)
{
  return G_STRUCT_MEMBER_P (self, private_offset);
}

GstCclDelivery *
gst_ccl_delivery_sink_get_delivery (GstCclDeliverySink * self)
{
  return gst_ccl_delivery_sink_get_private (self)->delivery;
}

/* ---------------------------------------------------------------- connection */

static gchar *
get_address (GstCclDeliverySink * self)
{
  return GST_CCL_DELIVERY_SINK_GET_CLASS (self)->get_address (self);
}

static void
post_state (GstCclDeliverySink * self, const gchar * state, const gchar * reason)
{
  const GstCclDeliverySinkClass *const klass = GST_CCL_DELIVERY_SINK_GET_CLASS (self);
  gchar *const address = get_address (self);
  GstStructure *const structure = gst_structure_new (klass->state_name, "state", G_TYPE_STRING, state,
      "address", G_TYPE_STRING, address, NULL);

  if (reason)
    gst_structure_set (structure, "reason", G_TYPE_STRING, reason, NULL);
  gst_element_post_message (GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), structure));
  g_free (address);
}

static void
on_connected (gpointer owner)
{
  post_state (owner, "connected", NULL);
}

static void
set_failed (GstCclDeliverySink * self, gboolean failed)
{
  GstCclDeliverySinkPrivate *const private = gst_ccl_delivery_sink_get_private (self);

  GST_OBJECT_LOCK (self);
  private->failed = failed;
  GST_OBJECT_UNLOCK (self);
  gst_ccl_delivery_wake (private->delivery);
}

static gboolean
has_failed (GstCclDeliverySink * self)
{
  gboolean failed;

  GST_OBJECT_LOCK (self);
  failed = gst_ccl_delivery_sink_get_private (self)->failed;
  GST_OBJECT_UNLOCK (self);
  return failed;
}

static void
on_disconnected (gpointer owner, const gchar * reason)
{
  GstCclDeliverySink *const self = owner;
  const GstCclDeliverySinkClass *const klass = GST_CCL_DELIVERY_SINK_GET_CLASS (self);
  /* Reasons of libraries may end with a full stop, those of the system do not. */
  const gint length = (gint) strlen (reason) - g_str_has_suffix (reason, ".");
  const gchar *const hint = klass->get_hint ? klass->get_hint (self) : NULL;
  gchar *const address = get_address (self);
  gboolean fail;

  GST_OBJECT_LOCK (self);
  fail = gst_ccl_delivery_sink_get_private (self)->fail_on_disconnect;
  GST_OBJECT_UNLOCK (self);
  post_state (self, "disconnected", reason);
  if (fail) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE, ("No connection to the %s broker %s: %.*s.", klass->protocol,
            address, length, reason), ("fail-on-disconnect is set."));
    /* After the error, because users see the first error only. */
    set_failed (self, TRUE);
  } else {
    GST_ELEMENT_WARNING (self, RESOURCE, OPEN_WRITE, ("No connection to the %s broker %s: %.*s. Messages wait; trying "
            "again.", klass->protocol, address, length, reason), ("%s",
            hint ? hint : "fail-on-disconnect=true ends the pipeline instead."));
  }
  g_free (address);
}

static void
on_refused (gpointer owner, const gchar * topic, const gchar * reason)
{
  GST_ELEMENT_WARNING (owner, RESOURCE, WRITE, ("A message for \"%s\" was refused and dropped: %s.", topic, reason),
      ("stats counts further ones as dropped-refused."));
}

static void
on_warning (gpointer owner, const gchar * text)
{
  GST_ELEMENT_WARNING (owner, RESOURCE, WRITE, ("%s", text), ("stats counts what was dropped."));
}

static void
on_full (gpointer owner, const gchar * reason)
{
  GstCclDeliverySink *const self = owner;
  const gint length = (gint) strlen (reason) - g_str_has_suffix (reason, ".");
  gchar *const address = get_address (self);

  GST_ELEMENT_WARNING (self, RESOURCE, NO_SPACE_LEFT, ("The broker is full: %.*s. Messages wait; trying again.", length,
          reason), ("%s broker %s", GST_CCL_DELIVERY_SINK_GET_CLASS (self)->protocol, address));
  g_free (address);
}

static const GstCclDeliveryOwner owner_calls = { on_connected, on_disconnected, on_refused, on_warning, on_full };

/* ---------------------------------------------------------------- start and stop */

static void
post_error (GstCclDeliverySink * self, GError * error, const gchar * hint)
{
  gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR, error->domain, error->code,
      g_strdup (error->message), g_strdup (hint), __FILE__, GST_FUNCTION, __LINE__);
  g_error_free (error);
}

static gboolean
start (GstCclDeliverySink * self)
{
  GstCclDeliverySinkClass *const klass = GST_CCL_DELIVERY_SINK_GET_CLASS (self);
  GstCclDeliverySinkPrivate *const private = gst_ccl_delivery_sink_get_private (self);
  GstCclDeliverySettings settings = {.max_in_flight = 20 };
  g_autofree gchar *location = NULL;
  const gchar *hint = NULL;
  GError *error = NULL;

  GST_OBJECT_LOCK (self);
  location = g_strdup (private->spool_location);
  settings.spool_location = location;
  settings.spool_max_bytes = private->spool_size;
  private->frames = 0;
  memset (&private->host, 0, sizeof private->host);
  GST_OBJECT_UNLOCK (self);
  set_failed (self, FALSE);
  if (!klass->open (self, &settings.max_in_flight, &error, &hint)) {
    post_error (self, error, hint);
    return FALSE;
  }
  if (!gst_ccl_delivery_start (private->delivery, &settings, &error)) {
    klass->close (self);
    post_error (self, error, NULL);
    return FALSE;
  }
  return TRUE;
}

static void
stop (GstCclDeliverySink * self)
{
  const guint left = gst_ccl_delivery_stop (gst_ccl_delivery_sink_get_delivery (self));
  gchar *const address = get_address (self);

  if (left)
    GST_ELEMENT_WARNING (self, RESOURCE, WRITE, ("%u messages were not delivered.", left),
        ("The broker %s did not take them in time.", address));
  g_free (address);
  GST_CCL_DELIVERY_SINK_GET_CLASS (self)->close (self);
}

/* start() and stop() of GstBaseSink would add an error of their own to ours. */
static GstStateChangeReturn
change_state (GstElement * element, GstStateChange change)
{
  GstCclDeliverySink *const self = GST_CCL_DELIVERY_SINK (element);
  GstStateChangeReturn result;

  if (change == GST_STATE_CHANGE_NULL_TO_READY && !start (self))
    return GST_STATE_CHANGE_FAILURE;
  if (change == GST_STATE_CHANGE_READY_TO_PAUSED && has_failed (self)) {
    /* A new stream reports a missing broker again. */
    set_failed (self, FALSE);
    gst_ccl_delivery_report_again (gst_ccl_delivery_sink_get_delivery (self));
  }
  result = GST_ELEMENT_CLASS (parent_class)->change_state (element, change);
  if (change == GST_STATE_CHANGE_READY_TO_NULL
      || (change == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE))
    stop (self);
  return result;
}

/* ---------------------------------------------------------------- data */

/* Waits until the core has changed, or a pause or a flush begins. Called with the preroll lock of the base class, and releases
 * it meanwhile, because changes of state need it. FALSE: it is past `end`. */
static gboolean
wait_for_change (GstCclDeliverySink * self, guint64 * seen, gint64 end)
{
  gboolean in_time;

  GST_BASE_SINK_PREROLL_UNLOCK (self);
  in_time = gst_ccl_delivery_wait (gst_ccl_delivery_sink_get_delivery (self), seen, end);
  GST_BASE_SINK_PREROLL_LOCK (self);
  return in_time;
}

static guint64
get_drain_timeout (GstCclDeliverySink * self)
{
  guint64 timeout;

  GST_OBJECT_LOCK (self);
  timeout = gst_ccl_delivery_sink_get_private (self)->drain_timeout;
  GST_OBJECT_UNLOCK (self);
  return timeout;
}

/* Waits until all messages are delivered, the time is up, or the element is flushed. Returns the number of remaining messages.
 * Called with the preroll lock. */
static guint64
drain (GstCclDeliverySink * self)
{
  GstCclDeliverySinkPrivate *const private = gst_ccl_delivery_sink_get_private (self);
  const gint64 end = g_get_monotonic_time () + (gint64) (get_drain_timeout (self) / 1000);
  guint64 seen = 0;

  while (gst_ccl_delivery_n_undelivered (private->delivery) && !GST_BASE_SINK (self)->flushing
      && wait_for_change (self, &seen, end));
  return gst_ccl_delivery_n_undelivered (private->delivery);
}

/* The topic of a source. */
static gchar *
make_topic (GstCclDeliverySink * self, const gchar * pattern, const gchar * source)
{
  const GstCclDeliverySinkClass *const klass = GST_CCL_DELIVERY_SINK_GET_CLASS (self);
  gchar *const level = g_strdup (source), *topic;

  for (gchar * at = level; klass->is_kept && *at; at++) {
    if (!klass->is_kept (*at))
      *at = '_';
  }
  topic = gst_ccl_topic_insert (pattern, level);
  g_free (level);
  return topic;
}

static GstCclDeliveryMessage *
make_message (GstCclDeliverySink * self, const gchar * data, gsize size)
{
  const GstCclDeliverySinkClass *const klass = GST_CCL_DELIVERY_SINK_GET_CLASS (self);
  gchar *pattern, *source, *topic;

  if (klass->max_payload && size > klass->max_payload)
    return NULL;
  GST_OBJECT_LOCK (self);
  pattern = g_strdup (klass->get_topic (self));
  GST_OBJECT_UNLOCK (self);
  source = klass->needs_source || gst_ccl_topic_has_source (pattern)
      || (klass->wants_source && klass->wants_source (self)) ? gst_ccl_topic_source (data, size)
      : g_strdup ("unknown");
  topic = make_topic (self, pattern, source);
  g_free (pattern);
  return gst_ccl_delivery_message_new (source, topic, data, size);
}

/* Copies a buffer without the line's end, which CBOR does not have. FALSE: it cannot be read. The message is NULL if it
 * cannot be sent. */
static gboolean
copy_message (GstCclDeliverySink * self, GstBuffer * buffer, GstCclDeliveryMessage ** message)
{
  GstMapInfo map;
  gsize size;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return FALSE;
  size = map.size;
  while (size && !gst_ccl_line_is_cbor (map.data, size) && (map.data[size - 1] == '\n' || map.data[size - 1] == '\r'))
    size--;
  *message = make_message (self, (const gchar *) map.data, size);
  if (!*message)
    GST_WARNING_OBJECT (self, "message of %" G_GSIZE_FORMAT " bytes dropped: too large, or no memory", size);
  gst_buffer_unmap (buffer, &map);
  return TRUE;
}

/* Queues a message; takes it. With overflow=block it waits until the queue has space, the broker was given up, or a setting
 * changes; also while the element is paused. Called with the preroll lock, and releases it meanwhile. */
static GstFlowReturn
queue_message (GstCclDeliverySink * self, GstBuffer * buffer, GstCclDeliveryMessage * message)
{
  GstCclDelivery *const delivery = gst_ccl_delivery_sink_get_delivery (self);
  GstBaseSink *const sink = GST_BASE_SINK (self);
  GstFlowReturn result = GST_FLOW_OK;
  guint64 seen = 0;

  while (result == GST_FLOW_OK && !has_failed (self)) {
    if (gst_ccl_delivery_push (delivery, message) != GST_CCL_PUSH_FULL)
      return GST_FLOW_OK;
    wait_for_change (self, &seen, FOREVER);
    /* Returns at once, or at the end of a pause. It does not check for an earlier flush. */
    result = sink->flushing ? GST_FLOW_FLUSHING : gst_base_sink_do_preroll (sink, GST_MINI_OBJECT (buffer));
  }
  gst_ccl_delivery_message_free (message);
  return result == GST_FLOW_OK ? GST_FLOW_ERROR : result;
}

static GstFlowReturn
render (GstBaseSink * sink, GstBuffer * buffer)
{
  GstCclDeliverySink *const self = GST_CCL_DELIVERY_SINK (sink);
  GstCclDeliverySinkPrivate *const private = gst_ccl_delivery_sink_get_private (self);
  const gint64 start_time = g_get_monotonic_time ();
  GstCclDeliveryMessage *message;
  GstFlowReturn result = GST_FLOW_OK;

  if (!copy_message (self, buffer, &message)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("A buffer cannot be read."), (NULL));
    return GST_FLOW_ERROR;
  }
  if (message)
    result = queue_message (self, buffer, message);
  else
    gst_ccl_delivery_count_drop (private->delivery, GST_CCL_DROP_TOO_LARGE);
  if (result != GST_FLOW_OK)
    return result;
  GST_OBJECT_LOCK (self);
  private->frames++;
  gst_ccl_min_avg_max_add (&private->host, (gdouble) (g_get_monotonic_time () - start_time));
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

static gboolean
handle_event (GstBaseSink * sink, GstEvent * event)
{
  GstCclDeliverySink *const self = GST_CCL_DELIVERY_SINK (sink);

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    const guint64 left = drain (self);

    /* The base class does not check this. It would wait for a preroll while the flushing thread waits for the stream. */
    if (sink->flushing) {
      gst_event_unref (event);
      return FALSE;
    }
    if (left && get_drain_timeout (self))
      GST_ELEMENT_WARNING (self, RESOURCE, WRITE, ("%" G_GUINT64_FORMAT " messages are still waiting at the end of the "
              "stream.", left), ("The broker did not take them within drain-timeout. Without a spool they are lost if "
              "the element stops now."));
  }
  return parent_class->event (sink, event);
}

/* A pause or a flush begins, or ends. A waiting thread gets the preroll lock when it has begun. */
static gboolean
wake (GstBaseSink * sink)
{
  gst_ccl_delivery_wake (gst_ccl_delivery_sink_get_delivery (GST_CCL_DELIVERY_SINK (sink)));
  return TRUE;
}

/* ---------------------------------------------------------------- class */

static void
finalize (GObject * object)
{
  GstCclDeliverySinkPrivate *const private = gst_ccl_delivery_sink_get_private (GST_CCL_DELIVERY_SINK (object));

  gst_ccl_delivery_free (private->delivery);
  g_free (private->spool_location);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
class_init (gpointer klass, gpointer data)
{
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *const sink = GST_BASE_SINK_CLASS (klass);

  parent_class = g_type_class_peek_parent (klass);
  g_type_class_adjust_private_offset (klass, &private_offset);
  GST_DEBUG_CATEGORY_INIT (gst_ccl_delivery_sink_debug, "ccldeliverysink", 0, "sinks that deliver lines");

  G_OBJECT_CLASS (klass)->finalize = finalize;
  gst_ccl_delivery_sink_install_properties (G_OBJECT_CLASS (klass));
  gst_element_class_add_static_pad_template (element, &sink_template);
  element->change_state = change_state;
  sink->render = render;
  sink->event = handle_event;
  sink->unlock = wake;
  sink->unlock_stop = wake;
}

static void
instance_init (GTypeInstance * instance, gpointer klass)
{
  GstCclDeliverySink *const self = (GstCclDeliverySink *) instance;
  GstCclDeliverySinkPrivate *const private = gst_ccl_delivery_sink_get_private (self);

  private->delivery = gst_ccl_delivery_new (((GstCclDeliverySinkClass *) klass)->transport, self, &owner_calls, self);
  gst_ccl_delivery_sink_init_settings (self);
  /* Lines are sent when they arrive, and a stream without lines does not block the pipeline. */
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  gst_base_sink_set_async_enabled (GST_BASE_SINK (self), FALSE);
}

/* Several plugins have this class inside. In one process each needs a name of its own. */
GType
gst_ccl_delivery_sink_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    const GType id = g_type_register_static_simple (GST_TYPE_BASE_SINK,
        "GstCcl" GST_CCL_DELIVERY_NAME "DeliverySink", sizeof (GstCclDeliverySinkClass), class_init,
        sizeof (GstCclDeliverySink), instance_init, G_TYPE_FLAG_ABSTRACT);

    private_offset = g_type_add_instance_private (id, sizeof (GstCclDeliverySinkPrivate));
    g_once_init_leave (&type, id);
  }
  return type;
}
