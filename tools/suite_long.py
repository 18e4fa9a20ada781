"""What ./test --long adds: generated input on which our parts and the libraries they follow must agree."""
import sys

from suite_report import BUILD, LOG, ROOT, SHARED, Counts, run, run_or_show, say, skip, sum_line, tail

VENV = BUILD / "venv"
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
