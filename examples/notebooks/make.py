"""Runs the notebooks, which are written as scripts with `# %%` before each cell, and writes them as .ipynb.

`python examples/notebooks/make.py FOLDER [NAME …]`: works in FOLDER, and writes the notebooks there with their results.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.resolve()
SCRIPTS = sorted(path for path in HERE.glob("*.py") if path.name != "make.py")


def cells(script: str) -> list[tuple[str, str]]:
    """Kind and text of each cell."""
    found = []
    for part in script.split("# %%")[1:]:
        head, _, text = part.partition("\n")
        if "markdown" in head:
            found.append(
                ("markdown", "\n".join(line.removeprefix("#").removeprefix(" ") for line in text.strip().split("\n")))
            )
        else:
            found.append(("code", text.strip()))
    return found


def run(code: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a cell; what it prints, and the value of its last line as a notebook shows it."""
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        value = None if last is None else eval(compile(last, "cell", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    if value is not None:
        shown = {"text/plain": repr(value)[:200]}
        if hasattr(value, "_repr_html_"):
            shown["text/html"] = value._repr_html_()
        outputs.append({"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": shown})
    return outputs


def notebook(script: Path) -> dict[str, Any]:
    """The notebook of a script, run."""
    names: dict[str, Any] = {"__name__": "__main__"}
    made = []
    for number, (kind, text) in enumerate(cells(script.read_text(encoding="utf-8"))):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": run(text, names)}
        made.append(cell)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def main(folder: str, *chosen: str) -> None:
    """Make all notebooks, or those named."""
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    for script in SCRIPTS:
        if not chosen or script.stem in chosen:
            content = json.dumps(notebook(script), indent=1, ensure_ascii=False) + "\n"
            Path(f"{script.stem}.ipynb").write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
