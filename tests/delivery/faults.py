#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""Faults of brokers, networks and pipelines at random, from a printed seed: nothing accepted is lost, and nothing overtakes.

    faults.py [--seconds 10] [--seed N] [--version auto] [--qos 1] [--spool]

A real mosquitto is killed, stopped, and refuses by its ACL. A proxy in front of it cuts connections, and lets data pass slowly or
not at all. Eight sources publish 100 lines a second in all; some are larger than the broker takes. With --spool the pipeline is
killed too. The log of the broker says what it received, in which order."""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

N_SOURCES = 8
RATE = 100
MAX_PACKET = 3000
SKIPPED = 77
PATH = os.environ["PATH"] + ":/usr/sbin"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def is_too_large(index, version):
    """3.1.1 has no answer to such a line but to close the connection, again and again: one is enough."""
    return index == 110 if version == "3.1.1" else index % 97 == 13


class Broker:
    """mosquitto, and what its log says: `lines` has (source, number, denied) in the order of arrival."""

    def __init__(self, folder):
        self.folder = folder
        self.port = free_port()
        self.lines = []
        self.readers = []
        self.acl = folder / "acl"
        self.set_acl(True)
        (folder / "conf").write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\nmax_packet_size {MAX_PACKET}\nacl_file {self.acl}\n"
            "log_dest stderr\nlog_type all\n")
        self.start()

    def set_acl(self, allowed):
        self.acl.write_text(f"topic readwrite {'t' if allowed else 'nothing'}/#\n")
        self.acl.chmod(0o644)

    def start(self):
        self.process = subprocess.Popen([shutil.which("mosquitto", path=PATH), "-c", self.folder / "conf"],
                                        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, errors="replace")
        self.readers.append(threading.Thread(target=self.read, args=(self.process.stderr,), daemon=True))
        self.readers[-1].start()
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)

    def read(self, stream):
        for text in stream:
            match = re.search(r"(Received|Denied) PUBLISH from .*'t/s(\d+)-(\d+)'", text)
            if match:
                self.lines.append((int(match[2]), int(match[3]), match[1] == "Denied"))

    def kill(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()
        self.readers[-1].join()

    def signal(self, number):
        self.process.send_signal(number)


class Proxy(threading.Thread):
    """In front of the broker: `speed` in bytes a second each way, 0: nothing passes, None: all."""

    def __init__(self, target):
        super().__init__(daemon=True)
        self.target = target
        self.speed = None
        self.pairs = {}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def cut(self):
        for end in list(self.pairs):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self, end):
        other = self.pairs.pop(end)
        self.pairs.pop(other, None)
        end.close()
        other.close()

    def accept(self):
        client = self.listener.accept()[0]
        try:
            server = socket.create_connection(("127.0.0.1", self.target), 1)
        except OSError:
            client.close()
            return
        self.pairs[client], self.pairs[server] = server, client

    def run(self):
        while True:
            ends = [end for end in self.pairs if self.speed != 0]
            for end in select.select([self.listener] + ends, [], [], 0.05)[0]:
                if end is self.listener:
                    self.accept()
                elif end in self.pairs:
                    self.pass_on(end)

    def pass_on(self, end):
        try:
            data = end.recv(65536 if self.speed is None else max(self.speed // 20, 1))
            if data:
                self.pairs[end].sendall(data)
        except OSError:
            data = b""
        if not data:
            self.close(end)
        elif self.speed is not None:
            time.sleep(0.05)


# ---------------------------------------------------------------- publisher, a process of its own


def publish(options):
    """Pushes lines of all sources in turn, and prints the statistics ten times a second. Ends when its input does."""
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
    Gst.init(None)
    pipeline = Gst.parse_launch(
        "appsrc name=src format=time caps=application/x-json ! cclmqttsink name=sink topic=t/{source-id} keep-alive=5 "
        "max-reconnect-delay=500000000 queue-size=100000 drain-timeout=40000000000 async=false "
        f"uri=mqtt://127.0.0.1:{options.port} qos-level={options.qos} protocol-version={options.version}"
        + (f" spool-location={options.spool_location}" if options.spool else ""))
    source, sink = pipeline.get_by_name("src"), pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    pushed, start = 0, time.monotonic()

    def report():
        stats = sink.get_property("stats")
        values = {stats.nth_field_name(i): stats.get_value(stats.nth_field_name(i)) for i in range(stats.n_fields())}
        print(json.dumps(values | {"pushed": pushed}), flush=True)

    while not ended.is_set():
        if pushed < (time.monotonic() - start) * RATE:
            index = options.first + pushed
            padding = "x" * (2 * MAX_PACKET if is_too_large(index, options.version) else 200)
            line = json.dumps({"source": f"s{index % N_SOURCES}-{index // N_SOURCES}", "padding": padding})
            source.emit("push-buffer", Gst.Buffer.new_wrapped(line.encode()))
            pushed += 1
        else:
            time.sleep(0.002)
        if pushed % (RATE // 10) == 0:
            report()
    source.emit("end-of-stream")
    pipeline.get_bus().timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.EOS)
    report()
    pipeline.set_state(Gst.State.NULL)


class Publisher:
    def __init__(self, options, port, spool_location, first):
        self.stats = {"accepted": 0, "pushed": 0}
        self.first = first
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--publish", f"--port={port}", f"--qos={options.qos}", f"--version={options.version}",
             f"--first={first}", f"--spool-location={spool_location}"] + ["--spool"] * options.spool,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.max_bytes = 0
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for text in self.process.stdout:
            try:
                self.stats = json.loads(text)
            except ValueError:          # killed in the middle of a line
                continue
            self.max_bytes = max(self.max_bytes, self.stats["queued-bytes"])

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()

    def end(self):
        self.process.stdin.close()
        status = self.process.wait()
        self.reader.join()
        assert status == 0, status


# ---------------------------------------------------------------- faults


class Run:
    def __init__(self, options, folder):
        self.options = options
        self.random = random.Random(options.seed)
        self.broker = Broker(folder)
        self.proxy = Proxy(self.broker.port)
        self.spool = folder / "spool"
        self.publishers = [Publisher(options, self.proxy.port, self.spool, 0)]
        self.faults = collections.Counter()

    def pause(self, least, most):
        time.sleep(self.random.uniform(least, most))

    def kill_broker(self):
        self.broker.kill()
        self.pause(0, 0.7)
        self.broker.start()

    def stop_broker(self):
        self.broker.signal(signal.SIGSTOP)
        self.pause(0.3, 2 if self.options.seconds < 60 else 12)
        self.broker.signal(signal.SIGCONT)

    def refuse(self):
        for allowed in (False, True):
            self.broker.set_acl(allowed)
            self.broker.signal(signal.SIGHUP)
            self.pause(0.2, 0.6)

    def cut(self):
        self.proxy.cut()

    def slow_down(self):
        self.proxy.speed = self.random.choice([2000, 8000])
        self.pause(0.5, 2)
        self.proxy.speed = None

    def partition(self):
        self.proxy.speed = 0
        self.pause(0.3, 2 if self.options.seconds < 60 else 12)
        self.proxy.speed = None

    def kill_pipeline(self):
        last = self.publishers[-1]
        last.kill()
        # What it pushed after its last report is not known: the numbers go on behind a gap.
        first = last.first + (last.stats["pushed"] + 2 * RATE) // N_SOURCES * N_SOURCES
        self.publishers.append(Publisher(self.options, self.proxy.port, self.spool, first))

    def run(self):
        faults = [self.kill_broker, self.stop_broker, self.refuse, self.cut, self.slow_down, self.partition]
        faults += [self.kill_pipeline] * 2 * self.options.spool
        end = time.monotonic() + self.options.seconds
        while time.monotonic() < end:
            self.pause(0.3, 2)
            fault = self.random.choice(faults)
            self.faults[fault.__name__] += 1
            fault()
        self.pause(0.5, 1)
        self.publishers[-1].end()
        self.broker.kill()

    # ------------------------------------------------------------ the checks

    def expected(self):
        """The indices that must have come, and those that may have: all of a pipeline up to its next one's first."""
        must, may = set(), set()
        for i, publisher in enumerate(self.publishers):
            last = publisher is self.publishers[-1]
            first, stats = publisher.first, publisher.stats
            must |= set(range(first, first + stats["accepted"] - stats.get("dropped-full", 0)))
            may |= set(range(first, first + stats["pushed"] if last else self.publishers[i + 1].first))
        return [{i for i in indices if not is_too_large(i, self.options.version)} for indices in (must, may)]

    def check(self):
        must, may = self.expected()
        seen, newest, repeated, overtaken = set(), [-1] * N_SOURCES, 0, []
        for source, number, _denied in self.broker.lines:
            index = number * N_SOURCES + source
            repeated += index in seen
            if index not in seen and number < newest[source]:
                overtaken.append((source, number))
            newest[source] = max(newest[source], number)
            seen.add(index)
        stats = self.publishers[-1].stats
        denied = len({line[:2] for line in self.broker.lines if line[2]})
        print(f"{len(must)} lines accepted, {len(must - seen)} lost, {len(overtaken)} overtaken, {repeated} repeated, "
              f"{denied} denied, {len(seen - must)} more came, {len(self.publishers)} pipelines")
        print(f"connects {stats['connects']}, refused {stats['dropped-refused']}, push max {stats['host-us-max']:.0f} "
              f"and mean {stats['host-us-avg']:.0f} microseconds, queue at most "
              f"{max(p.max_bytes for p in self.publishers)} bytes, latency mean {stats['latency-us-avg'] / 1000:.0f} ms")
        print("faults:", dict(self.faults))
        others = {name: value for name, value in stats.items()
                  if name.startswith("dropped-") and name != "dropped-refused" and value}
        assert must <= seen, f"lost: {sorted(must - seen)[:20]}"
        assert seen <= may, f"unknown: {sorted(seen - may)[:20]}"
        assert not overtaken, overtaken[:20]
        assert not others, others
        assert stats["published"] + stats["dropped-refused"] == stats["accepted"] + stats["recovered"], stats
        assert stats["host-us-max"] < 100000 and stats["host-us-avg"] < 2000, "a push waited"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("--version", default="auto", choices=["auto", "5", "3.1.1"])
    parser.add_argument("--qos", type=int, default=1, choices=[1, 2])
    parser.add_argument("--spool", action="store_true")
    for name in ("--port", "--first"):
        parser.add_argument(name, type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--spool-location", help=argparse.SUPPRESS)
    parser.add_argument("--publish", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.publish:
        publish(options)
        return 0
    if not shutil.which("mosquitto", path=PATH):
        print("mosquitto is not installed")
        return SKIPPED
    print(f"--seconds {options.seconds:g} --seed {options.seed} --version {options.version} --qos {options.qos}"
          + " --spool" * options.spool, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        run = Run(options, pathlib.Path(folder))
        try:
            run.run()
        finally:
            run.broker.kill()
            run.publishers[-1].process.kill()
        run.check()
    return 0


if __name__ == "__main__":
    sys.exit(main())
