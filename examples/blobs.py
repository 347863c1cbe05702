#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the largest blob of every frame, through GObject introspection.

    meson devenv -C build ../examples/blobs.py          # two seconds of a moving ball
    meson devenv -C build ../examples/blobs.py FILE     # a mask: picture or video, light blobs on dark ground
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstCcl", "1.0")
from gi.repository import Gst, GstCcl

Gst.init(None)
source = "videotestsrc pattern=ball num-buffers=60"
if len(sys.argv) > 1:
    source = "filesrc name=file ! decodebin ! videoconvert"
pipeline = Gst.parse_launch(
    f"{source} ! video/x-raw,format=GRAY8 ! ccllabel threshold=127 ! appsink name=frames sync=false"
)
if len(sys.argv) > 1:
    pipeline.get_by_name("file").set_property("location", sys.argv[1])
pipeline.set_state(Gst.State.PLAYING)

frames = pipeline.get_by_name("frames")
while sample := frames.emit("pull-sample"):
    meta = GstCcl.buffer_get_ccl_blob_meta(sample.get_buffer())
    blobs = range(meta.get_length()) if meta else []
    if not blobs:
        print("no blobs")
        continue
    i = max(blobs, key=meta.get_area)
    x, y = meta.get_centroid(i)
    print(f"largest of {len(blobs)}: {meta.get_area(i):.0f} pixels around ({x:.1f}, {y:.1f})")

error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
pipeline.set_state(Gst.State.NULL)
if error:
    sys.exit(error.parse_error()[0].message)
