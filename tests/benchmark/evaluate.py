#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The experiments of the literature, on every method, on one's own machine and images.

    evaluate.py average --backend=cuda          every experiment is one command; `all` is all of them
    evaluate.py average --images masks/ scans/  each folder of PNG, PBM and PGM masks is a data set
    evaluate.py --plot evaluation/*.json        plots once more, where matplotlib is; what gpu-peers.py measured, too
    evaluate.py --plot evaluation/size.csv      the same from a CSV, which says nothing of machine and date

It has `checkccl --bench` draw the images (every method gets the same bytes), compare every result with the reference
and time what is right. For each experiment --out gets EXPERIMENT.json with machine, driver, commit, seed and every
figure, EXPERIMENT.csv with the figures, EXPERIMENT.md with tables and rankings and, with matplotlib, EXPERIMENT.svg.
Nothing else is needed but Python.

average      time per kind of image or data set, with the launches in a CUDA graph and one by one
steps        the same, step by step: allocation, each kernel of the method, and what follows
density      noise of 0 to 100 % foreground, at granularity 1, 4 and 16, 2048x2048
granularity  noise of blocks of 1x1 to 16x16 pixels, 10, 50 and 90 % of them foreground, 2048x2048
size         noise of 50 % on 10^3 to 10^7 pixels
blocks       the size of thread blocks: builds with other sizes side by side, see --builds
memory       bytes, beside what table I of Bolelli et al. (2024) says a method needs besides its labels
ridges       the families of ridge patterns of Asad et al. (2019), and spirals
fit          a + b x^c for the mean time on x pixels of these families; with --images, what that predicts of real masks
"""
import argparse
import os
import pathlib
import sys

from evaluate.checkccl import TOP, Runner, commit
from evaluate.experiments import EXPERIMENTS
from evaluate.files import plot_again, write


def numbers(text):
    return [int(n) for n in text.split(',')]


def formats(text):
    names = text.split(',')
    if not set(names) <= {'svg', 'png', 'pdf'}:
        raise argparse.ArgumentTypeError(f'"{text}": svg, png and pdf there are')
    return names


def make_folder(path):
    try:
        path.mkdir(parents=True, exist_ok=True)
        return path
    except OSError as error:
        sys.exit(f'evaluate.py: --out={path}: {error.strerror}')


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('experiment', nargs='*', choices=[*EXPERIMENTS, 'all', []], metavar='EXPERIMENT')
    parser.add_argument('--backend', choices=['cpu', 'cuda'], default='cpu')
    parser.add_argument('--algorithms', help='names with commas (default: all; CPU: runs,reference)')
    parser.add_argument('--connectivity', choices=['4', '8'], default='8')
    parser.add_argument('--product', choices=['provisional', 'table', 'labels+table'],
                        help='default: provisional, which is what published methods compute; CPU: labels+table')
    parser.add_argument('--measure', help='default: lane_cold; CPU: processor; docs/testing.md has them all')
    parser.add_argument('--images', nargs='+', metavar='DIR', help='folders of masks: average, steps, fit')
    parser.add_argument('--kinds', type=lambda text: text.split(','), metavar='NAME,NAME',
                        help='average, steps: of checkccl --bench')
    parser.add_argument('--size', help='WIDTHxHEIGHT of the images, where the experiment is not about it')
    parser.add_argument('--builds', nargs='+', metavar='NAME:DIR', help='blocks: build folders, one for each size: '
                        'meson setup build-32 -Dcuda_args="-DCCL_TILE_WIDTH=32 -DCCL_BLOCK_COLUMNS=32" and so on')
    parser.add_argument('--densities', type=numbers, metavar='N,N', help='density, granularity: percent')
    parser.add_argument('--percents', type=numbers, metavar='N,N', help='ridges, fit: of the families that have them')
    parser.add_argument('--orders', type=numbers, metavar='N,N', help='fit: images of 2^N x 2^N (default 8,9,10,11,12)')
    parser.add_argument('--granularities', type=numbers, metavar='N,N', help='density, granularity: pixels')
    parser.add_argument('--tiers', help='CPU: SIMD tiers, all,avx2,sse4.2,sse2,c (default all: the best)')
    parser.add_argument('--rounds', type=int, default=5, help='measurements, of which the median counts (default 5)')
    parser.add_argument('--frames', type=int, default=4, help='images of a kind with chance in it (default 4)')
    parser.add_argument('--slow', type=float, metavar='SECONDS',
                        help='leave out what takes longer for a frame (default 3)')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--quick', action='store_true', help='small images: to see whether it runs')
    parser.add_argument('--out', type=pathlib.Path, help='folder (default evaluation; --plot: where the file is)')
    parser.add_argument('--formats', type=formats, default=['svg'], help='svg,png,pdf (default svg)')
    parser.add_argument('--checkccl', default=str(TOP / 'build/tests/checkccl/checkccl'), help='the built program')
    parser.add_argument('--plot', nargs='+', type=pathlib.Path, metavar='FILE', help='measure nothing, plot these .json or .csv')
    options = parser.parse_args()
    if not options.plot and not options.experiment:
        parser.error('which experiment? ' + ', '.join([*EXPERIMENTS, 'all']))
    if options.plot and options.experiment:
        parser.error('--plot measures nothing: no experiment beside it')
    if options.plot and options.out:
        make_folder(options.out)
    cuda = options.backend == 'cuda'
    options.algorithms = options.algorithms or (None if cuda else 'runs,reference')
    options.product = options.product or ('provisional' if cuda else 'labels+table')
    options.measure = options.measure or ('lane_cold' if cuda else 'processor')
    if options.quick:
        options.size, options.rounds, options.frames = options.size or '64x64', 1, 1
        options.densities, options.granularities = options.densities or [0, 50, 100], options.granularities or [1, 2]
    return options


def main():
    options = parse()
    for path in options.plot or []:
        plot_again(path, options.formats, options.out)
    if options.plot:
        return 0
    if not os.access(options.checkccl, os.X_OK):
        sys.exit(f'evaluate.py: {options.checkccl} is not there: meson setup build && ninja -C build, or --checkccl=')
    options.out = make_folder(options.out or pathlib.Path('evaluation'))
    wrong = False
    for name in EXPERIMENTS if 'all' in options.experiment else options.experiment:
        print(name, file=sys.stderr)
        runner = Runner(options)
        EXPERIMENTS[name].run(runner)
        write({'schema': 'ccl-evaluation-1', 'experiment': name, 'command': sys.argv, 'commit': commit(),
               'machine': runner.machine, 'backend': options.backend, 'product': options.product,
               'measure': options.measure, 'connectivity': options.connectivity,
               'formats': options.formats, 'notes': runner.notes,
               'rows': runner.rows}, options.out)
        wrong |= runner.wrong
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
