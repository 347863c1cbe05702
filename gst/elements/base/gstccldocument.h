/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the page of an element is installed, as gst-inspect-1.0 shows it. */
#ifndef __GST_CCL_DOCUMENT_H__
#define __GST_CCL_DOCUMENT_H__

#include <gst/gst.h>

#define gst_ccl_element_class_set_document(klass, name) \
  gst_element_class_add_static_metadata (klass, GST_ELEMENT_METADATA_DOC_URI, "file://" DOC_FOLDER "/docs/elements/" name ".md")

#endif
