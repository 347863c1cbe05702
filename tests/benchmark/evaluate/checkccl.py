# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls checkccl --bench and keeps what it prints."""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from .masks import folder_for_checkccl

TOP = pathlib.Path(__file__).resolve().parent.parent.parent.parent


class Runner:
    """Calls checkccl and keeps what it says."""

    def __init__(self, options):
        self.options, self.rows, self.notes, self.machine, self.wrong = options, [], [], {}, False
        self.started = time.monotonic()

    def show(self, text, done, n):
        if not sys.stderr.isatty():
            return
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
                print(line, file=sys.stderr)
                self.notes.append(line)
        if sys.stderr.isatty():
            print(file=sys.stderr)
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
