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
import csv
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import textwrap
import time
import zlib

TOP = pathlib.Path(__file__).resolve().parent.parent.parent

# Bytes a pixel beside the label image, and methods that need nothing or a flag: table I of Bolelli et al., "A
# State-of-the-Art Review with Code about Connected Components Labeling on GPUs", TPDS 2024, and its section III for LE.
TABLE_I = {'le': 4, 'be': 1.25}
TABLE_I_NONE = ('np lnp dpl uf brb ole stava rasmusson 8dls m8dls accl lbuf ke dlp ha4 ha8 c-sauf c-bbdt c-drag buf '
                'bke-published').split()

# They repeat a step until it changes nothing.
ITERATIVE = 'np lnp dpl le le-early le-late ole stava stava-early stava-late rasmusson 8dls m8dls brb be'.split()

# ---------------------------------------------------------------- masks of the user


def unfiltered(kind, row, above, step):
    """One row of a PNG: each byte was stored as its difference to a guess."""
    if kind == 1:
        for i in range(step, len(row)):
            row[i] = (row[i] + row[i - step]) & 255
    elif kind == 2:
        for i in range(len(row)):
            row[i] = (row[i] + above[i]) & 255
    elif kind == 3:
        for i in range(len(row)):
            row[i] = (row[i] + (((row[i - step] if i >= step else 0) + above[i]) >> 1)) & 255
    elif kind == 4:
        for i in range(len(row)):
            a, b, c = (row[i - step], above[i], above[i - step]) if i >= step else (0, above[i], 0)
            p = a + b - c
            pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
            row[i] = (row[i] + (a if pa <= pb and pa <= pc else b if pb <= pc else c)) & 255
    return row


def png_mask(data):
    """(width, height, bytes 0 or 1): set is every pixel that is not 0 in all of its colours, or has an index but 0."""
    if data[:8] != b'\x89PNG\r\n\x1a\n':
        raise ValueError('not a PNG file')
    at, packed, header = 8, b'', None
    while at + 8 <= len(data):
        length, name = struct.unpack('>I4s', data[at:at + 8])
        chunk = data[at + 8:at + 8 + length]
        if name == b'IHDR':
            header = struct.unpack('>IIBBBBB', chunk)
        elif name == b'IDAT':
            packed += chunk
        at += 12 + length
    if not header:
        raise ValueError('a PNG file without a header')
    width, height, depth, colour, _, _, interlaced = header
    if interlaced:
        raise ValueError('an interlaced PNG; save it without')
    colours, alpha = {0: (1, 0), 2: (3, 0), 3: (1, 0), 4: (1, 1), 6: (3, 1)}[colour]
    bits = depth * (colours + alpha)
    stride, step = (width * bits + 7) // 8, max(1, bits // 8)
    raw, above, out = zlib.decompress(packed), bytearray(stride), bytearray()
    for y in range(height):
        start = y * (stride + 1)
        above = unfiltered(raw[start], bytearray(raw[start + 1:start + 1 + stride]), above, step)
        if depth < 8:
            ones = (1 << depth) - 1
            out += bytes(above[i * depth >> 3] >> (8 - depth - (i * depth & 7)) & ones != 0 for i in range(width))
        elif step == 1:
            out += above.translate(bytes([0] + [1] * 255))
        else:
            used = step * colours // (colours + alpha)
            out += bytes(1 if any(above[i * step:i * step + used]) else 0 for i in range(width))
    return width, height, bytes(out)


def folder_for_checkccl(folder, into):
    """The masks below `folder` as checkccl reads them, in one folder; how many."""
    n = 0
    for path in sorted(pathlib.Path(folder).rglob('*')):
        name = re.sub(r'[^\w.-]', '_', str(path.relative_to(folder)))[-60:]
        if path.suffix.lower() in ('.pbm', '.pgm'):
            os.symlink(path.resolve(), into / f'{n:06}-{pathlib.Path(name).stem}{path.suffix.lower()}')
        elif path.suffix.lower() == '.png':
            try:
                width, height, pixels = png_mask(path.read_bytes())
            except (ValueError, KeyError, TypeError, IndexError, zlib.error) as error:
                print(f'{path}: left out: {error}', file=sys.stderr)
                continue
            (into / f'{n:06}-{pathlib.Path(name).stem}.pgm').write_bytes(b'P5\n%d %d\n1\n' % (width, height) + pixels)
        else:
            continue
        n += 1
    return n


# ---------------------------------------------------------------- checkccl


class Runner:
    """Calls checkccl and keeps what it says."""

    def __init__(self, options):
        self.options, self.rows, self.notes, self.machine, self.wrong = options, [], [], {}, False
        self.started = time.monotonic()

    def show(self, text, done, n):
        sys.stderr.write(f'\r\x1b[K[{time.monotonic() - self.started:5.0f} s] {done}/{n} {text}')
        sys.stderr.flush()

    def run(self, n_images, checkccl=None, **wanted):
        """The rows of one run; `wanted`: options of checkccl."""
        o = self.options
        wanted = {'backend': o.backend, 'algorithm': o.algorithms, 'connectivity': o.connectivity, 'rounds': o.rounds,
                  'frames': o.frames, 'seed': o.seed, 'slow': o.slow, 'tiers': o.tiers, 'products': o.product,
                  'measures': o.measure, **wanted}
        command = [checkccl or o.checkccl, '--bench', '--json']
        command += [f'--{k}' if v is True else f'--{k}={v}' for k, v in wanted.items() if v is not None]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors='replace')
        rows, done = [], 0
        for line in process.stdout:
            line = line.strip()
            if line.startswith('{'):
                row = json.loads(line)
                if 'schema' in row:
                    self.machine = row
                else:
                    row['median'] = float(row['median'])
                    rows.append(row)
            elif line.endswith('timing') or ': checking ' in line:
                done += line.endswith('timing')
                self.show(line, done, n_images)
            elif line:
                sys.stderr.write(f'\r\x1b[K{line}\n')
                self.notes.append(line)
        sys.stderr.write('\r\x1b[K')
        sys.stderr.flush()
        status = process.wait()
        if status == 77:
            sys.exit(77)
        if status not in (0, 1):
            sys.exit(f'evaluate.py: {" ".join(command)} ended with status {status}')
        self.wrong |= status == 1
        self.rows += rows
        return rows

    def draw(self, kinds, sizes, **wanted):
        return self.run(len(kinds) * len(sizes), kinds=','.join(kinds), size=','.join(sizes), **wanted)

    def folders(self, **wanted):
        """The rows of each folder of --images, `set` its name."""
        for folder in self.options.images:
            with tempfile.TemporaryDirectory() as into:
                n = folder_for_checkccl(folder, pathlib.Path(into))
                if not n:
                    sys.exit(f'evaluate.py: {folder}: no .png, .pbm or .pgm file there')
                for row in self.run(n, images=into, **wanted):
                    row['set'] = pathlib.Path(folder).name or folder


def commit():
    def git(*arguments):
        return subprocess.run(['git', '-C', str(TOP), *arguments], capture_output=True, text=True, check=True).stdout

    try:
        name, changed = git('rev-parse', '--short=12', 'HEAD'), git('status', '--porcelain', '-uno')
        return name.strip() + (' with changes' if changed else '')
    except (OSError, subprocess.CalledProcessError):
        return 'unknown'


# ---------------------------------------------------------------- figures


def method_of(row):
    """'cuda bke 8' -> 'bke', 'cpu runs 8 avx2' -> 'runs avx2'; of gpu-peers.py 'NPP UF (wrong: ...)' -> 'NPP UF (wrong)'."""
    if 'candidate' in row:
        return re.sub(r' \(wrong.*', ' (wrong)', row['candidate'])
    words = row['method'].split()
    return ' '.join(words[1:2] + words[3:])


def numbers_of(row):
    return [float(n) for n in re.findall(r'_[a-z]?(\d+(?:\.\d+)?)(?=_|$)', row['image'])]


def family_of(row):
    return re.sub(r'(_[a-z]?\d+(\.\d+)?)+$', '', row['image'])


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def deviation(values):
    values = list(values)
    return math.sqrt(mean((v - mean(values)) ** 2 for v in values))


def number(value):
    return '' if value is None else f'{value:.0f}' if value >= 1000 else f'{value:.3g}'


TIME = 'us a frame'


class Panel:
    """One plot and its table: for each method, y over x."""

    def __init__(self, title, x_label, rows, x_of, unit=TIME, log_x=False):
        self.title, self.x_label, self.unit, self.log_x, self.log_y = title, x_label, unit, log_x, unit == TIME
        sums = {}
        for row in rows:
            if not method_of(row).startswith('null'):
                sums.setdefault(method_of(row), {}).setdefault(x_of(row), []).append(row['median'])
        self.lines = {m: {x: mean(y) for x, y in line.items()} for m, line in sums.items()}
        self.xs = sorted({x for line in self.lines.values() for x in line}, key=lambda x: (isinstance(x, str), x))

    def ranking(self):
        """(method, geometric mean of its figures over the smallest there); those measured everywhere come first."""
        best = {x: min(line[x] for line in self.lines.values() if x in line) for x in self.xs}
        result = []
        for method, line in self.lines.items():
            logs = [math.log(max(line[x], 1e-9) / max(best[x], 1e-9)) for x in line]
            result.append((method, math.exp(mean(logs))))
        return sorted(result, key=lambda r: (-len(self.lines[r[0]]), r[1]))

    def markdown(self):
        rated = self.unit == TIME
        text = f'### {self.title}\n\n{self.unit}'
        text += '; last column: times the fastest, geometric mean over the row\n\n' if rated else '\n\n'
        text += '| | ' + ' | '.join(str(x if isinstance(x, str) else number(x)) for x in self.xs) + ' | |\n'
        text += '|---' * (len(self.xs) + 2) + '|\n'
        for method, ratio in self.ranking():
            cells = [number(self.lines[method].get(x)) for x in self.xs]
            text += f'| {method} | ' + ' | '.join(cells) + (f' | {ratio:.3g} |\n' if rated else ' | |\n')
        return text + '\n'

    def plot(self, axes, colours, names):
        from matplotlib import ticker
        for method, line in self.lines.items():
            i = names.index(method)  # it looks the same in all panels
            ours = {'color': 'black', 'linewidth': 2.2, 'zorder': 3} if method == 'runs' else {}
            style = {'color': colours[i % 20], 'linewidth': 1.1, 'label': method, 'marker': 'o', 'markersize': 2.5,
                     **ours}
            if isinstance(self.xs[0], str):
                axes.plot([self.xs.index(x) for x in line], list(line.values()), linestyle='',
                          **{**style, 'markersize': 5})
            else:
                axes.plot(*zip(*sorted(line.items())), linestyle=['-', '--', ':'][i // 20 % 3], **style)
        if isinstance(self.xs[0], str):
            axes.set_xticks(range(len(self.xs)), self.xs, rotation=60, ha='right', fontsize=7)
        axes.set(title=self.title, xlabel=self.x_label, ylabel=self.unit)
        if self.log_y:
            axes.set_yscale('log')
            axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f'{value:g}'))
            axes.yaxis.set_minor_formatter(ticker.LogFormatter(minor_thresholds=(2.2, .5)))
        if self.log_x:
            axes.set_xscale('log')
        axes.grid(alpha=.3)


class Bars:
    """Stacked: what each method's time is made of. lines: method -> {part: figure}. log_x: of one part."""

    def __init__(self, title, rows, part_of, unit=TIME, log_x=False):
        self.title, self.unit, self.log_x, self.lines = title, unit, log_x, {}
        sums = {}
        for row in rows:
            sums.setdefault(method_of(row), {}).setdefault(part_of(row), []).append(row['median'])
        for method, parts in sums.items():
            self.lines[method] = {part: mean(values) for part, values in parts.items()}

    def markdown(self):
        text = f'### {self.title}\n\n{self.unit}\n\n'
        for method, parts in sorted(self.lines.items(), key=lambda item: sum(item[1].values())):
            text += f'- {method}: ' + ', '.join(f'{part} {number(value)}' for part, value in parts.items()) + '\n'
        return text + '\n'

    def plot(self, axes, colours, names):
        methods = sorted(self.lines, key=lambda m: sum(self.lines[m].values()))
        left = [0.0] * len(methods)
        for part in dict.fromkeys(part for m in methods for part in self.lines[m]):
            i, widths = names.index(part), [self.lines[m].get(part, 0) for m in methods]
            axes.barh(methods, widths, left=left, label=part, color=colours[i % 20],
                      hatch=['', '//', '..'][i // 20 % 3])
            left = [l + w for l, w in zip(left, widths)]
        axes.set(title=self.title, xlabel=self.unit)
        axes.tick_params(axis='y', labelsize=7)
        if self.log_x:
            axes.set_xscale('log')
            axes.bar_label(axes.containers[-1], list(map(number, left)), fontsize=6, padding=2)
            axes.set_xlim(min(1, *left), 4 * max(left))  # room for the figures


# ---------------------------------------------------------------- experiments: what is run, and what is shown of it


def timed(rows, measure=None):
    return [r for r in rows if r['unit'] == 'us' and (r['measure'] == measure if measure else True)]


def set_of(row):
    return row.get('set') or row['image']


class Average:
    def run(self, runner):
        measures = runner.options.measure + (',plain_cold' if runner.options.backend == 'cuda' else '')
        if runner.options.images:
            runner.folders(measures=measures)
        else:
            kinds = 'video noise_g1 noise_g4 noise_g16 empty white checkerboard comb spiral dots diagonals'.split()
            runner.draw(runner.options.kinds or kinds, [runner.options.size or '1920x1080'], measures=measures)

    def panels(self, data):
        names = {'plain_cold': 'launches one by one', data['measure']: 'mean time per kind of image'}
        for measure in dict.fromkeys(r['measure'] for r in timed(data['rows'])):
            panel = Panel(names.get(measure, measure), '', timed(data['rows'], measure), set_of)
            if panel.lines:
                yield panel


class Steps:
    def run(self, runner):
        if runner.options.images:
            runner.folders(steps=True, measures=runner.options.measure)
        else:
            runner.draw(runner.options.kinds or ['video_salt0.05', 'noise_g1_d50'],
                        [runner.options.size or '1920x1080'], steps=True)

    def panels(self, data):
        rows, once = timed(data['rows']), timed(data['rows'], 'allocation')
        for name in dict.fromkeys(map(set_of, once)):
            steps = [r for r in rows if r['measure'].startswith('step ') and set_of(r) == name]
            if steps:
                yield Bars(f'{name}: steps', steps, lambda r: re.sub(r'^step \d+ ', '', r['measure']))
        yield Panel('allocation, once', '', once, set_of)
        rows = [r for r in data['rows'] if r['measure'] == 'iterations' and method_of(r) in ITERATIVE]
        if rows:
            yield Panel('iterations', '', rows, set_of, unit='launches of the repeated step')


class Noise:
    def __init__(self, over, densities, granularities):
        self.over, self.densities, self.granularities = over, densities, granularities

    def run(self, runner):
        kinds = [f'mt_g{g}_d{d}' for g in runner.options.granularities or self.granularities
                 for d in runner.options.densities or self.densities]
        runner.draw(kinds, [runner.options.size or '2048x2048'])

    def panels(self, data):
        fixed, varied = (0, 1) if self.over == 'density' else (1, 0)
        rows = timed(data['rows'], data['measure'])
        for value in sorted({numbers_of(r)[fixed] for r in rows}):
            yield Panel(f'granularity {value:g}' if fixed == 0 else f'{value:g} % foreground',
                        'foreground, %' if varied else 'granularity, pixels',
                        [r for r in rows if numbers_of(r)[fixed] == value], lambda r: numbers_of(r)[varied])


class Size:
    def run(self, runner):
        sides = [round(math.sqrt(10 ** (exponent / 2))) for exponent in range(6, 15)]
        runner.draw(['mt_g1_d50'], [f'{side}x{side}' for side in sides if not runner.options.quick or side < 600])

    def panels(self, data):
        yield Panel('noise, 50 % foreground', 'pixels', timed(data['rows'], data['measure']),
                    lambda r: r['width'] * r['height'], log_x=True)


class Blocks:
    """A block's size is known when its kernel is compiled, as shared memory and unrolled loops go by it: each size is a
    build of its own."""

    def run(self, runner):
        builds = runner.options.builds or [f'as built:{runner.options.checkccl}']
        for name, path in (build.split(':', 1) for build in builds):
            program = path if os.path.isfile(path) else os.path.join(path, 'tests/checkccl/checkccl')
            for row in runner.draw(['video_salt0.05', 'mt_g1_d50', 'mt_g16_d50'], [runner.options.size or '1920x1080'],
                                   checkccl=program):
                row['build'] = name

    def panels(self, data):
        rows = timed(data['rows'], data['measure'])
        for kind in dict.fromkeys(r['image'] for r in rows):
            yield Panel(kind, 'build', [r for r in rows if r['image'] == kind], lambda r: r['build'])


class Memory:
    def run(self, runner):
        sizes = (runner.options.size or '1280x720,1920x1080,3840x2160').split(',')
        runner.draw(['video_salt0.05'], sizes, measures='memory', rounds=1, frames=1)

    def panels(self, data):
        rows = [r for r in data['rows'] if r['unit'] == 'bytes']
        for row in rows:
            row['median'] /= row['width'] * row['height']
        names = {'host_memory': 'host memory held', 'device_memory': 'device memory held',
                 'own_memory': "device memory: the method's own"}
        for measure, name in names.items():
            chosen = [r for r in rows if r['measure'] == measure]
            if measure == 'own_memory':
                for method in {method_of(r) for r in chosen}:
                    if method in TABLE_I or method in TABLE_I_NONE:
                        chosen.append({'method': f'cuda {method} 8', 'image': 'table I, 2024',
                                       'median': TABLE_I.get(method, 0)})
            if chosen:
                yield Panel(name, '', chosen, lambda r: f'{r["width"]}x{r["height"]}' if 'width' in r else r['image'],
                            unit='bytes a pixel')


RIDGES = {
    'ridge_leveling': ('Leveling', 'level'),
    'ridge_scaling': ('Scaling(2)', 'scale, %'),
    'ridge_subdivision': ('Subdivision(3)', 'subdivisions'),
    'ridge_instancing': ('RandomInstancing(3, s)', 'present, %'),
    'ridge_merging': ('RandomMerging(3, s)', 'merged, %'),
    'spiral': ('Spiral', 'side, %'),
}


def ridge_kinds(side, percents):
    order = int(math.log2(side))
    splits = max(0, min(5, order - 4))
    return ([f'ridge_leveling_l{level}' for level in range(1, min(order, 13))] +
            [f'ridge_scaling_l2_p{p}' for p in percents] +
            [f'ridge_subdivision_l3_s{s}' for s in range(order - 3)] +
            [f'ridge_instancing_l3_s{splits}_p{p}' for p in percents] +
            [f'ridge_merging_l3_s{splits}_p{p}' for p in percents] +
            [f'spiral_p{p}' for p in percents])


class Ridges:
    def run(self, runner):
        size = runner.options.size or '2048x2048'
        percents = runner.options.percents or range(0, 101, 10)
        runner.draw(ridge_kinds(min(map(int, size.split('x'))), percents), [size], steps=True)

    def panels(self, data):
        for what, rows in (('', timed(data['rows'], data['measure'])),
                           (', iterations', [r for r in data['rows'] if r['measure'] == 'iterations' and
                                             method_of(r) in ITERATIVE])):
            for family, (name, x_label) in RIDGES.items():
                chosen = [r for r in rows if family_of(r) == family]
                if chosen:
                    yield Panel(name + what, x_label, chosen, lambda r: numbers_of(r)[-1],
                                unit='launches of the repeated step' if what else TIME)


def fitted(points):
    """a, b, c of a + b x^c, by least squares of the relative errors; for each c the best a and b are known."""
    best = None
    for c in [i / 200 for i in range(20, 401)]:
        # weights 1 / t^2: sums of w, w u, w u u, w t, w u t with u = x^c
        w = [(1 / t ** 2, x ** c, t) for x, t in points]
        s, su, suu = sum(k for k, _, _ in w), sum(k * u for k, u, _ in w), sum(k * u * u for k, u, _ in w)
        st, sut = sum(k * t for k, _, t in w), sum(k * u * t for k, u, t in w)
        determinant = s * suu - su * su
        if determinant <= 1e-12 * s * suu:
            continue
        a, b = (suu * st - su * sut) / determinant, (s * sut - su * st) / determinant
        if a < 0:  # no time is negative
            a, b = 0, sut / suu
        error = sum(k * (a + b * u - t) ** 2 for k, u, t in w)
        if best is None or error < best[0]:
            best = error, a, b, c
    return best[1:]


class Fit:
    def run(self, runner):
        orders = runner.options.orders or (range(6, 10) if runner.options.quick else range(8, 13))
        for order in orders:
            kinds = ridge_kinds(1 << order, runner.options.percents or range(0, 101, 25))
            runner.draw(kinds, [f'{1 << order}x{1 << order}'], frames=1)
        if runner.options.images:
            runner.folders()

    def panels(self, data):
        rows = timed(data['rows'], data['measure'])
        drawn, real = [r for r in rows if 'set' not in r], [r for r in rows if 'set' in r]
        panel = Panel('mean of all families', 'pixels', drawn, lambda r: r['width'] * r['height'], log_x=True)
        text = ('### a + b x^c\n\nmicroseconds for x pixels; error: the largest of the fit at a size it was made from; '
                'masks: mean of measured / predicted with its standard deviation, and (predicted - measured mean) / '
                'measured standard deviation\n\n| | a | b | c | error | masks | |\n|---|---|---|---|---|---|---|\n')
        for method, line in panel.lines.items():
            if len(line) < 3:
                continue
            a, b, c = fitted(list(line.items()))
            error = max(abs(a + b * x ** c - t) / t for x, t in line.items())
            measured = [(r['width'] * r['height'], r['median']) for r in real if method_of(r) == method]
            said = ' | '
            if len(measured) > 1:
                ratios = [t / (a + b * x ** c) for x, t in measured]
                times, guesses = [t for _, t in measured], [a + b * x ** c for x, _ in measured]
                said = f'{mean(ratios):.2f} ({deviation(ratios):.2f}) | '
                said += f'{(mean(guesses) - mean(times)) / (deviation(times) or 1):+.2f}'
            text += f'| {method} | {a:.3g} | {b:.3g} | {c:.3f} | {100 * error:.0f} % | {said} |\n'
        table = panel.markdown()
        panel.markdown = lambda: table + text + '\n'
        yield panel


class Peers:
    """What gpu-peers.py measured."""

    def panels(self, data):
        for kind in dict.fromkeys((r['kind'], r['size']) for r in data['rows']):
            rows = [{**r, 'median': r['stream_us']} for r in data['rows'] if (r['kind'], r['size']) == kind]
            yield Bars(' '.join(kind), rows, lambda r: 'masks back to back', log_x=True)


EXPERIMENTS = {
    'average': Average(),
    'steps': Steps(),
    'density': Noise('density', list(range(0, 101, 5)), [1, 4, 16]),
    'granularity': Noise('granularity', [10, 50, 90], list(range(1, 17))),
    'size': Size(),
    'blocks': Blocks(),
    'memory': Memory(),
    'ridges': Ridges(),
    'fit': Fit(),
}
PLOTTED = {**EXPERIMENTS, 'peers': Peers()}

# ---------------------------------------------------------------- files


def plain(text):
    try:
        return float(text)
    except ValueError:
        return text


def read_csv(path):
    """Its name tells the experiment, `size.csv` or `gpu-size.csv`."""
    with open(path, newline='') as file:
        rows = [{key: plain(value) for key, value in row.items() if value} for row in csv.DictReader(file)]
    if not rows:
        raise ValueError('no rows')
    timed_by = [r['measure'] for r in rows if r.get('unit') == 'us' and not re.match('allocation|step|plain', r['measure'])]
    return {'experiment': path.stem.split('-')[-1], 'rows': rows,
            'backend': str(rows[0].get('method', '')).split(' ')[0], 'commit': rows[0].get('commit'),
            'product': ', '.join(dict.fromkeys(r['product'] for r in rows if 'product' in r)),
            'measure': max(timed_by, key=timed_by.count, default=''),
            'machine': {'seed': rows[0].get('seed'), 'gpu': rows[0].get('device'), 'date': rows[0].get('date')}}


def read_json(path):
    data = json.loads(path.read_text())
    if not isinstance(data, dict):
        raise ValueError('no object')
    if data.get('schema') == 'ccl-peers-1':
        data.update(experiment='peers', machine={'gpu': data['device'], 'date': data['date'], 'seed': data['seed']})
    if not data['rows']:
        raise ValueError('no rows')
    return data


def file_of(base, suffix):
    """`base` may have a dot in its name."""
    return base.with_name(base.name + suffix)


def write(data, out):
    base = out / data['experiment']
    file_of(base, '.json').write_text(json.dumps(data, indent=1))
    fields = list(dict.fromkeys(key for row in data['rows'] for key in row))
    with open(file_of(base, '.csv'), 'w', newline='') as file:
        writer = csv.DictWriter(file, ['commit', 'seed'] + fields)
        writer.writeheader()
        for row in data['rows']:
            writer.writerow({'commit': data['commit'], 'seed': data['machine'].get('seed'), **row})
    show(data, base)


def described(data):
    machine = {name: f'{value:g}' if isinstance(value, float) else value for name, value in data['machine'].items()}
    has_runs = any(str(row.get('method', '')).startswith('cuda runs ') for row in data['rows'])
    about = [', '.join(filter(None, map(data.get, ('backend', 'product', 'measure')))), machine.get('cpu'),
             machine.get('gpu') and f'GPU: {machine["gpu"]}', machine.get('date'),
             data.get('commit') and f'commit {data["commit"]}', machine.get('seed') and f'seed {machine["seed"]}',
             data.get('product') == 'provisional' and has_runs and 'runs makes its table, too']
    return '; '.join(filter(None, map(str, filter(None, about))))


def show(data, base):
    """Tables and plots of what was measured: `base` with .md, .svg and so on."""
    out, head = base.parent, described(data)
    panels = list(PLOTTED[data['experiment']].panels(data))
    file_of(base, '.md').write_text(f'## {data["experiment"]}\n\n{head}\n\n' + ''.join(p.markdown() for p in panels))
    files = [path.name for path in (file_of(base, suffix) for suffix in ('.json', '.csv', '.md')) if path.exists()]
    try:
        import matplotlib
    except ImportError:
        print(f'{out}: {", ".join(files)}; no plot: matplotlib is not installed (pip install matplotlib), then '
              'evaluate.py --plot with the .json or .csv')
        return
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt
    plt.rcParams.update({'svg.fonttype': 'none', 'svg.hashsalt': 'ccl', 'font.size': 8, 'axes.titlesize': 9})
    panels = [p for p in panels if p.lines]
    columns = min(3, len(panels)) or 1
    n_rows = (len(panels) + columns - 1) // columns or 1
    tall = max([3.2] + [.16 * len(p.lines) + .8 for p in panels])
    figure, axes = plt.subplots(n_rows, columns, figsize=(4.6 * columns, tall * n_rows + .5), squeeze=False,
                                layout='constrained')
    names = [part for p in panels if isinstance(p, Bars) for line in p.lines.values() for part in line]
    methods = {m for p in panels if isinstance(p, Panel) for m in p.lines}
    names = list(dict.fromkeys(names)) + sorted(methods)  # of the same methods other experiments have the same colours
    for panel, place in zip(panels, axes.flat):
        panel.plot(place, plt.get_cmap('tab20').colors, names)
    for place in list(axes.flat)[len(panels):]:
        place.axis('off')
    found = {}
    for place in axes.flat:
        for handle, label in zip(*place.get_legend_handles_labels()):
            found.setdefault(label, handle)
    if len(found) > 1:
        figure.legend(found.values(), found.keys(), loc='upper left', bbox_to_anchor=(1, 1), fontsize=7)  # beside it
    figure.supxlabel(textwrap.fill(head, 80 * columns + 40), fontsize=6, color='gray')
    for kind in data['formats']:
        figure.savefig(file_of(base, '.' + kind), metadata={'Date': None} if kind == 'svg' else None, dpi=130,
                       bbox_inches='tight')
        files.append(file_of(base, '.' + kind).name)
    plt.close(figure)
    print(f'{out}: {", ".join(files)}')


def plot_again(path, formats, out):
    """What write() left, or gpu-peers.py."""
    try:
        data = read_csv(path) if path.suffix == '.csv' else read_json(path)
        if data['experiment'] not in PLOTTED:
            sys.exit(f'evaluate.py: {path}: "{data["experiment"]}" is no experiment: there are {", ".join(PLOTTED)}')
        show({**data, 'formats': formats}, (out or path.parent) / path.stem)
    except OSError as error:
        sys.exit(f'evaluate.py: {error.filename}: {error.strerror}')
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f'it has no {error}' if isinstance(error, KeyError) else error
        sys.exit(f'evaluate.py: {path} is not what evaluate.py or gpu-peers.py writes: {why}')


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
