# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""A wall clock that jumps, for a process that uses the C library. See wallclock.c."""

import os
import pathlib
import shlex
import struct
import subprocess

SOURCE = pathlib.Path(__file__).with_name("wallclock.c")


class WallClock:
    def __init__(self, folder, name):
        self.path = folder / f"clock-{name}"
        self.library = folder / "wallclock.so"
        self.set(0)

    def missing(self):
        """None, or why no clock can jump. Compiles the library."""
        if "san" in os.environ.get("LD_PRELOAD", ""):
            return "a sanitizer is loaded"
        compiler = shlex.split(os.environ.get("CC", "cc"))
        try:
            subprocess.run([*compiler, "-shared", "-fPIC", "-O1", "-o", self.library, SOURCE, "-ldl", "-lpthread"], check=True,
                           capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return "no C compiler"
        return None

    def set(self, seconds):
        """The file stays the same: processes have it mapped."""
        with open(self.path, "r+b" if self.path.exists() else "wb") as file:
            file.write(struct.pack("q", int(seconds * 1e9)))

    def environment(self):
        preloaded = os.environ.get("LD_PRELOAD")
        return os.environ | {"CCL_TEST_CLOCK": str(self.path),
                             "LD_PRELOAD": f"{preloaded}:{self.library}" if preloaded else str(self.library)}
