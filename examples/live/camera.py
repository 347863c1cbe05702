# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A camera: runs its chain in a thread, and starts it again when the stream was lost."""
import functools
import threading
import time

import advice
import chain
from gstreamer import Gst, GstCcl
from judge import assign
from metadata import Counts, compact
from pictures import GrayPictures

NO_FRAMES = 5  # seconds without a frame after which a live stream counts as lost
FIRST_FRAME = 20  # seconds that a start may take
ENDED = "ccl-live-ended"
BACK_OFF = (1, 2, 4, 8, 15, 30)
BACKGROUND_EVERY = 2  # seconds


class Thinner:
    """A pad probe that lets at most `rate` frames a second pass. Their timestamps stay, which videorate would change."""

    def __init__(self, rate):
        self.gap = int(0.9 * Gst.SECOND / rate)
        self.last = None

    def __call__(self, _pad, info):
        pts = info.get_buffer().pts
        if self.last is not None and 0 <= pts - self.last < self.gap:
            return Gst.PadProbeReturn.DROP
        self.last = pts
        return Gst.PadProbeReturn.OK


class Camera:
    """Calls `listener` from its threads: on_frame(camera, frame), on_picture(camera, key, pts, jpeg), on_event(camera, event),
    on_state(camera)."""

    def __init__(self, index, source, listener, folder, once=False):
        self.index, self.source, self.listener, self.folder, self.once = index, source, listener, folder, once
        self.values = {part: dict(values) for part, values in chain.FIRST_VALUES.items()}
        self.zones = chain.NO_ZONES
        self.versions = {"settings": "", "zones": ""}  # others after each change, so that every page asks for it
        self.counts = Counts()
        self.state, self.text, self.hint = "starting", "", ""
        self.advice = ""  # the hint, without the time of the next try
        self.frames = self.objects = self.frames_of_run = 0
        self.is_jpeg = False  # an address that gives JPEG pictures without end
        self.n_dropped = 0  # frames of a live stream that had no time to wait for
        self.pipeline = None
        self.views = {}  # key of a picture: how many pages show it
        self.gray = {}
        self.last_frame = self.started = time.monotonic()
        self._background_at = 0
        self._background_made = threading.Lock()
        self._lock = threading.RLock()
        self._restart, self._ending = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"camera {index}", daemon=True)

    # ---- for the server

    def start(self):
        self._thread.start()

    def stop(self):
        self._ending.set()
        self._restart.set()
        if self._thread.ident:
            self._thread.join(10)
        for pictures in self.gray.values():
            pictures.stop()

    def restart(self):
        """Builds the chain anew, with the values as they are."""
        self._restart.set()

    def element(self, part):
        with self._lock:
            return self.pipeline.get_by_name(part) if self.pipeline else None

    def set_value(self, part, name, text):
        """text: as gst-launch-1.0 takes it."""
        with self._lock:
            self.values = {**self.values, part: {**self.values.get(part, {}), name: text}}
            element = self.element(part)
        if element:
            assign(element, name, text)

    def set_zones(self, text):
        with self._lock:
            self.zones = text
            element = self.element("zone")
        if element:
            element.set_property("zones", text)

    def view(self, key, add):
        """A page begins (1) or ends (-1) to show a picture. What nobody looks at is not made."""
        with self._lock:
            self.views[key] = self.views.get(key, 0) + add
            self._set_valves()

    def has_background(self):
        return self.values.get("motion", {}).get("method", "feedback") == "feedback"

    def late(self):
        """Frames that came out after they were due, and those that the analysis had no time for; since the chain was built."""
        element = self.element("label")
        return self.n_dropped + element.get_property("stats").get_value("late") if element else 0

    def passed(self):
        """Frames that went through the analysis since the chain was built; the page got `frames_of_run` of them."""
        element = self.element("zone")
        return element.get_property("stats").get_value("frames") if element else 0

    # ---- the thread

    def _run(self):
        failures = 0
        while not self._ending.is_set():
            self._restart.clear()
            wanted = self._play()
            if wanted or self._ending.is_set():
                failures = 0
                continue
            if self.state == "ended":
                self._restart.wait()
                continue
            if not self.frames_of_run:
                self.is_jpeg = False  # what returns may be something else
            failures = 0 if self.frames_of_run > 30 else failures + 1
            pause = BACK_OFF[min(failures, len(BACK_OFF) - 1)]
            self._set_state("lost", self.text, f"{self.hint} Next try in {pause} s.".strip())
            self._restart.wait(pause)
        self._set_state("stopped")

    def _play(self):
        """Returns true if a new start is wanted, false after a failure or the end."""
        self.frames_of_run = 0
        wrong = (self.text, self.advice) if self.state == "lost" else ("", "")
        self._set_state("starting", *wrong)
        try:
            pipeline = self._build()
        except Exception as error:  # GLib.Error has no common base with what PyGObject raises besides
            return self._fail(*advice.of_start(error))
        self.started = self.last_frame = time.monotonic()
        bus = pipeline.get_bus()
        try:
            if pipeline.set_state(Gst.State.PLAYING) == Gst.StateChangeReturn.FAILURE:
                message = bus.timed_pop_filtered(Gst.SECOND, Gst.MessageType.ERROR)
                return self._handle(message) if message else self._fail("The chain does not start.", "")
            while not (self._restart.is_set() or self._ending.is_set()):
                message = bus.timed_pop(200 * Gst.MSECOND)
                if message and self._handle(message) is False:
                    return False
                if not self._in_time():
                    return False
            return True
        finally:
            with self._lock:
                self.pipeline = None
            bus.set_flushing(True)
            pipeline.set_state(Gst.State.NULL)
            self.counts.keep()  # after the last frame, which would be counted twice

    def _build(self):
        values, zones = self.values, self.zones
        pipeline = Gst.parse_launch(chain.live(self.source, values, self.is_jpeg))
        pipeline.get_by_name("zone").set_property("zones", zones)
        pipeline.get_by_name("metadata").connect("new-sample", self._on_metadata)
        pipeline.connect("deep-element-added", self._on_element)
        self.n_dropped = 0
        waiting = pipeline.get_by_name("waiting")
        if waiting:
            waiting.connect("overrun", self._on_overrun)
        for key, rate in chain.rates().items():
            pipeline.get_by_name(key).connect("new-sample", self._on_mask if key == "mask" else self._on_picture, key)
            pad = pipeline.get_by_name(f"queue-{key}").get_static_pad("src")
            pad.add_probe(Gst.PadProbeType.BUFFER, Thinner(rate))
        # Closed valves let no EOS pass, so the pipeline itself never says that the stream ended. Here all frames are through.
        pad = pipeline.get_by_name("metadata").get_static_pad("sink")
        pad.add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, self._on_event)
        with self._lock:
            self.pipeline = pipeline
            self._set_valves()
            self._catch_up(values, zones)
        return pipeline

    def _catch_up(self, values, zones):
        """What changed while the chain was built."""
        for part, now in self.values.items():
            for name, text in now.items():
                if values.get(part, {}).get(name) != text:
                    assign(self.pipeline.get_by_name(part), name, text)
        if self.zones != zones:
            self.pipeline.get_by_name("zone").set_property("zones", self.zones)

    @staticmethod
    def _on_event(pad, info):
        """Has no reference to the pipeline, which would keep it for ever."""
        if info.get_event().type == Gst.EventType.EOS:
            sink = pad.get_parent_element()
            sink.post_message(Gst.Message.new_application(sink, Gst.Structure.new_empty(ENDED)))
        return Gst.PadProbeReturn.OK

    def _set_valves(self):
        if not self.pipeline:
            return
        for key in chain.rates():
            wanted = bool(self.views.get(key)) or key == f"video{min(chain.WIDTHS)}"
            valve = self.pipeline.get_by_name(f"valve-{key}")
            if valve.get_property("drop") == wanted:
                valve.set_property("drop", not wanted)

    def _in_time(self):
        """Whether frames come; a live stream can stop without a message."""
        if not self.source.is_live() and self.frames_of_run:
            return True
        limit = NO_FRAMES if self.frames_of_run else FIRST_FRAME
        if time.monotonic() - max(self.last_frame, self.started) > limit:
            return self._fail(f"No frame has come for {limit} s.", advice.NO_FRAMES)
        return True

    def _fail(self, text, hint):
        """Nobody reads the password of an address."""
        place, name = self.source.place, self.source.name
        self.text, self.hint = text.replace(place, name) if place else text, hint
        self.advice = hint
        return False

    def _handle(self, message):
        if message.type == Gst.MessageType.ERROR:
            error, details = message.parse_error()
            return self._fail(advice.text_of(error, self.source), advice.of(error, details, self.source))
        if message.type == Gst.MessageType.WARNING:
            error, _ = message.parse_warning()
            if error.message != chain.NO_ZONES_WARNING:
                self.listener.on_warning(self, message.src.get_name(), error.message)
        if message.type == Gst.MessageType.APPLICATION and message.has_name(ENDED):
            return self._ended()
        if message.type == Gst.MessageType.ELEMENT and message.has_name("ccl-zone"):
            structure = message.get_structure()
            event = {name: structure.get_value(name) for name in ("event", "zone", "track-id", "inside", "x", "y")}
            event["direction"] = structure.get_value("direction") if structure.has_field("direction") else None
            self.listener.on_event(self, event)
        return None

    def _ended(self):
        if self.source.is_live():
            return self._fail("The stream has ended.", advice.ENDED)
        if self.once:
            self._set_state("ended", "The file has ended.", "")
            return False
        self.pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.KEY_UNIT, 0)
        return None

    def _set_state(self, state, text="", hint=""):
        changed = (state, text, hint) != (self.state, self.text, self.hint)
        self.state, self.text, self.hint = state, text, hint
        if changed:
            self.listener.on_state(self)

    # ---- the streaming threads

    def _on_element(self, _pipeline, _bin, element):
        """A camera that sends JPEG over HTTP has a chain of its own: decodebin would wait for other streams, and the pictures
        have no time but that of their arrival."""
        factory = element.get_factory()
        if factory and factory.get_name() == "multipartdemux" and not self.is_jpeg:
            self.is_jpeg = True
            self.restart()

    def _on_overrun(self, _queue):
        self.n_dropped += 1

    def _on_metadata(self, sink):
        sample = sink.emit("pull-sample")
        buffer = sample.get_buffer()
        frame = compact(buffer.extract_dup(0, buffer.get_size()), self.counts)
        self.frames += 1
        self.frames_of_run += 1
        self.objects = frame["objects"]
        self.last_frame = time.monotonic()
        if self.state != "playing":
            self.text = self.hint = ""
            self._set_state("playing")
        self.listener.on_frame(self, frame)
        if self.views.get("background") and self.last_frame - self._background_at > BACKGROUND_EVERY:
            self._background_at = self.last_frame
            threading.Thread(target=self._make_background, args=(frame["pts"],), daemon=True).start()
        return Gst.FlowReturn.OK

    def _on_picture(self, sink, key):
        buffer = sink.emit("pull-sample").get_buffer()
        self.listener.on_picture(self, key, buffer.pts, buffer.extract_dup(0, buffer.get_size()))
        return Gst.FlowReturn.OK

    def _on_mask(self, sink, _key):
        buffer = sink.emit("pull-sample").get_buffer()
        meta = GstCcl.buffer_get_ccl_mask_meta(buffer)
        if meta:
            self._gray_pictures("mask").push_mask(meta, buffer.pts)
        return Gst.FlowReturn.OK

    def _gray_pictures(self, key):
        if key not in self.gray:
            done = functools.partial(self.listener.on_picture, self, key)
            self.gray[key] = GrayPictures(key, self.folder, done)
        return self.gray[key]

    def _make_background(self, pts):
        element = self.element("motion")
        if not element or not self._background_made.acquire(blocking=False):
            return
        try:
            self._gray_pictures("background").push_background(element, pts)
        finally:
            self._background_made.release()
