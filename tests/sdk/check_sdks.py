"""Speaks to a running demo server with the official SDKs. Usage: check_sdks.py PORT.

The server is as scripts/check-sdks starts it: `demo` with a window of 8000 and models of the catalogue, replies of
gemini-4-argon continued after 50 tokens, and the first six calls rate-limited (three) and overloaded (three).
"""

import sys
import traceback

import check_responses  # noqa: F401  Its checks make themselves known.
from check_faults import FAULTS
from kit import checks


def main():
    passed, failed = 0, 0
    for run in FAULTS + checks:
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
