/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* In place of YACCLAB's labeling_algorithms.h: what its programs are derived from, as far as they use it. */
#pragma once

#include <opencv2/cudafeatures2d.hpp>

enum class Connectivity2D { CONN_4 = 4, CONN_8 = 8 };
enum StepType { ALLOC_DEALLOC, FIRST_SCAN, SECOND_SCAN, ALL_SCANS };

inline std::string Step(StepType)
{
    return {};
}

/* Their stop watch; public-programs.py times by itself. */
struct PerformanceEvaluator {
    void start() {}
    double stop()
    {
        return 0;
    }
    double last() const
    {
        return 0;
    }
    void store(const std::string &, double) {}
};

struct Labeling {
    PerformanceEvaluator perf_;
    cv::Mat img_, img_labels_;
    cv::cuda::GpuMat d_img_, d_img_labels_;

    virtual ~Labeling() = default;
    virtual void PerformLabeling() = 0;
    virtual void PerformLabelingWithSteps() {}
    virtual void PerformLabelingBlocksize(int, int, int) {}
};

template <Connectivity2D> struct GpuLabeling2D : Labeling {};
