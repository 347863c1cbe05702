# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How well the chain cclmotion ! ccllabel ! ccltrack follows people, beside two other trackers fed the same boxes.

usage: meson devenv -C BUILD python3 tests/benchmark/tracking.py [--markdown] [--others]

Video and truth: vtest.avi, PETS09-S2L1 (19 people, 795 frames), in the test data (../shared/data, or CCL_TEST_DATA).
Packages: pip install motmetrics supervision norfair, and opencv-python for one more source of masks. Exit status 77 without any of them.

--others: instead, a second clip, and the first as other cameras would have seen it (other sizes, fewer frames,
mirrored, backwards); every tracker has its default settings. The second is CDnet 2012's pedestrians, with masks for
truth: four people, who pass each other twice. A person's identity follows from where it walked (see people_of_masks).

Boxes count as a person where they cover it with an intersection over union of 0.5 or more, as MOT counts. Ours are the
blobs with a confirmed track, those inside a common blob included. ByteTrack and norfair get the box of every blob of
the same run; each with its default settings (and the frame rate), and with the settings of a small grid that suit it best
here. Ours has its default settings only. Exit status 1 where any of the others has a
higher IDF1 or fewer switches.
"""
import argparse
import glob
import itertools
import json
import os
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")
try:
    import motmetrics
    import norfair
    import numpy as np
    import supervision
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

DATA = os.environ.get("CCL_TEST_DATA", os.path.join(os.path.dirname(__file__), "../../../shared/data"))
VIDEO = os.path.join(DATA, "video/vtest.avi")
TRUTH = os.path.join(DATA, "tracking/PETS09-S2L1/gt.txt")
FRAME_RATE = 10
CDNET_VIDEO = os.path.join(DATA, "video/cdnet_pedestrians_000240-000619.avi")
CDNET_TRUTH = os.path.join(DATA, "masks/cdnet-pedestrians")
CDNET_FIRST = 60  # frame of the video that the first mask belongs to

# What finds the blobs; the first is the default of both elements.
DETECTORS = {
    "defaults, area 200": "cclmotion ! ccllabel mask-source=mask-meta min-area=200",
    "close=5, area 300": "cclmotion close=5 ! ccllabel mask-source=mask-meta min-area=300",
    "close=8, area 300": "cclmotion close=8 ! ccllabel mask-source=mask-meta min-area=300",
    "ema, area 200": "cclmotion method=ema close=5 ! ccllabel mask-source=mask-meta min-area=200",
    "OpenCV MOG2, 21x7": None,
}


# What another camera would have made of the clip: size, every how many-th frame, mirrored, backwards.
VARIANTS = {
    "unchanged": {},
    "1536x1152": {"scale": 2},
    "384x288": {"scale": 0.5},
    "256x192": {"scale": 1 / 3},
    "5 frames a second": {"every": 2},
    "mirrored": {"mirrored": True},
    "upside down": {"upside_down": True},
    "backwards": {"backwards": True},
}
SIZE = 768, 576


def frames_of_variant(scale=1, every=1, mirrored=False, upside_down=False, backwards=False):
    """The frames as one run of bytes, and their width, height and rate."""
    import cv2
    video, frames = cv2.VideoCapture(VIDEO), []
    width, height = (round(side * scale) for side in SIZE)
    while (frame := video.read()[1]) is not None:
        frame = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)
        if scale != 1:
            frame = cv2.resize(frame, (width, height), interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
        frame = frame[:, ::-1] if mirrored else frame
        frames.append((frame[::-1] if upside_down else frame).tobytes())
    return b"".join(frames[::-1 if backwards else 1][::every]), width, height, FRAME_RATE // every


def truth_of_variant(people, n, scale=1, every=1, mirrored=False, upside_down=False, backwards=False):
    def place(person):
        i, x, y, w, h = person
        x = SIZE[0] - x - w if mirrored else x
        y = SIZE[1] - y - h if upside_down else y
        return (i, x * scale, y * scale, w * scale, h * scale)

    return {new: [place(person) for person in people.get(old, [])]
            for new, old in enumerate(list(range(n))[::-1 if backwards else 1][::every])}


def lines_of(source, pictures=None):
    """What cclmeta2json writes of the blobs of `source`; `pictures` on its standard input."""
    pipeline = f"{source} ! ccltrack ! cclmeta2json ! fdsink fd=1"
    text = subprocess.run(["gst-launch-1.0", "-q", *pipeline.split()], check=True, input=pictures,
                          stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in text.splitlines() if line.startswith(b"{")]


def run_variant(variant):
    frames, width, height, rate = frames_of_variant(**variant)
    area = round(200 * variant.get("scale", 1) ** 2)
    return lines_of(f"fdsrc fd=0 ! rawvideoparse format=gray8 width={width} height={height} framerate={rate}/1 ! "
                    f"cclmotion ! ccllabel mask-source=mask-meta min-area={area}", frames)


def opencv_masks():
    """MOG2 without shadows, closed over 21 rows and 7 columns: people are tall. None without OpenCV."""
    try:
        import cv2
    except ImportError:
        return None
    video, model, masks = cv2.VideoCapture(VIDEO), cv2.createBackgroundSubtractorMOG2(500, 40, True), []
    while (frame := video.read()[1]) is not None:
        mask = (model.apply(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)) == 255).astype(np.uint8) * 255
        mask = cv2.morphologyEx(cv2.medianBlur(mask, 3), cv2.MORPH_CLOSE, np.ones((21, 7), np.uint8))
        masks.append(mask.tobytes())
    return b"".join(masks)


def run_chain(detector):
    """The frames of the video as cclmeta2json writes them; None without the masks."""
    masks = None
    source = f"filesrc location={VIDEO} ! decodebin ! videoconvert ! {detector}"
    if detector is None:
        masks = opencv_masks()
        source = ("fdsrc fd=0 ! rawvideoparse format=gray8 width=768 height=576 framerate=10/1 ! "
                  "ccllabel min-area=300")
        if masks is None:
            return None
    return lines_of(source, masks)


def truth():
    """Per frame: a list of (id, x, y, w, h)."""
    frames = {}
    for row in np.loadtxt(TRUTH, delimiter=","):
        if row[6]:
            frames.setdefault(int(row[0]) - 1, []).append((int(row[1]), *row[2:6]))
    return frames


def ours(frames):
    def is_shown(blob):
        state = blob.get("state", "").split(",")
        return "track" in blob and ("confirmed" in state or "merged" in state)

    return [[(blob["track"], *blob["bbox"]) for blob in frame["blobs"] if is_shown(blob)] for frame in frames]


def boxes_of(frames):
    """Per frame: an array of x0, y0, x1, y1."""
    return [np.array([(x, y, x + w, y + h) for x, y, w, h in (b["bbox"] for b in frame["blobs"] if b["label"] > 0)],
                     np.float32).reshape(-1, 4) for frame in frames]


def bytetrack(boxes, **settings):
    tracker, result = supervision.ByteTrack(frame_rate=FRAME_RATE, **settings), []
    for frame in boxes:
        detections = supervision.Detections(xyxy=frame, confidence=np.full(len(frame), 0.9, np.float32),
                                            class_id=np.zeros(len(frame), int))
        tracks = tracker.update_with_detections(detections)
        ids = tracks.tracker_id if len(tracks) else []
        result.append([(int(i), b[0], b[1], b[2] - b[0], b[3] - b[1]) for b, i in zip(tracks.xyxy, ids)])
    return result


def norfair_tracker(boxes, distance_function="iou", distance_threshold=0.7, **settings):
    tracker, result = norfair.Tracker(distance_function, distance_threshold, **settings), []
    for frame in boxes:
        tracks = tracker.update([norfair.Detection(points=box.reshape(2, 2)) for box in frame])
        result.append([(t.id, *t.estimate[0], *(t.estimate[1] - t.estimate[0])) for t in tracks])
    return result


def score(result, people):
    accumulator = motmetrics.MOTAccumulator(auto_id=True)
    for index, found in enumerate(result):
        real = people.get(index, [])
        distance = np.empty((len(real), len(found)))
        if real and found:
            distance = motmetrics.distances.iou_matrix([r[1:] for r in real], [f[1:] for f in found], max_iou=0.5)
        accumulator.update([r[0] for r in real], [f[0] for f in found], distance)
    names = ["idf1", "mota", "num_switches", "precision", "recall"]
    return motmetrics.metrics.create().compute(accumulator, metrics=names).iloc[0]


def best(tracker, boxes, people, grid):
    """The score of the settings with the highest IDF1."""
    settings = [dict(zip(grid, values)) for values in itertools.product(*grid.values())]
    return max((score(tracker(boxes, **s), people) for s in settings), key=lambda s: s.idf1)


def rows(frames, people):
    boxes = boxes_of(frames)
    yield "ccltrack, defaults", score(ours(frames), people)
    yield "ByteTrack, defaults", score(bytetrack(boxes), people)
    yield "ByteTrack, best of 9", best(bytetrack, boxes, people, {
        "lost_track_buffer": (15, 30, 90), "minimum_matching_threshold": (0.7, 0.8, 0.95)})
    yield "norfair, defaults", score(norfair_tracker(boxes), people)
    yield "norfair, best of 9", best(norfair_tracker, boxes, people, {
        "distance_function": ("euclidean",), "distance_threshold": (20, 40, 80), "hit_counter_max": (10, 15, 30)})


LINE = "| {} | {} | {:.3f} | {:.3f} | {} | {:.3f} | {:.3f} |", \
    "{:20} {:22} IDF1 {:.3f}  MOTA {:.3f}  switches {:3}  precision {:.3f}  recall {:.3f}"


def people_of_masks():
    """Per frame of the second clip from CDNET_FIRST on: a list of (id, x, y, w, h).

    Components of the true masks, holes and gaps closed. Each goes to the person it covers, where people are expected a
    step further on their way; people who share one keep walking as they did until they are apart."""
    import cv2
    people, ways = {}, {}  # frame -> boxes; id -> the last boxes, newest last

    def expected(way):
        steps = min(len(way) - 1, 15)
        speed = (way[-1][:2] - way[-1 - steps][:2]) / max(steps, 1)
        return np.concatenate((way[-1][:2] + speed, way[-1][2:]))

    for index, path in enumerate(sorted(glob.glob(os.path.join(CDNET_TRUTH, "gt*.png")))):
        mask = (cv2.imread(path, cv2.IMREAD_GRAYSCALE) == 255).astype(np.uint8)
        mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((9, 5), np.uint8))
        found = [row[:4].astype(float) for row in cv2.connectedComponentsWithStats(mask)[2][1:] if row[4] >= 300]
        places = {i: expected(way) for i, way in ways.items()}
        now = {}
        for box in found:
            inside = [i for i, place in places.items() if box[0] <= place[0] + place[2] / 2 <= box[0] + box[2]]
            if len(inside) > 1:
                now.update((i, places[i]) for i in inside)
            else:
                now[inside[0] if inside else 1 + max(ways, default=0) + sum(i not in ways for i in now)] = box
        ways.update((i, ways.get(i, []) + [box]) for i, box in now.items())
        for i in set(ways) - set(now):
            ways[i].append(places[i])  # out of sight: walks on, and out of the picture
        people[index] = [(i, *box) for i, box in sorted(now.items())]
    return people


def clips(people):
    """Name, frames, truth per frame."""
    if os.path.exists(CDNET_VIDEO):
        frames = lines_of(f"filesrc location={CDNET_VIDEO} ! decodebin ! videoconvert ! cclmotion ! "
                          "ccllabel mask-source=mask-meta min-area=200")
        yield "CDnet pedestrians", frames[CDNET_FIRST:], people_of_masks()
    for name, variant in VARIANTS.items():
        yield f"vtest, {name}", run_variant(variant), truth_of_variant(people, len(people), **variant)


def compare_others(people, markdown):
    if markdown:
        print("| clip | tracker | IDF1 | MOTA | id switches | precision | recall |\n|---|---|---|---|---|---|---|")
    worse = 0
    for name, frames, real in clips(people):
        boxes = boxes_of(frames)
        scores = {"ccltrack": score(ours(frames), real), "ByteTrack": score(bytetrack(boxes), real),
                  "norfair": score(norfair_tracker(boxes), real)}
        for tracker, s in scores.items():
            print(LINE[not markdown].format(name, tracker, s.idf1, s.mota, int(s.num_switches), s.precision, s.recall),
                  flush=True)
        worse += any(scores["ccltrack"].idf1 < other.idf1 for other in scores.values())
    return 1 if worse else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    parser.add_argument("--others", action="store_true", help="a second clip, and this one as other cameras saw it")
    args = parser.parse_args()
    if not os.path.exists(VIDEO) or not os.path.exists(TRUTH):
        print(f"skipped: no {VIDEO} or no {TRUTH}")
        return 77

    people = truth()
    if args.others:
        return compare_others(people, args.markdown)
    if args.markdown:
        print("| blobs from | tracker | IDF1 | MOTA | id switches | precision | recall |")
        print("|---|---|---|---|---|---|---|")
    line = LINE[not args.markdown]
    worse = 0
    for name, detector in DETECTORS.items():
        frames = run_chain(detector)
        if frames is None:
            continue
        scores = dict(rows(frames, people))
        for tracker, s in scores.items():
            print(line.format(name, tracker, s.idf1, s.mota, int(s.num_switches), s.precision, s.recall), flush=True)
        mine, *others = scores.values()
        worse += any(mine.idf1 < other.idf1 or mine.num_switches > other.num_switches for other in others)
    if worse:
        print(f"with {worse} sources another tracker has a higher IDF1 or fewer switches")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
