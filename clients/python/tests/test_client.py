"""Client against a running platform: HELIOGRAPH_URL, HELIOGRAPH_API_KEY, DEVICE_ID and WORKSPACE_ID name it."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import unittest
import urllib.parse
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Optional, Tuple

from heliograph import AsyncClient, Client, HeliographError

URL = os.environ["HELIOGRAPH_URL"]
KEY = os.environ["HELIOGRAPH_API_KEY"]
DEVICE_ID = os.environ["DEVICE_ID"]
WORKSPACE_ID = os.environ["WORKSPACE_ID"]
client = Client(URL, KEY)


def device() -> Any:
    return client.get("/v3/devices/by-device-id", query={"deviceId": DEVICE_ID})


def store(number: int, topic: str) -> None:
    body = {"data": {"n": number}, "topic": topic}
    client.post("/v3/devices/{id}/backfill", path={"id": device()["id"]}, body=body)


class Server:
    """Answers with the status and body that a function returns for each request."""

    def __init__(self, answer: Callable[[Any], Optional[Tuple[int, str]]]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                given = answer(self.headers)
                if given is None:
                    self.close_connection = True
                    return
                status, text = given
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("retry-after", "0")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST

            def log_message(self, *_: object) -> None:
                """Nothing is logged."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class Cable:
    """A connection to the platform that can be cut."""

    def __init__(self) -> None:
        parts = urllib.parse.urlsplit(URL)
        self._target = (parts.hostname or "", parts.port or 80)
        self._sockets: List[socket.socket] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._server.accept()
            except OSError:
                return
            far = socket.create_connection(self._target)
            self._sockets += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pipe, args=(one, other), daemon=True).start()

    @staticmethod
    def _pipe(one: socket.socket, other: socket.socket) -> None:
        try:
            while True:
                piece = one.recv(4096)
                if not piece:
                    break
                other.sendall(piece)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self) -> None:
        for end in self._sockets:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self._sockets.clear()

    def close(self) -> None:
        self._server.close()
        self.cut()


class Calls(unittest.TestCase):
    def test_pages_are_read_to_the_end_of_the_list(self) -> None:
        for i in range(5):
            client.post("/v3/tags", body={"workspaceId": WORKSPACE_ID, "name": f"python {i}"})
        names = [tag["name"] for tag in client.pages("/v3/tags", query={"size": 2})]
        found = sorted(name for name in names if name.startswith("python "))
        self.assertEqual(found, [f"python {i}" for i in range(5)])

    def test_a_refusal_has_what_the_platform_says(self) -> None:
        with self.assertRaises(HeliographError) as raised:
            client.get("/v3/devices/{id}", path={"id": "0000000000000000"})
        error = raised.exception
        self.assertEqual((error.status, error.error_code), (404, "40400_NOT_FOUND"))
        self.assertNotEqual(error.request_id, "")
        with self.assertRaises(HeliographError) as raised:
            Client(URL, "wrong").get("/v3/workspaces")
        self.assertEqual(raised.exception.status, 401)

    def test_a_path_without_its_value_is_not_sent(self) -> None:
        with self.assertRaisesRegex(ValueError, r"needs path\['id'\]"):
            client.get("/v3/devices/{id}")

    def test_put_and_delete(self) -> None:
        tag = client.post("/v3/tags", body={"workspaceId": WORKSPACE_ID, "name": "to change"})
        path = {"id": tag["id"]}
        body = {"version": tag["version"], "name": "changed"}
        self.assertEqual(client.put("/v3/tags/{id}", path=path, body=body)["name"], "changed")
        self.assertIsNone(client.delete("/v3/tags/{id}", path=path))

    def test_the_key_is_not_shown(self) -> None:
        self.assertNotIn("secret", repr(Client(URL, "secret").options))


class Retries(unittest.TestCase):
    def test_a_post_is_repeated_with_its_key_until_it_succeeds(self) -> None:
        keys: List[str] = []

        def answer(headers: Any) -> Optional[Tuple[int, str]]:
            keys.append(headers["idempotency-key"])
            return [None, (503, "{}"), (201, '{"id":"x"}')][len(keys) - 1]

        with Server(answer) as server:
            self.assertEqual(Client(server.url, "k").post("/v3/tags", body={}), {"id": "x"})
        self.assertEqual(len(keys), 3)
        self.assertEqual(len(set(keys)), 1)

    def test_they_end_with_what_the_platform_says(self) -> None:
        with Server(lambda _: (429, '{"message":"too many","errorCode":"E","requestId":"r"}')) as server:
            with self.assertRaises(HeliographError) as raised:
                Client(server.url, tries_max=2).get("/v3/about")
        error = raised.exception
        self.assertEqual((error.status, error.error_code, error.request_id), (429, "E", "r"))
        self.assertEqual(str(error), "GET /v3/about: 429 too many")

    def test_they_end_when_no_answer_comes(self) -> None:
        with self.assertRaises(HeliographError) as raised:
            Client("http://127.0.0.1:1", tries_max=1).get("/v3/about")
        self.assertEqual(raised.exception.status, 0)


def many(topic: str, count: int) -> List[Dict[str, Any]]:
    start = datetime(2026, 1, 5, tzinfo=timezone.utc)
    return [
        {
            "deviceId": DEVICE_ID,
            "topic": topic,
            "timestamp": start + timedelta(seconds=i),
            "data": {"n": i},
        }
        for i in range(count)
    ]


class Samples(unittest.TestCase):
    def test_many_are_stored_once_and_bad_ones_are_named(self) -> None:
        samples = many("bulk", 6_000)
        samples.insert(5_500, {"deviceId": "nobody", "data": {"n": 1}})
        result = client.send_samples(sample for sample in samples)
        self.assertEqual((result.accepted, result.duplicates), (6_000, 0))
        self.assertEqual([one.index for one in result.rejected], [5_500])
        again = client.send_samples(samples[:10])
        self.assertEqual((again.accepted, again.duplicates), (0, 10))
        refused = client.send_samples([{"deviceId": "nobody", "data": {"n": 1}}])
        self.assertEqual(len(refused.rejected), 1)

    def test_an_export_is_read_in_pieces(self) -> None:
        client.send_samples(many("export", 100))
        query = {"format": "ndjson", "from": "2026-01-01T00:00:00Z", "topic": "export"}
        path = {"deviceId": device()["id"]}
        with client.send("GET", "/v3/devices/{deviceId}/export", path=path, query=query) as answer:
            lines = b"".join(answer).splitlines()
        self.assertGreaterEqual(len(lines), 100)


class Live(unittest.TestCase):
    def test_a_connection_that_breaks_loses_no_sample_and_repeats_none(self) -> None:
        cable = Cable()
        self.addCleanup(cable.close)
        seen: List[int] = []
        stream = Client(cable.url, KEY).live([{"assetId": device()["id"], "topic": "cut"}])
        for message in stream:
            if message["type"] == "subscribed" and not seen:
                store(1, "cut")
            if message["type"] != "sample_insert":
                continue
            number = message["sample"]["data"]["n"]
            seen.append(number)
            if number in (1, 3):
                cable.cut()
                # These are stored while the connection is cut.
                store(number + 1, "cut")
                store(number + 2, "cut")
            if number == 5:
                break
        self.assertEqual(seen, [1, 2, 3, 4, 5])

    def test_what_is_refused_ends_it(self) -> None:
        with self.assertRaisesRegex(HeliographError, "does not exist, or the credential"):
            next(client.live([{"assetId": "0000000000000000"}]))
        with self.assertRaises(HeliographError) as raised:
            next(Client(URL, "wrong").live([{"assetId": device()["id"]}]))
        self.assertEqual(raised.exception.status, 401)

    def test_a_platform_that_is_not_there(self) -> None:
        with self.assertRaisesRegex(HeliographError, "no answer"):
            next(Client("http://127.0.0.1:1", tries_max=2).live([{"assetId": "0"}]))


class Asyncio(unittest.IsolatedAsyncioTestCase):
    async def test_calls_pages_and_samples(self) -> None:
        asynchronous = AsyncClient(URL, KEY)
        about, found = await asyncio.gather(
            asynchronous.get("/v3/about"),
            asynchronous.get("/v3/devices/by-device-id", query={"deviceId": DEVICE_ID}),
        )
        self.assertEqual(about["name"], "Heliograph")
        body = {"workspaceIds": [WORKSPACE_ID]}
        devices = [one async for one in asynchronous.pages("/v3/assets/list", body=body)]
        self.assertIn(found["id"], [one["id"] for one in devices])
        result = await asynchronous.send_samples(many("async", 20))
        self.assertEqual((result.accepted, result.rejected), (20, []))

    async def test_a_connection_that_breaks_loses_no_sample_and_repeats_none(self) -> None:
        cable = Cable()
        self.addCleanup(cable.close)
        found = await asyncio.to_thread(device)
        seen: List[int] = []
        subscriptions = [{"assetId": found["id"], "topic": "acut"}]
        async for message in AsyncClient(cable.url, KEY).live(subscriptions):
            if message["type"] == "subscribed" and not seen:
                await asyncio.to_thread(store, 1, "acut")
            if message["type"] != "sample_insert":
                continue
            number = message["sample"]["data"]["n"]
            seen.append(number)
            if number == 1:
                cable.cut()
                await asyncio.to_thread(store, 2, "acut")
                await asyncio.to_thread(store, 3, "acut")
            if number == 3:
                break
        self.assertEqual(seen, [1, 2, 3])

    async def test_what_is_refused_ends_it(self) -> None:
        stream = AsyncClient(URL, "wrong").live([{"assetId": "0"}])
        with self.assertRaises(HeliographError) as raised:
            await stream.__anext__()
        self.assertEqual(raised.exception.status, 401)


if __name__ == "__main__":
    unittest.main()
