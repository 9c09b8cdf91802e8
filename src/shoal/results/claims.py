"""What is promised of a release and what was found: claims, diversity and closeness of groups, records withheld."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.request.options import DISTINCT as DISTINCT  # for pages, which know results alone
from shoal.request.options import ENTROPY as ENTROPY
from shoal.request.options import RECURSIVE as RECURSIVE
from shoal.request.options import GroupPromises

# Letters of other scripts, small, and the Latin ones they look like: a value spelt with them is no other value.
LOOKALIKES = str.maketrans(
    "авеѕіјкмнорстухьгүһԁԛԝѵӏαβγεζηικμνορτυχωϲϳօոսհցյզլ"
    "ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢɑɡıȷǀᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᏒᏚᎢᏙᏔᏃꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ‘’‛ʼʹ′`´“”″",
    "abesijkmhopctyxbryhdqwvlabyezhikmnoptyxwcjonuhgjql"
    "abcdeghijklmnoprtuvwyzagijlabcdeghijklmprstvwzabcdefghijklmnoprstuvwxyz''''''''\"\"\"",
)

NOTHING_MORE = GroupPromises()  # than k


@dataclass(frozen=True)
class Diversity:
    """How many different values of a confidential column the records of a group have."""

    column: str
    least: int  # fewest distinct values in any group (distinct-l)
    single_valued_groups: int  # groups whose members all share one value: membership reveals it
    groups: int
    values: int  # distinct values in the whole release
    equally_frequent: float | None = None  # as hard to guess as this many equally frequent values (entropy)
    ratio: float | None = None  # the most frequent value by all from the l-th on (recursive), at most


@dataclass(frozen=True)
class Closeness:
    """How far, at most, a group's values of a confidential column are from those of all records (t-closeness)."""

    column: str
    t: float  # 0: every group is like the whole, 1: some group has nothing in common with it
    ordered: bool  # numbers: moving a value farther counts more; else any two values are equally far apart


@dataclass(frozen=True)
class Withheld:
    """Records that are not in the release, and why."""

    reason: str
    count: int


@dataclass(frozen=True)
class Claim:
    """One promise of a certificate, and whether it was found to hold."""

    promise: str  # what is promised, e.g. "k-anonymity"
    holds: bool
    detail: str  # what was found, in a sentence
    file: str | None = None  # the file that shows it


@dataclass(frozen=True)
class Statement:
    """What the owner states about a release and nobody can recount."""

    about: str
    detail: str
    file: str


@dataclass(frozen=True)
class Crowd:
    """Groups of as many records, with as many people in each and the same largest own k."""

    groups: int  # how many there are
    rows: int
    people: int | None  # None: records were counted, not people
    own_k: int | None  # the largest k that any record of the group asks for; None: all ask for the same
