#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""How well motion masks fit ground truth, beside OpenCV's MOG2 and KNN.

    motion-quality.py PROGRAM [FOLDER ...]

PROGRAM is the built tests/benchmark/motion. A FOLDER is one sequence as changedetection.net has them (input/in%06d.jpg,
groundtruth/gt%06d.png, temporalROI.txt); without any, the clip of the test data is taken (../shared/data, or the
variable CCL_TEST_DATA). Needs opencv-python and numpy.

Ours gets the luma alone, with its defaults and at its best threshold; OpenCV's get luma and colour, each at its best
threshold, without and with its own shadow detection, followed by the same clean-up as ours: a 5x5 median and a 5x5
closing. F is the F-measure over all pixels of all frames with ground truth, unknown and outside pixels left out,
shadows counted as background.
"""
import glob
import os
import subprocess
import sys

import cv2
import numpy as np

FOREGROUND, OUTSIDE, UNKNOWN = 255, 85, 170


def read_video(path):
    video = cv2.VideoCapture(path)
    while True:
        ok, frame = video.read()
        if not ok:
            return
        yield frame


def load_test_clip():
    data = os.environ.get("CCL_TEST_DATA") or os.path.join(os.path.dirname(__file__), "../../../shared/data")
    frames = list(read_video(os.path.join(data, "video/cdnet_pedestrians_000240-000619.avi")))
    truth = {}
    for path in sorted(glob.glob(os.path.join(data, "masks/cdnet-pedestrians/gt*.png"))):
        truth[int(os.path.basename(path)[2:8]) - 240] = cv2.imread(path, 0)
    if not frames or not truth:
        sys.exit("no test data in %s: set CCL_TEST_DATA, or name a folder" % data)
    return "pedestrians (test data)", frames, truth


def load_folder(folder):
    frames = [cv2.imread(path) for path in sorted(glob.glob(os.path.join(folder, "input", "in*.jpg")))]
    first, last = map(int, open(os.path.join(folder, "temporalROI.txt")).read().split())
    truth = {n - 1: cv2.imread(os.path.join(folder, "groundtruth", "gt%06d.png" % n), 0)
             for n in range(first, last + 1)}
    return os.path.basename(os.path.normpath(folder)), frames, truth


def clean_up(mask):
    return cv2.morphologyEx(cv2.medianBlur(mask, 5), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))


def measure(masks, truth):
    """Precision, recall, F."""
    hits = misses = false = 0
    for n, wanted in truth.items():
        found, known = masks[n] > 0, (wanted != OUTSIDE) & (wanted != UNKNOWN)
        moving = (wanted == FOREGROUND) & known
        hits += int((found & moving).sum())
        misses += int((~found & moving).sum())
        false += int((found & known & ~moving).sum())
    return hits / max(hits + false, 1), hits / max(hits + misses, 1), 2 * hits / max(2 * hits + false + misses, 1)


def ours(program, gray, **options):
    height, width = gray[0].shape
    words = ["%s=%s" % (k.replace("_", "-"), v) for k, v in options.items()]
    done = subprocess.run([program, str(width), str(height)] + words,
                          input=b"".join(g.tobytes() for g in gray), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit(done.stderr.decode())
    return np.frombuffer(done.stdout, np.uint8).reshape(-1, height, width)


def theirs(make, frames):
    model = make()
    return [clean_up((model.apply(frame) == 255).astype(np.uint8) * 255) for frame in frames]


def row(name, threshold, result):
    print("| %-42s | %9s | %.4f | %.4f | %.4f |" % (name, threshold, *result), flush=True)


def best(name, thresholds, run, truth):
    results = [(measure(run(t), truth), t) for t in thresholds]
    result, threshold = max(results, key=lambda r: r[0][2])
    row(name, threshold, result)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cv2.setNumThreads(1)
    program = sys.argv[1]
    for name, frames, truth in map(load_folder, sys.argv[2:]) if sys.argv[2:] else [load_test_clip()]:
        gray = [np.ascontiguousarray(cv2.cvtColor(f, cv2.COLOR_BGR2GRAY)) for f in frames]
        print("\n%s: %d frames, %d with ground truth\n" % (name, len(frames), len(truth)))
        print("| method | threshold | precision | recall | F |\n|---|---|---|---|---|")
        row("cclmotion mog2, luma, defaults", "default", measure(ours(program, gray), truth))
        best("cclmotion mog2, luma", range(8, 20), lambda t: ours(program, gray, threshold=t), truth)
        best("cclmotion mog2, luma, shadow=keep", range(8, 20, 2),
             lambda t: ours(program, gray, threshold=t, shadow="keep"), truth)
        best("cclmotion ema, luma", range(10, 45, 5), lambda t: ours(program, gray, method="ema", threshold=t), truth)
        best("cclmotion diff, luma", range(10, 45, 5), lambda t: ours(program, gray, method="diff", threshold=t), truth)
        for input_name, pictures in (("luma", gray), ("colour", frames)):
            for shadows in (False, True):
                text = "%s" + ", %s%s" % (input_name, ", shadow detection" if shadows else "")
                best(text % "OpenCV MOG2", (8, 12, 16, 25, 36, 50, 70, 100, 140),
                     lambda t: theirs(lambda: cv2.createBackgroundSubtractorMOG2(500, t, shadows), pictures), truth)
                best(text % "OpenCV KNN", (100, 200, 300, 400, 600, 900, 1300, 1800),
                     lambda t: theirs(lambda: cv2.createBackgroundSubtractorKNN(500, t, shadows), pictures), truth)


if __name__ == "__main__":
    main()
