# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The whole chain, from decoded frames to lines of JSON with tracks, beside what one would write without it: appsink,
OpenCV's MOG2 and connectedComponentsWithStats, and ByteTrack.

usage: meson devenv -C BUILD PYTHON tests/benchmark/chain.py [--rounds N] [--markdown] [VIDEO...]

Without VIDEO: vtest.avi of the test data (../shared/data, or CCL_TEST_DATA) as it is, 768x576, and scaled to
1920x1080. Packages: opencv-python, supervision, trackers; python3-gi and python3-gst-1.0 of the distribution. Exit status 77
without any of them.

With --gpu the VIDEOs are H.264 in MP4 and NVDEC decodes them for all; a further candidate is the chain on the GPU, from
there to the table of blobs. What the others take begins with the frame in host memory.

Each candidate runs in a process of its own, decoding included, in turn, N times. Processor time is that of all
threads of the process, less that of the same pipeline with nothing behind the decoder (`decoding`); the table has the
median of the rounds. What a run of two frames takes, loading and starting, is left out. Latency is from the arrival of
a frame until its line is there: ours from the `stats` of the elements, the other's by the clock around the calls (the
wait in appsink's queue is left out). Both write one line for each frame, of what moves and is at least as large as
--min-area.
"""
import argparse
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import time

sys.path.append("/usr/lib/python3/dist-packages")  # PyGObject, for a Python of one's own
for package in "gi", "cv2", "supervision", "trackers":
    if not importlib.util.find_spec(package):
        print(f"skipped: no {package}")
        sys.exit(77)

import gi  # noqa: E402

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

DATA = os.environ.get("CCL_TEST_DATA", os.path.join(os.path.dirname(__file__), "../../../shared/data"))
VTEST = os.path.join(DATA, "video/vtest.avi")
CHAIN = ("cclmotion name=cclmotion backend={backend} ! "
         "ccllabel name=ccllabel backend={backend} mask-source=mask-meta min-area={area} ! "
         "ccltrack name=ccltrack ! cclmeta2json name=cclmeta2json ! fakesink sync=false")
ELEMENTS = ["cclmotion", "ccllabel", "ccltrack", "cclmeta2json"]


NVDEC = "filesrc location={} ! qtdemux ! h264parse ! nvh264dec ! video/x-raw(memory:CUDAMemory),format=NV12 ! "


class Pipeline:
    """A video's frames in I420, as its GPU decoder gives them (`device`), or from there."""

    def __init__(self, args, video, size, rest, device=False):
        source = NVDEC if args.gpu else "filesrc location={} ! decodebin ! "
        frames = "" if device else "cudadownload ! " if args.gpu else ""
        frames += "" if device else "videoconvert ! video/x-raw,format=I420 ! "
        frames += "videoscale add-borders=false ! video/x-raw,width={},height={} ! ".format(*size) if size else ""
        limit = f"identity eos-after={args.frames} name=limit ! " if args.frames else ""
        self.pipeline = Gst.parse_launch(source.format(video) + frames + limit + rest)

    def get(self, name):
        return self.pipeline.get_by_name(name)

    def play(self):
        self.pipeline.set_state(Gst.State.PLAYING)

    def wait(self):
        message = self.pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE,
                                                             Gst.MessageType.EOS | Gst.MessageType.ERROR)
        if message.type == Gst.MessageType.ERROR:
            raise RuntimeError(message.parse_error())

    def stop(self):
        self.pipeline.set_state(Gst.State.NULL)


def run_decoding(args, video, size, device=False):
    pipeline = Pipeline(args, video, size, "fakesink name=sink sync=false signal-handoffs=true", device)
    count = 0

    def on_frame(*_):
        nonlocal count
        count += 1

    pipeline.get("sink").connect("handoff", on_frame)
    pipeline.play()
    pipeline.wait()
    pipeline.stop()
    return {"frames": count}


def run_ours(args, video, size, device=False):
    chain = CHAIN.format(area=args.min_area, backend="cuda" if device else "cpu")
    pipeline = Pipeline(args, video, size, chain, device)
    pipeline.play()
    pipeline.wait()
    result = {"elements": {}}
    for name in ELEMENTS:
        stats = pipeline.get(name).get_property("stats")
        result["elements"][name] = {key: stats.get_double(f"{key}-us-{which}").value
                                    for key in ("host", "latency") for which in ("avg",)}
        result["frames"] = stats.get_uint64("frames").value
    # One thread, no queue: a frame's way is the sum of its elements'.
    result["latency_ms"] = sum(element["latency"] for element in result["elements"].values()) / 1000
    result["objects"] = pipeline.get("ccltrack").get_property("stats").get_uint64("started").value
    pipeline.stop()
    return result


def run_opencv(args, video, size, colour):
    import cv2
    import numpy as np
    import supervision
    import trackers

    model = cv2.createBackgroundSubtractorMOG2(history=500, varThreshold=args.var_threshold, detectShadows=True)
    tracker = trackers.ByteTrackTracker(frame_rate=10)
    small, large = np.ones((3, 3), np.uint8), np.ones((5, 5), np.uint8)
    caps = "video/x-raw,format=" + ("BGR" if colour else "GRAY8")
    pipeline = Pipeline(args, video, size, f"videoconvert ! {caps} ! "
                        "appsink name=sink sync=false max-buffers=4")
    sink, frames, spent, seen = pipeline.get("sink"), 0, 0.0, set()
    pipeline.play()
    while sample := sink.emit("pull-sample"):
        start = time.perf_counter()
        buffer, structure = sample.get_buffer(), sample.get_caps().get_structure(0)
        width, height, channels = structure.get_value("width"), structure.get_value("height"), 3 if colour else 1
        with buffer.map(Gst.MapFlags.READ) as view:  # a view, no copy
            stride = len(view.data) // height
            rows = np.frombuffer(view.data, np.uint8).reshape(height, stride)[:, :width * channels]
            picture = rows.reshape(height, width, channels) if colour else rows
            mask = model.apply(picture)
        mask = cv2.threshold(mask, 200, 255, cv2.THRESH_BINARY)[1]  # shadows are 127
        mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, small)
        mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, large)
        _, _, table, centroids = cv2.connectedComponentsWithStats(mask)
        kept = np.flatnonzero(table[1:, cv2.CC_STAT_AREA] >= args.min_area) + 1
        boxes = table[kept, :4].astype(np.float32)
        boxes[:, 2:] += boxes[:, :2]
        detections = supervision.Detections(xyxy=boxes, confidence=np.full(len(kept), 0.9, np.float32),
                                            class_id=np.zeros(len(kept), int),
                                            data={"area": table[kept, cv2.CC_STAT_AREA], "centroid": centroids[kept]})
        tracks = tracker.update(detections)
        tracks = tracks[tracks.tracker_id >= 0]  # -1: not confirmed yet
        json.dumps({"pts": buffer.pts, "blobs": [
            {"track": int(i), "bbox": box.tolist(), "area": int(area), "centroid": centroid.tolist()}
            for i, box, area, centroid in zip(tracks.tracker_id, tracks.xyxy, tracks.data.get("area", ()),
                                              tracks.data.get("centroid", ()))]})
        seen.update(map(int, tracks.tracker_id))
        spent += time.perf_counter() - start
        frames += 1
    pipeline.wait()
    pipeline.stop()
    return {"frames": frames, "latency_ms": 1000 * spent / frames, "objects": len(seen), "version": cv2.__version__}


CANDIDATES = {
    "decoding": run_decoding,
    "gst-ccl": run_ours,
    "OpenCV, luma": lambda *args: run_opencv(*args, colour=False),
    "OpenCV, BGR": lambda *args: run_opencv(*args, colour=True),
}
ON_GPU = { # with --gpu
    "decoding, GPU": lambda *args: run_decoding(*args, device=True),
    "gst-ccl, GPU": lambda *args: run_ours(*args, device=True),
}


def run_here(args, name, video, size):
    """One candidate, in this process."""
    Gst.init(None)
    begin = time.perf_counter()
    result = (CANDIDATES | ON_GPU)[name](args, video, size)
    result["wall_s"] = time.perf_counter() - begin
    usage = resource.getrusage(resource.RUSAGE_SELF)
    result["cpu_s"] = usage.ru_utime + usage.ru_stime
    return result


def run_apart(args, name, video, size):
    command = [sys.executable, __file__, "--candidate", name, "--frames", str(args.frames), "--min-area",
               str(args.min_area), "--var-threshold", str(args.var_threshold), video] + ["--gpu"] * args.gpu
    if size:
        command += ["--size", "{}x{}".format(*size)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()[-1])


def candidates(args):
    return list(CANDIDATES) + (list(ON_GPU) if args.gpu else [])


def compare(args, video, size):
    names = candidates(args)
    rounds = {name: [] for name in names}
    for number in range(args.rounds):
        for name in names[number % len(names):] + names[:number % len(names)]:
            rounds[name].append(run_apart(args, name, video, size))
    return rounds


def median(results, value):
    return statistics.median(value(result) for result in results)


def report(args, title, rounds, idle):
    def cpu_ms(name):
        return median(rounds[name], lambda r: 1000 * (r["cpu_s"] - idle[name]["cpu_s"]) / r["frames"])

    def cost(name):
        return cpu_ms(name) - cpu_ms("decoding, GPU" if name.endswith("GPU") else "decoding")

    frames = rounds["decoding"][0]["frames"]
    print(f"\n{title}: {frames} frames; decoding takes {cpu_ms('decoding'):.2f} ms of processor time a frame" +
          (f", {cpu_ms('decoding, GPU'):.2f} ms where frames stay on the GPU" if args.gpu else ""))
    line = "| {} | {:.2f} | {:.3g}x | {:.2f} | {:.0f} | {} |" if args.markdown else \
        "{:14} processor {:7.2f} ms  ({:5.3g}x)  latency {:7.2f} ms  {:5.0f} fps  {} tracks"
    if args.markdown:
        print("\n| | processor time a frame, ms | times ours | latency, ms | frames a second with decoding | tracks |")
        print("|---|---|---|---|---|---|")
    for name in candidates(args):
        if not name.startswith("decoding"):
            print(line.format(name, cost(name), cost(name) / cost("gst-ccl"),
                              median(rounds[name], lambda r: r["latency_ms"]),
                              median(rounds[name], lambda r: r["frames"] / (r["wall_s"] - idle[name]["wall_s"])),
                              rounds[name][0]["objects"]))
    for ours in [name for name in rounds if name.startswith("gst-ccl")]:
        if args.markdown:
            print(f"\n| of {ours} | time a frame, ms | latency, ms |\n|---|---|---|")
        line = "| {} | {:.3f} | {:.3f} |" if args.markdown else "    {:12} {:7.3f} ms  latency {:7.3f} ms"
        for name in ELEMENTS:
            print(line.format(name, *(median(rounds[ours], lambda r: r["elements"][name][key] / 1000)
                                      for key in ("host", "latency"))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("videos", nargs="*", metavar="VIDEO")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--frames", type=int, default=0, help=argparse.SUPPRESS)  # about as many; 0: all
    parser.add_argument("--min-area", type=int, default=200)
    parser.add_argument("--var-threshold", type=float, default=40, help="of OpenCV's MOG2")
    parser.add_argument("--gpu", action="store_true", help="decode with NVDEC, and run the chain on the GPU too")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--size", help=argparse.SUPPRESS)
    parser.add_argument("--candidate", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.candidate:
        size = tuple(map(int, args.size.split("x"))) if args.size else None
        print(json.dumps(run_here(args, args.candidate, args.videos[0], size)))
        return 0

    videos = [(video, None) for video in args.videos] or [(VTEST, None), (VTEST, (1920, 1080))]
    for video, _ in videos:
        if not os.path.exists(video):
            print(f"skipped: no {video}")
            return 77
    for video, size in videos:
        rounds = compare(args, video, size)
        title = os.path.basename(video) + (" scaled to {}x{}".format(*size) if size else "")
        # The time of a process besides its frames.
        few = argparse.Namespace(**{**vars(args), "frames": 2})
        idle = {name: run_apart(few, name, video, size) for name in candidates(args)}
        report(args, title, rounds, idle)
    return 0


if __name__ == "__main__":
    sys.exit(main())
