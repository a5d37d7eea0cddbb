"""Right or wrong as a whole."""

from __future__ import annotations

from functools import partial

from kgeval.metrics.definition import Metric, MetricValue, Subject, not_applicable, scored, unscored
from kgeval.metrics.judge.ratings import outside
from kgeval.metrics.shares import is_empty


def binary_accuracy(subject: Subject, *, compat: bool = False) -> MetricValue:
    """1 or 0, with the class of the answer in `answer_class`; `compat`: as Kasiak's judge says, who knows no classes."""
    question = subject.row.question
    if not question.right_answers and not outside(question):
        return not_applicable("no reference answer is given")
    if is_empty(subject):
        return scored(0.0, answer_class="empty", empty_answer=True)
    checked = subject.facts.checks["binary:compat" if compat else "binary"]
    if (failure := checked.unscored) is not None:
        return unscored(failure)
    item = checked.items[0]
    if compat:
        return scored(item.rating or 0.0)
    return scored(item.rating or 0.0, answer_class=item.label, partial=float(item.label == "partial"))


METRICS: tuple[Metric, ...] = (
    Metric(
        name="binary_accuracy", group="answers", summary="Whether the answer as a whole is right, with its class beside it.",
        definition="1 if the answer says what a right answer says, all of it and nothing against it, else 0. The class stands in the "
        "detail: correct, partial (right but incomplete: it fails here), incorrect, refusal. Questions of the levels out_of_context and "
        "negative: right is an answer that says that the texts do not tell (class refusal), or, where a right answer is given, says that.",
        source="Kasiak 4.1, 5.4.3; GraphRAG evaluation methodology, section 3", compute=binary_accuracy, asks=("binary",),
        tools=("judge",), calls="1", aspects=("partial",),
    ),
    Metric(
        name="binary_accuracy_compat", group="answers", summary="Whether the answer as a whole is right, as Kasiak's judge is asked.",
        definition="1 where the judge says true, 0 where it says false. It sees the question, the answer and one expected answer (the "
        "first right one), is told that an answer has to be right about what is asked and need not repeat the expected one, and reasons "
        "first: rules and scale as printed, the words ours. Questions of the levels out_of_context and negative without a right answer: "
        "that the texts do not contain it is expected. Whether an incomplete answer passes is left to the judge: the paper's said no.",
        source="Kasiak 4.1, 5.4.3, whose prompt has no licence", compute=partial(binary_accuracy, compat=True), asks=("binary:compat",),
        tools=("judge",), calls="1",
    ),
)
