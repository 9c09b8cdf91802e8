"""Ontologies in files: OBO through pronto, OWL and SKOS through rdflib. Nothing is fetched from elsewhere.

A concept is called by its label, and by "label (identifier)" where two share one. Identifiers, exact synonyms and
labels in other languages are synonyms, as far as each means one concept. Obsolete concepts are left out, and so are
superclasses that have no name (restrictions) and relations other than "is a".
"""

from __future__ import annotations

import io
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError, MissingExtra
from shoal.io.files import PathLike, read_bytes, reading, shown
from shoal.ontology.hierarchy_files import Concepts, read_hierarchy_csv

__all__ = ["read_hierarchy"]

_RDF_FORMAT = {".owl": "xml", ".rdf": "xml", ".xml": "xml", ".ttl": "turtle", ".nt": "nt"}
_LANGUAGES = ("", "en", "en-us", "en-gb")  # labels in these are preferred, the first of them most


@dataclass(frozen=True)
class _Term:
    """A concept as a file has it."""

    identifier: str
    label: str
    parents: list[str]  # identifiers
    synonyms: list[str]
    gloss: str


def read_hierarchy(path: PathLike) -> Concepts:
    """The concepts of a file of a kind that its suffix tells."""
    suffix = Path(str(path).lower().removesuffix(".gz")).suffix
    if suffix in (".csv", ".tsv", ".txt"):
        return read_hierarchy_csv(path)
    if suffix != ".obo" and suffix not in _RDF_FORMAT:
        raise InputError(
            f"{shown(path)} is no known kind of hierarchy; give .csv, .obo, .owl, or SKOS as .rdf, .ttl or .nt"
        )
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
    found = {node for link in links for node in link}
    for kind in (SKOS.Concept, OWL.Class, RDFS.Class):
        found.update(graph.subjects(RDF.type, kind))
    gone = {node for node, value in graph.subject_objects(OWL.deprecated) if str(value).lower() in ("true", "1")}
    found = {node for node in found if isinstance(node, rdflib.URIRef)} - gone
    above: dict[Any, list[str]] = {node: [] for node in found}
    for child, parent in sorted(links):
        if child in found and parent in found:
            above[child].append(str(parent))
    definition = rdflib.URIRef("http://purl.obolibrary.org/obo/IAO_0000115")
    for node in sorted(found):
        labels = _preferred(graph, node, SKOS.prefLabel, RDFS.label)
        glosses = _preferred(graph, node, SKOS.definition, definition, RDFS.comment)
        other = [*labels[1:], *_preferred(graph, node, SKOS.altLabel), _fragment(node)]
        yield _Term(str(node), (labels or [_fragment(node)])[0], above[node], other, (glosses or [""])[0])


def _preferred(graph: Any, node: Any, *predicates: Any) -> list[str]:
    """What is said of a node, English and unmarked texts first; the first predicate goes before the second."""
    texts: list[str] = []
    for predicate in predicates:
        said = [(str(text), (getattr(text, "language", None) or "").lower()) for text in graph.objects(node, predicate)]
        rank = {language: place for place, language in enumerate(_LANGUAGES)}
        texts += [text for text, _ in sorted(said, key=lambda one: (rank.get(one[1], len(rank)), one[1], one[0]))]
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
