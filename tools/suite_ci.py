"""What CI adds to ./test: clang-tidy, processors that only an emulator has here, and the thread sanitizer."""
import concurrent.futures
import json
import os
import subprocess

import suite_gtest
from suite_report import BUILD, LOG, ROOT, Counts, one, run_or_show, say
from suite_stages import build

ARM64_ROOMS = ("base", "gguf", "kernels")
TSAN_ROOMS = ("base", "model", "engine")
# Old kernels lay memory out in a way the sanitizer cannot use unless the layout is not randomized.
FIXED_LAYOUT = ["setarch", os.uname().machine, "-R"]


def own_sources() -> list:
    commands = json.loads((BUILD / "tidy" / "compile_commands.json").read_text(encoding="utf-8"))
    return sorted({entry["file"] for entry in commands if entry["file"].startswith(str(ROOT))
                   and not entry["file"].startswith(str(BUILD))})


def tidy_one(source: str) -> tuple:
    done = subprocess.run(["clang-tidy-14", "-p", BUILD / "tidy", "--quiet", source], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout


def tidy() -> Counts:
    if not run_or_show("configure-tidy", ["cmake", "--preset", "tidy"]):
        return Counts(failed=1)
    counts = Counts()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool, \
            (LOG / "tidy.log").open("w", encoding="utf-8") as log:
        for passed, output in pool.map(tidy_one, own_sources()):
            counts += one(passed)
            log.write(output)
            if not passed:
                say(output.rstrip()[:3000])
    return counts


def nehalem() -> Counts:
    """On a processor without AVX the program must choose the scalar kernels, and they must pass their tests."""
    program = BUILD / "release" / "bin" / "kernels_test"
    return one(run_or_show("nehalem", ["qemu-x86_64", "-cpu", "Nehalem", program]))


def arm64() -> Counts:
    if not build("arm64", *(f"{room}_test" for room in ARM64_ROOMS)):
        return Counts(failed=1)
    return suite_gtest.run_tests("arm64", "unit", f"^({'|'.join(ARM64_ROOMS)})$")


def tsan() -> Counts:
    if not build("tsan", *(f"{room}_test" for room in TSAN_ROOMS)):
        return Counts(failed=1)
    return suite_gtest.run_tests("tsan", "unit", f"^({'|'.join(TSAN_ROOMS)})$")
