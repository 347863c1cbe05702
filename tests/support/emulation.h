/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The emulated device, as tests/emulate/emulate.h has it, and how it fails. */
#ifndef CCL_TEST_EMULATION_H
#define CCL_TEST_EMULATION_H

#include <stdbool.h>

#include "messages.h"

#define ERROR_NO_MEMORY 2
#define ERROR_LAUNCH_FAILURE 719

void emulate_fail (const char *call, unsigned n, int error, bool lost);
unsigned emulate_calls (void);
unsigned emulate_n_allocated (void);
unsigned emulate_reports (bool forgive);

/* Makes a lost device usable again: waits for its work and forgives accesses to its lost memory. */
void find_device_again (void);

/* The end of a stream during which the device was lost, or was not: the element said so, and went on. */
void end_lost_stream (GstHarness * harness, GstBus * bus, gboolean lost);

#endif
