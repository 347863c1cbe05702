/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "order.h"

#include "analysis/measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A record by its place in the table, with the value that it is ordered by: smallest first. */
typedef struct Key {
    int64_t value; /* ordered_bits() */
    uint32_t place;
} Key;

struct CclOrderMemory {
    Key *keys;             /* CclContext.capacity of them */
    CclComponent *records; /* max_components */
};

CclStatus ccl_order_open(CclContext *context)
{
    if (context->config.order == CCL_ORDER_RASTER)
        return CCL_OK;
    const size_t n_chosen =
        context->config.max_components < context->capacity ? context->config.max_components : context->capacity;
    struct CclOrderMemory *const order = context->order = calloc(1, sizeof *order);
    if (order) {
        order->keys = calloc(context->capacity, sizeof *order->keys);
        order->records = calloc(n_chosen, sizeof *order->records);
    }
    if (!order || !order->keys || !order->records)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory to order %u components", context->capacity);
    context->host_bytes += context->capacity * sizeof *order->keys + n_chosen * sizeof *order->records;
    return CCL_OK;
}

void ccl_order_close(CclContext *context)
{
    if (!context->order)
        return;
    free(context->order->keys);
    free(context->order->records);
    free(context->order);
}

static bool comes_before(const Key *a, const Key *b)
{
    return a->value != b->value ? a->value < b->value : a->place < b->place;
}

/* Makes heap[0..n) a heap whose top comes last in the order. heap[i+1..n) must be one already. */
static void sink(Key *heap, uint32_t n, uint32_t i)
{
    const Key moved = heap[i];
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && comes_before(&heap[child], &heap[child + 1]))
            child++;
        if (!comes_before(&moved, &heap[child]))
            break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

/* Moves the first n_chosen of n keys to the front. */
static void choose(Key *keys, uint32_t n, uint32_t n_chosen)
{
    for (uint32_t i = n_chosen / 2; i-- > 0;)
        sink(keys, n_chosen, i);
    for (uint32_t i = n_chosen; i < n; i++)
        if (comes_before(&keys[i], &keys[0])) {
            keys[0] = keys[i];
            sink(keys, n_chosen, 0);
        }
    for (uint32_t end = n_chosen; end-- > 1;) {
        const Key last = keys[0];
        keys[0] = keys[end];
        keys[end] = last;
        sink(keys, end, 0);
    }
}

/* Integers in the order of the numbers, because they are compared faster. No NAN. */
static int64_t ordered_bits(double number)
{
    int64_t bits;
    number += 0.0; /* -0 is 0 */
    memcpy(&bits, &number, sizeof bits);
    return bits ^ (bits >> 63 & INT64_MAX);
}

static void fill_keys(const CclContext *context, const CclFrame *frame, uint32_t n)
{
    const CclMeasure measure = ccl_order_number(context->config.order);
    const double sign = ccl_order_is_descending(context->config.order) ? -1 : 1;
    CclMeasuring measuring = { 0 };

    for (uint32_t i = 0; i < n; i++) {
        ccl_measure_next(&measuring, &frame->records[i], frame->shape ? &frame->shape[i] : NULL,
                         frame->hull ? &frame->hull[i] : NULL, frame->holes ? &frame->holes[i] : NULL,
                         frame->intensity ? &frame->intensity[i] : NULL);
        measuring.class_id = frame->class_ids ? &frame->class_ids[i] : NULL;
        const double value = ccl_measure_number(&measuring, measure);
        context->order->keys[i] = (Key){ ordered_bits(isnan(value) ? INFINITY : sign * value), i };
    }
}

void ccl_order_rows(const CclContext *context, CclFrame *frame)
{
    const uint32_t n = frame->table.n_components, max = context->config.max_components;
    const uint32_t n_chosen = n < max ? n : max;
    if (!context->order)
        return;
    Key *const keys = context->order->keys;
    CclComponent *const records = context->order->records;

    fill_keys(context, frame, n);
    choose(keys, n, n_chosen);
    for (uint32_t i = 0; i < n_chosen; i++)
        records[i] = frame->records[keys[i].place];
    memcpy(frame->records, records, n_chosen * sizeof *records);
}
