"""The commands of the sanitizer that pages run, and the Python that does the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.web.commands import options
from shoal.web.jobs import Command

WORK, RELEASE, PRIVATE = "review", "release", "release-private"
COLUMNS = ("text_column", "id_column")
OWNERS_KEYS = (
    "from shoal.data.private_files import config_folder\nfrom shoal.data.keys import Keys\n",
    'keys = Keys.read(config_folder() / "sanitizer.key")\n',
)


def sanitize_command(source: str, chosen: Mapping[str, Any]) -> Command:
    """`chosen` are options of `sanitize` by their names in Python; what is empty has its default."""
    words = options({"-o": WORK, **{f"--{name.replace('_', '-')}": value for name, value in chosen.items()}})
    settings = _arguments({name: value for name, value in chosen.items() if name not in COLUMNS})
    columns = _arguments({name: chosen.get(name) for name in COLUMNS})
    python = (
        "from shoal.sanitizer.propose import Proposing, propose\n\n"
        f"proposing = Proposing({', '.join(settings)})\n"
        f"propose({', '.join([repr(source), repr(WORK), 'proposing', *columns])})"
    )
    return Command(("sanitize", source, *words), python)


def redact_command(chosen: Mapping[str, Any], recipients: tuple[str, ...]) -> Command:
    """The vault is sealed with the owner's key, which is made on first use, and for the recipients."""
    bars, pictures = chosen["bars"], chosen["keep_pictures"]
    of_pages = {"--bars": bars, "--keep-pictures": pictures} if chosen["form"] == "pdf" else {}
    words = options({"-o": RELEASE, "--format": chosen["form"], "--accept-rest": chosen["accept_rest"], **of_pages})
    named = _arguments({"form": chosen["form"], "accept_rest": chosen["accept_rest"]})
    named += [f"pdf_bars=PdfBars({bars!r}, {pictures})"] if of_pages else []
    imports, keys = OWNERS_KEYS
    python = (
        f"{imports}from shoal.sanitizer.redact import PdfBars, Sealing, redact\n\n{keys}"
        f"sealing = Sealing((keys.public, *{recipients!r}))\n"
        f"redact({', '.join([repr(WORK), repr(RELEASE), 'sealing', *named])})"
    )
    others = (word for recipient in recipients for word in ("--recipient", recipient))
    return Command(("redact", WORK, *words, *others), python)


def verify_sanitized_command() -> Command:
    """With the vault and the log, which only the owner has."""
    imports, keys = OWNERS_KEYS
    python = (
        f"from pathlib import Path\n\nfrom shoal import verify\n{imports}"
        f"from shoal.sanitizer.release.vault import read_secrets\n\n{keys}"
        f"secrets = read_secrets(Path({PRIVATE!r}), (str(keys.identity),), None)\n"
        f"verify({RELEASE!r}, secrets=secrets)"
    )
    return Command(("verify", RELEASE, "--private", PRIVATE), python)


def _arguments(given: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in given.items() if value not in (None, "")]
