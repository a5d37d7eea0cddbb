"""What is asked about a row, and how replies become facts; the asker is a function here. Over HTTP: tests/models/test_score_judge.py."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from kgeval.llm.asker import Later, Live
from kgeval.llm.calls import Endpoint, Failure, Outcome, Task
from kgeval.llm.prompts import Prompt, load_prompt
from kgeval.llm.request import Request, make_request
from kgeval.metrics.definition import MetricSettings, Subject
from kgeval.metrics.engine import Tools, result
from kgeval.metrics.facts import ItemVerdicts, RowFacts
from kgeval.metrics.judge.checks import MOST_ITEMS
from kgeval.metrics.judge.gather import ask_facts
from kgeval.metrics.judge.replies import CitedVerdict, ContextRating, OutsideVerdict, SourcedVerdict, Statements
from kgeval.metrics.select import select
from kgeval.metrics.summary.worst import reasons
from kgeval.metrics.table import all_metrics
from kgeval.records import Answer, Citation, GoldPath, Passage, Question, Row

USUAL = ("factual_correctness", "faithfulness", "evidence_recall", "context_relevance", "evidence_coverage")
DOWN = Failure("server_error", "500")
LOST = Failure("missing_item", "it never came")


def tags_at(task: Task[Any], places: list[int]) -> list[str]:
    """The tags of the passages that a request shows at these places, from 1."""
    shown = [passage["tag"] for passage in task.slots.get("passages", ())]  # type: ignore[union-attr, index, call-overload]
    return [shown[place - 1] for place in places if shown]


class Pretend:
    """An asker that keeps what it is asked. `labels(stage, number, text)` gives the fields of an entry; a stage in `fails` fails."""

    dry = False

    def __init__(self, fields: Callable[[str, int, str], dict[str, Any]] | None = None, *, fails: Iterable[str] = ()) -> None:
        self.fields, self.fails = fields or (lambda stage, number, text: {}), set(fails)
        self.tasks: list[Task[Any]] = []
        self.requests: list[Request] = []

    def prompt(self, name: str) -> Prompt:
        return load_prompt(name)

    def ask(self, task: Task[Any]) -> Outcome[Any]:
        self.tasks.append(task)
        self.requests.append(make_request(task, Endpoint("m"), items=dict(zip(task.tags, task.items, strict=True))))
        if task.stage in self.fails:
            return Outcome(task.id, None, DOWN, missing=dict.fromkeys(range(1, len(task.items) + 1), DOWN))
        whole = {
            "statements": [f"{task.slots.get('text', task.slots.get('reference'))}, {n}" for n in (1, 2)], "nothing_claimed": False,
            "reason": "r", "rating": 2, "label": "refusal" if task.reply is OutsideVerdict else "correct",
            "result": True, "first": "a?", "second": "b?", "third": "c?", "noncommittal": True,
        }
        entry = {"reason": "r", "sources": [1], "label": "supported", "rating": 1}
        items = [
            {**entry, "tag": tag, **self.fields(task.stage, n, str(text))}
            for n, (tag, text) in enumerate(zip(task.tags, task.items, strict=True), start=1)
        ]
        items = [{**item, "sources": tags_at(task, item["sources"])} for item in items if "lost" not in item]
        value = task.reply.model_validate({**whole, "items": items})
        answers = {task.tags.index(item.tag) + 1: item for item in getattr(value, "items", ())}
        missing = dict.fromkeys(set(range(1, len(task.items) + 1)) - set(answers), LOST)
        return Outcome(task.id, value, answers=answers, missing=missing, calls=("key",), call_of=dict.fromkeys(answers, "key"))

    def later(self, call: Later) -> None:
        raise AssertionError("this is no dry run")

    @property
    def stages(self) -> list[str]:
        return [task.stage for task in self.tasks]


def row(n: int = 0, *, system: str = "s", answer: str = "It is Paris", contexts: list[str] | None = None, **question: Any) -> Row:
    given_question = {"reference": "Paris", "evidence": [Passage(text="evidence A"), Passage(text="evidence B")]}
    return Row(
        n=n, where="x:1", question=Question(id=f"q{n}", question="What is the capital?", **{**given_question, **question}),
        answer=Answer(question_id=f"q{n}", system=system, answer=answer, contexts=[Passage(text=t) for t in contexts or ("c1", "c2")]),
    )


def asked(metrics: Iterable[str], at: Row, asker: Pretend | None = None, *, trial: int = 0) -> tuple[Subject, Pretend]:
    asker = asker or Pretend()
    subject = Subject(at, RowFacts(), MetricSettings(), trial)
    ask_facts(subject, select(metrics).facts_of(at), asker)
    return subject, asker


def test_the_five_usual_metrics_take_seven_calls_and_each_source_is_read_once() -> None:
    subject, asker = asked(USUAL, row())
    assert asker.stages == [
        "claims-answer", "claims-reference", "verdicts-reference", "verdicts-contexts", "verdicts-contexts", "verdicts-answer", "ratings",
    ]
    items = {task.stage: task.items for task in asker.tasks}
    assert asker.tasks[3].items == ("evidence A", "evidence B"), "what no answer changes is a call of its own"
    assert items["verdicts-contexts"] == ("It is Paris, 1", "It is Paris, 2")
    assert items["verdicts-answer"] == ("Paris, 1", "Paris, 2", "evidence A", "evidence B")
    assert {name: len(checked.items) for name, checked in subject.facts.checks.items()} == {
        "answer_claims@reference": 2, "answer_claims@contexts": 2, "evidence@contexts": 2, "reference_claims@answer": 2,
        "evidence@answer": 2, "ratings": 2,
    }


ALONE = {
    "factual_correctness": 4, "factual_correctness_printed": 4, "answer_accuracy": 4, "answer_accuracy_printed": 4,
    "answer_accuracy_compat": 4, "statement_precision": 2, "evidence_coverage": 1, "evidence_coverage_compat": 2, "answer_completeness": 2,
    "binary_accuracy": 1, "binary_accuracy_compat": 1,
    "citation_precision": 1, "citation_coverage": 3, "source_document_accuracy": 0, "faithfulness": 2,
    "intrinsic_hallucination": 2, "extrinsic_hallucination": 2, "context_relevance": 1, "context_relevance_compat": 1,
    "context_precision": 1, "evidence_recall": 1, "claim_recall": 2,
}


@pytest.mark.parametrize(("name", "calls"), ALONE.items())
def test_a_metric_alone_takes_the_calls_that_its_page_tells(name: str, calls: int) -> None:
    at = row(statements=["gold"], document="d")
    citation = [Citation(claim="It is Paris", chunk_id="1", document="d")]
    contexts = [Passage(text="c1", chunk_id="1"), Passage(text="c2", chunk_id="2")]
    at = at.model_copy(update={"answer": at.answer.model_copy(update={"citations": citation, "contexts": contexts})})
    assert len(asked([name], at)[1].tasks) == calls
    assert str(calls) in all_metrics()[name].calls


def test_points_that_are_given_are_not_asked_for() -> None:
    subject, asker = asked(["answer_completeness"], row(points=["the city", " "]))
    assert asker.stages == ["verdicts-answer"]
    assert subject.facts.texts["points"].texts == ("the city",)
    assert [item.text for item in subject.facts.checks["points@answer"].items] == ["the city"]


def test_what_is_asked_about_a_reference_knows_no_answer_and_no_system() -> None:
    first = asked(USUAL, row(1, system="one", answer="Lyon"))[1]
    second = asked(USUAL, row(2, system="two", answer="Nice", contexts=["other"]))[1]
    keys = [{task.stage: request.key for task, request in zip(a.tasks, a.requests, strict=True)} for a in (first, second)]
    assert [stage for stage in keys[0] if keys[0][stage] == keys[1][stage]] == ["claims-reference"]


def test_an_answer_that_is_the_reference_is_asked_for_its_claims_once() -> None:
    _, asker = asked(["factual_correctness"], row(answer="Paris"))
    assert len({request.key for request in asker.requests}) == 3


def test_the_question_stands_beside_a_short_answer() -> None:
    _, asker = asked(["faithfulness"], row())
    assert asker.tasks[0].slots == {"question": "What is the capital?", "text": "It is Paris"}


def test_each_right_answer_is_asked_about_by_itself_and_what_does_not_depend_on_it_once() -> None:
    _, asker = asked(["factual_correctness", "faithfulness", "binary_accuracy"], row(references=["City of Light", "Paris"]))
    assert [task.slots["references"] for task in asker.tasks if task.stage == "verdicts-reference"] == [["Paris"], ["City of Light"]]
    assert [task.slots["text"] for task in asker.tasks if task.stage == "claims-reference"] == ["Paris", "City of Light"]
    assert [task.slots["references"] for task in asker.tasks if task.stage == "binary"] == [["Paris", "City of Light"]]
    assert asker.stages.count("verdicts-contexts") == 1
    assert len({request.key for request in asker.requests}) == 9  # the claims of the answer are one request, asked about twice


def test_of_several_right_answers_the_best_counts_and_is_named() -> None:
    """An answer equal to the second reference had 0.667: its claims were right by either, those it lacked were the first one's."""
    def by_second(stage: str, number: int, text: str) -> dict[str, Any]:
        return {"label": "supported" if "Light" in text else "not_stated"} if stage in ("verdicts-answer", "verdicts-contexts") else {}

    metrics = ("factual_correctness", "claim_recall", "answer_completeness", "context_utilization", "hallucination", "faithfulness")
    subject, _ = asked(metrics, row(references=["City of Light", "Lutetia"]), Pretend(by_second))
    made = result(subject, select(metrics), Tools())
    values = {score.metric: (score.value, score.detail.get("reference")) for score in made.scores}
    assert values == {
        "factual_correctness": (1.0, 2), "claim_recall": (1.0, 2), "answer_completeness": (1.0, 2), "context_utilization": (1.0, 2),
        "hallucination": (0.0, 1), "faithfulness": (0.0, None),
    }
    assert {verdict.metric for verdict in made.verdicts if verdict.metric.startswith("reference_claims@answer")} == {
        "reference_claims@answer", "reference_claims@answer#2", "reference_claims@answer#3",
    }
    (score,) = [score for score in made.scores if score.metric == "factual_correctness"]
    lower = score.model_copy(update={"detail": {**score.detail, "reference": 3}})
    assert all("Lutetia" in reason for reason in reasons(lower, [v for v in made.verdicts if v.label == "not_stated"]))


def test_a_right_answer_without_a_verdict_leaves_the_best_unknown_unless_another_has_the_best_there_is() -> None:
    def fails(second: str) -> Pretend:
        pretend = Pretend(lambda stage, number, text: {"label": second} if stage == "verdicts-answer" else {})
        ask = pretend.ask
        pretend.ask = lambda task: Outcome(  # type: ignore[method-assign]
            task.id, None, DOWN) if task.slots.get("text") == "Lutetia" else ask(task)
        return pretend

    for second, status in (("supported", "scored"), ("not_stated", "unscored")):
        subject, _ = asked(["factual_correctness"], row(references=["Lutetia"]), fails(second))
        (score,) = result(subject, select(["factual_correctness"]), Tools()).scores
        assert score.status == status


def test_another_trial_is_another_call_everywhere() -> None:
    one, two = asked(USUAL, row(), trial=0)[1], asked(USUAL, row(), trial=1)[1]
    assert not {request.key for request in one.requests} & {request.key for request in two.requests}


def test_verdicts_go_to_the_statement_whose_number_they_have_across_kinds() -> None:
    words = {"evidence B": "contradicted", "It is Paris, 1": "not_stated"}
    subject, _ = asked(USUAL, row(), Pretend(lambda stage, number, text: {"label": words.get(text, "supported")}))
    assert [item.label for item in subject.facts.checks["evidence@contexts"].items] == ["supported", "contradicted"]
    assert [(item.number, item.label) for item in subject.facts.checks["answer_claims@contexts"].items] == [
        (1, "not_stated"), (2, "supported"),
    ]


def test_a_huge_list_goes_in_parts_and_every_statement_keeps_its_own_verdict() -> None:
    evidence = [Passage(text=f"evidence {n}") for n in range(2 * MOST_ITEMS + 3)]
    asker = Pretend(lambda stage, number, text: {"label": "supported" if text.endswith("7") else "not_stated"})
    subject, _ = asked(["evidence_recall"], row(evidence=evidence), asker)
    assert [len(task.items) for task in asker.tasks] == [MOST_ITEMS, MOST_ITEMS, 3]
    items = subject.facts.checks["evidence@contexts"].items
    assert [item.number for item in items] == list(range(1, len(evidence) + 1))
    assert all((item.label == "supported") == item.text.endswith("7") for item in items)


def test_claims_that_could_not_be_had_do_not_keep_the_evidence_from_being_checked() -> None:
    subject, asker = asked(USUAL, row(), Pretend(fails=["claims-answer"]))
    assert subject.facts.checks["answer_claims@contexts"] == ItemVerdicts(failure=DOWN)
    assert [item.label for item in subject.facts.checks["evidence@contexts"].items] == ["supported"] * 2
    assert "verdicts-reference" not in asker.stages or not asker.tasks[asker.stages.index("verdicts-reference")].items


def test_a_call_that_fails_leaves_each_statement_with_the_cause() -> None:
    subject, _ = asked(["evidence_recall"], row(), Pretend(fails=["verdicts-contexts"]))
    assert [item.failure for item in subject.facts.checks["evidence@contexts"].items] == [DOWN, DOWN]


@pytest.mark.parametrize("empty", ["", " \n "])
def test_nothing_is_asked_about_an_empty_answer_but_what_needs_none(empty: str) -> None:
    subject, asker = asked([*USUAL, "binary_accuracy", "answer_completeness"], row(answer=empty))
    assert asker.stages == ["claims-reference", "points", "verdicts-contexts", "ratings"]
    assert [item.label for item in subject.facts.checks["evidence@answer"].items] == ["not_stated"] * 2
    assert subject.facts.texts["claims:answer"].texts == ()


def test_nothing_retrieved_supports_nothing_and_is_not_asked_about() -> None:
    at = row()
    at = at.model_copy(update={"answer": at.answer.model_copy(update={"contexts": []})})
    subject, asker = asked(["faithfulness", "evidence_recall", "context_relevance", "context_relevance_compat"], at)
    assert asker.stages == ["claims-answer"]
    assert [item.label for item in subject.facts.checks["answer_claims@contexts"].items] == ["not_stated"] * 2


def test_contexts_keep_the_number_of_their_place_also_beside_some_without_a_text() -> None:
    at = row(contexts=["one", "  ", "three"])
    subject, asker = asked(["faithfulness", "context_relevance"], at, Pretend(lambda *_: {"sources": [2, 2]}))
    assert [passage["text"] for passage in asker.tasks[1].slots["passages"]] == ["one", "three"]  # type: ignore[index, union-attr]
    assert subject.facts.checks["answer_claims@contexts"].items[0].sources == (3,)
    assert [item.number for item in subject.facts.checks["ratings"].items] == [1, 3]


@pytest.mark.parametrize(("sources", "contexts", "label", "expected"), [
    ([], ["a", "b"], "supported", ()), ([], ["a"], "supported", (1,)), ([], ["a"], "contradicted", (1,)),
    ([1], ["a", "b"], "not_stated", ()), ([2, 1], ["a", "b"], "contradicted", (1, 2)),
])
def test_a_verdict_keeps_its_label_whatever_passages_it_names(
    sources: list[int], contexts: list[str], label: str, expected: tuple[int, ...],
) -> None:
    subject, _ = asked(["evidence_recall"], row(contexts=contexts), Pretend(lambda *_: {"sources": sources, "label": label}))
    item = subject.facts.checks["evidence@contexts"].items[0]
    assert (item.label, item.sources) == (label, expected)


def test_steps_come_from_the_path_where_none_are_given() -> None:
    for question in ({"steps": ["A is in B", ""]}, {"path": GoldPath(text=["A is in B"])}):
        subject, asker = Subject(row(**question), RowFacts(), MetricSettings()), Pretend()
        ask_facts(subject, frozenset({"steps@answer", "steps@contexts"}), asker)
        assert asker.stages == ["verdicts-contexts", "verdicts-answer"]
        assert [item.text for item in subject.facts.checks["steps@answer"].items] == ["A is in B"]


def test_evidence_stands_beside_each_rating_and_not_beside_the_joined_one() -> None:
    subject, asker = asked(["context_relevance", "context_relevance_compat"], row())
    apart, joined = asker.tasks
    assert (apart.slots["evidence"], apart.items) == (["evidence A", "evidence B"], ("c1", "c2"))
    assert joined.slots == {"question": "What is the capital?", "text": "c1\n\nc2"}
    assert [item.rating for item in subject.facts.checks["ratings"].items] == [0.5, 0.5]
    assert subject.facts.checks["rating:joined"].items[0].rating == 1.0


@pytest.mark.parametrize(("level", "prompt"), [
    (None, "judge-answer"), ("negative", "judge-answer-outside"), ("out_of_context", "judge-answer-outside"),
])
def test_a_question_outside_the_texts_is_judged_by_another_prompt(level: str | None, prompt: str) -> None:
    subject, asker = asked(["binary_accuracy"], row(level=level))
    assert asker.tasks[0].prompt.name == prompt
    assert subject.facts.checks["binary"].items[0].rating == 1.0


def test_without_a_right_answer_only_questions_outside_the_texts_are_judged() -> None:
    assert asked(["binary_accuracy"], row(reference=None))[1].tasks == []
    assert len(asked(["binary_accuracy"], row(reference=None, level="negative"))[1].tasks) == 1


@pytest.mark.parametrize(("given", "expected"), [
    ({"references": ["City of Light"]}, "Paris"), ({"level": "negative"}, "Paris"),
    ({"level": "negative", "reference": None}, "The texts do not contain this information."),
])
def test_kasiak_s_judge_sees_one_expected_answer_and_says_true_or_false(given: dict[str, Any], expected: str) -> None:
    class Denying(Pretend):
        def ask(self, task: Task[Any]) -> Outcome[Any]:
            return replace(super().ask(task), value=task.reply.model_validate({"reason": "r", "result": "False"}))

    subject, asker = asked(["binary_accuracy_compat"], row(**given))
    assert asker.tasks[0].slots == {"question": "What is the capital?", "response": "It is Paris", "expected_answer": expected}
    metric = all_metrics()["binary_accuracy_compat"]
    assert metric.value(subject).value == 1.0
    assert metric.value(asked(["binary_accuracy_compat"], row(**given), Denying())[0]).value == 0.0
    assert metric.value(asked(["binary_accuracy_compat"], row(answer=" ", **given))[0]).value == 0.0
    assert asked(["binary_accuracy_compat"], row(reference=None))[1].tasks == []


@pytest.mark.parametrize(("level", "rating"), [(None, 0.0), ("fact_retrieval", 0.0), ("negative", 1.0), ("out_of_context", 1.0)])
def test_a_refusal_is_right_only_where_the_texts_do_not_tell(level: str | None, rating: float) -> None:
    class Refusing(Pretend):
        def ask(self, task: Task[Any]) -> Outcome[Any]:
            made = super().ask(task)
            return replace(made, value=made.value.model_copy(update={"label": "refusal"}))

    subject, _ = asked(["binary_accuracy"], row(level=level), Refusing())
    assert subject.facts.checks["binary"].items[0].rating == rating


def test_correct_is_no_label_where_there_is_nothing_to_be_correct_by() -> None:
    """A judge that knows the answer, or means that refusing is right, would say it: it is asked again."""
    replies = [asked(["binary_accuracy"], row(level="negative", **given))[1].tasks[0].reply for given in ({}, {"reference": None})]
    told = {"reason": "r", "label": "correct"}
    assert replies[0].model_validate(told)
    with pytest.raises(ValidationError):
        replies[1].model_validate(told)
    for label in ("refusal", "partial", "incorrect"):
        assert replies[1].model_validate({"reason": "r", "label": label.upper()})


def test_questions_are_three_with_the_flag() -> None:
    subject, asker = Subject(row(), RowFacts(), MetricSettings()), Pretend()
    ask_facts(subject, frozenset({"questions"}), asker)
    made = subject.facts.texts["questions"]
    assert (made.texts, made.flags, made.call) == (("a?", "b?", "c?"), {"noncommittal": True}, "key")


def test_a_live_asker_puts_nothing_off() -> None:
    with pytest.raises(RuntimeError, match="no dry run"):
        Live(None).later(Later("s", "claims", "k", (0, 0)))  # type: ignore[arg-type]


@pytest.mark.parametrize("reply", [
    {}, {"statements": []}, {"statements": [], "nothing_claimed": False}, {"statements": ["", " "], "nothing_claimed": False},
    {"statements": "Paris", "nothing_claimed": False}, {"statements": [{"claim": "x"}], "nothing_claimed": False},
])
def test_an_empty_or_broken_list_of_claims_is_no_reply(reply: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Statements.model_validate(reply)


def test_a_list_of_claims_drops_blanks_and_repeats_and_may_say_that_there_is_none() -> None:
    assert Statements.model_validate({"statements": [" a ", "", "b", "a"], "nothing_claimed": False}).texts == ("a", "b")
    assert Statements.model_validate({"statements": [], "nothing_claimed": True}).texts == ()


@pytest.mark.parametrize("rating", [1.5, 5, -1, "high", None, True, "1.5", [1]])
def test_a_rating_off_the_scale_is_no_rating(rating: Any) -> None:
    with pytest.raises(ValidationError):
        ContextRating.model_validate({"tag": "k7", "reason": "r", "rating": rating})


@pytest.mark.parametrize(("label", "sources", "expected"), [
    ("Supported", ["4q"], ("supported", ["4q"])), (" not stated", None, ("not_stated", [])),
    ("CONTRADICTED", "4q", ("contradicted", ["4q"])),
    ("supported", [" 4Q", "7w"], ("supported", ["4q", "7w"])),
])
def test_labels_and_sources_are_read_in_the_spellings_of_models(label: str, sources: Any, expected: tuple[str, list[str]]) -> None:
    made = SourcedVerdict.model_validate({"tag": "k7", "reason": "r", "sources": sources, "label": label})
    assert (made.label, made.sources) == expected


def test_where_passages_are_asked_for_support_without_one_is_no_answer() -> None:
    with pytest.raises(ValidationError):
        CitedVerdict.model_validate({"tag": "k7", "reason": "r", "sources": [], "label": "supported"})
    assert CitedVerdict.model_validate({"tag": "k7", "reason": "r", "sources": [], "label": "not_stated"}).sources == []


ODD = ["</data>", "{{items}}", "\ud800", '"}]}', "\x00", "\u2028", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35"]
TEXTS = st.one_of(st.text(max_size=30), st.sampled_from(ODD))


@pytest.mark.slow
@settings(deadline=None)
@given(answer=TEXTS, evidence=st.lists(TEXTS, max_size=5), contexts=st.lists(TEXTS, max_size=4), reference=TEXTS)
def test_denominators_are_what_was_given_for_any_texts(answer: str, evidence: list[str], contexts: list[str], reference: str) -> None:
    at = row(answer=answer, reference=reference, evidence=[Passage(text=text) for text in evidence])
    at = at.model_copy(update={"answer": at.answer.model_copy(update={"contexts": [Passage(text=text) for text in contexts]})})
    subject, asker = asked(USUAL, at)
    checks = subject.facts.checks
    filled = [text for text in evidence if text.strip()]
    shown = [text for text in contexts if text.strip()]
    told = bool(shown) or not contexts  # contexts without any text are nothing to be measured by
    for name, wanted in (("evidence@answer", bool(filled)), ("evidence@contexts", bool(filled) and told)):
        assert [item.text for item in checks[name].items] == filled if wanted else name not in checks
    assert len(checks["ratings"].items) == len(shown) if told else "ratings" not in checks
    assert all(times <= 1 + (stage == "verdicts-contexts") for stage, times in Counter(asker.stages).items())
    assert all(json.loads(line) is not None for request in asker.requests for line in fenced(request.user))


def fenced(user: str) -> list[str]:
    """The lines of JSON between the fences of a message."""
    lines, inside = [], False
    for line in user.split("\n"):
        if line == "</data>":
            inside = False
        if inside:
            lines.append(line)
        if line.startswith("<data name="):
            inside = True
    return lines
