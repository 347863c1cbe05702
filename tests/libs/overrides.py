# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""GstCcl.blobs(), and metadata that Python keeps longer than its buffer."""
import gc
import sys
import unittest

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstCcl", "1.0")
    from gi.repository import GLib, Gst, GstCcl
except (ImportError, ValueError) as error:
    print("skipped:", error)
    sys.exit(77)
try:
    import numpy
except ImportError:
    numpy = None

ZONES = r'{\"units\":\"relative\",\"zones\":[{\"name\":\"all\",\"polygon\":[[0,0],[1,0],[1,1],[0,1]]}]}'
CHAIN = ("videotestsrc pattern=ball num-buffers=40 ! video/x-raw,format=GRAY8,width=320,height=240 ! "
         f"ccllabel threshold=127 contours=true ! ccltrack ! cclzone zones=\"{ZONES}\"")
FRAMES = 40


def frames(read, chain=CHAIN):
    """read(buffer) for each frame of a pipeline that has come to its end, so that all its buffers are gone."""
    pipeline = Gst.parse_launch(f"{chain} ! fakesink name=end")
    results = []

    def on_buffer(_, info):
        results.append(read(info.get_buffer()))
        return Gst.PadProbeReturn.OK

    pipeline.get_by_name("end").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, on_buffer)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    assert message and message.type == Gst.MessageType.EOS, message and message.parse_error()
    pipeline.set_state(Gst.State.NULL)
    del pipeline
    gc.collect()
    return results


class Blobs(unittest.TestCase):
    def test_sequence(self):
        for blobs in frames(GstCcl.blobs):
            self.assertEqual(len(blobs), 1)
            (blob,) = blobs
            self.assertEqual(blobs[0], blob)
            self.assertEqual(blobs[-1], blob)
            self.assertEqual(blobs[:5], [blob])
            self.assertTrue(blobs)
            with self.assertRaisesRegex(IndexError, "blob 1 of 1"):
                blobs[1]
            with self.assertRaises(IndexError):
                blobs[-2]
            with self.assertRaises(TypeError):
                blobs["area"]

    def test_measures(self):
        def both(buffer):
            return GstCcl.blobs(buffer)[0], GstCcl.buffer_get_ccl_blob_meta(buffer)

        for blob, meta in frames(both):
            self.assertEqual(blob["area"], meta.get_area(0))
            self.assertEqual(blob["box"], tuple(meta.get_box(0)))
            self.assertEqual(blob["centroid"], tuple(meta.get_centroid(0)))
            self.assertEqual(blob["covariance"], tuple(meta.get_covariance(0)))
            self.assertEqual((*blob["axes"], blob["orientation"]), tuple(meta.get_axes(0)))
            self.assertEqual((blob["track_id"], blob["label"], blob["zones"]), (1, 1, 1))
            x, y, width, height = blob["box"]
            self.assertGreater(len(blob["contour"]), 4)
            for px, py in blob["contour"]:
                self.assertTrue(x <= px <= x + width and y <= py <= y + height)

    def test_nothing(self):
        for buffer in (Gst.Buffer.new(), Gst.Buffer.new_allocate(None, 9, None)):
            blobs = GstCcl.blobs(buffer)
            self.assertEqual((len(blobs), list(blobs), bool(blobs), blobs.meta), (0, [], False, None))
            with self.assertRaises(IndexError):
                blobs[0]

    @unittest.skipUnless(numpy, "needs NumPy")
    def test_table(self):
        for blobs in frames(GstCcl.blobs):
            table = blobs.table()
            self.assertEqual(table.shape, (1,))
            for name in blobs[0].keys() - {"contour", "trail"}:
                self.assertEqual(table[0][name].tolist(), numpy.array(blobs[0][name]).tolist(), name)
            self.assertTrue(numpy.isnan(table["circularity"]).all())
        empty = GstCcl.blobs(Gst.Buffer.new()).table()
        self.assertEqual(empty.shape, (0,))
        self.assertEqual(empty["centroid"].shape, (0, 2))
        self.assertEqual(empty["class_id"].shape, (0,))


def measured(meta, i):
    """A dict of the measures of a blob by the getters, one call for each group; undefined ones are None."""
    def get(name, *names):
        known, *values = getattr(meta, f"get_{name}")(i)
        return dict(zip(names, values if known else [None] * len(names)))

    found = {"area": meta.get_area(i), "box": tuple(meta.get_box(i)), "centroid": tuple(meta.get_centroid(i)),
             "covariance": tuple(meta.get_covariance(i))}
    *found["axes"], found["orientation"] = meta.get_axes(i)
    found |= get("filled_area", "area_filled", "n_holes")
    found |= get("holes", "euler_number", *["n_holes"] * meta.get_holes(i)[0])
    found |= get("perimeter", "perimeter_crack", "perimeter_crofton")
    found |= get("circularity", "circularity", "compactness") | get("convexity", "convexity")
    found |= get("hull", "area_convex", "perimeter_convex", "solidity") | get("feret", "feret_diameter_max", "min_feret")
    found |= get("min_rect", "length", "width", "rect_angle") | get("min_rect_center", "x", "y")
    found |= {"rect_center": (found.pop("x"), found.pop("y")), "rect_size": (found.pop("length"), found.pop("width"))}
    found |= get("class_id", "class_id") | get("chroma", "cb_mean", "cr_mean")
    found |= get("intensity", "intensity_min", "intensity_max", "intensity_mean", "intensity_std")
    found |= get("weighted_centroid", "x", "y") | get("weighted_covariance", "xx", "xy", "yy")
    return found | {"centroid_weighted": (found.pop("x"), found.pop("y")),
                    "covariance_weighted": (found.pop("xx"), found.pop("xy"), found.pop("yy"))}


def picture_of(properties, caps="I420", end="", pattern="circular"):
    source = f"videotestsrc pattern={pattern} num-buffers=1 ! video/x-raw,format={caps},width=64,height=48"
    return f"{source} ! ccllabel {properties}{end}"


GROUPS = {"shape": "circularity", "hull": "solidity", "holes": "area_filled", "intensity": "intensity_sum"}


class Table(unittest.TestCase):
    """The table and the dicts have what the getters give, one by one."""

    def assert_same(self, value, expected, name):
        values, wanted = (value, expected) if isinstance(expected, (tuple, list)) else ([value], [expected])
        self.assertEqual(len(values), len(wanted), name)
        for one, other in zip(values, wanted):
            self.assertTrue(one != one if other is None else one == other, (name, value, expected))

    def check(self, blobs):
        for i, blob in enumerate(blobs):
            expected = measured(blobs.meta, i)
            for name in expected.keys() & blob.keys():
                self.assert_same(blob[name], expected[name], name)
            for name in expected.keys() - blob.keys():
                self.assertIn(expected[name], (None, (None,) * 2, (None,) * 3), name)
            if "intensity_sum" in blob:
                self.assertAlmostEqual(blob["intensity_sum"], blob["intensity_mean"] * blobs.meta.get_blob(i).area)
            if numpy:
                row = blobs.table()[i]
                for name in expected:
                    self.assert_same(row[name].tolist(), expected[name], name)
                self.assertTrue(set(row.dtype.names) >= blob.keys() - {"contour", "trail"})

    def test_all_measures(self):
        features = "threshold=100 features=basic+shape+hull+holes+intensity"
        for chain in (picture_of(features), picture_of(features, "GRAY8"),
                      picture_of(features, end=" ! videoscale ! video/x-raw,width=32,height=36")):
            (blobs,) = frames(GstCcl.blobs, chain)
            self.assertGreater(len(blobs), 2)
            self.assertTrue(any(blob["n_holes"] for blob in blobs))
            self.assertTrue({"convexity", *GROUPS.values()} <= blobs[0].keys())
            self.check(blobs)

    def test_label_map(self):
        (blobs,) = frames(GstCcl.blobs, picture_of("foreground=equal features=basic+shape+hull+holes", "GRAY8", pattern="smpte"))
        self.assertGreater(len({blob["class_id"] for blob in blobs}), 3)
        self.assertIsInstance(blobs[0]["class_id"], int)
        self.check(blobs)

    def test_some_groups(self):
        for group, measure in GROUPS.items():
            (blobs,) = frames(GstCcl.blobs, picture_of(f"threshold=100 features=basic+{group}"))
            self.assertEqual([name for name in GROUPS.values() if name in blobs[0]], [measure])
            self.check(blobs)

    def test_rows(self):
        (blobs,) = frames(GstCcl.blobs, picture_of("foreground=equal", "GRAY8", pattern="smpte"))
        meta, n = blobs.meta, len(blobs)
        rows = meta.to_table(0, GLib.MAXUINT).get_data()
        size = len(rows) // n
        self.assertEqual(len(rows), n * size)
        self.assertEqual(meta.to_table(1, 2).get_data(), rows[size:3 * size])
        self.assertEqual(meta.to_table(n - 1, GLib.MAXUINT).get_data(), rows[-size:])
        for first, most in ((n, 1), (GLib.MAXUINT, GLib.MAXUINT), (0, 0)):
            self.assertEqual(meta.to_table(first, most).get_size(), 0)
        self.assertEqual(blobs[1:3], [blobs[1], blobs[2]])
        self.assertEqual([blob["label"] for blob in blobs], list(range(1, n + 1)))

    @unittest.skipUnless(numpy, "needs NumPy")
    def test_outlives_its_meta(self):
        tables = frames(lambda buffer: GstCcl.blobs(buffer).table())
        self.assertEqual([table["label"].tolist() for table in tables], [[1]] * FRAMES)
        self.assertTrue(all(table["area"][0] > 100 for table in tables))
        self.assertFalse(tables[0].flags.writeable)
        self.assertFalse(tables[0].flags.owndata)  # the bytes of the library, not a copy of them


class Kept(unittest.TestCase):
    """Pools use buffers again, so a pointer into one would be read after it was freed."""

    def test_blobs(self):
        metas = frames(GstCcl.buffer_get_ccl_blob_meta)
        self.assertEqual(len(metas), FRAMES)
        for meta in metas:
            self.assertEqual((meta.ref_width, meta.get_length()), (320, 1))
            self.assertIn("ccllabel", meta.get_source())
            self.assertGreater(meta.get_area(0), 100)
            self.assertGreater(len(meta.get_contour(0)), 8)
            self.assertEqual(meta.get_blob(0).label, 1)
            self.assertEqual(meta.list.get_length(), 1)

    def test_zones(self):
        for meta in frames(GstCcl.buffer_get_ccl_zone_meta):
            self.assertEqual(meta.get_length(), 1)
            self.assertEqual(meta.get_zone(0).name, "all")

    def test_masks(self):
        chain = ("videotestsrc pattern=ball num-buffers=10 ! video/x-raw,format=I420,width=320,height=240 ! "
                 "cclmotion ! ccllabel mask-source=mask-meta")
        for meta in frames(GstCcl.buffer_get_ccl_mask_meta, chain):
            self.assertEqual((meta.ref_width, meta.ref_height), (320, 240))
            self.assertGreaterEqual(meta.get_mask().get_size(), 320 * 240)

    def test_added(self):
        """Even what add returns is a copy."""
        buffer = Gst.Buffer.new()
        meta = GstCcl.buffer_add_ccl_blob_meta(buffer, None, 40, 30)
        del buffer
        gc.collect()
        self.assertEqual((meta.ref_width, meta.ref_height, meta.get_length()), (40, 30, 0))

    def test_uninitialized(self):
        """Made by Python itself, it is on no buffer and has no blobs."""
        meta = GstCcl.BlobMeta()
        self.assertEqual((meta.get_length(), meta.get_blob(0), meta.get_source()), (0, None, None))
        self.assertFalse(GstCcl.Blobs(meta))

    def test_write(self):
        buffer, blob = Gst.Buffer.new(), GstCcl.Blob()
        blob.label, blob.area = 1, 9
        meta = GstCcl.buffer_add_ccl_blob_meta(buffer, None, 40, 30)
        meta.n_total = 7
        meta.set_list(GstCcl.BlobList.new([blob]))
        self.assertEqual(GstCcl.buffer_get_ccl_blob_meta(buffer).n_total, 0)
        self.assertTrue(GstCcl.buffer_set_ccl_blob_meta(buffer, meta))
        read = GstCcl.buffer_get_ccl_blob_meta(buffer)
        self.assertEqual((read.n_total, read.get_length(), read.get_area(0)), (7, 1, 9))
        other = Gst.Buffer.new()
        self.assertTrue(GstCcl.buffer_set_ccl_blob_meta(other, meta))
        self.assertEqual(GstCcl.buffer_get_ccl_blob_meta(other).get_area(0), 9)


if __name__ == "__main__":
    Gst.init(None)
    unittest.main(verbosity=2)
