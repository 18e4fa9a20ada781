"""Says of each answer whether it keeps to its schema; runs where jsonschema is installed.

One JSON object a line on standard input, {"schema", "content", "finish_reason"}; as many lines of verdicts come out, `ok` or
what is wrong.
"""
import json
import sys

from jsonschema import Draft202012Validator


def refuse_constant(text):
    raise ValueError(f"{text} is no JSON")


def unique_keys(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"a key comes twice in {keys}")
    return dict(pairs)


def verdict(case):
    if case["finish_reason"] != "stop":
        return f"ended by {case['finish_reason']}: {case['content']!r}"
    try:
        value = json.loads(case["content"], parse_constant=refuse_constant, object_pairs_hook=unique_keys)
    except ValueError as error:
        return f"{error}: {case['content']!r}"
    Draft202012Validator.check_schema(case["schema"])
    validator = Draft202012Validator(case["schema"], format_checker=Draft202012Validator.FORMAT_CHECKER)
    errors = [error.message for error in validator.iter_errors(value)]
    return f"{errors[0]}: {case['content']!r}" if errors else "ok"


def main():
    for line in sys.stdin:
        print(verdict(json.loads(line)))


if __name__ == "__main__":
    main()
