# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The server of examples/live/ as a process, and requests to it."""
import http.client
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

PROBE = "import gi; gi.require_version('GstCcl', '1.0'); from gi.repository import GstCcl"


def missing():
    """What the server lacks here, or None."""
    if not importlib.util.find_spec("aiohttp"):
        return "python3-aiohttp"
    if subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=False).returncode:
        return "python3-gi and the typelib GstCcl-1.0"
    return None


def video(path, seconds=4):
    """A ball that goes to and fro, as Matroska with JPEG, which needs no other plugins than the page."""
    subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "pattern=ball", f"num-buffers={30 * seconds}", "!",
                    "video/x-raw,format=I420,width=320,height=240,framerate=30/1", "!", "jpegenc", "!", "matroskamux",
                    "streamable=true", "!", "filesink", f"location={path}"], check=True, timeout=60)


class Live:
    """kept: the folder of another server, to go on with. environment: what is added to ours."""

    def __init__(self, source, *arguments, kept=None, environment=None):
        self.folder = tempfile.mkdtemp(prefix="live-test-")
        self.kept = kept or os.path.join(self.folder, "kept")
        self.log = open(os.path.join(self.folder, "log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(source, "examples", "live", "main.py"), "--port", "0", "--folder",
             self.kept, *arguments],
            stdout=subprocess.PIPE, stderr=self.log, text=True,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})})
        line = self.process.stdout.readline()
        if not line:
            self.process.wait(10)
            raise RuntimeError(self.messages())
        self.url = re.search(r"http://\S+", line)[0]
        self.port = int(re.search(r":(\d+)/", self.url)[1])

    def messages(self):
        self.log.flush()
        with open(self.log.name, encoding="utf-8") as file:
            return file.read()

    def stop(self):
        """The exit status."""
        self.process.terminate()
        status = self.process.wait(60)
        self.process.stdout.close()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return status

    def ask(self, method, path, body=None, headers=None):
        """Status and body; JSON is parsed. A body that is no string is sent as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        if method in ("POST", "PUT"):
            headers.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            data = answer.read()
            kind = answer.headers.get("Content-Type", "")
            return answer.status, json.loads(data) if kind.startswith("application/json") else data
        finally:
            connection.close()

    def get(self, path):
        status, body = self.ask("GET", path)
        if status != 200:
            raise AssertionError(f"{path}: {status} {body}")
        return body

    def camera(self, index=0):
        return self.get("/api/cameras")[index]

    def wait(self, test, seconds=60.0):
        """Until test() gives something true; returns it."""
        end = time.monotonic() + seconds
        while True:
            value = test()
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s; {self.camera()}; {self.messages()}")
            time.sleep(0.05)
