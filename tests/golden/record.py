"""Record golden.json anew: `python -m tests.golden.record` for all cases, or with the names of some."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from tests.golden.cases import CASES
from tests.golden.making import differences, libraries, made_by

GOLDEN = Path(__file__).with_name("golden.json")


def record(names: list[str]) -> None:
    """Run the cases and write their fingerprints; say what changed."""
    unknown = [name for name in names if name not in CASES]
    if unknown:
        sys.exit(f"no case is called {unknown[0]!r}; there are: {', '.join(CASES)}")
    golden = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {"cases": {}}
    if names and golden.get("libraries") != libraries():
        sys.exit("the libraries have other versions than when golden.json was recorded; record all cases")
    recorded = {name: made for name, made in golden["cases"].items() if name in CASES}
    for name in names or CASES:
        with tempfile.TemporaryDirectory() as folder:
            made = made_by(CASES[name], Path(folder))
        changes = differences(recorded.get(name, {}), made)
        sys.stderr.write(f"{name}: {'new' if name not in recorded else 'changed' if changes else 'as it was'}\n")
        sys.stderr.writelines(f"    {line}\n" for line in changes if name in recorded)
        recorded[name] = made
    ordered = {name: recorded[name] for name in CASES if name in recorded}
    content = {"libraries": libraries(), "cases": ordered}
    GOLDEN.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record(sys.argv[1:])
