"""Requests that cost the measured server little: raw sockets, and nothing is parsed before the answer has ended."""
import asyncio
import bisect
import json
import re
import time

EVENT = re.compile(rb"data: ([^\n]*)\n\n")


def request_bytes(path, body=None):
    """A body makes it a POST; the server closes the connection behind its answer."""
    data = b"" if body is None else json.dumps(body).encode()
    head = (f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n")
    return head.encode() + data


class Exchange:
    """One request and what came of it; it can be looked into after it was cut off, too."""

    def __init__(self, path, body=None):
        self.path = path
        self.body = body
        self.begin = self.end = None
        self._pieces = []
        self._times = []

    async def run(self, port, source="127.0.0.1"):
        """Sources are different clients to the server."""
        self.begin = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
        try:
            writer.write(request_bytes(self.path, self.body))
            while piece := await reader.read(1 << 16):
                self._pieces.append(piece)
                self._times.append(time.monotonic())
            self.end = time.monotonic()
        finally:
            writer.close()
        return self

    def raw(self):
        return b"".join(self._pieces)

    def status(self):
        line = self.raw().split(b"\r\n", 1)[0].split()
        return int(line[1]) if len(line) > 1 else 0

    def json(self):
        return json.loads(self.raw().split(b"\r\n\r\n", 1)[1])

    def _events(self):
        """Time and text. A chunk of the transfer is whole events, so its frame never stands inside of one."""
        ends, total = [], 0
        for piece in self._pieces:
            total += len(piece)
            ends.append(total)
        return [(self._times[bisect.bisect_left(ends, match.end())], match.group(1))
                for match in EVENT.finditer(self.raw())]

    def answer(self):
        return Answer(self)


class Answer:
    """A streamed answer: its text, when each piece of it came, and what the server says of it."""

    def __init__(self, exchange):
        self.begin = exchange.begin
        self.body = exchange.body
        self.times, self.pieces, self.scores = [], [], []
        self.finish_reason = self.usage = self.timings = None
        self.is_whole = False
        self.error = None if exchange.status() == 200 else f"status {exchange.status()}: {exchange.raw()[-300:]!r}"
        for moment, text in exchange._events():
            if text == b"[DONE]":
                self.is_whole = True
            else:
                self._take(moment, json.loads(text))

    def _take(self, moment, chunk):
        if "error" in chunk:
            self.error = str(chunk["error"])
            return
        self.usage = chunk.get("usage") or self.usage
        self.timings = chunk.get("timings") or self.timings
        for choice in chunk["choices"]:
            self.finish_reason = choice["finish_reason"] or self.finish_reason
            delta = choice.get("delta", choice)
            text = delta.get("content") or delta.get("reasoning_content") or delta.get("text")
            if text:
                self.times.append(moment)
                self.pieces.append(text)
            if choice["logprobs"]:
                self.scores.append(choice["logprobs"])

    @property
    def text(self):
        return "".join(self.pieces)

    @property
    def seconds_to_first(self):
        return self.times[0] - self.begin

    def gaps(self):
        """Pairs of times between which one piece after the other came."""
        return list(zip(self.times, self.times[1:]))


def ask(port, path, body=None):
    """Status and JSON of one request, alone."""
    exchange = asyncio.run(Exchange(path, body).run(port))
    return exchange.status(), exchange.json()


def stream(port, path, body):
    """One streamed answer, alone."""
    body = {**body, "stream": True, "stream_options": {"include_usage": True}}
    answer = asyncio.run(Exchange(path, body).run(port)).answer()
    assert answer.error is None and answer.is_whole, answer.error or "the stream broke off"
    return answer
