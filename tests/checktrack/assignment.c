/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The assignment against an exhaustive reference. */
#include "checktrack.h"

#include "analysis/assignment.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define MAX_COLUMNS 9

/* Least cost of rows `row` and up, where `taken` columns are gone. */
static double min_cost(const double *cost, uint32_t rows, uint32_t columns, double alone, uint32_t row,
                         uint32_t taken)
{
    if (row == rows)
        return 0;
    double minimum = alone + min_cost(cost, rows, columns, alone, row + 1, taken);
    for (uint32_t c = 0; c < columns; c++)
        if (!(taken >> c & 1) && isfinite(cost[row * columns + c]))
            minimum = fmin(minimum, cost[row * columns + c] + min_cost(cost, rows, columns, alone, row + 1, taken | 1u << c));
    return minimum;
}

/* Cost of an assignment; every row has one of its pairs, no column is there twice. */
static double cost_of(const double *cost, uint32_t rows, uint32_t columns, double alone, const uint32_t *column_of)
{
    uint32_t taken = 0;
    double sum = 0;
    for (uint32_t r = 0; r < rows; r++) {
        if (column_of[r] == CCL_ASSIGN_ALONE) {
            sum += alone;
            continue;
        }
        CHECK(column_of[r] < columns && !(taken >> column_of[r] & 1), "row %u has column %u", r, column_of[r]);
        CHECK(isfinite(cost[r * columns + column_of[r]]), "no pair %u, %u", r, column_of[r]);
        taken |= 1u << column_of[r];
        sum += cost[r * columns + column_of[r]];
    }
    return sum;
}

static void check_assignment(uint32_t rows, uint32_t columns, double density, double steps)
{
    double cost[6 * MAX_COLUMNS];
    CclPair pairs[6 * MAX_COLUMNS];
    uint32_t n_pairs = 0, column_of[6];

    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t c = 0; c < columns; c++) {
            double *const cell = &cost[r * columns + c];
            *cell = random_within(0, 1) < density ? floor(random_within(0, 3) * steps) / steps : INFINITY;
            if (isfinite(*cell))
                pairs[n_pairs++] = (CclPair){ r, c, *cell };
        }
    void *const workspace = malloc(ccl_assign_workspace(rows, columns, n_pairs) + 1);
    ccl_assign(&(CclAssignment){ pairs, n_pairs, rows, columns, 2 }, column_of, workspace);
    free(workspace);
    const double found = cost_of(cost, rows, columns, 2, column_of);
    const double minimum = min_cost(cost, rows, columns, 2, 0, 0);
    CHECK(fabs(found - minimum) < 1e-9, "%ux%u: cost %g, could be %g", rows, columns, found, minimum);
}

void test_assignment_is_optimal(void)
{
    for (uint32_t i = 0; i < 20000; i++) /* few steps: many equal costs */
        check_assignment(random_below(7), random_below(MAX_COLUMNS - 2), random_within(0, 1), i % 2 ? 3 : 1e6);
}

/* All want the same: the limit of steps must hold, the result must still be an assignment. */
void test_assignment_of_a_crowd(void)
{
    enum { N = 4000, EACH = 16 };
    CclPair *const pairs = malloc(N * EACH * sizeof *pairs);
    uint32_t *const column_of = malloc(N * sizeof *column_of);
    char *const taken = calloc(N, 1);
    void *const workspace = malloc(ccl_assign_workspace(N, N, N * EACH));
    uint32_t n_placed = 0;

    for (uint32_t i = 0; i < N * EACH; i++)
        pairs[i] = (CclPair){ i / EACH, (i / EACH * 7 + i % EACH * i % EACH) % (N / 2), 1 + 1e-6 * random_below(3) };
    const clock_t begin = clock();
    ccl_assign(&(CclAssignment){ pairs, N * EACH, N, N, 2 }, column_of, workspace);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    for (uint32_t r = 0; r < N; r++) {
        if (column_of[r] == CCL_ASSIGN_ALONE)
            continue;
        CHECK(column_of[r] < N && !taken[column_of[r]], "row %u has column %u", r, column_of[r]);
        taken[column_of[r]] = 1;
        n_placed++;
    }
    CHECK(n_placed > N / 4, "%u of %d rows have a column", n_placed, N);
    printf("    %d rows that want the same columns: %.1f ms\n", N, 1e3 * seconds);
    free(workspace);
    free(taken);
    free(column_of);
    free(pairs);
}

/* Rows that fill a band of columns, and rows that each push all of them aside: the steps of 64 of these are allowed. The next
 * ones take the best free column, which they do not have. */
void test_limit_of_steps(void)
{
    enum { BAND = 500, EACH = 200, MORE = EACH - 1, N = BAND + MORE };
    CclPair *const pairs = malloc((BAND * EACH + MORE) * sizeof *pairs);
    uint32_t column_of[N], n_pairs = 0, n_placed = 0;
    void *const workspace = malloc(ccl_assign_workspace(N, N + 1, BAND * EACH + MORE));

    for (uint32_t r = 0; r < BAND; r++)
        for (uint32_t i = 0; i < EACH; i++)
            pairs[n_pairs++] = (CclPair){ r, r + i, i };
    for (uint32_t r = 0; r < MORE; r++)
        pairs[n_pairs++] = (CclPair){ BAND + r, r, 0 };
    ccl_assign(&(CclAssignment){ pairs, n_pairs, N, N + 1, 1e9 }, column_of, workspace);
    for (uint32_t r = BAND; r < N; r++)
        n_placed += column_of[r] != CCL_ASSIGN_ALONE;
    CHECK(n_placed >= 60 && n_placed <= 70, "%u of %d rows were placed", n_placed, MORE);
    free(workspace);
    free(pairs);
}
