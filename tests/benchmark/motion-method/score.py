#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores masks: F pooled over the scored frames, false blobs a frame, seconds until a ghost is gone.

    score.py peers            F of today's mog2 and OpenCV's peers on all clips -> results/peers.json
    score.py ours [NAME ...]  F of method.c (I420 and GRAY8)
    score.py sensitivity      F at half and double of each constant
"""
import ctypes
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
TODAY = os.environ.get("CCL_MOTION", os.path.join(HERE, "../../../build/tests/benchmark/motion"))
os.makedirs(WORK, exist_ok=True)
CLIPS = degrade.REAL + degrade.MADE + degrade.SCENES
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


def today(clip):
    gray = [cv2.cvtColor(f, cv2.COLOR_BGR2GRAY) for f in clip.frames]
    h, w = gray[0].shape
    p = subprocess.run([TODAY, str(w), str(h)], input=b"".join(g.tobytes() for g in gray),
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    return np.frombuffer(p.stdout, np.uint8).reshape(-1, h, w)


PEERS = {
    "mog2 today": today,
    "OpenCV MOG2": opencv(lambda: cv2.createBackgroundSubtractorMOG2()),
    "OpenCV KNN": opencv(lambda: cv2.createBackgroundSubtractorKNN()),
    "CNT": opencv(lambda: cv2.bgsegm.createBackgroundSubtractorCNT()),
    "GSOC": opencv(lambda: cv2.bgsegm.createBackgroundSubtractorGSOC()),
}


def load_ours(defines=(), tag=""):
    so = os.path.join(WORK, "method%s.so" % (tag or "_".join(defines).replace("=", "")))
    src = os.path.join(HERE, "method.c")
    if not os.path.exists(so) or os.path.getmtime(so) < os.path.getmtime(src):
        subprocess.run(["gcc", "-O3", "-march=native", "-std=c11", "-shared", "-fPIC", "-Wall", "-Wextra", "-o", so, src] +
                       ["-D" + d for d in defines], check=True)
    lib = ctypes.CDLL(so)
    lib.bg_new.restype = ctypes.c_void_p
    return lib


def ours(clip, chroma=True, lib=None, raw=None):
    lib = lib or load_ours([d for d in os.environ.get("DEF", "").split() if d], os.environ.get("TAG", ""))
    h, w = clip.frames[0].shape[:2]
    bg = ctypes.c_void_p(lib.bg_new(w, h, int(chroma), ctypes.c_int64(int(clip.absorb * 1e6))))
    ptr = lambda a: a.ctypes.data_as(ctypes.c_void_p)
    masks = np.zeros((len(clip.frames), h, w), np.uint8)
    for i, f in enumerate(clip.frames):
        y, u, v = planes(f)
        lib.bg_apply(bg, ptr(y), ptr(u) if chroma else None, ptr(v) if chroma else None,
                     ctypes.c_int64(int(i * 1e6 / clip.fps)), masks[i].ctypes.data_as(ctypes.c_void_p))
        if raw is not None:
            raw(i, lib, bg)
    lib.bg_free(bg)
    return masks


def show(name, r):
    extra = " ".join("%s %.2f" % (k, v) for k, v in r.items() if k not in "FPRblobs" and k != "blobs")
    return "%-12s F %.4f  P %.4f R %.4f  blobs %.3f  %s" % (name, r["F"], r["P"], r["R"], r["blobs"], extra)


SENS = ("highway", "fall", "pedestrians", "shake6", "lowcontrast", "ghost", "movedobject")


def constants():
    """Name and value of each P_ constant of method.c."""
    import re
    return re.findall(r"^#define (P_\w+) +(\d+)", open(os.path.join(HERE, "method.c")).read(), re.M)


def worth(name, r):
    """F; the clip without moving truth counts as 1 with an empty last mask, and as nothing with a full one."""
    return max(0.0, 1 - r["fg985"] / 1000) if name == "movedobject" else r["F"]


def sensitivity(names):
    path = os.path.join(WORK, "results/sensitivity.json")
    results = json.load(open(path)) if os.path.exists(path) else {}
    todo = [("default", [])]
    for name, value in constants():
        if not names or name in names:
            half, double = max(int(value) // 2, 0), int(value) * 2 if int(value) else 4
            todo += [("%s=%d" % (name, half), ["%s=%d" % (name, half)]), ("%s=%d" % (name, double), ["%s=%d" % (name, double)])]
    for key, defines in todo:
        r = results.setdefault(key, {})
        lib = load_ours(defines)
        for clip in SENS:
            if clip not in r:
                c = cached(clip)
                r[clip] = measure(ours(c, True, lib), c)
        print(key, " ".join("%s %.3f" % (n, worth(n, r[n])) for n in SENS), "mean %.4f" % np.mean([worth(n, r[n]) for n in SENS]), flush=True)
        json.dump(results, open(path, "w"), indent=1)


def main():
    cv2.setNumThreads(1)
    os.makedirs(os.path.join(WORK, "results"), exist_ok=True)
    what = sys.argv[1]
    if what == "peers":
        path = os.path.join(WORK, "results/peers.json")
        results = json.load(open(path)) if os.path.exists(path) else {}
        for name in sys.argv[2:] or CLIPS:
            c = cached(name)
            for peer, run in PEERS.items():
                results.setdefault(peer, {})[name] = r = measure(run(c), c)
                print(peer, show(name, r), flush=True)
            json.dump(results, open(path, "w"), indent=1)
    elif what == "sensitivity":
        sensitivity(sys.argv[2:])
    elif what == "ours":
        path = os.path.join(WORK, "results/ours.json")
        names = [a for a in sys.argv[2:] if a not in ("gray", "yuv")] or CLIPS
        for kind in [a for a in sys.argv[2:] if a in ("gray", "yuv")] or ["yuv", "gray"]:
            results = json.load(open(path)) if os.path.exists(path) else {}
            fs = []
            for name in names:
                c = cached(name)
                t = time.time()
                results.setdefault("new " + kind, {})[name] = r = measure(ours(c, kind == "yuv"), c)
                print(kind, show(name, r), "%.1fs" % (time.time() - t), flush=True)
                fs.append(r["F"])
            json.dump(results, open(path, "w"), indent=1)
            print(kind, "mean F %.4f" % np.mean(fs))


if __name__ == "__main__":
    main()
