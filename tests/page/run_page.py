"""Runs the page's browser tests: its states and hostile answers of any length on the preview; its behaviour, its controls, what people do
around an answer, and hostile and long answers that a model can write against the program on the demo model; and what needs programs of its own
to kill and start again. Without a browser: 20 kills at any moment, a full disk, and that nothing is left of what was deleted.

    run_page.py --program build/release/bin/smolbot [--only states|behaviour|controls|around|hostile|long|program|kills] [--long]

--long: 200 kills, and answers of 7,500 tokens on SmolLM2-135M-Instruct as well.

What they need from npm is installed once, into build/page; the browser is Debian's chromium. Pictures: build/page/out. Ends
with one line `N passed, N failed, N skipped`.
"""
import argparse
import concurrent.futures
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
sys.path[:0] = [str(ROOT / "tests" / name) for name in ("e2e", "clients", "load")]

from forgotten import Forgotten  # noqa: E402
import full_disk  # noqa: E402
from harness import DEMO, Bench  # noqa: E402
import kills  # noqa: E402
from report import Report  # noqa: E402
from server import serving  # noqa: E402
import setup_clients  # noqa: E402

SUM = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
ON_PREVIEW = ("states", "hostile")
# With tokens a second, where a phase must last.
ON_PROGRAM = {"behaviour": ["--pace", "25"], "controls": ["--pace", "25"], "around": ["--pace", "25"], "hostile": [], "long_answers": ["--pace", "400"]}
SUITES = {name.removesuffix("_answers"): name for name in (*ON_PREVIEW, *ON_PROGRAM, "program")}
JUDGES_TIMES = ("long_answers", "program")
AT_ONCE = 2  # suites that judge none
SMOLLM2 = ROOT / "build" / "models" / "smollm2-135m" / "SmolLM2-135M-Instruct.Q4_1.gguf"


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
    elif name == "long_answers":  # its figures
        print(done.stdout, end="")
    return passed, failed


def run_on_program(node: pathlib.Path, name: str, program: pathlib.Path, model: pathlib.Path = DEMO, **variables: str) -> tuple:
    with tempfile.TemporaryDirectory(prefix="smolbot-page-") as folder:
        with serving(Bench(program, pathlib.Path(folder)), *ON_PROGRAM[name], SMOLBOT_MODEL=str(model)) as server:
            return run(node, name, PAGE_URL=server.url, **variables)


def run_with_programs(node: pathlib.Path, program: pathlib.Path) -> tuple:
    with tempfile.TemporaryDirectory(prefix="smolbot-page-") as folder:
        return run(node, "program", **Bench(program, pathlib.Path(folder)).env(PAGE_PROGRAM=str(program)))


def run_kills(program: pathlib.Path, is_long: bool) -> tuple:
    report = Report()
    with tempfile.TemporaryDirectory(prefix="smolbot-kills-") as folder:
        bench = Bench(program, pathlib.Path(folder))
        report.run("forgotten", lambda: run_without_browser(report, bench, is_long))
    return report.passed, report.failed, report.skipped


def run_without_browser(report: Report, bench: Bench, is_long: bool) -> None:
    with Forgotten(report, bench) as forgotten:  # its time passes meanwhile
        report.run("kills", lambda: kills.check(report, bench, 200 if is_long else 20, is_long))
        report.run("full disk", lambda: full_disk.check_all(report, bench))
        forgotten.judge()


def run_in_browser(program: pathlib.Path, only: str, is_long: bool) -> list:
    if shutil.which("chromium") is None:
        print("skipped the page: no chromium here")
        return [(0, 0, 1)]
    try:
        node = set_up()
    except (ValueError, OSError, subprocess.TimeoutExpired) as error:
        print(f"skipped the page: {str(error).splitlines()[0]}")
        return [(0, 0, 1)]
    wanted = SUITES.get(only)
    alone, together = [], []  # those that judge times, and those that mostly wait

    def add(name: str, job, *arguments, **variables) -> None:
        if wanted in (None, name):
            (alone if name in JUDGES_TIMES else together).append(lambda: job(*arguments, **variables))

    for name in ON_PREVIEW:
        add(name, run, node, name)
    for name in ON_PROGRAM:
        add(name, run_on_program, node, name, program)
    add("program", run_with_programs, node, program)
    skipped = []
    if is_long and SMOLLM2.is_file():
        add("long_answers", run_on_program, node, "long_answers", program, SMOLLM2, PAGE_TOKENS="7500")
    elif is_long and wanted in (None, "long_answers"):
        print("skipped answers of 7,500 tokens: SmolLM2-135M-Instruct is not there")
        skipped.append((0, 0, 1))
    counts = [job() for job in alone]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        counts += pool.map(lambda job: job(), together)
    return [*((*count, 0) for count in counts), *skipped]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--only", choices=sorted({*SUITES, "kills"}))
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    program = options.program.resolve()
    counts = [] if options.only == "kills" else run_in_browser(program, options.only, options.long)
    if options.only in (None, "kills"):
        counts.append(run_kills(program, options.long))
    passed, failed, skipped = map(sum, zip(*counts))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
