# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The project's own files, for the checks of this folder. No git is needed: a copy of the sources may have none."""
import functools
import os
import pathlib

_top = pathlib.Path()


def set_top(folder):
    global _top
    _top = pathlib.Path(folder).resolve()


def top():
    return _top


@functools.lru_cache(maxsize=None)
def all_files():
    """Paths relative to the source folder; no build folders, no hidden ones."""
    found = []
    for folder, folders, names in os.walk(_top):
        folders[:] = [name for name in folders if name[0] != "." and name != "__pycache__"
                      and not (folder == str(_top) and name.startswith("build"))]
        found += [os.path.relpath(os.path.join(folder, name), _top) for name in names]
    return sorted(found)


def files(suffixes, under=""):
    return [path for path in all_files() if path.endswith(tuple(suffixes.split())) and path.startswith(under)]


@functools.lru_cache(maxsize=None)
def text(path):
    return (_top / path).read_text("utf-8")


def lines(path):
    return text(path).splitlines()
