"""Runs every stage of ./test in order of cost and ends with one line: `N passed, N failed, N skipped`.

Options: --long (load with times, differential runs, long exactness matrix), --ci (includes, tidy, emulated processors, thread sanitizer).
Each stage's whole output is in build/log/. Exit status 0 only without a failure.
"""
import argparse
import sys
import time

import suite_ci
import suite_long
import suite_stages
from suite_report import Counts, say


def stages(options: argparse.Namespace):
    yield "layers", suite_stages.layers
    yield "one token", suite_stages.one_token
    yield "format", suite_stages.format_check
    yield "dev build", suite_stages.build_dev
    yield "unit", suite_stages.unit
    yield "fuzz replay", suite_stages.fuzz_replay
    yield "release build", suite_stages.build_release
    yield "test model", suite_stages.test_model
    yield "conformance", lambda: suite_stages.conformance(options.long)
    yield "e2e", suite_stages.e2e
    yield "clients", suite_stages.clients
    yield "page", lambda: suite_stages.page(options.long)
    if options.long:
        yield "load", suite_long.load
        yield "differential", suite_long.differential
    else:
        yield "load", suite_stages.load
    if options.ci:
        yield "includes", suite_ci.includes
        yield "tidy", suite_ci.tidy
        yield "nehalem", suite_ci.nehalem
        yield "arm64", suite_ci.arm64
        yield "tsan", suite_ci.tsan


def run(name: str, stage) -> Counts:
    """One stage; an exception in it is a failure of the stage, never of the whole run."""
    begin = time.monotonic()
    try:
        counts = stage()
    except Exception as error:  # pylint: disable=broad-except
        say(f"FAILED {name}: {type(error).__name__}: {error}")
        counts = Counts(failed=1)
    word = "ok" if counts.failed == 0 else "FAILED"
    say(f"[{word}] {name}: {counts.passed} ok, {counts.failed} not ok, {counts.skipped} left out, "
        f"{time.monotonic() - begin:.0f} s")
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--ci", action="store_true")
    total = Counts()
    for name, stage in stages(parser.parse_args()):
        total += run(name, stage)
    say(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
