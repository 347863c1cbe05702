# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""Three nats-servers with a stream that each of them keeps, and what the stream holds."""

import base64
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

from network import free_port, start, wait_for_port

N_SERVERS = 3
MAX_MESSAGE = 3000
PROGRAM = shutil.which("nats-server", path=os.environ["PATH"] + ":/usr/sbin")
READER = {"user": "reader", "pass": "reader"}
# Replicas of older servers differ after faults, so that they lose messages that they have acknowledged.
FIRST_SOUND = (2, 15)


class Client:
    """As much of the protocol as this needs: requests, many at a time."""

    def __init__(self, address, port, login=READER, tls=None):
        """`login` may be a function of the server's nonce."""
        self.socket = socket.create_connection((address, port), 2)
        self.socket.settimeout(10)
        text = b""
        while not text.endswith(b"\n"):
            text += self.socket.recv(1) or b"\n"
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname=address)
        self.data = self.socket.makefile("rb")
        self.send("CONNECT " + json.dumps({"verbose": False, "pedantic": False, "headers": True, "no_responders": True,
                                           "lang": "python", "version": "1"}
                                          | (login(json.loads(text[5:])["nonce"]) if callable(login) else login)))
        self.send("SUB reply.* 1")

    def send(self, text):
        self.socket.sendall(text.encode() + b"\r\n")

    def requests(self, subject, bodies):
        """The answers to several requests, in their order. An empty one: nobody answers."""
        for i, body in enumerate(bodies):
            data = json.dumps(body)
            self.send(f"PUB {subject} reply.{i} {len(data)}\r\n{data}")
        answers = {}
        while len(answers) < len(bodies):
            words = self.data.readline().decode().split()
            if not words:
                raise OSError("the server closed the connection")
            if words[0] == "PING":
                self.send("PONG")
            elif words[0] == "MSG":
                answers[int(words[1].partition(".")[2])] = json.loads(self.data.read(int(words[-1]) + 2))
            elif words[0] == "HMSG":            # a status: no responders
                self.data.read(int(words[-1]) + 2)
                answers[int(words[1].partition(".")[2])] = {}
            elif words[0] == "-ERR":
                raise OSError(" ".join(words))
        return [answers[i] for i in range(len(bodies))]

    def close(self):
        self.data.close()
        self.socket.close()


class NatsServers:
    places = ["pipeline"] + [f"server{i}" for i in range(N_SERVERS)]
    has_topic_numbers = False
    has_c_clock = False         # they ask the kernel

    def __init__(self, _options, folder, network, _environment):
        self.folder = folder
        self.network = network
        self.answers = folder / "answers"
        self.log = open(folder / "nats.log", "wb")
        self.addresses = [network.address(place) for place in self.places[1:]]
        self.ports = [free_port() for _ in range(N_SERVERS)]
        self.routes = [free_port() for _ in range(N_SERVERS)]
        self.processes = [None] * N_SERVERS
        self.is_refusing = False
        self.stored = {}        # the number in the id of the message with each sequence number
        for i in range(N_SERVERS):
            self.start(i)
        for i in range(N_SERVERS):
            wait_for_port(self.processes[i], self.addresses[i], self.ports[i])
        self.settings = {"name": "blobs", "subjects": ["t.>"], "retention": "limits", "storage": "file", "discard": "new",
                         "num_replicas": N_SERVERS, "max_msgs": 500, "max_msg_size": MAX_MESSAGE, "duplicate_window": int(600e9)}
        self.change_stream("CREATE")
        self.ways = [network.way(place, port) for place, port in zip(self.places[1:], self.ports)]

    @staticmethod
    def missing():
        return None if PROGRAM else "nats-server is not installed"

    def version(self):
        return subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout.strip()

    def pipeline_environment(self, number):
        """The sequence numbers that the stream answered stand in the log of the sink."""
        return {"GST_DEBUG": "cclnatssink:6", "GST_DEBUG_FILE": f"{self.answers}-{number}", "GST_DEBUG_NO_COLOR": "1"}

    def is_sound(self):
        return tuple(int(number) for number in re.findall(r"\d+", self.version())[:2]) >= FIRST_SOUND

    def n_lost_by_servers(self):
        """The number of messages that older servers answered with a sequence number, and do not hold."""
        answered = set()
        for path in self.folder.glob("answers-*"):
            answered |= {int(number) for number in
                         re.findall(r"message (\d+) has the sequence number [1-9]", path.read_text(errors="replace"))}
        return 0 if self.is_sound() else len(answered - set(self.stored.values()))

    def sink(self):
        servers = ",".join(f"{address}:{port}" for address, port in self.ways)
        return f"cclnatssink servers={servers} topic=t.{{source-id}} ack-timeout=2000000000 keep-alive=2"

    @staticmethod
    def large_lines():
        return {}

    # ------------------------------------------------------------ servers

    def write_settings(self, i):
        routes = ", ".join(f'"nats://{address}:{port}"' for address, port in zip(self.addresses, self.routes))
        denied = ', permissions: { publish: { deny: "t.>" } }' if self.is_refusing else ""
        path = self.folder / f"{i}.conf"
        path.write_text(
            f'listen: "{self.addresses[i]}:{self.ports[i]}"\nserver_name: n{i}\n'
            f'jetstream {{ store_dir: "{self.folder}/{i}", max_mem: 16M, max_file: 1G }}\n'
            f'cluster {{ name: test, listen: "{self.addresses[i]}:{self.routes[i]}", routes: [{routes}],'
            " no_advertise: true }\n"
            f"authorization {{ users: [ {{ user: pipeline, password: pipeline{denied} }}, "
            "{ user: reader, password: reader } ] }\n"
            "no_auth_user: pipeline\n")
        return path

    def start(self, i):
        command = self.network.command(self.places[1 + i], [PROGRAM, "-c", str(self.write_settings(i))])
        self.processes[i] = start(command, stdout=self.log, stderr=self.log)

    def kill(self, i):
        self.processes[i].send_signal(signal.SIGCONT)
        self.processes[i].kill()
        self.processes[i].wait()

    def close(self):
        for i in range(N_SERVERS):
            if self.processes[i]:
                self.kill(i)
        self.log.close()

    # ------------------------------------------------------------ faults

    def any_server(self, run):
        return run.random.randrange(N_SERVERS)

    def kill_server(self, run):
        i = self.any_server(run)
        self.kill(i)
        run.pause(0, 3)
        self.start(i)
        wait_for_port(self.processes[i], self.addresses[i], self.ports[i])

    def stop_server(self, run):
        i = self.any_server(run)
        self.processes[i].send_signal(signal.SIGSTOP)
        run.long_pause()
        self.processes[i].send_signal(signal.SIGCONT)

    def partition_server(self, run):
        place = self.places[1 + self.any_server(run)]
        self.network.cut(place)
        run.long_pause()
        self.network.mend(place)

    def refuse(self, run):
        for self.is_refusing in (True, False):
            for i in range(N_SERVERS):
                self.write_settings(i)
                self.processes[i].send_signal(signal.SIGHUP)
            run.pause(0.2, 1)

    def after_fault(self, run):
        """The stream is full from time to time. Its limit only grows: a lower one would delete what it has."""
        if run.n_pushed() > 1.03 * self.settings["max_msgs"] + 100:
            self.settings["max_msgs"] += run.random.randrange(1000, 5000)
            self.change_stream("UPDATE")
            run.faults["full"] += 1

    def after_faults(self):
        self.settings["max_msgs"] = -1
        self.change_stream("UPDATE")

    def faults(self, network):
        cables = [self.partition_server] if network.name == "namespaces" else []
        return [self.kill_server, self.kill_server, self.stop_server, self.refuse] + cables

    # ------------------------------------------------------------ the stream

    def ask(self, subject, bodies):
        """Tries one server after the other, until one has answers to all."""
        end, i = time.monotonic() + 60, 0
        while True:
            try:
                client = Client(self.addresses[i % N_SERVERS], self.ports[i % N_SERVERS])
                try:
                    answers = client.requests(subject, bodies)
                finally:
                    client.close()
                if all(answers) and not any(answer.get("error", {}).get("code") in (503, 500) for answer in answers):
                    return answers
            except OSError as error:
                answers = error
            assert time.monotonic() < end, f"no answer to {subject}: {answers}"
            i += 1
            time.sleep(0.1)

    def change_stream(self, verb):
        answer = self.ask(f"$JS.API.STREAM.{verb}.blobs", [self.settings])[0]
        assert "error" not in answer, answer

    def stream_state(self):
        return self.ask("$JS.API.STREAM.INFO.blobs", [{}])[0]["state"]

    def read_lines(self):
        """(source, number) in the order of the stream."""
        lines, last = [], self.stream_state()["last_seq"]
        for first in range(1, last + 1, 200):
            numbers = range(first, min(first + 200, last + 1))
            for answer in self.ask("$JS.API.STREAM.MSG.GET.blobs", [{"seq": number} for number in numbers]):
                if "message" in answer:
                    line = json.loads(base64.b64decode(answer["message"]["data"]))
                    lines.append((int(line["source"][1:]), line["number"]))
                    headers = base64.b64decode(answer["message"]["hdrs"]).decode()
                    self.stored[answer["message"]["seq"]] = int(re.search(r"Nats-Msg-Id: *[0-9a-f]+-(\d+)", headers)[1])
                else:
                    assert answer["error"]["code"] == 404, answer
        return lines

    def remarks(self):
        return f"servers lost {self.n_lost_by_servers()} and stored {self.n_stored_twice()} twice"

    def n_stored_twice(self):
        """Messages with an id that the stream had already."""
        return len(self.stored) - len(set(self.stored.values()))

    @staticmethod
    def may_be_late():
        return set()

    def max_repeated(self, _publishers):
        """The stream knows the ids of all lines of the run."""
        return 0 if self.is_sound() else self.n_stored_twice()
