"""What the cases stand on: the program, an empty home, the models."""
import os
import subprocess
from pathlib import Path

from terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "models" / "demo" / "smollm3-demo-q8_0.gguf"
DEMO_F32 = ROOT.parent / "shared" / "models" / "demo" / "smollm3-demo-f32.gguf"
SMOLLM2 = ROOT / "build" / "models" / "smollm2-135m" / "SmolLM2-135M-Instruct.Q4_1.gguf"


class Skipped(Exception):
    """A case that this machine cannot run."""


class Result:
    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout.decode("utf-8")
        self.err = done.stderr.decode("utf-8")


class Bench:
    def __init__(self, program, folder):
        self.program = program
        self.folder = folder

    def env(self, **variables):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("SMOLBOT_") and name not in ("NO_COLOR", "SMOL_ISA")}
        kept.update(HOME=str(self.folder), TERM="xterm", LC_ALL="C.UTF-8", SMOLBOT_MODEL=str(DEMO))
        for name in ("XDG_STATE_HOME", "XDG_DATA_HOME"):
            kept.pop(name, None)
        kept.update(variables)
        return {name: value for name, value in kept.items() if value is not None}

    def run(self, *arguments, stdin=b"", timeout=300, cwd=None, **variables):
        done = subprocess.run([str(self.program), *map(str, arguments)], input=stdin,
                              capture_output=True, env=self.env(**variables), timeout=timeout,
                              cwd=cwd or self.folder, check=False)
        return Result(done)

    def ok(self, *arguments, **options):
        """Standard output of a run that must succeed and say nothing beside."""
        result = self.run(*arguments, **options)
        assert result.status == 0, f"status {result.status}: {result.err}"
        assert result.err == "", result.err
        return result.out

    def fails(self, *arguments, **options):
        """The one line of a run that must end with status 2."""
        result = self.run(*arguments, **options)
        assert result.status == 2, f"{arguments}: status {result.status}, {result.err!r}"
        assert result.out == "", f"{arguments}: {result.out!r}"
        lines = result.err.splitlines()
        assert len(lines) == 1 and lines[0].startswith("smolbot: "), f"{arguments}: {result.err!r}"
        return lines[0]

    def chat(self, *arguments, **variables):
        return Terminal([str(self.program), "chat", *map(str, arguments)], self.env(**variables))

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path


def equal(found, expected):
    assert found == expected, f"expected {expected!r}, found {found!r}"


def contains(text, part):
    assert part in text, f"expected {part!r} in {text!r}"
