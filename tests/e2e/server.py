"""The program as a server, and requests to it."""
import json
import re
import signal
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager

LOADING_S = 120


class Server:
    """`smolbot serve` on a free port; ends with SIGTERM."""

    def __init__(self, bench, *arguments, **variables):
        self.process = subprocess.Popen(
            [str(bench.program), "serve", "--port", "0", *map(str, arguments)], env=bench.env(**variables),
            cwd=bench.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = []
        self.ready = threading.Event()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        assert self.ready.wait(LOADING_S), self.lines
        found = [match for match in map(re.compile(r"answers at (http://\S+),").search, self.lines) if match]
        assert found, self.lines
        self.url = found[0].group(1)
        self.port = int(self.url.rsplit(":", 1)[1])

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))
            if "answers at http://" in line:
                self.ready.set()
        self.ready.set()

    def end(self, how=signal.SIGTERM):
        """The exit status."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        status = self.process.wait(10)
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return status

    def ask(self, path, body=None, **headers):
        """Status and text; a body makes it a POST."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json", **headers})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), 60)


@contextmanager
def serving(bench, *arguments, **variables):
    server = Server(bench, *arguments, **variables)
    try:
        yield server
    finally:
        server.end()
