# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures of the mask and of the background, made only while a page shows them."""
import os
import struct
import tempfile

import chain
from gstreamer import Gst, GstApp

HEADER, PIXEL = 48, 15  # bytes, of the file that save-background writes (kernels/core/motion_background.c)


class GrayPictures:
    """Calls done(pts, jpeg) from a thread of its own."""

    def __init__(self, name, folder, done):
        """folder: for files that are gone again at once."""
        self.folder, self.done = folder, done
        self.pipeline = Gst.parse_launch(chain.gray(name))
        self.source = self.pipeline.get_by_name("source")
        self.size = None
        self.pipeline.get_by_name(name).connect("new-sample", self._on_sample)
        self.pipeline.set_state(Gst.State.PLAYING)

    def push_mask(self, meta, pts):
        mask = meta.get_mask().copy()
        mask.pts = pts
        self._push(mask, meta.ref_width, meta.ref_height)

    def push_background(self, element, pts):
        """element: cclmotion, with method=feedback; other methods save nothing."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="background-") as folder:
            location = os.path.join(folder, "background")
            element.set_property("background-location", location)
            saved = element.emit("save-background")
            element.set_property("background-location", None)
            if not saved:
                return
            with open(location, "rb") as file:
                data = file.read()
        width, height = struct.unpack_from("<II", data, 16)
        # The high byte of each pixel's mean is its luma; rows of GRAY8 are padded to four bytes.
        luma = data[HEADER + 1:HEADER + PIXEL * width * height:PIXEL]
        padding = bytes(-width % 4)
        if padding:
            luma = b"".join(luma[y * width:(y + 1) * width] + padding for y in range(height))
        buffer = Gst.Buffer.new_wrapped(luma)
        buffer.pts = pts
        self._push(buffer, width, height)

    def _push(self, buffer, width, height):
        if self.size != (width, height):
            self.size = (width, height)
            self.source.set_property("caps", Gst.Caps.from_string(
                f"video/x-raw,format=GRAY8,width={width},height={height},framerate=0/1"))
        # One frame at a time: a slow encoder does not fill the memory.
        if self.source.get_property("current-level-buffers") < 2:
            GstApp.AppSrc.push_buffer(self.source, buffer)

    def _on_sample(self, sink):
        buffer = sink.emit("pull-sample").get_buffer()
        self.done(buffer.pts, buffer.extract_dup(0, buffer.get_size()))
        return Gst.FlowReturn.OK

    def stop(self):
        self.pipeline.set_state(Gst.State.NULL)
