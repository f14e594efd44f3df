"""Live stream for asyncio: a broken connection resumes behind the last sample."""

from __future__ import annotations

import asyncio
import ssl
from typing import AsyncIterator, List, Optional

from . import frames
from .calls import Options
from .live import (
    Message,
    Progress,
    Subscription,
    head_bytes_max,
    is_passing,
    ping_every_s,
    refused,
    stream_path,
)


async def live_messages(
    options: Options, subscriptions: List[Subscription], since: Optional[str]
) -> AsyncIterator[Message]:
    """Messages until the task is cancelled or the iterator closed. Raises HeliographError."""
    progress = Progress(options, since)
    while True:
        try:
            connection = await _Connection.open(options)
            try:
                await connection.send(frames.text, progress.subscribe_text(subscriptions).encode())
                async for content in connection.texts():
                    message = progress.took(content)
                    if message is not None:
                        yield message
            finally:
                connection.close()
            reason: object = "the connection ended"
        except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError) as error:
            reason = error or type(error).__name__
        await asyncio.sleep(progress.broke(reason))


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._in = reader
        self._out = writer
        self._frames = frames.Reader()

    @classmethod
    async def open(cls, options: Options) -> _Connection:
        address = frames.address_of(options.base(), stream_path)
        tls = (options.tls or ssl.create_default_context()) if address.is_tls else None
        opening = asyncio.open_connection(
            address.host, address.port, ssl=tls, limit=head_bytes_max
        )
        connection = cls(*await asyncio.wait_for(opening, options.timeout))
        try:
            credential = await asyncio.to_thread(options.credential)
            request, accept = frames.handshake(address, credential)
            connection._out.write(request)
            answer = connection._in.readuntil(b"\r\n\r\n")
            head = await asyncio.wait_for(answer, options.timeout)
            status = frames.status_of(head, accept)
            if status == 101:
                return connection
            if is_passing(status):
                raise frames.ProtocolError(f"the platform answers {status}")
            raise refused(status)
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        self._out.close()

    async def send(self, kind: int, content: bytes) -> None:
        self._out.write(frames.written(kind, content))
        await self._out.drain()

    async def texts(self) -> AsyncIterator[bytes]:
        """Until the platform closes the connection. Raises OSError when it breaks."""
        while True:
            received = await self._received()
            if not received:
                return
            for kind, content in self._frames.feed(received):
                if kind == frames.text:
                    yield content
                elif kind == frames.ping:
                    await self.send(frames.pong, content)
                elif kind == frames.close:
                    return

    async def _received(self) -> bytes:
        try:
            return await asyncio.wait_for(self._in.read(64 * 1024), ping_every_s)
        except asyncio.TimeoutError:
            await self.send(frames.text, b'{"type":"ping"}')
        return await asyncio.wait_for(self._in.read(64 * 1024), ping_every_s)
