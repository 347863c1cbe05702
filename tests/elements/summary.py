# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cclmeta2json summary=true says at the end what there was, also when Ctrl-C ends the pipeline."""
import json
import signal
import subprocess
import unittest

ZONES = '{"units":"relative","zones":[{"name":"gate","line":[[0.5,0],[0.5,1]]}]}'
SOURCE = "videotestsrc pattern=ball num-buffers=%d ! video/x-raw,format=I420,width=640,height=360 ! "
BLOBS = "cclmotion ! ccllabel mask-source=mask-meta min-area=50 ! "


def launch(words, summary="summary=true"):
    return subprocess.Popen(["gst-launch-1.0", "-q", *words.split(), "cclmeta2json", summary, "!", "fdsink"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Summary(unittest.TestCase):
    def test_blobs(self):
        with launch(SOURCE % 40 + BLOBS) as run:
            lines, messages = run.communicate(timeout=60)
        self.assertEqual(len(lines.splitlines()), 40)
        self.assertRegex(messages, r"(?m)^cclmeta2json0: 40 frames in [\d.]+ s, [\d.]+ frames/s; \d+ blobs?$")

    def test_objects(self):
        with launch(SOURCE % 200 + BLOBS + f"ccltrack ! cclzone zones={ZONES} !") as run:
            messages = run.communicate(timeout=60)[1]
        self.assertRegex(messages, r"(?m)^cclmeta2json0: 200 frames in .* frames/s; 1 object, [1-9]\d* events?$")

    def test_events_only(self):
        """A line for each event of the whole chain, and none for frames; the last one comes with the end of the stream."""
        with launch(SOURCE % 200 + BLOBS + f"ccltrack ! cclzone post-messages=false zones={ZONES} !", "events-only=true") as run:
            lines = [json.loads(line) for line in run.communicate(timeout=60)[0].splitlines()]
        events = [line["event"] for line in lines]
        self.assertEqual((events[0], events[-1]), ("motion-begin", "motion-end"))
        self.assertEqual(set(events[1:-1]), {"cross"})
        self.assertEqual({line["schema"] for line in lines}, {"ccl-event-1"})
        self.assertEqual([line["pts"] for line in lines], sorted(line["pts"] for line in lines))

    def test_interrupted(self):
        source = "videotestsrc is-live=true ! video/x-raw,format=GRAY8,framerate=100/1 ! ccllabel threshold=127 !"
        with launch(source) as run:
            for _ in range(5):
                run.stdout.readline()
            run.send_signal(signal.SIGINT)
            messages = run.communicate(timeout=60)[1]
        self.assertRegex(messages, r"(?m)^cclmeta2json0: \d+ frames in .* frames/s; \d+ blobs$")

    def test_not_asked(self):
        with launch(SOURCE % 3 + BLOBS, "summary=false") as run:
            self.assertNotIn("frames in", run.communicate(timeout=60)[1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
