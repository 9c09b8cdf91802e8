"""The tree is the architecture: who may import whom, and what a module must look like."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "shoal"

# From the top. A folder imports from lines below its own; folders on one line never import each other.
LAYERS = (
    ("__main__",),
    ("cli",),
    ("web",),
    ("service", "exploration"),
    ("release", "index"),
    ("assessment",),
    ("protection",),
    ("bundle",),
    ("pages",),
    ("sketch",),
    ("microaggregation", "masking", "sanitizer", "risk", "utility"),
    ("vectors", "ontology", "sample"),
    ("io", "verification"),
    ("kernels",),
    ("results",),
    ("errors", "progress"),
)
LEVEL = {folder: len(LAYERS) - line for line, folders in enumerate(LAYERS) for folder in folders}

# A library that is at home in one folder only.
SERVING = ("alembic", "fastapi", "prometheus_client", "sqlalchemy", "starlette", "uvicorn")
HOME = {
    "numba": {"kernels"},
    "typer": {"cli"},
    "rich": {"cli"},
    "pyrage": {"io", "service"},
    "cryptography": {"bundle", "verification"},
}
HOME |= {library: {"service"} for library in SERVING}
HOME |= {library: {"service", "web"} for library in ("fastapi", "starlette", "uvicorn")}

FORBIDDEN_NAMES = {"utils", "misc", "helpers", "common", "core"}
MOST_MODULES = 16  # of a folder
LONGEST_MODULE = 350  # lines
LONGEST_FUNCTION = 80
MOST_PARAMETERS = 10  # outside of cli, where each option is one; self apart

MODULES = sorted(SOURCE.rglob("*.py"))


def folder_of(path: Path) -> str:
    """The folder right below the package, or the module's own name; "" for the package itself."""
    first = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def imports_of(tree: ast.AST) -> Iterator[str]:
    """Every imported name in full, wherever in the module the import stands: `from a import b` is a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that they can be read without their place"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def folders_imported_by(path: Path) -> set[str]:
    """The other folders of Shoal that a module imports from."""
    parts = (name.split(".") for name in imports_of(parsed(path)))
    return {name[1] for name in parts if name[0] == "shoal" and len(name) > 1} - {folder_of(path)}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_module_imports_only_from_below(path: Path) -> None:
    folder = folder_of(path)
    if folder == "":  # The package itself names everything and loads it on first use.
        return
    assert folder in LEVEL, f"{folder} has no place in the layers; give it one"
    wrong = {imported for imported in folders_imported_by(path) if LEVEL[imported] >= LEVEL[folder]}
    assert not wrong, f"{folder} must not import {', '.join(sorted(wrong))}"


@pytest.mark.parametrize("library", HOME)
def test_a_library_stays_in_its_folder(library: str) -> None:
    found = {
        folder_of(path) for path in MODULES if any(name.split(".")[0] == library for name in imports_of(parsed(path)))
    }
    assert found <= HOME[library]


def test_verification_shares_nothing_with_what_it_checks() -> None:
    """Verification knows results and errors: no method, no reader of input, no writer."""
    imported = {folder for path in MODULES if folder_of(path) == "verification" for folder in folders_imported_by(path)}
    assert imported <= {"results", "errors"}


def test_the_server_shares_nothing_with_its_client() -> None:
    """Above all not its encryption: the server could not open a document if it wanted to."""
    client = SOURCE / "service" / "client"
    server = [path for path in MODULES if folder_of(path) == "service" and client not in path.parents]
    imported = {name for path in server for name in imports_of(parsed(path))}
    assert not any(name.startswith(("shoal.service.client", "shoal.io.sealing")) for name in imported)


def test_pages_know_no_method() -> None:
    imported = {folder for path in MODULES if folder_of(path) == "pages" for folder in folders_imported_by(path)}
    assert imported <= {"results", "errors", "progress"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_a_module_is_small_says_what_it_is_and_never_prints(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = parsed(path)
    assert ast.get_docstring(tree), "the first line of a module says what it is"
    assert text.count("\n") <= LONGEST_MODULE, "a long module holds more than one idea; split it"
    prints = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "print"]
    assert not prints, "the library reports through values and `progress`, never with print"


@pytest.mark.parametrize("folder", sorted({path.parent for path in MODULES}), ids=lambda path: path.name)
def test_a_folder_can_be_read_at_a_glance(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= MOST_MODULES, "a full folder holds more than one subject; divide it"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_functions_are_short_and_take_few_parameters(path: Path) -> None:
    functions = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    in_cli = folder_of(path) == "cli"  # where each option is a line before the function begins
    first = {node.name: (node.body[0] if in_cli else node).lineno for node in functions}
    long = [node.name for node in functions if (node.end_lineno or 0) - first[node.name] >= LONGEST_FUNCTION]
    assert not long, "a long function is a story of several steps; give them names"
    if in_cli:
        return
    crowded = [node.name for node in functions if len(parameters_of(node)) > MOST_PARAMETERS]
    assert not crowded, "what belongs together travels as one value"


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """All of them, with those that are starred, without self and cls."""
    taken = function.args
    starred = [one for one in (taken.vararg, taken.kwarg) if one is not None]
    named = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs, *starred]
    return [one.arg for one in named if one.arg not in ("self", "cls")]


def test_no_drawer_for_odds_and_ends() -> None:
    names = {part.removesuffix(".py") for path in MODULES for part in path.relative_to(SOURCE).parts}
    assert not names & FORBIDDEN_NAMES
