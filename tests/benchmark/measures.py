#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The measures of blobs side by side with what a Python user could take instead, one CPU thread each.

    measures.py                       scikit-image, OpenCV, cc3d: those that are installed
    measures.py --backend=cuda        cuCIM and colorcc, with CuPy and PyTorch, on the first GPU

Each peer stands beside ours with the same groups of measures, mask to table, through the module gstccl. Values of the
same definition are compared first; what differs is not timed. In a round every candidate takes each mask once, ours in
front of each peer. A ratio is the peer's time over ours in the same round; the median of the rounds is printed.

    skimage     label() and regionprops_table(): box, centroid, Euler number, perimeter_crofton, hull, intensity
    OpenCV      connectedComponentsWithStats(), findContours() with holes; moments(), arcLength(), convexHull(),
                contourArea() and minAreaRect() of each contour; `intensity` adds meanStdDev() and minMaxLoc() of each box
    whole calls connectedComponentsWithStats() and findContours() alone: less than the chain, without a loop in Python
    cc3d        connected_components() and statistics()
    cuCIM       label() and regionprops_table(batch_processing=True)
    colorcc     label() of a picture of exact colours, beside foreground="equal" here

Needs NumPy; see requirements.txt for the peers. checkccl draws the masks.
"""
import argparse
import importlib
import importlib.util
import os
import pathlib
import platform
import sys
import time

try:
    import numpy as np
except ImportError as missing:
    print(f'skipped: {missing}')
    sys.exit(77)

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
GROUPS = 'shape', 'hull', 'holes', 'intensity'


def from_file(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Wrong(Exception):
    """A value that differs from ours."""


def same(what, ours, theirs, tolerance=0.0):
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    if ours.shape != theirs.shape or not np.allclose(ours, theirs, rtol=tolerance, atol=tolerance):
        raise Wrong(f'{what} differs')


# ---------------------------------------------------------------- ours


class Ours:
    """A table of some groups; with the label image where a peer makes one."""

    def __init__(self, gstccl, shape, features, device='cpu', **settings):
        groups = {name: True for name in GROUPS if name in features}
        self.features = features
        self.context = gstccl.Context(shape[1], shape[0], threads=1, device=device, **groups, **settings)

    def __call__(self, mask, picture):
        picture = picture if 'intensity' in self.features else None
        return self.context.analyze(mask, features=self.features, picture=picture)


# ---------------------------------------------------------------- peers: call, and check against our table


class Skimage:
    name, features = 'scikit-image', ('centroid', 'shape', 'hull', 'holes', 'intensity')
    properties = ('label', 'area', 'bbox', 'centroid', 'inertia_tensor', 'euler_number', 'perimeter_crofton', 'area_filled',
                  'area_convex', 'solidity', 'feret_diameter_max', 'intensity_min', 'intensity_max', 'intensity_mean',
                  'intensity_std')
    slow, tolerance = True, 1e-9

    def __init__(self):
        self.measure = importlib.import_module('skimage.measure')

    def __call__(self, mask, picture):
        return self.measure.regionprops_table(self.measure.label(mask, connectivity=2), picture, properties=self.properties)

    def check(self, result, table):
        """Its numbers are in raster order, as ours. Filled areas, hulls and diameters have other definitions there."""
        same('area', table['area'], result['area'])
        for ours, theirs in ('x0', 'bbox-1'), ('y0', 'bbox-0'), ('x1', 'bbox-3'), ('y1', 'bbox-2'):
            same(ours, table[ours], result[theirs])
        same('centroid', table['centroid'][:, 0], result['centroid-1'], self.tolerance)
        same('Euler number', table['euler_number'], result['euler_number'])
        same('perimeter', table['perimeter_crofton'], result['perimeter_crofton'], self.tolerance)
        for name in 'intensity_min', 'intensity_max', 'intensity_mean', 'intensity_std':
            same(name, table[name], result[name], self.tolerance)


class Cucim(Skimage):
    name, slow, tolerance = 'cuCIM', False, 1e-4  # it adds in 32 bits

    def __init__(self):
        self.measure = importlib.import_module('cucim.skimage.measure')

    def __call__(self, mask, picture):
        labels = self.measure.label(mask, connectivity=2)
        return self.measure.regionprops_table(labels, picture, properties=self.properties, batch_processing=True,
                                              copy_output_to_host=True)


class OpenCV:
    """Contours in C++, the loop over blobs in Python."""
    slow = False

    def __init__(self, intensity=False, whole=False):
        self.cv2, self.intensity, self.whole = importlib.import_module('cv2'), intensity, whole
        self.cv2.setNumThreads(1)
        self.name = 'OpenCV, whole calls' if whole else 'OpenCV + intensity' if intensity else 'OpenCV'
        self.features = ('centroid', 'covariance', 'shape', 'hull', 'holes') + (('intensity',) if intensity else ())

    def shape_of(self, contour):
        cv2, hull = self.cv2, self.cv2.convexHull(contour)
        return (cv2.moments(contour), cv2.contourArea(contour), cv2.arcLength(contour, True), cv2.contourArea(hull),
                cv2.arcLength(hull, True), cv2.minAreaRect(hull))

    def light_of(self, labels, picture, label, box):
        x, y, width, height = box
        inside = (labels[y:y + height, x:x + width] == label).view(np.uint8)
        part = picture[y:y + height, x:x + width]
        return (*self.cv2.meanStdDev(part, mask=inside), *self.cv2.minMaxLoc(part, inside)[:2])

    def __call__(self, mask, picture):
        cv2 = self.cv2
        n, labels, stats, centroids = cv2.connectedComponentsWithStats(mask, connectivity=8)
        contours, tree = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
        if self.whole:
            return n, stats, centroids, [], tree, []
        shapes = [self.shape_of(contour) for contour in contours]
        boxes = stats[:, :4].tolist() if self.intensity else []
        return n, stats, centroids, shapes, tree, [self.light_of(labels, picture, i, boxes[i]) for i in range(1, len(boxes))]

    def check(self, result, table):
        """Its hulls are those of pixel centres: ours are larger by a square of one pixel."""
        n, stats, centroids, shapes, tree, light = result
        order = np.lexsort(stats[1:, :5].T)
        mine = np.stack([table['x0'], table['y0'], table['x1'] - table['x0'], table['y1'] - table['y0'], table['area']])
        own = np.lexsort(mine)
        same('number', len(table), n - 1)
        same('box and area', mine.T[own], stats[1:][order])
        same('centroid', sorted(map(tuple, table['centroid'].round(6))), sorted(map(tuple, centroids[1:].round(6))))
        same('number of holes', table['n_holes'].sum(), np.count_nonzero(tree[0][:, 3] >= 0))
        if shapes:
            outer = [s[3] for s, t in zip(shapes, tree[0]) if t[3] < 0]
            centres = table['area_convex'] - (mine[2] - 1.) - (mine[3] - 1.) - 1
            same('area of the hull', sorted(centres), sorted(outer), 1e-9)
        if light:
            same('mean', sorted(table['intensity_mean'].round(6)), sorted(float(s[0][0, 0]) for s in light), 1e-5)
            same('minimum', sorted(table['intensity_min']), sorted(s[2] for s in light))


class Cc3d:
    name, features, slow = 'cc3d', ('centroid',), False

    def __init__(self):
        self.cc3d = importlib.import_module('cc3d')

    def __call__(self, mask, picture):
        return self.cc3d.statistics(self.cc3d.connected_components(mask, connectivity=8))

    def check(self, result, table):
        boxes = [(box[1].start, box[0].start, box[1].stop, box[0].stop) for box in result['bounding_boxes'][1:]]
        same('area', sorted(table['area']), sorted(result['voxel_counts'][1:]))
        same('box', sorted(zip(*(table[name] for name in ('x0', 'y0', 'x1', 'y1')))), sorted(boxes))


class Colorcc:
    """Labels only. The mask is a picture of two colours."""
    name, features, slow = 'colorcc', ('centroid',), False

    def __init__(self):
        self.torch, self.colorcc = importlib.import_module('torch'), importlib.import_module('colorcc')
        self.settings = {'foreground': 'equal'}

    def __call__(self, mask, picture):
        colors = self.torch.as_tensor(mask, device='cuda')[..., None].expand(-1, -1, 3)
        result = self.colorcc.label(colors, ignore=(0, 0, 0))
        self.torch.cuda.synchronize()
        return result

    def check(self, result, table):
        labels = result[0] if isinstance(result, tuple) else result
        same('number', len(table), int(labels.max()))


def peers_of(backend):
    if backend == 'cuda':
        return [Cucim, Colorcc]
    return [lambda: OpenCV(whole=True), OpenCV, lambda: OpenCV(intensity=True), Cc3d, Skimage]


# ---------------------------------------------------------------- time


clock = time.perf_counter  # or time.thread_time: see --cpu-time


def seconds(call, mask, picture):
    start = clock()
    call(mask, picture)
    return clock() - start


def ours_beside(gstccl, peer, shape, backend):
    """On CUDA with the groups that this build has there, said in the name."""
    settings = getattr(peer, 'settings', {})
    try:
        return Ours(gstccl, shape, peer.features, backend, **settings), ''
    except (gstccl.Error, ValueError) as error:
        if backend == 'cpu':
            raise
        print(f'{peer.name}: ours on the CPU: {error}', file=sys.stderr)
        return Ours(gstccl, shape, peer.features, 'cpu', **settings), ', CPU'


def measure(options, gstccl, peer, masks, picture):
    """(ours in ms, the peer's in ms, ratio, smallest, largest), or Wrong."""
    ours, where = ours_beside(gstccl, peer, picture.shape, options.backend)
    host = masks, picture
    if options.backend == 'cuda':
        cupy = importlib.import_module('cupy')
        masks, picture = [cupy.asarray(mask) for mask in masks], cupy.asarray(picture)
    mine = host if where or options.backend == 'cpu' else (masks, picture)
    rounds = min(options.rounds, 3) if peer.slow else options.rounds
    n = 1 if peer.slow else len(masks)
    for own, mask in zip(mine[0][:n], masks):
        peer.check(peer(mask, picture), ours(own, mine[1]))
    a, b = [], []
    for _ in range(rounds):
        a.append(sum(seconds(ours, mask, mine[1]) for mask in mine[0][:n]) / n)
        b.append(sum(seconds(peer, mask, picture) for mask in masks[:n]) / n)
    ratios = np.array(b) / np.array(a)
    return np.median(a) * 1e3, np.median(b) * 1e3, np.median(ratios), ratios.min(), ratios.max()


def draw_picture(height, width):
    y, x = np.mgrid[0:height, 0:width]
    noise = np.random.default_rng(1).integers(-20, 21, (height, width))
    return np.clip(110 + 60 * np.sin(x / 90) * np.cos(y / 70) + noise, 0, 255).astype(np.uint8)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--backend', choices=['cpu', 'cuda'], default='cpu')
    parser.add_argument('--size', default='1920x1080')
    parser.add_argument('--kinds', default='video_clean,video_salt0.05', help='of checkccl --bench, with commas')
    parser.add_argument('--frames', type=int, default=4, help='different masks of a kind (default 4)')
    parser.add_argument('--rounds', type=int, default=11, help='for scikit-image at most 3 (default 11)')
    parser.add_argument('--cpu-time', action='store_true', help='count the time the thread ran: on a busy machine, on the CPU')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--build', type=pathlib.Path, default=os.environ.get('MESON_BUILD_ROOT', TOP / 'build'))
    options = parser.parse_args()
    options.checkccl = options.build / 'tests/checkccl/checkccl'
    return options


def load_gstccl(options):
    core = next(iter(options.build.glob('gst/python/_core*.so')), None)
    if not core:
        print(f'skipped: no gstccl in {options.build}')
        sys.exit(77)
    sys.argv[1:] = [str(TOP), str(core)]
    sys.path.insert(0, str(TOP / 'tests/python'))
    return importlib.import_module('module').gstccl


def main():
    options = parse()
    gstccl = load_gstccl(options)
    if options.cpu_time:
        global clock
        clock = time.thread_time
    draw = from_file(TOP / 'tests/benchmark/gpu-peers.py', 'gpu_peers').draw
    peers, wrong = [], False
    for make in peers_of(options.backend):
        try:
            peers.append(make())
        except ImportError as error:
            print(f'left out: {error}', file=sys.stderr)
    if not peers:
        print('skipped: no peer is installed')
        return 77
    print(f'{platform.machine()}, load {os.getloadavg()[0]:.1f}, {options.size}, one thread; milliseconds a mask\n')
    print('| mask | blobs | peer | its time | ours | ratio | smallest to largest |\n|---|---|---|---|---|---|---|')
    for kind, masks in draw(options, options.size):
        masks, picture = [mask.copy() for mask in masks], draw_picture(*masks[0].shape)  # cc3d reads writable arrays only
        n_blobs = len(gstccl.analyze(masks[0]))
        for peer in peers:
            try:
                ours, theirs, ratio, low, high = measure(options, gstccl, peer, masks, picture)
            except Wrong as error:
                print(f'{kind}: {peer.name}: WRONG, not timed: {error}', file=sys.stderr)
                wrong = True
                continue
            print(f'| {kind} | {n_blobs} | {peer.name} | {theirs:.3g} | {ours:.3g} | {ratio:.3g} | {low:.3g} to {high:.3g} |',
                  flush=True)
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
