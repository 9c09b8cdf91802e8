"""What goes over the wire as JSON, with an example each."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

HEX = r"^[0-9a-f]{32}$"
ID = Annotated[str, StringConstraints(pattern=HEX)]
MAX_TERMS = 100_000  # of a pool
NUMBER = r"^(0|[1-9][0-9]{0,8})$"
EXAMPLE_ID = "5f0c7d2ab9e14c6fa1d30d1f0f8e9a77"
EXAMPLE_NAME = "9a3f5be20c7744d1b6a1e02f6a5c1d90"

# How often a document has each term, by the number of the term in the vocabulary.
Terms = Annotated[
    dict[Annotated[str, StringConstraints(pattern=NUMBER)], Annotated[int, Field(ge=1, le=2**31 - 1, strict=True)]],
    Field(min_length=1, max_length=MAX_TERMS, examples=[{"12": 2, "907": 1}]),
]
Space = dict[Annotated[str, StringConstraints(max_length=64)], str | bool | int | None]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ProblemShown(BaseModel):
    """Why a request was refused."""

    detail: str = Field(examples=["the representative is retired; fetch the groups again and choose another"])


class Vocabulary(_Strict):
    """The terms, the weight of one occurrence of each, and how a text is counted."""

    terms: list[Annotated[str, StringConstraints(min_length=1, max_length=200)]] = Field(
        min_length=1, max_length=1_000_000, examples=[["fish", "heron"]]
    )
    weights: list[Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]] = Field(
        min_length=1, max_length=1_000_000, examples=[[0.41, 1.1]]
    )
    space: Space = Field(default_factory=dict, examples=[{"language": "english", "stem": True}])


class IndexWanted(_Strict):
    """A new index."""

    k: int = Field(ge=2, le=1_000_000, strict=True, examples=[5], description="Least number of documents in a group.")
    embargo: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        examples=[0.45],
        description="Documents less similar than this to every group wait on their owner's machine.",
    )
    vocabulary: Vocabulary


class Mine(BaseModel):
    """What is kept for the caller."""

    documents: int = Field(examples=[12])
    account: str = Field(examples=["0f1e2d3c4b5a6978"])
    role: str = Field(examples=["user"])


class IndexShown(BaseModel):
    """The index, in figures."""

    id: str = Field(examples=[EXAMPLE_ID])
    k: int = Field(examples=[5])
    embargo: float | None = Field(examples=[0.45])
    version: int = Field(examples=[4711])
    vocabulary: str = Field(description="SHA-256 of its content.")
    representatives: int = Field(examples=[200], description="All that were ever published, retired ones too.")
    groups: int = Field(examples=[190], description="Groups that can be seen.")
    visible: int = Field(examples=[1012], description="Documents that can be seen.")
    mine: Mine


class Placed(BaseModel):
    """Where a document went; to no group yet: null."""

    id: str = Field(examples=[EXAMPLE_ID])
    representative: str | None = Field(examples=[EXAMPLE_NAME])


class DocumentSent(_Strict):
    """A document of a batch: the lengths of its ciphertext and of its record, which follow in this order."""

    bytes: int = Field(ge=1, le=2**31 - 1, strict=True)
    record: int = Field(ge=1, le=2**20, strict=True)
    representative: ID | None = None


class BatchSent(_Strict):
    """The first line of a batch."""

    documents: list[DocumentSent] = Field(min_length=1, max_length=1_000)


class BatchPlaced(BaseModel):
    """In the order in which they were sent."""

    documents: list[Placed]


class Joining(_Strict):
    """The group that a stored document joins."""

    representative: ID = Field(examples=[EXAMPLE_NAME])


class GroupWanted(_Strict):
    """k or more documents of the caller, stored without a group, and the sum of their counts."""

    documents: list[ID] = Field(min_length=2, max_length=100_000, examples=[[EXAMPLE_ID, EXAMPLE_ID[::-1]]])
    pool: Terms


class GroupsWanted(_Strict):
    """New groups."""

    groups: list[GroupWanted] = Field(min_length=1, max_length=5_000)


class GroupMade(BaseModel):
    """A group by its representative."""

    representative: str = Field(examples=[EXAMPLE_NAME])


class GroupsMade(BaseModel):
    """In the order in which they were asked for."""

    groups: list[GroupMade]
