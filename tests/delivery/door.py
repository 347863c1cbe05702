# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""A proxy in front of a broker: what the proxies of all protocols share."""

import socket
import threading


def read_exactly(end, size):
    data = b""
    while len(data) < size:
        part = end.recv(size - len(data))
        if not part:
            raise OSError("closed")
        data += part
    return data


class Door:
    """Calls serve(client) in a thread of its own for each client."""

    def __init__(self, address):
        self.listener = socket.create_server((address, 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.listener.accept()[0]
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        raise NotImplementedError
