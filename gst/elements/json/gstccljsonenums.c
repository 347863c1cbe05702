/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccljsonenums.h"

#include "gstccljsonframe.h"
#include "gstccljsontime.h"

GType
gst_ccl_json_schema_get_type (void)
{
  static const GEnumValue values[] = {
    {GST_CCL_JSON_SCHEMA_CCL, "ccl-blob-1: every measure of every blob", "ccl"},
    {GST_CCL_JSON_SCHEMA_DLSTREAMER, "The format of DL Streamer's gvametaconvert", "dlstreamer"},
    {0, NULL, NULL},
  };
  static GType type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclJsonSchema", values));
  return type;
}

GType
gst_ccl_json_time_get_type (void)
{
  static const GEnumValue values[] = {
    {GST_CCL_JSON_TIME_AUTO, "The buffer's reference timestamp, else the pipeline clock if it is UTC, else null",
        "auto"},
    {GST_CCL_JSON_TIME_REFERENCE, "The buffer's reference timestamp (timestamp/x-ntp, timestamp/x-unix), else null",
        "reference"},
    {GST_CCL_JSON_TIME_CLOCK, "Running time on the pipeline clock, whichever it is, converted to UTC", "clock"},
    {GST_CCL_JSON_TIME_SYSTEM, "This machine's time when the line is written", "system"},
    {GST_CCL_JSON_TIME_NONE, "Always null", "none"},
    {0, NULL, NULL},
  };
  static GType type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclJsonTime", values));
  return type;
}
