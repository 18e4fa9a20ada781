"""One line for each figure, and the sum at the end."""
import time
import traceback


class Report:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self._begin = time.monotonic()

    def note(self, text):
        print(f"[{time.monotonic() - self._begin:5.0f} s] {text}", flush=True)

    def judge(self, passed, text):
        """A figure with its goal in the text."""
        self.passed += bool(passed)
        self.failed += not passed
        self.note(f"{'ok    ' if passed else 'FAILED'} {text}")

    def measure(self, judged, passed, text):
        """A time that is judged only where the machine is held to be calm."""
        if judged:
            self.judge(passed, text)
        else:
            self.note(f"       {text} (not judged here)")

    def skip(self, text):
        self.skipped += 1
        self.note(f"skipped {text}")

    def run(self, name, check):
        """What a check raises is a failure of that check alone."""
        try:
            check()
        except Exception:  # pylint: disable=broad-except
            self.judge(False, f"{name}: {traceback.format_exc()}")

    def sum_line(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"
