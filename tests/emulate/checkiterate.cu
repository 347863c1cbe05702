/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The loop of iterative methods by itself: when it ends, what it counts, and that it ends when a method never does. */
#include "cuda/published/iterate.cuh"

#include "emulate.h"

#include <stdio.h>
#include <string.h>

static unsigned n_failed;

static void check(bool passed, const char *what)
{
    if (!passed)
        printf("FAILED %s: %s\n", what, ccl_error_message());
    n_failed += !passed;
}

/* Changes something as long as there is something left. */
__global__ static void work(uint32_t *left, uint32_t *changed)
{
    if (blockIdx.x || threadIdx.x || !*left)
        return;
    --*left;
    note_change(changed);
}

__global__ static void rest()
{
}

typedef struct Bench {
    CudaLoop loop;
    CudaFrame frame;
    uint32_t *left;
} Bench;

static CclStatus bench_open(Bench *bench, bool timing)
{
    memset(bench, 0, sizeof *bench);
    CCL_CUDA_TRY(cudaMalloc((void **)&bench->loop.changed, sizeof(uint32_t)));
    CCL_CUDA_TRY(cudaMemset(bench->loop.changed, 0, sizeof(uint32_t)));
    CCL_CUDA_TRY(cudaHostAlloc((void **)&bench->loop.host, sizeof(uint32_t), cudaHostAllocMapped));
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&bench->loop.seen, (void *)bench->loop.host, 0));
    CCL_CUDA_TRY(cudaEventCreate(&bench->loop.started));
    CCL_CUDA_TRY(cudaMalloc((void **)&bench->left, sizeof(uint32_t)));
    CCL_CUDA_TRY(cudaStreamCreateWithFlags(&bench->frame.stream, cudaStreamNonBlocking));
    for (cudaEvent_t &event : bench->frame.step_events)
        CCL_CUDA_TRY(cudaEventCreate(&event));
    bench->frame.timing = timing;
    bench->frame.loop = &bench->loop;
    bench->frame.shape.width = 30;
    bench->frame.shape.height = 20;
    return CCL_OK;
}

static void bench_close(Bench *bench)
{
    cudaStreamDestroy(bench->frame.stream);
    cudaEventDestroy(bench->loop.started);
    for (cudaEvent_t event : bench->frame.step_events)
        cudaEventDestroy(event);
    cudaFree(bench->loop.changed);
    cudaFree(bench->left);
    cudaFreeHost((void *)bench->loop.host);
}

/* A frame of one step before the loop, two in it and one after it; the loop finds something to do `n` times. */
static CclStatus run(Bench *bench, uint32_t n, uint64_t max_iterations)
{
    CudaFrame *const frame = &bench->frame;
    cuda_clear_steps(frame);
    CCL_CUDA_TRY(cudaMemcpy(bench->left, &n, sizeof n, cudaMemcpyHostToDevice));
    CCL_CUDA_TRY(cudaEventRecord(frame->step_events[0], frame->stream));
    CCL_CUDA_LAUNCH(frame, "before", rest, 1, 1, 0);
    CCL_TRY(iterate(frame, max_iterations, [&](uint32_t *changed) -> CclStatus {
        CCL_CUDA_LAUNCH(frame, "work", work, 2, 32, 0, bench->left, changed);
        CCL_CUDA_LAUNCH(frame, "rest", rest, 1, 1, 0);
        return CCL_OK;
    }));
    CCL_CUDA_LAUNCH(frame, "after", rest, 1, 1, 0);
    return CCL_OK;
}

static bool steps_are(const CudaFrame *frame, uint32_t iterations)
{
    static const char *const names[] = { "before", "work", "rest", "after" };
    if (frame->n_steps != 4)
        return false;
    for (unsigned i = 0; i < 4; i++)
        if (strcmp(frame->step_names[i], names[i]) || frame->step_counts[i] != (i == 1 || i == 2 ? iterations : 0))
            return false;
    return frame->step_us[1] >= 0 && frame->step_us[2] >= 0;
}

static void check_counts()
{
    Bench bench;
    check(bench_open(&bench, true) == CCL_OK, "open with timing");
    check(run(&bench, 0, 1) == CCL_OK && steps_are(&bench.frame, 1), "nothing to do takes one iteration");
    check(run(&bench, 7, 8) == CCL_OK && steps_are(&bench.frame, 8), "seven changes take eight iterations");
    check(run(&bench, 100, 1000) == CCL_OK && steps_are(&bench.frame, 101), "more iterations than there are steps");
    bench_close(&bench);
}

static void check_no_end()
{
    Bench bench;
    check(bench_open(&bench, false) == CCL_OK, "open");
    check(run(&bench, 7, 7) == CCL_ERROR_DEVICE && strstr(ccl_error_message(), "30x20") &&
              strstr(ccl_error_message(), "after 7 iterations"),
          "one change too many is an error");
    check(run(&bench, UINT32_MAX, 50) == CCL_ERROR_DEVICE, "a loop without an end is an error");
    check(run(&bench, 3, 4) == CCL_OK, "and the next loop begins with a clear flag");
    bench_close(&bench);
}

/* The method is called `np`; each call of the API in its loop fails once. The context says so and gives everything
 * back. */
static void check_errors()
{
    static uint8_t pixels[12 * 9];
    static const char *const calls[] = { "launch", "cudaStreamSynchronize" };
    const CclMask mask = { pixels, 12, 12, 9 };
    const unsigned allocated = emulate_n_allocated();
    memset(pixels, 1, sizeof pixels);

    for (const char *call : calls)
        for (unsigned n = 1;; n++) {
            CclConfig config = ccl_config_default();
            CclContext *context;
            CclTable table;
            config.backend = CCL_BACKEND_CUDA;
            config.algorithm = "np";
            config.max_width = 12;
            config.max_height = 9;
            check(ccl_context_new(&config, &context) == CCL_OK, "context");
            emulate_fail(call, n, cudaErrorLaunchFailure, false);
            const CclStatus status = ccl_analyze(context, &mask, NULL, NULL, &table);
            emulate_fail(NULL, 0, 0, false);
            ccl_context_free(context);
            check(emulate_n_allocated() == allocated, "a failed frame leaks");
            if (status == CCL_OK) {
                check(n > 2, "no call was made to fail in a second iteration");
                break;
            }
            check(status == CCL_ERROR_DEVICE && strstr(ccl_error_message(), "CUDA"), "the error of a failed call");
        }
}

int main()
{
    check_counts();
    check_no_end();
    check_errors();
    printf("%u failed\n", n_failed);
    return n_failed != 0;
}
