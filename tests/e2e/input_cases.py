"""The command line itself: help, bad input, variables, model choice, closed outputs."""
import os
import re
import subprocess
import threading
from contextlib import closing

from harness import DEMO, ROOT, Skipped, contains, equal

COMMANDS = ("serve", "chat", "run", "bench", "inspect", "doctor", "quantize", "tokenize", "template", "logits",
            "eval")

BAD = (
    ["--frobnicate"], ["frobnicate"], [],
    ["run", "--frobnicate", "x"], ["run", "-Z", "x"], ["run", "x", "y"],
    ["run", "x", "--model"], ["inspect"], ["quantize", "a"], ["eval"],
    *(["run", "x", "--temperature", bad] for bad in ("nan", "inf", "-1", "1e999", "warm", "", "101")),
    *(["run", "x", "--top-p", bad] for bad in ("0", "1.01", "-0.5", "NaN", "0,5")),
    *(["run", "x", "--top-k", bad] for bad in ("-1", "1.5", "99999999999999999999")),
    *(["run", "x", "--min-p", bad] for bad in ("-0.1", "2", "nan")),
    *(["run", "x", "--seed", bad] for bad in ("-1", "18446744073709551616", "a")),
    *(["run", "x", "--max-tokens", bad] for bad in ("-1", "many", "1e3")),
    *(["run", "x", "--repetition-penalty", bad] for bad in ("0", "-1", "nan")),
    *(["run", "x", "--presence-penalty", bad] for bad in ("101", "nan")),
    *(["run", "x", "--logit-bias", bad] for bad in ("5", "a=1", "5=nan", "-1=1", "99999=1")),
    *(["run", "x", "--threads", bad] for bad in ("0", "-2", "100000", "two")),
    *(["run", "x", "--context", bad] for bad in ("0", "-5", "1e6", "9999999999", "some", "16000000")),
    ["run", "x", "--kv-type", "q4"], ["run", "x", "--stop", ""],
    ["run", ""], ["run", "x", "--tools", "/nonexistent.json"],
    ["run", "x", "--chat-template", "/nonexistent.jinja"],
    ["run", "x", "--tokenizer", "/nonexistent.json"], ["run", "x", "--model", "/nonexistent.gguf"],
    ["run", "x", "--model", "/"], ["run", "x", "--model", "/dev/null"],
    ["bench", "-p", "-1"], ["bench", "-o", "xml"], ["bench", "-r", "0"],
    ["bench", "-d", "5000", "-n", "1", "-p", "0", "-c", "4096"],
    ["inspect", "/nonexistent.gguf"], ["inspect", str(ROOT / "README.md")],
    ["quantize", "/nonexistent.gguf", "/tmp/never.gguf"],
    ["quantize", str(DEMO), str(DEMO)], ["quantize", str(DEMO), "/nonexistent/x.gguf", "--type", "Q9"],
    ["tokenize", "--ids", "1,,2"], ["tokenize", "--ids", "-1"], ["tokenize", "x", "-o", "yaml"],
    ["tokenize", "x", "--added-tokens", "some"],
    ["template", "--messages", "/nonexistent.json"],
    ["logits"], ["logits", "--ids", ""], ["logits", "--ids", "1,x"], ["logits", "--ids", "4352"],
    ["logits", "--ids", "1", "--npy", "/nonexistent/x.npy"],
    ["eval", "/nonexistent.txt"], ["eval", str(ROOT / "README.md"), "--window", "1"],
    ["eval", str(ROOT / "README.md"), "--window", "64", "--stride", "65"],
    ["eval", str(ROOT / "README.md"), "--against-model", "/nonexistent.gguf"],
)


def test_help_names_every_command(bench):
    out = bench.ok("--help")
    for command in COMMANDS:
        contains(out, command)
    assert "  pull" not in out


def test_every_flag_has_help_default_and_variable(bench):
    for command in COMMANDS:
        out = bench.ok(command, "--help")
        flags = re.findall(r"^  (?:-\w,|--\w+,)?--([\w-]+)(.*(?:\n {20}.*)*)", out, re.MULTILINE)
        assert flags, out
        for name, rest in flags:
            if name != "help":
                flag = name.upper().replace("-", "_")
                assert re.search(rf"SMOLBOT_({command.upper()}_)?{flag}\)", rest), rest
                contains(rest, "(default: ")


def test_bad_input_gives_one_line_and_status_2(bench):
    for arguments in BAD:
        line = bench.fails(*arguments, stdin=b"")
        said = "expected" in line and "found" in line
        assert said or "asked for, this file allows at most" in line, f"{arguments}: {line}"
        assert len(line) < 700, f"{arguments}: {line}"


def test_bad_messages_name_the_field(bench):
    for content, part in ((b"{", "--messages"), (b"[]", "messages"), (b'{"a": 1}', "messages"),
                          (b'[{"role": "wizard", "content": "x"}]', "messages[0].role"),
                          (b'[{"role": "user", "content": 5}]', "messages[0].content")):
        contains(bench.fails("template", "--messages", "-", stdin=content), part)


def test_broken_model_files_are_refused(bench):
    whole = DEMO.read_bytes()
    for name, content in (("empty", b""), ("short", whole[:1000]), ("cut", whole[:-5000]),
                          ("version", whole[:4] + b"\x09" + whole[5:]),
                          ("text", b"this is no model")):
        line = bench.fails("run", "x", "--model", bench.file(f"{name}.gguf", content))
        contains(line, f"{name}.gguf")


def test_a_broken_template_or_tokenizer_is_named(bench):
    template = bench.file("bad.jinja", "{% if %}\n{{ broken")
    contains(bench.fails("run", "x", "--chat-template", template), "line 1")
    tokenizer = bench.file("tokenizer.json", '{"model": {}}')
    contains(bench.fails("run", "x", "--tokenizer", tokenizer), "--tokenizer")


def test_a_text_has_a_limit_and_is_no_model(bench):
    huge = bench.folder / "huge"
    with huge.open("wb") as file:
        file.truncate(100 << 30)
    for arguments in (["eval", huge], ["run", "x", "--tools", huge], ["run", "x", "--python-tools", huge],
                      ["run", "x", "--chat-template", huge], ["template", "--messages", huge]):
        contains(bench.fails(*arguments, timeout=60), "huge: expected at most")
    contains(bench.fails("eval", DEMO), "found a model file")
    contains(bench.fails("run", "--raw", stdin=b"x" * ((16 << 20) + 1)), "standard input: expected at most")


def test_a_text_may_come_from_a_pipe(bench):
    pipe = bench.folder / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"{{ messages[0].content }}!",))
    writer.start()
    equal(bench.ok("template", "--chat-template", pipe, "Hi"), "Hi!")
    writer.join()


def test_a_variable_means_the_same_in_every_command(bench):
    forms = {}
    for command in COMMANDS:
        flags = re.findall(r"^  (-\S+ ?[^ ]*)(.*(?:\n {20}.*)*)", bench.ok(command, "--help"), re.MULTILINE)
        for form, rest in flags:
            for variable in re.findall(r"SMOLBOT_\w+", rest):
                equal(form, forms.setdefault(variable, form))
    equal(bench.ok("tokenize", "-o", "ids", "Hi", SMOLBOT_IDS="1", SMOLBOT_OUTPUT="x"),
          bench.ok("tokenize", "-o", "ids", "Hi"))


def test_an_empty_value_is_a_value(bench):
    for words in (["--seed=", "hi"], ["--temperature=", "hi"]):
        contains(bench.fails("run", *words), 'found ""')
    for options, variables in (([], {"SMOLBOT_HISTORY": ""}), (["--history="], {})):
        with closing(bench.chat(*options, **variables)) as chat:
            chat.prompt()
            chat.line("/quit")
            equal(chat.wait(), 0)
        assert not (bench.folder / ".local").exists()


def test_a_flag_counts_before_the_variable_of_its_opposite(bench):
    for words in (["--think"], ["--no-think", "--think"]):
        contains(bench.ok("template", *words, "Hi", SMOLBOT_NO_THINK="1"), "Reasoning Mode: /think")
    contains(bench.ok("template", "--think", "--no-think", "Hi"), "Reasoning Mode: /no_think")


def test_messages_name_what_was_given(bench):
    template = bench.file("bad.jinja", "{% if %}")
    contains(bench.fails("run", "x", "--chat-template", template), f"--chat-template: {template}: ")
    contains(bench.fails("run", "x", "--stop", ""), "--stop: expected a text")
    contains(bench.fails("run", "x", "--logit-bias", "4352=1"), "--logit-bias: expected an id below 4352")
    contains(bench.fails("quantize", DEMO, "out.gguf", SMOLBOT_TYPE="zz"), "SMOLBOT_TYPE: expected")
    contains(bench.fails("run", "x", "-m", bench.file("empty.gguf", b"")), "found an empty one")
    contains(bench.fails("tokenize", "--ids", "99999"), "expected ids from 0 to")
    contains(bench.fails("tokenize", "--ids", "1", "x"), "found both")
    contains(bench.fails("template", "--messages", "-", "x", stdin=b"[]"), "found both")
    contains(bench.fails("frobnicate", "--help"), "expected a command")
    contains(bench.fails("pull"), "put a GGUF file into models/")
    for tools in ("[{}]", '[{"name": 5}]', '[{"type": "function", "function": "x"}]'):
        contains(bench.fails("run", "x", "--tools", bench.file("tools.json", tools)), "--tools")


def test_variables_stand_for_flags(bench):
    equal(bench.ok("run", "What is 12 + 30?", SMOLBOT_TEMPERATURE="0", SMOLBOT_NO_THINK="1"),
          "12 + 30 = 42.\n")
    contains(bench.fails("run", "x", SMOLBOT_TEMPERATURE="hot"), "SMOLBOT_TEMPERATURE: expected")
    # A variable that the command does not know concerns it not.
    bench.ok("tokenize", "x", SMOLBOT_TEMPERATURE="hot")


def test_an_unknown_instruction_set_is_refused(bench):
    contains(bench.fails("run", "x", SMOL_ISA="mmx"), "SMOL_ISA")


def test_the_demo_is_the_fallback_and_says_so(bench):
    if list((ROOT / "models").glob("*.gguf")):
        raise Skipped("models/ holds another model")
    result = bench.run("run", "--no-think", "--temperature", "0", "What is 12 + 30?", SMOLBOT_MODEL=None)
    equal(result.out, "12 + 30 = 42.\n")
    contains(result.err, "demo model")
    contains(result.err, "models/")
    contains(result.err, "--model")


def test_a_model_in_the_working_directory_is_found(bench):
    (bench.folder / "models").mkdir()
    (bench.folder / "models" / "mine.gguf").write_bytes(DEMO.read_bytes())
    result = bench.run("run", "--no-think", "--temperature", "0", "What is 12 + 30?", SMOLBOT_MODEL=None)
    equal((result.out, result.err), ("12 + 30 = 42.\n", ""))


def test_files_left_out_of_the_choice_are_named(bench):
    models = bench.folder / "models"
    (models / "demo").mkdir(parents=True)
    (models / "demo" / DEMO.name).symlink_to(DEMO)
    (models / "half.gguf").write_bytes(DEMO.read_bytes()[:5000])
    if list((ROOT / "models").glob("*.gguf")):
        raise Skipped("models/ holds another model")
    result = bench.run("tokenize", "-o", "ids", "x", SMOLBOT_MODEL=None)
    equal(result.status, 0)
    contains(result.err, "left out: models/half.gguf: ")
    contains(result.err, "demo model")
    for name in ("a", "b"):
        (models / f"{name}.gguf").write_bytes(DEMO.read_bytes())
    contains(bench.run("tokenize", "-o", "ids", "x", SMOLBOT_MODEL=None).err, "models/b.gguf answers")


def closed_reader(bench, *arguments):
    """Status and error text of a program whose standard output nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as output:
        done = subprocess.run([str(bench.program), *arguments], stdin=subprocess.DEVNULL, stdout=output,
                              stderr=subprocess.PIPE, env=bench.env(), timeout=120, check=False)
    return done.returncode, done.stderr


def test_a_closed_output_ends_quietly(bench):
    for arguments in (["run", "Tell me a story."], ["inspect", str(DEMO)], ["--help"]):
        status, errors = closed_reader(bench, *arguments)
        assert status not in (0, None), f"{arguments}: status {status}"
        equal(errors, b"")


def test_a_full_disk_is_one_line(bench):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([str(bench.program), "tokenize", "hello"], stdout=full,
                              stderr=subprocess.PIPE, env=bench.env(), timeout=60, check=False)
    equal(done.returncode, 2)
    equal(len(done.stderr.splitlines()), 1)


def test_version_is_one_line(bench):
    assert re.fullmatch(r"smolbot \d+\.\d+\.\d+\n", bench.ok("--version"))
