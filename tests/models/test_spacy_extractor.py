"""The spaCy extractor: its rules on parses drawn by hand, and one real pipeline, trained here, saved, and loaded by its path."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kgeval.errors import UsageError
from kgeval.records import Chunk
from kgeval.text.extract.mentions import ChunkSource, Extraction
from kgeval.text.extract.spacy_ import SpacyExtractor, extraction_of

if TYPE_CHECKING:  # spaCy loads PyTorch: 4 s, which only a worker that runs these tests is to pay
    from spacy.language import Language

# One word a piece: text/dependency/head (head counted from 0), and the entity's type behind a fourth slash; "I-" continues it.


def drawn(picture: str) -> dict[str, list[Any]]:
    parts = [piece.split("/") for piece in picture.split()]
    kinds = [part[3] if len(part) > 3 else "" for part in parts]
    return {
        "words": [part[0] for part in parts], "deps": [part[1] for part in parts], "heads": [int(part[2]) for part in parts],
        "ents": [kind if kind[:2] == "I-" else f"B-{kind}" if kind else "O" for kind in kinds],
    }


@cache
def english() -> Language:
    import spacy

    return spacy.blank("en")


def read(picture: str) -> Extraction:
    from spacy.tokens import Doc

    return extraction_of(Doc(english().vocab, **drawn(picture)), "c")


def triples(found: Extraction) -> list[tuple[str, str, str]]:
    return [(found.mentions[link.source].name, link.predicate, found.mentions[link.target].name) for link in found.links]


@pytest.mark.long
@pytest.mark.parametrize(("picture", "expected"), [
    ("Anna/nsubj/1/PERSON married/ROOT/1 Bob/dobj/1/PERSON", ("Anna", "marry", "Bob")),
    ("Anna/nsubj/1/PERSON married/root/1 Bob/obj/1/PERSON", ("Anna", "marry", "Bob")),
    ("Anna/nsubj/1/PERSON looked/ROOT/1 up/prt/1 Bob/dobj/1/PERSON", ("Anna", "look up", "Bob")),
    ("Anna/nsubj/1/PERSON lived/ROOT/1 in/prep/1 Rome/pobj/2/GPE", ("Anna", "live in", "Rome")),
    ("Anna/nsubj/1/PERSON lived/root/1 in/case/3 Rome/obl/1/GPE", ("Anna", "live in", "Rome")),
    ("Anna/nsubjpass/2/PERSON was/auxpass/2 killed/ROOT/2 by/agent/2 Bob/pobj/3/PERSON", ("Bob", "kill", "Anna")),
    ("Anna/nsubj:pass/2/PERSON was/aux:pass/2 killed/root/2 by/case/4 Bob/obl:agent/2/PERSON", ("Bob", "kill", "Anna")),
    ("Anna/nsubjpass/2/PERSON was/auxpass/2 buried/ROOT/2 in/prep/2 Rome/pobj/3/GPE", ("Anna", "be buried in", "Rome")),
    ("Anna/nsubj/1/PERSON is/ROOT/1 the/det/3 director/attr/1 of/prep/3 Siemens/pobj/4/ORG", ("Anna", "director of", "Siemens")),
    ("Anna/nsubj/3/PERSON is/cop/3 the/det/3 director/root/3 of/case/5 Siemens/nmod/3/ORG", ("Anna", "director of", "Siemens")),
    ("Anna/nsubj/1/PERSON is/ROOT/1 Bob/poss/4/PERSON 's/case/2 wife/attr/1", ("Anna", "wife of", "Bob")),
    ("Anna/nsubj/6/PERSON ,/punct/0 the/det/3 wife/appos/0 of/prep/3 Bob/pobj/4/PERSON wept/ROOT/6", ("Anna", "wife of", "Bob")),
    ("Bob/poss/2/PERSON 's/case/0 wife/compound/3 Anna/nsubj/4/PERSON wept/ROOT/4", ("Anna", "wife of", "Bob")),
    ("Bob/poss/2/PERSON 's/case/0 wife/nsubj/6 ,/punct/2 Anna/appos/2/PERSON ,/punct/2 wept/ROOT/6", ("Anna", "wife of", "Bob")),
    ("Anna/nsubj/3/PERSON who/nsubj/2 loved/relcl/0 wept/ROOT/3 Bob/dobj/2/PERSON", ("Anna", "love", "Bob")),
    ("Anna/nsubj/1/PERSON made/ROOT/1 journeys/dobj/1 to/prep/2 Rome/pobj/3/GPE", ("Anna", "make journeys to", "Rome")),
    ("Anna/nsubj/1/PERSON made/ROOT/1 journeys/dobj/1 to/prep/1 Rome/pobj/3/GPE", ("Anna", "make journeys to", "Rome")),
    ("Anna/nsubjpass/2/PERSON was/auxpass/2 killed/ROOT/2 by/agent/2 troops/pobj/3 of/prep/4 Rome/pobj/5/GPE",
     ("Anna", "be killed by troops of", "Rome")),
    ("Anna/nsubj/1/PERSON saw/ROOT/1 ruins/dobj/1 of/prep/2 Rome/pobj/3/GPE", ("Anna", "see ruins of", "Rome")),
])
def test_a_parse_states_a_relation(picture: str, expected: tuple[str, str, str]) -> None:
    assert triples(read(picture)) == [expected]


@pytest.mark.parametrize("picture", [
    "Anna/nsubj/3/PERSON did/aux/3 not/neg/3 marry/ROOT/3 Bob/dobj/3/PERSON",
    "Anna/nsubj/2/PERSON might/aux/2 marry/ROOT/2 Bob/dobj/2/PERSON",
    "If/mark/2 Anna/nsubj/2/PERSON married/ROOT/2 Bob/dobj/2/PERSON",
    "She/nsubj/1 married/ROOT/1 Bob/dobj/1/PERSON",
    "Anna/poss/2/PERSON 's/case/0 brother/nsubj/3 married/ROOT/3 Ruth/dobj/3/PERSON",
    "Anna/nsubj/1/PERSON sent/ROOT/1 her/dobj/1 to/prep/1 Rome/pobj/3/GPE",
    "Anna/nsubj/1/PERSON loves/ROOT/1 Anna/dobj/1/PERSON",
    "Anna/nsubj/1/PERSON waited/ROOT/1 till/prep/1 Monday/pobj/2/DATE",
    "Anna/ROOT/0/PERSON",
])
def test_what_is_denied_or_said_of_another_states_nothing(picture: str) -> None:
    assert triples(read(picture)) == []


def test_names_in_a_series_share_their_verb_and_a_second_verb_its_subject() -> None:
    assert sorted(triples(read(
        "Anna/nsubj/3/PERSON and/cc/0 Bob/conj/0/PERSON visited/ROOT/3 Rome/dobj/3/GPE and/cc/4 York/conj/4/GPE"
    ))) == [(who, "visit", where) for who in ("Anna", "Bob") for where in ("Rome", "York")]
    assert triples(read(
        "Anna/nsubj/1/PERSON left/ROOT/1 Rome/dobj/1/GPE and/cc/1 married/conj/1 Bob/dobj/4/PERSON"
    )) == [("Anna", "leave", "Rome"), ("Anna", "marry", "Bob")]


def test_entities_lose_article_and_possessive_and_values_are_no_entities() -> None:
    found = read("the/det/2/LOC Royal/compound/2/I-LOC Hall/poss/4/I-LOC 's/case/2/I-LOC door/ROOT/4 it/dep/4/ORG 1850/dep/4/DATE")
    assert [(m.name, m.type, m.start, m.end) for m in found.mentions] == [("Royal Hall", "LOC", 4, 14)]


def test_a_link_spans_both_names_and_is_described_by_its_sentence() -> None:
    [link] = read("So/advmod/2 Anna/nsubj/2/PERSON married/ROOT/2 Bob/dobj/2/PERSON").links
    assert (link.start, link.end, link.description) == (3, 19, "So Anna married Bob")


WHO = ("Anna", "Bob", "Carl", "Dora", "Emil")
WHERE = ("Rome", "Paris", "York", "Vienna", "Oslo")


def after(first: dict[str, list[Any]], second: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Two drawn sentences as one text."""
    heads = [head + len(first["words"]) for head in second["heads"]]
    return {key: [*first[key], *(heads if key == "heads" else second[key])] for key in first}


def trained() -> Language:
    """A pipeline trained on twenty sentences: entities and parse, on the processor, the same in every run."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example

    spacy.util.fix_random_seed(7)
    nlp = spacy.blank("en")
    nlp.add_pipe("parser", config={"min_action_freq": 1})
    nlp.add_pipe("ner")
    pictures = [picture for at in range(5) for picture in (
        f"{WHO[at]}/nsubj/1/PERSON married/ROOT/1 {WHO[at - 1]}/dobj/1/PERSON ./punct/1",
        f"{WHO[at]}/nsubj/1/PERSON lived/ROOT/1 in/prep/1 {WHERE[at]}/pobj/2/GPE ./punct/1",
        f"{WHO[at]}/nsubjpass/2/PERSON was/auxpass/2 killed/ROOT/2 by/agent/2 {WHO[at - 2]}/pobj/3/PERSON ./punct/2",
        f"{WHO[at]}/nsubj/1/PERSON is/ROOT/1 the/det/3 mayor/attr/1 of/prep/3 {WHERE[at - 1]}/pobj/4/GPE ./punct/1",
    )]
    drawings = [drawn(picture) for picture in pictures]
    pairs = [after(one, drawings[at - 7]) for at, one in enumerate(drawings)]
    examples = [Example(Doc(nlp.vocab, words=pair["words"]), Doc(nlp.vocab, **pair)) for pair in pairs]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(30):
        nlp.update(examples, sgd=optimizer)
    return nlp


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spacy") / "tiny"
    trained().to_disk(folder)
    return folder


@pytest.mark.long
def test_a_trained_pipeline_loaded_by_path_reads_new_sentences(pipeline: Path) -> None:
    extractor = SpacyExtractor(str(pipeline))
    texts = ["Dora married Bob. Carl lived in Rome.", "Emil was killed by Anna. Dora is the mayor of Oslo."]
    sources = [ChunkSource(Chunk(id=f"c{at}", document="d", index=at, text=text)) for at, text in enumerate(texts)]
    first, second = extractor.extract(sources)
    assert triples(first) == [("Dora", "marry", "Bob"), ("Carl", "live in", "Rome")]
    assert triples(second) == [("Anna", "kill", "Emil"), ("Dora", "mayor of", "Oslo")]
    assert {m.name: m.type for found in (first, second) for m in found.mentions} == {
        "Dora": "PERSON", "Bob": "PERSON", "Carl": "PERSON", "Rome": "GPE", "Emil": "PERSON", "Anna": "PERSON", "Oslo": "GPE",
    }
    assert [found.chunk_id for found in (first, second)] == ["c0", "c1"]
    assert list(extractor.extract(sources)) == [first, second]
    assert extractor.signature.startswith("spacy-1 spacy=3")


def test_a_pipeline_that_is_not_there_or_cannot_be_read_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "config.cfg").write_text("[nlp", encoding="utf-8")
    for name in ("en_core_web_none", str(tmp_path), str(tmp_path / "nowhere"), ""):
        with pytest.raises(UsageError, match="cannot be loaded") as caught:
            SpacyExtractor(name)
        assert "spacy download" in caught.value.fix and "--extractor rules" in caught.value.fix


def test_a_pipeline_without_parser_or_ner_says_which_one_it_lacks(tmp_path: Path) -> None:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler")
    nlp.to_disk(tmp_path)
    with pytest.raises(UsageError, match="has no parser") as caught:
        SpacyExtractor(str(tmp_path))
    assert "entity_ruler" in caught.value.message


def test_without_spacy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(UsageError, match="not installed") as caught:
        SpacyExtractor("en_core_web_sm")
    assert "pip install 'kgeval-toolkit[spacy]'" in caught.value.fix
