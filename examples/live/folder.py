# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The folder where zones, presets and counts are kept: the only place that is written."""
import errno
import hashlib
import os
import pathlib
import re
import tempfile

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,39}")


def default():
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(data, "gst-ccl-live")


def is_name(text):
    """Whether a client's name can be a file's: no separator, no dot."""
    return isinstance(text, str) and bool(NAME.fullmatch(text))


def keys_of(sources):
    """A key for each; a source that is there twice has two."""
    keys = []
    for source in sources:
        key = key_of(source)
        n = sum(other == key or other.startswith(f"{key}+") for other in keys)
        keys.append(f"{key}+{n + 1}" if n else key)
    return keys


def key_of(source):
    """The same for the same source at the next start."""
    if not source.place:
        return "scene"
    slug = re.sub(r"[^A-Za-z0-9]+", "-", source.name).strip("-")[:30]
    return f"{slug}-{hashlib.sha256(source.place.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def check(top, path):
    """A link in the folder may not lead out of it."""
    if not pathlib.Path(path).resolve().is_relative_to(pathlib.Path(top).resolve()):
        raise OSError(errno.EPERM, "a link leads out of the folder")


def read(top, path):
    check(top, path)
    return pathlib.Path(path).read_text("utf-8")


def write(top, path, text):
    """Replaces a file at once, so that a power cut leaves the old one or the new one."""
    path = pathlib.Path(path)
    check(top, path.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, path)
    except OSError:
        os.unlink(part)
        raise
