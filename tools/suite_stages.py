"""The stages of ./test: rules that need no build, unit tests under the sanitizers, then the release program."""
import sys

import suite_gtest
from suite_report import (BUILD, LOG, ROOT, SHARED, Counts, one, run, run_or_show, say, skip,
                          sum_line, tail)

PYTHON = [sys.executable, "-B"]
TEST_MODEL = BUILD / "models" / "smollm2-135m"


def layers() -> Counts:
    return one(run_or_show("layers", [*PYTHON, "tools/check_layers.py"]))


def one_token() -> Counts:
    return one(run_or_show("one_token", [*PYTHON, "tools/check_one_token.py"]))


def format_check() -> Counts:
    files = sorted(file for folder in ("src", "tests", "fuzz", "bench")
                   for file in (ROOT / folder).rglob("*") if file.suffix in (".h", ".cpp"))
    return one(run_or_show("format", ["clang-format-14", "--dry-run", "-Werror", *files]))


def build(preset: str, *targets: str) -> bool:
    """Configures and builds into build/<preset>; without targets all of it."""
    wanted = ["--target", *targets] if targets else []
    return (run_or_show(f"configure-{preset}", ["cmake", "--preset", preset])
            and run_or_show(f"build-{preset}", ["cmake", "--build", "--preset", preset, *wanted],
                            timeout_s=3600))


def build_dev() -> Counts:
    return one(build("dev", "smol_tests"))


def unit() -> Counts:
    return suite_gtest.run_tests("dev", "unit")


def fuzz_replay() -> Counts:
    return suite_gtest.run_tests("dev", "fuzz")


def build_release() -> Counts:
    return one(build("release", "smolbot", "smolbot_conformance"))


def test_model() -> Counts:
    """Fetches the real model; a missing one is no failure: the runs that need it are left out."""
    if run("setup-model", [*PYTHON, "tests/setup_model.py", TEST_MODEL]):
        return Counts()
    return skip("the runs on SmolLM2-135M-Instruct",
                (LOG / "setup-model.log").read_text(encoding="utf-8").strip())


def conformance(long: bool) -> Counts:
    if not SHARED.is_dir():
        return skip("conformance", "the reference data ../shared is not there")
    run("conformance", [*PYTHON, "tests/conformance/run_all.py", *(["--long"] if long else [])],
        timeout_s=3600)
    found = sum_line(LOG / "conformance.log")
    if found is None or found.failed:
        tail(LOG / "conformance.log", 80)
    else:
        say((LOG / "conformance.log").read_text(encoding="utf-8").rsplit("\n", 2)[0])
    return found or Counts(failed=1)


def e2e() -> Counts:
    passed = run("e2e", [*PYTHON, "tests/e2e/cli_test.py", BUILD / "release" / "bin" / "smolbot"])
    found = sum_line(LOG / "e2e.log") or Counts(failed=1)
    if not passed or found.failed:
        tail(LOG / "e2e.log")
        found.failed = max(found.failed, 1)
    return found


def on_program(name: str, script: str, *arguments: str) -> Counts:
    """A script of tests that ends with their sum, given the release program."""
    run(name, [*PYTHON, script, "--program", BUILD / "release" / "bin" / "smolbot", *arguments], timeout_s=3600)
    found = sum_line(LOG / f"{name}.log") or Counts(failed=1)
    if found.failed:
        tail(LOG / f"{name}.log")
    return found


def clients() -> Counts:
    """OpenAI's SDKs, ai and LangChain, unchanged, against the program."""
    return on_program("clients", "tests/clients/run_clients.py")


def page(long: bool) -> Counts:
    """The page in a real browser, and its server when it is killed or its disk is full."""
    found = on_program("page", "tests/page/run_page.py", *(["--long"] if long else []))
    if not found.failed:
        say((LOG / "page.log").read_text(encoding="utf-8").rsplit("\n", 2)[0])
    return found


def load() -> Counts:
    """The server under load, judged from outside; no times, since the machine may be busy."""
    model = TEST_MODEL / "SmolLM2-135M-Instruct.Q4_1.gguf"
    if not model.is_file():
        return skip("the server under load", "SmolLM2-135M-Instruct is not there")
    found = on_program("load", "tests/load/run_load.py", "--model", model)
    if not found.failed:
        say((LOG / "load.log").read_text(encoding="utf-8").rsplit("\n", 2)[0])
    return found
