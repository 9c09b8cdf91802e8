"""shoal verify: every promise of a release, counted; shoal sign: the owner vouches for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import shoal
from shoal.cli import options
from shoal.cli.app import AsJson, Force, app
from shoal.cli.terminal import BROKEN, asked_passphrase, examples, printable, say, write
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.results.sanitizing import Secrets


@app.command(
    epilog=examples(
        "shoal verify release/",
        "shoal verify release/ --min-k 5 --signer owner.pub",
        "shoal verify received/ --rewrite release/",
    )
)
def verify(
    folder: Annotated[Path, typer.Argument(help="Folder of a release.", **options.path("RELEASE"))],
    expect: Annotated[
        str | None, typer.Option(help="The certificate's seal, as you received it through another channel.")
    ] = None,
    min_k: Annotated[int | None, typer.Option(help="Fail if the promised k is smaller.", **options.whole(2))] = None,
    private: Annotated[
        Path | None,
        typer.Option(help="Sanitized documents: the private side, to check with vault and log.", **options.path()),
    ] = None,
    key: Annotated[Path | None, typer.Option(help="File with the key of the vault.", **options.path("<file>"))] = None,
    signer: Annotated[
        str | None,  # the text of a key may have slashes that a path would lose
        typer.Option(
            help="Who must have signed the release: a public key (file or text), or a file of allowed signers.",
            metavar="KEY.pub",
        ),
    ] = None,
    after: Annotated[
        Path | None,
        typer.Option(help="Earlier release that this one follows: checks the pair.", **options.path("<release>")),
    ] = None,
    rewrite: Annotated[
        Path | None,
        typer.Option(
            help="New folder for the release, rewritten to hold what was counted and nothing else.",
            **options.path("<folder>"),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check every promise of a release by counting. Exit code 0 only when all hold, 1 when one does not."""
    result = shoal.verify(folder, expect, min_k, _secrets(private, key), signer, after, rewrite)
    if as_json:
        claims = [vars(claim) for claim in result.claims]
        words = [vars(statement) for statement in result.stated]
        write(
            json.dumps(
                {"holds": result.holds, "claims": claims, "stated": words, "signature": result.signature}, indent=2
            )
        )
    else:
        for claim in result.claims:
            mark = "ok     " if claim.holds else "BROKEN "
            write(printable(f"{mark} {claim.promise:<13} {claim.file or '':<17} {claim.detail}"))
        for word in result.stated:
            write(printable(f"stated  {word.about:<13} {word.file:<17} {word.detail}: the owner's word"))
    if not result.holds:
        first = result.broken[0]
        where = f"{first.file}: " if first.file else ""
        say(
            f"broken promises: {len(result.broken)} of {len(result.claims)}; "
            f"first: {first.promise} ({where}{first.detail})"
        )
        raise typer.Exit(BROKEN)
    crowd = (
        "" if result.promises_crowd or result.sanitized else ", but NO crowd is promised: a record may be one of a kind"
    )
    uncounted = "figures that the report marks as stated are the owner's word"
    written = "" if rewrite is None else f"{rewrite} was written anew; "
    say(f"{written}all {len(result.claims)} promises hold{crowd}; {result.signature}; {uncounted}")


def _secrets(private: Path | None, key: Path | None) -> Secrets | None:
    """The owner's secrets of sanitized documents, if a private side is given."""
    if private is None:
        if key is not None:
            raise InputError("--key opens the vault of a private side; give that as well: --private FOLDER")
        return None
    from shoal.cli.sanitizer.options import identities_of
    from shoal.sanitizer.release.vault import read_secrets

    return read_secrets(private, *identities_of(key))


@app.command(epilog=examples("shoal sign release/ --key ~/.ssh/id_ed25519"))
def sign(
    folder: Annotated[Path, typer.Argument(help="Folder of a release.", **options.path("RELEASE"))],
    key: Annotated[Path, typer.Option(help="Your OpenSSH private key (Ed25519).", **options.path("<file>"))],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Sign the certificate of a release of any kind, after verifying it.

    The signature is the file certificate.json.sig in the release. Recipients check it with shoal verify --signer, or
    with ssh-keygen -Y verify. A passphrase is asked for, or taken from SHOAL_PASSPHRASE.
    """
    seal = shoal.sign(folder, signing_key(key), force=force)
    if as_json:
        write(json.dumps({"signature": str(folder / "certificate.json.sig"), "seal": seal}, indent=2))
        return
    write(printable(f"signature    {folder / 'certificate.json.sig'}"))
    write(f"for the seal {seal}")


def signing_key(path: Path | None) -> Any:
    """The key in a file, unlocked; None if no file is given."""
    if path is None:
        return None
    from shoal.release.signing import SigningKey

    return SigningKey.read(path, passphrase=asked_passphrase)
