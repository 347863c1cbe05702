/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:tracer-cclmetrics
 * @title: cclmetrics
 *
 * Serves the `stats` of every element of gst-ccl in this process as Prometheus text, at http://127.0.0.1:9464/metrics.
 * docs/metrics.md has the parameters and the metrics.
 *
 * |[
 * GST_TRACERS="cclmetrics(port=9464)" gst-launch-1.0 videotestsrc is-live=true ! cclmotion ! fakesink
 * ]|
 *
 * The server starts with the first element of gst-ccl that is added to a bin. It costs a pipeline nothing while nobody reads the
 * page: the elements count anyway, and it uses no hook of GStreamer's tracers, which would cost microseconds for each frame.
 */

#include "gstcclmetrics.h"
#include "gstcclmetricsserver.h"
#include "gstcclmetricstext.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

GST_DEBUG_CATEGORY_STATIC (gst_ccl_metrics_debug);
#define GST_CAT_DEFAULT gst_ccl_metrics_debug

#define DEFAULT_PORT 9464
#define DEFAULT_ADDRESS "127.0.0.1"

struct _GstCclMetrics
{
  GstTracer parent;
};

/*
 * Of the process, not of the tracer: the handlers of fork() have no argument. A port has one page, and the page all elements,
 * so only the first tracer serves.
 */
static struct
{
  GMutex lock;                  /* of all below; no element's lock is taken while it is held */
  GstCclMetrics *owner;
  gchar *address;
  guint port;
  GPtrArray *elements;          /* of GWeakRef, each freed with its element */
  GstCclMetricsServer *server;
  pid_t pid;                    /* that has tried to start the server; 0: nobody */
} metrics;

G_DEFINE_TYPE (GstCclMetrics, gst_ccl_metrics, GST_TYPE_TRACER);

/* --- what runs --- */

/* The living elements, each with a reference, so that none ends while it is read. */
static GPtrArray *
ref_elements (void)
{
  GPtrArray *const living = g_ptr_array_new_with_free_func (gst_object_unref);

  g_mutex_lock (&metrics.lock);
  for (guint i = 0; metrics.elements && i < metrics.elements->len; i++) {
    GstElement *const element = g_weak_ref_get (g_ptr_array_index (metrics.elements, i));

    if (element)
      g_ptr_array_add (living, element);
  }
  g_mutex_unlock (&metrics.lock);
  return living;
}

/* Names from the element up to the pipeline: "bin0/label0", and the pipeline's. */
static void
name_source (GstElement * element, GstCclMetricsSource * source)
{
  GstObject *object = gst_object_ref (element), *parent;

  source->element = gst_object_get_name (object);
  while ((parent = gst_object_get_parent (object))) {
    g_free (source->pipeline);
    source->pipeline = gst_object_get_name (parent);
    gst_object_unref (object);
    object = parent;

    GstObject *const above = gst_object_get_parent (parent);

    if (above) {
      gchar *const longer = g_strconcat (source->pipeline, "/", source->element, NULL);

      g_free (source->element);
      source->element = longer;
      gst_object_unref (above);
    }
  }
  if (!source->pipeline)
    source->pipeline = g_strdup ("");
  gst_object_unref (object);
}

static GstCclMetricsSource *
source_of_element (GstElement * element)
{
  GstCclMetricsSource *const source = g_new0 (GstCclMetricsSource, 1);

  source->factory = g_strdup (GST_OBJECT_NAME (gst_element_get_factory (element)));
  name_source (element, source);
  g_object_get (element, "stats", &source->stats, NULL);
  return source;
}

static GString *
make_page (void)
{
  GPtrArray *const elements = ref_elements ();
  GPtrArray *const sources = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_ccl_metrics_source_free);
  GString *text;

  for (guint i = 0; i < elements->len; i++)
    g_ptr_array_add (sources, source_of_element (g_ptr_array_index (elements, i)));
  g_ptr_array_unref (elements);
  text = gst_ccl_metrics_text ((const GstCclMetricsSource * const *) sources->pdata, sources->len, PACKAGE_VERSION);
  g_ptr_array_unref (sources);
  return text;
}

/* --- elements that come --- */

static gboolean
is_ours (GstElement * element)
{
  GstElementFactory *const factory = gst_element_get_factory (element);
  GstPlugin *const plugin = factory ? gst_plugin_feature_get_plugin (GST_PLUGIN_FEATURE (factory)) : NULL;
  const GParamSpec *const stats = g_object_class_find_property (G_OBJECT_GET_CLASS (element), "stats");
  gboolean ours;

  if (!plugin)
    return FALSE;
  ours = g_str_equal (gst_plugin_get_source (plugin), PACKAGE) && stats && stats->value_type == GST_TYPE_STRUCTURE;
  gst_object_unref (plugin);
  return ours;
}

/* Under the lock, so that no fork() comes between. A tracer has no bus: what the user has to know goes to stderr. */
static void
start_server (void)
{
  GError *error = NULL;

  metrics.pid = getpid ();
  metrics.server = gst_ccl_metrics_server_new (metrics.address, metrics.port, make_page, &error);
  if (!metrics.server) {
    gst_printerrln ("cclmetrics: no metrics at %s port %u: %s. The pipeline runs on without.", metrics.address,
        metrics.port, error->message);
    g_error_free (error);
    return;
  }
  GST_INFO ("serving at %s port %u", metrics.address, gst_ccl_metrics_server_get_port (metrics.server));
  if (metrics.port == 0)
    gst_printerrln ("cclmetrics: serving at %s port %u", metrics.address,
        gst_ccl_metrics_server_get_port (metrics.server));
}

/* With the element's data, when it is finalized. */
static void
forget_element (gpointer weak)
{
  g_mutex_lock (&metrics.lock);
  if (metrics.elements)
    g_ptr_array_remove_fast (metrics.elements, weak);
  g_mutex_unlock (&metrics.lock);
  g_weak_ref_clear (weak);
  g_free (weak);
}

static GWeakRef *
get_weak_ref (GstElement * element)
{
  const GQuark quark = g_quark_from_static_string ("cclmetrics-element");
  GWeakRef *weak = g_object_get_qdata (G_OBJECT (element), quark);

  if (!weak) {
    weak = g_new0 (GWeakRef, 1);
    g_weak_ref_init (weak, element);
    g_object_set_qdata_full (G_OBJECT (element), quark, weak, forget_element);
  }
  return weak;
}

/* The parameters: the bin and the element. TRUE: go on listening. */
static gboolean
on_element_added (GSignalInvocationHint * hint, guint n_values, const GValue * values, gpointer tracer)
{
  GstElement *const element = n_values > 1 ? g_value_get_object (&values[1]) : NULL;
  GWeakRef *weak;

  if (!element || !is_ours (element))
    return TRUE;
  weak = get_weak_ref (element);
  g_mutex_lock (&metrics.lock);
  if (metrics.owner == GST_CCL_METRICS (tracer)) {
    if (!g_ptr_array_find (metrics.elements, weak, NULL))
      g_ptr_array_add (metrics.elements, weak);
    if (metrics.pid != getpid ())
      start_server ();
  }
  g_mutex_unlock (&metrics.lock);
  return TRUE;
}

static void
listen_to_bins (GstCclMetrics * self)
{
  GTypeClass *const bin = g_type_class_ref (GST_TYPE_BIN);

  g_signal_add_emission_hook (g_signal_lookup ("element-added", GST_TYPE_BIN), 0, on_element_added, self, NULL);
  g_type_class_unref (bin);
}

/* At the end of the process. */
static void
stop_server (void)
{
  GstCclMetricsServer *server;

  g_mutex_lock (&metrics.lock);
  server = g_steal_pointer (&metrics.server);
  g_mutex_unlock (&metrics.lock);
  if (server)
    gst_ccl_metrics_server_free (server);
}

/* --- fork --- */

static void
before_fork (void)
{
  g_mutex_lock (&metrics.lock);
}

static void
after_fork_in_parent (void)
{
  g_mutex_unlock (&metrics.lock);
}

/* The child serves from the first element that it adds to a bin, if the port is free. The parent's elements are not its own. */
static void
after_fork_in_child (void)
{
  if (metrics.server)
    gst_ccl_metrics_server_forget (metrics.server);
  metrics.server = NULL;
  if (metrics.elements)
    g_ptr_array_set_size (metrics.elements, 0);
  g_mutex_unlock (&metrics.lock);
}

/* --- the tracer --- */

/* `params`: what stands in the parentheses of GST_TRACERS. FALSE: a mistake, and it is printed. */
static gboolean
read_params (const gchar * params, gchar ** address, guint * port)
{
  gchar *const text = params && *params ? g_strconcat ("cclmetrics,", params, NULL) : g_strdup ("cclmetrics");
  GstStructure *const structure = gst_structure_from_string (text, NULL);
  gboolean ok = structure != NULL;

  g_free (text);
  for (gint i = 0; ok && i < gst_structure_n_fields (structure); i++) {
    const gchar *const field = gst_structure_nth_field_name (structure, i);
    const GValue *const value = gst_structure_get_value (structure, field);

    if (g_str_equal (field, "port") && G_VALUE_HOLDS_INT (value)) {
      *port = (guint) g_value_get_int (value);
      ok = *port <= G_MAXUINT16;
    } else if (g_str_equal (field, "address") && G_VALUE_HOLDS_STRING (value)) {
      g_free (*address);
      *address = g_value_dup_string (value);
    } else {
      ok = FALSE;
    }
  }
  gst_clear_structure ((GstStructure **) & structure);
  if (!ok)
    gst_printerrln
        ("cclmetrics: wrong parameters: %s. No metrics; give some such as cclmetrics(port=9464,address=127.0.0.1).",
        params);
  return ok;
}

static void
gst_ccl_metrics_constructed (GObject * object)
{
  static gsize has_handlers = 0;
  gchar *params = NULL, *address = g_strdup (DEFAULT_ADDRESS);
  guint port = DEFAULT_PORT;
  gboolean ok;

  G_OBJECT_CLASS (gst_ccl_metrics_parent_class)->constructed (object);
  g_object_get (object, "params", &params, NULL);
  ok = read_params (params, &address, &port);
  g_free (params);

  g_mutex_lock (&metrics.lock);
  if (ok && !metrics.owner) {
    metrics.owner = gst_object_ref (object);    /* GStreamer keeps a tracer for its hooks alone */
    metrics.address = g_steal_pointer (&address);
    metrics.port = port;
    metrics.elements = g_ptr_array_new ();
    metrics.pid = 0;
  } else if (ok) {
    gst_printerrln ("cclmetrics: one is enough, the second is ignored.");
    ok = FALSE;
  }
  g_mutex_unlock (&metrics.lock);
  g_free (address);
  if (!ok)
    return;
  if (g_once_init_enter (&has_handlers)) {
    pthread_atfork (before_fork, after_fork_in_parent, after_fork_in_child);
    atexit (stop_server);
    g_once_init_leave (&has_handlers, 1);
  }
  listen_to_bins (GST_CCL_METRICS (object));
}

static void
gst_ccl_metrics_class_init (GstCclMetricsClass * klass)
{
  GObjectClass *const object_class = G_OBJECT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_ccl_metrics_debug, "cclmetrics", 0, "metrics of gst-ccl over HTTP");
  object_class->constructed = gst_ccl_metrics_constructed;
}

static void
gst_ccl_metrics_init (GstCclMetrics * self)
{
}
