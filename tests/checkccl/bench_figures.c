/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bench_state.h"
#include "device.h"
#include "pictures.h"

#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const product_names[N_PRODUCTS] = { "table", "labels+table", "provisional" };
const Product products[N_PRODUCTS] = { PRODUCT_PROVISIONAL, PRODUCT_TABLE, PRODUCT_LABELS };

double now_us(void)
{
    return 1e6 * seconds();
}

void *must_have(void *memory)
{
    if (!memory) {
        fprintf(stderr, "checkccl: no memory for the benchmark\n");
        exit(2);
    }
    return memory;
}

void must(CclStatus status)
{
    if (status != CCL_OK) {
        fprintf(stderr, "checkccl: benchmark: %s\n", ccl_error_message());
        exit(2);
    }
}

/* ---------------------------------------------------------------- figures */

void add_sample(Figure *figure, double us)
{
    if (figure->n < MAX_ROUNDS)
        figure->samples[figure->n++] = us;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double percentile(Figure *figure, double percent)
{
    qsort(figure->samples, figure->n, sizeof *figure->samples, by_size);
    return figure->samples[(unsigned)((figure->n - 1) * percent / 100 + 0.5)];
}

bool product_wanted(const Bench *bench, Product product)
{
    if (product == PRODUCT_PROVISIONAL && bench->options->filter.min_area) /* these are not filtered */
        return false;
    return kind_wanted(bench->options->products, product_names[product]);
}

/* A line of JSON up to its unit. */
static void print_json(const Bench *bench, Series series, const char *unit)
{
    const unsigned connectivity = series.connectivity;
    const uint32_t n_components = connectivity ? bench->n_components[connectivity == CCL_CONNECT_8] : 0;
    printf("{\"image\":\"%s\",\"width\":%u,\"height\":%u,\"foreground_percent\":%.3f,\"frames\":%u,\"method\":\"%s\","
           "\"connectivity\":%u,\"components\":%u,\"product\":\"%s\",\"measure\":\"%s\",\"unit\":\"%s\",",
           bench->kind, bench->width, bench->height, bench->foreground, bench->n_frames, series.method, connectivity,
           n_components, series.product, series.measure, unit);
}

Series series_of(const Subject *subject, Product product, const char *measure)
{
    return (Series){ subject->name, subject->config.connectivity, product_names[product], measure };
}

void print_figure(const Bench *bench, Series series, Figure *figure, double times)
{
    if (!figure->n)
        return;
    const double median = percentile(figure, 50), low = percentile(figure, 10), high = percentile(figure, 90);
    if (bench->options->json) {
        print_json(bench, series, "us");
        printf("\"median\":%.3f,\"p10\":%.3f,\"p90\":%.3f,\"min\":%.3f,\"rounds\":%u,\"times_null\":%.3f}\n",
               median, low, high, figure->samples[0], figure->n, times);
    } else {
        printf("  %-28s %-13s %-16s %10.2f us  [%.2f, %.2f]", series.method, series.product, series.measure, median, low, high);
        if (times > 0)
            printf("  %.2f x null", times);
        printf("\n");
    }
    fflush(stdout);
}

void print_count(const Bench *bench, const Subject *subject, Product product, const char *measure,
                        const char *unit, double count)
{
    if (bench->options->json) {
        print_json(bench, series_of(subject, product, measure), unit);
        printf("\"median\":%.0f}\n", count);
    } else {
        printf("  %-28s %-13s %-16s %10.0f %s\n", subject->name, product_names[product], measure, count, unit);
    }
}

void print_memory(const Bench *bench, const Subject *subject, Product product, const CclContext *context)
{
    size_t host, device;
    if (!kind_wanted(bench->options->measures, "memory"))
        return;
    ccl_context_memory(context, &host, &device);
    print_count(bench, subject, product, "host_memory", "bytes", (double)host);
    if (subject->config.backend == CCL_BACKEND_CUDA) {
        print_count(bench, subject, product, "device_memory", "bytes", (double)device);
        if (context->algorithm->label)
            print_count(bench, subject, product, "own_memory", "bytes",
                        context->algorithm->bytes_per_pixel * bench->width * bench->height);
    }
}

/* ---------------------------------------------------------------- contexts and masks */

static uint32_t rows_for(const Bench *bench)
{
    const uint32_t n =
        bench->n_components[0] > bench->n_components[1] ? bench->n_components[0] : bench->n_components[1];
    const uint32_t with_margin = n + n / 4 + 4096; /* other frames of the kind may have more */
    return with_margin < CCL_MAX_COMPONENTS ? with_margin : CCL_MAX_COMPONENTS;
}

CclContext *open_context(const Bench *bench, const Subject *subject, unsigned depth, bool labels, bool timing)
{
    CclConfig config = subject->config;
    CclContext *context;
    config.max_width = bench->width;
    config.max_height = bench->height;
    config.max_components = rows_for(bench);
    config.depth = depth;
    config.labels = labels;
    config.timing = timing;
    must(ccl_context_new(&config, &context));
    return context;
}

/* The picture for masks in this memory, in the same. */
static const CclPicture *picture_in(const Bench *bench, CclMemory memory)
{
    static struct {
        CclPicture picture;
        uint32_t width, height;
    } copies[3];
    const CclPicture *const plain = picture_plain(PICTURE_I420, bench->width, bench->height);
    const uint8_t *const luma = plain->luma, *const chroma = plain->chroma[1];
    const size_t size = (size_t)(chroma - luma) + picture_chroma_size(bench->height, 1) * plain->chroma_stride;
    CclPicture *const copy = &copies[memory].picture;
    if (memory == CCL_MEMORY_HOST)
        return plain;
    if (copies[memory].width == bench->width && copies[memory].height == bench->height)
        return copy;
    uint8_t *const to = must_have(memory == CCL_MEMORY_PINNED ? ccl_pinned_alloc(size, 0) : device_alloc(size));
    if (copy->luma && memory == CCL_MEMORY_PINNED)
        ccl_pinned_free((void *)copy->luma);
    else if (copy->luma)
        device_free((void *)copy->luma);
    if (memory == CCL_MEMORY_PINNED)
        memcpy(to, luma, size);
    else
        device_upload(to, luma, size);
    *copy = *plain;
    copy->luma = to;
    for (unsigned k = 0; k < 2; k++)
        copy->chroma[k] = to + ((const uint8_t *)plain->chroma[k] - luma);
    copy->memory = memory;
    copies[memory].width = bench->width, copies[memory].height = bench->height;
    return copy;
}

CclMask mask_at(const Bench *bench, const void *data, CclMemory memory)
{
    return (CclMask){
        .data = data,
        .stride = bench->width,
        .width = bench->width,
        .height = bench->height,
        .memory = memory,
        .picture = picture_in(bench, memory),
    };
}

size_t mask_size(const Bench *bench)
{
    return (size_t)bench->width * bench->height;
}
