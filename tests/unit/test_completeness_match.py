"""Matching of gold names: levels, what blocking may not lose, what near names must not match, figures by hand."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz, process
from statsmodels.stats.proportion import proportion_confint

from kgeval.auditing.completeness.candidates import Candidates
from kgeval.auditing.completeness.documents import GoldDocuments
from kgeval.auditing.completeness.figures import MatchedGold, band, proportion, verdict_level
from kgeval.auditing.completeness.gold import GoldItems, distinct
from kgeval.auditing.completeness.index import RANK, FuzzyIndex, GoldIndex, NameHit, may_be_same, most_edits, sorted_tokens
from kgeval.auditing.completeness.match import Match, add_by_meaning, matches
from kgeval.auditing.completeness.predicates import PredicateJudge
from kgeval.auditing.completeness.relations import MOST_PLACES, JoiningRelation, TripleMatch, crowded, pairs
from kgeval.config import CompletenessOptions
from kgeval.errors import UsageError
from kgeval.names.forms import form
from kgeval.records import LEVELS, GoldEntity, GoldTriple
from kgeval.workflows.completeness import parse_gates
from kgeval.workflows.session import options_of

ALL = LEVELS[:4]


def best(gold: Sequence[GoldEntity], name: str, aliases: Sequence[str] = ()) -> dict[str, str]:
    """Gold name -> the best level at which a graph name matches it."""
    index = GoldIndex(distinct(GoldItems(list(gold))), ALL)
    ranks: dict[int, int] = {}
    for hit in index.hits(name, aliases):
        ranks[hit.item] = min(hit.rank, ranks.get(hit.item, 9))
    return {gold[item].name: LEVELS[rank] for item, rank in ranks.items()}


@pytest.mark.parametrize(("gold", "name", "level"), [
    ("Moby Dick", "Moby Dick", "exact"),
    ("Moby Dick", "the moby-dick", "normalised"),
    ("Ada Lovelace", "ＡＤＡ  LOVELACE", "normalised"),
    ("Benjamin Apthorp Gould", "B. A. Gould", "alias"),
    ("Captain Ahab", "Ahab", "alias"),
    ("United Nations", "UN", "alias"),
    ("Siemens AG", "Siemens", "alias"),
    ("Banco Santander S.A.", "Banco Santander", "alias"),
    ("cane-brake", "Cane Brakes", "alias"),
    ("Blacksmith", "Black Smith", "alias"),
    ("William Shakespeare", "William Shakspere", "fuzzy"),
    ("Mayan Civilization", "Maya Civilization", "fuzzy"),
    ("Sheriff's Deputy", "Deputy Sheriff", "fuzzy"),
    ("Moby Dick", "Queequeg", None),
    ("London", "Londonderry", None),
])
def test_a_name_matches_at_the_strictest_level_that_holds(gold: str, name: str, level: str | None) -> None:
    assert best([GoldEntity(name=gold)], name).get(gold) == level


def test_aliases_of_either_side_match_at_the_alias_level() -> None:
    gold = [GoldEntity(name="Samuel Clemens", aliases=["Mark Twain"])]
    assert best(gold, "mark twain") == {"Samuel Clemens": "alias"}
    assert best([GoldEntity(name="Mark Twain")], "Samuel Clemens", ["Mark Twain", "?"]) == {"Mark Twain": "alias"}


@pytest.mark.parametrize(("a", "b"), [
    ("Chapter 1", "Chapter 2"), ("1855 Trade Statistics", "1856 Trade Statistics"), ("Mr. Robertson", "Mrs. Robertson"),
    ("North Carolina Senate", "South Carolina Senate"), ("Caroline Croom Robertson", "Caroline Croom Robertson Bed"),
    ("Professor", "Professor C"), ("Englishman", "Englishwoman"), ("The Bridge", "The Ridge"), ("Mont St. Michel", "St. Michael's Mount"),
    ("University of California at Davis campus", "University of California at Irvine campus"), ("Chris", "Christ"),
    ("definite article rule", "indefinite article rule"), ("C#", "C"), (".NET", "Net"), ("HER2-", "HER2"),
    ("Hyperkalaemia", "Hypokalaemia"), ("Heart rate increased", "Heart rate decreased"), ("fetchUser", "fetchUsers"),
    ("Vitamin K deficiency", "Vitamin C deficiency"),
])
def test_near_names_of_different_things_do_not_match(a: str, b: str) -> None:
    for x, y in ((a, b), (b, a)):
        assert best([GoldEntity(name=x)], y) == {}


@pytest.mark.parametrize(("a", "b"), [
    ("Flo Dimwood", "Flora Dimwood"), ("Sir Bedevere", "Sir Bedivere"), ("Katinka Jallinger", "Tinka Jallinger"),
    ("Scottish Federation of Suffrage Societies", "Scottish Federation of Women's Suffrage Societies"),
])
def test_near_spellings_of_one_thing_match_in_either_direction(a: str, b: str) -> None:
    assert may_be_same(form(a), form(b)) and may_be_same(form(b), form(a))
    assert best([GoldEntity(name=a)], b) == {a: "fuzzy"} and best([GoldEntity(name=b)], a) == {b: "fuzzy"}


def corpus(seed: int) -> tuple[list[str], list[str]]:
    """Names of 1 to 6 tokens, and names made from them by up to six edits of letters and spaces."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdeilmnorst", k=rng.randint(1, 9))) for _ in range(800)]
    gold = [" ".join(rng.choices(words, k=rng.randint(1, 6))) for _ in range(200)]
    return gold, [" ".join(edited(rng.choice(gold), rng).split()) for _ in range(400)]


def edited(text: str, rng: random.Random) -> str:
    letters = list(text)
    for _ in range(rng.randint(0, 6)):
        place = rng.randrange(len(letters) + 1)
        if rng.random() < 0.5 and place < len(letters):
            letters.pop(place)
        else:
            letters.insert(place, rng.choice("abcdeilmnorst "))
    return "".join(letters)


@pytest.mark.parametrize("threshold", [70, 85, 90, 97.5, 100])
def test_the_index_finds_every_pair_that_comparing_all_with_all_finds(threshold: float) -> None:
    gold, names = corpus(seed=int(threshold))
    index = FuzzyIndex(gold, threshold)
    found = {(at, number): score for at, name in enumerate(names) for number, score in index.near(name)}
    scores = process.cdist(names, gold, scorer=fuzz.token_sort_ratio, dtype=np.float64)
    wanted = {(int(i), int(j)): float(scores[i, j]) for i, j in np.argwhere(scores >= threshold)}
    assert len(wanted) > 30
    assert found == pytest.approx(wanted)


LETTERS = st.text("ab ", min_size=1, max_size=12).map(lambda text: " ".join(text.split())).filter(bool)


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(gold=st.lists(LETTERS, min_size=1, max_size=8), name=LETTERS, threshold=st.sampled_from([70.0, 75.0, 90.0]))
def test_the_index_loses_nothing_where_few_letters_repeat(gold: list[str], name: str, threshold: float) -> None:
    found = {number for number, _ in FuzzyIndex(gold, threshold).near(name)}
    assert found == {at for at, other in enumerate(gold) if fuzz.token_sort_ratio(name, other) >= threshold}


@given(n=st.integers(1, 60), m=st.integers(1, 60), threshold=st.floats(70, 100))
def test_the_edits_allowed_are_those_of_the_ratio(n: int, m: int, threshold: float) -> None:
    edits = most_edits(n, m, threshold)
    if edits >= 0:
        assert 100 * (1 - edits / (n + m)) >= threshold - 1e-6
        assert edits < n + m and (edits - abs(n - m)) % 2 == 0
    assert 100 * (1 - (max(edits, abs(n - m) - 2) + 2) / (n + m)) < threshold


def test_tokens_are_sorted_as_rapidfuzz_sorts_them() -> None:
    for name in ("b a", "zeta alpha beta", "é a z"):
        assert fuzz.ratio(sorted_tokens(name), " ".join(sorted(name.split()))) == 100


def found_at(names: dict[str, str], gold: Sequence[GoldEntity], documents: dict[str, set[str]] | None = None) -> list[Match]:
    """The matches of gold entities among graph entities given as {element id: name}, and their gold documents."""
    made = distinct(GoldItems(list(gold)))
    index = GoldIndex(made, ALL)
    places = Candidates([{} for _ in made.entities])
    for element_id, name in names.items():
        for hit in index.hits(name):
            places.add(element_id, hit)
    known = GoldDocuments(frozenset(d for ds in (documents or {}).values() for d in ds))
    sources = {element_id: frozenset(ds) for element_id, ds in (documents or {}).items()}
    return matches(places, [entity.document for entity in made.entities], sources, known)


def test_all_places_at_the_best_level_are_kept_and_weaker_ones_dropped() -> None:
    (match,) = found_at({"1": "Moby Dick", "2": "Moby Dick", "3": "the moby dick", "4": "Moby Dicks"}, [GoldEntity(name="Moby Dick")])
    assert match.rank == RANK["exact"]
    assert match.best == ["1", "2"]
    assert match.ids == ["1", "2", "3"]  # the same normalised name has relations too; the plural is left out


def test_gold_that_names_a_document_is_found_only_among_its_entities() -> None:
    gold = [GoldEntity(name="Ahab", document="moby"), GoldEntity(name="Emma", document="moby"), GoldEntity(name="Emma")]
    found = found_at({"1": "Ahab", "2": "AHAB", "3": "Emma"}, gold, {"1": {"emma"}, "2": {"moby"}, "3": {"emma"}})
    assert [(match.rank, match.ids) for match in found] == [(RANK["normalised"], ["2"]), (None, []), (RANK["exact"], ["3"])]


def test_initials_that_fit_two_names_match_neither() -> None:
    gold = [GoldEntity(name="J. Smith")]
    assert found_at({"1": "John Smith"}, gold)[0].best == ["1"]
    assert found_at({"1": "John Smith", "2": "john smith"}, gold)[0].best == ["1", "2"]
    assert found_at({"1": "John Smith", "2": "James Smith"}, gold)[0].rank is None


def test_a_name_at_hundreds_of_places_is_said_not_silently_cut() -> None:
    many = Match(0, {str(at): NameHit(0, 0) for at in range(MOST_PLACES + 1)})
    assert len(list(pairs([many, Match(0, {"x": NameHit(1, 0)})], 0, 1))) == MOST_PLACES
    assert crowded([many, Match()])[0].startswith("1 gold entities stand at more than 300 places")
    assert crowded([Match(), Match(0, {"x": NameHit(0, 0)})]) == []


class Meanings:
    """Names as fixed vectors: enough of an embedder to count on fingers."""

    name = "by hand"

    def __init__(self, vectors: dict[str, tuple[float, float]]) -> None:
        self._vectors = vectors

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([self._vectors[text] for text in texts], dtype=np.float32)


def test_meaning_matches_the_nearest_name_above_the_similarity_and_never_another_number() -> None:
    gold = distinct(GoldItems([GoldEntity(name="car 1")]))
    near = Meanings({"car 1": (1, 0), "auto 1": (0.96, 0.28), "motor 1": (0.9, 0.436), "auto 2": (1, 0), "tree 1": (0, 1)})
    places = Candidates([{}])
    names = {"1": "auto 1", "2": "motor 1", "3": "auto 2", "4": "tree 1"}
    add_by_meaning(places, gold, [0], lambda: iter(names.items()), near, similarity=0.85)  # type: ignore[arg-type]
    assert sorted(places.hits[0]) == ["1", "2"]
    (match,) = matches(places, [None], {}, GoldDocuments())
    assert (match.rank, match.best, match.found["1"].score) == (RANK["embedding"], ["1"], pytest.approx(0.96))


@pytest.mark.parametrize(("predicate", "label", "level"), [
    ("born in", "born in", "exact"), ("born in", "BORN_IN", "normalised"), ("was born in", "BORN_IN", "alias"),
    ("lives at", "lives_at_", "normalised"), ("is married to", "marreid to", None), ("graduated from", "graduate from", "fuzzy"),
    ("writing", "writing,notes", "exact"), ("hunts", "fears", None), ("was", "WAS", "normalised"),
])
def test_predicates_match_level_by_level(predicate: str, label: str, level: str | None) -> None:
    rank = PredicateJudge(ALL).rank(predicate, JoiningRelation("a", "b", True, "r", "T", (label,), ()))
    assert (None if rank is None else LEVELS[rank]) == level


def test_a_predicate_of_two_words_may_stand_in_the_description() -> None:
    one = JoiningRelation("a", "b", True, "r", "RELATED", ("RELATED",), ("Ahab was captain of the Pequod.",))
    assert PredicateJudge(ALL).rank("captain of", one) == RANK["fuzzy"]
    assert PredicateJudge(ALL).rank("captain", one) is None
    assert PredicateJudge(ALL[:3]).rank("captain of", one) is None


def test_figures_are_over_the_gold_set_and_levels_add_up() -> None:
    gold = distinct(GoldItems([], [
        GoldTriple(subject="a", predicate="p", object="b"), GoldTriple(subject="b", predicate="q", object="a"),
        GoldTriple(subject="a", object="c"),
    ]))
    found = MatchedGold(gold, [Match(0), Match(1), Match()], [
        TripleMatch(ends=1, joined=1, directed=1, predicate=3), TripleMatch(ends=1, joined=1), TripleMatch(),
    ])
    exact, fuzzy = found.coverage("exact"), found.coverage("fuzzy")
    assert (exact.entity_coverage.count, exact.entity_coverage.total, exact.relation_completeness.count) == (1, 3, 0)
    assert [(p.count, p.total) for p in (
        fuzzy.entity_coverage, fuzzy.relation_completeness, fuzzy.relation_completeness_directed,
        fuzzy.relation_completeness_with_predicate,
    )] == [(2, 3), (2, 3), (1, 3), (1, 2)]
    assert fuzzy.relation_pairs is not None and (fuzzy.relation_pairs.count, fuzzy.relation_pairs.total) == (1, 2)
    assert found.apart("normalised") == {"entities": 1, "relations": 2}


def test_types_and_documents_are_the_figures_of_their_items_alone() -> None:
    rng = random.Random(3)
    gold = distinct(GoldItems(
        [GoldEntity(name=f"e{at}", type=rng.choice(["A", "B", None]), document=rng.choice(["x", "y"])) for at in range(40)],
        [GoldTriple(subject=f"e{rng.randrange(40)}", object=f"e{rng.randrange(40)}", document=rng.choice(["x", "y"])) for _ in range(60)],
    ))
    found = MatchedGold(gold, [Match(rng.choice([0, 1, None])) for _ in gold.entities],
                  [TripleMatch(joined=rng.choice([0, 2, None])) for _ in gold.triples])
    types = [entity.type or "(none)" for entity in gold.entities]
    assert found.by_document("fuzzy") == {name: found.coverage(
        "fuzzy", [at for at, e in enumerate(gold.entities) if e.document == name],
        [at for at, t in enumerate(gold.triples) if t.document == name],
    ) for name in gold.documents}
    made = found.by_type("fuzzy")
    assert made == {name: found.coverage(
        "fuzzy", [at for at, kind in enumerate(types) if kind == name],
        [at for at, (a, b) in enumerate(gold.ends) if name in (types[a], types[b])],
    ) for name in set(types)}
    assert list(made) == sorted(made, key=lambda name: -types.count(name))


def test_as_many_types_and_documents_as_items_cost_no_square() -> None:
    """Work is counted, not timed: each gold item is looked at a bounded number of times."""
    looked = Counter[str]()

    class Watched(GoldEntity):
        def __getattribute__(self, name: str) -> object:
            if name in ("type", "document"):
                looked[name] += 1
            return super().__getattribute__(name)

    n = 200
    gold = distinct(GoldItems([Watched(name=f"e{at}", type=f"t{at}", document=f"d{at}") for at in range(n)]))
    looked.clear()
    found = MatchedGold(gold, [Match() for _ in gold.entities], [])
    assert len(found.by_type("fuzzy")) == len(found.by_document("fuzzy")) == n
    assert looked["type"] <= 3 * n and looked["document"] <= 3 * n


@pytest.mark.slow
@given(count=st.integers(0, 50), more=st.integers(0, 50))
def test_intervals_are_wilsons(count: int, more: int) -> None:
    made = proportion(count, count + more)
    if count + more == 0:
        assert (made.share, made.low, made.high) == (None, None, None)
    else:
        assert (made.low, made.high) == pytest.approx(proportion_confint(count, count + more, method="wilson"), abs=1e-9)


def test_bands_change_at_70_and_85_percent() -> None:
    shares = (0.0, 0.6999, 0.70, 0.85, 0.8501, 1.0, None)
    assert [band(share) for share in shares] == ["critical", "critical", "acceptable", "acceptable", "strong", "strong", None]


def test_the_verdict_is_at_the_most_generous_level_of_text() -> None:
    assert verdict_level(LEVELS) == "fuzzy"
    assert verdict_level(["normalised", "exact", "embedding"]) == "normalised"
    assert verdict_level(["embedding"]) == "embedding"


def test_levels_and_gates_are_read_with_all_faults_at_once() -> None:
    for names, levels in (((), ALL), (["all"], LEVELS), (["Fuzzy", "exact"], ("exact", "fuzzy")), ("fuzzy,exact", ("exact", "fuzzy"))):
        assert options_of(CompletenessOptions, {"levels": names}).levels == levels
    gates = parse_gates(["entity_coverage>=0.7", "relation_pairs@normalised=0.2"])
    assert [(one.name, one.at, one.limit) for one in gates] == [("entity_coverage", None, 0.7), ("relation_pairs", "normalised", 0.2)]
    with pytest.raises(UsageError) as caught:
        options_of(CompletenessOptions, {"levels": ["exakt"], "hops": 9})
    assert "levels: exakt: no such level" in str(caught.value) and "hops" in str(caught.value)
    with pytest.raises(UsageError) as caught:
        parse_gates(["entity_coverage<0.7", "nope>=0.5", "relation_pairs>=2"])
    assert all(word in str(caught.value) for word in ("<0.7", "nope", "relation_pairs>=2"))


@pytest.mark.parametrize("wrong", [
    {"levels": ("exact", 1)}, {"fuzzy": 60.0}, {"similarity": 0.0}, {"fuzzy": float("nan")}, {"examples": -1}, {"timeout": float("inf")},
])
def test_options_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        options_of(CompletenessOptions, wrong)
