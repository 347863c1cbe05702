#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""Faults of brokers, networks, clocks and pipelines at random, from a printed seed: nothing accepted is lost, nothing overtakes.

    faults.py [--seconds 10] [--seed N] [--protocol mqtt|nats|kafka] [--version auto] [--qos 1] [--spool]

Brokers are killed and stopped, they refuse and are full. Cables are cut and slow. Wall clocks jump. Eight sources publish 100
lines a second in all; some are larger than a broker takes. With --spool the pipeline is killed too. What the broker holds, or its
log, says which lines came, in which order."""

import argparse
import collections
import os
import pathlib
import random
import sys
import tempfile
import time

import network
from kafkabrokers import KafkaBrokers
from mosquitto import Mosquitto
from natsservers import NatsServers
from publisher import DRAIN_SECONDS, LONG, N_SOURCES, Lines, Publisher
from wallclock import WallClock

PROTOCOLS = {"mqtt": Mosquitto, "nats": NatsServers, "kafka": KafkaBrokers}
SKIPPED = 77
QUEUE_BYTES = 16 << 20
MAX_BLOCKED_MS = 100
MAX_MEAN_US = 2000


class Run:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.random = random.Random(options.seed)
        brokers = PROTOCOLS[options.protocol]
        self.network = network.make(brokers.places)
        self.clocks = {name: WallClock(folder, name) for name in ["pipeline"] + ["brokers"] * brokers.has_c_clock}
        missing = self.clocks["pipeline"].missing()
        if missing:
            print(f"no clock jumps: {missing}", flush=True)
            self.clocks = {}
        self.brokers = brokers(options, folder, self.network, self.environment("brokers"))
        print(f"{self.brokers.version()}, {self.network.name}", flush=True)
        self.publishers = []
        self.faults = collections.Counter()
        self.start_pipeline(0)

    def environment(self, name):
        return self.clocks[name].environment() if name in self.clocks else dict(os.environ)

    def n_pushed(self):
        return sum(publisher.n_pushed() for publisher in self.publishers)

    def start_pipeline(self, first):
        sink = (f"{self.brokers.sink()} max-reconnect-delay=500000000 queue-size=100000 queue-bytes={QUEUE_BYTES} "
                f"drain-timeout={DRAIN_SECONDS}000000000")
        if self.options.spool:
            sink += f" spool-location={self.folder}/spool"
        lines = Lines(sink, str(self.folder / f"count{len(self.publishers)}"), self.brokers.has_topic_numbers, first,
                      **self.brokers.large_lines())
        environment = self.environment("pipeline")
        if self.options.protocol == "nats":
            environment |= self.brokers.pipeline_environment(len(self.publishers))
        self.publishers.append(Publisher(lines, lambda command: self.network.command("pipeline", command), environment))

    # ------------------------------------------------------------ faults

    def pause(self, least, most):
        time.sleep(self.random.uniform(least, most))

    def long_pause(self):
        self.pause(0.3, 2 if self.options.seconds < 60 else 12)

    def slow_cable(self):
        self.network.limit("pipeline", self.random.choice([16_000, 64_000, 200_000]))
        self.pause(0.5, 2)
        self.network.mend("pipeline")

    def cut_cable(self):
        self.network.cut("pipeline")
        self.long_pause()
        self.network.mend("pipeline")

    def break_connections(self):
        self.network.break_connections()

    def set_clock(self):
        """A second, minutes, or days, back or forth."""
        clock = self.clocks[self.random.choice(sorted(self.clocks))]
        clock.set(self.random.choice([0, 1, 60, 3600, 100_000]) * self.random.choice([-1, 1]))

    def kill_pipeline(self):
        last = self.publishers[-1]
        last.kill()
        self.start_pipeline((last.lines.first + last.n_pushed() + N_SOURCES - 1) // N_SOURCES * N_SOURCES)

    def all_faults(self):
        def with_run(fault):
            def call():
                fault(self)
            call.__name__ = fault.__name__
            return call

        # Kafka's brokers announce their own ports, past a proxy.
        has_cable = self.network.name == "namespaces" or self.options.protocol != "kafka"
        faults = [with_run(fault) for fault in self.brokers.faults(self.network)]
        faults += [self.cut_cable] * has_cable + [self.slow_cable] * (has_cable and self.network.can_slow)
        faults += [self.break_connections] * (has_cable and self.network.name == "proxies")
        faults += [self.set_clock] * bool(self.clocks)
        faults += [self.kill_pipeline] * 2 * self.options.spool
        return [fault for fault in faults if not self.options.only or fault.__name__ in self.options.only.split(",")]

    def run(self):
        """Each fault comes once before one comes again. A short run begins with a kill."""
        faults = self.all_faults()
        left = [self.kill_pipeline if self.options.spool and not self.options.only else faults[0]]
        end = time.monotonic() + self.options.seconds
        while time.monotonic() < end:
            self.pause(0.3, 2)
            left = left or self.random.sample(faults, len(faults))
            fault = left.pop()
            self.faults[fault.__name__] += 1
            fault()
            self.brokers.after_fault(self)
        self.brokers.after_faults()
        self.pause(0.5, 1)
        self.publishers[-1].end()

    def close(self):
        for publisher in self.publishers:
            publisher.process.kill()
        self.brokers.close()
        self.network.close()

    # ------------------------------------------------------------ the checks

    def expected(self):
        """The indices of lines that must have come, and of those that may have: all that were pushed."""
        must, may = set(), set()
        for publisher in self.publishers:
            first, stats, lines = publisher.lines.first, publisher.stats, publisher.lines
            accepted = range(first, first + stats["accepted"] - stats.get("dropped-full", 0))
            pushed = range(first, first + publisher.n_pushed())
            must |= {i for i in accepted if not lines.is_large(i)}
            may |= {i for i in pushed if not lines.is_large(i)}
        return must, may

    def check(self):
        lines = self.brokers.read_lines()
        must, may = self.expected()
        seen, newest, repeated, overtaken = set(), [-1] * N_SOURCES, 0, []
        for source, number in lines:
            index = number * N_SOURCES + source
            repeated += index in seen
            if index not in seen and number < newest[source]:
                overtaken.append((source, number))
            newest[source] = max(newest[source], number)
            seen.add(index)
        lost = sorted(must - seen)
        n_late = len(overtaken)
        overtaken = [line for line in overtaken if line not in self.brokers.may_be_late()]
        print(f"{len(must)} lines accepted, {len(lost)} lost, {len(overtaken)} overtaken, {repeated} repeated; "
              f"{self.brokers.remarks()}" + f", {n_late - len(overtaken)} of them late" * (n_late > len(overtaken)))
        self.print_numbers(must, may, seen)
        self.check_stats()
        assert seen <= may, f"unknown: {sorted(seen - may)[:20]}"
        limit = self.brokers.max_repeated(self.publishers)
        assert limit is None or repeated <= limit, f"{repeated} repeated, at most {limit} may be"
        assert not overtaken, overtaken[:20]
        if lost and len(lost) <= self.brokers.n_lost_by_servers():
            print(f"the lost lines were acknowledged: {self.brokers.version()} is too old to keep them")
        else:
            assert not lost, f"lost: {lost[:20]}"

    def print_numbers(self, must, may, seen):
        stats = self.publishers[-1].stats
        if self.options.spool:
            tail = may - must
            print(f"{len(self.publishers)} pipelines; of {len(tail)} lines pushed shortly before a kill, "
                  f"{len(tail & seen)} came")
        print(f"connects {stats['connects']}, refused {stats['dropped-refused']}, queue at most "
              f"{max(publisher.max_bytes for publisher in self.publishers)} bytes, memory "
              f"{self.max_stat('memory') >> 20} MiB, latency mean {stats['latency-us-avg'] / 1000:.0f} ms")
        n_switched = sum(publisher.stats.get("pushes-switched", 0) for publisher in self.publishers)
        print(f"push max {self.max_stat('push-ms-max'):.1f} ms, blocked for at most {self.max_stat('blocked-ms-max'):.1f} ms, "
              f"longest wait for a processor {self.max_stat('wait-ms-max'):.1f} ms, "
              f"{n_switched} pushes with a voluntary context switch; in the element max {self.max_stat('host-us-max'):.0f} "
              f"and mean {stats['host-us-avg']:.0f} microseconds")
        print("faults:", dict(self.faults), flush=True)

    def max_stat(self, name):
        return max(publisher.stats.get(name, 0) for publisher in self.publishers)

    def check_stats(self):
        stats = self.publishers[-1].stats
        others = {name: value for name, value in stats.items()
                  if name.startswith("dropped-") and name != "dropped-refused" and value}
        assert not others, others
        assert stats["published"] + stats["dropped-refused"] == stats["accepted"] + stats["recovered"], stats
        assert max(publisher.max_bytes for publisher in self.publishers) <= QUEUE_BYTES
        # A thread that waits for a processor is not blocked; but the one that has a lock may wait as long.
        # Where the kernel does not tell the two apart, nothing is said.
        if self.max_stat("can-tell-blocked"):
            wait_ms = self.max_stat("wait-ms-max")
            assert self.max_stat("blocked-ms-max") < MAX_BLOCKED_MS + 2 * wait_ms, "a push waited"
            assert self.max_stat("blocked-ms-usual") < 1000 * LONG + 2 * wait_ms, "pushes waited"
        assert stats["host-us-avg"] < MAX_MEAN_US, "pushes take long"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("--protocol", default="mqtt", choices=sorted(PROTOCOLS))
    parser.add_argument("--version", default="auto", choices=["auto", "5", "3.1.1"], help="of MQTT")
    parser.add_argument("--qos", type=int, default=1, choices=[1, 2], help="of MQTT")
    parser.add_argument("--spool", action="store_true")
    parser.add_argument("--only", help="names of faults, as a run prints them, with commas between")
    options = parser.parse_args()
    missing = PROTOCOLS[options.protocol].missing()
    if missing:
        print(missing)
        return SKIPPED
    network.enter_namespace()
    print(f"--protocol {options.protocol} --seconds {options.seconds:g} --seed {options.seed} --version {options.version} "
          f"--qos {options.qos}" + " --spool" * options.spool + f" --only {options.only}" * bool(options.only), flush=True)
    network.end_at_once()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        run = Run(options, pathlib.Path(folder))
        try:
            run.run()
            run.check()
        finally:
            run.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
