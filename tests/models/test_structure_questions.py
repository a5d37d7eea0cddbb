"""Questions of several chains, disjoint subgraphs, hierarchies and dependencies: what they rest on, and why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from bench_world import NAMES, Writer, chain, made
from room import session

from kgeval.llm.asker import Dry, Live
from kgeval.llm.fake import FakeServer
from kgeval.llm.plan import Plan
from kgeval.questions.generate import QuestionAttempt
from kgeval.questions.kinds import all_kinds
from kgeval.records import Structure

KINDS = {name: all_kinds()[name] for name in ("several_chains", "disjoint_subgraphs", "hierarchy", "dependency")}
GOOD = {"several_chains": [1, 3, 5], "disjoint_subgraphs": [1, 2, 5, 6], "hierarchy": [1, 2, 4], "dependency": [2, 3, 5]}
PARTS = {"several_chains": [(1, 2), (3, 4), (5, 6)], "disjoint_subgraphs": [(1, 2, 3), (5, 6)]}


def structure(kind: str, parts: Sequence[Sequence[int]] | None = None) -> Structure:
    """Six relations in parts; of a disjoint structure the middle two are not there."""
    drawn = KINDS[kind].draws
    assert drawn is not None
    chosen = parts or PARTS.get(kind, [(1, 2), (3, 4, 5, 6)])
    kept = [n for part in chosen for n in part]
    whole = chain(6)
    return whole.model_copy(update={
        "kind": drawn.kind, "parts": [[f"r{n}" for n in part] for part in chosen],
        "relations": [r for n, r in enumerate(whole.relations, start=1) if n in kept],
    })


def attempted(writer: Writer, kind: str, tmp_path: Path, drawn: Structure | None = None, **options: Any) -> QuestionAttempt:
    with FakeServer(writer) as server, session(server.base_url, tmp_path / "j.sqlite") as models:
        return made(Live(models), drawn or structure(kind), KINDS[kind], **options)


def numbers(kind: str, relations: Sequence[int]) -> list[int]:
    """Relations by the numbers under which they are shown."""
    kept = [int(r.element_id[1:]) for r in structure(kind).relations]
    return [kept.index(n) + 1 for n in relations]


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_says_its_level_its_relations_and_from_how_many_parts_they_are(kind: str, tmp_path: Path) -> None:
    writer = Writer(numbers(kind, GOOD[kind]))
    question = attempted(writer, kind, tmp_path).question
    assert question is not None
    assert (question.kind, question.level) == (kind, "contextual_summarize" if "disjoint" in kind else "complex_reasoning")
    assert question.triples_needed == len(GOOD[kind]) and question.path is not None
    assert [r.element_id for r in question.path.relations] == [f"r{n}" for n in GOOD[kind]]
    assert bool(question.steps) == (kind != "disjoint_subgraphs") and bool(question.points) == (kind == "disjoint_subgraphs")
    said = {one.name: one for one in question.checks}
    assert said["several_parts"].passed and {"evidence_from_text", "answer_from_evidence", "leak"} <= said.keys()
    assert writer.asked[0]["parts"] == [[numbers(kind, [int(name[1:]) for name in part]) for part in structure(kind).parts]]
    assert question.made_by is not None and question.made_by.structure == KINDS[kind].draws.kind  # type: ignore[union-attr]


def test_the_depths_of_parts_that_nothing_joins_are_added(tmp_path: Path) -> None:
    question = attempted(Writer(numbers("disjoint_subgraphs", GOOD["disjoint_subgraphs"])), "disjoint_subgraphs", tmp_path).question
    assert question is not None and (question.triples_needed, question.hops) == (4, 2 + 2)


@pytest.mark.parametrize(("kind", "parts", "chosen", "cause"), [
    ("several_chains", [(1, 2, 3), (4, 5, 6)], [1, 2, 3], "too_few_parts"),
    ("several_chains", [(1, 2), (3, 4), (5, 6)], [1, 3], "too_few_relations"),
    ("hierarchy", [(1, 2, 3, 4), (5, 6)], [1, 2, 3, 4], "too_few_parts"),
    ("dependency", [(1, 2), (3, 4, 5, 6)], [3, 4, 5], "too_few_parts"),
    ("disjoint_subgraphs", [(1, 2, 3), (4, 5, 6)], [1, 2, 3, 4], "too_few_parts"),
    ("disjoint_subgraphs", [(1, 2), (5, 6)], [1, 2, 3], "too_few_relations"),
    ("several_chains", [(1,), (2,)], [1, 2], "too_small"),
])
def test_a_reply_that_keeps_to_one_part_is_no_question(
    kind: str, parts: list[tuple[int, ...]], chosen: list[int], cause: str, tmp_path: Path,
) -> None:
    writer = Writer(chosen)
    rejected = attempted(writer, kind, tmp_path, structure(kind, parts)).rejected
    assert rejected is not None and rejected.cause == cause
    assert len(writer.asked) == (cause != "too_small")


def test_parts_are_counted_again_when_evidence_is_dropped(tmp_path: Path) -> None:
    writer = Writer([1, 2, 3, 5], untrue=[NAMES[5]])  # what ends at the sixth name is in no text: the fifth relation
    rejected = attempted(writer, "several_chains", tmp_path, structure("several_chains", [(1, 2, 3, 4), (5, 6)])).rejected
    assert rejected is not None and rejected.cause == "too_few_parts"


def test_context_that_names_what_the_reader_has_to_find_is_not_taken(tmp_path: Path) -> None:
    plain, refined = f"Where does it begin for {NAMES[0]}?", f"Where does it begin for {NAMES[0]} of {NAMES[1]}?"
    question = attempted(Writer([1, 2, 4], question=plain, refined=refined), "hierarchy", tmp_path).question
    assert question is not None and question.question == plain


def test_a_dry_run_counts_the_calls_of_each_kind(tmp_path: Path) -> None:
    for kind in KINDS:
        writer = Writer(numbers(kind, GOOD[kind]))
        with FakeServer(writer) as server, session(server.base_url, tmp_path / f"{kind}.sqlite") as models:
            dry = Dry(models)
            made(dry, structure(kind), KINDS[kind])
            low, high = Plan(dry.stages(), models.limits).calls
            made(Live(models), structure(kind), KINDS[kind])
            assert (low, high) == (4, 5) and len(writer.asked) == 4
