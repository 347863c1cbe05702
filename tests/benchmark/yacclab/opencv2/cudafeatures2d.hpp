/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What YACCLAB's programs use of OpenCV, written anew for public-programs.py: images that lie in memory of the caller's.
 * Nothing is allocated and nothing copied here, so what a program does with them can be captured into a CUDA graph.
 */
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

/* While a stream is captured nothing may wait for the GPU, as programs do at their end; and some set the label image to 0
 * by a call that might, so the same is put into the stream. */
#define cudaDeviceSynchronize() ((void)0)
#undef cudaMemset2D /* itself a macro, with --default-stream=per-thread */
#define cudaMemset2D(...) cudaMemset2DAsync(__VA_ARGS__, cudaStreamPerThread)

enum { CV_8UC1 = 0, CV_32SC1 = 4 };

namespace cv
{

struct Size {
    int width, height;
};

/* An image on the host. Programs name one where they copy, which nobody asks them to do. */
struct Mat {
    int rows = 0, cols = 0;
};

namespace cuda
{

/* A kernel's view of an image. */
template <typename T> struct PtrStep {
    enum { elem_size = sizeof(T) };
    T *data;
    size_t step; /* bytes from row to row */

    __host__ __device__ operator T *() const
    {
        return data;
    }
};
template <typename T> struct PtrStepSz : PtrStep<T> {
    int cols, rows;
};
using PtrStepb = PtrStep<unsigned char>;
using PtrStepSzb = PtrStepSz<unsigned char>;
using PtrStepSzi = PtrStepSz<int>;

struct GpuMat {
    int rows = 0, cols = 0, type = CV_8UC1;
    size_t step = 0;
    unsigned char *data = nullptr;

    Size size() const
    {
        return { cols, rows };
    }
    size_t elemSize() const
    {
        return type == CV_8UC1 ? 1 : 4;
    }
    /* OpenCV too keeps the memory of an image that has the size wanted. */
    void create(Size wanted, int wanted_type)
    {
        if (wanted.width != cols || wanted.height != rows || wanted_type != type)
            throw std::runtime_error("asks for memory of its own");
    }
    void upload(const Mat &)
    {
        throw std::logic_error("copies an image");
    }
    void download(Mat &) const
    {
        throw std::logic_error("copies an image");
    }
    template <typename T> operator PtrStep<T>() const
    {
        return { reinterpret_cast<T *>(data), step };
    }
    template <typename T> operator PtrStepSz<T>() const
    {
        return { *this, cols, rows };
    }
};

}
}
