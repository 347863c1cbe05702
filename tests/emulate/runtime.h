/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shared by the files of the runtime API: queues, faults, capture. */
#ifndef EMULATE_RUNTIME_H
#define EMULATE_RUNTIME_H

#include "cuda_runtime.h"
#include "launch.h"

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

/* ---------------------------------------------------------------- objects */

struct EventState {
    uint64_t recorded = 0, done = 0; /* counts */
    double us = 0;
};

struct CUgraphNode_st {
    std::vector<void *> addresses; /* of its arguments */
};

struct Operation {
    std::function<void()> run;
    std::shared_ptr<EventState> waits_for; /* runs when this many records are done */
    uint64_t times = 0;
    std::shared_ptr<EventState> records = nullptr; /* notes that `times` records are done */
    std::shared_ptr<const emulate::Launch> launch = nullptr; /* of a kernel: the launch that `run` runs */
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
    unsigned device = 0;
    std::deque<Operation> queue;
    bool blocking = true;
    bool capturing = false, invalidated = false;
    cudaStreamCaptureMode mode;
    std::thread::id captured_by;
    std::vector<Operation> captured;
    cudaGraphNode_t last_captured;
};

struct CUevent_st {
    unsigned device = 0;
    std::shared_ptr<EventState> state = std::make_shared<EventState>();
    bool timing = true;
};

namespace emulate {

/* ---------------------------------------------------------------- runtime.cpp */

extern std::recursive_mutex lock;
extern CUstream_st legacy[MAX_DEVICES]; /* stream 0 of each device */
extern std::vector<CUstream_st *> streams;
extern std::set<const void *> events, graphs, execs;
extern cudaError_t pending[MAX_DEVICES]; /* of kernels that have run, not reported yet */
extern thread_local unsigned current_device;
extern bool used;           /* the API was called */

/* The error of an API call: kept for cudaGetLastError() in this thread, and returned. */
cudaError_t fail(cudaError_t error);
cudaError_t last_error();
void set_last_error(cudaError_t error);

/* The planted fault of this call, or cudaSuccess. A call for an object of a lost device fails, too. */
cudaError_t enter(const char *call, unsigned device = current_device);
/* Whether a planted fault has lost the device. */
bool is_lost(unsigned device);
unsigned calls_entered();

#define ENTER(call) ENTER_ON(call, emulate::current_device)
/* `device`: that of the stream or event. It is read with the lock. */
#define ENTER_ON(call, device)                                        \
    const std::lock_guard<std::recursive_mutex> guard(emulate::lock); \
    if (const cudaError_t planted_ = emulate::enter(call, device))    \
    return emulate::fail(planted_)

CUstream_st *stream_of(cudaStream_t stream);
bool exists(cudaStream_t stream);
unsigned device_of(cudaStream_t stream);

/* Appends to a stream's queue, or to its capture. */
cudaError_t enqueue(cudaStream_t stream, Operation operation);
/* Notes that the operation's event is done. */
void record(const Operation &operation);
/* Runs the next operation of a random stream. False: no stream can run. */
bool run_one();
/* Runs operations until done(), and returns the pending error of the current device. */
cudaError_t run_until(const std::function<bool()> &done);
/* All of the current device. */
cudaError_t run_all();

/* A call that is not allowed while a stream is captured: it invalidates the capture. False: there is none. */
bool invalidates_capture(cudaStream_t stream);
bool invalidates_any_capture();

} // namespace emulate

#endif
