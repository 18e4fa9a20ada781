"""Drives the real program against the demo model, as a person or a script would.

    python3 tests/e2e/cli_test.py build/release/bin/smolbot

Needs python3 alone; ends with one line `N passed, N failed, N skipped`.
"""
import sys
import tempfile
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import api_cases
import chat_cases
import command_cases
import input_cases
import model_cases
from harness import Bench, Skipped

MODULES = (input_cases, command_cases, chat_cases, api_cases, model_cases)


def main() -> int:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        print("cli_test.py: expected the path of the program smolbot", file=sys.stderr)
        return 2
    passed = failed = skipped = 0
    for module in MODULES:
        for name in [name for name in vars(module) if name.startswith("test_")]:
            with tempfile.TemporaryDirectory(prefix="smolbot-e2e-") as folder:
                try:
                    getattr(module, name)(Bench(Path(sys.argv[1]).resolve(), Path(folder)))
                    passed += 1
                except Skipped as reason:
                    skipped += 1
                    print(f"skipped {name}: {reason}")
                except Exception:
                    failed += 1
                    print(f"FAILED {module.__name__}.{name}\n{traceback.format_exc()}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
