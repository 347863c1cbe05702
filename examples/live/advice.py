# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What to do about an error, in one sentence for the page."""
from gstreamer import Gst

UNKNOWN = "Internal data stream error."  # what a source says after its first message, which may be lost
NO_HANDLER = "Nothing here reads such an address: check how it begins, or run examples/install.sh videos."
MISSING = "A decoder is missing: run examples/install.sh videos."
NO_FRAMES = "Check that the camera is on and that the network reaches it."
ENDED = "The sender closed it; the page goes on when it returns."


def text_of(error, source):
    """What happened. Sources of a network say only that a resource cannot be opened."""
    codes = Gst.ResourceError.OPEN_READ, Gst.ResourceError.OPEN_READ_WRITE
    is_closed = source.is_live() and any(error.matches(Gst.ResourceError.quark(), code) for code in codes)
    return f"Nothing came from {source.name}." if is_closed or error.message == UNKNOWN else error.message


def of(error, details, source):
    details = details or ""
    if "URI handler" in error.message:
        return NO_HANDLER
    if error.matches(Gst.CoreError.quark(), Gst.CoreError.MISSING_PLUGIN) or "missing" in error.message.lower():
        return MISSING
    if error.matches(Gst.ResourceError.quark(), Gst.ResourceError.NOT_AUTHORIZED) or "Unauthorized" in error.message:
        return "The camera wants a user and a password: rtsp://USER:PASSWORD@ADDRESS."
    if any(word in (error.message + details).lower() for word in ("cuda", "gpu")):
        return "Set the property backend to auto or cpu: the camera then goes on without the GPU."
    if error.matches(Gst.ResourceError.quark(), Gst.ResourceError.NO_SPACE_LEFT):
        return "Memory is short: end other programs, or watch fewer cameras."
    if error.matches(Gst.ResourceError.quark(), Gst.ResourceError.NOT_FOUND):
        return "There is no such file, device or stream: check its name."
    return NO_FRAMES if source.is_live() else "Check that the file is complete and that it is a video."


def of_start(error):
    """(text, advice) of a chain that cannot be built."""
    text = getattr(error, "message", str(error))
    return text, "An element is missing: run examples/install.sh run videos." if "no element" in text else ""
