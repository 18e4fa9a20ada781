"""Checks that docs/one_token.md tells the truth: every `file: function()` it names exists.

Prints one line per name that is gone; exit status 1 if there is any.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEP = re.compile(r"`([a-z0-9_/]+\.(?:cpp|h|cu)): ([A-Za-z_][A-Za-z0-9_:]*)\(\)`")


def complaint(path: str, function: str) -> str | None:
    file = ROOT / "src" / path
    if not file.is_file():
        return f"src/{path}: there is no such file"
    if not re.search(rf"\b{re.escape(function)}\(", file.read_text(encoding="utf-8")):
        return f"src/{path}: has no {function}()"
    return None


def main() -> int:
    steps = STEP.findall((ROOT / "docs" / "one_token.md").read_text(encoding="utf-8"))
    found = [text for text in (complaint(*step) for step in steps) if text]
    print("\n".join(found) if found else f"{len(steps)} functions of docs/one_token.md exist")
    return 1 if found or not steps else 0


if __name__ == "__main__":
    sys.exit(main())
