"""Every answer that is asked to keep to a schema does, at temperature 1 and within max_tokens."""
import asyncio
import collections
import json
import pathlib
import subprocess
import sys

from schemas import SCHEMAS
from sse_client import Exchange

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "build" / "load"
AT_ONCE = 8
PATH = "/v1/chat/completions"


def judging_python():
    """A Python with jsonschema, installed once; None where it cannot be had."""
    python = FOLDER / "venv" / "bin" / "python"
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", FOLDER / "venv"], check=True, capture_output=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r",
                        HERE / "requirements.txt"], check=True, capture_output=True, timeout=600)
    except (subprocess.SubprocessError, OSError):
        return None
    return python


def request_of(schema, question, seed):
    return {"messages": [{"role": "user", "content": question}], "temperature": 1, "max_tokens": 200, "seed": seed,
            "response_format": {"type": "json_schema", "json_schema": {"name": "form", "strict": True,
                                                                      "schema": schema}}}


async def ask_all(port, requests):
    room = asyncio.Semaphore(AT_ONCE)

    async def ask(body):
        async with room:
            return await Exchange(PATH, body).run(port)
    return await asyncio.gather(*map(ask, requests))


def case_of(schema, exchange):
    if exchange.status() != 200:
        return {"schema": schema, "content": exchange.raw().decode()[-300:], "finish_reason": exchange.status()}
    choice = exchange.json()["choices"][0]
    return {"schema": schema, "content": choice["message"]["content"], "finish_reason": choice["finish_reason"]}


def verdicts_on(python, cases):
    done = subprocess.run([python, HERE / "judge_answers.py"], input="\n".join(map(json.dumps, cases)), text=True,
                          capture_output=True, check=True)
    verdicts = done.stdout.splitlines()
    assert len(verdicts) == len(cases), done.stdout
    return verdicts


def check(report, server, answers):
    python = judging_python()
    if python is None:
        report.skip("schemas: jsonschema could not be installed")
        return
    wanted = [(name, request_of(schema, question, seed)) for name, (schema, question) in SCHEMAS.items()
              for seed in range(answers)]
    exchanges = asyncio.run(ask_all(server.port, [body for _, body in wanted]))
    cases = [case_of(SCHEMAS[name][0], exchange) for (name, _), exchange in zip(wanted, exchanges)]
    wrong = collections.defaultdict(list)
    for (name, _), found in zip(wanted, verdicts_on(python, cases)):
        if found != "ok":
            wrong[name].append(found)
    for name in SCHEMAS:
        first = f"; {wrong[name][0][:300]}" if wrong[name] else ""
        report.judge(not wrong[name], f"schema {name}: {answers - len(wrong[name])} of {answers} answers valid{first}")
