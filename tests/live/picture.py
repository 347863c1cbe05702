# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Takes docs/pictures/live.png: the page with the made-up scene and three zones.

usage: picture.py SOURCE_FOLDER [FILE.png]
"""
import os
import sys
import time

import browser
import live

ZONES = {"units": "relative", "zones": [
    {"name": "gate", "line": [[0.52, 0.02], [0.52, 0.98]]},
    {"name": "yard", "polygon": [[0.04, 0.1], [0.42, 0.06], [0.4, 0.62], [0.08, 0.72]]},
    {"name": "door", "circle": [0.78, 0.68, 0.2]}]}


def take(source, path):
    server = live.Live(source)
    page = browser.Browser(1180, 710)
    try:
        server.ask("PUT", "/api/cameras/0/zones", ZONES)
        page.open(server.url)
        server.wait(lambda: all(zone["forward"] > 2 for zone in server.camera()["zones"] or [{"forward": 0}]), 60)
        time.sleep(1)
        page.screenshot(path)
    finally:
        page.quit()
        server.stop()


if __name__ == "__main__":
    top = os.path.abspath(sys.argv[1])
    take(top, sys.argv[2] if len(sys.argv) > 2 else os.path.join(top, "docs", "pictures", "live.png"))
