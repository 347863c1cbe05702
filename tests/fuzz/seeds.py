# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the seeds of the corpus: small inputs that reach most of a target. Inputs that showed a fault stay beside them.

usage: seeds.py [--check] [CORPUS_FOLDER]     --check writes nothing, and names the seeds of which the corpus has no such file
"""
import pathlib
import struct
import sys
import zlib

TEXTS = {
    "address": [
        "mqtt://localhost", "mqtts://broker.example.org:8884/", "MQTT://[::1]:1883", "mqtt://host:0", "mqtt://host:65536",
        "mqtt://host/path", "mqtt://host?password=pass_word", "mqtt://host#pass_word", "user:pass_word@host",
        "mqtt:user:pass_word@host", "mqtt://host:pass_word", "mqtt://user:pass_word@host", "pass_word", "", "http://host",
    ],
    "filter": [
        "area >= 50 and circularity > 0.6 and not touches-border or area > 5000", "", " \t\n", "area>5", "1e3 <= area",
        "width != height or (x == 0 and not (y < 1))", "not not not true", 70 * "(" + "true" + 70 * ")", "true or " * 300,
        "axis_minor_length < axis-major-length", "area > 1e999", "area > 0x10", "aera > 5", "1 < area < 5", "touches-left == 1",
        "n_holes == 0 and compactness<1.5", "\u00e4rea > 5", "area = 5", "area > -.5e-3 and euler-number>+1",
    ],
    "ignore": [
        "0,0;1,0;1,1", "0,0;640,0;640,480;0,480|10.5,10; 20,10 ;15,30", "0,0;1,0", "0,0;1", "1e308,-1e308;1e308,0;0,1e308", "",
        "nan,0;1,1;2,2", "-5,-5;100,-5;100,100;-5,100", "0.1,0.1;0.9,0.1;0.9,0.9|",
    ],
    "tags": [
        '{}', '{"site":"A"}', '{"a":{"b":[1,2.5,-3e8,true,null,"x\\u00e4\\ud83d\\ude00"]},"ä":""}', '[1]', '{"a":1} x',
        '{"a":"\\u0000"}', '{"a":"\\ud800"}', '{"a":01}', '{"a":1e999}', '{"a":99999999999999999999}', '{"a":',
        "{'a':1}", '{"a":1 /* b */}', '{"a":' + 101 * "[" + 101 * "]" + "}", '{"a":"b\\nc"}', '{"a":0.1,"a":-0.0}',
    ],
    "topic": [
        'blobs\0{"source":"cam1"}', 'cams/{source-id}/blobs\0{"source":"a/b+c#d","blobs":[]}',
        '{source-id}{source-id}\0{"source":""}', '{source-id}\0' + 300 * "[", '{source-id}\0{"source":1}',
        '{source-id}\0not JSON', '{source-id}\0{"source":"\\u002f\\u00e4"}', '{source-id}\0{"source":["x"]}',
        b"{source-id}\0\xa3\x61a\x82\xf6\xa1\x61b\x19\1\0\x61c\xfb\1\2\3\4\5\6\7\x08\x66source\x65a/b+c",
        b"{source-id}\0\xa2\x61a\x9b\xff\xff\xff\xff\xff\xff\xff\xff", b"{source-id}\0\xa1\x66source\x79\0\3cam",
    ],
    "zones": [
        '{"zones":[]}',
        '{"units":"relative","zones":[{"name":"door","polygon":[[0,0],[0.5,0],[0.5,1]],"min_area":3,"dwell":1.5}]}',
        '{"zones":[{"name":"a","line":[[0,0],[16,8]]},{"name":"b","polygon":[[0,0],[9,0],[9,9],[0,9]]}]}',
        '{"zones":[{"name":"a","polygon":[[0,0],[9,9],[9,0],[0,9]]}]}', '{"zones":[{"name":"a","line":[[1,1],[1,1]]}]}',
        '{"zones":[{"name":"a","line":[[1,1],[1,5]]},{"name":"a","line":[[1,1],[1,5]]}]}', '{"units":"feet","zones":[]}',
        '{"zones":[{"name":"","line":[[1,1],[1,5]]}]}', '{"zones":[{"name":"a","dwell":1,"line":[[1,1],[1,5]]}]}',
        '{"zones":[{"name":"a","line":[[1e308,-1e308],[1e300,5]]}]}', '{"zones":[{"name":"a","polygon":"x"}]}', '{"zone":[]}',
        '{"zones":[{"name":"a","name":"b","line":[[1,1],[1,5]]}]}',
    ],
}


def flat(version=1, n_blobs=1, name=b"label0", matrix=(1, 0, 0, 0, 1, 0, 0, 0, 1), points=((1, 2), (3, 4)), columns=b""):
    """Two points a blob."""
    form = struct.pack("<4s11I9d", b"CCLB", version, 0, 32, 24, 64, 48, n_blobs, n_blobs, 8, n_blobs, len(name), *matrix)
    for label in range(1, n_blobs + 1):
        form += struct.pack("<2I4i2I8Q", label, 4, 3, 5, 6, 2, 3, 7, 12, 66, 66, 398, 363, 366, 5000000001, 0)
        form += struct.pack("<Q", label) if version >= 3 else b""
    form += name
    if version >= 2:
        form += n_blobs * struct.pack("<I", 1 | 1 << 16)
        form += n_blobs * b"".join(struct.pack("<2f", *point) for point in points)
    form += columns
    return form + struct.pack("<I", zlib.crc32(form))


def column(bits, entries, size=8, n=1):
    """Version 8: a mask of columns, and the first one."""
    return struct.pack("<3I", bits, n, size) + entries


CLASS_ID = struct.pack("<2I", 1, 7)

FLAT = [
    b"", b"\1", b"\0" + flat(), b"\1" + flat(n_blobs=3), b"\1" + flat(2, 2), b"\1" + flat(3, 2), b"\0" + flat(2, 2)[:-9],
    b"\1" + flat(n_blobs=0, name=b""), b"\1" + flat(matrix=(2, 0, 5, 0, -2, 9, 1e-3, 0, 1)), b"\1" + flat(4),
    b"\1" + flat(matrix=(0, 0, 0, 0, 0, 0, 0, 0, 0)), b"\1" + flat(2, points=((float("nan"), 0), (1, 1))),
    b"\1" + flat(name=b"\xff"), b"\0" + flat()[:-1] + b"\0",
    b"\1" + flat(8, columns=column(16, CLASS_ID)), b"\1" + flat(8, columns=column(32, CLASS_ID)),
    b"\1" + flat(8, columns=column(16, 2 * CLASS_ID, 16)), b"\1" + flat(8, columns=column(16, CLASS_ID, 0xFFFFFFFF)),
    b"\1" + flat(8, columns=column(16 | 1 << 31, CLASS_ID + struct.pack("<2I", 4, 8) + 4 * CLASS_ID)),
    b"\1" + flat(8, columns=column(8, struct.pack("<8I", 1, 1, 1, 3, 5, 2, 1, 3), 32)), b"\1" + flat(8, columns=b"\0" * 4),
    b"\1" + flat(8, columns=column(8 | 16, struct.pack("<8I", 1, 0, 2, 3, 5, 2, 1, 3) + struct.pack("<2I", 1, 8) + CLASS_ID, 32)),
]


def background(mends, pixel=(25600, 65535, 512, 0, 9, 9, 40000, 7), sample=(32768, 32768, 0, 0, 65535, 256), width=19, cut=0):
    """A file of 19x13 pixels for background.c, which mends the header (2) or the checksum (1)."""
    form = struct.pack("<8s10I", b"CCLBG\r\n\x1a", 1, 1, width, 13, 1, 32, 8192, 40, 0, 0)
    form += 247 * struct.pack("<7HB", *pixel) + 70 * struct.pack("<6H", *sample) + bytes(8)
    return bytes([mends]) + form[:len(form) - cut]


BACKGROUNDS = [
    b"", b"\0", background(0), background(1), background(2), background(1, cut=5), background(1, width=20),
    background(1, width=2**32 - 1),
    background(1, pixel=(0, 21845, 5120, 10240, 65535, 0, 65535, 255)), background(1, sample=(65535, 0, 0, 65535, 32768, 5120)),
    background(1, pixel=(0, 21844, 0, 0, 0, 0, 0, 0)), background(1, sample=(0, 0, 0, 0, 32767, 0)), b"\2" + 300 * b"\xff\0",
]


def frames(line, video_format, steps):
    """A line of elements, 16x12 pixels of a format at 25 frames a second, and the steps behind."""
    return bytes([line, video_format, 16, 12, 25, 0, 0, 0]) + b"".join(steps)


# Step, size as in the caps, one memory (two bytes), pixels, a video meta (then its change), times as they come.
PLAIN = bytes([0, 0, 0, 0, 255, 3, 0, 4, 40, 4, 40, 0])
WITH_META = bytes([0, 0, 0, 0, 255, 3, 1, 0, 7, 4, 40, 4, 40, 0])
WRONG_META = [bytes([0, 0, 0, 0, 255, 3, 1, 0, change, 0, 7, 4, 40, 4, 40, 0]) for change in range(7)]
TOO_SHORT = bytes([0, 5, 0, 0, 255, 3, 0, 4, 40, 4, 40, 0])
NEW_CAPS = bytes([7, 1, 20, 10, 25, 0, 0, 0])
FLUSH = bytes([6, 0, 1])
N_LINES = 15

FRAMES = [frames(line, 0 if line % 2 else 2, [PLAIN, WITH_META, PLAIN]) for line in range(N_LINES)]
FRAMES += [frames(line, 0, [PLAIN, *WRONG_META, TOO_SHORT, NEW_CAPS, PLAIN, FLUSH, PLAIN]) for line in range(N_LINES)]
# The second plane of I420 and NV12, with a stride or an offset far beyond the buffer, in an overlay.
WRONG_PLANE = [bytes([0, 0, 0, 0, 255, 3, 1, 1, change, 2, 0, 16, 0, 0, 4, 40, 4, 40, 0]) for change in (2, 3)]
FRAMES += [frames(line, video_format, [PLAIN, *WRONG_PLANE, PLAIN]) for line in (12, 14) for video_format in (1, 2, 4)]

# Tracks from downstream: the size of their frame and two boxes, or too many; line 5 begins with cclmotion.
TRACKS = [bytes([6, 255, 4, 16, 4, 12, 0, n]) + 130 * bytes([0, 4, 2, 4, 3, 4, 9, 4, 9]) for n in (2, 7)]
FRAMES += [frames(line, 0, [PLAIN, step, PLAIN, PLAIN]) for line in (5, 6, 7) for step in TRACKS]

# A region, blobs with points, a mask, zones, a crop: each adder with small numbers.
REGION = bytes([0, 1, 4, 5, 4, 6, 4, 20, 4, 20, 4, 1, 4, 0, 1, 0, 0, 1, 2, 32, 0])
BLOB = b"".join(bytes([4, value]) for value in (1, 0, 5, 5, 10, 10, 100, 66, 66, 98, 63, 66, 7, 0, 0, 1, 3))
BLOBS = bytes([1, 1]) + BLOB + bytes([1, 3, 1]) + 4 * bytes([2, 64, 1, 2, 0, 2]) + bytes([0, 4, 1, 4, 64, 4, 48, 4, 64, 0])
MASK = bytes([2, 31, 23, 200, 100, 0, 0, 0, 0, 0, 0])
ZONES = bytes([3, 4, 1]) + b"z" + 8 * bytes([2, 32, 0]) + 2 * bytes([1, 2, 4, 1, 4, 2])
CROP = bytes([4, 0, 4, 3, 4, 20])
# Segmentations of 32x24 pixels: format, size, place in the frame, white bytes, then changes of the video meta.
SEGMENTS = [bytes([5, pixels, 31, 23, 4, x, 4, 4, 4, 40, 4, 30, 100, 50]) for pixels in (0, 1, 2) for x in (0, 5)]
KEPT = bytes(5)
CHANGED = [bytes([3, 4, 8]) + bytes(4), bytes([0, 3, 2, 255, 255]) + bytes(5), bytes([0, 0, 3, 4, 90, 0, 0]),
           bytes([0, 0, 0, 3, 4, 90, 0]), bytes([0, 0, 0, 0, 7])]
N_CHAINS = 10

METAS = [bytes([chain]) + 3 * (bytes([0, 3]) + REGION + BLOBS + ZONES + b"\0") for chain in range(N_CHAINS)]
METAS += [bytes([chain]) + 3 * (bytes([0, 3]) + MASK + REGION + CROP + b"\0") for chain in range(N_CHAINS)]
METAS += [bytes([chain, 0, 1]) + SEGMENTS[i] + KEPT + bytes([0, 0, 2]) + SEGMENTS[i] + KEPT + SEGMENTS[0] + KEPT + b"\0"
          for chain in (8, 9) for i in range(6)]
METAS += [bytes([chain, 0, 1]) + SEGMENTS[i] + change + b"\0" for chain in (8, 9) for i in (0, 2) for change in CHANGED]


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    is_check = len(arguments) < len(sys.argv) - 1
    top = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent / "corpus")
    inputs = {target: [text if isinstance(text, bytes) else text.encode() for text in texts] for target, texts in TEXTS.items()}
    inputs |= {"background": BACKGROUNDS, "flat": FLAT, "frames": FRAMES, "metas": METAS}
    files = {top / target / f"seed-{number:02}": seed for target, seeds in inputs.items() for number, seed in enumerate(seeds)}
    if is_check:
        old = [str(file.relative_to(top)) for file, seed in files.items() if not file.exists() or file.read_bytes() != seed]
        sys.exit(f"run tests/fuzz/seeds.py and commit: {', '.join(old)}" if old else 0)
    for file, seed in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(seed)


if __name__ == "__main__":
    main()
