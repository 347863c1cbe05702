# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python of docs/python.md runs, and prints what its comments say."""
import contextlib
import io
import pathlib
import re
import sys
import unittest

TEXT = (pathlib.Path(sys.argv[1]) / "docs/python.md").read_text("utf-8")

import module  # noqa: E402,F401 # pylint: disable=wrong-import-position,unused-import


class Documents(unittest.TestCase):
    def test_blocks(self):
        names, output = {}, io.StringIO()
        blocks = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
        self.assertGreaterEqual(len(blocks), 2)
        with contextlib.redirect_stdout(output):
            for block in blocks:
                exec(compile(block, "docs/python.md", "exec"), names)  # pylint: disable=exec-used
        expected = re.findall(r"print\(.*\) +# (.*)", TEXT)
        self.assertEqual(output.getvalue().splitlines(), expected)


if __name__ == "__main__":
    unittest.main(verbosity=2)
