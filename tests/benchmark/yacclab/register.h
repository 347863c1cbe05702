/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* In place of YACCLAB's register.h: a library has one program, so there is no list to enter it in. */
#pragma once

#define REGISTER_LABELING(name)                                                                                        \
    static Labeling *new_labeling()                                                                                    \
    {                                                                                                                  \
        return new name;                                                                                               \
    }
#define REGISTER_KERNELS(...)
#define BLOCKSIZE_KERNEL(...) /* other sizes of thread blocks, which nobody asks for */
