"""What CI adds to ./test: includes, clang-tidy, processors that only an emulator has here, and the thread sanitizer."""
import concurrent.futures
import json
import os
import shlex
import subprocess

import suite_gtest
from suite_report import BUILD, LOG, ROOT, Counts, one, run, run_or_show, say
from suite_stages import build

ARM64_ROOMS = ("base", "gguf")
# The kernel tables that an emulated processor runs, best first.
ARM64_TABLES = {"max": "i8mm, neon, scalar", "neoverse-n1": "neon, scalar", "cortex-a72": "scalar"}
TSAN_ROOMS = ("base", "model", "engine", "server")


def compile_commands(preset: str) -> dict:
    """How each source is compiled; what the build itself writes (build/<preset>/generated) is not ours to judge."""
    commands = json.loads((BUILD / preset / "compile_commands.json").read_text(encoding="utf-8"))
    generated = str(BUILD / preset / "generated")
    return {command["file"]: command["command"] for command in commands
            if not command["file"].startswith(generated)}


def judged(command: list) -> tuple:
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode == 0, done.stdout


def judge_all(name: str, commands: list) -> Counts:
    """Each passes or fails on its own; as many at once as there are processors."""
    counts = Counts()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool, \
            (LOG / f"{name}.log").open("w", encoding="utf-8") as log:
        for passed, output in pool.map(judged, commands):
            counts += one(passed)
            log.write(output)
            if not passed:
                say(output.rstrip()[:3000])
    return counts


def includes() -> Counts:
    """Each source of the program includes what it needs: builds join several, so that one may live on another's."""
    if not run_or_show("configure-includes", ["cmake", "--preset", "includes"]):
        return Counts(failed=1)
    commands = compile_commands("includes")
    files = sorted(file for file in commands if file.startswith(str(ROOT / "src")))
    return judge_all("includes", [[*shlex.split(commands[file]), "-fsyntax-only"] for file in files])


def tidy() -> Counts:
    """All sources of a program or library are looked at as one, since their common headers cost the most."""
    if not run_or_show("configure-tidy", ["cmake", "--preset", "tidy"]):
        return Counts(failed=1)
    return judge_all("tidy", [["clang-tidy-14", "-p", BUILD / "tidy", "--quiet", file]
                              for file in sorted(compile_commands("tidy"))])


def nehalem() -> Counts:
    """On a processor without AVX the kernels' tests pass, and of the tables only the scalar one is offered."""
    emulator = ["qemu-x86_64", "-cpu", "Nehalem"]
    programs = BUILD / "release" / "bin"
    if not build("release", "kernels_test"):
        return Counts(failed=1)
    counts = suite_gtest.run_program("nehalem", [*emulator, programs / "kernels_test"])
    counts.skipped = 0  # the other tables, which this processor is not to run
    refused = not run("nehalem-refusal", [*emulator, "-E", "SMOL_ISA=avx2", programs / "smolbot", "doctor"])
    named = "expected one of scalar" in (LOG / "nehalem-refusal.log").read_text(encoding="utf-8")
    if not (refused and named):
        say("FAILED nehalem: SMOL_ISA=avx2 was not refused with the list of what runs (build/log/nehalem-refusal.log)")
    return counts + one(refused and named)


def kernels_on_arm64(processor: str, tables: str) -> Counts:
    """On this processor the kernels' tests pass, and `tables` are offered: the first of them is what it chooses."""
    kernels_test = ["qemu-aarch64", "-cpu", processor, "-L", "/usr/aarch64-linux-gnu",
                    BUILD / "arm64" / "bin" / "kernels_test"]
    counts = suite_gtest.run_program(f"arm64-{processor}", kernels_test)
    counts.skipped = 0  # the other tables, which this processor is not to run
    log = f"arm64-{processor}-tables"
    run(log, [*kernels_test, "--gtest_filter=Dispatch.FollowsTheEnvironment"], SMOL_ISA="none")
    offered = f"expected one of {tables} (" in (LOG / f"{log}.log").read_text(encoding="utf-8")
    if not offered:
        say(f"FAILED arm64: {processor} does not offer {tables} (build/log/{log}.log)")
    return counts + one(offered)


def arm64() -> Counts:
    if not build("arm64", *(f"{room}_test" for room in ARM64_ROOMS), "kernels_test"):
        return Counts(failed=1)
    counts = suite_gtest.run_tests("arm64", "unit", ARM64_ROOMS)
    for processor, tables in ARM64_TABLES.items():
        counts += kernels_on_arm64(processor, tables)
    return counts


def fixed_layout() -> tuple:
    """Newer kernels place memory where the sanitizer of g++ 12 cannot follow, unless told not to."""
    prefix = ("setarch", os.uname().machine, "-R")
    return prefix if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0 else ()


def tsan() -> Counts:
    if not build("tsan", *(f"{room}_test" for room in TSAN_ROOMS)):
        return Counts(failed=1)
    return suite_gtest.run_tests("tsan", "unit", TSAN_ROOMS, fixed_layout())
