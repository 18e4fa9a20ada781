"""Each command on the demo model."""
import json
import math
import os
import struct

from harness import DEMO, DEMO_F32, ROOT, SMOLLM2, Skipped, contains, equal

GREEDY = ("--temperature", "0", "--no-think")
TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "Get the weather in a city.",
    "parameters": {"type": "object",
                   "properties": {"city": {"type": "string", "description": "The city"}},
                   "required": ["city"]}}}]


def test_run_prints_the_answer_alone(bench):
    equal(bench.ok("run", *GREEDY, "What is 12 + 30?"), "12 + 30 = 42.\n")


def test_run_reads_standard_input(bench):
    equal(bench.ok("run", *GREEDY, stdin=b"What is 12 + 30?\n"), "12 + 30 = 42.\n")
    equal(bench.ok("run", *GREEDY, "-", stdin=b"What is 12 + 30?"), "12 + 30 = 42.\n")


def test_run_keeps_thoughts_from_the_output(bench):
    equal(bench.ok("run", "--temperature", "0", "--think", "What is 12 + 30?"), "12 + 30 = 42.\n")


def test_run_prints_tool_calls_as_json_lines(bench):
    tools = bench.file("tools.json", json.dumps(TOOLS))
    out = bench.ok("run", *GREEDY, "--tools", tools, "What is the weather in Paris?")
    equal(json.loads(out), {"name": "get_weather", "arguments": {"city": "Paris"}})
    equal(out.count("\n"), 1)


def test_run_prints_code_as_json_lines(bench):
    tools = bench.file("python.json", json.dumps(["print(value) -> None: print a value"]))
    out = bench.ok("run", *GREEDY, "--python-tools", tools, "What is 123 * 456?")
    contains(json.loads(out)["code"], "123")


def test_run_stops_at_a_string_and_at_a_limit(bench):
    equal(bench.ok("run", *GREEDY, "--stop", " = ", "What is 12 + 30?"), "12 + 30\n")
    short = bench.run("run", *GREEDY, "--max-tokens", "3", "Tell me a story.")
    equal((short.status, short.err), (0, "smolbot: the answer ends here: --max-tokens 3 reached\n"))
    assert 0 < len(short.out) < 60, short.out


def test_run_fails_and_says_why_where_nothing_is_left_of_the_answer(bench):
    stopped = bench.run("run", *GREEDY, "--stop", "1", "What is 12 + 30?")
    equal((stopped.status, stopped.out), (1, ""))
    equal(stopped.err, "smolbot: the answer is empty: --stop\n")
    for limit in range(18, 23):
        result = bench.run("run", "--temperature", "0", "--max-tokens", limit, "Who are you?")
        contains(result.err, f"--max-tokens {limit} reached")
        equal(result.status, 0 if result.out else 1)


def test_run_takes_the_system_message(bench):
    contains(bench.ok("run", *GREEDY, "--system", "Your name is Milo.", "What is your name?"), "Milo")


def test_run_gives_the_same_answer_for_the_same_seed(bench):
    first, second, other = (bench.run("run", "--no-think", "--temperature", "2", "--seed", seed,
                                      "--max-tokens", "40", "Tell me a story.").out
                            for seed in ("7", "7", "8"))
    equal(first, second)
    assert first != other


def test_run_fails_where_the_limit_falls_into_the_thoughts(bench):
    result = bench.run("run", "--temperature", "0", "--think", "--max-tokens", "3", "What is 12 + 30?")
    equal((result.status, result.out), (1, ""))
    contains(result.err, "while thinking")


def test_run_says_how_long_a_prompt_may_be(bench):
    line = bench.fails("run", *GREEDY, "--context", "300", stdin=b"word " * 2000)
    contains(line, "300")


def test_run_says_where_a_context_is_stretched(bench):
    result = bench.run("run", *GREEDY, "--context", "5000", "What is 12 + 30?")
    equal((result.status, result.out), (0, "12 + 30 = 42.\n"))
    contains(result.err, "5000 tokens are more than the 4096")


def test_another_models_tokenizer_is_refused(bench):
    if not SMOLLM2.is_file():
        raise Skipped("SmolLM2-135M-Instruct is not there")
    for model, other in ((DEMO, SMOLLM2), (SMOLLM2, DEMO)):
        line = bench.fails("run", "x", "--model", model, "--tokenizer", other)
        contains(line, f"--tokenizer: {other}: expected the vocabulary of {model}")


def test_raw_goes_on_from_the_rendered_template(bench):
    prompt = bench.ok("template", "--no-think", "What is 12 + 30?")
    equal(bench.ok("run", "--raw", "--temperature", "0", stdin=prompt.encode() + b"\n"),
          "12 + 30 = 42.\n")


def test_user_text_never_becomes_a_special_token(bench):
    ids = bench.ok("template", "--ids", "a<|im_end|>b").strip().split(",")
    plain = bench.ok("template", "--ids", "ab").strip().split(",")
    equal(ids.count("4108"), plain.count("4108"))


def test_tokenize_shows_ids_and_pieces_and_decodes(bench):
    text = "Hello, wörld 😀!\n"
    ids = bench.ok("tokenize", "-o", "ids", text).strip()
    equal(bench.ok("tokenize", "--ids", ids), text + "\n")
    equal(bench.ok("tokenize", "-o", "ids", stdin=text.encode()).strip(), ids)
    rows = json.loads(bench.ok("tokenize", "-o", "json", text))
    equal([str(row["id"]) for row in rows], ids.split(","))
    equal(len(bench.ok("tokenize", text).splitlines()), len(rows))


def test_tokenize_finds_added_tokens_by_mode(bench):
    def ids(mode):
        return bench.ok("tokenize", "-o", "ids", "--added-tokens", mode, "<think><|im_end|>").strip()
    equal(ids("all"), "4098,4108")
    assert ids("non-special").startswith("4098,") and "4108" not in ids("non-special")
    assert "4098" not in ids("none") and "4108" not in ids("none")


def test_template_renders_messages(bench):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "Hello"},
                {"role": "user", "content": [{"type": "text", "text": "Bye"}]}]
    path = bench.file("messages.json", json.dumps(messages))
    out = bench.ok("template", "--no-think", "--messages", path)
    contains(out, "Reasoning Mode: /no_think")
    contains(out, "<|im_start|>user\nBye<|im_end|>\n")
    assert out.endswith("<|im_start|>assistant\n<think>\n\n</think>\n"), out
    out = bench.ok("template", "--think", "--no-generation-prompt", "--messages", path)
    contains(out, "Reasoning Mode: /think")
    assert out.endswith("<|im_end|>\n"), out


def test_template_shows_tools(bench):
    tools = bench.file("tools.json", json.dumps(TOOLS))
    contains(bench.ok("template", "--tools", tools, "Hi"), "get_weather")


def test_template_takes_another_one(bench):
    template = bench.file("mine.jinja", "{% for m in messages %}<{{ m.content }}>{% endfor %}")
    equal(bench.ok("template", "--chat-template", template, "Hi"), "<Hi>")


def read_npy(path):
    data = path.read_bytes()
    equal(data[:8], b"\x93NUMPY\x01\x00")
    (length,) = struct.unpack("<H", data[8:10])
    header = eval(data[10:10 + length].decode(), {"__builtins__": {}})
    equal((header["descr"], header["fortran_order"]), ("<f4", False))
    rows, columns = header["shape"]
    values = struct.unpack(f"<{rows * columns}f", data[10 + length:])
    return [values[row * columns:(row + 1) * columns] for row in range(rows)]


def test_logits_are_written_for_all_positions(bench):
    prompt = bench.ok("template", "--ids", "--no-think", "What is 12 + 30?").strip()
    path = bench.folder / "logits.npy"
    equal(bench.ok("logits", "--ids", prompt, "--npy", path), "")
    rows = read_npy(path)
    equal((len(rows), len(rows[0])), (prompt.count(",") + 1, 4352))
    assert all(math.isfinite(value) for row in rows for value in row)
    best = max(range(4352), key=lambda token: rows[-1][token])
    contains("12 + 30 = 42.", bench.ok("tokenize", "--ids", best).rstrip("\n"))
    equal(int(bench.ok("logits", "--ids", prompt).split()[0]), best)


def test_logits_do_not_depend_on_threads(bench):
    files = []
    for threads in ("1", "2", "3"):
        files.append(bench.folder / f"{threads}.npy")
        bench.ok("logits", "--ids", "1,2,3,500,600", "--threads", threads, "--npy", files[-1])
    equal(len({path.read_bytes() for path in files}), 1)


def test_eval_measures_perplexity_and_divergence(bench):
    text = bench.file("text.txt", "The fox went to the river. It saw a bird. " * 30)
    report = json.loads(bench.ok("eval", text, "--window", "64", "--json"))
    assert report["perplexity"] > 1 and report["windows"] >= 2
    equal(report["scored"], report["windows"] * 63)
    assert math.isclose(report["perplexity"], math.exp(report["mean_nll"]), rel_tol=1e-9)
    same = json.loads(bench.ok("eval", text, "--window", "64", "--json", "--against-model", DEMO))
    equal((same["kl_mean"], same["top_1_agreement"]), (0.0, 1.0))
    cache = json.loads(bench.ok("eval", text, "--window", "64", "--json", "--against-kv-type", "f32"))
    assert 0 < cache["kl_mean"] < 0.01 and cache["top_1_agreement"] > 0.9, cache
    halves = json.loads(bench.ok("eval", text, "--window", "64", "--json", "--kv-type", "f16",
                                 "--against-kv-type", "f32"))
    assert 0 < halves["kl_mean"] < cache["kl_mean"], halves
    contains(bench.ok("eval", text, "--window", "64"), "perplexity")


def test_eval_with_a_stride_scores_each_token_once(bench):
    text = bench.file("text.txt", "The fox went to the river. It saw a bird. " * 30)
    report = json.loads(bench.ok("eval", text, "--window", "64", "--stride", "16", "--json"))
    equal(report["scored"], 63 + 16 * (report["windows"] - 1))


def test_bench_prints_the_agreed_json(bench):
    report = json.loads(bench.ok("bench", "-p", "64", "-n", "8", "-d", "16", "-r", "2", "-t", "2", "-o",
                                 "json"))
    equal(list(report), ["tests", "bandwidth_gb_per_s", "int8_peak_gmac_per_s", "bytes_per_token",
                         "products_per_prompt_token", "load", "rss_bytes", "threads", "isa"])
    equal([test["name"] for test in report["tests"]], ["pp64", "tg8"])
    for test in report["tests"]:
        equal(list(test), ["name", "depth", "sequences", "chunk", "tokens_per_second", "runs", "gb_per_s",
                           "bandwidth_share", "gmac_per_s", "int8_peak_share"])
        equal((test["depth"], test["sequences"], len(test["runs"])), (16, 1, 2))
        assert test["tokens_per_second"] > 0 and test["gmac_per_s"] > 0
        assert 0 < test["int8_peak_share"] < 2, test
    assert 7e6 < report["bytes_per_token"] < 8e6, report["bytes_per_token"]
    assert report["bandwidth_gb_per_s"] > 0 and report["int8_peak_gmac_per_s"] > 0
    equal(list(report["load"]), ["source", "bytes", "huge_page_bytes", "seconds"])
    assert report["load"]["bytes"] > 7e6, report["load"]
    assert report["rss_bytes"] > 1e6
    equal(report["threads"], 2)


def test_a_panel_file_spares_the_packing(bench):
    panels = bench.folder / "demo.panels"
    tell = ("logits", "--ids", "1,2,3")
    expected = bench.ok(*tell)
    equal(bench.ok(*tell, "--panel-file", panels), expected)
    report = json.loads(bench.ok("bench", "-p", "1", "-n", "0", "-r", "1", "-o", "json", "--panel-file",
                                 panels))
    assert report["load"]["source"].startswith("panel file, "), report["load"]
    equal(bench.ok(*tell, "--panel-file", panels), expected)
    os.truncate(panels, panels.stat().st_size // 2)
    cut = bench.run(*tell, "--panel-file", panels)
    equal((cut.status, cut.out), (0, expected))
    contains(cut.err, f"--panel-file: {panels}: bytes: expected ")
    equal(bench.ok(*tell, "--panel-file", panels), expected)


def test_bench_prints_text(bench):
    out = bench.ok("bench", "-p", "16", "-n", "4", "-r", "1")
    for part in ("pp16", "tg4", "tokens/s", "of bandwidth", "of int8 peak"):
        contains(out, part)


def test_inspect_reports_as_text_and_json(bench):
    contains(bench.ok("inspect", DEMO), "smollm3")
    json.loads(bench.ok("inspect", DEMO, "--json"))


def test_doctor_finds_nothing_wrong_with_the_demo(bench):
    result = bench.run("doctor", DEMO)
    equal((result.status, result.err), (0, ""))
    assert result.out


def test_quantize_writes_a_model_that_answers(bench):
    if not DEMO_F32.is_file():
        raise Skipped(f"{DEMO_F32.name} is not there")
    path = bench.folder / "small.gguf"
    bench.ok("quantize", DEMO_F32, path, "--type", "Q8_0")
    assert path.stat().st_size < DEMO_F32.stat().st_size / 3
    equal(bench.ok("run", *GREEDY, "--model", path, "What is 12 + 30?"), "12 + 30 = 42.\n")


def test_quantize_refuses_what_is_quantized(bench):
    contains(bench.fails("quantize", DEMO, bench.folder / "x.gguf"), "expected")
    assert not (bench.folder / "x.gguf").exists()


def test_an_output_file_replaces_another_only_by_force(bench):
    path = bench.file("x.npy", "precious")
    logits = ("logits", "--ids", "1", "--npy", path)
    contains(bench.fails(*logits), f"{path}: expected no file there (--force replaces it), found one")
    equal(path.read_bytes(), b"precious")
    bench.ok(*logits, "--force")
    equal(len(read_npy(path)), 1)
    model = bench.file("model.gguf", DEMO.read_bytes())
    contains(bench.fails("logits", "--ids", "1", "-m", model, "--npy", model, "--force"), "found the same")
    equal(model.stat().st_size, DEMO.stat().st_size)


def test_an_output_is_no_device_and_no_link(bench):
    pipe, link, target = (bench.folder / name for name in ("pipe", "link", "target"))
    os.mkfifo(pipe)
    link.symlink_to(target)
    for path in (pipe, link):
        contains(bench.fails("logits", "--ids", "1", "--npy", path, "--force"), "expected no file there")
    assert pipe.is_fifo() and link.is_symlink() and not target.exists()
