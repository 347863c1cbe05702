# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The YAML file of examples/fleet, and the pipelines that are made of it. Needs PyYAML, neither Ray nor GStreamer."""
import dataclasses
import importlib.util
import json
import os
import subprocess
import sys
import unittest

import parts

if not importlib.util.find_spec("yaml"):
    print("skipped: no PyYAML")
    sys.exit(77)

import chain
import settings as fleet_settings  # of examples/fleet: this file is __main__

CAMERA = """
cameras:
  - name: door
    source: {file: /v.avi}
    sink: {file: {folder: /tmp}}
"""


def camera(**keys):
    """The dictionary of a camera with these keys, as YAML in one line."""
    lines = "".join(f"    {name.replace('_', '-')}: {value}\n" for name, value in keys.items())
    return dataclasses.asdict(fleet_settings.parse("cameras:\n  - name: door\n" + lines, "f.yaml")[0])


class Settings(unittest.TestCase):
    def faults(self, text):
        with self.assertRaises(fleet_settings.SettingsError) as caught:
            fleet_settings.parse(text, "f.yaml")
        return str(caught.exception).splitlines()

    def test_example(self):
        cameras = fleet_settings.read(str(parts.FLEET / "fleet.yaml"))
        self.assertEqual([c.name for c in cameras], ["door", "yard", "made-up"])
        self.assertEqual([c.rate for c in cameras], [10, 5, 10])
        self.assertEqual(cameras[0].source["password-env"], "DOOR_PASSWORD")
        self.assertEqual(cameras[2].sink, {"kind": "file", "folder": "/var/lib/fleet"})

    def test_own_values_come_first(self):
        text = "defaults: {label: {min-area: 5, sort: raster}, tags: {site: A}, cpus: 2}\n" + CAMERA
        found = fleet_settings.parse(text + "    label: {min-area: 9}\n    tags: {floor: 1}\n", "f.yaml")[0]
        self.assertEqual(found.elements["label"], {"min-area": 9, "sort": "raster"})
        self.assertEqual((found.tags, found.cpus), ({"site": "A", "floor": 1}, 2))

    def test_digest(self):
        one, other = (fleet_settings.parse(CAMERA + line, "f.yaml")[0] for line in ("", "    rate: 5\n"))
        self.assertNotEqual(one.digest(), other.digest())
        self.assertEqual(one.digest(), fleet_settings.parse(CAMERA, "g.yaml")[0].digest())

    def test_faults(self):
        for line, where, word in [
                ("    widht: 3", "f.yaml:6: cameras[0].widht", "unknown key"),
                ("    rate: 3\n    rate: 4", "f.yaml:7: cameras[0].rate", "twice"),
                ("    rate: many", "f.yaml:6: cameras[0] (door).rate", "whole number"),
                ("    gpus: -1", "f.yaml:6: cameras[0] (door).gpus", "at least 0"),
                ("    cpus: .nan", "f.yaml:6: cameras[0] (door).cpus", "number"),
                ("    width: 3", "f.yaml:3: cameras[0] (door)", "go together"),
                ("    json: {tags: x}", "f.yaml:6: cameras[0] (door).json.tags", "fleet sets"),
                ("    label: {min_area: 3}", "f.yaml:6: cameras[0] (door).label.min_area", "no name of a property"),
                ("    label: {min-area: [3]}", "f.yaml:6: cameras[0] (door).label.min-area", "one value"),
                ("    tags: {run: 3}", "f.yaml:6: cameras[0] (door).tags.run", "fleet sets"),
                ("    zones: [3]", "f.yaml:6: cameras[0] (door).zones", "mapping"),
                ("  - name: door\n    source: {file: x}\n    sink: {file: {folder: x}}", "f.yaml:6: cameras[1].name", "already"),
                ("  - name: a/b", "f.yaml:6: cameras[1].name", "fit"),
                ("  - name: b", "f.yaml:6: cameras[1] (b)", "sink is missing"),
                ("  - name: b\n    source: {rtsp: 'http://u:pw@h/', loop: true}",
                 "f.yaml:7: cameras[1] (b).source.loop", "go with"),
                ("  - name: b\n    source: {file: x, device: y}", "f.yaml:7: cameras[1] (b).source", "one of"),
                ("  - name: b\n    sink: {mqtt: {uri: x}, file: {folder: x}}", "f.yaml:7: cameras[1] (b).sink", "one of"),
                ("  - [", "f.yaml:7", "expected")]:
            with self.subTest(line=line):
                faults = self.faults(CAMERA + line + "\n")
                fitting = [fault for fault in faults if fault.startswith(where) and word in fault]
                self.assertTrue(fitting, faults)

    def test_no_cameras(self):
        for text in ("", "cameras: []", "defaults: {rate: 3}", "cameras: 3"):
            self.assertTrue(self.faults(text)[0].startswith("f.yaml:1"), text)

    def test_secrets(self):
        text = CAMERA + "  - name: b\n    source: {rtsp: 'http://u:hidden@h/x', 'rtsp://u:hidden@h': 1}\n"
        self.assertNotIn("hidden", "".join(self.faults(text)))
        self.assertEqual(fleet_settings.mask("no rtsp://u:p@ss:w@h/x"), "no rtsp://u:***@h/x")

    def test_shards(self):
        cameras = list(range(10))
        found = [fleet_settings.shard(cameras, f"fleet-{i}/3") for i in range(3)]
        self.assertEqual(sorted(sum(found, [])), cameras)
        self.assertEqual(fleet_settings.shard(cameras, "1/4"), [1, 5, 9])
        for text in ("3/3", "1", "x/3", "0/0"):
            with self.assertRaises(fleet_settings.SettingsError):
                fleet_settings.shard(cameras, text)


class Chains(unittest.TestCase):
    SINK = "{file: {folder: /tmp}}"

    def test_sources(self):
        for source, start, key, value in [
                ("{file: /v.avi}", "filesrc name=source ! decodebin ! identity", "location", "/v.avi"),
                ("{device: /dev/video1}", "v4l2src name=source ! decodebin ! queue", "device", "/dev/video1"),
                ("{rtsp: 'rtsp://u:pw@h/x', latency: 50}", "rtspsrc name=source ! application/x-rtp", "latency", 50)]:
            text, properties = chain.camera_chain(camera(source=source, sink=self.SINK), "r")
            self.assertTrue(text.startswith(start), text)
            self.assertEqual(properties["source"][key], value)
            self.assertNotIn("pw", text)

    def test_password_from_the_environment(self):
        os.environ["FLEET_TEST_PASSWORD"] = "hidden"
        text, properties = chain.camera_chain(
            camera(source="{rtsp: 'rtsp://h/x', user: u, password-env: FLEET_TEST_PASSWORD}", sink=self.SINK), "r")
        self.assertEqual((properties["source"]["user-id"], properties["source"]["user-pw"]), ("u", "hidden"))
        self.assertNotIn("hidden", text)

    def test_analysis(self):
        zones = "{zones: [{name: a b, line: [[0, 0], [9, 9]]}]}"
        text, properties = chain.camera_chain(camera(
            source="{file: x}", sink="{mqtt: {qos-level: 2}}", width=64, height=48, rate=5, zones=zones, gpus=0.5,
            track="{min-hits: 2}"), "run-1")
        self.assertIn("max-rate=5 ! videoscale ! videoconvert ! video/x-raw,format=I420,width=64,height=48 ! cclmotion", text)
        self.assertTrue(text.endswith("cclzone name=zone ! cclmeta2json name=json ! cclmqttsink name=sink sync=false"), text)
        self.assertEqual(json.loads(properties["zone"]["zones"])["zones"][0]["name"], "a b")
        self.assertEqual(json.loads(properties["json"]["tags"]), {"run": "run-1"})
        self.assertEqual(properties["sink"], {"qos-level": 2, "topic": "cameras/{source-id}/blobs"})
        self.assertNotIn("backend", properties["motion"])

    def test_without_zones_and_gpu(self):
        text, properties = chain.camera_chain(camera(source="{file: x}", sink=self.SINK), "r")
        self.assertNotIn("cclzone", text)
        self.assertEqual((properties["motion"]["backend"], properties["label"]["backend"]), ("cpu", "cpu"))
        self.assertEqual(properties["sink"]["location"], "/tmp/door.ndjson")

    def test_recording(self):
        text, properties = chain.recording_chain(camera(recordings="[x]", sink=self.SINK), "/r.avi")
        self.assertNotIn("sync=true", text)
        self.assertEqual(properties["source"], {"location": "/r.avi"})


class Commands(unittest.TestCase):
    def fleet(self, *arguments):
        return subprocess.run([sys.executable, parts.FLEET / "fleet.py", *arguments], capture_output=True, text=True,
                              timeout=60, check=False)

    def test_wrong(self):
        for arguments, word in [(("check", "/nowhere.yaml"), "nowhere"), (("run",), "FLEET.yaml"), ((), "command"),
                                (("check", str(parts.FLEET / "fleet.yaml"), "--shard", "9/2"), "--shard")]:
            run = self.fleet(*arguments)
            self.assertEqual(run.returncode, 2, run)
            self.assertIn(word, run.stderr)
            self.assertNotIn("Traceback", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
