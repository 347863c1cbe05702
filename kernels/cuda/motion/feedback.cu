// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Method "feedback": device memory, chroma, and the launches of a picture. Launches that come a second time become a graph. See
// feedback.cuh.

#include "feedback.cuh"

#include <stdlib.h>
#include <string.h>

/* What the launches depend on, other than FeedbackPicture; compared as bytes. */
typedef struct FeedbackShape {
    uint32_t median, open, close, dilate, confirm_frames;
} FeedbackShape;

/* CudaMotion.model. */
typedef struct FeedbackMethod {
    Feedback device;
    uint8_t *chroma_input[2], *chroma_shrunk[2]; /* uploaded; at the working size */
    size_t input_pitch;
    unsigned long long *outcomes, *d_outcomes; /* the same memory; used as CudaMotion.results */
    uint32_t n_resets;
    CudaGraph graph; /* of a picture's launches; nodes: kernels with a FeedbackPicture, their second argument */
    FeedbackShape graph_shape, last_shape;
    bool no_graphs; /* capturing failed once: plain launches from then on */
} FeedbackMethod;

/* ---------------------------------------------------------------- open */

static CclStatus open_luma(CclMotion *motion, Feedback *f)
{
    const size_t n = (size_t)f->pitch * f->height;
    uint16_t **const pixels[] = { &f->mean, &f->weight, &f->deviation, &f->extra, &f->candidate, &f->still, &f->value };
    uint32_t **const bits[] = {
        &f->raw,        &f->seen,     &f->rising,         &f->explained, &f->filtered,    &f->mask,
        &f->still_bits, &f->motionless, &f->still_filtered, &f->last_mask, &f->last_rising, &f->last_still
    };
    uint16_t *all_pixels;
    uint32_t *all_bits;
    CCL_TRY(cuda_motion_alloc(motion, &all_pixels, sizeof pixels / sizeof *pixels * n * sizeof *all_pixels));
    CCL_TRY(cuda_motion_alloc(motion, &all_bits, sizeof bits / sizeof *bits * n / 8));
    for (uint16_t **const at : pixels)
        *at = all_pixels, all_pixels += n;
    for (uint32_t **const at : bits)
        *at = all_bits, all_bits += n / 32;
    CCL_TRY(cuda_motion_alloc(motion, &f->rises, n));
    CCL_TRY(cuda_motion_alloc(motion, &f->ghost, n));
    CCL_TRY(cuda_motion_alloc(motion, &f->gains, f->height * sizeof *f->gains));
    return cuda_motion_alloc(motion, &f->rest, n * sizeof *f->rest);
}

static CclStatus open_regions(CclMotion *motion, Feedback *f)
{
    const size_t n = (size_t)f->pitch * f->height + 1;
    CCL_TRY(cuda_motion_alloc(motion, &f->run_starts, (size_t)f->words * f->height * sizeof *f->run_starts));
    CCL_TRY(cuda_motion_alloc(motion, &f->parents, n * sizeof *f->parents));
    CCL_TRY(cuda_motion_alloc(motion, &f->sums, n * sizeof *f->sums));
    CCL_TRY(cuda_motion_alloc(motion, &f->outlines, (n / 2 + 1) * 3 * sizeof *f->outlines));
    CCL_CUDA_TRY(cudaMemsetAsync(f->parents, 255, n * sizeof *f->parents, cuda_motion(motion)->stream));
    return CCL_OK;
}

static CclStatus open_chroma(CclMotion *motion, FeedbackMethod *method)
{
    const CclMotionConfig *const config = &motion->config;
    Feedback *const f = &method->device;
    f->chroma_width = (f->width + 1) / 2, f->chroma_height = (f->height + 1) / 2;
    f->chroma_pitch = f->pitch / 2;
    const size_t n = (size_t)f->chroma_pitch * f->chroma_height;
    method->input_pitch = 2 * (size_t)config->width;
    CCL_TRY(cuda_motion_alloc(motion, &f->chroma, n * sizeof *f->chroma));
    CCL_TRY(cuda_motion_alloc(motion, &f->offsets, 2 * FEEDBACK_BINS * sizeof *f->offsets));
    for (unsigned k = 0; k < 2; k++) {
        CCL_TRY(cuda_motion_alloc(motion, &f->uv[k], n * sizeof *f->uv[k]));
        CCL_TRY(cuda_motion_alloc(motion, &method->chroma_shrunk[k], n));
    }
    return CCL_OK;
}

static CclStatus open_feedback(CclMotion *motion)
{
    CudaMotion *const cuda = cuda_motion(motion);
    FeedbackMethod *const method = (FeedbackMethod *)calloc(1, sizeof *method);
    if (!method)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    cuda->model = method;
    Feedback *const f = &method->device;
    f->width = motion->width, f->height = motion->height;
    f->words = motion->words * 2, f->pitch = motion->words * 64;
    f->ignored = cuda->ignored;
    CCL_TRY(cuda_memory_alloc_pinned(&cuda->memory, &method->outcomes, MOTION_RESULTS * sizeof *method->outcomes));
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&method->d_outcomes, method->outcomes, 0));
    CCL_TRY(cuda_motion_alloc(motion, &f->state, sizeof *f->state));
    CCL_TRY(cuda_motion_alloc(motion, &f->ratios, (FEEDBACK_BANDS + 1) * FEEDBACK_BINS * sizeof *f->ratios));
    CCL_TRY(cuda_motion_alloc(motion, &f->luma, 256 * sizeof *f->luma));
    CCL_TRY(open_luma(motion, f));
    CCL_TRY(open_regions(motion, f));
    return motion->config.chroma ? open_chroma(motion, method) : CCL_OK;
}

/* ---------------------------------------------------------------- chroma to the device, at the working size */

/* A plane in host memory, to the device. U and V that alternate take one copy each, of all bytes from the first sample to the
 * last. */
static CclStatus upload_plane(CclMotion *motion, FeedbackMethod *method, unsigned k, MotionPlane *plane)
{
    const size_t row = (size_t)(plane->width - 1) * plane->step + 1;
    if (!method->chroma_input[k])
        CCL_TRY(cuda_motion_alloc(motion, &method->chroma_input[k], method->input_pitch * motion->config.height));
    CCL_CUDA_TRY(cuda_copy_rows(method->chroma_input[k], method->input_pitch, { plane->data, plane->stride, row, plane->height },
                                cudaMemcpyHostToDevice, cuda_motion(motion)->stream));
    plane->data = method->chroma_input[k];
    plane->stride = method->input_pitch;
    return CCL_OK;
}

static CclStatus place_chroma(const CclMotion *motion, FeedbackMethod *method, const MotionFrame *frame, FeedbackPicture *picture)
{
    const CclMotionChroma *const chroma = &frame->chroma;
    const Feedback *const f = &method->device;
    for (unsigned k = 0; k < 2; k++) {
        MotionPlane plane = { (const uint8_t *)(k ? chroma->v : chroma->u), chroma->stride[k], chroma->step, chroma->width,
                              chroma->height };
        if (frame->luma.memory != CCL_MEMORY_DEVICE)
            CCL_TRY(upload_plane((CclMotion *)motion, method, k, &plane));
        if (plane.width != f->chroma_width || plane.height != f->chroma_height) {
            CCL_TRY(
                cuda_motion_shrink(motion, &plane, method->chroma_shrunk[k], f->chroma_pitch, f->chroma_width, f->chroma_height));
            plane.data = method->chroma_shrunk[k];
            plane.stride = f->chroma_pitch, plane.step = 1;
        }
        picture->chroma[k] = plane.data;
        picture->chroma_stride[k] = plane.stride, picture->chroma_step = plane.step;
    }
    return CCL_OK;
}

/* ---------------------------------------------------------------- launches */

static CclStatus launch_kernels(const CclMotion *motion, const MotionWork *work, const FeedbackPicture *picture,
                                CudaGraph *graph)
{
    const CudaMotion *const cuda = cuda_motion(motion);
    const Feedback *const f = &((FeedbackMethod *)cuda->model)->device;
    const CclMotionParams *const params = &work->frame->params;
    const MotionRadii radii = { params->median, params->open, params->close };
    const MotionTarget *const target = &f->state->target; /* an address in device memory */
    CCL_TRY(feedback_launch_sample(cuda, f, picture, graph));
    CCL_TRY(feedback_launch_classify(cuda, f, picture, graph));
    CCL_TRY(cuda_motion_filter_bits(motion, work, target, f->seen, f->filtered, radii));
    CCL_TRY(feedback_launch_explain(cuda, f, picture, graph));
    CCL_TRY(feedback_launch_blobs(cuda, f));
    CCL_TRY(feedback_launch_learn(cuda, f));
    CCL_TRY(cuda_motion_output(motion, work, target, f->mask));
    return feedback_launch_ghosts(cuda, f);
}

static CclStatus capture(const CclMotion *motion, const MotionWork *work, const FeedbackPicture *picture, CudaGraph *graph)
{
    const cudaStream_t stream = cuda_motion(motion)->stream;
    CCL_TRY(cuda_graph_begin(graph, stream));
    return cuda_graph_end(graph, stream, launch_kernels(motion, work, picture, graph));
}

static CclStatus replay(const CudaMotion *cuda, const CudaGraph *graph, FeedbackPicture *picture)
{
    for (unsigned i = 0; i < graph->n_nodes; i++)
        CCL_TRY(cuda_graph_set(graph, &graph->nodes[i], graph->nodes[i].params.gridDim, 1, picture));
    CCL_CUDA_TRY(cudaGraphLaunch(graph->exec, cuda->stream));
    return CCL_OK;
}

/* Whether there is a graph for the picture: it is captured for the second picture of the same shape in a row. */
static bool has_graph(const CclMotion *motion, const MotionWork *work, const FeedbackPicture *picture)
{
    FeedbackMethod *const method = (FeedbackMethod *)cuda_motion(motion)->model;
    CudaGraph *const graph = &method->graph;
    const CclMotionParams *const params = &work->frame->params;
    const FeedbackShape shape = { params->median, params->open, params->close, params->dilate, params->confirm_frames };
    const bool repeats = !memcmp(&shape, &method->last_shape, sizeof shape);
    method->last_shape = shape;
    if (method->no_graphs || !repeats)
        return false;
    if (graph->exec && !memcmp(&shape, &method->graph_shape, sizeof shape))
        return true;
    method->no_graphs = capture(motion, work, picture, graph) != CCL_OK;
    method->graph_shape = shape;
    return !method->no_graphs;
}

/* ---------------------------------------------------------------- a picture */

static CclStatus launch_feedback(const CclMotion *motion, const MotionWork *work)
{
    CudaMotion *const cuda = cuda_motion(motion);
    FeedbackMethod *const method = (FeedbackMethod *)cuda->model;
    const MotionFrame *const frame = work->frame;
    FeedbackPicture picture = {};
    picture.luma = work->picture.luma, picture.stride = work->picture.stride;
    picture.us = frame->us;
    picture.threshold = frame->params.threshold, picture.absorb_ms = frame->params.absorb_ms;
    picture.drop_shadow = frame->params.drop_shadow;
    picture.resets = frame->n_resets != method->n_resets;
    picture.target = cuda_motion_target(cuda, work);
    picture.outcome = method->d_outcomes + frame->serial % MOTION_RESULTS;
    method->n_resets = frame->n_resets;
    if (method->device.chroma_width)
        CCL_TRY(place_chroma(motion, method, frame, &picture));
    CCL_TRY(cuda_motion_forget_counts(motion, frame));
    if (has_graph(motion, work, &picture))
        return replay(cuda, &method->graph, &picture);
    return launch_kernels(motion, work, &picture, NULL);
}

static void close_feedback(void *model)
{
    cuda_graph_drop(&((FeedbackMethod *)model)->graph);
}

static void collect_feedback(const CclMotion *motion, MotionFrame *frame)
{
    const FeedbackMethod *const method = (const FeedbackMethod *)cuda_motion(motion)->model;
    const unsigned long long outcome = __atomic_load_n(method->outcomes + frame->serial % MOTION_RESULTS, __ATOMIC_ACQUIRE);
    frame->n_learnt = (uint32_t)outcome;
    frame->silent = outcome & FEEDBACK_OUTCOME_SILENT;
    frame->restarts = outcome & FEEDBACK_OUTCOME_RESTARTS;
}

/* ---------------------------------------------------------------- the model, to save and load it */

/* `still` and `ghost` are 0 where last_mask is, so they need not be copied. */
static void list_feedback_arrays(const CclMotion *motion, MotionArrays *arrays)
{
    const Feedback *const f = &((const FeedbackMethod *)cuda_motion(motion)->model)->device;
    const size_t pitch = f->pitch;
    *arrays = MotionArrays{};
    const auto add = [&](void *data, size_t step, size_t offset, size_t size) {
        arrays->luma[arrays->n_luma++] = { data, pitch * step, step, offset, size };
    };
    add(f->mean, sizeof *f->mean, offsetof(FeedbackPixel, mean), sizeof *f->mean);
    add(f->weight, sizeof *f->weight, offsetof(FeedbackPixel, weight), sizeof *f->weight);
    add(f->deviation, sizeof *f->deviation, offsetof(FeedbackPixel, deviation), sizeof *f->deviation);
    add(f->extra, sizeof *f->extra, offsetof(FeedbackPixel, extra), sizeof *f->extra);
    add(f->candidate, sizeof *f->candidate, offsetof(FeedbackPixel, candidate), sizeof *f->candidate);
    add(f->rises, sizeof *f->rises, offsetof(FeedbackPixel, rises), sizeof *f->rises);
    add(f->rest, sizeof *f->rest, offsetof(FeedbackPixel, rest), sizeof(FeedbackRest));
    if (f->chroma_width)
        arrays->chroma[arrays->n_chroma++] = { f->chroma, f->chroma_pitch * sizeof *f->chroma, sizeof *f->chroma, 0,
                                               sizeof(FeedbackChroma) };
}

static CclStatus copy_feedback_control(CclMotion *motion, FeedbackControl *control, bool put)
{
    FeedbackMethod *const method = (FeedbackMethod *)cuda_motion(motion)->model;
    const Feedback *const f = &method->device;
    const size_t n_bits = (size_t)f->words * f->height * sizeof *f->last_mask;
    FeedbackState state;
    CCL_TRY(cuda_motion_copy(motion, &state, f->state, sizeof state, false));
    if (!put) {
        *control = state.control;
        return CCL_OK;
    }
    state.control = *control;
    state.n_mask = state.any_still = state.had_still = 0;
    for (uint32_t *const bits : { f->last_mask, f->last_rising, f->last_still })
        CCL_CUDA_TRY(cudaMemsetAsync(bits, 0, n_bits, cuda_motion(motion)->stream));
    method->n_resets = motion->n_resets;
    return cuda_motion_copy(motion, &state, f->state, sizeof state, true);
}

/* After the pictures on the stream, before the next. The driver has copied pageable memory when it returns. */
static CclStatus hold_boxes(CclMotion *motion, const FeedbackHold *hold)
{
    const Feedback *const f = &((const FeedbackMethod *)cuda_motion(motion)->model)->device;
    CCL_TRY(cuda_use_device(motion->config.device));
    CCL_CUDA_TRY(cudaMemcpyAsync(&f->state->hold, hold, sizeof *hold, cudaMemcpyHostToDevice, cuda_motion(motion)->stream));
    return CCL_OK;
}

const CudaMotionMethod cuda_motion_feedback = { open_feedback,        launch_feedback,       collect_feedback, close_feedback,
                                                list_feedback_arrays, copy_feedback_control, hold_boxes };
