"""Measures the server from outside and judges what it must hold under load, one line a figure.

    run_load.py --program build/release/bin/smolbot --model SMOLLM2.gguf [--long [--large SMOLLM3-3B.gguf]] [--only NAME ...]

The short form takes about two minutes and judges no times: other work may share the machine. The long one takes half an hour on
a calm machine; its load, its prompts that are known and its clients that leave are those of the large model.
Ends with one line `N passed, N failed, N skipped`.
"""
import argparse
import pathlib
import re
import sys
import tempfile
from contextlib import contextmanager

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import check_connections  # noqa: E402
import check_idle  # noqa: E402
import check_kills  # noqa: E402
import check_load  # noqa: E402
import check_lookup  # noqa: E402
import check_prefix  # noqa: E402
import check_schemas  # noqa: E402
from harness import Bench  # noqa: E402
from report import Report  # noqa: E402
from server import Server  # noqa: E402

NAMES = ("schemas", "connections", "prefix", "leaving", "load", "idle", "lookup", "kills")


class Run:
    """The checks that were asked for, each on a server that is there for several of them."""

    def __init__(self, options, folder):
        self.report = Report()
        self.bench = Bench(options.program.resolve(), folder)
        self.long = options.long
        self._wanted = options.only or NAMES
        self._n_servers = 0

    @contextmanager
    def serving(self, *arguments):
        self._n_servers += 1
        data = self.bench.folder / f"data{self._n_servers}"
        server = Server(self.bench, *arguments, "--no-log-requests", "--data-dir", data)
        server.context = int(re.search(r"context (\d+) tokens", " ".join(server.lines)).group(1))
        try:
            yield server
        finally:
            server.end()

    def wants(self, *names):
        return any(name in self._wanted for name in names)

    def check(self, name, check, *arguments):
        if self.wants(name):
            self.report.run(name, lambda: check(self.report, *arguments))

    def on_answers(self, model):
        """Of a model that says something."""
        if self.wants("schemas", "connections"):
            with self.serving("--model", model) as server:
                self.check("schemas", check_schemas.check, server, 100 if self.long else 10)
                self.check("connections", check_connections.check_crowd, server, 4 if self.long else 1, self.long)
        if self.wants("lookup"):
            with self.serving("--model", model) as server, self.serving("--model", model, "--no-lookup") as without:
                self.check("lookup", check_lookup.check, server, without, self.long)
        self.check("kills", check_kills.check, self.bench, ("--model", model), 60 if self.long else 20)

    def on_times(self, model):
        """Of a model that takes its time, in the long form."""
        if self.wants("prefix", "leaving", "load", "idle"):
            with self.serving("--model", model) as server:
                self.check("prefix", check_prefix.check, server, 2000, self.long)
                self.check("leaving", check_connections.check_leaving, server, 10 if self.long else 3, self.long)
                self.check("load", check_load.check, server, check_load.LONG if self.long else check_load.SHORT)
                self.check("idle", check_idle.check, server, self.bench, ("--model", model, "--max-tokens", 8),
                           60 if self.long else 5)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--large", type=pathlib.Path)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", choices=NAMES, nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="smolbot-load-") as folder:
        run = Run(options, pathlib.Path(folder))
        run.report.run("answers", lambda: run.on_answers(options.model.resolve()))
        if options.long and not options.large:
            run.report.skip("load, prefix, leaving, idle: --large is not given")
        else:
            slow = options.large if options.long else options.model
            run.report.run("times", lambda: run.on_times(slow.resolve()))
    print(run.report.sum_line())
    return 1 if run.report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
