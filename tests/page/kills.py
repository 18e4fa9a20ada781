"""A server that is killed at any moment of what a client asks of it keeps all that the client was told."""
import shutil
import signal
import subprocess
import threading
import time

from kill_client import Client, Lost
from kill_model import Figures, differences, take_over
from kill_requests import MOST_SESSIONS, Pending, Requests
from server import Server

KINDS = ("send", "stream", "edit", "delete", "import")
UNSAVED_S = 1.5          # a running answer is saved once a second
CHECKS = ("PRAGMA integrity_check; PRAGMA foreign_key_check;"
          "INSERT INTO found_parts (found_parts, rank) VALUES ('integrity-check', 1);")


def integrity(data, copy):
    """What SQLite's own shell finds wrong in a copy of the file and its log; the original stays as it is."""
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for name in ("sessions.db", "sessions.db-wal"):
        if (data / name).exists():
            shutil.copy(data / name, copy / name)
    command = ["sqlite3", "-batch", "-bail", copy / "sessions.db", CHECKS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if (done.returncode, done.stdout) == (0, "ok\n") else done.stdout + done.stderr


class Kills(Requests):
    def __init__(self, bench, data):
        super().__init__()
        self.bench, self.data = bench, data
        self.killer = self.killed_at = None
        self.given_up = set()  # ids of sessions that differed
        self.figures = Figures()
        self.n_unanswered = self.n_done_unanswered = 0
        self.faults, self.broken = [], []

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

    def hear_something(self, to_the_end=False):
        """Of the last answer that is being written."""
        for session in list(self.sessions.values())[::-1]:
            if session.is_running() and session.id in self.listeners:
                told = session.leaf.told
                self.listeners[session.id].wait_for(lambda: told.reason or (told.parts and not to_the_end))
                return

    def run_until_killed(self, kind):
        try:
            for _ in range(self.draw.randint(1, 4)):
                self.do_something()
            self.hear_something(to_the_end=self.draw.random() < 0.5)
            if kind == "stream":
                self.send(n_words=250)
                self.hear_something()
                self.kill_later(self.draw.uniform(0.5, 4))
            else:
                self.idle()  # so that the request itself is the next one
                self.kill_later(self.draw.uniform(0, 1.5 * self.usual_s.get(kind, 0.03)))
                {"send": self.send, "edit": self.edit, "delete": self.delete, "import": self.import_file}[kind]()
            while self.server.process.poll() is None:
                if kind != "stream":  # nothing else ends that answer
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
        known = {node.id for node in pending.before.nodes} | pending.told
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
        titles = {session.title for session in group}
        there = {export["title"]: number for number, export in found.items() if export["title"] in titles}
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
        try:
            self.run_all(n_kills)
        finally:
            self.server.end(signal.SIGKILL)

    def run_all(self, n_kills):
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


def check(report, bench, n_kills, is_calm):
    kills = Kills(bench, bench.folder / "killed")
    kills.run(n_kills)
    figures = kills.figures
    report.judge(not kills.broken,
                 f"kills: {n_kills} kills, {len(kills.broken)} files that SQLite finds broken {kills.broken[:1]}")
    report.judge(not kills.faults, f"kills: {len(kills.faults)} differences between what was told and what is there; "
                 f"{kills.n_unanswered} kills met a request without an answer, "
                 f"{kills.n_done_unanswered} of these were carried out whole"
                 + "".join(f"\n    {text[:1500]}" for text in kills.faults[:5]))
    report.judge(figures.finished and figures.interrupted_with_text,
                 f"kills: {figures.finished} answers were told to their end, {figures.interrupted} were cut by a kill, "
                 f"{figures.interrupted_with_text} of them with text")
    report.measure(is_calm, figures.unsaved_s <= UNSAVED_S,
                   f"kills: of a cut answer at most the last {figures.unsaved_s:.2f} s were not saved (goal {UNSAVED_S} s)")
