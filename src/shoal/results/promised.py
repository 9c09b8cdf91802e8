"""What is promised of every group beside its size: of the confidential values in it, and of the people behind it."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.request.options import DISTINCT, DIVERSITIES, ENTROPY, RECURSIVE, GroupPromises

__all__ = [
    "DISTINCT",
    "DIVERSITIES",
    "ENTROPY",
    "NOTHING_MORE",
    "RECURSIVE",
    "Crowd",
    "GroupPromises",
    "LOOKALIKES",
]

# Letters of other scripts, small, and the Latin ones they look like: a value spelt with them is no other value.
LOOKALIKES = str.maketrans(
    "авеѕіјкмнорстухьгүһԁԛԝѵӏαβγεζηικμνορτυχωϲϳօոսհցյզլ"
    "ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢɑɡıȷǀᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᏒᏚᎢᏙᏔᏃꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ‘’‛ʼʹ′`´“”″",
    "abesijkmhopctyxbryhdqwvlabyezhikmnoptyxwcjonuhgjql"
    "abcdeghijklmnoprtuvwyzagijlabcdeghijklmprstvwzabcdefghijklmnoprstuvwxyz''''''''\"\"\"",
)


NOTHING_MORE = GroupPromises()  # than k


@dataclass(frozen=True)
class Crowd:
    """Groups of as many records, with as many people in each and the same largest own k."""

    groups: int  # how many there are
    rows: int
    people: int | None  # None: records were counted, not people
    own_k: int | None  # the largest k that any record of the group asks for; None: all ask for the same
