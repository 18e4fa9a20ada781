"""The terminal chat, on a pseudo terminal and piped."""
import json
import time
from contextlib import closing

from command_cases import TOOLS
from harness import contains, equal

DIM = "\x1b[2m"
# Without its end of turn the demo writes until the context is full.
ENDLESS = ("--temperature", "0", "--no-think", "--logit-bias", "4108=-100", "--logit-bias", "4097=-100")


def test_the_chat_shows_a_thinking_block_faint(bench):
    with closing(bench.chat("--temperature", "0", "--think")) as chat:
        chat.expect("SmolLM3 demo")
        chat.line("What is 12 + 30?")
        chat.expect(r"\x1b\[2m\[thinking\]")
        chat.expect(r"\x1b\[2m\[/thinking\]")
        chat.expect(r"12 \+ 30 = 42\.")
        chat.expect(r"tokens/s")
        chat.line("/quit")
        equal(chat.wait(), 0)


def test_no_color_is_respected(bench):
    with closing(bench.chat("--temperature", "0", "--think", NO_COLOR="1")) as chat:
        chat.line("What is 12 + 30?")
        chat.expect(r"\[thinking\]")
        chat.expect(r"12 \+ 30 = 42\.")
        chat.line("/quit")
        equal(chat.wait(), 0)
        assert DIM not in chat.seen


def test_a_second_turn_remembers_the_first(bench):
    with closing(bench.chat("--temperature", "0", "--no-think")) as chat:
        chat.line("My name is Ada.")
        chat.expect("Nice to meet you, Ada!")
        chat.expect("tokens/s")
        chat.line("What is my name?")
        chat.expect(r"Your name is Ada\.")
        chat.expect("reused")
        chat.line("/clear")
        chat.expect("empty")
        chat.line("What is my name?")
        chat.expect("You have not told me your name yet")
        chat.line("/quit")
        equal(chat.wait(), 0)


def test_a_tool_call_is_shown_and_answered(bench):
    tools = bench.file("tools.json", json.dumps(TOOLS))
    with closing(bench.chat("--temperature", "0", "--no-think", "--tools", tools)) as chat:
        chat.line("What is the weather in Paris?")
        chat.expect(r'\[tool call\] get_weather \{"city": ?"Paris"\}')
        chat.line('/result {"temperature": 18, "condition": "sunny"}')
        chat.expect(r"It is 18 °C and sunny in Paris\.")
        chat.line("/quit")
        equal(chat.wait(), 0)


def test_ctrl_c_stops_the_answer_and_not_the_program(bench):
    with closing(bench.chat(*ENDLESS)) as chat:
        chat.expect("/help")
        chat.line("Tell me a story.")
        chat.expect("Tell me a story.[\\s\\S]*there lived")
        begin = time.monotonic()
        chat.send("\x03")
        chat.expect(r"\[stopped\]", 20)
        assert time.monotonic() - begin < 10
        chat.line("/status")
        chat.expect("messages +2")
        chat.line("/quit")
        equal(chat.wait(), 0)


def test_ctrl_c_at_the_prompt_drops_the_line(bench):
    with closing(bench.chat("--temperature", "0", "--no-think")) as chat:
        chat.prompt()
        chat.send("half a line")
        chat.expect("half a line")
        chat.send("\x03")
        chat.expect("ends the program")
        chat.line("What is 12 + 30?")
        chat.expect(r"12 \+ 30 = 42\.")
        chat.prompt()
        chat.send("\x04")
        equal(chat.wait(), 0)


def test_lines_come_back_in_the_next_session(bench):
    for _ in range(2):
        with closing(bench.chat("--temperature", "0", "--no-think")) as chat:
            chat.prompt()
            if (bench.folder / ".local/state/smolbot/history").exists():
                chat.send("\x1b[A")
                chat.expect("/status")
                chat.send("\x15")
            chat.line("/status")
            chat.expect("context")
            chat.prompt()
            chat.send("\x04")
            equal(chat.wait(), 0)
    history = bench.folder / ".local/state/smolbot/history"
    equal(history.stat().st_mode & 0o777, 0o600)


def test_commands_are_explained_and_completed(bench):
    with closing(bench.chat()) as chat:
        chat.prompt()
        chat.send("/no_\t")
        chat.expect("/no_think")
        chat.send("\r")
        chat.expect("Thinking is off")
        chat.line("/help")
        chat.expect("/export FILE")
        chat.line("/nonsense")
        chat.expect("/nonsense: expected a command")
        chat.line("/temp nan")
        chat.expect("/temp: expected a number")
        chat.line("/quit")
        equal(chat.wait(), 0)


def test_a_piped_chat_is_plain_text(bench):
    lines = "My name is Ada.\nWhat is my name?\n/export talk.json\n"
    out = bench.ok("chat", "--temperature", "0", "--no-think", stdin=lines.encode())
    contains(out, "Your name is Ada.\n")
    assert "\x1b" not in out and "> " not in out, out
    talk = json.loads((bench.folder / "talk.json").read_text())
    equal([message["role"] for message in talk], ["user", "assistant"] * 2)


def test_a_piped_chat_shows_the_thinking_block(bench):
    out = bench.ok("chat", "--temperature", "0", "--think", stdin=b"What is 12 + 30?\n")
    assert out.startswith("[thinking]\n"), out
    assert out.endswith("[/thinking]\n12 + 30 = 42.\n"), out


def test_a_prompt_beyond_the_context_leaves_the_chat_usable(bench):
    long = b"word " * 2000 + b"\n"
    result = bench.run("chat", "--temperature", "0", "--no-think", "--context", "400",
                       stdin=long + b"What is 12 + 30?\n")
    contains(result.out, "12 + 30 = 42.")
    equal(len(result.err.splitlines()), 1)
    equal(result.status, 1)
