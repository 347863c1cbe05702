/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Inside the CUDA backend: the content of a context, and of the engine that contexts of a device may share. scheduler.h has the
 * rules of the engine. backend.cu lists the steps of a frame and their files.
 *
 * A file calls only files of the lines below it (tests/lint/arrows.py):
 *
 *     backend
 *     open
 *     volume
 *     batch
 *     launch
 *     stage
 *     pack  samples
 *     replay  upload  hole_rows
 *     engine
 *     methods (label/, runs/, published/), and the kernels that they share
 *     context  steps
 *     memory  wait  graph  scheduler
 *     devices
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

/* A frame's launches, captured. */
typedef struct CudaReplay {
    CudaGraph graph;     /* nodes: that of mask_to_bits(), with CUDA_BITS_ASSEMBLED, and those with CudaVars or CudaAwaited */
    CudaShape shape;     /* of its frames */
    unsigned generation; /* CudaEngine.generation or CudaContext.generation that it was captured in */
    CudaVars vars;       /* the values set last in all nodes; with CUDA_BITS_AWAITED they are set for each frame */
} CudaReplay;

/* Frames of one stream slot share its memory and run one after the other. Frames of different stream slots run at the same
 * time. */
typedef struct CudaStreamSlot {
    cudaStream_t stream;
    void *workspace;
    StageBuffers stages;        /* methods with label() only */
    CclShapeCounts *shape_sums; /* CudaCounts.shape_sums */
    CudaHulls hulls;
    CudaHoles holes; /* the part of a stream slot */
    CudaMemory hole_sums; /* CudaHoles.sums */
    CclIntensityCounts *intensity_sums;
} CudaStreamSlot;

/* The picture of a slot, with CCL_FEATURE_INTENSITY. */
typedef struct CudaSamples {
    CudaPicture *description;                /* page-locked; CudaCounts.picture on the device */
    uint8_t *device, *pinned;                /* samples that are uploaded; NULL until first needed */
    size_t device_size, pinned_size;         /* of these, in bytes: the largest picture so far */
    CudaMemory device_memory, pinned_memory; /* of these */
} CudaSamples;

/* The rows of a slot, with CCL_FEATURE_HOLES: page-locked. */
typedef struct CudaHoleRows {
    const uint32_t *n; /* CudaHoles.n and listed */
    CclHole *listed;
    uint32_t capacity;
    CudaMemory memory; /* of `listed` */
} CudaHoleRows;

/* A slot of the ring: one frame in flight. */
typedef struct CudaSlot {
    CudaFrame frame; /* first: CclFrame.slot points at it */
    CclContext *context;
    CclFrame *ccl_frame;
    unsigned stream_slot;

    uint8_t *h_mask;                /* pinned: masks that the host has copied or packed, a byte or a bit per pixel */
    uint8_t *d_mask;                /* uploaded or narrowed masks */
    uint32_t *d_labels;             /* label image for callers with labels in host memory, and for analysis without labels */
    CudaResult *h_result;           /* mapped; frame.result on the device */
    const uint64_t *mapped_mask;    /* h_mask on the device */
    volatile uint32_t *h_timed_out; /* RowChunks.timed_out */
    uint32_t *h_ready_flags;        /* RowChunks.ready_flags */

    cudaEvent_t uploaded, produced, computed, done; /* NULL until first needed */
    cudaEvent_t upload_start, upload_end;           /* with timing, and to measure the bus */
    bool uploads, is_produced;                      /* the kernels wait for `uploaded`, for `produced` */
    CudaSamples samples;
    cudaEvent_t picture_produced; /* NULL until first needed */
    bool picture_is_produced;     /* the kernels wait for it too */
    /* The host packs rows from bits.n_rows on, in row chunks. */
    bool packs_meanwhile; /* packs after the launch; the form is CUDA_BITS_ASSEMBLED or CUDA_BITS_AWAITED */
    CclPool *helpers;
    std::chrono::steady_clock::time_point pack_begin;
    BitsJob bits;

    CclTicket ticket; /* with an engine */

    CudaHoleRows holes;

    CudaReplay replays[CUDA_MASK_FORMS]; /* [CudaShape.form], like last_shapes */
    CudaShape last_shapes[CUDA_MASK_FORMS];
} CudaSlot;

/* The captured launches of a batch, for all batches that run the same kernels. */
typedef struct CudaBatchGraph {
    CudaGraph captured;
    CudaLaunchList set; /* the current parameters of its nodes; without a graph, kernels that were launched once */
    unsigned used;      /* number of the last batch that used it */
} CudaBatchGraph;

/* Batches of few, some and many frames run different kernels, and alternate. */
#define CUDA_BATCH_GRAPHS 4u

/* Contexts that share a device: streams, workspaces and batches. */
typedef struct CudaEngine {
    struct CudaEngine *next; /* of all engines */
    void *driver_context;    /* whose streams these are */
    int device;
    const CudaBatches *batches; /* of the method */
    unsigned n_contexts;        /* contexts that share it; atomic, and changed with the registry locked */
    unsigned n_slots;           /* of these contexts; atomic too */

    CclScheduler *queue;
    cudaStream_t upload, download;
    cudaStream_t batch_streams[CCL_MAX_BATCHES]; /* small batches run at the same time */
    cudaEvent_t computed[CCL_MAX_BATCHES], done[CCL_MAX_BATCHES];
    const uint32_t *flags[CCL_MAX_BATCHES][CCL_MAX_BATCH]; /* completion flags: a batch is complete when all are set */
    unsigned n_flags[CCL_MAX_BATCHES];                     /* 0: only its event shows that it is complete */
    bool has_all_flags[CCL_MAX_BATCHES];                   /* kernels set all, unless there is a fault; frames alone may not */
    std::chrono::steady_clock::time_point launched[CCL_MAX_BATCHES];
    CudaBatchGraph graphs[CCL_MAX_BATCHES][CUDA_BATCH_GRAPHS];
    unsigned n_batches;                     /* with graphs, so far */
    bool no_graphs;                         /* capturing failed once, or graphs are not wanted */
    bool tests_clusters;                    /* every frame goes as in a batch, by a cluster if it can */
    CudaWaiter waiter;                      /* for the thread that waits for a batch */
    uint8_t *h_jobs, *mapped_jobs, *d_jobs; /* of all batches; pinned, its device address, in device memory */

    /* Frames alone run in stream slots. Frames of a batch use batch workspaces, which batches take in turn. Both change only
     * while the queue is paused and nothing runs. */
    CudaCapacity capacity;
    CudaStreamSlot stream_slots[CCL_MAX_BATCHES];
    unsigned n_stream_slots;   /* that have a workspace */
    unsigned next_stream_slot; /* for the next context's first slot */
    void *batch_workspaces[CCL_MAX_BATCHES * CCL_MAX_BATCH];
    unsigned n_batch_workspaces;
    unsigned next_batch_workspace; /* first one for the next batch */
    unsigned generation;           /* of the stream slots */
    size_t max_bytes;              /* of all stream slots and batch workspaces */
    unsigned multiprocessors;
    size_t cluster_memory; /* CudaBatches.cluster_memory() */
    int ahead;             /* see CudaFrame */

    CclPool *packers; /* help one context at a time; other contexts pack alone. Atomic: created when first needed */
    pthread_mutex_t packing;
} CudaEngine;

/* CclContext.impl of a CUDA context. */
typedef struct CudaContext {
    CudaEngine *engine; /* NULL: streams and workspaces are the context's own */
    CudaDevice device;
    CudaStreamSlot stream_slots[CCL_MAX_DEPTH]; /* kernels; without an engine */
    unsigned n_stream_slots;
    cudaStream_t upload;   /* masks to the device, while kernels of the frame before run */
    cudaStream_t download; /* label images to the host, while kernels of the next frame run */
    CudaWaiter waiter;     /* for the thread that collects */
    CudaSlot slots[CCL_MAX_DEPTH];
    CudaLoop loop;         /* iterative methods only */
    CudaCapacity capacity; /* methods that take batches only */
    CclPackRows *pack_rows;
    CclPool *packers;                             /* NULL: the calling thread packs alone */
    std::chrono::steady_clock::time_point packed; /* the last time a mask was packed */
    float share;                                  /* host share of a page-locked mask: host_share.h */
    float bus;                                    /* bytes of a mask that the device reads over the bus in 1 us */
    unsigned n_shared;                            /* shared masks so far */
    unsigned n_timeouts;    /* frames whose kernels timed out waiting for rows, and that were launched again */
    unsigned backoff;       /* number of next frames that do not wait for the host: ... */
    unsigned backoff_level; /* ... twice as many for each recent timeout */
    unsigned n_in_time;
    bool no_graphs;        /* capturing failed once, or graphs are not wanted: plain launches from then on */
    unsigned generation;   /* of memory that grows, in graphs; with an engine there is none */
    CudaDensity density;   /* assumed for masks ... */
    unsigned density_left; /* ... for this number of next frames */

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

/* Whether masks from ordinary memory are uploaded as bits. They have to be copied to page-locked memory anyway, and packing
 * takes less time than copying. For masks in page-locked memory see stage.cu. */
static inline bool cuda_packs_masks(const CclContext *context)
{
    return context->algorithm->takes_bits;
}

/* Whether the frame's label image is downloaded after its kernels. To ordinary memory it is copied when it is collected. */
static inline bool cuda_downloads_labels(const CudaSlot *slot)
{
    return slot->ccl_frame->labels.data && slot->ccl_frame->labels.memory == CCL_MEMORY_PINNED;
}

/* ---------------------------------------------------------------- context.cu; more of it in backend.cuh */

bool cuda_device_is_idle(const CclContext *context);

/* ---------------------------------------------------------------- engine.cu */

/* Finds the engine of the current device and the context's method, or creates one, whose scheduler has these calls. Adds
 * workspaces for the context's frames. cuda_engine_leave() is called after a failure too. */
CclStatus cuda_engine_join(CclContext *context, const CclSchedulerDevice *calls);
void cuda_engine_leave(CclContext *context);
/* Synchronizes the streams on which frames of the context were launched alone: a frame may be complete before its last kernel
 * ends. Nothing is launched meanwhile, because a launch may be captured, and a captured stream must not be synchronized. */
void cuda_engine_finish_frames(CclContext *context);

/* Synchronizes all its streams, and clears the last error. */
void cuda_engine_synchronize(CudaEngine *engine);

/* Whether only one context uses the engine. Another may join before the caller acts on it. */
bool cuda_engine_is_own(const CudaEngine *engine);
/* Whether it has so many contexts that few frames are launched alone. */
bool cuda_engine_has_many_contexts(const CudaEngine *engine);

/* The stream slot of a slot with this number, in a context that shares the engine. */
const CudaStreamSlot *cuda_engine_stream_slot(const CudaEngine *engine, unsigned stream_slot);

/* Acquires the threads of the engine; to be released. NULL: another context has them, or there are none. */
CclPool *cuda_engine_acquire_packers(CudaEngine *engine);
void cuda_engine_release_packers(CudaEngine *engine);

/* ---------------------------------------------------------------- replay.cu */

CudaShape cuda_shape_of(const CclContext *context, const CclFrame *frame, const CudaVars *vars, CudaMaskForm form);

/* Whether the slot has a graph for frames of this shape. A slot has one for each form of masks, because forms may alternate. */
bool cuda_has_graph(const CudaSlot *slot, CudaShape shape);
/* Whether to launch the frame as a graph. There is one from a shape's second frame on, because a shape that occurs once is not
 * worth a graph. With many contexts there are no graphs: most frames go in batches, and each capture delays all contexts. */
bool cuda_wants_replay(CudaSlot *slot);
/* Captures the frame's launches; `status`: of these. */
CclStatus cuda_begin_replay(CudaSlot *slot);
CclStatus cuda_end_replay(CudaSlot *slot, CclStatus status);
/* Launches the graph. Arguments are part of the launch. So no copy is needed, and no load of a pointer before the load that
 * uses it. */
CclStatus cuda_replay_frame(CudaSlot *slot);

/* ---------------------------------------------------------------- upload.cu */

CclStatus cuda_begin_upload(const CudaContext *cuda, CudaSlot *slot);
CclStatus cuda_end_upload(const CudaContext *cuda, CudaSlot *slot);
/* Uploads bytes of the slot's pinned memory to the same place in its device memory. */
CclStatus cuda_upload_staged(const CudaContext *cuda, const CudaSlot *slot, size_t begin, size_t size);
/* Uploads a mask in page-locked memory, with rows at multiples of `pitch`. */
CclStatus cuda_upload_pinned(const CudaContext *cuda, const CudaSlot *slot, const CclMask *mask, size_t pitch);
/* Records an event in the producer's stream, after its work on the mask. */
CclStatus cuda_mark_producer(CudaSlot *slot, const CclMask *mask);
/* Later kernels in the stream wait for the upload and the producers. */
CclStatus cuda_stream_awaits_mask(const CudaSlot *slot, cudaStream_t stream);

/* ---------------------------------------------------------------- pack.cu */

bool cuda_may_wait_for_host(CudaContext *cuda, const CclContext *context);
bool cuda_has_timed_out(CudaContext *cuda, const CudaSlot *slot);
void cuda_plan_packing(CudaSlot *slot, const CclMask *mask, uint32_t first, uint32_t band_rows);
/* Packs the rows. Or, if packing may continue after the launch, helpers begin at once and the caller helps in
 * cuda_end_packing(). */
void cuda_pack(CudaContext *cuda, CudaSlot *slot);
void cuda_begin_packing(CudaContext *cuda, CudaSlot *slot);
void cuda_end_packing(CudaContext *cuda, CudaSlot *slot);

/* ---------------------------------------------------------------- samples.cu */

/* With CCL_FEATURE_INTENSITY: puts the picture of a staged mask where kernels can read it, or begins to. */
CclStatus cuda_stage_picture(CclContext *context, CudaSlot *slot, const CclMask *mask);
void cuda_free_samples(CudaSamples *samples);

/* ---------------------------------------------------------------- stage.cu */

/* Puts the mask where kernels can read it, or begins to. Returns its address and form. */
CclStatus cuda_stage_mask(const CclContext *context, CudaSlot *slot, const CclMask *mask, CudaMaskForm *form,
                          CudaVars *vars);

/* ---------------------------------------------------------------- launch.cu */

/* With CUDA_BITS_ASSEMBLED: mask_to_bits(). */
CclStatus cuda_assemble_bits(const CudaSlot *slot, cudaStream_t stream);
/* Launches a frame alone, in its stream slot: on the stream of slot->frame. */
CclStatus cuda_launch_slot(CudaSlot *slot);
/* Copies the slot's label image to the caller's in host memory, on the download stream. */
CclStatus cuda_download_labels(const CudaContext *cuda, const CudaSlot *slot);
/* Called after the kernels of some slots on a stream: downloads label images to pinned memory, then records `done`. */
CclStatus cuda_record_done(CudaSlot *const *slots, unsigned n, cudaStream_t stream, cudaEvent_t *computed, cudaEvent_t *done);
/* The completion flag of a frame that was launched alone; NULL: it has none. */
const uint32_t *cuda_completion_flag(const CudaSlot *slot);

/* ---------------------------------------------------------------- batch.cu */

extern const CclSchedulerDevice cuda_batch_calls; /* `device` is a CudaEngine */

/* ---------------------------------------------------------------- hole_rows.cu */

CclStatus cuda_open_holes(CclContext *context, CudaSlot *slot);
CclStatus cuda_open_hole_memory(CclContext *context, CudaStreamSlot *stream_slot);
void cuda_close_holes(CudaSlot *slot);
/* Whether the memory sufficed for a frame whose kernels have ended. If not, it is made larger for that frame, which has to be
 * launched again. */
bool cuda_has_all_holes(const CudaSlot *slot);
CclStatus cuda_reserve_holes(CclContext *context, CudaSlot *slot);
/* After the frame's kernels, and after the counts of its table. */
void cuda_collect_holes(const CclContext *context, CudaSlot *slot);

/* ---------------------------------------------------------------- open.cu */

CclStatus cuda_open(CclContext *context);
/* Also after a failed open() and after a lost device, where every call fails. */
void cuda_close(CclContext *context);

#endif
