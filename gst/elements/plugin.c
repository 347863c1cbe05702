/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ccl.h"
#include "label/gstccllabel.h"
#include "json/gstcclmeta2json.h"
#include "remap/gstcclmetaremap.h"
#include "motion/gstcclmotion.h"
#ifdef HAVE_OVERLAY
# include "overlay/gstccloverlay.h"
#endif
#include "track/gstccltrack.h"
#include "zone/gstcclzone.h"

/* The abilities of this build, for gst-inspect-1.0. */
static void
add_status (GstPlugin * plugin)
{
#if GST_CHECK_VERSION (1, 24, 0)
  if (!ccl_backend_built (CCL_BACKEND_CUDA))
    gst_plugin_add_status_warning (plugin, "Built without the CUDA toolkit: masks are analysed on the CPU only");
#ifdef HAVE_GST_CUDA
  gst_plugin_add_status_info (plugin, "Built with libgstcuda: takes masks in memory:CUDAMemory");
#else
  gst_plugin_add_status_info (plugin, "Built without libgstcuda: takes masks in system memory only");
#endif
#else
  (void) plugin;
#endif
}

static gboolean
plugin_init (GstPlugin * plugin)
{
  gboolean ok = FALSE;

  add_status (plugin);
  ok |= GST_ELEMENT_REGISTER (ccllabel, plugin);
  ok |= GST_ELEMENT_REGISTER (cclmeta2json, plugin);
  ok |= GST_ELEMENT_REGISTER (cclmetaremap, plugin);
  ok |= GST_ELEMENT_REGISTER (cclmotion, plugin);
#ifdef HAVE_OVERLAY
  ok |= GST_ELEMENT_REGISTER (ccloverlay, plugin);
#endif
  ok |= GST_ELEMENT_REGISTER (ccltrack, plugin);
  ok |= GST_ELEMENT_REGISTER (cclzone, plugin);
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, ccl, "Blob analysis: connected components of masks",
    plugin_init, PACKAGE_VERSION, "LGPL", PACKAGE_NAME, PACKAGE_ORIGIN)
