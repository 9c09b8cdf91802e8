"""Sanitized documents as a release: decided or refused, the same bytes again, nothing masked left anywhere."""

from __future__ import annotations

import html
import re
import shutil
import tempfile
import unicodedata
from dataclasses import replace
from pathlib import Path

import docx
import numpy as np
import pypdfium2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.release.load import load
from shoal.results.sanitizing import Block, Entity, Mention
from shoal.sanitizer.reading.office import docx_text
from shoal.sanitizer.release.pages import PdfBars, docx_page, redacted_pdf
from shoal.sanitizer.review.outcome import current
from shoal.sanitizer.review.review import Review
from shoal.sanitizer.review.work import Proposals, Unfinished, WorkFolder, text_digest
from shoal.sanitizer.unmask import file_names, unmask
from shoal.verification.release_files import Refused, ReleaseFolder
from shoal.verification.sanitized_files import check_docx
from shoal.verification.verify import verify
from tests.sanitizer.reading.files import pdf_of
from tests.sanitizer.review.folders import LETTERS, SETTINGS, entity, named_folder, work_folder
from tests.sanitizer.sanitized_releases import IDENTITIES, accept_everything, released, secrets_of


@pytest.fixture
def work(tmp_path: Path) -> WorkFolder:
    return work_folder(tmp_path / "work")


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_nothing_is_released_while_something_is_open(work: WorkFolder, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"4 items are undecided: d1 e0 \(PERSON\), d1 e1"):
        released(work, tmp_path / "release")
    assert not (tmp_path / "release").exists()
    assert not work.locked


def test_the_release_says_what_was_decided(work: WorkFolder, tmp_path: Path) -> None:
    accept_everything(work)
    made = released(work, tmp_path / "release")
    texts = {path.read_text() for path in (made.folder / "documents").iterdir()}
    numbers = ("Pers1", "Pers2") if "Pers1 met Pers2 in Girona. [removed] Pers1 left." in texts else ("Pers2", "Pers1")
    smith, ray = numbers
    assert texts == {
        f"{smith} met {ray} in Girona. [removed] {smith} left.",
        f"{ray} wrote to {smith}. Will she come?",
    }
    assert verify(made.folder)
    assert verify(made.folder, secrets=secrets_of(made))


def test_the_same_decisions_give_the_same_bytes(work: WorkFolder, tmp_path: Path) -> None:
    accept_everything(work)
    shutil.copytree(work.path, tmp_path / "again")
    first = released(work, tmp_path / "first", form="html")
    second = released(WorkFolder(tmp_path / "again"), tmp_path / "second", form="html")
    assert files_of(first.folder) == files_of(second.folder)


def test_a_docx_has_the_masked_text_with_bars_and_nothing_else(work: WorkFolder, tmp_path: Path) -> None:
    accept_everything(work)
    made = released(work, tmp_path / "release", form="docx")
    assert verify(made.folder, secrets=secrets_of(made))
    for path in (made.folder / "documents").glob("*.docx"):
        paragraphs = docx.Document(str(path)).paragraphs
        assert "\n".join(one.text for one in paragraphs) == path.with_suffix(".txt").read_text()
        barred = [run.text for one in paragraphs for run in one.runs if run.font.highlight_color is not None]
        assert barred
        assert all(text.startswith(("Pers", "[removed]")) for text in barred)


@pytest.mark.parametrize("text", ["", "a\tb\r\nc", "x\x0cy & <z>\n\n", "\n"])
def test_any_text_survives_as_docx(text: str) -> None:
    shown = docx_text(docx_page(text, [(0, 1)] if text else []), "page.docx")
    assert shown == text.replace("\r", "").replace("\x0c", " ") + "\n"


def test_a_docx_with_anything_more_is_refused(work: WorkFolder, tmp_path: Path) -> None:
    accept_everything(work)
    made = released(work, tmp_path / "release", form="docx")
    (path, *_) = (made.folder / "documents").glob("*.docx")
    text = path.with_suffix(".txt").read_text()
    empty_bar, encrypted = docx_page(text, [(1, 1)]), path.read_bytes().replace(b"\x14\0\0\0", b"\x14\0\1\0")
    for forged in (path.read_bytes() + b"x", docx_page(text + "!", []), b"PK", empty_bar, encrypted):
        path.write_bytes(forged)
        with pytest.raises(Refused, match=r"DOCX|nothing else"):
            check_docx(ReleaseFolder(made.folder), f"documents/{path.name}", text)


def test_a_released_folder_is_locked_and_can_be_released_in_another_form(work: WorkFolder, tmp_path: Path) -> None:
    accept_everything(work)
    released(work, tmp_path / "release")
    with pytest.raises(InputError, match="locked"):
        Review(work, "ana").undo()
    released(work, tmp_path / "pages", form="html")


def test_the_rest_can_be_decided_by_a_rule_which_the_report_says(work: WorkFolder, tmp_path: Path) -> None:
    made = released(work, tmp_path / "release", accept_rest=0.7)
    assert made.summary.unseen == 5  # four that were proposed and a repeat
    assert made.summary.kinds[0].places == 5  # Bob Ray is .6 in d1 and .9 in d2, so he is masked in both
    assert made.summary.kept == 0
    assert "not everything was looked at" in (made.folder / "report.html").read_text()
    assert verify(made.folder, secrets=secrets_of(made))


def test_the_rule_does_not_settle_what_reviewers_differ_about(work: WorkFolder, tmp_path: Path) -> None:
    Review(work, "ana").decide([("d1", "e0")], "accept")
    Review(work, "ben").decide([("d1", "e0")], "reject")
    with pytest.raises(InputError, match=r"1 item is undecided: d1 e0 \(PERSON\); .*adjudicate"):
        released(work, tmp_path / "release", accept_rest=0.0)
    Review(work, "chair").decide([("d1", "e0")], "reject", adjudicates=True)
    assert verify(released(work, tmp_path / "release", accept_rest=0.0).folder)


def test_the_rule_is_taken_back_if_no_release_comes_of_it(
    work: WorkFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.sanitizer import redact as module

    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    before = list(current(work).outcomes())
    with monkeypatch.context() as patched:
        patched.setattr(module, "_write_private", full)
        with pytest.raises(InputError, match="no space left on device"):
            released(work, tmp_path / "release", accept_rest=0.5)
    assert list(current(work).outcomes()) == before
    assert not work.locked
    assert list(tmp_path.glob("release*")) == []
    accept_everything(work)  # people decide after all
    assert released(work, tmp_path / "release").summary.unseen == 0


def test_the_rule_masks_whatever_has_a_masked_name_within_it(tmp_path: Path) -> None:
    first, second = "Quillfeather left.", "On the Dhomhnaill & Quillfeather Case."
    work = named_folder(
        tmp_path / "work",
        (first, (entity(first, "PERSON", "Quillfeather"),)),
        (second, (entity(second, "CASE", "Dhomhnaill & Quillfeather Case", probability=0.4),)),
    )
    made = released(work, tmp_path / "release", accept_rest=0.5)
    assert made.summary.kept == 0
    assert not any("Quillfeather" in path.read_text() for path in (made.folder / "documents").iterdir())


def test_what_reviewers_left_on_purpose_is_counted_and_verified(work: WorkFolder, tmp_path: Path) -> None:
    review = Review(work, "ana")
    review.decide([("d1", "e1")], "accept")
    review.decide([("d2", "e0"), ("d1", "e0"), ("d1", "b0")], "reject")
    made = released(work, tmp_path / "release")
    assert made.summary.kept == 1
    assert verify(made.folder, secrets=secrets_of(made))


def test_the_number_of_a_pseudonym_and_the_word_after_it_are_no_masked_date(tmp_path: Path) -> None:
    text = "Ozal may come on 1 May."
    people = (entity(text, "PERSON", "Ozal"), entity(text, "DATE", "1 May"))
    made = released(named_folder(tmp_path / "work", (text, people)), tmp_path / "release", accept_rest=0.0)
    assert (made.folder / "documents" / "document-0001.txt").read_text() == "Pers1 may come on Date1."
    assert verify(made.folder, secrets=secrets_of(made))


def test_a_masked_string_that_nobody_left_is_never_released(tmp_path: Path) -> None:
    """Of "Shaozal" a block takes "sha" away, and what is left is a name that is masked elsewhere."""
    first, second = "Ozal left.", "Shaozal came."
    work = named_folder(tmp_path / "work", (first, (entity(first, "PERSON", "Ozal"),)), (second, ()))
    review = Review(work, "ana")
    review.add("d2", (0, 3), "BLOCK")
    accept_everything(work)
    with pytest.raises(InputError, match="readable at 3-7 of d2, and nobody left it there"):
        released(work, tmp_path / "release")
    assert not (tmp_path / "release").exists()
    assert not work.locked
    review.add("d2", (3, 7), "PERSON")
    made = released(work, tmp_path / "release")
    assert verify(made.folder, secrets=secrets_of(made))


def test_a_word_of_a_pseudonym_is_not_left_on_purpose(tmp_path: Path) -> None:
    text = "Removed was written. The dose was wrong."
    work = named_folder(tmp_path / "work", (text, (entity(text, "MISC", "Removed"),)))
    Review(work, "ana").add("d1", (21, 40), "BLOCK")
    accept_everything(work)
    made = released(work, tmp_path / "release")
    assert (made.folder / "documents" / "document-0001.txt").read_text() == "Misc1 was written. [removed]"
    assert made.summary.kept == 0
    assert verify(made.folder, secrets=secrets_of(made))


def test_a_sentence_of_a_removed_block_is_found_wherever_else_it_stands(tmp_path: Path) -> None:
    first, second = "The bomb was small. It was kept in a shed.", "It was kept,\nin a shed; so what?"
    work = named_folder(tmp_path / "work", (first, ()), (second, ()))
    Review(work, "ana").add("d1", (0, len(first)), "BLOCK")
    with pytest.raises(InputError, match="1 item is undecided: d2 r0-22"):
        released(work, tmp_path / "release")
    accept_everything(work)
    made = released(work, tmp_path / "release")
    texts = {path.read_text() for path in (made.folder / "documents").iterdir()}
    assert texts == {"[removed]", "[removed]; so what?"}
    assert verify(made.folder, secrets=secrets_of(made))


def test_a_name_within_an_ordinary_word_is_accounted_for_and_not_asked_about(tmp_path: Path) -> None:
    first, second = "Mr. Allen left.", "A challenge for ALLENs."
    work = named_folder(tmp_path / "work", (first, (entity(first, "PERSON", "Mr. Allen"),)), (second, ()))
    accept_everything(work)
    made = released(work, tmp_path / "release")
    assert {path.read_text() for path in (made.folder / "documents").iterdir()} == {
        "Pers1 left.",
        "A challenge for Pers1s.",
    }
    assert made.summary.kept == 0
    assert verify(made.folder, secrets=secrets_of(made))


def test_a_surname_that_is_an_ordinary_word_is_left_where_it_is_one(tmp_path: Path) -> None:
    first, second = "Mrs. Baker left.", "A baker saw Baker."
    work = named_folder(tmp_path / "work", (first, (entity(first, "PERSON", "Mrs. Baker"),)), (second, ()))
    accept_everything(work)
    made = released(work, tmp_path / "release")
    texts = {path.read_text() for path in (made.folder / "documents").iterdir()}
    assert texts == {"Pers1 left.", "A baker saw Pers1."}
    assert made.summary.kept == 0
    assert verify(made.folder, secrets=secrets_of(made))


def test_unmask_gives_the_originals(work: WorkFolder, tmp_path: Path) -> None:
    accept_everything(work)
    made = released(work, tmp_path / "release")
    back = unmask(made.folder, tmp_path / "back", identities=IDENTITIES)
    assert [(back.folder / name).read_text() for name in ("a.txt", "b.txt")] == list(LETTERS)
    assert back.folder.stat().st_mode & 0o777 == 0o700
    listed = dict(line.split(",") for line in (back.folder / "index.csv").read_text().splitlines())
    first = (made.folder / "documents" / "document-0001.txt").read_text()
    assert ("Bob Ray wrote" in first or "Pers1 wrote" in first) == (listed["document-0001"] == "b.txt")
    assert sorted(listed.values()) == ["a.txt", "b.txt", "original"]


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        (["x/a.txt", "x/b.md", "x/c.docx", "17"], ["x/a.txt", "x/b.md", "x/c.docx.txt", "17.txt"]),
        (["../../etc/passwd", "/var/a.txt"], ["etc/passwd.txt", "var/a.txt"]),
        (["a.txt", "A.TXT", "a.txt/b.txt", "c/d.txt", "c"], ["a.txt", None, None, "c/d.txt", "c.txt"]),
        (["index.csv", "document-0002.txt", "..", "a\0b:c.txt"], [None, "document-0002.txt", None, "a_b_c.txt"]),
    ],
)
def test_originals_have_names_that_stay_in_their_folder_and_apart(sources: list[str], names: list[str | None]) -> None:
    documents = [f"document-{number:04}" for number in range(1, len(sources) + 1)]
    expected = [name or f"{document}.txt" for document, name in zip(documents, names, strict=True)]
    assert list(file_names(documents, dict(zip(documents, sources, strict=True))).values()) == expected


def test_the_order_of_the_input_is_not_that_of_the_release(tmp_path: Path) -> None:
    """Files are often named after people, so that their order tells names."""
    orders = set()
    for number in range(60):  # a few are enough; that all are alike by chance must not happen
        work = work_folder(tmp_path / f"work{number}")
        accept_everything(work)
        made = released(work, tmp_path / f"release{number}")
        orders.add("Will she" in (made.folder / "documents" / "document-0001.txt").read_text())
        if len(orders) == 2:
            break
    assert orders == {True, False}


WORDS = st.text("aäAnS1-. \n’", min_size=1, max_size=40).filter(str.strip)


@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_whatever_is_masked_is_verified_and_undone(data: st.DataObject) -> None:
    texts = data.draw(st.lists(WORDS, min_size=1, max_size=3, unique=True))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        unfinished = Unfinished(folder / "work", SETTINGS)
        for number, text in enumerate(texts, start=1):
            spans = data.draw(
                st.lists(st.tuples(st.integers(0, len(text) - 1), st.integers(1, 8)), max_size=3), label="spans"
            )
            entities = tuple(
                Entity("PERSON", (Mention(a, min(a + n, len(text))),), text[a : a + n], "direct", 0.9) for a, n in spans
            )
            unfinished.add(Proposals(f"d{number}", str(number), text_digest(text), "", False, entities, ()), text, None)
        work = unfinished.finish()
        accept_everything(work)
        try:
            made = released(work, folder / "release", form="html")
        except InputError as refused:  # a string that only shows once a part of a word is masked
            assert "nobody left it there" in str(refused)
            return
        assert verify(made.folder, secrets=secrets_of(made))
        back = unmask(made.folder, folder / "back", identities=IDENTITIES)
        assert sorted(originals_in(back.folder)) == sorted(texts)


def originals_in(folder: Path) -> list[str]:
    return [path.read_bytes().decode() for path in folder.iterdir() if path.name != "index.csv"]


def letters_alone(text: str) -> str:
    """As somebody reads who wants to find names: without tags, accents, case, and all that is no letter."""
    plain = unicodedata.normalize("NFKD", html.unescape(re.sub(r"<[^>]*>", "", text))).lower()
    return "".join(letter for letter in plain if letter.isalpha())


NAMES = ("Quillfeather", "Zoë Krasznahorkai", "Mr. Dunstable", "Jean-Yves Vëltrop")
SPELLINGS = (
    str,
    str.upper,
    str.lower,
    lambda name: name.replace(" ", ""),
    lambda name: name.replace(" ", "-"),
    lambda name: name.replace(" ", "\n"),
    lambda name: unicodedata.normalize("NFD", name),
    lambda name: name.split()[-1],
    lambda name: name.split()[-1].lower() + ".pdf",
    lambda name: f"the {name} & Wuzzle Case",
    lambda name: f"{name.split()[-1]}House, the {name.split()[-1]}s",
    lambda name: f"x{name.split()[-1].lower()}@example.org",
    lambda name: f"{name.split()[-1].lower()}2009_{name.split()[-1].upper()}x.jpg",
    lambda name: "\u00ad".join(name) + "\u200b" + "\u200b".join("x" + name + "x"),
)


@given(
    mentions=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(SPELLINGS)), min_size=1, max_size=8),
    style=st.sampled_from(["numbered", "category", "general"]),
)
@settings(max_examples=15, deadline=None)
def test_no_masked_name_can_be_read_in_any_file(mentions: list, style: str) -> None:
    """The search is not the one that the product uses."""
    first = "We met " + " and ".join(NAMES) + "."
    second = "Then: " + "; ".join(spelled(name) for name, spelled in mentions) + "."
    case = tuple(
        Entity("CASE", (Mention(match.start(), match.end()),), match[0], "direct", 0.9)
        for match in re.finditer(r"the [^&;]* & Wuzzle Case", second)
    )
    with tempfile.TemporaryDirectory() as place:
        people = tuple(entity(first, "PERSON", name) for name in NAMES)
        work = named_folder(Path(place) / "work", (first, people), (second, case), style=style)
        Review(work, "ana").decide([("d2", f"e{number}") for number in range(len(case))], "reject")
        accept_everything(work)
        made = released(work, Path(place) / "release", form="html")
        surnames = {letters_alone(name.split()[-1]) for name in NAMES}
        for path in made.folder.rglob("*"):
            if path.is_file():
                shown = letters_alone(path.read_text())
                assert not [name for name in surnames if name in shown], path.name
        assert verify(made.folder, secrets=secrets_of(made))


def pdf_work(path: Path, **drawn: object) -> WorkFolder:
    content = pdf_of([["Ann Smith met Bob Ray.", "Nothing else."], ["Smith left."]], **drawn)  # type: ignore[arg-type]
    path.with_suffix(".pdf").write_bytes(content)
    text = "Ann Smith met Bob Ray.\nNothing else.\n\fSmith left.\n\f"
    at = text.index("Smith left")
    smith = Entity("PERSON", (Mention(0, 9), Mention(at, at + 5)), "Ann Smith", "direct", 0.9)
    unfinished = Unfinished(path, SETTINGS)
    unfinished.add(Proposals("d1", "a.pdf", text_digest(text), "", True, (smith,), ()), text, path.with_suffix(".pdf"))
    return unfinished.finish()


def drawn_pages(content: bytes) -> list[np.ndarray]:
    document = pypdfium2.PdfDocument(content)
    return [np.asarray(page.render(scale=1, grayscale=True).to_pil().convert("L")) for page in document]


def test_redacted_pages_have_bars_and_nothing_under_them(tmp_path: Path) -> None:
    work = pdf_work(tmp_path / "work")
    accept_everything(work)
    made = released(work, tmp_path / "release", form="pdf")
    content = (made.folder / "documents" / "document-0001.pdf").read_bytes()
    for page in pypdfium2.PdfDocument(content):
        assert page.get_textpage().count_chars() == 0
    assert pypdfium2.PdfDocument(content).get_metadata_dict(skip_empty=True) == {}
    assert b"Smith" not in content
    first, second = drawn_pages(content)
    # Ann Smith stands from 72 to about 128 points, 720 points above the foot of a page of 842.
    below = 842 - 720 + 1  # the line that letters stand on: no letter of a label reaches it
    assert first[below, 74:125].max() < 60
    assert second[below, 74:100].max() < 60
    assert first[below, 140:180].min() > 150
    assert first[842 - 700 - 4, 74:125].mean() > 150  # the second line is still there
    assert verify(made.folder, secrets=secrets_of(made))


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_bars_are_in_place_on_turned_pages(turned: int) -> None:
    plain = drawn_pages(pdf_of([["Ann Smith met Bob Ray."]], turned=turned))[0]
    barred = drawn_pages(redacted_pdf(pdf_of([["Ann Smith met Bob Ray."]], turned=turned), [(0, 9, "Pers1")], "a"))[0]
    upright = [np.rot90(page, turned // 90) for page in (plain, barred)]
    row = slice(842 - 720 - 8, 842 - 720)
    assert upright[1][row, 74:120].mean() < 100
    assert abs(upright[0][row, 150:200].mean() - upright[1][row, 150:200].mean()) < 40  # the rest is as it was


def test_bars_over_lines_do_not_tell_how_long_a_name_is() -> None:
    page = drawn_pages(redacted_pdf(pdf_of([["Ann Smith met Bob Ray."]]), [(0, 9, "Pers1")], "a", PdfBars("lines")))[0]
    assert page[842 - 720 - 4].max() == 0


def test_pictures_are_painted_over_unless_they_are_kept(tmp_path: Path) -> None:
    source = pdf_of([["Ann Smith met Bob Ray."]], picture=True)
    covered, kept = (
        drawn_pages(redacted_pdf(source, [], "a", PdfBars(keep_pictures=keep)))[0] for keep in (False, True)
    )
    assert covered[842 - 350, 350] == 0
    assert kept[842 - 350, 350] == 0x80


def test_a_page_turned_to_pictures_says_that_bars_are_as_wide_as_words(tmp_path: Path) -> None:
    work = pdf_work(tmp_path / "work")
    accept_everything(work)
    made = released(work, tmp_path / "release", form="pdf", pdf_bars=PdfBars("lines"))
    assert verify(made.folder)


def test_a_reviewer_who_decides_while_the_release_is_made_stops_it(
    work: WorkFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept_everything(work)
    from shoal.sanitizer import redact as module

    write_pages = module._write_pages

    def meanwhile(*given: object) -> object:
        Review(WorkFolder(work.path), "ben").decide([("d1", "e2")], "accept")
        return write_pages(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_write_pages", meanwhile)
    with pytest.raises(InputError, match="more was decided while"):
        released(work, tmp_path / "release")
    assert not (tmp_path / "release").exists()
    assert not work.locked


def test_secrets_are_never_shown(work: WorkFolder, tmp_path: Path) -> None:
    accept_everything(work)
    made = released(work, tmp_path / "release")
    shown = repr(secrets_of(made)) + repr(made)
    assert not any(name in shown for name in ("Smith", "smith", "Ray", IDENTITIES[0], work.settings["secret"]))
    assert b"Smith" not in b"".join(
        content for name, content in files_of(made.private).items() if name.endswith(".age")
    )


def test_an_unknown_form_is_refused(work: WorkFolder, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="form='odt' is not known"):
        released(work, tmp_path / "release", form="odt")
    with pytest.raises(InputError, match="a probability"):
        released(work, tmp_path / "release", accept_rest=2.0)


def test_a_release_replaces_an_earlier_one_only_by_force(work: WorkFolder, tmp_path: Path) -> None:
    accept_everything(work)
    made = released(work, tmp_path / "release")
    with pytest.raises(InputError, match="force"):
        released(work, tmp_path / "release")
    assert replace(released(work, tmp_path / "release", force=True)).certificate == made.certificate


def test_who_is_in_a_removed_block_gets_no_number(tmp_path: Path) -> None:
    """A gap between Pers1 and Pers3, or a count of 0, would tell that somebody is in the block."""
    text = "Ann Smith met Bob Ray. Cy Fox left."
    people = tuple(
        Entity("PERSON", (Mention(text.index(name), text.index(name) + len(name)),), name, "direct", 0.9)
        for name in ("Ann Smith", "Bob Ray", "Cy Fox")
    )
    block = Block(0, 22, (), 1.0)
    work = work_folder(
        tmp_path / "work", (text,), [Proposals("d1", "a", text_digest(text), "", False, people, (block,))]
    )
    accept_everything(work)
    made = released(work, tmp_path / "release")
    assert (made.folder / "documents" / "document-0001.txt").read_text() == "[removed] Pers1 left."
    assert made.certificate["promises"]["pseudonyms"] == {"Pers1": 1}
    assert made.certificate["stated"]["masked"] == {"PERSON": {"entities": 1, "places": 1}}
    assert made.summary.hidden_share is None
    assert verify(made.folder, secrets=secrets_of(made))


@pytest.mark.parametrize("style", ["numbered", "category", "general"])
@pytest.mark.parametrize("scope", ["document", "collection"])
def test_every_style_and_scope_is_verified_and_undone(tmp_path: Path, style: str, scope: str) -> None:
    work = work_folder(tmp_path / "work", style=style, scope=scope)
    accept_everything(work)
    made = released(work, tmp_path / "release", form="html")
    assert verify(made.folder, secrets=secrets_of(made))
    back = unmask(made.folder, tmp_path / "back", identities=IDENTITIES)
    assert set(originals_in(back.folder)) == set(LETTERS)


def test_a_release_is_loaded_as_texts(work: WorkFolder, tmp_path: Path) -> None:
    accept_everything(work)
    made = released(work, tmp_path / "release")
    table = load(made.folder).table
    assert table["document"].to_pylist() == ["document-0001", "document-0002"]
    assert table["text"].to_pylist() == [path.read_text() for path in sorted((made.folder / "documents").glob("*.txt"))]


def test_the_rule_carries_to_other_documents_what_identifies_directly_and_what_a_person_accepted(
    tmp_path: Path,
) -> None:
    first, second = "Ann Roehm, a judge, left Girona.", "The judge saw Roehm in Girona."
    work = named_folder(
        tmp_path / "work",
        (
            first,
            (
                entity(first, "PERSON", "Ann Roehm"),
                entity(first, "PROFESSION", "judge"),
                entity(first, "LOC", "Girona"),
            ),
        ),
        (second, (entity(second, "MISC", "saw", probability=0.1),)),
    )
    Review(work, "ana").decide([("d1", "e2")], "accept")
    made = released(work, tmp_path / "release", accept_rest=0.3)
    texts = {path.read_text() for path in (made.folder / "documents").iterdir()}
    assert texts == {"Pers1, a Prof1, left Loc1.", "The judge saw Pers1 in Loc1."}
    assert made.summary.kept == 1
    assert verify(made.folder, secrets=secrets_of(made))


def test_what_a_mask_leaves_of_a_longer_string_is_decided_too(tmp_path: Path) -> None:
    texts = ("The Britannic Majesty came.", "A Majesty Ltd fell.", "For her Britannic Majesty only.")
    works = [
        (texts[0], (entity(texts[0], "ORG", "Britannic Majesty"),)),
        (texts[1], (entity(texts[1], "ORG", "Majesty"),)),
        (texts[2], (entity(texts[2], "NATIONALITY", "Britannic"),)),
    ]
    made = released(named_folder(tmp_path / "work", *works), tmp_path / "release", accept_rest=0.5)
    assert verify(made.folder)
