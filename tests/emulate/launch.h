/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A launch that waits in a stream or graph, or runs. Not in emulate.h: <memory> would double the time of compiling a .cu file. */
#ifndef EMULATE_LAUNCH_H
#define EMULATE_LAUNCH_H

#include "emulate.h"

#include <memory>

namespace emulate {

struct Launch : Call {
    std::shared_ptr<void> arguments;
    unsigned device = 0;
};

/* kernel.cpp: runs a launch. False: it failed, and the reason has been reported. */
bool run(const Launch &launch);

extern const Launch *running; /* NULL: the host */

} // namespace emulate

#endif
