# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The GStreamer chain of a camera as text: for Gst.parse_launch(), and to paste behind gst-launch-1.0."""
import pathlib
import re

ELEMENTS = {"motion": "cclmotion", "label": "ccllabel", "track": "ccltrack", "zone": "cclzone"}
# What the page starts with, besides the elements' own defaults.
FIRST_VALUES = {"label": {"mask-source": "mask-meta", "min-rel-area": "0.0005", "contours": "true"}}
# Widths of the pictures for pages, and their frames a second. The smallest is always made: for thumbnails and the wall.
WIDTHS = {320: 10, 640: 30, 1280: 15}
MASK_RATE = 15
NO_ZONES = '{"units":"relative","zones":[]}'
NO_ZONES_WARNING = "There are no zones."  # which cclzone warns of, and everybody begins with
QUEUE = "queue leaky=downstream max-size-bytes=0 max-size-time=0 max-size-buffers"
WAITING = 3  # frames of a live stream before the analysis; older ones are dropped
PAR = "pixel-aspect-ratio=1/1"

SIZE = "video/x-raw,width=640,height=360,framerate=30/1"
# x, y, width, height, colour and direction of each ball; turned and stretched pictures make their ways cross.
BALLS = [(0, -20, 640, 320, "0xffffa030", "identity"), (-60, 100, 760, 300, "0xff50e0ff", "horiz"),
         (120, -40, 420, 440, "0xfff0f0f0", "vert"), (300, 60, 420, 240, "0xff70ff70", "180")]


class Source:
    """Where the frames come from: a file, a URI, a camera, or the made-up scene (no place)."""

    def __init__(self, place):
        self.place = place
        if not place:
            self.kind = "scene"
        elif place.startswith("/dev/video"):
            self.kind = "camera"
        elif re.match(r"[a-z][a-z0-9+.-]*://", place):
            self.kind = "uri"
        else:
            self.kind = "file"

    @property
    def name(self):
        """For people: without the password of an address."""
        if self.kind == "scene":
            return "made-up scene"
        return re.sub(r"//[^/]*@", "//", self.place) if self.kind == "uri" else pathlib.Path(self.place).name

    def is_live(self):
        return self.kind in ("camera", "uri")

    def pace(self, jpeg=False):
        """Lets frames pass when they are due. A film comes as fast as it is read, and one over HTTP looks like a camera, which
        may have been on for hours. A live stream comes by itself, and waits for nobody."""
        newest = f"{QUEUE}={WAITING} name=waiting"
        if self.kind == "uri" and re.match(r"https?://", self.place) and not jpeg:
            return f"clocksync sync-to-first=true ! {newest}"
        return newest if self.is_live() and not self.place.startswith("file://") else "clocksync"

    def words(self, frames=0, jpeg=False):
        """The launch text up to raw video, in words. frames: how many of the scene (0: without end). jpeg: the address gives
        JPEG pictures without end."""
        if self.kind == "scene":
            return scene(frames).split()
        if self.kind == "camera":
            return ["v4l2src", f"device={quoted(self.place)}", "!", "decodebin"]
        if jpeg:
            return ["souphttpsrc", f"location={quoted(self.place)}", "is-live=true", "do-timestamp=true", "!",
                    "multipartdemux", "single-stream=true", "!", "jpegdec"]
        if self.kind == "uri":
            return ["uridecodebin", f"uri={quoted(self.place)}"]
        return ["filesrc", f"location={quoted(str(pathlib.Path(self.place).absolute()))}", "!", "decodebin"]


def scene(frames):
    end = f" num-buffers={frames}" if frames else ""
    pads = ["sink_0::zorder=0"]
    parts = [f"videotestsrc{end} pattern=gradient foreground-color=0xff506070 background-color=0xff283038 ! {SIZE},format=AYUV ! "
             "scene.sink_0"]
    for i, (x, y, width, height, colour, direction) in enumerate(BALLS, 1):
        place = {"zorder": i, "xpos": x, "ypos": y, "width": width, "height": height}
        pads += [f"sink_{i}::{name}={value}" for name, value in place.items()]
        parts.append(f"videotestsrc{end} pattern=ball foreground-color={colour} background-color=0 ! {SIZE},format=AYUV ! "
                     f"videoflip video-direction={direction} ! scene.sink_{i}")
    return f"{' '.join(parts)} compositor name=scene {' '.join(pads)} ! {SIZE}"


def quoted(text):
    """A value for gst_parse_launch()."""
    return text if re.fullmatch(r"[\w./:+@%=,?&-]+", text) else '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def analysis(values):
    """values: {part: {property: text}}."""
    parts = []
    for part, factory in ELEMENTS.items():
        settings = "".join(f" {name}={quoted(text)}" for name, text in values.get(part, {}).items())
        parts.append(f"{factory} name={part}{settings}")
    return " ! ".join(parts)


def live(source, values, jpeg=False):
    """The whole chain of the page. No branch can make the analysis wait: each begins with a leaky queue."""
    text = (f"{' '.join(source.words(jpeg=jpeg))} ! {source.pace(jpeg)} ! videoconvert ! video/x-raw,format=I420 ! "
            f"{analysis(values)} ! tee name=all allow-not-linked=true "
            f"all. ! {QUEUE}=8 ! cclmeta2json trails=true precision=1 ! "
            "appsink name=metadata async=false sync=false drop=true max-buffers=64 emit-signals=true")
    for width in WIDTHS:
        text += (f" all. ! {branch(f'video{width}', width == min(WIDTHS))} ! videoscale ! video/x-raw,width=[1,{width}],{PAR} ! "
                 f"jpegenc quality=80 ! {picture_sink(f'video{width}')}")
    return text + f" all. ! {branch('mask', False)} ! {picture_sink('mask')}"


def branch(key, is_open):
    """The camera opens the valve while a page shows these pictures, and drops frames behind the queue."""
    return f"valve name=valve-{key} drop={str(not is_open).lower()} ! {QUEUE}=1 name=queue-{key}"


def rates():
    """Pictures a second of each branch."""
    return {**{f"video{width}": rate for width, rate in WIDTHS.items()}, "mask": MASK_RATE}


def gray(name):
    """A chain of its own that makes pictures of gray frames."""
    return (f"appsrc name=source format=time is-live=true max-bytes=0 ! videoscale ! "
            f"video/x-raw,width=[1,{max(WIDTHS)}],{PAR} ! jpegenc quality=90 ! {picture_sink(name)}")


def picture_sink(name):
    return f"appsink name={name} async=false sync=false drop=true max-buffers=1 emit-signals=true"
