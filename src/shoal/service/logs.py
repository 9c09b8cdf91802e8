"""Structured logs: a JSON object per line. No vector, query, token, ciphertext or id of a document is ever in one."""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

__all__ = ["LOGGER", "fault_of", "log_as_json"]

LOGGER = logging.getLogger("shoal.service")


class _JsonLines(logging.Formatter):
    """What was said on purpose: the message, or the fields. Arguments and tracebacks may quote data."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields: dict[str, Any] = getattr(record, "fields", None) or {"message": record.getMessage()}
        if record.exc_info and record.exc_info[1] is not None:
            fields |= {"fault": fault_of(record.exc_info[1])}
        return json.dumps({"time": time, "level": record.levelname.lower()} | fields)


def log_as_json() -> None:
    """Requests and uvicorn's own messages go to stderr, a line each."""
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonLines())
    for name, level in ((LOGGER.name, logging.INFO), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)


def fault_of(error: BaseException) -> str:
    """Where it happened; what it says may quote data."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"
