# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""gstccl.analyze() and Context on small masks whose answer is plain."""
import gc
import threading
import unittest
import weakref
from concurrent.futures import ThreadPoolExecutor

from module import gstccl, np

# An 8-connected blob of three pixels, and one pixel alone.
MASK = np.array([[0, 1, 1, 0, 0],
                 [0, 0, 0, 1, 0],
                 [1, 0, 0, 0, 0]], np.uint8)


class Tables(unittest.TestCase):
    def test_table(self):
        table = gstccl.analyze(MASK)
        self.assertEqual((len(table), table.n_found, table.n_kept, table.truncated), (2, 2, 2, False))
        self.assertEqual(table["area"].tolist(), [3, 1])
        self.assertEqual([tuple(map(int, blob[["x0", "y0", "x1", "y1"]].tolist())) for blob in table],
                         [(1, 0, 4, 2), (0, 2, 1, 3)])
        self.assertEqual(table["centroid"].tolist(), [[2, 1 / 3], [0, 2]])
        self.assertEqual(np.asarray(table)["label"].tolist(), [1, 2])
        self.assertEqual(table[1]["touches"], 1 | 8)

    def test_connectivity(self):
        self.assertEqual(gstccl.analyze(MASK, connectivity=4)["area"].tolist(), [2, 1, 1])

    def test_empty(self):
        table = gstccl.analyze(np.zeros((4, 4), bool), contours=True, labels=True)
        self.assertEqual((len(table), table.contours, table.labels.any()), (0, [], False))

    def test_kinds_of_masks(self):
        wide = np.zeros((6, 9), np.uint16)
        wide[1:4, 2:7] = MASK
        read_only = MASK.copy()
        read_only.flags.writeable = False
        masks = {"bool": MASK != 0, "uint16": MASK.astype(np.uint16), "view": wide[1:4, 2:7], "every second row":
                 np.repeat(MASK, 2, axis=0)[::2], "read-only": read_only, "memoryview": memoryview(MASK),
                 "subclass": MASK.view(np.matrix)}
        expected = gstccl.analyze(MASK).blobs
        for name, mask in masks.items():
            with self.subTest(mask=name):
                np.testing.assert_array_equal(gstccl.analyze(mask).blobs, expected)

    def test_threshold_and_invert(self):
        self.assertEqual(gstccl.analyze(MASK * 9, threshold=9).n_found, 0)
        self.assertEqual(gstccl.analyze(MASK * 9, threshold=np.array(9)).n_found, 0)
        self.assertEqual(gstccl.analyze(MASK, invert=True)["area"].sum(), 15 - 4)

    def test_filters(self):
        self.assertEqual(gstccl.analyze(MASK, min_area=2)["area"].tolist(), [3])
        self.assertEqual(gstccl.analyze(MASK, max_width=1)["area"].tolist(), [1])
        table = gstccl.analyze(np.pad(MASK, ((1, 0), (0, 0))), border="drop")
        self.assertEqual((table["area"].tolist(), table.n_found), ([3], 2))

    def test_expressions(self):
        ring = np.array([[1, 1, 1, 0, 0], [1, 0, 1, 0, 1], [1, 1, 1, 0, 1]], bool)
        self.assertEqual(gstccl.analyze(ring, filter="n_holes == 0")["area"].tolist(), [2])
        table = gstccl.analyze(ring, filter="circularity > 0.1 and not touches_right", labels=True, features="shape")
        self.assertEqual((table["area"].tolist(), table["n_holes"].tolist(), table.n_kept, table.n_found), ([8], [1], 1, 2))
        self.assertEqual(table.labels.max(), 1)
        with gstccl.Context(5, 3, filter="area < 8", sort="area-desc") as context:
            self.assertEqual(context.analyze(MASK)["area"].tolist(), [3, 1])
            self.assertEqual(context.analyze(ring)["area"].tolist(), [2])
        with self.assertRaisesRegex(ValueError, "unknown measure 'aera' at 10; known are area, x, y"):
            gstccl.analyze(MASK, filter="true and aera > 5")

    def test_sort(self):
        expected = {"raster": [3, 1], "area": [1, 3], "area-desc": [3, 1], "centroid_x": [1, 3], "n_holes": [3, 1]}
        for sort, areas in expected.items():
            with self.subTest(sort=sort):
                self.assertEqual(gstccl.analyze(MASK, sort=sort)["area"].tolist(), areas)
        for sort in "size", "area-", "-desc", "touches-border", "":
            with self.subTest(sort=sort), self.assertRaisesRegex(ValueError, f"it is '{sort}'"):
                gstccl.analyze(MASK, sort=sort)

    def test_labels(self):
        self.assertEqual(gstccl.analyze(MASK, labels=True).labels.tolist(), [[0, 1, 1, 0, 0], [0, 0, 0, 1, 0], [2, 0, 0, 0, 0]])
        image = np.full((3, 8), 7, np.uint32)
        self.assertEqual(gstccl.analyze(MASK, labels=image[:, :5]).labels.base is image, True)
        self.assertEqual(image[:, 5:].tolist(), [[7, 7, 7]] * 3)
        self.assertEqual(image[2, 0], 2)

    def test_contours(self):
        first, second = gstccl.analyze(MASK, contours=True).contours
        self.assertEqual(first.tolist(), [[1, 0], [3, 0], [3, 1], [4, 1], [4, 2], [3, 2], [3, 1], [1, 1]])
        self.assertEqual(second.tolist(), [[0, 2], [1, 2], [1, 3], [0, 3]])

    def test_features(self):
        table = gstccl.analyze(MASK, features="all")
        self.assertEqual(set(table.blobs.dtype.names) - set(gstccl.analyze(MASK, features=()).blobs.dtype.names),
                         set(gstccl.FEATURES))
        self.assertAlmostEqual(table[0]["extent"], 3 / 6)
        self.assertAlmostEqual(table[1]["diameter"], 2 / np.sqrt(np.pi))

    def test_core_names_the_same_columns(self):
        core, groups = gstccl._core, gstccl._records.GROUPS
        self.assertEqual(set(core.COLUMNS), {*gstccl.FEATURES, *groups, "convexity", "class_id"})
        self.assertEqual(set(core.FEATURES), set(groups))
        self.assertEqual(sum(core.COLUMNS.values()), 2 ** len(core.COLUMNS) - 1)

    def test_shape(self):
        ring = np.pad(np.ones((3, 3), np.uint8), 1)
        ring[2, 2] = 0
        for features in ("shape", ["area", "shape"][1:], iter(["centroid", "shape"])):
            blob = gstccl.analyze(ring, features=features)[0]
            self.assertEqual((blob["euler_number"], blob["n_holes"], blob["perimeter_crack"]), (0, 1, 16))
        self.assertNotIn("n_holes", gstccl.analyze(ring, features="all").blobs.dtype.names)
        with gstccl.Context(5, 5, shape=True) as context:
            self.assertEqual(context.analyze(ring, features=("extent", "shape"))["n_holes"].tolist(), [1])
        with gstccl.Context(5, 5) as context, self.assertRaisesRegex(ValueError, "shape=True"):
            context.analyze(ring, features="shape")

    def test_holes(self):
        """A hole with an island that has a hole; the second blob has none."""
        mask = np.zeros((9, 16), np.uint8)
        mask[1:8, 1:8], mask[2:7, 2:7], mask[3:6, 3:6], mask[4, 4], mask[4, 12] = 1, 0, 1, 0, 1
        table = gstccl.analyze(mask, features=["holes", "centroid"])
        self.assertEqual(table["area_filled"].tolist(), [49, 9, 1])
        self.assertEqual(table.holes[["parent", "area", "area_filled", "x0", "y1", "first_x"]].tolist(),
                         [(1, 16, 25, 2, 7, 2), (2, 1, 1, 4, 5, 4)])
        table = gstccl.analyze(mask, features="holes", sort="area", filter="area_filled > 1")
        self.assertEqual((table["label"].tolist(), table.holes["parent"].tolist()), ([2, 1], [2, 1]))
        self.assertIsNone(gstccl.analyze(mask, features="hull").holes)

    def test_intensity(self):
        """Rows of 8 bits with space behind them, and 16 bits."""
        mask = np.zeros((6, 9), np.uint8)
        mask[1:3, 1:4], mask[4, 8] = 1, 1
        for kind in np.uint8, np.uint16:
            picture = np.arange(6 * 12, dtype=kind).reshape(6, 12)[:, :9]
            table = gstccl.analyze(mask, features=["intensity", "shape"], picture=picture)
            self.assertEqual(table["intensity_min"].tolist(), [13, 56])
            self.assertEqual((table["intensity_max"].tolist(), table["intensity_sum"].tolist()), ([27, 56], [120, 56]))
            np.testing.assert_allclose(table["intensity_mean"], [20, 56])
            np.testing.assert_allclose(table["intensity_std"], [picture[1:3, 1:4].std(), 0], rtol=1e-12)
            np.testing.assert_allclose(table["centroid_weighted"][1], [8, 4])
            np.testing.assert_allclose(table["covariance_weighted"][1], 0)
        self.assertEqual(gstccl.analyze(mask, filter="intensity-mean > 30", picture=picture)["label"].tolist(), [1])
        for wrong in {}, {"picture": picture[:5]}, {"picture": picture.astype(float)}:
            with self.assertRaises((ValueError, TypeError)):
                gstccl.analyze(mask, features="intensity", **wrong)

    def test_label_maps(self):
        label_map = np.array([[1, 1, 2, 2, 0], [1, 1, 2, 2, 0], [7, 0, 0, 0, 1]], np.uint16)
        table = gstccl.analyze(label_map, foreground="equal", labels=True, contours=True)
        self.assertEqual(table["class_id"].tolist(), [1, 2, 7, 1])
        self.assertEqual(table["area"].tolist(), [4, 4, 1, 1])
        self.assertEqual(table.contours[1].tolist(), [[2, 0], [4, 0], [4, 2], [2, 2]])
        self.assertEqual(table.labels.tolist(), [[1, 1, 2, 2, 0], [1, 1, 2, 2, 0], [3, 0, 0, 0, 4]])
        large = (label_map * 9000).astype(np.uint16)
        self.assertEqual(gstccl.analyze(large, foreground="equal", background=9000)["class_id"].tolist(), [18000, 0, 63000])
        some = gstccl.analyze(label_map.astype(np.uint8), foreground="equal", filter="class_id < 3", sort="class_id-desc",
                              features="extent")
        self.assertEqual(some["class_id"].tolist(), [2, 1, 1])
        self.assertNotIn("class_id", gstccl.analyze(label_map).blobs.dtype.names)
        for wrong in ({"foreground": "same"}, {"foreground": "equal", "background": 65536},
                      {"foreground": "equal", "threshold": 1}):
            with self.subTest(wrong), self.assertRaises(ValueError):
                gstccl.analyze(label_map, **wrong)
        ring = np.full((5, 5), 3, np.uint8)
        ring[1:4, 1:4] = 0
        ring[2, 2] = 9
        table = gstccl.analyze(ring, foreground="equal", features=("shape", "hull", "holes", "intensity"), picture=ring)
        for column, expected in (("n_holes", [1, 0]), ("area_convex", [25, 1]), ("area_filled", [25, 1]),
                                 ("intensity_mean", [3, 9])):
            self.assertEqual(table[column].tolist(), expected)
        self.assertEqual((table.holes["area"].tolist(), table.holes["area_filled"].tolist()), ([8], [9]))

    def test_hull(self):
        plus = np.pad(np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8), 1)
        for features in ("hull", ["hull", "shape"]):
            blob = gstccl.analyze(plus, features=features)[0]
            self.assertAlmostEqual(blob["area_convex"], 7)
            self.assertAlmostEqual(blob["solidity"], 5 / 7)
            self.assertAlmostEqual(blob["feret_diameter_max"], np.sqrt(10))
            np.testing.assert_allclose(blob["rect_center"], (2, 2))
            np.testing.assert_allclose(blob["rect_size"], np.sqrt((8, 8)))
            self.assertAlmostEqual(blob["rect_angle"], -np.pi / 4)
            self.assertEqual("convexity" in blob.dtype.names, features != "hull")
        self.assertAlmostEqual(blob["convexity"], (4 + 4 * np.sqrt(2)) / 12)
        with gstccl.Context(5, 5, shape=True) as context, self.assertRaisesRegex(ValueError, "hull=True"):
            context.analyze(plus, features="hull")
        with gstccl.Context(5, 5, hull=True) as context:
            table = context.analyze(np.ones((2, 3), bool), features="equivalent_rect")
            self.assertEqual(table["equivalent_rect"].round(9).tolist(), [[3, 2]])

    def test_all_blobs(self):
        """Without max_blobs the table is never cut short; with it the counts stay exact."""
        dots = np.zeros((512, 1024), np.uint8)
        dots[::2, ::2] = 1
        self.assertEqual(len(gstccl.analyze(dots)), 256 * 512)
        self.assertEqual(len(gstccl.analyze(dots, max_blobs=256 * 512)), 256 * 512)
        table = gstccl.analyze(dots, max_blobs=10)
        self.assertEqual((len(table), table.n_found, table.truncated), (10, 256 * 512, True))

    def test_tables_live_on(self):
        with gstccl.Context(5, 3) as context:
            table = context.analyze(MASK)
            context.analyze(1 - MASK)
        self.assertEqual(table["area"].tolist(), [3, 1])
        table["area"][0] = 5  # it belongs to the caller

    def test_mask_is_given_back(self):
        mask = np.array(MASK)
        alive = weakref.ref(mask)
        gstccl.analyze(mask, labels=True)
        del mask
        gc.collect()
        self.assertIsNone(alive())


class Threads(unittest.TestCase):
    def test_each_thread_has_its_context(self):
        rng = np.random.default_rng(1)
        masks = [rng.random((200, 300)) < 0.4 for _ in range(8)]
        expected = [gstccl.analyze(mask).blobs for mask in masks]

        def is_right(i):
            return all(np.array_equal(gstccl.analyze(masks[i]).blobs, expected[i]) for _ in range(20))

        with ThreadPoolExecutor(len(masks)) as pool:
            self.assertTrue(all(pool.map(is_right, range(len(masks)))))

    def test_gil_is_released(self):
        """Another thread runs while the core works: the two meet in one context, and one of them is refused."""
        context = gstccl.Context(4096, 4096, threads=1)
        mask = np.random.default_rng(2).random((4096, 4096)) < 0.5
        refused = []

        def work():
            for _ in range(10):
                try:
                    context.analyze(mask, features=())
                except RuntimeError as error:
                    refused.append(str(error))

        thread = threading.Thread(target=work)
        thread.start()
        while thread.is_alive():
            try:
                context.analyze(mask, features=())
            except RuntimeError as error:
                refused.append(str(error))
        thread.join()
        self.assertTrue(any("in use by another thread" in sentence for sentence in refused))


if __name__ == "__main__":
    unittest.main(verbosity=2)
