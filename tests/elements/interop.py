# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Elements of stock GStreamer that read our blobs from its standard metadata: what they do with them, seen in their
pixels.

usage: interop.py [--picture FILE.ppm]    (in `meson devenv`)

The lines of cclmeta2json schema=dlstreamer are read as programs behind DL Streamer's gvametaconvert read its own. A
test is skipped where its element is missing: objectdetectionoverlay is in GStreamer 1.24 and newer, grabcut in the
package gstreamer1.0-opencv.
"""
import datetime
import json
import sys
import tempfile
import unittest

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstCcl", "1.0")
    from gi.repository import Gst, GstCcl
except (ImportError, ValueError) as error:
    print(f"skipped: {error}")
    sys.exit(77)

Gst.init(None)
WIDTH, HEIGHT = 160, 120
SOURCE = ("videotestsrc pattern=ball animation-mode=frames num-buffers=8 background-color=0xff404040 ! "
          f"video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate=30/1 ! ccllabel threshold=100 ")


def last_frame(line):
    """The last frame that a pipeline makes, RGBA, and the boxes of its blobs."""
    pipeline = Gst.parse_launch(f"{line} ! videoconvert ! video/x-raw,format=RGBA ! fakesink name=sink sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(20 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    buffer = pipeline.get_by_name("sink").get_property("last-sample").get_buffer()
    pipeline.set_state(Gst.State.NULL)
    if message.type != Gst.MessageType.EOS:
        raise RuntimeError(message.parse_error())
    meta = GstCcl.buffer_get_ccl_blob_meta(buffer)
    boxes = [tuple(round(value) for value in meta.get_box(i)) for i in range(meta.get_length())] if meta else []
    return buffer.extract_dup(0, buffer.get_size()), boxes


def pixel(frame, x, y):
    at = 4 * (y * WIDTH + x)
    return tuple(frame[at:at + 3])


def needs(element):
    return unittest.skipUnless(Gst.ElementFactory.find(element), f"no {element} here")


class Interoperation(unittest.TestCase):
    @needs("objectdetectionoverlay")
    def test_objectdetectionoverlay(self):
        """Draws a rectangle around each object detection: where the blob is, and nothing where there is none."""
        plain, boxes = last_frame(f"{SOURCE} attach=blob ! ccltrack ! videoconvert ! objectdetectionoverlay")
        drawn, _ = last_frame(f"{SOURCE} attach=blob+analytics ! ccltrack ! videoconvert ! "
                              "objectdetectionoverlay draw-labels=false object-detection-outline-color=0xffff0000")
        if picture:
            with open(picture, "wb") as file:
                file.write(b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT))
                file.write(bytes(value for i, value in enumerate(drawn) if i % 4 != 3))
        self.assertEqual(len(boxes), 1)
        x, y, width, height = boxes[0]
        changed = [(px, py) for py in range(HEIGHT) for px in range(WIDTH)
                   if pixel(plain, px, py) != pixel(drawn, px, py)]
        left, right = min(px for px, _ in changed), max(px for px, _ in changed)
        bottom = max(py for _, py in changed)
        # A line may lie on either side of the edge.
        self.assertLessEqual(max(abs(left - x), abs(right - (x + width)), abs(bottom - (y + height))), 3)
        for place in ((x, y + height // 2), (x + width // 2, y + height)):
            around = [pixel(drawn, place[0] + dx, place[1] + dy) for dx in range(-3, 4) for dy in range(-3, 4)]
            self.assertTrue(any(red > 200 and green < 80 and blue < 80 for red, green, blue in around), around)
        self.assertEqual(pixel(drawn, x + width // 2, y + height // 2), pixel(plain, x + width // 2, y + height // 2))

    def test_lines_for_readers_of_dlstreamer(self):
        """Read as what follows gvametaconvert reads: its names, their types, and what they say together."""
        with tempfile.NamedTemporaryFile("r") as file:
            source = SOURCE.replace("num-buffers=8", "num-buffers=60")
            last_frame(f"{source} ! ccltrack ! tee name=t ! queue ! cclmeta2json schema=dlstreamer source-id=gate "
                       f"time=system ! filesink location={file.name} t. ! queue")
            lines = [json.loads(line) for line in file]
        self.assertEqual(len(lines), 60)
        for line in lines:
            self.check_frame(line)
        self.assertEqual(len({entry["id"] for line in lines for entry in line["objects"]}), 1)
        times = [line["timestamp"] for line in lines]
        self.assertEqual(times, sorted(set(times)))

    def check_frame(self, line):
        self.assertLessEqual(set(line), {"objects", "resolution", "source", "timestamp", "system_timestamp", "tags"})
        self.assertEqual(line["resolution"], {"width": WIDTH, "height": HEIGHT})
        self.assertEqual(line["source"], "gate")
        datetime.datetime.strptime(line["system_timestamp"], "%Y-%m-%dT%H:%M:%S.%fZ")
        for entry in line["objects"]:
            self.check_object(entry)
        ids = [entry["region_id"] for entry in line["objects"]]
        self.assertEqual(len(ids), len(set(ids)))

    def check_object(self, entry):
        self.assertLessEqual(set(entry), {"x", "y", "w", "h", "region_id", "parent_id", "id", "roi_type", "detection"})
        for name in "x", "y", "w", "h", "region_id", "id":
            self.assertIs(type(entry[name]), int, name)
        self.assertGreater(entry["id"], 0)  # 0 is "no track" there, and left out
        detection = entry["detection"]
        self.assertEqual(detection["label"], entry["roi_type"])
        self.assertIs(type(detection["label_id"]), int)
        self.assertTrue(0 <= detection["confidence"] <= 1)
        box = detection["bounding_box"]
        self.assertEqual(set(box), {"x_min", "x_max", "y_min", "y_max"})
        for low, high, start, length, size in (("x_min", "x_max", "x", "w", WIDTH),
                                               ("y_min", "y_max", "y", "h", HEIGHT)):
            self.assertTrue(0 <= box[low] <= box[high] <= 1)
            self.assertAlmostEqual(box[low] * size, entry[start])
            self.assertAlmostEqual(box[high] * size, entry[start] + entry[length])

    @needs("grabcut")
    def test_grabcut(self):
        """Parts an object from the ground within the first region of interest; without one it lets the frame pass."""
        cut_out = "videoconvert ! video/x-raw,format=RGBA ! grabcut test-mode=true scale=1.3"
        passed, _ = last_frame(f"{SOURCE} attach=blob ! {cut_out}")
        cut, boxes = last_frame(f"{SOURCE} attach=blob+roi ! {cut_out}")
        self.assertEqual(len(boxes), 1)
        x, y, width, height = boxes[0]
        centre = x + width // 2, y + height // 2
        corner = WIDTH - 1 if x < WIDTH // 2 else 0, HEIGHT - 1 if y < HEIGHT // 2 else 0
        self.assertGreater(min(pixel(passed, *corner)), 50)
        self.assertEqual(pixel(cut, *corner), (0, 0, 0))
        self.assertGreater(min(pixel(cut, *centre)), 200)


if __name__ == "__main__":
    picture = sys.argv[sys.argv.index("--picture") + 1] if "--picture" in sys.argv else None
    unittest.main(argv=sys.argv[:1], verbosity=2)
