# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Contours of ccllabel against OpenCV's findContours: filled they are the same pixels, and the pixels along the inside
of each edge, in order, are the very sequence that findContours returns; simplified they stay within the tolerance.

usage: contours.py DATA_FOLDER     (environment: CCL_TEST_DATA overrides it)
exit status 77: no OpenCV, NumPy or introspection
"""
import os
import pathlib
import sys
import unittest

try:
    import cv2
    import gi
    import numpy as np

    gi.require_version("Gst", "1.0")
    gi.require_version("GstCcl", "1.0")
    from gi.repository import Gst, GstCcl
except (ImportError, ValueError) as error:
    print("skipped:", error)
    sys.exit(77)


def contours(mask, chain="identity", **settings):
    """(blob, corners as an array of rows x, y) of each blob of a mask of 0 and 255, behind the elements `chain`."""
    height, width = mask.shape
    padded = np.zeros((height, (width + 3) // 4 * 4), np.uint8)
    padded[:, :width] = mask
    words = " ".join(f"{name.replace('_', '-')}={value}" for name, value in settings.items())
    pipeline = Gst.parse_launch(
        f"appsrc name=in format=time caps=video/x-raw,format=GRAY8,width={width},height={height},framerate=1/1 ! "
        f"ccllabel contours=true max-components=100000 {words} ! {chain} ! fakesink name=out sync=false")
    pipeline.set_state(Gst.State.PLAYING)
    pipeline.get_by_name("in").emit("push-buffer", Gst.Buffer.new_wrapped(padded.tobytes()))
    pipeline.get_by_name("in").emit("end-of-stream")
    message = pipeline.get_bus().timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    assert message.type == Gst.MessageType.EOS, message.parse_error()
    buffer = pipeline.get_by_name("out").get_property("last-sample").get_buffer()
    meta = GstCcl.buffer_get_ccl_blob_meta(buffer)
    result = [(meta.get_blob(i), np.array(meta.get_contour(i)).reshape(-1, 2)) for i in range(meta.get_length())]
    pipeline.set_state(Gst.State.NULL)
    return result


def inner_pixels(corners):
    """The pixel on the right of each edge of one pixel's length, in order, those named twice in a row once."""
    pixels = []
    for (x0, y0), (x1, y1) in zip(corners.astype(int), np.roll(corners, -1, axis=0).astype(int)):
        dx, dy = np.sign(x1 - x0), np.sign(y1 - y0)
        for i in range(max(abs(x1 - x0), abs(y1 - y0))):
            x, y = x0 + i * dx, y0 + i * dy
            pixel = (x - (dx < 0) - (dy > 0), y - (dx < 0) - (dy < 0))
            if not pixels or pixels[-1] != pixel:
                pixels.append(pixel)
    if len(pixels) > 1 and pixels[0] == pixels[-1]:
        pixels.pop()
    return pixels


def same_cycle(a, b):
    """Whether two cyclic sequences are the same, forward or backward, from any start."""
    if len(a) != len(b):
        return False
    for sequence in (b, b[::-1]):
        for start in (i for i, pixel in enumerate(sequence) if pixel == a[0]):
            if a == sequence[start:] + sequence[:start]:
                return True
    return False


def masks():
    random = np.random.default_rng(1)
    for density in 20, 45, 60, 80:
        for size in 1, 2, 4:
            small = (random.integers(0, 100, (97, 131)) < density).astype(np.uint8) * 255
            yield f"noise of {density} % in blocks of {size}", cv2.resize(small, None, fx=size, fy=size,
                                                                          interpolation=cv2.INTER_NEAREST)
    if data and (data / "masks").is_dir():
        for name in "davis-cows/00000.png", "davis-cows/00050.png", "davis-paragliding/00010.png":
            picture = cv2.imread(str(data / "masks" / name), cv2.IMREAD_GRAYSCALE)
            if picture is not None:
                yield name, (picture > 127).astype(np.uint8) * 255
        page = cv2.imread(str(data / "masks/still/feyn-fract.png"), cv2.IMREAD_GRAYSCALE)
        if page is not None:
            yield "feyn-fract.png", (page <= 127).astype(np.uint8) * 255
    else:
        print("no real masks")


class Contours(unittest.TestCase):
    def test_8_connected_as_find_contours(self):
        for name, mask in masks():
            _, labels = cv2.connectedComponents(mask, connectivity=8)
            for blob, corners in contours(mask, contour_epsilon=0, contour_max_points=65535):
                with self.subTest(mask=name, blob=blob.label):
                    box = np.s_[blob.y:blob.y + blob.height, blob.x:blob.x + blob.width]
                    ours = (labels[box] == labels[blob.y, blob.first_x]).astype(np.uint8)
                    found, _ = cv2.findContours(ours, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
                    self.assertEqual(len(found), 1)
                    theirs = [(int(x) + blob.x, int(y) + blob.y) for x, y in found[0][:, 0]]
                    self.assertTrue(same_cycle(inner_pixels(corners), theirs))

                    filled = np.zeros_like(ours)
                    cv2.drawContours(filled, found, -1, 1, cv2.FILLED)
                    area = float(np.sum(corners[:, 0] * np.roll(corners[:, 1], -1) -
                                        np.roll(corners[:, 0], -1) * corners[:, 1])) / 2
                    self.assertEqual(area, filled.sum())

    def test_4_connected_filled_again(self):
        for name, mask in masks():
            _, labels = cv2.connectedComponents(mask, connectivity=4)
            for blob, corners in contours(mask, connectivity=4, contour_epsilon=0, contour_max_points=65535):
                with self.subTest(mask=name, blob=blob.label):
                    box = np.s_[blob.y:blob.y + blob.height, blob.x:blob.x + blob.width]
                    ours = np.pad((labels[box] == labels[blob.y, blob.first_x]).astype(np.uint8), 1)
                    # Outside is what an 8-connected flood from the corner reaches.
                    outside = np.zeros((ours.shape[0] + 2, ours.shape[1] + 2), np.uint8)
                    cv2.floodFill(ours.copy(), outside, (0, 0), 1, flags=8)
                    expected = 1 - outside[1:-1, 1:-1]
                    # Rows of pixels between the upright edges, by their parity.
                    toggles = np.zeros_like(ours)
                    for (x0, y0), (x1, y1) in zip(corners.astype(int), np.roll(corners, -1, axis=0).astype(int)):
                        if x0 == x1:
                            toggles[min(y0, y1) - blob.y + 1:max(y0, y1) - blob.y + 1, x0 - blob.x + 1] ^= 1
                    filled = np.bitwise_xor.accumulate(toggles, axis=1)
                    self.assertTrue(np.array_equal(filled, expected))

    def test_elements_that_write_into_blobs_hand_them_on(self):
        mask = np.zeros((60, 80), np.uint8)
        cv2.circle(mask, (20, 20), 9, 255, cv2.FILLED)
        cv2.line(mask, (50, 10), (70, 50), 255, 3)
        zone = '"{\\"zones\\":[{\\"name\\":\\"left\\",\\"polygon\\":[[0,0],[40,0],[40,60],[0,60]]}]}"'
        chain = f"ccltrack min-hits=1 ! cclzone zones={zone} ! cclmetaremap mode=keep ! cclmetaremap mode=restore"
        for (_, before), (blob, after) in zip(contours(mask), contours(mask, chain)):
            self.assertGreater(blob.track_id, 0)
            self.assertGreater(len(before), 4)
            self.assertTrue(np.array_equal(before, after))

    def test_simplified(self):
        for name, mask in masks():
            exact = contours(mask, contour_epsilon=0, contour_max_points=65535)
            for epsilon in 1, 4:
                simple = contours(mask, contour_epsilon=epsilon, contour_max_points=65535)
                for (blob, corners), (_, points) in zip(exact, simple):
                    with self.subTest(mask=name, blob=blob.label, epsilon=epsilon):
                        outline = points.astype(np.float32).reshape(-1, 1, 2)
                        farthest = max(-cv2.pointPolygonTest(outline, (float(x), float(y)), True)
                                       for x, y in corners[:200])
                        self.assertLessEqual(farthest, epsilon + 1e-4)
                        self.assertTrue(np.array_equal(points.min(axis=0), corners.min(axis=0)))
                        self.assertTrue(np.array_equal(points.max(axis=0), corners.max(axis=0)))
            for blob, points in contours(mask):
                self.assertLessEqual(len(points), 64)
                self.assertGreaterEqual(len(points), 3)


if __name__ == "__main__":
    folder = os.environ.get("CCL_TEST_DATA") or (sys.argv[1] if len(sys.argv) > 1 else "")
    data = pathlib.Path(folder) if folder else None
    Gst.init(None)
    unittest.main(argv=sys.argv[:1])
