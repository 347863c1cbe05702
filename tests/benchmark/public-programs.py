#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The CUDA methods side by side with the public programs of YACCLAB.

    git clone https://github.com/prittt/YACCLAB && git -C YACCLAB checkout 54e4354
    public-programs.py --yacclab=YACCLAB                          all methods that both have, on all images
    public-programs.py --yacclab=YACCLAB --size=1080p,4K --kinds=video_salt0.05,noise_g1_d50 --algorithms=bke,uf --json
    public-programs.py --yacclab=YACCLAB --libraries=DIR --arch=sm_90     compiles, where there is nvcc and no GPU
    public-programs.py --libraries=DIR                                    measures, where there is a GPU and no nvcc

nvcc compiles each of their files (-O3 -DNDEBUG) to a library, with a few lines of our own (tests/benchmark/yacclab) in
place of OpenCV and of what YACCLAB has around its programs. All is in one process: the same mask in device memory and
the same label image over and over, rows one behind the other (OpenCV would start each at a multiple of 512 bytes).
Every result is compared with the reference first: the same partition of the foreground, 0 elsewhere; what is wrong is
not timed. Then candidates take turns, another one first in each round: microseconds a mask for many back to back, by
the host's clock up to the end of the last one.

Theirs: PerformLabeling() captured into a CUDA graph, without allocation and without waiting, but with setting the label
image to 0 where the program does (HA4, HA8). Ours: provisional labels, in a graph too, one frame after the other on the
GPU, as in `checkccl --bench --products=provisional --measures=lane_hot` (which has GPU time by events).

Needs numpy, the NVIDIA driver, nvcc, and checkccl and peers.so of the build. Status: 0; 1 when a candidate was wrong or
failed; 2 when something is missing; 77 without a GPU or numpy.
"""
import argparse
import collections
import concurrent.futures
import ctypes
import glob
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location('gpu_peers', HERE / 'gpu-peers.py')
peers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(peers)  # ends with a word where numpy is missing
np = peers.np
peers.CACHE = 0  # one copy of each mask, which is to stay in the cache

Program = collections.namedtuple('Program', 'file connectivity', defaults=[8])
PROGRAMS = {  # by our methods; `bke` is `bke-published` made faster
    'bke': Program('BKE_NoInlineCompression'),
    'bke-published': Program('BKE_NoInlineCompression'),
    'bke-ic': Program('allegretti_2019_BKE'),
    'buf': Program('BUF_NoInlineCompression'),
    'buf-ic': Program('allegretti_2019_BUF'),
    'c-sauf': Program('allegretti_2019_SAUF'),
    'c-bbdt': Program('allegretti_2019_BBDT'),
    'c-drag': Program('allegretti_2019_DRAG'),
    'ke': Program('allegretti_2018'),
    'ha4': Program('hennequin_2018_HA4', 4),
    'ha8': Program('hennequin_2018_HA8'),
    'uf': Program('oliveira_2010'),
    'lbuf': Program('yonehara_2015'),
    'dlp': Program('cabaret_2017'),
}
LEFT_OUT = {
    **dict.fromkeys(('ole', 'be', '8dls', 'm8dls', 'rasmusson', 'stava'), 'it is iterative, and ours is in no CUDA graph'),
    'accl': 'theirs allocates while it labels', 'brb': 'theirs copies to the host while it labels',
}
VIDEO = 'video_salt0.05'
TABLE = {'720p': VIDEO, '1080p': VIDEO + ',noise_g1_d50,noise_g4_d50,noise_g16_d50', '4K': VIDEO, '8K': VIDEO,
         '2048x2048': 'white,spiral'}

# ---------------------------------------------------------------- their programs


def programs_of(options):
    return {PROGRAMS[a] for a in options.algorithms}


def source_of(options, program):
    return (options.yacclab / f'cuda/src/labeling_{program.file}.cu').resolve()


def compile_program(options, nvcc, arch, program):
    command = [nvcc, '-O3', '-DNDEBUG', f'-arch={arch}', '--default-stream=per-thread', '-shared',
               '-Xcompiler=-fPIC,-fvisibility=hidden', f'-DPROGRAM="{source_of(options, program)}"',
               f'-I{HERE}/yacclab', f'-I{options.yacclab}/include', '-o', f'{options.libraries}/{program.file}.so',
               f'{HERE}/yacclab/program.cu']
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f'{program.file} does not compile:\n{" ".join(command)}\n{done.stdout}')


def compile_all(options, arch):
    """Leaves a library per program in options.libraries, and the commit they are of."""
    nvcc = shutil.which('nvcc') or max(glob.glob('/usr/local/cuda*/bin/nvcc'), default=None)
    if not nvcc:
        raise RuntimeError('no nvcc, neither in PATH nor in /usr/local/cuda*/bin')
    if not (options.yacclab / 'cuda/src').is_dir():
        raise RuntimeError(f'{options.yacclab} is no checkout of YACCLAB: it has no cuda/src')
    for source in sorted(source_of(options, program) for program in programs_of(options)):
        if not source.is_file():
            raise RuntimeError(f'{source} is missing; commit 54e4354 of YACCLAB has it')
    options.libraries.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda program: compile_program(options, nvcc, arch, program), programs_of(options)))
    git = ['git', f'--git-dir={options.yacclab}/.git', 'log', '-1', '--format=%h']
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout if shutil.which('git') else ''
    (options.libraries / 'commit').write_text(commit.strip() or 'of unknown commit')


def load_program(options, program):
    path = options.libraries / f'{program.file}.so'
    if not path.is_file():
        raise RuntimeError(f'{path} is missing; --yacclab=DIR compiles it')
    library, pointer = ctypes.CDLL(str(path.resolve())), ctypes.c_void_p
    library.program_open.restype, library.program_error.restype = pointer, ctypes.c_char_p
    library.program_open.argtypes = [pointer, pointer, ctypes.c_int, ctypes.c_int]
    library.program_stream.restype, library.program_stream.argtypes = ctypes.c_double, [pointer, ctypes.c_uint]
    library.program_close.restype, library.program_close.argtypes = None, [pointer]
    return library


# ---------------------------------------------------------------- candidates: stream(n) -> us a mask, labels()


class Theirs:
    def __init__(self, options, program, masks):
        self.name, self.connectivity = f'theirs, {program.file}', program.connectivity
        self.library, self.masks = load_program(options, program), masks
        self.program = self.library.program_open(masks.addresses[0], masks.labels[0], masks.width, masks.height)
        if not self.program:
            raise RuntimeError(f'{self.name}: {self.library.program_error().decode()}')

    def stream(self, n):
        us = self.library.program_stream(self.program, n)
        if us < 0:
            raise RuntimeError(f'{self.name}: {self.library.program_error().decode()}')
        return us

    def labels(self):
        self.stream(1)
        return self.masks.memory.download(self.masks.labels[0], self.masks.images[0].shape, np.uint32)

    def close(self):
        self.library.program_close(self.program)


class Ours(peers.Ours):
    def __init__(self, module, algorithm, connectivity, masks):
        super().__init__(module, masks, True, algorithm, 'provisional', connectivity)
        self.name, self.connectivity = f'ours, {algorithm}', connectivity
        self.label_images = (ctypes.c_void_p * 4)(*4 * masks.labels[:1])

    def labels(self):
        return self.result(0)[0]


def reference_labels(module, images, connectivity):
    reference = peers.Ours(module, peers.Masks(peers.Host(), images), False, 'reference', 'labels+table', connectivity)
    labels = reference.result(0)[0]
    reference.close()
    return labels


def what_is_wrong(got, labels):
    """A sentence, or None. Does not sort whole images, as gpu-peers.py does three times: 8K would take long."""
    called = np.zeros(labels.max() + 1, np.uint32)  # what one pixel of each component says it is called
    called[labels] = got
    called[0] = 0
    if np.array_equal(called[labels], got) and len(np.unique(called)) == len(called):
        return None
    return peers.how_it_differs(got, labels, labels > 0) or '0 in the foreground, or another label outside'


def open_right_ones(options, module, masks, report):
    """{what: candidate} of those that label right, warmed up, each with its `n` masks for a measurement."""
    makers, expected, candidates = {}, {}, {}
    for algorithm in options.algorithms:  # theirs beside ours, and once where it is beside two of ours
        program = PROGRAMS[algorithm]
        makers[program] = lambda p=program: Theirs(options, p, masks)
        makers[algorithm] = lambda a=algorithm, p=program: Ours(module, a, p.connectivity, masks)
        if program.connectivity not in expected:
            expected[program.connectivity] = reference_labels(module, masks.images, program.connectivity)
    for what, make in makers.items():
        try:
            candidate = make()
            masks.memory.upload(masks.labels[0], np.full(masks.images[0].shape, 0xa5a5a5a5, np.uint32))
            masks.memory.wait()
            wrong = what_is_wrong(candidate.labels(), expected[candidate.connectivity])
            candidate.n = int(max(4, min(2000, options.ms * 1000 / max(candidate.stream(20), 1))))
        except RuntimeError as error:
            report(f'FAILED: {error}')
            continue
        if wrong:
            report(f'{candidate.name}: WRONG, not timed: {wrong}')
            candidate.close()
        else:
            candidates[what] = candidate
    return candidates


def measure(options, module, masks, report):
    """{what: microseconds of each round}"""
    candidates = open_right_ones(options, module, masks, report)
    samples, order = {what: [] for what in candidates}, list(candidates)
    for turn in range(options.rounds):
        first = turn * len(order) // options.rounds
        for what in order[first:] + order[:first]:
            samples[what].append(candidates[what].stream(candidates[what].n))
    for candidate in candidates.values():
        candidate.close()
    return samples


# ---------------------------------------------------------------- figures


def row_of(algorithm, kind, size, samples):
    program = PROGRAMS[algorithm]
    row = {'kind': kind, 'size': size, 'algorithm': algorithm, 'program': program.file,
           'connectivity': program.connectivity, 'ratio': None}
    ours, theirs = samples.get(algorithm), samples.get(program)
    for whose, values in (('ours', ours), ('theirs', theirs)):
        for name, percent in (('us', 50), ('p10', 10), ('p90', 90)):
            row[f'{whose}_{name}'] = round(peers.percentile(values, percent), 2) if values else None
    if ours and theirs:
        row['ratio'] = round(peers.percentile([a / b for a, b in zip(ours, theirs)], 50), 3)
    return row


def cell(row):
    ours, theirs = ('-' if us is None else f'{us:.{0 if us >= 99.95 else 1}f}'
                    for us in (row['ours_us'], row['theirs_us']))
    text = f'{ours} / {theirs}' + (f' = {row["ratio"]:.2f}' if row['ratio'] else '')
    return f'**{text}**' if (row['ratio'] or 0) >= 1.1 else text


def print_table(rows):
    columns = list(dict.fromkeys((row['kind'], row['size']) for row in rows))
    print('Ours / theirs = ratio, microseconds, medians; in bold where ours takes a tenth longer.\n')
    print('| | ' + ' | '.join(f'{kind} {size}' for kind, size in columns) + ' |\n|---' + '|---' * len(columns) + '|')
    for algorithm in dict.fromkeys(row['algorithm'] for row in rows):
        print(f'| `{algorithm}` | ' + ' | '.join(cell(row) for row in rows if row['algorithm'] == algorithm) + ' |')


def compare(options, memory, report):
    module, rows = peers.load_module(options.module), []
    head = {'schema': 'ccl-public-programs-1', 'device': memory.name, 'seed': options.seed, 'rounds': options.rounds,
            'yacclab': (options.libraries / 'commit').read_text(),
            'date': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}
    print(json.dumps(head) if options.json else f'{memory.name}; YACCLAB {head["yacclab"]}; {head["date"]}\n', flush=True)
    for size, options.kinds in options.images.items():
        for kind, images in peers.draw(options, size):
            print(f'{kind} {size}', file=sys.stderr, flush=True)
            masks = peers.Masks(memory, images)
            samples = measure(options, module, masks, lambda text: report(f'{kind} {size}: {text}'))
            rows += [row_of(algorithm, kind, size, samples) for algorithm in options.algorithms]
            masks.free()
            if options.json:
                print('\n'.join(map(json.dumps, rows[-len(options.algorithms):])), flush=True)
    if not options.json:
        print_table(rows)


# ---------------------------------------------------------------- the program


def list_of_algorithms(text):
    for name in text.split(','):
        if name in LEFT_OUT:
            raise argparse.ArgumentTypeError(f'{name} is left out: {LEFT_OUT[name]}')
        if name not in PROGRAMS:
            raise argparse.ArgumentTypeError(f'{name} is none of {", ".join(PROGRAMS)}')
    return text.split(',')


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--yacclab', type=pathlib.Path, metavar='DIR', help='a checkout of YACCLAB, which is only read')
    parser.add_argument('--libraries', type=pathlib.Path, metavar='DIR',
                        help='where the compiled programs stay; without --yacclab, where they are')
    parser.add_argument('--arch', help='for nvcc, such as sm_90 (default: that of the GPU)')
    parser.add_argument('--algorithms', type=list_of_algorithms, default=list(PROGRAMS), metavar='LIST',
                        help=f'ours, with commas (default {",".join(PROGRAMS)})')
    parser.add_argument('--size', metavar='LIST', help='of checkccl --bench, with commas (default, with --kinds: 1080p)')
    parser.add_argument('--kinds', metavar='LIST', help=f'of the same, each in each size (default, with --size: {VIDEO})')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--ms', type=float, default=20, help='about so long is each measurement (default 20)')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--json', action='store_true', help='an object a line, the first one names the machine')
    parser.add_argument('--checkccl', default=str(peers.TOP / 'build/tests/checkccl/checkccl'), help='the built program')
    parser.add_argument('--module', default=str(peers.TOP / 'build/tests/benchmark/peers.so'), help='the built peers.so')
    options = parser.parse_args()
    if not options.yacclab and not options.libraries:
        parser.error('--yacclab=DIR: where is the checkout of YACCLAB?')
    if options.arch and not options.libraries:
        parser.error('--arch without --libraries=DIR: what is compiled would not stay')
    if options.rounds < 1 or options.ms <= 0:
        parser.error('--rounds and --ms are at least 1')
    if re.search(r'[13579]x', options.size or ''):
        parser.error('--size: their programs need even widths')
    options.frames, options.images = 1, TABLE
    if options.size or options.kinds:
        options.images = {size: options.kinds or VIDEO for size in (options.size or '1080p').split(',')}
    return options


def run(options):
    told = []

    def report(text):
        print(text, file=sys.stderr, flush=True)
        told.append(text)

    if options.yacclab and options.arch:  # may be all there is to do
        compile_all(options, options.arch)
    try:
        memory = peers.Device()
    except (OSError, RuntimeError) as error:
        if options.yacclab and options.arch:
            print(f'compiled, into {options.libraries}; not measured, as there is no CUDA device: {error}', file=sys.stderr)
            return 0
        print(f'skipped: no CUDA device: {error}', file=sys.stderr)
        return 77
    for path in (options.checkccl, options.module):
        if not os.path.isfile(path):
            raise RuntimeError(f'{path} is missing: meson setup build && ninja -C build')
    if options.yacclab and not options.arch:
        compile_all(options, f'sm_{memory.attribute(75)}{memory.attribute(76)}')
    for program in programs_of(options):
        load_program(options, program)
    compare(options, memory, report)
    return 1 if told else 0


def main():
    # One frame after the other, as checkccl has it for lane_hot. The library reads this once.
    os.environ['CCL_TEST_STREAMS'] = '1'
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        options.libraries = options.libraries or pathlib.Path(folder)
        try:
            return run(options)
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
            print(f'public-programs.py: {error}', file=sys.stderr)
            return 2


if __name__ == '__main__':
    sys.exit(main())
