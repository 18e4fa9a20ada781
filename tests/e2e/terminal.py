"""A program on a pseudo terminal, as a person sits before it."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time


class Terminal:
    def __init__(self, command, env):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))

        def own_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env,
                                        preexec_fn=own_terminal, close_fds=True)
        os.close(slave)
        self.seen = ""
        self.position = 0

    def _read(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return True
        try:
            chunk = os.read(self.master, 65536)
        except OSError:
            return False
        self.seen += chunk.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(chunk)

    def expect(self, pattern, seconds=60):
        """The match of `pattern` in what came since the last match."""
        end = time.monotonic() + seconds
        while True:
            match = re.compile(pattern).search(self.seen, self.position)
            if match:
                self.position = match.end()
                return match
            left = end - time.monotonic()
            if left <= 0 or not self._read(left):
                raise AssertionError(f"expected /{pattern}/, found {self.seen[self.position:]!r}")

    def send(self, text):
        os.write(self.master, text.encode())

    def line(self, text):
        self.send(text + "\r")

    def prompt(self):
        """Waits until the program reads a line: what is typed earlier, the terminal may change."""
        self.expect(r"\x1b\[\?2004h> ")

    def wait(self, seconds=30):
        """The exit status, once the terminal is silent."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._read(0.1) and self.process.poll() is None:
            pass
        return self.process.wait(timeout=seconds)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.master)
