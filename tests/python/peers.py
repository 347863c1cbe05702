# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""gstccl beside scipy.ndimage.label() and skimage.measure.regionprops() on random and smooth masks."""
import itertools
import unittest

from module import gstccl, np, skip

try:
    from scipy import ndimage, spatial
except ImportError as error:
    skip(error)
try:
    from skimage import measure
except ImportError:
    measure = None
try:
    import cc3d
except ImportError:
    cc3d = None


def masks():
    rng = np.random.default_rng(35)
    for shape in ((1, 1), (1, 70), (70, 1), (63, 65), (128, 200)):
        for density in (0.05, 0.3, 0.5, 0.7, 1):
            yield f"{shape} {density}", rng.random(shape) < density
    smooth = ndimage.gaussian_filter(rng.standard_normal((240, 320)), 4)
    yield "smooth", smooth > 0.05


def slopes_differ(a, b):
    """How far two directions of lines are apart."""
    return np.abs((a - b + np.pi / 2) % np.pi - np.pi / 2)


class Peers(unittest.TestCase):
    def test_labels(self):
        for connectivity, structure in ((4, None), (8, np.ones((3, 3)))):
            for name, mask in masks():
                with self.subTest(mask=name, connectivity=connectivity):
                    expected, n = ndimage.label(mask, structure)
                    table = gstccl.analyze(mask, connectivity=connectivity, labels=True)
                    self.assertEqual(table.n_found, n)
                    # SciPy numbers in raster order of a row's runs; the partition is what must agree.
                    pairs = np.unique(np.stack([expected.ravel(), table.labels.ravel()]), axis=1)
                    self.assertEqual(pairs.shape[1], len(np.unique(expected)))
                    np.testing.assert_array_equal(np.bincount(table.labels.ravel(), minlength=n + 1)[1:], table["area"])

    def check_map(self, label_map, connectivity, expected):
        table = gstccl.analyze(label_map, foreground="equal", connectivity=connectivity, labels=True)
        labels = np.unique(np.stack([np.ravel(expected), table.labels.ravel()]), axis=1)
        self.assertEqual(labels.shape[1], len(np.unique(expected)))
        self.assertEqual(table.n_found, labels.shape[1] - (0 in labels[0]))
        first = [label_map[blob["y0"], blob["first_x"]] for blob in table]
        self.assertEqual(table["class_id"].tolist(), first)

    @unittest.skipUnless(measure or cc3d, "needs scikit-image or cc3d")
    def test_label_maps(self):
        rng = np.random.default_rng(37)
        for shape in ((1, 1), (1, 70), (70, 1), (63, 65), (128, 200)):
            for n_values in (2, 3, 6):
                for kind in (np.uint8, np.uint16):
                    values = rng.integers(0, n_values, shape).astype(kind)
                    for connectivity in (4, 8):
                        with self.subTest(shape=shape, n_values=n_values, connectivity=connectivity):
                            if measure:
                                self.check_map(values, connectivity, measure.label(values, connectivity=connectivity // 4))
                            if cc3d:
                                self.check_map(values, connectivity, cc3d.connected_components(values, connectivity=connectivity))

    def test_label_map_features(self):
        rng = np.random.default_rng(38)
        smooth = ndimage.gaussian_filter(rng.standard_normal((90, 120)), 2)
        maps = {"noise": rng.choice(np.arange(3, dtype=np.uint8), (40, 65), p=(0.1, 0.65, 0.25)),
                "smooth": np.digitize(smooth, (-0.15, 0.02)).astype(np.uint16) * 300}
        for (name, values), (connectivity, structure) in itertools.product(maps.items(), ((4, np.ones((3, 3))), (8, None))):
            table = gstccl.analyze(values, foreground="equal", connectivity=connectivity, labels=True,
                                   features=("shape", "hull", "holes", "intensity"), picture=values)
            self.assertGreater(table["n_holes"].max(), 0)
            for blob in table:
                box = table.labels[blob["y0"]:blob["y1"], blob["x0"]:blob["x1"]] == blob["label"]
                alone = np.pad(box, 1)
                with self.subTest(map=name, connectivity=connectivity, label=blob["label"]):
                    filled = ndimage.binary_fill_holes(alone, structure)
                    self.assertEqual(blob["area_filled"], np.count_nonzero(filled))
                    self.assertEqual(blob["n_holes"], ndimage.label(filled & ~alone, structure)[1])
                    self.assertEqual(blob["intensity_mean"], blob["class_id"])
                    if measure:
                        self.assertEqual(blob["euler_number"], measure.euler_number(alone, connectivity // 4))
                        self.assertAlmostEqual(blob["perimeter_crofton"], measure.perimeter_crofton(alone, 4), 9)

    def test_volumes(self):
        rng = np.random.default_rng(36)
        for connectivity, structure in ((4, None), (8, np.ones((3, 3, 3)))):
            for density in (0.05, 0.2, 0.5):
                with self.subTest(connectivity=connectivity, density=density):
                    stack = rng.random((12, 65, 130)) < density
                    expected, n = ndimage.label(stack, structure)
                    table = gstccl.analyze_volume(stack, connectivity=connectivity, labels=True)
                    self.assertEqual(table.n_found, n)
                    pairs = np.unique(np.stack([expected.ravel(), table.labels.ravel()]), axis=1)
                    self.assertEqual(pairs.shape[1], len(np.unique(expected)))

    @unittest.skipUnless(cc3d, "needs cc3d")
    def test_volumes_of_label_maps(self):
        rng = np.random.default_rng(39)
        for shape, n_values, connectivity in itertools.product(((1, 9, 70), (12, 33, 130), (30, 5, 7)), (2, 3, 6), (4, 8)):
            values = rng.integers(0, n_values, shape).astype(np.uint16)
            with self.subTest(shape=shape, n_values=n_values, connectivity=connectivity):
                expected = cc3d.connected_components(values, connectivity=6 if connectivity == 4 else 26)
                table = gstccl.analyze_volume(values, foreground="equal", connectivity=connectivity, labels=True)
                pairs = np.unique(np.stack([expected.ravel(), table.labels.ravel()]), axis=1)
                self.assertEqual(pairs.shape[1], len(np.unique(expected)))
                self.assertEqual(table.n_found, expected.max())
                sizes = np.bincount(table.labels.ravel(), minlength=table.n_found + 1)
                np.testing.assert_array_equal(sizes[1:], table["voxels"])
                self.assertEqual(table["class_id"].tolist(),
                                 values[table["frame0"], table["first_y"], table["first_x"]].tolist())

    def test_holes(self):
        for connectivity, structure in ((4, np.ones((3, 3))), (8, None)):
            for name, mask in masks():
                with self.subTest(mask=name, connectivity=connectivity):
                    np.testing.assert_array_equal(gstccl.fill_holes(mask, connectivity=connectivity),
                                                  ndimage.binary_fill_holes(mask, structure))

    def test_filled_areas(self):
        for connectivity, structure in ((4, np.ones((3, 3))), (8, None)):
            for name, mask in masks():
                table = gstccl.analyze(mask, connectivity=connectivity, labels=True, features="holes")
                inverse, n = ndimage.label(~mask, structure)
                border = np.unique(np.concatenate([inverse[0], inverse[-1], inverse[:, 0], inverse[:, -1]]))
                with self.subTest(mask=name, connectivity=connectivity):
                    self.assertEqual(sorted(table.holes["area"]),
                                     sorted(np.count_nonzero(inverse == i) for i in set(range(1, n + 1)) - set(border)))
                for blob in table[:50]:
                    alone = table.labels == blob["label"]
                    with self.subTest(mask=name, connectivity=connectivity, label=blob["label"]):
                        self.assertEqual(blob["area_filled"], np.count_nonzero(ndimage.binary_fill_holes(alone, structure)))

    @unittest.skipUnless(measure, "needs scikit-image")
    def test_measures(self):
        for name, mask in masks():
            table = gstccl.analyze(mask, labels=True, features="all")
            regions = measure.regionprops(table.labels.astype(int))
            self.assertEqual(len(regions), len(table))
            for blob, region in zip(table, regions):
                with self.subTest(mask=name, label=region.label):
                    self.compare(blob, region)

    @unittest.skipUnless(measure, "needs scikit-image")
    def test_shape(self):
        """Each blob alone: its neighbours on a diagonal are background to it."""
        for connectivity in 4, 8:
            for name, mask in masks():
                table = gstccl.analyze(mask, connectivity=connectivity, labels=True, features="shape")
                for blob in table[:50]:
                    alone = table.labels[blob["y0"]:blob["y1"], blob["x0"]:blob["x1"]] == blob["label"]
                    with self.subTest(mask=name, connectivity=connectivity, label=blob["label"]):
                        self.compare_shape(blob, np.pad(alone, 1), connectivity)

    def compare_shape(self, blob, alone, connectivity):
        holes = ndimage.label(~alone, None if connectivity == 8 else np.ones((3, 3)))[1] - 1
        crack = sum(np.count_nonzero(np.diff(alone.astype(int), axis=axis)) for axis in (0, 1))
        crofton = measure.perimeter_crofton(alone)
        self.assertEqual(blob["euler_number"], measure.euler_number(alone, connectivity // 4))
        self.assertEqual((blob["n_holes"], blob["perimeter_crack"]), (holes, crack))
        np.testing.assert_allclose(blob["perimeter_crofton"], crofton, rtol=1e-12)
        np.testing.assert_allclose(blob["compactness"], crofton**2 / (4 * np.pi * blob["area"]), rtol=1e-12)
        np.testing.assert_allclose(blob["circularity"], min(1, 4 * np.pi * blob["area"] / crofton**2), rtol=1e-12)

    @unittest.skipUnless(measure, "needs scikit-image")
    def test_hull(self):
        """SciPy's hull of the pixels' corners; scikit-image's solidity where the hull goes along edges of pixels."""
        for name, mask in masks():
            table = gstccl.analyze(mask, labels=True, features=("hull", "shape"))
            for blob in table[:50]:
                ys, xs = np.nonzero(table.labels == blob["label"])
                corners = np.array([(x + dx, y + dy) for x, y in zip(xs, ys) for dx in (0, 1) for dy in (0, 1)])
                hull = spatial.ConvexHull(corners)
                points = corners[hull.vertices]
                with self.subTest(mask=name, label=blob["label"]):
                    np.testing.assert_allclose((blob["area_convex"], blob["perimeter_convex"]), (hull.volume, hull.area))
                    np.testing.assert_allclose(blob["feret_diameter_max"], spatial.distance.pdist(points).max())
                    np.testing.assert_allclose(blob["convexity"], hull.area / blob["perimeter_crack"])
                    if blob["area_convex"] == blob["area"]:
                        alone = (table.labels == blob["label"]).astype(int)
                        self.assertEqual(measure.regionprops(alone)[0].solidity, blob["solidity"])

    @unittest.skipUnless(measure, "needs scikit-image")
    def test_intensity(self):
        rng = np.random.default_rng(38)
        for kind in np.uint8, np.uint16:
            for name, mask in masks():
                picture = rng.integers(0, np.iinfo(kind).max + 1, mask.shape, dtype=kind)
                table = gstccl.analyze(mask, labels=True, features="intensity", picture=picture)
                # Of integers scikit-image takes sums in the type of the picture.
                regions = measure.regionprops(table.labels.astype(int), intensity_image=picture.astype(float))
                for blob, region in list(zip(table, regions))[:100]:
                    with self.subTest(mask=name, kind=kind, label=region.label):
                        self.compare_intensity(blob, region)

    def compare_intensity(self, blob, region):
        values = region.image_intensity[region.image]
        self.assertEqual((blob["intensity_min"], blob["intensity_max"]), (region.intensity_min, region.intensity_max))
        self.assertEqual(blob["intensity_sum"], values.sum())
        np.testing.assert_allclose(blob["intensity_mean"], region.intensity_mean, rtol=1e-12)
        np.testing.assert_allclose(blob["intensity_std"], values.std(), rtol=1e-9, atol=1e-9)
        if not values.sum():
            self.assertTrue(np.isnan([*blob["centroid_weighted"], *blob["covariance_weighted"]]).all())
            return
        np.testing.assert_allclose(blob["centroid_weighted"], region.centroid_weighted[::-1], rtol=1e-12)
        central = region.moments_weighted_central
        covariance = np.array((central[0, 2], central[1, 1], central[2, 0])) / central[0, 0]
        np.testing.assert_allclose(blob["covariance_weighted"], covariance, rtol=1e-9, atol=1e-9)

    def compare(self, blob, region):
        y0, x0, y1, x1 = region.bbox
        self.assertEqual((blob["x0"], blob["y0"], blob["x1"], blob["y1"], blob["area"]), (x0, y0, x1, y1, region.area))
        np.testing.assert_allclose(blob["centroid"], region.centroid[::-1], atol=1e-9)
        self.assertAlmostEqual(blob["diameter"], region.equivalent_diameter_area)
        self.assertAlmostEqual(blob["extent"], region.extent)
        # scikit-image rounds the covariance of lines and points below zero or up.
        np.testing.assert_allclose(blob["axes"], (region.axis_major_length, region.axis_minor_length), atol=1e-5, rtol=1e-6)
        if blob["axes"][0] - blob["axes"][1] > 1e-3:
            self.assertLess(slopes_differ(blob["orientation"], region.orientation), 1e-6)


if __name__ == "__main__":
    unittest.main(verbosity=2)
