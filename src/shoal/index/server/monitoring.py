"""What an operator watches: log lines and metrics. They hold no vector, query, token, ciphertext or document id."""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from shoal.errors import InputError
from shoal.index.server.store import Store

LOGGER = logging.getLogger("shoal.index.server")
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class _JsonLines(logging.Formatter):
    """One JSON object per line: the message, or the fields. Arguments and tracebacks may quote data."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields: dict[str, Any] = getattr(record, "fields", None) or {"message": record.getMessage()}
        if record.exc_info and record.exc_info[1] is not None:
            fields |= {"fault": fault_of(record.exc_info[1])}
        return json.dumps({"time": time, "level": record.levelname.lower()} | fields)


def log_as_json() -> None:
    """Log requests and uvicorn's own messages to stderr, a line each."""
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonLines())
    for name, level in ((LOGGER.name, logging.INFO), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)


def fault_of(error: BaseException) -> str:
    """The type of an error and where it happened; its message may quote data."""
    frames = traceback.extract_tb(error.__traceback__)
    location = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{location}"


class Metrics:
    """Metrics of this process for Prometheus. Labels are routes and statuses, never an account or a document."""

    def __init__(self, store: Store) -> None:
        self._registry = registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self._requests = Counter("shoal_requests", "Requests that were answered.", labels, registry=registry)
        self._seconds = Histogram(
            "shoal_request_seconds", "Time to answer.", ("method", "route"), buckets=SECONDS, registry=registry
        )
        groups = Gauge("shoal_representatives", "Visible groups.", registry=registry)
        groups.set_function(store.visible_groups)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(method, route, status).inc()
        self._seconds.labels(method, route).observe(seconds)

    def serve(self, address: str) -> int:
        """Serve /metrics on an address of its own, host:port; returns the port."""
        host, _, port = address.rpartition(":")
        try:
            server, _ = start_http_server(int(port), host.strip("[]"), self._registry)
        except (OSError, OverflowError, ValueError):
            raise InputError(f"metrics cannot be served on {address[:60]!r}; give a free host:port") from None
        return int(server.server_port)
