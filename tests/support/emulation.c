/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "emulation.h"

#include "ccl.h"

void
find_device_again (void)
{
  emulate_fail (0, 0, 0, false);
  for (unsigned i = ccl_n_devices (); i-- > 0;)
    ccl_device_free (ccl_device_alloc (16, (int) i));   /* waits */
  emulate_fail (0, 0, 0, false);
  emulate_reports (true);
}

void
end_lost_stream (GstHarness * harness, GstBus * bus, gboolean lost)
{
  if (lost)
    assert_message (bus, GST_MESSAGE_WARNING, "Continuing on the CPU");
  assert_no_message (bus, GST_MESSAGE_ERROR);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  find_device_again ();
}
