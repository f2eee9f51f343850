"""Chat completions with the SDK of OpenAI."""

import openai
from kit import HISTORY, MODEL, NO_ARGUMENTS, PATH_SCHEMA, RESULTS, ROOT, TOO_LONG, TOOLS_QUESTION, caught, check

openai_client = openai.OpenAI(base_url=f"{ROOT}/v1", api_key="any", max_retries=0)


OPENAI_HISTORY = [{"role": "system", "content": "Be kind."}, *HISTORY]
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


@check
def openai_refusals_by_model():
    ask = lambda model, **more: openai_client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": "hi"}], **more
    )
    error = caught(openai.NotFoundError, lambda: ask("gpt-5-pro"))
    assert "only supported in v1/responses" in error.message, error.message
    error = caught(openai.BadRequestError, lambda: ask("gpt-6-sol", tools=OPENAI_TOOLS))
    assert "set reasoning_effort to 'none'" in error.message, error.message
    reply = ask("gpt-6-sol", tools=OPENAI_TOOLS, reasoning_effort="none")
    assert reply.usage.completion_tokens_details.reasoning_tokens == 0, reply.usage
    error = caught(openai.BadRequestError, lambda: ask("gpt-6-sol", max_tokens=10))
    assert error.param == "max_tokens" and error.code == "unsupported_parameter", error
    error = caught(openai.BadRequestError, lambda: ask("gpt-6-sol", temperature=0.5))
    assert error.code == "unsupported_value", error
    caught(openai.NotFoundError, lambda: ask("o3-mini"))
