"""What a reader gets is what is counted: in copies, in the release before, and whenever a file is exchanged."""

from __future__ import annotations

import datetime
import threading

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from shoal import Roles, protect, verify
from shoal.release.tables.copies import copied
from shoal.verification.verify import verify as count
from tests.release.releases import certificate_of, copy_of, quietly, reseal
from tests.release.test_after import PEOPLE, WITH_ILLNESS, N, release

pytestmark = pytest.mark.usefixtures("without_attack")
ROLES = Roles(quasi=("age",), confidential=("secret",))
RACES = 220


def with_copy(folder, values, copy):
    """A release of six equal ages, whose confidential values its owner exchanged for these, in its copy as well."""
    honest = [datetime.datetime(2026, 1, day) for day in (1, 2)] if copy == "table.sav" else [7, 8]
    frame = pd.DataFrame({"age": [30.5, 31] * 3, "secret": honest * 3})
    source = folder.with_suffix(".sav" if copy == "table.sav" else ".xlsx")
    if copy == "table.sav":
        pyreadstat.write_sav(frame, source)
    else:
        frame.to_excel(source, index=False)
    made = quietly(protect, source, 6, folder, roles=ROLES, l=2, attack=False).folder
    rows = pq.read_table(made / "table.parquet")
    exchanged = pa.array([values[n // 3] for n in range(6)], rows["secret"].type)
    rows = rows.set_column(rows.column_names.index("secret"), "secret", exchanged)
    pq.write_table(rows, made / "table.parquet", compression="zstd", row_group_size=1 << 17)
    (made / copy).write_bytes(copied(rows, copy, {}, None))
    reseal(made)
    return made


@pytest.mark.parametrize(
    ("copy", "values"),
    [
        ("table.xlsx", [2**53, 2**53 + 1]),  # a sheet has doubles
        ("table.sav", [datetime.datetime(2026, 1, 1, 9, 0, 0, number) for number in (1, 2)]),  # and SPSS seconds
    ],
)
def test_l_is_counted_as_a_copy_shows_the_values(tmp_path, copy, values):
    broken = verify(with_copy(tmp_path / "one value", values, copy)).broken
    assert ("l-diversity", copy) in [(claim.promise, claim.file) for claim in broken]
    apart = [2**53, 2**53 + 4] if copy == "table.xlsx" else [datetime.datetime(2026, 1, day, 9) for day in (1, 2)]
    kept = verify(with_copy(tmp_path / "two values", apart, copy)).broken
    assert "l-diversity" not in [claim.promise for claim in kept]


@pytest.mark.parametrize("kept", [0, 1, 58, 10**9, -1, 1.5, True, "60"])
def test_how_many_rows_a_release_keeps_is_counted_and_not_believed(tmp_path, kept):
    """One row of the release before is gone; whatever number of kept rows is stated, the pair shows whose it was."""
    release(PEOPLE[:N], tmp_path / "before", roles=WITH_ILLNESS)
    made = release(PEOPLE[:N], tmp_path / "after", roles=WITH_ILLNESS, after=tmp_path / "before")
    assert verify(made, after=tmp_path / "before")
    forged = copy_of(made, tmp_path / "forged")
    table = pq.read_table(forged / "table.parquet")
    sizes = table.group_by(["age", "pay"]).aggregate([([], "count_all")]).to_pylist()
    large = next(group for group in sizes if group["count_all"] > 3)
    place = next(
        n for n, row in enumerate(table.to_pylist()) if (row["age"], row["pay"]) == (large["age"], large["pay"])
    )
    fewer = pa.concat_tables([table.slice(0, place), table.slice(place + 1)]).combine_chunks()
    pq.write_table(fewer, forged / "table.parquet", compression="zstd", row_group_size=1 << 17)
    content = certificate_of(forged)
    content["promises"]["rows"] -= 1
    content["stated"]["parameters"]["after"]["kept"] = kept
    reseal(forged, content)
    assert not verify(forged, after=tmp_path / "before")


def test_a_file_that_is_exchanged_all_the_time_is_never_counted_as_what_it_is_not(honest, tmp_path):
    """A release that holds and one that does not take each other's place; both are never seen as one."""
    raced = copy_of(honest["table.parquet"], tmp_path / "raced")
    data, certificate = raced / "table.parquet", raced / "certificate.json"
    alone = pq.read_table(data).slice(0, 1)
    pq.write_table(alone, tmp_path / "alone.parquet", compression="zstd")
    versions = [data.read_bytes(), (tmp_path / "alone.parquet").read_bytes()]
    stop = threading.Event()

    def exchange():
        number = 0
        while not stop.is_set():
            number += 1
            spare = tmp_path / "spare"
            spare.write_bytes(versions[number % 2])
            spare.replace(data)

    sealed = certificate.read_bytes()
    content = certificate_of(raced)
    data.write_bytes(versions[1])
    reseal(raced, content)  # sealed for one row alone, which no count lets pass
    wrong = certificate.read_bytes()
    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        certificate.write_bytes(wrong)
        assert not any(count(raced, with_pages=False) for _ in range(RACES // 2)), "one row passed as a crowd"
        certificate.write_bytes(sealed)
        for _ in range(RACES // 2):
            checked = count(raced, with_pages=False)
            assert checked or any(claim.promise == "files" for claim in checked.broken), checked.broken
    finally:
        stop.set()
        thread.join()
