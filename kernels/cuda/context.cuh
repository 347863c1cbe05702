/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Inside the CUDA backend: the content of a context, and of the engine that contexts of a device may share (scheduler.h has the
 * rules). backend.cu lists the steps of a frame and their files.
 *
 * The thread that submits a frame stages its mask and fills its `vars`. Then the frame is launched: at once, or with
 * CclConfig.shared when the scheduler decides, alone or in a batch. On an idle device it may be launched first, and its mask
 * packed meanwhile.
 */
#ifndef CCL_CUDA_CONTEXT_CUH
#define CCL_CUDA_CONTEXT_CUH

#include "host_share.h"
#include "memory.cuh"
#include "stages.cuh"
#include "upload.cuh"
#include "wait.cuh"

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

/* Frames of one stream slot share its memory and run one after the other; frames of different ones run beside each other. */
typedef struct CudaStreamSlot {
    cudaStream_t stream;
    void *workspace;
    StageBuffers stages; /* methods with label() only */
} CudaStreamSlot;

/* A slot of the ring: one frame on its way. */
typedef struct CudaSlot {
    CudaFrame frame; /* first: CclFrame.slot points at it */
    CclContext *context;
    CclFrame *ccl_frame;
    unsigned stream_slot;

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
    /* Rows that the host packs: from bits.n_rows on, in row chunks. */
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
    const uint32_t *flags[CCL_MAX_BATCHES][CCL_MAX_BATCH]; /* completion flags: a batch is complete when all are set */
    unsigned n_flags[CCL_MAX_BATCHES];  /* 0: its event alone says so */
    bool has_all_flags[CCL_MAX_BATCHES]; /* kernels set all of them, but for a fault; a frame alone may leave its flag unset */
    std::chrono::steady_clock::time_point launched[CCL_MAX_BATCHES];
    CudaBatchGraph graphs[CCL_MAX_BATCHES][CUDA_BATCH_GRAPHS];
    unsigned n_batches; /* with graphs, so far */
    bool no_graphs; /* capturing failed once, or graphs are not wanted */
    bool tests_clusters; /* every frame goes as in a batch, by a cluster if it can */
    CudaWaiter waiter;  /* of the thread that waits for a batch */
    uint8_t *h_jobs, *mapped_jobs, *d_jobs; /* of all batches; pinned, its device address, in device memory */

    /* Frames alone run in stream slots. Each frame of a batch has one of the places: workspaces that batches take in turn.
     * Both change only while the queue is paused and nothing runs. */
    CudaCapacity capacity;
    CudaStreamSlot stream_slots[CCL_MAX_BATCHES];
    unsigned n_stream_slots;    /* that have a workspace */
    unsigned next_stream_slot; /* for the next context's first slot */
    void *places[CCL_MAX_BATCHES * CCL_MAX_BATCH];
    unsigned n_places;
    unsigned next_place; /* of the next batch */
    unsigned generation; /* of the stream slots */
    size_t max_bytes;    /* of all stream slots and places */
    unsigned multiprocessors;
    size_t cluster_memory; /* CudaBatches.cluster_memory() */
    int ahead; /* see CudaFrame */

    CclPool *packers;      /* help one context at a time; all others pack alone. Atomic: created when first needed */
    pthread_mutex_t packing;
} CudaEngine;

/* CclContext.impl of a CUDA context. */
typedef struct CudaContext {
    CudaEngine *engine; /* NULL: streams and workspaces are the context's own */
    CudaDevice device;
    CudaStreamSlot stream_slots[CCL_MAX_DEPTH]; /* kernels; without an engine */
    unsigned n_stream_slots;
    cudaStream_t upload;   /* masks up, while kernels of the frame before run */
    cudaStream_t download; /* label images down, while kernels of the frame after run */
    CudaWaiter waiter;     /* of the thread that collects */
    CudaSlot slots[CCL_MAX_DEPTH];
    CudaLoop loop; /* iterative methods only */
    CudaCapacity capacity; /* methods that take batches only */
    CclPackRows *pack_rows;
    CclPool *packers;      /* NULL: the calling thread alone */
    std::chrono::steady_clock::time_point packed; /* the last time */
    float share;           /* host share of a page-locked mask: host_share.h */
    float bus;             /* bytes of a mask that the device reads over it in 1 us */
    unsigned n_shared;     /* masks so far */
    unsigned n_timeouts;   /* frames that went on without rows that the host packed, and were launched again */
    unsigned backoff;      /* this many next frames do not wait for the host: ... */
    unsigned backoff_level; /* ... twice as many for each recent timeout */
    unsigned n_in_time;
    bool no_graphs; /* capturing failed once, or graphs are not wanted: plain launches from then on */
    CudaDensity density;   /* assumed for masks ... */
    unsigned density_left; /* ... of this many next frames */

    CudaMemory memory;
} CudaContext;

static inline CudaContext *cuda_context(const CclContext *context)
{
    return (CudaContext *)context->impl;
}

/* Rows of uploaded masks begin at multiples of this. */
static inline size_t cuda_mask_pitch(uint32_t width)
{
    return (width + 127) / 128 * 128;
}

/* Are masks from ordinary memory uploaded as bits? They have to be copied to page-locked memory anyway, and packing takes less
 * time than copying. For masks in page-locked memory see stage.cu. */
static inline bool cuda_packs_masks(const CclContext *context)
{
    return context->algorithm->takes_bits;
}

/* ---------------------------------------------------------------- open.cu */

CclStatus cuda_open(CclContext *context);
/* Also after a failed open() and after a lost device, where every call fails. */
void cuda_close(CclContext *context);

/* ---------------------------------------------------------------- stage.cu */

/* Puts the mask where kernels can read it, or begins to, and says where that is, and in which form. */
CclStatus cuda_stage_mask(const CclContext *context, CudaSlot *slot, const CclMask *mask, CudaMaskForm *form,
                          CudaVars *vars);
bool cuda_device_is_idle(const CclContext *context);

/* ---------------------------------------------------------------- pack.cu */

bool cuda_may_wait_for_host(CudaContext *cuda, const CclContext *context);
bool cuda_has_timed_out(CudaContext *cuda, const CudaSlot *slot);
void cuda_plan_packing(CudaSlot *slot, const CclMask *mask, uint32_t first, uint32_t band_rows);
/* Begins and ends in one; or helpers begin at once, and the caller helps in cuda_end_packing(). */
void cuda_pack(CudaContext *cuda, CudaSlot *slot);
void cuda_begin_packing(CudaContext *cuda, CudaSlot *slot);
void cuda_end_packing(CudaContext *cuda, CudaSlot *slot);
/* With CUDA_BITS_ASSEMBLED: mask_to_bits(). */
CclStatus cuda_assemble_bits(const CudaSlot *slot, cudaStream_t stream);
/* Likewise with CUDA_BITS_AWAITED: kernels for batches do not wait for the host. */
CclStatus cuda_assemble_bits_for_batch(CudaSlot *slot, cudaStream_t stream);

/* ---------------------------------------------------------------- upload.cu */

CclStatus cuda_upload_mask(CudaContext *cuda, CudaSlot *slot, const CclMask *mask, size_t pitch);
/* The first bytes of the slot's pinned memory. */
CclStatus cuda_upload_staged_bits(CudaContext *cuda, CudaSlot *slot, size_t size);
/* Marks where the producer's stream has the mask. */
CclStatus cuda_mark_producer(CudaSlot *slot, const CclMask *mask);
/* Later kernels in the stream wait for the upload and the producer. */
CclStatus cuda_stream_awaits_mask(const CudaSlot *slot, cudaStream_t stream);

/* ---------------------------------------------------------------- graph.cu */

CudaShape cuda_shape_of(const CclContext *context, const CclFrame *frame, const CudaVars *vars, CudaMaskForm form);

/* Has the slot a graph for frames of this shape? A slot has one for each form of masks, which may take turns. */
bool cuda_has_graph(const CudaSlot *slot, CudaShape shape);
/* Is the frame to be launched as a graph? Captures it if need be: a shape's second frame, since a shape seen once is not worth a
 * graph. Many contexts have none: most of their frames go in batches, and each capture delays all of them. */
bool cuda_wants_replay(CudaSlot *slot, const StageBuffers *stages);
/* Arguments are part of the launch: no copy, no kernel to make one, no load of a pointer before the load that needs it. */
CclStatus cuda_replay_frame(CudaSlot *slot);

/* Ends the capture on a stream, and instantiates a graph of it; `status`: of the launches. */
CclStatus cuda_end_capture(CudaReplay *replay, cudaStream_t stream, CclStatus status);
void cuda_drop_replay(CudaReplay *replay);

/* ---------------------------------------------------------------- backend.cu */

/* The kernels of a frame, from the staged mask to the table. */
CclStatus cuda_launch_frame(CclContext *context, CclFrame *ccl_frame, const StageBuffers *stages);
/* Launches a frame alone, in its stream slot: on the stream of slot->frame. */
CclStatus cuda_launch_slot(CudaSlot *slot);
/* After the kernels of some slots on a stream: downloads label images to pinned memory, then records `done`. */
CclStatus cuda_record_done(CudaSlot *const *slots, unsigned n, cudaStream_t stream, cudaEvent_t *computed, cudaEvent_t *done);
/* The completion flag of a frame that was launched alone; NULL: it has none. */
const uint32_t *cuda_completion_flag(const CudaSlot *slot);

/* ---------------------------------------------------------------- batch.cu */

extern const CclSchedulerDevice cuda_batch_calls; /* `device` is a CudaEngine */

/* ---------------------------------------------------------------- engine.cu */

/* Finds the engine of the current device and the context's method, or creates one; adds workspaces for the context's frames.
 * cuda_engine_leave() is called after a failure too. */
CclStatus cuda_engine_join(CclContext *context);
void cuda_engine_leave(CclContext *context);

/* All its streams; clears the last error. */
void cuda_engine_synchronize(CudaEngine *engine);

/* Does one context alone have it? By the time the caller knows, another may. */
bool cuda_engine_is_own(const CudaEngine *engine);
/* Do so many contexts have it that few frames are alone? */
bool cuda_engine_is_crowded(const CudaEngine *engine);

/* The stream slot of a slot with this number, in a context that shares the engine. */
const CudaStreamSlot *cuda_engine_stream_slot(const CudaEngine *engine, unsigned stream_slot);

/* The engine's threads, to be returned; NULL: another context has them, or there are none. */
CclPool *cuda_engine_lend_packers(CudaEngine *engine);
void cuda_engine_return_packers(CudaEngine *engine);

#endif
