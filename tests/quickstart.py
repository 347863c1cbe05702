# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""examples/quickstart.sh as a newcomer meets it: what it prints where, and its answers to wrong arguments.

usage: quickstart.py SOURCE_FOLDER; CCL_BUILD names the build folder to use instead of SOURCE_FOLDER/build.
"""
import glob
import json
import os
import pathlib
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib

MASK = [
    "..........",
    ".##....#..",
    ".##...#...",
    "....#.....",
    "........##",
]
AREAS = [4, 2, 1, 2]  # of its blobs, 8-connected, in raster order


def quickstart(*arguments, **options):
    """As where there is no display."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    script = os.path.join(source, "examples", "quickstart.sh")
    return subprocess.run([script, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                          check=False, env=environment, **options)


def rows(scale=8):
    """MASK enlarged, as rows of 0 and 255."""
    for line in MASK:
        row = bytes(255 * (pixel == "#") for pixel in line for _ in range(scale))
        for _ in range(scale):
            yield row


def png(lines=None):
    lines = lines or list(rows())

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", len(lines[0]), len(lines), 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
            chunk(b"IDAT", zlib.compress(b"".join(b"\0" + line for line in lines))) + chunk(b"IEND", b""))


def pgm():
    lines = list(rows())
    return b"P5\n%d %d\n255\n" % (len(lines[0]), len(lines)) + b"".join(lines)


class Quickstart(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def lines(self, *arguments, **options):
        run = quickstart(*arguments, **options)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, "(?m)^Backend: (cpu|cuda)")
        self.assertRegex(run.stderr, r"(?m)^Summary: \d+ frames? in [\d.]+ s")
        return [json.loads(line) for line in run.stdout.splitlines()]

    def refuse(self, status, message, *arguments):
        run = quickstart(*arguments)
        self.assertEqual((run.returncode, run.stdout), (status, ""), run.stderr)
        self.assertIn(message, run.stderr)

    def check_video(self, path):
        """WebM, and more than a header."""
        data = pathlib.Path(path).read_bytes()
        self.assertEqual(data[:4], b"\x1a\x45\xdf\xa3")
        self.assertGreater(len(data), 10000)

    def test_scene(self):
        lines = self.lines(cwd=self.folder)
        self.assertEqual(len(lines), 240)
        places = {}
        for line in lines:
            self.assertEqual((line["schema"], line["frame"]), ("ccl-blob-1", {"w": 640, "h": 360}))
            for blob in line["blobs"]:
                if blob.get("track"):
                    places.setdefault(blob["track"], []).append(blob["centroid"])
        moved = [way for way in places.values() if max(abs(a - b) for a, b in zip(way[0], way[-1])) > 100]
        self.assertGreaterEqual(len(moved), 3, "too little moves")
        self.assertGreaterEqual(max(len(line["blobs"]) for line in lines), 3)
        # They cross: somewhere fewer are seen than there are.
        counts = [len(line["blobs"]) for line in lines[40:]]
        self.assertLess(min(counts), max(counts))
        self.check_video(os.path.join(self.folder, "blobs.webm"))

    def test_video(self):
        video = os.path.join(self.folder, "my ball!.mkv")
        made = subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=60", "pattern=ball", "!",
                               "video/x-raw,width=320,height=240,framerate=30/1", "!", "jpegenc", "!", "matroskamux",
                               "!", "filesink", f"location={self.folder}/made.mkv"], check=False)
        if made.returncode:
            self.skipTest("jpegenc or matroskamux is missing")
        os.rename(f"{self.folder}/made.mkv", video)
        lines = self.lines(video, "min-area=10")
        self.assertEqual(len(lines), 60)
        self.assertEqual(lines[-1]["blobs"][0]["label"], 1)
        self.check_video(os.path.join(self.folder, "my ball!-blobs.webm"))
        self.assertEqual(len(self.lines(video, "--video", f"{self.folder}/other.webm")), 60)
        self.check_video(f"{self.folder}/other.webm")

    def test_sound_before_the_picture(self):
        video = os.path.join(self.folder, "late.mkv")
        queue = "! queue max-size-time=0 max-size-buffers=0 max-size-bytes=0 !"
        line = (f"videotestsrc num-buffers=30 pattern=ball timestamp-offset=6000000000 ! video/x-raw,framerate=30/1 ! jpegenc {queue} "
                f"matroskamux name=both ! filesink location={video} "
                f"audiotestsrc num-buffers=330 ! audio/x-raw,rate=48000 ! vorbisenc {queue} both.")
        if subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=False).returncode:
            self.skipTest("jpegenc, vorbisenc or matroskamux is missing")
        self.assertEqual(len(self.lines(video)), 30)

    def test_picture(self):
        # A name that gst-launch-1.0 would take apart.
        line, = self.lines(self.write("a \"mask\" ! of 'mine'.png", png()))
        self.assertEqual([blob["area"] for blob in line["blobs"]], [64 * area for area in AREAS])
        self.assertEqual(line["frame"], {"w": 80, "h": 40})

    def test_picture_relative(self):
        self.write("mask.png", png())
        for arguments in ["mask.png"], ["--mask", "mask.png"]:
            line, = self.lines(*arguments, cwd=self.folder)
            self.assertEqual(line["total"], len(AREAS))

    def test_portable_graymap(self):
        line, = self.lines(self.write("mask.pgm", pgm()))
        self.assertEqual([blob["area"] for blob in line["blobs"]], [64 * area for area in AREAS])

    def test_properties(self):
        mask = self.write("mask.png", png())
        line, = self.lines(mask, "min-area=100")
        self.assertEqual([blob["area"] for blob in line["blobs"]], [64 * area for area in AREAS if 64 * area >= 100])
        line, = self.lines(mask, "invert=true", "connectivity=4")
        self.assertEqual(line["blobs"][0]["area"], 64 * (50 - sum(AREAS)))

    def test_reader_has_enough(self):
        run = subprocess.run([os.path.join(source, "examples", "quickstart.sh")], stdin=subprocess.DEVNULL,
                             cwd=self.folder, stdout=broken_pipe(), stderr=subprocess.PIPE, text=True, timeout=300,
                             check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("Annotated video: blobs.webm", run.stderr)
        self.check_video(os.path.join(self.folder, "blobs.webm"))

    def test_reader_takes_three_lines(self):
        """With SIGPIPE, and where it is ignored, which is inherited."""
        for start in "", "trap '' PIPE; ":
            with self.subTest(start=start):
                script = os.path.join(source, "examples", "quickstart.sh")
                run = subprocess.run(["sh", "-c", f'{start}"{script}" --video v.webm | head -n 3'], cwd=self.folder,
                                     stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
                self.assertEqual(len(run.stdout.splitlines()), 3, run.stderr)
                self.check_video(os.path.join(self.folder, "v.webm"))
                os.remove(os.path.join(self.folder, "v.webm"))
                self.assertEqual(os.listdir(self.folder), [])

    def test_stdout_is_full(self):
        self.write("v.webm", b"earlier")
        with open("/dev/full", "wb") as full:
            run = subprocess.run([os.path.join(source, "examples", "quickstart.sh"), "--video", "v.webm"],
                                 cwd=self.folder, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                                 text=True, timeout=300, check=False)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("No space left", run.stderr)
        self.check_untouched()

    def check_untouched(self):
        self.assertEqual(os.listdir(self.folder), ["v.webm"])
        self.assertEqual(pathlib.Path(self.folder, "v.webm").read_bytes(), b"earlier")

    def test_earlier_video_stays(self):
        video = self.write("v.webm", b"earlier")
        self.refuse(1, "could not be processed", "--video", video, "min-area=abc")
        self.check_untouched()
        run = quickstart("--video", "/dev/full")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("No space left", run.stderr)

    def test_earlier_video_is_replaced(self):
        video = self.write("v.webm", b"earlier")
        os.chmod(video, 0o600)
        link = os.path.join(self.folder, "link")
        os.symlink("v.webm", link)
        self.lines("--video", link)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(sorted(os.listdir(self.folder)), ["link", "v.webm"])
        self.check_video(video)
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(os.stat(video).st_mode & 0o777, 0o666 & ~mask)

    def test_input_is_not_overwritten(self):
        video = self.write("v.webm", b"earlier")
        os.symlink(video, os.path.join(self.folder, "soft"))
        os.link(video, os.path.join(self.folder, "hard"))
        for other in "v.webm", "soft", "hard":
            self.refuse(1, "is the input itself: name another file", video, "--video",
                        os.path.join(self.folder, other))
            self.refuse(1, "is the input itself: name another file", os.path.join(self.folder, other), "--video", video)
        os.remove(os.path.join(self.folder, "soft"))
        os.remove(os.path.join(self.folder, "hard"))
        self.check_untouched()

    def test_video_among_the_lines(self):
        path = os.path.join(self.folder, "both")
        with open(path, "wb") as both:
            run = subprocess.run([os.path.join(source, "examples", "quickstart.sh"), "--video", path],
                                 stdin=subprocess.DEVNULL, stdout=both, stderr=subprocess.PIPE, text=True, timeout=300,
                                 check=False)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("is where the JSON goes", run.stderr)

    def test_video_into_a_pipe(self):
        path = os.path.join(self.folder, "pipe")
        os.mkfifo(path)
        with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as reader:
            timer = threading.Timer(300, reader.kill)
            timer.start()
            self.addCleanup(timer.cancel)
            with tempfile.TemporaryFile("w+") as messages:
                run = subprocess.Popen([os.path.join(source, "examples", "quickstart.sh"), "--video", path],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=messages)
                data = reader.communicate()[0]
                status = run.wait(300)
                messages.seek(0)
                self.assertEqual(status, 0, messages.read())
        self.assertEqual(data[:4], b"\x1a\x45\xdf\xa3")
        self.assertGreater(len(data), 10000)
        self.assertTrue(stat.S_ISFIFO(os.stat(path).st_mode))

    def test_interrupted(self):
        """Ctrl-C, which all processes of the terminal get, on the first line of a long scene."""
        self.write("v.webm", b"earlier")
        with subprocess.Popen([os.path.join(source, "examples", "quickstart.sh"), "--video", "v.webm"],
                              cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=heed_signals) as run:
            run.stdout.readline()
            os.killpg(run.pid, signal.SIGINT)
            messages = run.communicate(timeout=60)[1]
        self.assertEqual(run.returncode, 130, messages)
        self.assertIn("interrupted, not written: v.webm", messages)
        self.assertRegex(messages, r"(?m)^Summary: \d+ frames? in .*\d (object|blob)s?$")
        self.check_untouched()

    def when_it_waits(self, sign, alone, delay):
        """Status and messages where nothing comes from a server, and so many seconds after gst-launch-1.0 is started the script
        itself alone, or all of its group, gets a signal."""
        self.write("v.webm", b"earlier")
        with socket.create_server(("127.0.0.1", 0)) as server: # whom nobody accepts
            uri = "http://127.0.0.1:%d/camera" % server.getsockname()[1]
            with subprocess.Popen([os.path.join(source, "examples", "quickstart.sh"), uri, "--video", "v.webm"],
                                  cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=heed_signals,
                                  env={**os.environ, "TMPDIR": self.folder}) as run:
                self.addCleanup(lambda: os.killpg(run.pid, signal.SIGKILL) if run.poll() is None else None)
                while run.poll() is None and not list(pathlib.Path(self.folder).glob("tmp.*/errors")): # the last thing before
                    time.sleep(0.01)
                time.sleep(delay)
                (os.kill if alone else os.killpg)(run.pid, sign)
                messages = run.communicate(timeout=12)[1] # the source gives up after 15 s
                self.assertEqual(left_of_session(run.pid), [])
        self.check_untouched()
        return run.returncode, messages

    def test_ended_alone(self):
        """By somebody who knows its process alone."""
        for sign in signal.SIGTERM, signal.SIGHUP:
            for delay in 0, 0.1, 1:
                with self.subTest(sign=sign, delay=delay):
                    status, messages = self.when_it_waits(sign, True, delay)
                    self.assertEqual(status, 128 + sign, messages)

    def test_interrupted_early(self):
        """Before gst-launch-1.0 heeds Ctrl-C, and when it does."""
        for delay in 0, 0.1, 0.2, 1:
            with self.subTest(delay=delay):
                status, messages = self.when_it_waits(signal.SIGINT, False, delay)
                self.assertEqual(status, 130, messages)

    def test_help(self):
        run = quickstart("--help")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertTrue(run.stdout.startswith("usage: "))

    def test_wrong_arguments(self):
        self.refuse(2, "no such option: --fast", "--fast")
        self.refuse(2, "not PROPERTY=VALUE: twice", self.write("mask.png", png()), "twice")
        self.refuse(2, "VIDEO is empty", "")
        self.refuse(2, "--mask needs a file", "--mask")
        self.refuse(2, "--mask goes alone", "video.mkv", "--mask", "mask.png")
        self.refuse(2, "would take this apart", self.write("mask.png", png()), "min-area=1 ! fakesink")
        self.refuse(1, "no such camera: /dev/video99", "/dev/video99")
        self.refuse(1, "no such file: min-area; a property is NAME=VALUE", "min-area")
        self.refuse(1, "no such file: /no/such.png", "/no/such.png")
        self.refuse(1, "no such file: /no/such.mkv", "/no/such.mkv")
        self.refuse(1, "no such folder: /no/folder", "--video", "/no/folder/x.webm")
        self.refuse(1, f"not a file: {self.folder}", self.folder)
        self.refuse(1, "the file is empty", self.write("empty.png", b""))

    def test_wrong_contents(self):
        self.refuse(1, "could not be processed: it is a text file", self.write("text.png", b"no picture at all\n" * 100))
        self.refuse(1, "could not be processed: it is damaged or cut short", self.write("half.png", png()[:60]))
        self.refuse(1, "could not be processed: it is damaged or cut short",
                    self.write("half.avi", b"RIFF\0\0\1\0AVI LIST\xc0\0\0\0hdrlavih"))
        self.refuse(1, "could not be processed: it is a text file", self.write("text.mkv", b"no video at all\n" * 100))
        self.refuse(1, "could not be processed: GStreamer does not know", self.write("noise.png", bytes([200, 7]) * 999))

    def test_no_picture(self):
        sound = os.path.join(self.folder, "sound.wav")
        subprocess.run(["gst-launch-1.0", "-q", "audiotestsrc", "num-buffers=50", "!", "wavenc", "!", "filesink",
                        f"location={sound}"], check=True)
        self.refuse(1, "could not be processed: there are no pictures in it", sound)

    def test_formats_that_gstreamer_cannot_read(self):
        ascii_bitmap = self.write("ascii.pbm", b"P1\n80 40\n" + b"1 0 " * 1600)
        for arguments in [ascii_bitmap], ["--mask", ascii_bitmap]:
            self.refuse(1, "ascii.pbm is a PBM in ASCII (P1), which GStreamer cannot read; binary PBM (P4)", *arguments)
        header = b"P7\nWIDTH 4\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\nTUPLTYPE GRAYSCALE\nENDHDR\n"
        self.refuse(1, "map.pam is a PAM (P7), which GStreamer cannot read", self.write("map.pam", header + b"abcd"))
        # What the message recommends works; of a PBM 0 is white.
        line, = self.lines(self.write("binary.pbm", b"P4\n80 40\n" + bytes([255]) * 390 + bytes(10)))
        self.assertEqual([blob["area"] for blob in line["blobs"]], [80])
        line, = self.lines(self.write("map.ppm", b"P6\n80 40\n255\n" + b"".join(bytes([v, v, v]) for row in rows() for v in row)))
        self.assertEqual(line["total"], len(AREAS))

    def test_too_large(self):
        for size in (16385, 2), (2, 16385):
            with self.subTest(size=size):
                data = b"P5\n%d %d\n255\n" % size + bytes(size[0] * size[1])
                self.refuse(1, "%dx%d: a mask has at most 16384x16384 pixels" % size, self.write("large.pgm", data))
                self.refuse(1, "%dx%d: a mask has at most 16384x16384 pixels" % size,
                            self.write("large.png", png([bytes(size[0])] * size[1])))

    def test_nothing_comes(self):
        for uri in "http://127.0.0.1:1/x.mp4", "rtsp://127.0.0.1:1/x":
            self.refuse(1, f"{uri} could not be processed: nothing came from there", uri, "--video",
                        os.path.join(self.folder, "v.webm"))
        self.refuse(1, "GStreamer knows no addresses like this", "no-such://x", "--video",
                    os.path.join(self.folder, "v.webm"))
        self.assertEqual(os.listdir(self.folder), [])

    def test_no_room(self):
        """As on a full disk: nothing can be written that is longer than a few bytes."""
        script = os.path.join(source, "examples", "quickstart.sh")
        run = subprocess.run(["sh", "-c", f'trap "" XFSZ; ulimit -f 8; exec "{script}"'], cwd=self.folder,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False,
                             env={**os.environ, "TMPDIR": self.folder})
        self.assertEqual((run.returncode, run.stdout), (1, ""), run.stderr)
        self.assertIn(f"cannot write into {self.folder}: make room there, or let TMPDIR name another folder", run.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_odd_folder_for_logs(self):
        script = os.path.join(source, "examples", "quickstart.sh")
        for name in "my logs", "back\\slash", "it's":
            folder = os.path.join(self.folder, name)
            os.mkdir(folder)
            run = subprocess.run([script], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
                                 cwd=self.folder, env={**os.environ, "TMPDIR": folder})
            self.assertEqual((run.returncode, run.stdout), (1, ""), name)
            self.assertIn(f"would take TMPDIR apart: {folder}; let it name another folder", run.stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_folder_of_another(self):
        if os.getuid():
            self.skipTest("takes root")

        def as_nobody(*arguments, build):
            script = os.path.join(source, "examples", "quickstart.sh")
            return subprocess.run([script, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=300, check=False, user=65534, group=65534, extra_groups=[],
                                  env={"PATH": os.environ["PATH"], "CCL_BUILD": build})

        os.chmod(self.folder, 0o755)
        if subprocess.run(["cat", os.path.join(source, "examples", "quickstart.sh")], user=65534, group=65534,
                          extra_groups=[], capture_output=True, check=False).returncode:
            self.skipTest("the sources are for their owner alone")
        build = os.path.join(self.folder, "build")
        os.mkdir(build)
        run = as_nobody("--video", "/tmp/no-such-video.webm", build=build)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn(f"not allowed to write: {build}; CCL_BUILD=FOLDER names another", run.stderr)
        run = as_nobody(build=build)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn(f"not allowed to write to the folder {self.folder}: name a file elsewhere with --video FILE",
                      run.stderr)

    def test_wrong_properties(self):
        mask = self.write("mask.png", png())
        self.refuse(1, "no-such", mask, "no-such=1")

    def test_warnings(self):
        mask = self.write("mask.png", png())
        self.assertNotIn("Warning", quickstart(mask).stderr)
        run = quickstart(mask, "min-width=1000", "region-id=1")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr.count("Warning: "), 2, run.stderr)
        self.assertIn("Warning: region-id=1 has no effect", run.stderr)
        self.assertIn("Warning: min-width=1000 is more than a mask of 80x40 pixels", run.stderr)


def heed_signals():
    """In the child: who runs the tests may ignore some, as nohup does, and a shell does not trap what was ignored before it."""
    for sign in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:
        signal.signal(sign, signal.SIG_DFL)


def left_of_session(leader):
    """Names of its processes that are there yet, after some seconds in which a shell may still clear up; what only sleeps
    ends by itself."""
    for _ in range(50):
        names = []
        for path in glob.glob("/proc/[0-9]*/stat"):
            try:
                name, fields = pathlib.Path(path).read_text().split("(", 1)[1].rsplit(")", 1)
            except OSError: # gone meanwhile
                continue
            if fields.split()[3] == str(leader) and name != "sleep":
                names.append(name)
        if not names:
            break
        time.sleep(0.1)
    return names


def broken_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    return writer


if __name__ == "__main__":
    source = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
