# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""GStreamer, with the plugin's own library, or a message that says how to get them."""
import sys

HOW = "run examples/live.sh, or `meson devenv -C build /usr/bin/python3 examples/live/main.py`"

try:
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    gi.require_version("GstCcl", "1.0")
    from gi.repository import GLib, GObject, Gst, GstApp, GstCcl
except (ImportError, ValueError) as error:
    sys.exit(f"live: {error} ({sys.executable}); {HOW}")

Gst.init(None)
if not Gst.ElementFactory.find("ccllabel"):
    sys.exit(f"live: GStreamer does not find the plugin ccl; {HOW}")

__all__ = ["GLib", "GObject", "Gst", "GstApp", "GstCcl"]
