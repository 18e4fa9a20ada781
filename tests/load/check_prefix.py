"""A prompt that begins like an earlier one starts at once, with the same bits."""
import watch
from loads import Maker
from sse_client import stream

PATH = "/v1/completions"
ADDED = 16


def scores_of(answer):
    return [(part["tokens"], part["token_logprobs"], part["top_logprobs"]) for part in answer.scores]


def ask(server, maker, prompt, answer, **more):
    return stream(server.port, PATH, {**maker.request(prompt, answer), "logprobs": 5, "temperature": 0, **more})


def judge_reuse(report, name, found, without, expected, counted):
    cached = found.usage["prompt_tokens_details"]["cached_tokens"]
    report.judge(cached in expected and counted == cached and found.timings["prompt_n"] == len(found.body["prompt"]) - cached,
                 f"prefix, {name}: cached_tokens {cached} of {len(found.body['prompt'])} (expected "
                 f"{' or '.join(map(str, expected))}), {found.timings['prompt_n']} read, {counted:.0f} counted")
    report.judge(scores_of(found) == scores_of(without) and found.text == without.text,
                 f"prefix, {name}: the same bits with and without ({len(found.pieces)} tokens with their logprobs)")


def check(report, server, shared, judges_times):
    """The second prompt goes on where the first one ended; the third leaves it, so whole blocks of 64 are shared."""
    maker = Maker({}, "prefix")
    common = maker.prompt(shared)
    first = ask(server, maker, common, 1)
    whole_blocks = shared // 64 * 64
    for name, expected in (("going on", (shared,)), ("branching off", (whole_blocks, shared))):
        prompt = common + maker.prompt(ADDED)
        before = watch.counters(server.port)["cached_tokens_total"]
        found = ask(server, maker, prompt, 8)
        counted = watch.counters(server.port)["cached_tokens_total"] - before
        without = ask(server, maker, prompt, 8, cache_prompt=False)
        judge_reuse(report, name, found, without, expected, counted)
        share = found.seconds_to_first / first.seconds_to_first
        report.measure(judges_times, share <= 0.05,
                       f"prefix, {name}: first token after {found.seconds_to_first * 1000:.0f} ms = {share * 100:.1f} % of the "
                       f"first prompt's {first.seconds_to_first * 1000:.0f} ms, <= 5 %")
