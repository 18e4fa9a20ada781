"""Conversations of the preview: trees of messages in memory, and the turns that write them, each in a thread of its own."""

import json
import queue
import re
import threading
import time

import examples


class Session:
    def __init__(self, ids: examples.Ids, title: str = "", group: str = "Today"):
        self.ids, self.id, self.title, self.group = ids, ids.new(), title, group
        self.pinned = self.archived = False
        self.think, self.settings = True, dict(examples.SETTINGS)
        self.nodes, self.leaf, self.turn = {}, None, None
        self.listeners: list[queue.Queue] = []
        self.queued: dict | None = None  # {text, attachments}
        self.send_queued = lambda: None  # what sends it when an answer has ended

    def add(self, parent: str | None, **fields) -> dict:
        node = {"id": self.ids.new(), "parent": parent, **fields}
        self.nodes[node["id"]] = node
        self.leaf = node["id"]
        return node

    def path(self) -> list[dict]:
        nodes, at = [], self.leaf
        while at:
            nodes.append(self.nodes[at])
            at = self.nodes[at]["parent"]
        return nodes[::-1]

    def select(self, node_id: str) -> None:
        """Makes the newest branch below a message the shown one."""
        self.leaf = node_id
        while below := [n["id"] for n in self.nodes.values() if n["parent"] == self.leaf]:
            self.leaf = below[-1]

    def shown(self) -> list[dict]:
        """The messages of the branch, as the templates want them."""
        path = self.path()
        for node in path:
            ids = [n["id"] for n in self.nodes.values() if n["parent"] == node["parent"] and n["role"] == node["role"]]
            at = ids.index(node["id"])
            node["branch"] = {"index": at + 1, "count": len(ids), "previous_id": ids[at - 1] if at else None,
                              "next_id": ids[at + 1] if at + 1 < len(ids) else None}
            node["is_last"] = node is path[-1]
        return path

    def used(self) -> int:
        return 140 + sum(len(json.dumps(n, default=str)) // 5 for n in self.path())

    def tell(self, name: str, data: dict, event_id: str = "") -> None:
        for listener in list(self.listeners):
            listener.put((name, data, event_id))


class Stopped(Exception):
    pass


class Turn:
    """One answer while it is written."""

    def __init__(self, session: Session, message: dict, text: str, pace_s: float, plan: dict):
        self.session, self.message, self.text, self.pace_s, self.plan = session, message, text, pace_s, plan
        self.id = message["turn_id"]
        self.phase, self.offset, self.tokens, self.log = "reading", 0, 0, []
        self.stop, self.skip, self.paused, self.decision = threading.Event(), threading.Event(), threading.Event(), threading.Event()
        self.allowed = False
        self.progress = {"phase": "reading", "read": 0, "total": 0}
        self.lock = threading.RLock()

    def start(self, parent: str) -> None:
        self.session.turn = self
        self.emit("turn", {"message": self.message["id"], "parent": parent})
        threading.Thread(target=self.run, daemon=True).start()

    def emit(self, name: str, data: dict) -> None:
        with self.lock:
            event = (name, {"turn": self.id, **data}, f"{self.id}.{self.offset}")
            self.log.append(event)
            self.session.tell(*event)

    def snapshot(self) -> tuple:
        parts = [{"kind": "tool", "call": p["call"]["id"], "state": p["call"]["state"]} if p["kind"] == "tool" else
                 {"kind": p["kind"], "text": p["text"], "tokens": p.get("tokens", 0), "ms": p.get("ms", 0)} for p in self.message["parts"]]
        return ("snapshot", {"turn": self.id, "message": self.message["id"], "parts": parts, "progress": self.progress}, f"{self.id}.{self.offset}")

    def show(self, phase: str, **fields) -> None:
        self.phase = phase
        self.progress = {"phase": phase, "tokens": self.tokens, "context_used": self.session.used(),
                         "context_max": examples.MODEL["context_length"], **fields}
        self.emit("progress", self.progress)

    def wait(self, seconds: float) -> None:
        if self.paused.is_set():
            before = self.progress
            self.show("paused")
            while self.paused.is_set() and not self.stop.is_set():
                time.sleep(0.02)
            self.show(**before)
        if self.stop.wait(seconds):
            raise Stopped

    def run(self) -> None:
        reason = "done"
        try:
            self.read()
            if self.plan.get("think"):
                self.write("thinking", examples.THOUGHT)
            if self.plan.get("tool"):
                self.use_tool()
            if self.plan.get("fail"):
                raise RuntimeError
            self.write("text", self.text)
            if self.plan.get("limit"):
                reason = "limit"
        except Stopped:
            reason = "stopped"
        except RuntimeError:
            reason = "error"
            self.message["error"] = {"text": "The disk is full, so the answer could not be saved.", "hint": "Free some space, then try again."}
        self.message.update(state=reason, tokens=self.tokens, tokens_per_second=16.2, limit=512)
        self.session.turn = None
        used = {"context_used": self.session.used(), "context_max": examples.MODEL["context_length"]}
        if reason == "error":
            self.emit("error", {"message": self.message["id"], **self.message["error"], **used})
        else:
            self.emit("done", {"message": self.message["id"], "reason": reason, "tokens": self.tokens, **used})
        if reason == "done" and "note" in self.plan:
            note = self.session.add(self.session.leaf, role="note", text=self.plan["note"])
            self.emit("snapshot", {"turn": None, "last": note["id"]})
        self.session.send_queued()

    def read(self) -> None:
        total = self.session.used()
        for step in range(1, 6):
            self.show("reading", read=total * step // 5, total=total, left_ms=(5 - step) * self.pace_s * 8000)
            self.wait(self.pace_s * 8)

    def write(self, kind: str, text: str) -> None:
        parts = self.message["parts"]
        if kind == "text" and parts and parts[-1]["kind"] == "text":
            index = len(parts) - 1
        else:
            index = len(parts)
            parts.append({"kind": kind, "text": "", "tokens": 0, "ms": 0})
        part, started = parts[index], time.time()
        pieces = re.findall(r"\S{1,7}\s?|\s", text)
        for n, piece in enumerate(pieces):
            if kind == "thinking" and self.skip.is_set():
                break
            with self.lock:
                part["text"] += piece
                self.tokens += 1
                self.offset += len(piece.encode())
                part.update(tokens=part.get("tokens", 0) + 1, ms=(time.time() - started) * 1000)
                fields = {"tokens": part["tokens"], "ms": part["ms"]} if kind == "thinking" else {}
                self.emit("thinking" if kind == "thinking" else "delta", {"message": self.message["id"], "part": index, "text": piece, **fields})
            if n % 10 == 0:
                self.show("thinking" if kind == "thinking" else "writing", tokens_per_second=16.2)
            self.wait(self.pace_s * (4 if kind == "thinking" else 1))  # a thought is short here, and must be met

    def use_tool(self) -> None:
        call = {"id": self.session.ids.new(), "name": "calculator", "arguments": [{"name": "expression", "value": "(3 + 4) * 12.5"}],
                "state": "asking", "result": None, "ms": None}
        self.message["parts"].append({"kind": "tool", "call": call})
        tell = lambda: self.emit("tool", {"message": self.message["id"], "part": len(self.message["parts"]) - 1, "call": call["id"], "state": call["state"]})
        tell()
        self.show("asking", tool="calculator")
        while not self.decision.wait(0.02):
            self.wait(0)
        call.update(state="running" if self.allowed else "denied")
        tell()
        if self.allowed:
            self.show("tool", tool="calculator")
            self.wait(0.2)
            call.update(state="done", result="87.5", ms=212)
            tell()
