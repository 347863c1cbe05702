# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library as Python sees it, through GObject introspection and nothing else."""
import gc
import struct
import sys
import unittest
import zlib

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstVideo", "1.0")
    gi.require_version("GstCcl", "1.0")
    from gi.repository import GLib, Gst, GstCcl, GstVideo
except (ImportError, ValueError) as error:
    print("skipped:", error)
    sys.exit(77)
try:
    gi.require_version("GstAnalytics", "1.0")
    from gi.repository import GstAnalytics
except ValueError:
    GstAnalytics = None


def blob_of(label, pixels):
    blob = GstCcl.Blob()
    xs, ys = [x for x, _ in pixels], [y for _, y in pixels]
    blob.label = label
    blob.x, blob.y = min(xs), min(ys)
    blob.width, blob.height = max(xs) - min(xs) + 1, max(ys) - min(ys) + 1
    blob.first_x = min(x for x, y in pixels if y == min(ys))
    blob.area = len(pixels)
    blob.m10, blob.m01 = sum(xs), sum(ys)
    blob.m20, blob.m02 = sum(x * x for x in xs), sum(y * y for y in ys)
    blob.m11 = sum(x * y for x, y in pixels)
    return blob


CORNER = [(2, 1), (3, 1), (2, 2)]
POINT = [(7, 3)]


def buffer_with_blobs():
    buffer = Gst.Buffer.new_allocate(None, 80, None)
    blobs = GstCcl.BlobList.new([blob_of(1, CORNER), blob_of(2, POINT)])
    meta = GstCcl.buffer_add_ccl_blob_meta(buffer, blobs, 10, 8)
    meta.connectivity = 8
    meta.n_total = 5
    GstCcl.buffer_set_ccl_blob_meta(buffer, meta)
    return buffer


def has_analytics():
    """Both the library and Python know them."""
    buffer = buffer_with_blobs()
    meta = GstCcl.buffer_get_ccl_blob_meta(buffer)
    return bool(GstAnalytics) and GstCcl.buffer_add_ccl_analytics_mirror(buffer, meta, "blob", 1) > 0


class Blobs(unittest.TestCase):
    def test_reads_naturally(self):
        buffer = buffer_with_blobs()
        meta = GstCcl.buffer_get_ccl_blob_meta(buffer)
        seen = []
        for i in range(meta.get_length()):
            blob = meta.get_blob(i)
            cx, cy = blob.get_centroid()
            seen.append((blob.label, blob.area, round(cx, 6), round(cy, 6)))
        self.assertEqual(seen, [(1, 3, 2.333333, 1.333333), (2, 1, 7, 3)])
        self.assertEqual(tuple(meta.get_box(0)), (2, 1, 2, 2))
        self.assertEqual((meta.ref_width, meta.width, meta.n_kept, meta.n_total), (10, 10, 2, 5))

    def test_named_results(self):
        meta = GstCcl.buffer_get_ccl_blob_meta(buffer := buffer_with_blobs())
        self.assertEqual(meta.get_box(1).width, 1)
        self.assertAlmostEqual(meta.get_centroid(0).x, 7 / 3)
        self.assertAlmostEqual(meta.get_covariance(0).xx, 2 / 9)
        self.assertGreater(meta.get_axes(0).major, meta.get_axes(0).minor)
        self.assertEqual(meta.get_area(0), 3)
        del buffer

    def test_nothing_there(self):
        buffer = Gst.Buffer.new()
        self.assertIsNone(GstCcl.buffer_get_ccl_blob_meta(buffer))
        meta = GstCcl.buffer_add_ccl_blob_meta(buffer, None, 4, 4)
        self.assertEqual(meta.get_length(), 0)
        self.assertIsNone(meta.get_blob(0))
        self.assertIsNone(meta.get_source())

    def test_blob_outlives_its_buffer(self):
        buffer = buffer_with_blobs()
        blob = GstCcl.buffer_get_ccl_blob_meta(buffer).get_blob(0)
        blobs = GstCcl.buffer_get_ccl_blob_meta(buffer).list
        del buffer
        gc.collect()
        self.assertEqual(blob.area, 3)
        self.assertEqual((blob.x, blob.y, blob.width, blob.height, blob.first_x), (2, 1, 2, 2, 2))
        del blobs

    def test_list_outlives_its_buffer(self):
        buffer = buffer_with_blobs()
        other = Gst.Buffer.new()
        GstCcl.buffer_add_ccl_blob_meta(other, GstCcl.buffer_get_ccl_blob_meta(buffer).list, 10, 8)
        del buffer
        gc.collect()
        self.assertEqual(GstCcl.buffer_get_ccl_blob_meta(other).get_blob(1).label, 2)

    def test_points(self):
        buffer, other = buffer_with_blobs(), Gst.Buffer.new()
        meta = GstCcl.buffer_get_ccl_blob_meta(buffer)
        self.assertEqual(list(meta.get_contour(0)), [])
        self.assertEqual(tuple(meta.get_holes(0)), (False, 0, 0))
        self.assertEqual(tuple(meta.get_perimeter(0)), (False, 0, 0))
        self.assertEqual(tuple(meta.get_min_rect(0)), (False, 0, 0, 0))
        known, hole = meta.get_hole(0, 0)
        self.assertEqual((known, hole.area), (False, 0))
        self.assertEqual(list(meta.list_holes(0)), [])
        self.assertEqual(list(meta.get_min_rect_corners(0)), [])
        self.assertEqual(tuple(meta.get_hole_box(hole)), (0, 0, 0, 0))
        # A contour for each blob and a trail for the second, in the flat form.
        data = bytearray(meta.to_bytes().get_data())
        data[4] = 2
        values = (2, 1, 4, 1, 4, 2, 3, 2, 3, 3, 2, 3, 7, 3, 8, 3, 8, 4, 7, 4, 6.5, 3.25, 7.5, 3.5)
        data[-4:] = struct.pack("<4H24f", 6, 0, 4, 2, *values)
        data += struct.pack("<I", zlib.crc32(data))
        meta = GstCcl.buffer_add_ccl_blob_meta_from_bytes(other, GLib.Bytes.new(bytes(data)))
        self.assertEqual(tuple(meta.get_contour(0)), values[:12])
        self.assertEqual(tuple(meta.get_contour(1)), values[12:20])
        self.assertEqual((list(meta.get_trail(0)), list(meta.get_trail(1))), ([], [6.5, 3.25, 7.5, 3.5]))
        self.assertEqual((meta.get_blob(0).n_contour, meta.get_blob(1).n_trail), (6, 2))

    def test_list_of_holes(self):
        data = GstCcl.buffer_get_ccl_blob_meta(buffer := buffer_with_blobs()).to_bytes().get_data()
        records = b"".join(data[at:at + 96] + bytes(8) for at in (120, 216))
        holes = [(1, 2, 2, 10, 20, 2, 1, 10), (1, 1, 1, 30, 20, 1, 1, 30)]
        columns = struct.pack("<3I2IQ", 7 << 2, 1, 16, 1, 2, 6) + struct.pack("<2I", 2, 32)
        data = data[:4] + b"\x08" + data[5:120] + records + bytes(8) + columns + b"".join(struct.pack("<8I", *h) for h in holes)
        data += struct.pack("<4I", 1, 8, 1, 7)
        data += struct.pack("<I", zlib.crc32(data))
        meta = GstCcl.buffer_add_ccl_blob_meta_from_bytes(other := Gst.Buffer.new(), GLib.Bytes.new(data))
        self.assertEqual(tuple(meta.get_filled_area(0)), (True, 6, 2))
        self.assertEqual([(hole.area, hole.x, hole.y) for hole in meta.list_holes(0)], [(2, 10, 20), (1, 30, 20)])
        self.assertEqual(tuple(meta.get_hole_box(meta.list_holes(0)[1])), (30, 20, 1, 1))
        self.assertEqual(len(meta.list_holes(1)), 0)
        self.assertEqual((tuple(meta.get_class_id(0)), tuple(meta.get_class_id(1))), ((True, 7), (False, 0)))
        del buffer, other

    def test_constants(self):
        blob = GstCcl.Blob()
        self.assertEqual(blob.mtd_id, GstCcl.MTD_ID_NONE)
        self.assertEqual(GstCcl.MTD_ID_NONE, 2**32 - 1)
        blob.flags = GstCcl.BlobFlags.TOUCHES_LEFT | GstCcl.BlobFlags.CONFIRMED
        self.assertTrue(blob.flags & GstCcl.BlobFlags.CONFIRMED)
        self.assertTrue(blob.flags & GstCcl.BLOB_FLAGS_BORDER)
        self.assertFalse(blob.flags & GstCcl.BlobFlags.LOST)
        self.assertEqual(GstCcl.ROI_PARAM, "ccl/blob")
        self.assertEqual(int(GstCcl.BlobMetaFlags.SKIPPED), 2)

    def test_large_numbers(self):
        blob = GstCcl.Blob()
        blob.m20 = 2**55
        blob.track_id = blob.volume_id = 2**64 - 1
        self.assertEqual((blob.copy().m20, blob.track_id, blob.copy().volume_id), (2**55, 2**64 - 1, 2**64 - 1))


class Frames(unittest.TestCase):
    def test_matrix(self):
        buffer = buffer_with_blobs()
        meta = GstCcl.buffer_get_ccl_blob_meta(buffer)
        self.assertTrue(meta.is_identity())
        self.assertEqual(list(meta.matrix), [1, 0, 0, 0, 1, 0, 0, 0, 1])
        self.assertEqual(tuple(meta.map_point(2.5, 3)), (2.5, 3))
        meta.set_matrix([2, 0, 0, 0, 4, 0, 0, 0, 1])
        self.assertEqual(tuple(meta.map_point(2.5, 3)), (5, 12))
        self.assertRaises(ValueError, meta.set_matrix, [1, 0, 0])

    def test_through_videoscale(self):
        pipeline = Gst.parse_launch("appsrc name=in caps=video/x-raw,format=GRAY8,width=10,height=8,framerate=1/1 ! "
                                    "videoscale add-borders=false ! video/x-raw,width=20,height=32 ! fakesink name=out "
                                    "signal-handoffs=true sync=false")
        texts, boxes = [], []

        def handoff(_sink, buffer, _pad):
            meta = GstCcl.buffer_get_ccl_blob_meta(buffer)
            texts.append(meta.to_string())
            boxes.append(tuple(meta.get_box(0)))

        # 10 columns in GStreamer's default layout are rows of 12 bytes.
        buffer = Gst.Buffer.new_allocate(None, 96, None)
        blobs = GstCcl.BlobList.new([blob_of(1, CORNER)])
        GstCcl.buffer_add_ccl_blob_meta(buffer, blobs, 10, 8)
        pipeline.get_by_name("out").connect("handoff", handoff)
        pipeline.set_state(Gst.State.PLAYING)
        pipeline.get_by_name("in").emit("push-buffer", buffer)
        pipeline.get_by_name("in").emit("end-of-stream")
        message = pipeline.get_bus().timed_pop_filtered(10 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        pipeline.set_state(Gst.State.NULL)
        self.assertEqual(message.type, Gst.MessageType.EOS)
        self.assertEqual(boxes, [(4, 4, 4, 8)])
        self.assertIn("in a 20x32 frame, matrix 2 0 0 / 0 4 0 / 0 0 1", texts[0])


class FlatForm(unittest.TestCase):
    def test_round_trip(self):
        buffer, other = buffer_with_blobs(), Gst.Buffer.new()
        meta = GstCcl.buffer_get_ccl_blob_meta(buffer)
        copy = GstCcl.buffer_add_ccl_blob_meta_from_bytes(other, meta.to_bytes())
        self.assertEqual(copy.to_string(), meta.to_string())

    def test_errors(self):
        data = GstCcl.buffer_get_ccl_blob_meta(buffer := buffer_with_blobs()).to_bytes().get_data()
        newer = data[:4] + bytes([9]) + data[5:]
        for damaged, code in (data[:-1], GstCcl.Error.DATA), (b"", GstCcl.Error.DATA), (newer, GstCcl.Error.VERSION):
            with self.assertRaises(GLib.Error) as caught:
                GstCcl.buffer_add_ccl_blob_meta_from_bytes(Gst.Buffer.new(), GLib.Bytes.new(damaged))
            self.assertTrue(caught.exception.matches(GstCcl.error_quark(), code))
            self.assertEqual(caught.exception.domain, "gst-ccl-error-quark")
        del buffer

    def test_as_documented(self):
        """The tables of docs/metadata.md, read by someone who has nothing but them."""
        buffer = buffer_with_blobs()
        data = GstCcl.buffer_get_ccl_blob_meta(buffer).to_bytes().get_data()
        header = struct.Struct("<4s11I9d")
        record = struct.Struct("<2I5iI8Q")
        self.assertEqual((header.size, record.size, len(data)), (120, 96, 120 + 2 * 96 + 4))
        self.assertEqual(header.unpack_from(data),
                         (b"CCLB", 1, 0, 10, 8, 10, 8, 2, 5, 8, 2, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1))
        self.assertEqual(record.unpack_from(data, 120), (1, 0, 2, 1, 2, 2, 2, 0, 3, 7, 4, 17, 9, 6, 0, 0))
        self.assertEqual(struct.unpack("<I", data[-4:])[0], zlib.crc32(data[:-4]))


class Zones(unittest.TestCase):
    def test_read(self):
        pipeline = Gst.parse_launch(
            "videotestsrc pattern=ball num-buffers=5 ! video/x-raw,format=GRAY8,width=64,height=48 ! "
            "ccllabel threshold=127 ! ccltrack min-hits=1 ! cclzone name=zone ! fakesink name=sink")
        pipeline.get_by_name("zone").set_property(
            "zones", '{"zones":[{"name":"all","polygon":[[0,0],[64,0],[64,48],[0,48]]}]}')
        pipeline.set_state(Gst.State.PLAYING)
        pipeline.get_bus().timed_pop_filtered(10 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        buffer = pipeline.get_by_name("sink").get_property("last-sample").get_buffer()
        meta = GstCcl.buffer_get_ccl_zone_meta(buffer)
        zone = meta.get_zone(0)
        self.assertEqual((meta.get_length(), zone.name, zone.kind), (1, "all", GstCcl.ZoneKind.POLYGON))
        self.assertEqual((zone.n_inside, zone.n_forward, zone.n_backward, zone.n_points), (1, 1, 0, 4))
        self.assertEqual([zone.get_point(i) for i in (1, 4)], [(True, 1, 0), (False, 0, 0)])
        self.assertIsNone(meta.get_zone(1))
        blob = GstCcl.buffer_get_ccl_blob_meta(buffer).get_blob(0)
        self.assertEqual((blob.zones, blob.age), (1, 5))
        self.assertGreater(blob.track_id, 0)
        pipeline.set_state(Gst.State.NULL)


class Tracks(unittest.TestCase):
    """The track of a ball, in each form it is written in."""

    def test_read(self):
        found = []
        pipeline = Gst.parse_launch(
            "videotestsrc pattern=ball animation-mode=frames num-buffers=12 ! "
            "video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1 ! "
            "ccllabel threshold=127 attach=blob+roi+analytics ! ccltrack min-hits=3 ! "
            "fakesink name=sink sync=false signal-handoffs=true")
        pipeline.get_by_name("sink").connect("handoff", lambda _sink, buffer, _pad: found.append(self.read(buffer)))
        pipeline.set_state(Gst.State.PLAYING)
        message = pipeline.get_bus().timed_pop_filtered(10 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        pipeline.set_state(Gst.State.NULL)
        self.assertEqual(message.type, Gst.MessageType.EOS)
        self.assertEqual(len(found), 12)
        track = found[0][0]
        self.assertGreater(track, 0)
        for n, frame in enumerate(found):
            self.assertEqual(frame, (track, n + 1, n >= 2, {track}, {track} if has_analytics() else set()))

    @staticmethod
    def read(buffer):
        """Track, age, is it confirmed; the ids in the regions of interest; those in the analytics' tracking."""
        blob = GstCcl.buffer_get_ccl_blob_meta(buffer).get_blob(0)
        mirrored = GstVideo.buffer_get_video_region_of_interest_meta_id(
            buffer, blob.label if blob.mtd_id == GstCcl.MTD_ID_NONE else blob.mtd_id)
        rois = {mirrored.get_param("object_id").get_int("id").value}
        tracking = set()
        if has_analytics():
            relations = GstAnalytics.buffer_get_analytics_relation_meta(buffer)
            for i in range(GstAnalytics.relation_get_length(relations)):
                is_tracking, mtd = relations.get_tracking_mtd(i)
                if is_tracking:
                    tracking.add(mtd.get_info()[1])
        return blob.track_id, blob.age, bool(blob.flags & GstCcl.BlobFlags.CONFIRMED), rois, tracking


class Mirrors(unittest.TestCase):
    def test_roi(self):
        buffer = buffer_with_blobs()
        meta = GstCcl.buffer_get_ccl_blob_meta(buffer)
        self.assertEqual(GstCcl.buffer_add_ccl_roi_mirror(buffer, meta, "blob", 100), 2)
        roi = GstVideo.buffer_get_video_region_of_interest_meta_id(buffer, 2)
        self.assertEqual((roi.x, roi.y, roi.w, roi.h), (7, 3, 1, 1))
        self.assertEqual(roi.get_param(GstCcl.ROI_PARAM).get_uint("area").value, 1)

    def test_analytics(self):
        buffer = buffer_with_blobs()
        meta = GstCcl.buffer_get_ccl_blob_meta(buffer)
        n = GstCcl.buffer_add_ccl_analytics_mirror(buffer, meta, "blob", 100)
        if not has_analytics():
            self.skipTest("built without gst-analytics, or without its typelib")
        self.assertEqual(n, 2)
        relations = GstAnalytics.buffer_get_analytics_relation_meta(buffer)
        found, detection = relations.get_od_mtd(meta.get_blob(1).mtd_id)
        self.assertTrue(found)
        self.assertEqual(tuple(detection.get_location())[1:5], (7, 3, 1, 1))


if __name__ == "__main__":
    Gst.init(None)
    unittest.main(verbosity=2)
