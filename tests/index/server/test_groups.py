"""Groups in the database against the same history of a `DynamicIndex` in memory."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import scipy.sparse as sp
from sqlalchemy import select

from shoal.index import DynamicIndex
from shoal.index.server.documents import delete_document, join_group, store_documents
from shoal.index.server.gate import Limits
from shoal.index.server.groups import make_groups
from shoal.index.server.store import Answer, WriteTransaction
from shoal.index.server.tables import documents, representatives
from tests.index.server.api import TERMS, Api

K = 3


@pytest.mark.parametrize("seed", range(6))
def test_groups_in_the_database_are_those_of_the_index_in_memory(seed: int) -> None:
    chance = np.random.default_rng(seed)
    with TemporaryDirectory() as folder, Api.on(str(Path(folder, "shoal.db"))) as api:
        api.create()
        assert api.store is not None
        store, account = api.store, api.store.account_of(api.tokens["operator"])
        assert account is not None
        reference = DynamicIndex(K, np.ones(len(TERMS)), embargo=None)
        hidden = 0

        def event(write: WriteTransaction) -> Answer:
            members = reference.snapshot().members
            what = chance.random() if step % 30 < 4 else 0.57 + chance.random()  # it grows, and is all but emptied
            if what < 0.2 or not len(reference):
                pools = chance.integers(1, 9, (2, len(TERMS))) * (chance.random((2, len(TERMS))) < 0.4)
                pools[:, 0] += 1
                placed = store_documents(write, [(b"x", b"y")] * 2 * K, [None] * 2 * K, Limits())
                ids = [document["id"] for document in placed]
                wanted = [{str(term): int(row[term]) for term in np.flatnonzero(row)} for row in pools]
                make_groups(write, [ids[:K], ids[K:]], wanted)
                reference.insert_groups([ids[:K], ids[K:]], sp.csr_matrix(pools))
            elif what < 0.5 and members:
                name = sorted(members)[chance.integers(len(members))]
                (placed_one,) = store_documents(write, [(b"x", b"y")], [name], Limits())
                assert placed_one["representative"] == name
                reference.insert_into(placed_one["id"], name)
            elif what < 0.6 and members:
                name = sorted(members)[chance.integers(len(members))]
                (stored,) = store_documents(write, [(b"x", b"y")], [None], Limits())
                join_group(write, stored["id"], name)
                reference.insert_into(stored["id"], name)
            else:
                inside = sorted(write.connection.execute(select(documents.c.id)).scalars())
                document = inside[chance.integers(len(inside))]
                delete_document(write, document)
                reference.delete(document)
            return {}

        for step in range(60):  # noqa: B007
            store.write(account, None, event)
            with store.database.reading() as connection:
                sized = select(representatives.c.name, representatives.c.size).where(~representatives.c.retired)
                sizes = {row.name: row.size for row in connection.execute(sized)}
                joined = documents.join(representatives, documents.c.representative == representatives.c.number)
                rows = connection.execute(select(documents.c.id, representatives.c.name).select_from(joined)).all()
            groups = {name: frozenset(row.id for row in rows if row.name == name) for name in sizes}
            visible = {name: members for name, members in groups.items() if len(members) >= K}
            assert sizes == {name: len(members) for name, members in groups.items()}
            assert visible == dict(reference.snapshot().members)
            assert len(groups) == len(visible) or len(groups) == 1
            hidden += len(groups) - len(visible)
        assert hidden, "the last group never fell below k"
