/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The runtime API: see emulate.h. What is put into a stream is done when the host waits for something, streams
 * taking turns at random: as late as a device may do it, so that what nobody waits for is not there yet. */
#include "cuda_runtime.h"

#include <cstdio>
#include <climits>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace emulate;

/* ---------------------------------------------------------------- objects */

struct EventState {
    uint64_t recorded = 0, done = 0; /* how many times */
    double us = 0;
};

struct CUgraphNode_st {
    std::vector<void *> addresses; /* of its arguments */
};

struct Operation {
    std::function<void()> run;
    std::shared_ptr<EventState> waits_for; /* until this many records are done */
    uint64_t times = 0;
    std::shared_ptr<EventState> records = nullptr; /* that so many are done */
    std::shared_ptr<const emulate::Launch> launch = nullptr; /* of a kernel: what `run` runs */
    std::shared_ptr<CUgraphNode_st> node = nullptr;          /* of a graph */
};

/* Operations of a graph run in order: each depends on the one before. */
struct CUgraph_st {
    std::vector<Operation> operations;
};

struct CUgraphExec_st {
    std::vector<Operation> operations;
};

struct CUstream_st {
    std::deque<Operation> queue;
    bool blocking = true;
    bool capturing = false, invalidated = false;
    cudaStreamCaptureMode mode;
    std::thread::id captured_by;
    std::vector<Operation> captured;
    cudaGraphNode_t last_captured;
};

struct CUevent_st {
    std::shared_ptr<EventState> state = std::make_shared<EventState>();
    bool timing = true;
};

namespace {

std::recursive_mutex lock;
CUstream_st legacy; /* stream 0 */
std::vector<CUstream_st *> streams = { &legacy };
std::set<const void *> events, graphs, execs;
cudaError_t pending; /* of what ran since it was last told */
bool used;

thread_local cudaError_t last;
thread_local int current_device;

/* ---------------------------------------------------------------- planted faults */

struct Fault {
    std::string call; /* empty: every one */
    unsigned countdown = 0, calls = 0;
    cudaError_t error = cudaSuccess;
    bool lost = false, is_lost = false;
} fault;

cudaError_t told(cudaError_t error)
{
    if (error != cudaSuccess)
        last = error;
    return error;
}

/* What a call begins with. */
cudaError_t enter(const char *call)
{
    used = true;
    if (fault.is_lost)
        return fault.error;
    if (!fault.call.empty() && fault.call != call)
        return cudaSuccess;
    fault.calls++;
    if (!fault.countdown || --fault.countdown)
        return cudaSuccess;
    fault.is_lost = fault.lost;
    return fault.error;
}

#define ENTER(call)                                           \
    const std::lock_guard<std::recursive_mutex> guard(lock);  \
    if (const cudaError_t planted_ = enter(call))             \
        return told(planted_)

/* ---------------------------------------------------------------- streams */

CUstream_st *stream_of(cudaStream_t stream)
{
    return stream ? stream : &legacy;
}

bool exists(cudaStream_t stream)
{
    return !stream || std::find(streams.begin(), streams.end(), stream) != streams.end();
}

bool can_go_on(const CUstream_st *stream)
{
    if (stream->queue.empty())
        return false;
    const Operation &next = stream->queue.front();
    return !next.waits_for || next.waits_for->done >= next.times;
}

double clock_us()
{
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void record(const Operation &operation)
{
    if (!operation.records)
        return;
    operation.records->done = std::max(operation.records->done, operation.times);
    operation.records->us = clock_us();
}

/* One operation of a stream that can go on; false when there is none. */
bool go_on()
{
    std::vector<CUstream_st *> able;
    for (CUstream_st *stream : streams)
        if (can_go_on(stream))
            able.push_back(stream);
    if (able.empty())
        return false;
    CUstream_st *const stream = able[random_below(able.size())];
    const Operation operation = stream->queue.front();
    stream->queue.pop_front();
    if (operation.run)
        operation.run();
    record(operation);
    return true;
}

template <typename Done> cudaError_t work_until(Done done)
{
    while (!done())
        if (!go_on()) {
            fprintf(stderr, "emulation: the host waits for what no stream will ever do\n");
            abort();
        }
    const cudaError_t error = pending;
    pending = cudaSuccess;
    return told(error);
}

cudaError_t work_off_all()
{
    return work_until([] {
        for (const CUstream_st *stream : streams)
            if (!stream->queue.empty())
                return false;
        return true;
    });
}

cudaError_t put(cudaStream_t stream, Operation operation)
{
    if (!exists(stream))
        return told(cudaErrorInvalidResourceHandle);
    CUstream_st *const s = stream_of(stream);
    if (s->capturing) {
        s->captured.push_back(std::move(operation));
        s->captured.back().node = std::make_shared<CUgraphNode_st>();
        return cudaSuccess;
    }
    s->queue.push_back(std::move(operation));
    return settings().blocking ? work_until([=] { return s->queue.empty(); }) : cudaSuccess;
}

/* A call that a stream which is captured cannot have: the capture is spoilt. */
bool spoils_capture(cudaStream_t stream)
{
    if (!exists(stream) || !stream_of(stream)->capturing)
        return false;
    stream_of(stream)->invalidated = true;
    return true;
}

/* What other threads do is no business of a capture of mode ThreadLocal. */
bool any_capture()
{
    for (CUstream_st *stream : streams)
        if ((stream->mode == cudaStreamCaptureModeGlobal || stream->captured_by == std::this_thread::get_id()) &&
            spoils_capture(stream))
            return true;
    return false;
}

/* ---------------------------------------------------------------- memory */

Kind kind_of(const void *memory)
{
    return in_memory((uintptr_t)memory) ? memory_owner((uintptr_t)memory).kind : Kind::NONE;
}

bool pageable(const void *memory)
{
    return !in_memory((uintptr_t)memory);
}

/* Is all of it inside one allocation, or not ours at all? */
bool is_there(const void *memory, size_t size)
{
    if (pageable(memory))
        return true;
    const Allocation &owner = memory_owner((uintptr_t)memory);
    return owner.kind != Kind::NONE && (uintptr_t)memory + size <= owner.end;
}

size_t span(size_t pitch, size_t width, size_t height)
{
    return height ? (height - 1) * pitch + width : 0;
}

void copy_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t width, size_t height)
{
    for (size_t y = 0; y < height; y++)
        memcpy(to + y * to_pitch, from + y * from_pitch, width);
}

bool right_side(const void *memory, bool device)
{
    return (kind_of(memory) == Kind::DEVICE) == device || kind_of(memory) == Kind::PINNED;
}

cudaError_t copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                 cudaMemcpyKind kind, cudaStream_t stream)
{
    if (to_pitch < width || from_pitch < width)
        return told(cudaErrorInvalidValue);
    if (!width || !height)
        return cudaSuccess;
    const size_t to_span = span(to_pitch, width, height), from_span = span(from_pitch, width, height);
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (!is_there(to, to_span) || !is_there(from, from_span) ||
        (kind != cudaMemcpyDefault && (!right_side(to, to_device) || !right_side(from, from_device)))) {
        report("a copy of %zu rows of %zu bytes is not inside its memory, or that is of another kind", height, width);
        return told(cudaErrorInvalidValue);
    }
    if ((pageable(to) || pageable(from)) && spoils_capture(stream))
        return told(cudaErrorStreamCaptureUnsupported);
    if (pageable(to)) { /* there when the call returns */
        if (const cudaError_t error = work_until([=] { return stream_of(stream)->queue.empty(); }))
            return error;
        copy_rows((char *)to, to_pitch, (const char *)from, from_pitch, width, height);
        return cudaSuccess;
    }
    if (pageable(from)) { /* read before the call returns */
        auto staged = std::make_shared<std::vector<char>>(width * height);
        copy_rows(staged->data(), width, (const char *)from, from_pitch, width, height);
        return put(stream, { [=] { copy_rows((char *)to, to_pitch, staged->data(), width, width, height); },
                             nullptr, 0 });
    }
    return put(stream, { [=] { copy_rows((char *)to, to_pitch, (const char *)from, from_pitch, width, height); },
                         nullptr, 0 });
}

cudaError_t set(void *memory, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    if (!width || !height)
        return cudaSuccess;
    if (pageable(memory) || !is_there(memory, span(pitch, width, height))) {
        report("a memset of %zu rows of %zu bytes is not inside device memory", height, width);
        return told(cudaErrorInvalidValue);
    }
    return put(stream, { [=] {
                            for (size_t y = 0; y < height; y++)
                                memset((char *)memory + y * pitch, value, width);
                        },
                        nullptr, 0 });
}

const struct {
    cudaError_t error;
    const char *name, *sentence;
} error_names[] = {
    { cudaSuccess, "cudaSuccess", "no error" },
    { cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument" },
    { cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory" },
    { cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error" },
    { cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument" },
    { cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient" },
    { cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected" },
    { cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal" },
    { cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice", "no kernel image for the device" },
    { cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle" },
    { cudaErrorNotReady, "cudaErrorNotReady", "device not ready" },
    { cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered" },
    { cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated" },
    { cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure" },
    { cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported", "not permitted while capturing" },
    { cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated", "failed due to a previous error" },
    { cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize", "invalid cluster size" },
};

} // namespace

/* ---------------------------------------------------------------- errors */

const char *cudaGetErrorName(cudaError_t error)
{
    for (const auto &e : error_names)
        if (e.error == error)
            return e.name;
    return "cudaErrorUnknown";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (const auto &e : error_names)
        if (e.error == error)
            return e.sentence;
    return "unknown error";
}

cudaError_t cudaGetLastError()
{
    const cudaError_t error = last;
    last = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError()
{
    return last;
}

/* ---------------------------------------------------------------- the device */

cudaError_t cudaGetDeviceCount(int *n)
{
    ENTER("cudaGetDeviceCount");
    *n = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    ENTER("cudaGetDevice");
    *device = current_device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    ENTER("cudaSetDevice");
    if (device != 0)
        return told(cudaErrorInvalidDevice);
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    ENTER("cudaDeviceGetAttribute");
    if (device != 0)
        return told(cudaErrorInvalidDevice);
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = SHARED_USUAL; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = SHARED_MAX; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMultiProcessorCount: *value = 4; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrClusterLaunch: *value = 1; break;
    default: return told(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *lowest, int *highest)
{
    ENTER("cudaDeviceGetStreamPriorityRange");
    *lowest = 0;
    *highest = -2;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    ENTER("cudaMemGetInfo");
    unsigned n_blocks;
    const size_t used = memory_in_use(&n_blocks);
    *total = memory_size;
    *free = memory_size - used;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    ENTER("cudaGetDeviceProperties");
    if (device != 0)
        return told(cudaErrorInvalidDevice);
    *properties = cudaDeviceProp{};
    snprintf(properties->name, sizeof properties->name, "CUDA emulated on the CPU");
    properties->totalGlobalMem = memory_size;
    properties->sharedMemPerBlock = SHARED_USUAL;
    properties->multiProcessorCount = 4;
    properties->major = 9;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->maxThreadsPerMultiProcessor = 2048;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

static int get_current_context(void **context)
{
    static int something;
    *context = used ? &something : nullptr;
    return 0;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **entry, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult *found)
{
    ENTER("cudaGetDriverEntryPointByVersion");
    const bool known = !strcmp(name, "cuCtxGetCurrent");
    *entry = known ? (void *)get_current_context : nullptr;
    if (found)
        *found = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    ENTER("cudaDeviceSynchronize");
    if (any_capture())
        return told(cudaErrorStreamCaptureUnsupported);
    return work_off_all();
}

/* ---------------------------------------------------------------- memory */

static cudaError_t take(void **memory, size_t size, Kind kind)
{
    if (any_capture())
        return told(cudaErrorStreamCaptureUnsupported);
    if (!size)
        return told(cudaErrorInvalidValue);
    *memory = memory_take(size, kind);
    return *memory ? cudaSuccess : told(cudaErrorMemoryAllocation);
}

static cudaError_t give(void *memory, Kind kind, cudaError_t planted)
{
    if (!memory)
        return told(planted);
    if (planted == cudaSuccess && work_off_all() != cudaSuccess)
        planted = last;
    if (kind_of(memory) != kind || !memory_give(memory)) {
        report("%p is given back, which is not the start of %s memory", memory,
               kind == Kind::DEVICE ? "device" : "pinned");
        return told(cudaErrorInvalidValue);
    }
    return told(planted);
}

cudaError_t cudaMalloc(void **memory, size_t size)
{
    ENTER("cudaMalloc");
    return take(memory, size, Kind::DEVICE);
}

/* With a planted fault the memory counts as given back all the same: nobody can do more than ask for it. */
cudaError_t cudaFree(void *memory)
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    return give(memory, Kind::DEVICE, enter("cudaFree"));
}

cudaError_t cudaHostAlloc(void **memory, size_t size, unsigned)
{
    ENTER("cudaHostAlloc");
    return take(memory, size, Kind::PINNED);
}

cudaError_t cudaFreeHost(void *memory)
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    return give(memory, Kind::PINNED, enter("cudaFreeHost"));
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned)
{
    ENTER("cudaHostGetDevicePointer");
    if (kind_of(host) != Kind::PINNED)
        return told(cudaErrorInvalidValue);
    *device = host;
    return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    ENTER("cudaHostGetFlags");
    if (kind_of(host) != Kind::PINNED)
        return told(cudaErrorInvalidValue);
    *flags = cudaHostAllocPortable | cudaHostAllocMapped;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory)
{
    ENTER("cudaPointerGetAttributes");
    const Kind kind = kind_of(memory);
    *attributes = cudaPointerAttributes{};
    if (kind == Kind::NONE)
        return cudaSuccess;
    attributes->type = kind == Kind::DEVICE ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
    attributes->devicePointer = (void *)memory;
    attributes->hostPointer = kind == Kind::DEVICE ? nullptr : (void *)memory;
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream)
{
    ENTER("cudaMemcpyAsync");
    return copy(to, size, from, size, size, 1, kind, stream);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    ENTER("cudaMemcpy2DAsync");
    if (to_pitch > INT_MAX || from_pitch > INT_MAX) /* cudaDevAttrMaxPitch */
        return told(cudaErrorInvalidValue);
    return copy(to, to_pitch, from, from_pitch, width, height, kind, stream);
}

/* Waits for streams that wait for stream 0; what it does itself is there when it returns, or goes into stream 0. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    ENTER("cudaMemcpy");
    if (any_capture())
        return told(cudaErrorStreamCaptureUnsupported);
    cudaError_t error = work_until([] {
        for (const CUstream_st *stream : streams)
            if (stream->blocking && !stream->queue.empty())
                return false;
        return true;
    });
    if (error == cudaSuccess)
        error = copy(to, size, from, size, size, 1, kind, nullptr);
    if (error == cudaSuccess && kind != cudaMemcpyDeviceToDevice)
        error = work_until([] { return legacy.queue.empty(); });
    return error;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t size, cudaStream_t stream)
{
    ENTER("cudaMemsetAsync");
    return set(memory, size, value, size, 1, stream);
}

cudaError_t cudaMemset(void *memory, int value, size_t size)
{
    ENTER("cudaMemset");
    return set(memory, size, value, size, 1, nullptr);
}

cudaError_t cudaMemset2DAsync(void *memory, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    ENTER("cudaMemset2DAsync");
    return set(memory, pitch, value, width, height, stream);
}

/* ---------------------------------------------------------------- streams */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    ENTER("cudaStreamCreateWithFlags");
    *stream = new CUstream_st;
    (*stream)->blocking = !(flags & cudaStreamNonBlocking);
    streams.push_back(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    const cudaError_t planted = enter("cudaStreamDestroy");
    if (!stream || !exists(stream))
        return told(cudaErrorInvalidResourceHandle);
    if (planted == cudaSuccess)
        work_until([=] { return stream->queue.empty(); });
    for (const Operation &operation : stream->queue) /* of a lost device: nobody may wait for it for ever */
        record(operation);
    streams.erase(std::find(streams.begin(), streams.end(), stream));
    delete stream;
    return told(planted);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    ENTER("cudaStreamSynchronize");
    if (!exists(stream))
        return told(cudaErrorInvalidResourceHandle);
    if (spoils_capture(stream))
        return told(cudaErrorStreamCaptureUnsupported);
    return work_until([=] { return stream_of(stream)->queue.empty(); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    ENTER("cudaStreamQuery");
    if (!exists(stream))
        return told(cudaErrorInvalidResourceHandle);
    if (spoils_capture(stream))
        return told(cudaErrorStreamCaptureUnsupported);
    if (stream_of(stream)->queue.empty())
        return cudaSuccess;
    go_on();
    return told(cudaErrorNotReady);
}

/* ---------------------------------------------------------------- events */

static bool known(cudaEvent_t event)
{
    return events.count(event);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    ENTER("cudaEventCreateWithFlags");
    *event = new CUevent_st;
    (*event)->timing = !(flags & cudaEventDisableTiming);
    events.insert(*event);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    const cudaError_t planted = enter("cudaEventDestroy");
    if (!events.erase(event))
        return told(cudaErrorInvalidResourceHandle);
    delete event;
    return told(planted);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    ENTER("cudaEventRecord");
    if (!known(event))
        return told(cudaErrorInvalidResourceHandle);
    const auto state = event->state;
    const uint64_t time = ++state->recorded;
    return put(stream, { nullptr, nullptr, time, state });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    ENTER("cudaStreamWaitEvent");
    if (!known(event))
        return told(cudaErrorInvalidResourceHandle);
    return put(stream, { nullptr, event->state, event->state->recorded });
}

static bool is_done(const EventState &state)
{
    return state.done >= state.recorded;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    ENTER("cudaEventQuery");
    if (!known(event))
        return told(cudaErrorInvalidResourceHandle);
    if (!is_done(*event->state)) {
        go_on();
        return told(cudaErrorNotReady);
    }
    const cudaError_t error = pending;
    pending = cudaSuccess;
    return told(error);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    ENTER("cudaEventSynchronize");
    if (!known(event))
        return told(cudaErrorInvalidResourceHandle);
    const auto state = event->state;
    return work_until([=] { return is_done(*state); });
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    ENTER("cudaEventElapsedTime");
    if (!known(begin) || !known(end) || !begin->timing || !end->timing || !begin->state->recorded ||
        !end->state->recorded)
        return told(cudaErrorInvalidResourceHandle);
    if (!is_done(*begin->state) || !is_done(*end->state))
        return told(cudaErrorNotReady);
    *ms = (float)((end->state->us - begin->state->us) * 1e-3);
    return cudaSuccess;
}

/* ---------------------------------------------------------------- kernels */

struct Allowed { /* by cudaFuncSetAttribute() */
    size_t shared = SHARED_USUAL;
    unsigned cluster = 8;
};
static std::map<const void *, Allowed> allowed;

static void set_sizes(Launch *launch, dim3 grid, dim3 block, size_t shared)
{
    const dim3 sizes[] = { grid, block };
    unsigned *const to[] = { launch->grid, launch->block };
    for (unsigned i = 0; i < 2; i++) {
        to[i][0] = sizes[i].x;
        to[i][1] = sizes[i].y;
        to[i][2] = sizes[i].z;
    }
    launch->shared = shared;
}

/* What a launch like this is refused with. */
static cudaError_t refusal(const Launch &launch)
{
    const Allowed most = allowed[launch.kernel];
    const unsigned cluster = launch.cluster[0];
    if (!cluster || cluster > most.cluster || launch.cluster[1] != 1 || launch.cluster[2] != 1)
        return cudaErrorInvalidClusterSize;
    const uint64_t threads = (uint64_t)launch.block[0] * launch.block[1] * launch.block[2];
    bool right = threads >= 1 && threads <= 1024 && launch.block[2] <= 64 && launch.shared <= most.shared;
    right = right && launch.grid[0] <= INT32_MAX && launch.grid[1] <= 65535 && launch.grid[2] <= 65535;
    right = right && launch.grid[0] && launch.grid[1] && launch.grid[2] && launch.grid[0] % cluster == 0;
    return right ? cudaSuccess : cudaErrorInvalidConfiguration;
}

/* ---------------------------------------------------------------- graphs */

static Operation operation_of(const std::shared_ptr<const Launch> &launch)
{
    return { [launch] {
                if (!run(*launch))
                    pending = cudaErrorLaunchFailure;
            },
             nullptr, 0, nullptr, launch };
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    ENTER("cudaStreamBeginCapture");
    if (!stream || !exists(stream) || stream->capturing)
        return told(cudaErrorInvalidValue);
    stream->capturing = true;
    stream->mode = mode;
    stream->captured_by = std::this_thread::get_id();
    stream->invalidated = false;
    stream->captured.clear();
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    const cudaError_t planted = enter("cudaStreamEndCapture");
    *graph = nullptr;
    if (!stream || !exists(stream) || !stream->capturing)
        return told(cudaErrorInvalidValue);
    stream->capturing = false;
    if (planted != cudaSuccess || stream->invalidated)
        return told(planted != cudaSuccess ? planted : cudaErrorStreamCaptureInvalidated);
    *graph = new CUgraph_st{ std::move(stream->captured) };
    stream->captured.clear();
    graphs.insert(*graph);
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    ENTER("cudaStreamIsCapturing");
    const CUstream_st *const s = stream_of(stream);
    *status = !s->capturing     ? cudaStreamCaptureStatusNone
              : s->invalidated ? cudaStreamCaptureStatusInvalidated
                               : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *,
                                     cudaGraph_t *, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **, size_t *n)
{
    ENTER("cudaStreamGetCaptureInfo");
    if (const cudaError_t error = cudaStreamIsCapturing(stream, status))
        return error;
    *n = 0;
    if (*status != cudaStreamCaptureStatusActive || stream->captured.empty())
        return cudaSuccess;
    stream->last_captured = stream->captured.back().node.get();
    *nodes = &stream->last_captured;
    *n = 1;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    ENTER("cudaGraphInstantiate");
    if (!graphs.count(graph))
        return told(cudaErrorInvalidValue);
    *exec = new CUgraphExec_st{ graph->operations };
    execs.insert(*exec);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    ENTER("cudaGraphLaunch");
    if (!execs.count(exec))
        return told(cudaErrorInvalidValue);
    for (const Operation &operation : exec->operations)
        if (const cudaError_t error = put(stream, operation))
            return error;
    return cudaSuccess;
}

/* The kernel of a node among these operations. */
static Operation *kernel_of(std::vector<Operation> &operations, cudaGraphNode_t node)
{
    for (Operation &operation : operations)
        if (operation.node.get() == node && operation.launch)
            return &operation;
    return nullptr;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *params)
{
    ENTER("cudaGraphKernelNodeGetParams");
    const Operation *kernel = nullptr;
    for (const void *graph : graphs)
        if (!kernel)
            kernel = kernel_of(((cudaGraph_t)graph)->operations, node);
    if (!kernel)
        return told(cudaErrorInvalidValue);
    const Launch &launch = *kernel->launch;
    node->addresses = launch.addresses(launch.arguments.get());
    *params = { (void *)launch.kernel, dim3(launch.grid[0], launch.grid[1], launch.grid[2]),
                dim3(launch.block[0], launch.block[1], launch.block[2]), (unsigned)launch.shared,
                node->addresses.data(), nullptr };
    return cudaSuccess;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *params)
{
    ENTER("cudaGraphExecKernelNodeSetParams");
    Operation *const kernel = execs.count(exec) ? kernel_of(exec->operations, node) : nullptr;
    if (!kernel || params->func != kernel->launch->kernel)
        return told(cudaErrorInvalidValue);
    Launch launch = *kernel->launch;
    set_sizes(&launch, params->gridDim, params->blockDim, params->sharedMemBytes);
    if (const cudaError_t error = refusal(launch))
        return told(error);
    launch.arguments = launch.remake(params->kernelParams);
    const auto same_node = kernel->node;
    *kernel = operation_of(std::make_shared<const Launch>(std::move(launch)));
    kernel->node = same_node;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    const cudaError_t planted = enter("cudaGraphDestroy");
    if (!graphs.erase(graph))
        return told(cudaErrorInvalidValue);
    delete graph;
    return told(planted);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    const cudaError_t planted = enter("cudaGraphExecDestroy");
    if (!execs.erase(exec))
        return told(cudaErrorInvalidValue);
    delete exec;
    return told(planted);
}

/* ---------------------------------------------------------------- launches */

namespace emulate {

cudaError_t launch(Launch &&launch, cudaStream_t stream)
{
    ENTER("launch");
    if (const cudaError_t error = refusal(launch))
        return told(error);
    return put(stream, operation_of(std::make_shared<const Launch>(std::move(launch))));
}

cudaError_t function_attributes(cudaFuncAttributes *attributes)
{
    ENTER("cudaFuncGetAttributes");
    *attributes = { 0, 1024, 32, 90, 90 };
    return cudaSuccess;
}

cudaError_t function_attribute(const void *function, cudaFuncAttribute attribute, int value)
{
    ENTER("cudaFuncSetAttribute");
    const bool shared = attribute == cudaFuncAttributeMaxDynamicSharedMemorySize;
    if (value < 0 || value > (shared ? (int)SHARED_MAX : 1))
        return told(cudaErrorInvalidValue);
    if (shared)
        allowed[function].shared = (size_t)value;
    else if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed)
        allowed[function].cluster = value ? 16 : 8;
    else
        return told(cudaErrorNotSupported);
    return cudaSuccess;
}

cudaError_t occupancy(int *blocks)
{
    ENTER("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    *blocks = 2;
    return cudaSuccess;
}

cudaError_t cluster_occupancy(int *n, const void *kernel, const cudaLaunchConfig_t *config)
{
    ENTER("cudaOccupancyMaxActiveClusters");
    const dim3 cluster = cluster_of(*config);
    Launch launch = {};
    launch.kernel = kernel;
    set_sizes(&launch, config->gridDim, config->blockDim, config->dynamicSmemBytes);
    launch.cluster[0] = cluster.x;
    launch.cluster[1] = cluster.y;
    launch.cluster[2] = cluster.z;
    if (const cudaError_t error = refusal(launch))
        return told(error);
    *n = 2;
    return cudaSuccess;
}

} // namespace emulate

/* ---------------------------------------------------------------- for tests */

void emulate_fail(const char *call, unsigned n, int error, bool lost)
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    fault = Fault{};
    fault.call = call ? call : "";
    fault.countdown = n;
    fault.error = (cudaError_t)error;
    fault.lost = lost;
    pending = cudaSuccess;
}

unsigned emulate_calls()
{
    return fault.calls;
}

unsigned emulate_held()
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    unsigned n_blocks;
    memory_in_use(&n_blocks);
    return n_blocks + (unsigned)(streams.size() - 1 + events.size() + graphs.size() + execs.size());
}
