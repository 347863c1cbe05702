# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""gstccl.Tracker on made-up courses, from tables and from boxes."""
import inspect
import unittest

from module import gstccl, np

WIDTH, HEIGHT = 100, 60


def mask_of(*boxes):
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    for x0, y0, x1, y1 in boxes:
        mask[y0:y1, x0:x1] = 255
    return mask


def table_of(*boxes):
    return gstccl.analyze(mask_of(*boxes))


class Blobs(unittest.TestCase):
    def test_two_courses(self):
        """One goes right, one goes left: in the table they change places, their ids stay."""
        tracker = gstccl.Tracker(min_hits=2)
        for i in range(10):
            right, left = (10 + 6 * i, 10 + i, 25 + 6 * i, 20 + i), (80 - 6 * i, 40 - i, 90 - 6 * i, 50 - i)
            table = table_of(right, left)
            ids = tracker.update(table)
            self.assertEqual(len(ids), 2)
            of_right = np.flatnonzero(table["x0"] == right[0])[0]
            self.assertEqual((ids[of_right], ids[1 - of_right]), (1, 2), f"mask {i}")
        for track in tracker.tracks:
            self.assertEqual(gstccl.TrackState(track["state"]), gstccl.TrackState.CONFIRMED)
            self.assertEqual((track["age"], track["hits"], track["misses"], track["parent_id"]), (10, 10, 0, 0))
            blob = table[track["blob"]]
            self.assertEqual(track["box"].tolist(), [blob["x0"], blob["y0"], blob["x1"], blob["y1"]])
            np.testing.assert_allclose(track["centroid"], blob["centroid"], atol=0.5)
            np.testing.assert_allclose(track["velocity"], [6, 1] if track["id"] == 1 else [-6, -1], atol=0.3)

    def test_centroid_of_a_still_blob(self):
        """In the coordinates of a table, where the centre of the first pixel is (0, 0)."""
        tracker = gstccl.Tracker()
        for _ in range(4):
            table = table_of((10, 20, 15, 29))
            tracker.update(table)
        np.testing.assert_allclose(tracker.tracks["centroid"], table["centroid"])
        np.testing.assert_allclose(tracker.tracks["centroid"], [[12, 24]])

    def test_any_columns(self):
        """Records of any features, and the structured array alone."""
        plain, rich = gstccl.Tracker(), gstccl.Tracker()
        for i in range(3):
            mask = mask_of((10 + i, 10, 20 + i, 20))
            plain.update(gstccl.analyze(mask, features=()))
            rich.update(gstccl.analyze(mask, features="all").blobs[:1])
        self.assertEqual(plain.tracks.tobytes(), rich.tracks.tobytes())

    def test_classes(self):
        """Blobs side by side are pieces of one object, unless they have different values in a label map."""
        for lower, n_objects in ((5, 1), (7, 2)):
            tracker = gstccl.Tracker()
            for i in range(20):
                labels = np.zeros((HEIGHT, WIDTH), np.uint8)
                labels[10:40, 10 + i:50 + i] = 5
                labels[42:52, 20 + i:40 + i] = lower
                ids = tracker.update(gstccl.analyze(labels, foreground="equal"))
            self.assertEqual(len(set(ids.tolist())), n_objects, f"{lower} below 5")

    def test_states(self):
        tracker = gstccl.Tracker(min_hits=2, max_age=2)
        seen = table_of((40, 20, 50, 30))
        states = []
        for table in (seen, seen, None, *[table_of()] * 3):
            tracker.update(table)
            states += [gstccl.TrackState(track["state"]).name for track in tracker.tracks]
            blobs = tracker.tracks["blob"].tolist()
            self.assertEqual(blobs, [0] if table is seen else [-1] * len(blobs))
        self.assertEqual(states[:3], ["TENTATIVE", "CONFIRMED", "PREDICTED"])
        self.assertEqual(states[-1], "LOST")
        tracker.update(table_of())
        self.assertEqual(len(tracker.tracks), 0)

    def test_reset(self):
        tracker = gstccl.Tracker()
        self.assertEqual(tracker.update(table_of((1, 1, 9, 9))).tolist(), [1])
        tracker.reset()
        self.assertEqual(len(tracker.tracks), 0)
        self.assertEqual(tracker.update(table_of((1, 1, 9, 9))).tolist(), [2])

    def test_lost_frames(self):
        """Three pixels a mask: after nine lost ones the blob is expected thirty pixels on."""
        for frames, expected in (10, [1]), (1, [2]):
            tracker = gstccl.Tracker(merge_split=False)
            for i in range(10):
                self.assertEqual(tracker.update(table_of((3 * i, 5, 3 * i + 8, 13))).tolist(), [1])
            with self.subTest(frames=frames):
                self.assertEqual(tracker.update(table_of((57, 5, 65, 13)), frames).tolist(), expected)


class Defaults(unittest.TestCase):
    def test_of_the_core(self):
        parameters = inspect.signature(gstccl.Tracker).parameters
        self.assertEqual(len(gstccl._core.TRACKER_DEFAULTS), 6)
        for name, value in gstccl._core.TRACKER_DEFAULTS.items():
            self.assertEqual(parameters[name].default, value, name)


class Boxes(unittest.TestCase):
    def test_boxes(self):
        tracker = gstccl.Tracker(boxes=True, frame_seconds=0.04, min_hits=1)
        for i in range(5):
            ids = tracker.update([[100 + 3 * i, 50, 140 + 3 * i, 130, 0.9, 7], [300, 50, 340, 130, 0.8, 2]])
        self.assertEqual(ids.tolist(), [1, 2])
        self.assertEqual(tracker.tracks["class"].tolist(), [7, 2])
        self.assertEqual(tracker.tracks["box"][1].tolist(), [300, 50, 340, 130])
        np.testing.assert_allclose(tracker.tracks["centroid"][1], [320, 90])

    def test_little_confidence(self):
        tracker = gstccl.Tracker(boxes=True, min_hits=1)
        self.assertEqual(tracker.update([[10, 10, 50, 50, 0.3]]).tolist(), [0])
        self.assertEqual(tracker.update([[10, 10, 50, 50, 0.7]]).tolist(), [1])
        self.assertEqual(tracker.update([]).tolist(), [])
        self.assertEqual(tracker.update(np.empty((0, 6))).tolist(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
