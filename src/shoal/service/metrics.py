"""Metrics for Prometheus: how many requests, how long they took, and how large the index is."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from shoal.service.storage.store import Reading

__all__ = ["Metrics"]

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """Counted in this process. Labels are routes and statuses: nothing that tells of an account or a document."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self._requests = Counter("shoal_requests", "Requests that were answered.", labels, registry=registry)
        self._seconds = Histogram(
            "shoal_request_seconds", "Time to answer.", ("method", "route"), buckets=SECONDS, registry=registry
        )
        self._seen = Counter("shoal_vectors_seen", "Vectors and queries that clients sent.", registry=registry)
        self._sizes = {
            name: Gauge(f"shoal_{name}", said, registry=registry)
            for name, said in (
                ("version", "Version of the index."),
                ("representatives", "Groups that can be seen."),
                ("waiting", "Documents that are held back."),
            )
        }

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request is done."""
        self._requests.labels(method, route, status).inc()
        self._seconds.labels(method, route).observe(seconds)

    def vector_seen(self) -> None:
        """A thin client showed a vector or a query."""
        self._seen.inc()

    def measure(self, reading: Reading) -> None:
        """How large the index is."""
        values = reading.state.version, len(reading.replica.groups()[0]), len(reading.index.waiting)
        for gauge, value in zip(self._sizes.values(), values, strict=True):
            gauge.set(value)

    def page(self) -> bytes:
        """As Prometheus reads it."""
        return generate_latest(self._registry)
