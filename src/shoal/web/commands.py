"""What was chosen on a page, as a command for the shell and as Python; a job runs the first and shows both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.request.request import Request, options_of_command, words_of
from shoal.web.jobs import Command

# What a job makes, where it works.
RELEASE, PRIVATE, EXPLORATION, AUDIT, OUT, BOARD = (
    "release",
    "release-private",
    "exploration",
    "audit",
    "assessment",
    "board",
)
PLAN, WORK = "plan.toml", "review"
COLUMNS = ("text_column", "id_column")
OWNERS_KEYS = (
    "from shoal.data.private_files import config_folder\nfrom shoal.data.keys import Keys\n",
    'keys = Keys.read(config_folder() / "sanitizer.key")\n',
)


def option_words(command: str, given: Mapping[str, Any]) -> list[str]:
    """Options of a command as a command line spells them."""
    table = options_of_command(command)
    return [word for name, value in given.items() if value is not None for word in words_of(table[name], value)]


def python_of(function: str, sources: Sequence[Any], given: Mapping[str, Any]) -> str:
    """The import and the call, one argument per line."""
    named = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    lines = [*map(repr, sources), *(f"{name}={value!r}" for name, value in named.items() if value is not None)]
    return f"from shoal import {function}\n\n{function}(\n" + "".join(f"    {line},\n" for line in lines) + ")"


def protect_command(plan: Request) -> Command:
    """`shoal protect` with every option; by the plan where no command line can spell a column's name."""
    try:
        words = tuple(plan.command_words)
    except ValueError:
        words = (PLAN,)
    return Command(("protect", words[0], "-o", RELEASE, *words[1:]), python_of("protect", (plan.source,), plan.given))


def explore_command(limits: Mapping[str, Any]) -> Command:
    """Every part of the plan counts: it goes as a file."""
    words = option_words("explore", limits)
    return Command(
        ("explore", PLAN, "-o", EXPLORATION, *words),
        python_of("explore", (PLAN,), {"out": EXPLORATION, **limits}),
    )


def audit_command(plan: Request, own: Mapping[str, Any]) -> Command:
    """What the plan says of columns, and options of the audit's own."""
    table = options_of_command("audit")
    shared = {name: value for name, value in plan.given.items() if name in table and name not in ("missing", "force")}
    reading = {name: value for name, value in shared.items() if name in vars(plan.reading)}
    given = {"out": AUDIT, **{name: value for name, value in shared.items() if name not in reading}, **own}
    words = option_words("audit", {**reading, **given})
    python = python_of("audit", (plan.source,), given)
    if reading:
        opened = _opened_in_python(str(plan.source), reading)
        python = python.replace("import audit", "import TableFile, audit", 1).replace(repr(plan.source), opened, 1)
    return Command(("audit", str(plan.source), *words), python)


def _opened_in_python(source: str, reading: Mapping[str, Any]) -> str:
    """For Python."""
    named = "".join(f", {name}={value!r}" for name, value in reading.items())
    return f"TableFile({source!r}{named})" if reading else repr(source)


def assess_command(original: str, protected: str, given: Mapping[str, Any]) -> Command:
    """Paths as the job sees them; `given` are options."""
    named = {"out": OUT, **given}
    words = ("assess", original, protected, *option_words("assess", named))
    return Command(words, python_of("assess", (original, protected), named))


def board_command(release: str, given: Mapping[str, Any]) -> Command:
    """The page for the disclosure board; paths as the job sees them."""
    named = {"out": BOARD, **given}
    return Command(("board", release, *option_words("board", named)), python_of("board", (release,), named))


def options(values: Mapping[str, Any]) -> tuple[str, ...]:
    """`--name value` for each that is given; True is a flag, and an empty text is none."""
    words: list[str] = []
    for name, value in values.items():
        if value is True:
            words.append(name)
        elif value not in (None, False, ""):
            # An option's value may begin with a hyphen only if it is joined to its name.
            words += [name, str(value)] if not str(value).startswith("-") else [f"{name}={value}"]
    return tuple(words)


def verify_command(release: str, expect: str = "", min_k: int | None = None, **more: str) -> Command:
    """`more` are files where the job works: the signer's public key, and an earlier release that this one follows."""
    asked = {"expect": expect, "min_k": min_k, **more}
    given = options({f"--{name.replace('_', '-')}": value for name, value in asked.items()})
    called = {name: value for name, value in asked.items() if value}
    return Command(("verify", release, *given), python_of("verify", (release,), called))


def index_command(server: str, name: str, k: int | None) -> Command:
    """Put documents into an index; with k, begin one with them. Server, token and key are in the environment."""
    verb, crowd = ("put", "") if k is None else ("create", f", k={k}")
    python = (
        "import os\n\nfrom shoal import IndexClient, Keys\n\n"
        f'with IndexClient({server!r}, os.environ["SHOAL_TOKEN"], Keys.read("key.txt")) as index:\n'
        f"    index.{verb}({name!r}{crowd})"
    )
    return Command(("index", verb, name, *options({"-k": k})), python)


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
