# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The server of the live page over HTTP: whom it refuses, and what it keeps.

usage: server.py SOURCE_FOLDER
"""
import asyncio
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

try:
    import aiohttp
except ImportError:  # then all is skipped
    aiohttp = None
import live

CAMERA = "/api/cameras/0"
TRAVERSALS = ["/page/../main.py", "/page/..%2fmain.py", "/page/%2e%2e/main.py", "/page/..%5cmain.py", "/../../../etc/passwd",
              "/page//etc/passwd", "/page/....//main.py", "/page/%252e%252e%252fmain.py", "/page/style.css%00.js", "/page/",
              "/history.sqlite", "/page/main.py", "/camera/../history.sqlite"]
NAMES = ["..", "../x", "..%2fx", "%2e%2e%2fx", "a%2fb", ".hidden", "x%00", "a" * 41, "%2fetc%2fpasswd", "x.json"]
ZONES = {"units": "relative", "zones": [{"name": "gate", "line": [[0.5, 0], [0.5, 1]]},
                                        {"name": "left half", "polygon": [[0, 0], [0.5, 0], [0.5, 1], [0, 1]]}]}
CROSSED = {"zones": [{"name": "a", "polygon": [[0, 0], [90, 90], [90, 0], [0, 90]]}]}


def files_under(folder):
    return sorted(os.path.relpath(path, folder) for path in pathlib.Path(folder).rglob("*") if path.is_file()
                  if not path.name.startswith("history.sqlite"))


class Server(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lacking = live.missing()
        if lacking:
            raise unittest.SkipTest(f"needs {lacking}")
        cls.live = live.Live(source)
        cls.addClassCleanup(cls.stop)

    @classmethod
    def stop(cls):
        messages = cls.live.messages()
        assert cls.live.stop() == 0, messages
        assert "Traceback" not in messages, messages

    def ask(self, *arguments, **named):
        return self.live.ask(*arguments, **named)

    def refused(self, status, *arguments, **named):
        found, body = self.ask(*arguments, **named)
        self.assertEqual(found, status, (arguments, body))
        return body


class Refusals(Server):
    def test_paths_out_of_the_page(self):
        for path in TRAVERSALS:
            with self.subTest(path=path):
                status, body = self.ask("GET", path)
                self.assertIn(status, (400, 403, 404))
                self.assertNotIn("root:", str(body))
                self.assertNotIn("SPDX", str(body))

    def test_names_of_presets(self):
        before = files_under(self.live.folder)
        for name in NAMES:
            for method in "PUT", "POST", "DELETE":
                with self.subTest(name=name, method=method):
                    self.assertIn(self.ask(method, f"{CAMERA}/presets/{name}", {})[0], (400, 404, 405, 422))
        self.assertEqual(files_under(self.live.folder), before)

    def test_other_sites(self):
        body = {"part": "motion", "name": "threshold", "value": "7"}
        for headers in {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}, \
                {"Host": f"evil.example:{self.live.port}"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, \
                {"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"}, \
                {"Origin": f"http://127.0.0.1:{self.live.port + 1}"}, {"Host": ""}, {"Host": "127.0.0.1@evil.example"}:
            with self.subTest(headers=headers):
                self.assertIn(self.ask("POST", f"{CAMERA}/settings", body, headers)[0], (400, 403))
        self.assertEqual(self.live.get(f"{CAMERA}/settings")["undo"], 0)
        same = {"Origin": f"http://127.0.0.1:{self.live.port}", "Sec-Fetch-Site": "same-origin"}
        self.assertEqual(self.ask("POST", f"{CAMERA}/settings", body, same)[0], 200)
        self.assertEqual(self.ask("POST", f"{CAMERA}/settings/undo", {})[0], 200)

    def test_other_sites_get_no_pictures(self):
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
        self.refused(403, "GET", f"{CAMERA}/stream", headers={**upgrade, "Origin": "http://evil.example"})
        self.refused(403, "GET", f"{CAMERA}/picture.jpg", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"})

    def test_content_security_policy(self):
        connection = live.http.client.HTTPConnection("127.0.0.1", self.live.port, timeout=60)
        for path, status in ("/", 200), ("/nowhere", 404), (CAMERA + "/settings", 200):
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(answer.status, status)
            self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
            self.assertNotIn("unsafe", answer.headers["Content-Security-Policy"])
            self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")
        connection.close()

    def test_nothing_from_a_network(self):
        for name in "/", "/page/wall.html", "/page/style.css", "/page/camera.js":
            self.assertNotRegex(self.live.get(name).decode().replace("http://www.w3.org", ""), r"https?://")

    def test_oversized_bodies(self):
        large = b'{"zones":[' + b" " * 300000 + b"]}"
        self.refused(413, "PUT", f"{CAMERA}/zones", large)
        self.refused(413, "POST", f"{CAMERA}/settings", large)

    def test_garbage(self):
        deep = "[" * 20000
        for body in "", "{", "null", "[]", '"x"', deep, b"\xff\xfe\x00", '{"part": 1}', '{"part": "motion", "name": []}', \
                '{"part": "motion", "name": "threshold", "value": 1e999}', '{"part": {}, "name": {}, "value": {}}':
            with self.subTest(body=body[:40]):
                self.assertIn(self.ask("POST", f"{CAMERA}/settings", body)[0], (400, 422))
                self.assertIn(self.ask("PUT", f"{CAMERA}/zones", body)[0], (400, 422))
        self.refused(404, "GET", "/api/cameras/7/settings")
        self.refused(400, "GET", f"{CAMERA}/counts?minutes=x")
        self.refused(404, "GET", f"{CAMERA}/events/999999999999.jpg")

    def test_random_requests(self):
        dice = random.Random(38)
        for _ in range(150):
            with socket.create_connection(("127.0.0.1", self.live.port), timeout=60) as connection:
                head = dice.choice([b"GET ", b"PUT ", b"POST ", b"\x16\x03\x01", b"BREW ", b""]) + dice.choice(
                    [b"/", b"/page/", b"/api/cameras/0/zones", b"/api/cameras/0/stream", dice.randbytes(20)])
                middle = dice.choice([b" HTTP/1.1\r\nHost: localhost\r\n", b" HTTP/9.9\r\n", b"\r\n", dice.randbytes(9)])
                end = dice.choice([b"Content-Length: 99999999999\r\n\r\n", b"Content-Length: -1\r\n\r\n", b"\r\n\r\n",
                                   b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", dice.randbytes(300)])
                connection.sendall(head + middle + end)
        self.live.wait(lambda: self.live.camera()["state"] == "playing")

    def test_garbage_in_the_live_connection(self):
        async def send(message):
            async with aiohttp.ClientSession() as session:
                url = f"http://127.0.0.1:{self.live.port}{CAMERA}/stream"
                async with session.ws_connect(url, max_msg_size=0) as connection:
                    await (connection.send_bytes if isinstance(message, bytes) else connection.send_str)(message)
                    async for _ in connection:  # until the server closes it
                        pass

        for message in "{", "7", "[" * 200, '{"width": "x"}', '{"shown": [1]}', "x" * 5000, b"\0" * 10, '{"width": 1e999}':
            with self.subTest(message=message[:20]):
                asyncio.run(asyncio.wait_for(send(message), 60))
        self.live.wait(lambda: self.live.camera()["state"] == "playing")

    def test_token(self):
        open_to_all = live.Live(source, "--address", "0.0.0.0")
        self.addCleanup(open_to_all.stop)
        self.assertEqual(open_to_all.ask("GET", "/")[0], 403)
        self.assertEqual(open_to_all.ask("GET", "/?token=wrong")[0], 403)
        token = open_to_all.url.split("token=")[1]
        self.assertEqual(open_to_all.ask("GET", f"/?token={token}")[0], 200)
        cookie = f"gst-ccl-live-{open_to_all.port}="
        self.assertEqual(open_to_all.ask("GET", "/api/cameras", headers={"Cookie": cookie + token})[0], 200)
        old = {"Cookie": cookie + "from-an-earlier-start"}
        self.assertEqual(open_to_all.ask("GET", "/api/cameras", headers=old)[0], 403)
        self.assertEqual(open_to_all.ask("GET", f"/?token={token}", headers=old)[0], 200)
        self.assertNotIn("//0.0.0.0", open_to_all.url)  # which no other machine can open


class Advice(unittest.TestCase):
    def test_missing_decoder(self):
        lacking = live.missing()
        if lacking:
            self.skipTest(f"needs {lacking}")
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        film = os.path.join(folder, "film.mkv")
        live.video(film, 1)
        decoders = "jpegdec", "avdec_mjpeg", "vajpegdec", "vaapijpegdec", "v4l2jpegdec", "nvjpegdec", "qsvjpegdec"
        ranks = ",".join(f"{name}:NONE" for name in decoders)
        server = live.Live(source, film, environment={"GST_PLUGIN_FEATURE_RANK": ranks})
        self.addCleanup(server.stop)
        lost = server.wait(lambda: server.camera()["state"] == "lost" and server.camera())
        self.assertIn("A decoder is missing: run examples/install.sh videos.", lost["hint"])

    def test_each_error_has_its_advice(self):
        lacking = live.missing()
        if lacking:
            self.skipTest(f"needs {lacking}")
        sys.path.insert(0, os.path.join(source, "examples", "live"))
        import advice
        import chain
        from gstreamer import GLib, Gst
        camera, film = chain.Source("rtsp://x"), chain.Source("x.mp4")
        for domain, code, text, details, where, words in (
                (Gst.CoreError, Gst.CoreError.MISSING_PLUGIN, "A plug-in is missing.", "", film, "decoder"),
                (Gst.ResourceError, Gst.ResourceError.NOT_AUTHORIZED, "Unauthorized", "", camera, "password"),
                (Gst.ResourceError, Gst.ResourceError.NOT_FOUND, "Not found", "", film, "no such file"),
                (Gst.LibraryError, Gst.LibraryError.FAILED, "Launch failure.", "CUDA error 999", camera, "without the GPU"),
                (Gst.ResourceError, Gst.ResourceError.NOT_FOUND, "No GPU to label on: no driver.", "", film, "without the GPU"),
                (Gst.ResourceError, Gst.ResourceError.NO_SPACE_LEFT, "Not enough memory to label.", "", film, "Memory is short"),
                (Gst.CoreError, Gst.CoreError.MISSING_PLUGIN, "No URI handler implemented.", "", camera, "such an address"),
                (Gst.StreamError, Gst.StreamError.FAILED, "Internal data stream error.", "", camera, "camera is on"),
                (Gst.StreamError, Gst.StreamError.DECODE, "No valid frames.", "", film, "complete")):
            with self.subTest(text=text):
                error = GLib.Error.new_literal(domain.quark(), text, code)
                self.assertIn(words, advice.of(error, details, where))
        closed = GLib.Error.new_literal(Gst.ResourceError.quark(), "Could not open.", Gst.ResourceError.OPEN_READ_WRITE)
        texts = [advice.text_of(closed, where) for where in (camera, film)]
        self.assertEqual(texts, ["Nothing came from rtsp://x.", "Could not open."])


class Kept(Server):
    def value(self, part, name):
        parts = {entry["part"]: entry["properties"] for entry in self.live.get(f"{CAMERA}/settings")["parts"]}
        return next(entry for entry in parts[part] if entry["name"] == name)["value"]

    def set(self, part, name, value):
        return self.ask("POST", f"{CAMERA}/settings", {"part": part, "name": name, "value": value})

    def test_settings(self):
        self.assertEqual(self.set("motion", "threshold", "17")[0], 200)
        self.assertEqual(self.set("label", "filter", "area > 30 and not touches-border")[0], 200)
        self.assertIn("threshold=17", self.live.get(f"{CAMERA}/launch")["line"])
        self.assertEqual(self.ask("POST", f"{CAMERA}/settings/undo", {})[0], 200)
        self.assertEqual((self.value("motion", "threshold"), self.value("label", "filter")), ("17", ""))
        self.assertEqual(self.ask("POST", f"{CAMERA}/settings/reset", {})[0], 200)
        self.assertEqual(self.value("motion", "threshold"), "0")

    def test_wrong_settings(self):
        for part, name, value, words in (
                ("motion", "threshold", "300", "from 0 to 255"), ("motion", "threshold", "x", "whole number"),
                ("motion", "method", "magic", "one of"), ("label", "filter", "area >> 3", "filter: a number"),
                ("label", "mask-source", "frame", "no such property"), ("motion", "background-location", "/etc/x", "no such"),
                ("zone", "config", "/etc/passwd", "no such property"), ("label", "min-rel-area", "nan", "from 0.0 to 1.0"),
                ("motion", "name", "x", "no such property")):
            with self.subTest(name=name, value=value):
                status, body = self.set(part, name, value)
                self.assertEqual(status, 422)
                self.assertIn(words, body["error"])

    def test_presets(self):
        self.assertEqual(self.ask("POST", f"{CAMERA}/presets/night", {})[0], 200)
        self.assertEqual(self.value("motion", "threshold"), "10")
        self.assertEqual(self.ask("PUT", f"{CAMERA}/presets/my%20yard", {})[0], 200)
        self.assertEqual(self.ask("POST", f"{CAMERA}/settings/reset", {})[0], 200)
        self.assertEqual(self.ask("POST", f"{CAMERA}/presets/my%20yard", {})[0], 200)
        self.assertEqual(self.value("motion", "threshold"), "10")
        self.assertEqual(self.ask("DELETE", f"{CAMERA}/presets/my%20yard")[0], 200)
        self.refused(422, "POST", f"{CAMERA}/presets/my%20yard", {})
        for name in "indoor", "street", "from%20above":
            self.assertEqual(self.ask("POST", f"{CAMERA}/presets/{name}", {})[0], 200, name)
        self.assertEqual(self.ask("POST", f"{CAMERA}/settings/reset", {})[0], 200)

    def test_wrong_zones(self):
        self.assertEqual(self.ask("PUT", f"{CAMERA}/zones", ZONES)[0], 200)
        fault = self.refused(422, "PUT", f"{CAMERA}/zones", CROSSED)
        self.assertIn("crosses itself", fault["error"])
        self.assertEqual((fault["zone"], fault["points"]), (0, [0, 1, 2, 3]))
        self.assertEqual(self.live.get(f"{CAMERA}/zones")["zones"], ZONES)

    def test_versions(self):
        """Every change has another one, so that all pages hear of it."""
        def versions():
            return self.live.camera()["versions"]

        before = versions()
        self.assertEqual(self.set("motion", "threshold", "18")[0], 200)
        self.assertNotEqual(versions()["settings"], before["settings"])
        self.assertEqual(versions()["zones"], before["zones"])
        self.assertEqual(self.set("zone", "margin", "0.3")[0], 200)
        self.assertNotEqual(versions()["zones"], before["zones"])
        before = versions()
        status, body = self.ask("PUT", f"{CAMERA}/zones", ZONES)
        self.assertEqual((status, body), (200, {"version": versions()["zones"]}))
        self.assertNotEqual(versions()["zones"], before["zones"])
        self.refused(422, "PUT", f"{CAMERA}/zones", CROSSED)
        self.assertEqual(versions()["zones"], body["version"])
        self.assertEqual(self.ask("POST", f"{CAMERA}/settings/reset", {})[0], 200)

    def test_looking_back(self):
        self.assertEqual(self.ask("PUT", f"{CAMERA}/zones", ZONES)[0], 200)
        event = self.live.wait(lambda: self.live.get(f"{CAMERA}/events"))[0]
        self.assertIn(event["zone"], ("gate", "left half"))
        self.assertEqual(self.live.get(f"{CAMERA}/events/{event['id']}.jpg")[:2], b"\xff\xd8")
        self.assertGreater(sum(self.live.get(f"{CAMERA}/heat")["cells"]), 0)
        self.live.wait(lambda: any(row["forward"] + row["backward"] for row in self.live.get(f"{CAMERA}/counts")["rows"]))
        self.assertTrue(self.live.get(f"{CAMERA}/counts.csv").startswith(b"minute,zone,forward,backward,max_inside\r\n"))
        self.assertIn(b"left half", self.live.get(f"{CAMERA}/events.csv"))

    def test_mjpeg(self):
        with socket.create_connection(("127.0.0.1", self.live.port), timeout=60) as connection:
            connection.sendall(f"GET {CAMERA}/video.mjpeg HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            data = b""
            while data.count(b"\xff\xd8\xff") < 5:
                data += connection.recv(65536)
        self.assertIn(b"multipart/x-mixed-replace", data)
        self.assertIn(b"Cross-Origin-Resource-Policy: same-origin", data)

    def test_mjpeg_of_a_lost_camera(self):
        """Who went away does not count as an open page."""
        with socket.create_server(("127.0.0.1", 0)) as probe:
            nobody = probe.getsockname()[1]
        lost = live.Live(source, f"rtsp://127.0.0.1:{nobody}/none")
        self.addCleanup(lost.stop)

        def connect():
            connection = socket.create_connection(("127.0.0.1", lost.port), timeout=60)
            connection.sendall(f"GET {CAMERA}/video.mjpeg HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            return connection, connection.recv(12)

        pages = [connect() for _ in range(64)]
        self.assertEqual({answer for _, answer in pages}, {b"HTTP/1.1 200"})
        connection, answer = connect()
        connection.close()
        self.assertEqual(answer, b"HTTP/1.1 503")
        for connection, _ in pages:
            connection.close()

        def is_free():
            connection, answer = connect()
            connection.close()
            return answer == b"HTTP/1.1 200"

        lost.wait(is_free)

    def test_copied_line(self):
        """The file once, with zones, here and by the line: the same counts."""
        folder = tempfile.mkdtemp(prefix="live test ")
        self.addCleanup(shutil.rmtree, folder)
        film = os.path.join(folder, "it's a \"ball\".mkv")
        live.video(film)
        first = live.Live(source, film, kept=os.path.join(folder, "kept"))
        try:
            self.assertEqual(first.ask("PUT", f"{CAMERA}/zones", ZONES)[0], 200)
            setting = {"part": "label", "name": "filter", "value": "area > 30"}
            self.assertEqual(first.ask("POST", f"{CAMERA}/settings", setting)[0], 200)
        finally:
            first.stop()
        again = live.Live(source, "--once", film, kept=first.kept)
        try:
            again.wait(lambda: again.camera()["state"] == "ended")
            line, zones = again.get(f"{CAMERA}/launch")["line"], again.camera()["zones"]
        finally:
            again.stop()
        # As in a shell that knows nothing of the build folder.
        bare = {name: value for name, value in os.environ.items() if not name.startswith("GST_PLUGIN_PATH")}
        run = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60, check=True, env=bare)
        self.assertEqual(json.loads(run.stdout.splitlines()[-1])["zones"], zones)
        self.assertGreater(sum(zone["forward"] + zone["backward"] for zone in zones), 1)


if __name__ == "__main__":
    source = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
