/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every load and store of a kernel calls access() first: see emulate.h. g++ adds the calls for -fsanitize=thread; these
 * functions replace its library. */
#include "emulate.h"
#include "launch.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <algorithm>
#include <set>
#include <string>
#include <sys/mman.h>
#include <unordered_map>
#include <utility>

extern "C" char __executable_start, end;

namespace emulate {

namespace {

/* ---------------------------------------------------------------- races */

/* A past access. There are three for every eight bytes; of many readers some are forgotten. */
struct Record {
    uint64_t step = 0; /* 0: none */
    uint32_t block = 0;
    uint32_t thread : 16, bytes : 8, kind : 8;
    uint32_t barriers = 0, cluster_barriers = 0, clock = 0;
    uint32_t code = 0; /* from the start of the program */
};

struct Cell {
    Record records[3];
};

constexpr size_t MAX_CHECKED = 8 << 20; /* bytes; larger allocations would need too many records */

Cell *cells;
std::unordered_map<uint32_t, uint64_t> fences; /* the last one of a block, in this launch */
uint64_t fences_of; /* launch */
std::unordered_map<uint32_t, Record> visits; /* the last access to a block's shared memory by another block */
std::set<std::pair<std::string, std::string>> reported; /* pairs of places */
std::map<std::pair<const void *, const void *>, bool> seen; /* pairs of code addresses: whether their race is intended */

bool writes(Access a)
{
    return a == Access::WRITE || a == Access::STRONG_WRITE || a == Access::ATOMIC;
}

/* Strong accesses (volatile, past the L1 cache) do not race with each other or with atomics. In global memory a plain load may
 * see an atomic or a strong store, or not: union-find depends on such loads. In shared memory the rules are those of
 * compute-sanitizer's racecheck: a store that is not an atomic races with every access, and a plain load with atomics. */
bool conflict(Access a, Access b, bool shared)
{
    if (!writes(a) && !writes(b))
        return false;
    if (a == Access::WRITE || b == Access::WRITE)
        return true;
    return shared && (a == Access::STRONG_WRITE || b == Access::STRONG_WRITE || a == Access::READ || b == Access::READ);
}

/* Number of cluster barriers that the thread has passed. The next barrier orders its accesses between arriving at one and
 * waiting there: a record counts the one as passed. */
uint32_t passed_by(const Thread &t)
{
    return t.arrived ? t.arrived_after : t.block->cluster->barriers;
}

/* Whether the recorded access happens before the accesses of this thread. */
bool ordered(const Record &r, const Thread &t, uint64_t history)
{
    const Block &block = *t.block;
    if (r.step < history)
        return true;
    const uint32_t size = running->cluster[0];
    if (r.cluster_barriers < passed_by(t) && r.block / size == block.number / size)
        return true;
    if (r.block == block.number) {
        if (r.thread == t.linear || r.barriers < block.barriers)
            return true;
        if (r.thread / 32 == t.linear / 32 && r.clock <= t.clocks[r.thread % 32])
            return true;
    }
    if (std::max(t.fenced, block.fenced_before) < r.step || fences_of != launch_begun)
        return false;
    const auto fence = fences.find(r.block);
    return fence != fences.end() && fence->second >= r.step;
}

const void *code_of(const Record &r)
{
    return &__executable_start + r.code;
}

const char *name_of(Access kind)
{
    static const char *const names[] = { "read", "write", "strong read", "strong write", "atomic" };
    return names[(unsigned)kind];
}

/* "file.cu:12" of the innermost inlined function. */
std::string innermost(const Place &place)
{
    const std::string text = place.text;
    const size_t at = text.find(" at ");
    return at == std::string::npos ? text : text.substr(at + 4, text.find(',', at) - at - 4);
}

void report_race(const Record &r, Access kind, const void *code, bool shared)
{
    const void *const before = code_of(r);
    const auto [pair, is_new] = seen.emplace(std::minmax(before, code), false);
    if (is_new)
        pair->second = place_of(before).racy || place_of(code).racy;
    if (pair->second)
        return;
    if (settings().fail)
        raced = true;
    if (!is_new)
        return;
    const Place a = place_of(before), b = place_of(code);
    if (!reported.insert(std::minmax(innermost(a), innermost(b))).second)
        return;
    report("race in %s memory: %s in %s, and before it, with nothing in between that orders them, by block %u "
           "thread %u, %s in %s",
           shared ? "shared" : "global", name_of(kind), b.text, r.block, (unsigned)r.thread, name_of((Access)r.kind),
           a.text);
}

/* GPUs have no such instruction. A loop of compare and swap replaces it, which contending threads repeat. */
void report_wide_atomic(const void *code)
{
    static std::set<const void *> all;
    if (all.insert(code).second)
        report("an atomic of 64 bits on shared memory, which is a loop on a GPU, by %s", place_of(code).text);
}

Record record_of(const Thread &t, Access kind, const void *code)
{
    Record r;
    r.step = step;
    r.block = t.block->number;
    r.thread = t.linear;
    r.bytes = 0;
    r.kind = (uint32_t)kind;
    r.barriers = t.block->barriers;
    r.cluster_barriers = passed_by(t) + t.arrived;
    r.clock = t.clocks[t.lane()];
    r.code = (uint32_t)((const char *)code - &__executable_start);
    return r;
}

/* An access to another block's shared memory. Only a cluster barrier guarantees that the other block has begun. */
void note_visit(const Block &other, Access kind, const void *code)
{
    static std::map<const void *, bool> early; /* whether it is intended */
    visits[other.number] = record_of(*self, kind, code);
    if (passed_by(*self))
        return;
    const auto [place, is_new] = early.emplace(code, false);
    if (is_new)
        place->second = place_of(code).racy;
    if (settings().fail && !place->second)
        raced = true;
    if (is_new && !place->second)
        report("%s of shared memory of block %u, which may not have begun: no cluster barrier has been passed, by %s",
               name_of(kind), other.number, place_of(code).text);
}

/* A strong store to page-locked memory directly after a system fence is a completion flag: the host may then reuse all memory that
 * the cluster has read and written. (A system fence after a strong load is the second half of an acquiring load.) */
void check_after_flag(Access kind, const void *code, const Allocation &owner)
{
    static std::set<const void *> all;
    Cluster *const cluster = self->block->cluster;
    if (cluster->flagged && owner.kind != Kind::SHARED) {
        if (settings().fail)
            raced = true;
        if (all.insert(code).second)
            report("%s of %s memory after the flag that tells the host that the work is complete, by %s", name_of(kind),
                   owner.kind == Kind::PINNED ? "page-locked" : "device", place_of(code).text);
    }
    cluster->flagged |= self->fenced_for_system && kind == Access::STRONG_WRITE && owner.kind == Kind::PINNED;
    self->fenced_for_system = false;
    self->loaded_strongly = kind == Access::STRONG_READ;
}

void check_races(uintptr_t address, size_t size, Access kind, const void *code, const Allocation &owner)
{
    const Thread &t = *self;
    const bool shared = owner.kind == Kind::SHARED;
    const uint64_t history = std::max(launch_begun, owner.cleared);
    for (uintptr_t at = address; at < address + size;) {
        const uintptr_t granule = at & ~(uintptr_t)7, past = std::min(granule + 8, address + size);
        const uint32_t bytes = ((1u << (past - at)) - 1) << (at - granule);
        Cell &cell = cells[(granule - memory_base) / 8];
        Record *place = nullptr;
        for (Record &r : cell.records) {
            const bool own = r.block == t.block->number && r.thread == t.linear && r.step >= history;
            const bool past_it = ordered(r, t, history);
            if (!past_it && r.bytes & bytes && conflict((Access)r.kind, kind, shared))
                report_race(r, kind, code, shared);
            if (own ? r.kind == (uint32_t)kind && r.bytes == bytes : past_it && !place)
                place = &r;
        }
        if (!place)
            place = &cell.records[random_below(3)];
        *place = record_of(t, kind, code);
        place->bytes = bytes;
        at = past;
    }
}

} // namespace

bool raced;

void forget_accesses(uintptr_t begin, size_t size)
{
    if (cells && size <= MAX_CHECKED)
        madvise((void *)((uintptr_t)(cells + (begin - memory_base) / 8) & ~(uintptr_t)4095), size / 8 * sizeof(Cell),
                MADV_DONTNEED);
}

/* The fence also counts for the accesses of other blocks of the cluster before the last cluster barrier. */
void note_fence(const Block &block)
{
    if (fences_of != launch_begun)
        fences.clear();
    fences_of = launch_begun;
    const uint32_t size = running->cluster[0], first = block.number / size * size;
    for (uint32_t i = first; block.cluster->barriers && i < first + size; i++)
        fences[i] = std::max(fences[i], block.cluster->released);
    fences[block.number] = step;
}

/* The end counts as a store to all of the block's shared memory: accesses by other blocks must happen before. */
void note_end(const Thread &last)
{
    static std::set<const void *> all;
    const auto found = visits.find(last.block->number);
    if (found == visits.end())
        return;
    const Record r = found->second;
    visits.erase(found);
    if (ordered(r, last, launch_begun))
        return;
    if (settings().fail)
        raced = true;
    if (all.insert(code_of(r)).second && !place_of(code_of(r)).racy)
        report("block %u ends, and nothing says that this comes after the %s of its shared memory by block %u "
               "thread %u in %s", last.block->number, name_of((Access)r.kind), r.block, (unsigned)r.thread,
               place_of(code_of(r)).text);
}

void access(const void *pointer, size_t size, Access kind, const void *code)
{
    if (!inside)
        return;
    const uintptr_t address = (uintptr_t)pointer;
    if (!in_memory(address)) {
        const uintptr_t stack = (uintptr_t)self->stack, arguments = (uintptr_t)running->arguments.get();
        const bool local = address - stack < STACK_SIZE || address - arguments < running->arguments_size;
        const bool constant = pointer >= &__executable_start && pointer < &end;
        if (!local && !constant) {
            report("%s of %zu bytes at %p, which is not device memory, by %s", name_of(kind), size, pointer,
                   place_of(code).text);
            abandon();
        }
        return;
    }
    static unsigned left; /* yields first: other threads may begin blocks, which moves the allocations */
    if (settings().burst && left-- == 0) {
        left = (unsigned)random_below(2 * settings().burst);
        yield();
    }
    const Allocation &owner = memory_owner(address);
    const char *const verb = name_of(kind);
    const bool elsewhere = owner.kind == Kind::DEVICE && owner.device != running->device;
    if (owner.kind == Kind::NONE || address + size > owner.end || elsewhere) {
        const char *const why = owner.kind == Kind::NONE ? "which belongs to no allocation"
                                : elsewhere              ? "which is memory of another device"
                                                         : "past the end of its allocation";
        report("%s of %zu bytes at %p, %s, by %s", verb, size, pointer, why, place_of(code).text);
        abandon();
    }
    if (address % (size <= 16 && !(size & (size - 1)) ? size : 1)) {
        report("%s of %zu bytes at %p, which is not aligned to that, by %s", verb, size, pointer, place_of(code).text);
        abandon();
    }
    const Block *const visited = owner.kind == Kind::SHARED && owner.block != self->block ? owner.block : nullptr;
    if (visited && (!visited->live || visited->cluster != self->block->cluster)) {
        report("%s of %zu bytes at %p, which is shared memory of a block that has ended or is not of the cluster, by "
               "%s", verb, size, pointer, place_of(code).text);
        abandon();
    }
    if (kind == Access::ATOMIC && size == 8 && owner.kind == Kind::SHARED)
        report_wide_atomic(code);
    check_after_flag(kind, code, owner);
    step++;
    if (!settings().races || owner.end - owner.begin > MAX_CHECKED)
        return;
    if (visited)
        note_visit(*visited, kind, code);
    if (!cells) {
        cells = (Cell *)mmap(nullptr, memory_size / 8 * sizeof(Cell), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (cells == MAP_FAILED) {
            fprintf(stderr, "emulation: no addresses left for race detection\n");
            exit(2);
        }
    }
    check_races(address, size, kind, code, owner);
}

} // namespace emulate

unsigned emulate_reports(bool forgive)
{
    emulate::forgive_reports(forgive);
    return emulate::reports();
}

/* ---------------------------------------------------------------- calls that g++ adds */

using emulate::Access;
#define HOOK(name, size, kind)                                                             \
    extern "C" void __tsan_##name(const void *address)                                     \
    {                                                                                      \
        emulate::access(address, size, Access::kind, __builtin_return_address(0));         \
    }
#define HOOKS(size)                                     \
    HOOK(read##size, size, READ)                        \
    HOOK(write##size, size, WRITE)                      \
    HOOK(unaligned_read##size, size, READ)              \
    HOOK(unaligned_write##size, size, WRITE)            \
    HOOK(volatile_read##size, size, STRONG_READ)        \
    HOOK(volatile_write##size, size, STRONG_WRITE)      \
    HOOK(unaligned_volatile_read##size, size, STRONG_READ)   \
    HOOK(unaligned_volatile_write##size, size, STRONG_WRITE)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

extern "C" void __tsan_read_range(const void *address, size_t size)
{
    emulate::access(address, size, Access::READ, __builtin_return_address(0));
}

extern "C" void __tsan_write_range(const void *address, size_t size)
{
    emulate::access(address, size, Access::WRITE, __builtin_return_address(0));
}

extern "C" void __tsan_vptr_update(void **, void *) {}
extern "C" void __tsan_vptr_read(void **) {}
extern "C" void __tsan_func_entry(void *) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_init() {}

/* For the host's part of .cu files. */
#define HOST_ATOMICS(bits)                                                                                            \
    extern "C" uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int)                      \
    {                                                                                                                 \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                                 \
    }                                                                                                                 \
    extern "C" void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int)               \
    {                                                                                                                 \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                                \
    }                                                                                                                 \
    extern "C" uint##bits##_t __tsan_atomic##bits##_fetch_add(volatile uint##bits##_t *at, uint##bits##_t value, int) \
    {                                                                                                                 \
        return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);                                                       \
    }                                                                                                                 \
    extern "C" uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *at, uint##bits##_t value, int)  \
    {                                                                                                                 \
        return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                                      \
    }
HOST_ATOMICS(8)
HOST_ATOMICS(16)
HOST_ATOMICS(32)
HOST_ATOMICS(64)
