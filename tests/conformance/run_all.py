"""Runs smolbot_conformance on all of ../shared, in each instruction set, and sums up.

Options: --long adds the exactness matrix on a prompt of 1,500 tokens; --only TEXT runs what holds TEXT in its name;
--list prints the names. One line per run; the last line is `N passed, N failed, N skipped`.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "build/release/bin/smolbot_conformance"
SCRATCH = ROOT / "build/conformance"
SHARED = ROOT.parent / "shared"
FIXTURES = SHARED / "fixtures"
TOKENIZER = FIXTURES / "tokenizer"
CASES = SHARED / "reference/cases"
DEMO = SHARED / "models/demo"
MODELS = [SHARED / "reference/models", SHARED / "models", ROOT / "build/models"]
VOCABULARIES = ("smollm3", "smollm2")
SMOLLM2 = "smollm2-135m/"


@dataclasses.dataclass
class Run:
    """One call of the program. `isa` None: no kernels are involved; "best": what the machine chooses."""
    name: str
    arguments: list
    isa: str | None = None


def text_runs():
    for vocab in VOCABULARIES:
        for source in (f"{vocab}_tokenizer.json", f"{vocab}_vocab.gguf"):
            tokenizer = ["--tokenizer", TOKENIZER / source]
            for kind in ("encode", "decode", "invalid-utf8"):
                cases = TOKENIZER / f"{kind.replace('-', '_')}_{vocab}.jsonl"
                yield Run(f"{kind} {source}", [kind, "--cases", cases, *tokenizer])
    for source in ("smollm3_tokenizer.json", "smollm3_vocab.gguf"):
        yield Run(f"ignore-merges {source}", ["ignore-merges", "--cases", TOKENIZER / "ignore_merges_smollm3.jsonl",
                                              "--tokenizer", TOKENIZER / source])
    for source in ("mini_tokenizer.json", "mini_tokenizer_arrays.json"):
        yield Run(f"encode {source}", ["encode", "--cases", TOKENIZER / "encode_mini.jsonl",
                                       "--tokenizer", TOKENIZER / source])
    chat = ["chat-ids", "--cases", TOKENIZER / "chat_ids.jsonl", "--tokenizers", TOKENIZER]
    yield Run("chat-ids json", chat)
    yield Run("chat-ids gguf", [*chat, "--gguf"])


def template_runs():
    yield Run("jinja", ["jinja", "--cases", FIXTURES / "jinja_cases.jsonl"])
    yield Run("templates", ["templates", "--cases", FIXTURES / "templates_golden.jsonl", "--templates",
                            FIXTURES / "templates", "--contexts", FIXTURES / "template_contexts.json"])
    yield Run("prompts", ["prompts", "--cases", FIXTURES / "templates_golden.jsonl", "--templates",
                          FIXTURES / "templates", "--contexts", FIXTURES / "template_contexts.json",
                          "--tokenizers", TOKENIZER])
    yield Run("prompts demo", ["prompts", "--cases", DEMO / "goldens.jsonl", "--tokenizer",
                               DEMO / "smollm3-demo-q8_0.gguf"])
    yield Run("parse", ["parse", "--cases", FIXTURES / "parse_cases.jsonl"])
    yield Run("stream", ["stream", "--cases", FIXTURES / "stream_examples.json"])
    yield Run("json-schema", ["json-schema", "--cases", FIXTURES / "json_schema/maskbench.jsonl", "--tokenizer",
                              TOKENIZER / "smollm3_tokenizer.json"])
    yield Run("sampler", ["sampler", "--cases", CASES / "sampler.jsonl"])
    yield Run("rope", ["rope", "--cases", CASES / "rope.jsonl"])


def model_flags() -> list:
    return [word for folder in MODELS if folder.is_dir() for word in ("--models", folder)]


def records_of(cases: pathlib.Path) -> list:
    return [json.loads(line) for line in cases.read_text(encoding="utf-8").split("\n") if line]


def write_records(name: str, records: list) -> pathlib.Path:
    """A file of some records, with what their relative paths name where they expect it."""
    folder = SCRATCH / "cases"
    folder.mkdir(parents=True, exist_ok=True)
    for data in ("npy", "text"):
        if not (folder / data).exists():
            (folder / data).symlink_to(CASES / data)
    target = folder / name
    target.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return target


def without_smollm2(cases: pathlib.Path) -> pathlib.Path:
    """Leaves out the large model, where an instruction set would take minutes for it."""
    return write_records(f"{cases.stem}-small.jsonl", [record for record in records_of(cases)
                                                       if not record["model"].startswith(SMOLLM2)])


def longest_of_each_model(cases: pathlib.Path) -> pathlib.Path:
    longest = {}
    for record in records_of(cases):
        kept = longest.setdefault(record["model"], record)
        if len(record["ids"]) > len(kept["ids"]):
            longest[record["model"]] = record
    return write_records(f"{cases.stem}-longest.jsonl", [record for model, record in longest.items()
                                                         if not model.startswith(SMOLLM2)])


def bits_runs(isa: str, long: bool):
    """Every logit has the same bytes for each prefill chunk and number of threads."""
    cases = CASES / "logits.jsonl"
    # Two blocks of the cache, or one and a bit where the kernels are slow.
    shorter = [] if isa == "best" or long else ["--max-tokens", "80" if isa == "scalar" else "140"]
    for cache in ("f16", "int8"):
        yield Run(f"bits small {cache}", ["bits", "--cases", longest_of_each_model(cases), *shorter, "--kv-type", cache,
                                          *model_flags()], isa)
    if isa != "scalar" or long:
        yield Run("bits smollm2 200", ["bits", "--cases", cases, "--only", "smollm2-text-300", "--max-tokens", "200",
                                       *model_flags()], isa)
    if long:
        for cache in ("f16", "int8"):
            yield Run(f"bits smollm2 1500 {cache}", ["bits", "--cases", cases, "--only", "smollm2-text-900",
                                                     "--min-tokens", "1500", "--kv-type", cache, *model_flags()], isa)


def model_runs(isa: str, long: bool):
    """Everything that goes through the kernels, in one instruction set."""
    logits, greedy = CASES / "logits.jsonl", CASES / "greedy.jsonl"
    flags = [*model_flags(), "--threads", "1", "--kv-type"]
    yield Run("dequant", ["dequant", "--cases", CASES / "dequant.jsonl"], isa)
    if isa != "best":
        greedy = without_smollm2(greedy)
    if isa == "scalar" and not long:
        logits = without_smollm2(logits)
    for cache in ("f16", "f32", "int8"):
        yield Run(f"logits {cache}", ["logits", "--cases", logits, *flags, cache], isa)
        yield Run(f"greedy {cache}", ["greedy", "--cases", greedy, *flags, cache], isa)
    yield from bits_runs(isa, long)
    if isa == "best":
        yield Run("demo", ["demo", "--cases", DEMO / "goldens.jsonl", *flags, "f32"], isa)
        yield Run("sensitivity", ["sensitivity", "--cases", CASES / "sensitivity.jsonl", *flags, "f32"], isa)
        yield Run("perplexity", ["perplexity", "--cases", CASES / "perplexity.jsonl", "--tokenizer",
                                 TOKENIZER / "smollm2_tokenizer.json", *flags, "f16"], isa)


def instruction_sets() -> tuple:
    """(those to run, lines on those that are left out); "best" is what the machine chooses by itself"""
    flags = set(re.findall(r"\w+", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")))
    sets = {"avx2": "avx2", "avxvnni": "avx_vnni", "avx512": "avx512_vnni", "amx": "amx_int8"}
    here = [name for name, flag in sets.items() if flag in flags]
    missing = [f"{name}: this processor has none" for name in sets if name not in here]
    if not here:
        return ["best"], missing
    return ["scalar", *here[:-1], "best"], missing


@dataclasses.dataclass
class Outcome:
    passed: int
    failed: int
    skipped: int
    output: str
    seconds: float


def execute(run: Run) -> Outcome:
    environment = dict(os.environ)
    environment.pop("SMOL_ISA", None)
    if run.isa not in (None, "best"):
        environment["SMOL_ISA"] = run.isa
    begin = time.monotonic()
    done = subprocess.run([PROGRAM, *run.arguments], capture_output=True, env=environment, check=False)
    output = (done.stdout + done.stderr).decode("utf-8", "replace")
    counts = re.search(r"^(\d+) passed, (\d+) failed$", output, re.MULTILINE)
    skipped = re.search(r"^(\d+) skipped$", output, re.MULTILINE)
    passed, failed = (int(counts[1]), int(counts[2])) if counts else (0, 1)
    if done.returncode != 0 or passed == 0 and not skipped:
        failed = max(failed, 1)
    return Outcome(passed, failed, int(skipped[1]) if skipped else 0, output,
                   time.monotonic() - begin)


def show(run: Run, outcome: Outcome) -> None:
    name = run.name + (f" [{run.isa}]" if run.isa else "")
    word = "ok" if outcome.failed == 0 else "FAILED"
    left_out = f", {outcome.skipped} left out" if outcome.skipped else ""
    print(f"  {word:6} {name}: {outcome.passed} ok, {outcome.failed} not ok{left_out}, {outcome.seconds:.1f} s",
          flush=True)
    if outcome.failed:
        print("\n".join("         " + line for line in outcome.output.splitlines()[-12:]), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    here, missing = instruction_sets()
    runs = [*text_runs(), *template_runs(), *(run for isa in here for run in model_runs(isa, options.long))]
    runs = [run for run in runs if options.only in f"{run.name} [{run.isa}]"]
    if options.list:
        print("\n".join(f"{run.name} [{run.isa}]" for run in runs))
        return 0
    for isa in missing:
        print(f"skipped the runs in {isa}")
    total = [0, 0, len(missing)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for run, outcome in zip(runs, pool.map(execute, runs)):
            show(run, outcome)
            total = [a + b for a, b in zip(total, (outcome.passed, outcome.failed, outcome.skipped))]
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] or not total[0] else 0


if __name__ == "__main__":
    sys.exit(main())
