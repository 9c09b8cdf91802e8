"""The tables of the database. A change here needs a migration; a test compares the two."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, Index, Integer, LargeBinary, MetaData, Table, Text

metadata = MetaData()

# One row, made by the migration. Whoever writes holds its lock; k is null until there is an index.
state = Table(
    "state",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("index_id", Text),  # random; a new one after a restore
    Column("k", Integer),
    Column("embargo", Double),
    Column("vocabulary", Text),
    Column("published", BigInteger, nullable=False),  # representatives so far: the next one's number
    Column("recorded", BigInteger, nullable=False),  # numbers of records so far
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

# Only `retired` ever changes. A retired pool that is published again gets a new number and the same name.
representatives = Table(
    "representatives",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, index=True),
    Column("terms", LargeBinary, nullable=False),  # little-endian int32
    Column("counts", LargeBinary, nullable=False),  # little-endian int64
    Column("retired", Boolean, nullable=False),
)

documents = Table(
    "documents",
    metadata,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("status", Text, nullable=False),  # placed, or stored: in no group yet
    Column("representative", BigInteger),
    Column("place", Double),  # rank among equals, random
    Column("bytes", BigInteger, nullable=False),  # of ciphertext and record
    Index("documents_of_owner", "owner", "id"),
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
    Column("status", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("at", Double, nullable=False),  # seconds since 1970
)

# The documents and representatives that each version touched; their present state is in their tables.
changes = Table(
    "changes",
    metadata,
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("touched", Text, nullable=False),
)
