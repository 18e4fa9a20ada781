"""Runs the CTests of a preset and counts their GoogleTest cases, so the sum speaks of behaviours, not of programs."""
import json
import pathlib
import shutil
import xml.etree.ElementTree as ElementTree

from suite_report import BUILD, LOG, Counts, run, run_or_show, say, tail


def cases_of(report: pathlib.Path) -> Counts:
    """What one GoogleTest program reported."""
    counts = Counts()
    for suite in json.loads(report.read_text(encoding="utf-8"))["testsuites"]:
        for case in suite["testsuite"]:
            if case.get("result") == "SKIPPED":
                counts.skipped += 1
            elif case.get("failures"):
                counts.failed += 1
            elif case.get("status") == "RUN":
                counts.passed += 1
    return counts


def program_counts(name: str, passed: bool, reports: pathlib.Path) -> Counts:
    """A program without a report (a fuzz replay, a crash) counts as one; one that fails outside a case fails."""
    report = reports / f"{name}_test.json"
    if not report.exists():
        return Counts(passed=1) if passed else Counts(failed=1)
    counts = cases_of(report)
    if not passed and counts.failed == 0:
        counts.failed = 1
    return counts


def run_program(name: str, command: list) -> Counts:
    """One GoogleTest program, started by a command of its own."""
    reports = LOG / f"gtest-{name}"
    shutil.rmtree(reports, ignore_errors=True)
    passed = run_or_show(name, command, GTEST_OUTPUT=f"json:{reports}/")
    found = list(reports.glob("*.json"))
    counts = cases_of(found[0]) if found else Counts()
    if not passed or not counts.passed:
        counts.failed = max(counts.failed, 1)
    return counts


def run_tests(preset: str, label: str, rooms: tuple = (), prefix: tuple = ()) -> Counts:
    """The tests of one label, of some rooms or all; none at all is a failure. `prefix` starts the command."""
    name = f"{preset}-{label}"
    reports = LOG / f"gtest-{name}"
    shutil.rmtree(reports, ignore_errors=True)
    junit = LOG / f"{name}.xml"
    junit.unlink(missing_ok=True)
    chosen = ["-R", f"^({'|'.join(rooms)})$"] if rooms else []
    passed = run(name, [*prefix, "ctest", "--test-dir", BUILD / preset, "-L", f"^{label}$", *chosen, "-j", "2",
                        "--timeout", "900", "--no-tests=error", "--output-on-failure",
                        "--output-junit", junit],
                 GTEST_OUTPUT=f"json:{reports}/", UBSAN_OPTIONS="print_stacktrace=1")
    if not passed:
        say(f"FAILED {name} (build/log/{name}.log)")
        tail(LOG / f"{name}.log", 60)
    if not junit.exists():
        return Counts(failed=1)
    total = Counts()
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        total += program_counts(case.get("name"), case.get("status") == "run", reports)
    return total if total.passed or total.failed else Counts(failed=1)
