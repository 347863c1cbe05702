# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plots and tables of measured rows."""
import math
import re


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
