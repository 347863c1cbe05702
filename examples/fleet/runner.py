#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs one pipeline, in a process of its own: what crashes or hangs in a decoder ends this process and nothing else.

Reads a job as one line of JSON on stdin: {"mode": "camera", "check" or "recording", "camera": {...}, "run": "...", "path": "..."}
Writes lines of JSON on stdout: each second the counts of a camera; of a recording its frames and events; at the end
{"end": reason}. The end of stdin ends a camera in order. Needs the system's Python with PyGObject.
"""
from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import sys
import threading
import time
from typing import Any

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402  # the version comes first

import chain  # noqa: E402

PR_SET_PDEATHSIG = 1
DRAIN_SECONDS = 8  # for the sink to deliver what waits


class JobError(Exception):
    """What is wrong with the settings of a pipeline."""


def end_with_parent() -> None:
    """The kernel kills this process when the one that started it is gone, however that ended."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Writer:
    """Lines on stdout, from several threads; no line holds a password."""

    def __init__(self, camera: dict[str, Any]) -> None:
        self.lock = threading.Lock()
        variable = camera.get("source", {}).get("password-env")
        self.secret = os.environ.get(variable, "") if variable else ""

    def mask(self, text: str) -> str:
        text = re.sub(r"(://[^/\s:@]*):[^/\s]*@", r"\1:***@", text)
        return text.replace(self.secret, "***") if self.secret else text

    def say(self, **fields: Any) -> None:
        self.write(self.mask(json.dumps(fields)).encode())

    def write(self, line: bytes) -> None:
        with self.lock:
            sys.stdout.buffer.write(line.rstrip(b"\n") + b"\n")
            sys.stdout.buffer.flush()


def build(text: str, properties: dict[str, dict[str, Any]]) -> Gst.Pipeline:
    try:
        pipeline = Gst.parse_launch(text)
    except GLib.Error as error:
        raise JobError(error.message) from None
    for name, values in properties.items():
        element = pipeline.get_by_name(name)
        for key, value in values.items():
            if value is not None:
                set_property(element, key, value)
    return pipeline


def set_property(element: Gst.Element, key: str, value: Any) -> None:
    kind = element.get_factory().get_name()
    spec = element.find_property(key)
    if not spec:
        raise JobError(f"{kind} has no property {key}")
    if spec.value_type.name == "gchararray":
        element.set_property(key, str(value))
        return
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if hasattr(spec, "minimum") and isinstance(value, (int, float)) and not spec.minimum <= value <= spec.maximum:
        raise JobError(f"{kind} {key}: {text} is not from {spec.minimum} to {spec.maximum}")
    try:
        # The parser refuses values that gst_util_set_object_arg() ignores.
        Gst.parse_launch(f"{kind} {key}={text}" if re.fullmatch(r"[\w.+:-]+", text) else "!")
    except GLib.Error:
        raise JobError(f'{kind} {key}: "{text}" is none of its values') from None
    Gst.util_set_object_arg(element, key, text)


class Camera:
    """A camera until stdin ends, an error, or the end of its stream."""

    def __init__(self, job: dict[str, Any], writer: Writer) -> None:
        self.writer = writer
        self.loop = job["camera"]["source"].get("loop", False)
        self.pipeline = build(*chain.camera_chain(job["camera"], job["run"]))
        self.frames = self.lines = 0
        self.last = time.monotonic()
        element = self.pipeline.get_by_name("json")
        element.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, self.on_frame)
        element.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, self.on_line)
        self.stopped = threading.Event()
        threading.Thread(target=self.await_end_of_stdin, daemon=True).start()

    def on_frame(self, _pad: Gst.Pad, _info: Gst.PadProbeInfo) -> Gst.PadProbeReturn:
        self.frames += 1
        self.last = time.monotonic()
        return Gst.PadProbeReturn.OK

    def on_line(self, _pad: Gst.Pad, _info: Gst.PadProbeInfo) -> Gst.PadProbeReturn:
        self.lines += 1
        return Gst.PadProbeReturn.OK

    def await_end_of_stdin(self) -> None:
        sys.stdin.read()
        self.stopped.set()

    def counts(self) -> dict[str, Any]:
        counts = {"frames": self.frames, "lines": self.lines, "age": round(time.monotonic() - self.last, 1)}
        sink = self.pipeline.get_by_name("sink")
        if sink.find_property("stats") and (stats := sink.get_property("stats")):
            for name in ("published", "dropped", "queued"):
                if stats.has_field(name):
                    counts[name] = stats.get_value(name)
        return counts

    def seek(self, flags: Gst.SeekFlags) -> bool:
        """To the start, as a segment: its end is a message instead of the end of the stream."""
        flags |= Gst.SeekFlags.SEGMENT
        return self.pipeline.seek(1.0, Gst.Format.TIME, flags, Gst.SeekType.SET, 0, Gst.SeekType.NONE, 0)

    def start(self) -> None:
        if not self.loop:
            self.pipeline.set_state(Gst.State.PLAYING)
            return
        # The first frame has to reach the sink, and must not wait there or before.
        pace = self.pipeline.get_by_name("pace")
        pace.set_property("sync", False)
        self.pipeline.get_by_name("sink").set_property("async", True)
        self.pipeline.set_state(Gst.State.PAUSED)
        self.pipeline.get_state(10 * Gst.SECOND)
        if not self.seek(Gst.SeekFlags.FLUSH):
            raise JobError("this file cannot be repeated: it has no frame, or its format has no seeking")
        self.pipeline.get_state(10 * Gst.SECOND)
        pace.set_property("sync", True)
        self.pipeline.set_state(Gst.State.PLAYING)

    def run(self) -> str:
        self.start()
        said, deadline = 0.0, 0.0
        while True:
            message = self.pipeline.get_bus().timed_pop_filtered(
                100 * Gst.MSECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR | Gst.MessageType.SEGMENT_DONE)
            now = time.monotonic()
            if message and message.type == Gst.MessageType.SEGMENT_DONE and not deadline:
                self.seek(Gst.SeekFlags.NONE)
            elif message and message.type != Gst.MessageType.SEGMENT_DONE:
                self.writer.say(**self.counts())
                return reason_of(message)
            if self.stopped.is_set() and not deadline:
                deadline = now + DRAIN_SECONDS
                # Behind the decoder, which in a repeated file knows no end.
                self.pipeline.get_by_name("json").get_static_pad("sink").send_event(Gst.Event.new_eos())
            if deadline and now > deadline:
                return "stopped late"
            if now - said >= 1:
                said = now
                self.writer.say(**self.counts())


def reason_of(message: Gst.Message) -> str:
    if message.type == Gst.MessageType.EOS:
        return "end of stream"
    error, details = message.parse_error()
    last = (details or "").splitlines()[-1:]
    return f"{message.src.get_name()}: {error.message}{''.join(f' ({line})' for line in last)}"


class Recording:
    """A recording from its start to its end: each line and each event of a zone, in the order of the frames."""

    EVENT_FIELDS = ("event", "zone", "track-id", "x", "y", "direction", "duration", "timestamp")

    def __init__(self, job: dict[str, Any], writer: Writer) -> None:
        self.writer = writer
        self.frames = 0
        self.pipeline = build(*chain.recording_chain(job["camera"], job["path"]))
        element = self.pipeline.get_by_name("json")
        element.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, self.on_frame)
        element.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, self.on_line)
        bus = self.pipeline.get_bus()
        bus.enable_sync_message_emission()
        bus.connect("sync-message::element", self.on_message)

    def on_frame(self, _pad: Gst.Pad, _info: Gst.PadProbeInfo) -> Gst.PadProbeReturn:
        self.frames += 1
        return Gst.PadProbeReturn.OK

    def on_line(self, _pad: Gst.Pad, info: Gst.PadProbeInfo) -> Gst.PadProbeReturn:
        buffer = info.get_buffer()
        self.writer.write(buffer.extract_dup(0, buffer.get_size()))
        return Gst.PadProbeReturn.OK

    def on_message(self, _bus: Gst.Bus, message: Gst.Message) -> None:
        structure = message.get_structure()
        if structure and structure.get_name() == "ccl-zone":
            self.writer.say(**{name.replace("-", "_"): structure.get_value(name)
                               for name in self.EVENT_FIELDS if structure.has_field(name)})

    def run(self) -> str:
        self.pipeline.set_state(Gst.State.PLAYING)
        message = self.pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        if message.type == Gst.MessageType.EOS and not self.frames:
            return "it has no frame"
        return reason_of(message)


def main() -> int:
    end_with_parent()
    job = json.loads(sys.stdin.readline())
    writer = Writer(job["camera"])
    # Ctrl-C reaches the whole group of processes: the one that started this one ends it in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Gst.init(None)
    try:
        if job["mode"] == "check":
            camera = job["camera"]
            build(*(chain.camera_chain(camera, "") if camera["source"] else chain.recording_chain(camera, "")))
            writer.say(end="checked")
            return 0
        pipeline = (Camera if job["mode"] == "camera" else Recording)(job, writer)
        reason = pipeline.run()
    except JobError as error:
        writer.say(end=str(error), settings=True)
        return 2
    writer.say(end=reason, frames=pipeline.frames)
    pipeline.pipeline.set_state(Gst.State.NULL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
