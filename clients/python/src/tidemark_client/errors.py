"""The one error of the client: an answer that is a problem, or the lack of an answer."""

from __future__ import annotations

import json
from typing import Any


class TidemarkError(Exception):
    """Tell errors apart by ``code``. Messages are for people, and change.

    Codes are those of the service's problem catalogue, and these:

    - ``no-answer``: no whole answer came, also after all tries. Of a write, the effect is unknown: repeat it with the same key.
    - ``unexpected-answer``: not the answer of a Tidemark service. Often a proxy has given it.
    - ``cursor-expired``: a walk had to begin again several times and made no progress.
    - ``query-ignored``: the host knows only files, and gave another page than the one of the cursor.
    - ``log-shorter``: the log has fewer entries than were read before.
    - ``newer-format``: the log has entries of a format that this version does not know.
    - ``not-in-log-yet``: the value is newer than the checkpoint of the log. Ask again in a minute.
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
    """Reads an answer that is no success. Of a proxy, it may be anything."""
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
