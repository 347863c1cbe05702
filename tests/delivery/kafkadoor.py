# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""TLS and SASL/PLAIN in front of a broker of librdkafka's mock cluster, which has neither.

It answers the requests of the login itself, passes on the others, and puts its own address in the place of the broker's."""

import socket
import ssl
import struct

from door import Door, read_exactly

API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE = 18, 17, 36
UNSUPPORTED_VERSION, AUTHENTICATION_FAILED = 35, 58


def read_frame(end):
    return read_exactly(end, struct.unpack(">i", read_exactly(end, 4))[0])


def send_frame(end, data):
    end.sendall(struct.pack(">i", len(data)) + data)


def text(value):
    return struct.pack(">h", len(value)) + value.encode()


class KafkaDoor(Door):
    """Lets in whoever knows the password."""

    def __init__(self, broker_port, certificate, key, login):
        self.broker_port = broker_port
        self.login = login
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        super().__init__("127.0.0.1")

    def serve(self, client):
        try:
            client = self.context.wrap_socket(client, server_side=True)
            with socket.create_connection(("127.0.0.1", self.broker_port)) as broker:
                is_inside = False
                while True:
                    request = read_frame(client)
                    answer = None if is_inside else self.take_login(request)
                    if answer is None:
                        send_frame(broker, request)
                        answer = self.change(request, read_frame(broker))
                    send_frame(client, answer)
                    is_inside |= request[:2] == struct.pack(">h", SASL_AUTHENTICATE) and answer[4:6] == bytes(2)
        except OSError:         # also of TLS
            client.close()

    def take_login(self, request):
        """The answer to a request of the login, or None."""
        kind, version, correlation = struct.unpack(">hhi", request[:8])
        start = struct.pack(">i", correlation)
        if kind == API_VERSIONS and version > 0:
            return start + struct.pack(">hihhh", UNSUPPORTED_VERSION, 1, API_VERSIONS, 0, 0)
        if kind == SASL_HANDSHAKE:
            return start + struct.pack(">hi", 0, 1) + text("PLAIN")
        if kind == SASL_AUTHENTICATE:
            is_right = request.endswith(b"\0" + self.login[0].encode() + b"\0" + self.login[1].encode())
            return start + (struct.pack(">h", 0 if is_right else AUTHENTICATION_FAILED) + text("" if is_right else "wrong login")
                            + bytes(4))
        return None

    def change(self, request, answer):
        if request[:2] == struct.pack(">h", API_VERSIONS):
            n = struct.unpack(">i", answer[6:10])[0]
            return (answer[:6] + struct.pack(">i", n + 2) + answer[10:]
                    + struct.pack(">hhhhhh", SASL_HANDSHAKE, 0, 1, SASL_AUTHENTICATE, 0, 0))
        return answer.replace(b"127.0.0.1" + struct.pack(">i", self.broker_port),
                              b"localhost" + struct.pack(">i", self.port))
