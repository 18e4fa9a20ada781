"""Runs the page's browser tests: its states and hostile answers of any length on the preview, its behaviour, its controls and hostile
answers that a model can write against the program on the demo model, and what needs programs of its own to kill and start again.

    run_page.py --program build/release/bin/smolbot [--only states|behaviour|controls|hostile|program]

What they need from npm is installed once, into build/page; the browser is Debian's chromium. Pictures: build/page/out. Ends
with one line `N passed, N failed, N skipped`.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDER = ROOT / "build" / "page"
sys.path[:0] = [str(ROOT / "tests" / "e2e"), str(ROOT / "tests" / "clients")]

from harness import Bench  # noqa: E402
from server import serving  # noqa: E402
import setup_clients  # noqa: E402

SUM = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
ON_PREVIEW = ("states", "hostile")
# With tokens a second, where a phase must last.
ON_PROGRAM = {"behaviour": ["--pace", "25"], "controls": ["--pace", "25"], "hostile": []}


def set_up() -> pathlib.Path:
    """The path of node."""
    clients = ROOT / "build" / "clients"
    clients.mkdir(parents=True, exist_ok=True)
    node = setup_clients.node_of(setup_clients.set_up_python(clients), clients)
    setup_clients.install_packages(node, HERE, FOLDER)
    return node


def run(node: pathlib.Path, name: str, **variables: str) -> tuple:
    environment = {**os.environ, "PAGE_MODULES": str(FOLDER), **variables}
    done = subprocess.run([node, HERE / f"{name}.mjs"], env=environment, capture_output=True, text=True, timeout=1500,
                          check=False)
    found = SUM.search(done.stdout)
    passed, failed = (int(found[1]), int(found[2])) if found else (0, 1)
    if done.returncode != 0 or failed:
        failed = max(failed, 1)
        print(f"{name}:", done.stdout, done.stderr, sep="\n")
    return passed, failed


def run_on_program(node: pathlib.Path, name: str, program: pathlib.Path) -> tuple:
    with tempfile.TemporaryDirectory(prefix="smolbot-page-") as folder:
        with serving(Bench(program, pathlib.Path(folder)), *ON_PROGRAM[name]) as server:
            return run(node, name, PAGE_URL=server.url)


def run_with_programs(node: pathlib.Path, program: pathlib.Path) -> tuple:
    with tempfile.TemporaryDirectory(prefix="smolbot-page-") as folder:
        return run(node, "program", **Bench(program, pathlib.Path(folder)).env(PAGE_PROGRAM=str(program)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--only", choices=sorted({*ON_PREVIEW, *ON_PROGRAM, "program"}))
    options = parser.parse_args()
    if shutil.which("chromium") is None:
        print("skipped the page: no chromium here\n0 passed, 0 failed, 1 skipped")
        return 0
    try:
        node = set_up()
    except (ValueError, OSError, subprocess.TimeoutExpired) as error:
        print(f"skipped the page: {str(error).splitlines()[0]}\n0 passed, 0 failed, 1 skipped")
        return 0
    program = options.program.resolve()
    counts = [run(node, name) for name in ON_PREVIEW if options.only in (None, name)]
    counts += [run_on_program(node, name, program) for name in ON_PROGRAM if options.only in (None, name)]
    if options.only in (None, "program"):
        counts.append(run_with_programs(node, program))
    passed, failed = map(sum, zip(*counts))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
