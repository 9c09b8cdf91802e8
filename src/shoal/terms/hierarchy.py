"""A user's hierarchy as an ontology, where a value is a concept found by its name; and several ontologies as one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from shoal.data.files import PathLike, shown
from shoal.errors import InputError
from shoal.terms.hierarchy_files import Concepts, read_hierarchy, read_hierarchy_csv
from shoal.terms.suggestion import Spellings, suggestions
from shoal.terms.taxonomy import Taxonomy, build_taxonomy
from shoal.terms.wordnet import WordNet

ROOT = "entity"  # above all roots of several ontologies, as in WordNet


class Hierarchy:
    """Concepts and what is above each. Made by `from_pairs`, `from_csv` or `from_file`.

    >>> sport = Hierarchy.from_pairs([("boxing", "contact sport"), ("contact sport", "sport"), ("surfing", "sport")])
    >>> sport.label(sport.taxonomy.root)
    'sport'
    >>> sport.senses("Boxing") == (sport.concept("boxing"),)
    True
    """

    def __init__(
        self, taxonomy: Taxonomy, synonyms: Mapping[str, int] | None = None, glosses: Mapping[int, str] | None = None
    ) -> None:
        self.taxonomy = taxonomy
        self._synonyms = dict(synonyms or {})
        self._glosses = dict(glosses or {})

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str]], *, root: str | None = None) -> Hierarchy:
        """From (child, parent) pairs of names. With `root`, one concept of that name above all that have no parent."""
        links = [(child, parent) for child, parent in pairs]
        if not links:
            raise InputError("a hierarchy of 0 pairs; give at least one child and its parent")
        for name in (name for link in links for name in link):
            if not isinstance(name, str) or not name.strip():
                raise InputError(f"{name!r} is not the name of a concept; give text that is not blank")
        return cls._of(Concepts(links), root, "")

    @classmethod
    def from_csv(cls, path: PathLike, *, root: str | None = None) -> Hierarchy:
        """From CSV: a header and rows of child and parent, or one value per row with its levels of generalisation.

        Comma, semicolon or tab; UTF-8 or UTF-16. Rows given twice count once.
        """
        return cls._of(read_hierarchy_csv(path), root, f"{shown(path)}: ")

    @classmethod
    def from_file(cls, path: PathLike, *, root: str | None = None) -> Hierarchy:
        """From a file, its kind given by the suffix: .csv, .tsv; .obo; .owl; SKOS as .rdf, .ttl or .nt; .RRF (UMLS).

        OBO, OWL and SKOS need the extra `ontology`.
        """
        return cls._of(read_hierarchy(path), root, f"{shown(path)}: ")

    @classmethod
    def _of(cls, concepts: Concepts, root: str | None, where: str) -> Hierarchy:
        """Concepts numbered in the order of their names, so that the order of rows in a file has no bearing."""
        names = {name for link in concepts.links for name in link}.union(concepts.alone)
        links = list(concepts.links)
        if root is not None:
            below = names - {child for child, _ in links} - {root}
            links += [(name, root) for name in sorted(below)]
            names.add(root)
        ordered = sorted(names)
        number = {name: rank for rank, name in enumerate(ordered)}
        numbers = np.array([(number[child], number[parent]) for child, parent in links], np.int64)
        try:
            taxonomy = build_taxonomy(ordered, numbers)
        except InputError as problem:
            raise InputError(f"{where}{problem}") from None
        return cls(
            taxonomy,
            {name: number[concept] for name, concept in concepts.synonyms.items()},
            {number[concept]: gloss for concept, gloss in concepts.glosses.items()},
        )

    def __repr__(self) -> str:
        return f"<Hierarchy of {len(self.taxonomy)} concepts below {self.taxonomy.names[self.taxonomy.root]!r}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Hierarchy:
        return self  # it never changes

    def senses(self, word: str) -> tuple[int, ...]:
        """The concept of a value, alone in a tuple; () when there is none.

        As it is written first; then case and spaces aside, if that leaves one concept.
        """
        concept = self.concept(word)
        return () if concept is None else (concept,)

    def concept(self, name: str) -> int | None:
        """The concept with this name or synonym; None when there is none."""
        exact = self._number.get(name, self._synonyms.get(name))
        return exact if exact is not None else self._by_plain_name.get(_plain(name))

    def above(self, name: str, steps: int) -> str:
        """The concept so many steps above a value, or the root if that is nearer."""
        concept = self.concept(name)
        if concept is None:
            raise InputError("a value to recode is not in the hierarchy of its column; add it there")
        for _ in range(steps):
            parents = self.taxonomy.parents_of(concept)
            concept = int(parents[0]) if len(parents) else concept
        return self.label(concept)

    def is_clear(self, value: str) -> bool:
        """Whether the value has a concept: a name has one meaning here."""
        return self.concept(value) is not None

    def label(self, concept: int) -> str:
        """What a release shows: the concept's name."""
        return self.taxonomy.names[concept]

    def lemma(self, concept: int) -> str:
        """The same as the label: a name has one meaning here."""
        return self.label(concept)

    def gloss(self, concept: int) -> str:
        """The definition in the file; where it has none, what the concept is a kind of."""
        if concept in self._glosses:
            return self._glosses[concept]
        above = [self.label(int(parent)) for parent in self.taxonomy.parents_of(concept)]
        return f"a kind of {' and '.join(above)}" if above else "the root"

    def suggest(self, value: str, n: int = 5) -> list[int]:
        """At most n concepts that a value may mean, the likeliest first."""
        return suggestions(value, n, self.senses, self._words_by_spelling)

    def spellings(self) -> Iterator[tuple[str, str]]:
        """Names and synonyms as texts may write them, and the name of the concept that each means."""
        for spelt in (self._number, self._synonyms):
            yield from ((name, self.label(number)) for name, number in spelt.items())

    @cached_property
    def _words_by_spelling(self) -> Spellings:
        return Spellings([*self.taxonomy.names, *self._synonyms])

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.taxonomy.names)}

    @cached_property
    def _by_plain_name(self) -> dict[str, int]:
        """Concepts by name or synonym, case and spaces aside, where that is one concept; names go before synonyms."""
        concept_of: dict[str, int] = {}
        for names in (self._synonyms, self._number):
            plain: dict[str, set[int]] = {}
            for name, number in names.items():
                plain.setdefault(_plain(name), set()).add(number)
            for name, numbers in plain.items():
                concept_of.pop(name, None)
                if len(numbers) == 1:
                    concept_of[name] = numbers.pop()
        return concept_of


class JoinedOntologies:
    """Ontologies side by side below one root, which is WordNet's if that is among them.

    A value means what the first of them that has it says.
    """

    def __init__(self, ontologies: Sequence[Any]) -> None:
        if not ontologies:
            raise InputError("a list of 0 ontologies; give at least one")
        self.ontologies = tuple(ontologies)
        self._start = np.cumsum([0, *(len(ontology.taxonomy) for ontology in self.ontologies)]).tolist()

    def __repr__(self) -> str:
        return f"JoinedOntologies({list(self.ontologies)})"

    def __deepcopy__(self, memo: dict[int, Any]) -> JoinedOntologies:
        return self  # it never changes

    @cached_property
    def taxonomy(self) -> Taxonomy:
        """All concepts; one whose name another has before it is called "name (2)"."""
        names: dict[str, None] = {}
        links = []
        for start, ontology in zip(self._start, self.ontologies, strict=False):
            part = ontology.taxonomy
            for name in part.names:
                copies = (f"{name} ({number})" for number in range(2, len(self.ontologies) + 2))
                names[name if name not in names else next(copy for copy in copies if copy not in names)] = None
            children = np.repeat(np.arange(len(part)), np.diff(part.parent_indptr))
            links.append(np.column_stack([children, part.parents]) + start)
        roots = [start + part.taxonomy.root for start, part in zip(self._start, self.ontologies, strict=False)]
        in_wordnet = [root for root, part in zip(roots, self.ontologies, strict=True) if isinstance(part, WordNet)]
        if not in_wordnet:
            names[ROOT if ROOT not in names else f"{ROOT} (all)"] = None
        top = in_wordnet[0] if in_wordnet else len(names) - 1
        links.append(np.array([(root, top) for root in roots if root != top]).reshape(-1, 2))
        return build_taxonomy(list(names), np.concatenate(links))

    def senses(self, word: str) -> tuple[int, ...]:
        """The concepts that a word may mean in the first ontology that has it."""
        listed = ((number, ontology.senses(word)) for number, ontology in enumerate(self.ontologies))
        number, senses = next(((number, senses) for number, senses in listed if senses), (0, ()))
        return tuple(self._start[number] + sense for sense in senses)

    def concept(self, name: str) -> int | None:
        """The concept with this name in the first ontology that has it; None when there is none."""
        for start, ontology in zip(self._start, self.ontologies, strict=False):
            concept = ontology.concept(name)
            if concept is not None:
                return int(start + concept)
        return self._number.get(name)

    def label(self, concept: int) -> str:
        """What a release shows; `concept` leads back."""
        if concept >= self._start[-1]:
            return self.taxonomy.names[concept]
        ontology, own = self._own(concept)
        label = str(ontology.label(own))
        return label if self.concept(label) == concept else self.taxonomy.names[concept]

    def lemma(self, concept: int) -> str:
        """The concept's name in its ontology, which may be another's, too."""
        if concept >= self._start[-1]:
            return self.taxonomy.names[concept]
        ontology, own = self._own(concept)
        return str(ontology.lemma(own))

    def gloss(self, concept: int) -> str:
        """The definition in its ontology."""
        if concept >= self._start[-1]:
            return "the root"
        ontology, own = self._own(concept)
        return str(ontology.gloss(own))

    def is_clear(self, value: str) -> bool:
        """Whether the first ontology that has the value can be taken at its word."""
        return any(ontology.is_clear(value) for ontology in self.ontologies if ontology.senses(value))

    def suggest(self, value: str, n: int = 5) -> list[int]:
        """At most n concepts that a value may mean, those of the first ontology first."""
        parts = zip(self._start, self.ontologies, strict=False)
        return [start + concept for start, ontology in parts for concept in ontology.suggest(value, n)][: max(n, 0)]

    def spellings(self) -> Iterator[tuple[str, str]]:
        """Names in texts and the term of each, those of the first ontology first."""
        for start, ontology in zip(self._start, self.ontologies, strict=False):
            for name, term in ontology.spellings():
                concept = ontology.concept(term)
                yield name, term if isinstance(ontology, WordNet) else self.label(start + concept)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.taxonomy.names)}

    def _own(self, concept: int) -> tuple[Any, int]:
        """The ontology of a concept, and the concept's number in it."""
        number = int(np.searchsorted(self._start, concept, side="right")) - 1
        return self.ontologies[number], concept - self._start[number]


def ontologies_of(given: Any) -> Any:
    """What labels mean: the files that are named are read, "wordnet" is WordNet, and an ontology is itself.

    One for all columns, or a dict of columns; of several in a list, the first that has a value gives its meaning.
    """
    if isinstance(given, Mapping):
        return {str(column): ontologies_of(ontology) for column, ontology in given.items()}
    if isinstance(given, list | tuple):
        return JoinedOntologies([ontologies_of(ontology) for ontology in given])
    if not isinstance(given, str | os.PathLike):
        return given
    return WordNet() if os.fspath(given).lower() == "wordnet" else Hierarchy.from_file(given)


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").replace("-", " ").split())
