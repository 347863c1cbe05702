/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Method "feedback": regions of the mask, by union-find over runs. A row is cut into runs of pixels that are set, which have 8
 * neighbours, and of pixels that are not, which have 4. */
#include "cpu_feedback.h"

#include "host/words.h"

#include <stdlib.h>

/* A run, and sums of its component, which are complete in the root. Runs are in raster order and a root is the first of its
 * component: so it begins with the component's first pixel. */
typedef struct FeedbackRun {
    uint32_t x0, x1; /* half-open */
    uint32_t y;
    uint32_t parent;
    uint32_t above; /* the run above the first pixel */
    bool is_set, at_border, keep;
    uint64_t area, explained; /* pixels */
} FeedbackRun;

struct FeedbackRuns {
    FeedbackRun *runs;
    uint32_t n, capacity;
    FeedbackRegion *regions; /* one per run; the root's counts */
    uint32_t n_regions;
};

FeedbackRuns *feedback_runs_new(void)
{
    return calloc(1, sizeof(FeedbackRuns));
}

void feedback_runs_free(FeedbackRuns *runs)
{
    if (!runs)
        return;
    free(runs->runs);
    free(runs->regions);
    free(runs);
}

/* Space for the runs of another row. */
static CclStatus reserve(FeedbackRuns *runs, uint32_t width)
{
    if (runs->capacity - runs->n > width)
        return CCL_OK;
    const uint32_t capacity = runs->n + width + 1 > 2 * runs->capacity ? runs->n + width + 1 : 2 * runs->capacity;
    FeedbackRun *const grown = realloc(runs->runs, capacity * sizeof *grown);
    if (!grown)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for %u runs of a motion mask", capacity);
    runs->runs = grown;
    runs->capacity = capacity;
    return CCL_OK;
}

static uint32_t root_of(FeedbackRun *runs, uint32_t i)
{
    while (runs[i].parent != i)
        i = runs[i].parent = runs[runs[i].parent].parent;
    return i;
}

static void join(FeedbackRun *runs, uint32_t a, uint32_t b)
{
    const uint32_t x = root_of(runs, a), y = root_of(runs, b);
    if (x < y)
        runs[y].parent = x;
    else
        runs[x].parent = y;
}

/* The end of the run that begins at x: the next pixel with another value, or the width. */
static uint32_t end_of_run(const uint64_t *row, uint32_t x, uint32_t width, bool is_set)
{
    const uint64_t flip = is_set ? ~(uint64_t)0 : 0;
    uint32_t w = x / 64;
    uint64_t other = (row[w] ^ flip) & ~below(x % 64);
    while (!other && ++w < (width + 63) / 64)
        other = row[w] ^ flip;
    const uint32_t end = other ? w * 64 + lowest(other) : width;
    return end < width ? end : width;
}

static void cut_row(FeedbackRuns *runs, const MotionBits *bits, uint32_t y)
{
    const uint64_t *const row = bits->image + (size_t)y * bits->words;
    for (uint32_t x = 0; x < bits->width;) {
        const bool is_set = row[x / 64] >> x % 64 & 1;
        const uint32_t end = end_of_run(row, x, bits->width, is_set), i = runs->n++;
        runs->runs[i] = (FeedbackRun){ .x0 = x,
                                       .x1 = end,
                                       .y = y,
                                       .parent = i,
                                       .is_set = is_set,
                                       .at_border = !x || !y || end == bits->width || y + 1 == bits->height };
        x = end;
    }
}

/* Joins the runs first..n-1 of a row with those of the row above, which end where these begin. */
static void join_rows(FeedbackRuns *all, uint32_t above, uint32_t first)
{
    FeedbackRun *const runs = all->runs;
    for (uint32_t i = first, j = above; i < all->n; i++) {
        while (runs[j].x1 <= runs[i].x0)
            j++;
        runs[i].above = j;
        /* A set run also touches the runs diagonally before and after it. */
        if (runs[i].is_set && j > above && runs[j].x0 == runs[i].x0 && runs[j - 1].is_set)
            join(runs, i, j - 1);
        for (uint32_t k = j; k < first && runs[k].x0 < runs[i].x1 + runs[i].is_set; k++)
            if (runs[k].is_set == runs[i].is_set)
                join(runs, i, k);
    }
}

static CclStatus find_runs(FeedbackRuns *runs, const MotionBits *bits)
{
    runs->n = 0;
    for (uint32_t y = 0, above = 0; y < bits->height; y++) {
        const uint32_t first = runs->n;
        CCL_TRY(reserve(runs, bits->width));
        cut_row(runs, bits, y);
        if (y)
            join_rows(runs, above, first);
        above = first;
    }
    return CCL_OK;
}

/* Calls for each word of a run with the bits of it that the run covers. */
#define FOR_WORDS_OF_RUN(run, w, covered)                             \
    for (uint32_t w = (run)->x0 / 64; w <= ((run)->x1 - 1) / 64; w++) \
        for (uint64_t covered = covered_bits(run, w); covered; covered = 0)

static uint64_t covered_bits(const FeedbackRun *run, uint32_t w)
{
    const uint64_t from = w == run->x0 / 64 ? ~below(run->x0 % 64) : ~(uint64_t)0;
    const uint64_t to = w == run->x1 / 64 ? below(run->x1 % 64) : ~(uint64_t)0;
    return from & to;
}

/* ---------------------------------------------------------------- blobs */

static void count_run(const CpuFeedback *f, FeedbackRun *runs, uint32_t i)
{
    const FeedbackRun *const run = &runs[i];
    FeedbackRun *const root = &runs[root_of(runs, i)];
    root->at_border |= run->at_border;
    root->area += run->x1 - run->x0;
    if (!run->is_set)
        return;
    FOR_WORDS_OF_RUN(run, w, covered)
    {
        const size_t word = (size_t)run->y * f->luma.words + w;
        root->explained += ones(f->explained[word] & covered);
    }
}

static void paint_run(const MotionBits *bits, const FeedbackRun *run, bool set)
{
    FOR_WORDS_OF_RUN(run, w, covered)
    {
        uint64_t *const word = bits->image + (size_t)run->y * bits->words + w;
        *word = set ? *word | covered : *word & ~covered;
    }
}

CclStatus feedback_judge_blobs(CpuFeedback *f, FeedbackRuns *all)
{
    const uint64_t max_hole = (uint64_t)f->luma.width * f->luma.height / FEEDBACK_HOLE_PART;
    CCL_TRY(find_runs(all, &f->mask));
    FeedbackRun *const runs = all->runs;
    for (uint32_t i = 0; i < all->n; i++)
        count_run(f, runs, i);
    for (uint32_t i = 0; i < all->n; i++) { /* roots come before the rest, and what encloses a hole before the hole */
        FeedbackRun *const run = &runs[i];
        const uint32_t root = root_of(runs, i);
        if (root != i)
            run->keep = runs[root].keep;
        else if (run->is_set)
            run->keep = !feedback_blob_is_explained(run->area, run->explained);
        else
            run->keep = !run->at_border && run->area < max_hole && runs[run->above].keep;
        if (run->keep != run->is_set)
            paint_run(&f->mask, run, run->keep);
    }
    return CCL_OK;
}

/* ---------------------------------------------------------------- still regions */

static bool bit_at(const MotionBits *bits, int x, int y)
{
    return bits->image[(size_t)y * bits->words + (size_t)x / 64] >> x % 64 & 1;
}

static size_t pixel_at(const FeedbackSize *size, int x, int y)
{
    return (size_t)y * size->words * 64 + (size_t)x;
}

static void add_outline(const CpuFeedback *f, FeedbackRegion *region, int x, int y, int dx, int dy)
{
    const FeedbackModel *const m = &f->model;
    const int width = (int)f->luma.width, height = (int)f->luma.height;
    const int px = x - dx * FEEDBACK_OUTLINE_INSIDE, py = y - dy * FEEDBACK_OUTLINE_INSIDE;
    const int qx = x + dx * FEEDBACK_OUTLINE_OUTSIDE, qy = y + dy * FEEDBACK_OUTLINE_OUTSIDE;
    if (qx < 0 || qy < 0 || qx >= width || qy >= height || px < 0 || py < 0 || px >= width || py >= height)
        return;
    if (bit_at(&f->still, x + dx, y + dy) || bit_at(&f->mask, qx, qy) || !bit_at(&f->still, px, py))
        return;
    const size_t p = pixel_at(&f->luma, px, py), q = pixel_at(&f->luma, qx, qy);
    feedback_add_outline(region, m->candidate[p], m->mean[p], f->value[q], m->mean[q]);
    if (!f->chroma.width)
        return;
    const size_t c = pixel_at(&f->chroma, px / 2, py / 2), d = pixel_at(&f->chroma, qx / 2, qy / 2);
    for (unsigned k = 0; k < 2; k++)
        feedback_add_outline(region, m->uv_candidate[k][c], m->uv_mean[0][k][c], f->uv[k][d], m->uv_mean[0][k][d]);
}

/* Pixels of the run with a neighbour left, right, above or below that is not set. */
static uint64_t outline_bits(const MotionBits *bits, const FeedbackRun *run, uint32_t w)
{
    const uint64_t *const row = bits->image + (size_t)run->y * bits->words;
    const uint64_t here = row[w];
    const uint64_t left = here << 1 | (w ? row[w - 1] >> 63 : 0);
    const uint64_t right = here >> 1 | (w + 1 < bits->words ? row[w + 1] << 63 : 0);
    const uint64_t above = run->y ? row[(ptrdiff_t)w - (ptrdiff_t)bits->words] : 0;
    const uint64_t below_it = run->y + 1 < bits->height ? row[w + bits->words] : 0;
    return ~(left & right & above & below_it);
}

static void measure_run(const CpuFeedback *f, const FeedbackRun *run, FeedbackRegion *region)
{
    const uint16_t *const still = f->model.still + pixel_at(&f->luma, 0, (int)run->y);
    region->area += run->x1 - run->x0;
    for (uint32_t x = run->x0; x < run->x1; x++)
        region->motionless += still[x] >= FEEDBACK_MOTIONLESS;
    FOR_WORDS_OF_RUN(run, w, covered)
    for (uint64_t todo = outline_bits(&f->still, run, w) & covered; todo; todo &= todo - 1) {
        const int x = (int)(w * 64 + lowest(todo)), y = (int)run->y;
        add_outline(f, region, x, y, 1, 0), add_outline(f, region, x, y, -1, 0);
        add_outline(f, region, x, y, 0, 1), add_outline(f, region, x, y, 0, -1);
    }
}

void feedback_absorb_pixel(CpuFeedback *f, uint32_t x, uint32_t y)
{
    const FeedbackModel *const m = &f->model;
    const size_t p = pixel_at(&f->luma, (int)x, (int)y);
    feedback_absorb(m->candidate[p], &m->mean[p], &m->weight[p], &m->rest[p], &m->still[p], &m->ghost[p]);
    f->last_mask[(size_t)y * f->luma.words + x / 64] &= ~((uint64_t)1 << x % 64);
    if (!f->chroma.width)
        return;
    const size_t c = pixel_at(&f->chroma, (int)x / 2, (int)y / 2);
    for (unsigned k = 0; k < 2; k++)
        m->uv_mean[0][k][c] = m->uv_candidate[k][c];
    m->uv_weight[c] = FEEDBACK_ABSORBED;
}

static void age_run(CpuFeedback *f, const FeedbackRun *run, uint32_t more)
{
    uint8_t *const ghost = f->model.ghost + pixel_at(&f->luma, 0, (int)run->y);
    for (uint32_t x = run->x0; x < run->x1; x++) {
        ghost[x] = (uint8_t)(more ? feedback_min(ghost[x] + more, 255) : 0);
        if (ghost[x] >= FEEDBACK_GHOST)
            feedback_absorb_pixel(f, x, run->y);
    }
}

CclStatus feedback_judge_still(CpuFeedback *f, FeedbackRuns *all)
{
    CCL_TRY(find_runs(all, &f->still));
    if (all->n > all->n_regions) {
        FeedbackRegion *const grown = realloc(all->regions, all->n * sizeof *grown);
        if (!grown)
            return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for %u regions of a motion mask", all->n);
        all->regions = grown;
        all->n_regions = all->n;
    }
    for (uint32_t i = 0; i < all->n; i++) {
        all->regions[i] = (FeedbackRegion){ 0 };
        if (all->runs[i].is_set)
            measure_run(f, &all->runs[i], &all->regions[root_of(all->runs, i)]);
    }
    for (uint32_t i = 0; i < all->n; i++)
        if (all->runs[i].is_set)
            age_run(f, &all->runs[i], feedback_ghost_step(&all->regions[root_of(all->runs, i)], &f->frame));
    return CCL_OK;
}
