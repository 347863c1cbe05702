/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Without nvcc there is no device; device_count() says so and nothing else is called. */
#include "device.h"

#include <stdlib.h>

int device_count(void)
{
    return 0;
}

const char *device_description(void)
{
    return "none";
}

size_t device_free_bytes(void)
{
    abort();
}

void *device_alloc(size_t size)
{
    (void)size;
    abort();
}

void device_free(void *memory)
{
    if (memory)
        abort();
}

void device_upload(void *device, const void *host, size_t size)
{
    (void)device, (void)host, (void)size;
    abort();
}

void device_download(void *host, const void *device, size_t size)
{
    (void)host, (void)device, (void)size;
    abort();
}

void device_synchronize(void)
{
}

void *device_stream_new(void)
{
    abort();
}

void device_stream_free(void *stream)
{
    (void)stream;
    abort();
}

void device_delayed_copy(void *stream, void *target, const void *source, size_t size, double idle_us)
{
    (void)stream, (void)target, (void)source, (void)size, (void)idle_us;
    abort();
}

double device_null_us(void *target, void *const *sources, unsigned n_sources, size_t size, void *labels, unsigned n)
{
    (void)target, (void)sources, (void)n_sources, (void)size, (void)labels, (void)n;
    abort();
}

void *device_event_new(void)
{
    abort();
}

void device_event_free(void *event)
{
    (void)event;
    abort();
}

void device_event_record(void *event, void *stream)
{
    (void)event, (void)stream;
    abort();
}

void device_stream_wait(void *stream, void *event)
{
    (void)stream, (void)event;
    abort();
}

double device_event_us(void *begin, void *end)
{
    (void)begin, (void)end;
    abort();
}
