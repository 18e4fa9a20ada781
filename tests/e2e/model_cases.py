"""A real model, where the set-up has fetched one."""
from harness import SMOLLM2, Skipped, contains


def answer(bench, question):
    if not SMOLLM2.is_file():
        raise Skipped("SmolLM2-135M-Instruct is not there")
    return bench.ok("run", "--model", SMOLLM2, "--temperature", "0", "--max-tokens", "64", question)


def test_smollm2_knows_the_capital_of_france(bench):
    contains(answer(bench, "Name the capital of France."), "Paris")


def test_smollm2_knows_the_capital_of_japan(bench):
    contains(answer(bench, "What is the capital of Japan?"), "Tokyo")
