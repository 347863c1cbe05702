/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The runtime API: planted faults, queues, streams and events. An operation in a stream runs when the host waits for
 * something, and streams take turns at random. That is as late as a device may run it. */
#include "runtime.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace emulate {

std::recursive_mutex lock;
CUstream_st legacy[MAX_DEVICES];
std::vector<CUstream_st *> streams = [] {
    std::vector<CUstream_st *> all;
    for (unsigned device = 0; device < MAX_DEVICES; device++) {
        legacy[device].device = device;
        all.push_back(&legacy[device]);
    }
    return all;
}();
std::set<const void *> events, graphs, execs;
cudaError_t pending[MAX_DEVICES];
thread_local unsigned current_device;
bool used;

static thread_local cudaError_t last;

/* ---------------------------------------------------------------- planted faults */

static struct Fault {
    std::string call; /* empty: every one */
    unsigned countdown = 0, calls = 0;
    cudaError_t error = cudaSuccess;
    bool lost = false, is_lost = false;
    unsigned device = 0; /* that is lost */
} fault;

cudaError_t fail(cudaError_t error)
{
    if (error != cudaSuccess)
        last = error;
    return error;
}

bool is_lost(unsigned device)
{
    return fault.is_lost && fault.device == device && device < MAX_DEVICES;
}

cudaError_t enter(const char *call, unsigned device)
{
    used = true;
    if (is_lost(device))
        return fault.error;
    if (!fault.call.empty() && fault.call != call)
        return cudaSuccess;
    fault.calls++;
    if (!fault.countdown || --fault.countdown)
        return cudaSuccess;
    fault.is_lost = fault.lost;
    fault.device = device;
    return fault.error;
}

unsigned calls_entered()
{
    return fault.calls;
}

cudaError_t last_error()
{
    return last;
}

void set_last_error(cudaError_t error)
{
    last = error;
}

/* ---------------------------------------------------------------- queues */

CUstream_st *stream_of(cudaStream_t stream)
{
    return stream ? stream : &legacy[current_device];
}

bool exists(cudaStream_t stream)
{
    return !stream || std::find(streams.begin(), streams.end(), stream) != streams.end();
}

unsigned device_of(cudaStream_t stream)
{
    return exists(stream) ? stream_of(stream)->device : current_device;
}

static bool can_run(const CUstream_st *stream)
{
    if (stream->queue.empty() || is_lost(stream->device))
        return false;
    const Operation &next = stream->queue.front();
    return !next.waits_for || next.waits_for->done >= next.times;
}

static double clock_us()
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

bool run_one()
{
    std::vector<CUstream_st *> able;
    for (CUstream_st *stream : streams)
        if (can_run(stream))
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

cudaError_t run_until(const std::function<bool()> &done)
{
    while (!done())
        if (!run_one()) {
            fprintf(stderr, "emulation: the host waits for an operation that no stream can run\n");
            abort();
        }
    const cudaError_t error = pending[current_device];
    pending[current_device] = cudaSuccess;
    return fail(error);
}

cudaError_t run_all()
{
    return run_until([] {
        for (const CUstream_st *stream : streams)
            if (stream->device == current_device && !stream->queue.empty())
                return false;
        return true;
    });
}

cudaError_t enqueue(cudaStream_t stream, Operation operation)
{
    if (!exists(stream))
        return fail(cudaErrorInvalidResourceHandle);
    CUstream_st *const s = stream_of(stream);
    if (s->capturing) {
        s->captured.push_back(std::move(operation));
        s->captured.back().node = std::make_shared<CUgraphNode_st>();
        return cudaSuccess;
    }
    s->queue.push_back(std::move(operation));
    return settings().blocking ? run_until([=] { return s->queue.empty(); }) : cudaSuccess;
}

bool invalidates_capture(cudaStream_t stream)
{
    if (!exists(stream) || !stream_of(stream)->capturing)
        return false;
    stream_of(stream)->invalidated = true;
    return true;
}

/* A capture of mode ThreadLocal ignores calls of other threads. */
bool invalidates_any_capture()
{
    for (CUstream_st *stream : streams)
        if ((stream->mode == cudaStreamCaptureModeGlobal || stream->captured_by == std::this_thread::get_id()) &&
            invalidates_capture(stream))
            return true;
    return false;
}

} // namespace emulate

using namespace emulate;

/* ---------------------------------------------------------------- streams */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    ENTER("cudaStreamCreateWithFlags");
    *stream = new CUstream_st;
    (*stream)->device = current_device;
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
    const cudaError_t planted = enter("cudaStreamDestroy", device_of(stream));
    if (!stream || !exists(stream))
        return fail(cudaErrorInvalidResourceHandle);
    if (planted == cudaSuccess)
        run_until([=] { return stream->queue.empty(); });
    for (const Operation &operation : stream->queue) /* of a lost device: no thread may wait without end */
        record(operation);
    streams.erase(std::find(streams.begin(), streams.end(), stream));
    delete stream;
    return fail(planted);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    ENTER_ON("cudaStreamSynchronize", device_of(stream));
    if (!exists(stream))
        return fail(cudaErrorInvalidResourceHandle);
    if (invalidates_capture(stream)) {
        if (stream_of(stream)->captured_by != std::this_thread::get_id()) /* driver 580 may crash */
            report("cudaStreamSynchronize() of a stream that another thread captures");
        return fail(cudaErrorStreamCaptureUnsupported);
    }
    return run_until([=] { return stream_of(stream)->queue.empty(); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    ENTER_ON("cudaStreamQuery", device_of(stream));
    if (!exists(stream))
        return fail(cudaErrorInvalidResourceHandle);
    if (invalidates_capture(stream))
        return fail(cudaErrorStreamCaptureUnsupported);
    if (stream_of(stream)->queue.empty())
        return cudaSuccess;
    run_one();
    return fail(cudaErrorNotReady);
}

/* ---------------------------------------------------------------- events */

static bool known(cudaEvent_t event)
{
    return events.count(event);
}

static unsigned device_of_event(cudaEvent_t event)
{
    return known(event) ? event->device : current_device;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    ENTER("cudaEventCreateWithFlags");
    *event = new CUevent_st;
    (*event)->device = current_device;
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
        return fail(cudaErrorInvalidResourceHandle);
    delete event;
    return fail(planted);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    ENTER_ON("cudaEventRecord", device_of(stream));
    if (!known(event) || device_of_event(event) != device_of(stream))
        return fail(cudaErrorInvalidResourceHandle);
    const auto state = event->state;
    const uint64_t time = ++state->recorded;
    return enqueue(stream, { nullptr, nullptr, time, state });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    ENTER_ON("cudaStreamWaitEvent", device_of(stream));
    if (!known(event))
        return fail(cudaErrorInvalidResourceHandle);
    return enqueue(stream, { nullptr, event->state, event->state->recorded });
}

static bool is_done(const EventState &state)
{
    return state.done >= state.recorded;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    ENTER_ON("cudaEventQuery", device_of_event(event));
    if (!known(event))
        return fail(cudaErrorInvalidResourceHandle);
    if (!is_done(*event->state)) {
        run_one();
        return fail(cudaErrorNotReady);
    }
    const cudaError_t error = pending[event->device];
    pending[event->device] = cudaSuccess;
    return fail(error);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    ENTER_ON("cudaEventSynchronize", device_of_event(event));
    if (!known(event))
        return fail(cudaErrorInvalidResourceHandle);
    const auto state = event->state;
    return run_until([=] { return is_done(*state); });
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    ENTER("cudaEventElapsedTime");
    if (!known(begin) || !known(end) || !begin->timing || !end->timing || !begin->state->recorded ||
        !end->state->recorded)
        return fail(cudaErrorInvalidResourceHandle);
    if (!is_done(*begin->state) || !is_done(*end->state))
        return fail(cudaErrorNotReady);
    *ms = (float)((end->state->us - begin->state->us) * 1e-3);
    return cudaSuccess;
}

/* ---------------------------------------------------------------- for tests */

void emulate_fail(const char *call, unsigned n, int error, bool lost)
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    fault = Fault{};
    fault.call = call ? call : "";
    fault.countdown = n;
    fault.error = (cudaError_t)error;
    fault.lost = lost;
    for (cudaError_t &error : pending)
        error = cudaSuccess;
}

unsigned emulate_calls()
{
    return fault.calls;
}

unsigned emulate_n_allocated()
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    unsigned n_blocks;
    memory_in_use(&n_blocks);
    return n_blocks + (unsigned)(streams.size() - MAX_DEVICES + events.size() + graphs.size() + execs.size());
}
