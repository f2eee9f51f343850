"""Speaks to a running demo server with the official SDKs. Usage: check_sdks.py PORT.

The server offers `demo` with a window of 8000, and its first six calls are rate-limited (three) and overloaded (three), as
scripts/check-sdks starts it.
"""

import sys
import traceback

import anthropic
import openai
from google import genai
from google.genai import errors as genai_errors
from google.genai import types

ROOT = f"http://127.0.0.1:{sys.argv[1]}"
MODEL = "demo"
FACT = "remember: the door code = 4711"
QUESTION = "What is the door code?"
TOOLS_QUESTION = "What time is it, and what is in notes.txt?"
TOO_LONG = "word " * 9_000

openai_client = openai.OpenAI(base_url=f"{ROOT}/v1", api_key="any", max_retries=0)
anthropic_client = anthropic.Anthropic(base_url=ROOT, api_key="any", max_retries=0)
gemini_client = genai.Client(api_key="any", http_options=types.HttpOptions(base_url=ROOT, api_version="v1beta"))

PATH_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
NO_ARGUMENTS = {"type": "object", "properties": {}}
RESULTS = {"get_current_time": "12:30", "read_file": "port = 8080"}

checks = []


def check(function):
    checks.append(function)
    return function


def caught(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


# Faults: the server's script strikes the first calls in this order.


def openai_ask():
    return openai_client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "hi"}])


def anthropic_ask():
    return anthropic_client.messages.create(
        model=MODEL, max_tokens=10, messages=[{"role": "user", "content": "hi"}]
    )


def gemini_ask():
    return gemini_client.models.generate_content(model=MODEL, contents="hi")


@check
def rate_limits_have_their_types():
    error = caught(openai.RateLimitError, openai_ask)
    assert error.code == "rate_limit_exceeded", error
    caught(anthropic.RateLimitError, anthropic_ask)
    error = caught(genai_errors.ClientError, gemini_ask)
    assert error.code == 429 and error.status == "RESOURCE_EXHAUSTED", error


@check
def outages_have_their_types():
    caught(openai.InternalServerError, openai_ask)
    error = caught(anthropic.APIStatusError, anthropic_ask)
    assert error.status_code == 529, error
    error = caught(genai_errors.ServerError, gemini_ask)
    assert error.code == 503 and error.status == "UNAVAILABLE", error


# OpenAI

OPENAI_HISTORY = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": FACT},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": QUESTION},
]
OPENAI_TOOLS = [
    {"type": "function", "function": {"name": "get_current_time", "description": "The time.", "parameters": NO_ARGUMENTS}},
    {"type": "function", "function": {"name": "read_file", "description": "A file.", "parameters": PATH_SCHEMA}},
]


@check
def openai_whole():
    reply = openai_client.chat.completions.create(model=MODEL, messages=OPENAI_HISTORY)
    assert reply.choices[0].message.content == "the door code = 4711.", reply
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage.prompt_tokens > 20 and reply.usage.completion_tokens > 0
    assert reply.usage.prompt_tokens_details.cached_tokens == 0


@check
def openai_stream_with_usage():
    stream = openai_client.chat.completions.create(
        model=MODEL, messages=OPENAI_HISTORY, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == "the door code = 4711.", text
    assert chunks[-1].choices == [] and chunks[-1].usage.total_tokens > 0


@check
def openai_parallel_tools_round_trip():
    messages = [{"role": "user", "content": TOOLS_QUESTION}]
    with openai_client.chat.completions.stream(model=MODEL, messages=messages, tools=OPENAI_TOOLS) as stream:
        for _ in stream:
            pass
        reply = stream.get_final_completion()
    message = reply.choices[0].message
    names = [call.function.name for call in message.tool_calls]
    assert names == ["get_current_time", "read_file"], names
    assert '"notes.txt"' in message.tool_calls[1].function.arguments
    assert reply.choices[0].finish_reason == "tool_calls"
    assert len({call.id for call in message.tool_calls}) == 2
    messages.append({
        "role": "assistant",
        "content": message.content,
        "tool_calls": [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            for c in message.tool_calls
        ],
    })
    for call in message.tool_calls:
        messages.append({"role": "tool", "tool_call_id": call.id, "content": RESULTS[call.function.name]})
    reply = openai_client.chat.completions.create(model=MODEL, messages=messages, tools=OPENAI_TOOLS)
    text = reply.choices[0].message.content
    assert "12:30" in text and "port = 8080" in text, text


@check
def openai_caching():
    messages = [{"role": "user", "content": "tea " * 2_000}]
    openai_client.chat.completions.create(model=MODEL, messages=messages)
    messages += [{"role": "assistant", "content": "Fine."}, {"role": "user", "content": "And now?"}]
    reply = openai_client.chat.completions.create(model=MODEL, messages=messages)
    cached = reply.usage.prompt_tokens_details.cached_tokens
    assert cached >= 1024 and cached % 128 == 0, cached


@check
def openai_models():
    models = {model.id for model in openai_client.models.list()}
    assert MODEL in models, models
    assert openai_client.models.retrieve(MODEL).id == MODEL


@check
def openai_overflow():
    call = lambda: openai_client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": TOO_LONG}], stream=True
    )
    error = caught(openai.BadRequestError, call)
    assert error.code == "context_length_exceeded" and error.param == "messages", error
    assert "maximum context length is 8000 tokens" in error.message, error.message


@check
def openai_other_errors():
    ask = lambda model: openai_client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": "hi"}]
    )
    error = caught(openai.NotFoundError, lambda: ask("none"))
    assert error.code == "model_not_found", error
    orphan = [{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "x", "content": "y"}]
    caught(
        openai.BadRequestError, lambda: openai_client.chat.completions.create(model=MODEL, messages=orphan)
    )


# Anthropic

ANTHROPIC_HISTORY = OPENAI_HISTORY[1:]
ANTHROPIC_TOOLS = [
    {"name": "get_current_time", "description": "The time.", "input_schema": NO_ARGUMENTS},
    {"name": "read_file", "description": "A file.", "input_schema": PATH_SCHEMA},
]


@check
def anthropic_whole():
    reply = anthropic_client.messages.create(
        model=MODEL, max_tokens=500, system="Be kind.", messages=ANTHROPIC_HISTORY
    )
    assert reply.content[0].text == "the door code = 4711.", reply
    assert reply.stop_reason == "end_turn"
    assert reply.usage.input_tokens > 20 and reply.usage.output_tokens > 0


@check
def anthropic_stream():
    with anthropic_client.messages.stream(model=MODEL, max_tokens=500, messages=ANTHROPIC_HISTORY) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text == "the door code = 4711.", text
    assert final.usage.output_tokens > 1 and final.usage.input_tokens > 10, final.usage


@check
def anthropic_thinking_and_parallel_tools_round_trip():
    thinking = {"type": "enabled", "budget_tokens": 1024}
    messages = [{"role": "user", "content": TOOLS_QUESTION}]
    ask = dict(model=MODEL, max_tokens=2_000, tools=ANTHROPIC_TOOLS, thinking=thinking)
    with anthropic_client.messages.stream(messages=messages, **ask) as stream:
        for _ in stream:
            pass
        reply = stream.get_final_message()
    assert reply.content[0].type == "thinking" and reply.content[0].signature, reply
    calls = [block for block in reply.content if block.type == "tool_use"]
    assert [call.name for call in calls] == ["get_current_time", "read_file"], calls
    assert calls[0].input == {} and calls[1].input == {"path": "notes.txt"}, calls
    assert reply.stop_reason == "tool_use"
    results = [{"type": "tool_result", "tool_use_id": c.id, "content": RESULTS[c.name]} for c in calls]
    messages += [
        {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in reply.content]},
        {"role": "user", "content": results},
    ]
    reply = anthropic_client.messages.create(messages=messages, **ask)
    text = "".join(block.text for block in reply.content if block.type == "text")
    assert "12:30" in text and "port = 8080" in text, text


@check
def anthropic_caching():
    system = [{"type": "text", "text": "tea " * 2_000, "cache_control": {"type": "ephemeral"}}]
    ask = lambda: anthropic_client.messages.create(
        model=MODEL, max_tokens=100, system=system, messages=[{"role": "user", "content": "hi"}]
    ).usage
    first, second = ask(), ask()
    assert first.cache_creation_input_tokens > 1024 and first.cache_read_input_tokens == 0, first
    assert second.cache_read_input_tokens == first.cache_creation_input_tokens, second


@check
def anthropic_models_and_counting():
    models = {model.id for model in anthropic_client.models.list()}
    assert MODEL in models, models
    count = anthropic_client.messages.count_tokens(model=MODEL, messages=ANTHROPIC_HISTORY)
    assert count.input_tokens > 10, count


@check
def anthropic_overflow():
    def call():
        with anthropic_client.messages.stream(
            model=MODEL, max_tokens=10, messages=[{"role": "user", "content": TOO_LONG}]
        ) as stream:
            stream.get_final_message()

    error = caught(anthropic.BadRequestError, call)
    assert "prompt is too long: " in error.message and "> 8000 maximum" in error.message, error.message
    both = lambda: anthropic_client.messages.create(
        model=MODEL, max_tokens=4_000, messages=[{"role": "user", "content": "word " * 5_000}]
    )
    error = caught(anthropic.BadRequestError, both)
    assert "exceed context limit" in error.message, error.message


@check
def anthropic_other_errors():
    caught(
        anthropic.NotFoundError,
        lambda: anthropic_client.messages.create(
            model="none", max_tokens=10, messages=[{"role": "user", "content": "hi"}]
        ),
    )


# Gemini

GEMINI_HISTORY = [
    types.Content(role="user", parts=[types.Part(text=FACT)]),
    types.Content(role="model", parts=[types.Part(text="Noted.")]),
    types.Content(role="user", parts=[types.Part(text=QUESTION)]),
]
GEMINI_TOOLS = [
    types.Tool(
        function_declarations=[
            types.FunctionDeclaration(name="get_current_time", description="The time."),
            types.FunctionDeclaration(
                name="read_file",
                description="A file.",
                parameters=types.Schema(
                    type=types.Type.OBJECT,
                    properties={"path": types.Schema(type=types.Type.STRING)},
                    required=["path"],
                ),
            ),
        ]
    )
]


@check
def gemini_whole():
    config = types.GenerateContentConfig(system_instruction="Be kind.", max_output_tokens=500)
    reply = gemini_client.models.generate_content(model=MODEL, contents=GEMINI_HISTORY, config=config)
    assert reply.text == "the door code = 4711.", reply
    assert reply.candidates[0].finish_reason == types.FinishReason.STOP
    assert reply.usage_metadata.prompt_token_count > 20
    assert reply.usage_metadata.candidates_token_count > 0


@check
def gemini_stream():
    chunks = list(gemini_client.models.generate_content_stream(model=MODEL, contents=GEMINI_HISTORY))
    text = "".join(chunk.text or "" for chunk in chunks)
    assert text == "the door code = 4711." and len(chunks) > 1, text
    assert chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP


@check
def gemini_parallel_tools_round_trip():
    config = types.GenerateContentConfig(
        tools=GEMINI_TOOLS,
        thinking_config=types.ThinkingConfig(include_thoughts=True),
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents = [types.Content(role="user", parts=[types.Part(text=TOOLS_QUESTION)])]
    parts = []
    for chunk in gemini_client.models.generate_content_stream(model=MODEL, contents=contents, config=config):
        parts += chunk.candidates[0].content.parts
    assert parts[0].thought, parts
    calls = [part.function_call for part in parts if part.function_call]
    assert [call.name for call in calls] == ["get_current_time", "read_file"], calls
    assert calls[1].args == {"path": "notes.txt"}, calls
    signed = [part for part in parts if part.function_call and part.thought_signature]
    assert len(signed) == 1, parts
    contents.append(types.Content(role="model", parts=[part for part in parts if not part.thought]))
    contents.append(
        types.Content(
            role="user",
            parts=[
                types.Part.from_function_response(name=c.name, response={"result": RESULTS[c.name]}) for c in calls
            ],
        )
    )
    reply = gemini_client.models.generate_content(model=MODEL, contents=contents, config=config)
    assert "12:30" in reply.text and "port = 8080" in reply.text, reply.text


@check
def gemini_caching():
    long = types.Content(role="user", parts=[types.Part(text="tea " * 2_000)])
    gemini_client.models.generate_content(model=MODEL, contents=[long])
    reply = gemini_client.models.generate_content(model=MODEL, contents=[long])
    assert reply.usage_metadata.cached_content_token_count > 1024, reply.usage_metadata


@check
def gemini_models_and_counting():
    models = {model.name: model for model in gemini_client.models.list()}
    assert models[f"models/{MODEL}"].input_token_limit == 8_000, models
    assert gemini_client.models.count_tokens(model=MODEL, contents="hello there").total_tokens > 2


@check
def gemini_overflow():
    call = lambda: list(gemini_client.models.generate_content_stream(model=MODEL, contents=TOO_LONG))
    error = caught(genai_errors.ClientError, call)
    assert error.code == 400 and error.status == "INVALID_ARGUMENT", error
    assert "exceeds the maximum number of tokens allowed (8000)" in error.message, error.message


@check
def gemini_other_errors():
    error = caught(
        genai_errors.ClientError, lambda: gemini_client.models.generate_content(model="none", contents="hi")
    )
    assert error.code == 404 and error.status == "NOT_FOUND", error


def main():
    passed, failed = 0, 0
    for run in checks:
        try:
            run()
            passed += 1
        except Exception:
            failed += 1
            print(f"FAILED {run.__name__}")
            traceback.print_exc()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
