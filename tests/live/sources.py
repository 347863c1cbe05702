# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Addresses as sources of the live page: a film at its own speed, and JPEGs one by one, here and by the copied line.

usage: sources.py SOURCE_FOLDER
"""
import functools
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import live

SECONDS = 4  # of the film


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_arguments):
        pass


class Sources(unittest.TestCase):
    def setUp(self):
        lacking = live.missing()
        if lacking:
            self.skipTest(f"needs {lacking}")
        if subprocess.run(["gst-inspect-1.0", "--exists", "souphttpsrc"], check=False).returncode:
            self.skipTest("needs souphttpsrc")

    def start(self, *arguments):
        server = live.Live(source, *arguments)
        self.addCleanup(server.stop)
        return server

    def test_film_plays_at_its_own_speed(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        live.video(os.path.join(folder.name, "film.mkv"), SECONDS)
        sender = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder.name))
        threading.Thread(target=sender.serve_forever, daemon=True).start()
        self.addCleanup(sender.server_close)
        self.addCleanup(sender.shutdown)
        began = time.monotonic()
        server = self.start(f"http://127.0.0.1:{sender.server_port}/film.mkv")
        server.wait(lambda: server.camera()["text"] == "The stream has ended.")
        self.assertGreater(time.monotonic() - began, SECONDS - 0.2)

    def test_jpegs_one_by_one(self):
        sender = self.start()
        sender.wait(lambda: sender.camera()["state"] == "playing")
        server = self.start(f"{sender.url}api/cameras/0/video.mjpeg")
        server.wait(lambda: server.camera()["state"] == "playing" and server.camera()["objects"])
        line = server.get("/api/cameras/0/launch")["line"]
        self.assertIn("multipartdemux single-stream=true", line)
        with subprocess.Popen(["sh", "-c", f"exec env {line}"], stdout=subprocess.PIPE, text=True) as run:
            found = json.loads(run.stdout.readline())
            run.kill()
        self.assertEqual(found["frame"], {"w": 640, "h": 360})


if __name__ == "__main__":
    source = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
