/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Inside the base class: what its files share. All functions belong to the streaming thread. */
#ifndef __GST_CCL_ANALYZER_PRIVATE_H__
#define __GST_CCL_ANALYZER_PRIVATE_H__

#include "gstcclanalyzer.h"

G_BEGIN_DECLS

/* gstcclanalyzer.c */
void gst_ccl_analyzer_copy_settings (GstCclAnalyzer * self);
void gst_ccl_analyzer_put_wanted_output (GstCclAnalyzer * self);
void gst_ccl_analyzer_take_output (GstCclAnalyzer * self);
void gst_ccl_analyzer_set_in_place (GstCclAnalyzer * self);
void gst_ccl_analyzer_discard_frames (GstCclAnalyzer * self);
GstCclFrame *gst_ccl_analyzer_nth_frame (GstCclAnalyzer * self, guint n);
gboolean gst_ccl_analyzer_map_frame (GstCclAnalyzer * self, GstCclFrame * frame, GError ** error);
void gst_ccl_analyzer_unmap_frame (GstCclAnalyzer * self, GstCclFrame * frame);
CclStatus gst_ccl_analyzer_submit_frame (GstCclAnalyzer * self, GstCclFrame * frame);
void gst_ccl_analyzer_post_frame_error (GstCclAnalyzer * self, GError * error);

/* gstcclanalyzerbackend.c */
void gst_ccl_analyzer_close_context (GstCclAnalyzer * self);
void gst_ccl_analyzer_post_open_error (GstCclAnalyzer * self, CclStatus status, const gchar * message);

/* gstcclanalyzerpads.c */
void gst_ccl_analyzer_init_pads (GstCclAnalyzerClass * klass);

G_END_DECLS

#endif
