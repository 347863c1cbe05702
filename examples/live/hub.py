# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the cameras' threads deliver, for the pages: kept on the server's event loop, the newest only."""
import collections
import threading
import time

MAX_FRAMES = 120  # metadata that waits for its picture
LATE_SECONDS = 60  # of which the page shows the late frames
MAX_WARNINGS = 5  # that a page shows
MAX_WAITING = 64  # frames and pictures of a camera that the event loop has not taken yet


class Feed:
    """The newest pictures of a camera, each with the metadata of its frame."""

    def __init__(self, camera, store):
        self.camera, self.store = camera, store
        self.frames = collections.OrderedDict()
        self.newest = None
        self.pictures = {}
        self.watchers = set()
        self.room = threading.Semaphore(MAX_WAITING)
        self.warnings = collections.deque(maxlen=MAX_WARNINGS)
        self.state = (camera.state, camera.text, camera.hint)
        self.fps = 0.0
        self._measured = (time.monotonic(), 0)
        self._late = collections.deque(maxlen=LATE_SECONDS)  # in each second
        self._late_before = 0

    def add_frame(self, frame):
        self.newest = frame
        self.frames.pop(frame["pts"], None)
        self.frames[frame["pts"]] = frame
        while len(self.frames) > MAX_FRAMES:
            self.frames.popitem(last=False)
        for watcher in list(self.watchers):
            watcher.on_frame()

    def add_picture(self, key, pts, jpeg):
        number = self.pictures[key][0] + 1 if key in self.pictures else 1
        self.pictures[key] = (number, pts, jpeg)
        for watcher in list(self.watchers):
            watcher.on_picture(key)

    def measure(self):
        now, frames = time.monotonic(), self.camera.frames
        before, n = self._measured
        self.fps = (frames - n) / (now - before) if now > before else 0.0
        self._measured = (now, frames)
        late = self.camera.late()
        self._late.append(max(0, late - self._late_before))  # a new chain begins at 0
        self._late_before = late

    def status(self):
        camera = self.camera
        state, text, hint = self.state
        return {"camera": camera.index, "name": camera.source.name, "state": state, "text": text, "hint": hint,
                "versions": camera.versions, "background": camera.has_background(),
                "fps": round(self.fps, 1), "late": sum(self._late), "objects": camera.objects, "frames": camera.frames,
                "passed": camera.passed(), "got": camera.frames_of_run,
                "warnings": [*self.warnings, *([self.store.fault] if self.store.fault else [])],
                "zones": self.newest["zones"] if self.newest else []}


class Hub:
    """The listener of all cameras."""

    def __init__(self, loop, store):
        self.loop, self.store = loop, store
        self.feeds = []

    def add(self, camera):
        self.feeds.append(Feed(camera, self.store))

    def _later(self, function, *arguments):
        try:
            self.loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:  # the loop is closed: the server ends
            pass

    def _newest(self, feed, function, *arguments):
        """Drops it if the event loop is behind: what waits would fill the memory."""
        if feed.room.acquire(blocking=False):
            self._later(self._take, feed, function, *arguments)

    @staticmethod
    def _take(feed, function, *arguments):
        feed.room.release()
        function(*arguments)

    def on_frame(self, camera, frame):
        feed = self.feeds[camera.index]
        self._newest(feed, self._add_frame, feed, frame)

    def _add_frame(self, feed, frame):
        feed.add_frame(frame)
        self.store.add_frame(feed.camera.index, frame)

    def on_picture(self, camera, key, pts, jpeg):
        feed = self.feeds[camera.index]
        self._newest(feed, feed.add_picture, key, pts, jpeg)

    def on_event(self, camera, event):
        self._later(self._add_event, self.feeds[camera.index], event)

    def _add_event(self, feed, event):
        newest = feed.pictures.get("video320")
        self.store.add_event(feed.camera.index, event, newest[2] if newest else None)

    def on_state(self, camera):
        self._later(self._set_state, self.feeds[camera.index], (camera.state, camera.text, camera.hint))

    def _set_state(self, feed, state):
        if state[0] == "starting":  # what elements warned of holds no longer, or they warn again
            of_files = [text for text in feed.warnings if text.split(":")[0].endswith(".json")]
            feed.warnings = collections.deque(of_files, MAX_WARNINGS)
        feed.state = state
        self._tell(feed)

    def on_warning(self, camera, name, text):
        self._later(self._warn, self.feeds[camera.index], f"{name}: {text}")

    def _warn(self, feed, text):
        if text not in feed.warnings:
            feed.warnings.append(text)
        self._tell(feed)

    @staticmethod
    def _tell(feed):
        for watcher in list(feed.watchers):
            watcher.on_status()

    def measure(self):
        for feed in self.feeds:
            feed.measure()
            self._tell(feed)
