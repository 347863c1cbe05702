# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clips with truth: of the test data, of folders in CDnet and MOT layout, and degraded ones of motion-method/degrade.py."""
import configparser
import dataclasses
import glob
import os
import sys

import cv2
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("CCL_TEST_DATA") or os.path.join(HERE, "../../../../shared/data")

sys.path.insert(0, os.path.join(HERE, "../motion-method"))
import degrade  # noqa: E402

FPS = 25.0  # of folders that do not say it


@dataclasses.dataclass
class Detections:
    """A sequence in MOT layout: per frame an array of boxes x0, y0, x1, y1, with confidences or with ids."""
    name: str
    kind: str
    fps: float
    size: tuple
    boxes: list
    confidences: list
    truth: list      # of (ids, boxes)
    frames: list     # pictures, if there are any


def motion_clips(folders, degraded):
    """Pairs of a kind of scene and a degrade.Clip. Only clips with moving pixels in their truth have an F-measure."""
    if os.path.isdir(os.path.join(DATA, "motion")):
        for name in degrade.REAL + (degrade.MADE if degraded else ()):
            clip = degrade.load(DATA, name)
            if any((truth == 255).any() for truth in clip.truth.values()):
                yield ("real" if name in degrade.REAL else name), clip
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(folder, "**/temporalROI.txt"), recursive=True)):
            yield os.path.basename(os.path.dirname(os.path.dirname(path))), cdnet_clip(os.path.dirname(path))


def cdnet_clip(folder):
    paths = sorted(glob.glob(os.path.join(folder, "input/in*.*")))
    first = int(os.path.basename(paths[0])[2:8])
    with open(os.path.join(folder, "temporalROI.txt"), encoding="ascii") as file:
        begin, end = map(int, file.read().split())
    truth = {n - first: cv2.imread(path, cv2.IMREAD_GRAYSCALE) for n in range(begin, end + 1)
             if os.path.exists(path := os.path.join(folder, f"groundtruth/gt{n:06}.png"))}
    return degrade.Clip(os.path.basename(folder), FPS, [cv2.imread(path) for path in paths], truth)


def mot_table(path, n_frames):
    """Per frame the rows of a MOT text that count: in truth, those whose flag is not 0."""
    rows = np.loadtxt(path, delimiter=",", ndmin=2)
    return [rows[rows[:, 0] == frame + 1] for frame in range(n_frames)]


def corners(rows):
    return np.column_stack((rows[:, 2:4], rows[:, 2:4] + rows[:, 4:6])).astype(np.float32).reshape(-1, 4)


def mot_clip(ini):
    folder = os.path.dirname(ini)
    config = configparser.ConfigParser()
    config.read(ini)
    sequence = config["Sequence"]
    n_frames = int(sequence["seqLength"])

    def find(name):
        return next(path for path in (f"{folder}/{name}.txt", f"{folder}/{name}/{name}.txt") if os.path.exists(path))

    found, true = mot_table(find("det"), n_frames), mot_table(find("gt"), n_frames)
    true = [rows[rows[:, 6] != 0] for rows in true]
    pictures = [cv2.imread(path) for path in sorted(glob.glob(os.path.join(folder, sequence["imDir"], "*")))]
    if not pictures and "PETS09-S2L1" in folder and os.path.exists(video := os.path.join(DATA, "video/vtest.avi")):
        pictures = degrade.read_video(video)
    return Detections(sequence["name"], os.path.basename(os.path.dirname(folder)), float(sequence["frameRate"]),
                      (int(sequence["imWidth"]), int(sequence["imHeight"])), [corners(rows) for rows in found],
                      [rows[:, 6] for rows in found], [(rows[:, 1].astype(int), corners(rows)) for rows in true], pictures)


def mot_clips(folders):
    for folder in [os.path.join(DATA, "tracking"), *folders]:
        for ini in sorted(glob.glob(os.path.join(folder, "**/seqinfo.ini"), recursive=True)):
            yield mot_clip(ini)
