"""What all checks share: where the server is, what is asked of it, and how a check is made known."""

import sys

ROOT = f"http://127.0.0.1:{sys.argv[1]}"
MODEL = "demo"
FACT = "remember: the door code = 4711"
QUESTION = "What is the door code?"
TOOLS_QUESTION = "What time is it, and what is in notes.txt?"
TOO_LONG = "word " * 9_000

PATH_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
NO_ARGUMENTS = {"type": "object", "properties": {}}
RESULTS = {"get_current_time": "12:30", "read_file": "port = 8080"}
HISTORY = [
    {"role": "user", "content": FACT},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": QUESTION},
]

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
