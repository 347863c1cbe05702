# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Masks of other libraries: DLPack in host memory, and on a CUDA device where there is one, with CuPy or PyTorch."""
import unittest

from module import cuda_works, gstccl, np

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None

MASK = np.random.default_rng(3).random((300, 500)) < 0.3


class HostDlpack:
    """Has __dlpack__() and nothing else."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Host(unittest.TestCase):
    def test_dlpack(self):
        mask = MASK.astype(np.uint8)
        np.testing.assert_array_equal(gstccl.analyze(HostDlpack(mask)).blobs, gstccl.analyze(mask).blobs)

    @unittest.skipUnless(torch, "needs PyTorch")
    def test_torch(self):
        np.testing.assert_array_equal(gstccl.analyze(torch.from_numpy(MASK)).blobs, gstccl.analyze(MASK).blobs)


@unittest.skipUnless(cuda_works(), "needs a build with CUDA and a device")
class Cuda(unittest.TestCase):
    def check(self, mask, **options):
        expected = gstccl.analyze(MASK, labels=True)
        table = gstccl.analyze(mask, labels=True, **options)
        np.testing.assert_array_equal(table.blobs, expected.blobs)
        np.testing.assert_array_equal(table.labels, expected.labels)

    def test_numpy(self):
        self.check(MASK, device="cuda")

    def test_label_map(self):
        for dtype in np.uint8, np.uint16:
            label_map = (np.random.default_rng(5).random((120, 201)) * 4).astype(dtype)
            settings = {"labels": True, "foreground": "equal", "background": 2, "features": "holes"}
            expected = gstccl.analyze(label_map, **settings)
            table = gstccl.analyze(label_map, **settings, device="cuda")
            self.assertGreater(len(expected.holes), 0)
            np.testing.assert_array_equal(table.holes, expected.holes)
            np.testing.assert_array_equal(table.blobs, expected.blobs)
            np.testing.assert_array_equal(table.labels, expected.labels)

    @unittest.skipUnless(torch, "needs PyTorch")
    def test_torch(self):
        mask = torch.from_numpy(MASK).cuda()
        self.check(mask)
        self.check(mask.to(torch.uint8))
        wide = torch.zeros((300, 600), dtype=torch.bool, device="cuda")
        wide[:, 50:550] = mask
        self.check(wide[:, 50:550])

    @unittest.skipUnless(torch, "needs PyTorch")
    def test_stream(self):
        """A mask that another stream is still writing when analyze() is called."""
        stream = torch.cuda.Stream()
        source = torch.from_numpy(MASK).cuda()
        torch.cuda.synchronize()
        for _ in range(20):
            with torch.cuda.stream(stream):
                mask = torch.zeros_like(source)
                torch.cuda._sleep(3000000)
                mask |= source
                self.check(mask)

    @unittest.skipUnless(cupy, "needs CuPy")
    def test_cupy(self):
        self.check(cupy.asarray(MASK))

    @unittest.skipUnless(torch, "needs PyTorch")
    def test_interface(self):
        class Interface:
            def __init__(self, tensor):
                self.tensor, self.shape = tensor, tuple(tensor.shape)
                self.__cuda_array_interface__ = tensor.__cuda_array_interface__

        tensor = torch.from_numpy(MASK).cuda().to(torch.uint8)
        torch.cuda.synchronize()
        self.check(Interface(tensor))

    def check_picture(self, mask, picture):
        host = (np.arange(300 * 500) % 251).astype(np.uint8).reshape(300, 500)
        expected = gstccl.analyze(MASK, features="intensity", picture=host, filter="intensity-max > 100")
        table = gstccl.analyze(mask, features="intensity", picture=picture(host), filter="intensity-max > 100", device="cuda")
        np.testing.assert_array_equal(table.blobs, expected.blobs)

    def test_picture(self):
        self.check_picture(MASK, np.array)

    @unittest.skipUnless(torch, "needs PyTorch")
    def test_picture_of_torch(self):
        mask = torch.from_numpy(MASK).cuda()
        self.check_picture(mask, np.array)
        self.check_picture(MASK, lambda picture: torch.from_numpy(picture).cuda())
        self.check_picture(mask, lambda picture: torch.from_numpy(picture).cuda())

    @unittest.skipUnless(torch, "needs PyTorch")
    def test_wrong(self):
        mask = torch.from_numpy(MASK).cuda()
        with self.assertRaisesRegex(ValueError, "host memory"):
            gstccl.analyze(mask, contours=True)
        with self.assertRaisesRegex(TypeError, "bool, uint8"):
            gstccl.analyze(mask.float())
        with self.assertRaisesRegex(ValueError, "side by side"):
            gstccl.analyze(mask.t())


if __name__ == "__main__":
    unittest.main(verbosity=2)
