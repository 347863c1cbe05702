/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The backends that the tests of an element run on. */
#ifndef CCL_TEST_BACKENDS_H
#define CCL_TEST_BACKENDS_H

#include <gst/check/gstcheck.h>

#include "skip.h"

extern const gchar *const backends[2];

/* Tests of an element run once for each backend (loop tests over backends). */
#define NEED_BACKEND(index) SKIP_TEST_UNLESS (have_backend (backends[index]), "backend=%s is not there", backends[index])

/* A CUDA context takes a good part of a second to make. One element of the process therefore keeps running, and the
 * others get the context that it returns for a CONTEXT query. NULL without a device. */
GstContext *shared_cuda_context (gboolean * have_cuda);
gboolean have_backend (const gchar * name);

#endif
