"""The Python packages openai and langchain-openai, unchanged, against a running server.

    python python_clients.py http://127.0.0.1:3000

Nothing is said about the words of a model that knows nothing: only what must hold for every model.
Ends with one line `N passed, N failed, N skipped`.
"""
import json
import sys
import traceback

import openai
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

BASE = sys.argv[1] if len(sys.argv) == 2 else ""
MODEL = "smolbot"
HELLO = [{"role": "user", "content": "Say hello."}]

CLIENT = openai.OpenAI(base_url=f"{BASE}/v1", api_key="any", max_retries=0)


def chat(**options):
    return CLIENT.chat.completions.create(model=MODEL, messages=HELLO,
                                          **{"max_completion_tokens": 24, **options})


def langchain(**options):
    return ChatOpenAI(base_url=f"{BASE}/v1", api_key="any", model=MODEL, max_retries=0,
                      **{"max_completion_tokens": 24, **options})


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


def test_openai_chat():
    answer = chat()
    assert isinstance(answer.choices[0].message.content, str)
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def test_openai_stream_adds_up():
    whole = chat(seed=4, temperature=0.9)
    text = "".join(chunk.choices[0].delta.content or ""
                   for chunk in chat(seed=4, temperature=0.9, stream=True) if chunk.choices)
    assert text == whole.choices[0].message.content


def test_openai_tool_call():
    spec = {"type": "function",
            "function": {"name": "get_weather",
                         "parameters": {"type": "object",
                                        "properties": {"city": {"type": "string", "maxLength": 20}},
                                        "required": ["city"], "additionalProperties": False}}}
    answer = chat(tools=[spec], tool_choice="required", max_completion_tokens=200)
    call = answer.choices[0].message.tool_calls[0]
    assert isinstance(json.loads(call.function.arguments)["city"], str)


def test_openai_embeddings():
    answer = CLIENT.embeddings.create(model=MODEL, input=["red", "blue"])
    assert len(answer.data) == 2 and abs(sum(x * x for x in answer.data[0].embedding) - 1) < 1e-3


def test_openai_models():
    models = [model.id for model in CLIENT.models.list()]
    assert CLIENT.models.retrieve(models[0]).id == models[0]


def test_openai_error_classes():
    try:
        chat(temperature=-1)
    except openai.BadRequestError as error:
        assert error.param == "temperature", error
    else:
        raise AssertionError("a negative temperature was taken")
    try:
        CLIENT.chat.completions.create(model="gpt-4", messages=HELLO)
    except openai.NotFoundError as error:
        assert error.code == "model_not_found", error
    else:
        raise AssertionError("an unknown model was taken")


def test_langchain_invoke():
    answer = langchain().invoke("Say hello.")
    assert isinstance(answer.content, str)
    assert answer.usage_metadata["output_tokens"] > 0


def test_langchain_stream():
    parts = list(langchain(stream_usage=True).stream("Say hello."))
    assert sum(1 for part in parts if part.usage_metadata) == 1


def test_langchain_tool_round_trip():
    model = langchain(max_completion_tokens=200)
    question = HumanMessage("Weather in Rome?")
    called = model.bind_tools([get_weather], tool_choice="get_weather").invoke([question])
    call = called.tool_calls[0]
    result = ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"])
    answer = model.invoke([question, called, result])
    assert isinstance(answer.content, str)


def test_langchain_embeddings():
    model = OpenAIEmbeddings(base_url=f"{BASE}/v1", api_key="any", model=MODEL,
                             check_embedding_ctx_length=False)
    assert len(model.embed_query("red")) == len(model.embed_documents(["blue"])[0])


def main() -> int:
    passed = failed = 0
    for name, test in [item for item in globals().items() if item[0].startswith("test_")]:
        try:
            test()
            passed += 1
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
