"""A writer that is kept waiting keeps nobody else waiting, and what waits does not fill the memory."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from shoal.index.server.gate import Buffer, Limits
from shoal.index.server.problems import Problem
from tests.index.server.api import Api


def test_while_many_writers_wait_for_the_database_readers_do_not(tmp_path: Path) -> None:
    file = tmp_path / "shoal.db"
    with Api.on(str(file)) as api, ThreadPoolExecutor(60) as clients:
        api.create()
        document = api.keep()
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")  # another process writes, and takes its time
        all_there = Barrier(61)
        writes = [clients.submit(lambda: (all_there.wait(), api.keep())[1]) for _ in range(60)]
        all_there.wait()
        answers = [api.ask("GET", path) for path in ("/health/live", "/health/ready", f"/v1/documents/{document}")]
        assert not any(write.done() for write in writes)
        other.execute("ROLLBACK")
        other.close()
        assert len({write.result() for write in writes}) == 60
    assert [answer.status_code for answer in answers] == [200, 200, 200]


def test_bodies_beyond_what_the_memory_may_hold_are_sent_back_and_room_is_made_again() -> None:
    limits = Limits(document_bytes=300, buffered_bytes=2 << 20)
    buffer = Buffer(limits)
    with buffer.share("a") as take:
        take(1 << 20)
        with buffer.share("b") as take_more, pytest.raises(Problem, match="busy") as refused:
            take_more(1 << 20)
            with buffer.share("c") as take_most:
                take_most(1)
        assert refused.value.status == 503
    with buffer.share("c") as take:
        take(1 << 20)


def test_an_account_alone_cannot_take_all_of_the_memory_for_bodies() -> None:
    buffer = Buffer(Limits(document_bytes=300, buffered_bytes=8 << 20))
    with buffer.share("a") as take, buffer.share("b") as take_others:
        take(2 << 20)
        with pytest.raises(Problem, match="2097152 bytes under way") as refused, buffer.share("a") as take_more:
            take_more(1)
        assert refused.value.status == 429
        take_others(2 << 20)


def test_a_single_body_of_the_largest_size_always_has_room() -> None:
    limits = Limits(buffered_bytes=1)
    with Buffer(limits).share("a") as take:
        take(limits.body_bytes)
