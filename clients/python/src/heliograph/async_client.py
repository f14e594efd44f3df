"""Client for asyncio. Calls run in threads of the event loop, the live stream in the loop."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, AsyncIterator, Dict, Iterable, Mapping, Optional

from . import samples as bulk
from .async_live import live_messages
from .calls import Token, Values, value_of
from .client import Client, page_size
from .errors import HeliographError
from .live import Subscription


class AsyncClient:
    """The same calls as Client, as coroutines.

    A call that is cancelled ends for its task; its request may still arrive at the platform.
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
        self._client = Client(
            url,
            api_key,
            access_token=access_token,
            tries_max=tries_max,
            timeout=timeout,
            tls=tls,
        )

    async def get(
        self, address: str, *, path: Optional[Values] = None, query: Optional[Values] = None
    ) -> Any:
        return await asyncio.to_thread(self._client.get, address, path=path, query=query)

    async def post(
        self,
        address: str,
        *,
        path: Optional[Values] = None,
        query: Optional[Values] = None,
        body: Any = None,
        idempotency_key: Optional[str] = None,
    ) -> Any:
        """With a new Idempotency-Key for each call, so that its retries have one effect."""
        return await asyncio.to_thread(
            self._client.post,
            address,
            path=path,
            query=query,
            body=body,
            idempotency_key=idempotency_key,
        )

    async def put(
        self,
        address: str,
        *,
        path: Optional[Values] = None,
        query: Optional[Values] = None,
        body: Any = None,
    ) -> Any:
        return await asyncio.to_thread(
            self._client.put, address, path=path, query=query, body=body
        )

    async def delete(
        self, address: str, *, path: Optional[Values] = None, query: Optional[Values] = None
    ) -> Any:
        return await asyncio.to_thread(self._client.delete, address, path=path, query=query)

    async def pages(
        self,
        address: str,
        *,
        path: Optional[Values] = None,
        query: Optional[Values] = None,
        body: Any = None,
    ) -> AsyncIterator[Dict[str, Any]]:
        """All items of a list, page by page. With a body for lists whose filter is one."""
        number = int((query or {}).get("page", 0))
        while True:
            asked = {"size": page_size, **(query or {}), "page": number}
            if body is None:
                page = await self.get(address, path=path, query=asked)
            else:
                page = await self.post(address, path=path, query=asked, body=body)
            for item in page["content"]:
                yield item
            if page["last"] or not page["content"]:
                return
            number += 1

    async def send_samples(self, samples: Iterable[Mapping[str, Any]]) -> bulk.BulkResult:
        """Stores samples of many devices, as ``Client.send_samples`` does."""
        result = bulk.BulkResult()
        for first, content in bulk.batches(samples):
            try:
                result.add(await asyncio.to_thread(self._send_batch, content), first)
            except HeliographError as error:
                result.add(bulk.refused_list(error), first)
        return result

    def _send_batch(self, content: bytes) -> Any:
        answer = self._client.send(
            "POST", bulk.path, body=content, content_type=bulk.content_type
        )
        return value_of(answer)

    def live(
        self, subscriptions: Iterable[Subscription], *, since: Optional[str] = None
    ) -> AsyncIterator[Dict[str, Any]]:
        """Samples and events as they happen, also over broken connections."""
        return live_messages(self._client.options, list(subscriptions), since)
