# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""A pipeline that publishes numbered lines of several sources: a process of its own, which can be killed."""

import dataclasses
import json
import mmap
import os
import resource
import struct
import subprocess
import sys
import threading
import time

N_SOURCES = 8
RATE = 100                      # lines a second, of all sources
DRAIN_SECONDS = 120
LONG = 0.01                     # seconds for which few pushes are blocked


@dataclasses.dataclass
class Lines:
    """What a pipeline publishes. The source of line `i` is `i % N_SOURCES`, and its number there `i // N_SOURCES`."""
    sink: str                   # with its settings, as gst-launch-1.0 takes them
    count_file: str             # holds the number of pushed lines, also when the pipeline was killed
    has_topic_numbers: bool     # the source of a line has its number inside, because a broker logs topics alone
    first: int = 0
    large_every: int = 97
    large_at: int = 13          # `large_every` 0: the one line that is larger than a broker takes
    padding: int = 200
    large_padding: int = 6000

    def is_large(self, index):
        return index == self.large_at if self.large_every == 0 else index % self.large_every == self.large_at

    def text(self, index):
        source, number = f"s{index % N_SOURCES}", index // N_SOURCES
        return json.dumps({
            "source": f"{source}-{number}" if self.has_topic_numbers else source,
            "number": number,
            "padding": "x" * (self.large_padding if self.is_large(index) else self.padding),
        })


# ---------------------------------------------------------------- the process


class PushTimes:
    """How long pushes took, and for how much of this time the thread neither ran nor waited for a processor."""

    def __init__(self):
        self.longest = self.longest_blocked = self.longest_wait = 0.0
        self.waited = 0
        self.n = 0
        self.n_switched = 0     # pushes with a voluntary context switch
        self.long_blocked = []  # above LONG, a few
        try:
            self.file = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        except OSError:
            self.file = None
        self.runnable()
        self.longest_wait = 0.0         # without those before

    def runnable(self):
        """Seconds for which the thread ran, or waited for a processor. Notes the longest such wait."""
        if self.file is None:
            return 0.0
        ran, waited, _slices = os.pread(self.file, 100, 0).split()
        self.longest_wait = max(self.longest_wait, (int(waited) - self.waited) / 1e9)
        self.waited = int(waited)
        return (int(ran) + int(waited)) / 1e9

    def measure(self, push):
        switches = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
        runnable, start = self.runnable(), time.monotonic()
        push()
        took = time.monotonic() - start
        blocked = took - (self.runnable() - runnable)
        switches = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - switches
        self.n += 1
        self.n_switched += switches > 0
        # A thread that ran for less than 4 ms may not be in the kernel's count yet.
        if switches:
            self.longest_blocked = max(self.longest_blocked, blocked)
            if blocked > LONG:
                self.long_blocked.append(blocked)
        self.longest = max(self.longest, took)

    def usually_blocked(self):
        """At most, but for one push in 1000. 0: not long."""
        return (sorted(self.long_blocked, reverse=True)[self.n // 1000 + 1:] or [0])[0]

    def values(self):
        return {"push-ms-max": self.longest * 1000, "blocked-ms-max": self.longest_blocked * 1000,
                "blocked-ms-usual": self.usually_blocked() * 1000,
                "wait-ms-max": self.longest_wait * 1000, "pushes-switched": self.n_switched,
                "can-tell-blocked": self.file is not None}


class Process:
    def __init__(self, gst, lines):
        self.gst = gst
        self.lines = lines
        self.pushed = 0
        self.is_paused = False
        self.ended = threading.Event()
        self.times = PushTimes()
        with open(lines.count_file, "wb") as file:
            file.write(bytes(8))
        with open(lines.count_file, "r+b") as file:
            self.count = mmap.mmap(file.fileno(), 8)
        self.pipeline = gst.parse_launch(f"{lines.sink} name=sink")
        self.sink = self.pipeline if self.pipeline.get_name() == "sink" else self.pipeline.get_by_name("sink")
        self.pad = gst.Pad.new("src", gst.PadDirection.SRC)

    def start(self):
        gst = self.gst
        self.bus = gst.Bus.new()
        self.sink.set_bus(self.bus)
        assert self.pad.link(self.sink.get_static_pad("sink")) == gst.PadLinkReturn.OK
        self.pad.set_active(True)
        assert self.sink.set_state(gst.State.PLAYING) != gst.StateChangeReturn.FAILURE, self.bus.pop_filtered(
            gst.MessageType.ERROR).parse_error()
        self.pad.push_event(gst.Event.new_stream_start("lines"))
        self.pad.push_event(gst.Event.new_caps(gst.Caps.from_string("application/x-json")))
        self.pad.push_event(gst.Event.new_segment(self.new_segment()))

    def new_segment(self):
        segment = self.gst.Segment()
        segment.init(self.gst.Format.TIME)
        return segment

    def listen(self):
        """Takes the words `pause` and `resume`. The end of the input ends the stream."""
        for word in sys.stdin:
            self.is_paused = word.strip() == "pause"
        self.ended.set()

    def push(self):
        buffer = self.gst.Buffer.new_wrapped(self.lines.text(self.lines.first + self.pushed).encode())
        self.pushed += 1
        struct.pack_into("q", self.count, 0, self.pushed)
        self.times.measure(lambda: self.pad.push(buffer))

    def report(self):
        stats = self.sink.get_property("stats")
        values = {stats.nth_field_name(i): stats.get_value(stats.nth_field_name(i)) for i in range(stats.n_fields())}
        usage = resource.getrusage(resource.RUSAGE_SELF)
        print(json.dumps(values | self.times.values() | {"pushed": self.pushed, "memory": usage.ru_maxrss * 1024,
                                                         "is-paused": self.is_paused}), flush=True)

    def run(self):
        self.start()
        threading.Thread(target=self.listen, daemon=True).start()
        next_push = next_report = time.monotonic()
        while not self.ended.is_set():
            now = time.monotonic()
            if now >= next_report:
                self.report()
                next_report = now + 0.1
            if self.is_paused:
                next_push = now
            elif now >= next_push:
                self.push()
                next_push += 1 / RATE
                continue
            time.sleep(0.002)
        self.pad.push_event(self.gst.Event.new_eos())   # returns when all is delivered
        self.report()
        self.sink.set_state(self.gst.State.NULL)


def main():
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
    Gst.init(None)
    Process(Gst, Lines(**json.loads(sys.argv[1]))).run()


# ---------------------------------------------------------------- its parent


class Publisher:
    """Starts the process. `command` puts it into its place in the network."""

    def __init__(self, lines, command, environment):
        self.lines = lines
        self.stats = {"accepted": 0, "pushed": 0, "queued-bytes": 0}
        self.max_bytes = 0
        self.process = subprocess.Popen(
            command([sys.executable, __file__, json.dumps(dataclasses.asdict(lines))]), env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for text in self.process.stdout:
            try:
                self.stats = json.loads(text)
            except ValueError:          # killed in the middle of a line
                continue
            self.max_bytes = max(self.max_bytes, self.stats["queued-bytes"])

    def n_pushed(self):
        try:
            with open(self.lines.count_file, "rb") as file:
                return struct.unpack("q", file.read(8))[0]
        except (OSError, struct.error):         # killed before it began
            return 0

    def say(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def pause(self, seconds):
        """No more lines, until resume(). FALSE: some are not delivered after this time."""
        self.say("pause")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            stats = self.stats
            if stats.get("is-paused") and stats["published"] + stats["dropped"] == stats["accepted"]:
                return True
            time.sleep(0.02)
        return False

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()

    def end(self):
        self.process.stdin.close()
        status = self.process.wait(DRAIN_SECONDS + 60)
        self.reader.join()
        assert status == 0, status


if __name__ == "__main__":
    main()
