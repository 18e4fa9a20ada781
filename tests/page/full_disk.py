"""A disk without room is an error on the page, not a broken file, and no reason for the server to end."""
import os
import re
import resource
import subprocess
import time
from contextlib import contextmanager

from harness import Bench
from kill_client import Client, Listener
from kills import integrity
from server import Server

MOST_TRIES = 60
STEADY = "root ::=" + " word" * 60 + '\nword ::= "amber " | "birch " | "copper "'
SHORT = {"think": "off", "grammar": 'root ::= "Yes."'}


class SmallFiles:
    """No file may grow: what any user can set for his own processes."""

    name = "files that may not grow"

    def __init__(self, bench):
        self.data = bench.folder / "small-files"
        # Writing beyond the limit is to be an error and not a signal, as it is on a full disk.
        script = bench.folder / "without-signal"
        script.write_text(f"#!/bin/sh\ntrap '' XFSZ\nexec '{bench.program}' \"$@\"\n")
        script.chmod(0o700)
        self.bench = Bench(script, bench.folder)
        self._process = None

    def watch(self, process):
        self._process = process

    def fill(self):
        largest = max(path.stat().st_size for path in self.data.iterdir())
        self._set(largest)

    def free(self):
        self._set(resource.RLIM_INFINITY)

    def _set(self, most_bytes):
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))


class SmallDisk:
    """A file system of its own, in memory. Needs the right to mount it."""

    name = "a full disk"
    size = 8 << 20

    def __init__(self, bench, place):
        self.bench = bench
        self.data = place / "data"
        self._filler = place / "filler"

    def watch(self, process):
        pass

    def fill(self):
        with open(self._filler, "wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass

    def free(self):
        os.remove(self._filler)


@contextmanager
def small_disk(bench):
    """The disk, or the reason why there is none."""
    place = bench.folder / "small-disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SmallDisk.size}", "none", place], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        yield None, done.stderr.strip()
        return
    try:
        yield SmallDisk(bench, place), None
    finally:
        subprocess.run(["umount", place], check=True)


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


class Conversation:
    """A message, in a new conversation unless it has an id, and the words that come back."""

    def __init__(self, client, port, message, session="", **form):
        answer = client.post("/api/chat", session_id=session, message=message, **form)
        self.client = client
        self.id = session or answer.headers["HX-Replace-Url"].rsplit("/", 1)[1]
        self.answer_id = answer.message_ids()[-1]
        self.listener = Listener(port, self.id, {})

    def told(self):
        return self.listener.told.get(self.answer_id)

    def wait(self):
        assert self.listener.wait_for(lambda: self.told() and self.told().reason), "the answer does not end"
        return self

    def kept(self):
        """State and text of the answer in the store."""
        message = self.client.export(self.id)["messages"][-1]
        return message["state"], "".join(part["text"] for part in message["parts"])


def refused_send(client):
    """The first answer that is none, and the conversations that came before it."""
    for number in range(MOST_TRIES):
        answer = client.ask("POST", "/api/chat", {"session_id": "", "message": f"Number {number} " + "x" * 2000, **SHORT})
        if answer.status != 200:
            return answer, number
    return None, MOST_TRIES


def check(report, disk):
    server = Server(disk.bench, "--data-dir", disk.data, "--pace", 60, "--no-log-requests")
    try:
        disk.watch(server.process)
        check_running(report, disk, server)
    finally:
        status = server.end()
    wrong = integrity(disk.data, disk.bench.folder / "copy")
    report.judge(status == 0 and not wrong,
                 f"{disk.name}: the server ended with {status}, SQLite finds in the file: {wrong or 'ok'}")


def check_running(report, disk, server):
    client = Client(server.port)
    before = Conversation(client, server.port, "Said before", **SHORT).wait()
    running = Conversation(client, server.port, "Said meanwhile", think="off", grammar=STEADY)
    running.listener.wait_for(lambda: running.told() and running.told().parts)
    disk.fill()
    refusal, n_sent = refused_send(client)
    shown = re.search(r'class="notice bad" role="alert".*?<p>(.*?)</p>', refusal.text, re.DOTALL) if refusal else None
    report.judge(refusal and refusal.status == 500 and shown and "sessions.db" in shown[1] and "disk" in shown[1],
                 f"{disk.name}: a message is refused on the page: {refusal and refusal.status} {shown and shown[1]!r}")
    ids = client.session_ids()
    page = client.get(f"/chat/{before.id}").text
    report.judge(len(ids) == 2 + n_sent and "Said before" in page and before.kept() == ("done", "Yes."),
                 f"{disk.name}: {len(ids)} conversations can be read, {2 + n_sent} were made")
    running.wait()
    end = running.listener.told[running.answer_id]
    report.judge(end.reason == "error", f"{disk.name}: an answer that cannot be saved ends as {end.reason!r}")
    disk.free()
    whole = "".join(part["text"] for part in end.parts)
    report.judge(until(lambda: running.kept()[1] == whole), f"{disk.name}: with room again it is saved whole")
    again = Conversation(client, server.port, "Said afterwards", **SHORT).wait()
    report.judge(again.kept() == ("done", "Yes."), f"{disk.name}: with room again messages are sent and answered")


def check_all(report, bench):
    check(report, SmallFiles(bench))
    with small_disk(bench) as (disk, reason):
        if disk is None:
            report.skip(f"a full disk: {reason}")
        else:
            check(report, disk)
