# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Addresses over HTTP on the live page: a film plays as fast as it was taken, and a camera may send JPEG pictures without end.

usage: web.py SOURCE_FOLDER
"""
import asyncio
import http.server
import json
import os
import shlex
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

try:
    import aiohttp
except ImportError:  # then all is skipped
    aiohttp = None
import live

RATE = 15


def picture():
    return subprocess.run("gst-launch-1.0 -q videotestsrc num-buffers=1 ! video/x-raw,width=320,height=240 ! jpegenc ! "
                          "fdsink".split(), check=True, capture_output=True).stdout


async def pictures(url, n):
    """The time of the last of n pictures that a page gets, with their metadata."""
    async with aiohttp.ClientSession() as session, session.ws_connect(url + "api/cameras/0/stream", max_msg_size=0) as socket:
        pts = []
        async for message in socket:
            if message.type == aiohttp.WSMsgType.BINARY:
                head = json.loads(message.data[4:4 + struct.unpack(">I", message.data[:4])[0]])
                pts.append(head["frame"]["pts"])
                await socket.send_str(json.dumps({"shown": head["number"]}))
            if len(pts) == n:
                break
        return pts[-1] - pts[0]


class Handler(http.server.BaseHTTPRequestHandler):
    film = jpeg = b""

    def do_GET(self):
        self.send_response(200)
        try:
            if self.path == "/film.mkv":
                self.send_header("Content-Length", str(len(self.film)))
                self.end_headers()
                self.wfile.write(self.film)
                return
            self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=next")
            self.end_headers()
            while True:
                head = b"--next\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(self.jpeg)
                self.wfile.write(head + self.jpeg + b"\r\n")
                time.sleep(1 / RATE)
        except OSError:  # the reader hung up
            pass

    def log_message(self, *_arguments):
        """Says nothing."""


class Web(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lacking = live.missing()
        if not lacking and subprocess.run(["gst-inspect-1.0", "souphttpsrc"], capture_output=True, check=False).returncode:
            lacking = "souphttpsrc"
        if lacking:
            raise unittest.SkipTest(f"needs {lacking}")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "film.mkv")
            live.video(path, 6)
            with open(path, "rb") as file:
                Handler.film = file.read()
        Handler.jpeg = picture()
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        cls.address = f"http://127.0.0.1:{cls.server.server_port}"
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.server.shutdown)

    def play(self, name):
        page = live.Live(source, f"{self.address}/{name}")
        self.addCleanup(page.stop)
        page.wait(lambda: page.camera()["state"] == "playing")
        return page

    def test_film(self):
        """180 frames of 30 a second are not through before six seconds have passed."""
        began = time.monotonic()
        page = self.play("film.mkv")
        page.wait(lambda: page.camera()["frames"] >= 100)
        self.assertGreater(time.monotonic() - began, 99 / 30 - 0.2)

    def test_jpeg_camera(self):
        page = self.play("camera")
        page.wait(lambda: page.camera()["frames"] > 20)
        self.assertGreater(asyncio.run(asyncio.wait_for(pictures(page.url, 5), 60)), 0)
        line = page.get("/api/cameras/0/launch")["line"]
        self.assertIn("multipartdemux single-stream=true", line)
        assignment, *command = shlex.split(line)
        name, value = assignment.split("=", 1)
        with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, name: value}) as copied:
            self.assertIn(b'"frame"', copied.stdout.readline())
            copied.kill()


if __name__ == "__main__":
    source = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
