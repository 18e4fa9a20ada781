"""What was deleted is in no file of the data folder once the time for undo is over."""
import json
import signal
import struct
import time

from full_disk import Conversation
from kill_client import Client
from server import Server

WORD = "Ξανθίππη"                # stands in all that is deleted
PIECES = ("Ξανθίππη", "ξανθίππη", "ξαν", "θίπ")   # as the search index would have it, too
KEPT = "heliotrope"
LATEST_S = 60                    # the time for undo is 30 s, from the last start


def literal(text):
    return {"think": "off", "grammar": f'root ::= "{text}"'}


class Folder:
    """A server on a data folder of its own."""

    def __init__(self, bench, name, *flags):
        self.bench, self.data, self.flags = bench, bench.folder / name, flags
        self.start()

    def start(self):
        self.server = Server(self.bench, "--data-dir", self.data, "--no-log-requests", *self.flags)
        self.client = Client(self.server.port)

    def talk(self, message, answer, session="", **fields):
        return Conversation(self.client, self.server.port, message, session, **literal(answer), **fields).wait()

    def ids_of(self, text):
        return tuple(json.loads(self.server.ask("/tokenize", {"content": text})[1])["tokens"])

    def holds(self, *needles):
        """Those of the needles that stand in some file, with the file's name."""
        found = set()
        for path in self.data.iterdir():
            content = path.read_bytes()
            found |= {(needle, path.name) for needle in needles if as_bytes(needle) in content}
        return sorted(found, key=str)


def as_bytes(needle):
    return needle.encode() if isinstance(needle, str) else struct.pack(f"<{len(needle)}i", *needle)


class Forgotten:
    """Deletes at once and looks when the time is over: what is done between costs no time."""

    def __init__(self, report, bench):
        self.report = report
        self.running = Folder(bench, "forgotten")
        self.restarted = Folder(bench, "forgotten-after-kill")
        self.deleted_at = 0.0

    def __enter__(self):
        self.delete(self.running)
        self.delete(self.restarted)
        self.restarted.server.end(signal.SIGKILL)
        self.restarted.start()
        self.deleted_at = time.monotonic()
        return self

    def __exit__(self, *error):
        for folder in (self.running, self.restarted):
            folder.server.end()

    @staticmethod
    def delete(folder):
        """Everything that a conversation has, and one message of another conversation, is deleted."""
        client = folder.client
        kept = folder.talk(f"A {KEPT}", f"Yes, a {KEPT}.")
        part = folder.talk(f"Once {WORD}", f"Then {WORD}.", kept.id)
        gone = folder.talk(f"{WORD} says", f"So {WORD}.", attachment_name=f"{WORD}.txt", attachment_text=f"{WORD} " * 40)
        client.post("/api/edit", message_id=gone.answer_id - 1, message=f"{WORD} asks", **literal(f"No {WORD}."))
        client.post("/api/stop", session_id=gone.id)
        client.post("/api/rename", session_id=gone.id, title=f"About {WORD}")
        client.post("/api/settings", session_id=gone.id, system=f"You are {WORD}.")
        assert folder.holds(WORD), "the word is nowhere before it is deleted"
        client.post("/api/delete", message_id=part.answer_id - 1)
        client.post("/api/delete", session_id=gone.id)
        assert folder.holds(WORD), "the word is gone while it could be brought back"

    def judge(self):
        for folder, name in ((self.running, "deleted"), (self.restarted, "deleted before a kill")):
            traces = (*PIECES, folder.ids_of(WORD))
            while folder.holds(*traces) and time.monotonic() < self.deleted_at + LATEST_S:
                time.sleep(0.5)
            after_s = time.monotonic() - self.deleted_at
            left = folder.holds(*traces)
            found = folder.client.get("/api/search", q=WORD).text
            self.report.judge(not left and f"<mark>{WORD}" not in found and folder.holds(KEPT),
                              f"forgotten: {name}: looked at after {after_s:.0f} s, {len(left)} traces are left {left[:3]}")
            status = folder.server.end()
            left = folder.holds(*traces)
            self.report.judge(status == 0 and not left and folder.holds(KEPT),
                              f"forgotten: {name}: when the server has ended {len(left)} traces are left {left[:3]}")
