"""shoal index: encrypted documents on a server, found by their words."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.app import AsJson, Force, app
from shoal.cli.signals import resumable, search_stops_at_first_interrupt
from shoal.cli.terminal import asked_passphrase, examples, printable, say, say_if_kernels_compile, shown_progress, write
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.index.client import IndexClient, PutReport

index_app = typer.Typer(
    name="index",
    help="Keep encrypted documents on a server and find them by their words; each hides in a crowd of at least k.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(index_app)

Server = Annotated[
    str | None,
    typer.Option("--server", envvar="SHOAL_SERVER", help="Address of the server.", metavar="<address>"),
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar="SHOAL_TOKEN",
        help="Your token. Other users of this machine can see an option; they cannot see the variable.",
        metavar="<token>",
    ),
]
Key = Annotated[
    Path | None,
    typer.Option("--key", envvar="SHOAL_KEY", help="File with your secret key.", **options.path()),
]
Ca = Annotated[
    Path | None,
    typer.Option("--ca", envvar="SHOAL_CA", help="Certificates of a private authority, PEM.", **options.path()),
]
Recipients = Annotated[
    list[str] | None,
    typer.Option("--recipient", help="Public key of another reader; repeatable.", metavar="<age1…>"),
]
TextColumn = Annotated[str | None, typer.Option(help="Column with the text.", **options.named())]
IdColumn = Annotated[str | None, typer.Option(help="Column that names the documents.", **options.named())]
Alone = Annotated[
    bool, typer.Option("--alone", help="Fetch it by itself: quicker, but the server sees which document is read.")
]


@index_app.command(
    epilog=examples(
        "shoal index create letters.jsonl -k 5",
        "shoal index create letters.jsonl --from release/",
        "shoal index create --from release/",
    )
)
def create(
    source: Annotated[
        Path | None, typer.Argument(help="Documents to start with, as for protect.", **options.path("[INPUT]"))
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", help="Smallest crowd.  [default: 5, or that of the release]", **options.whole(2))
    ] = None,
    release: Annotated[
        Path | None, typer.Option("--from", help="Release to take groups and vocabulary from.", **options.path())
    ] = None,
    private: Annotated[
        Path | None, typer.Option(help="Its private folder.  [default: beside it]", **options.path())
    ] = None,
    embargo: Annotated[
        float,
        typer.Option(help="Documents less similar than this to every group wait; 0: none does.", metavar="<0 to 1>"),
    ] = 0.45,
    text_column: TextColumn = None,
    id_column: IdColumn = None,
    recipient: Recipients = None,
    server: Server = None,
    token: Token = None,
    ca: Ca = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Create the index of a server; this needs an operator's token.

    With documents the index starts with them: in groups made here, or in those of a release that was made from them.
    With a release alone it starts empty, with the vocabulary of the release. Run it again if it was interrupted.
    """
    if not 0 <= embargo < 1:
        raise InputError(f"--embargo {embargo:g} must be a similarity from 0 to below 1; 0 is no embargo")
    if k is not None and release is not None:
        raise InputError(f"-k {k} cannot be given with --from: the index takes the k of the release; leave it out")
    say_if_kernels_compile()
    with (
        resumable(),
        connected(server, token, ca, key, recipient, needs_key=source is not None) as client,
        shown_progress(),
        search_stops_at_first_interrupt(),
    ):
        report = client.create(
            source,
            k=k or 5,
            release=release,
            private=private,
            embargo=embargo or None,
            text_column=text_column,
            id_column=id_column,
        )
    _write_report(report, as_json)


@index_app.command(epilog=examples("shoal index put letters/", "shoal index put more.jsonl --recipient age1…"))
def put(
    source: Annotated[Path, typer.Argument(help="A text file, or documents as for protect.", **options.path("INPUT"))],
    wait: Annotated[
        float,
        typer.Option(help="Days before a document that fits no group is placed anyway; 0: at once.", metavar="<days>"),
    ] = 7.0,
    text_column: TextColumn = None,
    id_column: IdColumn = None,
    label_column: Annotated[
        str | None, typer.Option(help="Column with labels to filter by.", **options.named())
    ] = None,
    date_column: Annotated[
        str | None, typer.Option(help="Column with dates to filter by.  [default: dates of files]", **options.named())
    ] = None,
    recipient: Recipients = None,
    server: Server = None,
    token: Token = None,
    ca: Ca = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Encrypt documents, choose a group for each, and store them on the server.

    Documents that were put before are not sent again, so an interrupted put resumes when it is run again. A changed
    text is a new document, and the earlier one stays until it is deleted. Documents that fit no group wait on this
    machine: a later put finds them a group, and the first one after --wait days places them in the nearest.
    """
    if not 0 <= wait < 1e6:
        raise InputError(f"--wait {wait:g} must be a number of days; 0 places every document at once")
    say_if_kernels_compile()
    with resumable(), connected(server, token, ca, key, recipient, needs_key=True) as client, shown_progress():
        report = client.put(
            source,
            wait=wait,
            text_column=text_column,
            id_column=id_column,
            label_column=label_column,
            date_column=date_column,
        )
    _write_report(report, as_json)


@index_app.command(epilog=examples("shoal index sync"))
def sync(
    again: Annotated[bool, typer.Option("--again", help="Fetch everything, not only what changed.")] = False,
    server: Server = None,
    token: Token = None,
    ca: Ca = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Fetch what readers search by, sealed, so that searches ask the server nothing.

    Only changes are fetched, and an interrupted sync goes on where it was. The copy on this machine opens with your key
    alone. From then on `search` searches it, after fetching what has changed: the server sees that you did, and nothing
    of what you look for.
    """
    with resumable(), connected(server, token, ca, key, needs_key=True) as client, shown_progress():
        report = client.sync(again=again)
    if as_json:
        write(json.dumps(asdict(report), indent=2))
        return
    write(f"fetched      {report.fetched:,} records that changed")
    write(f"searchable   {report.readable:,} documents, {report.bytes / 1e6:,.1f} MB on this machine")


@index_app.command(
    epilog=examples("shoal index get 5f0c7d2ab9e14c6fa1d30d1f0f8e9a77", "shoal index get 7.txt -o 7.txt")
)
def get(
    document: Annotated[str, typer.Argument(help="Id, or the name it was put under.", metavar="DOCUMENT")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="File to write it to.  [default: stdout]", **options.path())
    ] = None,
    force: Force = False,
    alone: Alone = False,
    server: Server = None,
    token: Token = None,
    ca: Ca = None,
    key: Key = None,
) -> None:
    """Fetch a document and decrypt it.

    It comes with others, k or more, whose ids begin alike, so that the server does not see which one is read.
    """
    with connected(server, token, ca, key, needs_key=True) as client:
        text = client.get(document, alone=alone)
    if out is None:
        _write_text(text)
        return
    try:
        with out.open("w" if force else "x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{printable(str(out))} exists; name another file, or pass --force to replace it") from None
    except OSError as problem:
        raise InputError(f"{printable(str(out))} cannot be written ({problem.strerror}); name another file") from None


@index_app.command(epilog=examples("shoal index delete 5f0c7d2ab9e14c6fa1d30d1f0f8e9a77", "shoal index delete 7.txt"))
def delete(
    documents: Annotated[list[str], typer.Argument(help="Ids, or names they were put under.", metavar="DOCUMENT...")],
    server: Server = None,
    token: Token = None,
    ca: Ca = None,
) -> None:
    """Delete documents of your own. If one of them is not known, none is deleted."""
    with connected(server, token, ca) as client:
        ids = dict.fromkeys(client.id_of(document) for document in documents)
        for deleted, id in enumerate(ids):
            try:
                client.delete(id)
            except InputError as refusal:
                raise InputError(f"{deleted:,} deleted, but {id} was not: {refusal}") from None
    say(f"{len(ids):,} deleted")


@index_app.command(epilog=examples('shoal index search "broken hip"', 'shoal index search "broken hip" --fetch 1'))
def search(
    query: Annotated[list[str], typer.Argument(help="Words to look for.", metavar="QUERY...")],
    limit: Annotated[int, typer.Option("-n", "--limit", help="Documents to show.", **options.whole(1))] = 10,
    fetch: Annotated[int, typer.Option(help="Fetch and decrypt this many of the best.", **options.whole(0))] = 0,
    since: Annotated[str, typer.Option(help="Not before this day.", metavar="<date>", show_default=False)] = "",
    until: Annotated[
        str, typer.Option(help="Not after this day, month or year.", metavar="<date>", show_default=False)
    ] = "",
    folder: Annotated[
        str, typer.Option(help="Only what was put from this folder.", metavar="<name>", show_default=False)
    ] = "",
    label: Annotated[str, typer.Option(help="Only this label.", metavar="<label>", show_default=False)] = "",
    server: Server = None,
    token: Token = None,
    ca: Ca = None,
    key: Key = None,
    as_json: AsJson = False,
) -> None:
    """Rank documents by a query, best first: similarity, id, name, the words that matched, and how it begins.

    The search is at home: it syncs first, and the server learns nothing of it.
    """
    from shoal.index.client import SearchFilter

    allowed = SearchFilter(since, until, folder, label)
    with connected(server, token, ca, key, needs_key=True) as client, shown_progress():
        hits = client.search(" ".join(query), limit, allowed=allowed)
        texts = [client.get(hit.document) for hit in hits[:fetch]]
    if as_json:
        rows: list[dict[str, Any]] = [asdict(hit) for hit in hits]
        for row, text in zip(rows, texts, strict=False):
            row["text"] = text
        write(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for hit in hits:
        name = f"{hit.name}  " if hit.name else ""
        opening = f"  | {hit.opening[:60]}" if hit.opening else ""
        write(printable(f"{hit.similarity:.3f}  {hit.document}  {name}{', '.join(hit.words)}{opening}"))
    for hit, text in zip(hits, texts, strict=False):
        write("\n" + printable(hit.name or hit.document))
        _write_text(text)
    if not hits:
        say("nothing found: no document that you can read has these words")


@index_app.command(epilog=examples("shoal index export -o snapshot/", "shoal verify snapshot/"))
def export(
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to create.", **options.path())],
    force: Force = False,
    server: Server = None,
    token: Token = None,
    ca: Ca = None,
    as_json: AsJson = False,
) -> None:
    """Write the vector space of all visible documents as a release that anyone can verify."""
    with connected(server, token, ca) as client, shown_progress():
        certificate = client.export(out, force=force)
    if as_json:
        write(json.dumps({"release": str(out), "certificate": certificate}, indent=2))
        return
    promises = certificate["promises"]
    write(printable(f"release      {out}"))
    write(f"documents    {promises['rows']:,}, each in a crowd of at least {promises['anonymity']['k']}")
    write(f"seal         {certificate['seal']}")


@index_app.command(epilog=examples("shoal index status"))
def status(server: Server = None, token: Token = None, ca: Ca = None, as_json: AsJson = False) -> None:
    """Show the index in figures, and what this machine keeps of it."""
    with connected(server, token, ca) as client:
        figures = client.status()
    if as_json:
        write(json.dumps(asdict(figures), indent=2))
        return
    write(f"crowd        k={figures.k}, {figures.groups:,} groups, {figures.terms:,} terms")
    write(f"documents    {figures.documents:,} visible")
    write(f"mine         {figures.mine:,}, of which this machine knows {figures.put_here:,} by name")
    write(f"waiting      {figures.waiting_here:,} held back on this machine until similar ones come")
    if figures.overdue:
        say(f"{figures.overdue:,} have waited for more than 7 days; the next put places them in the nearest groups")
    if figures.unfinished:
        say(f"{figures.unfinished:,} unfinished; run the interrupted command again")


@index_app.command(epilog=examples("shoal index keys --new", "shoal index keys"))
def keys(
    new: Annotated[bool, typer.Option("--new", help="Make a key first.")] = False,
    passphrase: Annotated[bool, typer.Option("--passphrase", help="Lock the new key with a passphrase.")] = False,
    key: Key = None,
) -> None:
    """Show your public key, for others to encrypt to; make the secret one with --new.

    The key file is in the format of age, and only its owner can read it. If you lose it, you lose the documents.
    """
    from shoal.index.client import Keys
    from shoal.index.client.connection import read_settings

    file = read_settings(key=key).key
    if passphrase and not new:
        raise InputError("--passphrase locks a new key; add --new")
    if new:
        made = Keys.draw()
        made.write(file, asked_passphrase(confirmed=True) if passphrase else None)
        say(f"{printable(str(file))} holds your secret key; keep a copy of it, or lose your documents with it")
    else:
        made = Keys.read(file, asked_passphrase)
    write(made.public)


def _write_report(report: PutReport, as_json: bool) -> None:
    if as_json:
        write(json.dumps(asdict(report), indent=2, ensure_ascii=False))
        return
    write(f"documents    {report.documents:,}, of which {report.known:,} were put before")
    write(f"uploaded     {report.uploaded:,}")
    if report.waiting:
        write(f"waiting      {report.waiting:,} on this machine, until similar ones come")
    if report.without_terms:
        say(f"note: {report.without_terms:,} have no word of the vocabulary; they are stored, but no search finds them")
    for name, earlier in report.changed[:10]:
        say(f"note: the earlier text of {name} stays and is still found; delete it with: shoal index delete {earlier}")
    if len(report.changed) > 10:
        say(f"note: so do {len(report.changed) - 10:,} other earlier texts; --json lists them")
    for name, reason in report.refused[:10]:
        say(f"note: {name} was not stored: {reason}")
    if report.refused:
        raise InputError(f"{len(report.refused)} of {report.documents} documents were refused; see the notes above")


def _write_text(text: str) -> None:
    """Write a text to stdout as it is; to a terminal without control characters, which may come from a stranger."""
    if sys.stdout.isatty():
        text = "\n".join(printable(line.replace("\t", "    ")) for line in text.splitlines())
    write(text)


@contextmanager
def connected(
    server: str | None,
    token: str | None,
    ca: Path | None,
    key: Path | None = None,
    recipients: Sequence[str] | None = None,
    *,
    needs_key: bool = False,
) -> Iterator[IndexClient]:
    """A client with these settings, and with a key if it is needed."""
    from shoal.data.files import shown
    from shoal.index.client import IndexClient, Keys
    from shoal.index.client.connection import read_settings

    settings = read_settings(server, token, key, recipients or (), ca)
    if not settings.token:
        raise InputError("there is no token; set SHOAL_TOKEN to the one that the operator gave you")
    keys = None
    if needs_key:
        if not settings.key.exists():
            raise InputError(f"{shown(settings.key)} does not exist; make a key with: shoal index keys --new")
        keys = Keys.read(settings.key, asked_passphrase).shared_with(settings.recipients)
    with IndexClient(settings.server, settings.token, keys, ca=settings.ca) as client:
        yield client
