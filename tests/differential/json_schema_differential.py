#!/usr/bin/env python3
"""Differential test of the grammars of JSON schemas against PyPI's jsonschema.

usage: json_schema_differential.py PROGRAM TOKENIZER [--count 3000] [--seed 1] [--keep FILE] [--cases FILE]

PROGRAM is smolbot_conformance. Random schemas with random instances: what jsonschema finds valid must be let through, what
it finds invalid must be stopped, and random answers under each schema's masks must be valid. Instances are written in the
form that src/grammar/grammar.h describes. With --cases the schemas of that file, of any draft, are taken instead.
Ends with "N passed, N failed".
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import jsonschema

from schema_generator import Generator

INSTANCES = 12
MAX_REFUSED = 0.35  # of the schemas: some oneOf, formats beside patterns, counts beside further keys


def validator(schema):
    cls = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    return cls(schema, format_checker=cls.FORMAT_CHECKER)


def properties_in_order(check, properties, instance, schema):
    """Further keys stand behind the named ones: in another branch's order an instance is none of this one."""
    yield from jsonschema.Draft202012Validator.VALIDATORS["properties"](check, properties, instance, schema)
    named = {*properties, *schema.get("required", [])}
    kinds = [key in named for key in instance] if isinstance(instance, dict) else []
    if kinds != sorted(kinds, reverse=True):
        yield jsonschema.ValidationError("a further key stands before a named one")


OrderedValidator = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"properties": properties_in_order})


def write_cases(path, count, seed):
    schemas = {}
    with open(path, "w", encoding="utf-8") as out:
        for number in range(count):
            generator = Generator(random.Random(f"{seed}/{number}"))
            schema = generator.schema()
            check = OrderedValidator(schema, format_checker=OrderedValidator.FORMAT_CHECKER)
            try:
                tests = []
                for _ in range(INSTANCES):
                    data = generator.instance(schema, schema)
                    tests.append({"valid": check.is_valid(data), "data": data})
            except RecursionError:  # a reference to itself
                continue
            case = {"id": f"s{seed}-{number}", "schema": schema, "tests": tests}
            schemas[case["id"]] = schema
            out.write(json.dumps(case, ensure_ascii=False) + "\n")
    return schemas


def read_cases(path):
    with open(path, encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    return {case["id"]: case["schema"] for case in cases}


def run(program, kind, path, tokenizer):
    done = subprocess.run([program, kind, "--cases", path, "--tokenizer", tokenizer], capture_output=True, check=False)
    output = done.stdout.decode("utf-8", "replace")
    counts = re.search(r"^(\d+) passed, (\d+) failed$", output, re.MULTILINE)
    if not counts:
        print(output[-2000:] + done.stderr.decode("utf-8", "replace"))
        return output, 0, 1
    return output, int(counts[1]), int(counts[2])


def check_walks(output, schemas):
    """(valid, invalid) texts among the random answers."""
    counts = [0, 0]
    for line in output.split("\n"):
        if not line.startswith("{"):
            continue
        answer = json.loads(line)
        try:
            problem = jsonschema.exceptions.best_match(
                validator(schemas[answer["id"]]).iter_errors(json.loads(answer["text"])))
        except ValueError as error:
            problem = error
        counts[problem is not None] += 1
        if problem is not None:
            print(f"FAILED {answer['id']}\n  schema {json.dumps(schemas[answer['id']])}\n  answer {answer['text']}\n"
                  f"  {str(problem).splitlines()[0]}")
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("tokenizer")
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="where the cases are written (default: a temporary file)")
    parser.add_argument("--cases", help="a file of cases, as kind json-schema reads it")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.cases or args.keep or os.path.join(folder, "json_schema_differential.jsonl")
        schemas = read_cases(path) if args.cases else write_cases(path, args.count, args.seed)
        output, passed, failed = run(args.program, "json-schema", path, args.tokenizer)
        print(output[-4000:])
        refused = re.search(r"(\d+) supported, (\d+) refused", output)
        if not refused or int(refused[2]) > MAX_REFUSED * len(schemas):
            failed += 1
        output, walked, stuck = run(args.program, "json-schema-walks", path, args.tokenizer)
        print("\n".join(line for line in output.split("\n") if not line.startswith("{"))[-4000:])
        valid, invalid = check_walks(output, schemas)
        print(f"{valid} random answers valid, {invalid} not")
        print(f"{passed + valid} passed, {failed + stuck + invalid} failed")
        return 1 if failed + stuck + invalid or not walked else 0


if __name__ == "__main__":
    sys.exit(main())
