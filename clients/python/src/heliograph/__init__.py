"""Client of the Heliograph IoT data platform. It needs no other package."""

from .async_client import AsyncClient
from .calls import Answer
from .client import Client
from .errors import HeliographError
from .samples import BulkResult, RejectedSample

__all__ = ["Answer", "AsyncClient", "BulkResult", "Client", "HeliographError", "RejectedSample"]
