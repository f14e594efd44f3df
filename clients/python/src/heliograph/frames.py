"""Frames of WebSocket (RFC 6455) as a client reads and writes them, without a socket."""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
import struct
import urllib.parse
from dataclasses import dataclass
from typing import List, Mapping, Optional, Tuple

text = 1
binary = 2
close = 8
ping = 9
pong = 10

#: A message of the platform is far smaller.
_message_bytes_max = 16 * 1024 * 1024
_accept_suffix = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class ProtocolError(OSError):
    """What came is not what the protocol allows: the connection is of no further use."""


@dataclass(frozen=True)
class Address:
    host: str
    port: int
    is_tls: bool
    target: str


def address_of(base: str, path: str) -> Address:
    """Where the stream of a platform is, whose address begins with http or https."""
    parts = urllib.parse.urlsplit(base)
    is_tls = parts.scheme == "https"
    port = parts.port or (443 if is_tls else 80)
    return Address(parts.hostname or "", port, is_tls, f"{parts.path.rstrip('/')}{path}")


def handshake(address: Address, headers: Mapping[str, str]) -> Tuple[bytes, str]:
    """The request that opens the stream, and the answer that its header must have."""
    key = base64.b64encode(secrets.token_bytes(16))
    host = f"[{address.host}]" if ":" in address.host else address.host
    lines = [
        f"GET {address.target} HTTP/1.1",
        f"Host: {host}:{address.port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key.decode()}",
        "Sec-WebSocket-Version: 13",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a header contains a line break")
    accept = base64.b64encode(hashlib.sha1(key + _accept_suffix).digest()).decode()
    return ("\r\n".join(lines) + "\r\n\r\n").encode(), accept


def status_of(head: bytes, accept: str) -> int:
    """The status of the answer. Raises ProtocolError for a success of another protocol."""
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    if status == 101 and headers.get("sec-websocket-accept") != accept:
        raise ProtocolError("the server does not speak WebSocket")
    return status


def written(kind: int, content: bytes) -> bytes:
    """A frame of a client, which is masked."""
    length = len(content)
    if length < 126:
        head = struct.pack("!BB", 0x80 | kind, 0x80 | length)
    elif length < 1 << 16:
        head = struct.pack("!BBH", 0x80 | kind, 0x80 | 126, length)
    else:
        head = struct.pack("!BBQ", 0x80 | kind, 0x80 | 127, length)
    mask = os.urandom(4)
    return head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(content))


class Reader:
    """Takes bytes as they come, returns whole messages."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._kind = 0
        self._parts: List[bytes] = []
        self._size = 0

    def feed(self, received: bytes) -> List[Tuple[int, bytes]]:
        """The messages that are complete: kind and content. Raises ProtocolError."""
        self._waiting += received
        messages: List[Tuple[int, bytes]] = []
        while True:
            frame = self._frame()
            if frame is None:
                return messages
            message = self._message(*frame)
            if message is not None:
                messages.append(message)

    def _frame(self) -> Optional[Tuple[bool, int, bytes]]:
        waiting = self._waiting
        if len(waiting) < 2:
            return None
        if waiting[0] & 0x70 or waiting[1] & 0x80:
            raise ProtocolError("the server sent a frame with reserved bits or a mask")
        length = waiting[1] & 0x7F
        start = 2
        if length >= 126:
            start = 4 if length == 126 else 10
            if len(waiting) < start:
                return None
            length = int.from_bytes(waiting[2:start], "big")
        if length > _message_bytes_max:
            raise ProtocolError(f"a message has more than {_message_bytes_max} bytes")
        if len(waiting) < start + length:
            return None
        first = waiting[0]
        content = bytes(waiting[start : start + length])
        del waiting[: start + length]
        return first >= 0x80, first & 0x0F, content

    def _message(self, is_last: bool, kind: int, content: bytes) -> Optional[Tuple[int, bytes]]:
        # Control frames come between the parts of a message.
        if kind >= close:
            return kind, content
        if kind != 0:
            self._kind = kind
            self._parts = []
            self._size = 0
        self._parts.append(content)
        self._size += len(content)
        if self._size > _message_bytes_max:
            raise ProtocolError(f"a message has more than {_message_bytes_max} bytes")
        if not is_last:
            return None
        message = self._kind, b"".join(self._parts)
        self._parts = []
        return message
