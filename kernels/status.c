/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char error_message[1024] = "no error";

const char *ccl_error_message(void)
{
    return error_message;
}

CclStatus ccl_fail(CclStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error_message, sizeof error_message, format, args);
    va_end(args);
    return status;
}
