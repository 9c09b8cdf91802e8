"""The tutorial is true: its commands run, in their order, against a server, and say what the page says."""

from __future__ import annotations

from pathlib import Path

from shoal.sample import write_sample
from shoal.service.client.demo import local_server
from tests.cli.run import run
from tests.test_docs import FENCE, Block

PAGE = Path(__file__).parents[3] / "docs" / "service" / "tutorial.md"


def test_the_commands_of_the_tutorial_run(tmp_path, monkeypatch):
    write_sample(tmp_path)
    (tmp_path / "note.txt").write_text("She fell on the stairs; the hip is painful, and the surgeon saw her.")
    monkeypatch.setenv("SHOAL_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("SHOAL_STATE", str(tmp_path / "state"))
    blocks = [Block(found["kind"], found["content"]) for found in FENCE.finditer(PAGE.read_text(encoding="utf-8"))]
    commands = [command for block in blocks if block.kind == "console" for command in block.commands()]
    served = []
    with local_server(tmp_path / "shoal.db") as server:
        monkeypatch.setenv("SHOAL_SERVER", server.address)
        for words, shown in commands:
            if words[0] != "shoal" or words[1] == "serve":
                served += words[1:2]
                continue
            ran = run(tmp_path, *words[1:])
            assert ran.code == 0, (words, ran)
            if words[1] == "token":
                monkeypatch.setenv("SHOAL_TOKEN", ran.out.strip())
            said = [line.split()[0] for line in (ran.out + ran.err).splitlines() if line.strip()]
            for line in shown:
                first = line.split()[0]
                assert first in said or first[:4] in ("age1", "0.27"), (words, ran)
    assert served == ["install", "serve", "SHOAL_TOKEN=shoal_…"]
    assert len((tmp_path / "letter.txt").read_text()) > 100
