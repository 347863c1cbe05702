# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Parts of the live page's server by themselves: the camera's chain, the store, the hub.

usage: parts.py SOURCE_FOLDER
"""
import os
import sqlite3
import sys
import tempfile
import time
import unittest
import unittest.mock

import live

ZONES = ('{"units":"relative","zones":[{"name":"all","polygon":[[0,0],[1,0],[1,1],[0,1]]},'
         '{"name":"gate","line":[[0.5,0],[0.5,1]]}]}')
EVENT = {"event": "entered", "zone": "a", "track-id": 1, "direction": None, "inside": 1, "x": 0.5, "y": 0.5}


def frame(forward):
    return {"blobs": [], "w": 640, "h": 360, "zones": [{"name": "a", "forward": forward, "backward": 0, "inside": 0}]}


class Listener:
    """Keeps the counts of each frame."""

    def __init__(self):
        self.counts = []

    def on_frame(self, _camera, seen):
        self.counts.append([n for zone in seen["zones"] for n in (zone["forward"], zone["backward"])])

    def on_other(self, *_arguments):
        """What no test asks for."""

    on_picture = on_event = on_state = on_warning = on_other


class Loop:
    """An event loop that takes nothing until it is asked to."""

    def __init__(self):
        self.calls = []

    def call_soon_threadsafe(self, *call):
        self.calls.append(call)

    def take(self):
        calls, self.calls = self.calls, []
        for function, *arguments in calls:
            function(*arguments)


class Parts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lacking = live.missing()
        if lacking:
            raise unittest.SkipTest(f"needs {lacking}")
        sys.path.insert(0, os.path.join(source, "examples", "live"))

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def wait(self, test, seconds=60.0):
        end = time.monotonic() + seconds
        while not test():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def camera(self, listener):
        import camera
        import chain
        return camera.Camera(0, chain.Source(""), listener, self.folder)

    def test_restarts(self):
        """Chains of before are gone, and what they counted stays as it was."""
        listener = Listener()
        watched = self.camera(listener)
        watched.set_zones(ZONES)
        built, gone = [], []
        build = watched._build

        def build_watched():
            pipeline = build()
            built.append(1)
            pipeline.weak_ref(gone.append, 1)
            return pipeline

        watched._build = build_watched
        watched.start()
        try:
            self.wait(lambda: listener.counts and sum(listener.counts[-1]) > 0)
            for n in range(2, 6):
                watched.restart()
                self.wait(lambda n=n: len(built) == n and watched.frames_of_run > 3)
        finally:
            watched.stop()
        self.assertEqual(len(gone), len(built))
        for before, after in zip(listener.counts, listener.counts[1:]):
            self.assertTrue(all(a >= b for a, b in zip(after, before)), (before, after))

    def test_changes_while_the_chain_is_built(self):
        import chain
        watched = self.camera(Listener())
        text = chain.live

        def change_and_build(place, values, jpeg):
            made = text(place, values, jpeg)
            watched.set_value("motion", "threshold", "77")
            watched.set_zones(ZONES)
            return made

        with unittest.mock.patch.object(chain, "live", change_and_build):
            pipeline = watched._build()
        self.assertEqual(pipeline.get_by_name("motion").get_property("threshold"), 77)
        self.assertEqual(pipeline.get_by_name("zone").get_property("zones"), ZONES)

    def test_names_without_passwords(self):
        import chain
        for place in "rtsp://user:secret@yard/1", "rtsp://user:p@secret@yard/1":
            self.assertEqual(chain.Source(place).name, "rtsp://yard/1")

    def test_frames_wait_for_nobody_or_for_their_time(self):
        import chain
        for place, word in (("rtsp://yard/1", "leaky"), ("/dev/video0", "leaky"), ("http://yard/film.mp4", "clocksync"),
                            ("https://yard/film.mp4", "clocksync"), ("file:///film.mp4", "clocksync"), ("film.mp4", "clocksync"),
                            ("", "clocksync")):
            self.assertIn(word, chain.Source(place).pace(), place)

    def test_late_frames_of_the_last_minute(self):
        import hub
        watched = self.camera(None)
        feed = hub.Feed(watched, unittest.mock.Mock(fault=None))
        late = [3, 5, 5, 0] + [0] * hub.LATE_SECONDS  # the chain was built anew after the third
        shown = []
        for n in late:
            watched.late = lambda n=n: n
            feed.measure()
            shown.append(feed.status()["late"])
        self.assertEqual(shown[:4], [3, 5, 5, 5])
        self.assertEqual(shown[-1], 0)

    def test_hub_drops_what_the_loop_does_not_take(self):
        import hub
        loop, watched = Loop(), self.camera(None)
        store = unittest.mock.Mock(fault=None)
        made = hub.Hub(loop, store)
        made.add(watched)
        for n in range(1000):
            made.on_frame(watched, {**frame(n), "pts": n})
            made.on_picture(watched, "video320", n, b"")
        self.assertEqual(len(loop.calls), hub.MAX_WAITING)
        loop.take()
        made.on_frame(watched, {**frame(0), "pts": 0})
        self.assertEqual(len(loop.calls), 1)

    def test_slow_analysis_leaves_frames_out(self):
        import camera
        import chain
        import hub
        film = os.path.join(self.folder, "film.mkv")
        live.video(film, 4)
        analysis = chain.analysis
        made = hub.Hub(Loop(), unittest.mock.Mock(fault=None))
        watched = camera.Camera(0, chain.Source(f"file://{film}"), Listener(), self.folder)
        made.add(watched)
        feed, = made.feeds

        def is_late():
            feed.measure()
            return feed.status()["late"] > 3

        slow = unittest.mock.patch.object(chain, "analysis", lambda values: f"identity sleep-time=200000 ! {analysis(values)}")
        pace = chain.Source("http://yard/film.mkv").pace()
        with slow, unittest.mock.patch.object(chain.Source, "pace", lambda *_arguments: pace):
            watched.start()
            try:
                self.wait(is_late)
            finally:
                watched.stop()

    def test_lost_gpu(self):
        """As the elements post it: with backend=auto a warning, and with backend=cuda an error."""
        import hub
        from gstreamer import GLib, Gst
        loop = Loop()
        made = hub.Hub(loop, unittest.mock.Mock(fault=None))
        watched = self.camera(made)
        made.add(watched)
        feed, = made.feeds

        def post(kind, text):
            error = GLib.Error.new_literal(Gst.ResourceError.quark(), text, Gst.ResourceError.FAILED)
            label = watched.element("label")
            label.post_message(kind(label, error, "gstcclanalyzerbackend.c: backend=auto continues on the CPU."))

        def status():
            loop.take()
            return feed.status()

        watched.start()
        try:
            self.wait(lambda: status()["state"] == "playing")
            post(Gst.Message.new_warning, "The GPU failed: unspecified launch failure. Continuing on the CPU.")
            self.wait(lambda: status()["warnings"])
            frames = watched.frames
            self.wait(lambda: watched.frames > frames)
            post(Gst.Message.new_error, "The GPU failed: unspecified launch failure.")
            self.wait(lambda: status()["state"] == "lost")
            lost = status()
            self.assertEqual(lost["text"], "The GPU failed: unspecified launch failure.")
            self.assertIn("Set the property backend to auto or cpu", lost["hint"])
            self.assertEqual(lost["warnings"], ["label: The GPU failed: unspecified launch failure. Continuing on the CPU."])
            made.on_warning(watched, "zones.json", "not used")
            self.wait(lambda: status()["state"] == "playing")
            self.assertEqual(status()["warnings"], ["zones.json: not used"])  # those of the old chain are over
        finally:
            watched.stop()

    def test_store_counts_once_after_a_fault(self):
        import store
        path = os.path.join(self.folder, "history.sqlite")
        kept = store.Store(path, ["a"])
        self.addCleanup(kept.close)
        kept.add_frame(0, frame(0))
        kept.add_frame(0, frame(3))
        # A fault after the counts are written.
        kept.data.execute("CREATE TRIGGER full BEFORE INSERT ON heat BEGIN SELECT RAISE(ABORT, 'full'); END")
        kept.data.commit()
        for _ in range(3):
            kept.flush(now=True)
            self.assertIn("full", kept.fault)
        kept.data.execute("DROP TRIGGER full")
        rows = kept.counts(0, 10)
        self.assertIsNone(kept.fault)
        self.assertEqual(sum(row["forward"] for row in rows), 3)

    def test_store_keeps_events_of_each_camera(self):
        import store
        kept = store.Store(os.path.join(self.folder, "history.sqlite"), ["quiet", "busy"])
        self.addCleanup(kept.close)
        kept.add_event(0, EVENT, b"jpeg")
        for _ in range(store.MAX_EVENTS + 50):
            kept.add_event(1, EVENT, None)
        kept.flush(now=True)
        self.assertEqual([len(kept.events(camera, -1)) for camera in (0, 1)], [1, store.MAX_EVENTS])

    def test_links_lead_nowhere(self):
        import folder
        import store
        outside = tempfile.TemporaryDirectory()
        self.addCleanup(outside.cleanup)
        os.symlink(outside.name, os.path.join(self.folder, "presets"))
        with self.assertRaises(OSError):
            folder.write(self.folder, os.path.join(self.folder, "presets", "x.json"), "{}")
        os.symlink("/etc/hostname", os.path.join(self.folder, "zones.json"))
        with self.assertRaises(OSError):
            folder.read(self.folder, os.path.join(self.folder, "zones.json"))
        folder.write(self.folder, os.path.join(self.folder, "zones.json"), "{}")  # replaces the link
        self.assertEqual(folder.read(self.folder, os.path.join(self.folder, "zones.json")), "{}")
        os.symlink(os.path.join(outside.name, "x"), os.path.join(self.folder, "history.sqlite"))
        with self.assertRaises((OSError, sqlite3.Error)):
            store.Store(os.path.join(self.folder, "history.sqlite"), ["a"])
        self.assertEqual(os.listdir(outside.name), [])


if __name__ == "__main__":
    source = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
