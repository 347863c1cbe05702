#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Many cameras, on this machine or on a Ray cluster.

    fleet.py check   FLEET.yaml                          every fault of the file, with its line
    fleet.py run     FLEET.yaml                          on this machine, until Ctrl-C
    fleet.py run     FLEET.yaml --address HOST:PORT      on a Ray cluster; Ctrl-C leaves the cameras running
    fleet.py status  --address HOST:PORT                 a line for each camera
    fleet.py stop    --address HOST:PORT                 ends all cameras
    fleet.py archive FLEET.yaml FOLDER [--address ...]   recordings to Parquet files in FOLDER; goes on where it was stopped
    fleet.py probe   --state FILE --ready | --alive      for Kubernetes: exit status 0 or 1

docs/fleet.md says more.
"""
from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import camera as one_camera
import settings
from cluster import Cluster, Local, Place

STATE_SECONDS = 5.0  # between two looks at the cameras
STALE_SECONDS = 60.0  # a state file that is older belongs to a program that hangs


def table(states: dict[str, dict[str, Any]]) -> str:
    rows = [("camera", "state", "frames", "lines", "starts", "machine", "reason")]
    for name, state in sorted(states.items()):
        rows.append((name, state["state"], *(str(state.get(field, "")) for field in rows[0][2:])))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def summary(states: dict[str, dict[str, Any]]) -> str:
    phases = [state["state"] for state in states.values()]
    parts = [f"{phases.count(phase)} {phase}" for phase in dict.fromkeys(sorted(phases))]
    bad = [f"{name}: {state['reason']}" for name, state in sorted(states.items())
           if state["state"] in ("waits", "silent") and state.get("reason")]
    return "; ".join([", ".join(parts), *bad[:5], *([f"and {len(bad) - 5} more"] if len(bad) > 5 else [])])


def write_state(path: str, states: dict[str, dict[str, Any]]) -> None:
    """Whole or not at all: a probe reads it at any time."""
    part = f"{path}.part"
    pathlib.Path(part).write_text(json.dumps({"time": time.time(), "cameras": states}), "utf-8")
    os.replace(part, path)


def read_cameras(options: argparse.Namespace) -> list[settings.Camera]:
    cameras = settings.read(options.file)
    return settings.shard(cameras, options.shard) if options.shard else cameras


def place_of(options: argparse.Namespace) -> Place:
    return Cluster(options.address) if options.address else Local()


def check(options: argparse.Namespace) -> int:
    """The file itself, then each pipeline with its elements, in the Python that has GStreamer."""
    faults = 0
    for camera in read_cameras(options):
        job = {"mode": "check", "camera": dataclasses.asdict(camera)}
        run = subprocess.run([one_camera.python(), str(one_camera.RUNNER)], input=json.dumps(job), capture_output=True,
                             text=True, timeout=120, check=False)
        if run.returncode == 0:
            continue
        said = json.loads(run.stdout)["end"] if run.stdout else run.stderr.strip().splitlines()[-1]
        print(f"{options.file}: {camera.name}: {said}", file=sys.stderr)
        faults += 1
    if not faults:
        print(f"{options.file}: no fault")
    return 1 if faults else 0


def run(options: argparse.Namespace) -> int:
    cameras = [camera for camera in read_cameras(options) if camera.source]
    place = place_of(options)
    ended = threading.Event()
    received: list[int] = []

    def on_signal(number: int, _frame: Any) -> None:
        received.append(number)
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):  # after Ray, which has a handler of its own
        signal.signal(number, on_signal)
    for line in place.apply(cameras):
        print(line, flush=True)
    said = ""
    while not ended.wait(options.interval):
        states = place.states()
        if options.state:
            write_state(options.state, states)
        if (text := summary(states)) != said:
            print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)
            said = text
    if options.address:
        print(f"the cameras go on; `fleet.py stop --address {options.address}` ends them")
    else:
        place.stop()
        print(table(place.states()))
    # A job of Kubernetes that is moved has not succeeded.
    return 128 + signal.SIGTERM if signal.SIGTERM in received else 0


def status(options: argparse.Namespace) -> int:
    states = place_of(options).states()
    print(json.dumps(states) if options.json else table(states))
    return 0 if all(state["state"] == "delivers" for state in states.values()) else 1


def stop(options: argparse.Namespace) -> int:
    print(f"stopped {len(place_of(options).stop())} cameras")
    return 0


def archive(options: argparse.Namespace) -> int:
    import archive as recordings  # with tqdm and pyarrow
    good = recordings.run(settings.read(options.file), options.folder, options.address, options.shard, options.retry)
    return 0 if good or options.tolerate else 1


def probe(options: argparse.Namespace) -> int:
    """Alive: the program looks at its cameras. Ready: each of them delivers."""
    try:
        state = json.loads(pathlib.Path(options.state).read_text("utf-8"))
    except (OSError, ValueError) as error:
        print(error)
        return 1
    age = time.time() - state["time"]
    late = [name for name, camera in state["cameras"].items() if camera["state"] != "delivers"]
    if age > STALE_SECONDS or (options.ready and late):
        print(f"{age:.0f} s old; not delivering: {', '.join(late) or 'none'}")
        return 1
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="docs/fleet.md says more.")
    commands = parser.add_subparsers(dest="command", required=True)
    parsers = {f.__name__: commands.add_parser(f.__name__) for f in (check, run, status, stop, archive, probe)}
    for name in ("check", "run", "archive"):
        parsers[name].add_argument("file", metavar="FLEET.yaml")
        parsers[name].add_argument("--shard", metavar="I/N", help="every N-th camera or recording only, from the I-th on")
    for name in ("run", "archive"):
        parsers[name].add_argument("--address", help="a Ray cluster, HOST:PORT or auto")
    parsers["archive"].add_argument("folder", metavar="FOLDER", help="for the results; on a cluster all machines see it")
    parsers["archive"].add_argument("--tolerate", action="store_true", help="exit status 0 although recordings failed")
    parsers["archive"].add_argument("--retry", action="store_true", help="also what failed before")
    for name in ("status", "stop"):
        parsers[name].add_argument("--address", default="auto", help="a Ray cluster (default: the one of this machine)")
    parsers["status"].add_argument("--json", action="store_true", help="as JSON")
    parsers["run"].add_argument("--interval", type=float, default=STATE_SECONDS, help="seconds between two looks at the cameras")
    parsers["run"].add_argument("--state", metavar="FILE", help="write the state of the cameras there, for `probe`")
    parsers["probe"].add_argument("--state", metavar="FILE", required=True)
    kind = parsers["probe"].add_mutually_exclusive_group(required=True)
    kind.add_argument("--ready", action="store_true")
    kind.add_argument("--alive", action="store_true")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    try:
        return globals()[options.command](options)
    except (settings.SettingsError, ImportError, ConnectionError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
