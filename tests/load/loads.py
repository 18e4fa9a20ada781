"""The work of the clients: prompts of an exact length, answers whose every token can be seen."""
import random
import re

from sse_client import ask

# Ids that are words or parts of words in any large vocabulary.
FIRST_ID, LAST_ID = 1000, 40000
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def visible_bias(port):
    """Answers consist of pairs of letters: they end at max_tokens, and each token is a piece of text by itself. The pairs are
    many, so that little of an answer repeats and is drafted."""
    pairs = " " + " ".join(first + second for first in LETTERS for second in LETTERS)
    _, found = ask(port, "/tokenize", {"content": pairs, "add_special": False, "with_pieces": True})
    ids = {token["id"] for token in found["tokens"] if re.fullmatch(" [a-z]{2}", str(token["piece"]))}
    assert len(ids) > 200, ids
    return {str(number): 100 for number in ids}


class Maker:
    """Requests that are drawn, the same ones for the same name; no two prompts begin alike."""

    def __init__(self, bias, name):
        self._bias = bias
        self._random = random.Random(name)

    def prompt(self, size):
        return [self._random.randint(FIRST_ID, LAST_ID) for _ in range(size)]

    def request(self, prompt, answer, **more):
        ids = prompt if isinstance(prompt, list) else self.prompt(prompt)
        return {"prompt": ids, "max_tokens": answer, "temperature": 1, "seed": self._random.randint(0, 1 << 30),
                "logit_bias": self._bias, "stream": True, "stream_options": {"include_usage": True}, **more}

    def usual(self):
        """One of the many: 50 to 500 tokens, answered with 64 to 256."""
        return self.request(self._random.randint(50, 500), self._random.randint(64, 256))

    def mean(self):
        """As long as those are on the average."""
        return self.request(275, 160)


def fault_of(answer):
    """What is wrong with an answer that came to its end; nothing: it is as it must be."""
    if answer.error:
        return answer.error
    if not answer.is_whole or answer.usage is None:
        return "the stream broke off"
    wanted = answer.body["max_tokens"]
    found = (answer.finish_reason, answer.usage["completion_tokens"], len(answer.pieces))
    if found != ("length", wanted, wanted):
        return f"expected {wanted} tokens in as many pieces, found {found}"
    if answer.usage["prompt_tokens"] != len(answer.body["prompt"]):
        return f"expected {len(answer.body['prompt'])} tokens of the prompt, found {answer.usage['prompt_tokens']}"
    return None
