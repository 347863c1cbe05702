/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Warp collectives: votes, shuffles, reductions, matches and __syncwarp(). A lane waits until all lanes of its mask are
 * there. */
#include "kernel.h"

#include <algorithm>
#include <cstring>

namespace emulate {

namespace {

/* The lanes of the thread's mask that have not ended, if all of them are in this collective; else 0. */
uint32_t lanes_there(const Thread &thread, const Thread *lanes, uint32_t n_lanes)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < n_lanes; i++) {
        const Thread &t = lanes[i];
        if (!(thread.mask >> i & 1) || t.state == Thread::DONE)
            continue;
        if (t.state != Thread::AT_COLLECTIVE || t.kind != thread.kind || t.mask != thread.mask)
            return 0;
        mask |= 1u << i;
    }
    return mask;
}

/* Over the values of all lanes. */
struct Reduction {
    uint32_t votes = 0, sum = 0, low = ~0u, high = 0, ands = ~0u, ors = 0, xors = 0;
    int32_t low_signed = INT32_MAX, high_signed = INT32_MIN;
    bool same = true;
};

Reduction reduce(const Thread *lanes, uint32_t mask)
{
    Reduction r;
    for (uint32_t left = mask; left; left &= left - 1) {
        const Thread &t = lanes[__builtin_ctz(left)];
        const uint32_t value = (uint32_t)t.value;
        r.votes |= (uint32_t)(t.value != 0) << t.lane();
        r.sum += value, r.ands &= value, r.ors |= value, r.xors ^= value;
        r.low = std::min(r.low, value), r.high = std::max(r.high, value);
        r.low_signed = std::min(r.low_signed, (int32_t)value), r.high_signed = std::max(r.high_signed, (int32_t)value);
        r.same = r.same && t.value == lanes[__builtin_ctz(mask)].value;
    }
    return r;
}

/* The lane that a shuffle reads, within the thread's part of `width` lanes. */
uint32_t source_lane(const Thread &t)
{
    const uint32_t lane = t.lane(), first = lane / t.width * t.width, n = t.argument;
    switch (t.kind) {
    case Collective::INDEX: return first + n % t.width;
    case Collective::UP: return lane >= first + n ? lane - n : lane;
    case Collective::DOWN: return lane + n < first + t.width ? lane + n : lane;
    default: return (lane ^ n) < first + t.width ? lane ^ n : lane;
    }
}

uint64_t shuffled(const Thread &t, const Thread *lanes, uint32_t mask)
{
    const uint32_t from = source_lane(t);
    return mask >> from & 1 ? lanes[from].value : 0xa5a5a5a5a5a5a5a5; /* undefined */
}

/* The lanes with the same value. */
uint32_t matching(const Thread &t, const Thread *lanes, uint32_t mask)
{
    uint32_t result = 0;
    for (uint32_t left = mask; left; left &= left - 1)
        if (lanes[__builtin_ctz(left)].value == t.value)
            result |= left & -left;
    return result;
}

uint64_t result_of(const Thread &t, const Thread *lanes, uint32_t mask, const Reduction &r)
{
    switch (t.kind) {
    case Collective::SYNC: return t.result;
    case Collective::BALLOT: return r.votes;
    case Collective::ANY: return r.votes != 0;
    case Collective::ALL: return r.votes == mask;
    case Collective::INDEX:
    case Collective::UP:
    case Collective::DOWN:
    case Collective::XOR: return shuffled(t, lanes, mask);
    case Collective::ADD: return r.sum;
    case Collective::MIN: return r.low;
    case Collective::MAX: return r.high;
    case Collective::MIN_SIGNED: return (uint32_t)r.low_signed;
    case Collective::MAX_SIGNED: return (uint32_t)r.high_signed;
    case Collective::AND: return r.ands;
    case Collective::OR: return r.ors;
    case Collective::BIT_XOR: return r.xors;
    case Collective::MATCH_ANY: return matching(t, lanes, mask);
    case Collective::MATCH_ALL: return r.same ? mask : 0;
    }
    return 0;
}

/* Each lane knows what all of them knew. */
void order_memory(Thread *lanes, uint32_t mask)
{
    uint32_t known[32] = {};
    for (uint32_t left = mask; left; left &= left - 1)
        for (uint32_t j = 0; j < 32; j++)
            known[j] = std::max(known[j], lanes[__builtin_ctz(left)].clocks[j]);
    for (uint32_t left = mask; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        memcpy(lanes[i].clocks, known, sizeof known);
        lanes[i].clocks[i]++;
    }
}

} // namespace

const char *name_of(Collective kind)
{
    static const char *const names[] = { "__syncwarp", "__ballot_sync", "__any_sync", "__all_sync", "__shfl_sync",
                                         "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "__reduce_add_sync",
                                         "__reduce_min_sync", "__reduce_max_sync", "__reduce_min_sync",
                                         "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync",
                                         "__reduce_xor_sync", "__match_any_sync", "__match_all_sync" };
    return names[(unsigned)kind];
}

void complete_collective(const Thread &thread)
{
    const uint32_t warp = thread.linear / 32 * 32;
    Thread *const lanes = thread.block->threads + warp;
    const uint32_t mask = lanes_there(thread, lanes, std::min(32u, thread.block->n_threads - warp));
    if (!mask)
        return;

    const Reduction reduction = reduce(lanes, mask);
    for (uint32_t left = mask; left; left &= left - 1) {
        Thread &t = lanes[__builtin_ctz(left)];
        t.result = result_of(t, lanes, mask, reduction);
    }
    if (thread.kind == Collective::SYNC) /* votes and shuffles carry values and order no memory */
        order_memory(lanes, mask);
    for (uint32_t left = mask; left; left &= left - 1)
        wake(&lanes[__builtin_ctz(left)]);
}

uint64_t collective(Collective kind, uint32_t mask, uint64_t value, uint32_t argument, uint32_t width)
{
    Thread *const t = self;
    t->where = __builtin_return_address(0);
    if (!(mask >> t->lane() & 1)) {
        report("%s with a mask of %08x, which the lane is not in, %s", name_of(kind), mask, place_of(t->where).text);
        abandon();
    }
    t->state = Thread::AT_COLLECTIVE;
    t->kind = kind;
    t->mask = mask;
    t->value = value;
    t->argument = argument;
    t->width = width;
    complete_collective(*t);
    switch_to_scheduler();
    return t->result;
}

} // namespace emulate
