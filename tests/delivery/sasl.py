# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""The broker's side of a login by SASL. take() answers to a message of the client, with None to a wrong login."""

import base64
import hashlib
import hmac
import secrets


class Plain:
    def __init__(self, login):
        self.wanted = b"\0" + login[0].encode() + b"\0" + login[1].encode()
        self.is_done = False

    def take(self, message):
        self.is_done = message == self.wanted
        return b"" if self.is_done else None


class Scram:
    """RFC 5802 with SHA-256 or SHA-512."""

    N_ROUNDS = 4096

    def __init__(self, login, kind):
        self.user, self.kind = login[0], kind
        self.salt = secrets.token_bytes(16)
        self.salted = hashlib.pbkdf2_hmac(kind, login[1].encode(), self.salt, self.N_ROUNDS)
        self.client_first = self.server_first = None
        self.is_done = False

    def sign(self, key, data):
        return hmac.new(key, data, self.kind).digest()

    def take(self, message):
        return self.take_proof(message) if self.client_first else self.take_name(message)

    def take_name(self, message):
        self.client_first = message.split(b",", 2)[2]           # behind "n,,"
        name, nonce = self.client_first.split(b",")[:2]
        self.server_first = b"%s%s,s=%s,i=%d" % (nonce, secrets.token_hex(9).encode(), base64.b64encode(self.salt), self.N_ROUNDS)
        return self.server_first if name == b"n=" + self.user.encode() else None

    def take_proof(self, message):
        without_proof, proof = message.split(b",p=")
        signed = b",".join((self.client_first, self.server_first, without_proof))
        key = self.sign(self.salted, b"Client Key")
        signature = self.sign(hashlib.new(self.kind, key).digest(), signed)
        self.is_done = base64.b64decode(proof) == bytes(a ^ b for a, b in zip(key, signature))
        return b"v=" + base64.b64encode(self.sign(self.sign(self.salted, b"Server Key"), signed)) if self.is_done else None


MECHANISMS = {
    "PLAIN": Plain,
    "SCRAM-SHA-256": lambda login: Scram(login, "sha256"),
    "SCRAM-SHA-512": lambda login: Scram(login, "sha512"),
}
