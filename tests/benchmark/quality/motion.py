# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Masks of motion: cclmotion, and background subtractors of OpenCV and bgslibrary."""
import os
import tempfile

import cv2
import numpy as np

from . import clips, ours  # noqa: F401 (clips: the path of degrade and score)

FOREGROUND, OUTSIDE, UNKNOWN, MIN_FALSE_BLOB = 255, 85, 170, 30


def clean(mask):
    """A median and a closing, as cclmotion has by default; peers have no clean-up of their own."""
    return cv2.morphologyEx(cv2.medianBlur(mask, 5), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))


def opencv(make):
    def run(clip, *setting):
        model = make(*setting)
        for frame in clip.frames:
            yield clean((model.apply(frame) == FOREGROUND).astype(np.uint8) * 255)
    return run


def mog2(threshold):
    return cv2.createBackgroundSubtractorMOG2(varThreshold=threshold)


def knn(threshold):
    return cv2.createBackgroundSubtractorKNN(dist2Threshold=threshold)


def cnt(stability):
    return cv2.bgsegm.createBackgroundSubtractorCNT(minPixelStability=stability)


def gsoc(rate):
    return cv2.bgsegm.createBackgroundSubtractorGSOC(replaceRate=rate)


def subsense(clip, *_):
    """It keeps its settings in a folder `config` of the working directory."""
    import pybgs
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "config"))
        os.chdir(folder)
        try:
            model = pybgs.SuBSENSE()
            for frame in clip.frames:
                yield model.apply(frame)
        finally:
            os.chdir(here)


def cclmotion(clip, *threshold):
    return ours.masks(clip.frames, clip.fps, **({"threshold": threshold[0]} if threshold else {}))


# Name: how to run it on a clip, the default of its main setting (None: the element's own), and other values of it.
METHODS = {
    "cclmotion": (cclmotion, None, (8, 12, 18)),
    "OpenCV MOG2": (opencv(mog2), 16, (8, 32, 64)),
    "OpenCV KNN": (opencv(knn), 400, (200, 800, 1600)),
    "OpenCV CNT": (opencv(cnt), 15, (8, 30)),
    "OpenCV GSOC": (opencv(gsoc), 0.003, (0.001, 0.01)),
    "SuBSENSE": (subsense, None, ()),
}


def false_blobs(mask, truth):
    """Blobs that touch nothing that moves, nor pixels without truth."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats((mask > 0).astype(np.uint8), connectivity=8)
    alone = stats[:, cv2.CC_STAT_AREA] >= MIN_FALSE_BLOB
    alone[0] = False
    alone[np.unique(labels[(truth == FOREGROUND) | (truth == UNKNOWN) | (truth == OUTSIDE)])] = False
    return int(alone.sum())


def score(masks, truth):
    """Precision, recall, F over all frames with truth, false blobs a frame; and some masks for pictures."""
    hits = false = misses = blobs = 0
    shown = {}
    wanted = sorted(truth)
    for index, mask in enumerate(masks):
        if index not in truth:
            continue
        found, known = mask > 0, (truth[index] != OUTSIDE) & (truth[index] != UNKNOWN)
        moving = truth[index] == FOREGROUND
        hits += int((found & moving).sum())
        false += int((found & known & ~moving).sum())
        misses += int((~found & moving).sum())
        blobs += false_blobs(mask, truth[index])
        if index in (wanted[len(wanted) // 4], wanted[len(wanted) * 3 // 4]):
            shown[index] = mask.copy()
    return {"precision": hits / max(hits + false, 1), "recall": hits / max(hits + misses, 1),
            "F": 2 * hits / max(2 * hits + false + misses, 1), "false blobs": blobs / max(len(truth), 1), "masks": shown}


def evaluate(clip, names, grid):
    """Scores by method and setting; the setting None is the default."""
    result = {}
    for name in names:
        run, default, others = METHODS[name]
        first = () if default is None else (default,)
        result[name] = {None: score(run(clip, *first), clip.truth)}
        for setting in others if grid else ():
            result[name][setting] = score(run(clip, setting), clip.truth)
    return result
