# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Headless Chromium, driven by chromedriver over plain HTTP."""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
BOX = "const b = document.querySelector(arguments[0]).getBoundingClientRect(); return [b.x, b.y, b.width, b.height]"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Delete": "\ue017", "ArrowRight": "\ue014", "ArrowLeft": "\ue012",
        "ArrowUp": "\ue013", "ArrowDown": "\ue015", "Tab": "\ue004"}


def missing():
    """What the browser lacks here, or None."""
    if not shutil.which("chromedriver"):
        return "chromedriver (Debian's chromium-driver)"
    if not any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        return "chromium"
    return None


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Browser:
    def __init__(self, width=1280, height=800, dark=False, phone=False):
        self.folder = tempfile.mkdtemp(prefix="live-browser-")
        self.downloads = os.path.join(self.folder, "downloads")
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env={**os.environ, "TMPDIR": self.folder})
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                            f"--window-size={width},{height}", "--no-first-run", "--disable-extensions",
                            f"--user-data-dir={self.folder}/profile"]
                   + (["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if dark else [])}
        options["prefs"] = {"download.default_directory": self.downloads, "download.prompt_for_download": False}
        if phone:
            options["mobileEmulation"] = {"deviceMetrics": {"width": width, "height": height, "pixelRatio": 2.0, "touch": True}}
        self._wait_for_driver()
        session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = f"/session/{session['sessionId']}"

    def _wait_for_driver(self):
        for _ in range(1200):
            try:
                if self._ask("GET", "/status")["ready"]:
                    return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("chromedriver does not start")

    def _ask(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"].splitlines()[0]) from None

    def quit(self):
        try:
            self._ask("DELETE", self.session)
        except (OSError, RuntimeError):
            pass
        self.driver.terminate()
        self.driver.wait(60)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- what a test does

    def open(self, url):
        self._ask("POST", self.session + "/url", {"url": url})

    def run(self, script, *arguments):
        """The value of JavaScript, which may return a promise."""
        return self._ask("POST", self.session + "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, seconds=60.0):
        """Until JavaScript gives something true; returns it."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(script)
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {script}")
            time.sleep(0.05)

    def click(self, selector):
        element = self._ask("POST", self.session + "/element", {"using": "css selector", "value": selector})
        self._ask("POST", f"{self.session}/element/{element[ELEMENT]}/click", {})

    def type(self, selector, text):
        element = self._ask("POST", self.session + "/element", {"using": "css selector", "value": selector})
        self._ask("POST", f"{self.session}/element/{element[ELEMENT]}/value", {"text": text})

    def press(self, *keys):
        """Keys, where the focus is."""
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self._ask("POST", self.session + "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def draw(self, selector, *points):
        """The mouse goes from point to point, fractions of an element, with its button down."""
        box = self.run(BOX,
                       selector)
        moves = [{"type": "pointerMove", "duration": 30, "x": round(box[0] + x * box[2]), "y": round(box[1] + y * box[3])}
                 for x, y in points]
        actions = [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}]
        self._ask("POST", self.session + "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._ask("GET", self.session + "/screenshot")))

    def errors(self):
        """What the console has of errors since the last call."""
        log = self._ask("POST", self.session + "/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if entry["level"] == "SEVERE"]
