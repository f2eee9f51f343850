"""Messages with the SDK of Anthropic."""

import anthropic
from kit import HISTORY, MODEL, NO_ARGUMENTS, PATH_SCHEMA, RESULTS, ROOT, TOO_LONG, TOOLS_QUESTION, caught, check

anthropic_client = anthropic.Anthropic(base_url=ROOT, api_key="any", max_retries=0)


ANTHROPIC_TOOLS = [
    {"name": "get_current_time", "description": "The time.", "input_schema": NO_ARGUMENTS},
    {"name": "read_file", "description": "A file.", "input_schema": PATH_SCHEMA},
]


@check
def anthropic_whole():
    reply = anthropic_client.messages.create(
        model=MODEL, max_tokens=500, system="Be kind.", messages=HISTORY
    )
    assert reply.content[0].text == "the door code = 4711.", reply
    assert reply.stop_reason == "end_turn"
    assert reply.usage.input_tokens > 20 and reply.usage.output_tokens > 0


@check
def anthropic_stream():
    with anthropic_client.messages.stream(model=MODEL, max_tokens=500, messages=HISTORY) as stream:
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
    ask = dict(model=MODEL, system="Be kind.", messages=HISTORY, tools=ANTHROPIC_TOOLS)
    count = anthropic_client.messages.count_tokens(**ask)
    usage = anthropic_client.messages.create(max_tokens=500, **ask).usage
    assert count.input_tokens == usage.input_tokens > 40, (count, usage)
    ask = dict(model=THINKER, messages=HISTORY, thinking={"type": "adaptive"}, output_config={"effort": "low"})
    count = anthropic_client.messages.count_tokens(**ask)
    usage = anthropic_client.messages.create(max_tokens=500, **ask).usage
    assert count.input_tokens == usage.input_tokens > 10, (count, usage)
    # What says something about the reply is not taken.
    caught(
        anthropic.BadRequestError,
        lambda: anthropic_client.messages.count_tokens(extra_body={"max_tokens": 10}, **ask),
    )


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


# Models of the catalogue: they think, and their thinking is bound to what stands before it.

THINKER = "claude-opus-5-5"


def thinking_round(**more):
    """The messages of a tool loop up to the results, and what is asked besides."""
    ask = dict(model=THINKER, max_tokens=5_000, system="Be kind.", tools=ANTHROPIC_TOOLS, **more)
    messages = [{"role": "user", "content": TOOLS_QUESTION}]
    with anthropic_client.messages.stream(messages=messages, **ask) as stream:
        for _ in stream:
            pass
        reply = stream.get_final_message()
    calls = [block for block in reply.content if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": c.id, "content": RESULTS[c.name]} for c in calls]
    messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": results}]
    return reply, messages, ask


@check
def anthropic_thinks_by_default_and_takes_it_back():
    reply, messages, ask = thinking_round()
    assert reply.content[0].type == "thinking" and reply.content[0].thinking == "", reply
    assert reply.content[0].signature, reply
    assert reply.usage.output_tokens_details.thinking_tokens > 0, reply.usage
    reply = anthropic_client.messages.create(messages=messages, **ask)
    text = "".join(block.text for block in reply.content if block.type == "text")
    assert "12:30" in text and "port = 8080" in text, text


@check
def anthropic_thinking_and_effort():
    reply, _, _ = thinking_round(
        thinking={"type": "adaptive", "display": "summarized"}, output_config={"effort": "low"}
    )
    assert "newest message" in reply.content[0].thinking, reply
    off = lambda: anthropic_client.messages.create(
        model=THINKER, max_tokens=100, messages=HISTORY, thinking={"type": "disabled"}
    )
    error = caught(anthropic.BadRequestError, off)
    assert '"thinking.type.disabled" is not supported for this model' in error.message, error.message
    budget = lambda **more: anthropic_client.messages.create(
        model="claude-haiku-4-5", max_tokens=2_000, messages=HISTORY, **more
    )
    caught(anthropic.BadRequestError, lambda: budget(thinking={"type": "adaptive"}))
    caught(anthropic.BadRequestError, lambda: budget(output_config={"effort": "low"}))
    reply = budget(thinking={"type": "enabled", "budget_tokens": 1_024})
    assert reply.content[0].type == "thinking", reply


@check
def anthropic_thinking_is_bound_to_its_prefix():
    _, messages, ask = thinking_round(thinking={"type": "adaptive"})
    changed = dict(ask, system="Be brief.")
    error = caught(
        anthropic.BadRequestError, lambda: anthropic_client.messages.create(messages=messages, **changed)
    )
    assert "The block is bound to a different conversation" in error.message, error.message
    count = dict(changed)
    del count["max_tokens"]
    caught(
        anthropic.BadRequestError,
        lambda: anthropic_client.messages.count_tokens(messages=messages, **count),
    )
    changed["thinking"] = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    reply = anthropic_client.beta.messages.create(
        messages=messages, betas=["thinking-binding-controls-2026-08-01"], **changed
    )
    dropped = reply.input_transformations
    assert [(d.type, d.path) for d in dropped] == [("thinking_dropped", "messages.1.content.0")], dropped


@check
def anthropic_capabilities():
    model = anthropic_client.models.retrieve(THINKER)
    types = model.capabilities.thinking.types
    assert types.adaptive.supported and not types.disabled.supported, types
    assert model.lifecycle == "active" and model.capabilities.effort.max.supported, model
