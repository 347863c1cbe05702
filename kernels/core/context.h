/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CORE_CONTEXT_H
#define CCL_CORE_CONTEXT_H

#include "backend.h"

/* Fails when an earlier call left the context unusable. */
CclStatus ccl_check_usable(const CclContext *context);

#endif
