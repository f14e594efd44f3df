"""Live stream over a socket: a broken connection resumes behind the last sample."""

from __future__ import annotations

import json
import socket
import ssl
import time
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from . import frames
from .calls import Options, pause_s
from .errors import HeliographError, unreachable

Subscription = Mapping[str, Any]
Message = Dict[str, Any]

stream_path = "/v3/data-streams"
#: Seconds of silence after which the client asks whether the platform is there.
ping_every_s = 30.0
head_bytes_max = 64 * 1024
#: Types that readers get; the others are for the connection.
_shown = frozenset(("sample_insert", "event", "subscribed", "unsubscribed"))
_pause_tries_max = 8


class Progress:
    """Where a stream is: what it resumes after, and how often it failed since the last message."""

    def __init__(self, options: Options, since: Optional[str]) -> None:
        self.since = since
        self._options = options
        self._tries = 0

    def subscribe_text(self, subscriptions: Sequence[Subscription]) -> str:
        message: Message = {"type": "subscribe", "id": 1, "subscriptions": list(subscriptions)}
        if self.since is not None:
            message["since"] = self.since
        return json.dumps(message)

    def took(self, content: bytes) -> Optional[Message]:
        """The message for the reader; None for one of the connection. Raises HeliographError."""
        message: Message = json.loads(content)
        kind = message.get("type")
        if kind == "error":
            raise _failure(message, message.get("errorCode", ""), message.get("message", ""))
        if kind == "subscribed":
            _check_subscribed(message)
        if kind not in _shown:
            return None
        self._tries = 0
        if kind == "sample_insert":
            self.since = message["cursor"]
        return message

    def broke(self, reason: object) -> float:
        """Seconds to wait before the next try. Raises HeliographError after the last one."""
        self._tries += 1
        if self._tries >= self._options.tries_max:
            raise unreachable("live stream", reason)
        return pause_s(min(self._tries + 1, _pause_tries_max))


def _check_subscribed(message: Message) -> None:
    for item in message.get("subscriptions", []):
        if not item.get("valid", True):
            named = {name: value for name, value in item.items() if name != "valid"}
            reason = f"{json.dumps(named)} does not exist, or the credential cannot read it"
            raise _failure(message, "SUBSCRIPTION_REFUSED", reason)


def _failure(body: Message, error_code: str, reason: str) -> HeliographError:
    return HeliographError(f"live stream: {reason}", 400, error_code, "", body)


def refused(status: int) -> HeliographError:
    """The error of a stream that the platform does not open."""
    return HeliographError(f"live stream: {status}: is the credential valid?", status)


def is_passing(status: int) -> bool:
    """Whether a later try can succeed."""
    return status == 0 or status == 429 or status >= 500


def live_messages(
    options: Options, subscriptions: List[Subscription], since: Optional[str]
) -> Iterator[Message]:
    """Messages until the iterator is closed. Raises HeliographError for what is refused."""
    progress = Progress(options, since)
    while True:
        try:
            with _Connection(options) as connection:
                connection.send(frames.text, progress.subscribe_text(subscriptions).encode())
                for content in connection.texts():
                    message = progress.took(content)
                    if message is not None:
                        yield message
            reason: object = "the connection ended"
        except OSError as error:
            reason = error
        time.sleep(progress.broke(reason))


class _Connection:
    def __init__(self, options: Options) -> None:
        address = frames.address_of(options.base(), stream_path)
        self._reader = frames.Reader()
        plain = socket.create_connection((address.host, address.port), options.timeout)
        try:
            self._socket = plain
            if address.is_tls:
                context = options.tls or ssl.create_default_context()
                self._socket = context.wrap_socket(plain, server_hostname=address.host)
            self._early = self._open(address, options)
            self._socket.settimeout(ping_every_s)
        except BaseException:
            self._socket.close()
            raise

    def _open(self, address: frames.Address, options: Options) -> bytes:
        """What came behind the answer."""
        request, accept = frames.handshake(address, options.credential())
        self._socket.sendall(request)
        received = b""
        while b"\r\n\r\n" not in received:
            piece = self._socket.recv(4096)
            if not piece or len(received) > head_bytes_max:
                raise frames.ProtocolError("the connection ended before its answer")
            received += piece
        head, _, rest = received.partition(b"\r\n\r\n")
        status = frames.status_of(head, accept)
        if status == 101:
            return rest
        if is_passing(status):
            raise frames.ProtocolError(f"the platform answers {status}")
        raise refused(status)

    def __enter__(self) -> _Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, kind: int, content: bytes) -> None:
        self._socket.sendall(frames.written(kind, content))

    def texts(self) -> Iterator[bytes]:
        """Until the platform closes the connection. Raises OSError when it breaks."""
        received = self._early
        while True:
            for kind, content in self._reader.feed(received):
                if kind == frames.text:
                    yield content
                elif kind == frames.ping:
                    self.send(frames.pong, content)
                elif kind == frames.close:
                    return
            received = self._received()
            if not received:
                return

    def _received(self) -> bytes:
        try:
            return self._socket.recv(64 * 1024)
        except socket.timeout:
            self.send(frames.text, b'{"type":"ping"}')
        try:
            return self._socket.recv(64 * 1024)
        except socket.timeout:
            raise OSError("the platform does not answer") from None
