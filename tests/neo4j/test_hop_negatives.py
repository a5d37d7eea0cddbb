"""Negative questions, and what is proved to be nowhere in a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hop_world import LAYOUT, WORLD, SaysAsker, desk, layout, outcome, path

from kgeval.graph.connect import Graph
from kgeval.llm.calls import Outcome
from kgeval.questions.kinds import RejectedError
from kgeval.questions.making import negative
from kgeval.questions.making.negative import KINDS
from kgeval.questions.proof import absent, passages_naming
from kgeval.records import Question

Draw = Callable[[str], None]
TOWN = """
UNWIND [['Ada Byron', 'Ulm'], ['Bo Cast', 'Ulm'], ['Cy Dunn', 'Rom'], ['Eve Flint', null]] AS p
MERGE (a:Person {name: p[0]})
FOREACH (c IN CASE WHEN p[1] IS NULL THEN [] ELSE [p[1]] END | MERGE (b:City {name: c}) CREATE (a)-[:BORN_IN]->(b))
WITH collect(a) AS people
UNWIND people AS a
MERGE (f:Firm {name: 'Acme'}) CREATE (a)-[:WORKS_FOR]->(f)
WITH count(*) AS n
CREATE (:Chunk {id: 'c1', text: 'Eve Flint works for Acme. She is from far away.'}), (:Chunk {id: 'c2', text: 'Ada\nByron sings.'})
"""


make = partial(outcome, negative.make)


def made(found: Question | RejectedError) -> Question:
    assert isinstance(found, Question), found
    return found


def edge(graph: Graph, number: int, *names: str):  # type: ignore[no-untyped-def]
    return path(graph, *names, number=number).model_copy(update={"kind": "edge"})


def test_a_relation_that_the_others_of_the_type_have_is_asked_of_who_has_it_not(graph: Graph, draw: Draw) -> None:
    draw(TOWN)
    draw("MATCH (f:Firm) SET f.name = 'she'")  # so that only the person can be asked about
    found = [make(desk(graph, edge(graph, 0, "Eve Flint", "she"))) for _ in range(2)]
    question = made(found[0])
    assert found[0] == found[1]
    assert question.question == "Which city was Eve Flint born in?"
    assert (question.level, question.reference) == ("negative", "This cannot be answered: the texts do not tell it.")
    assert graph.read(question.cypher or "") == []
    assert [(one.name, one.passed) for one in question.checks] == [("absent", True)]
    assert "3 other entities of type Person have it" in question.checks[0].reason
    assert "of 1 passages that name it" in question.checks[0].reason
    assert "is not proved" in question.checks[0].reason


TELLING = (
    "Eve Flint was born in Rom.", "Old Flint is here. She was born at sea.", "EVE\nFLINT: birth unknown, born 1904",
    "Eve Flint left early. It rained for years. Then she came into the world, born by the sea.", "Eve Flint. A mother bearing her in Rom.",
)


@pytest.mark.parametrize("text", TELLING)
def test_what_a_text_may_tell_is_not_asked(graph: Graph, draw: Draw, text: str) -> None:
    draw(TOWN)
    draw("MATCH (f:Firm) SET f.name = 'she'")
    graph.write("CREATE (:Chunk {id: 'c3', text: $text})", {"text": text})
    found = make(desk(graph, edge(graph, 0, "Eve Flint", "she")))
    assert not isinstance(found, Question) or "born" not in found.question


def test_a_relation_under_a_similar_name_or_of_a_namesake_counts_as_had(graph: Graph, draw: Draw) -> None:
    draw(TOWN)
    draw("MATCH (f:Firm) SET f.name = 'she'")
    own = LAYOUT.model_copy(update={"relation_types": [*LAYOUT.relation_types, "wasBornAt"]})
    draw("MATCH (c:City {name: 'Rom'}) CREATE (:Person {name: 'eve flint'})-[:wasBornAt]->(c)")
    found = make(desk(graph, edge(graph, 0, "Eve Flint", "she"), own))
    assert not isinstance(found, Question) or "born" not in found.question


def test_an_invented_name_is_nowhere_and_its_cypher_returns_nothing(graph: Graph, draw: Draw) -> None:
    draw(TOWN)
    question = made(make(desk(graph, edge(graph, 1, "Ada Byron", "Ulm"))))
    name = question.question.removeprefix("Which city was ").removesuffix(" born in?")
    first, last = name.split()
    assert {first, last} <= {"Ada", "Byron", "Bo", "Cast", "Cy", "Dunn", "Eve", "Flint"}
    assert graph.read("MATCH (n) WHERE n.name = $name OR n.text CONTAINS $name RETURN n", {"name": name}) == []
    assert graph.read(question.cypher or "") == []
    assert question.reference == f"This cannot be answered: the texts do not mention {name}."
    assert question.checks[0].reason.startswith("In the graph and its texts, proved")


def test_the_names_of_a_type_are_read_once_for_all_questions(graph: Graph, draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    draw(TOWN)
    asked, read, own = Counter[str](), graph.read, layout()

    def counted(query: Any, params: Any = None, *, timeout: float | None = None) -> Any:
        asked[getattr(query, "name", "")] += 1
        return read(query, params, timeout=timeout)

    edges = [edge(graph, number, *names) for number, names in ((1, ("Ada Byron", "Ulm")), (3, ("Bo Cast", "Ulm")), (5, ("Cy Dunn", "Rom")))]
    monkeypatch.setattr(graph, "read", counted)
    questions = [made(make(desk(graph, one, own))) for one in edges]
    assert all("born in?" in one.question for one in questions)
    assert asked["answers-names-of-type"] <= 2  # of people, and of cities


def test_where_no_name_is_new_and_no_relation_is_missing_there_is_no_question(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    found = [make(desk(graph, edge(graph, number, "Ada", "Acme"))) for number in (0, 1)]
    assert [one.cause for one in found if isinstance(one, RejectedError)] == ["no_missing_relation", "no_new_name"]


def test_a_term_is_absent_only_where_no_name_no_alias_and_no_text_has_it(graph: Graph, draw: Draw) -> None:
    draw(WORLD)
    draw("CREATE (:Chunk {id: 'c9', text: 'Then   Zoe\n O’Hara came.'})")
    found = absent(graph, layout(), ["Ada", "a. byron", "Byro", "Zoe O'Hara", "Nobody", "...", "where Cy works"])
    assert {term: (one.called, one.within, one.chunks) for term, one in found.items()} == {
        "Ada": (1, 1, 1), "a. byron": (1, 1, 0), "Byro": (0, 1, 0), "Zoe O'Hara": (0, 0, 1),
        "Nobody": (0, 0, 0), "where Cy works": (0, 0, 1),
    }
    assert [term for term, one in found.items() if one.absent] == ["Nobody"]
    assert (found["Byro"].example_name, found["Zoe O'Hara"].example_chunk) == ("Ada", "c9")
    assert [chunk for chunk, _ in passages_naming(graph, layout(), ["zoe o'hara"])] == ["c9"]


def test_without_texts_nothing_is_said_of_them(graph: Graph, draw: Draw) -> None:
    draw("CREATE (:Person {name: 'Ada'})-[:KNOWS]->(:Person {name: 'Bo'})")
    assert absent(graph, layout(), ["Nobody"])["Nobody"].chunks is None
    assert "no texts" in absent(graph, layout(), ["Nobody"])["Nobody"].proof


def test_the_kind_needs_no_model() -> None:
    assert [(kind.name, kind.level, kind.needs) for kind in KINDS] == [("negative", "negative", frozenset(("graph",)))]


def flint(graph: Graph, draw: Draw) -> Any:
    draw(TOWN)
    draw("MATCH (f:Firm) SET f.name = 'she'")
    return edge(graph, 0, "Eve Flint", "she")


def test_what_was_searched_by_words_only_says_so(graph: Graph, draw: Draw) -> None:
    question = made(make(desk(graph, flint(graph, draw))))
    assert "by words only: that no text says it in other words is not proved" in question.checks[0].reason
    assert question.extra["searched"] == ["words"]


@pytest.mark.parametrize(("cosine", "told"), [(0.2, False), (0.9, True)])
def test_a_sentence_that_is_near_the_question_may_tell_it(graph: Graph, draw: Draw, cosine: float, told: bool) -> None:
    def embed(texts: Any) -> Any:
        import numpy as np

        return np.array([[1.0, 0.0] if at == 0 else [cosine, (1 - cosine**2) ** 0.5] for at, _ in enumerate(texts)])

    found = make(replace(desk(graph, flint(graph, draw)), embed=embed))
    if told:
        assert not isinstance(found, Question) or "born" not in found.question
    else:
        question = made(found)
        assert question.extra["searched"] == ["words", "embeddings"] and "by words and embeddings only" in question.checks[0].reason


@pytest.mark.parametrize(("answer", "ok"), [("", True), ("Rom", False)])
def test_a_model_that_is_named_confirms_that_the_texts_do_not_tell_it(graph: Graph, draw: Draw, answer: str, ok: bool) -> None:
    class Reads(SaysAsker):
        def ask(self, task: Any) -> Any:
            self.asked.append(dict(task.slots))
            return Outcome(task.id, task.reply.model_validate({"reason": "read", "answered": bool(answer), "answer": answer}))

    asker = Reads("")
    found = make(desk(graph, flint(graph, draw), asker=asker))
    question = made(found)
    assert len(asker.asked) == 1 and asker.asked[0]["passages"] and "Eve Flint" in str(asker.asked[0]["question"])
    if ok:
        assert question.extra["searched"] == ["words", "model"] and "a model finds no answer in the" in question.checks[0].reason
    else:
        assert "Eve Flint" not in question.question and "the texts do not mention" in (question.reference or "")
