"""Frames: the messages are the same in any pieces of bytes."""

import random
import struct
import unittest

from heliograph import frames


def of_server(kind: int, content: bytes, is_last: bool = True) -> bytes:
    head = (0x80 if is_last else 0) | kind
    if len(content) < 126:
        return struct.pack("!BB", head, len(content)) + content
    if len(content) < 1 << 16:
        return struct.pack("!BBH", head, 126, len(content)) + content
    return struct.pack("!BBQ", head, 127, len(content)) + content


class Frames(unittest.TestCase):
    def test_messages_in_any_pieces(self) -> None:
        chance = random.Random(7)
        for _ in range(200):
            messages = []
            sent = b""
            for _ in range(chance.randrange(1, 6)):
                content = chance.randbytes(chance.choice((0, 5, 125, 126, 300, 70_000)))
                messages.append((frames.text, content))
                cut = chance.randrange(len(content) + 1)
                if chance.random() < 0.5:
                    sent += of_server(frames.text, content[:cut], False)
                    sent += of_server(frames.ping, b"p") + of_server(0, content[cut:])
                    messages.insert(-1, (frames.ping, b"p"))
                else:
                    sent += of_server(frames.text, content)
            reader = frames.Reader()
            read = []
            while sent:
                size = chance.choice((1, 2, 7, 1000, 100_000))
                read += reader.feed(sent[:size])
                sent = sent[size:]
            self.assertEqual(read, messages)

    def test_frames_of_a_client_are_masked(self) -> None:
        for size in (0, 125, 126, 65_535, 65_536):
            content = bytes(i % 251 for i in range(size))
            frame = frames.written(frames.text, content)
            start = len(frame) - size
            mask = frame[start - 4 : start]
            self.assertTrue(frame[1] & 0x80)
            self.assertEqual(bytes(b ^ mask[i % 4] for i, b in enumerate(frame[start:])), content)

    def test_what_the_protocol_forbids_ends_the_connection(self) -> None:
        for sent in (b"\xc1\x00", b"\x81\x80", b"\x82\x7f" + b"\x7f" + b"\0" * 7):
            with self.assertRaises(frames.ProtocolError):
                frames.Reader().feed(sent)

    def test_the_answer_to_a_handshake(self) -> None:
        address = frames.address_of("https://example.org/iot/", "/v3/data-streams")
        self.assertEqual((address.port, address.target), (443, "/iot/v3/data-streams"))
        request, accept = frames.handshake(address, {"x-api-key": "k"})
        self.assertIn(b"\r\nx-api-key: k\r\n", request)
        head = f"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: {accept}"
        self.assertEqual(frames.status_of(head.encode(), accept), 101)
        with self.assertRaises(frames.ProtocolError):
            frames.status_of(head.encode(), "other")
        with self.assertRaises(ValueError):
            frames.handshake(address, {"x-api-key": "k\r\nevil: 1"})


if __name__ == "__main__":
    unittest.main()
