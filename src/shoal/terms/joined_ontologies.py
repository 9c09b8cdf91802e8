"""Several ontologies as one: a value means what the first of them that has it says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.terms.taxonomy import Taxonomy, build_taxonomy
from shoal.terms.wordnet import WordNet

ROOT = "entity"  # above all roots, as in WordNet


class JoinedOntologies:
    """Ontologies side by side below one root, which is WordNet's if that is among them."""

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
