/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shared by the files that run a kernel. */
#ifndef EMULATE_KERNEL_H
#define EMULATE_KERNEL_H

#include "emulate.h"

namespace emulate {

/* kernel.cpp: the running thread waits until wake(). */
void switch_to_scheduler();
void wake(Thread *thread);

/* warp.cpp: if all lanes of the thread's mask are in the collective, gives them their results and wakes them. */
void complete_collective(const Thread &thread);
const char *name_of(Collective kind);

} // namespace emulate

#endif
