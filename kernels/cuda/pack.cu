/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The host packs rows of a mask to bits, before the launch or while kernels wait for them; see row_chunks.cuh. */
#include "context.cuh"

#include "host/words.h"

/* Minimum number of polls, about 1 us apart, of a kernel that waits for rows that are packed after the launch. */
#define MIN_POLLS 2000u
/* After this many frames without a timeout the next timeout counts for less. */
#define FRAMES_IN_TIME 1024u

/* The host packs a mask in 32 to 64 row chunks, or in fewer if it is low. */
static uint32_t chunk_rows(uint32_t height)
{
    return max(height / (32 * CHUNK_ROWS), 1u) * CHUNK_ROWS;
}

/* Sets the ready flags of a packed chunk. Plain stores with release order suffice. An exchange or a full fence between them
 * would wait until the device can see all earlier stores. */
static void set_ready_flags(const CudaSlot *slot, uint32_t chunk)
{
    const RowChunks *const chunks = &slot->bits.chunks;
    const uint32_t n_each = chunks->rows / chunks->band_rows;
    uint32_t *const flags = slot->h_ready_flags;
    for (uint32_t k = 0; k <= n_each; k++)
        __atomic_store_n(&flags[ready_flag(n_each, chunk, k) * READY_FLAG_STRIDE], chunks->number, __ATOMIC_RELEASE);
}

static void pack_chunk(void *data, unsigned i)
{
    const CudaSlot *const slot = (const CudaSlot *)data;
    const CclMask *const mask = &slot->ccl_frame->mask;
    const RowChunks *const chunks = &slot->bits.chunks;
    const uint32_t y0 = slot->bits.n_rows + i * chunks->rows, y1 = min(y0 + chunks->rows, mask->height);
    cuda_context(slot->context)->pack_rows(mask, y0, y1, (uint64_t *)slot->h_mask, slot->bits.row_words);
    set_ready_flags(slot, i);
}

/* Whether frames follow each other quickly. If so, threads that help to pack stay awake in between. */
static bool follows_soon(CudaContext *cuda)
{
    const auto now = std::chrono::steady_clock::now();
    const bool soon = now - cuda->packed < std::chrono::microseconds(150);
    cuda->packed = now;
    return soon;
}

/* Plans the packing of the rows from `first` on into the slot's pinned memory. band_rows: see RowChunks; 0: the rows of a
 * chunk. */
void cuda_plan_packing(CudaSlot *slot, const CclMask *mask, uint32_t first, uint32_t band_rows)
{
    BitsJob *const bits = &slot->bits;
    RowChunks *const chunks = &bits->chunks;
    bits->bits = (uint64_t *)slot->d_mask;
    bits->width = mask->width;
    bits->row_words = row_words(mask->width);
    bits->n_rows = first;
    chunks->rows = chunk_rows(mask->height);
    chunks->n = blocks_for(mask->height - first, chunks->rows);
    chunks->band_rows = band_rows ? band_rows : chunks->rows;
    bits->chunk_words = chunks->rows * bits->row_words;
    bits->n_words = (mask->height - first) * bits->row_words;
    chunks->max_polls = MIN_POLLS + bits->n_words / 16;
    chunks->words = slot->mapped_mask + (size_t)first * bits->row_words;
    if (!++chunks->number)
        chunks->number = 1;
}

void cuda_begin_packing(CudaContext *cuda, CudaSlot *slot)
{
    slot->pack_begin = std::chrono::steady_clock::now();
    slot->helpers = cuda->engine ? cuda_engine_acquire_packers(cuda->engine) : cuda->packers;
    const bool more = follows_soon(cuda);
    ccl_pool_begin(slot->helpers, pack_chunk, slot, slot->bits.chunks.n, more);
}

void cuda_end_packing(CudaContext *cuda, CudaSlot *slot)
{
    const CclMask *const mask = &slot->ccl_frame->mask;
    ccl_pool_end(slot->helpers, pack_chunk, slot, slot->bits.chunks.n);
    if (cuda->engine && slot->helpers)
        cuda_engine_release_packers(cuda->engine);
    const std::chrono::duration<float, std::micro> took = std::chrono::steady_clock::now() - slot->pack_begin;
    slot->ccl_frame->table.pack_us = took.count();
    if (slot->bits.n_rows && slot->bits.chunks.n)
        cuda->share = ccl_share_next(1 - (float)slot->bits.n_rows / (float)mask->height, took.count(),
                                     (float)mask->width * (float)mask->height / cuda->bus);
}

void cuda_pack(CudaContext *cuda, CudaSlot *slot)
{
    cuda_begin_packing(cuda, slot);
    cuda_end_packing(cuda, slot);
}

/* Whether a frame's kernels may wait for the host to pack its mask. Not if other frames would wait behind them, and not during
 * the backoff after timeouts: the host is busy, or launches block, for example under a debugger. */
bool cuda_may_wait_for_host(CudaContext *cuda, const CclContext *context)
{
    if (cuda->backoff) {
        cuda->backoff--;
        return false;
    }
    return cuda_device_is_idle(context) && !context->config.timing && (!cuda->engine || cuda_engine_is_own(cuda->engine)) &&
           !cuda->no_graphs;
}

/* Whether the frame's kernels timed out waiting for rows. Updates the backoff. */
bool cuda_has_timed_out(CudaContext *cuda, const CudaSlot *slot)
{
    if (*slot->h_timed_out != slot->bits.chunks.number) {
        if (slot->packs_meanwhile && cuda->backoff_level && ++cuda->n_in_time % FRAMES_IN_TIME == 0)
            cuda->backoff_level--;
        return false;
    }
    cuda->n_timeouts++;
    cuda->backoff_level = min(cuda->backoff_level + 1, 12u);
    cuda->backoff = 16u << cuda->backoff_level;
    return true;
}
