"""Prompt lookup: fewer passes where the answer copies the prompt, no loss elsewhere, and never another bit."""
import difflib

import watch
from sse_client import stream
from texts import QUESTIONS, report as text_of

PATH = "/v1/chat/completions"
COPIES = 0.9     # of an answer's words, where it is called a copy


def ask(server, question, most):
    return stream(server.port, PATH, {"messages": [{"role": "user", "content": question}], "temperature": 0,
                                      "max_tokens": most, "reasoning_effort": "none", "logprobs": True,
                                      "top_logprobs": 2})


def bits_of(answer):
    """The scores of one token after the other, however they are spread over chunks."""
    return answer.text, answer.finish_reason, [one for part in answer.scores for one in part["content"]]


def similarity(text, answer):
    words = answer.split()
    match = difflib.SequenceMatcher(None, text.split(), words, autojunk=False)
    return sum(block.size for block in match.get_matching_blocks()) / max(1, len(words))


def passes_of(server, question, most):
    """The answer and the forward passes that made it: all that was computed, less the prompt and the drafts; the last token
    of an answer is not computed, and the prompt's end gives the first."""
    before = watch.counters(server.port)
    answer = ask(server, question, most)
    after = watch.counters(server.port)
    grown = {name: after[name] - before[name] for name in after}
    read = grown["prompt_tokens_total"] - grown["cached_tokens_total"]
    passes = grown["computed_tokens_total"] - read - grown["drafted_tokens_total"] + 1
    return answer, passes, grown


def check_copies(report, server, without, n_texts):
    n_copies = n_tokens = n_passes = n_drafted = n_accepted = n_different = 0
    worst = float("inf")
    for seed in range(n_texts):
        text = text_of(seed, 150 + 15 * (seed % 10))
        question = f"Repeat this text word for word, and write nothing else:\n\n{text}"
        most = 2 * len(text.split())
        answer, passes, grown = passes_of(server, question, most)
        n_different += bits_of(answer) != bits_of(ask(without, question, most))
        if similarity(text, answer.text) >= COPIES:
            n_copies += 1
            n_tokens += answer.usage["completion_tokens"]
            n_passes += passes
            n_drafted += grown["drafted_tokens_total"]
            n_accepted += grown["accepted_tokens_total"]
            worst = min(worst, answer.usage["completion_tokens"] / passes)
    report.judge(n_different == 0, f"lookup: {n_texts - n_different} of {n_texts} copied texts have the same bits without it")
    report.judge(n_copies > 0 and n_tokens / n_passes >= 2,
                 f"lookup: {n_copies} of {n_texts} answers are copies, {n_tokens / max(1, n_passes):.2f} tokens a forward pass "
                 f"({worst:.2f} at least), >= 2.0; {n_drafted:.0f} drafted, {n_accepted:.0f} accepted")


def check_elsewhere(report, server, without, n_questions, rounds, judges_times):
    """In turns; of each question the best round counts, since others may have used the machine."""
    n_different = n_tokens = 0
    seconds = {server: 0.0, without: 0.0}
    drafted = 0
    for question in QUESTIONS[:n_questions]:
        best = {}
        for _ in range(rounds):
            answers = {one: ask(one, question, 200) for one in (server, without)}
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


def check(report, server, without, n_texts, rounds, judges_times):
    """`without`: the same server with lookup switched off."""
    check_copies(report, server, without, n_texts)
    check_elsewhere(report, server, without, n_texts, rounds, judges_times)
