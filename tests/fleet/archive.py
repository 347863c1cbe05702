# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recordings to Parquet on this machine, without Ray. In `meson devenv`, with pyarrow and tqdm, or it is skipped."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import parts

for module in ("yaml", "pyarrow", "tqdm"):
    if not importlib.util.find_spec(module):
        print(f"skipped: no {module}")
        sys.exit(77)

import pyarrow.dataset

import rows


def table_of(folder):
    return pyarrow.dataset.dataset(str(folder)).to_table().to_pylist()


class Rows(unittest.TestCase):
    def test_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            table = rows.Table(folder, "a-b", "door", "/v.avi")
            table.take(b'{"seq":3,"pts":40,"blobs":[{"bbox":[1,2,3,4],"area":9,"centroid":[2.5,3.5],"track":7,'
                       b'"state":"confirmed","zones":["gate"]}]}')
            table.take(b'{"seq":4,"pts":80,"blobs":[]}')
            table.take(b'{"event":"cross","zone":"gate","track_id":7,"x":5,"y":6,"direction":"forward","timestamp":80}')
            self.assertEqual([path.suffix for path in folder.iterdir()], [".part"])
            table.finish({"rows": 2})
            self.assertEqual([path.name for path in folder.iterdir()], ["a-b.parquet"])
            blob, event = table_of(folder)
            self.assertEqual((blob["event"], blob["seq"], blob["h"], blob["track"], blob["zones"]), ("blob", 3, 4, 7, ["gate"]))
            self.assertEqual((event["event"], event["pts"], event["direction"], event["zones"]),
                             ("cross", 80, "forward", ["gate"]))
            self.assertEqual(rows.about(folder / "a-b.parquet"), {"rows": 2})

    def test_many(self):
        with tempfile.TemporaryDirectory() as folder:
            table = rows.Table(pathlib.Path(folder), "a-b", "door", "/v.avi")
            for i in range(rows.ROWS_AT_ONCE + 5):
                table.add(seq=i)
            self.assertEqual(len(table.columns["seq"]), 5)
            table.finish({})
            self.assertEqual([row["seq"] for row in table_of(folder)], list(range(rows.ROWS_AT_ONCE + 5)))


class Archive(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="fleet-")))
        self.results = self.folder / "results"
        self.file = self.folder / "fleet.yaml"
        parts.clip(self.folder / "a.avi", 150)
        parts.clip(self.folder / "b.avi", 50, "wavy")
        (self.folder / "broken.avi").write_bytes(b"no recording")
        self.write()

    def write(self, **label):
        self.file.write_text(json.dumps({
            "defaults": {"motion": {"method": "mog2"}, "label": label, "sink": {"file": {"folder": "x"}},
                         "zones": {"units": "relative", "zones": [{"name": "gate", "line": [[0.5, 0], [0.5, 1]]}]}},
            "cameras": [{"name": "door", "recordings": [f"{self.folder}/*.avi", f"{self.folder}/a.*"]}]}))

    def run_archive(self, status, *options):
        run = subprocess.run([sys.executable, parts.FLEET / "fleet.py", "archive", self.file, self.results, *options],
                             capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(run.returncode, status, run)
        return run.stdout.splitlines()

    def test_archive(self):
        said = self.run_archive(1)
        self.assertRegex(said[0], r"3 recordings: 3 analysed now with 200 frames and \d+ rows, 0 before; 1 failed")
        self.assertIn("broken.avi", said[1])
        before = table_of(self.results)
        self.assertEqual({row["file"] for row in before}, {str(self.folder / name) for name in ("a.avi", "b.avi")})
        self.assertIn("cross", {row["event"] for row in before})
        seen = [json.dumps(row) for row in before]
        self.assertEqual(len(set(seen)), len(seen), "a row comes twice")

        # What is missing is made again and nothing else, whatever is left of a call that was killed.
        results = sorted(self.results.glob("*.parquet"))
        times = [result.stat().st_mtime_ns for result in results]
        results[0].unlink()
        old = self.results / ".old-1.part"
        old.touch()
        os.utime(old, (0, 0))
        self.assertIn("1 analysed now", self.run_archive(1)[0])
        self.assertFalse(old.exists())
        self.assertEqual(results[1].stat().st_mtime_ns, times[1])
        self.assertCountEqual(table_of(self.results), before)

        # A recording that is mended, and other settings, replace the results.
        parts.clip(self.folder / "broken.avi", 10)
        self.write(**{"min-area": 100})
        self.assertIn("3 analysed now", self.run_archive(0)[0])
        self.assertEqual(len(list(self.results.glob("*.parquet"))), 3)

    def test_shards(self):
        n_found = sum(int(self.run_archive(status, "--shard", f"{i}/2")[0].split()[0])
                      for i, status in enumerate(self.statuses()))
        self.assertEqual(n_found, 3)

    def statuses(self):
        """1 for a shard with the broken recording, or without any."""
        import archive
        import settings
        jobs = archive.jobs_of(settings.read(str(self.file)), str(self.results))
        for i in range(2):
            mine = [job for job in jobs if int(job.key.split("-")[0], 16) % 2 == i]
            yield int(not mine or any("broken" in job.path for job in mine))


if __name__ == "__main__":
    unittest.main(verbosity=2)
