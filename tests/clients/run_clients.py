"""Runs the client libraries' tests against a server: one that is named, or the program on the demo model.

    run_clients.py --url http://127.0.0.1:3000 | --program build/release/bin/smolbot

What the libraries need is installed once, into build/clients. Ends with one line `N passed, N failed, N skipped`.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDER = ROOT / "build" / "clients"
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

from harness import Bench  # noqa: E402
from server import serving  # noqa: E402

SUM = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)


def set_up() -> pathlib.Path | None:
    """The path of node, or nothing where the libraries cannot be had."""
    done = subprocess.run([sys.executable, HERE / "setup_clients.py", FOLDER], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"skipped the client libraries: {done.stdout.strip() or done.stderr.strip()}")
        return None
    return pathlib.Path(done.stdout.strip())


def run_both(node: pathlib.Path, url: str) -> list:
    counts = []
    for command in ([node, FOLDER / "node" / "node_clients.mjs", url],
                    [FOLDER / "venv" / "bin" / "python", HERE / "python_clients.py", url]):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=900, check=False)
        found = SUM.search(done.stdout)
        if done.returncode != 0 or not found:
            print(done.stdout, done.stderr, sep="")
        counts.append([int(text) for text in found.groups()] if found else [0, 1, 0])
    return [sum(column) for column in zip(*counts)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--url")
    which.add_argument("--program", type=pathlib.Path)
    options = parser.parse_args()
    node = set_up()
    if node is None:
        counts = [0, 0, 1]
    elif options.url:
        counts = run_both(node, options.url)
    else:
        with tempfile.TemporaryDirectory(prefix="smolbot-clients-") as folder:
            with serving(Bench(options.program.resolve(), pathlib.Path(folder))) as server:
                counts = run_both(node, server.url)
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if counts[1] else 0


if __name__ == "__main__":
    sys.exit(main())
