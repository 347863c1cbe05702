# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Wrong uses of gstccl: each raises an exception whose text is a sentence that names what is wrong."""
import unittest

from module import gstccl, np

GOOD = np.zeros((4, 6), np.uint8)


class Interface:
    """An object with a made-up __cuda_array_interface__."""

    def __init__(self, **changes):
        self.__cuda_array_interface__ = {"shape": (4, 6), "typestr": "|u1", "data": (4096, True), "version": 3, **changes}
        self.shape = self.__cuda_array_interface__["shape"]


def closed():
    context = gstccl.Context(6, 4)
    context.close()
    context.close()  # twice is no error
    return context


# what is wrong: (exception, part of its text, call)
WRONG = {
    "dtype float": (TypeError, "bool, uint8 or uint16", lambda: gstccl.analyze(GOOD.astype(float))),
    "dtype int64": (TypeError, "pass mask != 0", lambda: gstccl.analyze(GOOD.astype(np.int64))),
    "dtype of a map": (TypeError, "map.astype(numpy.uint16)",
                       lambda: gstccl.analyze(GOOD.astype(np.int32), foreground="equal")),
    "dtype of maps": (TypeError, "map.astype(numpy.uint16)",
                      lambda: gstccl.analyze_volume([GOOD.astype(np.int32)], foreground="equal")),
    "dtype of a picture": (TypeError, "the picture must be bool, uint8 or uint16",
                           lambda: gstccl.analyze(GOOD, features="intensity", picture=GOOD.astype(np.float32))),
    "picture is a list": (TypeError, "the picture must be an array",
                          lambda: gstccl.analyze(GOOD, features="intensity", picture=[[1]])),
    "dtype int8": (TypeError, "bool, uint8 or uint16", lambda: gstccl.analyze(GOOD.astype(np.int8))),
    "byte order": (TypeError, "native byte order", lambda: gstccl.analyze(GOOD.astype(">u2"))),
    "list": (TypeError, "list", lambda: gstccl.analyze([[0, 1], [1, 0]])),
    "None": (TypeError, "NoneType", lambda: gstccl.analyze(None)),
    "one dimension": (ValueError, "2 dimensions", lambda: gstccl.analyze(GOOD[0])),
    "three dimensions": (ValueError, "2 dimensions", lambda: gstccl.analyze(GOOD[None])),
    "no pixels": (ValueError, "at least 1", lambda: gstccl.analyze(GOOD[:0])),
    "too large": (ValueError, "16384", lambda: gstccl.analyze(np.zeros((1, 16385), bool))),
    "column order": (ValueError, "side by side", lambda: gstccl.analyze(np.asfortranarray(GOOD))),
    "mirrored": (ValueError, "side by side", lambda: gstccl.analyze(GOOD[:, ::-1])),
    "upside down": (ValueError, "downwards", lambda: gstccl.analyze(GOOD[::-1])),
    "masked array": (TypeError, "masked", lambda: gstccl.analyze(np.ma.masked_array(GOOD, GOOD))),
    "connectivity": (ValueError, "6", lambda: gstccl.analyze(GOOD, connectivity=6)),
    "feature": (ValueError, "no such feature: 'colour'", lambda: gstccl.analyze(GOOD, features=["colour"])),
    "device": (ValueError, "'gpu'", lambda: gstccl.analyze(GOOD, device="gpu")),
    "algorithm": (gstccl.UnsupportedError, "magic", lambda: gstccl.analyze(GOOD, algorithm="magic")),
    "keyword": (TypeError, "colour", lambda: gstccl.analyze(GOOD, colour=1)),
    "threshold": (ValueError, "threshold", lambda: gstccl.analyze(GOOD, threshold=-1)),
    "min_area": (TypeError, "min_area must be a whole number: it is 1.5", lambda: gstccl.analyze(GOOD, min_area=1.5)),
    "border": (ValueError, "'cut'", lambda: gstccl.analyze(GOOD, border="cut")),
    "tolerance": (ValueError, "tolerance", lambda: gstccl.analyze(GOOD, contours=-1)),
    "max_blobs": (ValueError, "1048576", lambda: gstccl.analyze(GOOD, max_blobs=2000000)),
    "label dtype": (TypeError, "uint32", lambda: gstccl.analyze(GOOD, labels=GOOD)),
    "label shape": (ValueError, "(6, 4)", lambda: gstccl.analyze(GOOD, labels=np.zeros((6, 4), np.uint32))),
    "label read-only": (TypeError, "writable", lambda: gstccl.analyze(GOOD, labels=np.broadcast_to(np.uint32(0), (4, 6)))),
    "labels not announced": (ValueError, "label", lambda: gstccl.Context(6, 4).analyze(GOOD, labels=True)),
    "larger than context": (ValueError, "6", lambda: gstccl.Context(5, 4).analyze(GOOD)),
    "closed context": (ValueError, "closed", lambda: closed().analyze(GOOD)),
    "size of context": (ValueError, "0x4", lambda: gstccl.Context(0, 4)),
    "interface dtype": (TypeError, "'<f4'", lambda: gstccl.analyze(Interface(typestr="<f4"), device="cpu")),
    "interface shape": (ValueError, "2 dimensions", lambda: gstccl.analyze(Interface(shape=(4, 6, 3)), device="cpu")),
    "holes by 6": (ValueError, "6", lambda: gstccl.fill_holes(GOOD, connectivity=6)),
    "tracker's method": (ValueError, "'optical'", lambda: gstccl.Tracker(method="optical")),
    "tracker's tracks": (ValueError, "65536", lambda: gstccl.Tracker(max_tracks=0)),
    "tracker's table": (TypeError, "list", lambda: gstccl.Tracker().update([[1, 2, 3, 4]])),
    "tracker's frames": (ValueError, "nan", lambda: gstccl.Tracker().update(gstccl.analyze(GOOD), float("nan"))),
    "tracker's boxes": (ValueError, "(2, 3)", lambda: gstccl.Tracker(boxes=True).update(np.zeros((2, 3)))),
    "tracker's class": (ValueError, "class", lambda: gstccl.Tracker(boxes=True).update([[1, 2, 3, 4, 1, -1]])),
    "device mask on the CPU": (ValueError, "CUDA", lambda: gstccl.analyze(Interface(), device="cpu")),
}


class Errors(unittest.TestCase):
    def test_wrong_uses(self):
        self.assertGreaterEqual(len(WRONG), 20)
        for what, (kind, part, call) in WRONG.items():
            with self.subTest(what=what):
                with self.assertRaises(kind) as raised:
                    call()
                self.assertIn(part, str(raised.exception))
                self.assertGreater(len(str(raised.exception).split()), 3, "a sentence")

    @unittest.skipIf(gstccl.HAS_CUDA, "built with CUDA")
    def test_without_cuda(self):
        with self.assertRaisesRegex(gstccl.UnsupportedError, "CUDA"):
            gstccl.analyze(GOOD, device="cuda")

    def test_hierarchy(self):
        for kind in (gstccl.UnsupportedError, gstccl.NoDeviceError, gstccl.DeviceError):
            self.assertTrue(issubclass(kind, gstccl.Error))


if __name__ == "__main__":
    unittest.main(verbosity=2)
