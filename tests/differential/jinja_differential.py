#!/usr/bin/env python3
"""Differential test of the template engine: random templates, rendered by Python's jinja2 and by us.

usage: jinja_differential.py PROGRAM [--count 20000] [--seed 1] [--keep FILE] [--only-write]

PROGRAM is smolbot_conformance. Needs jinja2 >= 3.1 (Debian: python3-jinja2) in the environment that transformers
gives chat templates: the immutable sandbox, trim_blocks, lstrip_blocks, loop controls, {% generation %},
tojson without HTML escapes, raise_exception, strftime_now. Ends with "N passed, N failed".
"""
import argparse
import copy
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile

import jinja2
import jinja2.ext
import jinja2.nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from jinja_generator import Generator

NOW = "2025-07-08T14:05:09"


class Generation(jinja2.ext.Extension):
    """{% generation %}: a call block that notes where its text lands."""
    tags = {"generation"}

    def __init__(self, environment):
        super().__init__(environment)
        environment.extend(generation_out=None, generation_spans=None)

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("_note")
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

    @jinja2.pass_eval_context
    def _note(self, context, caller):
        text = caller()
        start = len("".join(self.environment.generation_out))
        self.environment.generation_spans.append([start, start + len(text)])
        return text


def reference_environment():
    moment = datetime.datetime.fromisoformat(NOW)

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                extensions=[Generation, jinja2.ext.loopcontrols])
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = moment.strftime
    return environment


def failure(error):
    return {"error": {"type": type(error).__name__, "message": str(error),
                      "raised_by_template": type(error) is jinja2.exceptions.TemplateError,
                      "phase": "parse" if isinstance(error, jinja2.TemplateSyntaxError) else "render"}}


def outcome(environment, source, variables):
    """What the reference does with a template, the fields of a golden case; None where it fails itself."""
    try:
        template = environment.from_string(source)
    except (jinja2.TemplateSyntaxError, SyntaxError) as error:
        return failure(error)
    except Exception:  # its optimizer failed on a constant that may never be reached
        return None
    try:
        environment.generation_out, environment.generation_spans = [], []
        for block in template.generate(**copy.deepcopy(variables)):
            environment.generation_out.append(block)
        text = "".join(environment.generation_out)
        spans = environment.generation_spans
        return {"expected": text, **({"generation_spans": spans} if spans else {})}
    except Exception as error:  # every failure is part of the golden
        return failure(error)


def comparable(case):
    """Not: memory addresses, complex numbers, failures of jinja2 itself, text that UTF-8 cannot hold."""
    if " at 0x" in case.get("expected", case.get("error", {}).get("message", "")).lower():
        return False
    if "error" in case:
        return case["error"]["type"] not in ("AssertionError", "RecursionError", "MemoryError", "NameError")
    try:
        case["expected"].encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "j)" not in case["expected"]


def write_cases(path, count, seed):
    environment = reference_environment()
    failures = 0
    with open(path, "w", encoding="utf-8") as out:
        written = 0
        number = 0
        while written < count:
            number += 1
            rng = random.Random(f"{seed}/{number}")
            source, variables = Generator(rng).template()
            result = outcome(environment, source, variables)
            if result is not None and comparable(result):
                case = {"id": f"d{seed}-{number}", "template": source, "vars": variables, **result}
                written += 1
                failures += "error" in case
                out.write(json.dumps(case, ensure_ascii=False) + "\n")
    print(f"jinja2 {jinja2.__version__}: {count} templates, {failures} of them fail", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="where the cases are written (default: a temporary file)")
    parser.add_argument("--only-write", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.keep or os.path.join(folder, "jinja_differential.jsonl")
        write_cases(path, args.count, args.seed)
        if args.only_write:
            return 0
        return subprocess.run([args.program, "jinja", "--cases", path]).returncode


if __name__ == "__main__":
    sys.exit(main())
