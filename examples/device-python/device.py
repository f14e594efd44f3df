"""Device: sends a reading each minute, keeps what it cannot send, and sends it later.

Needs Python 3.9 or newer and no package. Settings are environment variables, see README.md.
"""
import json
import os
import random
import time
import urllib.error
import urllib.request
from collections import deque

URL = os.environ.get("HELIOGRAPH_URL", "http://localhost:8080") + "/v3/capture"
SECRET = os.environ["UPLINK_SECRET"]
DEVICE_ID = os.environ["DEVICE_ID"]
INTERVAL = float(os.environ.get("INTERVAL_SECONDS", "60"))
BUFFER = os.environ.get("BUFFER", "unsent.ndjson")
# A week of readings per minute. When the buffer is full, the oldest reading is dropped.
READINGS_MAX = 10_000
BACK_OFF_MAX = 300


def read():
    """Returns one reading. Replace this with your sensor."""
    return {"temperature": round(random.gauss(21, 0.5), 1)}


class Unsent:
    """Readings that are not acknowledged yet, oldest first, in a file of one JSON line each."""

    def __init__(self, path):
        self.path = path
        self.readings = deque(maxlen=READINGS_MAX)
        try:
            with open(path) as file:
                for line in file:
                    try:
                        self.readings.append(json.loads(line))
                    except ValueError:
                        pass  # A line that a power failure cut off.
        except FileNotFoundError:
            pass
        self.save()

    def add(self, reading):
        if len(self.readings) == READINGS_MAX:
            self.readings.append(reading)
            self.save()
            return
        self.readings.append(reading)
        with open(self.path, "a") as file:
            file.write(json.dumps(reading) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def save(self):
        """Replaces the file at once, so that a power failure leaves the old or the new one."""
        with open(self.path + ".new", "w") as file:
            file.writelines(json.dumps(reading) + "\n" for reading in self.readings)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.path + ".new", self.path)


class NotSent(Exception):
    """The platform did not acknowledge a reading. `wait` is the pause that it asked for."""

    def __init__(self, reason, wait=0):
        super().__init__(reason)
        self.wait = wait


def send(reading):
    """Sends one reading. Its time identifies it, so that a repeated one is stored once."""
    headers = {
        "content-type": "application/json",
        "x-uplink-secret": SECRET,
        "x-device-id": DEVICE_ID,
        "idempotency-key": f"{DEVICE_ID}-{reading['time']}",
    }
    body = json.dumps(reading["data"]).encode()
    request = urllib.request.Request(f"{URL}?timestamp={reading['time']}", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=10):
            pass
    except urllib.error.HTTPError as error:
        if error.code in (400, 413, 415, 422):
            # The same reading would be rejected again: report it and go on.
            print(f"rejected {reading}: {error.read().decode()}", flush=True)
            return
        retry_after = error.headers.get("retry-after", "")
        raise NotSent(f"status {error.code}", int(retry_after) if retry_after.isdigit() else 0)
    except OSError as error:
        raise NotSent(str(error))


def send_all(unsent):
    """Sends the oldest readings first. Those that the file still has after a crash are sent again."""
    sent = 0
    try:
        while unsent.readings:
            send(unsent.readings[0])
            unsent.readings.popleft()
            sent += 1
    finally:
        if sent > 0:
            unsent.save()
            print(f"sent {sent}, {len(unsent.readings)} left", flush=True)


def main():
    unsent = Unsent(BUFFER)
    last = 0
    failures = 0
    send_at = 0.0
    while True:
        # Milliseconds since 1970, never the same twice.
        last = max(last + 1, time.time_ns() // 1_000_000)
        unsent.add({"time": last, "data": read()})
        if time.monotonic() >= send_at:
            try:
                send_all(unsent)
                failures = 0
            except NotSent as error:
                # 1, 2, 4 ... seconds, each up to half longer: devices that failed together return apart.
                wait = min(BACK_OFF_MAX, 2**failures) * random.uniform(1, 1.5)
                send_at = time.monotonic() + max(wait, error.wait)
                failures += 1
                print(f"{error}: {len(unsent.readings)} unsent", flush=True)
        time.sleep(INTERVAL)


if __name__ == "__main__":
    main()
