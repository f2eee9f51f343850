"""Errors as the types of the SDKs. These come first: the script of the server strikes the first calls, in this order."""

import anthropic
import openai
from check_anthropic import anthropic_client
from check_gemini import gemini_client
from check_openai import openai_client
from google.genai import errors as genai_errors
from kit import MODEL, caught



def openai_ask():
    return openai_client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "hi"}])


def anthropic_ask():
    return anthropic_client.messages.create(
        model=MODEL, max_tokens=10, messages=[{"role": "user", "content": "hi"}]
    )


def gemini_ask():
    return gemini_client.models.generate_content(model=MODEL, contents="hi")


def rate_limits_have_their_types():
    error = caught(openai.RateLimitError, openai_ask)
    assert error.code == "rate_limit_exceeded", error
    caught(anthropic.RateLimitError, anthropic_ask)
    error = caught(genai_errors.ClientError, gemini_ask)
    assert error.code == 429 and error.status == "RESOURCE_EXHAUSTED", error


def outages_have_their_types():
    caught(openai.InternalServerError, openai_ask)
    error = caught(anthropic.APIStatusError, anthropic_ask)
    assert error.status_code == 529, error
    error = caught(genai_errors.ServerError, gemini_ask)
    assert error.code == 503 and error.status == "UNAVAILABLE", error


FAULTS = [rate_limits_have_their_types, outages_have_their_types]
