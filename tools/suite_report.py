"""What the stages of ./test share: counts, log files, and running a program with its output in one of them."""
import dataclasses
import os
import pathlib
import re
import subprocess
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
LOG = BUILD / "log"
SHARED = ROOT.parent / "shared"
SUM_LINE = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")


@dataclasses.dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.passed + other.passed, self.failed + other.failed,
                      self.skipped + other.skipped)


def say(text: str) -> None:
    print(text, flush=True)


def tail(log: pathlib.Path, lines: int = 40) -> None:
    """Shows the end of a log, where a failure usually stands."""
    text = log.read_text(encoding="utf-8", errors="replace").splitlines()
    say("\n".join("    " + line for line in text[-lines:]))


def run(name: str, command: list, timeout_s: int = 1800, **environment: str) -> bool:
    """Runs a command in the root folder with its output in build/log/NAME.log; false if it fails."""
    LOG.mkdir(parents=True, exist_ok=True)
    log = LOG / f"{name}.log"
    with log.open("wb") as out:
        try:
            done = subprocess.run([str(word) for word in command], cwd=ROOT, stdin=subprocess.DEVNULL,
                                  stdout=out, stderr=subprocess.STDOUT, timeout=timeout_s,
                                  env={**os.environ, **environment}, check=False)
            return done.returncode == 0
        except subprocess.TimeoutExpired:
            out.write(f"\nended after {timeout_s} s\n".encode())
            return False


def run_or_show(name: str, command: list, timeout_s: int = 1800, **environment: str) -> bool:
    """As run(); a failure also shows the end of the log."""
    done = run(name, command, timeout_s, **environment)
    if not done:
        words = textwrap.shorten(" ".join(str(word) for word in command), 200, placeholder=" ...")
        say(f"FAILED {words} (build/log/{name}.log)")
        tail(LOG / f"{name}.log")
    return done


def one(passed: bool) -> Counts:
    return Counts(passed=1) if passed else Counts(failed=1)


def skip(what: str, why: str) -> Counts:
    say(f"skipped {what}: {why}")
    return Counts(skipped=1)


def sum_line(log: pathlib.Path) -> Counts | None:
    """The last line `N passed, N failed[, N skipped]` of a log."""
    for line in reversed(log.read_text(encoding="utf-8", errors="replace").splitlines()):
        match = SUM_LINE.match(line.strip())
        if match:
            return Counts(*(int(number or 0) for number in match.groups()))
    return None
