/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One of YACCLAB's programs as a library, for public-programs.py, which names the program's file (-DPROGRAM="...") and
 * compiles with --default-stream=per-thread: kernels then go to a stream that can be captured.
 */
#include PROGRAM

#include <time.h>

#include <memory>

#define EXPORT extern "C" __attribute__((visibility("default")))

struct Program {
    std::unique_ptr<Labeling> labeling;
    cudaGraphExec_t graph = nullptr;
};

static std::string error;

static void must(cudaError_t status)
{
    if (status != cudaSuccess)
        throw std::runtime_error(cudaGetErrorString(status));
}

static cv::cuda::GpuMat image_at(void *data, int width, int height, int type)
{
    cv::cuda::GpuMat image;
    image.data = static_cast<unsigned char *>(data);
    image.cols = width, image.rows = height, image.type = type;
    image.step = width * image.elemSize();
    return image;
}

static void label(Labeling *labeling)
{
    labeling->PerformLabeling();
    must(cudaGetLastError());
}

/* Once without a graph: the driver loads kernels when they are first launched, which a capture need not allow. */
static void capture(Program *program)
{
    cudaGraph_t graph;
    label(program->labeling.get());
    must(cudaStreamSynchronize(cudaStreamPerThread));
    must(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal));
    try {
        label(program->labeling.get());
    } catch (...) { /* the stream is the next program's, too */
        cudaStreamEndCapture(cudaStreamPerThread, &graph);
        throw;
    }
    must(cudaStreamEndCapture(cudaStreamPerThread, &graph));
    must(cudaGraphInstantiate(&program->graph, graph, 0));
    must(cudaGraphDestroy(graph));
}

/* NULL: see program_error(). Mask and labels are in device memory, their rows one behind the other. */
EXPORT Program *program_open(void *mask, void *labels, int width, int height)
{
    auto program = std::make_unique<Program>();
    try {
        program->labeling.reset(new_labeling());
        program->labeling->d_img_ = image_at(mask, width, height, CV_8UC1);
        program->labeling->d_img_labels_ = image_at(labels, width, height, CV_32SC1);
        capture(program.get());
        return program.release();
    } catch (const std::exception &exception) {
        error = exception.what();
        return nullptr;
    }
}

EXPORT const char *program_error()
{
    return error.c_str();
}

static double now_us()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

/* Microseconds a mask for n of them back to back, up to the end of the last, or -1. */
EXPORT double program_stream(Program *program, unsigned n)
{
    const double start = now_us();
    try {
        for (unsigned i = 0; i < n; i++)
            must(cudaGraphLaunch(program->graph, cudaStreamPerThread));
        must(cudaStreamSynchronize(cudaStreamPerThread));
    } catch (const std::exception &exception) {
        error = exception.what();
        return -1;
    }
    return (now_us() - start) / n;
}

EXPORT void program_close(Program *program)
{
    cudaGraphExecDestroy(program->graph);
    delete program;
}
