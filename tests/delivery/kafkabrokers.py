# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

"""Three brokers of librdkafka's mock cluster, in a process of their own, and what their topic holds.

The brokers have what they took in their memory, so the process is stopped but not killed. They do not look at the sequence
numbers of a producer: what a real broker recognises as a repetition comes twice."""

import ctypes
import json
import signal
import subprocess
import sys
import threading
import time

N_BROKERS = 3
N_PARTITIONS = 4
TOPIC = b"blobs"
MAX_MESSAGE = 20000
PRODUCE = 0                     # the number of this request in the protocol
EARLIEST = -2
# Answers to a request: another leader, too few replicas, a timeout, a closed connection, a full disk, no permission, anything.
ERRORS = [6, 19, 7, -195, 56, 29, -1]
PARTITION_END = -191


class Message(ctypes.Structure):
    _fields_ = [("error", ctypes.c_int), ("topic", ctypes.c_void_p), ("partition", ctypes.c_int32),
                ("payload", ctypes.c_void_p), ("size", ctypes.c_size_t), ("key", ctypes.c_void_p),
                ("key_size", ctypes.c_size_t), ("offset", ctypes.c_int64), ("private", ctypes.c_void_p)]


# ---------------------------------------------------------------- the process of the brokers


def load():
    library = ctypes.CDLL("librdkafka.so.1")
    for name, result in {"rd_kafka_conf_new": ctypes.c_void_p, "rd_kafka_new": ctypes.c_void_p,
                         "rd_kafka_mock_cluster_new": ctypes.c_void_p, "rd_kafka_mock_cluster_bootstraps": ctypes.c_char_p,
                         "rd_kafka_topic_partition_list_new": ctypes.c_void_p,
                         "rd_kafka_topic_partition_list_add": ctypes.c_void_p,
                         "rd_kafka_consumer_poll": ctypes.POINTER(Message)}.items():
        getattr(library, name).restype = result
    return library


class MockCluster:
    """Answers to calls that come as lines of JSON."""

    def __init__(self, n_brokers):
        self.library = load()
        self.owner = self.new_client(0, {})
        self.cluster = ctypes.c_void_p(self.library.rd_kafka_mock_cluster_new(self.owner, n_brokers))
        self.call("topic_create", TOPIC, N_PARTITIONS, 1)

    def new_client(self, kind, settings):
        reason = ctypes.create_string_buffer(256)
        conf = ctypes.c_void_p(self.library.rd_kafka_conf_new())
        for name, value in ({"log_level": "0"} | settings).items():
            self.library.rd_kafka_conf_set(conf, name.encode(), value.encode(), reason, ctypes.c_size_t(256))
        client = self.library.rd_kafka_new(kind, conf, reason, ctypes.c_size_t(256))
        assert client, reason.value
        return ctypes.c_void_p(client)

    def call(self, name, *arguments):
        return getattr(self.library, "rd_kafka_mock_" + name)(self.cluster, *arguments)

    # What faults.py asks for:

    def bootstraps(self):
        self.library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
        return self.library.rd_kafka_mock_cluster_bootstraps(self.cluster).decode()

    def set_down(self, broker, down):
        self.call("broker_set_down" if down else "broker_set_up", ctypes.c_int32(broker))

    def set_time(self, broker, milliseconds):
        self.call("broker_set_rtt", ctypes.c_int32(broker), milliseconds)

    def set_leader(self, partition, broker):
        self.call("partition_set_leader", TOPIC, ctypes.c_int32(partition), ctypes.c_int32(broker))

    def push_errors(self, errors):
        self.call("push_request_errors_array", ctypes.c_int16(PRODUCE), ctypes.c_size_t(len(errors)),
                  (ctypes.c_int * len(errors))(*errors))

    def clear_errors(self):
        self.call("clear_request_errors", ctypes.c_int16(PRODUCE))

    def open_consumer(self):
        library = self.library
        consumer = self.new_client(1, {"bootstrap.servers": self.bootstraps(), "group.id": "reader",
                                       "enable.partition.eof": "true", "enable.auto.commit": "false"})
        partitions = ctypes.c_void_p(library.rd_kafka_topic_partition_list_new(N_PARTITIONS))
        library.rd_kafka_poll_set_consumer(consumer)
        for i in range(N_PARTITIONS):
            library.rd_kafka_topic_partition_list_add(partitions, TOPIC, ctypes.c_int32(i))
            library.rd_kafka_topic_partition_list_set_offset(partitions, TOPIC, ctypes.c_int32(i), ctypes.c_int64(EARLIEST))
        library.rd_kafka_assign(consumer, partitions)
        return consumer

    def read(self):
        """(source, number) in the order of each partition."""
        consumer, lines, n_ends, end = self.open_consumer(), [], 0, time.monotonic() + 60
        while n_ends < N_PARTITIONS and time.monotonic() < end:
            message = self.library.rd_kafka_consumer_poll(consumer, 100)
            if not message:
                continue
            if message.contents.error == PARTITION_END:
                n_ends += 1
            elif not message.contents.error:
                line = json.loads(ctypes.string_at(message.contents.payload, message.contents.size))
                assert ctypes.string_at(message.contents.key, message.contents.key_size).decode() == line["source"]
                lines.append((int(line["source"][1:]), line["number"]))
            self.library.rd_kafka_message_destroy(message)
        return lines if n_ends == N_PARTITIONS else None


def serve():
    cluster = MockCluster(int(sys.argv[1]))
    for text in sys.stdin:
        name, *arguments = json.loads(text)
        print(json.dumps(getattr(cluster, name)(*arguments)), flush=True)


# ---------------------------------------------------------------- in faults.py


class KafkaBrokers:
    places = ["pipeline"]
    has_topic_numbers = False
    has_c_clock = True

    def __init__(self, _options, _folder, network, environment, n_brokers=N_BROKERS):
        self.lock = threading.Lock()
        self.process = subprocess.Popen([sys.executable, __file__, str(n_brokers)], env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.servers = self.call("bootstraps")
        if network.name == "namespaces":
            network.take_loopback("pipeline")

    @staticmethod
    def missing():
        try:
            load()
        except OSError:
            return "librdkafka is not installed"
        return None

    @staticmethod
    def version():
        library = load()
        library.rd_kafka_version_str.restype = ctypes.c_char_p
        return "mock cluster of librdkafka " + library.rd_kafka_version_str().decode()

    def sink(self):
        return f"cclkafkasink servers={self.servers} topic={TOPIC.decode()} config=message.max.bytes={MAX_MESSAGE}"

    @staticmethod
    def large_lines():
        """The brokers keep 5 MB of each partition: lines are short."""
        return {"padding": 20, "large_padding": 2 * MAX_MESSAGE}

    def call(self, name, *arguments):
        with self.lock:
            self.process.stdin.write(json.dumps([name, *arguments]) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()

    # ------------------------------------------------------------ faults

    def stop_brokers(self, run):
        self.process.send_signal(signal.SIGSTOP)
        run.long_pause()
        self.process.send_signal(signal.SIGCONT)

    def take_down(self, run):
        brokers = run.random.choice([[1], [2], [3], [1, 2, 3]])
        for down in (True, False):
            for broker in brokers:
                self.call("set_down", broker, down)
            run.pause(0.1, 2.5)

    def answer_with_errors(self, run):
        self.call("push_errors", [run.random.choice(ERRORS) for _ in range(run.random.randrange(1, 4))])

    def slow_answers(self, run):
        for broker in range(1, N_BROKERS + 1):
            self.call("set_time", broker, run.random.choice([0, run.random.randrange(1, 300)]))
        run.pause(0.5, 2)
        for broker in range(1, N_BROKERS + 1):
            self.call("set_time", broker, 0)

    def move_partition(self, run):
        """Between requests: sequence numbers alone stop a request that comes late to the former leader."""
        if run.publishers[-1].pause(3):
            self.call("set_leader", run.random.randrange(N_PARTITIONS), run.random.randrange(1, N_BROKERS + 1))
        run.publishers[-1].say("resume")

    def faults(self, _network):
        return [self.stop_brokers, self.take_down, self.answer_with_errors, self.slow_answers, self.move_partition]

    def after_fault(self, _run):
        pass

    def after_faults(self):
        pass

    # ------------------------------------------------------------ what came

    def read_lines(self):
        self.call("clear_errors")
        lines = self.call("read")
        assert lines is not None, "the topic cannot be read"
        return [tuple(line) for line in lines]

    @staticmethod
    def remarks():
        return f"{N_PARTITIONS} partitions"

    @staticmethod
    def may_be_late():
        return set()

    @staticmethod
    def n_lost_by_servers():
        return 0

    @staticmethod
    def max_repeated(_publishers):
        """These brokers store repetitions."""
        return None


if __name__ == "__main__":
    serve()
