#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clips with pixel truth for background subtraction: the real ones of ../shared/data, and scenes made from them.

    degrade.py DATA OUT [NAME ...]      writes OUT/NAME/input/in%06d.png, groundtruth/gt%06d.png, temporalROI.txt, fps.txt

Use as a module: load(DATA, NAME) gives a Clip. Levels were fixed before any method was tuned on these scenes. Random numbers
come from fixed seeds, so a scene is the same each time.
"""
import glob
import os
import sys
from dataclasses import dataclass, field

import cv2
import numpy as np

OUTSIDE, UNKNOWN, MOVING = 85, 170, 255

# ------------------------------------------------------------------ levels (fixed 25 November 2026, before tuning)
SHAKE = (2.0, 6.0)       # pixels: every frame moved by a uniform random vector, each axis -a..a, with sub-pixel steps
NIGHT = (0.15, 5.0, 2.0)  # gain, offset, sensor noise (standard deviation), levels
LOW_CONTRAST = (0.25, 100.0, 1.0)  # gain around 110, level of 110, sensor noise
NOISE = 15.0             # standard deviation, levels, each channel
LIGHT_STEP = (0.65, 1.35)  # the gain before and after the step (of the middle of the scored frames)
DRIFT = (0.55, 20.0)     # lowest gain, seconds of one cosine from 1 down to it and back
FLICKER = (0.10, 2.3, 0.5)  # amplitude of the gain, Hz, periods over the height (rolling shutter)
SIXTH = 6                # every sixth frame
LAMP = (0.4, 0.4)        # part of the width that gets darker at a third of the frames, and its gain (added on 27 November)
STAND_SECONDS = 300
STAND_FPS = 5.0
STAND_NOISE = 2.0        # sensor noise in the standing scenes
SWAY = 0.7               # pixels: pasted persons sway by this much with a period of 4 s


@dataclass
class Clip:
    name: str
    fps: float
    frames: list                     # BGR uint8
    truth: dict                      # index -> uint8 picture, 0 / 50 / 85 / 170 / 255
    absorb: float = 600.0            # seconds
    marks: dict = field(default_factory=dict)


def rng(name):
    return np.random.default_rng(sum(ord(c) * 131 ** i for i, c in enumerate(name)) & 0xffffffff)


def clip8(a):
    return np.clip(np.rint(a), 0, 255).astype(np.uint8)


# ------------------------------------------------------------------ real clips

def folder(data, name, fps):
    root = os.path.join(data, "motion", name)
    paths = sorted(glob.glob(os.path.join(root, "input", "in*.*")))
    first = int(os.path.basename(paths[0])[2:8])
    a, b = map(int, open(os.path.join(root, "temporalROI.txt")).read().split())
    truth = {n - first: cv2.imread(os.path.join(root, "groundtruth", "gt%06d.png" % n), 0) for n in range(a, b + 1)}
    return Clip(name, fps, [cv2.imread(p) for p in paths], {k: v for k, v in truth.items() if v is not None})


def read_video(path, size=None):
    video, frames = cv2.VideoCapture(path), []
    while True:
        ok, frame = video.read()
        if not ok:
            return frames
        frames.append(cv2.resize(frame, size, interpolation=cv2.INTER_AREA) if size else frame)


def pedestrians(data):
    frames = read_video(os.path.join(data, "video/cdnet_pedestrians_000240-000619.avi"))
    truth = {int(os.path.basename(p)[2:8]) - 240: cv2.imread(p, 0)
             for p in sorted(glob.glob(os.path.join(data, "masks/cdnet-pedestrians/gt*.png")))}
    return Clip("pedestrians", 25.0, frames, truth)


# ------------------------------------------------------------------ degradations of a clip

def shake(c, a):
    r, out = rng("shake"), Clip("shake%d" % a, c.fps, [], {})
    m = int(np.ceil(a))
    for i, f in enumerate(c.frames):
        dx, dy = r.uniform(-a, a, 2)
        M = np.float32([[1, 0, dx], [0, 1, dy]])
        size = (f.shape[1], f.shape[0])
        out.frames.append(cv2.warpAffine(f, M, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101))
        if i in c.truth:
            t = cv2.warpAffine(c.truth[i], M, size, flags=cv2.INTER_NEAREST, borderMode=cv2.BORDER_CONSTANT,
                               borderValue=OUTSIDE)
            t[:m], t[-m:], t[:, :m], t[:, -m:] = OUTSIDE, OUTSIDE, OUTSIDE, OUTSIDE
            out.truth[i] = t
    return out


def levels(c, name, change, sigma=0.0):
    """change(frame as float, index, seconds) gives the new frame."""
    r = rng(name)
    frames = []
    for i, f in enumerate(c.frames):
        g = change(f.astype(np.float32), i, i / c.fps)
        if sigma:
            g = g + r.normal(0, sigma, f.shape).astype(np.float32)
        frames.append(clip8(g))
    return Clip(name, c.fps, frames, c.truth)


def night(c):
    return levels(c, "night", lambda f, i, t: f * NIGHT[0] + NIGHT[1], NIGHT[2])


def lowcontrast(c):
    return levels(c, "lowcontrast", lambda f, i, t: (f - 110) * LOW_CONTRAST[0] + LOW_CONTRAST[1], LOW_CONTRAST[2])


def noise(c):
    return levels(c, "noise", lambda f, i, t: f, NOISE)


def lightstep(c):
    at = sorted(c.truth)[len(c.truth) // 2]
    out = levels(c, "lightstep", lambda f, i, t: f * (LIGHT_STEP[0] if i < at else LIGHT_STEP[1]))
    out.marks["step"] = at
    return out


def lamp(c):
    """A lamp goes out: a part of the picture gets darker. Frames of the first 5 s after are not scored."""
    at, dark = len(c.frames) // 3, np.arange(c.frames[0].shape[1])[None, :, None] < c.frames[0].shape[1] * LAMP[0]
    out = levels(c, "lamp", lambda f, i, t: np.where(dark, f * LAMP[1], f) if i >= at else f)
    return Clip("lamp", c.fps, out.frames, {i: t for i, t in c.truth.items() if not at <= i < at + 5 * c.fps})


def dusk(c):
    """A camera switches to its night mode: the blue channel alone, darker. Frames of the first 5 s after are not scored."""
    at = len(c.frames) // 3
    out = levels(c, "dusk", lambda f, i, t: f[..., :1] * np.float32([0.3] * 3) + 5 if i >= at else f)
    return Clip("dusk", c.fps, out.frames, {i: t for i, t in c.truth.items() if not at <= i < at + 5 * c.fps})


def drift(c):
    lo, period = DRIFT
    return levels(c, "drift", lambda f, i, t: f * ((1 + lo) / 2 + (1 - lo) / 2 * np.cos(2 * np.pi * t / period)))


def flicker(c):
    a, hz, turns = FLICKER
    y = np.linspace(0, turns, c.frames[0].shape[0], dtype=np.float32)[:, None, None]
    return levels(c, "flicker", lambda f, i, t: f * (1 + a * np.sin(2 * np.pi * (hz * t + y))))


def sixth(c):
    keep = list(range(0, len(c.frames), SIXTH))
    return Clip("sixth", c.fps / SIXTH, [c.frames[i] for i in keep],
                {n: c.truth[i] for n, i in enumerate(keep) if i in c.truth})


# ------------------------------------------------------------------ standing scenes

def pingpong(a, b, n):
    """n indices that run from a to b and back, and so on."""
    period = max(2 * (b - a), 1)
    return [a + (k if k <= b - a else period - k) for k in (i % period for i in range(n))]


def sensor(frames, seed):
    r = rng(seed)
    return [clip8(f.astype(np.float32) + r.normal(0, STAND_NOISE, f.shape).astype(np.float32)) for f in frames]


def indoor_parts(data):
    """One person of the one-by-one video: real frames at 5 a second, and a truth from the difference to the empty room."""
    frames = read_video(os.path.join(data, "video/one-by-one-person-detection.mp4"), (384, 216))
    empty = np.median(np.array([frames[i] for i in list(range(206, 222, 2)) + list(range(460, 500, 4))]), 0)

    def truth(f):
        d = cv2.GaussianBlur(np.abs(f.astype(np.float32) - empty).max(2), (3, 3), 0)
        sure = (d > 45).astype(np.uint8)
        sure = cv2.morphologyEx(cv2.morphologyEx(sure, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)), cv2.MORPH_CLOSE,
                                np.ones((5, 5), np.uint8))
        n, labels, stats, _ = cv2.connectedComponentsWithStats(sure)
        for k in range(1, n):
            if stats[k, cv2.CC_STAT_AREA] < 150:
                sure[labels == k] = 0
        maybe = (d > 14).astype(np.uint8) | cv2.dilate(sure, np.ones((5, 5), np.uint8))
        if not sure.any():
            maybe[:] = 0
        else:  # doubtful pixels near the person alone: shadows on the floor, reflections
            maybe &= cv2.dilate(sure, np.ones((41, 41), np.uint8))
        t = np.zeros(d.shape, np.uint8)
        t[maybe > 0] = UNKNOWN
        t[cv2.erode(sure, np.ones((3, 3), np.uint8)) > 0] = MOVING
        return t
    return frames, truth


def standing(data):
    """Empty room for 30 s, a man comes in, stands at a table for five minutes, leaves, empty for 40 s."""
    frames, truth = indoor_parts(data)
    n = int(STAND_SECONDS * STAND_FPS)
    order = pingpong(204, 224, 150) + list(range(226, 250, 2)) + pingpong(250, 428, n) + list(range(430, 456, 2))
    left = len(order)
    order += pingpong(458, 498, int(40 * STAND_FPS))
    out = Clip("standing", STAND_FPS, sensor([frames[i] for i in order], "standing"), {})
    cache = {}
    for k in range(100, len(order)):
        i = order[k]
        if k >= left:
            t = np.zeros(frames[0].shape[:2], np.uint8)
        else:
            t = cache.setdefault(i, truth(frames[i]) if i >= 226 else np.zeros(frames[0].shape[:2], np.uint8))
        out.truth[k] = t
    out.marks["left"] = left
    return out


def ghost(data, name="ghost"):
    """The man is there when learning begins, stands for 20 s, leaves; 30 s of empty room; then he comes back for 60 s."""
    frames, truth = indoor_parts(data)
    order = pingpong(250, 428, int(20 * STAND_FPS)) + list(range(430, 456, 2))
    left = len(order)
    order += pingpong(458, 498, int(30 * STAND_FPS))
    back = len(order)
    order += list(range(226, 250, 2)) + pingpong(250, 428, int(60 * STAND_FPS))
    out = Clip(name, STAND_FPS, sensor([frames[i] for i in order], name), {})
    zero = np.zeros(frames[0].shape[:2], np.uint8)
    for k in range(left, len(order)):
        out.truth[k] = zero if k < back else truth(frames[order[k]])
    out.marks.update(left=left)
    return out


def absorbed(data):
    """absorb-time 60 s: the man stands for 150 s and leaves. Scored: 50 s of standing, and all after he has left."""
    c = standing(data)
    a = 150 + 12
    stay, left = int(150 * STAND_FPS), c.marks["left"]
    keep = list(range(a + stay)) + list(range(left - 13, len(c.frames)))
    out = Clip("absorbed", STAND_FPS, [c.frames[i] for i in keep], {}, absorb=60.0)
    for n, i in enumerate(keep):
        if i in c.truth and (n < a + int(50 * STAND_FPS) or i >= left):
            out.truth[n] = c.truth[i]
    out.marks["left"] = a + stay + 13
    return out


def street(data):
    """The pedestrians clip at 5 frames a second, to and fro, while a person cut out of it walks in, stands for five minutes, leaves.
    Both stay in the truth: who passes by and who stands."""
    c = pedestrians(data)
    keep = sorted(c.truth)[::5]
    source = 390 - 240
    mask = (c.truth[source] == MOVING).astype(np.uint8)
    n, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
    k = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    x, y, w, h = (int(v) for v in stats[k, :4])
    person = c.frames[source][y - 2:y + h + 2, x - 2:x + w + 2].astype(np.float32)
    alpha = cv2.GaussianBlur((labels[y - 2:y + h + 2, x - 2:x + w + 2] == k).astype(np.float32), (3, 3), 0)
    empty = int(20 * STAND_FPS)
    walk = int(6 * STAND_FPS)
    n = int(STAND_SECONDS * STAND_FPS)
    height, width = mask.shape
    target = 110.0
    xs = [None] * empty + list(np.linspace(-w - 4, target, walk))
    for i in range(n):
        xs.append(target + SWAY * np.sin(2 * np.pi * i / STAND_FPS / 4))
    xs += list(np.linspace(target, -w - 4, walk))
    left = len(xs)
    xs += [None] * int(20 * STAND_FPS)
    order = pingpong(0, len(keep) - 1, len(xs))
    frames, out = [], Clip("street", STAND_FPS, [], {})
    for i, px in enumerate(xs):
        f, t = c.frames[keep[order[i]]].astype(np.float32), c.truth[keep[order[i]]].copy()
        if px is not None:
            M = np.float32([[1, 0, px], [0, 1, 128]])
            a = cv2.warpAffine(alpha, M, (width, height))
            p = cv2.warpAffine(person, M, (width, height), borderMode=cv2.BORDER_REPLICATE)
            f = f * (1 - a[..., None]) + p * a[..., None]
            t[(a > 0.1) & (a < 0.9)] = UNKNOWN
            t[a >= 0.9] = MOVING
        frames.append(f)
        if i >= 75:
            out.truth[i] = t
    out.frames = sensor(frames, "street")
    out.marks["left"] = left
    return out


def moved(data):
    """Highway; the camera turns by 40 pixels at frame 330 of 471 and stays there. Frames of the first 5 s after are not scored."""
    c = folder(data, "highway", 25.0)
    at = 330
    out = Clip("moved", c.fps, [], {})
    for i, f in enumerate(c.frames):
        rows, columns = (slice(8, None), slice(0, -40)) if i < at else (slice(0, -8), slice(40, None))
        out.frames.append(np.ascontiguousarray(f[rows, columns]))
        if i in c.truth and not at <= i < at + 125:
            out.truth[i] = np.ascontiguousarray(c.truth[i][rows, columns])
    return out


REAL = ("highway", "fall", "pedestrians", "movedobject")
MADE = ("shake2", "shake6", "night", "lowcontrast", "noise", "lightstep", "drift", "flicker", "sixth")
SWITCHES = ("lamp", "dusk")
SCENES = ("standing", "street", "ghost", "absorbed", "moved")


def load(data, name, base="highway"):
    if name in ("highway", "fall"):
        return folder(data, name, 25.0)
    if name == "movedobject":
        return folder(data, name, 4.0)
    if name == "pedestrians":
        return pedestrians(data)
    if name in SCENES:
        return globals()[name](data)
    c = pedestrians(data) if base == "pedestrians" else folder(data, base, 25.0)
    if name.startswith("shake"):
        return shake(c, SHAKE[0 if name == "shake2" else 1])
    return globals()[name](c)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    data, out = sys.argv[1:3]
    for name in sys.argv[3:] or REAL + MADE + SWITCHES + SCENES:
        c = load(data, name)
        root = os.path.join(out, name)
        os.makedirs(os.path.join(root, "input"), exist_ok=True)
        os.makedirs(os.path.join(root, "groundtruth"), exist_ok=True)
        for i, f in enumerate(c.frames):
            cv2.imwrite(os.path.join(root, "input", "in%06d.png" % (i + 1)), f)
        for i, t in c.truth.items():
            cv2.imwrite(os.path.join(root, "groundtruth", "gt%06d.png" % (i + 1)), t)
        open(os.path.join(root, "temporalROI.txt"), "w").write("%d %d\n" % (min(c.truth) + 1, max(c.truth) + 1))
        open(os.path.join(root, "fps.txt"), "w").write("%g\n" % c.fps)
        print(name, len(c.frames), "frames,", len(c.truth), "scored,", c.fps, "a second")


if __name__ == "__main__":
    main()
