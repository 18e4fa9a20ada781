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

import examples
import house
import routes
import templates

STATIC = pathlib.Path(__file__).resolve().parents[2] / "web" / "static"
CSP = ("default-src 'none'; script-src 'self' 'nonce-{0}'; style-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; "
       "worker-src 'self'; form-action 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'")


class Handler(routes.Routes, BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    house: house.House

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
        self.html("fragments/messages", session=self.view(session), queued=session.queued, messages=shown[-routes.PAGE_SIZE:], toast=toast, context=self.context(session),
                  older_than=shown[-routes.PAGE_SIZE]["id"] if len(shown) > routes.PAGE_SIZE else None)

    def context(self, session=None) -> dict:
        return {"used": session.used() if session else 0, "max": self.house.model["context_length"]}

    def session_on_page(self) -> str:
        return self.headers.get("HX-Current-URL", "").split("?")[0].split("#")[0].rsplit("/", 1)[-1]

    def session_list(self, toast=None, notices=(), headers=None, leaves=False) -> None:
        self.html("fragments/sessions", headers=headers, **self.lists(self.session_on_page()), archived=False, toast=toast, notices=list(notices),
                  leaves=leaves, starters=examples.STARTERS, context=self.context())

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
        if session and self.fields.get("message") in session.nodes and self.fields["message"] not in [node["id"] for node in session.path()]:
            session.select(self.fields["message"])
        shown = session.shown() if session else []
        turn = session.turn if session else None
        asked = [n for n, node in enumerate(shown) if node["id"] == self.fields.get("message")]
        first = max(0, asked[0] - 10 if asked else len(shown) - routes.PAGE_SIZE)
        self.html("pages/chat", session=view, messages=shown[first:], older_than=shown[first]["id"] if first else None,
                  turn={"id": turn.id, "message_id": turn.message["id"], "phase": turn.phase} if turn else None,
                  context=self.context(session), starters=examples.STARTERS,
                  queued=session.queued if session else None, **self.lists(session_id))

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
    Handler.house = house.House(chosen.pace_ms / 1000, chosen.demo)
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
