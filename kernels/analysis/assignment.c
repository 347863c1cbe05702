/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "assignment.h"

#include <math.h>
#include <stdbool.h>

#define NONE UINT32_MAX

/* Limit of the steps of a problem: a number for each pair, plus a constant so that small problems are always solved. */
static const uint64_t STEPS_PER_PAIR = 64;
static const uint64_t MIN_STEPS = 100000;

typedef struct Entry {
    double distance;
    uint32_t column;
} Entry;

typedef struct Solver {
    const CclPair *pairs;
    uint32_t *first;   /* of each row, its pairs are first[row] to first[row + 1] - 1 */
    uint32_t *pair_of; /* of each row: its assigned pair, or NONE */
    uint32_t *row_of;  /* of each column: its assigned row, or NONE */
    double *price;     /* of each column; 0 or less */
    double alone;
    uint64_t steps_left;
    /* State of one search: the distances of columns from the row that needs one. */
    double *distance;  /* INFINITY: not reached */
    uint32_t *via;     /* the pair by which a column was reached */
    bool *passed;      /* its distance is final */
    uint32_t *reached; /* columns to reset after the search */
    uint32_t n_reached;
    Entry *heap; /* may contain a column several times; the nearest entry counts */
    uint32_t n_heap;
    double end_distance; /* of the best reached row that could stay alone instead */
    uint32_t end_row;
} Solver;

/* ---------------------------------------------------------------- heap */

static bool nearer(const Entry *a, const Entry *b)
{
    return a->distance < b->distance || (a->distance == b->distance && a->column < b->column);
}

static void push(Solver *s, Entry entry)
{
    uint32_t i = s->n_heap++;
    while (i > 0 && nearer(&entry, &s->heap[(i - 1) / 2])) {
        s->heap[i] = s->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->heap[i] = entry;
}

static Entry pop(Solver *s)
{
    const Entry top = s->heap[0], last = s->heap[--s->n_heap];
    uint32_t i = 0;
    for (uint32_t child = 1; child < s->n_heap; child = 2 * i + 1) {
        if (child + 1 < s->n_heap && nearer(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!nearer(&s->heap[child], &last))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return top;
}

/* ---------------------------------------------------------------- one search */

/* Relaxes the pairs of `row`, which is `offset` before the start of the search. */
static void relax_pairs(Solver *s, uint32_t row, double offset)
{
    if (s->alone - offset < s->end_distance) {
        s->end_distance = s->alone - offset;
        s->end_row = row;
    }
    for (uint32_t k = s->first[row]; k < s->first[row + 1]; k++) {
        const uint32_t column = s->pairs[k].column;
        const double distance = s->pairs[k].cost - s->price[column] - offset;
        if (s->passed[column] || distance >= s->distance[column] || distance >= s->end_distance)
            continue;
        if (isinf(s->distance[column]))
            s->reached[s->n_reached++] = column;
        s->distance[column] = distance;
        s->via[column] = k;
        push(s, (Entry){ distance, column });
    }
    s->steps_left -= s->steps_left < s->first[row + 1] - s->first[row] ? s->steps_left
                                                                       : s->first[row + 1] - s->first[row];
}

/* The nearest free column, or NONE if it is cheaper to leave end_row alone; `total`: its distance. */
static uint32_t nearest_free(Solver *s, uint32_t row, double *total)
{
    s->n_heap = s->n_reached = 0;
    s->end_distance = INFINITY;
    relax_pairs(s, row, 0);
    while (s->n_heap > 0) {
        const Entry entry = pop(s);
        if (entry.distance >= s->end_distance)
            break;
        if (s->passed[entry.column] || entry.distance > s->distance[entry.column])
            continue;
        if (s->row_of[entry.column] == NONE) {
            *total = entry.distance;
            return entry.column;
        }
        s->passed[entry.column] = true;
        const uint32_t owner = s->row_of[entry.column];
        relax_pairs(s, owner, s->pairs[s->pair_of[owner]].cost - s->price[entry.column] - entry.distance);
    }
    *total = s->end_distance;
    return NONE;
}

/* Reassigns the columns along the path from `column` back to `row`. */
static void augment(Solver *s, uint32_t row, uint32_t column)
{
    uint32_t i = NONE;
    if (column == NONE) {
        i = s->end_row;
        column = s->pair_of[i] == NONE ? NONE : s->pairs[s->pair_of[i]].column;
        s->pair_of[i] = NONE;
    }
    while (i != row) {
        const uint32_t k = s->via[column], before = s->pair_of[s->pairs[k].row];
        i = s->pairs[k].row;
        s->row_of[column] = i;
        s->pair_of[i] = k;
        column = before == NONE ? NONE : s->pairs[before].column;
    }
}

static void place_optimally(Solver *s, uint32_t row)
{
    double total;
    const uint32_t column = nearest_free(s, row, &total);
    for (uint32_t i = 0; i < s->n_reached; i++) {
        const uint32_t c = s->reached[i];
        if (s->passed[c])
            s->price[c] += s->distance[c] - total;
    }
    augment(s, row, column);
    for (uint32_t i = 0; i < s->n_reached; i++) {
        s->distance[s->reached[i]] = INFINITY;
        s->passed[s->reached[i]] = false;
    }
}

static void place_greedily(Solver *s, uint32_t row)
{
    uint32_t best = NONE;
    for (uint32_t k = s->first[row]; k < s->first[row + 1]; k++)
        if (s->row_of[s->pairs[k].column] == NONE && s->pairs[k].cost < (best == NONE ? s->alone : s->pairs[best].cost))
            best = k;
    s->pair_of[row] = best;
    if (best != NONE)
        s->row_of[s->pairs[best].column] = row;
}

/* ---------------------------------------------------------------- the whole */

size_t ccl_assign_workspace(uint32_t n_rows, uint32_t n_columns, uint32_t n_pairs)
{
    return n_pairs * sizeof(Entry) + (size_t)n_columns * (2 * sizeof(double) + 3 * sizeof(uint32_t) + sizeof(bool)) +
           (2 * (size_t)n_rows + 1) * sizeof(uint32_t);
}

/* Largest alignment first. */
static void lay_out(Solver *s, void *workspace, uint32_t n_rows, uint32_t n_columns, uint32_t n_pairs)
{
    s->heap = workspace;
    s->price = (double *)(s->heap + n_pairs);
    s->distance = s->price + n_columns;
    s->row_of = (uint32_t *)(s->distance + n_columns);
    s->via = s->row_of + n_columns;
    s->reached = s->via + n_columns;
    s->first = s->reached + n_columns;
    s->pair_of = s->first + n_rows + 1;
    s->passed = (bool *)(s->pair_of + n_rows);
}

void ccl_assign(const CclAssignment *assignment, uint32_t *column_of, void *workspace)
{
    const CclPair *const pairs = assignment->pairs;
    const uint32_t n_pairs = assignment->n_pairs, n_rows = assignment->n_rows, n_columns = assignment->n_columns;
    Solver s = { .pairs = pairs, .alone = assignment->alone, .steps_left = STEPS_PER_PAIR * n_pairs + MIN_STEPS };

    lay_out(&s, workspace, n_rows, n_columns, n_pairs);
    for (uint32_t c = 0; c < n_columns; c++) {
        s.price[c] = 0;
        s.distance[c] = INFINITY;
        s.row_of[c] = NONE;
        s.passed[c] = false;
    }
    for (uint32_t r = 0, k = 0; r <= n_rows; r++) {
        while (k < n_pairs && pairs[k].row < r)
            k++;
        s.first[r] = k;
    }
    for (uint32_t r = 0; r < n_rows; r++)
        s.pair_of[r] = NONE;

    for (uint32_t r = 0; r < n_rows; r++) {
        if (s.steps_left > 0)
            place_optimally(&s, r);
        else
            place_greedily(&s, r);
    }
    for (uint32_t r = 0; r < n_rows; r++)
        column_of[r] = s.pair_of[r] == NONE ? CCL_ASSIGN_ALONE : pairs[s.pair_of[r]].column;
}
