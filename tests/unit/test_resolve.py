"""Entity resolution: pictures of names that are one and names that are not, and its laws."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.building.describe import LONGEST, merged
from kgeval.building.mentions import Extracted
from kgeval.building.resolve import Resolved, Rules, parse_levels, resolve
from kgeval.building.state import Cutting, decode, encode, sources_of
from kgeval.errors import UsageError
from kgeval.graph.load.built import UNDONE
from kgeval.records import Document
from kgeval.text.extract.mentions import Extraction, Mention, RelationMention
from kgeval.text.extract.rules import RulesExtractor

ALL = Rules(("exact", "normalised", "alias"))
EXACT_ONLY = Rules(("exact",))


def chunk(
    *names: str | Mention, document: str = "book", index: int = 0, links: Sequence[RelationMention] = (), start: int | None = None,
) -> Extracted:
    """A chunk that mentions these: "Ahab:Person" has a type, "Ahab" has none."""
    mentions = tuple(n if isinstance(n, Mention) else Mention(*(n.split(":") if ":" in n else (n,))) for n in names)
    key = f"{document}-{index}"
    return Extracted(key, document, index, start, Extraction(key, mentions, tuple(links)))


def groups(found: Resolved) -> set[frozenset[str]]:
    """The names of each entity."""
    return {frozenset([e.name, *e.aliases]) for e in found.entities}


def together(*names: str, rules: Rules = ALL) -> list[frozenset[str]]:
    """The names of each entity that one chunk with these names gives."""
    return sorted((frozenset([e.name, *e.aliases]) for e in resolve([chunk(*names)], rules).entities), key=sorted)


@pytest.mark.parametrize("names", [
    ("Moby Dick:Whale", "moby dick:Whale"), ("The Pequod:Ship", "Pequod:Ship"), ("Pequod", "Pequod:Ship"),
    ("Dr. John Smith:Person", "John Smith:PERSON"), ("Ahab:Person", "Captain Ahab:Person"), ("J. Smith:Person", "John Smith:Person"),
    ("Acme:Company", "Acme Inc.:Company"), ("IBM:Organization", "International Business Machines Corp.:Organization",
                                            "International Business Machines:Organization"),
    ("Scrooge:Person", "Ebenezer Scrooge:Person", "Mr. Scrooge:Person"), ("Black Smith Ltd:Company", "Blacksmith Ltd:Company"),
    ("Matthew Marsh:Person", "Mathew Marsh:Person"),
    ("World Health Organization (WHO):Organization", "World Health Organization:Organization"),
    ("2018 World Cup:Event", "World Cup 2018:Event"), ("World War 2:Event", "World War II:Event"), ("Advil®:Drug", "Advil:Drug"),
    ("tumour:Condition", "tumor:Condition"), ("Hyperkalaemia:Condition", "Hyperkalemia:Condition"),
    ("Smith, John:Person", "John Smith:Person"),
])
def test_forms_of_one_name_are_one_entity(names: tuple[str, ...]) -> None:
    assert together(*names) == [frozenset(n.partition(":")[0] for n in names)]


@pytest.mark.parametrize("names", [
    ("Paris:City", "Paris:Person"), ("Mr. John Smith:Person", "Mrs. John Smith:Person"),
    ("Mrs. Flinders Petrie:Person", "Flinders Petrie:Person"),
    ("North Sea:Place", "South Sea:Place"), ("Apple:Product", "Apple Watch:Product"), ("Henry IV:Person", "Henry V:Person"),
    ("King of Fez:Person", "Governor of Fez:Person"), ("Elsie Inglis:Person", "Elsie Inglis Memorial Hospice:Person"),
    ("C:Language", "C#:Language", "C++:Language"), ("Net:Product", ".NET:Product"), ("HER2:Gene", "HER2-:Gene"),
    ("Go:Language", "Go!:Language"),
    ("Hyperkalaemia:Condition", "Hypokalaemia:Condition"), ("fetchUser:Function", "fetchUsers:Function"), ("Co:Element", "CO:Element"),
    ("General Electric Company:Company", "Electric:Company"), ("Bob Cratchit:Person", "Mrs. Cratchit:Person"),
])
def test_names_that_may_mean_two_things_stay_two(names: tuple[str, ...]) -> None:
    assert len(together(*names)) == len(names)


def test_a_short_form_that_fits_two_names_stays_alone() -> None:
    two = together("Smith:Person", "John Smith:Person", "Mary Smith:Person", "J. Smith:Person")
    assert two == [frozenset({"J. Smith", "John Smith"}), frozenset({"Mary Smith"}), frozenset({"Smith"})]
    assert len(together("Hall:Person", "Dr. Hall:Person", "Mr. Hall:Person")) == 3


def test_a_lone_first_name_and_another_rank_join_nobody() -> None:
    assert len(together("Robert:Person", "Robert Cecil:Person")) == 2
    assert len(together("Bishop Paget:Person", "Sir Ralph Paget:Person")) == 2
    assert len(together("Mr. Watson:Person", "Dr. John Watson:Person")) == 1
    assert len(together("Cecil:Person", "Robert Cecil:Person")) == 1


def test_a_surname_means_the_person_of_its_own_text_only() -> None:
    one = [chunk("Ebenezer Scrooge:Person", "Scrooge:Person", document="a")]
    other = chunk("Scrooge:Person", document="b")
    assert len(resolve(one, ALL).entities) == 1
    assert len(resolve([*one, other], ALL).entities) == 2


def test_a_name_without_a_type_joins_the_only_type_and_none_of_two() -> None:
    assert len(together("Pequod", "Pequod:Ship")) == 1
    assert len(together("Elias Marsh", "Captain Elias Marsh:Person", "Acme", "Acme Inc.:Company")) == 2
    assert len(together("Paris", "Paris:City", "Paris:Person")) == 3
    assert len(together("Paris", "Paris:City", "Paris:Person", rules=replace(ALL, across_types=True))) == 1


def test_only_the_levels_asked_for_join_anything() -> None:
    names = ("Ahab:Person", "AHAB:Person", "Captain Ahab:Person")
    found = {levels: together(*names, rules=Rules(parse_levels(levels))) for levels in ("exact", "exact,normalised", "alias,normalised")}
    assert [len(entities) for entities in found.values()] == [3, 2, 1]
    with pytest.raises(UsageError, match="fuzzy"):
        parse_levels("exact,fuzzy")
    with pytest.raises(UsageError, match="embedding model"):
        together("a", rules=Rules(("exact", "embedding")))


def test_an_alias_that_the_text_gives_joins_unless_two_claim_it() -> None:
    twain = Mention("Mark Twain", "Person")
    clemens = Mention("Samuel Clemens", "Person", aliases=("Mark Twain", "the author"))
    assert groups(resolve([chunk(twain, twain, clemens)], ALL)) == {frozenset({"Mark Twain", "Samuel Clemens", "the author"})}
    bob = Mention("Bob", "Person")
    claims = [Mention("Robert Hill", "Person", aliases=("Bob",)), Mention("Robert Dale", "Person", aliases=("Bob",))]
    assert len(resolve([chunk(bob, *claims)], ALL).entities) == 3
    generic = [Mention("the captain", "Person"), Mention("Ahab", "Person", aliases=("the captain",))]
    assert len(resolve([chunk(*generic)], ALL).entities) == 2


def test_the_name_of_most_mentions_is_kept_then_the_longest_and_the_rest_are_aliases() -> None:
    found = resolve([chunk("Ahab:Person", "Ahab:Person", "Captain Ahab:Person")], ALL)
    (ahab,) = found.entities
    assert (ahab.id, ahab.name, ahab.name_key, ahab.aliases, ahab.mentions) == ("person:ahab", "Ahab", "ahab", ("Captain Ahab",), 3)
    assert resolve([chunk("Ahab:Person", "Captain Ahab:Person")], ALL).entities[0].name == "Captain Ahab"


def test_relations_are_merged_weighed_and_traced_and_self_relations_are_counted() -> None:
    say = [
        RelationMention(0, 1, "hunts", "Ahab hunts the whale."), RelationMention(0, 1, "HUNTS"), RelationMention(1, 0, "hunts"),
        RelationMention(0, 2, "is"), RelationMention(0, 9, "x"),
    ]
    found = resolve([
        chunk("Ahab:Person", "Moby Dick:Whale", "AHAB:Person", links=say),
        chunk("Ahab:Person", "Moby Dick:Whale", index=1, links=[RelationMention(0, 1, "hunts", "He hunts on.")]),
    ], ALL)
    hunts = next(r for r in found.relations if r.source == "person:ahab")
    assert (hunts.target, hunts.predicate, hunts.weight, hunts.chunks) == ("whale:moby dick", "hunts", 3.0, ("book-0", "book-1"))
    assert hunts.description == "Ahab hunts the whale.\nHe hunts on."
    assert (len(found.relations), found.counts["self-relations"], found.counts["relations with a broken end"]) == (2, 1, 1)


def test_a_place_that_two_overlapping_chunks_share_counts_once() -> None:
    here, again = Mention("Ahab", "Person", start=90, end=94), Mention("Ahab", "Person", start=10, end=14)
    whale, whale2 = Mention("Whale", start=100, end=105), Mention("Whale", start=20, end=25)
    found = resolve([
        chunk(here, whale, start=0, links=[RelationMention(0, 1, "hunts", start=90, end=105)]),
        chunk(again, whale2, index=1, start=80, links=[RelationMention(0, 1, "hunts", start=10, end=25)]),
    ])
    ahab = next(e for e in found.entities if e.name == "Ahab")
    assert (ahab.mentions, ahab.sources) == (1, {"book-0": (1, 90, 94), "book-1": (1, 10, 14)})
    assert [(r.weight, r.chunks) for r in found.relations] == [(1.0, ("book-0", "book-1"))]


def test_a_sentence_that_the_overlap_cuts_short_counts_once_and_a_later_one_of_the_same_words_again() -> None:
    pair = ("Ahab:Person", "Whale")
    whole = chunk(*pair, start=0, links=[RelationMention(0, 1, "hunts", start=40, end=120)])
    links = [RelationMention(0, 1, "hunts", start=0, end=40), RelationMention(0, 1, "hunts", start=50, end=90)]
    cut = chunk(*pair, index=1, start=80, links=links)
    other = chunk(*pair, document="b", index=0, start=80, links=[RelationMention(0, 1, "hunts", start=0, end=40)])
    assert [r.weight for r in resolve([whole, cut]).relations] == [2.0]
    assert [r.weight for r in resolve([other, cut, whole]).relations] == [3.0]


@pytest.mark.slow
def test_what_overlapping_chunks_say_twice_weighs_what_chunks_without_overlap_say_once() -> None:
    names = [f"{a}{b}" for a in ("Ander", "Bor", "Cal", "Dor", "Ed", "Fal") for b in ("mar", "nik", "sten", "vic")]
    text = " ".join(f"{one} visited {other}." for one, other in permutations(names, 2))
    weights = []
    for overlap in (0, 20, 60):
        sources = sources_of(Document(id="d", text=text), Cutting(120, overlap))
        given = list(RulesExtractor().extract(sources))
        found = resolve([
            Extracted(s.chunk.id, "d", s.chunk.index, s.chunk.start, e) for s, e in zip(sources, given, strict=True)
        ], Rules(("exact",)))
        weights.append({(r.source, r.predicate, r.target): r.weight for r in found.relations})
        assert (sum(len(e.links) for e in given) > sum(weights[-1].values())) == (overlap > 0)
    assert weights[0] == weights[1] == weights[2] and set(weights[0].values()) == {1.0}


def test_two_letters_stand_for_a_name_only_where_a_type_agrees() -> None:
    assert len(together("LA", "Land of Ashango")) == 2
    assert len(together("EU:Organization", "European Union:Organization")) == 1
    assert len(together("SWH", "Scottish Women's Hospitals")) == 1


def test_a_merge_that_was_taken_back_is_never_made_again() -> None:
    chunks = [chunk("John Smith:Person", "John Smith:Person", "J. Smith:Person", "j smith:Person")]
    first = resolve(chunks, ALL)
    merge = next(m for m in first.merges if m.level == "alias")
    assert ({merge.kept, merge.merged}, merge.why, len(first.entities)) == ({"John Smith", "J. Smith"}, "initials", 1)
    undone = [replace(merge, status=UNDONE)]
    parted = {frozenset({"John Smith"}), frozenset({"J. Smith", "j smith"})}
    assert groups(resolve(chunks, ALL, undone)) == parted
    more = chunk(*["Dr. John Smith:Person"] * 5, *["J. Smith:Person"] * 9, index=1)
    assert groups(resolve([*chunks, more], ALL, undone)) == {
        frozenset({"John Smith", "Dr. John Smith"}), frozenset({"J. Smith", "j smith"})}
    assert groups(resolve(chunks, ALL, [replace(merge, status="applied")])) == groups(first)


def test_spellings_that_were_taken_apart_stay_apart_on_every_level() -> None:
    chunks = [chunk("Apple:Company", "Apple:Company", "apple:Company", "Apple Inc.:Company")]
    merge = next(m for m in resolve(chunks, ALL).merges if m.level == "normalised")
    found = resolve(chunks, ALL, [replace(merge, status=UNDONE)])
    assert frozenset({"apple"}) in groups(found) and len({e.id for e in found.entities}) == len(found.entities) == 2


def test_the_embedding_level_joins_mutual_nearest_neighbours_above_the_threshold() -> None:
    angles = {"ocean liner": 0.0, "steamship": 0.2, "vessel": 0.5, "tea": 1.5, "ship 1": 3.0, "ship 2": 3.01}

    def embed(texts: Sequence[str]) -> np.ndarray:
        return np.array([[np.cos(angles[t]), np.sin(angles[t])] for t in texts], dtype=np.float32)

    found = resolve([chunk(*angles)], Rules(("exact", "embedding"), similarity=0.9, embed=embed))
    # vessel's nearest neighbour has a nearer one, and numbers tell things apart
    assert frozenset({"ocean liner", "steamship"}) in groups(found) and len(found.entities) == 5
    (merge,) = found.merges
    assert (merge.level, merge.score) == ("embedding", pytest.approx(np.cos(0.2), abs=1e-4))


def test_one_description_of_two_things_joins_nothing_where_their_names_are_far() -> None:
    """Texts are told with what is said of the thing, and near for that alone; two names of one meaning are near by themselves."""
    angles = {"Umber Corp": 0.0, "Zephyr Ltd": 1.2, "ocean liner": 2.0, "steamship": 2.1}

    def embed(texts: Sequence[str]) -> np.ndarray:
        turned = [0.01 * angles[text.split(":")[0]] + (1.0 if "ship" in text else 0.0) if ":" in text else angles[text] for text in texts]
        return np.array([[np.cos(angle), np.sin(angle)] for angle in turned], dtype=np.float32)

    companies = [Mention(name, "Company", "An American company.") for name in ("Umber Corp", "Zephyr Ltd")]
    ships = [Mention(name, "Ship", "A ship.") for name in ("ocean liner", "steamship")]
    found = resolve([chunk(*companies, *ships)], Rules(("exact", "embedding"), similarity=0.9, embed=embed))
    assert groups(found) == {frozenset({"Umber Corp"}), frozenset({"Zephyr Ltd"}), frozenset({"ocean liner", "steamship"})}


def test_descriptions_are_distinct_most_frequent_first_and_short_enough() -> None:
    counts = {"The captain of the Pequod.": 3, "the captain of the pequod": 1, "He has an ivory leg.": 1, "Captain of Pequod": 1}
    assert merged([counts]) == "The captain of the Pequod.\nHe has an ivory leg."
    long = merged([{f"Fact {n} about {'x' * n} and {n * 7}.": 1 for n in range(200)}])
    assert long is not None and len(long) <= LONGEST
    cut = merged([{"word " * 1000: 1}])
    assert cut is not None and len(cut) <= LONGEST and cut.endswith("word…")
    assert merged([{}]) is None


def test_an_extraction_comes_back_from_the_database_as_it_went_in() -> None:
    whole = Extraction(
        "c", (Mention("Ahab \"x\"", "Person", "d", ("Old Thunder",), 0, 4), Mention("Moby\nDick"), Mention("", None)),
        (RelationMention(0, 1, "hunts", "d", 0, 9), RelationMention(1, 0, "x")),
    )
    assert decode("c", encode(whole)) == whole


def test_hostile_names_are_cleaned_or_counted() -> None:
    found = resolve([chunk(Mention("a\0b\n c\ud800"), Mention("  \n"), Mention("x" * 100_000), Mention("…"))])
    assert sorted(len(e.name) for e in found.entities) == [1, 5, 100_000]
    assert found.counts["mentions without a name"] == 1
    assert all(len(e.id) <= 200 and len(e.name_key or "") < 2000 for e in found.entities)


@pytest.mark.slow
def test_two_thousand_names_in_one_chunk_are_no_trouble() -> None:
    lasts = ["N" + "".join("aeiou"[int(digit) % 5] + "dglmnrstvb"[int(digit)] for digit in f"{n:04}") for n in range(500)]
    names = [f"{first} {last}:Person" for first in ("Ann", "Bob", "C.", "Cy") for last in lasts]
    found = resolve([chunk(*names)])
    assert len(found.entities) == 1500 and len(found.merges) == 500  # "C. Name" / "Cy Name"


FIRST = st.sampled_from(["John", "J.", "Mary", "M.", "Dr. John", "Mrs. Mary", "Mr.", "", "JOHN"])
LAST = st.sampled_from(["Smith", "smith", "Smyth", "Hall", "Smith Inc.", "Hall Street"])
TYPES = st.sampled_from(["Person", "person", "Company", None])
MENTIONS = st.builds(lambda first, last, type_: Mention(f"{first} {last}".strip(), type_), FIRST, LAST, TYPES)
EXTRACTIONS = st.lists(st.tuples(st.sampled_from("ab"), st.lists(MENTIONS, max_size=6), st.booleans()), max_size=6)


def chunks_of(drawn: list[tuple[str, list[Mention], bool]]) -> list[Extracted]:
    return [
        chunk(*mentions, document=document, index=at, links=[RelationMention(0, len(mentions) - 1, "knows")] if linked and mentions else [])
        for at, (document, mentions, linked) in enumerate(drawn)
    ]


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(EXTRACTIONS, st.randoms(use_true_random=False))
def test_the_order_of_the_chunks_does_not_matter(drawn: list[tuple[str, list[Mention], bool]], chance: random.Random) -> None:
    chunks = chunks_of(drawn)
    mixed = list(chunks)
    chance.shuffle(mixed)
    assert resolve(mixed, ALL).derived == resolve(chunks, ALL).derived


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(EXTRACTIONS)
def test_every_mention_is_in_one_entity_and_no_entity_has_two_types(drawn: list[tuple[str, list[Mention], bool]]) -> None:
    chunks = chunks_of(drawn)
    found = resolve(chunks, ALL)
    assert sum(e.mentions for e in found.entities) == found.counts.get("mentions", 0) == sum(len(c.extraction.mentions) for c in chunks)
    assert len({e.id for e in found.entities}) == len(found.entities)
    assert {c for e in found.entities for c in e.sources} == {c.chunk for c in chunks if c.extraction.mentions}
    typed = {(m.name, (m.type or "").casefold()) for c in chunks for m in c.extraction.mentions}
    for entity in found.entities:
        possible = [{t for n, t in typed if n == name} for name in (entity.name, *entity.aliases)]
        assert all(not types or types & {(entity.type or "").casefold(), ""} for types in possible)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(EXTRACTIONS, st.data())
def test_taking_a_merge_back_parts_its_names_and_nothing_brings_them_together(
    drawn: list[tuple[str, list[Mention], bool]], data: st.DataObject
) -> None:
    chunks = chunks_of(drawn)
    merges = resolve(chunks, ALL).merges
    if not merges:
        return
    undone = [replace(data.draw(st.sampled_from(merges)), status=UNDONE)]
    found = resolve(chunks, ALL, undone)
    assert undone[0].id not in {m.id for m in found.merges}
    left, right = (key[1:].split("\x1f") for key in (undone[0].left, undone[0].right))
    if left[1] == right[1] and undone[0].left[0] == "=":  # two spellings of one type: no entity holds both
        assert not any({left[0], right[0]} <= {e.name, *e.aliases} and (e.type or "").casefold() == left[1] for e in found.entities)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(EXTRACTIONS)
def test_coarser_levels_only_join_what_finer_ones_left_apart(drawn: list[tuple[str, list[Mention], bool]]) -> None:
    typed = [(document, [m for m in mentions if m.type], linked) for document, mentions, linked in drawn]  # no type: may turn ambiguous
    chunks = chunks_of(typed)
    exact, normalised, alias = (resolve(chunks, Rules(parse_levels(level))) for level in ("exact", "normalised", "normalised,alias"))
    assert len(exact.entities) >= len(normalised.entities) >= len(alias.entities)
    assert len(normalised.entities) - len(alias.entities) == sum(m.level == "alias" for m in alias.merges)
    assert len({m.id for m in alias.merges}) == len(alias.merges)


@pytest.mark.slow
def test_no_entity_holds_names_of_men_and_women() -> None:
    names = [f"{title} {first}Smith:Person" for title in ("Mr.", "Mrs.", "Dr.", "") for first in ("", "J. ", "John ")]
    for some in combinations(names, 4):
        for group in together(*(n.strip() for n in some)):
            assert not (any(n.startswith("Mr.") for n in group) and any(n.startswith("Mrs.") for n in group))
