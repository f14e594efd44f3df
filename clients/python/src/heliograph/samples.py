"""Samples in bulk: batches of a size that the platform takes in one request."""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Tuple

from .errors import HeliographError

#: Samples and bytes of one request.
_samples_max = 5_000
_bytes_max = 4 * 1024 * 1024

path = "/v3/samples/bulk"
content_type = "application/x-ndjson"


@dataclass(frozen=True)
class RejectedSample:
    """A sample that was not stored. ``index`` is its place among all, from 0."""

    index: int
    error_code: str
    message: str


@dataclass
class BulkResult:
    """What became of the samples: each is counted in one of the three."""

    accepted: int = 0
    #: Identical to samples that were stored already.
    duplicates: int = 0
    rejected: List[RejectedSample] = field(default_factory=list)

    def add(self, answer: Mapping[str, Any], first: int) -> None:
        """Adds the answer about a batch, whose samples begin at ``first``."""
        self.accepted += answer["accepted"]
        self.duplicates += answer["duplicates"]
        for one in answer["rejected"]:
            index = first + one["index"]
            self.rejected.append(RejectedSample(index, one["errorCode"], one["message"]))


def batches(samples: Iterable[Mapping[str, Any]]) -> Iterator[Tuple[int, bytes]]:
    """Bodies of requests, each with the place of its first sample."""
    lines: List[bytes] = []
    size = 0
    first = 0
    count = 0
    for sample in samples:
        line = json.dumps(_written(sample)).encode()
        if lines and (len(lines) >= _samples_max or size + len(line) > _bytes_max):
            yield first, b"\n".join(lines)
            lines, size, first = [], 0, count
        lines.append(line)
        size += len(line)
        count += 1
    if lines:
        yield first, b"\n".join(lines)


def _written(sample: Mapping[str, Any]) -> Dict[str, Any]:
    """Times without a zone are in the zone of the system."""
    timestamp = sample.get("timestamp")
    if not isinstance(timestamp, datetime.datetime):
        return dict(sample)
    utc = timestamp.astimezone(datetime.timezone.utc)
    return {**sample, "timestamp": utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")}


def refused_list(error: HeliographError) -> Mapping[str, Any]:
    """The list in the refusal of a batch whose samples were all rejected. Raises other errors."""
    if error.error_code == "40044_BACKFILL_REJECTED" and isinstance(error.body, dict):
        return error.body
    raise error
