"""Calls: one request with its retries, which an Idempotency-Key makes harmless."""

from __future__ import annotations

import http.client
import json
import random
import re
import secrets
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Type, Union

from .errors import parsed, refusal, unreachable

Values = Mapping[str, Any]
Token = Union[str, Callable[[], str]]

_first_pause_s = 0.25
_pause_s_max = 30.0
#: Answers after which the same call can succeed.
_passing = frozenset((408, 425, 429, 502, 503, 504, 507))
_piece_bytes = 64 * 1024


@dataclass(frozen=True)
class Options:
    """How a client reaches its platform."""

    url: str
    api_key: Optional[str] = field(default=None, repr=False)
    #: Instead of an API key: an access token, or a function that returns a current one.
    access_token: Optional[Token] = field(default=None, repr=False)
    #: Tries of a call; 1 for no retries.
    tries_max: int = 5
    #: Seconds without a byte after which a try has failed.
    timeout: float = 60.0
    #: For certificates of an own authority.
    tls: Optional[ssl.SSLContext] = field(default=None, repr=False)

    def base(self) -> str:
        return self.url.rstrip("/")

    def credential(self) -> Dict[str, str]:
        if self.api_key is not None:
            return {"x-api-key": self.api_key}
        if self.access_token is None:
            return {}
        token = self.access_token if isinstance(self.access_token, str) else self.access_token()
        return {"authorization": f"Bearer {token}"}


class Answer:
    """An answer of success, whose body is read as it comes. Close it, or use it in a ``with``."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response
        self.status = response.status
        self.headers: Mapping[str, str] = dict(response.headers.items())

    def read(self) -> bytes:
        """The whole body."""
        with self:
            return self._response.read()

    def __iter__(self) -> Iterator[bytes]:
        """The body in pieces."""
        with self:
            while True:
                piece = self._response.read(_piece_bytes)
                if not piece:
                    return
                yield piece

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> Answer:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


@dataclass(frozen=True)
class Call:
    """A request before it is sent."""

    method: str
    path: str
    address: str
    headers: Mapping[str, str]
    body: Optional[bytes]


def prepared(
    options: Options,
    method: str,
    path: str,
    *,
    values: Optional[Values] = None,
    query: Optional[Values] = None,
    body: Any = None,
    content_type: str = "application/json",
    idempotency_key: Optional[str] = None,
) -> Call:
    """A call with its path filled in. Raises ValueError for a name without a value."""
    headers = {"accept": "application/json, */*;q=0.5"}
    content = _content(body)
    if content is not None:
        headers["content-type"] = content_type
    if method == "POST":
        headers["idempotency-key"] = idempotency_key or secrets.token_hex(16)
    address = options.base() + filled(path, values or {}) + _query_text(query or {})
    return Call(method, path, address, headers, content)


def filled(path: str, values: Values) -> str:
    """The path with its names in braces replaced."""

    def value_of(found: "re.Match[str]") -> str:
        value = values.get(found.group(1))
        if value is None or value == "":
            raise ValueError(f"{path} needs path[{found.group(1)!r}]")
        return urllib.parse.quote(str(value), safe="")

    return re.sub(r"\{([^{}]+)\}", value_of, path)


def _content(body: Any) -> Optional[bytes]:
    if body is None:
        return None
    if isinstance(body, (bytes, bytearray)):
        return bytes(body)
    return (body if isinstance(body, str) else json.dumps(body)).encode()


def _query_text(query: Values) -> str:
    """Lists are repeated names; what is None is not sent."""
    pairs = []
    for name, value in query.items():
        several = isinstance(value, (list, tuple, set, frozenset))
        pairs += [(name, _text(one)) for one in (value if several else [value]) if one is not None]
    return f"?{urllib.parse.urlencode(pairs)}" if pairs else ""


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def send(options: Options, call: Call) -> Answer:
    """An answer of success. Raises HeliographError for any other, and when none came."""
    what = f"{call.method} {call.path}"
    tries = 0
    while True:
        tries += 1
        asked: Optional[str] = None
        try:
            return _attempt(options, call)
        except urllib.error.HTTPError as error:
            with error:
                if error.code not in _passing or tries >= options.tries_max:
                    request_id = error.headers.get("x-request-id", "")
                    raise refusal(what, error.code, request_id, error.read()) from None
                asked = error.headers.get("retry-after")
        except (OSError, http.client.HTTPException) as error:
            if tries >= options.tries_max:
                raise unreachable(what, getattr(error, "reason", error)) from error
        time.sleep(pause_s(tries, asked))


def _attempt(options: Options, call: Call) -> Answer:
    headers = {**call.headers, **options.credential()}
    request = urllib.request.Request(call.address, call.body, headers, method=call.method)
    response = urllib.request.urlopen(request, timeout=options.timeout, context=options.tls)
    return Answer(response)


def pause_s(tries: int, asked: Optional[str] = None) -> float:
    """What the platform asks for, else twice as long each time, and not the same for all clients."""
    if asked is not None and asked.isdigit():
        return min(float(asked), _pause_s_max)
    longest = min(_first_pause_s * 2.0 ** (tries - 1), _pause_s_max)
    return longest * random.uniform(0.5, 1.0)


def value_of(answer: Answer) -> Any:
    """The body of an answer: JSON as a value, other bodies as strings."""
    return parsed(answer.read())
