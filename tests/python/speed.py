# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A 1920x1080 mask as of a video costs in Python, table included, at most 1.1 times what the core takes; on a CUDA device
at most 12 us more: 6 with one blob, 8 to 10 with 438.

usage: speed.py SOURCE_FOLDER CORE CORE_TIME_LIBRARY
"""
import ctypes
import time
import unittest

from module import ARGUMENTS, cuda_works, gstccl, np

try:
    import cupy
except ImportError:
    cupy = None

WIDTH, HEIGHT, REPETITIONS = 1920, 1080, 200
MIN_ROUNDS, MAX_ROUNDS = 5, 40
MAX_RATIO, MAX_RATIO_REGRESSED = 1.1, 1.25
MAX_MORE_US = 12


def video_like():
    """Some 300 ellipses of many sizes, and noise of single pixels."""
    rng = np.random.default_rng(1)
    mask = (rng.random((HEIGHT, WIDTH)) < 0.0002).astype(np.uint8)
    for _ in range(300):
        x, y = rng.integers(0, WIDTH), rng.integers(0, HEIGHT)
        a, b = rng.integers(3, 50, 2)
        ys, xs = np.mgrid[max(y - b, 0):min(y + b, HEIGHT), max(x - a, 0):min(x + a, WIDTH)]
        mask[ys, xs] |= ((xs - x) / a) ** 2 + ((ys - y) / b) ** 2 < 1
    return mask * 255


def core_us(address, on_device):
    core_time = ctypes.CDLL(ARGUMENTS[0]).core_time
    core_time.restype = ctypes.c_double
    core_time.argtypes = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_int, ctypes.c_int
    time_us = core_time(address, WIDTH, HEIGHT, REPETITIONS, on_device)
    assert time_us > 0
    return time_us


def module_us(mask, context):
    times = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        context.analyze(mask)
        times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1e6


class Speed(unittest.TestCase):
    def test_overhead(self):
        mask = video_like()
        ratios, core = [], []
        # The least disturbed of the rounds: other programs run here, too, and each context lies in other pages.
        while len(ratios) < MAX_ROUNDS and (len(ratios) < MIN_ROUNDS or min(ratios) > MAX_RATIO):
            context = gstccl.Context(WIDTH, HEIGHT, threads=1)
            time_us = module_us(mask, context)
            core.append(core_us(mask.ctypes.data, False))
            ratios.append(time_us / core[-1])
        print(f"{context.analyze(mask)}: {len(ratios)} rounds, {min(ratios):.3f} to {max(ratios):.3f} times the core, "
              f"median {np.median(ratios):.3f}; the core took {min(core):.0f} to {max(core):.0f} us")
        self.assertLessEqual(min(ratios), MAX_RATIO_REGRESSED)
        if min(ratios) > MAX_RATIO:
            # Two copies of the core's code, in other pages, differ by up to 9 % on some days of the same machine.
            self.skipTest(f"{min(ratios):.3f} times the core: measure on a quiet machine")

    @unittest.skipUnless(cupy and cuda_works(), "needs CuPy, a build with CUDA and a device")
    def test_cupy(self):
        host = video_like()
        mask = cupy.asarray(host)
        cupy.cuda.Device().synchronize()
        more = []
        for _ in range(MIN_ROUNDS):
            context = gstccl.Context(WIDTH, HEIGHT, device="cuda")
            more.append(module_us(mask, context) - core_us(mask.data.ptr, True))
        table = context.analyze(mask)
        np.testing.assert_array_equal(table.blobs, gstccl.analyze(host).blobs)
        print(f"{table}: {np.median(more):.1f} us more than the core ({min(more):.1f} to {max(more):.1f})")
        self.assertLessEqual(np.median(more), MAX_MORE_US)


if __name__ == "__main__":
    unittest.main(verbosity=2)
