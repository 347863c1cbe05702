#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""All elements in one pipeline, with seeks, new caps, changes of properties and a broker that goes and comes. Memory, file
descriptors and threads have to stay as they were after the first quarter.

usage: soak.py [SECONDS]     in `meson devenv`; exit status 77 without PyGObject
"""
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

try:
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
except (ImportError, ValueError):
    print("skipped: no PyGObject with GStreamer")
    sys.exit(77)

PIPELINE = """
videotestsrc name=source pattern=ball motion=hsweep num-buffers=-1 ! capsfilter name=caps ! identity sleep-time=3000 !
cclmotion name=motion ! ccllabel name=label mask-source=mask-meta attach=blob+roi contours=true async-depth=2 min-area=4 !
ccltrack name=track emit=tentative+merged+predicted+lost history=40 ! cclzone name=zone ! tee name=all
all. ! queue max-size-buffers=4 ! cclmetaremap ! ccloverlay name=overlay trail-length=60 !
fakesink name=picture sync=false async=false
all. ! queue max-size-buffers=4 ! cclmeta2json name=json ! tee name=lines
lines. ! queue max-size-buffers=16 ! fakesink name=text sync=false async=false
lines. ! queue max-size-buffers=16 ! {sink}
"""
SINK = "cclmqttsink name=mqtt uri=mqtt://127.0.0.1:{port} topic=soak/{{source-id}} queue-size=200 drain-timeout=0 async=false"

CAPS = [f"video/x-raw,format={form},width={width},height={height},framerate=25/1"
        for form, width, height in (("I420", 320, 240), ("NV12", 176, 144), ("GRAY8", 200, 122), ("I420", 640, 360))]
ZONES = ['{"units":"relative","zones":[{"name":"left-%d","polygon":[[0,0],[0.5,0],[0.5,1],[0,1]],"dwell":1},'
         '{"name":"gate","line":[[0.5,0],[0.5,1]]}]}', '{"zones":[{"name":"round-%d","circle":[60,60,40]}]}']
# What can be changed while playing.
CHANGES = [
    ("motion", "method", ["feedback", "mog2", "ema", "diff"]), ("motion", "ignore", ["", "0,0;0.2,0;0.2,0.2"]),
    ("label", "async-depth", ["0", "1", "3"]), ("label", "min-area", ["0", "4", "40"]), ("label", "contours", ["true", "false"]),
    ("label", "volume", ["0", "4"]), ("label", "attach", ["blob", "blob+roi"]), ("track", "history", ["0", "40", "200"]),
    ("track", "method", ["auto", "kalman"]), ("zone", "zones", ZONES), ("overlay", "trail-length", ["0", "60", "300"]),
    ("json", "precision", ["-1", "2"]), ("mqtt", "queue-size", ["10", "200"]), ("mqtt", "qos-level", ["0", "1"]),
]
# Bytes by which the resident memory may exceed that of the second quarter: free blocks lie differently.
MAX_GROWTH = 4 << 20
SECONDS_TO_COMPARE = 600


class Broker:
    """mosquitto, if it is there; else nobody listens at the port."""

    def __init__(self, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.program = shutil.which("mosquitto", path=os.environ["PATH"] + ":/usr/sbin")
        self.settings = pathlib.Path(folder) / "broker.conf"
        self.settings.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\n", "utf-8")
        self.process = None

    def toggle(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None
        elif self.program:
            self.process = subprocess.Popen([self.program, "-c", self.settings], stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL)


class Soak:
    def __init__(self, broker):
        sink = SINK.format(port=broker.port) if Gst.ElementFactory.find("cclmqttsink") else "fakesink name=mqtt async=false"
        self.broker = broker
        self.pipeline = Gst.parse_launch(PIPELINE.format(sink=sink))
        self.bus = self.pipeline.get_bus()
        self.counts = dict.fromkeys(("frames", "seeks", "caps", "changes", "broker"), 0)
        self.pipeline.get_by_name("picture").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, self.count_frame)
        self.set_caps()

    def count_frame(self, _pad, _info):
        self.counts["frames"] += 1
        return Gst.PadProbeReturn.OK

    def set_caps(self):
        self.pipeline.get_by_name("caps").set_property("caps", Gst.Caps.from_string(random.choice(CAPS)))
        self.counts["caps"] += 1

    def seek(self):
        self.pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH, random.randrange(0, 3600) * Gst.SECOND)
        self.counts["seeks"] += 1

    def change(self):
        name, key, values = random.choice(CHANGES)
        element = self.pipeline.get_by_name(name)
        value = random.choice(values)
        if element.find_property(key):
            Gst.util_set_object_arg(element, key, value % random.randrange(1000) if "%d" in value else value)
            self.counts["changes"] += 1

    def disturb(self, second):
        self.change()
        if second % 3 == 0:
            self.seek()
        if second % 7 == 0:
            self.set_caps()
        if second % 20 == 0:
            self.broker.toggle()
            self.counts["broker"] += 1

    def check_bus(self):
        while message := self.bus.pop():
            if message.type == Gst.MessageType.ERROR:
                sys.exit(f"soak: {message.parse_error()[0].message} ({message.parse_error()[1]})")


def measure():
    status = pathlib.Path("/proc/self/status").read_text("utf-8")
    resident = int(status.split("VmRSS:")[1].split()[0]) * 1024
    return resident, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


def run(soak, seconds):
    """Samples of (resident, descriptors, threads), one a second."""
    samples, started = [measure()], time.monotonic()
    soak.pipeline.set_state(Gst.State.PLAYING)
    while time.monotonic() - started < seconds:
        time.sleep(1)
        soak.disturb(len(samples))
        soak.check_bus()
        samples.append(measure())
        if len(samples) % 60 == 0:
            print(f"{time.monotonic() - started:5.0f} s: {samples[-1][0] / 1e6:.1f} MB, {samples[-1][1]} descriptors, "
                  f"{samples[-1][2]} threads, {soak.counts}", flush=True)
    soak.pipeline.set_state(Gst.State.NULL)
    return samples


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3600
    random.seed(1)
    Gst.init(None)
    with tempfile.TemporaryDirectory() as folder:
        broker = Broker(folder)
        soak = Soak(broker)
        samples = run(soak, seconds)
        if broker.process:
            broker.toggle()
    # The first quarter fills caches and pools; the second says how far measures swing.
    quarter = len(samples) // 4
    early, late = samples[quarter:2 * quarter], samples[3 * quarter:]
    failed = soak.counts["frames"] < len(samples)
    if seconds < SECONDS_TO_COMPARE:
        print("too short to compare memory, descriptors and threads")
    for i, (name, slack) in enumerate((("resident bytes", MAX_GROWTH), ("descriptors", 0), ("threads", 0))):
        highest = [max(sample[i] for sample in part) for part in (early, late)]
        failed |= seconds >= SECONDS_TO_COMPARE and highest[1] > highest[0] + slack
        print(f"{name}: at most {highest[0]} in the second quarter, {highest[1]} in the last")
    print(f"figures: {soak.counts}, {max(s[0] for s in early) / 1e6:.1f} -> {max(s[0] for s in late) / 1e6:.1f} MB, "
          f"{max(s[1] for s in late)} descriptors, {max(s[2] for s in late)} threads")
    sys.exit(failed)


if __name__ == "__main__":
    main()
