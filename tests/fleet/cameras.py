# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras of examples/fleet with real pipelines on this machine, without Ray. In `meson devenv`."""
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import parts

for module in ("gi", "yaml"):
    if not importlib.util.find_spec(module):
        print(f"skipped: no {module}")
        sys.exit(77)

FLEET = str(parts.FLEET / "fleet.py")


def children_of(parent):
    return parts.processes_of(parent)[1:]


class Cameras(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="fleet-")))
        parts.clip(cls.folder / "ball.avi", 20)
        os.environ["CCL_FLEET_PYTHON"] = sys.executable

    def write(self, cameras, **defaults):
        """A fleet that writes files, each camera with the keys that are given."""
        defaults = {"motion": {"method": "mog2"}, "silence": 15, "sink": {"file": {"folder": str(self.folder)}}, **defaults}
        path = self.folder / f"{self.id().split('.')[-1]}.yaml"
        path.write_text(json.dumps({"defaults": defaults, "cameras": [{"name": n, **keys} for n, keys in cameras.items()]}))
        return str(path)

    def start(self, path):
        state = self.folder / "state"
        state.unlink(missing_ok=True)
        process = subprocess.Popen([sys.executable, FLEET, "run", path, "--state", state, "--interval", "0.2"],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, state

    def await_state(self, state, condition):
        for _ in range(300):
            if state.exists() and condition(found := json.loads(state.read_text())["cameras"]):
                return found
            time.sleep(0.1)
        self.fail(state.read_text() if state.exists() else "no state")
        return {}

    def probe(self, state, kind):
        return subprocess.run([sys.executable, FLEET, "probe", "--state", state, kind], capture_output=True,
                              check=False).returncode

    def test_killed_pipeline(self):
        """It comes back, with a run of its own, and nothing of the other camera changes."""
        source = {"source": {"file": str(self.folder / "ball.avi"), "loop": True}}
        process, state = self.start(self.write({"one": source, "two": source}))
        self.await_state(state, lambda found: all(found[n]["state"] == "delivers" for n in found))
        self.assertEqual((self.probe(state, "--ready"), self.probe(state, "--alive")), (0, 0))
        before = self.await_state(state, lambda found: all(found[n]["lines"] > 22 for n in found))  # more than the file has
        os.kill(min(children_of(process.pid)), signal.SIGKILL)
        after = self.await_state(state, lambda found: sorted(found[n]["starts"] for n in found) == [1, 2] and
                                 all(found[n]["state"] == "delivers" for n in found))
        self.assertEqual(sum(after[n]["run"] != before[n]["run"] for n in after), 1)
        process.send_signal(signal.SIGTERM)
        output = process.communicate(timeout=30)[0]
        self.assertEqual(process.returncode, 143)
        self.assertIn("killed by signal 9", output)
        for name in ("one", "two"):
            lines = [json.loads(line) for line in (self.folder / f"{name}.ndjson").read_text().splitlines()]
            self.assertEqual({line["source"] for line in lines}, {name})
            runs = list(dict.fromkeys(line["tags"]["run"] for line in lines))
            self.assertEqual(len(runs), after[name]["starts"])
            for run in runs:
                seq = [line["seq"] for line in lines if line["tags"]["run"] == run]
                self.assertEqual(seq, list(range(seq[0], seq[0] + len(seq))))

    def test_parent_killed(self):
        """No pipeline outlives the program that started it."""
        source = {"source": {"file": str(self.folder / "ball.avi"), "loop": True}}
        process, state = self.start(self.write({"three": source}))
        self.await_state(state, lambda found: found["three"]["state"] == "delivers")
        child, = children_of(process.pid)
        process.kill()
        for _ in range(100):
            try:
                status = pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                return
            if status == "Z":
                return
            time.sleep(0.1)
        self.fail("the pipeline is still there")

    def test_hanging_and_missing(self):
        """A stopped process is killed after `silence` and started again, a missing file after a pause; both say why."""
        process, state = self.start(self.write({"mute": {"source": {"file": str(self.folder / "ball.avi"), "loop": True}},
                                                "gone": {"source": {"file": "/nowhere.avi"}}}, silence=2))
        self.await_state(state, lambda found: found["mute"]["state"] == "delivers" and found["gone"]["starts"] >= 2)
        self.assertEqual((self.probe(state, "--ready"), self.probe(state, "--alive")), (1, 0))
        for child in children_of(process.pid):
            os.kill(child, signal.SIGSTOP)
        found = self.await_state(state, lambda found: found["mute"]["starts"] >= 2)
        self.assertIn("silent for", found["mute"]["reason"])
        self.assertIn("nowhere.avi", found["gone"]["reason"])
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)

    def test_check(self):
        good = {"source": {"file": "x"}}
        for label, word in [({"min-area": 5, "connectivity": 4}, None), ({"min-arae": 5}, "no property min-arae"),
                            ({"min-area": -5}, "-5 is not from"), ({"connectivity": 5}, "none of its values"),
                            ({"sort": "by ! size"}, "none of its values"), ({"contours": True}, None)]:
            run = subprocess.run([sys.executable, FLEET, "check", self.write({"four": good}, label=label)],
                                 capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(run.returncode, 1 if word else 0, run)
            self.assertIn(word or "no fault", run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
