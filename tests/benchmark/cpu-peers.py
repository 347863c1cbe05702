#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The CPU method side by side with what a user could take instead.

In each round every candidate, in turning order, analyses all frames one after the other, as in a pipeline; all in one
process. A ratio is the time of OpenCV's connectedComponentsWithStats (default algorithm, as many threads as ours) over
the candidate's in the same round, the printed figure the median of the rounds with the smallest and largest. Each kind
of mask with chance in it has 16 different frames: one frame in a loop would train the branch predictor. Results are
compared before anything is timed: counts, areas, boxes, centroids and the label image, which must equal that of
OpenCV's CCL_WU bit for bit.

Needs python3-opencv and numpy; scipy and cc3d are measured too where they are installed.
"""
import argparse
import ctypes
import os
import platform
import sys
import time

try:
    import cv2
    import numpy as np
except ImportError as missing:
    print(f'skipped: {missing} (apt install python3-opencv)')
    sys.exit(77)
try:
    import scipy.ndimage as ndimage
except ImportError:
    ndimage = None
try:
    import cc3d
except ImportError:
    cc3d = None

clock = time.perf_counter  # or time.thread_time: see --cpu-time

# ---------------------------------------------------------------- masks

VIDEO = ['video40', 'video40-salt0.05', 'video60-salt0.2', 'video60-salt1', 'video40-median']
TYPICAL = VIDEO[:2]
HARD = ['checkerboard', 'comb-salt1', 'spiral', 'dots', 'diagonals']
PLAIN = ['empty', 'full']
STILL = {'checkerboard', 'spiral', 'dots', 'diagonals', 'empty', 'full'}  # no chance in them: one frame


def noise(g):
    return [f'noise-g{g}-d{d}' for d in range(10, 100, 10)]


def noise_mask(rng, width, height, g, density):
    coarse = rng.random(((height + g - 1) // g, (width + g - 1) // g)) < density
    return np.repeat(np.repeat(coarse, g, 0), g, 1)[:height, :width].astype(np.uint8) * 255


def video_mask(rng, width, height, n_blobs, salt, median):
    """Bodies with limbs, edges ragged by coin flips, 1 % pinholes, salt; `median`: what a median filter leaves."""
    scale = height / 1080
    mask = np.zeros((height, width), np.uint8)
    for _ in range(n_blobs):
        x, y, k = int(rng.integers(width)), int(rng.integers(height)), scale * rng.uniform(.5, 1.6)
        a, b = int(18 * k) + 1, int(45 * k) + 1
        cv2.ellipse(mask, (x, y), (a, b), rng.uniform(-25, 25), 0, 360, 255, -1)
        for _ in range(3):
            limb = x + int(rng.uniform(-1.3, 1.3) * a), y + int(rng.uniform(-1, 1.2) * b)
            cv2.ellipse(mask, limb, (max(2, a // 3), max(2, b // 2)), rng.uniform(-50, 50), 0, 360, 255, -1)
    square = np.ones((3, 3), np.uint8)
    edge = cv2.dilate(mask, square) != cv2.erode(mask, square)
    mask ^= np.where(edge & (rng.random(mask.shape) < .5), 255, 0).astype(np.uint8)
    mask[(mask > 0) & (rng.random(mask.shape) < .01)] = 0
    if salt:
        mask[rng.random(mask.shape) < salt / 100] = 255
    return cv2.medianBlur(mask, 5) if median else mask


def spiral_mask(width, height):
    mask = np.zeros((height, width), np.uint8)
    x0, y0, x1, y1 = 0, 0, width - 1, height - 1
    while x0 <= x1 and y0 <= y1:
        mask[y0, x0:x1 + 1] = mask[y0:y1 + 1, x1] = mask[y1, x0:x1 + 1] = 255
        if y0 + 2 <= y1:
            mask[y0 + 2:y1 + 1, x0] = mask[y0 + 2, x0:x0 + 3] = 255
        x0, y0, x1, y1 = x0 + 2, y0 + 2, x1 - 2, y1 - 2
    return mask


def make_mask(kind, width, height, rng):
    if kind.startswith('noise'):
        _, g, d = kind.split('-')
        return noise_mask(rng, width, height, int(g[1:]), int(d[1:]) / 100)
    if kind.startswith('video'):
        head, _, tail = kind.partition('-')
        salt = float(tail[4:]) if tail.startswith('salt') else 0
        return video_mask(rng, width, height, int(head[5:]), salt, tail == 'median')
    y, x = np.mgrid[0:height, 0:width]
    if kind == 'comb-salt1':
        return ((x & 1) ^ (rng.random(x.shape) < .01)).astype(np.uint8) * 255
    if kind == 'spiral':
        return spiral_mask(width, height)
    on = {'checkerboard': (x + y) & 1, 'dots': x & y & 1, 'diagonals': (x + y) % 4 == 0,
          'empty': x < 0, 'full': x >= 0}[kind]
    return on.astype(np.uint8) * 255


# ---------------------------------------------------------------- candidates

BLOB = np.dtype([(name, np.uint64) for name in ('area', 'm10', 'm01', 'x0', 'y0', 'x1', 'y1')])  # Blob of peers.c
TIERS = {'plain': 0, 'sse2': 1, 'sse42': 3, 'avx2': 7, 'avx512': 15, 'best': 0xffffffff}


def load_core(path):
    core = ctypes.CDLL(path)
    core.peers_new.restype = ctypes.c_void_p
    core.peers_free.argtypes = [ctypes.c_void_p]
    core.peers_analyze.restype = ctypes.c_double
    core.peers_analyze.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p]
    core.peers_blobs.restype = ctypes.c_uint32
    core.peers_blobs.argtypes = [ctypes.c_void_p]
    for name in 'peers_read', 'peers_write':
        getattr(core, name).restype = ctypes.c_double
        getattr(core, name).argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    core.peers_contours.restype = ctypes.c_double
    core.peers_contours.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p,
                                    ctypes.POINTER(ctypes.c_int)]
    return core


class Ours:
    def __init__(self, core, size, connectivity, tier, threads, labels):
        self.core, self.size = core, size
        self.context = core.peers_new(size[0], size[1], connectivity, ctypes.c_uint(TIERS[tier]), threads)
        self.labels = labels

    def __call__(self, mask):
        image = self.labels.ctypes.data if self.labels is not None else None
        us = self.core.peers_analyze(self.context, mask.ctypes.data, self.size[0], self.size[1], image)
        assert us >= 0
        return us

    def rows(self):
        rows = np.empty(self.core.peers_blobs(None), BLOB)
        self.core.peers_blobs(rows.ctypes.data)
        return rows

    def __del__(self):
        self.core.peers_free(self.context)


class OpenCV:
    def __init__(self, labels, connectivity, algorithm, stats=True):
        self.labels, self.connectivity, self.algorithm, self.stats = labels, connectivity, algorithm, stats
        self.result = None

    def __call__(self, mask):
        start = clock()
        if self.stats:
            self.result = cv2.connectedComponentsWithStatsWithAlgorithm(mask, self.connectivity, cv2.CV_32S,
                                                                        self.algorithm, self.labels)
        else:
            self.result = cv2.connectedComponentsWithAlgorithm(mask, self.connectivity, cv2.CV_32S, self.algorithm,
                                                               self.labels)
        return (clock() - start) * 1e6


class Contours:
    def __init__(self, core, size):
        self.core, self.size, self.n = core, size, ctypes.c_int()
        self.padded = np.empty((size[1] + 2, size[0] + 2), np.uint8)

    def __call__(self, mask):
        return self.core.peers_contours(mask.ctypes.data, *self.size, self.padded.ctypes.data, ctypes.byref(self.n))


class Floor:
    def __init__(self, core, labels):
        self.core, self.labels = core, labels

    def __call__(self, mask):
        us = self.core.peers_read(mask.ctypes.data, mask.size)
        return us if self.labels is None else us + self.core.peers_write(self.labels.ctypes.data, self.labels.nbytes)


class Python:
    def __init__(self, call):
        self.call = call

    def __call__(self, mask):
        start = clock()
        self.call(mask)
        return (clock() - start) * 1e6


def has_contours(core):
    libraries = {}
    with open('/proc/self/maps') as maps:
        for line in maps:
            for part in 'core', 'imgproc':
                if f'libopencv_{part}.' in line:
                    libraries[part] = line.split()[-1]
    paths = [libraries[part].encode() for part in ('core', 'imgproc') if part in libraries]
    return len(paths) == 2 and core.peers_find_contours_in(*paths)


def make_candidates(args, core, size):
    """Name -> callable that analyses a mask and returns microseconds; 'cv' first: everything is measured against it."""
    width, height = size
    labels, ours = np.zeros((height, width), np.int32), np.zeros((height, width), np.uint32)
    c = {'cv': OpenCV(labels, args.connectivity, cv2.CCL_DEFAULT),
         'cv-wu': OpenCV(labels, args.connectivity, cv2.CCL_WU)}
    if args.connectivity == 8:
        c['cv-bbdt'] = OpenCV(labels, 8, cv2.CCL_GRANA)
    for tier in args.tiers:
        c[tier] = Ours(core, size, args.connectivity, tier, args.threads, None)
        c[tier + '+labels'] = Ours(core, size, args.connectivity, tier, args.threads, ours)
    if args.threads == 1:
        c['cv-nostats'] = OpenCV(labels, args.connectivity, cv2.CCL_DEFAULT, stats=False)
        c['read'], c['read+write'] = Floor(core, None), Floor(core, ours)
        if has_contours(core):
            c['contours'] = Contours(core, size)
        if args.others and ndimage:
            structure = np.ones((3, 3)) if args.connectivity == 8 else None
            c['scipy-label'] = Python(lambda mask: ndimage.label(mask, structure))
        if args.others and cc3d:
            c['cc3d-label'] = Python(lambda mask: cc3d.connected_components(mask, connectivity=args.connectivity))
    return c


# ---------------------------------------------------------------- check

def check(kind, mask, candidates):
    """Every table and label image against OpenCV; CCL_WU numbers in raster order of first pixels, as we do."""
    wu = candidates['cv-wu']
    wu(mask)
    count, labels, stats, centroids = wu.result
    labels = labels.copy()
    for name, candidate in candidates.items():
        candidate(mask)
        if isinstance(candidate, OpenCV):
            assert candidate.result[0] == count, f'{kind}: {name} counts {candidate.result[0]}, CCL_WU {count}'
        if not isinstance(candidate, Ours):
            continue
        rows = candidate.rows()
        assert len(rows) == count - 1, f'{kind}: {name} finds {len(rows)}, OpenCV {count - 1}'
        assert (rows['area'] == stats[1:, cv2.CC_STAT_AREA]).all(), f'{kind}: areas of {name}'
        for ours, theirs in (('x0', stats[1:, 0]), ('y0', stats[1:, 1]), ('x1', stats[1:, 0] + stats[1:, 2]),
                             ('y1', stats[1:, 1] + stats[1:, 3])):
            assert (rows[ours] == theirs).all(), f'{kind}: {ours} of {name}'
        assert np.allclose(rows['m10'] / rows['area'], centroids[1:, 0]), f'{kind}: centroids of {name}'
        assert np.allclose(rows['m01'] / rows['area'], centroids[1:, 1]), f'{kind}: centroids of {name}'
        if candidate.labels is not None:
            assert (candidate.labels == labels).all(), f'{kind}: label image of {name}'
    return count - 1


# ---------------------------------------------------------------- time

def one_frame(candidate, mask):
    """Every candidate finds the mask and its label image in the same caches."""
    image = getattr(candidate, 'labels', None)
    if image is not None:
        image.fill(1)
    mask.max()
    return candidate(mask)


def measure(args, kind, size, candidates):
    """times[name][round]: the frames' times added up, in milliseconds per frame; and the blobs of the first frame."""
    rng = np.random.default_rng(args.seed)
    frames = [make_mask(kind, *size, rng) for _ in range(1 if kind in STILL else args.frames)]
    n_blobs = check(kind, frames[0], candidates)
    slow = {'scipy-label', 'cc3d-label'}
    names = list(candidates)
    times = {name: [] for name in names}
    repeat = 4 if kind in STILL else 1
    for turn in range(args.rounds):
        for k in range(len(names)):
            name = names[(k + turn) % len(names)]
            masks = (frames * repeat)[::8 if name in slow else 1]
            times[name].append(sum(one_frame(candidates[name], mask) for mask in masks) / 1e3 / len(masks))
    return times, n_blobs


def ratio(groups, name, base):
    """Median, smallest and largest over the rounds of: sum of the base's times over sum of the candidate's."""
    rounds = len(next(iter(groups[0].values())))
    values = [sum(base(t, i) for t in groups) / sum(t[name][i] for t in groups) for i in range(rounds)]
    return np.median(values), min(values), max(values)


def default(times, i):
    return times['cv'][i]


def best(times, i):
    return min(times[name][i] for name in ('cv', 'cv-wu', 'cv-bbdt') if name in times)


def contours(times, i):
    return times['contours'][i]


def print_cases(results, names):
    print('| case | blobs | ' + ' | '.join(names) + ' |\n|---' * 1 + '|---' * (len(names) + 1) + '|')
    for kind, (times, n_blobs) in results.items():
        ms = {name: np.median(times[name]) for name in names}
        cells = [f'{ms[name]:.3f}' + (f' ({ms["cv"] / ms[name]:.3g}x)' if name != 'cv' else '') for name in names]
        print(f'| {kind} | {n_blobs} | ' + ' | '.join(cells) + ' |')


def print_groups(args, results):
    groups = [('video: typical', TYPICAL), ('video: all five', VIDEO)]
    groups += [(f'noise g={g}', noise(g)) for g in (1, 4, 16)] + [(kind, [kind]) for kind in HARD + PLAIN]
    print('\n| group | candidate | against cv default | against cv best |\n|---|---|---|---|')
    for title, kinds in groups:
        times = [results[kind][0] for kind in kinds if kind in results]
        if not times:
            continue
        if len(times) < len(kinds):
            title += f' ({len(times)} of {len(kinds)} kinds)'
        for name in times[0]:
            if name.split('+')[0] not in args.tiers and name not in ('contours', 'scipy-label', 'cc3d-label', 'read',
                                                                    'read+write', 'cv-nostats'):
                continue
            cells = ['{:.3g} ({:.3g}..{:.3g})'.format(*ratio(times, name, base)) for base in (default, best)]
            print(f'| {title} | {name} | ' + ' | '.join(cells) + ' |')
    clean = [results[k][0] for k in ('video40', 'video40-median') if k in results and 'contours' in results[k][0]]
    for tier in args.tiers if clean else []:
        print('against findContours + boundingRect + moments, video40 and video40-median, {}: '
              '{:.3g} ({:.3g}..{:.3g})'.format(tier, *ratio(clean, tier, contours)))


def machine():
    with open('/proc/cpuinfo') as info:
        model = next((line.split(':')[1].strip() for line in info if line.startswith('model name')), platform.machine())
    return (f'{model}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.2f}; '
            f'OpenCV {cv2.__version__}, numpy {np.__version__}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--core', default=os.path.join(os.environ.get('MESON_BUILD_ROOT', 'build'),
                                                       'tests/benchmark/peers.so'), help='the built peers.so')
    parser.add_argument('--size', default='1920x1080', help='WIDTHxHEIGHT (default 1920x1080)')
    parser.add_argument('--connectivity', type=int, choices=(4, 8), default=8)
    parser.add_argument('--threads', type=int, default=1,
                        help='of OpenCV and of ours; 0: as many as help (OpenCV: its own)')
    parser.add_argument('--tiers', nargs='+', choices=list(TIERS), default=['avx2'])
    parser.add_argument('--frames', type=int, default=16, help='different frames of each kind')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--kinds', nargs='+', help='only these kinds of mask')
    parser.add_argument('--others', action='store_true', help='scipy and cc3d too (slow)')
    parser.add_argument('--cpu-time', action='store_true',
                        help='count the time the thread ran, not wall time: on a busy machine, with --threads 1')
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args()

    size = tuple(int(n) for n in args.size.split('x'))
    core = load_core(args.core)
    if args.cpu_time:
        global clock
        clock = time.thread_time
        core.peers_count_cpu_time()
    cv2.setNumThreads(args.threads if args.threads else -1)
    candidates = make_candidates(args, core, size)
    print(f'{machine()}; {args.size}, {args.connectivity}-connected, {args.threads} threads, {args.frames} frames, '
          f'{args.rounds} rounds')
    results = {}
    for kind in args.kinds or VIDEO + noise(1) + noise(4) + noise(16) + HARD + PLAIN:
        results[kind] = measure(args, kind, size, candidates)
        print(f'{kind}: ' + ', '.join(f'{n} {np.median(t):.3f}' for n, t in results[kind][0].items()), file=sys.stderr)
    print('\nmilliseconds (ratio to cv):\n')
    print_cases(results, list(candidates))
    print_groups(args, results)


if __name__ == '__main__':
    main()
