"""The preview's routes: one method each, named after method and path (`post_answer_now`: POST /api/answer-now)."""

import json
import re

import conversations
import examples

PAGE_SIZE = 40


def literal_of(grammar: str) -> str:
    body = re.search(r'::=\s*"((?:[^"\\]|\\.)*)"', grammar, re.S).group(1)
    simple = {"n": "\n", "r": "\r", "t": "\t"}
    return re.sub(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))",
                  lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else simple.get(m[3], m[3]), body, flags=re.S)


class Routes:
    """Needs of the class that mixes it in: house, fields, pairs, path; html(), json(), note(), reply()."""

    # ---- turns ----
    def files(self) -> list[dict]:
        names = [v for k, v in self.pairs if k == "attachment_name"]
        texts = [v for k, v in self.pairs if k == "attachment_text"]
        return [{"name": n, "text": t, "tokens": len(t) // 4 + 1} for n, t in zip(names, texts)]

    def post_queue(self) -> None:
        session = self.current()
        before = session.queued or {"text": "", "attachments": []}
        session.queued = {"text": "\n\n".join(filter(None, [before["text"], self.fields.get("message", "")])),
                          "attachments": before["attachments"] + self.files()}
        session.send_queued = lambda: self.send_queued(session)
        if not session.turn:
            self.send_queued(session)
        self.html("fragments/queued", queued=session.queued, taken_back=None)

    def send_queued(self, session) -> None:
        queued, session.queued = session.queued, None
        if queued:
            parent = session.leaf
            asked = session.add(parent, role="user", **queued)
            self.begin(session, asked["id"], queued["text"]).start(parent)

    def post_unqueue(self) -> None:
        session = self.current()
        taken, session.queued = session.queued, None
        self.html("fragments/queued", queued=None, taken_back=taken if self.fields.get("edit") == "on" else None)

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
        files = self.files()
        if not text.strip() and not files:
            return self.note("bad", "An empty message was not sent.", status=400)
        if session and session.turn:
            return self.note("warn", "An answer is still being written.", "Your message was not sent; it is in the input again.", status=409)
        session = session or self.house.new(text.strip().splitlines()[0][:60])
        session.think = self.fields.get("think", "off") == "on" if "think" in self.fields else session.think
        parent = session.leaf
        asked = session.add(parent, role="user", text=text, attachments=files)
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
            return self.html("fragments/messages", session=self.view(session), queued=session.queued, messages=shown[start:end], toast=None, older_than=ids[start] if start else None)
        if "after" in self.fields and self.fields["after"] in ids:
            return self.html("fragments/messages", session=self.view(session), queued=session.queued, messages=shown[ids.index(self.fields["after"]) + 1:], toast=None, older_than=None)
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
        settings = {**{key: self.fields.get(key) or None for key in examples.SETTINGS}, "tools": self.fields.get("tools") == "on"}
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
        self.fields["message"] = "Summarize our conversation so far in one paragraph."
        self.post_chat()
        self.house.sessions[self.fields["session_id"]].turn.plan["note"] = "What stands above was replaced by a summary."

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
