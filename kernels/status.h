/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Results of calls, and the error sentence of each thread. */
#ifndef CCL_STATUS_H
#define CCL_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CclStatus {
    CCL_OK = 0,
    CCL_ERROR_ARGUMENT,      /* a size, pointer or value out of its range; nothing was done */
    CCL_ERROR_UNSUPPORTED,   /* the method does not do this, or the build lacks the backend */
    CCL_ERROR_NO_DEVICE,     /* no CUDA driver, or no device with this index */
    CCL_ERROR_OUT_OF_MEMORY, /* host or device memory exhausted */
    CCL_ERROR_DEVICE,        /* a CUDA call or kernel failed; free the context and make a new one */
} CclStatus;

/* Describes the error of this thread's last call that did not return CCL_OK: one English sentence that names the value or the
 * device call. Owned by the library, valid until the thread's next failing call. Never NULL. */
const char *ccl_error_message(void);

/* Inside the core: stores the thread's error sentence (printf style) and returns `status`, so that callers write
 * `return ccl_fail(CCL_ERROR_ARGUMENT, "...")`. */
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
CclStatus ccl_fail(CclStatus status, const char *format, ...);

/* Returns from the calling function when `call` fails. */
#define CCL_TRY(call)                    \
    do {                                 \
        const CclStatus status_ = (call); \
        if (status_ != CCL_OK)           \
            return status_;              \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
