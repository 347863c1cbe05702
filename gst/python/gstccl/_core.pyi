# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
from typing import Any

HAS_CUDA: int
MAX_COMPONENTS: int

class Error(RuntimeError):
    """Base class of this module's own exceptions."""

class UnsupportedError(Error):
    """The method or this build cannot do what was asked."""

class NoDeviceError(Error):
    """There is no such CUDA device, or no driver."""

class DeviceError(Error):
    """A CUDA call failed: make a new context."""

class Context:
    def __new__(cls, width: int, height: int, connectivity: int, max_blobs: int, device: int, algorithm: str | None,
                threads: int, labels: bool, shape: bool, filter: str, sort: str, /) -> Context: ...
    def run(self, mask: Any, labels: Any, threshold: int, invert: bool, filter: tuple[int, ...], columns: int, epsilon: float,
            /) -> tuple[bytearray, int, int, list[bytearray] | None]: ...
    def close(self) -> None: ...
    def algorithm(self) -> str: ...

def algorithms() -> list[tuple[str, str, str, int]]: ...
