# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `meson install` puts in place is all that a program needs: headers, library, pkg-config file, plugin, typelib.

usage: installed.py MESON BUILD_FOLDER INTROSPECTION(0|1) PREFIX COMPILER...
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

PROGRAM = """
#include <gst/ccl/ccl.h>
int main (void)
{
  gst_init (NULL, NULL);
  GstBuffer *buffer = gst_buffer_new ();
  gst_buffer_add_ccl_blob_meta (buffer, NULL, 4, 3);
  const int found = gst_buffer_get_ccl_blob_meta (buffer)->ref_width == 4;
  gst_buffer_unref (buffer);
  return !found;
}
"""
# Patterns of the symbols that each may export.
WANTED = {
    "libgstccl-1.0.so": r"gst_(buffer_\w+_)?ccl_\w+",
    "libgstccl.so": r"gst_plugin_ccl_(register|get_desc)",
    "libgstcclmqtt.so": r"gst_plugin_cclmqtt_(register|get_desc)",
    "_core.abi3.so": r"PyInit__core",
}


class Installed(unittest.TestCase):
    def run_well(self, command, **options):
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **options)
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout}{result.stderr}")
        return result.stdout

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.run_well([*meson, "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", self.root])

    def find(self, name):
        found = list(self.root.rglob(name))
        self.assertEqual(len(found), 1, f"{name}: {found}")
        return found[0]

    def test_headers(self):
        """Every header of the library that an installed one includes is installed."""
        installed = {file.name: file for file in self.root.rglob("gst/ccl/*.h")}
        self.assertIn("ccl.h", installed)
        for header in installed.values():
            for name in re.findall(r"#include <gst/ccl/(.*)>", header.read_text("utf-8")):
                self.assertIn(name, installed, f"included by {header.name}")

    def test_program(self):
        pc = self.find("gstreamer-ccl-1.0.pc")
        environment = {**os.environ, "PKG_CONFIG_PATH": str(pc.parent)}
        flags = shlex.split(self.run_well(["pkg-config", "--cflags", "--libs", "gstreamer-ccl-1.0"], env=environment))
        prefix = self.run_well(["pkg-config", "--variable=prefix", "gstreamer-ccl-1.0"], env=environment).strip()
        # In front of what an older version may have left in the real prefix.
        flags = [re.sub(f"^(-[IL]){re.escape(prefix)}", rf"\1{self.root}{prefix}", flag) for flag in flags]
        source, program = self.root / "program.c", self.root / "program"
        source.write_text(PROGRAM, "utf-8")
        self.run_well([*compiler, "-Wall", "-Werror", source, "-o", program, *flags])
        library = self.find("libgstccl-1.0.so")
        self.run_well([program], env={**os.environ, "LD_LIBRARY_PATH": str(library.parent)})

    def test_plugin(self):
        """By its run path the plugin finds the library, unless the system's linker does."""
        environment = {**os.environ, "GST_PLUGIN_PATH": str(self.find("libgstccl.so").parent),
                       "GST_REGISTRY": str(self.root / "registry.bin")}
        if prefix == "/usr":
            environment["LD_LIBRARY_PATH"] = str(self.find("libgstccl-1.0.so").parent)
        described = self.run_well(["gst-inspect-1.0", "ccl"], env=environment)
        self.assertIn("ccllabel", described)
        self.assertNotIn("Unknown", described)

    def test_symbols(self):
        """Libraries and plugins export what their headers declare and GStreamer looks up, and nothing else."""
        for name, wanted in WANTED.items():
            for file in self.root.rglob(name):
                lines = self.run_well(["nm", "-D", "--defined-only", "--format=posix", file]).splitlines()
                # The linker's own, which nvcc's link exports.
                symbols = {line.split()[0] for line in lines} - {"__bss_start", "_edata", "_end", "_init", "_fini"}
                self.assertTrue(symbols, name)
                self.assertEqual(sorted(symbol for symbol in symbols if not re.fullmatch(wanted, symbol)), [], name)

    def test_interface(self):
        """The library exports what the packages promise, no more and no less: docs/design.md has the policy."""
        symbols = pathlib.Path(__file__).parents[2] / "debian/libgstccl-1.0-0.symbols"
        promised = re.findall(r"^ (\w+)@", symbols.read_text("utf-8"), re.MULTILINE)
        lines = self.run_well(["nm", "-D", "--defined-only", "--format=posix", self.find("libgstccl-1.0.so")]).splitlines()
        self.assertEqual(sorted(line.split()[0] for line in lines), sorted(promised))

    def test_documents(self):
        """The messages of the elements, gst-inspect-1.0 and README.md name documents that are installed."""
        readme = next(self.root.rglob("doc/gst-ccl/README.md"))
        folder = readme.parent
        named = set(re.findall(r"\]\(([^)#:]+)\)", readme.read_text("utf-8")))
        for plugin in ("libgstccl.so", "libgstcclmqtt.so"):
            for file in self.root.rglob(plugin):
                named |= {name.decode() for name in re.findall(rb"docs/[\w/.-]+\.md", file.read_bytes())}
        self.assertIn("docs/elements/ccllabel.md", named)
        self.assertIn("docs/zones.md", named)
        self.assertEqual([name for name in sorted(named) if not (folder / name).exists()], [])

    @unittest.skipUnless(sys.argv[3] == "1", "built without introspection")
    def test_introspection(self):
        gir = self.find("GstCcl-1.0.gir").read_text("utf-8")
        self.find("GstCcl-1.0.typelib")
        for name in ("BlobMeta", "MaskMeta", "ZoneMeta"):
            self.assertIn(f'<record name="{name}"', gir)


if __name__ == "__main__":
    build, prefix, compiler = sys.argv[2], sys.argv[4], sys.argv[5:]
    meson = shlex.split(sys.argv[1])
    del sys.argv[1:]
    unittest.main(verbosity=2)
