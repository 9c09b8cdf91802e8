"""The tutorial is true: its commands run, in their order, against a server, and print what the page shows."""

from __future__ import annotations

from pathlib import Path

from shoal.index.client.demo import local_server
from shoal.sample import write_sample
from tests.cli.run import run
from tests.test_docs import FENCE, Block

PAGE = Path(__file__).parents[3] / "docs" / "service" / "tutorial.md"


def test_the_commands_of_the_tutorial_run_in_an_empty_folder(tmp_path, monkeypatch):
    """Only the server runs already: every file that a command reads was made by a command before it."""
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.setenv("SHOAL_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("SHOAL_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("SHOAL_DATABASE", str(tmp_path / "shoal.db"))
    blocks = [Block(block["kind"], block["content"]) for block in FENCE.finditer(PAGE.read_text(encoding="utf-8"))]
    commands = [command for block in blocks if block.kind == "console" for command in block.commands()]
    not_run = []
    with local_server(tmp_path / "shoal.db") as server:
        monkeypatch.setenv("SHOAL_SERVER", server.address)
        for words, shown in commands:
            if words[:2] == ["shoal", "demo"]:
                write_sample(folder / words[-1] / "sample")  # docs/tutorial.md runs the whole demonstration
            elif words[0] == "echo":
                assert words[2] == ">"
                (folder / words[3]).write_text(f"{words[1]}\n")
            elif words[0] != "shoal" or words[1] == "serve":
                not_run.append(words[1])
            else:
                ran = run(folder, *words[1:])
                assert ran.code == 0, (words, ran)
                if words[1] == "token":
                    monkeypatch.setenv("SHOAL_TOKEN", ran.out.strip())
                printed = [line.split()[0] for line in (ran.out + ran.err).splitlines() if line.strip()]
                for line in shown:
                    first = line.split()[0]
                    assert first in printed or first[:4] == "age1", (words, ran)
    assert not_run == ["install", "serve", "SHOAL_TOKEN=shoal_…"]
    assert len((folder / "letter.txt").read_text()) > 100
