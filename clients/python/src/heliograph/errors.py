"""Errors: an answer other than success, or none, with what the platform says of it."""

from __future__ import annotations

import json
from typing import Any


class HeliographError(Exception):
    """A call that had no success.

    ``status`` is the status of HTTP, and 0 without an answer. ``error_code`` is stable, such as
    ``40400_NOT_FOUND``. ``request_id`` is in the log of the platform.
    """

    def __init__(
        self,
        message: str,
        status: int = 0,
        error_code: str = "",
        request_id: str = "",
        body: Any = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error_code = error_code
        self.request_id = request_id
        self.body = body


def refusal(what: str, status: int, request_id: str, content: bytes) -> HeliographError:
    """The error of an answer. ``what`` is the method and the path."""
    body = parsed(content)
    about = body if isinstance(body, dict) else {}
    said = about.get("message")
    text = said if isinstance(said, str) else content.decode("utf-8", "replace")[:200]
    return HeliographError(
        f"{what}: {status} {text}",
        status,
        str(about.get("errorCode", "")),
        str(about.get("requestId", request_id)),
        body,
    )


def unreachable(what: str, reason: object) -> HeliographError:
    """The error of a call without an answer."""
    return HeliographError(f"{what}: no answer: {reason}")


def parsed(content: bytes) -> Any:
    """JSON as a value, other bodies as strings; None for an empty one."""
    if not content:
        return None
    text = content.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except ValueError:
        return text
