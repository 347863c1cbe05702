#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A fleet on a Ray cluster of three nodes on this machine: one of them is killed, and the cameras go on elsewhere.

usage: cluster.py [CAMERAS [CLIPS [TEST]]]     in `meson devenv`; exit status 77 without examples/fleet/requirements.txt
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import parts

os.environ.setdefault("RAY_raylet_start_wait_time_s", "180")  # a busy machine starts slowly

try:
    import ray  # noqa: F401
    import pyarrow.dataset
    import tqdm  # noqa: F401
    import yaml
    from ray.cluster_utils import Cluster
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import rows as rows_of  # noqa: E402  # of examples/fleet, with pyarrow

SECONDS = 60  # in which all cameras deliver again


def fleet(*arguments, timeout=300):
    return subprocess.run([sys.executable, parts.FLEET / "fleet.py", *map(str, arguments)], capture_output=True, text=True,
                          timeout=timeout, check=False)


class Fleet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="fleet-")))
        cls.cluster = Cluster(initialize_head=True, head_node_args={
            "num_cpus": 2, "object_store_memory": 80 << 20, "include_dashboard": False})
        cls.nodes = [cls.cluster.add_node(num_cpus=2, object_store_memory=80 << 20) for _ in range(2)]
        cls.cluster.wait_for_nodes()
        cls.addClassCleanup(cls.cluster.shutdown)


class Cameras(Fleet):
    def setUp(self):
        if not parts.Broker.there():
            self.skipTest("no mosquitto")
        self.killed = set()  # runs of actors that were killed alone
        self.broker = parts.Broker(self.folder)
        self.addCleanup(self.broker.close)
        parts.clip(self.folder / "ball.avi")
        self.file = self.folder / "fleet.yaml"
        self.names = [f"camera-{i:02}" for i in range(n_cameras)]
        zones = {"units": "relative", "zones": [{"name": "gate", "line": [[0.5, 0], [0.5, 1]]}]}
        self.file.write_text(yaml.safe_dump({
            "defaults": {"cpus": 0.1, "motion": {"method": "mog2"}, "json": {"precision": 2}, "zones": zones,
                         "sink": {"mqtt": {"uri": f"mqtt://127.0.0.1:{self.broker.port}"}}},
            "cameras": [{"name": name, "source": {"file": str(self.folder / "ball.avi"), "loop": True}}
                        for name in self.names]}), "utf-8")

    def status(self):
        run = fleet("status", "--address", self.cluster.address, "--json")
        self.assertTrue(run.stdout, run.stderr)
        return json.loads(run.stdout)

    def heard(self, since):
        """The cameras of which a line came after this time."""
        return {line["source"] for arrived, line in self.broker.lines() if arrived > since}

    def await_all(self, since, seconds, done):
        """Seconds until done(), which is asked each half second."""
        while not done():
            if time.time() - since > seconds:
                self.fail(f"not within {seconds} s: {self.status()}")
            time.sleep(0.5)
        return time.time() - since

    def test_lost_node(self):
        started = time.time()
        driver = subprocess.Popen([sys.executable, parts.FLEET / "fleet.py", "run", self.file, "--address", self.cluster.address],
                                  stdout=subprocess.DEVNULL)
        self.addCleanup(driver.wait)
        self.addCleanup(driver.kill)
        start = self.await_all(started, 300, lambda: self.heard(started) == set(self.names))
        time.sleep(10)
        before = {name: state["run"] for name, state in self.status().items()}
        lost_at = time.time()
        n_killed = parts.kill_node(self.nodes[0].all_processes["raylet"][0].process.pid)
        time.sleep(2)  # what was under way has arrived
        again = self.await_all(lost_at, SECONDS, lambda: self.heard(lost_at + 2) == set(self.names))
        time.sleep(10)
        after = self.status()
        moved = [name for name in self.names if after[name]["run"] != before[name]]
        self.assertTrue(moved, "the node had no camera")
        self.assertLess(len(moved), n_cameras)
        driver.kill()  # the cameras are detached
        driver.wait()
        last = self.kill_actor(after)
        self.assertEqual(fleet("stop", "--address", self.cluster.address).stdout, f"stopped {n_cameras} cameras\n")
        time.sleep(2)
        n_lines = self.check_lines(last, before)
        print(f"figures: {n_cameras} cameras started in {start:.0f} s; a node with {len(moved)} of them and {n_killed} processes "
              f"killed: all delivered again after {again:.1f} s; {n_lines} lines")

    def kill_actor(self, states):
        """The process of one camera, with no program that looks on: Ray starts the camera again. Returns the states after."""
        name = self.names[0]
        os.kill(states[name]["pid"], signal.SIGKILL)
        self.killed.add(states[name]["run"])
        killed_at = time.time()
        self.await_all(killed_at, SECONDS, lambda: any(
            line["source"] == name and line["tags"]["run"] not in self.killed and arrived > killed_at
            for arrived, line in self.broker.lines()))
        return self.status()

    def check_lines(self, last, before):
        """No run has a gap or comes twice, and those that were stopped in order are complete."""
        runs, n_lines = self.broker.runs(), 0
        for (name, run), lines in runs.items():
            with self.subTest(camera=name, run=run):
                seq = [line["seq"] for _, line in lines]
                self.assertEqual(seq, list(range(seq[0], seq[0] + len(seq))), "lines are lost, or two processes share a run")
                self.assertLessEqual(seq[0], 1)
                counts = [line["zones"][0]["forward"] + line["zones"][0]["backward"] for _, line in lines]
                self.assertEqual(counts, sorted(counts))
                if run == last[name]["run"]:
                    self.assertGreaterEqual(len(lines), last[name]["counts"]["lines"] - 1)
                else:
                    self.assertIn(run, {before[name], *self.killed})
            n_lines += len(lines)
        self.assertEqual({run for _, run in runs} >= {state["run"] for state in last.values()}, True)
        self.assertEqual(len({run for _, run in runs}), len(runs), "two cameras share a run")
        return n_lines


class Archive(Fleet):
    def setUp(self):
        clips = self.folder / "clips"
        clips.mkdir()
        for i in range(n_clips):
            if i < 10:
                parts.clip(clips / f"{i:03}.avi", 45 + i, ("sweep", "wavy", "hsweep")[i % 3], "width=160,height=120")
            else:
                shutil.copy(clips / f"{i % 10:03}.avi", clips / f"{i:03}.avi")
        (clips / "broken.avi").write_bytes(b"no recording")
        self.file = self.folder / "archive.yaml"
        zones = {"units": "relative", "zones": [{"name": "gate", "line": [[0.5, 0], [0.5, 1]]}]}
        self.file.write_text(yaml.safe_dump({
            "defaults": {"motion": {"method": "mog2"}, "zones": zones, "sink": {"file": {"folder": "."}}},
            "cameras": [{"name": "door", "recordings": [f"{clips}/*.avi"]}]}), "utf-8")

    def rows(self, folder):
        return sorted(json.dumps(row) for row in pyarrow.dataset.dataset(str(folder)).to_table().to_pylist())

    def n_results(self, folder):
        return len(list(folder.glob("*.parquet")))

    def interrupt(self, results):
        """A node is killed after a third of the recordings, the program after two thirds."""
        driver = subprocess.Popen([sys.executable, parts.FLEET / "fleet.py", "archive", self.file, results, "--address",
                                   self.cluster.address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for part in (1, 2):
            while self.n_results(results) < part * n_clips // 3:
                self.assertIsNone(driver.poll(), "it ended early")
                time.sleep(0.1)
            if part == 1:
                parts.kill_node(self.nodes[0].all_processes["raylet"][0].process.pid)
        driver.kill()
        driver.wait()

    def test_three_nodes_against_one(self):
        three, one = self.folder / "three", self.folder / "one"
        started = time.time()
        self.interrupt(three)
        n_before = self.n_results(three)
        again = fleet("archive", self.file, three, "--address", self.cluster.address, timeout=900)
        seconds = time.time() - started
        self.assertEqual(again.returncode, 1, again.stderr)
        self.assertIn("broken.avi", again.stdout)
        self.assertEqual(self.n_results(three), n_clips)
        started = time.time()
        alone = fleet("archive", self.file, one, "--address", "local", timeout=900)
        self.assertIn("1 failed", alone.stdout, alone.stderr)
        rows = self.rows(three)
        self.assertEqual(rows, self.rows(one))
        self.assertEqual(len(set(rows)), len(rows), "a row comes twice")
        files = {rows_of.about(result)["file"] for result in three.glob("*.parquet")}
        self.assertEqual(len(files), n_clips)
        print(f"figures: {n_clips} clips, {len(rows)} rows: three nodes, one killed, and the program killed with {n_before} "
              f"results, {seconds:.0f} s; one node {time.time() - started:.0f} s; the same rows")


if __name__ == "__main__":
    n_cameras = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    n_clips = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
