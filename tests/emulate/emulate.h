/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * CUDA on the CPU, for tests. What translated .cu files call (by way of cuda_runtime.h), and what the parts of the
 * emulation know of each other:
 *
 *   compile.py       .cu -> object: preprocessor, a little rewriting, g++ with a call before every access to memory
 *   cuda_runtime.h   stands before the toolkit's: types, API, what kernels use; cooperative_groups.h: clusters
 *   memory.cpp       device and page-locked memory: one range of addresses, who owns what in it
 *   runtime.cpp      the API: streams, events, graphs, copies, errors, planted faults
 *   kernel.cpp       a launch: threads of several blocks take turns at random; barriers and warp collectives
 *   access.cpp       every load and store of a kernel: is it inside its allocation, does it race
 */
#ifndef EMULATE_H
#define EMULATE_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace emulate {

/* ---------------------------------------------------------------- settings, from CCL_EMULATE="name=value,..." */

struct Settings {
    uint64_t seed = 1;     /* 0: threads and blocks in order, no switch but where one has to wait */
    unsigned blocks = 3;   /* in flight at once, at least: of clusters all blocks are */
    unsigned burst = 60;   /* accesses to memory between two switches, on average; 0: only where threads meet */
    bool races = true;     /* look for races */
    bool fail = false;     /* a race is an error of the launch, so that checkccl says which image it was */
    unsigned seconds = 60; /* a kernel that takes longer does not end */
    bool summary = false;  /* at the end: kernels, threads, accesses */
    bool blocking = false; /* what is put into a stream is done when the call returns, as with CUDA_LAUNCH_BLOCKING=1 */
};
const Settings &settings();

/* A generator for everything that is left to chance. */
uint64_t random_bits();
inline uint64_t random_below(uint64_t n) { return random_bits() % n; }

/* ---------------------------------------------------------------- memory.cpp */

enum class Kind : uint8_t { NONE, DEVICE, PINNED, SHARED };

struct Allocation {
    uintptr_t begin = 0, end = 0;
    size_t pages = 0; /* the free one behind it included */
    Kind kind = Kind::NONE;
    uint64_t cleared = 0; /* accesses before this step are history */
    const struct Block *block = nullptr; /* of shared memory: whose */
    unsigned variable = 0;               /* and which, by Shared.number; 0: dynamic */
};

constexpr size_t SHARED_USUAL = 48 << 10, SHARED_MAX = 227 << 10; /* of a block; the latter for kernels that ask */

extern uintptr_t memory_base;
extern size_t memory_size;
inline bool in_memory(uintptr_t address) { return address - memory_base < memory_size; }

/* Page-aligned and full of garbage; NULL when there is no room. */
void *memory_take(size_t size, Kind kind);
/* False when this is not the start of an allocation. */
bool memory_give(void *memory);
/* What the page belongs to; Kind::NONE: nothing. */
Allocation &memory_owner(uintptr_t address);
size_t memory_in_use(unsigned *n);

/* ---------------------------------------------------------------- kernel.cpp, for kernels */

/* A variable of a block: its place in each block's piece of shared memory. */
struct Shared {
    unsigned number;
};

enum class Collective : uint8_t {
    SYNC, BALLOT, ANY, ALL, INDEX, UP, DOWN, XOR,
    ADD, MIN, MAX, MIN_SIGNED, MAX_SIGNED, AND, OR, BIT_XOR, MATCH_ANY, MATCH_ALL,
};
enum class Barrier : uint8_t { PLAIN, OR, AND, COUNT };

void *shared(Shared *variable, size_t size);
void *dynamic_shared();
int barrier(Barrier kind, int value);
void arrive_at_cluster_barrier();
void wait_at_cluster_barrier();
unsigned cluster_rank(); /* of this block */
unsigned cluster_size(); /* in blocks */
/* What another block of the cluster has in place of this block's. */
void *shared_of_rank(void *own, unsigned rank);
uint64_t collective(Collective kind, uint32_t mask, uint64_t value, uint32_t argument = 0, uint32_t width = 32);
uint32_t active_mask(); /* the smallest that is allowed: the lane alone */
void fence();
void system_fence();
uint64_t nanoseconds();

/* Before an access that the compiler's calls do not tell of. */
enum class Access : uint8_t { READ, WRITE, STRONG_READ, STRONG_WRITE, ATOMIC };
void access(const void *address, size_t size, Access kind, const void *code);

/* ---------------------------------------------------------------- kernel.cpp, for the API */

struct Launch {
    const char *name;
    const void *kernel;
    unsigned grid[3], block[3], cluster[3];
    size_t shared;
    std::shared_ptr<void> arguments;
    size_t arguments_size;
    void (*call)(const void *kernel, const void *arguments);
    std::vector<void *> (*addresses)(void *arguments);            /* of each argument */
    std::shared_ptr<void> (*remake)(void *const *addresses);      /* arguments like these */
};

/* Runs it to its end; false when it came to none, which has been reported. */
bool run(const Launch &launch);

/* ---------------------------------------------------------------- kernel.cpp, for access.cpp */

/* Blocks that run at the same time and reach each other's shared memory. Every block is in one, often alone. */
struct Cluster {
    unsigned first_slot = 0;
    uint32_t barriers = 0; /* passed so far */
    uint64_t released = 0; /* step of the last */
    uint32_t live = 0, at_barrier = 0; /* threads */
    bool told = false;     /* the host: see look_for_late() */
};

struct Block {
    uint32_t number = 0;   /* in the grid */
    Cluster *cluster = nullptr;
    uint32_t barriers = 0; /* passed so far */
    uint64_t begun = 0;    /* step */
    uint64_t fenced = 0;        /* step of the last fence of any thread */
    uint64_t fenced_before = 0; /* the last one before the last barrier */
    struct Thread *threads = nullptr;
    uint32_t live = 0, at_barrier = 0;
    unsigned slot = 0; /* which piece of shared memory */
};

struct Thread {
    void *stack_pointer = nullptr;
    char *stack = nullptr;
    Block *block = nullptr;
    uint32_t linear = 0, x = 0, y = 0, z = 0;
    enum State : uint8_t { READY, AT_BARRIER, AT_CLUSTER_BARRIER, AT_COLLECTIVE, DONE } state = READY;
    Barrier barrier = Barrier::PLAIN;
    Collective kind = Collective::SYNC;
    uint32_t mask = 0, argument = 0, width = 32;
    uint64_t value = 0, result = 0;
    const void *where = nullptr; /* the call it waits in */
    bool arrived = false;           /* at a cluster barrier, and has not waited; */
    uint32_t arrived_after = 0;     /* so many of them */
    uint64_t fenced = 0;
    bool fenced_for_system = false; /* and nothing since */
    bool looked = false;            /* by a strong load, and nothing since */
    uint32_t clocks[32] = {}; /* what it knows of the lanes of its warp since the last barrier */
    uint32_t lane() const { return linear % 32; }
};

extern Thread *self;            /* NULL: the scheduler */
extern thread_local bool inside; /* whether this thread of the host is in a launch */
extern const Launch *running; /* NULL: the host */
extern uint64_t step;         /* grows with every access, over all launches */
extern uint64_t launch_begun; /* step */
constexpr size_t STACK_SIZE = 64 << 10;

extern bool raced;            /* with Settings.fail: in this launch */
void note_fence(const Block &block);
/* The block has no thread left but this one, which ends: so does the life of its shared memory. */
void note_end(const Thread &last);
/* The memory has another owner from now on. */
void forget_accesses(uintptr_t begin, size_t size);

/* Lets others go first. */
void yield();
/* Ends the launch, which fails; the sentence has been printed. Does not return. */
[[noreturn]] void abandon();

/* ---------------------------------------------------------------- reports */

/* "file.cu:12 in kernel" of an address in code; cached. */
struct Place {
    const char *text;
    bool racy; /* a comment there begins with "race:" */
};
Place place_of(const void *code);
/* Prints a sentence on the running thread and counts it; the program's status will not be 0. */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));
unsigned reports();
void describe_thread(const Thread *thread, char *text, size_t size);

} // namespace emulate

/* ---------------------------------------------------------------- for tests */

extern "C" {
/* The n-th call (from 1, counted from now on) of this API function, or of every function when `call` is NULL, fails
 * with `error`; "launch" is a kernel's. With `lost`, every call after it fails too. n = 0: none any more, and found
 * again. */
void emulate_fail(const char *call, unsigned n, int error, bool lost);
/* Calls counted so far since emulate_fail(). */
unsigned emulate_calls();
/* Blocks of memory, streams, events and graphs that nobody has given back. */
unsigned emulate_held();
/* Reports so far; with `forgive` they no longer make the program fail. */
unsigned emulate_reports(bool forgive);
}

#endif
