#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Prints one line `sha256  path` for every source that the GPU record stands for: the core, checkccl, checkmotion, these
# scripts and the elements that know of CUDA. From the files themselves: a copy on a GPU host need not be a git checkout.
set -eu
cd "$(dirname "$0")/../.."
{
    find kernels tests/checkccl tests/checkmotion tests/gpu -type f \
        \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' -o -name '*.sh' -o -name '*.py' -o -name meson.build \)
    find gst/elements -type f \( -name '*.c' -o -name '*.h' \) -exec grep -li cuda {} +
} | LC_ALL=C sort | xargs sha256sum
