# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`meson install` to a prefix of one's own: the lines that it prints are all that programs need, and uninstalling leaves nothing.

usage: prefix.py MESON SOURCE_FOLDER INTROSPECTION(0|1)
"""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

PYTHON = """
import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstCcl", "1.0")
from gi.repository import Gst, GstCcl
Gst.init(None)
buffer = Gst.Buffer.new()
GstCcl.buffer_add_ccl_blob_meta(buffer, None, 4, 3)
print("width", GstCcl.buffer_get_ccl_blob_meta(buffer).ref_width, GstCcl.blobs(buffer))
"""


class Prefix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        root = pathlib.Path(cls.folder.name)
        # A space: the lines must survive a shell.
        cls.build, cls.prefix = root / "build", root / "a prefix"
        options = ["-Dgst=enabled", "-Dtests=disabled", "-Dexamples=disabled", "-Dcuda=disabled"]
        run_well([*meson, "setup", cls.build, source, f"--prefix={cls.prefix}", *options])
        run_well([*meson, "compile", "-C", cls.build])
        cls.printed = run_well([*meson, "install", "-C", cls.build])
        cls.exports = "\n".join(line for line in cls.printed.splitlines() if line.startswith("export "))

    def after_exports(self, *command):
        registry = f"export GST_REGISTRY={shlex.quote(str(self.build / 'registry.bin'))}"
        return run_well(["sh", "-euc", f'{self.exports}\n{registry}\n"$@"', "sh", *command], env=bare_environment())

    def test_inspect(self):
        self.assertIn("gst-inspect-1.0 ccllabel", self.printed)
        described = self.after_exports("gst-inspect-1.0", "ccllabel")
        self.assertIn(str(self.prefix), described)
        self.assertIn("threshold", described)

    def test_pkg_config(self):
        self.assertEqual(self.after_exports("pkg-config", "--variable=prefix", "gstreamer-ccl-1.0").replace("\\", "").strip(),
                         str(self.prefix))

    @unittest.skipUnless(sys.argv[3] == "1", "built without introspection")
    def test_python(self):
        self.assertEqual(self.after_exports("/usr/bin/python3", "-c", PYTHON), "width 4 <0 blobs>\n")

    def test_zz_uninstall(self):
        """Last: it takes away what the others need."""
        run_well(["ninja", "-C", self.build, "uninstall"])
        self.assertEqual([path for path in self.prefix.rglob("*") if not path.is_dir()], [])


def bare_environment():
    """Without what a developer's shell or Meson adds."""
    added = ("GST_PLUGIN_PATH", "LD_LIBRARY_PATH", "GI_TYPELIB_PATH", "PKG_CONFIG_PATH", "PYTHONPATH")
    return {name: value for name, value in os.environ.items() if name not in added}


def run_well(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode != 0:
        raise AssertionError(f"{command}\n{result.stdout}{result.stderr}")
    return result.stdout


if __name__ == "__main__":
    meson, source = shlex.split(sys.argv[1]), sys.argv[2]
    del sys.argv[1:]
    unittest.main(verbosity=2)
