#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""Processor time of a motion mask, beside OpenCV's MOG2 and KNN: one thread, the same pictures. Where there is a GPU,
the time of a mask there too: pictures and masks in device memory, one after the other, by the clock around the call.

    motion-speed.py PROGRAM [VIDEO [WIDTHxHEIGHT]]

PROGRAM is the built tests/benchmark/motion. The video (the test data's vtest.avi) is scaled to 1920x1080; its first 60
pictures are gone through five times, forwards and backwards. All take turns, three times; the median of the medians is
shown. Ours does all that its defaults do: model, shadows, median, closing, counting, bytes. Needs opencv-python and
numpy.
"""
import os
import subprocess
import sys
import time

import cv2
import numpy as np


def load(path, size):
    video, frames = cv2.VideoCapture(path), []
    while len(frames) < 60:
        ok, frame = video.read()
        if not ok:
            break
        frames.append(cv2.resize(frame, size, interpolation=cv2.INTER_CUBIC))
    return frames


def run(program, gray, options):
    height, width = gray[0].shape
    return subprocess.run([program, str(width), str(height)] + options, stdout=subprocess.DEVNULL,
                          input=b"".join(g.tobytes() for g in gray), stderr=subprocess.PIPE)


def ours(program, gray, options):
    done = run(program, gray, ["repeat=5"] + options)
    done.check_returncode()
    return float(done.stderr.decode().split("processor time: median ")[1].split()[0]) / 1000


def on_gpu(program, gray, options):
    done = run(program, gray, ["backend=cuda", "resident=1", "timing=0", "repeat=20"] + options)
    return None if done.returncode else float(done.stderr.decode().split("median ")[1].split()[0]) / 1000


def theirs(model, frames):
    times = []
    for lap in range(5):
        for frame in frames[::-1] if lap & 1 else frames:
            start = time.process_time()
            model.apply(frame)
            times.append(1000 * (time.process_time() - start))
    return float(np.median(times))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    data = os.environ.get("CCL_TEST_DATA") or os.path.join(os.path.dirname(__file__), "../../../shared/data")
    path = sys.argv[2] if len(sys.argv) > 2 else os.path.join(data, "video/vtest.avi")
    size = tuple(map(int, sys.argv[3].split("x"))) if len(sys.argv) > 3 else (1920, 1080)
    cv2.setNumThreads(1)
    frames = load(path, size)
    if not frames:
        sys.exit(f"motion-speed.py: {path} cannot be read; name a video behind PROGRAM")
    gray = [np.ascontiguousarray(cv2.cvtColor(f, cv2.COLOR_BGR2GRAY)) for f in frames]
    runs = {
        "cclmotion mog2 (all defaults)": lambda: ours(sys.argv[1], gray, []),
        "cclmotion mog2, model only": lambda: ours(sys.argv[1], gray, ["shadow=keep", "median=0", "close=0"]),
        "cclmotion mog2, work-height half": lambda: ours(sys.argv[1], gray, ["work-height=%d" % (size[1] // 2)]),
        "cclmotion ema": lambda: ours(sys.argv[1], gray, ["method=ema"]),
        "cclmotion diff": lambda: ours(sys.argv[1], gray, ["method=diff"]),
        "OpenCV MOG2, luma": lambda: theirs(cv2.createBackgroundSubtractorMOG2(500, 16, False), gray),
        "OpenCV MOG2, luma, shadow detection": lambda: theirs(cv2.createBackgroundSubtractorMOG2(500, 16, True), gray),
        "OpenCV MOG2, colour": lambda: theirs(cv2.createBackgroundSubtractorMOG2(500, 16, False), frames),
        "OpenCV KNN, luma": lambda: theirs(cv2.createBackgroundSubtractorKNN(500, 400, False), gray),
    }
    if on_gpu(sys.argv[1], gray[:2], []) is not None:
        for name, options in [("mog2 (all defaults)", []), ("mog2, model only", ["shadow=keep", "median=0", "close=0"]),
                              ("ema", ["method=ema"]), ("diff", ["method=diff"])]:
            runs["cclmotion on the GPU, " + name] = lambda options=options: on_gpu(sys.argv[1], gray, options)
    times = {name: [] for name in runs}
    for _ in range(3):
        for name, run in runs.items():
            times[name].append(run())
    base = np.median(times["OpenCV MOG2, luma"])
    print("%dx%d, OpenCV %s\n\n| method | ms a frame | times MOG2's speed |\n|---|---|---|" % (*size, cv2.__version__))
    for name, ms in times.items():
        print("| %-41s | %8.4f | %7.2f |" % (name, np.median(ms), base / np.median(ms)))


if __name__ == "__main__":
    main()
