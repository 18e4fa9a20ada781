"""Prompt lookup: fewer passes where the answer copies the prompt, no loss elsewhere, and never another bit."""
import difflib

import watch
from sse_client import ask as http_ask
from sse_client import stream
from texts import QUESTIONS, texts_to_repeat

PATH = "/v1/chat/completions"
COPIES = 0.9     # of an answer's words, where it is called a copy


def ask(server, messages, most):
    return stream(server.port, PATH, {"messages": messages, "temperature": 0, "max_tokens": most,
                                      "reasoning_effort": "none", "logprobs": True, "top_logprobs": 2})


def to_repeat(text):
    return [{"role": "system", "content": "You repeat texts exactly as they are."},
            {"role": "user", "content": f"{text}\n\nRepeat the text above exactly, from its first to its last word."}]


def bits_of(answer):
    """The scores of one token after the other, however they are spread over chunks."""
    return answer.text, answer.finish_reason, [one for part in answer.scores for one in part["content"]]


def similarity(text, answer):
    words = answer.split()
    match = difflib.SequenceMatcher(None, text.split(), words, autojunk=False)
    return sum(block.size for block in match.get_matching_blocks()) / max(1, len(words))


def passes_of(server, messages, most):
    """The answer and the forward passes that made it: all that was computed, less the prompt and the drafts; the last token
    of an answer is not computed, and the prompt's end gives the first."""
    before = watch.counters(server.port)
    answer = ask(server, messages, most)
    after = watch.counters(server.port)
    grown = {name: after[name] - before[name] for name in after}
    read = grown["prompt_tokens_total"] - grown["cached_tokens_total"]
    passes = grown["computed_tokens_total"] - read - grown["drafted_tokens_total"] + 1
    return answer, passes, grown


def check_copies(report, server, without, texts):
    n_copies = n_tokens = n_passes = n_drafted = n_accepted = n_different = 0
    worst = float("inf")
    for text in texts:
        _, found = http_ask(server.port, "/tokenize", {"content": text})
        most = len(found["tokens"])
        answer, passes, grown = passes_of(server, to_repeat(text), most)
        n_different += bits_of(answer) != bits_of(ask(without, to_repeat(text), most))
        if similarity(text, answer.text) >= COPIES:
            n_copies += 1
            n_tokens += answer.usage["completion_tokens"]
            n_passes += passes
            n_drafted += grown["drafted_tokens_total"]
            n_accepted += grown["accepted_tokens_total"]
            worst = min(worst, answer.usage["completion_tokens"] / passes)
    report.judge(n_different == 0, f"lookup: {len(texts) - n_different} of {len(texts)} answers that repeat a text have the "
                 "same bits without it")
    report.judge(n_copies > 0 and n_tokens / n_passes >= 2,
                 f"lookup: {n_copies} of {len(texts)} answers are copies, {n_tokens / max(1, n_passes):.2f} tokens a forward "
                 f"pass ({worst:.2f} at least), >= 2.0; {n_drafted:.0f} drafted, {n_accepted:.0f} accepted")


def check_elsewhere(report, server, without, n_questions, rounds, judges_times):
    """In turns; of each question the best round counts, since others may have used the machine."""
    n_different = n_tokens = 0
    seconds = {server: 0.0, without: 0.0}
    drafted = 0
    for question in QUESTIONS[:n_questions]:
        best = {}
        for _ in range(rounds):
            answers = {one: ask(one, [{"role": "user", "content": question}], 200) for one in (server, without)}
            for one, answer in answers.items():
                best[one] = min(best.get(one, float("inf")), answer.timings["predicted_ms"] / 1000)
        n_different += bits_of(answers[server]) != bits_of(answers[without])
        n_tokens += answers[server].usage["completion_tokens"]
        drafted += answers[server].timings["drafted_n"]
        for one, value in best.items():
            seconds[one] += value
    report.judge(n_different == 0, f"lookup: {n_questions - n_different} of {n_questions} free answers have the same bits "
                 "without it")
    ratio = seconds[without] / seconds[server]
    report.measure(judges_times, ratio >= 0.98,
                   f"lookup: free answers {n_tokens / seconds[server]:.1f} tokens/s, without it "
                   f"{n_tokens / seconds[without]:.1f}: {ratio:.3f} x, >= 0.98 x; {drafted} drafted for {n_tokens} tokens")


def check(report, server, without, is_long):
    """`without`: the same server with lookup switched off. The short form takes a text that SmolLM2-135M copies, and one that
    it does not."""
    texts = texts_to_repeat()[slice(None) if is_long else slice(6, 8)]
    if texts:
        check_copies(report, server, without, texts)
    else:
        report.skip("lookup: this system carries no texts to repeat")
    questions, rounds = (10, 3) if is_long else (2, 1)
    check_elsewhere(report, server, without, questions, rounds, is_long)
