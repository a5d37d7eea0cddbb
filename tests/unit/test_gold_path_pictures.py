"""The gold path of a question as a picture: what of it an answer's system retrieved, and what was missing."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

import pytest
from test_report_pictures import SVG, overlaps, texts

from kgeval.metrics.path import MOST_DRAWN, match_path, path_picture
from kgeval.records import Answer, GoldPath, GraphRef, Passage, Question, WorstRow
from kgeval.reports import pictures
from kgeval.reports.document import Figure

NAMES = ("Livia Tarrant", "North Breakwater", "Velmouth", "Sarn County")
PATH = GoldPath(
    nodes=[GraphRef(key=name, name=name, type="Person" if not at else "Place") for at, name in enumerate(NAMES)],
    relations=[
        GraphRef(key="1", name="Livia Tarrant -[designed]-> North Breakwater", type="designed", kind="relation"),
        GraphRef(key="2", name="North Breakwater -[in]-> Velmouth", type="in", kind="relation"),
        GraphRef(key="3", name="Sarn County -[has]-> Velmouth", type="has", kind="relation"),
    ],
)
QUESTION = Question(id="q", question="Where?", path=PATH)


def answer(*contexts: str, **more: object) -> Answer:
    passages = [Passage(text=text) for text in contexts] or None
    return Answer.model_validate({"question_id": "q", "system": "s", "answer": "x", "contexts": passages, **more})


def gold_path(question: Question, given: Answer | None = None) -> Figure | None:
    """As the worst rows of a score report show it."""
    picture = path_picture(question.path, given) if question.path else None
    return pictures.paths_of([WorstRow(system="s", metric="m", question_id=question.id, value=0.0, path=picture)])[0]


def test_what_was_not_retrieved_is_dashed_and_named() -> None:
    figure = gold_path(QUESTION, answer("Livia Tarrant designed the North Breakwater.", "Velmouth is a town."))
    assert figure is not None
    assert figure.hint == "Retrieved: 4 of 7. Dashed: not retrieved (Sarn County; 2 relations)."
    shown = [text for text, _ in texts(figure.svg)]
    assert shown[:7] == [
        "Livia Tarrant", "designed", "North Breakwater", "in: not retrieved", "Velmouth", "has: not retrieved",
        "Sarn County: not retrieved",
    ]
    assert overlaps(figure.svg) == []
    root = ElementTree.fromstring(figure.svg)
    assert [node.get("class") for node in root.iter(f"{SVG}circle")] == ["t2", "t1", "t1", "t1 hollow"]
    assert root.get("aria-label", "").startswith("A graph of 4 nodes and 3 relations. Not retrieved: Sarn County.")


def test_the_marks_are_what_the_metrics_of_the_path_count() -> None:
    given = answer("Livia Tarrant designed the North Breakwater.", retrieved_relations=["Sarn County -[has]-> Velmouth"])
    picture = path_picture(PATH, given)
    assert picture is not None
    assert [node.mark for node in picture.nodes] == ["found"] * 4
    assert [one.mark for one in picture.relations] == ["found", "missing", "found"]
    assert (picture.relations[2].start, picture.relations[2].end) == (3, 2)  # as it is in the graph, against the way of the path


@pytest.mark.parametrize("given", [None, answer()])
def test_without_an_answer_that_tells_what_was_retrieved_the_path_alone_is_drawn(given: Answer | None) -> None:
    figure = gold_path(QUESTION, given)
    assert figure is not None
    assert "retrieved" not in figure.title + figure.hint + figure.svg


def test_all_of_it_was_retrieved() -> None:
    figure = gold_path(QUESTION, answer("Livia Tarrant designed the North Breakwater in Velmouth; Sarn County has Velmouth."))
    assert figure is not None
    assert figure.hint == "All of it was retrieved."


@pytest.mark.parametrize(("retrieved", "hint"), [
    ((), "Retrieved: 4 of 5. Not drawn: 1 relation without two ends on the path (not retrieved: 1)."),
    (("Bob -[knows]-> Robert",), "All of it was retrieved. Not drawn: 1 relation without two ends on the path."),
])
def test_a_relation_that_cannot_be_drawn_is_counted(retrieved: tuple[str, ...], hint: str) -> None:
    path = GoldPath(
        nodes=[GraphRef(key=name, name=name) for name in ("Alice", "Bob", "Carol")],
        relations=[GraphRef(key=name, name=name, kind="relation") for name in ("Alice -[knows]-> Bob", "Bob -[knows]-> Robert")],
    )
    given = answer(retrieved_nodes=["Alice", "Bob", "Carol"], retrieved_relations=["Alice -[knows]-> Bob", *retrieved])
    picture = path_picture(path, given)
    assert picture is not None
    assert (picture.found, picture.size) == (match_path(path, given).found, 5)
    assert pictures.path_figure(picture, {}).hint == hint


def test_a_path_is_laid_out_when_its_picture_is_asked_for() -> None:
    figure = gold_path(QUESTION, answer("Velmouth is a town."))
    assert figure is not None
    assert callable(figure.drawing) and figure.svg == figure.drawing()


def test_a_name_is_shown_where_a_relation_has_no_type_and_is_none() -> None:
    path = PATH.model_copy(update={"relations": [one.model_copy(update={"type": None}) for one in PATH.relations]})
    picture = path_picture(path)
    assert picture is not None
    assert [(one.type, one.name) for one in picture.relations] == [(None, "designed"), (None, "in"), (None, "has")]
    figure = pictures.path_figure(picture, {})
    assert "designed" in [text for text, _ in texts(figure.svg)]
    assert figure.data is not None and "designed" in str(list(figure.data.rows))


def test_a_path_that_branches_is_drawn_as_a_graph() -> None:
    ends = [f"end {at}" for at in range(5)]
    path = GoldPath(
        nodes=[GraphRef(key=name, name=name) for name in ("root", *ends)],
        relations=[GraphRef(key=name, name=f"root -[R]-> {name}", type="R", kind="relation") for name in ends],
    )
    figure = gold_path(Question(id="q", question="?", path=path))
    assert figure is not None
    assert overlaps(figure.svg) == []
    assert len({round(box[0]) for _, box in texts(figure.svg)}) > 2


def test_a_chain_stands_in_its_order_whatever_that_of_its_parts() -> None:
    turned = PATH.model_copy(update={"nodes": [PATH.nodes[at] for at in (1, 3, 0, 2)], "relations": PATH.relations[::-1]})
    figure = gold_path(Question(id="q", question="?", path=turned))
    assert figure is not None
    shown = [text for text, _ in texts(figure.svg)]
    assert shown[:7] == ["Sarn County", "has", "Velmouth", "in", "North Breakwater", "designed", "Livia Tarrant"]


def test_two_nodes_of_one_name_stay_two() -> None:
    path = GoldPath(
        nodes=[GraphRef(key=key, name="Ada") for key in ("1", "2")],
        relations=[GraphRef(key="r", name="Ada -[met]-> Ada", type="met", kind="relation")],
    )
    picture = path_picture(path)
    assert picture is not None
    assert [(one.start, one.end) for one in picture.relations] == [(0, 1)]


def test_no_path_no_picture() -> None:
    many = GoldPath(nodes=[GraphRef(key=str(at), name=str(at)) for at in range(MOST_DRAWN + 1)])
    assert gold_path(Question(id="q", question="?")) is None
    assert gold_path(Question(id="q", question="?", path=GoldPath())) is None
    assert gold_path(Question(id="q", question="?", path=many)) is None


def test_hostile_names_stay_within_the_drawing() -> None:
    names = ["<script>" * 20_000, "W" * 300, "維" * 90, "a -[b]-> c"]
    path = GoldPath(nodes=[GraphRef(key=name, name=name, type="<b>") for name in names], relations=[
        GraphRef(key=str(at), name=str(at), type="&" * 200, kind="relation") for at in range(3)
    ])
    figure = gold_path(Question(id="q", question="?", path=path), answer("nothing"))
    assert figure is not None
    assert "<script" not in figure.svg
    assert all(box[2] <= pictures.WIDTH for _, box in texts(figure.svg))
    assert not any(a[1] < b[3] and b[1] < a[3] and a[0] < b[2] and b[0] < a[2] for (_, a), (_, b) in combinations(texts(figure.svg), 2))


def test_rows_of_a_report_share_their_colours() -> None:
    rows = [
        WorstRow(system="s", metric="m", question_id="q", value=0.0, path=path_picture(PATH)),
        WorstRow(system="s", metric="m", question_id="r", value=0),
    ]
    first, second = pictures.paths_of(rows)
    assert first is not None and second is None
