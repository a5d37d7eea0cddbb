"""The faults of GraphRAG-Bench's evaluators, each verified there with a stub model (November 2025 code): none can happen here.

A test for each row of the list: what the judge returned, and what their code made of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from judged import USUAL, by_name, judged, row
from room import items_shown, session, user_text
from scripted_judge import Judge

from kgeval.llm.fake import Chat, FakeServer, Logged, Rule
from kgeval.records import Row, Score

Spoil = Callable[[Chat, Any], Any]
THREE = "One is one. Two is two. Three is three."
CLAIMS, VERDICTS, RATINGS = "statements", "label", "rating"


def asks_for(chat: Chat, what: str) -> bool:
    """True if the reply's schema has a field of that name, in the reply or in the entries of its list."""
    return f'"{what}"' in json.dumps(chat.schema)


def scores_of(
    tmp_path: Path, spoil: Spoil, one: Row | None = None, metrics: tuple[str, ...] = USUAL,
) -> tuple[dict[str, Score], list[Logged]]:
    """The scores of a row whose judge's replies are spoiled, and the requests that were made."""
    given = one or row(0, THREE, reference=THREE, contexts=[THREE], evidence=["One is one.", "Two is two.", "Three is three."])
    with FakeServer(Judge(spoil)) as server, session(server.base_url, tmp_path / "j.sqlite", max_reasks=2, max_retries=0) as models:
        (made,) = judged(models, [given], metrics)
        return by_name(made), server.requests


def always(what: str, reply: Any) -> Spoil:
    return lambda chat, good: reply if asks_for(chat, what) else good


def first_time(what: str, change: Callable[[Any], Any]) -> Spoil:
    """The first reply of each request about `what` is changed; asked again, the judge gets it right."""
    seen: Counter[str] = Counter()

    def spoil(chat: Chat, good: Any) -> Any:
        if not asks_for(chat, what) or len(chat.items) < 2:
            return good
        seen[chat.subject] += 1
        return change(good) if seen[chat.subject] == 1 else good

    return spoil


def assert_none_invented(scores: dict[str, Score], *names: str) -> None:
    for name in names:
        assert (scores[name].status, scores[name].value) == ("unscored", None), name


@pytest.mark.parametrize("reply", [" ", {}, {"statements": []}, {"statements": [], "nothing_claimed": False}, "null", "[]"])
def test_empty_text_or_an_empty_object_in_both_statement_steps_is_no_perfect_score(tmp_path: Path, reply: Any) -> None:
    """There: factuality 1.0, because "both lists empty" counts as perfect."""
    scores, _ = scores_of(tmp_path, always(CLAIMS, reply))
    assert_none_invented(scores, "factual_correctness", "faithfulness")
    cause = (scores["factual_correctness"].reason or "").split(":")[0]
    assert cause in ("empty", "unparsable")
    assert scores["evidence_recall"].value == scores["evidence_coverage"].value == scores["context_relevance"].value == 1.0


def test_a_classification_in_prose_is_a_failure_and_no_zero(tmp_path: Path) -> None:
    """There: factuality 0, a failure scored as a wrong answer."""
    scores, _ = scores_of(tmp_path, always(VERDICTS, "I would say that most of these are supported by the text."))
    assert_none_invented(scores, "factual_correctness", "faithfulness", "evidence_coverage")
    assert scores["evidence_recall"].value == 1.0, "the evidence stands in the context word for word: nobody was asked"
    assert (scores["factual_correctness"].reason or "").startswith("unparsable")
    assert scores["factual_correctness"].detail["judged"] == 0


def test_verdicts_that_are_plain_strings_drop_no_question(tmp_path: Path) -> None:
    """There: a ValidationError escapes, and the question vanishes with all its metrics."""
    scores, _ = scores_of(tmp_path, always(VERDICTS, {"items": ["One is one.", "Two is two."]}))
    assert set(scores) == set(USUAL)
    assert_none_invented(scores, "factual_correctness", "faithfulness")
    assert scores["context_relevance"].value == 1.0


@pytest.mark.parametrize(("what", "lost"), [
    (RATINGS, {"context_relevance"}), (CLAIMS, {"factual_correctness", "faithfulness"}),
    (VERDICTS, {"factual_correctness", "faithfulness", "evidence_coverage"}),
])
def test_a_fault_in_one_metric_leaves_the_others_of_the_question(tmp_path: Path, what: str, lost: set[str]) -> None:
    """There: the question vanishes from every average, ROUGE included."""
    scores, _ = scores_of(tmp_path, always(what, Rule(status=500, message="down")), metrics=(*USUAL, "source_document_accuracy"))
    assert {name for name, score in scores.items() if score.status == "unscored"} == lost
    assert scores["source_document_accuracy"].status == "not_applicable"
    assert {score.value for name, score in scores.items() if name not in lost and score.status == "scored"} == {1.0}


def only_first(good: Any) -> Any:
    return {**good, "items": good["items"][:1]}


@pytest.mark.parametrize("metric", ["evidence_coverage", "faithfulness"])
def test_marks_that_do_not_come_back_are_asked_for_and_the_denominator_is_what_was_given(tmp_path: Path, metric: str) -> None:
    """There: three facts and one mark (1), or two statements and one verdict, give 1.0."""
    one = row(0, "One is one. Four is four.", contexts=["One is one."], evidence=["One is one.", "Two is two.", "Three is three."])
    scores, requests = scores_of(tmp_path, first_time(VERDICTS, only_first), one, (metric,))
    assert scores[metric].value == pytest.approx({"evidence_coverage": 1 / 3, "faithfulness": 1 / 2}[metric])
    again = [items_shown(entry) for entry in requests if 'name="items"' in user_text(entry)]
    assert again[1] == again[0][1:], "only the missing ones are asked again"


@pytest.mark.parametrize("metric", ["evidence_coverage", "faithfulness"])
def test_marks_that_never_come_back_leave_the_metric_unscored_with_the_counts(tmp_path: Path, metric: str) -> None:
    """An item whose verdict never comes: the two others stay verdicts, and are no score."""
    def without_the_second(chat: Chat, good: Any) -> Any:
        if asks_for(chat, VERDICTS) and "items" in good:
            return {"items": [entry for entry in good["items"] if not json.loads(chat.items[entry["tag"]]).startswith("Two")]}
        return good

    scores, _ = scores_of(tmp_path, without_the_second, metrics=(metric,))
    assert_none_invented(scores, metric)
    assert (scores[metric].reason or "").startswith(("missing_item", "unparsable"))
    assert (scores[metric].detail["supported"], scores[metric].detail["unjudged"]) == (2, 1)


@pytest.mark.parametrize("missing", ["reason", "label"])
def test_a_verdict_without_a_part_is_asked_again_and_not_ignored(tmp_path: Path, missing: str) -> None:
    """There: a verdict without a reason is ignored, which can turn 0.5 into 0 or 1."""
    def drop(good: Any) -> Any:
        return {"items": [{k: v for k, v in entry.items() if k != missing or entry is not good["items"][0]} for entry in good["items"]]}

    one = row(0, "One is one. Four is four.", contexts=["One is one."])
    scores, requests = scores_of(tmp_path, first_time(VERDICTS, drop), one, ("faithfulness",))
    assert scores["faithfulness"].value == 0.5
    assert [len(items_shown(entry)) for entry in requests if 'name="items"' in user_text(entry)] == [2, 1]


def next_tag(entry: Any) -> Any:
    return {**entry, "tag": entry["tag"][0] + str((int(entry["tag"][1]) + 1) % 10)}


@pytest.mark.parametrize("shifted", [
    lambda items: [next_tag(entry) for entry in items], lambda items: [{**entry, "tag": str(place)} for place, entry in enumerate(items)],
    lambda items: [{**entry, "tag": place} for place, entry in enumerate(items, start=1)], lambda items: [*items, next_tag(items[-1])],
    lambda items: [{**entry, "tag": items[max(0, place - 1)]["tag"]} for place, entry in enumerate(items)],
])
def test_a_judge_that_always_counts_gives_no_value_and_never_a_wrong_one(tmp_path: Path, shifted: Callable[[Any], Any]) -> None:
    """Three of four claims hold: lists a place off once gave 1."""
    one = row(0, "One is one. Two is two. Four is four. Three is three.", contexts=["One is one. Two is two. Three is three."])
    scores, requests = scores_of(
        tmp_path, lambda chat, good: {"items": shifted(good["items"])} if asks_for(chat, VERDICTS) else good, one, ("faithfulness",),
    )
    assert_none_invented(scores, "faithfulness")
    assert (scores["faithfulness"].reason or "").startswith("unparsable") and len(requests) == 1 + 3


def test_statements_in_an_object_are_asked_for_again(tmp_path: Path) -> None:
    """There: statements in an object where a list was wanted give NaN at once, without a retry."""
    tries = Counter[str]()

    def wrapped(chat: Chat, good: Any) -> Any:
        tries[chat.subject] += 1
        if asks_for(chat, CLAIMS) and tries[chat.subject] == 1:
            return {"statements": {str(n): text for n, text in enumerate(good["statements"])}, "nothing_claimed": False}
        return good

    scores, _ = scores_of(tmp_path, wrapped)
    assert {score.value for score in scores.values()} == {1.0}


@pytest.mark.parametrize(("change", "readable"), [
    (lambda entry: {**entry, "tag": entry["tag"].upper()}, True), (lambda entry: {**entry, "label": entry["label"].upper()}, True),
    (lambda entry: {**entry, "tag": "one"}, False),
    (lambda entry: {**entry, "label": 1}, False), (lambda entry: {**entry, "label": "yes"}, False),
    (lambda entry: {**entry, "tag": float("nan")}, False),
])
def test_a_mark_written_otherwise_is_read_or_asked_again_and_never_nan(
    tmp_path: Path, change: Callable[[Any], Any], readable: bool,
) -> None:
    """There: a mark given as "1" gives NaN."""
    spoil = first_time(VERDICTS, lambda good: {"items": [change(entry) for entry in good["items"]]})
    one = row(0, "One is one. Two is two. Four is four.", contexts=["One is one. Two is two."])
    scores, requests = scores_of(tmp_path, spoil, one, ("faithfulness",))
    assert scores["faithfulness"].value == pytest.approx(2 / 3)
    assert len(requests) == (2 if readable else 3)


@pytest.mark.parametrize(("change", "asked", "used"), [
    (lambda items: items[::-1], 2, 1), (lambda items: [*items, {**items[0], "tag": "b2"}], 3, 1), (lambda items: [*items, items[0]], 3, 1),
    (lambda items: [*items, {**items[0], "label": "contradicted"}], 3, 1), (lambda items: items[1:], 3, 2),
    (lambda items: [{**item, "tag": item["tag"][0] + str(int(item["tag"][1]) + 1)} for item in items], 3, 1),
    (lambda items: [{**item, "tag": str(place)} for place, item in enumerate(items)], 3, 1),
    (lambda items: [{**item, "sources": ["2b"]} for item in items], 3, 1),
])
def test_lists_out_of_order_shifted_or_doubled_give_each_item_its_own_verdict(
    tmp_path: Path, change: Callable[[Any], Any], asked: int, used: int,
) -> None:
    spoil = first_time(VERDICTS, lambda good: {"items": change(good["items"])})
    one = row(0, "One is one. Four is four. Three is three.", contexts=["One is one. Three is three."])
    with FakeServer(Judge(spoil)) as server, session(server.base_url, tmp_path / "j.sqlite") as models:
        (made,) = judged(models, [one], ("faithfulness",))
        assert len(server.requests) == asked
    assert [verdict.label for verdict in made.verdicts] == ["supported", "not_stated", "supported"]
    assert len({verdict.call for verdict in made.verdicts}) == used, "each verdict names the reply that it came in"


@pytest.mark.parametrize("rating", [1.5, 5, -1, "two", None, True, 1e308])
@pytest.mark.parametrize("metric", ["context_relevance", "context_precision", "context_relevance_compat"])
def test_a_rating_that_is_not_on_the_scale_is_asked_again_and_then_unscored(tmp_path: Path, rating: Any, metric: str) -> None:
    """There: 1.5 is accepted as 0.75, and 5 as 2.5."""
    def off(chat: Chat, good: Any) -> Any:
        if not asks_for(chat, RATINGS):
            return good
        return {"items": [{**entry, "rating": rating} for entry in good["items"]]} if "items" in good else {**good, "rating": rating}

    scores, requests = scores_of(tmp_path, off, metrics=(metric,))
    assert_none_invented(scores, metric)
    assert len(requests) == 3, "asked, and twice again"


def test_one_context_off_the_scale_is_asked_again_alone(tmp_path: Path) -> None:
    one = row(0, contexts=["Paris is in France.", "Something else."])
    spoil = first_time(RATINGS, lambda good: {"items": [{**good["items"][0], "rating": 5}, *good["items"][1:]]})
    scores, requests = scores_of(tmp_path, spoil, one, ("context_relevance",))
    assert scores["context_relevance"].value == 0.5
    assert [len(items_shown(entry)) for entry in requests] == [2, 1]


@pytest.mark.parametrize("metric", ["context_relevance", "context_relevance_compat"])
def test_calls_that_all_fail_do_not_mean_irrelevant(tmp_path: Path, metric: str) -> None:
    """There: 0.0, as if the contexts were beside the point."""
    with FakeServer([Rule(regex=".", status=500)]) as server, session(server.base_url, tmp_path / "j.sqlite", max_retries=0) as models:
        (made,) = judged(models, [row(0)], (metric,))
    assert_none_invented(by_name(made), metric)
    assert (made.scores[0].reason or "").startswith("server_error")


@pytest.mark.parametrize("metric", ["context_relevance", "context_relevance_compat", "context_precision"])
def test_a_context_that_stands_in_the_question_is_asked_about(tmp_path: Path, metric: str) -> None:
    """There: 0 without asking, which punishes short entity contexts."""
    one = row(0, question="Where is the city of Paris?", contexts=["Paris"], evidence=["Paris"])
    scores, requests = scores_of(tmp_path, lambda chat, good: good, one, (metric,))
    assert len(requests) == 1
    assert scores[metric].value == 1.0


def test_a_context_that_is_one_long_string_is_shown_as_it_is(tmp_path: Path) -> None:
    """There: joined letter by letter with line ends, so that words cannot be read."""
    text = "Paris is in France. It lies on the Seine."
    _, requests = scores_of(tmp_path, lambda chat, good: good, row(0, contexts=[text]), ("faithfulness", "context_relevance_compat"))
    shown = [user_text(entry) for entry in requests if text in user_text(entry)]
    assert len(shown) == 2


def test_a_verdict_list_that_never_fits_keeps_the_value_out_of_the_mean_and_the_cause_in_the_row(tmp_path: Path) -> None:
    """There: NaN values are dropped, and no count of them is reported."""
    rows = [row(n, f"Paris is in France. Row {n}.") for n in range(4)]

    def third_fails(chat: Chat, good: Any) -> Any:
        return "no" if asks_for(chat, VERDICTS) and "Row 2." in chat.text else good

    with FakeServer(Judge(third_fails)) as server, session(server.base_url, tmp_path / "j.sqlite") as models:
        results = judged(models, rows, ("faithfulness",))
    assert [made.scores[0].question_id for made in results] == ["q0", "q1", "q2", "q3"]
    assert [made.scores[0].status for made in results] == ["scored", "scored", "unscored", "scored"]
