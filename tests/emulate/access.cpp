/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every load and store of a kernel comes through here before it happens: see emulate.h. g++ puts the calls in for
 * -fsanitize=thread; these functions stand in place of its library. */
#include "emulate.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <algorithm>
#include <set>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>

extern "C" char __executable_start, end;

namespace emulate {

namespace {

constexpr unsigned MAX_PRINTED = 30;
unsigned n_reports;
bool forgiven;

/* ---------------------------------------------------------------- places in code */

/* What `addr2line -i` says: a pair of lines, function and file:line, for the address and each function it is
 * inlined in. */
std::string lines_of(const void *code)
{
    Dl_info info;
    char path[4096], command[4400], line[4096];
    std::string lines;
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n < 0 || !dladdr(code, &info))
        return lines;
    path[n] = 0;
    /* The call before the return address. */
    snprintf(command, sizeof command, "addr2line -Cfie '%s' %#lx 2>/dev/null", path,
             (unsigned long)((const char *)code - (const char *)info.dli_fbase - 1));
    FILE *const pipe = popen(command, "r");
    if (!pipe)
        return lines;
    while (fgets(line, sizeof line, pipe))
        lines += line;
    pclose(pipe);
    return lines;
}

/* Does a comment of the line, or right before it, say that the race is meant? */
bool is_racy(const std::string &file, unsigned number)
{
    FILE *const source = fopen(file.c_str(), "r");
    char line[1000];
    bool racy = false;
    for (unsigned i = 1; source && i <= number && fgets(line, sizeof line, source); i++)
        if (i + 1 >= number)
            racy |= strstr(line, "/* race:") || strstr(line, "// race:");
    if (source)
        fclose(source);
    return racy;
}

struct Known {
    std::string text;
    bool racy;
};

bool ends_with(const std::string &text, const std::string &end)
{
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Known look_up(const void *code)
{
    Known known = { "", false };
    const std::string lines = lines_of(code);
    std::string function;
    for (size_t at = 0; at < lines.size();) {
        const size_t end = lines.find('\n', at);
        const std::string line = lines.substr(at, end - at);
        at = end + 1;
        if (function.empty()) {
            function = line;
            continue;
        }
        const size_t colon = line.rfind(':'), slash = line.rfind('/');
        const std::string file = line.substr(0, colon);
        const unsigned number = colon == std::string::npos ? 0 : (unsigned)atoi(line.c_str() + colon + 1);
        if (!ends_with(file, "cuda_runtime.h") && !ends_with(file, "cooperative_groups.h")) {
            known.racy = known.racy || is_racy(file, number);
            const size_t name = function.rfind(' ', function.find_first_of("<(")) + 1;
            known.text += (known.text.empty() ? "" : ", in ") +
                          function.substr(name, function.find_first_of("<(", name) - name) + " at " +
                          line.substr(slash + 1, line.find(" (") - slash - 1);
        }
        function.clear();
    }
    if (known.text.empty())
        known.text = "somewhere";
    return known;
}

void fail_at_exit()
{
    if (!n_reports || forgiven)
        return;
    fprintf(stderr, "emulation: %u reports%s\n", n_reports, n_reports > MAX_PRINTED ? ", not all of them shown" : "");
    fflush(nullptr);
    _exit(3);
}

} // namespace

Place place_of(const void *code)
{
    static std::map<const void *, Known> all;
    const auto found = all.find(code);
    const Known &known = found != all.end() ? found->second : all.emplace(code, look_up(code)).first->second;
    return { known.text.c_str(), known.racy };
}

void describe_thread(const Thread *t, char *text, size_t size)
{
    snprintf(text, size, "block %u thread %u", t->block->number, t->linear);
}

void report(const char *format, ...)
{
    char sentence[8000], thread[100] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (self)
        describe_thread(self, thread, sizeof thread);
    if (!n_reports++)
        atexit(fail_at_exit);
    if (n_reports > MAX_PRINTED)
        return;
    const char *kernel = running && running->name ? running->name : "";
    if (running && !running->name)
        kernel = place_of((const char *)running->kernel + 1).text;
    fprintf(stderr, "emulation: %s%s%s%s%s%s\n", running ? "kernel " : "", kernel, *thread ? ", " : "", thread,
            running ? ": " : "", sentence);
}

unsigned reports()
{
    return n_reports;
}

/* ---------------------------------------------------------------- races */

namespace {

/* What is remembered of an access. A few for every eight bytes; of many readers some. */
struct Record {
    uint64_t step = 0; /* 0: nothing */
    uint32_t block = 0;
    uint32_t thread : 16, bytes : 8, kind : 8;
    uint32_t barriers = 0, cluster_barriers = 0, clock = 0;
    uint32_t code = 0; /* from the start of the program */
};

struct Cell {
    Record records[3];
};

constexpr size_t LARGEST = 8 << 20; /* allocations larger than this would take too much memory */

Cell *cells;
std::unordered_map<uint32_t, uint64_t> fences; /* the last one of a block, in this launch */
uint64_t fences_of; /* launch */
std::unordered_map<uint32_t, Record> visits; /* the last access to a block's shared memory by another block */
std::set<std::pair<std::string, std::string>> told; /* pairs of places */
std::set<std::pair<const void *, const void *>> seen;

bool writes(Access a)
{
    return a == Access::WRITE || a == Access::STRONG_WRITE || a == Access::ATOMIC;
}

/* Strong accesses (volatile, past the L1 cache) do not race with each other, nor with atomics; plain loads of
 * global memory that may see an atomic or a strong store, or not, are what a union-find lives on. Shared memory is
 * looked at as compute-sanitizer's racecheck does: a store that is not an atomic races with every access, a plain
 * load with atomics. */
bool conflict(Access a, Access b, bool shared)
{
    if (!writes(a) && !writes(b))
        return false;
    if (a == Access::WRITE || b == Access::WRITE)
        return true;
    return shared && (a == Access::STRONG_WRITE || b == Access::STRONG_WRITE || a == Access::READ || b == Access::READ);
}

/* Cluster barriers that the thread has passed. What it does between arriving at one and waiting there is ordered by the
 * next: a record counts the one as passed. */
uint32_t passed_by(const Thread &t)
{
    return t.arrived ? t.arrived_after : t.block->cluster->barriers;
}

/* Did what the record tells of happen before, for this thread? */
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

/* "file.cu:12", of functions inlined in each other the innermost. */
std::string innermost(const Place &place)
{
    const std::string text = place.text;
    const size_t at = text.find(" at ");
    return at == std::string::npos ? text : text.substr(at + 4, text.find(',', at) - at - 4);
}

void report_race(const Record &r, Access kind, const void *code, bool shared)
{
    const void *const before = code_of(r);
    if (settings().fail)
        raced = true;
    if (!seen.insert(std::minmax(before, code)).second)
        return;
    const Place a = place_of(before), b = place_of(code);
    if (a.racy || b.racy || !told.insert(std::minmax(innermost(a), innermost(b))).second)
        return;
    report("race in %s memory: %s in %s, and before it, with nothing in between that orders them, by block %u "
           "thread %u, %s in %s",
           shared ? "shared" : "global", name_of(kind), b.text, r.block, (unsigned)r.thread, name_of((Access)r.kind),
           a.text);
}

/* GPUs have no such instruction: threads that want the same place read, compare and swap until it is their turn. */
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

/* Of shared memory that is another block's: nothing but a cluster barrier says that this block has begun. */
void visit(const Block &other, Access kind, const void *code)
{
    static std::set<const void *> early;
    visits[other.number] = record_of(*self, kind, code);
    if (passed_by(*self))
        return;
    if (settings().fail)
        raced = true;
    if (early.insert(code).second && !place_of(code).racy)
        report("%s of shared memory of block %u, which may not have begun: no cluster barrier has been passed, by %s",
               name_of(kind), other.number, place_of(code).text);
}

/* A strong store to page-locked memory right behind a fence for the system tells the host that all is there which the
 * cluster was to do, and the host may reuse what it has read and written. (Behind a strong load that fence is the second
 * half of a load that acquires.) */
void look_for_late(Access kind, const void *code, const Allocation &owner)
{
    static std::set<const void *> all;
    Cluster *const cluster = self->block->cluster;
    if (cluster->told && owner.kind != Kind::SHARED) {
        if (settings().fail)
            raced = true;
        if (all.insert(code).second)
            report("%s of %s memory after the host has been told that all is there, by %s", name_of(kind),
                   owner.kind == Kind::PINNED ? "page-locked" : "device", place_of(code).text);
    }
    cluster->told |= self->fenced_for_system && kind == Access::STRONG_WRITE && owner.kind == Kind::PINNED;
    self->fenced_for_system = false;
    self->looked = kind == Access::STRONG_READ;
}

void look_for_races(uintptr_t address, size_t size, Access kind, const void *code, const Allocation &owner)
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
    if (cells && size <= LARGEST)
        madvise((void *)((uintptr_t)(cells + (begin - memory_base) / 8) & ~(uintptr_t)4095), size / 8 * sizeof(Cell),
                MADV_DONTNEED);
}

/* It is one also for what other blocks of the cluster did before the last cluster barrier. */
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

/* As if it were a store to all of the block's shared memory: others may have been there, but before. */
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
    static unsigned left; /* first: where others run, blocks begin, and what owns memory moves */
    if (settings().burst && left-- == 0) {
        left = (unsigned)random_below(2 * settings().burst);
        yield();
    }
    const Allocation &owner = memory_owner(address);
    const char *const verb = name_of(kind);
    if (owner.kind == Kind::NONE || address + size > owner.end) {
        const char *const why = owner.kind == Kind::NONE ? "which nobody owns" : "past the end of what it belongs to";
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
    look_for_late(kind, code, owner);
    step++;
    if (!settings().races || owner.end - owner.begin > LARGEST)
        return;
    if (visited)
        visit(*visited, kind, code);
    if (!cells) {
        cells = (Cell *)mmap(nullptr, memory_size / 8 * sizeof(Cell), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (cells == MAP_FAILED) {
            fprintf(stderr, "emulation: no addresses left to look for races\n");
            exit(2);
        }
    }
    look_for_races(address, size, kind, code, owner);
}

} // namespace emulate

unsigned emulate_reports(bool forgive)
{
    emulate::forgiven = forgive;
    return emulate::reports();
}

/* ---------------------------------------------------------------- what g++ calls */

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

/* Of the host's part of a .cu file: the library's own counters. */
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
