"""A client of the page's routes that knows what it was told, and when the server was gone before it had told all."""
import http.client
import json
import re
import threading
import time
import urllib.parse

PATIENCE_S = 60


class Lost(Exception):
    """The server was gone before its answer was here in full."""


class Full(Exception):
    """The model's context has no room for what was asked; nothing has changed."""


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text

    def message_ids(self):
        """Of the messages that the answer shows, in the order of the page."""
        return [int(number) for number in re.findall(r'id="m-(\d+)"', self.text)]

    def undo_id(self):
        return int(re.search(r'"undo_id": "(\d+)"', self.text)[1])


class Client:
    def __init__(self, port):
        self.port = port

    def ask(self, method, path, fields=None):
        """What htmx would ask; any answer is one, if it came in full."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        headers = {"HX-Request": "true", "Content-Type": "application/x-www-form-urlencoded"}
        try:
            connection.request(method, path, None if fields is None else urllib.parse.urlencode(fields), headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read().decode())
        except (OSError, http.client.HTTPException) as error:
            raise Lost(f"{method} {path}: {error!r}") from error
        finally:
            connection.close()

    def get(self, path, **fields):
        answer = self.ask("GET", path + ("?" + urllib.parse.urlencode(fields) if fields else ""))
        assert answer.status == 200, f"GET {path} {fields}: {answer.status} {answer.text[:300]}"
        return answer

    def post(self, path, **fields):
        answer = self.ask("POST", path, fields)
        if answer.status == 400 and "With this message the conversation has" in answer.text:
            raise Full(path)
        assert answer.status == 200, f"POST {path} {fields}: {answer.status} {answer.text[:300]}"
        return answer

    def session_ids(self):
        return json.loads(self.get("/api/session-ids").text)

    def export(self, session):
        """The session as our own export has it."""
        return json.loads(self.get("/api/export-chat", format="json", session_id=session).text)["sessions"][0]

    def branch(self, session):
        """The ids of the newest messages that the page shows."""
        return self.get("/api/messages", session_id=session).message_ids()


def joined(parts):
    """Parts of an answer as one text, which only grows while the answer does."""
    return "".join(f"\0{part['kind']}:{part['text']}" for part in parts)


class Told:
    """What a stream said of one answer."""

    def __init__(self, parts=()):
        self.parts = [dict(part) for part in parts]
        self.growth = []       # pairs of a time and the length of the joined text from then on
        self.reason = None     # how it ended
        self.is_whole = True   # False: the stream began when the answer had ended

    def take(self, name, data):
        if name == "snapshot":
            self.parts = [{"kind": part["kind"], "text": part["text"]} for part in data["parts"]]
        elif name in ("thinking", "delta"):
            if data["part"] == len(self.parts):
                self.parts.append({"kind": "thinking" if name == "thinking" else "text", "text": ""})
            self.parts[data["part"]]["text"] += data["text"]
        elif name in ("done", "error"):
            self.reason = data.get("reason", "error")
        self.growth.append((time.monotonic(), len(joined(self.parts))))

    def first_time_beyond(self, length):
        """When more than that much was told; None: never."""
        return next((moment for moment, told in self.growth if told > length), None)


class Listener(threading.Thread):
    """Reads a session's stream until it ends. What it hears of message N is in told[N]."""

    def __init__(self, port, session, told):
        super().__init__(daemon=True)
        self.session = session
        self.told = told
        self.begun = threading.Event()
        self.news = threading.Condition()
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        self.start()

    def run(self):
        try:
            self._connection.request("GET", f"/api/stream/{self.session}")
            answer = self._connection.getresponse()
            name = ""
            while line := answer.readline():
                field, _, value = line.decode().rstrip("\n").partition(": ")
                if not line.endswith(b"\n"):
                    break
                if field == "event":
                    name = value
                elif field == "data":
                    self._take(name, json.loads(value))
        except (OSError, http.client.HTTPException):
            pass  # the server is gone
        finally:
            self._connection.close()
            self.begun.set()
            with self.news:
                self.news.notify_all()

    def _take(self, name, data):
        if data.get("message"):
            self.told.setdefault(int(data["message"]), Told()).take(name, data)
        elif name == "snapshot" and data["last"]:
            self._take_end(int(data["last"]))
        self.begun.set()
        with self.news:
            self.news.notify_all()

    def _take_end(self, last):
        """No turn runs (any more), and nobody was there to hear how it ended."""
        told = self.told.get(last)
        if told is None or told.reason is None:
            told = self.told.setdefault(last, Told())
            told.is_whole = False
            told.reason = "unknown"

    def wait_for(self, condition, seconds=PATIENCE_S):
        with self.news:
            return self.news.wait_for(lambda: condition() or not self.is_alive(), seconds) and condition()
