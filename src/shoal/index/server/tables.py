"""The tables of the database. A change here needs a new number of the schema."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, Index, Integer, LargeBinary, MetaData, Table, Text

SCHEMA = 2
metadata = MetaData()

# One row. Whoever writes holds its lock; k is null until there is an index.
state = Table(
    "state",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("schema", Integer, nullable=False),
    Column("index_id", Text),  # random; a new one after a restore
    Column("k", Integer),
    Column("embargo", Double),
    Column("vocabulary", Text),
    Column("published", BigInteger, nullable=False, default=0),  # representatives so far: the next one's number
    Column("recorded", BigInteger, nullable=False, default=0),  # numbers of records so far: the version
)

vocabulary = Table(
    "vocabulary",
    metadata,
    Column("hash", Text, primary_key=True),  # SHA-256 of the content
    Column("content", LargeBinary, nullable=False),  # JSON, served as it is
)

accounts = Table(
    "accounts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("token_hash", LargeBinary, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("documents", BigInteger, nullable=False),  # how many it has stored
    Column("bytes", BigInteger, nullable=False),  # of its documents
    Column("expires", Double),  # seconds since 1970; null: the token never does
)

# Only `retired` and `size` ever change. A retired pool that is published again gets a new number and the same name.
representatives = Table(
    "representatives",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, index=True),
    Column("terms", LargeBinary, nullable=False),  # little-endian int32
    Column("counts", LargeBinary, nullable=False),  # little-endian int64
    Column("retired", Boolean, nullable=False),
    Column("size", BigInteger, nullable=False),  # documents in its group
    Index("groups_by_size", "retired", "size", "number"),
)

documents = Table(
    "documents",
    metadata,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("representative", BigInteger),  # null: in no group yet
    Column("bytes", BigInteger, nullable=False),  # of ciphertext and record
    Index("documents_of_owner", "owner", "id"),
    Index("documents_of_group", "representative"),
)

blobs = Table(
    "blobs",
    metadata,
    Column("document", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),  # ciphertext
)

# A document's words, name and date, encrypted for its readers. It gets a new number with every change that others may
# see, so that clients fetch changes alone.
records = Table(
    "records",
    metadata,
    Column("document", Text, primary_key=True),
    Column("number", BigInteger, nullable=False, unique=True),
    Column("content", LargeBinary),  # null once the document is deleted
)

# Answers to requests that may be repeated, by the hashes of their keys.
requests = Table(
    "requests",
    metadata,
    Column("account", Text, primary_key=True),
    Column("key", LargeBinary, primary_key=True),
    Column("digest", LargeBinary, nullable=False),  # of method, path and body
    Column("body", Text, nullable=False),
    Column("at", Double, nullable=False),  # seconds since 1970
)
