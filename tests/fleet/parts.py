# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of examples/fleet share: clips, a broker with a subscriber, and the nodes of a Ray cluster."""
from __future__ import annotations

import collections
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

FLEET = pathlib.Path(__file__).resolve().parents[2] / "examples" / "fleet"
sys.path.insert(0, str(FLEET))
SBIN = os.environ["PATH"] + ":/usr/sbin"


def clip(path: pathlib.Path, n_frames: int = 150, motion: str = "sweep", size: str = "width=320,height=240") -> None:
    """A ball that goes to and fro, at 5 frames a second."""
    subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "pattern=ball", f"motion={motion}", f"num-buffers={n_frames}", "!",
                    f"video/x-raw,format=I420,{size},framerate=5/1", "!", "jpegenc", "!", "avimux", "!",
                    "filesink", f"location={path}"], check=True, timeout=60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Broker:
    """mosquitto, and mosquitto_sub that writes what arrives to a file."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.port = free_port()
        self.received = folder / "received"
        settings = folder / "broker.conf"
        settings.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n", "utf-8")
        self.broker = subprocess.Popen([shutil.which("mosquitto", path=SBIN), "-c", settings],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        with open(self.received, "wb") as output:
            self.subscriber = subprocess.Popen(["mosquitto_sub", "-p", str(self.port), "-q", "1", "-t", "cameras/#",
                                                "-F", "%U %p"], stdout=output)

    @staticmethod
    def there() -> bool:
        return bool(shutil.which("mosquitto", path=SBIN) and shutil.which("mosquitto_sub"))

    def lines(self):
        """(time of arrival, line) of each message."""
        for line in self.received.read_text("utf-8").split("\n")[:-1]:
            if line:
                arrived, _, text = line.partition(" ")
                yield float(arrived), json.loads(text)

    def runs(self):
        """{(camera, run): [(time of arrival, line)]}"""
        runs = collections.defaultdict(list)
        for arrived, line in self.lines():
            runs[line["source"], line["tags"]["run"]].append((arrived, line))
        return runs

    def close(self) -> None:
        for process in self.subscriber, self.broker:
            process.terminate()
            process.wait()


def processes_of(parent: int) -> list[int]:
    """The process and its children."""
    found = [parent]
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(folder.name))
    return found


def kill_node(raylet: int) -> int:
    """As when a machine loses its power: raylet and workers at once. Returns the number of processes."""
    victims = processes_of(raylet)
    for process in victims:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return len(victims)
