# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The experiments: what is run, and what is shown of it."""
import math
import os
import re

from .figures import TIME, Bars, Panel, deviation, family_of, mean, method_of, numbers_of

# Bytes a pixel beside the label image, and methods that need nothing or a flag: table I of Bolelli et al., "A
# State-of-the-Art Review with Code about Connected Components Labeling on GPUs", TPDS 2024, and its section III for LE.
TABLE_I = {'le': 4, 'be': 1.25}
TABLE_I_NONE = ('np lnp dpl uf brb ole stava rasmusson 8dls m8dls accl lbuf ke dlp ha4 ha8 c-sauf c-bbdt c-drag buf '
                'bke-published').split()

# They repeat a step until it changes nothing.
ITERATIVE = 'np lnp dpl le le-early le-late ole stava stava-early stava-late rasmusson 8dls m8dls brb be'.split()


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
