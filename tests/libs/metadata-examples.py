# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The programs in docs/metadata.md do what the document says they print.

usage: metadata-examples.py DOCUMENT BUILD_FOLDER COMPILER...

C is compiled as a user would, with what pkg-config says of gstreamer-ccl-1.0 (not yet installed).
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

try:
    import gi

    gi.require_version("GstCcl", "1.0")
except (ImportError, ValueError) as error:
    print("skipped:", error)
    sys.exit(77)


def output_of(command, **options):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=120,
                         **options)
    if run.returncode != 0:
        raise AssertionError(f"{shlex.join(map(str, command))}: exit status {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


def run_python(source, folder):
    program = folder / "example.py"
    program.write_text(source, "utf-8")
    return output_of([sys.executable, program])


def run_c(source, folder):
    program = folder / "example.c"
    program.write_text(source, "utf-8")
    path = {**os.environ, "PKG_CONFIG_PATH": os.path.join(build, "meson-uninstalled")}
    flags = shlex.split(output_of(["pkg-config", "--cflags", "--libs", "gstreamer-ccl-1.0"], env=path))
    output_of([*compiler, "-Wall", "-Werror", program, "-o", folder / "example", *flags])
    return output_of([folder / "example"])


class Examples(unittest.TestCase):
    def test_examples(self):
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", document.read_text("utf-8"), re.MULTILINE | re.DOTALL)
        programs = {"python": run_python, "c": run_c}
        tested = []
        for (language, source), (next_language, printed) in zip(blocks, blocks[1:]):
            if language in programs:
                with self.subTest(language=language, source=source[:60]), tempfile.TemporaryDirectory() as folder:
                    self.assertEqual(next_language, "text", "no output follows")
                    self.assertEqual(programs[language](source, pathlib.Path(folder)), printed)
                    tested.append(language)
        self.assertEqual(tested, ["python", "c", "python"])


if __name__ == "__main__":
    document = pathlib.Path(sys.argv[1])
    build, *compiler = sys.argv[2:]
    del sys.argv[1:]
    unittest.main(verbosity=2)
