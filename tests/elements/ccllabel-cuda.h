/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the test files of ccllabel-cuda share. */
#ifndef CCLLABEL_CUDA_TEST_H
#define CCLLABEL_CUDA_TEST_H

#include <gst/cuda/cuda-gst.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#include <string.h>

#include "support/backends.h"
#include "support/blobs.h"
#include "support/labelharness.h"
#include "support/masks.h"
#include "support/messages.h"
#include "support/program.h"
#include "support/reference.h"
#include "support/upstream.h"

GstCudaContext *new_context (void);

/* A mask in CUDA memory; written on the host, uploaded by whoever maps it on the device first. From 1.24 on the memory
 * knows the GstCudaStream it is written in. */
GstBuffer *cuda_buffer_of_stream (GstCudaContext * context, gpointer stream, GstVideoFormat format, const Mask * mask);
GstBuffer *cuda_buffer (GstCudaContext * context, GstVideoFormat format, const Mask * mask);
void set_cuda_caps (GstHarness * harness, GstVideoFormat format, const Mask * mask);
GstHarness *harness_with (guint backend, const gchar * settings, GstCudaContext * cuda);
void assert_path (GstHarness * harness, const gchar * expected);

/* The context that an element offers its neighbours, with a reference. */
static inline GstCudaContext *
context_of_element (GstElement * element)
{
  GstQuery *const query = gst_query_new_context (GST_CUDA_CONTEXT_TYPE);
  GstPad *const pad = gst_element_get_static_pad (element, "sink");
  GstCudaContext *cuda = NULL;
  GstContext *context;

  fail_unless (gst_pad_query (pad, query), "no answer to the CONTEXT query");
  gst_query_parse_context (query, &context);
  gst_structure_get (gst_context_get_structure (context), GST_CUDA_CONTEXT_TYPE, GST_TYPE_CUDA_CONTEXT, &cuda, NULL);
  gst_query_unref (query);
  gst_object_unref (pad);
  return cuda;
}

static inline GstCudaContext *
context_of (GstHarness * harness)
{
  return context_of_element (label_of (harness));
}

/* Each adds the tests of a file. */
void ccllabel_cuda_add_memory_tests (Suite * suite);
void ccllabel_cuda_add_streams_tests (Suite * suite);
void ccllabel_cuda_add_contexts_tests (Suite * suite);
void ccllabel_cuda_add_failures_tests (Suite * suite);
void ccllabel_cuda_add_growth_tests (Suite * suite);
void ccllabel_cuda_add_stock_tests (Suite * suite);

#endif
