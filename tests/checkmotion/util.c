/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "checkmotion.h"

#include <stdarg.h>

unsigned n_checks, n_failures;
uint32_t random_state = 1;

void *must(void *memory)
{
    if (!memory) {
        fprintf(stderr, "checkmotion: out of memory\n");
        exit(2);
    }
    return memory;
}

void need(CclStatus status)
{
    if (status == CCL_OK)
        return;
    fprintf(stderr, "checkmotion: %s\n", ccl_error_message());
    exit(1);
}

uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(random_state >> 8) * n >> 24);
}

bool check(bool passed, const char *format, ...)
{
    va_list args;
    n_checks++;
    if (passed)
        return true;
    n_failures++;
    va_start(args, format);
    printf("FAILED: ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
    return false;
}
