/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The little CUDA that tests and benchmark need themselves: device buffers, copies, events. device.cu, or device_none.c
 * in a build without nvcc, where there never is a device. A CUDA error here ends the program: it is not what is tested.
 */
#ifndef CHECKCCL_DEVICE_H
#define CHECKCCL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many CUDA devices there are; 0 without a driver. */
int device_count(void);
/* "NVIDIA H200, driver 13.0, ..." of the device in use. */
const char *device_description(void);

/* Bytes of device memory that nobody has. */
size_t device_free_bytes(void);

void *device_alloc(size_t size);
void device_free(void *memory);
void device_upload(void *device, const void *host, size_t size);
void device_download(void *host, const void *device, size_t size);
void device_synchronize(void);

/* A stream that does not wait for the default one. */
void *device_stream_new(void);
void device_stream_free(void *stream);
/* On the stream: idles for about this long, then copies between device buffers. A producer that is late. */
void device_delayed_copy(void *stream, void *target, const void *source, size_t size, double idle_us);
/* The GPU's microseconds for one of `n` kernels or more, one after the other in a graph, that read `size` bytes of the sources in turn
 * and, with `labels`, write 4 * size bytes there. `target` takes a word. */
double device_null_us(void *target, void *const *sources, unsigned n_sources, size_t size, void *labels, unsigned n);

/* Events. record: on this stream. elapsed: microseconds between two, after waiting for the second. */
void *device_event_new(void);
void device_event_free(void *event);
void device_event_record(void *event, void *stream);
void device_stream_wait(void *stream, void *event);
double device_event_us(void *begin, void *end);

#ifdef __cplusplus
}
#endif

#endif
