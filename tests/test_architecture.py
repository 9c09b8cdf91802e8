"""The tree is the architecture: who may import whom, and what a module must look like.

Each test looks at the whole tree and lists everything that is wrong.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.conftest import SLOW, TESTS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "shoal"

# From the top. A folder imports from lines below its own; folders on one line never import each other.
LAYERS = (
    ("__main__",),
    ("cli",),
    ("web",),
    ("__init__",),  # the public names
    ("assessment",),
    ("sanitizer", "index"),
    ("release",),
    ("verification",),
    ("pages",),
    ("promises",),
    ("methods", "attacks"),
    ("utility",),
    ("terms", "sample"),
    ("data",),
    ("kernels",),
    ("results",),
    ("request",),
    ("errors", "language", "progress", "version"),
)
LEVEL = {folder: len(LAYERS) - line for line, folders in enumerate(LAYERS) for folder in folders}

# A library is at home in some folders only.
HOME = {
    "numba": ("kernels",),
    "typer": ("cli",),
    "rich": ("cli",),
    "dask": ("release",),
    "pyrage": ("data", "index"),
    "cryptography": ("release", "verification"),
    **dict.fromkeys(("prometheus_client", "sqlalchemy"), ("index",)),
    **dict.fromkeys(("fastapi", "starlette", "uvicorn"), ("index", "web")),
}

FORBIDDEN_NAMES = {"utils", "misc", "helpers", "common", "core"}
MOST_MODULES = 24  # of a folder
LONGEST_MODULE = 420  # lines
LONGEST_FUNCTION = 80
MOST_PARAMETERS = 11  # outside of cli, where each option is one; self apart. VectorSpace has one for each of its steps
OPTION_TABLE = ("protect", "explore", "assess", "audit", "board")  # whose signature is the option table
# Lines of the library that spell an option of the command line. An error carries the option and each front end spells
# it, so this may only fall.
MOST_FLAGS = 6

MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def folder_of(path: Path) -> str:
    """The folder right below the package, or the module's own name if it is in none."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Every imported name in full, wherever in the module the import stands: `from a import b` is a.b."""
    names = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}:{node.lineno}: imports are absolute, so that each reads the same"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def folders_imported_by(path: Path) -> set[str]:
    """The other folders of Shoal that a module imports from; `from shoal import protect` is from `__init__`."""
    parts = (name.split(".") for name in imports_of(path))
    names = {name[1] for name in parts if name[0] == "shoal" and len(name) > 1}
    return {name if name in LEVEL else "__init__" for name in names} - {folder_of(path)}


def imported_by_folder(folder: str) -> set[str]:
    """Every name that a folder below the package imports."""
    inside = [path for path in MODULES if SOURCE / folder in path.parents]
    assert inside, f"{folder} is empty; name the folder that took its place"
    return {name for path in inside for name in imports_of(path)}


def report(faults: list[str], rule: str) -> None:
    """Fail with every fault, one per line, and the rule that they break."""
    assert not faults, "\n".join([rule, *faults])


def test_every_folder_is_in_a_layer() -> None:
    report(sorted({folder_of(path) for path in MODULES} - LEVEL.keys()), "give these a place in LAYERS:")


def test_modules_import_only_from_below() -> None:
    faults = [
        f"{name_of(path)} imports {imported}"
        for path in MODULES
        for imported in sorted(folders_imported_by(path))
        if LEVEL[imported] >= LEVEL.get(folder_of(path), 0)
    ]
    report(faults, "a folder imports from the layers below its own, never from its own layer or above:")


def test_libraries_stay_in_their_folders() -> None:
    faults = [
        f"{name_of(path)} imports {library}, which belongs in {' and '.join(HOME[library])}"
        for path in MODULES
        for library in sorted(HOME.keys() & {name.split(".")[0] for name in imports_of(path)})
        if folder_of(path) not in HOME[library]
    ]
    report(faults, "each of these libraries is used in few folders:")


def test_verification_shares_nothing_with_what_it_checks() -> None:
    faults = [
        f"{name_of(path)} imports {imported}"
        for path in MODULES
        if folder_of(path) == "verification"
        for imported in sorted(folders_imported_by(path) - {"results", "errors", "pages", "version", "language"})
    ]
    report(faults, "verification knows results, errors and pages: no method, no reader of input, no writer of rows:")


def test_the_server_shares_nothing_with_its_client() -> None:
    imported = imported_by_folder("index/server")
    faults = sorted(name for name in imported if name.startswith(("shoal.index.client", "shoal.data.keys")))
    report(faults, "the server could not open a document if it wanted to; it imports no encryption of the client's:")


def test_pages_know_no_method() -> None:
    faults = [
        f"{name_of(path)} imports {imported}"
        for path in MODULES
        if folder_of(path) == "pages"
        for imported in sorted(folders_imported_by(path) - {"results", "errors", "language", "progress"})
    ]
    report(faults, "pages take plain results:")


def test_modules_say_what_they_are() -> None:
    faults = [name_of(path) for path in MODULES if not ast.get_docstring(parsed(path))]
    report(faults, "the first line of a module says what it is; these begin without a docstring:")


def test_modules_hold_one_idea() -> None:
    lengths = {path: path.read_text(encoding="utf-8").count("\n") for path in MODULES}
    faults = [f"{name_of(path)} has {lines} lines" for path, lines in lengths.items() if lines > LONGEST_MODULE]
    report(faults, f"a module of more than {LONGEST_MODULE} lines holds more than one idea; split it:")


def test_the_library_never_prints() -> None:
    faults = [
        f"{name_of(path)}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Name) and node.id == "print"
    ]
    report(faults, "the library reports through values and `progress`, never with print:")


def test_folders_can_be_read_at_a_glance() -> None:
    sizes = {folder: len(list(folder.glob("*.py"))) for folder in sorted({path.parent for path in MODULES})}
    faults = [f"{name_of(folder)} has {size} modules" for folder, size in sizes.items() if size > MOST_MODULES]
    report(faults, f"a folder of more than {MOST_MODULES} modules holds more than one subject; divide it:")


Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[Path, Function]]:
    """Every function and method with its module."""
    for path in MODULES:
        yield from ((path, node) for node in ast.walk(parsed(path)) if isinstance(node, Function))


def length_of(path: Path, function: Function) -> int:
    """Its lines; without the signature where each option is a line."""
    first = function.body[0] if folder_of(path) == "cli" or function.name in OPTION_TABLE else function
    return (function.end_lineno or 0) - first.lineno + 1


def parameters_of(function: Function) -> list[str]:
    """All of them, with those that are starred, without self and cls."""
    taken = function.args
    starred = [parameter for parameter in (taken.vararg, taken.kwarg) if parameter is not None]
    named = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs, *starred]
    return [parameter.arg for parameter in named if parameter.arg not in ("self", "cls")]


def test_functions_are_short() -> None:
    faults = [
        f"{name_of(path)}:{function.lineno} {function.name} has {length_of(path, function)} lines"
        for path, function in functions()
        if length_of(path, function) > LONGEST_FUNCTION
    ]
    report(faults, f"a function of more than {LONGEST_FUNCTION} lines tells several steps; give them names:")


def test_functions_take_few_parameters() -> None:
    faults = [
        f"{name_of(path)}:{function.lineno} {function.name} takes {len(parameters_of(function))}"
        for path, function in functions()
        if folder_of(path) != "cli" and function.name not in OPTION_TABLE
        if len(parameters_of(function)) > MOST_PARAMETERS
    ]
    report(faults, f"more than {MOST_PARAMETERS} parameters; what belongs together travels as one value:")


def test_no_drawer_for_odds_and_ends() -> None:
    faults = [name_of(path) for path in MODULES if FORBIDDEN_NAMES & {*path.relative_to(SOURCE).with_suffix("").parts}]
    report(faults, "a module's name says what it holds; these say nothing:")


def strings_of(path: Path) -> Iterator[ast.Constant]:
    """The strings of a module, and the fixed parts of its f-strings; docstrings are for readers of the code."""
    documented = (ast.Module, ast.ClassDef, Function)
    bodies = (node.body[0] for node in ast.walk(parsed(path)) if isinstance(node, documented) and node.body)
    docstrings = {id(first.value) for first in bodies if isinstance(first, ast.Expr)}
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node


def test_the_library_spells_no_option_of_the_command_line() -> None:
    flag = re.compile(r"(?<![\w-])--[a-z]")
    lines = sorted(
        f"{name_of(path)}:{string.lineno}"
        for path in MODULES
        if folder_of(path) not in ("cli", "web")
        for string in strings_of(path)
        if flag.search(string.value)
    )
    assert len(lines) <= MOST_FLAGS, (
        f"{len(lines)} strings outside cli and web spell an option such as --missing, and {MOST_FLAGS} may; an error "
        "carries the option's name and the front end spells it:\n" + "\n".join(lines)
    )


def test_what_make_quick_leaves_out_is_there() -> None:
    report([name for name in SLOW if not (TESTS / name).exists()], "SLOW in tests/conftest.py lists what is gone:")


# The machine that a file was written on: what no clone of the repository has. Invented paths of the tests are short.
MACHINE_PATH = re.compile(r"(?<![\w.:/-])/(?:work|root|mnt|srv|Users|home/(?!me\b|a\b)\w+)/\w")
REGISTRY = re.compile(
    r"\b(?:index-url|find-links|artifactory|devpi|pythonhosted|\w*pypi\.\w+|registry\.[a-z]+\.|\w+:\d+/simple)\b", re.I
)


def repository_files() -> Iterator[tuple[str, str]]:
    """Each text file of the repository by its name; what git ignores is not part of it, and without git only src is."""
    try:
        command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
        names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    except (OSError, subprocess.CalledProcessError):
        names = [path.relative_to(ROOT).as_posix() for path in MODULES]
    for name in names:
        try:
            yield name, (ROOT / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):  # deleted and not committed yet, or no text
            continue


def test_the_repository_names_no_machine_and_no_package_registry() -> None:
    faults = [
        f"{name}:{number} {found.group()}"
        for name, text in repository_files()
        if name != "tests/test_architecture.py"
        for number, line in enumerate(text.splitlines(), start=1)
        for found in (MACHINE_PATH.search(line) or REGISTRY.search(line),)
        if found
    ]
    report(faults, "a clone on another machine has no such path, and no such registry:")
