"""The commands of the sanitizer that pages run, and the Python that does the same."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.web.commands import options
from shoal.web.jobs import Command

WORK, RELEASE, PRIVATE = "review", "release", "release-private"


@dataclass(frozen=True)
class Sanitizing:
    """What was chosen for the proposals; an empty text is the default."""

    policy: str
    style: str
    scope: str
    unit: str
    reviewers: int
    threshold: str = ""
    text_column: str = ""
    id_column: str = ""


@dataclass(frozen=True)
class Redacting:
    """What was chosen for the release."""

    form: str
    accept_rest: str = ""
    bars: str = "words"
    keep_pictures: bool = False
    recipients: tuple[str, ...] = ()


def sanitize_command(source: str, chosen: Sanitizing) -> Command:
    words = options(
        {
            "-o": WORK,
            "--policy": chosen.policy,
            "--style": chosen.style,
            "--scope": chosen.scope,
            "--unit": chosen.unit,
            "--reviewers": chosen.reviewers,
            "--threshold": chosen.threshold,
            "--text-column": chosen.text_column,
            "--id-column": chosen.id_column,
        }
    )
    given = {"policy": chosen.policy, "style": chosen.style, "scope": chosen.scope, "unit": chosen.unit}
    settings = [*(f"{name}={value!r}" for name, value in given.items()), f"reviewers={chosen.reviewers}"]
    settings += [f"threshold={float(chosen.threshold)}"] if chosen.threshold else []
    columns = {"text_column": chosen.text_column, "id_column": chosen.id_column}
    named = "".join(f", {name}={value!r}" for name, value in columns.items() if value)
    python = (
        "from shoal.sanitizer.propose import Proposing, propose\n\n"
        f"proposing = Proposing({', '.join(settings)})\npropose({source!r}, {WORK!r}, proposing{named})"
    )
    return Command(("sanitize", source, *words), python)


def redact_command(chosen: Redacting) -> Command:
    """The vault is sealed with the owner's key, which is made on first use, and for the recipients."""
    words = options(
        {
            "-o": RELEASE,
            "--format": chosen.form,
            "--accept-rest": chosen.accept_rest,
            "--bars": chosen.bars if chosen.form == "pdf" else "",
            "--keep-pictures": chosen.keep_pictures and chosen.form == "pdf",
        }
    )
    recipients = tuple(word for recipient in chosen.recipients for word in ("--recipient", recipient))
    named = f", form={chosen.form!r}"
    named += f", accept_rest={float(chosen.accept_rest)}" if chosen.accept_rest else ""
    if chosen.form == "pdf":
        named += f", pdf_bars=PdfBars({chosen.bars!r}, {chosen.keep_pictures})"
    python = (
        "from shoal.data.private_files import config_folder\nfrom shoal.data.keys import Keys\n"
        "from shoal.sanitizer.redact import PdfBars, Sealing, redact\n\n"
        'keys = Keys.read(config_folder() / "sanitizer.key")\n'
        f"sealing = Sealing((keys.public, *{chosen.recipients!r}))\nredact({WORK!r}, {RELEASE!r}, sealing{named})"
    )
    return Command(("redact", WORK, *words, *recipients), python)


def verify_sanitized_command() -> Command:
    """With the vault and the log, which only the owner has."""
    python = (
        "from pathlib import Path\n\nfrom shoal import verify\nfrom shoal.data.private_files import config_folder\n"
        "from shoal.data.keys import Keys\nfrom shoal.sanitizer.release.vault import read_secrets\n\n"
        'keys = Keys.read(config_folder() / "sanitizer.key")\n'
        f"secrets = read_secrets(Path({PRIVATE!r}), (str(keys.identity),), None)\n"
        f"verify({RELEASE!r}, secrets=secrets)"
    )
    return Command(("verify", RELEASE, "--private", PRIVATE), python)
