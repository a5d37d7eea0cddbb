"""Chains of reasoning and gains between systems: counted by hand, and against scipy."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from kgeval.llm.calls import Failure
from kgeval.metrics.definition import MetricSettings, Subject
from kgeval.metrics.facts import CypherRun, Expired, Grounded, ItemVerdicts, JudgedItem, RowFacts
from kgeval.metrics.stored.joins import Arrow, arrow
from kgeval.metrics.stored.metrics import METRICS, cypher_execution_match, kg_grounding, stale_context_share, stepwise_accuracy
from kgeval.metrics.stored.steps import step_kinds
from kgeval.metrics.summary.gains import gains
from kgeval.metrics.summary.reasoning import Chains, accuracy_of, hops_of
from kgeval.metrics.summary.values import RunScores
from kgeval.records import Answer, Gain, GoldPath, GraphRef, MetricInfo, Passage, Question, ReasoningSummary, Row, Score

STEPS = ["Ada -[COMMANDS]-> North Light", "North Light -[OWNED_BY]-> Packet Line", "Packet Line -[SITS_IN]-> Varne"]
S, C, N = "supported", "contradicted", "not_stated"


def reasoning(scores: Iterable[Score], rows: Iterable[Row], *, accuracy: str | None = None, seed: int = 0) -> list[ReasoningSummary]:
    chains = Chains(accuracy)
    for score in scores:
        chains.add(score)
    for row in rows:
        chains.read(row)
    return chains.summaries(seed=seed)



def row(question: Question, answer: str = "Varne.", **more: object) -> Row:
    given = Answer.model_validate({"question_id": question.id, "system": "s", "answer": answer, "contexts": [Passage(text="c")], **more})
    return Row(n=0, where="a:1", question=question, answer=given)


def steps(answers: list[str | None], contexts: list[str | None], *, answer: str = "Varne.", graph: list[str] | None = None) -> Subject:
    facts = RowFacts()
    for source, labels in (("answer", answers), ("contexts", contexts), ("graph", graph)):
        if labels is not None:
            facts.checks[f"steps@{source}"] = ItemVerdicts(tuple(
                JudgedItem(n, "x", label, failure=None if label else Failure("cut", "")) for n, label in enumerate(labels, start=1)
            ))
    return Subject(row(Question(id="q", question="?", steps=STEPS[: len(answers)]), answer), facts, MetricSettings())


@pytest.mark.parametrize(("answer", "contexts", "right"), [
    (S, S, True), (S, N, True), (S, C, True), (N, S, True), (N, N, False), (N, C, False), (C, S, False), (C, N, False), (C, C, False),
])
def test_a_step_is_right_if_the_answer_states_it_or_does_not_contradict_it_and_the_contexts_hold_it(answer, contexts, right):
    value = stepwise_accuracy(steps([answer], [contexts]))
    assert value.value == float(right)
    assert value.detail["steps"][0]["right"] is right


def test_the_value_is_right_steps_over_the_steps_of_the_gold_chain():
    value = stepwise_accuracy(steps([S, N, C], [N, S, S]))
    assert value.value == pytest.approx(2 / 3)
    counts = {name: value.detail[name] for name in ("steps_total", "right", "stated", "contradicted", "in_contexts")}
    assert counts == {"steps_total": 3, "right": 2, "stated": 1, "contradicted": 1, "in_contexts": 2}
    assert [step["relation"] for step in value.detail["steps"]] == ["COMMANDS", "OWNED_BY", "SITS_IN"]
    assert "in_graph" not in value.detail, "no stored graph was asked"


def test_a_step_that_the_answer_states_or_contradicts_needs_no_verdict_on_the_contexts():
    assert stepwise_accuracy(steps([S, C, N], [None, None, S])).value == pytest.approx(2 / 3)
    assert stepwise_accuracy(steps([S, C, N], [S, S, None])).status == "unscored"


def test_a_step_without_a_verdict_leaves_the_row_unscored():
    value = stepwise_accuracy(steps([S, None, S], [S, S, S]))
    assert (value.status, value.cause, value.detail["judged_answer"]) == ("unscored", "cut", 2)


def test_an_empty_answer_takes_no_step():
    value = stepwise_accuracy(steps([N, N], [S, S], answer=" "))
    assert (value.value, value.detail["empty_answer"]) == (0.0, True)
    assert [step["right"] for step in value.detail["steps"]] == [False, False]


@pytest.mark.parametrize(("text", "found"), [
    ("Ada -[COMMANDS]-> North Light", Arrow("Ada", "COMMANDS", "North Light")), ("A --[:X]--> B", Arrow("A", "X", "B")),
    ("A -[]-> B", Arrow("A", None, "B")), ("A -> B", Arrow("A", None, "B")), ("A => B", Arrow("A", None, "B")), ("Ada sails.", None),
    ("", None), ("->", None), ("Jean-Luc -[is-a]-> X-Ray", Arrow("Jean-Luc", "is-a", "X-Ray")),
])
def test_relations_written_as_arrows(text, found):
    assert arrow(text) == found


def test_the_type_of_a_step_is_its_gold_relations_or_what_it_writes_itself():
    relations = [GraphRef(key="1", name="x", type="COMMANDS", kind="relation"), GraphRef(key="2", name="A -[OWNS]-> B", kind="relation")]
    assert step_kinds(Question(id="q", question="?", path=GoldPath(text=["one", "two"], relations=relations))) == ("COMMANDS", "OWNS")
    assert step_kinds(Question(id="q", question="?", steps=["one", "A -[P]-> B"], path=GoldPath(relations=relations[:1]))) == (None, "P")


def question(name: str, hops: int | None) -> Question:
    return Question(id=name, question="?", hops=hops)


def step_score(name: str, right: list[bool], *, system: str = "s", trial: int | None = None) -> Score:
    told = [{"position": at, "relation": f"R{at}", "right": one} for at, one in enumerate(right, start=1)]
    return Score(question_id=name, system=system, metric="stepwise_accuracy", value=sum(right) / len(right), status="scored",
                 detail={"steps": told}, signature="x", trial=trial)


def accuracy(name: str, value: float | None, metric: str = "binary_accuracy", *, system: str = "s", trial: int | None = None) -> Score:
    status, reason = ("scored", None) if value is not None else ("unscored", "timeout: slow")
    return Score(question_id=name, system=system, metric=metric, value=value, status=status, reason=reason, signature="x", trial=trial)


# question: hops, steps, right answer
WORLD = {
    "a": (1, [True], 1.0), "b": (2, [True, True], 1.0), "c": (2, [False, True], 1.0), "d": (2, [False, False], 0.0),
    "e": (3, [True, False, False], 0.0), "f": (5, [True, True, False], 0.0), "g": (None, [True, True], 1.0),
}


def world(metric: str = "binary_accuracy") -> tuple[list[Score], list[Row]]:
    scores = [step_score(name, right) for name, (_, right, _) in WORLD.items()]
    scores += [accuracy(name, value, metric) for name, (_, _, value) in WORLD.items()]
    return scores, [row(question(name, hops)) for name, (hops, _, _) in WORLD.items()]


def test_accuracy_by_hop_and_what_wrong_steps_lead_to_are_counted_by_hand():
    scores, rows = world()
    (found,) = reasoning(scores, rows, accuracy=None, seed=0)
    assert {hops: (mean.n, mean.mean) for hops, mean in found.accuracy_by_hop.items()} == {
        "1": (1, 1.0), "2": (3, pytest.approx(2 / 3)), "3+": (2, 0.0),
    }
    assert found.accuracy_metric == "binary_accuracy"
    # chains of two steps or more: b c d e f g; a step before the last is wrong in c, d, e; of these d and e have a wrong answer
    assert (found.questions, found.with_wrong_step, found.wrong_step_share) == (6, 3, 0.5)
    assert (found.error_propagation, found.lucky) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert found.stepwise_accuracy is not None
    assert found.stepwise_accuracy.mean == pytest.approx(np.mean([1, 1, 0.5, 0, 1 / 3, 2 / 3, 1]))
    assert {at: (mean.n, mean.mean) for at, mean in found.by_position.items()} == {
        "1": (7, pytest.approx(5 / 7)), "2": (6, pytest.approx(4 / 6)), "3": (2, 0.0),
    }
    assert found.by_relation["R2"].mean == pytest.approx(4 / 6)


def test_the_order_of_scores_and_rows_changes_nothing():
    scores, rows = world()
    assert reasoning(reversed(scores), reversed(rows), seed=1) == reasoning(scores, rows, seed=1)


def test_a_wrong_last_step_alone_is_the_wrong_answer_itself_and_no_cause_of_it():
    found = reasoning([step_score("a", [True, False]), accuracy("a", 0.0)], [row(question("a", 2))])
    assert (found[0].questions, found[0].with_wrong_step, found[0].error_propagation, found[0].lucky) == (1, 0, None, None)


@pytest.mark.parametrize(("metric", "named"), [
    ("factual_correctness", "factual_correctness>=0.5"), ("exact_match", "exact_match"), ("token_f1", "token_f1>=0.5"),
])
def test_other_metrics_say_right_from_half_and_the_record_says_so(metric, named):
    yes, no = (1.0, 0.0) if metric == "exact_match" else (0.5, 0.49)
    scores = [accuracy("a", yes, metric), accuracy("b", no, metric)]
    (found,) = reasoning(scores, [row(question("a", 2)), row(question("b", 2))])
    assert (found.accuracy_metric, found.accuracy_by_hop["2"].mean) == (named, 0.5)
    assert (found.stepwise_accuracy, found.wrong_step_share) == (None, None)


def test_the_binary_judge_is_preferred_and_a_named_metric_wins():
    scores = [accuracy("a", 1.0), accuracy("a", 0.0, "factual_correctness")]
    rows = [row(question("a", 1))]
    assert reasoning(scores, rows)[0].accuracy_by_hop["1"].mean == 1.0
    assert reasoning(scores, rows, accuracy="factual_correctness")[0].accuracy_by_hop["1"].mean == 0.0


def test_repetitions_are_one_question_and_failures_are_told():
    scores = [accuracy("a", 1.0, trial=1), accuracy("a", 0.0, trial=2), accuracy("a", 1.0, trial=3), accuracy("b", None)]
    scores += [step_score("a", [False, True], trial=1), step_score("a", [False, True], trial=2), step_score("a", [True, True], trial=3)]
    (found,) = reasoning(scores, [row(question("a", 2)), row(question("b", 2))])
    by_hop = found.accuracy_by_hop["2"]
    assert (by_hop.n, by_hop.n_scored, by_hop.failures, by_hop.mean) == (2, 1, {"timeout": 1}, pytest.approx(2 / 3))
    assert (found.with_wrong_step, found.lucky, found.error_propagation) == (1, 1.0, 0.0)
    assert found.by_position["1"].mean == pytest.approx(1 / 3)


def test_the_order_of_the_scores_changes_nothing_not_even_a_cause():
    values = [0.1, 0.7, 1 / 3]
    scores = [step_score("a", [True, False], trial=at).model_copy(update={"value": value}) for at, value in enumerate(values)]
    scores += [accuracy("b", None, trial=2).model_copy(update={"reason": "unparsable: x"}), accuracy("b", None, trial=1)]
    scores += [accuracy("c", None).model_copy(update={"reason": "budget"})]
    rows = [row(question(name, 2)) for name in "abc"]
    first, second = reasoning(scores, rows)[0], reasoning(scores[::-1], rows[::-1])[0]
    assert first.model_dump_json() == second.model_dump_json()
    assert first.accuracy_by_hop["2"].failures == {"timeout": 1, "budget": 1}


def test_shares_of_wrong_steps_are_over_the_answers_that_were_scored():
    scores = [step_score(name, [False, True]) for name in "abc"] + [accuracy("a", 0.0), accuracy("b", 1.0), accuracy("c", None)]
    (found,) = reasoning(scores, [row(question(name, 2)) for name in "abc"])
    assert (found.with_wrong_step, found.wrong_step_answers, found.error_propagation, found.lucky) == (3, 2, 0.5, 0.5)


def test_without_chains_and_hops_there_is_no_summary():
    assert reasoning([accuracy("a", 1.0)], [row(question("a", None))]) == []
    assert reasoning([], []) == []


def test_hops_are_told_or_counted():
    path = GoldPath(text=["x", "y"], relations=[GraphRef(key="1", name="r", kind="relation")] * 3)
    assert hops_of(Question(id="q", question="?", hops=4, path=path)) == 4
    assert hops_of(Question(id="q", question="?", path=path)) == 3
    assert hops_of(Question(id="q", question="?", steps=STEPS)) == 3
    assert hops_of(Question(id="q", question="?", path=GoldPath(text=["x"]))) == 1
    assert hops_of(Question(id="q", question="?")) is None


def info(metric: str) -> MetricInfo:
    return MetricInfo(metric=metric, summary="", definition="", source="", signature="x")


def table(values: dict[str, dict[str, float | None]], metric: str = "kg_grounding") -> RunScores:
    made = RunScores([info(metric)], list(values), {})
    for system, scores in values.items():
        for name, value in scores.items():
            made.add(accuracy(name, value, metric, system=system))
    return made


def test_a_gain_is_the_mean_difference_over_the_questions_that_both_have():
    values = table({"graph": {"a": 1.0, "b": 0.5, "c": None, "d": 1.0}, "vector": {"b": 0.0, "a": 0.5, "c": 1.0, "e": 1.0}})
    (found,) = gains(values, ["graph", "vector"], [info("kg_grounding")], baseline="vector", graphs=(), seed=0)
    gain = Gain(**found.fields)
    assert (gain.system, gain.baseline, gain.metric, gain.n, gain.mean, gain.differ) == ("graph", "vector", "kg_grounding", 2, 0.5, 2)
    assert gain.low < 0 < 0.5 < gain.high <= 1, "two alike do not show that all are"
    assert (found.missing, found.lowest.value, found.highest.value) == (3, -0.2, 0.4), "c, d and e have no value of one"


def test_a_gain_counts_the_questions_that_differ():
    first = {"a": 0.1 + 0.2, "b": 1.0, "c": 0.5, "d": 0.0}
    values = table({"x": first, "y": {"a": 0.3, "b": 0.0, "c": 0.5}})
    (found,) = gains(values, ["x", "y"], [info("kg_grounding")], baseline="y", graphs=(), seed=0)
    assert (found.fields["n"], found.fields["differ"]) == (3, 1)


def test_without_a_baseline_every_pair_is_compared_and_other_groups_are_left_out():
    values = table({name: {"a": float(at)} for at, name in enumerate(("x", "y"))} | {"z": {}})
    found = gains(values, ["x", "y", "z"], [info("kg_grounding"), info("cypher_valid")], baseline=None, graphs=(), seed=0)
    assert [(*one.pair, one.fields["n"], one.fields.get("mean"), one.fields.get("low")) for one in found] == [
        ("x", "y", 1, -1.0, None), ("x", "z", 0, None, None), ("y", "z", 0, None, None),
    ]
    of_graphs = gains(values, ["x", "y"], [info("kg_grounding")], baseline=None, graphs={"y"}, seed=0)
    assert [(*one.pair, one.fields["mean"]) for one in of_graphs] == [("y", "x", 1.0)], "what the graph gains"
    assert gains(values, [str(at) for at in range(9)], [info("kg_grounding")], baseline=None, graphs=(), seed=0) == []


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_interval_of_a_gain_is_what_scipy_gives_for_the_paired_differences(seed):
    from scipy import stats

    rng = np.random.default_rng(seed)
    one, two = rng.beta(2, 1, size=200), rng.beta(1, 2, size=200)
    values = table({"one": dict(zip(map(str, range(200)), one, strict=True)), "two": dict(zip(map(str, range(200)), two, strict=True))})
    (found,) = gains(values, ["one", "two"], [info("kg_grounding")], baseline="two", graphs=(), seed=3)
    differences = one - two
    assert found.fields["mean"] == pytest.approx(differences.mean())
    ends = stats.bootstrap((differences,), np.mean, n_resamples=9999, rng=rng).confidence_interval
    assert (found.fields["low"], found.fields["high"]) == (pytest.approx(ends.low, abs=0.005), pytest.approx(ends.high, abs=0.005))


def subject(facts: RowFacts, answer: str = "x", **more: object) -> Subject:
    return Subject(row(Question(id="q", question="?"), answer, **more), facts, MetricSettings())


def test_counts_stand_beside_what_could_not_be_scored():
    items = (JudgedItem(1, "a", S, sources=(1,)), JudgedItem(2, "b", failure=Failure("cut", "short")))
    value = kg_grounding(subject(RowFacts(grounded=Grounded(ItemVerdicts(items), ("5:x:1",), ("t",)))))
    assert (value.status, value.cause, value.detail["claims"], value.detail["grounded"]) == ("unscored", "cut", 2, 1)
    assert kg_grounding(subject(RowFacts())).status == "unscored"
    assert kg_grounding(subject(RowFacts(), "")).status == "not_applicable"
    assert cypher_execution_match(subject(RowFacts(cypher=CypherRun(failure=Failure("graph_error", "x"))))).cause == "graph_error"
    assert stale_context_share(subject(RowFacts(expired=Expired(4, 2, 1)))).value == 0.5
    assert stale_context_share(subject(RowFacts(expired=Expired(0, 0, 0)))).status == "not_applicable"


def test_every_metric_says_what_it_is():
    assert {metric.name for metric in METRICS} == {
        "kg_grounding", "stepwise_accuracy", "stepwise_reasoning", "reasoning_support", "cypher_valid", "cypher_execution_match",
        "stale_context_share",
    }
    assert all(metric.summary and metric.definition and metric.source for metric in METRICS)
    assert {metric.name for metric in METRICS if metric.better == "lower"} == {"stale_context_share"}


@pytest.mark.parametrize(("reference", "answer", "computed", "metric"), [
    ("Ada Marsh", "Ada Marsh", ("exact_match", "token_f1"), "exact_match"),
    ("Ada Marsh commands the Lantern, a ship.", "The Lantern is commanded by Ada Marsh.", ("exact_match", "token_f1"), "token_f1"),
    ("Ada Marsh commands the Lantern, a ship.", "The Lantern is commanded by Ada Marsh.", ("exact_match",), "none"),
    ("Ada Marsh", "The Lantern is a ship that Ada Marsh commands.", ("exact_match", "token_f1"), "none"),
    ("Ada Marsh", "The Lantern is a ship that Ada Marsh commands.", ("binary_accuracy", "exact_match"), "binary_accuracy"),
])
def test_accuracy_by_hops_is_by_a_metric_that_fits_the_form_of_the_answers(reference, answer, computed, metric):
    rows = [row(Question(id=f"q{n}", question="?", reference=reference, hops=2), answer) for n in range(3)]
    chosen, note = accuracy_of(computed, lambda: iter(rows))
    assert chosen == metric and (note is None) == (metric != "none")
    assert note is None or "binary_accuracy" in note


def test_one_system_that_answers_in_sentences_is_enough_against_whole_texts():
    short, long = (Question(id=name, question="?", reference="Ada Marsh") for name in ("q1", "q2"))
    rows = [row(short, "Ada Marsh"), row(long, "It is Ada Marsh, as the log book of the Lantern says.", system="t")]
    assert accuracy_of(["exact_match"], lambda: iter(rows))[0] == "none"
    assert accuracy_of(["rouge_l"], lambda: iter(rows)) == (None, None)
