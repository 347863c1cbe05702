/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CHECKCCL_API_H
#define CHECKCCL_API_H

#include "checkccl.h"

/* A configuration of the method for masks of up to 40x30. */
CclConfig small_config(const Subject *subject);
/* NULL after a failed check. */
CclContext *open_or_fail(Session *session, const Subject *subject, const CclConfig *config);

/* api_errors.c */
void check_methods(Session *session);
void check_no_cuda(Session *session);
void check_config_errors(Session *session, const Subject *subject);
void check_frame_errors(Session *session, const Subject *subject);

#endif
