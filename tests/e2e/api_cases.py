"""`smolbot serve` as programs see it."""
import json
import re
import shlex
import signal
import subprocess
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from harness import ROOT, contains, equal
from server import Server, serving

DOCUMENT = ROOT / "docs" / "api.md"
DEFAULT_URL = "http://127.0.0.1:3000"
NOT_BUILT = ("/v1/responses", "/v1/messages")
CHAT = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 8}


def curl_lines():
    return [line.strip() for line in DOCUMENT.read_text(encoding="utf-8").splitlines()
            if line.startswith("    curl ")]


def wait_for_the_answer(base_url):
    """A person reads before typing on."""
    while True:
        with urllib.request.urlopen(f"{base_url}/api/status", timeout=60) as status:
            if json.load(status)["turn"] is None:
                return


def check_curl_lines(base_url):
    """Every line of the document, in its order, against whichever server stands there."""
    lines = curl_lines()
    assert len(lines) >= 55, lines
    for line in lines:
        command = shlex.split(line.replace(DEFAULT_URL, base_url))
        done = subprocess.run([*command, "-w", "\n%{http_code} %{content_type}"], capture_output=True, text=True,
                              timeout=120, check=False)
        body, about = done.stdout.rsplit("\n", 1)
        status, kind = about.split(" ", 1)
        expected = "501" if any(path in line for path in NOT_BUILT) else "200"
        assert status == expected, f"{line}: {status} {body}"
        if "-sN" in line:
            assert body.endswith("data: [DONE]\n\n"), f"{line}: {body}"
        elif kind.startswith("application/json"):
            json.loads(body)
        else:
            assert kind.startswith("text/plain" if "/metrics" in line else "text/html"), f"{line}: {kind}"
        if "/api/" in line:
            wait_for_the_answer(base_url)


def test_the_document_has_a_line_for_every_route_of_the_page(_bench):
    source = (ROOT / "src" / "page" / "page_site.cpp").read_text(encoding="utf-8")
    routes = set(re.findall(r'"(/api/[a-z-]+)', source))
    shown = {route for line in curl_lines() for route in re.findall(r"/api/[a-z-]+", line)}
    need_ids = {"/api/stream", "/api/tool"}
    equal(routes - shown, need_ids)


def test_every_curl_line_of_the_document_works(bench):
    with serving(bench) as server:
        check_curl_lines(server.url)


def test_a_stream_adds_up_to_the_whole_answer(bench):
    with serving(bench) as server:
        request = {**CHAT, "seed": 3, "max_tokens": 24}
        whole = json.loads(server.ask("/v1/chat/completions", request)[1])
        text = server.ask("/v1/chat/completions", {**request, "stream": True})[1]
        chunks = [json.loads(part[6:]) for part in text.split("\n\n") if part.startswith("data: {")]
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
        message = whole["choices"][0]["message"]
        equal("".join(delta.get("content") or "" for delta in deltas), message["content"])
        equal("".join(delta.get("reasoning_content") or "" for delta in deltas),
              message.get("reasoning_content", ""))


def test_a_busy_port_is_one_line(bench):
    with serving(bench) as server:
        line = bench.fails("serve", "--port", server.port)
        contains(line, f"--port {server.port}")
        contains(line, "in use")


def test_other_machines_need_a_key(bench):
    contains(bench.fails("serve", "--host", "0.0.0.0"), "--api-key")
    contains(bench.fails("serve", "--host", "example.org"), "--host: expected an IP address")
    contains(bench.fails("serve", "--allow-origin", "*"), "--allow-origin: expected scheme://host")
    contains(bench.fails("serve", "--port", "70000"), "--port")
    with serving(bench, "--host", "0.0.0.0", "--api-key", "secret"):
        pass


def test_a_key_guards_all_but_health(bench):
    with serving(bench, SMOLBOT_API_KEY="secret") as server:
        equal(server.ask("/health")[0], 200)
        equal(server.ask("/v1/models")[0], 401)
        equal(server.ask("/v1/models", Authorization="Bearer wrong")[0], 401)
        equal(server.ask("/v1/models", Authorization="Bearer secret")[0], 200)


def sign_in(server, key):
    """The cookie that a browser has afterwards."""
    with server.connect() as client:
        body = f"key={key}".encode()
        client.sendall(b"POST /login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                       b"Content-Type: application/x-www-form-urlencoded\r\n"
                       + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        head = b"".join(iter(lambda: client.recv(4096), b"")).decode()
    return re.search(r"^Set-Cookie: ([^;]+)", head, re.MULTILINE | re.IGNORECASE)[1]


def test_who_signed_in_stays_so_until_the_keys_change(bench):
    folder = bench.folder / "data"
    with serving(bench, "--data-dir", folder, "--api-key", "first") as server:
        cookie = sign_in(server, "first")
        equal(server.ask("/api/session-ids", Cookie=cookie)[0], 200)
    with serving(bench, "--data-dir", folder, "--api-key", "first") as server:
        equal(server.ask("/api/session-ids", Cookie=cookie)[0], 200)
        equal(server.ask("/api/session-ids")[0], 401)
    with serving(bench, "--data-dir", folder, "--api-key", "second") as server:
        equal(server.ask("/api/session-ids", Cookie=cookie)[0], 401)


def test_foreign_hosts_and_origins_are_refused(bench):
    with serving(bench, "--allow-host", "box.lan", "--allow-origin", "https://app.example") as server:
        equal(server.ask("/v1/models", Host="evil.example")[0], 403)
        equal(server.ask("/v1/models", Host="box.lan:3000")[0], 200)
        equal(server.ask("/v1/models", Origin="https://evil.example")[0], 403)
        equal(server.ask("/v1/models", Origin="https://app.example")[0], 200)


def test_a_prompt_beyond_the_context_is_refused_with_both_counts(bench):
    with serving(bench, "--context", "64") as server:
        body = {"messages": [{"role": "user", "content": "word " * 100}]}
        status, text = server.ask("/v1/chat/completions", body)
        error = json.loads(text)["error"]
        equal((status, error["param"], error["code"]), (400, "messages", "context_length_exceeded"))
        contains(error["message"], "64")


def answer_to(server, request):
    status, text = server.ask("/v1/chat/completions", request)
    equal(status, 200)
    return json.loads(text)


def message_of(answer):
    return answer["choices"][0]["message"]


def cached_tokens(answer):
    return answer["usage"]["prompt_tokens_details"]["cached_tokens"]


def counter(server, name):
    return float(next(line for line in server.ask("/metrics")[1].splitlines() if line.startswith(f"smolbot_{name} "))
                 .split()[1])


def test_the_same_seed_gives_the_same_answer_alone_and_beside_others(bench):
    with serving(bench, "--slots", "4") as server:
        requests = [{"messages": [{"role": "user", "content": f"Story {i}. " + "Tell me more. " * 9 * i}], "seed": i,
                     "max_tokens": 60 + i} for i in range(4)]
        alone = [message_of(answer_to(server, {**request, "cache_prompt": False})) for request in requests]
        with ThreadPoolExecutor(4) as pool:
            beside = list(pool.map(lambda request: message_of(answer_to(server, request)), requests))
        equal(beside, alone)


def test_answers_are_the_same_with_and_without_what_is_cached(bench):
    with serving(bench) as server:
        request = {"messages": [{"role": "user", "content": "One two three. " * 60}], "seed": 5, "max_tokens": 50}
        without = answer_to(server, {**request, "cache_prompt": False})
        first, again = answer_to(server, request), answer_to(server, request)
        equal(cached_tokens(without), 0)
        equal(cached_tokens(again), again["usage"]["prompt_tokens"] - 1)
        equal([message_of(first), message_of(again)], [message_of(without)] * 2)


def test_the_system_prompt_is_there_before_the_first_request_and_after_a_restart(bench):
    folder = bench.folder / "data"
    for _ in range(2):
        with serving(bench, "--data-dir", folder) as server:
            for request in (CHAT, {**CHAT, "reasoning_effort": "none"}):
                answer = answer_to(server, request)
                assert cached_tokens(answer) > answer["usage"]["prompt_tokens"] - 16, answer["usage"]
    equal(folder.stat().st_mode & 0o777, 0o700)
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    equal(set(modes.values()), {0o600})
    assert {"lock", "prompts.kv", "sessions.db"} <= set(modes), modes


def test_what_clients_sent_outlives_the_server_only_where_it_may(bench):
    request = {"messages": [{"role": "user", "content": "Seven eight nine. " * 80}], "max_tokens": 4, "seed": 1}
    for flags, kept in (((), False), (("--save-cache",), False), ((), True), ((), False)):
        with serving(bench, "--data-dir", bench.folder / "kept", *flags) as server:
            answer = answer_to(server, request)
            equal(cached_tokens(answer) > answer["usage"]["prompt_tokens"] / 2, kept)


def test_a_cache_file_that_is_not_whole_is_not_taken(bench):
    folder = bench.folder / "kept"
    with serving(bench, "--data-dir", folder):
        pass
    file = folder / "prompts.kv"
    content = file.read_bytes()
    for broken in (content[:-9], content[:100], b"", content[:-20] + b"x" + content[-19:]):
        file.write_bytes(broken)
        with serving(bench, "--data-dir", folder) as server:
            assert any("prompts.kv: " in line for line in server.lines), server.lines
            answer_to(server, CHAT)
        equal(file.read_bytes(), content)


def test_one_server_at_a_time_uses_a_folder(bench):
    with serving(bench, "--data-dir", bench.folder / "mine"):
        line = bench.fails("serve", "--port", "0", "--data-dir", bench.folder / "mine")
        contains(line, "--data-dir")
        contains(line, "found one that another smolbot is using")
    with serving(bench, "--data-dir", bench.folder / "mine"):
        pass
    contains(bench.fails("serve", "--port", "0", "--data-dir", bench.file("plain", "")), "--data-dir")
    contains(bench.fails("serve", "--port", "0", HOME=""), "--data-dir")


def test_a_pace_holds_each_answer(bench):
    with serving(bench, "--pace", "20") as server:
        never = {str(ids[0]): -100 for ids in (json.loads(server.ask("/tokenize", {"content": text})[1])["tokens"]
                                               for text in ("<|im_end|>", "<|end_of_text|>"))}
        begin = time.monotonic()
        answer_to(server, {**CHAT, "max_tokens": 21, "logit_bias": never})
        took = time.monotonic() - begin
        assert took >= 1.0, took
        begin = time.monotonic()
        answer_to(server, {**CHAT, "max_tokens": 21, "grammar": f'root ::= "{"word " * 40}"'})
        took = time.monotonic() - begin
        assert took >= 0.8, took  # what is forced comes in fifths of a second, and the last one is not waited for


def test_answers_keep_to_a_schema(bench):
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"},
                                               "kind": {"enum": ["cat", "dog"]}},
              "required": ["name", "age", "kind"], "additionalProperties": False}
    form = {"type": "json_schema", "json_schema": {"name": "pet", "schema": schema}}
    with serving(bench) as server:
        for seed in range(10):
            answer = answer_to(server, {**CHAT, "max_tokens": 120, "seed": seed, "temperature": 1,
                                        "response_format": form})
            found = json.loads(message_of(answer)["content"])
            equal(list(found), ["name", "age", "kind"])
            assert isinstance(found["age"], int) and found["kind"] in ("cat", "dog"), found
        answer = answer_to(server, {**CHAT, "max_tokens": 100, "response_format": {"type": "json_object"}})
        assert isinstance(json.loads(message_of(answer)["content"]), dict)
        answer = answer_to(server, {**CHAT, "grammar": "root ::= \"yes\" | \"no\"", "reasoning_effort": "none"})
        assert message_of(answer)["content"] in ("yes", "no"), answer


def test_a_required_tool_is_called_as_it_says(bench):
    parameters = {"type": "object", "properties": {"city": {"enum": ["Oslo", "Rome"]}}, "required": ["city"],
                  "additionalProperties": False}
    tool = {"type": "function", "function": {"name": "weather", "parameters": parameters}}
    with serving(bench) as server:
        answer = answer_to(server, {**CHAT, "max_tokens": 100, "tools": [tool], "tool_choice": "required"})
        equal(answer["choices"][0]["finish_reason"], "tool_calls")
        call = message_of(answer)["tool_calls"][0]["function"]
        equal(call["name"], "weather")
        assert json.loads(call["arguments"])["city"] in ("Oslo", "Rome"), call


def test_completions_show_all_that_the_model_writes(bench):
    with serving(bench) as server:
        ids = json.loads(server.ask("/tokenize", {"content": "<think>"})[1])["tokens"]
        equal(len(ids), 1)
        status, text = server.ask("/v1/completions", {"prompt": "Hello", "max_tokens": 3,
                                                      "logit_bias": {str(ids[0]): 100}})
        equal((status, json.loads(text)["choices"][0]["text"]), (200, "<think>" * 3))


def test_embeddings_have_length_one_and_tell_texts_apart(bench):
    with serving(bench) as server:
        status, text = server.ask("/v1/embeddings", {"input": ["red", "red", "a long blue text " * 20]})
        equal(status, 200)
        found = [one["embedding"] for one in json.loads(text)["data"]]
        for values in found:
            assert abs(sum(value * value for value in values) - 1) < 1e-5
        equal(found[0], found[1])
        assert found[0] != found[2]


def test_who_leaves_while_the_prompt_is_read_frees_the_engine(bench):
    with serving(bench, "--pace", "2") as server:
        text = "word " * 200
        for path, body in (("/v1/chat/completions", {"messages": [{"role": "user", "content": text}]}),
                           ("/v1/embeddings", {"input": text})):
            cancelled = counter(server, "turns_cancelled_total")
            content = json.dumps(body).encode()
            with server.connect() as client:
                client.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(content)}\r\n\r\n"
                               .encode() + content)
                while counter(server, "turns_running") == 0:
                    pass
            begin = time.monotonic()
            while counter(server, "turns_running") != 0:
                assert time.monotonic() - begin < 0.5, path
            equal(counter(server, "turns_cancelled_total"), cancelled + 1)


def test_a_client_that_leaves_frees_the_engine(bench):
    with serving(bench) as server:
        body = json.dumps({"messages": [{"role": "user", "content": "Hello"}], "stream": True,
                           "logit_bias": {}}).encode()
        with server.connect() as client:
            client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                           + str(len(body)).encode() + b"\r\n\r\n" + body)
            client.recv(100)
        begin = time.monotonic()
        while "smolbot_turns_running 0" not in server.ask("/metrics")[1]:
            assert time.monotonic() - begin < 0.5, server.ask("/metrics")[1]


def test_a_closed_terminal_ends_the_server_as_sigterm_does(bench):
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which a child inherits; nohup ignores it
    try:
        equal(Server(bench).end(signal.SIGHUP), 0)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_server_under_nohup_outlives_its_terminal(bench):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with serving(bench) as server:
            server.process.send_signal(signal.SIGHUP)
            time.sleep(0.5)
            equal(server.ask("/health")[0], 200)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_sigterm_ends_the_server_within_five_seconds(bench):
    server = Server(bench)
    with server.connect() as idle, server.connect() as half:
        half.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
        begin = time.monotonic()
        equal(server.end(signal.SIGTERM), 0)
        assert time.monotonic() - begin < 5
        try:
            equal(idle.recv(10), b"")
        except ConnectionResetError:
            pass  # it was never let in


def test_requests_are_logged_without_prompts_unless_asked(bench):
    for flags, shown in (((), False), (("--log-prompts",), True)):
        server = Server(bench, *flags)
        server.ask("/tokenize", {"content": "very secret"})
        server.end()
        line = next(line for line in server.lines if '"/tokenize"' in line)
        equal(json.loads(line)["status"], 200)
        equal("very secret" in line, shown)


def test_bad_requests_of_a_hundred_kinds_leave_the_server_alive(bench):
    with serving(bench) as server:
        values = [None, True, -1, 0, 1.5, 1e300, "", "x", [], {}, [[]], {"a": {}}]
        fields = ["messages", "temperature", "max_tokens", "n", "stop", "tools", "logit_bias", "response_format",
                  "stream_options", "seed"]
        for field in fields:
            for value in values:
                status = server.ask("/v1/chat/completions", {**CHAT, "max_tokens": 1, field: value})[0]
                assert status in (200, 400), f"{field}={value!r}: {status}"
        equal(server.ask("/health")[0], 200)


if __name__ == "__main__":
    import sys
    check_curl_lines(sys.argv[1])
    print("1 passed, 0 failed, 0 skipped")
