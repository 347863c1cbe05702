# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The live connection of a page: pictures with their metadata, as many and as large as the page can take.

To the page: text with its status, and binary messages: four bytes with the length of the JSON that follows, then a JPEG.
From the page: {"view": "video", "width": 640} and {"shown": number of the picture}.
"""
import asyncio
import json
import struct
import time

from aiohttp import WSMsgType, web

import chain
from guard import HEADERS

VIEWS = ("video", "mask", "background")
MAX_IN_FLIGHT = 2  # pictures that the page has not shown yet
SLOW, FAST = 0.5, 0.12  # seconds from sending to shown at which the width is halved, or may double
PATIENCE = 40  # pictures that must be fast before they become larger
MAX_MESSAGE = 256
MJPEG_WIDTH = 640
LOOK_EVERY = 1  # seconds, after which a camera without pictures looks whether somebody still waits


class Watcher:
    def __init__(self, feed, socket):
        self.feed, self.socket = feed, socket
        self.view, self.wanted, self.limit = "video", 640, max(chain.WIDTHS)
        self.key = None
        self.sent = {}  # number: time
        self.n_sent = self.n_fast = 0
        self.last = 0
        self.status_due = True
        self.waits_for_frame = False
        self.wake = asyncio.Event()

    async def close(self):
        await self.socket.close()

    # ---- what the feed says

    def on_picture(self, key):
        if key == self.key:
            self.wake.set()

    def on_frame(self):
        if self.waits_for_frame:
            self.wake.set()

    def on_status(self):
        self.status_due = True
        self.wake.set()

    # ---- the page

    def choose(self):
        """The picture to show: as wide as the page wants it, unless the page is slow."""
        width = min(self.wanted, self.limit)
        key = self.view
        if self.view == "video":
            key += str(next((w for w in sorted(chain.WIDTHS) if w >= width), max(chain.WIDTHS)))
        if key != self.key:
            self.leave()
            self.key, self.last = key, 0
            self.feed.camera.view(key, 1)
            self.wake.set()

    def leave(self):
        if self.key:
            self.feed.camera.view(self.key, -1)
            self.key = None

    def heed(self, text):
        """A message of the page; false: it is none of ours."""
        try:
            message = json.loads(text)
            if "shown" in message:
                self._shown(int(message["shown"]))
            if message.get("view") in VIEWS:
                self.view = message["view"]
            if "width" in message:
                self.wanted = max(1, min(int(message["width"]), max(chain.WIDTHS)))
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            return False
        self.choose()
        return True

    def _shown(self, number):
        at = self.sent.pop(number, None)
        if at is None:
            return
        for older in [n for n in self.sent if n < number]:
            del self.sent[older]
        delay = time.monotonic() - at
        self.n_fast = self.n_fast + 1 if delay < FAST else 0
        if delay > SLOW:
            self.limit = max(min(chain.WIDTHS), self.limit // 2)
        elif self.n_fast >= PATIENCE and self.limit < max(chain.WIDTHS):
            self.limit, self.n_fast = self.limit * 2, 0
        self.wake.set()

    async def send(self):
        while not self.socket.closed:
            await self.wake.wait()
            self.wake.clear()
            if self.status_due:
                self.status_due = False
                await self.socket.send_str(json.dumps(self.feed.status()))
            picture = self.feed.pictures.get(self.key)
            if not picture or picture[0] == self.last or len(self.sent) >= MAX_IN_FLIGHT:
                continue
            frame = self.feed.frames.get(picture[1])
            self.waits_for_frame = frame is None
            if frame:
                await self._send_picture(picture[0], frame, picture[2])

    async def _send_picture(self, number, frame, jpeg):
        self.last = number
        self.n_sent += 1
        head = json.dumps({"number": self.n_sent, "view": self.view, "frame": frame}, separators=(",", ":")).encode()
        self.sent[self.n_sent] = time.monotonic()
        await self.socket.send_bytes(struct.pack(">I", len(head)) + head + jpeg)


class Viewer:
    """Takes the pictures of one width, and nothing else."""

    def __init__(self, feed):
        self.feed, self.key = feed, f"video{MJPEG_WIDTH}"
        self.wake = asyncio.Event()
        self.ended = False

    def on_picture(self, key):
        if key == self.key:
            self.wake.set()

    def on_frame(self):
        """Metadata is for others."""

    def on_status(self):
        """So is the status."""

    async def close(self):
        self.ended = True
        self.wake.set()


async def mjpeg(request, feed):
    """Pictures alone, for other programs. A slow one gets fewer."""
    response = web.StreamResponse(headers={**HEADERS, "Content-Type": "multipart/x-mixed-replace; boundary=frame"})
    await response.prepare(request)
    viewer = Viewer(feed)
    feed.watchers.add(viewer)
    feed.camera.view(viewer.key, 1)
    try:
        while not viewer.ended and request.transport and not request.transport.is_closing():
            try:
                await asyncio.wait_for(viewer.wake.wait(), LOOK_EVERY)
            except asyncio.TimeoutError:
                continue
            viewer.wake.clear()
            jpeg = feed.pictures[viewer.key][2] if viewer.key in feed.pictures else b""
            await response.write(b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n%b\r\n" % (len(jpeg), jpeg))
    except ConnectionError:
        pass
    finally:
        feed.watchers.discard(viewer)
        feed.camera.view(viewer.key, -1)
    return response


async def serve(request, feed):
    socket = web.WebSocketResponse(heartbeat=20, max_msg_size=MAX_MESSAGE, compress=False)
    await socket.prepare(request)
    watcher = Watcher(feed, socket)
    watcher.choose()
    feed.watchers.add(watcher)
    watcher.wake.set()
    sender = asyncio.ensure_future(watcher.send())
    try:
        async for message in socket:
            if message.type != WSMsgType.TEXT or not watcher.heed(message.data):
                break
    finally:
        feed.watchers.discard(watcher)
        watcher.leave()
        sender.cancel()
        await asyncio.gather(sender, return_exceptions=True)
        await socket.close()
    return socket
