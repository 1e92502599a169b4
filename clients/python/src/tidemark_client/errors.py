"""The only error of the client: an answer with a problem, or a missing answer."""

from __future__ import annotations

import json
from typing import Any


class TidemarkError(Exception):
    """Distinguish errors by ``code``. Messages are for people, and may change.

    Codes are those of the service's problem catalogue, and these:

    - ``no-answer``: no complete answer arrived, after all tries. The effect of a write is unknown: repeat it with the same key.
    - ``unexpected-answer``: not an answer of a Tidemark service. Often it comes from a proxy.
    - ``cursor-expired``: a walk was restarted several times without progress.
    - ``query-ignored``: the host has only files, and returned another page than the cursor names.
    - ``log-shorter``: the log has fewer entries than were read before.
    - ``newer-format``: the log has entries in a format that this version does not know.
    - ``not-in-log-yet``: the value is newer than the checkpoint of the log. Try again in a minute.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        request: str | None = None,
        status: int | None = None,
        errors: list[dict[str, Any]] | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        super().__init__(f"{code}: {detail}" + (f" ({request})" if request else ""))
        self.code = code
        #: What happened, and how to mend it.
        self.detail = detail
        #: HTTP status. None: there was no answer.
        self.status = status
        #: The faults inside the request, each with a JSON Pointer.
        self.errors = errors or []
        #: Name it when you ask the operator about this request.
        self.request_id = request_id
        #: Seconds for which the service has asked to wait.
        self.retry_after = retry_after
        #: Of a write: the key with which the same call can be repeated safely.
        self.idempotency_key = idempotency_key


def error_of_answer(status: int, text: str, **more: Any) -> TidemarkError:
    """Reads an error answer. It may come from a proxy, and have any form."""
    try:
        problem = json.loads(text)
    except ValueError:
        problem = None
    if not isinstance(problem, dict) or not isinstance(problem.get("code"), str):
        return TidemarkError("unexpected-answer", f"the answer is {status}, and no problem", status=status, **more)
    instance, errors = problem.get("instance"), problem.get("errors")
    return TidemarkError(
        problem["code"],
        str(problem.get("detail") or problem.get("title") or status),
        status=status,
        errors=errors if isinstance(errors, list) else [],
        request_id=instance.removeprefix("/requests/") if isinstance(instance, str) else None,
        **more,
    )


def unexpected(url: str, words: str) -> TidemarkError:
    detail = f"the answer of {url} {words}: check that it is a Tidemark service, and that no proxy answers for it"
    return TidemarkError("unexpected-answer", detail, status=200)


def query_ignored(url: str) -> TidemarkError:
    first = url.split("?")[0] + ".json"
    detail = f"the host ignores ?cursor=, and gave another page: walk by files, from {first} along page.next"
    return TidemarkError("query-ignored", detail, status=200)
