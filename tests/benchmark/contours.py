# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What contours cost, beside OpenCV: ccllabel contours=true (labelling, tracing and simplifying with tolerance 1)
against findContours (outer contours of the same mask) and approxPolyDP with the same tolerance; one thread each, the
least of some frames, microseconds.

usage: contours.py [DATA_FOLDER]     with the plugin in GST_PLUGIN_PATH; needs python3-opencv
"""
import os
import pathlib
import sys
import time

import cv2
import gi
import numpy as np

gi.require_version("Gst", "1.0")
from gi.repository import Gst

FRAMES = 20


def ours(mask):
    """(blobs, labelling, contours) of a mask of 0 and 255."""
    height, width = mask.shape
    padded = np.zeros((height, (width + 3) // 4 * 4), np.uint8)
    padded[:, :width] = mask
    pipeline = Gst.parse_launch(
        f"appsrc name=in format=time caps=video/x-raw,format=GRAY8,width={width},height={height},framerate=25/1 ! "
        "ccllabel name=label backend=cpu contours=true threads=1 max-components=100000 ! fakesink sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    for i in range(FRAMES):
        buffer = Gst.Buffer.new_wrapped(padded.tobytes())
        buffer.pts = i * Gst.SECOND // 25
        pipeline.get_by_name("in").emit("push-buffer", buffer)
    pipeline.get_by_name("in").emit("end-of-stream")
    message = pipeline.get_bus().timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    assert message.type == Gst.MessageType.EOS, message.parse_error()
    stats = pipeline.get_by_name("label").get_property("stats")
    pipeline.set_state(Gst.State.NULL)
    return stats["components"] // FRAMES, stats["kernel-us-min"], stats["contour-us-min"]


def theirs(mask):
    """(contours found, finding, finding and simplifying)."""
    times = []
    for _ in range(FRAMES):
        begin = time.perf_counter()
        found, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        middle = time.perf_counter()
        for contour in found:
            cv2.approxPolyDP(contour, 1, True)
        times.append((1e6 * (middle - begin), 1e6 * (time.perf_counter() - begin)))
    return len(found), *np.min(times, axis=0)


def masks(data):
    random = np.random.default_rng(1)
    people = np.zeros((1080, 1920), np.uint8)
    for _ in range(60):
        place = int(random.integers(40, 1880)), int(random.integers(60, 1020))
        axes = int(random.integers(10, 30)), int(random.integers(30, 70))
        cv2.ellipse(people, place, axes, float(random.integers(0, 40)), 0, 360, 255, -1)
    yield "60 ellipses", people
    edge = cv2.dilate(people, np.ones((5, 5))) - cv2.erode(people, np.ones((5, 5))) > 0
    ragged = people.copy()
    ragged[edge & (random.integers(0, 100, people.shape) < 8)] ^= 255
    yield "the same with ragged edges", ragged
    yield "salt, 3 %", (random.integers(0, 100, people.shape) < 3).astype(np.uint8) * 255
    cow = cv2.imread(str(data / "masks/davis-cows/00000.png"), cv2.IMREAD_GRAYSCALE)
    if cow is not None:
        yield "a cow (DAVIS)", cv2.resize((cow > 127).astype(np.uint8) * 255, (1920, 1080),
                                          interpolation=cv2.INTER_NEAREST)
    page = cv2.imread(str(data / "masks/still/feyn.png"), cv2.IMREAD_GRAYSCALE)
    if page is not None:
        yield "a page of print (feyn.png)", (page <= 127).astype(np.uint8) * 255


def main():
    Gst.init(None)
    cv2.setNumThreads(1)
    data = pathlib.Path(os.environ.get("CCL_TEST_DATA") or (sys.argv[1] if len(sys.argv) > 1 else "../shared/data"))
    print("| mask | size | blobs | labelling | contours | findContours | and approxPolyDP |")
    print("|---|---|---|---|---|---|---|")
    for name, mask in masks(data):
        blobs, label, contour = ours(mask)
        _, found, simplified = theirs(mask)
        print(f"| {name} | {mask.shape[1]}x{mask.shape[0]} | {blobs} | {label:.0f} | {contour:.0f} | {found:.0f} | "
              f"{simplified:.0f} |")


if __name__ == "__main__":
    main()
