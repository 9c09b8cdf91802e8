"""shoal board: what it prints and leaves, and one line for every mistake."""

from __future__ import annotations

from tests.cli.run import run, snapshot

TABLE = "town,age,ill\n" + "".join(
    f"{'AB'[row % 2]},{20 + row},{('flu', 'gout', 's3cret')[row % 3]}\n" for row in range(12)
)
PROTECT = "protect t.csv -o release -k 3 --quasi town,age --confidential ill --no-attack"


def test_the_page_is_made_and_a_mistake_is_one_line_that_leaves_nothing(tmp_path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    assert run(tmp_path, *PROTECT.split()).code == 0
    public = run(tmp_path, "board", "release", "-o", "public")
    assert public.code == 0
    assert "(public version)" in public.out
    owners = run(tmp_path, "board", "release", "-o", "owners", "--original", "t.csv")
    assert owners.code == 0
    assert "12 of 12 records one of a kind" in owners.out
    before = snapshot(tmp_path)
    for words, said in {
        "release -o board --weight age": "--weight is about the original",
        "release -o board --original t.csv --person agee": "age",
        "release -o board --original nowhere.csv": "nowhere.csv",
        "release -o public": "--force",
        "t.csv -o board": "t.csv",
    }.items():
        ran = run(tmp_path, "board", *words.split())
        assert ran.code == 2, words
        assert len(ran.complaints) == 1
        assert said in ran.complaints[0]
        assert "s3cret" not in ran.err
        assert snapshot(tmp_path) == before
