# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""gstccl.analyze_volume() and fill_holes(), against plain Python."""
import itertools
import unittest
import unittest.mock

from module import gstccl, np


def labelled(stack, connectivity):
    """Components in raster order of their first voxels, by a flood fill."""
    steps = [step for step in itertools.product((-1, 0, 1), repeat=3)
             if any(step) and (connectivity == 8 or sum(map(abs, step)) == 1)]
    labels, n = np.zeros(stack.shape, np.uint32), 0
    for start in zip(*np.nonzero(stack)):
        if labels[start]:
            continue
        n += 1
        labels[start], todo = n, [start]
        while todo:
            at = todo.pop()
            for step in steps:
                to = tuple(a + b for a, b in zip(at, step))
                if all(0 <= a < size for a, size in zip(to, stack.shape)) and stack[to] and not labels[to]:
                    labels[to] = n
                    todo.append(to)
    return labels, n


class Volumes(unittest.TestCase):
    def test_random(self):
        rng = np.random.default_rng(3)
        for shape, density, connectivity in itertools.product(((1, 7, 9), (4, 12, 70), (9, 5, 3)), (0.1, 0.3, 0.6), (4, 8)):
            stack = rng.random(shape) < density
            with self.subTest(shape=shape, density=density, connectivity=connectivity):
                expected, n = labelled(stack, connectivity)
                table = gstccl.analyze_volume(stack, connectivity=connectivity, labels=True)
                self.assertEqual((table.n_found, len(table)), (n, n))
                np.testing.assert_array_equal(table.labels, expected)
                for record in table:
                    frames, rows, columns = np.nonzero(expected == record["label"])
                    self.assertEqual(record["voxels"], len(frames))
                    self.assertEqual((record["frame0"], record["frame1"]), (frames.min(), frames.max() + 1))
                    self.assertEqual((record["y0"], record["y1"]), (rows.min(), rows.max() + 1))
                    self.assertEqual((record["x0"], record["x1"]), (columns.min(), columns.max() + 1))
                    self.assertEqual((record["first_x"], record["first_y"]), (columns[0], rows[0]))

    def test_ways_to_give_it(self):
        rng = np.random.default_rng(4)
        stack = (rng.random((3, 8, 10)) * 255).astype(np.uint8)
        expected = gstccl.analyze_volume(stack > 100).blobs
        labels = np.empty(stack.shape, np.uint32)
        for masks in (stack, list(stack), np.repeat(stack, 2, axis=0)[::2]):
            table = gstccl.analyze_volume(masks, threshold=100, labels=labels)
            np.testing.assert_array_equal(table.blobs, expected)
            self.assertIs(table.labels, labels)
        self.assertEqual(len(gstccl.analyze_volume(stack, invert=True, threshold=100)),
                         len(gstccl.analyze_volume(stack <= 100)))

    def test_label_maps(self):
        """Each value alone is a stack of masks."""
        rng = np.random.default_rng(5)
        for kind, connectivity, background in itertools.product((np.uint8, np.uint16), (4, 8), (0, 2)):
            values = rng.integers(0, 3, (5, 12, 70)).astype(kind)
            with self.subTest(kind=kind, connectivity=connectivity, background=background):
                table = gstccl.analyze_volume(values, foreground="equal", background=background, connectivity=connectivity,
                                              labels=True)
                expected = [labelled(values == value, connectivity) for value in set(range(3)) - {background}]
                self.assertEqual(table.n_found, sum(n for _, n in expected))
                for of_value, _ in expected:
                    pairs = np.unique(np.stack([of_value[of_value > 0], table.labels[of_value > 0]]), axis=1)
                    self.assertEqual(pairs.shape[1], of_value.max())
                first = values[table["frame0"], table["first_y"], table["first_x"]]
                self.assertEqual(table["class_id"].tolist(), first.tolist())
                self.assertTrue((np.diff(table["label"]) == 1).all())
        with self.assertRaisesRegex(ValueError, "equal"):
            gstccl.analyze_volume(values, foreground="same")
        self.assertNotIn("class_id", gstccl.analyze_volume(values).blobs.dtype.names)

    def test_full_table(self):
        stack = np.zeros((3, 5, 5), bool)
        stack[::2, ::2, ::2] = True
        table = gstccl.analyze_volume(stack, max_blobs=5)
        self.assertEqual((len(table), table.n_found, table.truncated), (5, 18, True))

    def test_wrong_uses(self):
        good = np.zeros((2, 4, 6), bool)
        for kind, part, call in (
                (ValueError, "no masks", lambda: gstccl.analyze_volume([])),
                (ValueError, "one size", lambda: gstccl.analyze_volume([good[0], good[0, 1:]])),
                (ValueError, "2 dimensions", lambda: gstccl.analyze_volume(good[0])),
                (TypeError, "bool, uint8 or uint16", lambda: gstccl.analyze_volume(good.astype(float))),
                (ValueError, "(2, 4, 6)", lambda: gstccl.analyze_volume(good, labels=np.zeros((2, 6, 4), np.uint32))),
                (TypeError, "uint32", lambda: gstccl.analyze_volume(good, labels=good)),
                (ValueError, "6", lambda: gstccl.analyze_volume(good, connectivity=6)),
                (ValueError, "16384", lambda: gstccl.analyze_volume(np.zeros((16385, 1, 1), bool))),
        ):
            with self.subTest(part=part), self.assertRaises(kind) as raised:
                call()
            self.assertIn(part, str(raised.exception))


class Holes(unittest.TestCase):
    def test_picture(self):
        rows = ["#####...", "#...#.#.", "#.#.##.#", "#...#.#.", "#####..."]
        mask = np.array([[pixel == "#" for pixel in row] for row in rows])
        filled = gstccl.fill_holes(mask)
        self.assertTrue(filled[:5, :5].all() and filled[2, 6])
        self.assertEqual(filled.sum(), 25 + 5)
        # By edges alone the small ring is open.
        self.assertFalse(gstccl.fill_holes(mask, connectivity=4)[2, 6])
        self.assertFalse(gstccl.fill_holes(mask, max_area=7)[1, 1])
        np.testing.assert_array_equal(mask, [[pixel == "#" for pixel in row] for row in rows])

    def test_threshold(self):
        mask = np.full((5, 5), 100, np.uint8)
        mask[2, 2] = 50
        self.assertTrue(gstccl.fill_holes(mask, threshold=60).all())
        self.assertFalse(gstccl.fill_holes(mask, threshold=100).any())

    def test_contexts_stay(self):
        """analyze() and fill_holes() take no context away from each other."""
        mask = np.full((5, 7), 1, np.uint8)

        def both():
            return len(gstccl.analyze(mask)) + gstccl.fill_holes(mask).sum()

        self.assertEqual(both(), 1 + 35)
        with unittest.mock.patch("gstccl._analyze.Context", side_effect=AssertionError("a new context")):
            self.assertEqual(both(), 1 + 35)


if __name__ == "__main__":
    unittest.main(verbosity=2)
