#!/usr/bin/env python3
"""Compares the tokenizer's speed with PyPI's tiktoken and tokenizers on the same vocabulary.

Usage: tokenizer_compare.py --venv DIR --bench PATH/tokenizer_bench --tokenizer tokenizer.json --text FILE
       [--gguf FILE] [--rounds 5] [--megabytes 8] [--unit whole|lines|both]

Every run is a fresh process on one core: the program's caches are cold when its clock starts, loading is not
counted. The programs run in turn, and medians count. FILE should be English text in which no line repeats.
DIR is a virtual environment; it is made, with the pinned packages, where it does not exist.
Last line: `N passed, N failed` (at least 1.5 x tiktoken, at least 15 x tokenizers, for each unit).
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

REQUIREMENTS = pathlib.Path(__file__).resolve().parent.parent / "tests/differential/requirements.txt"
TARGETS = {"tiktoken": 1.5, "tokenizers": 15.0}


def bytes_of_characters():
    """GPT-2's printable character for each byte, the other way round."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in printable}
    others = [byte for byte in range(256) if byte not in printable]
    table.update({chr(256 + i): byte for i, byte in enumerate(others)})
    return table


def tiktoken_encoder(path):
    import tiktoken

    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    table = bytes_of_characters()
    ranks = {bytes(table[c] for c in token): rank for token, rank in document["model"]["vocab"].items()}
    pattern = document["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"]
    encoding = tiktoken.Encoding("same", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda parts: sum(len(encoding.encode_ordinary(part)) for part in parts)


def tokenizers_encoder(path):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(path)
    return lambda parts: sum(len(e.ids) for e in tokenizer.encode_batch_fast(parts, add_special_tokens=False))


def measure(name, tokenizer, text, unit):
    """One run inside the virtual environment; prints what tokenizer_bench prints."""
    encoder = {"tiktoken": tiktoken_encoder, "tokenizers": tokenizers_encoder}[name](tokenizer)
    content = pathlib.Path(text).read_bytes().decode("utf-8")
    parts = content.removesuffix("\n").split("\n") if unit == "lines" else [content]
    start, cpu = time.perf_counter(), time.process_time()
    ids = encoder(parts)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    size = sum(len(part.encode()) for part in parts)
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu, "bytes": size, "ids": ids}))


def ensure_venv(folder):
    python = pathlib.Path(folder) / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS], check=True)
    return str(python)


def run_once(command, core):
    env = dict(os.environ, TOKENIZERS_PARALLELISM="false", RAYON_NUM_THREADS="1")
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=env,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )
    return json.loads(done.stdout)


def cut_text(path, megabytes):
    """The first part of the text, to whole lines, in a file of its own."""
    content = pathlib.Path(path).read_bytes()[: int(megabytes * 1e6)]
    content = content[: content.rindex(b"\n") + 1]
    file = tempfile.NamedTemporaryFile(suffix=".txt")
    file.write(content)
    file.flush()
    return file


def compare(commands, rounds, core):
    results = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            results[name].append(run_once(command, core))
    speeds = {}
    for name, runs in results.items():
        rates = sorted(run["bytes"] / 1e6 / run["cpu_seconds"] for run in runs)
        speeds[name] = statistics.median(rates)
        wall = statistics.median(run["bytes"] / 1e6 / run["seconds"] for run in runs)
        print(f"  {name:10} {speeds[name]:8.2f} MB/s of CPU time ({rates[0]:.2f} to {rates[-1]:.2f}), "
              f"{wall:.2f} MB/s of wall time, {runs[0]['ids']} ids")
    return speeds


def main():
    if sys.argv[1:2] == ["measure"]:
        measure(*sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("venv", "bench", "tokenizer", "text"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--gguf", help="the file our side loads (default: the tokenizer.json)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=float, default=8)
    parser.add_argument("--unit", choices=("whole", "lines", "both"), default="both")
    options = parser.parse_args()
    python = ensure_venv(options.venv)
    core = max(os.sched_getaffinity(0))
    passed = failed = 0
    with cut_text(options.text, options.megabytes) as text:
        for unit in ("whole", "lines") if options.unit == "both" else (options.unit,):
            print(f"{unit}: {os.path.getsize(text.name)} bytes, {options.rounds} rounds, core {core}")
            commands = {"smolbot": [options.bench, options.gguf or options.tokenizer, text.name, unit]}
            for name in TARGETS:
                commands[name] = [python, __file__, "measure", name, options.tokenizer, text.name, unit]
            speeds = compare(commands, options.rounds, core)
            for name, target in TARGETS.items():
                ratio = speeds["smolbot"] / speeds[name]
                print(f"  {ratio:.2f} x {name} (at least {target})")
                passed, failed = passed + (ratio >= target), failed + (ratio < target)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
