"""`smolbot serve` as programs see it."""
import json
import shlex
import signal
import subprocess
import time

from harness import ROOT, contains, equal
from server import Server, serving

DOCUMENT = ROOT / "docs" / "api.md"
DEFAULT_URL = "http://127.0.0.1:3000"
NOT_BUILT = ("/v1/responses", "/v1/messages")
CHAT = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 8}


def curl_lines():
    return [line.strip() for line in DOCUMENT.read_text(encoding="utf-8").splitlines()
            if line.startswith("    curl ")]


def check_curl_lines(base_url):
    """Every line of the document, against whichever server stands there."""
    lines = curl_lines()
    assert len(lines) >= 13, lines
    for line in lines:
        command = shlex.split(line.replace(DEFAULT_URL, base_url))
        done = subprocess.run([*command, "-w", "\n%{http_code}"], capture_output=True, text=True, timeout=120,
                              check=False)
        body, status = done.stdout.rsplit("\n", 1)
        expected = "501" if any(path in line for path in NOT_BUILT) else "200"
        assert status == expected, f"{line}: {status} {body}"
        if "-sN" in line:
            assert body.endswith("data: [DONE]\n\n"), f"{line}: {body}"
        elif "/metrics" not in line:
            json.loads(body)


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


def test_sigterm_ends_the_server_within_five_seconds(bench):
    server = Server(bench)
    with server.connect() as idle, server.connect() as half:
        half.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
        begin = time.monotonic()
        equal(server.end(signal.SIGTERM), 0)
        assert time.monotonic() - begin < 5
        equal(idle.recv(10), b"")


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
