# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What cclmeta2json writes as CBOR, read."""
import io


class _Stream:
    """Counts the bytes of an item, so that the end of a file differs from an item that is cut off."""

    def __init__(self, file):
        self.file = file
        self.n_read = 0

    def read(self, size):
        data = self.file.read(size)
        self.n_read += len(data)
        return data

    def readable(self):
        return True

    def seekable(self):
        return False


def _decoder(cbor2, stream):
    """A decoder that reads no byte beyond its item: at a pipe it would wait for the next one."""
    try:
        return cbor2.CBORDecoder(stream, read_size=1)
    except TypeError:  # before version 5.8
        return cbor2.CBORDecoder(stream)


def _items(cbor2, stream):
    decoder = _decoder(cbor2, stream)
    while True:
        stream.n_read = 0
        try:
            item = decoder.decode()
        except cbor2.CBORDecodeEOF as error:
            if stream.n_read == 0:
                return
            raise EOFError("The last item is cut off.") from error
        yield item


def read_cbor(source):
    """Yields the items of a CBOR sequence (RFC 8742): a dict for each frame or event. It equals that of json.loads() for the
    line of JSON.

    `source` is an object of bytes, such as the payload of a message, or a file opened for reading bytes. After all complete
    items, one that is cut off raises EOFError. The package cbor2 decodes.
    """
    try:
        import cbor2
    except ImportError as error:
        raise ImportError("read_cbor() needs the package cbor2: pip install cbor2, or Debian's python3-cbor2.") from error
    return _items(cbor2, _Stream(source if hasattr(source, "read") else io.BytesIO(source)))
