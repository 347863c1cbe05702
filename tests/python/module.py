# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Imports gstccl from a build folder, for the tests beside this file: TEST.py SOURCE_FOLDER CORE [ARGUMENT...]"""
import atexit
import os
import pathlib
import shutil
import sys
import tempfile


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


try:
    import numpy as np
except ImportError as error:
    skip(error)
if int(np.__version__.split(".")[0]) < 1 or tuple(map(int, np.__version__.split(".")[:2])) < (1, 23):
    skip(f"NumPy {np.__version__} is older than 1.23")

if len(sys.argv) > 2:
    _folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, _folder)
    os.mkdir(os.path.join(_folder, "gstccl"))
    for _file in [*(pathlib.Path(sys.argv[1]) / "gst/python/gstccl").glob("*.py"), pathlib.Path(sys.argv[2])]:
        os.symlink(_file.resolve(), os.path.join(_folder, "gstccl", _file.name))
    sys.path.insert(0, _folder)
ARGUMENTS = sys.argv[3:]
del sys.argv[1:]

import gstccl  # noqa: E402 # pylint: disable=wrong-import-position,unused-import


def cuda_works():
    try:
        gstccl.Context(8, 8, device="cuda").close()
    except gstccl.Error:
        return False
    return True
