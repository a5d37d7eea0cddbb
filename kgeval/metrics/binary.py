"""Right or wrong as a whole."""

from __future__ import annotations

from kgeval.metrics.definition import Metric, MetricValue, Subject, not_applicable, scored, unscored
from kgeval.metrics.judge.ratings import outside
from kgeval.metrics.shares import is_empty


def binary_accuracy(subject: Subject) -> MetricValue:
    """1 or 0, with the class of the answer in `answer_class`."""
    question = subject.row.question
    if not question.right_answers and not outside(question):
        return not_applicable("no reference answer is given")
    if is_empty(subject):
        return scored(0.0, answer_class="empty", empty_answer=True)
    checked = subject.facts.checks["binary"]
    if (failure := checked.unscored) is not None:
        return unscored(failure)
    item = checked.items[0]
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
)
