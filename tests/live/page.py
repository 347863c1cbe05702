# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The live page in headless Chromium, with its server and the made-up scene.

usage: page.py SOURCE_FOLDER BUILD_FOLDER
"""
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

import browser
import live

# The share of the picture's pixels that are light.
LIGHT = """
const canvas = document.getElementById('picture');
const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
let n = 0;
for (let i = 0; i < data.length; i += 4)
  n += data[i] > 40;
return 4 * n / data.length"""
SHIFT = """
return new Promise(done => {
  let sum = 0;
  new PerformanceObserver(list => list.getEntries().forEach(entry => { sum += entry.value; }))
    .observe({type: 'layout-shift', buffered: true});
  setTimeout(() => done(sum), 300);
})"""
# The lowest contrast of a text in sight with the ground behind it.
CONTRAST = """
function numbers(text) { return text.match(/[\\d.]+/g).map(Number); }
function light(rgb) {
  const [r, g, b] = rgb.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function ground(element) {
  for (let e = element; e; e = e.parentElement) {
    const [r, g, b, a = 1] = numbers(getComputedStyle(e).backgroundColor);
    if (a === 1)
      return [r, g, b];
  }
  return [255, 255, 255];
}
let lowest = [99, ''];
const texts = 'h1, h2, p, b, label, span, button, .button, summary, [type=text], [type=number]';
for (const element of document.querySelectorAll(texts)) {
  if (!element.checkVisibility() || element.disabled || element.closest('#stage'))
    continue;
  const a = light(numbers(getComputedStyle(element).color).slice(0, 3)), b = light(ground(element));
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < lowest[0])
    lowest = [contrast, element.outerHTML.slice(0, 80)];
}
return lowest"""
NAMES = "return [...document.querySelectorAll('#zone-list .head input')].map(input => input.value)"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lacking = live.missing() or browser.missing()
        if lacking:
            raise unittest.SkipTest(f"needs {lacking}")
        cls.live = live.Live(source)
        cls.addClassCleanup(cls.live.stop)
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        self.live.ask("PUT", "/api/cameras/0/zones", {"zones": []})
        self.live.ask("POST", "/api/cameras/0/settings/reset", {})
        self.browser.open(self.live.url)
        self.wait("return document.getElementById('stage').dataset.shown > 2")

    def tearDown(self):
        refused = "status of 422"  # Chromium itself logs a request that was refused, as it should be
        self.assertEqual([error for error in self.browser.errors() if refused not in error], [])

    def wait(self, script, seconds=60.0):
        return self.browser.wait(script, seconds)

    def run_js(self, script):
        return self.browser.run(script)

    def open_tab(self, name):
        self.browser.click(f"#tab-{name}")

    def test_scene_plays(self):
        self.wait("return document.querySelectorAll('#objects-layer .box').length >= 2")
        self.wait("return document.getElementById('state').textContent === 'playing'")
        self.wait("return +document.getElementById('fps').textContent >= 5")
        shown = self.run_js("return +document.getElementById('stage').dataset.shown")
        self.wait(f"return document.getElementById('stage').dataset.shown > {shown} + 10")
        self.assertLess(self.run_js(SHIFT), 0.1)

    def test_layers_can_be_switched(self):
        self.wait("return document.querySelector('#objects-layer .trail')")
        self.browser.click("#layers input[value=boxes]")
        self.browser.click("#layers input[value=trails]")
        self.wait("return !document.querySelector('#objects-layer .box, #objects-layer .trail')")
        self.browser.click("#layers input[value=outlines]")
        self.wait("return document.querySelector('#objects-layer .outline')")

    def test_views(self):
        for view in "mask", "background", "video":
            with self.subTest(view=view):
                self.browser.click(f"#views input[value={view}]")
                self.wait(f"return document.getElementById('stage').dataset.view === '{view}'")
                self.browser.wait(LIGHT)
        # Other methods have no background: the page shows the video instead of a picture that stands still.
        self.browser.click("#views input[value=background]")
        self.live.ask("POST", "/api/cameras/0/settings", {"part": "motion", "name": "method", "value": "diff"})
        self.wait("return document.querySelector('#views input[value=background]').disabled")
        self.wait("return document.getElementById('stage').dataset.view === 'video'")

    def draw_all(self):
        """Draws a zone around the picture; returns the seconds until it counts an object."""
        self.live.ask("PUT", "/api/cameras/0/zones", {"zones": []})
        self.browser.open(self.live.url)
        self.wait("return document.getElementById('stage').dataset.shown > 2")
        self.browser.click("#tools input[value=polygon]")
        for x, y in (0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98), (0.02, 0.02):
            self.browser.draw("#stage", (x, y))
        drawn = time.monotonic()
        self.wait("return /[1-9]\\d* inside/.test(document.querySelector('.zone .counts')?.textContent)")
        return time.monotonic() - drawn

    def test_zone_by_mouse(self):
        # A second, and the way of the question. A busy machine may miss some.
        self.assertTrue(any(self.draw_all() < 1.5 for _ in range(10)))
        # Moved by its middle, renamed, and gone.
        self.browser.draw("#stage", (0.5, 0.5), (0.52, 0.52))
        self.wait("return document.querySelectorAll('#zones-layer .handle').length === 4")
        self.browser.run("const input = document.querySelector('.zone input'); input.value = 'all of it'; "
                         "input.dispatchEvent(new Event('change'))")
        self.live.wait(lambda: [zone["name"] for zone in self.live.camera()["zones"]] == ["all of it"])
        self.browser.click("button[aria-label='Delete all of it']")
        self.live.wait(lambda: not self.live.camera()["zones"])
        self.browser.click("#zone-undo")
        self.live.wait(lambda: self.live.camera()["zones"])

    def test_zone_by_keyboard(self):
        self.browser.run("document.querySelector('#tools input[value=select]').focus()")
        self.browser.press("ArrowRight")
        self.browser.run("document.getElementById('stage').focus()")
        self.browser.press("ArrowLeft", "ArrowLeft", " ", *["ArrowDown"] * 8, "Enter")
        self.wait(NAMES + ".length === 1")
        self.assertEqual(self.run_js(NAMES), ["line 1"])
        line, = self.live.wait(lambda: self.live.get("/api/cameras/0/zones")["zones"]["zones"])
        (x0, y0), (x1, y1) = line["line"]
        self.assertEqual(x0, x1)
        self.assertLess(x0, 0.5)
        self.assertGreater(y1, y0)
        self.browser.press("Delete")
        self.live.wait(lambda: not self.live.get("/api/cameras/0/zones")["zones"]["zones"])

    def test_wrong_zone_is_shown_at_its_point(self):
        self.browser.click("#tools input[value=polygon]")
        for x, y in (0.2, 0.2), (0.8, 0.8), (0.8, 0.2), (0.2, 0.8), (0.2, 0.2):
            self.browser.draw("#stage", (x, y))
        self.wait("return document.querySelectorAll('#zones-layer .wrong').length === 4")
        self.assertIn("crosses itself", self.run_js("return document.getElementById('zone-error').textContent"))
        self.browser.click("#zone-undo")
        self.wait("return document.getElementById('zone-error').hidden")

    def test_another_page_changes_it(self):
        zones = {"units": "relative", "zones": [{"name": "of another page", "circle": [0.5, 0.5, 0.2]}]}
        self.live.ask("PUT", "/api/cameras/0/zones", zones)
        self.wait(NAMES + "[0] === 'of another page'")
        self.browser.click("#zone-undo")
        self.live.wait(lambda: not self.live.get("/api/cameras/0/zones")["zones"]["zones"])
        self.open_tab("tune")
        self.run_js("document.getElementById('p-motion-dilate-slider').focus()")  # as after it was dragged
        self.live.ask("POST", "/api/cameras/0/settings", {"part": "motion", "name": "threshold", "value": "21"})
        self.wait("return document.getElementById('p-motion-threshold').value === '21'")
        self.assertEqual(self.run_js("return document.activeElement.id"), "p-motion-dilate-slider")

    def test_changes_at_once_are_all_made(self):
        self.open_tab("tune")
        self.run_js("""
            for (const [name, value] of [['threshold', '9'], ['open', '1'], ['close', '3'], ['median', '']]) {
              const input = document.getElementById(`p-motion-${name}`);
              input.value = value;
              input.dispatchEvent(new Event('change'));
            }""")
        self.live.wait(lambda: "threshold=9 open=1 close=3" in self.live.get("/api/cameras/0/launch")["line"])
        self.assertEqual(self.run_js("return document.getElementById('p-motion-median').value"), "2")  # emptied: as it was
        self.assertNotIn("median", self.live.get("/api/cameras/0/launch")["line"])

    def test_zones_are_saved_and_loaded(self):
        self.browser.click("#tools input[value=circle]")
        self.browser.draw("#stage", (0.5, 0.5), (0.6, 0.5))
        self.wait(NAMES + ".length === 1")
        self.browser.click("#zone-save")
        path = pathlib.Path(self.browser.downloads, "zones.json")
        self.live.wait(path.is_file)
        saved = self.live.wait(path.read_text)
        path.unlink()
        zone, = json.loads(saved)["zones"]
        self.assertEqual(zone["name"], "circle 1")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "pixels.json")
            file.write_text(json.dumps({"zones": [{"name": "in pixels", "line": [[320, 0], [320, 180]]}]}), "utf-8")
            self.browser.type("#zone-load", str(file))
            self.wait(NAMES + "[0] === 'in pixels'")
            line = [{"name": "in pixels", "line": [[0.5, 0], [0.5, 0.5]]}]
            self.live.wait(lambda: self.live.get("/api/cameras/0/zones")["zones"]["zones"] == line)
            file.write_text('{"zones": 7}', "utf-8")
            self.browser.type("#zone-load", str(file))
            self.wait("return document.getElementById('zone-error').textContent.includes('has no zones')")

    def test_slider_changes_the_mask(self):
        self.browser.click("#views input[value=mask]")
        self.wait("return document.getElementById('stage').dataset.view === 'mask'")
        before = self.browser.wait(LIGHT)
        self.open_tab("tune")
        self.run_js("document.getElementById('p-motion-dilate-slider').scrollIntoView({block: 'center'})")
        self.browser.draw("#p-motion-dilate-slider", (0.02, 0.5), (0.6, 0.5), (0.97, 0.5))
        self.wait(LIGHT.replace("return 4", f"return {2 * before} < 4"))
        self.assertIn("cclmotion dilate=1", self.live.get("/api/cameras/0/launch")["line"])
        self.browser.click("#tune-undo")
        self.wait("return document.getElementById('p-motion-dilate').value === '0'")

    def test_looking_back(self):
        self.browser.click("#tools input[value=line]")
        self.browser.draw("#stage", (0.5, 0.02), (0.5, 0.98))
        self.open_tab("back")
        self.wait("return document.querySelector('#events .event img')?.complete")
        self.wait("return document.querySelector('#chart rect')")
        self.browser.click("#layers input[value=heat]")
        self.wait("return document.querySelector('#overlay .heat').getAttribute('href')")

    def test_modules(self):
        script = pathlib.Path(__file__).with_name("modules.js").read_text("utf-8")
        self.assertEqual(self.run_js(f"return (async () => {{ {script} }})()"), [])


class Looks(unittest.TestCase):
    def look(self, **screen):
        lacking = live.missing() or browser.missing()
        if lacking:
            self.skipTest(f"needs {lacking}")
        server = live.Live(source)
        self.addCleanup(server.stop)
        page = browser.Browser(**screen)
        self.addCleanup(page.quit)
        server.ask("PUT", "/api/cameras/0/zones", {"units": "relative", "zones": [{"name": "a", "circle": [0.5, 0.5, 0.2]}]})
        page.open(server.url)
        page.wait("return document.getElementById('stage').dataset.shown > 2")
        for tab in "tune", "back", "zones":
            page.click(f"#tab-{tab}")
            page.run("document.activeElement.blur(); scrollTo(0, 0)")
            contrast, where = page.run(CONTRAST)
            self.assertGreaterEqual(contrast, 4.5, where)
            self.assertLessEqual(*page.run("return [document.documentElement.scrollWidth, innerWidth]"))
        return page

    def test_light(self):
        self.look()

    def test_dark(self):
        page = self.look(dark=True)
        self.assertTrue(page.run("return matchMedia('(prefers-color-scheme: dark)').matches"))

    def test_phone(self):
        page = self.look(width=390, height=844, phone=True)
        small = page.run("return [...document.querySelectorAll('button, .button, select, .segments label, .checks label')]"
                         ".filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 36).map(e => e.outerHTML)")
        self.assertEqual(small, [])
        page.click("#tab-tune")
        page.run("document.getElementById('p-motion-dilate-slider').scrollIntoView({block: 'end'})")
        self.assertGreaterEqual(page.run("return document.getElementById('stage').getBoundingClientRect().top"), 0)  # in sight


class Sender(http.server.ThreadingHTTPServer):
    """A camera in the network: sends a film at its pace while it is on."""

    def __init__(self, film):
        super().__init__(("127.0.0.1", 0), SenderHandler)
        self.film, self.is_on = film, True
        threading.Thread(target=self.serve_forever, daemon=True).start()


class SenderHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if not self.server.is_on:
            self.send_error(503)
            return
        self.send_response(200)
        self.send_header("Content-Type", "video/x-matroska")
        self.end_headers()
        step = len(self.server.film) // 100
        for at in range(0, len(self.server.film), step):
            if not self.server.is_on:
                return
            try:
                self.wfile.write(self.server.film[at:at + step])
            except OSError:
                return
            time.sleep(0.1)

    def log_message(self, *_arguments):
        pass


class Lost(unittest.TestCase):
    def test_stream_returns(self):
        lacking = live.missing() or browser.missing()
        if lacking:
            self.skipTest(f"needs {lacking}")
        with tempfile.TemporaryDirectory() as folder:
            live.video(os.path.join(folder, "film.mkv"), 20)
            sender = Sender(pathlib.Path(folder, "film.mkv").read_bytes())
        self.addCleanup(sender.server_close)
        self.addCleanup(sender.shutdown)
        server = live.Live(source, f"http://user:secret@127.0.0.1:{sender.server_port}/camera", "")
        self.addCleanup(server.stop)
        page = browser.Browser()
        self.addCleanup(page.quit)
        page.open(server.url)  # two cameras: a wall
        page.wait("return document.querySelectorAll('.tile .state[data-state=playing]').length === 2")
        self.assertNotIn("secret", page.run("return document.body.textContent"))
        page.open(server.url + "camera/0")
        page.wait("return document.getElementById('state').textContent === 'playing'")
        sender.is_on = False
        page.wait("return document.getElementById('state').textContent === 'lost'")
        said = page.wait("return !document.getElementById('trouble').hidden && document.getElementById('trouble').innerText")
        self.assertIn("Next try in", said)
        # The zones are there while the camera is not.
        zones = {"units": "relative", "zones": [{"name": "kept", "circle": [0.5, 0.5, 0.2]}]}
        server.ask("PUT", "/api/cameras/0/zones", zones)
        page.open(server.url + "camera/0")
        page.wait(NAMES + "[0] === 'kept'")
        page.click("#zone-save")
        saved = pathlib.Path(page.downloads, "zones.json")
        self.assertEqual(json.loads(server.wait(lambda: saved.is_file() and saved.read_text("utf-8"))), zones)
        sender.is_on = True
        page.wait("return document.getElementById('state').textContent === 'playing'")
        self.assertTrue(page.run("return document.getElementById('trouble').hidden"))
        shown = page.run("return +(document.getElementById('stage').dataset.shown ?? 0)")
        page.wait(f"return document.getElementById('stage').dataset.shown > {shown}")
        self.assertEqual(page.errors(), [])
        server.process.terminate()
        said = page.wait("return !document.getElementById('trouble').hidden && document.getElementById('trouble').innerText")
        self.assertIn("lost its server", said)


class Start(unittest.TestCase):
    def test_script(self):
        lacking = live.missing()
        if lacking:
            self.skipTest(f"needs {lacking}")
        script = os.path.join(source, "examples", "live.sh")
        text = subprocess.run([script, "--help"], capture_output=True, text=True, check=True).stdout
        self.assertTrue(text.startswith("usage: examples/live.sh"))
        # As in a shell that knows nothing of the build folder.
        paths = "GST_PLUGIN_PATH", "GST_PLUGIN_PATH_1_0", "GI_TYPELIB_PATH", "LD_LIBRARY_PATH", "PYTHONPATH"
        bare = {name: value for name, value in os.environ.items() if name not in paths}
        with tempfile.TemporaryDirectory() as folder, \
                subprocess.Popen([script, "--port", "0", "--folder", folder], stdout=subprocess.PIPE, text=True, cwd=folder,
                                 env={**bare, "CCL_BUILD": build}) as run:
            line = run.stdout.readline()
            self.assertRegex(line, r"^The page: http://127\.0\.0\.1:\d+/ ")
            with urllib.request.urlopen(line.split()[2], timeout=60) as answer:
                self.assertIn(b"gst-ccl live", answer.read())
            run.terminate()
            self.assertEqual(run.wait(60), 0)


if __name__ == "__main__":
    source, build = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main(verbosity=2)
