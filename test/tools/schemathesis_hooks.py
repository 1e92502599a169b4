"""What Schemathesis cannot know: credentials, their limit, new idempotency keys, and that GET never has a body here."""

import itertools
import os
import random
import re
import time

import schemathesis
from schemathesis.core import NOT_SET
from schemathesis.openapi.checks import IgnoredAuth
from schemathesis.specs.openapi.checks import ignored_auth

CREDENTIALS = os.environ["TIDEMARK_CREDENTIALS"].split(",")
# Below the rate of a credential, which is 600 requests a minute.
REQUESTS_PER_CREDENTIAL = 500
# Together much longer than the minute over which refused credentials are counted: other requests of the run use it up, too.
ATTEMPTS = 40

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


@schemathesis.check
def ignored_auth_after_the_limit(ctx, response, case):
    """`ignored_auth`. It sends refused credentials, of which one network has 60 a minute: over that, it tries again."""
    for _ in range(ATTEMPTS):
        try:
            return ignored_auth(ctx, response, case)
        except IgnoredAuth as failure:
            if "got `429 " not in failure.message:
                raise
            # Retry-After is a second. The check sends two refused credentials. Not in step with others that wait.
            time.sleep(random.uniform(2, 6))
    # Only 401 and 403 pass.
    return ignored_auth(ctx, response, case)
