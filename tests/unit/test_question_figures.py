"""Figures of sets of questions: every value countable by hand, and the published questions of GraphRAG-Bench."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.cli.main import run
from kgeval.questions.complexity import depth
from kgeval.questions.figures import figures, words_in
from kgeval.questions.gold_triples import gold_of
from kgeval.records import GoldPath, GraphRef, Passage, Question, QuestionSet, QuestionStats
from kgeval.tables.question_rows import open_questions
from kgeval.tables.row_selection import RowSelection

NOVELS = Path(__file__).resolve().parents[3] / "shared" / "data" / "graphrag-bench-novel" / "questions.json"


def question(n: int, *, triples: list[tuple[str, str, str]] | None = None, **fields: object) -> Question:
    refs = [GraphRef(key=f"{s}|{p}|{o}", name=f"{s} -[{p}]-> {o}", type=p, kind="relation") for s, p, o in triples or ()]
    path = {"path": GoldPath(relations=refs)} if triples else {}
    return Question.model_validate({"id": f"q{n}", "question": "Who is it?", **path, **fields})


def test_figures_say_what_they_are_over_and_where_they_come_from() -> None:
    made = figures([
        question(1, level="path", hops=2, triples_needed=2, reference="A man", evidence=[Passage(text="x"), Passage(text="y")]),
        question(2, level="path", triples=[("a", "r", "b"), ("b", "r", "c"), ("A", "r", "b")], evidence_ids=[["c1", "c2"]]),
        question(3, question="Wo?"),
    ], "three.jsonl")
    path, nameless = made.levels
    assert (path.name, path.n, round(path.share, 3), nameless.name, nameless.n) == ("path", 2, 0.667, None, 1)
    assert (path.breadth.n, path.breadth.mean, path.breadth.sources) == (2, 2.0, {"file": 1, "triples": 1})
    assert (path.depth.n, path.depth.mean) == (2, 2.0)
    assert (nameless.breadth.n, nameless.breadth.mean, nameless.depth.median) == (0, None, None)
    assert (made.overall.question_words.n, made.overall.question_words.mean) == (3, pytest.approx(7 / 3))
    assert (made.overall.answer_words.n, made.overall.answer_words.mean) == (1, 2.0)
    assert (made.overall.evidence.n, made.overall.evidence.mean) == (2, 1.5)
    assert any("1 of 3 questions have no level" in note for note in made.notes)
    assert any("breadth: 1 of 3" in note for note in made.notes)


def test_a_question_of_several_kinds_counts_in_each_and_levels_come_in_their_order() -> None:
    made = figures([
        question(1, kind=["x", "y"], level="creative_generation"), question(2, kind="y", level="hop"),
        question(3, kind="y", level="fact_retrieval"), question(4),
    ], "f")
    assert [(group.name, group.n) for group in made.kinds] == [("y", 3), ("x", 1), (None, 1)]
    assert [group.name for group in made.levels] == ["fact_retrieval", "creative_generation", "hop", None]


def test_triples_that_cannot_be_taken_apart_count_for_breadth_and_leave_no_depth() -> None:
    broken = question(1, triples=[("a", "r", "b")], extra={"evidence_triple_broken": ["(a, b, c, d)"]})
    made = figures([broken], "f")
    assert (made.overall.breadth.mean, made.overall.depth.n, made.broken_triples) == (2.0, 0, 1)
    nameless = Question(id="q", question="?", path=GoldPath(relations=[GraphRef(key="k", name="no arrow", kind="relation")]))
    assert (gold_of(nameless).known, gold_of(nameless).broken) == ((), 1)


def test_no_questions_no_figures() -> None:
    made = figures([], "f")
    assert (made.n, made.overall.n, made.overall.breadth.mean, made.levels, made.notes) == (0, 0, None, [], [])


@pytest.mark.parametrize(("text", "words"), [
    ("Who is it?", 3), ("Captain O'Neil's well-kept log", 4), ("", 0), ("...", 0), ("東京", 2), ("in 1999 at 10", 4), ("Straße naïve", 2),
])
def test_words_are_counted_in_any_script(text: str, words: int) -> None:
    assert words_in(text) == words


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), min_size=1, max_size=9))
def test_depth_of_gold_triples_is_what_networkx_says(ends: list[tuple[str, str]]) -> None:
    """The sum of the diameters of the parts that the triples make."""
    graph = nx.Graph([pair for pair in ends if pair[0] != pair[1]])
    assert depth(ends, ends) == sum(nx.diameter(graph.subgraph(part)) for part in nx.connected_components(graph))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["fact_retrieval", "x", None]), st.integers(0, 20) | st.none()), max_size=30))
def test_groups_add_up_to_the_whole(given_: list[tuple[str | None, int | None]]) -> None:
    made = figures([question(n, level=level, triples_needed=needed) for n, (level, needed) in enumerate(given_)], "f")
    assert sum(group.n for group in made.levels) == made.n == len(given_)
    assert made.n == 0 or sum(group.share for group in made.levels) == pytest.approx(1)
    assert sum(group.breadth.n for group in made.levels) == made.overall.breadth.n == sum(n is not None for _, n in given_)


def test_stats_sets_files_side_by_side_in_text_json_and_markdown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two, report = tmp_path / "one.jsonl", tmp_path / "two.jsonl", tmp_path / "report.json"
    one.write_text('{"id": "1", "question": "Where?", "level": "fact_retrieval", "triples_needed": 2, "hops": 1}\n')
    two.write_text('{"id": "1", "question": "[x](y) `z`", "kind": "<b>odd</b>\\u202e"}\n{"id": "2", "question": "Why?"}\n')
    assert run(["questions", "stats", str(one), str(two), "-o", str(report)]) == 0
    shown = capsys.readouterr().out
    assert cells("fact_retrieval", shown) == ["1", "(100", "%)", "0"]
    assert cells("(none)", shown) == ["0", "2", "(100", "%)"]
    assert "\u202e" not in shown
    read = QuestionStats.model_validate_json(report.read_text())
    assert [(one.n, one.overall.breadth.n) for one in read.sets] == [(1, 1), (2, 0)]
    assert len(read.run.inputs) == 2
    assert run(["questions", "stats", str(one), "-f", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["sets"][0]["n"] == 1
    assert run(["questions", "stats", str(two), "-f", "md"]) == 0
    assert "<b>" not in capsys.readouterr().out


def test_stats_refuses_what_it_cannot_read_or_would_overwrite(tmp_path: Path) -> None:
    path, good = tmp_path / "q.jsonl", tmp_path / "good.json"
    path.write_text('{"id": "1", "question": "Where?"}\n{"id": "2"}\n')
    good.write_text('[{"id": "1", "question": "Where?"}]')
    assert run(["questions", "stats", str(path)]) == 2
    assert run(["questions", "stats", str(tmp_path / "none.jsonl")]) == 2
    assert run(["questions", "stats", str(good), "-o", str(good)]) == 2
    assert run(["questions", "stats", "-", "-"]) == 2
    assert json.loads(good.read_text())


@pytest.mark.slow
@pytest.mark.skipif(not NOVELS.is_file(), reason="shared/data/graphrag-bench-novel is not here")
def test_the_published_novel_questions_grow_in_breadth_level_by_level_near_the_published_table() -> None:
    """[X table 8] has 1.40, 2.60, 3.51 and 7.11 over 20 books; these are 8 of them, so the figures are near and not the same."""
    made = novels()
    assert [group.n for group in made.levels] == [385, 246, 154, 25]
    assert [round(group.breadth.mean or 0, 2) for group in made.levels] == [1.10, 2.53, 3.23, 5.96]
    assert [round(group.evidence.mean or 0, 2) for group in made.levels] == [1.25, 2.52, 3.57, 7.16]
    for group, published in zip(made.levels, (1.40, 2.60, 3.51, 7.11), strict=True):
        assert group.breadth.n == group.n
        assert (group.breadth.mean or 0) == pytest.approx(published, rel=0.25)
    assert (made.broken_triples, made.documents) == (22, 8)


def novels() -> QuestionSet:
    with open_questions(RowSelection((), questions=NOVELS)) as questions:
        return figures(questions, NOVELS)


def cells(name: str, text: str) -> list[str]:
    """What stands behind a name in its first row."""
    return next(line for line in text.splitlines() if line.startswith(name)).removeprefix(name).split()
