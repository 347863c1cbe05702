/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * CUDA on the CPU, for tests: see README.md. This header has the calls of rewritten .cu files (by way of cuda_runtime.h) and
 * the interfaces between the files of the emulation:
 *
 *   compile.py       .cu -> object: preprocessor, some rewriting, g++ with a call before every memory access
 *   cuda_runtime.h   instead of the toolkit's: types, API, device functions; cooperative_groups.h: clusters
 *   memory.cpp       device and page-locked memory: one range of addresses, and the owner of each page
 *   runtime.cpp      the API: planted faults, queues, streams, events; runtime_device.cpp runtime_memory.cpp
 *                    runtime_graph.cpp: errors and the device, memory and copies, launches and graphs
 *   launch.h         a launch with its arguments
 *   kernel.cpp       a launch: threads of several blocks in random order, barriers; warp.cpp: collectives
 *   access.cpp       every load and store of a kernel: bounds and races
 *   report.cpp       reports, with places in the source
 *   settings.cpp     CCL_EMULATE, random numbers
 */
#ifndef EMULATE_H
#define EMULATE_H

#include <cstddef>
#include <cstdint>

namespace emulate {

/* ---------------------------------------------------------------- settings, from CCL_EMULATE="name=value,..." */

constexpr unsigned MAX_DEVICES = 4;

struct Settings {
    uint64_t seed = 1;     /* 0: threads and blocks in order, and a switch only where a thread waits */
    unsigned blocks = 3;   /* minimum number in flight; all blocks of a cluster are */
    unsigned burst = 60;   /* mean number of memory accesses between two switches; 0: only where a thread waits */
    bool races = true;     /* detect races */
    bool fail = false;     /* a race fails the launch, so that checkccl names the image */
    unsigned seconds = 60; /* maximum duration of a kernel */
    bool summary = false;  /* at exit: numbers of kernels, threads, accesses */
    unsigned devices = 1;  /* number, at most MAX_DEVICES */
    bool blocking = false; /* calls return when their operation is done, as with CUDA_LAUNCH_BLOCKING=1 */
};
const Settings &settings();

/* The generator of all random choices. */
uint64_t random_bits();
inline uint64_t random_below(uint64_t n) { return random_bits() % n; }

/* ---------------------------------------------------------------- memory.cpp */

enum class Kind : uint8_t { NONE, DEVICE, PINNED, SHARED };

struct Allocation {
    uintptr_t begin = 0, end = 0;
    size_t pages = 0; /* including the free one after it */
    Kind kind = Kind::NONE;
    unsigned device = 0;                 /* of DEVICE: the owner */
    uint64_t cleared = 0;                /* accesses before this step do not count */
    const struct Block *block = nullptr; /* of shared memory: the owner */
    unsigned variable = 0;               /* of it, by Shared.number; 0: dynamic */
};

constexpr size_t SHARED_USUAL = 48 << 10, SHARED_MAX = 227 << 10; /* of a block: default, and with cudaFuncSetAttribute() */

extern uintptr_t memory_base;
extern size_t memory_size;
inline bool in_memory(uintptr_t address) { return address - memory_base < memory_size; }

/* Page-aligned and full of garbage; NULL: out of memory. */
void *memory_allocate(size_t size, Kind kind);
/* False when this is not the start of an allocation. */
bool memory_free(void *memory);
/* The allocation of a page; Kind::NONE: none. */
Allocation &memory_owner(uintptr_t address);
size_t memory_in_use(unsigned *n);

/* ---------------------------------------------------------------- kernel.cpp and warp.cpp, for kernels */

/* A variable in shared memory: the same number in each block. */
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
/* The address in another block of the cluster. */
void *shared_of_rank(void *own, unsigned rank);
uint64_t collective(Collective kind, uint32_t mask, uint64_t value, uint32_t argument = 0, uint32_t width = 32);
uint32_t active_mask(); /* the smallest allowed mask: the lane alone */
void fence();
void system_fence();
uint64_t nanoseconds();

/* Before an access for which the compiler adds no call. */
enum class Access : uint8_t { READ, WRITE, STRONG_READ, STRONG_WRITE, ATOMIC };
void access(const void *address, size_t size, Access kind, const void *code);

/* ---------------------------------------------------------------- launches */

/* What a .cu file says of a launch: launch.h has what the emulation keeps of it. */
struct Call {
    const char *name;
    const void *kernel;
    unsigned grid[3], block[3], cluster[3];
    size_t shared;
    unsigned n_arguments;
    size_t arguments_size; /* of all arguments, in the layout that these functions know: */
    void (*call)(const void *kernel, const void *arguments);
    void (*get_addresses)(void *arguments, void **addresses);     /* of each argument */
    void (*set_arguments)(void *arguments, void *const *addresses); /* a copy of each */
};

/* ---------------------------------------------------------------- kernel.cpp, for access.cpp */

/* Blocks that run at the same time and access each other's shared memory. Every block is in a cluster, often alone. */
struct Cluster {
    unsigned first_slot = 0;
    uint32_t barriers = 0; /* passed so far */
    uint64_t released = 0; /* step of the last */
    uint32_t live = 0, at_barrier = 0; /* threads */
    bool flagged = false;  /* the host has been told that the work is complete: see check_after_flag() */
};

struct Block {
    uint32_t number = 0;   /* in the grid */
    Cluster *cluster = nullptr;
    uint32_t barriers = 0; /* passed so far */
    uint64_t begun = 0;    /* step */
    uint64_t fenced = 0;        /* step of the last fence of any thread */
    uint64_t fenced_before = 0; /* the last one before the last barrier */
    struct Thread *threads = nullptr;
    uint32_t n_threads = 0;
    uint32_t live = 0, at_barrier = 0;
    unsigned slot = 0; /* of shared memory */
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
    bool arrived = false;           /* at a cluster barrier, and has not waited */
    uint32_t arrived_after = 0;     /* number of cluster barriers before that one */
    uint64_t fenced = 0;
    bool fenced_for_system = false; /* the last operation was a system fence */
    bool loaded_strongly = false;   /* the last access was a strong load */
    uint32_t clocks[32] = {}; /* vector clock over the lanes of its warp, since the last barrier */
    uint32_t lane() const { return linear % 32; }
};

extern Thread *self;            /* NULL: the scheduler */
extern thread_local bool inside; /* whether this thread of the host is in a launch */
extern uint64_t step;         /* grows with every access, over all launches */
extern uint64_t launch_begun; /* step */
constexpr size_t STACK_SIZE = 64 << 10;

extern bool raced;            /* with Settings.fail: in this launch */
void note_fence(const Block &block);
/* The block's last thread ends, and with it the life of the block's shared memory. */
void note_end(const Thread &last);
/* The memory has a new owner. */
void forget_accesses(uintptr_t begin, size_t size);

/* Lets other threads run. */
void yield();
/* Ends the launch with a failure, which has been reported. Does not return. */
[[noreturn]] void abandon();

/* ---------------------------------------------------------------- report.cpp */

/* "file.cu:12 in kernel" of an address in code; cached. */
struct Place {
    const char *text;
    bool racy; /* a comment there begins with "race:" */
};
Place place_of(const void *code);
/* Prints a sentence about the running thread and counts it. The exit status of the program will be 3. */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));
unsigned reports();
void forgive_reports(bool forgive);
void describe_thread(const Thread *thread, char *text, size_t size);

} // namespace emulate

/* ---------------------------------------------------------------- for tests */

extern "C" {
/* Plants a fault: the n-th call (from 1, counted from now on) of this API function fails with `error`. "launch" is a
 * kernel's launch; NULL: any function. With `lost`, every later call for the same device fails too. n = 0: removes the
 * fault. */
void emulate_fail(const char *call, unsigned n, int error, bool lost);
/* Calls counted so far since emulate_fail(). */
unsigned emulate_calls();
/* Number of allocations, streams, events and graphs that have not been freed. */
unsigned emulate_n_allocated();
/* Number of reports so far. With `forgive` they do not make the program fail. */
unsigned emulate_reports(bool forgive);
}

#endif
