"""GraphRAG-Bench's figures (Xiang et al., its scripts of November 2025) from given replies. The benchmark's scripts are no package and
need model clients; their arithmetic is written down here anew, from the outside: what goes in, what number comes out, also where a
reply is not as asked. Nothing of kgeval is used.

A case: `given` (what the judge said), `theirs` (the number; "dropped": the whole question vanishes from all means).
"""

from __future__ import annotations

import math
import random
from typing import Any

from common import case, write

TINY = 1e-10


def main() -> None:
    draws = random.Random(1809)
    cases = [*full(draws), *failures()]
    for one in cases:
        one["theirs"] = FORMULAS[one["metric"]](**one["given"])
    write("graphrag_bench", (), cases)


def marks_returned(marks: list[Any], **_: Any) -> float:
    """Coverage, evidence recall: the mean of the 0/1 marks that came back, whatever was asked. A mark that is a text: NaN."""
    return math.nan if not marks or any(isinstance(mark, str) for mark in marks) else sum(marks) / len(marks)


def verdicts_returned(verdicts: list[dict[str, Any]] | None, **_: Any) -> float:
    """Faithfulness: the mean of the verdicts that came back with a reason. `verdicts` null: statements came in an object."""
    used = [verdict["verdict"] for verdict in verdicts or [] if verdict.get("reason")]
    return sum(used) / len(used) if used else math.nan


def accuracy(parts: dict[str, list[Any]] | None, cosine: float, answer: int, reference: int) -> float | str:
    """0.75 F + 0.25 (cos + 1) / 2. Both statement lists empty: F = 1. `parts` null: the classification is prose: F = 0."""
    f = factuality(parts, answer, reference)
    return f if isinstance(f, str) else 0.75 * f + 0.25 * (cosine + 1) / 2


def factuality(parts: dict[str, list[Any]] | None, answer: int, reference: int) -> float | str:
    """F-beta with beta 1 and 1e-10 in every denominator."""
    if answer == reference == 0:
        return 1.0
    if parts is None:
        return 0.0
    if any(not isinstance(one, dict) for some in parts.values() for one in some):
        return "dropped"
    tp, fp, fn = (len(parts[name]) for name in ("TP", "FP", "FN"))
    precision, recall = tp / (tp + fp + TINY), tp / (tp + fn + TINY)
    return 2 * precision * recall / (precision + recall + TINY)


def relevance(said: list[Any], contained: bool = False) -> float:
    """The same prompt twice, 0 / 1 / 2 each, halved, averaged; any number is taken. A context inside the question: 0 unasked."""
    return 0.0 if contained else sum(said) / len(said) / 2


def relevance_chunks(said: list[Any]) -> float:
    """The unused second version: 0 / 1 / 2 a context, halved, averaged; a failed call (null) counts 0."""
    return sum((one or 0) / 2 for one in said) / len(said)


FORMULAS = {
    "evidence_coverage": marks_returned, "evidence_recall": marks_returned, "faithfulness": verdicts_returned, "answer_accuracy": accuracy,
    "context_relevance_compat": relevance, "context_relevance": relevance_chunks,
}


def full(draws: random.Random) -> list[dict[str, Any]]:
    """Every item has its verdict."""
    made: list[dict[str, Any]] = []
    for _ in range(8):
        count = draws.randint(1, 9)
        marks = [draws.randint(0, 1) for _ in range(count)]
        made += [case(name, "full", marks=marks, items=count) for name in ("evidence_coverage", "evidence_recall")]
        made.append(case("faithfulness", "full", verdicts=[{"verdict": mark, "reason": "r"} for mark in marks], items=count))
        tp, fp, fn = (draws.randint(0, 5) for _ in range(3))
        fp += tp + fp == 0
        fn += tp + fn == 0
        parts = {name: [{"statement": "s", "reason": "r"}] * size for name, size in (("TP", tp), ("FP", fp), ("FN", fn))}
        made.append(case("answer_accuracy", "full", parts=parts, cosine=draws.randint(-20, 100) / 100, answer=tp + fp, reference=tp + fn))
    made += [case("context_relevance_compat", "full", said=[n, n]) for n in (0, 1, 2)]
    made += [case("context_relevance", "full", said=said) for said in ([2, 1, 0], [2], [0, 0, 1, 2, 2])]
    return made


def failures() -> list[dict[str, Any]]:
    """What judges have been seen to say, and what becomes of it there."""
    strings = {"TP": ["s 1"], "FP": [], "FN": ["s 2"]}
    good = [{"verdict": 1, "reason": "r"}, {"verdict": 0}]
    return [
        case("answer_accuracy", "both statement lists empty", parts=None, cosine=0.0, answer=0, reference=0),
        case("answer_accuracy", "classification is prose", parts=None, cosine=0.6, answer=3, reference=2),
        case("answer_accuracy", "plain strings", parts=strings, cosine=0.6, answer=1, reference=2),
        case("evidence_coverage", "3 facts, 1 mark", marks=[1], items=3),
        case("evidence_coverage", "mark is a text", marks=["1"], items=1),
        case("evidence_recall", "4 evidences, 2 marks", marks=[1, 0], items=4),
        case("faithfulness", "2 statements, 1 verdict", verdicts=[{"verdict": 1, "reason": "r"}], items=2),
        case("faithfulness", "verdict without a reason", verdicts=good, items=2),
        case("faithfulness", "statements in an object", verdicts=None, items=2),
        case("context_relevance_compat", "off the scale", said=[1.5, 1.5]),
        case("context_relevance_compat", "context inside the question", said=[2, 2], contained=True),
        case("context_relevance", "off the scale", said=[5]),
        case("context_relevance", "every call fails", said=[None, None]),
    ]


if __name__ == "__main__":
    main()
