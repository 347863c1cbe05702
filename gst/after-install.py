# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `meson install` prints at its end: the lines that make programs find the plugin in this prefix.

usage: after-install.py PLUGIN_FOLDER SYSTEM_PLUGIN_FOLDER TYPELIB_FOLDER PKGCONFIG_FOLDER PYTHON_FOLDER
A relative folder lies in the prefix; an empty one is not installed. Packagers, who set DESTDIR, see nothing.
"""
import os
import pathlib
import shlex
import stat
import sys


def line(variable, folder):
    return f"export {variable}={shlex.quote(str(folder))}${{{variable}:+:${variable}}}"


def show(text):
    """Meson before 1.1 swallows what install scripts print: its own output, /proc/PID/fd/1, is where that belongs."""
    output = f"/proc/{os.getppid()}/fd/1"
    swallowed = os.path.exists(output) and not os.path.samestat(os.fstat(1), os.stat(output))
    if not swallowed or stat.S_ISREG(os.stat(output).st_mode):
        print(text)
        return
    with open(output, "w", encoding="utf-8") as stream:
        print(text, file=stream)


def main():
    prefix = pathlib.Path(os.environ["MESON_INSTALL_PREFIX"])
    plugins, system_plugins, typelibs, pkgconfig, python = sys.argv[1:]
    # GStreamer searches this folder without being asked.
    if os.environ.get("DESTDIR") or prefix / plugins == pathlib.Path(system_plugins):
        return
    variables = {"GST_PLUGIN_PATH": plugins, "GI_TYPELIB_PATH": typelibs, "PKG_CONFIG_PATH": pkgconfig, "PYTHONPATH": python}
    exports = [line(variable, prefix / folder) for variable, folder in variables.items() if folder]
    show("\n".join(["", "gst-ccl is installed. GStreamer finds it after these lines, here or in ~/.profile:", "", *exports, "",
                    "Try: gst-inspect-1.0 ccllabel"]))


if __name__ == "__main__":
    main()
