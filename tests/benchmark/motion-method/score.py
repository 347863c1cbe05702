#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores masks: F pooled over the scored frames, false blobs a frame, seconds until a ghost is gone.

    score.py peers [NAME ...]          F of mog2 and of OpenCV's peers on all clips -> results/peers.json
    score.py ours [yuv|gray] [NAME ...]  F of method feedback, by tests/benchmark/motion (I420 and GRAY8)

NAME may be pedestrians-NAME: the scene made from that clip. Needs numpy 2.4.6 and opencv-contrib-python-headless 5.0.0.93.
docs/motion-model.md has the results.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np

import degrade

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("CCL_TEST_DATA", os.path.join(HERE, "../../../../shared/data"))
WORK = os.environ.get("CCL_WORK", os.path.join(tempfile.gettempdir(), "ccl-motion-method"))  # clips, results
MOTION = os.environ.get("CCL_MOTION", os.path.join(HERE, "../../../build/tests/benchmark/motion"))
os.makedirs(WORK, exist_ok=True)
CLIPS = degrade.REAL + degrade.MADE + degrade.SWITCHES + degrade.SCENES
DEGRADED = degrade.MADE


def cached(name, base="highway"):
    path = os.path.join(WORK, "clips", (name if base == "highway" else base + "-" + name) + ".npz")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        c = degrade.load(DATA, name, base)
        keys = sorted(c.truth)
        np.savez(path, frames=np.array(c.frames), truth=np.array([c.truth[k] for k in keys]), keys=np.array(keys),
                 fps=c.fps, absorb=c.absorb, marks=json.dumps(c.marks))
    z = np.load(path)
    c = degrade.Clip(name, float(z["fps"]), z["frames"], {int(k): t for k, t in zip(z["keys"], z["truth"])},
                     float(z["absorb"]), json.loads(str(z["marks"])))
    return c


def counts(mask, wanted):
    found, known = mask > 0, (wanted != 85) & (wanted != 170)
    moving = wanted == 255
    return np.array([int((found & moving).sum()), int((found & known & ~moving).sum()), int((~found & moving).sum())])


def false_blobs(mask, wanted):
    """Blobs of 30 pixels and more that touch nothing that moves (nor unknown or outside)."""
    n, labels, stats, _ = cv2.connectedComponentsWithStats((mask > 0).astype(np.uint8), connectivity=8)
    touched = np.unique(labels[(wanted == 255) | (wanted == 170) | (wanted == 85)])
    good = np.ones(n, bool)
    good[touched] = False
    good[0] = False
    return int((good & (stats[:, cv2.CC_STAT_AREA] >= 30)).sum())


def measure(masks, clip):
    total, blobs = np.zeros(3, np.int64), 0
    for n, wanted in clip.truth.items():
        total += counts(masks[n], wanted)
        blobs += false_blobs(masks[n], wanted)
    tp, fp, fn = (int(v) for v in total)
    out = {"F": 2 * tp / max(2 * tp + fp + fn, 1), "P": tp / max(tp + fp, 1), "R": tp / max(tp + fn, 1),
           "blobs": blobs / max(len(clip.truth), 1)}
    if clip.name == "movedobject":
        out["fg985"] = int((masks[-1] > 0).sum())
        out["seated"] = float(np.mean([(masks[i][40:110, 75:115] > 0).mean() for i in range(100, 320)]))
    if "left" in clip.marks:  # seconds from leaving to the first of frames without a false blob, and what is false 5 s after
        left = clip.marks["left"]
        last, late = left, 0
        for n in sorted(clip.truth):
            if n >= left and not (clip.truth[n] == 255).any():
                if false_blobs(masks[n], clip.truth[n]):
                    last = n + 1
                    late += n >= left + 5 * clip.fps
        out["gone"] = (last - left) / clip.fps
        out["late"] = late
    return out


# ------------------------------------------------------------------ methods

def planes(frame):
    y = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)
    ycc = cv2.cvtColor(frame, cv2.COLOR_BGR2YCrCb)
    h, w = y.shape
    half = ((w + 1) // 2, (h + 1) // 2)
    v, u = (np.ascontiguousarray(cv2.resize(ycc[..., k], half, interpolation=cv2.INTER_AREA)) for k in (1, 2))
    return np.ascontiguousarray(y), u, v


def clean(mask):
    return cv2.morphologyEx(cv2.medianBlur(mask, 5), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))


def opencv(make):
    def run(clip):
        m = make()
        return [clean((m.apply(np.ascontiguousarray(f)) == 255).astype(np.uint8) * 255) for f in clip.frames]
    return run


def run_motion(clip, pictures, options):
    h, w = clip.frames[0].shape[:2]
    p = subprocess.run([MOTION, str(w), str(h)] + options, input=b"".join(pictures), stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, check=True)
    return np.frombuffer(p.stdout, np.uint8).reshape(-1, h, w)


def mog2(clip):
    return run_motion(clip, (planes(f)[0].tobytes() for f in clip.frames), ["method=mog2"])


def ours(clip, chroma=True):
    pictures = (b"".join(p.tobytes() for p in planes(f)[:3 if chroma else 1]) for f in clip.frames)
    return run_motion(clip, pictures, ["method=feedback", "chroma=%d" % chroma, "fps=%r" % float(clip.fps),
                                       "absorb-ms=%d" % (clip.absorb * 1000)])


PEERS = {
    "mog2": mog2,
    "OpenCV MOG2": opencv(lambda: cv2.createBackgroundSubtractorMOG2()),
    "OpenCV KNN": opencv(lambda: cv2.createBackgroundSubtractorKNN()),
    "CNT": opencv(lambda: cv2.bgsegm.createBackgroundSubtractorCNT()),
    "GSOC": opencv(lambda: cv2.bgsegm.createBackgroundSubtractorGSOC()),
}


def show(name, r):
    extra = " ".join("%s %.2f" % (k, v) for k, v in r.items() if k not in "FPRblobs" and k != "blobs")
    return "%-12s F %.4f  P %.4f R %.4f  blobs %.3f  %s" % (name, r["F"], r["P"], r["R"], r["blobs"], extra)


def clip_of(name):
    base, dash, rest = name.partition("-")
    return cached(rest, base) if dash else cached(name)


def main():
    cv2.setNumThreads(1)
    os.makedirs(os.path.join(WORK, "results"), exist_ok=True)
    what = sys.argv[1]
    if what == "peers":
        path = os.path.join(WORK, "results/peers.json")
        results = json.load(open(path)) if os.path.exists(path) else {}
        for name in sys.argv[2:] or CLIPS:
            c = clip_of(name)
            for peer, run in PEERS.items():
                results.setdefault(peer, {})[name] = r = measure(run(c), c)
                print(peer, show(name, r), flush=True)
            json.dump(results, open(path, "w"), indent=1)
    elif what == "ours":
        path = os.path.join(WORK, "results/ours.json")
        names = [a for a in sys.argv[2:] if a not in ("gray", "yuv")] or CLIPS
        for kind in [a for a in sys.argv[2:] if a in ("gray", "yuv")] or ["yuv", "gray"]:
            results = json.load(open(path)) if os.path.exists(path) else {}
            fs = []
            for name in names:
                c = clip_of(name)
                t = time.time()
                results.setdefault("feedback " + kind, {})[name] = r = measure(ours(c, kind == "yuv"), c)
                print(kind, show(name, r), "%.1fs" % (time.time() - t), flush=True)
                fs.append(r["F"])
            json.dump(results, open(path, "w"), indent=1)
            print(kind, "mean F %.4f" % np.mean(fs))


if __name__ == "__main__":
    main()
