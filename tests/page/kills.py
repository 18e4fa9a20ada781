"""A server that is killed at any moment of what a client asks of it keeps all that the client was told."""
import json
import random
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import dataclass

from kill_client import Client, Listener, Lost
from kill_model import Figures, Node, Session, differences, take_over
from server import Server

KINDS = ("send", "stream", "edit", "delete", "import")
MOST_SESSIONS, LONGEST_PATH = 9, 12
UNDO_S = 20              # of the 30 that the server gives
UNSAVED_S = 1.5          # a running answer is saved once a second
AT = "2026-11-28T13:00:00.000Z"
WORDS = ("amber", "birch", "copper", "delta", "ember", "fjord", "granite", "harbour", "iris", "juniper")
CHECKS = ("PRAGMA integrity_check; PRAGMA foreign_key_check;"
          "INSERT INTO found_parts (found_parts, rank) VALUES ('integrity-check', 1);")


def integrity(data, copy):
    """What SQLite's own shell finds wrong in a copy of the file and its log; the original stays as the kill left it."""
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for name in ("sessions.db", "sessions.db-wal"):
        if (data / name).exists():
            shutil.copy(data / name, copy / name)
    done = subprocess.run(["sqlite3", "-batch", "-bail", copy / "sessions.db", CHECKS], capture_output=True, text=True, check=False)
    return "" if (done.returncode, done.stdout) == (0, "ok\n") else done.stdout + done.stderr


@dataclass
class Pending:
    """A request whose answer is not here yet: the conversation before and after it, where None is one that is not in the list."""
    kind: str
    before: object = None
    after: object = None
    new: tuple = ()


class Kills:
    def __init__(self, bench, data):
        self.bench, self.data = bench, data
        self.draw = random.Random(6)
        self.n_texts = 0
        self.sessions = {}     # those in the list, by id
        self.erased = {}       # by id: the session, its undo id or None, when
        self.imported = []     # groups that the server has, under ids that are not known yet
        self.given_up = set()  # ids of those that differed
        self.pending = None
        self.server = self.client = self.killer = self.killed_at = None
        self.listeners, self.told = {}, {}
        self.usual_s = dict.fromkeys(KINDS, 0.03)
        self.figures = Figures()
        self.n_unanswered = self.n_done_unanswered = 0
        self.faults, self.broken = [], []

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
        return {"grammar": "root ::=" + " word" * n_words + "\nword ::= " + " | ".join(f'"{word} "' for word in WORDS)}, None

    def think(self):
        return {"think": "on", "thinking_budget_tokens": 8} if self.draw.random() < 0.25 else {"think": "off"}

    # ---- requests ----
    def ask(self, pending, path, **fields):
        self.pending = pending
        begin = time.monotonic()
        answer = self.client.post(path, **fields)
        self.usual_s[pending.kind] = max(time.monotonic() - begin, self.usual_s.get(pending.kind, 0) * 0.8)
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

    def send(self, n_words=None):
        session, text = self.idle(), self.text()
        form, forced = self.answer_form(n_words)
        after = session.with_question(session.leaf, text, forced)
        self.listen(session)
        answer = self.ask(Pending("send", session, after), "/api/chat", session_id=session.id, message=text, **self.think(), **form)
        self.put(after, answer.message_ids())

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

    def regenerate(self):
        session = self.idle()
        form, forced = self.answer_form()
        after = session.with_answer(session.leaf if session.leaf.role == "user" else session.leaf.parent, forced)
        self.listen(session)
        answer = self.ask(Pending("regenerate", session, after), "/api/regenerate", message_id=session.leaf.id, **form)
        self.put(after, answer.message_ids()[-1:])

    def go_on(self):
        session = self.idle()
        if session.leaf.kept is None:
            return  # its parts are known after the next start
        after = session.with_continuation(session.leaf)
        self.listen(session)
        self.told[session.id][after.leaf.id] = after.leaf.told
        self.ask(Pending("continue", session, after), "/api/continue", message_id=session.leaf.id, max_tokens=20)
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
        after.last_deletion = (answer.undo_id(), session)
        self.put(after, [])

    def undo(self):
        for session in self.sessions.values():
            if session.last_deletion and not session.is_running():
                number, before = session.last_deletion
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

    # ---- kills ----
    def start(self):
        self.server = Server(self.bench, "--data-dir", self.data, "--pace", 100, "--no-log-requests")
        self.client = Client(self.server.port)
        self.listeners, self.told, self.killed_at = {}, {}, None

    def kill_later(self, seconds):
        process = self.server.process

        def kill():
            time.sleep(seconds)
            self.killed_at = time.monotonic()
            process.kill()
        self.killer = threading.Thread(target=kill)
        self.killer.start()

    def do_something(self):
        if len(self.sessions) + sum(map(len, self.imported)) >= MOST_SESSIONS:
            return self.delete() if self.sessions else None
        weighted = {self.start_session: 2, self.send: 4, self.edit: 2, self.regenerate: 2, self.go_on: 2, self.stop: 1,
                    self.rename: 1, self.delete: 2, self.undo: 2, self.import_file: 1}
        return self.draw.choices(list(weighted), list(weighted.values()))[0]()

    def run_until_killed(self, kind):
        try:
            for _ in range(self.draw.randint(1, 4)):
                self.do_something()
                time.sleep(self.draw.uniform(0, 0.4))
            if kind == "stream":
                self.send(n_words=120)
                self.kill_later(self.draw.uniform(0.2, 3))
            else:
                self.idle()  # so that the request itself is the next one
                self.kill_later(self.draw.uniform(0, 1.5 * self.usual_s[kind]))
                {"send": self.send, "edit": self.edit, "delete": self.delete, "import": self.import_file}[kind]()
            while self.server.process.poll() is None:
                self.do_something()
                time.sleep(self.draw.uniform(0, 0.1))
        except Lost as error:
            assert self.killed_at is not None, f"the server broke off by itself: {error}"
        finally:
            if self.killer:
                self.killer.join()
        self.server.end(signal.SIGKILL)
        for listener in self.listeners.values():
            listener.join()
        self.n_unanswered += self.pending is not None

    # ---- what is there afterwards ----
    def compare(self):
        """Judges what the server has, and goes on from there."""
        pending, self.pending = self.pending or Pending("nothing"), None
        found = {number: self.client.export(number) for number in self.client.session_ids() if number not in self.given_up}
        groups = [(True, group) for group in self.imported] + ([(False, pending.new)] if pending.new else [])
        self.imported = []
        for number, session in list(self.sessions.items()):
            candidates = [session]
            if pending.before is session:
                candidates = self.candidates(pending)
            self.settle(number, candidates, found.pop(number, None), pending)
        if pending.kind == "undo" and pending.before is None and pending.after.id in found:
            self.n_done_unanswered += 1
            self.settle(pending.after.id, [pending.after], found.pop(pending.after.id), pending)
        for is_answered, group in groups:
            self.settle_group(is_answered, group, found, pending)
        for number, export in found.items():
            self.faults.append(f"a session that was deleted or never made: {number} {export['title']!r}")
            self.given_up.add(number)

    def candidates(self, pending):
        """A request that was not answered was carried out or not, but a stream may have told of what it began."""
        known = {node.id for node in pending.before.nodes}
        new = [told for number, told in self.told.get(pending.before.id, {}).items() if number not in known]
        if new and pending.after is not None:
            pending.after.leaf.told = new[0]
            return [pending.after]
        return [pending.before, pending.after]

    def settle(self, number, candidates, found, pending):
        """Goes on with the candidate that the export agrees with."""
        if found is None:
            if None not in candidates:
                self.faults.append(f"{number} {candidates[0].title!r} is lost ({pending.kind})")
            else:
                self.n_done_unanswered += 1
            self.erased[number] = (self.sessions.pop(number), None, 0)
            return
        differing = []
        for session in filter(None, candidates):
            figures = Figures()
            differing.append(differences(session, found, self.killed_at, figures))
            if not differing[-1]:
                session.id = number
                self.add(figures)
                self.faults += take_over(session, found, self.client.branch(number))
                self.sessions[number] = session
                self.erased.pop(number, None)
                self.n_done_unanswered += session is pending.after and session is not pending.before
                return
        self.faults.append(f"{number} {found['title']!r} ({pending.kind}): {' / '.join('; '.join(texts) for texts in differing)}")
        self.given_up.add(number)
        self.sessions.pop(number, None)

    def settle_group(self, is_answered, group, found, pending):
        """Sessions that one request makes are there together or not at all."""
        there = {session.title: number for session in group for number, export in found.items() if export["title"] == session.title}
        if len(there) != len(group) and (is_answered or there):
            self.faults.append(f"of {len(group)} new sessions {len(there)} are there ({pending.kind}, answered: {is_answered})")
        self.n_done_unanswered += not is_answered and bool(there)
        for session in group:
            if session.title in there:
                number = there[session.title]
                self.settle(number, [session], found.pop(number), pending)

    def add(self, figures):
        total = self.figures
        total.finished += figures.finished
        total.interrupted += figures.interrupted
        total.interrupted_with_text += figures.interrupted_with_text
        total.unsaved_s = max(total.unsaved_s, figures.unsaved_s)

    def run(self, n_kills):
        self.start()
        for number in range(n_kills):
            self.run_until_killed(KINDS[number % len(KINDS)])
            wrong = integrity(self.data, self.bench.folder / "copy")
            if wrong:
                self.broken.append(wrong)
            killed_at = self.killed_at
            told = self.told
            self.start()
            self.killed_at, self.told = killed_at, told
            self.compare()
            self.killed_at, self.told, self.killer = None, {}, None
        self.server.end()


def json_of(session):
    places = {node: place for place, node in enumerate(session.nodes)}
    messages = []
    for node in session.nodes:
        message = {"role": node.role, "created": AT, **({} if node.parent is None else {"parent": places[node.parent]})}
        messages.append({**message, "text": node.text} if node.role == "user" else
                        {**message, "state": node.kept[0], "parts": node.kept[1]})
    return {"title": session.title, "title_origin": "person", "created": AT, "updated": AT, "date": AT[:10],
            "settings": {"think": False}, "leaf": places[session.leaf], "messages": messages}


def check(report, bench, n_kills, is_calm):
    kills = Kills(bench, bench.folder / "killed")
    kills.run(n_kills)
    figures = kills.figures
    report.judge(not kills.broken, f"kills: {n_kills} kills, {len(kills.broken)} files that SQLite finds broken {kills.broken[:1]}")
    report.judge(not kills.faults, f"kills: {len(kills.faults)} differences between what was told and what is there; "
                 f"{kills.n_unanswered} kills met a request without an answer, {kills.n_done_unanswered} of these were carried out whole"
                 + "".join(f"\n    {text[:1500]}" for text in kills.faults[:5]))
    report.judge(figures.finished and figures.interrupted_with_text,
                 f"kills: {figures.finished} answers were told to their end, {figures.interrupted} were cut by a kill, "
                 f"{figures.interrupted_with_text} of them with text")
    report.measure(is_calm, figures.unsaved_s <= UNSAVED_S,
                   f"kills: of a cut answer at most the last {figures.unsaved_s:.2f} s were not saved (goal {UNSAVED_S} s)")
