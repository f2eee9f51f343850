"""Responses with the SDK of OpenAI."""

import openai
from kit import HISTORY, MODEL, NO_ARGUMENTS, PATH_SCHEMA, RESULTS, ROOT, TOO_LONG, TOOLS_QUESTION, caught, check

openai_client = openai.OpenAI(base_url=f"{ROOT}/v1", api_key="any", max_retries=0)


RESPONSES_TOOLS = [
    {"type": "function", "name": "get_current_time", "description": "The time.", "parameters": NO_ARGUMENTS, "strict": False},
    {"type": "function", "name": "read_file", "description": "A file.", "parameters": PATH_SCHEMA, "strict": False},
]
THINKER = "gpt-6-sol"


def respond(**more):
    return openai_client.responses.create(**{"model": THINKER, "store": False, **more})


@check
def responses_whole():
    reply = respond(model=MODEL, instructions="Be kind.", input=HISTORY)
    assert reply.output_text == "the door code = 4711." and reply.status == "completed", reply
    assert reply.usage.input_tokens > 20 and reply.usage.output_tokens > 0, reply.usage
    assert reply.usage.input_tokens_details.cached_tokens == 0, reply.usage


@check
def responses_stream():
    with openai_client.responses.stream(
        model=THINKER, input=HISTORY, reasoning={"effort": "high", "summary": "auto"}, store=False
    ) as stream:
        events = list(stream)
        reply = stream.get_final_response()
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert text == reply.output_text == "the door code = 4711.", text
    summary = "".join(event.delta for event in events if event.type == "response.reasoning_summary_text.delta")
    assert summary == reply.output[0].summary[0].text, reply.output[0]
    assert [event.sequence_number for event in events] == sorted({event.sequence_number for event in events})
    assert events[0].type == "response.created" and events[-1].type == "response.completed"
    assert reply.output[1].phase == "final_answer", reply.output[1]
    assert reply.usage.output_tokens_details.reasoning_tokens > 0, reply.usage


@check
def responses_tools_round_trip_with_reasoning():
    items = [{"role": "user", "content": TOOLS_QUESTION}]
    reply = respond(input=items, tools=RESPONSES_TOOLS, include=["reasoning.encrypted_content"])
    assert [item.type for item in reply.output] == ["reasoning", "message", "function_call", "function_call"], reply
    assert reply.output[0].encrypted_content, reply.output[0]
    calls = [item for item in reply.output if item.type == "function_call"]
    results = [
        {"type": "function_call_output", "call_id": call.call_id, "output": RESULTS[call.name]} for call in calls
    ]
    said = [item.model_dump(exclude_none=True) for item in reply.output]
    answered = respond(input=items + said + results, tools=RESPONSES_TOOLS)
    assert "12:30" in answered.output_text and "port = 8080" in answered.output_text, answered.output_text
    refused = lambda said: caught(
        openai.BadRequestError, lambda: respond(input=items + said + results, tools=RESPONSES_TOOLS)
    )
    assert "without its required 'reasoning' item" in refused(said[1:]).message
    forged = [dict(said[0], encrypted_content="gAAAABforged"), *said[1:]]
    assert refused(forged).code == "invalid_encrypted_content"
    open_call = lambda: respond(input=items + said + results[:1], tools=RESPONSES_TOOLS)
    assert "No tool output found" in caught(openai.BadRequestError, open_call).message
    alone = lambda: respond(input=items + said[:1])
    assert "without its required following item" in caught(openai.BadRequestError, alone).message


@check
def responses_refusals():
    error = caught(openai.BadRequestError, lambda: respond(model="gpt-6-astra", input="hi", reasoning={"effort": "none"}))
    assert error.param == "reasoning.effort" and error.code == "unsupported_value", error
    error = caught(openai.BadRequestError, lambda: respond(input="hi", max_output_tokens=15))
    assert error.code == "integer_below_min_value", error
    error = caught(openai.BadRequestError, lambda: respond(input="hi", previous_response_id="resp_1"))
    assert error.code == "previous_response_not_found", error
    error = caught(openai.BadRequestError, lambda: respond(model=MODEL, input=TOO_LONG))
    assert error.code == "context_length_exceeded" and "exceeds the context window" in error.message, error
    caught(openai.NotFoundError, lambda: respond(model="none", input="hi"))
    assert respond(model="gpt-5-pro", input="hi").status == "completed"


@check
def responses_incomplete():
    reply = respond(input="Write 300 words about rivers.", max_output_tokens=40)
    assert reply.status == "incomplete" and reply.incomplete_details.reason == "max_output_tokens", reply
    # All of it went into reasoning.
    assert reply.output_text == "" and reply.usage.output_tokens_details.reasoning_tokens == 40, reply
    with openai_client.responses.stream(model=MODEL, input="Write 300 words about rivers.", max_output_tokens=40) as stream:
        events = list(stream)
    assert events[-1].type == "response.incomplete", events[-1]


@check
def responses_counting_and_caching():
    count = openai_client.responses.input_tokens.count(model=THINKER, input=HISTORY, tools=RESPONSES_TOOLS)
    assert count.object == "response.input_tokens" and count.input_tokens > 30, count
    assert respond(input=HISTORY, tools=RESPONSES_TOOLS).usage.input_tokens == count.input_tokens
    ask = dict(instructions="Be kind.", input=HISTORY, reasoning={"effort": "low", "summary": "auto"})
    count = openai_client.responses.input_tokens.count(model=THINKER, **ask)
    assert respond(**ask).usage.input_tokens == count.input_tokens, count
    # What says something about the reply is not taken.
    more = lambda: openai_client.responses.input_tokens.count(model=THINKER, input="hi", extra_body={"store": False})
    assert caught(openai.BadRequestError, more).code == "unknown_parameter"
    long = [{"role": "user", "content": "tea " * 2_000}]
    first, second = respond(input=long).usage, respond(input=long).usage
    assert first.input_tokens_details.cache_write_tokens >= 1024, first
    assert second.input_tokens_details.cached_tokens == first.input_tokens_details.cache_write_tokens, second
