"""What ./test --long adds: the server under load on a model as large as the real one, and generated input on which our parts and
the libraries they follow must agree."""
import sys

from suite_report import BUILD, LOG, ROOT, SHARED, Counts, run, run_or_show, say, skip, sum_line, tail

VENV = BUILD / "venv"
SMOLBOT = BUILD / "release" / "bin" / "smolbot"
SMOLLM2 = BUILD / "models" / "smollm2-135m" / "SmolLM2-135M-Instruct.Q4_1.gguf"
LARGE = BUILD / "models" / "synthetic" / "SmolLM3-3B-Q4_K_M.gguf"
PROGRAM = BUILD / "release" / "bin" / "smolbot_conformance"
TESTS = ROOT / "tests" / "differential"
TOKENIZER = SHARED / "fixtures" / "tokenizer"


def set_up_venv() -> bool:
    """The reference libraries, in the versions of requirements.txt, apart from the system's Python."""
    if not (VENV / "bin" / "python").exists():
        if not run_or_show("venv", [sys.executable, "-m", "venv", VENV]):
            return False
    return run("venv-packages", [VENV / "bin" / "python", "-m", "pip", "install", "--quiet",
                                 "--disable-pip-version-check", "-r", TESTS / "requirements.txt"])


def make_large_model() -> bool:
    """A file with the shapes and types of the real model and random weights, made once."""
    if LARGE.is_file():
        return True
    script = SHARED / "tools" / "make_synthetic_gguf.py"
    if not script.is_file() or not set_up_venv():
        return False
    LARGE.parent.mkdir(parents=True, exist_ok=True)
    part = LARGE.with_suffix(".part")
    if not run_or_show("synthetic", [VENV / "bin" / "python", script, part]):
        return False
    part.replace(LARGE)
    return True


def load() -> Counts:
    """With its times: only on a calm machine do they say something."""
    if not SMOLLM2.is_file():
        return skip("the server under load", "SmolLM2-135M-Instruct is not there")
    large = ["--large", LARGE] if make_large_model() else []
    counts = counted("load-long", [sys.executable, "-B", ROOT / "tests/load/run_load.py", "--program", SMOLBOT, "--model",
                                   SMOLLM2, "--long", *large])
    say((LOG / "load-long.log").read_text(encoding="utf-8").rsplit("\n", 2)[0])
    return counts


def counted(name: str, command: list) -> Counts:
    """One differential program; its log ends with the sum."""
    passed = run(name, command, timeout_s=7200)
    counts = sum_line(LOG / f"{name}.log") or Counts(failed=1)
    if not passed or counts.failed:
        counts.failed = max(counts.failed, 1)
        tail(LOG / f"{name}.log")
    say(f"  {name}: {counts.passed} ok, {counts.failed} not ok")
    return counts


def tokenizer(vocab: str) -> Counts:
    return counted(f"tokenizer-differential-{vocab}",
                   [VENV / "bin" / "python", TESTS / "tokenizer_differential.py", "--conformance", PROGRAM,
                    "--tokenizer", TOKENIZER / f"{vocab}_tokenizer.json", "--count", "200000"])


def templates() -> Counts:
    return counted("jinja-differential", [sys.executable, "-B", TESTS / "jinja_differential.py", PROGRAM,
                                          "--count", "20000"])


def schemas(name: str, *cases) -> Counts:
    return counted(f"json-schema-differential-{name}",
                   [VENV / "bin" / "python", "-B", TESTS / "json_schema_differential.py", PROGRAM,
                    TOKENIZER / "smollm3_tokenizer.json", *cases])


def differential() -> Counts:
    counts = templates()
    names = "the differential runs of tokenizer and JSON schemas"
    if not SHARED.is_dir():
        return counts + skip(names, "the vocabularies in ../shared are not there")
    if set_up_venv():
        counts += tokenizer("smollm3") + tokenizer("smollm2") + schemas("random")
        counts += schemas("fixture", "--cases", SHARED / "fixtures/json_schema/maskbench.jsonl")
    else:
        counts += skip(names, "their reference libraries could not be installed")
    return counts
