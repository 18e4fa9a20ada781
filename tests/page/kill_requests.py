"""What a client asks of the page's routes, by chance but always the same, and what it knows from the answers."""
import functools
import json
import random
import time
from dataclasses import dataclass

from kill_client import Full, Listener
from kill_model import Node, Session, json_of

MOST_SESSIONS, LONGEST_PATH = 9, 12
UNDO_S = 20              # of the 30 that the server gives
WORDS = ("amber", "birch", "copper", "delta", "ember", "fjord", "granite", "harbour", "iris", "juniper")


@dataclass
class Pending:
    """A request whose answer is not here yet: the conversation before and after it, where None is one that is not in the list."""
    kind: str
    before: object = None
    after: object = None
    new: tuple = ()
    told: frozenset = frozenset()  # ids of answers that were told of before, also of those that were deleted since


def where_it_fits(request):
    """Asks again, of another conversation, where the model's context has no room for this one's."""
    @functools.wraps(request)
    def ask(self, *arguments, **more):
        while True:
            try:
                return request(self, *arguments, **more)
            except Full:
                self.pending.before.is_for_show = True
                self.pending = None
    return ask


class Requests:
    """Those of one client, on a server that is started again and again. Each throws Lost when the server is gone."""

    def __init__(self):
        self.draw = random.Random(6)
        self.n_texts = 0
        self.sessions = {}     # those in the list, by id
        self.erased = {}       # by id: the session, its undo id or None, when
        self.imported = []     # groups that the server has, under ids that are not known yet
        self.pending = None
        self.server = self.client = None
        self.listeners, self.told = {}, {}
        self.usual_s = {}      # of requests, by kind

    # ---- what is said ----
    def text(self):
        self.n_texts += 1
        return " ".join([f"Text {self.n_texts}", *self.draw.choices(WORDS, k=self.draw.randint(1, 5))])

    def answer_form(self, n_words=None):
        """Fields that decide what the answer will be, and the answer where it is known."""
        if n_words is None and self.draw.random() < 0.4:
            text = self.text() + "."
            return {"grammar": f'root ::= "{text}"'}, text
        n_words = n_words or self.draw.randint(3, 40)
        return {"grammar": "root ::=" + " word" * n_words + "\nword ::= " + " | ".join(f'"{word} "' for word in WORDS)}, n_words

    def think(self):
        return {"think": "on", "thinking_budget_tokens": 8} if self.draw.random() < 0.25 else {"think": "off"}

    # ---- requests ----
    def ask(self, pending, path, **fields):
        self.pending = pending
        if pending.before is not None:
            pending.told = frozenset(self.told.get(pending.before.id, {}))
        begin = time.monotonic()
        answer = self.client.post(path, **fields)
        self.usual_s[pending.kind] = max(time.monotonic() - begin, 0.8 * self.usual_s.get(pending.kind, 0))
        self.pending = None
        return answer

    def listen(self, session):
        if session.id not in self.listeners:
            told = self.told.setdefault(session.id, {})
            self.listeners[session.id] = Listener(self.server.port, session.id, told)
            self.listeners[session.id].begun.wait(60)

    def put(self, session, ids):
        """The session as an answered request made it; ids are those of its last messages."""
        for node, number in zip(session.path()[::-1], ids[::-1]):
            node.id = number
        self.sessions[session.id] = session
        if ids:
            session.leaf.told = self.told.setdefault(session.id, {}).setdefault(ids[-1], session.leaf.told)

    def idle(self):
        """A session that can be talked to."""
        ready = [session for session in self.sessions.values() if not session.is_for_show and not session.is_running() and
                 session.leaf is not None and session.leaf.id and len(session.path()) <= LONGEST_PATH]
        return self.draw.choice(ready) if ready else self.start_session(wait=True)

    def start_session(self, wait=False):
        text = self.text()
        form, forced = self.answer_form(3 if wait else None)
        session = Session(None, text).with_question(None, text, forced)
        answer = self.ask(Pending("send", new=(session,)), "/api/chat", session_id="", message=text, **self.think(), **form)
        session.id = answer.headers["HX-Replace-Url"].rsplit("/", 1)[1]
        self.put(session, answer.message_ids())
        self.listen(session)
        if wait:
            self.listeners[session.id].wait_for(lambda: not session.is_running())
        return session

    @where_it_fits
    def send(self, n_words=None):
        session, text = self.idle(), self.text()
        form, forced = self.answer_form(n_words)
        after = session.with_question(session.leaf, text, forced)
        self.listen(session)
        answer = self.ask(Pending("send", session, after), "/api/chat", session_id=session.id, message=text, **self.think(),
                          **form)
        self.put(after, answer.message_ids())

    @where_it_fits
    def edit(self):
        session, text = self.idle(), self.text()
        old = self.draw.choice([node for node in session.path() if node.role == "user" and node.id] or [None])
        if old is None:
            return
        form, forced = self.answer_form()
        after = session.with_question(old.parent, text, forced)
        self.listen(session)
        answer = self.ask(Pending("edit", session, after), "/api/edit", message_id=old.id, message=text, **form)
        self.put(after, answer.message_ids()[-2:])

    @where_it_fits
    def regenerate(self):
        session = self.idle()
        form, forced = self.answer_form()
        after = session.with_answer(session.leaf if session.leaf.role == "user" else session.leaf.parent, forced)
        self.listen(session)
        answer = self.ask(Pending("regenerate", session, after), "/api/regenerate", message_id=session.leaf.id, **form)
        self.put(after, answer.message_ids()[-1:])

    @where_it_fits
    def go_on(self):
        session = self.idle()
        if session.leaf.kept is None:
            return  # its parts are known after the next start
        after = session.with_continuation(session.leaf)
        self.listen(session)
        told = self.told[session.id]
        before = dict(told)
        told[after.leaf.id] = after.leaf.told
        try:
            self.ask(Pending("continue", session, after), "/api/continue", message_id=session.leaf.id, max_tokens=20)
        except Full:
            told.clear()
            told.update(before)
            raise
        self.put(after, [])

    def stop(self):
        for session in self.sessions.values():
            if session.is_running():
                session.leaf.stops = True
                self.ask(Pending("stop", session, session), "/api/stop", session_id=session.id)
                return

    def rename(self):
        if self.sessions:
            session = self.draw.choice(list(self.sessions.values()))
            after = session.with_title("Title: " + self.text())
            self.ask(Pending("rename", session, after), "/api/rename", session_id=session.id, title=after.title)
            self.put(after, [])

    def delete(self):
        if self.draw.random() < 0.5 and len(self.sessions) < MOST_SESSIONS:
            return self.delete_messages()
        session = self.draw.choice(list(self.sessions.values()) or [self.start_session()])
        for node in session.nodes:
            node.stops = node.stops or node.told is not None
        answer = self.ask(Pending("delete", session, None), "/api/delete", session_id=session.id)
        self.listeners.pop(session.id, None)
        self.erased[session.id] = (self.sessions.pop(session.id), answer.undo_id(), time.monotonic())

    def delete_messages(self):
        session = self.idle()
        node = self.draw.choice([node for node in session.nodes if node.id])
        after = session.without(node)
        answer = self.ask(Pending("delete", session, after), "/api/delete", message_id=node.id)
        after.last_deletion = (answer.undo_id(), session, time.monotonic())
        self.put(after, [])

    def undo(self):
        for session in self.sessions.values():
            number, before, moment = session.last_deletion or (None, None, 0)
            if number and time.monotonic() - moment < UNDO_S:
                after = before.changed()
                self.ask(Pending("undo", session, after), "/api/undo", undo_id=number)
                return self.put(after, [])
        for session, number, moment in self.erased.values():
            if number and time.monotonic() - moment < UNDO_S:
                self.ask(Pending("undo", None, session), "/api/undo", undo_id=number)
                self.put(session, [])
                del self.erased[session.id]
                return None
        return None

    def import_file(self):
        new = [self.foreign_session(150 if self.draw.random() < 0.3 else self.draw.randint(2, 8))
               for _ in range(self.draw.randint(1, 3))]
        document = {"format": "smolbot", "version": 1, "sessions": [json_of(session) for session in new]}
        self.ask(Pending("import", new=tuple(new)), "/api/import", file=json.dumps(document))
        self.imported.append(new)

    def foreign_session(self, n_messages):
        session = Session(None, "Import: " + self.text(), has_own_title=True, is_for_show=n_messages > LONGEST_PATH)
        for number in range(n_messages):
            node = Node("assistant" if number % 2 else "user", session.leaf, self.text())
            if node.role == "assistant":
                node.kept = ("done", [{"kind": "text", "text": node.text}])
            session.leaf = node
            session.nodes.append(node)
        return session
