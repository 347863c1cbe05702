# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""An operator, an account and a user of NATS, as nsc makes them: keys, signed claims, and the user's file of credentials."""

import base64
import binascii
import json
import os
import subprocess
import time

OPERATOR, ACCOUNT, USER, SEED = 14 << 3, 0, 20 << 3, 18 << 3
DER_PRIVATE = bytes.fromhex("302e020100300506032b657004220420")
UNLIMITED = {"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": True, "conn": -1, "leaf": -1,
             "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}


def encode(data):
    data += binascii.crc_hqx(data, 0).to_bytes(2, "little")
    return base64.b32encode(data).decode().rstrip("=")


def base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Key:
    def __init__(self, folder, kind):
        secret = os.urandom(32)
        self.folder = folder
        self.path = folder / f"key-{kind}-{secret.hex()[:8]}"
        self.path.write_bytes(DER_PRIVATE + secret)
        public = subprocess.run(["openssl", "pkey", "-inform", "DER", "-in", self.path, "-pubout", "-outform", "DER"], check=True,
                                capture_output=True).stdout[-32:]
        self.public = encode(bytes([kind]) + public)
        self.seed = encode(bytes([SEED | kind >> 5, (kind & 31) << 3]) + secret)

    def sign(self, data):
        message = self.folder / "message"
        message.write_bytes(data)
        return subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-in", message, "-inkey", self.path, "-keyform", "DER"],
                              check=True, capture_output=True).stdout

    def claim(self, subject, kind, **what):
        """Claims about the owner of another key, signed with this one."""
        parts = [{"typ": "JWT", "alg": "ed25519-nkey"},
                 {"jti": subject, "iat": int(time.time()), "iss": self.public, "name": kind, "sub": subject,
                  "nats": {"type": kind, "version": 2} | what}]
        text = ".".join(base64url(json.dumps(part).encode()) for part in parts)
        return text + "." + base64url(self.sign(text.encode()))


class Credentials:
    def __init__(self, folder):
        operator, system, account = Key(folder, OPERATOR), Key(folder, ACCOUNT), Key(folder, ACCOUNT)
        self.user = Key(folder, USER)
        self.system = system.public
        self.operator = operator.claim(operator.public, "operator", system_account=system.public)
        self.accounts = {key.public: operator.claim(key.public, "account", limits=limits,
                                                    default_permissions={"pub": {}, "sub": {}})
                         for key, limits in ((account, UNLIMITED),
                                             (system, {name: value for name, value in UNLIMITED.items() if "_" not in name}))}
        self.jwt = account.claim(self.user.public, "user", pub={}, sub={}, subs=-1, data=-1, payload=-1)
        self.file = folder / "user.creds"
        self.file.write_text(f"-----BEGIN NATS USER JWT-----\n{self.jwt}\n------END NATS USER JWT------\n\n"
                             f"-----BEGIN USER NKEY SEED-----\n{self.user.seed}\n------END USER NKEY SEED------\n")

    def settings(self):
        accounts = "\n".join(f"  {name}: {claim}" for name, claim in self.accounts.items())
        return (f"operator: {self.operator}\nsystem_account: {self.system}\nresolver: MEMORY\n"
                f"resolver_preload: {{\n{accounts}\n}}\n")

    def login(self, nonce):
        """What a client sends."""
        return {"jwt": self.jwt, "sig": base64url(self.user.sign(nonce.encode()))}
