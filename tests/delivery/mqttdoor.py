# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""In front of a broker of MQTT 5, which never says that it is full: this says so in its place, for a time."""

import re
import socket
import threading

from door import Door, read_exactly

PUBLISH, PUBACK, PUBREC = 3, 4, 5
QUOTA_EXCEEDED = 0x97


def read_packet(end):
    """The header with the length, and the rest."""
    header, size, shift = read_exactly(end, 1), 0, 0
    while shift == 0 or header[-1] & 0x80:
        header += read_exactly(end, 1)
        size |= (header[-1] & 0x7F) << shift
        shift += 7
    return header, read_exactly(end, size)


class MqttDoor(Door):
    def __init__(self, address, broker):
        self.broker = broker
        self.is_full = False
        self.refused = set()    # (source, number)
        super().__init__(address)

    def serve(self, client):
        try:
            broker = socket.create_connection(self.broker, 2)
            broker.settimeout(None)
        except OSError:
            client.close()
            return
        lock = threading.Lock()     # of what goes to the client
        for function, source in ((self.serve_client, client), (self.serve_broker, broker)):
            threading.Thread(target=self.pass_on, args=(function, source, client, broker, lock), daemon=True).start()

    @staticmethod
    def pass_on(function, source, client, broker, lock):
        try:
            while True:
                function(*read_packet(source), client, broker, lock)
        except OSError:
            for end in (client, broker):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            source.close()

    def serve_client(self, header, rest, client, broker, lock):
        qos = header[0] >> 1 & 3
        if not self.is_full or header[0] >> 4 != PUBLISH or not qos:
            broker.sendall(header + rest)
            return
        end = 2 + int.from_bytes(rest[:2], "big")
        match = re.fullmatch(rb"t/s(\d+)-(\d+)", rest[2:end])
        self.refused.add((int(match[1]), int(match[2])))
        with lock:
            client.sendall(bytes([(PUBACK if qos == 1 else PUBREC) << 4, 3]) + rest[end:end + 2] + bytes([QUOTA_EXCEEDED]))

    @staticmethod
    def serve_broker(header, rest, client, _broker, lock):
        with lock:
            client.sendall(header + rest)
