# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The live page in headless Chromium, with its server and the made-up scene.

usage: page.py SOURCE_FOLDER
"""
import os
import sys
import unittest

import browser
import live

# Whether a pixel of the picture is other than black.
HAS_PICTURE = """
const canvas = document.getElementById('picture');
const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
return data.some((value, i) => i % 4 !== 3 && value > 40)"""


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lacking = live.missing() or browser.missing()
        if lacking:
            raise unittest.SkipTest(f"needs {lacking}")
        cls.live = live.Live(source)
        cls.addClassCleanup(cls.live.stop)
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.quit)

    def setUp(self):
        self.browser.open(self.live.url)
        self.browser.wait("return document.getElementById('stage').dataset.shown > 2")

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])

    def test_scene_plays(self):
        self.assertTrue(self.browser.run(HAS_PICTURE))
        self.browser.wait("return document.querySelectorAll('#objects-layer .box').length >= 2")
        self.browser.wait("return document.getElementById('state').textContent === 'playing'")
        self.browser.wait("return +document.getElementById('fps').textContent >= 20")
        shown = self.browser.run("return +document.getElementById('stage').dataset.shown")
        self.browser.wait(f"return document.getElementById('stage').dataset.shown > {shown} + 10", 3)

    def test_layers_can_be_switched(self):
        self.browser.wait("return document.querySelector('#objects-layer .trail')")
        self.browser.click("#layers input[value=boxes]")
        self.browser.click("#layers input[value=trails]")
        self.browser.wait("return !document.querySelector('#objects-layer .box, #objects-layer .trail')")
        self.browser.click("#layers input[value=outlines]")
        self.browser.wait("return document.querySelector('#objects-layer .outline')")

    def test_views(self):
        for view in "mask", "background", "video":
            with self.subTest(view=view):
                self.browser.click(f"#views input[value={view}]")
                self.browser.wait(f"return document.getElementById('stage').dataset.view === '{view}'")
                self.browser.wait(HAS_PICTURE)


if __name__ == "__main__":
    source = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
