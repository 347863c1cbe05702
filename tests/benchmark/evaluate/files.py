# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads and writes the files of an experiment."""
import csv
import json
import re
import sys
import textwrap

from .experiments import PLOTTED
from .figures import Bars, Panel


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
