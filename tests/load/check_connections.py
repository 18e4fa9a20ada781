"""Many connections that do nothing, readers that hardly read, and clients that leave."""
import asyncio
import random
import resource
import socket
import threading
import time

import watch
from loads import Maker, visible_bias
from sse_client import Exchange, request_bytes

IDLE = 1000
SLOW = 200
TOKENS = 256
TOGETHER = 16
ANSWERS = 4            # a round, with and without: the calmest counts on a machine that others use, too
PATH = "/v1/completions"
SMALL_SEGMENT = 536    # so that the system takes little off the server's hands
HEALTH = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def raise_file_limit():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = IDLE + SLOW + 256
    if most != resource.RLIM_INFINITY and most < wanted:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    return True


class Crowd:
    """Half of the idle connections have asked for something before. Slow readers take 64 bytes a second of a long reply."""

    def __init__(self, port):
        self.port = port
        self.idle = [socket.create_connection(("127.0.0.1", port), 60) for _ in range(IDLE)]
        for one in self.idle[::2]:
            assert self.is_served(one)
        self.slow = [self._slow_reader() for _ in range(SLOW)]
        self.broken = 0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._read_slowly)
        self._thread.start()

    @staticmethod
    def is_served(connection):
        connection.sendall(HEALTH)
        return connection.recv(4096).startswith(b"HTTP/1.1 200")

    def _slow_reader(self):
        connection = socket.socket()
        connection.settimeout(60)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SMALL_SEGMENT)
        connection.connect(("127.0.0.1", self.port))
        connection.sendall(request_bytes("/tokenize", {"content": "word " * 10000, "with_pieces": True}))
        assert connection.recv(64).startswith(b"HTTP/1.1 200")
        return connection

    def _read_slowly(self):
        while not self._ends.wait(1):
            self.broken += sum(not connection.recv(64) for connection in self.slow)

    def n_alive(self):
        """Of the idle ones."""
        return sum(map(self.is_served, self.idle))

    def close(self):
        self._ends.set()
        self._thread.join()
        for connection in self.idle + self.slow:
            connection.close()


def median_gap(server, body):
    """Of the time between one token and the next, each a mean of TOGETHER: a reader on a busy machine gets several at once."""
    exchange = asyncio.run(Exchange(PATH, body).run(server.port))
    times = exchange.answer().times
    assert len(times) == TOKENS, exchange.raw()[-300:]
    return watch.median([(after - before) / TOGETHER for before, after in zip(times, times[TOGETHER:])])


def check_crowd(report, server, rounds, judges_times):
    body = Maker(visible_bias(server.port), "connections").request(64, TOKENS)  # each time the same answer
    if not raise_file_limit():
        report.skip(f"connections: this system allows fewer than {IDLE + SLOW} open files")
        return
    alone, beside = [], []
    median_gap(server, body)
    for _ in range(rounds):
        alone += [median_gap(server, body) for _ in range(ANSWERS)]
        crowd = Crowd(server.port)
        try:
            beside += [median_gap(server, body) for _ in range(ANSWERS)]
            counted = watch.counters(server.port)
            n_alive = crowd.n_alive()
        finally:
            crowd.close()
        report.judge(n_alive == IDLE and crowd.broken == 0 and counted["connections"] >= IDLE + SLOW,
                     f"connections: {counted['connections']:.0f} counted; {n_alive} of {IDLE} idle ones are served "
                     f"afterwards, {SLOW - crowd.broken} of {SLOW} slow readers still read")
    ratio = min(beside) / min(alone)
    report.measure(judges_times, ratio <= 1.05,
                   f"connections: median time between tokens {min(beside) * 1000:.2f} ms beside {IDLE} idle connections and "
                   f"{SLOW} slow readers, {min(alone) * 1000:.2f} ms without: {ratio:.3f} x, <= 1.05 x")


def wait_for(server, wanted, seconds):
    """Seconds until so many turns run."""
    begin = time.monotonic()
    while watch.counters(server.port)["turns_running"] != wanted:
        if time.monotonic() - begin > seconds:
            raise AssertionError(f"expected {wanted} running turns within {seconds} s, found "
                                 f"{watch.counters(server.port)['turns_running']:.0f}")
    return time.monotonic() - begin


def check_leaving(report, server, tries, judges_times):
    """Clients that leave at some moment while their prompt is read."""
    maker = Maker({}, "leaving")
    draw = random.Random(5)
    before = watch.counters(server.port)["turns_cancelled_total"]
    times = []
    for number in range(tries):
        body = maker.request(min(4000, server.context - 100), 64)
        if number % 2:
            del body["stream"], body["stream_options"]
        with server.connect() as client:
            client.sendall(request_bytes(PATH, body))
            wait_for(server, 1, 10)
            time.sleep(draw.uniform(0, 1))
            assert watch.counters(server.port)["turns_running"] == 1, "the prompt was read too soon"
        times.append(wait_for(server, 0, 10))
    cancelled = watch.counters(server.port)["turns_cancelled_total"] - before
    report.judge(cancelled == tries, f"leaving: {cancelled:.0f} of {tries} turns were cancelled while their prompt was read")
    report.measure(judges_times, max(times) <= 0.5,
                   f"leaving: the engine is free after {watch.median(times) * 1000:.0f} ms (median), "
                   f"{max(times) * 1000:.0f} ms at most, <= 500 ms")
