"""Eight clients at a time, now and then a long prompt, and one client alone in between."""
import asyncio
import dataclasses
import random
import time

import watch
from loads import Maker, fault_of, visible_bias
from sse_client import Exchange

PATH = "/v1/completions"
CLIENTS = 8
MIB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Plan:
    turns: int             # of load; the one client is alone before, between and behind them
    turn_s: float
    ramp_s: float          # until the clients have spread out
    alone_s: float
    long_tokens: int
    long_every_s: float
    rest_s: float          # between the end of one long prompt and the next
    early_s: tuple         # of the time under load: the memory that the end is compared with
    fills_cache: bool      # with prompts before the load, so that memory has no more to grow by
    judges_times: bool


SHORT = Plan(turns=2, turn_s=27, ramp_s=5, alone_s=3, long_tokens=4000, long_every_s=20, rest_s=5, early_s=(15, 30),
             fills_cache=False, judges_times=False)
LONG = Plan(turns=2, turn_s=300, ramp_s=60, alone_s=45, long_tokens=4000, long_every_s=120, rest_s=45,
            early_s=(60, 120), fills_cache=True, judges_times=True)


@dataclasses.dataclass
class Turn:
    begin: float
    end: float = 0.0
    usual: list = dataclasses.field(default_factory=list)
    long: list = dataclasses.field(default_factory=list)


class Load:
    def __init__(self, server, plan):
        self.server = server
        self.plan = plan
        self.bias = visible_bias(server.port)
        self.turns = []
        self.alone = []       # answers
        self.memory = []      # seconds under load, resident bytes, bytes of keys and values
        self._long_due = 0.0
        self._makers = [Maker(self.bias, f"load {number}") for number in range(CLIENTS + 1)]

    def run(self):
        for number in range(self.plan.turns):
            self._run_alone()
            asyncio.run(self._run_turn(number))
        self._run_alone()

    def _run_alone(self):
        end = time.monotonic() + self.plan.alone_s
        while time.monotonic() < end:
            exchange = Exchange(PATH, self._makers[CLIENTS].mean())
            asyncio.run(exchange.run(self.server.port))
            self.alone.append(exchange)

    async def _run_turn(self, number):
        turn = Turn(time.monotonic())
        self.turns.append(turn)
        self._long_due = turn.begin + self.plan.ramp_s
        tasks = [asyncio.create_task(self._client(turn, i)) for i in range(CLIENTS)]
        tasks.append(asyncio.create_task(self._watch(turn, number * self.plan.turn_s)))
        await asyncio.sleep(self.plan.turn_s)
        turn.end = time.monotonic()
        for task in tasks:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(outcome, asyncio.CancelledError):
                raise outcome

    async def _client(self, turn, number):
        """Whoever is free first when a long prompt is due sends it."""
        source = f"127.0.0.{2 + number}"
        while True:
            is_long = time.monotonic() >= self._long_due
            if is_long:
                self._long_due = float("inf")
                exchange = Exchange(PATH, self._makers[number].request(self.plan.long_tokens, 64))
                turn.long.append(exchange)
            else:
                exchange = Exchange(PATH, self._makers[number].usual())
                turn.usual.append(exchange)
            await exchange.run(self.server.port, source)
            if is_long:
                self._long_due = max(exchange.begin + self.plan.long_every_s, time.monotonic() + self.plan.rest_s)

    async def _watch(self, turn, before):
        while True:
            counters = Exchange("/metrics")
            await counters.run(self.server.port)
            kv_bytes = next(float(line.split()[1]) for line in counters.raw().splitlines()
                            if line.startswith(b"smolbot_kv_bytes "))
            self.memory.append((before + time.monotonic() - turn.begin,
                                watch.resident_bytes(self.server.process.pid), kv_bytes))
            await asyncio.sleep(1)


class Findings:
    """What the streams say, once they are over."""

    def __init__(self, load):
        plan = load.plan
        self.faults = []
        self.n_finished = self.n_cut = self.n_tokens = 0
        self.gaps_with, self.gaps_without, self.reading_s = [], [], []
        self.between_s, self.between_tokens = 0.0, 0
        alone = [exchange.answer() for exchange in load.alone]
        self._count(load.alone, alone)
        self.alone_tokens_per_s = (sum(len(one.pieces) for one in alone)
                                   / sum(exchange.end - exchange.begin for exchange in load.alone))
        for turn in load.turns:
            usual = [exchange.answer() for exchange in turn.usual]
            long = [exchange.answer() for exchange in turn.long]
            self._count(turn.usual + turn.long, usual + long)
            windows = [(one.begin, one.times[0] if one.times else turn.end) for one in long]
            self.reading_s += [end - begin for begin, end in windows]
            self._part_gaps(usual, windows)
            self._count_between(usual + long, windows, turn.begin + plan.ramp_s, turn.end)

    def _count(self, exchanges, answers):
        for exchange, answer in zip(exchanges, answers):
            self.n_tokens += len(answer.pieces)
            if exchange.end is None:
                self.n_cut += 1
            else:
                self.n_finished += 1
                fault = fault_of(answer)
                self.faults += [fault] if fault else []

    def _part_gaps(self, answers, windows):
        for answer in answers:
            for before, after in answer.gaps():
                is_with = any(before < end and after > begin for begin, end in windows)
                (self.gaps_with if is_with else self.gaps_without).append(after - before)

    def _count_between(self, answers, windows, begin, end):
        def is_between(moment):
            return begin <= moment <= end and not any(first <= moment <= last for first, last in windows)
        self.between_s += end - begin - sum(max(0.0, min(last, end) - max(first, begin)) for first, last in windows)
        self.between_tokens += sum(is_between(moment) for answer in answers for moment in answer.times)


def judge_counters(report, load, found, before):
    """Within a second or two of the end nothing runs any more, and the server has counted what the clients saw."""
    for _ in range(100):
        after = watch.counters(load.server.port)
        if after["turns_running"] == after["turns_waiting"] == 0:
            break
        time.sleep(0.05)
    grown = {name: after[name] - before[name] for name in after}
    report.judge(not found.faults, f"load: {found.n_finished} answers, {len(found.faults)} errors, {found.n_cut} cut off at "
                 f"the end of a turn{'; ' + str(found.faults[0]) if found.faults else ''}")
    report.judge(grown["turns_failed_total"] == 0 and grown["turns_finished_total"] >= found.n_finished  # some ended while they were cut off
                 and grown["turns_finished_total"] + grown["turns_cancelled_total"] == found.n_finished + found.n_cut,
                 f"load: counters say {grown['turns_finished_total']:.0f} finished, {grown['turns_cancelled_total']:.0f} "
                 f"cancelled, {grown['turns_failed_total']:.0f} failed")
    report.judge(found.n_tokens <= grown["generated_tokens_total"] <= found.n_tokens + 8 * found.n_cut,
                 f"load: {grown['generated_tokens_total']:.0f} tokens generated, {found.n_tokens} received")
    report.judge(after["turns_running"] == after["turns_waiting"] == 0
                 and after["kv_bytes"] == after["prefix_cache_bytes"] <= after["kv_bytes_max"],
                 f"load: at the end {after['turns_running']:.0f} turns run, {after['kv_bytes'] / MIB:.0f} MiB of keys and "
                 f"values are held, {after['prefix_cache_bytes'] / MIB:.0f} of them for later prompts")


def fill_cache(report, server, maker, n_tokens):
    """Prompts are kept for later ones until they take the whole budget of keys and values."""
    found = watch.counters(server.port)
    room = found["kv_bytes_max"] - found["kv_bytes"]
    while room > 0:
        exchange = Exchange(PATH, maker.request(n_tokens, 1))
        asyncio.run(exchange.run(server.port))
        found = watch.counters(server.port)
        before, room = room, found["kv_bytes_max"] - found["kv_bytes"]
        if room >= before:
            break
    report.judge(room <= 0.02 * found["kv_bytes_max"],
                 f"load: before it, prompts took {found['kv_bytes'] / MIB:.0f} of {found['kv_bytes_max'] / MIB:.0f} MiB of keys "
                 "and values")


def judge_memory(report, load):
    """Keys and values are touched as they are used, up to their budget: what they grow by is no leak."""
    plan = load.plan
    whole = plan.turns * plan.turn_s
    first, last = plan.early_s
    early = [one for one in load.memory if first <= one[0] < last]
    late = [one for one in load.memory if one[0] >= whole - (last - first)]
    resident = [max(one[1] for one in part) for part in (early, late)]
    kv_bytes = [max(one[2] for one in load.memory if one[0] <= part[-1][0]) for part in (early, late)]
    grown = 0 if plan.fills_cache else kv_bytes[1] - kv_bytes[0]
    allowed = 1.02 * resident[0] + grown
    report.judge(resident[1] <= allowed,
                 f"load: resident memory {resident[0] / MIB:.0f} MiB from second {first} to {last}, {resident[1] / MIB:.0f} in "
                 f"the last {last - first} ({resident[1] / resident[0]:.3f} x), <= 1.02 x beside {grown / MIB:.0f} MiB that keys "
                 f"and values grew by")


def judge_times(report, plan, found):
    if not found.gaps_with or not found.gaps_without:
        report.judge(not plan.judges_times, "load: no token came beside a long prompt, or none without one")
        return
    middle = watch.median(found.gaps_without)
    for share, most in ((0.95, 2), (0.999, 5)):
        value = watch.quantile(found.gaps_with, share)
        report.measure(plan.judges_times, value <= most * middle,
                       f"load: beside a long prompt {share * 100:g} of 100 gaps between tokens <= {value * 1000:.0f} ms = "
                       f"{value / middle:.2f} x the median without ({middle * 1000:.0f} ms), <= {most} x "
                       f"({len(found.gaps_with)} gaps)")
    together = found.between_tokens / found.between_s
    ratio = together / found.alone_tokens_per_s
    report.measure(plan.judges_times, ratio >= 2.5,
                   f"load: {CLIENTS} clients {together:.1f} tokens/s between long prompts, one alone "
                   f"{found.alone_tokens_per_s:.1f}: {ratio:.2f} x, >= 2.5 x")
    report.note(f"       load: {len(found.reading_s)} long prompts of {plan.long_tokens} tokens, read or cut off after "
                f"{', '.join(f'{seconds:.1f}' for seconds in found.reading_s)} s")


def check(report, server, plan):
    plan = dataclasses.replace(plan, long_tokens=min(plan.long_tokens, server.context - 300))
    load = Load(server, plan)
    if plan.fills_cache:
        fill_cache(report, server, Maker(load.bias, "fill"), plan.long_tokens)
    before = watch.counters(server.port)
    load.run()
    found = Findings(load)
    judge_counters(report, load, found, before)
    judge_memory(report, load)
    judge_times(report, plan, found)
