# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the names of the tests that are programs of ours, as `meson test` takes them.

usage: native-tests.py BUILD_FOLDER
"""
import json
import os
import subprocess
import sys


def main():
    folder = os.path.realpath(sys.argv[1])
    tests = json.loads(subprocess.check_output(["meson", "introspect", "--tests", folder]))
    for test in tests:
        program = test["cmd"][0]
        if program.startswith(folder + os.sep):
            print(test["name"])


if __name__ == "__main__":
    main()
