# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""mosquitto as the broker of a pipeline, and what its log says."""

import os
import re
import shutil
import signal
import subprocess
import threading

from mqttdoor import MqttDoor
from network import free_port, start, wait_for_port

MAX_PACKET = 3000
PROGRAM = shutil.which("mosquitto", path=os.environ["PATH"] + ":/usr/sbin")


class Mosquitto:
    places = ["pipeline"]
    has_topic_numbers = True
    has_c_clock = True

    def __init__(self, options, folder, network, environment):
        self.options = options
        self.folder = folder
        self.environment = environment
        self.has_door = options.version != "3.1.1"      # which has no answer for a full broker
        self.address = "127.0.0.1" if self.has_door else network.address(None)
        self.port = free_port()
        self.lines = []         # (source, number, denied), in the order of their arrival
        self.readers = []
        self.acl = folder / "acl"
        self.set_acl(True)
        (folder / "conf").write_text(
            f"listener {self.port} {self.address}\nallow_anonymous true\nmax_packet_size {MAX_PACKET}\n"
            f"acl_file {self.acl}\nlog_dest stderr\nlog_type all\n" + "user root\n" * (os.geteuid() == 0))
        self.start()
        self.door = MqttDoor(network.address(None), (self.address, self.port)) if self.has_door else None
        self.way = network.way(None, self.door.port if self.door else self.port)

    @staticmethod
    def missing():
        return None if PROGRAM else "mosquitto is not installed"

    def version(self):
        text = subprocess.run([PROGRAM, "-h"], capture_output=True, text=True).stdout
        return text.partition("\n")[0]

    def sink(self):
        return (f"cclmqttsink topic=t/{{source-id}} keep-alive=5 uri=mqtt://{self.way[0]}:{self.way[1]} "
                f"qos-level={self.options.qos} protocol-version={self.options.version}")

    def large_lines(self):
        """3.1.1 has no answer to such a line but to close the connection, again and again: one is enough."""
        return {"large_every": 0, "large_at": 110} if self.options.version == "3.1.1" else {}

    def set_acl(self, allowed):
        self.acl.write_text(f"topic readwrite {'t' if allowed else 'nothing'}/#\n")
        self.acl.chmod(0o644)

    def start(self):
        self.process = start([PROGRAM, "-c", self.folder / "conf"], env=self.environment,
                             stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, errors="replace")
        self.readers.append(threading.Thread(target=self.read, args=(self.process.stderr,), daemon=True))
        self.readers[-1].start()
        wait_for_port(self.process, self.address, self.port)

    def read(self, stream):
        for text in stream:
            match = re.search(r"(Received|Denied) PUBLISH from .*'t/s(\d+)-(\d+)'", text)
            if match:
                self.lines.append((int(match[2]), int(match[3]), match[1] == "Denied"))

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()
        self.readers[-1].join()

    # ------------------------------------------------------------ faults

    def kill_broker(self, run):
        self.close()
        run.pause(0, 0.7)
        self.start()

    def stop_broker(self, run):
        self.process.send_signal(signal.SIGSTOP)
        run.long_pause()
        self.process.send_signal(signal.SIGCONT)

    def refuse(self, run):
        for allowed in (False, True):
            self.set_acl(allowed)
            self.process.send_signal(signal.SIGHUP)
            run.pause(0.2, 0.6)

    def fill(self, run):
        self.door.is_full = True
        run.pause(0.1, 2)
        self.door.is_full = False

    def faults(self, _network):
        return [self.kill_broker, self.stop_broker, self.refuse] + [self.fill] * self.has_door

    def after_fault(self, _run):
        pass

    def after_faults(self):
        pass

    # ------------------------------------------------------------ what came

    def read_lines(self):
        return [line[:2] for line in self.lines]

    def remarks(self):
        refused = f", {len(self.door.refused)} refused by a full broker" if self.door else ""
        return f"{len({line[:2] for line in self.lines if line[2]})} denied{refused}"

    def may_be_late(self):
        """A full broker may take lines that follow one that it refused."""
        return self.door.refused if self.door else set()

    @staticmethod
    def n_lost_by_servers():
        return 0

    def max_repeated(self, publishers):
        """At most 20 lines are in flight when a connection breaks. A killed pipeline repeats what was answered shortly before."""
        return 20 * sum(publisher.stats.get("connects", 0) + 5 for publisher in publishers)
