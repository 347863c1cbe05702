/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The backend: the choice, the context of the core, and another GPU or the CPU after a failure. */

#include "gstcclanalyzerprivate.h"

#include <string.h>

#include "base/gstcclenums.h"

#define GST_CAT_DEFAULT (GST_CCL_ANALYZER_GET_CLASS (self)->category)

static void
post_memory_error (GstCclAnalyzer * self, const gchar * message)
{
  const GstCclAnalyzerTexts *const texts = &GST_CCL_ANALYZER_GET_CLASS (self)->texts;
  const gint gpu = self->cuda.counted;
  gchar *const place = gpu >= 0 ? g_strdup_printf (" on GPU %d", gpu) : g_strdup ("");

  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("Not enough memory to %s%s: %s.", texts->duty, place, message),
      ("%s%s", texts->memory_hint, gpu >= 0 ? " backend=auto continues on the CPU." : ""));
  g_free (place);
}

void
gst_ccl_analyzer_post_open_error (GstCclAnalyzer * self, CclStatus status, const gchar * message)
{
  const GstCclAnalyzerTexts *const texts = &GST_CCL_ANALYZER_GET_CLASS (self)->texts;

  switch (status) {
    case CCL_ERROR_NO_DEVICE:
      GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND, ("No GPU to %s on: %s.", texts->duty, message),
          ("%s", texts->no_device_hint));
      break;
    case CCL_ERROR_OUT_OF_MEMORY:
      post_memory_error (self, message);
      break;
    case CCL_ERROR_DEVICE:
      GST_ELEMENT_ERROR (self, RESOURCE, FAILED, ("The GPU failed: %s.", message),
          ("backend=auto continues on the CPU."));
      break;
    default:
      GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("%s: %s.", texts->settings_error, message),
          ("%s", texts->settings_hint));
      break;
  }
}

void
gst_ccl_analyzer_close_context (GstCclAnalyzer * self)
{
  gst_ccl_cuda_push (&self->cuda);
  GST_CCL_ANALYZER_GET_CLASS (self)->close (self);
  gst_ccl_cuda_pop (&self->cuda);
  self->is_open = FALSE;
}

static CclStatus
open_on (GstCclAnalyzer * self, CclBackendKind kind, gconstpointer request, gchar ** message)
{
  CclStatus status;

  if (kind == CCL_BACKEND_CUDA && !gst_ccl_cuda_open (&self->cuda)) {
    *message = self->cuda.device_id < 0 ? g_strdup ("no CUDA device gives us a context")
        : g_strdup_printf ("there is no CUDA device %d", self->cuda.device_id);
    return CCL_ERROR_NO_DEVICE;
  }
  if (kind == CCL_BACKEND_CPU)
    gst_ccl_cuda_uncount (&self->cuda);
  gst_ccl_cuda_push (&self->cuda);
  status = GST_CCL_ANALYZER_GET_CLASS (self)->open_on (self, kind, request);
  gst_ccl_cuda_pop (&self->cuda);
  if (status == CCL_OK) {
    self->opened_backend = kind == CCL_BACKEND_CUDA ? GST_CCL_BACKEND_CUDA : GST_CCL_BACKEND_CPU;
    return status;
  }
  *message = g_strdup (ccl_error_message ());
  return ccl_backend_built (kind) ? status : CCL_ERROR_NO_DEVICE;
}

static gboolean
is_of_gpu (CclStatus status)
{
  return status == CCL_ERROR_DEVICE || status == CCL_ERROR_OUT_OF_MEMORY || status == CCL_ERROR_NO_DEVICE;
}

/* Says why the element leaves GPU `gpu`, and what it takes instead. A lack of memory is no failure of the GPU. */
static void
warn_of_gpu (GstCclAnalyzer * self, CclStatus status, gint gpu, const gchar * message, const gchar * next)
{
  const GstCclAnalyzerTexts *const texts = &GST_CCL_ANALYZER_GET_CLASS (self)->texts;

  if (status == CCL_ERROR_OUT_OF_MEMORY)
    GST_ELEMENT_WARNING (self, RESOURCE, NO_SPACE_LEFT, ("Not enough memory to %s on GPU %d: %s. "
            "Continuing on %s.", texts->duty, gpu, message, next), ("%s New settings or caps are tried on a GPU again.",
            texts->memory_hint));
  else
    GST_ELEMENT_WARNING (self, RESOURCE, FAILED, ("GPU %d failed: %s. Continuing on %s.", gpu, message, next), (NULL));
}

/* Everything on the GPU is closed. TRUE: another GPU was chosen, and the warning says so. */
static gboolean
change_gpu (GstCclAnalyzer * self, CclStatus status, const gchar * message)
{
  const gint before = self->cuda.counted;
  gchar *next;

  if (!is_of_gpu (status) || !gst_ccl_cuda_change_gpu (&self->cuda, status))
    return FALSE;
  GST_OBJECT_LOCK (self);
  self->stats.gpu_changes++;
  GST_OBJECT_UNLOCK (self);
  next = g_strdup_printf ("GPU %d", self->cuda.counted);
  warn_of_gpu (self, status, before, message, next);
  g_free (next);
  return TRUE;
}

static CclStatus
open_on_a_gpu (GstCclAnalyzer * self, gconstpointer request, gchar ** message)
{
  CclStatus status = open_on (self, CCL_BACKEND_CUDA, request, message);

  while (status != CCL_OK && change_gpu (self, status, *message)) {
    g_clear_pointer (message, g_free);
    status = open_on (self, CCL_BACKEND_CUDA, request, message);
  }
  return status;
}

/* Opening on each GPU failed, and the CPU comes next. */
static void
leave_gpus (GstCclAnalyzer * self, CclStatus status, const gchar * message)
{
  if (status == CCL_ERROR_OUT_OF_MEMORY) {
    if (!self->warned_of_memory)
      warn_of_gpu (self, status, self->cuda.counted, message, "the CPU");
    self->cuda_full = self->warned_of_memory = TRUE;
  } else if (gst_ccl_cuda_is_missed (&self->cuda, status)) {
    self->cuda_lost = TRUE;
    GST_ELEMENT_WARNING (self, RESOURCE, FAILED, ("The GPU cannot be used: %s. Continuing on the CPU.", message),
        (NULL));
  }
}

CclStatus
gst_ccl_analyzer_open (GstCclAnalyzer * self, gpointer request, gchar ** message)
{
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);
  const GstCclRequest *const common = request;
  const gboolean cpu = klass->may_use (self, request, CCL_BACKEND_CPU);
  gchar *why = NULL;
  CclStatus status;

  if (klass->may_use (self, request, CCL_BACKEND_CUDA) && !(cpu && common->no_cuda)) {
    status = open_on_a_gpu (self, request, message);
    if (status == CCL_OK)
      self->warned_of_memory = FALSE;
    if (status == CCL_OK || !cpu)
      return status;
    why = g_steal_pointer (message);
    leave_gpus (self, status, why);
  }
  status = open_on (self, CCL_BACKEND_CPU, request, message);
  if (status == CCL_OK && self->active_backend != GST_CCL_BACKEND_CPU)
    GST_INFO_OBJECT (self, "backend=%s: using the CPU%s%s",
        common->backend == GST_CCL_BACKEND_AUTO ? "auto" : "cpu", why ? " because " : "", why ? why : "");
  g_free (why);
  return status;
}

static void
announce_backend (GstCclAnalyzer * self)
{
  const GstCclRequest *const common = self->request;
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = self->active_backend != self->opened_backend;
  self->active_backend = self->opened_backend;
  self->stats.gpu = self->cuda.counted;
  GST_OBJECT_UNLOCK (self);
  if (!changed)
    return;
  if (self->opened_backend == GST_CCL_BACKEND_CUDA)
    GST_INFO_OBJECT (self, "backend=%s: using CUDA on GPU %d",
        common->backend == GST_CCL_BACKEND_AUTO ? "auto" : "cuda", self->cuda.counted);
  g_object_notify_by_pspec (G_OBJECT (self), GST_CCL_ANALYZER_GET_CLASS (self)->active_backend);
}

static gboolean
is_without_cuda (const GstCclAnalyzer * self)
{
  return self->cuda_lost || self->cuda_full;
}

static gboolean
reopen (GstCclAnalyzer * self, gpointer request)
{
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);
  GstCclRequest *const common = request;
  gchar *message = NULL;
  CclStatus status;

  gst_ccl_analyzer_close_context (self);
  status = (klass->reopen ? klass->reopen : gst_ccl_analyzer_open) (self, request, &message);
  if (status != CCL_OK) {
    gst_ccl_analyzer_post_open_error (self, status, message);
    g_free (message);
    gst_ccl_analyzer_close_context (self);
    return FALSE;
  }
  self->is_open = TRUE;
  /* Opening can change both: it gets a device context, or finds that there is no device. */
  common->cuda_context = self->cuda.current;
  common->no_cuda = is_without_cuda (self);
  memcpy (self->request, request, klass->request_size);
  announce_backend (self);
  if (klass->opened)
    klass->opened (self);
  return TRUE;
}

static void
fill_request (GstCclAnalyzer * self, gpointer request)
{
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);
  GstCclRequest *const common = request;

  memset (request, 0, klass->request_size);
  common->no_cuda = is_without_cuda (self);
  common->cuda_context = self->cuda.current;
  klass->fill_request (self, request);
}

static gboolean
requests_are_equal (GstCclAnalyzer * self, gconstpointer a, gconstpointer b)
{
  const GstCclRequest *const x = a, *const y = b;

  return x->backend == y->backend && x->no_cuda == y->no_cuda && x->cuda_context == y->cuda_context
      && GST_CCL_ANALYZER_GET_CLASS (self)->requests_are_equal (a, b);
}

gboolean
gst_ccl_analyzer_ensure_open (GstCclAnalyzer * self)
{
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);
  gpointer const wanted = g_alloca (klass->request_size);

  if (klass->check_settings && !klass->check_settings (self))
    return FALSE;
  fill_request (self, wanted);
  if (self->is_open && requests_are_equal (self, wanted, self->request))
    return TRUE;
  gst_ccl_analyzer_drain (self);
  /* What was too large for a GPU may fit now. */
  self->cuda_full = FALSE;
  gst_ccl_cuda_forget_full (&self->cuda);
  fill_request (self, wanted);  /* a queued frame may have lost the GPU */
  return reopen (self, wanted);
}

/* Submits a queued frame to a new context. If its mask is in the memory of a lost device and cannot be read, the frame passes
 * without analysis, unless the subclass needs every frame. FALSE: an error was posted. `gpu_status`: the GPU failed. */
static gboolean
resubmit_frame (GstCclAnalyzer * self, GstCclFrame * frame, CclStatus * gpu_status)
{
  const gboolean is_needed = GST_CCL_ANALYZER_GET_CLASS (self)->needs_every_frame;
  GError *error = NULL;
  CclStatus status;

  frame->is_analysed = gst_ccl_analyzer_map_frame (self, frame, is_needed ? &error : NULL);
  if (frame->is_analysed) {
    status = gst_ccl_analyzer_submit_frame (self, frame);
    if (status == CCL_OK)
      return TRUE;
    if (self->active_backend == GST_CCL_BACKEND_CUDA) {
      *gpu_status = status;
      return TRUE;
    }
    if (is_needed)
      gst_ccl_analyzer_post_open_error (self, status, ccl_error_message ());
  } else if (is_needed) {
    gst_ccl_analyzer_post_frame_error (self, error);
  }
  if (is_needed)
    return FALSE;
  gst_ccl_analyzer_unmap_frame (self, frame);
  frame->is_analysed = FALSE;
  return TRUE;
}

/* FALSE: the request allows only the GPU, and an error was posted. */
static gboolean
fall_back_to_cpu (GstCclAnalyzer * self, CclStatus status, const gchar * message)
{
  if (self->active_backend != GST_CCL_BACKEND_CUDA
      || !GST_CCL_ANALYZER_GET_CLASS (self)->may_use (self, self->request, CCL_BACKEND_CPU)) {
    gst_ccl_analyzer_post_open_error (self, status, message);
    return FALSE;
  }
  warn_of_gpu (self, status, self->cuda.counted, message, "the CPU");
  if (status == CCL_ERROR_OUT_OF_MEMORY)
    self->cuda_full = TRUE;
  else
    self->cuda_lost = TRUE;
  return TRUE;
}

static void
unmap_frames (GstCclAnalyzer * self)
{
  for (guint i = 0; i < self->n_frames; i++)
    gst_ccl_analyzer_unmap_frame (self, gst_ccl_analyzer_nth_frame (self, i));
}

/* Chooses the device for the frames that are left. FALSE: an error was posted. */
static gboolean
leave_device (GstCclAnalyzer * self, CclStatus status)
{
  gchar *const message = g_strdup (ccl_error_message ());
  gboolean goes_on = FALSE;

  if (self->active_backend == GST_CCL_BACKEND_CUDA && gst_ccl_cuda_may_change_gpu (&self->cuda)) {
    unmap_frames (self);
    gst_ccl_analyzer_close_context (self);
  }
  if (self->active_backend == GST_CCL_BACKEND_CUDA)
    goes_on = change_gpu (self, status, message);
  if (!goes_on)
    goes_on = fall_back_to_cpu (self, status, message);
  g_free (message);
  return goes_on;
}

/* FALSE: an error was posted. `gpu_status`: the new GPU failed, too. */
static gboolean
resubmit_frames (GstCclAnalyzer * self, CclStatus * gpu_status)
{
  gboolean ok = TRUE;

  *gpu_status = CCL_OK;
  for (guint i = 0; i < self->n_frames && ok && *gpu_status == CCL_OK; i++)
    if (gst_ccl_analyzer_nth_frame (self, i)->is_analysed)
      ok = resubmit_frame (self, gst_ccl_analyzer_nth_frame (self, i), gpu_status);
  return ok;
}

gboolean
gst_ccl_analyzer_continue_elsewhere (GstCclAnalyzer * self, CclStatus status)
{
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);
  gpointer const request = g_alloca (klass->request_size);

  do {                          /* at most once for each GPU */
    self->failed = !leave_device (self, status);
    if (self->failed)
      return FALSE;
    unmap_frames (self);
    memcpy (request, self->request, klass->request_size);
    ((GstCclRequest *) request)->no_cuda = is_without_cuda (self);
    self->failed = !(reopen (self, request) && resubmit_frames (self, &status));
  } while (!self->failed && status != CCL_OK);
  return !self->failed;
}
