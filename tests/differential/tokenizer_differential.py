#!/usr/bin/env python3
"""Compares the tokenizer with PyPI's tokenizers on generated strings.

Usage: PYTHON tokenizer_differential.py --conformance PATH/smolbot_conformance --tokenizer tokenizer.json
       [--ours FILE] [--count 200000] [--seed 1]

PYTHON has the packages of requirements.txt. The strings mix scripts, white space of every kind, controls, emoji
sequences, digits, and added tokens whole and in fragments. The reference's answers are written as cases of kind
`encode`, which also streams each string in every cut. Last line: `N passed, N failed`.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import unicodedata

from tokenizers import Tokenizer

BATCH = 2000
SPACES = [" ", "  ", "   ", "\t", "\n", "\r", "\r\n", "\n\n", " \n", "\v", "\f", "\x1c", "\x1f", "\x85", "\xa0",
          "\u1680", "\u180e", "\u2000", "\u2003", "\u2009", "\u200a", "\u200b", "\u2028", "\u2029", "\u202f",
          "\u205f", "\u2060", "\u3000", "\ufeff"]
CONTRACTIONS = ["'s", "'S", "'t", "'T", "'re", "'RE", "'rE", "'ve", "'m", "'ll", "'LL", "'lL", "'d", "'", "''", "\u2019s",
                "'\u017f", "'\u0130", "'r", "'l", "'v", "'\u212a"]
EMOJI = ["\U0001f600", "\U0001f469\u200d\U0001f4bb", "\U0001f44d\U0001f3fd", "\u2764\ufe0f", "\U0001f1e9\U0001f1ea", "\u0031\ufe0f\u20e3",
         "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f3f4\U000e0067\U000e0062\U000e007f"]
WORDS = ["the", "The", "hello", "World", "tokenizer", "don", "Việt", "việc", "straße", "naïve", "e\u0301", "Привет", "κόσμε",
         "שלום", "مرحبا", "ایران", "हिन्दी", "ไทย", "中文字", "日本語", "한국어", "እንግዳ", "lardan", "ektedir", "_x", "__init__",
         "http://", "https://a.b/c?d=e", "x1y2", "CamelCase", "ALLCAPS", "ǅ", "ﬁ", "𝐀𝐁", "𐐀", "ª", "ʰ", "゙", "ー"]
SYMBOLS = ["!", "...", "?!", "--", "=>", "{}", "[1]", "$", "€", "%", "+", "==", "\\", "/", "\"", "«", "。", "、", "\u0300",
           "\u0483", "\u20dd", "\u0e31", "\ufffd", "\u00ad", "\u034f", "|", "<", ">", "<|", "|>", "</"]
NUMBERS = ["0", "7", "12", "123", "1234", "1234567", "3.14", "½", "²", "Ⅷ", "①", "٣", "१२", "〇", "𝟏", "𐄇", "๑๒๓๔"]


def points(first, last):
    return lambda rng: chr(rng.randint(first, last))


ALPHABETS = [points(0x61, 0x7A), points(0x41, 0x5A), points(0xC0, 0x24F), points(0x370, 0x3FF), points(0x400, 0x52F),
             points(0x590, 0x5FF), points(0x600, 0x6FF), points(0x900, 0x97F), points(0xE00, 0xE7F), points(0x1E00, 0x1EFF),
             points(0x3040, 0x30FF), points(0x4E00, 0x9FFF), points(0xAC00, 0xD7A3), points(0x1D400, 0x1D7FF)]


def any_point(rng):
    while True:
        limit = rng.choice((0x80, 0x100, 0x3000, 0x10000, 0x20000, 0x110000))
        point = rng.randrange(limit)
        if not 0xD800 <= point <= 0xDFFF:
            return chr(point)


def assigned_point(rng):
    while True:
        character = any_point(rng)
        if unicodedata.category(character) not in ("Cn", "Co"):
            return character


def repeated(rng):
    unit = rng.choice((rng.choice("a1 \n\t.=-"), any_point(rng), rng.choice(WORDS)))
    return unit * rng.choice((2, 3, 5, 8, 17, 60))


def added_fragment(rng, added):
    """An added token: whole, cut, doubled, with one character changed, or with another begun inside."""
    content = rng.choice(added)
    kind = rng.randrange(6)
    if kind == 0:
        return content[: rng.randint(0, len(content))]
    if kind == 1:
        return content[rng.randint(0, len(content)):]
    if kind == 2:
        return content + content
    if kind == 3:
        at = rng.randrange(len(content))
        return content[:at] + rng.choice(("<", "|", " ", "x", "")) + content[at + 1:]
    if kind == 4:
        return content[: rng.randint(1, len(content))] + rng.choice(added)
    return content


def generate(rng, added):
    makers = [
        (6, lambda: rng.choice(WORDS)), (6, lambda: rng.choice(SPACES)), (2, lambda: rng.choice(SPACES) * rng.randint(1, 4)),
        (3, lambda: rng.choice(NUMBERS)), (3, lambda: rng.choice(SYMBOLS)), (2, lambda: rng.choice(CONTRACTIONS)),
        (2, lambda: rng.choice(EMOJI)), (2, lambda: any_point(rng)), (3, lambda: assigned_point(rng)),
        (3, lambda: added_fragment(rng, added)), (1, lambda: chr(rng.randrange(0x20))), (1, lambda: repeated(rng)),
        (3, lambda: "".join(rng.choice(ALPHABETS)(rng) for _ in range(rng.randint(1, 6)))),
    ]
    weights = [weight for weight, _ in makers]
    return "".join(rng.choices(makers, weights)[0][1]() for _ in range(rng.randint(1, 12)))


class Reference:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        self.added = [token["content"] for token in document["added_tokens"]]
        self.whole = Tokenizer.from_file(path)
        self.split = Tokenizer.from_file(path)
        self.split.encode_special_tokens = True
        document["added_tokens"] = []
        self.plain = Tokenizer.from_str(json.dumps(document))

    def ids(self, tokenizer, texts):
        return [encoding.ids for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def cases(self, texts, first):
        modes = (self.ids(tokenizer, texts) for tokenizer in (self.whole, self.plain, self.split))
        for number, (text, ids, plain, split) in enumerate(zip(texts, *modes), first):
            case = {"id": f"s{number:06d}", "text": text, "ids": ids}
            if any(content[0] in text for content in self.added):
                case.update(plain_ids=plain, split_special_ids=split)
            case["decoded"] = self.whole.decode(ids, skip_special_tokens=False)
            case["decoded_skip_special"] = self.whole.decode(ids, skip_special_tokens=True)
            yield case


def write_cases(file, reference, count, seed):
    rng = random.Random(seed)
    for first in range(0, count, BATCH):
        texts = [generate(rng, reference.added) for _ in range(min(BATCH, count - first))]
        for case in reference.cases(texts, first):
            file.write(json.dumps(case, ensure_ascii=False) + "\n")
    file.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--conformance", required=True)
    parser.add_argument("--tokenizer", required=True, help="the reference's tokenizer.json")
    parser.add_argument("--ours", help="the file our side loads, perhaps a GGUF (default: the same)")
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8", newline="\n") as file:
        write_cases(file, Reference(options.tokenizer), options.count, options.seed)
        command = [options.conformance, "encode", "--cases", file.name, "--tokenizer", options.ours or options.tokenizer]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
