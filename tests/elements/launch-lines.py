# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every gst-launch-1.0 line of the documents and of the elements' manuals runs and says nothing bad.

usage: launch-lines.py SOURCE_FOLDER
"""
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

OPTIONAL = ["cclkafkasink", "cclmqttsink", "cclnatssink", "ccloverlay"]  # a build may lack them
DOCUMENTS = ["README.md", "examples/launch.md", "docs/*.md", "docs/elements/*.md"]


def launch_lines(document):
    """The lines to paste, with the continuations that a backslash joins."""
    text = (source / document).read_text("utf-8").replace("\\\n", " ")
    if document.endswith(".c"):  # |[ ... ]| in a comment, over several lines
        return [" ".join(re.sub(r"^ \*", "", line).strip() for line in block.splitlines()).strip()
                for block in re.findall(r"\|\[(.*?)\]\|", text, re.DOTALL) if "gst-launch-1.0" in block]
    return [line.strip() for line in text.splitlines() if re.match(r" +(\S+ )*gst-launch-1\.0 ", line)]


def runnable(line):
    """The line without what only a user has: devenv is there already, a screen may not be."""
    line = re.sub(r"^.*?gst-launch-1\.0", "gst-launch-1.0 --no-fault", line)
    line = re.sub(r"\bauto(video)?sink\b", "fakesink", line)
    if "num-buffers=" not in line:
        line = re.sub(r"\bvideotestsrc\b", "videotestsrc num-buffers=100", line)
    return line


class Broker:
    """A real MQTT broker on a free port of this machine."""

    program = shutil.which("mosquitto") or shutil.which("/usr/sbin/mosquitto")

    def __enter__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen([self.program, "-p", str(self.port)], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            time.sleep(0.05)
        raise RuntimeError("mosquitto does not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class NatsServer:
    """A real server of NATS on a free port of this machine, with a stream for the subjects of the documents."""

    program = shutil.which("nats-server") or shutil.which("/usr/sbin/nats-server")
    stream = json.dumps({"name": "blobs", "subjects": ["cams.>"], "storage": "memory", "num_replicas": 1})

    def __init__(self, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.folder = folder

    def __enter__(self):
        self.process = subprocess.Popen([self.program, "-js", "-sd", self.folder, "-a", "127.0.0.1", "-p", str(self.port)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                if b"stream_create_response" in self.add_stream():
                    return self
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("nats-server does not start")

    def add_stream(self):
        """The server's answer to a request that adds the stream."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(b'CONNECT {"verbose":false}\r\nSUB answer 1\r\nPUB $JS.API.STREAM.CREATE.blobs answer '
                               + f"{len(self.stream)}\r\n{self.stream}\r\n".encode())
            lines = connection.makefile("rb")
            while (line := lines.readline()) and not line.startswith(b"MSG"):
                pass
            return lines.readline()

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def has_element(name):
    # Without a version, GStreamer's own is asked for.
    return subprocess.run(["gst-inspect-1.0", "--exists", "--atleast-version=0.1", name], check=False).returncode == 0


def writes_cbor():
    return "application/cbor" in subprocess.run(["gst-inspect-1.0", "cclmeta2json"], capture_output=True, text=True,
                                                check=False).stdout


class LaunchLines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.scene = pathlib.Path(folder.name) / "scene.webm"
        subprocess.run([source / "docs" / "scene.sh", cls.scene], check=True, timeout=120)

    def run_line(self, line, folder):
        # A shell reads the line, as it does when a user pastes it.
        result = subprocess.run(["sh", "-c", "exec " + runnable(line)], cwd=folder, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotRegex(result.stderr + result.stdout, "CRITICAL|WARNING|ERROR")
        return result.stdout

    def check_output(self, line, stdout, folder):
        """Whatever a line says it writes is there, and JSON is JSON."""
        if "cclzone" in line and " -m " in line:
            self.assertIn("ccl-zone", stdout)
        texts = [stdout] if "fdsink" in line else []
        for location in re.findall(r"location=(\S+)", line):
            files = list(folder.glob(re.sub(r"%\d*d", "*", location)))
            self.assertTrue(files, f"no {location}")
            self.assertTrue(all(file.stat().st_size for file in files), f"{location} is empty")
            texts += [file.read_text("utf-8") for file in files if file.suffix == ".ndjson"]
        for text in texts:
            self.assertTrue(text)
            for frame in text.splitlines():
                self.assertIsInstance(json.loads(frame), dict)

    def test_lines(self):
        documents = sorted(str(path.relative_to(source)) for pattern in [*DOCUMENTS, "gst/elements/**/*.c"]
                           for path in source.glob(pattern))
        for document in documents:
            for line in launch_lines(document):
                if not re.search(r"videotestsrc|scene\.webm", line) or "backend=cuda" in line:
                    continue  # needs a file, a camera or a GPU of the user's
                with self.subTest(document=document, line=line), tempfile.TemporaryDirectory() as name:
                    folder = pathlib.Path(name)
                    if "scene.webm" in line:
                        shutil.copy(self.scene, folder / "scene.webm")
                    for element in OPTIONAL:
                        if element in line and not has_element(element):
                            self.skipTest(f"built without {element}")
                    if "application/cbor" in line and not writes_cbor():
                        self.skipTest("built without libcbor")
                    if "cclmqttsink" in line:
                        self.run_published(line, folder)
                    elif "cclnatssink" in line:
                        self.run_published_to_nats(line, folder)
                    elif "cclkafkasink" in line:  # librdkafka has a cluster for tests inside
                        self.run_line(line.replace("servers=localhost:9092", "config=test.mock.num.brokers=1"), folder)
                    else:
                        self.check_output(line, self.run_line(line, folder), folder)

    def run_published(self, line, folder):
        """A line that publishes, with a broker of our own in the place of the user's."""
        if not Broker.program:
            self.skipTest("no mosquitto")
        with Broker() as broker:
            self.run_line(line.replace("mqtt://localhost", f"mqtt://localhost:{broker.port}"), folder)

    def run_published_to_nats(self, line, folder):
        if not NatsServer.program:
            self.skipTest("no nats-server")
        with NatsServer(folder) as server:
            self.run_line(line.replace("localhost:4222", f"localhost:{server.port}"), folder)

    def test_there_are_lines(self):
        self.assertGreater(len(launch_lines("examples/launch.md")), 5)
        self.assertGreater(len(launch_lines("gst/elements/label/gstccllabel.c")), 4)


if __name__ == "__main__":
    source = pathlib.Path(sys.argv.pop(1))
    unittest.main()
