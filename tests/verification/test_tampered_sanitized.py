"""Sanitized releases that were tampered with, and sealed anew by somebody clever: verify finds it out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.release.writing import dump, fingerprint
from shoal.sanitizer.redact import Redacted
from shoal.verification.verify import Verification, verify
from tests.sanitizer.reading.files import pdf_of
from tests.sanitizer.review.folders import entity, named_folder, work_folder
from tests.sanitizer.sanitized_releases import accept_everything, copied, released, secrets_of
from tests.sanitizer.test_redact import pdf_work


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Redacted:
    folder = tmp_path_factory.mktemp("sanitized")
    work = work_folder(folder / "work")
    accept_everything(work)
    return released(work, folder / "release", form="html")


@pytest.fixture(scope="module")
def with_pages(tmp_path_factory: pytest.TempPathFactory) -> Redacted:
    folder = tmp_path_factory.mktemp("pages")
    work = pdf_work(folder / "work")
    accept_everything(work)
    return released(work, folder / "release", form="pdf")


def sealed_anew(release: Path, change: Callable[[dict], None] = lambda content: None) -> None:
    """As if the release had been made so: fingerprints and seal are right."""
    content = json.loads((release / "certificate.json").read_bytes())
    content["files"] = {
        path.relative_to(release).as_posix(): fingerprint(path)
        for path in sorted(release.rglob("*"))
        if path.is_file() and path.name != "certificate.json"
    }
    change(content)
    del content["seal"]
    content["seal"] = hashlib.sha256(dump(content)).hexdigest()
    (release / "certificate.json").write_bytes(dump(content))


def broken(result: Verification) -> set[str]:
    return {claim.promise for claim in result.broken}


def rewrite(path: Path, old: str, new: str) -> None:
    content = path.read_bytes()
    assert old.encode() in content
    path.write_bytes(content.replace(old.encode(), new.encode(), 1))


def document_with(release: Path, words: str, suffix: str = "txt") -> Path:
    return next(path for path in sorted(release.rglob(f"*.{suffix}")) if words in path.read_text())


def test_a_copy_that_was_not_touched_holds(made: Redacted, with_pages: Redacted, tmp_path: Path) -> None:
    for number, release in enumerate((made, with_pages)):
        copy = copied(release, tmp_path / str(number))
        sealed_anew(copy)
        assert verify(copy, secrets=secrets_of(release))


def test_any_change_breaks_the_fingerprint(made: Redacted, tmp_path: Path) -> None:
    copy = copied(made, tmp_path / "copy")
    rewrite(document_with(copy, "Will she"), "Will she", "Will  she")
    assert broken(verify(copy)) >= {"files"}


@pytest.mark.parametrize(
    "name",
    ["Ann Smith", "ann-SMITH", "Änn  Smíth", "Smith", "AnnSmith", "bob\nray", "asmith@example.org", "Smith\u00adson"],
)
@pytest.mark.parametrize("where", ["documents", "README.md", "report.html"])
def test_a_name_put_back_is_found_with_the_vault(made: Redacted, tmp_path: Path, name: str, where: str) -> None:
    copy = copied(made, tmp_path / "copy")
    if where == "documents":
        for suffix in ("txt", "html"):
            rewrite(document_with(copy, "Will she", suffix), "Will she", f"Will {name}")
    else:
        rewrite(copy / where, "Limits" if where == "README.md" else "What was masked", name)
    sealed_anew(copy)
    assert broken(verify(copy, secrets=secrets_of(made))) - {"texts"} == {"masked strings"}


def test_a_name_in_the_certificate_is_refused(made: Redacted, tmp_path: Path) -> None:
    copy = copied(made, tmp_path / "copy")
    sealed_anew(copy, lambda content: content["stated"].update(policy="of Dr Smith"))
    assert broken(verify(copy, secrets=secrets_of(made))) == {"certificate"}


def test_a_removed_block_put_back_is_found_with_the_vault(made: Redacted, tmp_path: Path) -> None:
    copy = copied(made, tmp_path / "copy")
    for suffix in ("txt", "html"):
        rewrite(document_with(copy, "Will she", suffix), "Will she", "The DOSE was, wrong. Will she")
    sealed_anew(copy)
    assert "masked strings" in broken(verify(copy, secrets=secrets_of(made)))


def test_a_changed_pseudonym_is_found_without_the_vault(made: Redacted, tmp_path: Path) -> None:
    copy = copied(made, tmp_path / "copy")
    for suffix in ("txt", "html"):
        rewrite(document_with(copy, "Will she", suffix), "Pers1", "Pers2")
    sealed_anew(copy)
    assert broken(verify(copy)) == {"pseudonyms"}


def test_pseudonyms_swapped_with_their_counts_are_found_with_the_vault(made: Redacted, tmp_path: Path) -> None:
    copy = copied(made, tmp_path / "copy")
    for suffix in ("txt", "html"):
        rewrite(document_with(copy, "Will she", suffix), "Pers1", "Pers9")

    def change(content: dict) -> None:
        counts = content["promises"]["pseudonyms"]
        counts["Pers1"] -= 1
        counts["Pers9"] = 1

    sealed_anew(copy, change)
    assert verify(copy)
    assert broken(verify(copy, secrets=secrets_of(made))) == {"texts", "pseudonyms"}


def test_texts_that_changed_places_are_found_with_the_vault(made: Redacted, tmp_path: Path) -> None:
    copy = copied(made, tmp_path / "copy")
    for suffix in ("txt", "html"):
        first, second = (copy / "documents" / f"document-000{number}.{suffix}" for number in (1, 2))
        first.rename(copy / "aside")
        second.rename(first)
        (copy / "aside").rename(second)
    sealed_anew(copy)
    assert verify(copy)
    assert "texts" in broken(verify(copy, secrets=secrets_of(made)))


def test_a_word_of_a_block_put_back_at_the_end_is_found_with_the_vault(made: Redacted, tmp_path: Path) -> None:
    copy = copied(made, tmp_path / "copy")
    for suffix in ("txt", "html"):
        rewrite(document_with(copy, "Will she", suffix), "come?", "come? A dose.")
    sealed_anew(copy)
    assert verify(copy)
    assert broken(verify(copy, secrets=secrets_of(made))) == {"texts"}


def test_names_that_could_be_hexadecimal_are_not_looked_for_in_fingerprints(tmp_path: Path) -> None:
    """Of eight letters and 26 fingerprints or so, some have "abe" or "dade" in them."""
    text = "Abe met Deb, Ada and Bea. Dee, Fae, Ace and Cade left."
    names = ("Abe", "Deb", "Ada", "Bea", "Dee", "Fae", "Ace", "Cade")
    work = named_folder(tmp_path / "work", (text, tuple(entity(text, "PERSON", name) for name in names)))
    accept_everything(work)
    for number in range(5):
        again = released(work, tmp_path / f"release{number}")
        assert verify(again.folder, secrets=secrets_of(again))


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines[:-1],
        lambda lines: lines[1:],
        lambda lines: [],
        lambda lines: [*lines[:1], *lines[2:]],
        lambda lines: [lines[0].replace(b"accept", b"reject"), *lines[1:]],
        lambda lines: [*lines[:-1], lines[-1].replace(b"ana", b"eve")],
        lambda lines: [b"nonsense\n", *lines],
    ],
)
def test_a_log_that_lost_a_line_or_was_changed_is_found(made: Redacted, change: Callable) -> None:
    secrets = secrets_of(made)
    assert secrets.log is not None
    tampered = replace(secrets, log=b"".join(change(secrets.log.splitlines(keepends=True))))
    assert broken(verify(made.folder, secrets=tampered)) == {"log"}
    assert broken(verify(made.folder, secrets=replace(secrets, log=None))) == {"log"}


def test_a_vault_that_forgot_something_is_found(made: Redacted) -> None:
    secrets = secrets_of(made)
    assert broken(verify(made.folder, secrets=replace(secrets, strings=secrets.strings[1:]))) == {"vault"}
    kept = {"README.md": {"smith": 1}}
    assert broken(verify(made.folder, secrets=replace(secrets, kept=kept))) == {"vault"}


def test_the_vault_of_another_release_is_refused(made: Redacted, with_pages: Redacted) -> None:
    assert broken(verify(made.folder, secrets=secrets_of(with_pages))) >= {"vault", "pseudonyms", "log"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<body>", "<body><!-- Ann Smith -->"),
        ("<div>", '<div title="Ann Smith">'),
        ("</div>", "</div><script>1</script>"),
        ("<b>", '<b data-x="Smith">'),
        ("<b>", "<b></b><b>"),
        ("</div>", "<b></div>"),
        ("b{", "b{content:'Smith';"),
        ("<title>Sanitized document", "<title>Ann Smith"),
        ("Will she", "Will Smith she"),
        ("Will she", "Will &#83;mith she"),
        ("b{background", "@import 'x';b{background"),
    ],
)
def test_a_page_shows_the_text_and_nothing_else(made: Redacted, tmp_path: Path, old: str, new: str) -> None:
    copy = copied(made, tmp_path / "copy")
    rewrite(document_with(copy, "Will she", "html"), old, new)
    sealed_anew(copy)
    found = broken(verify(copy)) | broken(verify(copy, secrets=secrets_of(made)))
    assert "page" in found or "masked strings" in found


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content + b"% Ann Smith\n",
        lambda content: content.replace(b"/Type /Catalog ", b"/Type /Catalog /Lang (Ann) "),
        lambda content: content.replace(b"trailer\n<< ", b"trailer\n<< /Info << /Author (Ann Smith) >> "),
        lambda content: pdf_of([["Ann Smith met Bob Ray."]]),
        lambda content: content.replace(b"\nendstream", b"\n% Smith\nendstream", 1),
        lambda content: b"",
    ],
)
def test_redacted_pages_carry_nothing_but_pictures(with_pages: Redacted, tmp_path: Path, change: Callable) -> None:
    copy = copied(with_pages, tmp_path / "copy")
    path = copy / "documents" / "document-0001.pdf"
    path.write_bytes(change(path.read_bytes()))
    sealed_anew(copy)
    assert broken(verify(copy)) == {"pages"}


def test_files_that_are_not_part_of_the_release_are_found(made: Redacted, tmp_path: Path) -> None:
    for number, name in enumerate(
        ("documents/notes.txt", "documents/Ann Smith.txt", "vault.age", "documents/document-0003.txt")
    ):
        copy = copied(made, tmp_path / str(number))
        (copy / name).write_text("x")
        sealed_anew(copy)
        assert not verify(copy)


def test_a_document_that_is_missing_is_found(made: Redacted, tmp_path: Path) -> None:
    copy = copied(made, tmp_path / "copy")
    for suffix in ("txt", "html"):
        (copy / "documents" / f"document-0002.{suffix}").unlink()
    sealed_anew(copy)
    assert broken(verify(copy)) >= {"documents"}


def test_a_least_crowd_is_not_promised_by_sanitized_documents(made: Redacted) -> None:
    assert broken(verify(made.folder, min_k=3)) == {"least k"}


def test_without_the_vault_it_is_said_what_is_the_owners_word(made: Redacted) -> None:
    assert {statement.about for statement in verify(made.folder).stated} == {"masked strings", "log"}
