#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The CUDA methods side by side with what else labels on a GPU, and with OpenCV on its host's CPU.

    gpu-peers.py                                  NPP, CuPy, cuCIM, OpenCV: those that are found
    gpu-peers.py --size=3840x2160 --kinds=video,noise_g1_d50 --algorithms=runs,bke,bke-published

All in one process. checkccl draws the masks; they lie in device memory (OpenCV's: in ordinary memory) and take turns,
as many as exceed the GPU's cache. Every result is compared with the reference first: the same partition of the
foreground, and the number of components where it is known. What is wrong is not timed; NPP is all the same, and the
table says how wrong it was (NPP 13.0 cuts components of most masks in two, and not the same ones each time). In each
round every candidate runs, in turning order:

stream   microseconds a mask, many masks back to back, by the host's clock up to the end of the last one
latency  microseconds for one mask, waited for

Ours: `table` (the table of components, nothing else), `labels+table` (and consecutive labels), `provisional` (labels
with gaps, what NPP without compression gives). NPP's compression, CuPy and cuCIM wait for the GPU in each call by
themselves, and Python's time for a call (some microseconds) is in the others' figures, not in ours.

Needs numpy and the NVIDIA driver; what is not found is named and left out. --backend=cpu: the CPU methods and OpenCV.
"""
import argparse
import csv
import ctypes
import glob
import importlib
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    print('skipped: numpy is not installed')
    sys.exit(77)

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
CACHE = 160 << 20  # masks in turn take more than this

# ---------------------------------------------------------------- memory


class Host:
    """Masks and labels in ordinary memory."""
    name, cuda = platform.processor() or platform.machine(), False

    def __init__(self):
        self.kept = {}  # arrays by their address

    def alloc(self, size):
        array = np.zeros(size, np.uint8)
        self.kept[array.ctypes.data] = array
        return array.ctypes.data

    def upload(self, address, array):
        self.kept[address][:array.nbytes] = array.reshape(-1).view(np.uint8)

    def download(self, address, shape, dtype):
        n = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return self.kept[address][:n].view(dtype).reshape(shape).copy()

    def free(self, address):
        del self.kept[address]

    def wait(self):
        pass


class Device:
    """The first GPU, by the driver alone."""
    cuda = True

    def __init__(self):
        self.driver = ctypes.CDLL('libcuda.so.1')
        device, context, name = ctypes.c_int(), ctypes.c_void_p(), ctypes.create_string_buffer(100)
        self.call('cuInit', 0)
        self.call('cuDeviceGet', ctypes.byref(device), 0)
        self.call('cuDeviceGetName', name, 100, device)
        self.call('cuDevicePrimaryCtxRetain', ctypes.byref(context), device)  # the one that CUDA's runtime uses too
        self.call('cuCtxSetCurrent', context)
        self.device, version = device, ctypes.c_int()
        self.call('cuDriverGetVersion', ctypes.byref(version))
        self.name = f'{name.value.decode()}, driver for CUDA {version.value // 1000}.{version.value % 1000 // 10}'

    def call(self, name, *arguments):
        status = getattr(self.driver, name)(*arguments)
        if status:
            raise RuntimeError(f'{name}: CUDA error {status}')

    def attribute(self, number):
        value = ctypes.c_int()
        self.call('cuDeviceGetAttribute', ctypes.byref(value), number, self.device)
        return value.value

    def alloc(self, size):
        address = ctypes.c_uint64()
        self.call('cuMemAlloc_v2', ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def upload(self, address, array):
        array = np.ascontiguousarray(array)
        self.call('cuMemcpyHtoD_v2', ctypes.c_uint64(address), ctypes.c_void_p(array.ctypes.data),
                  ctypes.c_size_t(array.nbytes))

    def download(self, address, shape, dtype):
        array = np.empty(shape, dtype)
        self.call('cuMemcpyDtoH_v2', ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(address),
                  ctypes.c_size_t(array.nbytes))
        return array

    def free(self, address):
        self.call('cuMemFree_v2', ctypes.c_uint64(address))

    def wait(self):
        self.call('cuCtxSynchronize')


class Masks:
    """The images of one kind and size: `images` on the host, `addresses` as often as it takes to exceed the cache."""

    def __init__(self, memory, images):
        self.images, self.memory = images, memory
        self.height, self.width = images[0].shape
        turns = max(len(images), min(64, CACHE // images[0].size + 1)) if memory.cuda else len(images)
        self.addresses = [memory.alloc(images[0].size) for _ in range(turns)]
        for i, address in enumerate(self.addresses):
            memory.upload(address, images[i % len(images)])
        self.labels = [memory.alloc(4 * images[0].size) for _ in range(4)]

    def free(self):
        for address in self.addresses + self.labels:
            self.memory.free(address)


# ---------------------------------------------------------------- candidates: stream(n) -> us a mask, labels(i), count


class Ours:
    timed_anyway = False

    def __init__(self, module, masks, cuda, algorithm, product, connectivity):
        self.module, self.masks, self.product = module, masks, product
        self.name = f'{algorithm} {product}'
        self.context = module.peers_open(int(cuda), algorithm.encode(), masks.width, masks.height, connectivity)
        if not self.context:
            raise RuntimeError(module.peers_error().decode())
        self.addresses = (ctypes.c_void_p * len(masks.addresses))(*masks.addresses)
        self.label_images = (ctypes.c_void_p * 4)(*masks.labels) if product != 'table' else None
        self.found = ctypes.c_uint32()

    def run(self, masks, n_masks, n):
        us = self.module.peers_stream(self.context, masks, n_masks, n, self.masks.width, self.masks.height,
                                      self.label_images, 4, self.product == 'provisional', ctypes.byref(self.found))
        if us < 0:
            raise RuntimeError(self.module.peers_error().decode())
        return us

    def stream(self, n):
        return self.run(self.addresses, len(self.addresses), n)

    def result(self, i):
        self.run((ctypes.c_void_p * 1)(self.masks.addresses[i]), 1, 1)
        labels = None
        if self.label_images:
            labels = self.masks.memory.download(self.masks.labels[0], self.masks.images[0].shape, np.uint32)
        return labels, None if self.product == 'provisional' else self.found.value

    def close(self):
        self.module.peers_free(self.context)


class Python:
    """A candidate that is a call per mask: label(i), then wait()."""
    timed_anyway = False

    def stream(self, n):
        start = time.perf_counter()
        for i in range(n):
            self.label(i)
        self.wait()
        return (time.perf_counter() - start) * 1e6 / n

    def wait(self):
        self.masks.memory.wait()

    def close(self):
        pass


class Size(ctypes.Structure):
    _fields_ = [('width', ctypes.c_int), ('height', ctypes.c_int)]


class StreamContext(ctypes.Structure):
    _fields_ = [('stream', ctypes.c_void_p), ('device', ctypes.c_int), ('multiprocessors', ctypes.c_int),
                ('threads_per_multiprocessor', ctypes.c_int), ('threads_per_block', ctypes.c_int),
                ('shared_per_block', ctypes.c_size_t), ('major', ctypes.c_int), ('minor', ctypes.c_int),
                ('flags', ctypes.c_uint), ('reserved', ctypes.c_int)]


def find_npp():
    """libnppif and what it needs, from the toolkit or from Python's packages."""
    places = ['/usr/local/cuda*/lib64', '/usr/lib/x86_64-linux-gnu', '/usr/lib64', '/usr/lib/aarch64-linux-gnu']
    places += os.environ.get('LD_LIBRARY_PATH', '').split(':') + [f'{p}/nvidia/*/lib' for p in sys.path]
    found = [f for place in places if place for f in sorted(glob.glob(f'{place}/libnppif.so*'))]
    for path in found + ['libnppif.so', 'libnppif.so.13', 'libnppif.so.12']:
        try:
            for core in glob.glob(os.path.join(os.path.dirname(path), 'libnppc.so*')) if '/' in path else []:
                ctypes.CDLL(core, ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(path)
        except OSError:
            pass
    raise RuntimeError('libnppif is not found (LD_LIBRARY_PATH, or pip install nvidia-npp; CUDA 12: nvidia-npp-cu12)')


class Npp(Python):
    timed_anyway = True  # a figure that says it is of a wrong result, rather than none

    def __init__(self, masks, connectivity, compress):
        self.npp, self.masks, self.compress, memory = find_npp(), masks, compress, masks.memory
        self.name = 'NPP UF + compress' if compress else 'NPP UF'
        self.size, self.norm = Size(masks.width, masks.height), 0 if connectivity == 8 else 1  # NormInf, NormL1
        n, bytes_label, bytes_compress = masks.width * masks.height, ctypes.c_int(), ctypes.c_int()
        self.check(self.npp.nppiLabelMarkersUFGetBufferSize_32u_C1R(self.size, ctypes.byref(bytes_label)))
        self.check(self.npp.nppiCompressMarkerLabelsGetBufferSize_32u_C1R(n, ctypes.byref(bytes_compress)))
        self.buffer = memory.alloc(max(bytes_label.value, 1))
        self.compress_buffer = memory.alloc(max(bytes_compress.value, 1))
        self.context = StreamContext(None, 0, memory.attribute(16), memory.attribute(39), memory.attribute(1),
                                     memory.attribute(8), memory.attribute(75), memory.attribute(76), 0, 0)
        self.count = ctypes.c_int()

    def check(self, status):
        if status:
            raise RuntimeError(f'NPP error {status}')

    def label(self, i):
        masks = self.masks
        source, target = (ctypes.c_void_p(a[i % len(a)]) for a in (masks.addresses, masks.labels))
        self.check(self.npp.nppiLabelMarkersUF_8u32u_C1R_Ctx(
            source, masks.width, target, 4 * masks.width, self.size, self.norm, ctypes.c_void_p(self.buffer),
            self.context))
        if self.compress:
            self.check(self.npp.nppiCompressMarkerLabelsUF_32u_C1IR_Ctx(
                target, 4 * masks.width, self.size, masks.width * masks.height, ctypes.byref(self.count),
                ctypes.c_void_p(self.compress_buffer), self.context))

    def result(self, i):
        self.label(i)
        self.wait()
        labels = self.masks.memory.download(self.masks.labels[i % 4], self.masks.images[0].shape, np.uint32)
        return labels, None  # it labels and counts the background too

    def close(self):
        for address in (self.buffer, self.compress_buffer):
            self.masks.memory.free(address)


class CuPy(Python):
    """cupyx.scipy.ndimage.label, or cucim's copy of scikit-image."""

    def __init__(self, masks, connectivity, cucim=False):
        self.cupy, self.masks = importlib.import_module('cupy'), masks
        self.cupy.cuda.Device(0).use()
        if cucim:
            self.name, label = 'cuCIM label', importlib.import_module('cucim.skimage.measure').label
            self.function = lambda mask: label(mask, connectivity=2 if connectivity == 8 else 1, return_num=True)
        else:
            self.name, label = 'CuPy label', importlib.import_module('cupyx.scipy.ndimage').label
            square = self.cupy.ones((3, 3), bool) if connectivity == 8 else None
            self.function = lambda mask: label(mask, structure=square)
        self.arrays = [self.array_at(address) for address in masks.addresses]

    def array_at(self, address):
        cuda, shape = self.cupy.cuda, self.masks.images[0].shape
        memory = cuda.UnownedMemory(address, shape[0] * shape[1], self.masks)
        return self.cupy.ndarray(shape, self.cupy.uint8, cuda.MemoryPointer(memory, 0))

    def label(self, i):
        self.labels, self.count = self.function(self.arrays[i % len(self.arrays)])

    def result(self, i):
        self.label(i)
        return self.cupy.asnumpy(self.labels).astype(np.uint32), int(self.count)


class OpenCV(Python):
    def __init__(self, masks, connectivity):
        self.cv2, self.masks, self.connectivity = importlib.import_module('cv2'), masks, connectivity
        self.name = f'OpenCV {self.cv2.__version__}, CPU, {self.cv2.getNumThreads()} threads'
        self.labels = np.empty(masks.images[0].shape, np.int32)

    def label(self, i):
        found = self.cv2.connectedComponentsWithStats(self.masks.images[i % len(self.masks.images)], labels=self.labels,
                                                      connectivity=self.connectivity, ltype=self.cv2.CV_32S)
        self.count, self.labels = found[0] - 1, found[1]

    def wait(self):
        pass

    def result(self, i):
        self.label(i)
        return self.labels.astype(np.uint32), self.count


# ---------------------------------------------------------------- right, then timed


def how_it_differs(got, labels, mask):
    """What is wrong about the partition of the mask's foreground, whatever its labels are called; None: nothing."""
    a, b = got[mask].astype(np.uint64), labels[mask].astype(np.uint64)
    n_pairs, n_got, n_true = len(np.unique(a << np.uint64(32) | b)), len(np.unique(a)), len(np.unique(b))
    if n_pairs == n_got == n_true:
        return None
    said = f'{n_got} labels for {n_true} components'
    return said + (', all by cutting components' if n_pairs == n_got else f', with {n_pairs} pairs of both')


def what_is_wrong(candidate, images, expected):
    """A sentence, or None."""
    for i, (image, (labels, count)) in enumerate(zip(images, expected)):
        got_labels, got_count = candidate.result(i)
        if got_count not in (None, count):
            return f'mask {i}: {got_count} components, and not {count}'
        differs = got_labels is not None and how_it_differs(got_labels, labels, image > 0)
        if differs:
            return f'mask {i}: {differs}'
    return None


def percentile(values, percent):
    values = sorted(values)
    return values[int((len(values) - 1) * percent / 100 + .5)]


PEERS = ['npp', 'cupy', 'cucim', 'opencv']


def candidates_for(options, module, masks, report):
    makers = [lambda a=a, p=p: Ours(module, masks, masks.memory.cuda, a, p, options.connectivity)
              for a in options.algorithms for p in ('table', 'labels+table', 'provisional')]
    names = [f'{a} {p}' for a in options.algorithms for p in ('table', 'labels+table', 'provisional')]
    peers = {
        'npp': [('NPP UF', lambda: Npp(masks, options.connectivity, False)),
                ('NPP UF + compress', lambda: Npp(masks, options.connectivity, True))],
        'cupy': [('CuPy label', lambda: CuPy(masks, options.connectivity, False))],
        'cucim': [('cuCIM label', lambda: CuPy(masks, options.connectivity, True))],
        'opencv': [('OpenCV', lambda: OpenCV(masks, options.connectivity))],
    }
    some = [peer for name in options.peers for peer in peers[name] if masks.memory.cuda or name == 'opencv']
    for name, make in list(zip(names, makers)) + some:
        try:
            yield make()
        except Exception as error:  # whatever a library that is not quite there may raise
            report(f'{name}: left out: {error}')


def measure(options, module, masks, report):
    """[(candidate's name, {'stream': samples, 'latency': samples})]"""
    reference = Ours(module, Masks(Host(), masks.images), False, 'reference', 'labels+table', options.connectivity)
    expected = [reference.result(i) for i in range(len(masks.images))]
    reference.close()
    candidates, samples = [], {}
    for candidate in candidates_for(options, module, masks, report):
        try:
            wrong = what_is_wrong(candidate, masks.images, expected)
            candidate.stream(4)  # warms up
            candidate.n = int(max(4, min(1000, options.ms * 1000 / max(candidate.stream(8), 1))))
        except Exception as error:
            wrong = str(error)
        if wrong and candidate.timed_anyway and hasattr(candidate, 'n'):
            candidate.name += f' (wrong: {wrong})'
        elif wrong:
            report(f'{candidate.name}: WRONG, not timed: {wrong}')
            candidate.close()
            continue
        candidates.append(candidate)
        samples[candidate.name] = {'stream': [], 'latency': []}
    for turn in range(options.rounds):
        for candidate in candidates[turn % len(candidates):] + candidates[:turn % len(candidates)]:
            samples[candidate.name]['stream'].append(candidate.stream(candidate.n))
            samples[candidate.name]['latency'].append(percentile([candidate.stream(1) for _ in range(15)], 50))
    for candidate in candidates:
        candidate.close()
    return samples, expected[0][1]


# ---------------------------------------------------------------- masks, files, tables


def read_pgm(path):
    magic, size, _, pixels = path.read_bytes().split(b'\n', 3)
    width, height = map(int, size.split())
    return np.frombuffer(pixels, np.uint8).reshape(height, width)


def draw(options, size):
    """(kind, images) as checkccl draws them."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.checkccl, '--bench', '--backend=cpu', f'--write={folder}', f'--kinds={options.kinds}',
                        f'--size={size}', f'--frames={options.frames}', f'--seed={options.seed}'],
                       check=True, stdout=subprocess.DEVNULL)
        kinds = {}
        for path in sorted(pathlib.Path(folder).iterdir()):
            kinds.setdefault(path.name.rsplit('-', 2)[0], []).append(read_pgm(path))
        yield from kinds.items()


def load_module(path):
    module = ctypes.CDLL(path)
    pointer = ctypes.c_void_p
    module.peers_open.restype, module.peers_error.restype = pointer, ctypes.c_char_p
    module.peers_open.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_int]
    module.peers_free.argtypes, module.peers_stream.restype = [pointer], ctypes.c_double
    module.peers_stream.argtypes = [pointer, pointer] + 4 * [ctypes.c_uint] + [
        pointer, ctypes.c_uint, ctypes.c_int, ctypes.POINTER(ctypes.c_uint32)]
    return module


def list_of_peers(text):
    for name in text.split(','):
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f'{name} is none of {", ".join(PEERS)}')
    return text.split(',')


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--backend', choices=['cuda', 'cpu'], default='cuda')
    parser.add_argument('--algorithms', default='', help='ours (default runs,bke,bke-published; CPU: runs)')
    parser.add_argument('--peers', type=list_of_peers, default=PEERS, metavar='LIST',
                        help=f'others, with commas (default {",".join(PEERS)}; CPU: opencv)')
    parser.add_argument('--connectivity', type=int, choices=[4, 8], default=8)
    parser.add_argument('--size', default='1920x1080,3840x2160', help='with commas (default 1920x1080,3840x2160)')
    parser.add_argument('--kinds', help='of checkccl --bench, with commas',
                        default='video_clean,video_salt0.05,noise_g1_d50,noise_g4_d50,noise_g16_d50,white,spiral')
    parser.add_argument('--frames', type=int, default=4, help='different masks of a kind (default 4)')
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--ms', type=float, default=20, help='about so long is each measurement (default 20)')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--out', type=pathlib.Path, default='evaluation', help='folder (default evaluation)')
    parser.add_argument('--checkccl', default=str(TOP / 'build/tests/checkccl/checkccl'), help='the built program')
    parser.add_argument('--module', default=str(TOP / 'build/tests/benchmark/peers.so'), help='the built peers.so')
    options = parser.parse_args()
    default = 'runs' if options.backend == 'cpu' else 'runs,bke,bke-published'
    options.algorithms = (options.algorithms or default).split(',')
    return options


def main():
    options, told = parse(), set()

    def report(text):
        if text not in told:
            print(text, file=sys.stderr, flush=True)
        told.add(text)

    try:
        memory = Device() if options.backend == 'cuda' else Host()
    except (OSError, RuntimeError) as error:
        print(f'skipped: no CUDA device: {error}')
        return 77
    module, rows = load_module(options.module), []
    print(f'{memory.name}; {options.connectivity}-connected; seed {options.seed}\n')
    for size in options.size.split(','):
        for kind, images in draw(options, size):
            print(f'{kind} {size}', file=sys.stderr, flush=True)
            masks = Masks(memory, images)
            samples, n_found = measure(options, module, masks, report)
            masks.free()
            print(f'### {kind} {size}, {n_found} components\n')
            print('| | stream, us | of the first | latency, us |\n|---|---|---|---|')
            for name, sample in samples.items():
                stream, latency = percentile(sample['stream'], 50), percentile(sample['latency'], 50)
                first = next(iter(samples.values()))['stream']
                ratio = percentile([a / b for a, b in zip(sample['stream'], first)], 50)
                print(f'| {name} | {stream:.1f} | {ratio:.2f} | {latency:.1f} |')
                rows.append({'kind': kind, 'size': size, 'components': n_found, 'candidate': name, 'stream_us': stream,
                             'stream_p10': percentile(sample['stream'], 10),
                             'stream_p90': percentile(sample['stream'], 90), 'latency_us': latency,
                             'times_first': ratio, 'rounds': options.rounds})
            print(flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    head = {'schema': 'ccl-peers-1', 'device': memory.name, 'connectivity': options.connectivity, 'seed': options.seed,
            'date': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime()), 'notes': sorted(told), 'rows': rows}
    (options.out / 'peers.json').write_text(json.dumps(head, indent=1))
    with open(options.out / 'peers.csv', 'w', newline='') as file:
        about = {name: head[name] for name in ('device', 'date', 'seed')}
        writer = csv.DictWriter(file, list(rows[0]) + list(about))
        writer.writeheader()
        writer.writerows({**row, **about} for row in rows)
    return 1 if any('WRONG' in text for text in told) else 0


if __name__ == '__main__':
    sys.exit(main())
