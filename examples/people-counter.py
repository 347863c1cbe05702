#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts who crosses a line: in one direction, in the other, and how many are there now.

usage: people-counter.py [--line X1,Y1,X2,Y2] [--min-area PIXELS] [VIDEO]

VIDEO is a file or a URI such as rtsp://...; without it two balls go to and fro. The points of the line are fractions of the
frame. Forward is from the line's left side to its right side, seen from its first point towards its second. Each crossing
prints a line, and the last line has the totals. Needs PyGObject, and the plugin where GStreamer finds it
(`meson devenv -C build -w . examples/people-counter.py`).
"""
import argparse
import json
import pathlib
import sys

HOW = "the plugin is found by `meson devenv -C build -w . /usr/bin/python3 examples/people-counter.py`"

try:
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstCcl", "1.0")
    from gi.repository import GLib, Gst, GstCcl
except (ImportError, ValueError) as error:
    sys.exit(f"people-counter.py: {error} ({sys.executable}). Debian's /usr/bin/python3 has PyGObject (python3-gi); "
             f"{HOW}.")

SIZE = "width=640,height=360,framerate=30/1"
BALL = f"videotestsrc num-buffers=300 pattern=ball background-color=0 ! video/x-raw,format=AYUV,{SIZE}"
SCENE = f"""
    {BALL} ! scene.sink_0
    {BALL} ! videoflip video-direction=horiz ! scene.sink_1
    compositor name=scene sink_1::ypos=-100 ! video/x-raw,{SIZE}"""


def line_of(text):
    numbers = [float(number) for number in text.split(",")]
    if len(numbers) != 4 or not all(0 <= number <= 1 for number in numbers):
        raise argparse.ArgumentTypeError("X1,Y1,X2,Y2, each from 0 to 1")
    return [numbers[:2], numbers[2:]]


def area_of(text):
    if not 0 <= int(text) < 2**32:
        raise argparse.ArgumentTypeError("pixels, from 0 on")
    return int(text)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("video", nargs="?", help="a file or a URI; without it, two balls")
    parser.add_argument("--line", type=line_of, default=[[0.5, 0], [0.5, 1]], metavar="X1,Y1,X2,Y2",
                        help="in fractions of the frame (default: 0.5,0,0.5,1)")
    parser.add_argument("--min-area", type=area_of, default=200, metavar="PIXELS", help="smaller is nobody (default: 200)")
    return parser.parse_args()


def build(options):
    if options.video:
        uri = options.video if "://" in options.video else pathlib.Path(options.video).absolute().as_uri()
        source = "uridecodebin name=source"
    else:
        source = SCENE
    pipeline = Gst.parse_launch(
        f"{source} ! videoconvert ! video/x-raw,format=I420 ! cclmotion ! "
        f"ccllabel mask-source=mask-meta min-area={options.min_area} ! ccltrack ! cclzone name=zones ! fakesink name=end")
    if options.video:
        pipeline.get_by_name("source").set_property("uri", uri)
    zones = {"units": "relative", "zones": [{"name": "line", "line": options.line}]}
    pipeline.get_by_name("zones").set_property("zones", json.dumps(zones))
    return pipeline


class Counter:
    """The totals, from the metadata of every frame: whoever publishes or draws them would do the same."""

    def __init__(self):
        self.forward = self.backward = self.now = self.frames = 0

    def frame(self, _pad, info):
        buffer = info.get_buffer()
        zones = GstCcl.buffer_get_ccl_zone_meta(buffer)
        blobs = GstCcl.buffer_get_ccl_blob_meta(buffer)
        self.frames += 1
        if blobs:
            states = (blobs.get_blob(i).flags for i in range(blobs.get_length()))
            self.now = sum(bool(flags & GstCcl.BlobFlags.CONFIRMED) for flags in states)
        if zones and zones.get_length():
            line = zones.get_zone(0)
            if (line.n_forward, line.n_backward) != (self.forward, self.backward):
                self.forward, self.backward = line.n_forward, line.n_backward
                print(f"{buffer.pts / Gst.SECOND:8.2f} s  forward {self.forward}  backward {self.backward}  "
                      f"in sight {self.now}", flush=True)
        return Gst.PadProbeReturn.OK


def wait(bus):
    """Until the end, which may be an error: its words are returned. Warnings go to stderr. Ctrl-C is seen between two pops."""
    kinds = Gst.MessageType.EOS | Gst.MessageType.ERROR | Gst.MessageType.WARNING
    while True:
        message = bus.timed_pop_filtered(200 * Gst.MSECOND, kinds)
        if not message:
            continue
        if message.type == Gst.MessageType.EOS:
            return None
        if message.type == Gst.MessageType.ERROR:
            return message.parse_error().gerror.message
        print(f"people-counter.py: {message.parse_warning().gerror.message}", file=sys.stderr)


def main():
    options = arguments()
    Gst.init(None)
    try:
        pipeline = build(options)
    except GLib.Error as error:
        sys.exit(f"people-counter.py: {error.message}. If it is one of gst-ccl: {HOW}.")
    counter = Counter()
    pipeline.get_by_name("end").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, counter.frame)
    pipeline.set_state(Gst.State.PLAYING)
    try:
        error = wait(pipeline.get_bus())
    except KeyboardInterrupt:
        error = None
    pipeline.set_state(Gst.State.NULL)
    if error:
        sys.exit(f"people-counter.py: {options.video or 'the built-in scene'}: {error}")
    print(f"{counter.frames} frames: forward {counter.forward}, backward {counter.backward}")


if __name__ == "__main__":
    main()
