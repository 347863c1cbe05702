/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Inside the CUDA backend: what a context holds (backend.cu), and the engine that contexts of a device may share
 * (engine.cu; the rules are in ../engine.h).
 *
 * A frame is brought by the thread that submits it: its mask goes up, and what kernels read of it is noted in its `vars`.
 * Then it is launched: at once, or with CclConfig.shared when the engine says so, alone as ever or in a batch. Where nothing is
 * in flight it may be launched first, and its mask packed meanwhile.
 */
#ifndef CCL_CUDA_CONTEXT_CUH
#define CCL_CUDA_CONTEXT_CUH

#include "host_share.h"
#include "stages.cuh"

#include "host/pack.h"
#include "host/pool.h"
#include "scheduler.h"

#include <chrono>
#include <pthread.h>

/* A kernel of a graph: of a frame's, one that has CudaVars, or CudaAwaited, as its first argument. */
typedef struct CudaReplayNode {
    cudaGraphNode_t node;
    cudaKernelNodeParams params; /* as captured */
    unsigned n_parameters;
} CudaReplayNode;

/* A frame's launches, captured. */
typedef struct CudaReplay {
    cudaGraph_t graph;
    cudaGraphExec_t exec; /* NULL: none */
    CudaShape shape;      /* of the frames it is for */
    unsigned generation;  /* CudaEngine.generation it was captured in */

    CudaReplayNode nodes[CUDA_MAX_STEPS];
    unsigned n_nodes;
    bool notes_all;       /* a node for every kernel */
    CudaReplayNode bits;  /* of mask_to_bits(), with CUDA_BITS_ASSEMBLED */
    CudaVars vars; /* as last set in all of them; with CUDA_BITS_AWAITED they are set for each frame */
} CudaReplay;

/* Where frames run one after the other: those of one lane share its memory, those of different lanes run beside each
 * other. */
typedef struct CudaLane {
    cudaStream_t stream;
    void *workspace;
    StageBuffers stages; /* methods with label() only */
} CudaLane;

/* A slot of the ring: one frame on its way. */
typedef struct CudaSlot {
    CudaFrame frame; /* first: CclFrame.slot points at it */
    CclContext *context;
    CclFrame *ccl_frame;
    unsigned lane;

    uint8_t *h_mask;     /* pinned: what the host has copied or packed of masks, a byte or a bit per pixel */
    uint8_t *d_mask;     /* uploaded or narrowed masks */
    uint32_t *d_labels;  /* label image for callers who want it in host memory, and for analysis alone */
    CudaResult *h_result; /* mapped; frame.result on the device */
    const uint64_t *mapped_mask; /* h_mask on the device */
    volatile uint32_t *h_timed_out;   /* RowChunks.timed_out */
    uint32_t *h_ready_flags;           /* RowChunks.ready_flags */

    cudaEvent_t uploaded, produced, computed, done; /* NULL until first needed */
    cudaEvent_t upload_start, upload_end; /* with timing, and to measure the bus */
    bool uploads, is_produced;            /* the kernels wait for `uploaded`, for `produced` */
    /* Rows that the host packs: from bits.n_rows on, some rows a piece. */
    bool packs_meanwhile; /* after the launch, which is with CUDA_BITS_ASSEMBLED or CUDA_BITS_AWAITED then */
    CclPool *helpers;
    std::chrono::steady_clock::time_point pack_begin;
    BitsJob bits;

    CclTicket ticket;                     /* with an engine */

    CudaReplay replays[CUDA_MASK_FORMS]; /* [CudaShape.form], as below */
    CudaShape last_shapes[CUDA_MASK_FORMS];
} CudaSlot;

/* The launches of a batch, captured: for all that run the same kernels. */
typedef struct CudaBatchGraph {
    CudaReplay replay;
    CudaLaunchList set;  /* what its nodes are set to; without `exec`, kernels that came by once */
    unsigned used; /* number of the batch that was the last to use it */
} CudaBatchGraph;

/* Batches of few frames, of some and of many have kernels of their own each, and take turns. */
#define CUDA_BATCH_GRAPHS 4u

/* Contexts that share a device: streams, workspaces and batches. */
typedef struct CudaEngine {
    struct CudaEngine *next; /* of all engines */
    void *driver_context;    /* whose streams these are */
    int device;
    const CudaBatches *batches; /* of the method */
    unsigned n_contexts; /* that share it; atomic, and changed with the registry locked */
    unsigned n_slots;    /* of theirs; atomic as well */

    CclScheduler *queue;
    cudaStream_t upload, download;
    cudaStream_t batch_streams[CCL_MAX_BATCHES]; /* small batches run beside each other */
    cudaEvent_t computed[CCL_MAX_BATCHES], done[CCL_MAX_BATCHES];
    const uint32_t *early[CCL_MAX_BATCHES][CCL_MAX_BATCH]; /* words that, once all are set, say that a batch is complete */
    unsigned n_early[CCL_MAX_BATCHES];                      /* 0: its event alone does */
    bool is_told[CCL_MAX_BATCHES]; /* they will all be set, but for a fault; the word of a frame alone may not be */
    std::chrono::steady_clock::time_point launched[CCL_MAX_BATCHES];
    CudaBatchGraph graphs[CCL_MAX_BATCHES][CUDA_BATCH_GRAPHS];
    unsigned n_batches; /* with graphs, so far */
    bool no_graphs; /* capturing failed once, or graphs are not wanted */
    bool tests_clusters; /* every frame goes as in a batch, by a cluster if it can */
    cudaStream_t watch; /* for `alarm`: of who waits for a batch */
    cudaEvent_t alarm;
    uint8_t *h_jobs, *mapped_jobs, *d_jobs; /* of all batches; pinned, its device address, in device memory */

    /* Frames alone run in lanes. Each frame of a batch has one of the places, workspaces that batches take in turn.
     * Changed only while the queue is paused and nothing runs. */
    CudaCapacity capacity;
    CudaLane lanes[CCL_MAX_BATCHES];
    unsigned n_lanes;    /* that have a workspace */
    unsigned next_lane;  /* of the next context's first slot */
    void *places[CCL_MAX_BATCHES * CCL_MAX_BATCH];
    unsigned n_places;
    unsigned next_place; /* of the next batch */
    unsigned generation; /* of the lanes */
    size_t max_bytes;   /* of all lanes and places */
    unsigned multiprocessors;
    size_t cluster_memory; /* CudaBatches.cluster_memory() */
    int ahead; /* see CudaFrame */

    CclPool *packers;      /* help one at a time; all others pack alone. Atomic: made when it is first asked for */
    pthread_mutex_t packing;
} CudaEngine;

/* CclContext.impl of a CUDA context. */
typedef struct CudaContext {
    CudaEngine *engine; /* NULL: streams and workspaces are the context's own */
    unsigned multiprocessors;
    bool overlap; /* see CudaFrame */
    CudaLane lanes[CCL_MAX_DEPTH]; /* kernels; without an engine */
    unsigned n_lanes;
    cudaStream_t upload;   /* masks up, while kernels of the frame before run */
    cudaStream_t download; /* label images down, while kernels of the frame after run */
    cudaStream_t watch;    /* for `alarm`: of who waits for a frame; both NULL until first needed */
    cudaEvent_t alarm;
    CudaSlot slots[CCL_MAX_DEPTH];
    CudaLoop loop; /* iterative methods only */
    CudaCapacity capacity; /* methods that take batches only */
    CclPackRows *pack_rows;
    CclPool *packers;      /* NULL: the calling thread alone */
    std::chrono::steady_clock::time_point packed; /* when the last time */
    float share;           /* of a page-locked mask's rows, that the caller packs: share.h */
    float bus;             /* bytes of a mask that the device reads over it in 1 us */
    unsigned n_shared;     /* masks so far */
    unsigned n_late;       /* frames that went on without what the host packed, and were launched again */
    unsigned wary;         /* frames to come that do not wait for the host, ... */
    unsigned wariness;     /* ... twice as many for each one that was late lately */
    unsigned n_in_time;
    bool no_graphs; /* capturing failed once, or graphs are not wanted: plain launches from then on */
    CudaDensity density;   /* that masks are taken to have, ... */
    unsigned density_left; /* ... of so many frames to come */

    /* Everything allocated, freed in close(). */
    void *device[40], *pinned[8];
    unsigned n_device, n_pinned;
} CudaContext;

/* ---------------------------------------------------------------- backend.cu */

/* The CUDA driver's context that is current in this thread, or NULL: the runtime does not say. */
void *cuda_current_context(void);

/* cudaEventQuery() that leaves no "not ready" behind for whoever asks for the last error next. */
cudaError_t cuda_look_at(cudaEvent_t event);
/* Looks a while, also at the words of `early`, then sleeps on `alarm` behind the event, in a stream with nothing else in
 * it; both made if need be. An event that can be slept on interrupts a CPU when it comes to pass: not one to look at, or
 * for every frame. */
cudaError_t cuda_wait_for(cudaEvent_t event, const uint32_t *const *early, unsigned n_early, cudaStream_t *watch,
                          cudaEvent_t *alarm);

/* Of a frame that was launched alone: what may say that it is complete before its event does; NULL: nothing does. */
const uint32_t *cuda_early_word(const CudaSlot *slot);
/* Are there words, and all of them set? */
bool cuda_is_complete(const uint32_t *const *early, unsigned n);

/* Ends the capture on a stream, and makes a graph ready of what was captured; `status`: of the launches. */
CclStatus cuda_end_capture(CudaReplay *replay, cudaStream_t stream, CclStatus status);
void cuda_drop_replay(CudaReplay *replay);

/* The kernels' stream waits for the mask on its way up. */
CclStatus cuda_await_mask(const CudaSlot *slot, cudaStream_t stream);
/* With CUDA_BITS_ASSEMBLED: mask_to_bits(). */
CclStatus cuda_bring_bits(const CudaSlot *slot, cudaStream_t stream);
/* Likewise with CUDA_BITS_AWAITED: kernels for batches do not wait for the host. */
CclStatus cuda_bring_bits_for_batch(CudaSlot *slot, cudaStream_t stream);
/* Launches a frame alone, in its lane: on the stream of slot->frame. */
CclStatus cuda_launch_slot(CudaSlot *slot);
/* What comes after the kernels of some slots on a stream: label images to the host; `done` comes last. */
CclStatus cuda_finish_slots(CudaSlot *const *slots, unsigned n, cudaStream_t stream, cudaEvent_t *computed,
                            cudaEvent_t *done);

/* ---------------------------------------------------------------- engine.cu */

/* Finds the engine of the current device and the context's method, or makes one; sees that there is room for the
 * context's frames. cuda_engine_leave() is called after a failure too. */
CclStatus cuda_engine_join(CclContext *context);
void cuda_engine_leave(CclContext *context);

/* Does one context alone have it? By the time the caller knows, another may. */
bool cuda_engine_is_own(const CudaEngine *engine);
/* Do so many that few frames are alone? */
bool cuda_engine_is_crowded(const CudaEngine *engine);

/* The lane of a slot with this number, in a context that shares the engine. */
const CudaLane *cuda_engine_lane(const CudaEngine *engine, unsigned lane);

/* The engine's threads, to be given back; NULL: somebody else has them, or there are none. */
CclPool *cuda_engine_lend_packers(CudaEngine *engine);
void cuda_engine_return_packers(CudaEngine *engine);

#endif
