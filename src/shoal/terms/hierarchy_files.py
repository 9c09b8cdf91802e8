"""Hierarchies in files: CSV, OBO through pronto, OWL and SKOS through rdflib, UMLS's tables. Nothing is fetched.

CSV has, per row, a child and its parent, or a value and its levels of generalisation (as in ARX). A first row with
names such as child and parent, or above a last column that is otherwise one value, is a header.

A concept of an ontology is called by its label, and by "label (identifier)" where two share one. Identifiers, exact
synonyms and labels in other languages are synonyms, as far as each means one concept. Obsolete concepts are left out,
and so are superclasses that have no name (restrictions) and relations other than "is a".
"""

from __future__ import annotations

import csv
import io
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from shoal.data.files import PathLike, decode, open_text, read_bytes, reading, shown
from shoal.errors import InputError, MissingExtra

_CHILD = {"child", "value", "concept", "narrower", "term", "name"}
_PARENT = {"parent", "broader", "is_a", "isa", "generalisation", "generalization"}

Row = tuple[int, list[str]]  # its number in the file, and its cells
_RDF_FORMAT = {".owl": "xml", ".rdf": "xml", ".xml": "xml", ".ttl": "turtle", ".nt": "nt"}
_LANGUAGES = ("", "en", "en-us", "en-gb")  # labels in these are preferred, the first of them most


@dataclass(frozen=True)
class Concepts:
    """(child, parent) links by name; names that need no link; other names of concepts; definitions."""

    links: list[tuple[str, str]]
    alone: frozenset[str] = frozenset()
    synonyms: dict[str, str] = field(default_factory=dict)
    glosses: dict[str, str] = field(default_factory=dict)


def read_hierarchy_csv(path: PathLike) -> Concepts:
    """The links of a CSV file, each once."""
    name = shown(path)
    with reading(path):
        text = decode(read_bytes(path))
    if "\0" in text:
        raise InputError(f"{name} is binary, not text; export it as CSV")
    rows = _rows(text, name)
    if not rows:
        raise InputError(f"{name} is empty; give rows of child and parent, or of a value and its levels")
    header = [cell.casefold() for cell in rows[0][1]]
    child = [column for column, cell in enumerate(header) if cell in _CHILD]
    parent = [column for column, cell in enumerate(header) if cell in _PARENT]
    if len(child) == len(parent) == 1:
        return _from_pairs(rows[1:], child[0], parent[0], len(header), name)
    tops = {cells[-1] for _, cells in rows[1:]}
    if len(tops) == 1:
        has_header = rows[0][1][-1] not in tops
        if has_header:
            _check_header(rows, name)
        return _from_levels(rows[has_header:], name)
    if max(len(cells) for _, cells in rows) > 2:
        return _from_levels(rows, name)
    _check_header(rows, name)
    return _from_pairs(rows[1:], 0, 1, 2, name)


def _rows(text: str, name: str) -> list[Row]:
    """Rows with their numbers, without spaces round cells, empty cells at the end, and blank rows.

    The delimiter is the one that gives all rows the same width, at least two; else the one that splits most rows.
    """
    best: list[Row] = []
    most = -1
    problem: InputError | None = None
    for delimiter in ";\t,":
        try:
            rows = list(_split(text, delimiter, name))
        except InputError as misfit:  # quotes fit only where the delimiter does
            problem = misfit
            continue
        if rows and len({len(cells) for _, cells in rows}) == 1 and len(rows[0][1]) > 1:
            best, most = rows, len(rows)
            break
        split = sum(len(cells) > 1 for _, cells in rows)
        if split > most or (split == most and delimiter == ","):
            best, most = rows, split
    if most < 0 and problem is not None:
        raise problem
    stripped = []
    for number, cells in best:
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            stripped.append((number, cells))
    return stripped


def _split(text: str, delimiter: str, name: str) -> Iterable[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            message = f"{name}: the quotes in line {reader.line_num} are unbalanced; double one inside a quoted name"
            raise InputError(message) from None
        cells = [cell.strip() for cell in row]
        if any(cells):
            yield reader.line_num, cells


def _check_header(rows: list[Row], name: str) -> None:
    """A first row whose names come again below is a row: it must not be lost as a header."""
    below = {cell for _, cells in rows[1:] for cell in cells}
    again = [cell for cell in rows[0][1] if cell in below]
    if again or len(rows) == 1:
        what = f"{again[0]!r} comes again below" if again else "there are no rows below"
        raise InputError(f"{name}: the first line should be a header, and {what}; put a header of other names above it")


def _from_pairs(rows: list[Row], child_column: int, parent_column: int, width: int, name: str) -> Concepts:
    """Links from two columns. A row without a parent, or with the child as its own, names the root."""
    links: dict[tuple[str, str], None] = {}
    alone: dict[str, int] = {}  # and its line
    for number, cells in rows:
        if len(cells) > width:
            raise InputError(
                f"{name}: line {number} has {len(cells)} cells where {width} are expected; quote a name with a comma"
            )
        padded = cells + [""] * (width - len(cells))
        child = padded[child_column]
        parent = padded[parent_column] or child
        if not child:
            raise InputError(f"{name}: line {number} has a parent and no child; name the child or remove the line")
        if child == parent:
            alone[child] = number
        else:
            links[child, parent] = None
    children = {child for child, _ in links}
    for root, number in alone.items():
        if root in children:
            raise InputError(
                f"{name}: line {number} gives {root!r} no parent but itself, and another line does; remove one"
            )
    return Concepts(list(links), frozenset(alone))


def _from_levels(rows: list[Row], name: str) -> Concepts:
    """Links from each level to the next."""
    links: dict[tuple[str, str], None] = {}
    alone: set[str] = set()
    for number, cells in rows:
        if not all(cells):
            raise InputError(f"{name}: line {number} has an empty level between two others; name it")
        # A value that stays the same on the next level is one concept.
        links.update(dict.fromkeys(pair for pair in pairwise(cells) if pair[0] != pair[1]))
        alone.add(cells[-1])
    return Concepts(list(links), frozenset(alone))


@dataclass(frozen=True)
class _Term:
    """A concept as a file has it."""

    identifier: str
    label: str
    parents: list[str]  # identifiers
    synonyms: list[str]
    gloss: str


def read_hierarchy(path: PathLike) -> Concepts:
    """The concepts of a file, its kind given by the suffix."""
    suffix = Path(str(path).lower().removesuffix(".gz")).suffix
    if suffix in (".csv", ".tsv", ".txt"):
        return read_hierarchy_csv(path)
    if suffix != ".obo" and suffix != ".rrf" and suffix not in _RDF_FORMAT:
        raise InputError(
            f"{shown(path)} is no known kind of hierarchy; give .csv, .obo, .owl, SKOS as .rdf, .ttl or .nt, or "
            "UMLS's MRCONSO.RRF"
        )
    if suffix == ".rrf":
        return _by_name(list(_rrf(Path(path))))
    with reading(path):
        content = read_bytes(path)
    terms = list(_obo(content, shown(path)) if suffix == ".obo" else _rdf(content, _RDF_FORMAT[suffix], shown(path)))
    if not terms:
        raise InputError(f"{shown(path)} has no concepts; give OBO terms, OWL classes or SKOS concepts")
    return _by_name(terms)


def _obo(content: bytes, name: str) -> Iterator[_Term]:
    try:
        import pronto
    except ImportError:
        raise MissingExtra("ontology", "reading OBO files") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ontology = pronto.Ontology(io.BytesIO(content), import_depth=0)
    except KeyError as missing:
        raise InputError(
            f"{name}: {missing.args[0]} is named as a parent and not defined; define or remove it"
        ) from None
    except Exception:  # whatever the parser chokes on
        raise InputError(f"{name} cannot be read as OBO; check it with the tool that wrote it") from None
    for term in ontology.terms():
        if not term.obsolete:
            above = [parent.id for parent in term.superclasses(distance=1, with_self=False) if not parent.obsolete]
            exact = [synonym.description for synonym in term.synonyms if synonym.scope == "EXACT"]
            yield _Term(term.id, term.name or term.id, above, exact, str(term.definition or ""))


def _rrf(names: Path) -> Iterator[_Term]:
    """English names of MRCONSO.RRF, the preferred first, and parents of MRREL.RRF beside it; not suppressed rows."""
    above: dict[str, list[str]] = {}
    for row in _table(names.with_name(names.name.replace("MRCONSO", "MRREL")), 16):
        if row[3] == "PAR" and row[0] != row[4] and row[14] not in "EOY":  # the second concept is the first's parent
            above.setdefault(row[0], []).append(row[4])
    named: dict[str, list[tuple[bool, str]]] = {}
    for row in _table(names, 18):
        if row[1] == "ENG" and row[16] not in "EOY":
            named.setdefault(row[0], []).append(((row[2], row[4], row[6]) != ("P", "PF", "Y"), row[14]))
    for identifier, spelt in sorted(named.items()):
        label, *synonyms = dict.fromkeys(name for _, name in sorted(spelt))
        yield _Term(identifier, label, [one for one in above.get(identifier, []) if one in named], synonyms, "")


def _table(path: Path, columns: int) -> Iterator[list[str]]:
    """Rows of cells that each end in a bar."""
    with reading(path), open_text(path, newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            cells = line.rstrip("\r\n").split("|")
            if len(cells) != columns + 1:
                raise InputError(
                    f"{shown(path)}: line {number} has {len(cells) - 1} columns, not {columns}; see UMLS's"
                )
            yield cells


def _rdf(content: bytes, form: str, name: str) -> Iterator[_Term]:
    try:
        import rdflib
        from rdflib.namespace import OWL, RDF, RDFS, SKOS
    except ImportError:
        raise MissingExtra("ontology", "reading OWL and SKOS files") from None
    graph = rdflib.Graph()
    try:
        graph.parse(data=content, format=form)
    except Exception:  # whatever the parser chokes on
        kind = {"xml": "RDF/XML", "turtle": "Turtle", "nt": "N-Triples"}[form]
        raise InputError(f"{name} cannot be read as {kind}; check it with the tool that wrote it") from None
    links = {*graph.subject_objects(SKOS.broader), *graph.subject_objects(RDFS.subClassOf)}
    links |= {(narrower, broader) for broader, narrower in graph.subject_objects(SKOS.narrower)}
    links = {(child, parent) for child, parent in links if child != parent}
    concepts = {node for link in links for node in link}
    for kind in (SKOS.Concept, OWL.Class, RDFS.Class):
        concepts.update(graph.subjects(RDF.type, kind))
    gone = {node for node, value in graph.subject_objects(OWL.deprecated) if str(value).lower() in ("true", "1")}
    concepts = {node for node in concepts if isinstance(node, rdflib.URIRef)} - gone
    above: dict[Any, list[str]] = {node: [] for node in concepts}
    for child, parent in sorted(links):
        if child in concepts and parent in concepts:
            above[child].append(str(parent))
    definition = rdflib.URIRef("http://purl.obolibrary.org/obo/IAO_0000115")
    for node in sorted(concepts):
        labels = _preferred(graph, node, SKOS.prefLabel, RDFS.label)
        glosses = _preferred(graph, node, SKOS.definition, definition, RDFS.comment)
        other = [*labels[1:], *_preferred(graph, node, SKOS.altLabel), _fragment(node)]
        yield _Term(str(node), (labels or [_fragment(node)])[0], above[node], other, (glosses or [""])[0])


def _preferred(graph: Any, node: Any, *predicates: Any) -> list[str]:
    """The texts of a node, English and unmarked ones first; the first predicate goes before the second."""
    texts: list[str] = []
    for predicate in predicates:
        marked = [
            (str(text), (getattr(text, "language", None) or "").lower()) for text in graph.objects(node, predicate)
        ]
        rank = {language: number for number, language in enumerate(_LANGUAGES)}
        texts += [text for text, _ in sorted(marked, key=lambda pair: (rank.get(pair[1], len(rank)), pair[1], pair[0]))]
    return [text.strip() for text in texts if text.strip()]


def _fragment(node: Any) -> str:
    """The last part of an address: Dog of http://example.org/zoo#Dog."""
    return str(node).rstrip("/#").replace("#", "/").rpartition("/")[2] or str(node)


def _by_name(terms: list[_Term]) -> Concepts:
    """Terms by a name of their own."""
    shared = Counter(term.label for term in terms)
    name_of = {
        term.identifier: term.label if shared[term.label] == 1 else f"{term.label} ({_fragment(term.identifier)})"
        for term in terms
    }
    if len(set(name_of.values())) < len(terms):  # fragments are shared as well, or look like another label
        name_of = {term.identifier: term.identifier for term in terms}
    meant: dict[str, set[str]] = {}
    for term in terms:
        for synonym in (term.identifier, *term.synonyms):
            meant.setdefault(synonym, set()).add(name_of[term.identifier])
    names = set(name_of.values()) | set(shared)
    return Concepts(
        links=[(name_of[term.identifier], name_of[above]) for term in terms for above in dict.fromkeys(term.parents)],
        alone=frozenset(name_of.values()),
        synonyms={
            synonym: concepts.pop()
            for synonym, concepts in meant.items()
            if len(concepts) == 1 and synonym not in names
        },
        glosses={name_of[term.identifier]: " ".join(term.gloss.split()) for term in terms if term.gloss},
    )
