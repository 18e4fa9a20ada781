#!/usr/bin/env python3
"""Serves the chat page without the program: templates by Jinja2, answers by rote, everything in memory. For looking and for tests.

  tests/page/preview.py --port 3100 --pace-ms 15     needs python3-jinja2

Words in a message choose what its answer shows: "tool", "fail", "limit", "long". A form field `grammar` with one literal
(root ::= "...") is answered with that literal.
"""

import argparse
import email.parser
import email.policy
import json
import mimetypes
import pathlib
import queue
import re
import secrets
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import conversations
import examples
import templates

STATIC = pathlib.Path(__file__).resolve().parents[2] / "web" / "static"
CSP = ("default-src 'none'; script-src 'self' 'nonce-{0}'; style-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; "
       "worker-src 'self'; form-action 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'")
PAGE_SIZE = 40


def literal_of(grammar: str) -> str:
    body = re.search(r'::=\s*"((?:[^"\\]|\\.)*)"', grammar, re.S).group(1)
    simple = {"n": "\n", "r": "\r", "t": "\t"}
    return re.sub(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))",
                  lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else simple.get(m[3], m[3]), body, flags=re.S)


class House:
    """All conversations, and what the preview was started with."""

    def __init__(self, pace_s: float, demo: bool):
        self.ids, self.pace_s, self.sessions, self.deleted = examples.Ids(), pace_s, {}, {}
        self.model = {**examples.MODEL, "is_demo": demo}
        self.fill()

    def fill(self) -> None:
        for title, group in [("Trip to Lisbon", "Today"), ("Fix my regex", "Today"), ("Birthday poem for Ana", "Yesterday"),
                             ("Ideas for a garden shed that is long in the title", "Earlier")]:
            session = self.new(title, group)
            asked = session.add(None, role="user", text=f"About: {title}", attachments=[])
            session.add(asked["id"], **self.answer(examples.SHORT))
        showcase = self.new("How a hash map works", "Pinned")
        showcase.pinned = True
        asked = showcase.add(None, role="user", text="Explain how a hash map works, with a small example.", attachments=[])
        first = showcase.add(asked["id"], **self.answer(examples.SHORT))
        answer = showcase.add(asked["id"], **self.answer(examples.ANSWER, [{"kind": "thinking", "text": examples.THOUGHT, "tokens": 71, "ms": 12300}]))
        note = {"name": "notes.txt", "text": "load factor 0.75\nresize doubles", "tokens": 9}
        asked = showcase.add(answer["id"], role="user", text="And what is (3 + 4) * 12.5? My notes are attached.", attachments=[note])
        call = {"id": self.ids.new(), "name": "calculator", "arguments": [{"name": "expression", "value": "(3 + 4) * 12.5"}],
                "state": "done", "result": "87.5", "ms": 212}
        last = showcase.add(asked["id"], **self.answer("It is **87.5**.", [{"kind": "tool", "call": call}]))
        last["state"] = "limit"
        self.showcase, self.first_branch = showcase.id, first["id"]
        broken = self.new("Stopped in the middle", "Today")
        asked = broken.add(None, role="user", text="Tell me about trams.", attachments=[])
        node = broken.add(asked["id"], **self.answer("The first trams were drawn by horses. In"))
        node["state"] = "interrupted"
        many = self.new("A thousand messages", "Earlier")
        parent = None
        for n in range(500):
            parent = many.add(parent, role="user", text=f"Question {n + 1}", attachments=[])["id"]
            parent = many.add(parent, **self.answer(f"Answer **{n + 1}**.\n\n- one\n- two `code`"))["id"]

    def answer(self, text: str, before: list | None = None) -> dict:
        return {"role": "assistant", "turn_id": self.ids.new(), "state": "done", "tokens": len(text) // 4, "tokens_per_second": 16.2, "limit": 512,
                "parts": [*(before or []), {"kind": "text", "text": text}]}

    def new(self, title: str, group: str = "Today") -> conversations.Session:
        session = conversations.Session(self.ids, title, group)
        self.sessions[session.id] = session
        return session

    def groups(self, current: str = "", archived: bool = False) -> list[dict]:
        groups: dict[str, list] = {"Pinned": [], "Today": [], "Yesterday": [], "Earlier": []}
        for session in reversed(self.sessions.values()):
            if session.archived == archived:
                groups["Pinned" if session.pinned else session.group if session.group != "Pinned" else "Today"].append(
                    {"id": session.id, "title": session.title, "pinned": session.pinned, "archived": session.archived,
                     "is_current": session.id == current, "is_running": session.turn is not None})
        return [{"label": label, "sessions": items} for label, items in groups.items() if items]

    def find_message(self, message_id: str) -> tuple:
        for session in self.sessions.values():
            if message_id in session.nodes:
                return session, session.nodes[message_id]
        return None, None

    def find_call(self, call_id: str) -> tuple:
        for session in self.sessions.values():
            for node in session.nodes.values():
                for index, part in enumerate(node.get("parts", [])):
                    if part["kind"] == "tool" and part["call"]["id"] == call_id:
                        return session, index, part["call"]
        return None, 0, None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    house: House

    def log_message(self, *_):
        pass

    # ---- answers ----
    def reply(self, body: bytes, kind: str, status: int = 200, headers: dict | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), "X-Content-Type-Options": "nosniff",
                            "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def html(self, name: str, code: int = 200, headers: dict | None = None, **context) -> None:
        nonce = secrets.token_urlsafe(16)
        cookies = dict(pair.split("=", 1) for pair in self.headers.get("Cookie", "").split("; ") if "=" in pair)
        theme = cookies.get("theme", "auto")
        common = {"nonce": nonce, "theme": theme if theme in ("light", "dark") else "auto", "asset_version": "preview", "app": examples.APP,
                  "model": self.house.model, "sidebar_open": cookies.get("sidebar") != "closed"}
        page = templates.render(name, {**common, **context})
        self.reply(page.encode(), "text/html; charset=utf-8", code,
                   {"Content-Security-Policy": CSP.format(nonce), "Cache-Control": "no-store", **(headers or {})})

    def json(self, data, status: int = 200) -> None:
        self.reply(json.dumps(data).encode(), "application/json", status)

    def note(self, kind: str, text: str, hint: str = "", status: int = 200) -> None:
        self.html("fragments/notices", status, notices=[{"kind": kind, "text": text, "hint": hint}])

    def messages(self, session, toast=None) -> None:
        shown = session.shown()
        self.html("fragments/messages", session=self.view(session), messages=shown[-PAGE_SIZE:], toast=toast,
                  older_than=shown[-PAGE_SIZE]["id"] if len(shown) > PAGE_SIZE else None)

    def session_list(self, toast=None, notices=()) -> None:
        self.html("fragments/sessions", **self.lists(self.fields.get("current", "")), toast=toast, notices=list(notices))

    def lists(self, current: str) -> dict:
        return {"session_groups": self.house.groups(current), "archived_count": sum(s.archived for s in self.house.sessions.values())}

    @staticmethod
    def view(session) -> dict:
        return {"id": session.id, "title": session.title, "think": session.think}

    # ---- requests ----
    def read_fields(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        self.route = url.path
        pairs = urllib.parse.parse_qsl(url.query, keep_blank_values=True)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        kind = self.headers.get("Content-Type", "")
        if kind.startswith("application/x-www-form-urlencoded"):
            pairs += urllib.parse.parse_qsl(body.decode(), keep_blank_values=True)
        elif kind.startswith("multipart/form-data"):
            parsed = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
            pairs += [(p.get_param("name", header="content-disposition"), p.get_content()) for p in parsed.iter_parts()]
        self.pairs, self.fields = pairs, dict(pairs)

    def do_GET(self):
        self.read_fields()
        self.dispatch("get")

    def do_POST(self):
        self.read_fields()
        self.dispatch("post")

    def dispatch(self, method: str) -> None:
        if self.route.startswith("/static/") or self.route == "/sw.js":
            return self.static()
        if self.route in ("/", "/chat") or self.route.startswith("/chat/"):
            return self.chat(self.route.removeprefix("/chat").strip("/"))
        if self.route.startswith("/api/stream/"):
            return self.stream(self.route.removeprefix("/api/stream/"))
        handler = getattr(self, f"{method}_{re.sub('[^a-z]', '_', self.route.removeprefix('/api/').strip('/'))}", None)
        if not handler:
            return self.html("pages/error", 404, error={"title": "Not found", "text": "There is no such page."})
        handler()

    def static(self) -> None:
        path = (STATIC / (self.route.removeprefix("/static/") if self.route != "/sw.js" else "sw.js")).resolve()
        if STATIC not in path.parents or not path.is_file():
            return self.reply(b"", "text/plain", 404)
        kind = {".webmanifest": "application/manifest+json", ".woff2": "font/woff2"}.get(path.suffix) or mimetypes.guess_type(path.name)[0]
        self.reply(path.read_bytes(), kind or "text/plain", headers={"Cache-Control": "no-cache"})

    def chat(self, session_id: str) -> None:
        session = self.house.sessions.get(session_id)
        if session_id and not session:
            return self.html("pages/error", 404, error={"title": "No such conversation", "text": "It was deleted, or the address is wrong."})
        view = self.view(session) if session else {"id": "", "title": "", "think": True}
        shown = session.shown() if session else []
        turn = session.turn if session else None
        self.html("pages/chat", session=view, messages=shown[-PAGE_SIZE:], older_than=shown[-PAGE_SIZE]["id"] if len(shown) > PAGE_SIZE else None,
                  turn={"id": turn.id, "message_id": turn.message["id"], "phase": turn.phase} if turn else None,
                  context={"used": session.used() if session else 0, "max": self.house.model["context_length"]}, starters=examples.STARTERS,
                  **self.lists(session_id))

    def stream(self, session_id: str) -> None:
        session = self.house.sessions.get(session_id)
        if not session:
            return self.json({"error": "no such session"}, 404)
        listener: queue.Queue = queue.Queue()
        session.listeners.append(listener)
        turn, last = session.turn, self.headers.get("Last-Event-ID", "")
        if turn:
            with turn.lock:
                seen = [n for n, event in enumerate(turn.log) if event[2] == last]
                listener.queue.clear()
                for event in (turn.log[seen[-1] + 1:] if seen else [turn.snapshot()]):
                    listener.put(event)
        else:
            listener.put(("snapshot", {"turn": None, "last": session.leaf}, ""))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                try:
                    name, data, event_id = listener.get(timeout=15)
                except queue.Empty:
                    name, data, event_id = "ping", {}, ""
                line = f"id: {event_id}\n" if event_id else ""
                self.wfile.write(f"event: {name}\n{line}data: {json.dumps(data)}\n\n".encode())
                self.wfile.flush()
        except OSError:
            session.listeners.remove(listener)

    # ---- turns ----
    def begin(self, session, parent: str, message_text: str) -> conversations.Turn:
        node = session.add(parent, role="assistant", turn_id=self.house.ids.new(), state="running", parts=[], tokens=0)
        words = message_text.lower()
        text = literal_of(self.fields["grammar"]) if self.fields.get("grammar") else examples.ANSWER if len(words) > 24 else examples.SHORT
        if "long" in words:
            text = "\n\n".join(f"Paragraph {n}: {examples.SHORT}" for n in range(60))
        plan = {"think": self.fields.get("think", "on" if session.think else "off") == "on", **{key: key in words for key in ("tool", "fail", "limit")}}
        turn = conversations.Turn(session, node, text, self.house.pace_s, plan)
        return turn

    def post_chat(self) -> None:
        session = self.house.sessions.get(self.fields.get("session_id", ""))
        is_new = session is None
        text = self.fields.get("message", "")
        names = [v for k, v in self.pairs if k == "attachment_name"]
        texts = [v for k, v in self.pairs if k == "attachment_text"]
        if not text.strip() and not names:
            return self.note("bad", "An empty message was not sent.", status=400)
        if session and session.turn:
            return self.note("warn", "An answer is still being written.", "Your message was not sent; it is in the input again.", status=409)
        session = session or self.house.new(text.strip().splitlines()[0][:60])
        session.think = self.fields.get("think", "off") == "on" if "think" in self.fields else session.think
        parent = session.leaf
        asked = session.add(parent, role="user", text=text, attachments=[{"name": n, "text": t, "tokens": len(t) // 4 + 1} for n, t in zip(names, texts)])
        turn = self.begin(session, asked["id"], text)
        shown = session.shown()[-2:]
        self.html("fragments/turn", headers={"HX-Replace-Url": f"/chat/{session.id}"} if is_new else None, messages=shown,
                  session=self.view(session), is_new=is_new, **self.lists(session.id))
        turn.start(parent)

    def current(self):
        """The session that a request speaks of, the newest where it names none; also by one of its messages."""
        if "message_id" in self.fields:
            return self.house.find_message(self.fields["message_id"])[0]
        if "session_id" in self.fields:
            return self.house.sessions.get(self.fields["session_id"])
        return list(self.house.sessions.values())[-1]

    def act(self, change) -> None:
        session = self.current()
        if session and session.turn:
            change(session.turn)
            return self.html("fragments/notices", notices=[])
        self.note("info", "No answer is being written.")

    def post_stop(self):
        self.act(lambda turn: turn.stop.set())

    def post_pause(self):
        self.act(lambda turn: turn.paused.set())

    def post_resume(self):
        self.act(lambda turn: turn.paused.clear())

    def post_answer_now(self):
        self.act(lambda turn: turn.skip.set())

    def post_tool(self):
        session, index, call = self.house.find_call(self.fields["call_id"])
        session.turn.allowed = self.fields["decision"] == "allow"
        call["state"] = "running" if session.turn.allowed else "denied"
        session.turn.decision.set()
        self.html("fragments/tool_card", call=call, index=index)

    def get_tool(self):
        _, index, call = self.house.find_call(self.fields["call_id"])
        self.html("fragments/tool_card", call=call, index=index)

    def post_regenerate(self):
        session = self.current()
        answer = self.house.find_message(self.fields.get("message_id", ""))[1] or (session and session.path()[-1])
        if not answer:
            return self.note("info", "There is no answer yet.")
        turn = self.begin(session, answer["parent"], session.nodes[answer["parent"]]["text"])
        self.messages(session)
        turn.start(answer["parent"])

    def post_continue(self):
        session = self.current()
        answer = session and session.path() and session.path()[-1]
        if not answer or answer["role"] != "assistant":
            return self.note("info", "There is no answer to go on with.")
        answer.update(state="running", turn_id=self.house.ids.new())
        turn = conversations.Turn(session, answer, " 1879 the first electric one ran in Berlin.", self.house.pace_s, {})
        self.messages(session)
        turn.start(answer["parent"])

    def post_edit(self):
        session, old = self.house.find_message(self.fields["message_id"])
        asked = session.add(old["parent"], role="user", text=self.fields["message"], attachments=old["attachments"])
        turn = self.begin(session, asked["id"], asked["text"])
        self.messages(session)
        turn.start(old["parent"])

    def get_edit(self):
        _, message = self.house.find_message(self.fields["message_id"])
        self.html("fragments/edit", message=message, price={"tokens": 1840, "total": 2300, "seconds": 38})

    def post_branch(self):
        session, node = self.house.find_message(self.fields["message_id"])
        session.select(node["id"])
        self.messages(session)

    def get_message(self):
        session, message = self.house.find_message(self.fields["message_id"])
        session.shown()
        self.html("fragments/message", message=message)

    def get_message_footer(self):
        session, message = self.house.find_message(self.fields["message_id"])
        session.shown()
        self.html("fragments/message_footer", message=message, session=self.view(session), **self.lists(session.id))

    def get_messages(self):
        session = self.house.sessions[self.fields["session_id"]]
        shown = session.shown()
        ids = [m["id"] for m in shown]
        if "before" in self.fields:
            end = ids.index(self.fields["before"])
            start = max(0, end - PAGE_SIZE)
            return self.html("fragments/messages", session=self.view(session), messages=shown[start:end], toast=None, older_than=ids[start] if start else None)
        if "after" in self.fields and self.fields["after"] in ids:
            return self.html("fragments/messages", session=self.view(session), messages=shown[ids.index(self.fields["after"]) + 1:], toast=None, older_than=None)
        self.messages(session)

    # ---- sessions ----
    def post_delete(self):
        if "message_id" in self.fields:
            session, node = self.house.find_message(self.fields["message_id"])
            undo = self.house.ids.new()
            self.house.deleted[undo] = (session.id, session.leaf)
            session.leaf = node["parent"]
            return self.messages(session, {"text": "Deleted from here on.", "undo_id": undo, "seconds": 30, "target": "#messages"})
        session = self.house.sessions.pop(self.fields["session_id"])
        self.house.deleted[session.id] = session
        self.session_list({"text": f"“{session.title}” was deleted.", "undo_id": session.id, "seconds": 30, "target": "#session-list"})

    def post_undo(self):
        kept = self.house.deleted.pop(self.fields["undo_id"], None)
        if isinstance(kept, tuple):
            session = self.house.sessions[kept[0]]
            session.leaf = kept[1]
            return self.messages(session)
        if kept:
            self.house.sessions[kept.id] = kept
        self.session_list()

    def get_rename(self):
        session = self.house.sessions[self.fields["session_id"]]
        self.html("fragments/rename", item={"id": session.id, "title": session.title})

    def post_rename(self):
        self.house.sessions[self.fields["session_id"]].title = self.fields["title"]
        self.session_list()

    def post_pin(self):
        self.house.sessions[self.fields["session_id"]].pinned = self.fields["pinned"] == "true"
        self.session_list()

    def post_archive(self):
        self.house.sessions[self.fields["session_id"]].archived = self.fields["archived"] == "true"
        self.session_list()

    def post_import(self):
        self.session_list(notices=[{"kind": "info", "text": "1 conversation was imported.", "hint": ""}])

    def get_sessions(self):
        if self.fields.get("archived") == "true":
            return self.html("fragments/sessions", session_groups=self.house.groups(archived=True), archived_count=0, toast=None, notices=[])
        self.session_list()

    def get_search(self):
        query = self.fields.get("q", "").strip()
        if not query:
            return self.session_list()
        results = []
        for session in self.house.sessions.values():
            for node in session.path()[-40:]:
                text = node.get("text") or " ".join(p.get("text", "") for p in node.get("parts", []))
                at = text.lower().find(query.lower())
                if at >= 0:
                    results.append({"session_id": session.id, "message_id": node["id"], "title": session.title, "before": text[max(0, at - 30):at],
                                    "match": text[at:at + len(query)], "after": text[at + len(query):at + len(query) + 40]})
        self.html("fragments/search", query=query, results=results[:20], total=len(results))

    def get_session_ids(self):
        self.json(list(self.house.sessions))

    def get_export_chat(self):
        session = self.current()
        self.reply(json.dumps(session.path(), default=str).encode(), "application/json", headers={"Content-Disposition": "attachment; filename=chat.json"})

    # ---- the rest ----
    def get_settings(self):
        session = self.house.sessions.get(self.fields.get("session_id", ""))
        settings = {**(session.settings if session else examples.SETTINGS)}
        if self.fields.get("system"):
            settings["system"] = self.fields["system"]
        self.html("fragments/settings", session={"id": session.id if session else ""}, settings=settings, errors={}, saved=False, focus_system="system" in self.fields)

    def post_settings(self):
        settings = {key: self.fields.get(key) or None for key in examples.SETTINGS}
        wrong = settings["temperature"] is not None and not 0 <= float(settings["temperature"]) <= 2
        session = self.house.sessions.get(self.fields.get("session_id", ""))
        if session and not wrong:
            session.settings = settings
        self.html("fragments/settings", 400 if wrong else 200, session={"id": session.id if session else ""}, settings=settings, saved=not wrong,
                  errors={"temperature": "Between 0 and 2, please."} if wrong else {}, focus_system=False)

    def post_toggle_thinking(self):
        session = self.current()
        if session:
            session.think = [v for k, v in self.pairs if k == "think"][-1] == "on"
        self.html("fragments/thinking", price={"tokens": 1840, "total": 2300, "seconds": 38} if session and session.path() else None)

    def post_set_temperature(self):
        try:
            value = float(self.fields.get("temperature", ""))
        except ValueError:
            value = -1
        if not 0 <= value <= 2:
            return self.note("bad", "The temperature must be a number from 0 to 2.", "For instance /temp 0.7", 400)
        self.note("info", f"Temperature {value:g} from now on.")

    def post_reset_context(self):
        self.note("info", "The model has forgotten what was said so far.")

    def post_compact(self):
        self.messages(self.current())

    def post_summarize(self):
        self.fields["message"] = "Summarize our conversation so far."
        self.post_chat()

    def post_attachment(self):
        text = self.fields["text"]
        self.html("fragments/attachment", file={"name": self.fields["name"], "text": text, "tokens": len(text) // 4 + 1})

    def get_status(self):
        if self.path.startswith("/api/"):
            session = self.house.sessions.get(self.fields.get("session_id", ""))
            turn = session.turn if session else None
            return self.json({"turn": {"id": turn.id, "phase": turn.phase} if turn else None, "last": session.leaf if session else None})
        self.html("pages/status", status=examples.status(len(self.house.sessions), 0))

    def get_status_live(self):
        self.html("fragments/status_live", status=examples.status(len(self.house.sessions), 0))

    def get_login(self):
        self.html("pages/login", failed="failed" in self.fields)

    def get_preview(self):
        """Where the tests find the conversations that the preview starts with."""
        by_title = {session.title: session.id for session in self.house.sessions.values()}
        self.json({"sessions": by_title})


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):  # a browser that left is no error
            super().handle_error(request, client_address)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--port", type=int, default=3100)
    options.add_argument("--pace-ms", type=float, default=15)
    options.add_argument("--demo", action="store_true", help="as with the demo model")
    chosen = options.parse_args()
    Handler.house = House(chosen.pace_ms / 1000, chosen.demo)
    server = Server(("127.0.0.1", chosen.port), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    try:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        server.shutdown()


if __name__ == "__main__":
    main()
