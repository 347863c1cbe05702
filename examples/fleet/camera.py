# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One camera: starts its pipeline in a child process, watches it, and starts it again. Knows neither Ray nor GStreamer."""
from __future__ import annotations

import collections
import json
import os
import pathlib
import secrets
import selectors
import shutil
import socket
import subprocess
import threading
import time
from typing import Any, Iterator

RUNNER = pathlib.Path(__file__).resolve().with_name("runner.py")
FIRST_PAUSE = 1.0  # seconds; each pause is twice the one before
MAX_PAUSE = 60.0
STEADY_SECONDS = 60.0  # of delivery, after which the next pause is the first again
START_SECONDS = 60.0  # without a first frame; a busy machine starts many pipelines slowly
STOP_SECONDS = 12.0


def python() -> str:
    """The Python that has PyGObject: the system's, unless CCL_FLEET_PYTHON names another."""
    return os.environ.get("CCL_FLEET_PYTHON") or ("/usr/bin/python3" if os.path.exists("/usr/bin/python3") else
                                                  shutil.which("python3") or "python3")


def new_run() -> str:
    """A name for one run of a pipeline that no other has, on any machine: the time, and 32 random bits."""
    return f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(4)}"


class Child:
    """A runner with its job."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.process = subprocess.Popen([python(), str(RUNNER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, bufsize=0)
        self.words: collections.deque[str] = collections.deque(maxlen=5)  # the last lines of stderr
        self.selector = selectors.DefaultSelector()
        for stream in (self.process.stdout, self.process.stderr):
            self.selector.register(stream, selectors.EVENT_READ, [b""])
        try:
            self.process.stdin.write(json.dumps(job).encode() + b"\n")
        except BrokenPipeError:
            pass  # it has ended already; its status says why

    def lines(self, seconds: float) -> Iterator[bytes]:
        """What it writes on stdout within this time. Ends early when it has closed its outputs."""
        deadline = time.monotonic() + seconds
        while self.selector.get_map() and (rest := deadline - time.monotonic()) > 0:
            for key, _ in self.selector.select(rest):
                data = os.read(key.fd, 1 << 16)
                if not data:
                    self.selector.unregister(key.fileobj)
                *whole, key.data[0] = (key.data[0] + data).split(b"\n")
                if key.fileobj is self.process.stdout:
                    yield from whole
                else:
                    self.words.extend(line.decode("utf-8", "replace") for line in whole if line.strip())

    @property
    def closed(self) -> bool:
        return not self.selector.get_map()

    def ask_to_end(self) -> None:
        self.process.stdin.close()

    def kill(self) -> None:
        self.process.kill()

    def status(self) -> str:
        """How it ended, in words."""
        code = self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()
        said = f": {self.words[-1]}" if self.words else ""
        return f"killed by signal {-code}{said}" if code < 0 else f"exit status {code}{said}"


class Camera:
    """Runs a camera until stop(). `state` is one of starting, delivers, silent, waits (for its next start), ended, stopped."""

    def __init__(self, camera: dict[str, Any], digest: str = "") -> None:
        self.camera = camera
        self.digest = digest
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self.phase, self.reason, self.run_id = "starting", "", ""
        self.starts = 0
        self.pause = FIRST_PAUSE
        self.counts: dict[str, Any] = {}
        self.before: collections.Counter[str] = collections.Counter()  # the counts of earlier runs
        self.thread = threading.Thread(target=self.watch, name=camera["name"], daemon=True)
        self.thread.start()

    def state(self) -> dict[str, Any]:
        with self.lock:
            total = self.before + collections.Counter({k: v for k, v in self.counts.items() if k in ("frames", "lines")})
            return {"name": self.camera["name"], "state": self.phase, "run": self.run_id, "starts": self.starts,
                    "reason": self.reason, "frames": total["frames"], "lines": total["lines"], "counts": dict(self.counts),
                    "machine": socket.gethostname(), "pid": os.getpid(), "digest": self.digest}

    def stop(self) -> None:
        self.stopping.set()
        self.thread.join(STOP_SECONDS + 3)

    def watch(self) -> None:
        """The thread: one run after the other, with a pause between them that grows."""
        while not self.stopping.is_set():
            delivered = self.run_once()
            if self.stopping.is_set():
                break
            with self.lock:
                self.phase = "waits"
                self.pause = FIRST_PAUSE if delivered >= STEADY_SECONDS else min(2 * self.pause, MAX_PAUSE)
                pause = self.pause
            self.stopping.wait(pause)
        with self.lock:
            self.phase = "stopped"

    def run_once(self) -> float:
        """One process, until it ends or is silent for too long. Returns the seconds for which it delivered."""
        with self.lock:
            for name in ("frames", "lines"):
                self.before[name] += self.counts.get(name, 0)
            self.counts, self.run_id, self.phase = {}, new_run(), "starting"
            self.starts += 1
        child = Child({"mode": "camera", "camera": self.camera, "run": self.run_id})
        first, heard, reason = 0.0, time.monotonic(), ""
        asked = 0.0
        while not child.closed:
            for line in child.lines(0.5):
                heard = time.monotonic()
                reason = self.take(json.loads(line)) or reason
            now = time.monotonic()
            first = first or (now if self.counts.get("frames") else 0.0)
            silence = max(now - heard, self.counts.get("age", 0.0))
            limit = self.camera["silence"] if first else max(self.camera["silence"], START_SECONDS)
            if self.stopping.is_set() and not asked:
                asked = now
                child.ask_to_end()
            if silence > limit and not asked or asked and now - asked > STOP_SECONDS:
                reason = reason or f"silent for {silence:.0f} s"
                child.kill()
                break
        status = child.status()
        with self.lock:
            self.reason = reason or status
        return time.monotonic() - first if first else 0.0

    def take(self, said: dict[str, Any]) -> str:
        """A line of the runner; returns the reason of its end, if it is that line."""
        with self.lock:
            if "end" in said:
                return str(said["end"])
            self.counts = said
            if said["frames"]:
                self.phase = "delivers" if said["age"] < 5 else "silent"
        return ""
