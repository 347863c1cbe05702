#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How good our masks, tracks and counts are beside others: tables and pictures in a folder.

usage: meson devenv -C BUILD -w . tests/benchmark/quality.py [motion|tracks|blobs|counts ...] [--folder FOLDER ...]

Clips: all of the test data (../shared/data, or CCL_TEST_DATA), and of each FOLDER every sequence in CDnet layout (input/,
groundtruth/, temporalROI.txt) and in MOT layout (seqinfo.ini, gt.txt or gt/gt.txt, det.txt or det/det.txt). --degraded adds
what motion-method/degrade.py makes of a clip: shake, night, noise, and so on.

Every method has its defaults. --grid also runs other values of its main setting. Leave-one-out is then the mean over the
clips, each with the value that is best on all other clips.

Packages: requirements.txt beside this file. Exit status 77 without them, or without any clip.
"""
import argparse
import os
import sys

try:
    from quality import clips, counts, motion, pictures, report, tracks
except (ImportError, ValueError) as error:  # ValueError: of gi.require_version()
    print(f"skipped: {error}")
    sys.exit(77)


def motion_report(options):
    results, kinds = {}, {}
    names = [name for name in motion.METHODS if name not in options.without]
    for kind, clip in clips.motion_clips(options.folder, options.degraded):
        print(f"motion: {clip.name}, {len(clip.frames)} frames", flush=True)
        results[clip.name], kinds[clip.name] = motion.evaluate(clip, names, options.grid), kind
        pictures.masks(options.out, clip, results[clip.name])
    measures = ["precision", "recall", "F", "false blobs"]
    return results and "## Masks\n\n" + report.by_clip(results, kinds, "F") + "\n" + report.defaults(results, measures)


def tracks_report(options):
    results, kinds = {}, {}
    names = [name for name in tracks.METHODS if name not in options.without]
    for clip in clips.mot_clips(options.folder):
        print(f"tracks: {clip.name}, {len(clip.truth)} frames", flush=True)
        results[clip.name], kinds[clip.name] = tracks.evaluate(clip, names, options.grid), clip.kind
        pictures.tracks(options.out, clip, results[clip.name])
    measures = ["IDF1", "HOTA", "MOTA", "switches", "ids"]
    return results and ("## Tracks of given detections\n\n" + report.by_clip(results, kinds, "IDF1") + "\n" +
                        report.by_clip(results, kinds, "HOTA") + "\n" + report.defaults(results, measures))


def blobs_report(options):
    results = {}
    names = [name for name in tracks.METHODS if name not in options.without]
    for clip in clips.mot_clips(options.folder):
        if clip.frames:
            print(f"blobs: {clip.name}, {len(clip.truth)} frames", flush=True)
            blobs, results[clip.name] = tracks.evaluate_blobs(clip, names)
            pictures.tracks(options.out, blobs, results[clip.name])
    measures = ["IDF1", "HOTA", "MOTA", "switches", "ids"]
    return results and "## Tracks of the blobs of cclmotion and ccllabel\n\n" + report.defaults(results, measures)


def counts_report(options):
    results = {}
    for clip in clips.mot_clips(options.folder):
        if clip.frames:
            print(f"counts: {clip.name}, {len(clip.truth)} frames", flush=True)
            results[clip.name] = counts.evaluate(clip)
    by_eye = counts.read_by_eye()
    known = [clip for _, clip in clips.motion_clips([], False) if clip.name in by_eye]
    rows = [row for clip in known for row in counts.by_eye(clip, by_eye[clip.name])]
    return results and ("## Counts at lines\n\n" + report.counts(results) + "\n## Crossings counted by eye\n\n" +
                        report.crossings(rows))


SUBJECTS = {"motion": motion_report, "tracks": tracks_report, "blobs": blobs_report, "counts": counts_report}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help="motion, tracks, blobs, counts (default: all)")
    parser.add_argument("--folder", action="append", default=[], help="more clips, in CDnet or MOT layout")
    parser.add_argument("--degraded", action="store_true", help="also degraded versions of a clip")
    parser.add_argument("--grid", action="store_true", help="other settings too, for leave-one-out")
    parser.add_argument("--without", action="append", default=[], metavar="METHOD", help="leave a method out")
    parser.add_argument("--out", default="quality", help="folder for report.md and pictures (default: quality)")
    options = parser.parse_args()
    for subject in options.subjects:
        if subject not in SUBJECTS:
            parser.error(f"no such subject: {subject}; there are {', '.join(SUBJECTS)}")

    os.makedirs(options.out, exist_ok=True)
    parts = [text for subject in options.subjects or SUBJECTS if (text := SUBJECTS[subject](options))]
    if not parts:
        print(f"skipped: no clips in {clips.DATA}: set CCL_TEST_DATA, or use --folder")
        return 77
    path = os.path.join(options.out, "report.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts))
    print("\n".join(parts))
    print(f"written: {path}, and pictures beside it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
