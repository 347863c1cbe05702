# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Masks of the user as files that checkccl reads."""
import os
import pathlib
import re
import struct
import sys
import zlib


def unfiltered(kind, row, above, step):
    """One row of a PNG: each byte was stored as its difference to a guess."""
    if kind == 1:
        for i in range(step, len(row)):
            row[i] = (row[i] + row[i - step]) & 255
    elif kind == 2:
        for i in range(len(row)):
            row[i] = (row[i] + above[i]) & 255
    elif kind == 3:
        for i in range(len(row)):
            row[i] = (row[i] + (((row[i - step] if i >= step else 0) + above[i]) >> 1)) & 255
    elif kind == 4:
        for i in range(len(row)):
            a, b, c = (row[i - step], above[i], above[i - step]) if i >= step else (0, above[i], 0)
            p = a + b - c
            pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
            row[i] = (row[i] + (a if pa <= pb and pa <= pc else b if pb <= pc else c)) & 255
    return row


def png_mask(data):
    """(width, height, bytes 0 or 1): set is every pixel that is not 0 in all of its colours, or has an index but 0."""
    if data[:8] != b'\x89PNG\r\n\x1a\n':
        raise ValueError('not a PNG file')
    at, packed, header = 8, b'', None
    while at + 8 <= len(data):
        length, name = struct.unpack('>I4s', data[at:at + 8])
        chunk = data[at + 8:at + 8 + length]
        if name == b'IHDR':
            header = struct.unpack('>IIBBBBB', chunk)
        elif name == b'IDAT':
            packed += chunk
        at += 12 + length
    if not header:
        raise ValueError('a PNG file without a header')
    width, height, depth, colour, _, _, interlaced = header
    if interlaced:
        raise ValueError('an interlaced PNG; save it without')
    colours, alpha = {0: (1, 0), 2: (3, 0), 3: (1, 0), 4: (1, 1), 6: (3, 1)}[colour]
    bits = depth * (colours + alpha)
    stride, step = (width * bits + 7) // 8, max(1, bits // 8)
    raw, above, out = zlib.decompress(packed), bytearray(stride), bytearray()
    for y in range(height):
        start = y * (stride + 1)
        above = unfiltered(raw[start], bytearray(raw[start + 1:start + 1 + stride]), above, step)
        if depth < 8:
            ones = (1 << depth) - 1
            out += bytes(above[i * depth >> 3] >> (8 - depth - (i * depth & 7)) & ones != 0 for i in range(width))
        elif step == 1:
            out += above.translate(bytes([0] + [1] * 255))
        else:
            used = step * colours // (colours + alpha)
            out += bytes(1 if any(above[i * step:i * step + used]) else 0 for i in range(width))
    return width, height, bytes(out)


def folder_for_checkccl(folder, into):
    """The masks below `folder` as checkccl reads them, in one folder; how many."""
    n = 0
    for path in sorted(pathlib.Path(folder).rglob('*')):
        name = re.sub(r'[^\w.-]', '_', str(path.relative_to(folder)))[-60:]
        if path.suffix.lower() in ('.pbm', '.pgm'):
            os.symlink(path.resolve(), into / f'{n:06}-{pathlib.Path(name).stem}{path.suffix.lower()}')
        elif path.suffix.lower() == '.png':
            try:
                width, height, pixels = png_mask(path.read_bytes())
            except (ValueError, KeyError, TypeError, IndexError, zlib.error) as error:
                print(f'{path}: left out: {error}', file=sys.stderr)
                continue
            (into / f'{n:06}-{pathlib.Path(name).stem}.pgm').write_bytes(b'P5\n%d %d\n1\n' % (width, height) + pixels)
        else:
            continue
        n += 1
    return n
