/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A launch: see emulate.h. Every thread of a block has its own stack. The scheduler chooses a ready thread at random, which
 * runs until it waits, ends or yields. */
#include "cuda_runtime.h"

#include "kernel.h"
#include "launch.h"
#include "switch.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace emulate {

Thread *self;
thread_local bool inside;
const Launch *running;
uint64_t step, launch_begun;

namespace {

/* ---------------------------------------------------------------- blocks and their shared memory */

struct Variable {
    char *memory = nullptr;
    uint64_t block_begun = 0;
};

struct Slot {
    Block block;
    std::vector<Thread> threads;
    std::vector<Variable> variables; /* by Shared.number */
    size_t variables_size = 0;       /* of those that the block has used */
    char *dynamic = nullptr;
};

std::deque<Slot> slots;        /* never moved, because Allocation.block points to their blocks */
std::vector<Cluster> clusters; /* in flight; each has consecutive slots */
unsigned n_shared = 1;
std::vector<Thread *> ready;
std::vector<char *> stacks;
void *scheduler;      /* its stack pointer while a thread runs */
bool has_failed;
uint64_t n_launches, n_threads_run, n_switches;

Slot &own_slot()
{
    return slots[self->block->slot];
}

void fill(char *memory, size_t size)
{
    memset(memory, 0xa5, size);
    memory_owner((uintptr_t)memory).cleared = step;
}

char *allocate_shared(const Slot &slot, size_t size, unsigned variable)
{
    char *const memory = (char *)memory_allocate(size, Kind::SHARED);
    if (!memory) {
        fprintf(stderr, "emulation: no memory for %zu bytes of shared memory\n", size);
        exit(2);
    }
    Allocation &owner = memory_owner((uintptr_t)memory);
    owner.block = &slot.block;
    owner.variable = variable;
    return memory;
}

/* A variable of the block in this slot, whichever block uses it first. */
char *variable_of(Slot &slot, unsigned number, size_t size)
{
    if (slot.variables.size() <= number)
        slot.variables.resize(n_shared);
    Variable &variable = slot.variables[number];
    if (!variable.memory)
        variable.memory = allocate_shared(slot, size, number);
    if (variable.block_begun != slot.block.begun) {
        variable.block_begun = slot.block.begun;
        fill(variable.memory, size);
        slot.variables_size += size;
        if (slot.variables_size + running->shared > SHARED_MAX) {
            report("more than %zu bytes of shared memory in a block", SHARED_MAX);
            abandon();
        }
    }
    return variable.memory;
}

/* ---------------------------------------------------------------- threads */

void release_barrier(Block *block);
void release_cluster_barrier(Cluster *cluster);

void thread_main()
{
    running->call(running->kernel, running->arguments.get());
    self->state = Thread::DONE;
    switch_to_scheduler();
    abort();
}

void give_stack(Thread *thread)
{
    if (!thread->stack) {
        if (stacks.empty()) {
            void *const memory = mmap(nullptr, STACK_SIZE, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_NONE)) {
                fprintf(stderr, "emulation: no memory for another thread's stack\n");
                exit(2);
            }
            stacks.push_back((char *)memory);
        }
        thread->stack = stacks.back();
        stacks.pop_back();
    }
    thread->stack_pointer = emulate_new_stack(thread->stack, STACK_SIZE, thread_main);
}

void return_stack(Thread *thread)
{
    if (thread->stack)
        stacks.push_back(thread->stack);
    thread->stack = nullptr;
}

void begin_block(unsigned slot_number, uint32_t number, Cluster *cluster)
{
    Slot &slot = slots[slot_number];
    const uint32_t n = running->block[0] * running->block[1] * running->block[2];
    slot.threads.resize(n);
    slot.variables_size = 0;
    slot.block = Block{};
    slot.block.number = number;
    slot.block.cluster = cluster;
    slot.block.begun = ++step;
    slot.block.threads = slot.threads.data();
    slot.block.live = slot.block.n_threads = n;
    cluster->live += n;
    slot.block.slot = slot_number;
    if (slot.dynamic)
        fill(slot.dynamic, running->shared);
    for (uint32_t i = 0; i < n; i++) {
        Thread &t = slot.threads[i];
        t = Thread{};
        t.block = &slot.block;
        t.linear = i;
        t.x = i % running->block[0];
        t.y = i / running->block[0] % running->block[1];
        t.z = i / running->block[0] / running->block[1];
        t.clocks[i % 32] = 1;
        ready.push_back(&t);
    }
}

void begin_cluster(unsigned i, uint32_t number)
{
    const unsigned n = running->cluster[0];
    clusters[i] = Cluster{};
    clusters[i].first_slot = i * n;
    for (unsigned rank = 0; rank < n; rank++)
        begin_block(i * n + rank, number * n + rank, &clusters[i]);
}

void end_thread(Thread *thread)
{
    Block *const block = thread->block;
    Cluster *const cluster = block->cluster;
    return_stack(thread);
    if (thread->arrived) {
        report("ends between arriving at a cluster barrier and waiting there");
        cluster->at_barrier -= thread->arrived_after == cluster->barriers;
    }
    block->live--;
    cluster->live--;
    n_threads_run++;
    if (block->live == 0)
        note_end(*thread);
    if (cluster->live && cluster->at_barrier == cluster->live)
        release_cluster_barrier(cluster);
    if (block->live == 0)
        return;
    if (block->at_barrier == block->live)
        release_barrier(block);
    const uint32_t warp = thread->linear / 32 * 32;
    for (uint32_t i = warp; i < std::min(warp + 32, block->n_threads); i++)
        if (block->threads[i].state == Thread::AT_COLLECTIVE)
            complete_collective(block->threads[i]);
}

/* ---------------------------------------------------------------- barriers */

void release_barrier(Block *block)
{
    const uint32_t n = block->n_threads;
    int any = 0, all = 1, count = 0;
    for (uint32_t i = 0; i < n; i++) {
        const Thread &t = block->threads[i];
        if (t.state != Thread::AT_BARRIER)
            continue;
        any |= t.value != 0;
        all &= t.value != 0;
        count += t.value != 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        Thread &t = block->threads[i];
        if (t.state != Thread::AT_BARRIER)
            continue;
        t.result = (uint64_t)(t.barrier == Barrier::OR ? any : t.barrier == Barrier::AND ? all : count);
        wake(&t);
    }
    block->at_barrier = 0;
    block->barriers++;
    block->fenced_before = block->fenced;
}

/* A fence of one block before the barrier counts for all blocks after it. */
void release_cluster_barrier(Cluster *cluster)
{
    const unsigned first = cluster->first_slot, past = first + running->cluster[0];
    uint64_t fenced = 0;
    for (unsigned i = first; i < past; i++)
        fenced = std::max(fenced, slots[i].block.fenced);
    for (unsigned i = first; i < past; i++) {
        slots[i].block.fenced = slots[i].block.fenced_before = fenced;
        for (Thread &t : slots[i].threads)
            if (t.state == Thread::AT_CLUSTER_BARRIER)
                wake(&t);
    }
    cluster->at_barrier = 0;
    cluster->barriers++;
    cluster->released = step;
}

/* ---------------------------------------------------------------- deadlocks */

void report_deadlock()
{
    std::map<std::string, unsigned> waiting;
    for (const Slot &slot : slots) {
        if (!slot.block.live)
            continue;
        const Block &b = slot.block;
        for (const Thread &t : slot.threads) {
            char text[400];
            if (t.state == Thread::AT_BARRIER)
                snprintf(text, sizeof text, "block %u: at a barrier, %s", b.number, place_of(t.where).text);
            else if (t.state == Thread::AT_CLUSTER_BARRIER)
                snprintf(text, sizeof text, "block %u: at a cluster barrier, %s", b.number, place_of(t.where).text);
            else if (t.state == Thread::AT_COLLECTIVE)
                snprintf(text, sizeof text, "block %u, warp %u: in %s of mask %08x, %s", b.number, t.linear / 32,
                         name_of(t.kind), t.mask, place_of(t.where).text);
            else
                snprintf(text, sizeof text, "block %u: ended", b.number);
            waiting[text]++;
        }
    }
    std::string text;
    unsigned lines = 0;
    for (const auto &line : waiting)
        if (++lines <= 12)
            text += "\n    " + std::to_string(line.second) + " threads, " + line.first;
    report("nothing can go on:%s", text.c_str());
}

double processor_seconds()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A random order of the clusters: the i-th is number (first + i * stride) % n. */
struct Order {
    uint64_t n, first, stride;
    explicit Order(uint64_t n_clusters) : n(n_clusters), first(0), stride(1)
    {
        if (!settings().seed || n < 2 || random_below(4) == 0)
            return;
        first = random_below(n);
        do
            stride = 1 + random_below(n - 1);
        while (std::__gcd(stride, n) != 1);
    }
    uint32_t operator[](uint64_t i) const { return (uint32_t)((first + i * stride) % n); }
};

Thread *next_thread()
{
    const size_t i = settings().seed ? random_below(ready.size()) : 0;
    Thread *const thread = ready[i];
    if (settings().seed) {
        ready[i] = ready.back();
        ready.pop_back();
    } else {
        ready.erase(ready.begin());
    }
    return thread;
}

void run_threads()
{
    const uint64_t n_clusters = (uint64_t)running->grid[0] / running->cluster[0] * running->grid[1] * running->grid[2];
    const Order order(n_clusters);
    const double begun = processor_seconds();
    uint64_t next_cluster = 0;

    while (!has_failed) {
        for (unsigned i = 0; i < clusters.size() && next_cluster < n_clusters; i++)
            if (!clusters[i].live)
                begin_cluster(i, order[next_cluster++]);
        if (ready.empty()) {
            for (const Cluster &cluster : clusters)
                has_failed |= cluster.live != 0;
            if (has_failed)
                report_deadlock();
            return;
        }
        self = next_thread();
        if (!self->stack)
            give_stack(self);
        emulate_switch(&scheduler, self->stack_pointer);
        Thread *const thread = self;
        self = nullptr;
        if (thread->state == Thread::DONE)
            end_thread(thread);
        if ((++n_switches & 0xfffff) == 0 && processor_seconds() - begun > settings().seconds) {
            self = thread->state == Thread::DONE ? nullptr : thread;
            report("has not come to an end within %u seconds", settings().seconds);
            self = nullptr;
            has_failed = true;
        }
    }
}

void print_summary()
{
    if (settings().summary)
        fprintf(stderr, "emulation: %llu kernels, %llu threads, %llu switches, %llu accesses\n",
                (unsigned long long)n_launches, (unsigned long long)n_threads_run, (unsigned long long)n_switches,
                (unsigned long long)step);
}

} // namespace

void switch_to_scheduler()
{
    emulate_switch(&self->stack_pointer, scheduler);
}

void wake(Thread *thread)
{
    thread->state = Thread::READY;
    ready.push_back(thread);
}

/* ---------------------------------------------------------------- for kernels */

uint3 thread_idx()
{
    return { self->x, self->y, self->z };
}

uint3 block_idx()
{
    const uint32_t n = self->block->number, x = running->grid[0], y = running->grid[1];
    return { n % x, n / x % y, n / x / y };
}

uint3 block_dim()
{
    return { running->block[0], running->block[1], running->block[2] };
}

uint3 grid_dim()
{
    return { running->grid[0], running->grid[1], running->grid[2] };
}

uint32_t active_mask()
{
    return 1u << self->lane();
}

void *shared(Shared *variable, size_t size)
{
    if (!variable->number)
        variable->number = n_shared++;
    return variable_of(own_slot(), variable->number, size);
}

void *dynamic_shared()
{
    return own_slot().dynamic;
}

unsigned cluster_rank()
{
    return self->block->number % running->cluster[0];
}

unsigned cluster_size()
{
    return running->cluster[0];
}

void *shared_of_rank(void *own, unsigned rank)
{
    const void *const where = __builtin_return_address(0);
    if (rank >= running->cluster[0]) {
        report("there is no block %u in a cluster of %u, %s", rank, running->cluster[0], place_of(where).text);
        abandon();
    }
    const uintptr_t address = (uintptr_t)own;
    /* A copy, because allocating memory may move it. */
    const Allocation owner = in_memory(address) ? memory_owner(address) : Allocation{};
    if (owner.block != self->block) {
        report("%p is not in the block's own shared memory, which map_shared_rank() needs, %s", own,
               place_of(where).text);
        abandon();
    }
    Slot &slot = slots[self->block->cluster->first_slot + rank];
    char *const there = owner.variable ? variable_of(slot, owner.variable, owner.end - owner.begin) : slot.dynamic;
    return there + (address - owner.begin);
}

int barrier(Barrier kind, int value)
{
    Thread *const t = self;
    t->state = Thread::AT_BARRIER;
    t->barrier = kind;
    t->value = value != 0;
    t->where = __builtin_return_address(0);
    if (++t->block->at_barrier == t->block->live)
        release_barrier(t->block);
    switch_to_scheduler();
    return (int)t->result;
}

void arrive_at_cluster_barrier()
{
    Thread *const t = self;
    Cluster *const cluster = t->block->cluster;
    if (t->arrived) {
        report("arrives at a cluster barrier a second time, without waiting, %s",
               place_of(__builtin_return_address(0)).text);
        abandon();
    }
    t->arrived = true;
    t->arrived_after = cluster->barriers;
    if (++cluster->at_barrier == cluster->live)
        release_cluster_barrier(cluster);
}

void wait_at_cluster_barrier()
{
    Thread *const t = self;
    t->where = __builtin_return_address(0);
    if (!t->arrived) {
        report("waits at a cluster barrier without having arrived, %s", place_of(t->where).text);
        abandon();
    }
    if (t->arrived_after == t->block->cluster->barriers) {
        t->state = Thread::AT_CLUSTER_BARRIER;
        switch_to_scheduler();
    }
    t->arrived = false;
}

/* Accesses before a fence count as visible after a later fence of another thread, or of another block before a barrier. The
 * atomic between the two is not checked. */
void fence()
{
    Block *const block = self->block;
    self->fenced = block->fenced = ++step;
    note_fence(*block);
    if (settings().burst)
        yield();
}

void system_fence()
{
    fence();
    self->fenced_for_system = !self->loaded_strongly; /* else it is the second half of an acquiring load */
}

uint64_t nanoseconds()
{
    static uint64_t now;
    return now += 1000; /* each query moves the clock */
}

void yield()
{
    ready.push_back(self);
    switch_to_scheduler();
}

void abandon()
{
    has_failed = true;
    self->state = Thread::READY;
    switch_to_scheduler();
    abort();
}

/* ---------------------------------------------------------------- for the API */

bool run(const Launch &launch)
{
    running = &launch;
    launch_begun = ++step;
    if (!n_launches++)
        atexit(print_summary);
    has_failed = raced = false;
    const unsigned size = launch.cluster[0];
    clusters.assign((settings().blocks + size - 1) / size, Cluster{});
    if (slots.size() < clusters.size() * size)
        slots.resize(clusters.size() * size);
    for (unsigned i = 0; i < clusters.size() * size; i++)
        slots[i].dynamic = launch.shared ? allocate_shared(slots[i], launch.shared, 0) : nullptr;

    inside = true;
    run_threads();
    inside = false;

    ready.clear();
    for (Slot &slot : slots) {
        for (Thread &thread : slot.threads)
            return_stack(&thread);
        slot.block = Block{};
        if (slot.dynamic)
            memory_free(slot.dynamic);
        slot.dynamic = nullptr;
    }
    self = nullptr;
    running = nullptr;
    return !has_failed && !raced;
}

} // namespace emulate
