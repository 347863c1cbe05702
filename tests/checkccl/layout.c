/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Where masks and label images lie. Each slot has a block of host memory between two pages that cannot be touched, and
 * blocks of pinned and device memory made when first asked for. A frame is drawn in a shadow, margins and all:
 *
 *     margin | row 0 | pad | row 1 | pad | ... | last row | margin        mask: garbage in margins and pads
 *                                                                         labels: a pattern that must still be there
 * then copied to its place. On the host one margin is missing: there the guard page begins.
 */
#include "checkccl.h"
#include "device.h"
#include "pictures.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MARGIN = 256, LABELS_GUARD = 0xa5 };

const Layout plain_layout = { .name = "plain", .pixel_size = 1 };

#define HOST CCL_MEMORY_HOST
#define PINNED CCL_MEMORY_PINNED
#define DEVICE CCL_MEMORY_DEVICE
const Layout layouts[] = {
    { "0/255", HOST, HOST, VALUES_0_255, 0, false, 1, 0, 0, true, 0 },
    { "any value", HOST, HOST, VALUES_ANY, 0, false, 1, 7, 3, false, 0 },
    { "threshold 1", DEVICE, DEVICE, VALUES_ANY, 1, false, 1, 1, 0, true, 1 },
    { "threshold 127", DEVICE, DEVICE, VALUES_ANY, 127, false, 1, 0, 1, true, 0 },
    { "threshold 254", PINNED, PINNED, VALUES_ANY, 254, false, 1, 3, 0, false, 0 },
    { "inverted", HOST, DEVICE, VALUES_ANY, 0, true, 1, 5, 5, true, 3 },
    { "inverted, threshold 127", DEVICE, DEVICE, VALUES_ANY, 127, true, 1, 16, 4, true, 16 },
    { "inverted, threshold 254", DEVICE, HOST, VALUES_ANY, 254, true, 1, 64, 16, true, 5 },
    { "0/255 aligned to 64", DEVICE, DEVICE, VALUES_0_255, 0, false, 1, 0, 0, true, 64 },
    { "threshold 200, aligned to 16", DEVICE, DEVICE, VALUES_ANY, 200, false, 1, 16, 0, true, 16 },
    { "0/255 at offset 2", DEVICE, DEVICE, VALUES_0_255, 0, false, 1, 2, 2, true, 2 },
    { "0/255 at offset 4", DEVICE, PINNED, VALUES_0_255, 0, false, 1, 4, 0, true, 4 },
    { "0/255 at offset 8, wide stride", DEVICE, DEVICE, VALUES_0_255, 0, false, 1, 1000, 1000, true, 8 },
    { "at offset 13", PINNED, DEVICE, VALUES_01, 0, false, 1, 11, 1, true, 13 },
    { "16 bit", DEVICE, DEVICE, VALUES_ANY, 0, false, 2, 0, 0, true, 0 },
    { "16 bit, threshold 255", HOST, HOST, VALUES_ANY, 255, false, 2, 2, 0, false, 0 },
    { "16 bit, threshold 256, inverted", DEVICE, DEVICE, VALUES_ANY, 256, true, 2, 6, 3, true, 2 },
    { "16 bit, threshold 32767", PINNED, PINNED, VALUES_ANY, 32767, false, 2, 130, 1, true, 6 },
    { "16 bit, threshold 65534", DEVICE, DEVICE, VALUES_ANY, 65534, false, 2, 14, 0, true, 16 },
    { "16 bit at offset 3, odd stride", DEVICE, HOST, VALUES_ANY, 300, false, 2, 5, 0, true, 3 },
    { "threshold 255", DEVICE, DEVICE, VALUES_ANY, 255, false, 1, 3, 0, true, 0 },
    { "threshold 255, inverted", HOST, HOST, VALUES_ANY, 255, true, 1, 3, 0, true, 0 },
    { "threshold 1000", DEVICE, DEVICE, VALUES_ANY, 1000, false, 1, 0, 0, true, 0 },
    { "threshold 1000, inverted", HOST, HOST, VALUES_ANY, 1000, true, 1, 0, 0, false, 0 },
    { "16 bit, threshold 65535", HOST, HOST, VALUES_ANY, 65535, false, 2, 0, 0, false, 0 },
    { "16 bit, threshold 70000, inverted", DEVICE, HOST, VALUES_ANY, 70000, true, 2, 0, 0, true, 0 },
    { .name = NULL },
};

bool layout_fits(const Layout *layout, const Image *image)
{
    const unsigned largest = layout->pixel_size == 2 ? 65535 : 255;
    if (layout->threshold < largest)
        return true;
    const uint8_t only = layout->invert; /* every value is on the same side */
    for (size_t i = 0; i < (size_t)image->width * image->height; i++)
        if (image->pixels[i] != only)
            return false;
    return true;
}

/* ---------------------------------------------------------------- memory */

typedef struct Block {
    CclMemory memory;
    uint8_t *place;  /* where the frame lies: a copy of the shadow */
    uint8_t *shadow;
    size_t size;     /* of both, margins included */
    size_t shadow_capacity;
    size_t before;   /* margin before row 0 */
    size_t row, stride, height; /* bytes, bytes, rows */
    uint8_t *host;   /* between guard pages */
    size_t host_capacity;
    uint8_t *pinned, *device;
    size_t pinned_capacity, device_capacity;
} Block;

typedef struct Slot {
    Block mask, labels, luma, chroma[2];
    CclPicture picture;
    bool has_labels;
} Slot;

static Slot slots[N_SLOTS];

static void *must(void *memory, const char *what, size_t size)
{
    if (!memory || memory == MAP_FAILED) {
        fprintf(stderr, "checkccl: no memory for %zu bytes of %s\n", size, what);
        exit(2);
    }
    return memory;
}

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t whole_pages(size_t size)
{
    return (size + page_size() - 1) / page_size() * page_size();
}

static void free_host(Block *block)
{
    if (block->host)
        munmap(block->host - page_size(), block->host_capacity + 2 * page_size());
}

static void make_host(Block *block, size_t size)
{
    size = whole_pages(size);
    if (size <= block->host_capacity)
        return;
    free_host(block);
    const size_t with_guards = size + 2 * page_size();
    uint8_t *const map =
        must(mmap(NULL, with_guards, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), "host memory", size);
    block->host = map + page_size();
    block->host_capacity = size;
    must(mprotect(block->host, size, PROT_READ | PROT_WRITE) ? NULL : block->host, "host memory", size);
}

static void make_place(Block *block, const Layout *layout)
{
    switch (block->memory) {
    case CCL_MEMORY_HOST:
        make_host(block, block->size);
        block->place = layout->at_start ? block->host : block->host + block->host_capacity - block->size;
        break;
    case CCL_MEMORY_PINNED:
        if (block->size > block->pinned_capacity) {
            ccl_pinned_free(block->pinned);
            block->pinned = must(ccl_pinned_alloc(block->size, 0), "pinned memory", block->size);
            block->pinned_capacity = block->size;
        }
        block->place = block->pinned;
        break;
    case CCL_MEMORY_DEVICE:
        if (block->size > block->device_capacity) {
            device_free(block->device);
            block->device = device_alloc(block->size);
            block->device_capacity = block->size;
        }
        block->place = block->device;
        break;
    }
}

typedef struct Rows {
    size_t before; /* offset of row 0 from the guard page or the block's begin */
    size_t row, pad, height;
} Rows;

/* Lays out rows and margins, and allocates memory for them. */
static void block_shape(Block *block, const Layout *layout, CclMemory memory, const Rows *rows)
{
    const bool guarded = memory == CCL_MEMORY_HOST;
    block->memory = memory;
    block->row = rows->row, block->stride = rows->row + rows->pad, block->height = rows->height;
    block->before = guarded && !layout->at_start ? MARGIN : rows->before + (guarded ? 0 : MARGIN);
    const size_t after = guarded && !layout->at_start ? 0 : MARGIN;
    block->size = block->before + (block->height - 1) * block->stride + block->row + after;
    if (block->size > block->shadow_capacity) {
        free(block->shadow);
        block->shadow = must(malloc(block->size), "shadow", block->size);
        block->shadow_capacity = block->size;
    }
    make_place(block, layout);
}

static void block_send(Block *block)
{
    if (block->memory == CCL_MEMORY_DEVICE)
        device_upload(block->place, block->shadow, block->size);
    else
        memcpy(block->place, block->shadow, block->size);
}

/* ---------------------------------------------------------------- masks */

/* Something for the bytes that must not matter: neither all background nor all foreground. */
static void fill_garbage(uint8_t *bytes, size_t n, Random *random)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const uint64_t r = random_next(random);
        memcpy(bytes + i, &r, 8);
    }
    for (; i < n; i++)
        bytes[i] = (uint8_t)random_next(random);
}

/* A value on the given side of the threshold. */
static unsigned pick_value(const Layout *layout, bool above, Random *random)
{
    const unsigned largest = layout->pixel_size == 2 ? 65535 : 255;
    const unsigned low = layout->threshold < largest ? layout->threshold : largest;
    switch (layout->values) {
    case VALUES_01:
        return above ? low + 1 : low;
    case VALUES_0_255:
        return above ? largest : 0;
    case VALUES_ANY:
        break;
    }
    return above ? low + 1 + random_below(random, largest - low) : random_below(random, low + 1);
}

static void draw_row(const Layout *layout, const uint8_t *pixels, uint8_t *row, uint32_t width, Random *random)
{
    if (layout->pixel_size == 1 && layout->values != VALUES_ANY) {
        const uint8_t value[2] = { (uint8_t)pick_value(layout, layout->invert, random),
                                   (uint8_t)pick_value(layout, !layout->invert, random) };
        for (uint32_t x = 0; x < width; x++)
            row[x] = value[pixels[x]];
        return;
    }
    for (uint32_t x = 0; x < width; x++) {
        const unsigned value = pick_value(layout, pixels[x] != layout->invert, random);
        const uint16_t wide = (uint16_t)value;
        if (layout->pixel_size == 2)
            memcpy(row + 2 * (size_t)x, &wide, 2);
        else
            row[x] = (uint8_t)value;
    }
}

static void draw_mask(Block *block, const Layout *layout, const Image *image)
{
    Random random = { ((uint64_t)image->width << 32) ^ image->height ^ image->pixels[0] };
    uint8_t *row = block->shadow;
    fill_garbage(row, block->before, &random);
    row += block->before;
    for (uint32_t y = 0; y < image->height; y++, row += block->stride) {
        draw_row(layout, image_at(image, 0, y), row, image->width, &random);
        if (y + 1 < image->height)
            fill_garbage(row + block->row, block->stride - block->row, &random);
    }
    uint8_t *const end = row - block->stride + block->row;
    fill_garbage(end, (size_t)(block->shadow + block->size - end), &random);
}

/* Samples of one component, or of both kinds of chroma in turn. */
static void draw_samples(Block *block, const Case *c, const PictureRow *rows)
{
    Random random = { c->image->width };
    fill_garbage(block->shadow, block->size, &random);
    for (uint32_t y = 0; y < block->height; y++)
        picture_draw_row(&(PictureRow){ rows->kind, rows->component, y, rows->n },
                         block->shadow + block->before + y * block->stride);
}

/* block->memory says where. */
static const uint8_t *place_samples(Block *block, const Case *c, const PictureRow *rows, uint32_t height)
{
    const Layout *const layout = &c->layout;
    const size_t row = picture_row_size(rows);
    block_shape(block, layout, block->memory, &(Rows){ layout->offset, row, layout->mask_pad, height });
    draw_samples(block, c, rows);
    block_send(block);
    return block->place + block->before;
}

static const CclPicture *prepare_picture(Slot *slot, const Case *c, CclMemory memory)
{
    const PictureKind *const kind = &picture_kinds[c->picture];
    const uint32_t width = c->image->width, height = c->image->height;
    const uint32_t n = picture_chroma_size(width, kind->shift_x), rows = picture_chroma_size(height, kind->shift_y);
    CclPicture *const picture = &slot->picture;

    *picture = picture_of_kind(kind);
    picture->memory = slot->luma.memory = slot->chroma[0].memory = slot->chroma[1].memory = memory;
    picture->luma = place_samples(&slot->luma, c, &(PictureRow){ kind, PICTURE_LUMA, 0, width }, height);
    picture->stride = slot->luma.stride;
    if (kind->chroma == PICTURE_GRAY)
        return picture;
    const PictureComponent first = kind->chroma == PICTURE_PLANES ? PICTURE_CB : PICTURE_BOTH;
    picture->chroma[0] = place_samples(&slot->chroma[0], c, &(PictureRow){ kind, first, 0, n }, rows);
    picture->chroma[1] = kind->chroma == PICTURE_PLANES
                             ? place_samples(&slot->chroma[1], c, &(PictureRow){ kind, PICTURE_CR, 0, n }, rows)
                             : (const uint8_t *)picture->chroma[0] + picture->sample_size;
    picture->chroma_stride = slot->chroma[0].stride;
    picture_swap(kind, picture);
    return picture;
}

static CclMemory memory_for(CclBackendKind backend, CclMemory wanted)
{
    return backend == CCL_BACKEND_CUDA ? wanted : CCL_MEMORY_HOST;
}

void layout_prepare(unsigned slot, const Case *c, CclBackendKind backend, CclMask *mask, CclLabels *labels)
{
    const Layout *const layout = &c->layout;
    const Image *const image = c->image;
    Slot *const s = &slots[slot];

    const Rows mask_rows = { layout->offset, (size_t)image->width * layout->pixel_size, layout->mask_pad, image->height };
    block_shape(&s->mask, layout, memory_for(backend, layout->mask_memory), &mask_rows);
    draw_mask(&s->mask, layout, image);
    block_send(&s->mask);
    *mask = (CclMask){
        .data = s->mask.place + s->mask.before,
        .stride = s->mask.stride,
        .width = image->width,
        .height = image->height,
        .pixel_size = layout->pixel_size,
        .threshold = layout->threshold,
        .invert = layout->invert,
        .memory = s->mask.memory,
        .picture = c->features & CCL_FEATURE_INTENSITY ? prepare_picture(s, c, memory_for(backend, layout->labels_memory)) : NULL,
    };

    memset(labels, 0, sizeof *labels);
    s->has_labels = c->product != PRODUCT_TABLE;
    if (!s->has_labels)
        return;
    const Rows label_rows = { 4 * (size_t)layout->offset, 4 * (size_t)image->width, 4 * (size_t)layout->labels_pad,
                              image->height };
    block_shape(&s->labels, layout, memory_for(backend, layout->labels_memory), &label_rows);
    memset(s->labels.shadow, LABELS_GUARD, s->labels.size);
    block_send(&s->labels);
    *labels = (CclLabels){
        .data = (uint32_t *)(void *)(s->labels.place + s->labels.before),
        .stride = s->labels.stride,
        .memory = s->labels.memory,
        .provisional = c->product == PRODUCT_PROVISIONAL,
    };
}

/* ---------------------------------------------------------------- afterwards */

static bool is_guard(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != LABELS_GUARD)
            return false;
    return true;
}

/* The block as it is now: the place itself, or a device block's copy in the shadow. */
static const uint8_t *block_fetch(Block *block)
{
    if (block->memory != CCL_MEMORY_DEVICE)
        return block->place;
    device_download(block->shadow, block->place, block->size);
    return block->shadow;
}

static void check_labels_guard(const Block *block, const uint8_t *bytes, char why[400])
{
    if (!is_guard(bytes, block->before)) {
        snprintf(why, 400, "bytes before the label image were overwritten");
        return;
    }
    for (size_t y = 0; y < block->height; y++) {
        const uint8_t *const end = bytes + block->before + y * block->stride + block->row;
        const bool last = y + 1 == block->height;
        const size_t n = last ? (size_t)(bytes + block->size - end) : block->stride - block->row;
        if (!is_guard(end, n)) {
            snprintf(why, 400, "bytes behind row %zu of the label image were overwritten", y);
            return;
        }
    }
}

void layout_finish(unsigned slot, Outcome *outcome)
{
    Slot *const s = &slots[slot];
    if (s->mask.memory != CCL_MEMORY_DEVICE && memcmp(s->mask.place, s->mask.shadow, s->mask.size))
        snprintf(outcome->error, sizeof outcome->error, "the mask was written to");
    if (!s->has_labels)
        return;

    const uint8_t *const bytes = block_fetch(&s->labels);
    check_labels_guard(&s->labels, bytes, outcome->error);
    const size_t size = s->labels.row * s->labels.height;
    if (size > outcome->labels_size) {
        free(outcome->labels);
        outcome->labels = must(malloc(size), "labels", size);
        outcome->labels_size = size;
    }
    for (size_t y = 0; y < s->labels.height; y++)
        memcpy((uint8_t *)outcome->labels + y * s->labels.row, bytes + s->labels.before + y * s->labels.stride,
               s->labels.row);
}

static void block_close(Block *block)
{
    free_host(block);
    free(block->shadow);
    if (block->pinned)
        ccl_pinned_free(block->pinned);
    if (block->device)
        device_free(block->device);
    memset(block, 0, sizeof *block);
}

void layout_close(void)
{
    for (unsigned i = 0; i < N_SLOTS; i++) {
        block_close(&slots[i].mask);
        block_close(&slots[i].labels);
        block_close(&slots[i].luma);
        block_close(&slots[i].chroma[0]);
        block_close(&slots[i].chroma[1]);
    }
}

/* ---------------------------------------------------------------- guard pages touched */

static const Subject *running_subject;
static const Case *running_case;

void layout_now_running(const Subject *subject, const Case *c)
{
    running_subject = subject;
    running_case = c;
}

static void say(const char *text)
{
    const ssize_t n = write(STDOUT_FILENO, text, strlen(text));
    (void)n;
}

/* Only write() is safe here. */
static void on_fault(int signal_number)
{
    say("FAILED ");
    say(running_subject ? running_subject->name : "?");
    say(signal_number == SIGSEGV || signal_number == SIGBUS
            ? ": touched memory outside the mask or the label image (or crashed), in \""
            : ": crashed, in \"");
    say(running_case ? running_case->name : "?");
    say("\", layout \"");
    say(running_case ? running_case->layout.name : "?");
    say("\"\n");
    _exit(1);
}

void layout_catch_faults(void)
{
    struct sigaction action = { .sa_handler = on_fault };
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGABRT, &action, NULL);
}
