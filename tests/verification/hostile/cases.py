"""What a hostile release is: an honest one, a change, and what verification must say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.release.releases import certificate_of, reseal

BYTES = "bytes"  # what is hidden is in the bytes of a file: refused, or left behind by rewriting
Change = Callable[[Path], None]


@dataclass(frozen=True)
class Hostile:
    """A change of an honest release of some kind, and the promise and the words of its refusal."""

    name: str
    of: str  # kind of honest release
    change: Change  # everything is hashed and sealed anew after it
    promise: str
    words: str = ""


def edit(*path: Any, to: Any) -> Change:
    """Another value in the certificate."""

    def change(release: Path) -> None:
        content = place = certificate_of(release)
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = to
        reseal(release, content, rehash=False)

    return change


def rewrite(name: str, change: Callable[[bytes], bytes]) -> Change:
    """Other bytes in a file."""
    return lambda release: (release / name).write_bytes(change((release / name).read_bytes())) and None


def table_of(columns: dict[str, Any], roles: dict[str, str], release: Path, **options: Any) -> None:
    """A table in place of the released one, with a certificate that promises k = 3 and l = 2 of it."""
    table = pa.table(columns)
    pq.write_table(table, release / "table.parquet", **({"compression": "zstd"} | options))
    content = certificate_of(release)
    quasi = [name for name in columns if roles[name] == "quasi"]
    content["promises"] = {
        "rows": table.num_rows,
        "columns": [{"name": field.name, "role": roles[field.name], "type": str(field.type)} for field in table.schema],
        "anonymity": {"k": 3, "whole_rows": True, "shared_columns": [quasi], "smallest_group": table.num_rows},
        "form": None,
        "diversity": {
            "l": 2 if "confidential" in roles.values() else None,
            "columns": [
                {"column": name, "least": 2, "single_valued_groups": 0, "groups": 1, "values": 2}
                for name in columns
                if roles[name] == "confidential"
            ],
        },
    }
    content["stated"] |= {"parameters": {}}
    for name in ("columns", "generalisations", "coarsened", "text_columns"):
        content["stated"]["report"]["figures"][name] = []
    reseal(release, content)
