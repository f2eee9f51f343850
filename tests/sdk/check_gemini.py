"""generateContent with the SDK of Google."""

from google import genai
from google.genai import errors as genai_errors
from google.genai import types

from kit import FACT, MODEL, PATH_SCHEMA, QUESTION, RESULTS, ROOT, TOO_LONG, TOOLS_QUESTION, caught, check

# The SDK speaks to v1 unless it is told otherwise; both are served.
gemini_client = genai.Client(api_key="any", http_options=types.HttpOptions(base_url=ROOT, api_version="v1beta"))
gemini_v1_client = genai.Client(api_key="any", http_options=types.HttpOptions(base_url=ROOT, api_version="v1"))


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
    for client in (gemini_client, gemini_v1_client):
        count = client.models.count_tokens(model=MODEL, contents=GEMINI_HISTORY).total_tokens
        reply = client.models.generate_content(model=MODEL, contents=GEMINI_HISTORY)
        assert count == reply.usage_metadata.prompt_token_count > 10, (count, reply)
    caught(genai_errors.ClientError, lambda: gemini_client.models.count_tokens(model="none", contents="hi"))


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


# Models of the catalogue: told by levels, their calls are named and signed.

THINKER = "gemini-3.8-flash"
JSON_SCHEMA_TOOLS = [
    types.Tool(
        function_declarations=[
            types.FunctionDeclaration(name="get_current_time", description="The time."),
            types.FunctionDeclaration(
                name="read_file",
                description="A file.",
                parameters_json_schema={**PATH_SCHEMA, "additionalProperties": False},
            ),
        ]
    )
]


def thinking_config(**thinking):
    return types.GenerateContentConfig(
        tools=JSON_SCHEMA_TOOLS,
        thinking_config=types.ThinkingConfig(**thinking),
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )


@check
def gemini_names_and_signatures_round_trip():
    config = thinking_config(thinking_level="low")
    contents = [types.Content(role="user", parts=[types.Part(text=TOOLS_QUESTION)])]
    reply = gemini_client.models.generate_content(model=THINKER, contents=contents, config=config)
    content = reply.candidates[0].content
    calls = [part.function_call for part in content.parts if part.function_call]
    assert [call.name for call in calls] == ["get_current_time", "read_file"], calls
    assert len({call.id for call in calls}) == 2 and all(call.id for call in calls), calls
    signed = [part.thought_signature for part in content.parts if part.function_call]
    assert isinstance(signed[0], bytes) and signed[1] is None, signed
    answers = lambda ids: types.Content(
        role="user",
        parts=[
            types.Part(
                function_response=types.FunctionResponse(id=i, name=c.name, response={"output": RESULTS[c.name]})
            )
            for c, i in zip(calls, ids)
        ],
    )
    ask = lambda *more: gemini_client.models.generate_content(
        model=THINKER, contents=contents + list(more), config=config
    )
    reply = ask(content, answers([call.id for call in calls]))
    assert "12:30" in reply.text and "port = 8080" in reply.text, reply.text
    error = caught(genai_errors.ClientError, lambda: ask(content, answers([None, None])))
    assert "functionResponse.id does not match functionCall.id" in error.message, error.message
    bare = types.Content(role="model", parts=[types.Part(function_call=call) for call in calls])
    error = caught(genai_errors.ClientError, lambda: ask(bare, answers([call.id for call in calls])))
    assert "missing a thought_signature" in error.message, error.message


@check
def gemini_texts_are_signed():
    contents = [types.Content(role="user", parts=[types.Part(text=FACT)])]
    parts = []
    for chunk in gemini_client.models.generate_content_stream(model=THINKER, contents=contents):
        parts += chunk.candidates[0].content.parts
    # The last part has no text. The SDK gives the signature as bytes and writes them in another base64.
    assert parts[-1].text == "" and parts[-1].thought_signature, parts[-1]
    contents.append(types.Content(role="model", parts=parts))
    contents.append(types.Content(role="user", parts=[types.Part(text=QUESTION)]))
    reply = gemini_client.models.generate_content(model=THINKER, contents=contents)
    assert reply.text == "the door code = 4711.", reply.text


@check
def gemini_levels_and_budgets():
    ask = lambda model, **thinking: gemini_client.models.generate_content(
        model=model, contents="hi", config=thinking_config(**thinking)
    )
    assert ask(THINKER, thinking_level="low").usage_metadata.thoughts_token_count == 6
    caught(genai_errors.ClientError, lambda: ask(THINKER, thinking_level="minimal"))
    caught(genai_errors.ClientError, lambda: ask(THINKER, thinking_budget=0))
    caught(genai_errors.ClientError, lambda: ask("gemini-2.5-flash", thinking_level="low"))
    assert ask("gemini-2.5-flash", thinking_budget=0).usage_metadata.thoughts_token_count is None


@check
def gemini_continues_long_replies():
    ask = lambda **more: gemini_client.models.generate_content(
        model="gemini-4-argon",
        contents="Write 200 words about rivers.",
        config=types.GenerateContentConfig(**more),
    )
    first = ask(automatic_continuation=False)
    assert first.candidates[0].finish_reason == types.FinishReason.CONTINUATION, first
    whole = ask()
    assert whole.candidates[0].finish_reason == types.FinishReason.STOP, whole
    stream = gemini_client.models.generate_content_stream(
        model="gemini-4-argon", contents="Write 200 words about rivers."
    )
    text = "".join(chunk.text or "" for chunk in stream)
    assert text.startswith(first.text) and len(text.split()) >= 200, text


@check
def gemini_v1():
    reply = gemini_v1_client.models.generate_content(model=MODEL, contents=[FACT, QUESTION])
    assert "4711" in reply.text, reply.text
    assert f"models/{MODEL}" in {model.name for model in gemini_v1_client.models.list()}
