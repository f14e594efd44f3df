"""Client for programs without asyncio."""

from __future__ import annotations

import ssl
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional

from . import samples as bulk
from .calls import Answer, Options, Token, Values, prepared, send, value_of
from .errors import HeliographError
from .live import Subscription, live_messages

#: Items of a page where the call does not say.
page_size = 200


class Client:
    """Calls of the interface. Each raises HeliographError for any answer other than success.

    ``path`` has the values of the names in braces, ``query`` the parameters, ``body`` what is sent as
    JSON; strings and bytes are sent as they are. A client can be used by several threads.
    """

    def __init__(
        self,
        url: str,
        api_key: Optional[str] = None,
        *,
        access_token: Optional[Token] = None,
        tries_max: int = 5,
        timeout: float = 60.0,
        tls: Optional[ssl.SSLContext] = None,
    ) -> None:
        self.options = Options(url, api_key, access_token, tries_max, timeout, tls)

    def get(
        self, address: str, *, path: Optional[Values] = None, query: Optional[Values] = None
    ) -> Any:
        return value_of(self.send("GET", address, path=path, query=query))

    def post(
        self,
        address: str,
        *,
        path: Optional[Values] = None,
        query: Optional[Values] = None,
        body: Any = None,
        idempotency_key: Optional[str] = None,
    ) -> Any:
        """With a new Idempotency-Key for each call, so that its retries have one effect."""
        answer = self.send(
            "POST", address, path=path, query=query, body=body, idempotency_key=idempotency_key
        )
        return value_of(answer)

    def put(
        self,
        address: str,
        *,
        path: Optional[Values] = None,
        query: Optional[Values] = None,
        body: Any = None,
    ) -> Any:
        return value_of(self.send("PUT", address, path=path, query=query, body=body))

    def delete(
        self, address: str, *, path: Optional[Values] = None, query: Optional[Values] = None
    ) -> Any:
        return value_of(self.send("DELETE", address, path=path, query=query))

    def send(
        self,
        method: str,
        address: str,
        *,
        path: Optional[Values] = None,
        query: Optional[Values] = None,
        body: Any = None,
        content_type: str = "application/json",
        idempotency_key: Optional[str] = None,
    ) -> Answer:
        """The answer, whose body is not read yet. For exports and files."""
        call = prepared(
            self.options,
            method.upper(),
            address,
            values=path,
            query=query,
            body=body,
            content_type=content_type,
            idempotency_key=idempotency_key,
        )
        return send(self.options, call)

    def pages(
        self,
        address: str,
        *,
        path: Optional[Values] = None,
        query: Optional[Values] = None,
        body: Any = None,
    ) -> Iterator[Dict[str, Any]]:
        """All items of a list, page by page. With a body for lists whose filter is one."""
        method = "GET" if body is None else "POST"
        number = int((query or {}).get("page", 0))
        while True:
            asked = {"size": page_size, **(query or {}), "page": number}
            page = value_of(self.send(method, address, path=path, query=asked, body=body))
            yield from page["content"]
            if page["last"] or not page["content"]:
                return
            number += 1

    def send_samples(self, samples: Iterable[Mapping[str, Any]]) -> bulk.BulkResult:
        """Stores samples of many devices: ``deviceId``, ``data``, and optional ``timestamp``,
        ``topic`` and ``meta``. Any number, in requests of 5,000. Identical ones are stored once."""
        result = bulk.BulkResult()
        for first, content in bulk.batches(samples):
            try:
                answer = self.send("POST", bulk.path, body=content, content_type=bulk.content_type)
                result.add(value_of(answer), first)
            except HeliographError as error:
                result.add(bulk.refused_list(error), first)
        return result

    def live(
        self, subscriptions: Iterable[Subscription], *, since: Optional[str] = None
    ) -> Iterator[Dict[str, Any]]:
        """Samples and events as they happen, also over broken connections.

        ``since`` is the cursor of a sample, or a time of storing: samples stored since then come
        first. Close the iterator, or end its loop, to end the stream.
        """
        return live_messages(self.options, list(subscriptions), since)
