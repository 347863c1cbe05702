#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""TLS, logins and credentials of the sinks, and that no password is to be read anywhere.

    security.py mqtt|nats|kafka

Each case starts a pipeline in a process of its own, with all debug output. The password may stand in no message, statistics,
debug line or process list, whether the broker takes it or not."""

import os
import pathlib
import secrets
import shutil
import ssl
import subprocess
import sys
import tempfile
import time

import kafkabrokers
import mosquitto
import natsservers
from kafkadoor import KafkaDoor
from natscredentials import Credentials
from network import Proxies, end_at_once, free_port, start, wait_for_port

SKIPPED = 77
N_LINES = 5
VARIABLE = "CCL_TEST_PASSWORD"
PATIENCE = 60


def publish(launch):
    """The process: prints each message and the statistics. Ends when all lines are published, or a warning has come."""
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
    Gst.init(None)
    pipeline = Gst.parse_launch(f"appsrc name=src caps=application/x-json format=time ! {launch} name=sink")
    bus, sink, source = pipeline.get_bus(), pipeline.get_by_name("sink"), pipeline.get_by_name("src")
    pipeline.set_state(Gst.State.PLAYING)
    for i in range(N_LINES):
        source.emit("push-buffer", Gst.Buffer.new_wrapped(b'{"source":"cam","number":%d}' % i))
    end, n_warnings = time.monotonic() + PATIENCE, 0
    while time.monotonic() < end and n_warnings < 1 and sink.get_property("stats").get_value("published") < N_LINES:
        message = bus.timed_pop(Gst.SECOND // 10)
        if message:
            n_warnings += message.type in (Gst.MessageType.WARNING, Gst.MessageType.ERROR)
            print(message.get_structure().to_string() if message.get_structure() else message.type)
    print(Gst.debug_bin_to_dot_data(pipeline, Gst.DebugGraphDetails.ALL))
    print(sink.get_property("stats").to_string())
    print("published", sink.get_property("stats").get_value("published"), flush=True)
    pipeline.set_state(Gst.State.NULL)


def make_certificate(folder, stem):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                    "-keyout", folder / f"{stem}.key", "-out", folder / f"{stem}.pem"], check=True, capture_output=True)
    (folder / f"{stem}.key").chmod(0o644)


# ---------------------------------------------------------------- brokers with TLS and a login


class MqttBroker:
    def __init__(self, folder, login):
        self.port = free_port()
        passwords = folder / "passwords"
        passwords.write_text(f"{login[0]}:{login[1]}\n")
        passwords.chmod(0o644)
        subprocess.run([shutil.which("mosquitto_passwd"), "-U", passwords], check=True)
        (folder / "conf").write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous false\npassword_file {passwords}\n"
            f"certfile {folder}/good.pem\nkeyfile {folder}/good.key\n" + "user root\n" * (os.geteuid() == 0))
        self.process = start([mosquitto.PROGRAM, "-c", folder / "conf"], stderr=subprocess.DEVNULL)
        wait_for_port(self.process, "127.0.0.1", self.port)

    def sink(self):
        return f"cclmqttsink topic=t uri=mqtts://localhost:{self.port}"

    def close(self):
        self.process.kill()
        self.process.wait()


class NatsBroker:
    """Takes a user's name and password; or, with credentials, a user of an account."""

    def __init__(self, folder, login, credentials=None):
        self.port = free_port()
        (folder / "conf").write_text(
            f'listen: "127.0.0.1:{self.port}"\njetstream {{ store_dir: "{folder}/js-{self.port}" }}\n'
            f'tls {{ cert_file: "{folder}/good.pem", key_file: "{folder}/good.key" }}\n'
            + (credentials.settings() if credentials else
               f'authorization {{ users: [ {{ user: {login[0]}, password: "{login[1]}" }} ] }}\n'))
        self.process = start([natsservers.PROGRAM, "-c", folder / "conf"], stderr=open(folder / "log", "wb"))
        wait_for_port(self.process, "127.0.0.1", self.port)

    def sink(self):
        return f"cclnatssink topic=t.cam servers=localhost:{self.port} tls=true"

    def close(self):
        self.process.kill()
        self.process.wait()


class KafkaBroker:
    MECHANISM = "PLAIN"

    def __init__(self, folder, login):
        self.brokers = kafkabrokers.KafkaBrokers(None, folder, Proxies(), dict(os.environ), 1)
        self.door = KafkaDoor(int(self.brokers.servers.rpartition(":")[2]), folder / "good.pem", folder / "good.key", login,
                              self.MECHANISM)

    def sink(self):
        return (f"cclkafkasink topic=blobs servers=localhost:{self.door.port} tls=true sasl-mechanism={self.MECHANISM} "
                "config=broker.address.family=v4")

    def close(self):
        self.brokers.close()


class KafkaScram256(KafkaBroker):
    MECHANISM = "SCRAM-SHA-256"


class KafkaScram512(KafkaBroker):
    MECHANISM = "SCRAM-SHA-512"


# ---------------------------------------------------------------- cases


def is_in_process_list(secret):
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if secret.encode() in path.read_bytes():
                return True
        except OSError:         # it has ended
            pass
    return False


def run_pipeline(folder, launch, password):
    """The number of published lines, and all that was written."""
    log = folder / "debug"
    environment = os.environ | {VARIABLE: password, "GST_DEBUG": "*:9", "GST_DEBUG_FILE": str(log), "GST_DEBUG_NO_COLOR": "1"}
    process = subprocess.Popen([sys.executable, __file__, "--publish", launch], env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    time.sleep(0.3)
    assert not is_in_process_list(password), "the process list has the password"
    text = process.communicate(timeout=2 * PATIENCE)[0]
    assert process.returncode == 0, text
    return int(text.split()[-1]), text + log.read_text(errors="replace")


def check(folder, launch, case, login, works):
    """`login`: the password of the pipeline, or the text in its file of credentials."""
    n, text = run_pipeline(folder, launch, login)
    assert login not in text, f"{case}: the output has the password: {text[text.index(login) - 200:][:300]}"
    assert n == (N_LINES if works else 0), f"{case}: {n} lines came\n{text[:3000]}"
    print(f"{case}: {'published' if works else 'refused'}, {len(text) >> 10} KiB of output without the password", flush=True)


def test_login(folder, kind):
    user, password = "camera-user", "pw" + secrets.token_hex(12)
    broker = kind(folder, (user, password))
    if kind is NatsBroker:
        add_stream(folder, broker, {"user": user, "pass": password})
    launch = f"{broker.sink()} username={user} password-env={VARIABLE} ca-file={folder}/"
    try:
        for case, stem, given, works in (
                ("password", "good.pem", password, True),
                ("wrong password", "good.pem", "no" + secrets.token_hex(12), False),
                ("wrong authority", "other.pem", password, False),
                ("wrong authority, verify=false", "other.pem verify=false", password, True)):
            check(folder, launch + stem, case, given, works)
    finally:
        broker.close()


def add_stream(folder, broker, login):
    tls = ssl.create_default_context(cafile=folder / "good.pem")
    client = natsservers.Client("localhost", broker.port, login, tls)
    answer = client.requests("$JS.API.STREAM.CREATE.blobs", [{"name": "blobs", "subjects": ["t.>"], "storage": "memory"}])[0]
    client.close()
    assert answer and "error" not in answer, answer


def test_credentials(folder):
    credentials, others = Credentials(folder), Credentials(folder / "others")
    broker = NatsBroker(folder, None, credentials)
    try:
        add_stream(folder, broker, credentials.login)
        for case, given in (("credentials", credentials), ("credentials of another operator", others)):
            check(folder, f"{broker.sink()} credentials-file={given.file} ca-file={folder}/good.pem", case, given.user.seed,
                  given is credentials)
    finally:
        broker.close()


def main():
    if sys.argv[1] == "--publish":
        publish(sys.argv[2])
        return 0
    module, *kinds = {"mqtt": (mosquitto.Mosquitto, MqttBroker), "nats": (natsservers.NatsServers, NatsBroker),
                      "kafka": (kafkabrokers.KafkaBrokers, KafkaBroker, KafkaScram256, KafkaScram512)}[sys.argv[1]]
    programs = ["openssl"] + ["mosquitto_passwd"] * (MqttBroker in kinds)
    missing = module.missing() or next((f"{name} is not installed" for name in programs if not shutil.which(name)), None)
    if missing:
        print(missing)
        return SKIPPED
    end_at_once()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        for stem in ("good", "other"):
            make_certificate(folder, stem)
        for each in kinds:
            print(each.__name__, flush=True)
            test_login(folder, each)
        if NatsBroker in kinds:
            (folder / "others").mkdir()
            test_credentials(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
