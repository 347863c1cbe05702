/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A launch: see emulate.h. Every thread of a block has a stack of its own; one of all that can go on is chosen at
 * random, runs until it waits, ends or is made to let others go first, and so on. */
#include "cuda_runtime.h"

#include "switch.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
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

/* ---------------------------------------------------------------- settings */

Settings parse()
{
    Settings s;
    const char *text = getenv("CCL_EMULATE");
    const std::string all = text ? text : "";
    for (size_t at = 0; at < all.size();) {
        const size_t end = std::min(all.find(',', at), all.size()), equals = all.find('=', at);
        const std::string name = all.substr(at, std::min(equals, end) - at);
        const uint64_t value = equals < end ? strtoull(all.c_str() + equals + 1, nullptr, 0) : 1;
        if (name == "seed")
            s.seed = value ? value : 0;
        else if (name == "blocks")
            s.blocks = (unsigned)std::max<uint64_t>(1, std::min<uint64_t>(value, 16));
        else if (name == "burst")
            s.burst = (unsigned)value;
        else if (name == "races")
            s.races = value;
        else if (name == "fail")
            s.fail = value;
        else if (name == "seconds")
            s.seconds = (unsigned)value;
        else if (name == "summary")
            s.summary = value;
        else if (name == "blocking")
            s.blocking = value;
        else {
            fprintf(stderr, "emulation: CCL_EMULATE has no \"%s\"; there are seed, blocks, burst, races, fail, "
                            "seconds, summary, blocking\n", name.c_str());
            exit(2);
        }
        at = end + 1;
    }
    if (!s.seed)
        s.blocks = 1, s.burst = 0;
    return s;
}

/* ---------------------------------------------------------------- blocks and their shared memory */

struct Variable {
    char *memory = nullptr;
    uint64_t block_begun = 0;
};

struct Slot {
    Block block;
    std::vector<Thread> threads;
    std::vector<Variable> variables; /* by Shared.number */
    size_t variables_size = 0;       /* of those that the block has come to */
    char *dynamic = nullptr;
};

std::deque<Slot> slots;        /* never moved: their memory's Allocation.block */
std::vector<Cluster> clusters; /* in flight at once; each has slots of its own, one after the other */
unsigned n_shared = 1;
std::vector<Thread *> ready;
std::vector<char *> stacks;
void *scheduler;      /* its stack pointer while a thread runs */
bool given_up;
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

char *take_shared(const Slot &slot, size_t size, unsigned variable)
{
    char *const memory = (char *)memory_take(size, Kind::SHARED);
    if (!memory) {
        fprintf(stderr, "emulation: no memory for %zu bytes of shared memory\n", size);
        exit(2);
    }
    Allocation &owner = memory_owner((uintptr_t)memory);
    owner.block = &slot.block;
    owner.variable = variable;
    return memory;
}

/* A variable of the block in this slot, whichever block comes to it first. */
char *variable_of(Slot &slot, unsigned number, size_t size)
{
    if (slot.variables.size() <= number)
        slot.variables.resize(n_shared);
    Variable &variable = slot.variables[number];
    if (!variable.memory)
        variable.memory = take_shared(slot, size, number);
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

void to_scheduler()
{
    emulate_switch(&self->stack_pointer, scheduler);
}

void release_barrier(Block *block);
void release_cluster_barrier(Cluster *cluster);
void complete_collectives(Thread *thread);

void thread_main()
{
    running->call(running->kernel, running->arguments.get());
    self->state = Thread::DONE;
    to_scheduler();
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

void take_stack(Thread *thread)
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
    slot.block.live = n;
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
    take_stack(thread);
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
    const uint32_t n = (uint32_t)slots[block->slot].threads.size(), warp = thread->linear / 32 * 32;
    for (uint32_t i = warp; i < std::min(warp + 32, n); i++)
        if (block->threads[i].state == Thread::AT_COLLECTIVE)
            complete_collectives(&block->threads[i]);
}

/* ---------------------------------------------------------------- barriers */

void wake(Thread *thread)
{
    thread->state = Thread::READY;
    ready.push_back(thread);
}

void release_barrier(Block *block)
{
    const size_t n = slots[block->slot].threads.size();
    int any = 0, all = 1, count = 0;
    for (size_t i = 0; i < n; i++) {
        const Thread &t = block->threads[i];
        if (t.state != Thread::AT_BARRIER)
            continue;
        any |= t.value != 0;
        all &= t.value != 0;
        count += t.value != 0;
    }
    for (size_t i = 0; i < n; i++) {
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

/* A fence of one block before it is one of all after it. */
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

/* ---------------------------------------------------------------- warps */

/* Lanes whose place the arguments name, in the thread's own part of `width` lanes. */
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

/* When all lanes of the thread's mask are there, gives them what they came for. */
void complete_collectives(Thread *thread)
{
    const uint32_t n = (uint32_t)slots[thread->block->slot].threads.size(), warp = thread->linear / 32 * 32;
    Thread *const lanes = thread->block->threads + warp;
    const uint32_t n_lanes = std::min(32u, n - warp);
    uint32_t mask = 0;
    for (uint32_t i = 0; i < n_lanes; i++) {
        const Thread &t = lanes[i];
        if (!(thread->mask >> i & 1) || t.state == Thread::DONE)
            continue;
        if (t.state != Thread::AT_COLLECTIVE || t.kind != thread->kind || t.mask != thread->mask)
            return;
        mask |= 1u << i;
    }

    uint32_t votes = 0, sum = 0, low = ~0u, high = 0, ands = ~0u, ors = 0, xors = 0;
    int32_t low_signed = INT32_MAX, high_signed = INT32_MIN;
    bool same = true;
    for (uint32_t i = 0; i < n_lanes; i++) {
        if (!(mask >> i & 1))
            continue;
        const uint32_t value = (uint32_t)lanes[i].value;
        votes |= (uint32_t)(lanes[i].value != 0) << i;
        sum += value, ands &= value, ors |= value, xors ^= value;
        low = std::min(low, value), high = std::max(high, value);
        low_signed = std::min(low_signed, (int32_t)value), high_signed = std::max(high_signed, (int32_t)value);
        same = same && lanes[i].value == lanes[__builtin_ctz(mask)].value;
    }
    for (uint32_t i = 0; i < n_lanes; i++) {
        Thread &t = lanes[i];
        if (!(mask >> i & 1))
            continue;
        switch (t.kind) {
        case Collective::SYNC: break;
        case Collective::BALLOT: t.result = votes; break;
        case Collective::ANY: t.result = votes != 0; break;
        case Collective::ALL: t.result = votes == mask; break;
        case Collective::INDEX:
        case Collective::UP:
        case Collective::DOWN:
        case Collective::XOR: {
            const uint32_t from = source_lane(t);
            t.result = mask >> from & 1 ? lanes[from].value : 0xa5a5a5a5a5a5a5a5; /* undefined */
            break;
        }
        case Collective::ADD: t.result = sum; break;
        case Collective::MIN: t.result = low; break;
        case Collective::MAX: t.result = high; break;
        case Collective::MIN_SIGNED: t.result = (uint32_t)low_signed; break;
        case Collective::MAX_SIGNED: t.result = (uint32_t)high_signed; break;
        case Collective::AND: t.result = ands; break;
        case Collective::OR: t.result = ors; break;
        case Collective::BIT_XOR: t.result = xors; break;
        case Collective::MATCH_ANY:
            t.result = 0;
            for (uint32_t j = 0; j < n_lanes; j++)
                if (mask >> j & 1 && lanes[j].value == t.value)
                    t.result |= 1u << j;
            break;
        case Collective::MATCH_ALL: t.result = same ? mask : 0; break;
        }
    }
    /* Only __syncwarp() orders memory; votes and shuffles carry values. */
    if (thread->kind == Collective::SYNC) {
        uint32_t known[32] = {};
        for (uint32_t i = 0; i < n_lanes; i++)
            for (uint32_t j = 0; mask >> i & 1 && j < 32; j++)
                known[j] = std::max(known[j], lanes[i].clocks[j]);
        for (uint32_t i = 0; i < n_lanes; i++)
            if (mask >> i & 1) {
                memcpy(lanes[i].clocks, known, sizeof known);
                lanes[i].clocks[i]++;
            }
    }
    for (uint32_t i = 0; i < n_lanes; i++)
        if (mask >> i & 1)
            wake(&lanes[i]);
}

/* ---------------------------------------------------------------- no way on */

const char *name_of(Collective kind)
{
    static const char *const names[] = { "__syncwarp", "__ballot_sync", "__any_sync", "__all_sync", "__shfl_sync",
                                         "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "__reduce_add_sync",
                                         "__reduce_min_sync", "__reduce_max_sync", "__reduce_min_sync",
                                         "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync",
                                         "__reduce_xor_sync", "__match_any_sync", "__match_all_sync" };
    return names[(unsigned)kind];
}

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

/* Clusters in an order of their own: number i is the (first + i * stride)-th. */
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

    while (!given_up) {
        for (unsigned i = 0; i < clusters.size() && next_cluster < n_clusters; i++)
            if (!clusters[i].live)
                begin_cluster(i, order[next_cluster++]);
        if (ready.empty()) {
            for (const Cluster &cluster : clusters)
                given_up |= cluster.live != 0;
            if (given_up)
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
            given_up = true;
        }
    }
}

void say_summary()
{
    if (settings().summary)
        fprintf(stderr, "emulation: %llu kernels, %llu threads, %llu switches, %llu accesses\n",
                (unsigned long long)n_launches, (unsigned long long)n_threads_run, (unsigned long long)n_switches,
                (unsigned long long)step);
}

} // namespace

const Settings &settings()
{
    static const Settings s = parse();
    return s;
}

uint64_t random_bits()
{
    static uint64_t state = settings().seed * 0x9e3779b97f4a7c15 + 1;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1d >> 11;
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
    /* A copy: taking memory may move what is known of it. */
    const Allocation owner = in_memory(address) ? memory_owner(address) : Allocation{};
    if (owner.block != self->block) {
        report("%p is not in the block's own shared memory, which map_shared_rank() wants, %s", own,
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
    to_scheduler();
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
        to_scheduler();
    }
    t->arrived = false;
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
    complete_collectives(t);
    to_scheduler();
    return t->result;
}

/* What was done before a fence is taken to be seen by whoever fences after it, in the same thread or before a barrier:
 * whether the atomic in between is there is not checked. */
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
    self->fenced_for_system = !self->looked; /* else it is the second half of a load that acquires */
}

uint64_t nanoseconds()
{
    static uint64_t now;
    return now += 1000; /* a clock that waiting moves on */
}

void yield()
{
    ready.push_back(self);
    to_scheduler();
}

void abandon()
{
    given_up = true;
    self->state = Thread::READY;
    to_scheduler();
    abort();
}

/* ---------------------------------------------------------------- for the API */

bool run(const Launch &launch)
{
    running = &launch;
    launch_begun = ++step;
    if (!n_launches++)
        atexit(say_summary);
    given_up = raced = false;
    const unsigned size = launch.cluster[0];
    clusters.assign((settings().blocks + size - 1) / size, Cluster{});
    if (slots.size() < clusters.size() * size)
        slots.resize(clusters.size() * size);
    for (unsigned i = 0; i < clusters.size() * size; i++)
        slots[i].dynamic = launch.shared ? take_shared(slots[i], launch.shared, 0) : nullptr;

    inside = true;
    run_threads();
    inside = false;

    ready.clear();
    for (Slot &slot : slots) {
        for (Thread &thread : slot.threads)
            take_stack(&thread);
        slot.block = Block{};
        if (slot.dynamic)
            memory_give(slot.dynamic);
        slot.dynamic = nullptr;
    }
    self = nullptr;
    running = nullptr;
    return !given_up && !raced;
}

} // namespace emulate
