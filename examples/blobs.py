#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the largest blob of every frame, through GObject introspection.

    meson devenv -C build ../examples/blobs.py          # two seconds of a moving ball
    meson devenv -C build ../examples/blobs.py FILE     # a mask: picture or video, light blobs on dark ground
"""
import sys

try:
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstCcl", "1.0")
    from gi.repository import GLib, Gst, GstCcl
except (ImportError, ValueError) as error:
    sys.exit(f"blobs.py: {error} ({sys.executable}). For gi and Gst: apt-get install python3-gi "
             "gir1.2-gstreamer-1.0. For GstCcl: meson devenv -C build /usr/bin/python3 ../examples/blobs.py")


def print_largest(pad, info):
    blobs = GstCcl.blobs(info.get_buffer())
    if blobs:
        largest = max(blobs, key=lambda blob: blob["area"])
        x, y = largest["centroid"]
        print(f"largest of {len(blobs)}: {largest['area']:.0f} pixels around ({x:.1f}, {y:.1f})")
    else:
        print("no blobs")
    return Gst.PadProbeReturn.OK


def wait(bus):
    """The message that ends it; None after Ctrl-C, which is seen between two pops."""
    message = None
    try:
        while not message:
            message = bus.timed_pop_filtered(200 * Gst.MSECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    except KeyboardInterrupt:
        pass
    return message


Gst.init(None)
source = "filesrc name=file ! decodebin ! videoconvert" if sys.argv[1:] else "videotestsrc pattern=ball num-buffers=60"
try:
    pipeline = Gst.parse_launch(f"{source} ! video/x-raw,format=GRAY8 ! ccllabel name=label threshold=127 ! fakesink")
except GLib.Error as error:
    sys.exit(f"blobs.py: {error.message}. For those of gst-ccl: meson devenv -C build /usr/bin/python3 ../examples/blobs.py")
if sys.argv[1:]:
    pipeline.get_by_name("file").set_property("location", sys.argv[1])
pipeline.get_by_name("label").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, print_largest)

pipeline.set_state(Gst.State.PLAYING)
message = wait(pipeline.get_bus())
pipeline.set_state(Gst.State.NULL)
if message and message.type == Gst.MessageType.ERROR:
    error, details = message.parse_error()
    sys.exit(f"{message.src.get_name()}: {error.message}\n{details}")
