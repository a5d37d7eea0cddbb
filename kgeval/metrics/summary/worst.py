"""The answers with the worst values, and why: so that somebody can look at them. Memory: k a system and metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from kgeval.metrics.path import path_picture
from kgeval.metrics.references import numbered
from kgeval.metrics.summary.values import is_of_answers
from kgeval.metrics.table import all_metrics
from kgeval.records import MetricInfo, Picture, Row, Score, Verdict, WorstRow

LONGEST = 2_000  # characters of a question or an answer
LONGEST_REASON = 300
REASONS = 5
KEPT_VERDICTS = 50  # of one row and metric
GOOD = frozenset(("supported", "correct", "right", "relevant", "yes", "true", "entailed"))
ORDER = ("contradicted", "incorrect", "wrong", "not_stated", "refusal", "partial")
ITEMS = {
    "answer_claims": "claim of the answer", "reference_claims": "claim of the reference", "evidence": "evidence",
    "points": "point", "steps": "step", "reasoning": "step of the reasoning", "statements": "gold statement", "ratings": "context",
    "rating:joined": "the contexts together", "binary": "the answer", "binary:compat": "the answer", "citations": "citation",
    "citations:claims": "claim of the answer",
}
SOURCES = {
    "reference": "the reference", "contexts": "the contexts", "answer": "the answer", "statements": "the gold statements",
    "reasoning": "the reasoning", "graph": "the graph",
}
WORDS = {"contradicted": "contradicted by", "not_stated": "not stated in"}

Key = tuple[str, str, int]  # system, question, repetition


@dataclass
class _RowTexts:
    question: str = ""
    answer: str = ""
    references: tuple[str, ...] = ()
    path: Picture | None = None
    error: str | None = None


@dataclass
class Worst:
    """Keeps for each system and metric the `most` questions with the worst value, by their worst repetition.

    A value that could not be better is no bad one, however few values there are. By repetition, not by their mean: somebody is to
    look at one answer and at the verdicts on it.
    """

    infos: Sequence[MetricInfo]
    most: int
    kept: dict[tuple[str, str], dict[str, Score]] = field(default_factory=dict)
    texts: dict[Key, _RowTexts] = field(default_factory=dict)
    verdicts: dict[Key, list[Verdict]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lower = frozenset(info.metric for info in self.infos if info.better == "lower")
        self._last: dict[tuple[str, str], tuple[float, str, int]] = {}  # the place of the best one kept, where there are enough

    def see(self, score: Score) -> None:
        """Keeps the score if it is among the worst so far."""
        if score.value is None or not self.most or self._badness(score) <= 0:
            return
        of, place = (score.system, score.metric), self._place(score)
        # nearly all scores end here: the worst so far are looked through for few
        if of in self._last and place >= self._last[of]:
            return
        worst_scores = self.kept.setdefault(of, {})
        rival = worst_scores.get(score.question_id)
        if rival is None or place < self._place(rival):
            worst_scores[score.question_id] = score
        if len(worst_scores) > self.most:
            del worst_scores[max(worst_scores, key=lambda question: self._place(worst_scores[question]))]
        if len(worst_scores) == self.most:
            self._last[of] = max(map(self._place, worst_scores.values()))

    def _badness(self, score: Score) -> float:
        value = score.value or 0.0
        return value if score.metric in self._lower else 1 - value

    def _place(self, score: Score) -> tuple[float, str, int]:
        return -self._badness(score), score.question_id, score.trial or 0

    def fetch(self) -> None:
        """Ends the search: from now on texts and verdicts of the kept ones are taken in."""
        keys = {_key(score) for worst_scores in self.kept.values() for score in worst_scores.values()}
        self.texts = {key: _RowTexts() for key in keys}
        self.verdicts = {key: [] for key in keys}
        self._trials: dict[tuple[str, str], list[Key]] = {}
        for key in sorted(keys):
            self._trials.setdefault(key[:2], []).append(key)

    def read_row(self, row: Row) -> None:
        """Takes the texts of a row that is kept. An answer without a repetition's number was judged several times."""
        question, answer = row.question, row.answer
        keys = [key for key in self._trials.get((answer.system, question.id), ()) if answer.trial is None or answer.trial == key[2]]
        if keys:
            references = tuple(_cut(text) for text in question.right_answers)
            path = path_picture(question.path, answer) if question.path else None
            self.texts |= dict.fromkeys(keys, _RowTexts(_cut(question.question), _cut(answer.answer), references, path, answer.error))

    def read_verdicts(self, verdicts: Iterable[Verdict]) -> None:
        """Takes the verdicts of rows that are kept."""
        for verdict in verdicts:
            own = self.verdicts.get((verdict.system, verdict.question_id, verdict.trial or 0))
            if own is not None and verdict.label not in GOOD and sum(other.metric == verdict.metric for other in own) < KEPT_VERDICTS:
                own.append(verdict)

    def rows(self, systems: Sequence[str]) -> list[WorstRow]:
        """By system and metric in the order of the run, the worst first."""
        return [
            self._row(score) for system in systems for info in self.infos
            for score in sorted(self.kept.get((system, info.metric), {}).values(), key=self._place)
        ]

    def _row(self, score: Score) -> WorstRow:
        texts = self.texts[_key(score)]
        number = score.detail.get("reference")
        place = number - 1 if isinstance(number, int) and number <= len(texts.references) else 0
        lost = texts.error is not None and is_of_answers(score.metric)
        why = [_cut(f"the answer is an error: {texts.error}", LONGEST_REASON)] if lost else reasons(score, self.verdicts[_key(score)])
        return WorstRow(
            system=score.system, metric=score.metric, question_id=score.question_id, value=None if lost else score.value,
            question=texts.question, answer=texts.answer, reference=next(iter(texts.references[place:]), None), reasons=why,
            path=texts.path,
        )


def _key(score: Score) -> Key:
    return score.system, score.question_id, score.trial or 0


def reasons(score: Score, verdicts: Sequence[Verdict] = ()) -> list[str]:
    """Why the value is what it is, REASONS sentences at most: what the verdicts hold against the answer, else the counts in `detail`."""
    metric = all_metrics().get(score.metric)
    facts = metric.asks if metric else (f"criterion:{score.metric}",)
    names = {numbered(fact, score.detail.get("reference")) for fact in facts}
    sentences = [_sentence(verdict) for verdict in sorted((verdict for verdict in verdicts if verdict.metric in names), key=_order)]
    if len(sentences) > REASONS:
        sentences = [*sentences[: REASONS - 1], f"and {len(sentences) - REASONS + 1} more"]
    own_reason = [score.reason] if score.reason else []
    return [_cut(text, LONGEST_REASON) for text in [*own_reason, *(sentences or _counts(score.detail))]]


def _order(verdict: Verdict) -> tuple[int, str, int]:
    label = verdict.label or ""
    return (ORDER.index(label) if label in ORDER else len(ORDER) + (not label), verdict.metric, verdict.item)


def _sentence(verdict: Verdict) -> str:
    if verdict.metric.startswith("criterion:") and verdict.label is not None:
        return f"grade {verdict.label}: {verdict.reason or verdict.text}"
    item, _, source = "answer_claims@graph".partition("@") if verdict.metric == "grounding" else verdict.metric.partition("@")
    source = source.partition("#")[0]
    if verdict.label is None:
        return f"no verdict ({verdict.reason or 'unknown'}): {verdict.text}"
    if verdict.label in WORDS and source in SOURCES:
        return f"{ITEMS.get(item, item)} {WORDS[verdict.label]} {SOURCES[source]}: {verdict.text}"
    return f"{ITEMS.get(item, item)} {_name(verdict.label)}: " + (verdict.reason or verdict.text)


def _counts(detail: Mapping[str, JsonValue]) -> list[str]:
    """`detail` in words: numbers on one line, then what is true, then lists of texts."""
    if detail.get("empty_answer") is True:
        return ["the answer is empty"]
    numbers = [
        f"{_name(key)} {value if isinstance(value, int) else format(value, '.3g')}"
        for key, value in detail.items() if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    flags = [_name(key) for key, value in detail.items() if value is True]
    texts = [f"{_name(key)}: {value}" for key, value in detail.items() if isinstance(value, str) and value]
    lists = [
        f"{_name(key)}: " + ", ".join(str(item)[:80] for item in value[:REASONS]) + (" ..." if len(value) > REASONS else "")
        for key, value in detail.items() if isinstance(value, list) and value and all(isinstance(item, str) for item in value)
    ]
    return ([", ".join(numbers)] if numbers else []) + [*flags, *texts, *lists][: REASONS - 1]


def _name(key: str) -> str:
    return key.replace("_", " ")


def _cut(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else text[: longest - 4].rstrip() + " ..."
