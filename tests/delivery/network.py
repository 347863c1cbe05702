# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""A network whose cables can be cut and slowed down, between a pipeline and its brokers.

With namespaces each place has an interface and a cable of its own to this process, which forwards packets. Elsewhere a proxy
stands in front of each port of a broker."""

import atexit
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time

INSIDE = "CCL_TEST_NAMESPACE"
MAX_PLACES = 8
# What the kernel has to allow: namespaces, cables, and packets that pass through.
TRIAL = "ip link set lo up && ip link add name one type veth peer name two && echo 1 >/proc/sys/net/ipv4/ip_forward && \
    echo 1 >/proc/sys/net/ipv4/conf/all/route_localnet && unshare --net true"


def run(*command, check=True):
    try:
        return subprocess.run([str(part) for part in command], check=check, stdout=subprocess.DEVNULL,
                              stderr=None if check else subprocess.DEVNULL).returncode == 0
    except FileNotFoundError:
        if check:
            raise
        return False


def start(command, **options):
    """A program that ends with this one, also after a failed assertion."""
    process = subprocess.Popen(command, **options)
    atexit.register(process.kill)
    return process


def end_at_once():
    """SIGTERM, or an exception in a thread, ends this program and its brokers. Else a case of a wrong password would pass."""
    def fail(failure):
        threading.__excepthook__(failure)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGTERM)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    threading.excepthook = fail


def enter_namespace():
    """Runs this program again in a network of its own, where that is allowed. Says so where it is not."""
    if INSIDE in os.environ:
        return
    os.environ["PATH"] += ":/usr/sbin"          # of ip and tc
    for options in (["--net"], ["--net", "--user", "--map-root-user"]):
        if run("unshare", *options, "sh", "-c", TRIAL, check=False):
            os.environ[INSIDE] = "yes"
            os.execvp("unshare", ["unshare", *options, sys.executable, *sys.argv])
    print("no network namespaces here: a proxy cuts connections", flush=True)


def make(places):
    return Namespaces(places) if INSIDE in os.environ else Proxies()


class Namespaces:
    """`places` run at 10.99.N.2, and this process at 10.99.N.1."""

    name = "namespaces"

    def __init__(self, places):
        self.places = {place: i for i, place in enumerate(places)}
        run("ip", "link", "set", "lo", "up")
        for setting in ("ip_forward", "conf/all/route_localnet"):
            self.set(setting)
        # Each lives until its standard input is closed, also if this process is killed.
        self.holders = {place: subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE) for place in places}
        for place in places:
            self.lay_cable(place)
        self.can_slow = self.limit(places[0], 1_000_000)
        self.mend(places[0])
        if not self.can_slow:
            print("no tc with tbf here: no cable is slow", flush=True)

    @staticmethod
    def set(setting, prefix=()):
        run(*prefix, "sh", "-c", f"echo 1 >/proc/sys/net/ipv4/{setting}")

    def command(self, place, command):
        """`command` as it runs in a place."""
        return ["nsenter", f"--net=/proc/{self.holders[place].pid}/ns/net", "--", *command]

    def lay_cable(self, place):
        number, pid = self.places[place], self.holders[place].pid
        here = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{pid}/ns/net") == here:
            time.sleep(0.005)
        run("ip", "link", "add", "name", f"to{number}", "type", "veth", "peer", "name", "eth0", "netns", pid)
        run("ip", "address", "add", f"10.99.{number}.1/30", "dev", f"to{number}")
        run("ip", "link", "set", f"to{number}", "up")
        self.set("conf/all/route_localnet", self.command(place, []))
        for words in (["link", "set", "lo", "up"], ["address", "add", f"10.99.{number}.2/30", "dev", "eth0"],
                      ["link", "set", "eth0", "up"], ["route", "add", "default", "via", f"10.99.{number}.1"]):
            run(*self.command(place, ["ip", *words]))

    def address(self, place):
        """Where the processes of a place listen. None: of this process, as seen from the places."""
        return f"10.99.{self.places[place]}.2" if place else "10.99.0.1"

    def way(self, place, port):
        """Where a pipeline reaches a port."""
        return self.address(place), port

    def take_loopback(self, place):
        """In this place 127.0.0.1 is that of this process, because some brokers listen nowhere else."""
        number = self.places[place]
        for words in (["address", "flush", "dev", "lo"],
                      ["route", "add", "127.0.0.0/8", "via", f"10.99.{number}.1", "src", f"10.99.{number}.2"]):
            run(*self.command(place, ["ip", *words]))

    def cut(self, place):
        run("ip", "link", "set", f"to{self.places[place]}", "down")

    def limit(self, place, bits):
        """Bits a second each way. FALSE: this kernel cannot."""
        words = ["root", "tbf", "rate", f"{bits}bit", "burst", "3000", "latency", "300ms"]
        return (run("tc", "qdisc", "replace", "dev", f"to{self.places[place]}", *words, check=False)
                and run(*self.command(place, ["tc", "qdisc", "replace", "dev", "eth0", *words]), check=False))

    def mend(self, place):
        run("ip", "link", "set", f"to{self.places[place]}", "up")
        run("tc", "qdisc", "del", "dev", f"to{self.places[place]}", "root", check=False)
        run(*self.command(place, ["tc", "qdisc", "del", "dev", "eth0", "root"]), check=False)

    def close(self):
        for holder in self.holders.values():
            holder.stdin.close()
            holder.wait()


class Proxies:
    """All places are this machine. Cables of brokers cannot be cut, only that of the pipeline, whose place is not asked for."""

    name = "proxies"
    can_slow = True

    def __init__(self):
        self.proxies = []

    @staticmethod
    def command(_place, command):
        return command

    @staticmethod
    def address(_place):
        return "127.0.0.1"

    def way(self, _place, port):
        self.proxies.append(Proxy(port))
        return "127.0.0.1", self.proxies[-1].port

    def cut(self, _place):
        self.limit(None, 0)

    def limit(self, _place, bits):
        for proxy in self.proxies:
            proxy.speed = bits // 8
        return True

    def mend(self, _place):
        for proxy in self.proxies:
            proxy.speed = None

    def break_connections(self):
        for proxy in self.proxies:
            proxy.cut()

    def close(self):
        pass


class Proxy(threading.Thread):
    """In front of a port: `speed` in bytes a second each way, 0: nothing passes, None: all."""

    def __init__(self, target):
        super().__init__(daemon=True)
        self.target = target
        self.speed = None
        self.pairs = {}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def cut(self):
        for end in list(self.pairs):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self, end):
        other = self.pairs.pop(end)
        self.pairs.pop(other, None)
        end.close()
        other.close()

    def accept(self):
        client = self.listener.accept()[0]
        try:
            server = socket.create_connection(("127.0.0.1", self.target), 1)
        except OSError:
            client.close()
            return
        self.pairs[client], self.pairs[server] = server, client

    def run(self):
        while True:
            ends = [end for end in self.pairs if self.speed != 0]
            for end in select.select([self.listener] + ends, [], [], 0.05)[0]:
                if end is self.listener:
                    self.accept()
                elif end in self.pairs:
                    self.pass_on(end)

    def pass_on(self, end):
        try:
            data = end.recv(65536 if self.speed is None else max(self.speed // 20, 1))
            if data:
                self.pairs[end].sendall(data)
        except OSError:
            data = b""
        if not data:
            self.close(end)
        elif self.speed is not None:
            time.sleep(0.05)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for_port(process, address, port, seconds=60):
    """Another program may have taken the port: then ours has ended."""
    end = time.monotonic() + seconds
    while True:
        assert process.poll() is None, f"{process.args[0]} ended"
        try:
            socket.create_connection((address, port), 1).close()
            return
        except OSError:
            assert time.monotonic() < end, f"nothing listens at {address}:{port}"
            time.sleep(0.02)
