"""A server that is killed at any moment leaves no cache file that is taken for whole and is not."""
import random
import signal
import subprocess
import time

from check_prefix import ask, scores_of
from loads import Maker
from server import Server

FILE = "prompts.kv"
PROMPT_TOKENS = 600


class Kills:
    def __init__(self, bench, arguments):
        self.bench = bench
        self.folder = bench.folder / "killed"
        self.arguments = [*arguments, "--data-dir", self.folder, "--save-cache", "--no-log-requests"]
        self.maker = Maker({}, "kills")
        self.prompt = self.maker.prompt(PROMPT_TOKENS)
        self.draw = random.Random(3)
        self.start_s = self.save_s = 0.0
        self.right = None      # the scores of the answer, without any cache
        self.n_restored = self.n_refused = self.n_wrong = self.n_verified = 0

    def start(self):
        begin = time.monotonic()
        server = Server(self.bench, *self.arguments)
        self.start_s = max(self.start_s, time.monotonic() - begin)
        return server

    def verify(self, server):
        """What the file holds gives the right bits."""
        found = ask(server, self.maker, self.prompt, 4)
        if self.right is None:
            self.right = scores_of(ask(server, self.maker, self.prompt, 4, cache_prompt=False))
        self.n_verified += 1
        self.n_wrong += scores_of(found) != self.right
        self.n_restored += found.usage["prompt_tokens_details"]["cached_tokens"] > PROMPT_TOKENS / 2
        self.n_refused += any(f"{FILE}: " in line for line in server.lines)

    def kill_while_it_starts(self):
        command = [str(self.bench.program), "serve", "--port", "0", *map(str, self.arguments)]
        with subprocess.Popen(command, env=self.bench.env(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(self.draw.uniform(0, self.start_s))
            process.kill()

    def kill_while_it_saves(self):
        server = self.start()
        self.verify(server)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(self.draw.uniform(0, self.save_s))
        server.end(signal.SIGKILL)

    def end_well(self):
        server = self.start()
        self.verify(server)
        begin = time.monotonic()
        server.end()
        self.save_s = time.monotonic() - begin

    def left_over(self):
        return [path.name for path in self.folder.iterdir() if path.suffix == ".part"]


def check(report, bench, arguments, n_kills):
    kills = Kills(bench, arguments)
    kills.end_well()
    for number in range(n_kills):
        (kills.kill_while_it_saves if number % 2 else kills.kill_while_it_starts)()
    kills.end_well()
    report.judge(kills.n_wrong == 0 and kills.n_refused == 0 and kills.n_restored > 0,
                 f"kills: {n_kills} kills (starting within {kills.start_s:.2f} s, saving within {kills.save_s:.2f} s); of "
                 f"{kills.n_verified} starts {kills.n_restored} took the cache file, {kills.n_refused} found it broken, "
                 f"{kills.n_wrong} gave other bits")
    report.judge(not kills.left_over(), f"kills: {len(kills.left_over())} unfinished files are left in the data folder")
