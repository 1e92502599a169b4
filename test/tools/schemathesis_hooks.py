"""What Schemathesis cannot know of requests: credentials, new idempotency keys, and that GET never has a body here."""

import itertools
import os
import re

import schemathesis
from schemathesis.core import NOT_SET

CREDENTIALS = os.environ["TIDEMARK_CREDENTIALS"].split(",")
# Below the rate of a credential, which is 600 requests a minute.
REQUESTS_PER_CREDENTIAL = 500

authenticated = itertools.count()
keyed = itertools.count()


@schemathesis.auth(refresh_interval=None)
class Credentials:
    def get(self, case, context):
        return CREDENTIALS[next(authenticated) // REQUESTS_PER_CREDENTIAL % len(CREDENTIALS)]

    def set(self, case, data, context):
        case.headers = case.headers or {}
        case.headers["Authorization"] = f"Bearer {data}"


@schemathesis.hook
def before_call(context, case, kwargs):
    # Refused before its target is looked at: with the body of a POST it would not show how GET is answered there.
    if case.method.upper() == "GET":
        case.body = NOT_SET
    # A valid key becomes a new one of the same length. Faulty keys stay.
    key = (case.headers or {}).get("Idempotency-Key")
    if isinstance(key, str) and re.fullmatch("[A-Za-z0-9_-]{16,64}", key):
        case.headers["Idempotency-Key"] = str(next(keyed)).rjust(len(key), "k")
