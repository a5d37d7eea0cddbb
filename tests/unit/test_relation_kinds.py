"""Which predicates are of a hierarchy or a dependency, and in which direction."""

from __future__ import annotations

import pytest

from kgeval.graph.layouts import load_profile, override
from kgeval.records import Layout
from kgeval.text.names import normalise
from kgeval.text.relation_kinds import Ordering, direction
from kgeval.text.wordlists import word_lists

PLAIN = Layout(name="plain")


@pytest.mark.parametrize(("label", "ordering", "expected"), [
    ("IS_A", "hierarchy", 1), ("isA", "hierarchy", 1), ("part of", "hierarchy", 1), ("PartOf", "hierarchy", 1),
    ("CONTAINS", "hierarchy", -1), ("contained in", "hierarchy", 1), ("consists of", "hierarchy", -1), ("located_in", "hierarchy", 0),
    ("child of", "hierarchy", 0),
    ("RELATED", "hierarchy", 0), ("part of,made of", "hierarchy", 0), ("", "hierarchy", 0), ("causes", "hierarchy", 0),
    ("CAUSES", "dependency", 1), ("leads to", "dependency", 1), ("caused_by", "dependency", -1), ("requires", "dependency", -1),
    ("required for", "dependency", 1), ("knows", "dependency", 0), ("part_of", "dependency", 0),
])
def test_a_predicate_in_any_spelling(label: str, ordering: Ordering, expected: int) -> None:
    assert direction(label, ordering, PLAIN) == expected


def test_a_layouts_own_names_stand_in_place_of_the_words() -> None:
    own = override(load_profile("generic").layout, {"hierarchy_relations": "SITS_UNDER,<holds"})
    assert [direction(label, "hierarchy", own) for label in ("sits under", "HOLDS", "part_of")] == [1, -1, 0]
    assert direction("causes", "dependency", own) == 1, "of dependencies it names none"


def test_relations_without_direction_have_none_here() -> None:
    assert direction("part_of", "hierarchy", Layout(name="plain", relations_undirected=True)) == 0


def test_no_word_goes_both_ways_or_is_of_both_orderings() -> None:
    seen: dict[str, str] = {}
    for stem in ("hierarchy", "dependency"):
        for key, words in word_lists(stem).items():
            for word in words:
                assert seen.setdefault(normalise(word), f"{stem} {key}") == f"{stem} {key}", word
