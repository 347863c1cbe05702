/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the test programs of ccllabel need. */
#ifndef CCLLABEL_TEST_H
#define CCLLABEL_TEST_H

#include <string.h>

#include "support/backends.h"
#include "support/blobs.h"
#include "support/labelharness.h"
#include "support/masks.h"
#include "support/messages.h"
#include "support/program.h"
#include "support/reference.h"
#include "support/upstream.h"

#endif
