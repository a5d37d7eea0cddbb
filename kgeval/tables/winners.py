"""What other files write for who won: words, names of systems, numbers under several codings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kgeval.errors import UsageError
from kgeval.records import Winner
from kgeval.tables.cells import Misfit, absent

WORDS: dict[str, Winner] = {
    **dict.fromkeys(("a", "left", "model_a", "model_1", "system_a", "answer_a", "answer_1", "model a", "model 1", "[[a]]"), "a"),
    **dict.fromkeys(("b", "right", "model_b", "model_2", "system_b", "answer_b", "answer_2", "model b", "model 2", "[[b]]"), "b"),
    **dict.fromkeys(("tie", "draw", "equal", "both", "tie (bothbad)", "bothbad", "same", "[[c]]"), "tie"),
}
# evalica and benchmark-qed (0, 1, 2), alpaca_eval (1, 1.5, 2), signs, shares of A's win
CODINGS: tuple[dict[float, Winner], ...] = (
    {0.0: "tie", 1.0: "a", 2.0: "b"}, {1.0: "a", 1.5: "tie", 2.0: "b"}, {1.0: "a", 0.0: "tie", -1.0: "b"}, {1.0: "a", 0.5: "tie", 0.0: "b"},
)
UNDECIDED = frozenset({"error", "failed", "unknown", "none", "null", "nan", "n/a", "na", ""})
WAY_OUT = "say what the values mean: --winner VALUE=a, --winner VALUE=b, --winner VALUE=tie"


class Unknown(Misfit):
    """Numbers that no coding has."""


@dataclass(frozen=True)
class Coding:
    """How a file's winners are read: `said` by --winner (value -> winner), `numbers` by what the whole file holds."""

    said: Mapping[str, Winner] = field(default_factory=dict)
    numbers: Mapping[float, Winner] = field(default_factory=dict)

    def read(self, value: Any, a: str, b: str) -> Winner | None:
        """Who won; None where the cell is empty or says that nobody knows. Raises: Misfit for anything else."""
        if isinstance(value, bool):
            raise Misfit("a truth value does not say who won", WAY_OUT)
        if absent(value):
            return None
        text = str(value).strip()
        if text in self.said:
            return self.said[text]
        number = _number(text)
        if number is not None and number in self.numbers:
            return self.numbers[number]
        return _by_word(text, a, b)


def _by_word(text: str, a: str, b: str) -> Winner | None:
    by_name: Winner | None = "a" if text == a else "b" if text == b else None
    by_word = WORDS.get(text.lower())
    if by_name and by_word and by_name != by_word:
        raise Misfit(f"'{text}' is the name of one system and the word for the other", WAY_OUT)
    winner = by_name or by_word
    if winner is None and text.lower() not in UNDECIDED:
        what = f"'{text[:40]}' is no winner: left, right, tie, a, b, the name of one of both systems, or a number expected"
        raise Misfit(what, WAY_OUT)
    return winner


def coding_of(values: Iterable[Any], said: Mapping[str, Winner]) -> Coding:
    """The coding of a file's numbers, known where all codings that hold its values agree on each.

    Raises: Unknown where the numbers fit no coding; Misfit where they fit two that differ: 0 and 1 alone may be win and loss, or win
    and tie.
    """
    seen = {number for value in values if (number := _number(str(value).strip())) is not None and str(value).strip() not in said}
    if not seen:
        return Coding(said)
    fitting = [coding for coding in CODINGS if seen <= coding.keys()]
    shown = ", ".join(f"{value:g}" for value in sorted(seen)[:10])
    if not fitting:
        raise Unknown(f"the numbers {shown} are no winners in any coding that is known", WAY_OUT)
    if any(coding[value] != fitting[0][value] for coding in fitting for value in seen):
        raise Misfit(f"the numbers {shown} mean different things in different tools", WAY_OUT)
    return Coding(said, {value: fitting[0][value] for value in seen})


def said_by(given: Iterable[str]) -> dict[str, Winner]:
    """--winner VALUE=a|b|tie. Raises: UsageError for another form."""
    winners: dict[str, Winner] = {}
    for text in given:
        value, sign, meaning = text.rpartition("=")
        word = meaning.strip().lower()
        if not sign or not value.strip() or word not in ("a", "b", "tie"):
            raise UsageError(f"faulty --winner: '{text}'", fix="write VALUE=a, VALUE=b or VALUE=tie, e.g. --winner 1=a --winner 0=b")
        winners[value.strip()] = WORDS[word]
    return winners


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    # NaN is not equal to itself.
    return number if number == number and abs(number) != float("inf") else None
