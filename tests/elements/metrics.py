# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tracer cclmetrics as its users meet it: real requests, good and bad, to gst-launch-1.0 and to a program that forks.

usage: metrics.py SOURCE_FOLDER    (in `meson devenv`)

The page, the alerts and the dashboard are checked with promtool where it is installed (package prometheus).
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

ZONES = '{"units":"relative","zones":[{"name":"gate","line":[[0.5,0],[0.5,1]]}]}'
LINE = ("videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=160,height=120,framerate=30/1 ! "
        f"cclmotion ! ccllabel name=label mask-source=mask-meta ! ccltrack ! cclzone zones={ZONES} ! cclmetaremap ! "
        "cclmeta2json ! fakesink")
SHORT = "videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8 ! ccllabel threshold=127 ! fakesink"
FACTORIES = ["cclmotion", "ccllabel", "ccltrack", "cclzone", "cclmetaremap", "cclmeta2json"]
PROMTOOL = shutil.which("promtool")
TOP = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ".")
EXAMPLES = TOP / "examples/metrics"


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextlib.contextmanager
def program(words, tracer):
    env = dict(os.environ, **({"GST_TRACERS": tracer} if tracer else {}))
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def launch(line, tracer):
    return program(["gst-launch-1.0", "-q", *line.split()], tracer)


def get(port, path="/metrics", host="127.0.0.1", **options):
    request = urllib.request.Request(f"http://{host}:{port}{path}", **options)
    with urllib.request.urlopen(request, timeout=15) as answer:
        return answer.headers, answer.read().decode()


def wait_for_page(port, text="gstccl_frames_total{"):
    """The page, once it has the text."""
    end = time.monotonic() + 20
    while True:
        with contextlib.suppress(OSError):
            page = get(port)[1]
            if text in page:
                return page
        if time.monotonic() > end:
            raise TimeoutError(text)
        time.sleep(0.05)


def value(page, name, labels=""):
    return float(re.search(rf"^{name}\{{[^}}]*{re.escape(labels)}[^}}]*\}} (\S+)$", page, re.MULTILINE)[1])


def promtool(*words, **options):
    return subprocess.run([PROMTOOL, *words], capture_output=True, text=True, timeout=60, check=False, **options)


def exchange(port, data):
    """What the server answers to these bytes, if anything."""
    with socket.create_connection(("127.0.0.1", port), timeout=15) as client:
        with contextlib.suppress(OSError):  # it may hang up at any time
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            return client.makefile("rb").read()
    return b""


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.port = free_port()
        cls.stack = contextlib.ExitStack()
        cls.addClassCleanup(cls.stack.close)
        cls.process = cls.stack.enter_context(launch(LINE, f"cclmetrics(port={cls.port})"))
        wait_for_page(cls.port, 'gstccl_zone_inside{')

    def test_elements(self):
        page = wait_for_page(self.port)
        for factory in FACTORIES:
            name = "label" if factory == "ccllabel" else f"{factory}0"
            with self.subTest(factory=factory):
                frames = f'gstccl_frames_total{{element="{name}",factory="{factory}",pipeline="pipeline0"}} '
                self.assertIn("\n" + frames, page)
                self.assertGreaterEqual(value(page, "gstccl_processing_seconds_count", f'factory="{factory}"'), 1)
        self.assertIn('zone="gate"', page)
        first = value(page, "gstccl_frames_total")
        end = time.monotonic() + 10
        while value(get(self.port)[1], "gstccl_frames_total") <= first and time.monotonic() < end:
            time.sleep(0.05)
        self.assertGreater(value(get(self.port)[1], "gstccl_frames_total"), first)

    def test_headers(self):
        headers, page = get(self.port)
        self.assertEqual(headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        self.assertEqual(int(headers["Content-Length"]), len(page))
        self.assertEqual(get(self.port, method="HEAD")[1], "")

    @unittest.skipUnless(PROMTOOL, "no promtool here")
    def test_promtool(self):
        checked = promtool("check", "metrics", input=get(self.port)[1])
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))

    def test_other_requests(self):
        for path, options, status in ("/", {}, 404), ("/metrics/..", {}, 404), ("/metrics", {"data": b"x" * 100000}, 405), \
                ("/metrics", {"method": "DELETE"}, 405):
            with self.subTest(path=path, **options), self.assertRaises((urllib.error.HTTPError, OSError)) as raised:
                get(self.port, path, **options)
            if isinstance(raised.exception, urllib.error.HTTPError):
                self.assertEqual(raised.exception.code, status)
                raised.exception.close()
        wait_for_page(self.port)

    def test_garbage(self):
        for data in b"", b"\0" * 5000, b"\xff\xfe\r\n\r\n", b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n", \
                b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n", b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 20000, \
                b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", os.urandom(20000):
            with self.subTest(data=data[:30]):
                self.assertNotIn(b"200 OK", exchange(self.port, data))
        wait_for_page(self.port)
        self.assertIsNone(self.process.poll())

    def test_slow_clients(self):
        """Fifty that say nothing, and one that reads nothing, keep nobody from the page."""
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(socket.create_connection(("127.0.0.1", self.port))) for _ in range(50)]
            clients[0].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            clients[0].sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
            start = time.monotonic()
            get(self.port)
            self.assertLess(time.monotonic() - start, 4)  # before the silent ones are put out

    def test_more_clients_than_the_server_takes(self):
        with contextlib.ExitStack() as stack:
            for _ in range(100):
                stack.enter_context(socket.create_connection(("127.0.0.1", self.port)))
            wait_for_page(self.port)  # once the silent ones are put out

    def test_listens_at_loopback_alone(self):
        listening = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()
                     + pathlib.Path("/proc/net/tcp6").read_text().splitlines()]
        found = [words[1] for words in listening if words[1].endswith(f":{self.port:04X}") and words[3] == "0A"]
        self.assertEqual(found, [f"0100007F:{self.port:04X}"])


class Launching(unittest.TestCase):
    def messages(self, line, tracer):
        """What a line that ends by itself prints; it must succeed."""
        with launch(line, tracer) as process:
            messages = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 0)
        return messages

    def test_port_taken(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            self.assertEqual(self.messages(SHORT, f"cclmetrics(port={port})"), "cclmetrics: no metrics at 127.0.0.1 "
                             f"port {port}: Address already in use. The pipeline runs on without.\n")

    def test_wrong_parameters(self):
        for params in "port=65536", "port=-1", "port=x", "address=1", "frobnicate=1", "port=", "address=nowhere.invalid":
            with self.subTest(params=params):
                self.assertRegex(self.messages(SHORT, f"cclmetrics({params})"), "^cclmetrics: (wrong parameters|no metrics at)")

    def test_silent(self):
        self.assertEqual(self.messages(SHORT, None), "")
        self.assertEqual(self.messages("fakesrc num-buffers=1 ! fakesink", "cclmetrics(port=1)"), "")  # nothing to show
        self.assertIn("serving at 127.0.0.1 port ", self.messages(SHORT, "cclmetrics(port=0)"))
        self.assertIn("ignored", self.messages(SHORT, "cclmetrics(port=0);cclmetrics(port=0)"))

    def test_other_address(self):
        port = free_port()
        with launch(LINE, f"cclmetrics(port={port},address=127.0.0.2)"):
            end = time.monotonic() + 20
            while True:
                with contextlib.suppress(OSError):
                    get(port, host="127.0.0.2")
                    break
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
            with self.assertRaises(OSError):
                get(port)

    def test_interrupted(self):
        port = free_port()
        with launch(LINE, f"cclmetrics(port={port})") as process:
            wait_for_page(port)
            while value(get(port)[1], "gstccl_frames_total") < 2:  # gst-launch-1.0 minds the signal once it plays
                time.sleep(0.05)
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(b"GET /metrics HTTP/1.1\r\n")
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=10)
        self.assertEqual(process.returncode, 0)


PROGRAM = """
import os, sys
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)

def start(name, line="videotestsrc is-live=true ! video/x-raw,format=GRAY8 ! ccllabel name=label threshold=127 ! fakesink"):
    pipeline = Gst.parse_launch(line)
    pipeline.set_name(name)
    pipeline.set_state(Gst.State.PLAYING)
    return pipeline

def wait():
    print("ready", flush=True)
    sys.stdin.readline()
"""


class Programs(unittest.TestCase):
    def setUp(self):
        self.port = free_port()

    @contextlib.contextmanager
    def program(self, text):
        env = dict(os.environ, GST_TRACERS=f"cclmetrics(port={self.port})")
        with subprocess.Popen([sys.executable, "-c", PROGRAM + text], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
            try:
                self.assertEqual(process.stdout.readline(), "ready\n")
                yield process
            finally:
                os.killpg(process.pid, signal.SIGKILL)

    def test_hostile_names(self):
        with self.program("p = start('a\"b\\\\c\\nd{e}=')\nq = start(p.get_name())\nwait()"):
            page = wait_for_page(self.port, "#2")
            self.assertIn('pipeline="a\\"b\\\\c\\nd{e}="', page)
            if PROMTOOL:
                checked = promtool("check", "metrics", input=page)
                self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))

    def test_forked_child_is_silent(self):
        """The parent's page stays its own; with the parent gone, the port is free although the child lives."""
        with self.program("p = start('parent')\nif os.fork() == 0:\n    import time; time.sleep(60)\n"
                          "wait()\nos._exit(0)") as process:
            self.assertIn('pipeline="parent"', wait_for_page(self.port))
            process.stdin.write("\n")
            process.stdin.flush()
            process.wait(timeout=20)
            with self.assertRaises(OSError):
                get(self.port)
            with launch(LINE, f"cclmetrics(port={self.port})"):
                wait_for_page(self.port)

    def test_child_serves_its_own(self):
        with self.program("if os.fork() == 0:\n    p = start('child'); wait()\n    os._exit(0)\nos.wait()"):
            self.assertIn('pipeline="child"', wait_for_page(self.port))


class Examples(unittest.TestCase):
    """What stands in examples/metrics names metrics that exist."""

    @classmethod
    def setUpClass(cls):
        names = (TOP / "gst/elements/metrics/gstcclmetricnames.c").read_text("utf-8")
        cls.known = set(re.findall(r'"(gstccl_\w+)"', names))
        times = {name for name in cls.known if name.endswith("_seconds")}
        cls.known |= {name + part for name in times for part in ("_sum", "_count")}
        cls.known |= {name[:-len("_seconds")] + part for name in times for part in ("_min_seconds", "_max_seconds")}
        cls.known |= {"gstccl_build_info", "gstccl_element_info"}

    def assert_known(self, text):
        used = set(re.findall(r"\bgstccl_\w+", text))
        self.assertTrue(used)
        self.assertEqual(used - self.known, set())

    def test_alerts(self):
        self.assert_known((EXAMPLES / "alerts.yml").read_text("utf-8"))

    @unittest.skipUnless(PROMTOOL, "no promtool here")
    def test_alerts_with_promtool(self):
        for words in ("check", "rules", "alerts.yml"), ("test", "rules", "alerts-test.yml"), \
                ("check", "config", "prometheus.yml"):
            with self.subTest(words=words):
                checked = promtool(*words, cwd=EXAMPLES)
                self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_dashboard(self):
        dashboard = json.loads((EXAMPLES / "dashboard.json").read_text("utf-8"))
        panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
        self.assertGreater(len(panels), 5)
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        for panel in panels:
            for target in panel["targets"]:
                with self.subTest(panel=panel["title"]):
                    self.assert_known(target["expr"])

    def test_document(self):
        document = (TOP / "docs/metrics.md").read_text("utf-8")
        self.assert_known(document)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
