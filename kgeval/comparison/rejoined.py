"""A comparison whose verdicts are there already, in the parts of its shards: gone through like a run, with nobody asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kgeval.comparison.align.shape import AlignedPair
from kgeval.comparison.engine import Run, Scale
from kgeval.comparison.verdict_store import DISCARDED, Judged, Segment
from kgeval.errors import InputError
from kgeval.records import ComparisonVerdict

SHOWN = 5


class PartVerdicts(Protocol):
    """Verdicts in the order of a run (files.verdict_parts.MergedVerdicts)."""

    def take(self, name: tuple[str, str, str, str, int]) -> tuple[ComparisonVerdict, ...]:
        """What was said of (procedure, A, B, question, trial)."""

    def check_end(self) -> None:
        """Raises where there is more."""


@dataclass(frozen=True)
class Rejoined(Run):
    """`asker` is one that plays a dry run: it gives what the journal has. `said`: the verdicts of the parts. `lacking`: questions whose
    answers, as they were judged, are not to be had here."""

    said: PartVerdicts = field(kw_only=True)
    lacking: list[str] = field(default_factory=list)

    def carry_out(self) -> None:
        """Takes everything over. Raises: InputError where the parts have more or less than the run, or answers cannot be made up."""
        super().carry_out()
        self.said.check_end()
        if self.lacking:
            shown = list(dict.fromkeys(self.lacking))
            more = f" and {len(shown) - SHOWN:,} more" if len(shown) > SHOWN else ""
            raise InputError(
                f"answers that a model lengthened for the parts are not in this journal: {', '.join(shown[:SHOWN])}{more}; "
                "nothing was asked or written", fix="name the journals of the parts: --import-journal FILE (repeatable), or --journal FILE",
            )

    def _judge(self, segment: Segment, places: Sequence[int]) -> list[Judged]:
        one, pairing = segment.round, segment.pairing
        scale, source = self.scales.setdefault(one.way.procedure, Scale()), self.sources.of(one)
        for place in places:
            question = pairing.questions[place]
            for trial in range(1, one.trials + 1):
                said = self.said.take((one.way.procedure, pairing.a, pairing.b, question.id, trial))
                answers = source.pair(question, pairing.a, pairing.b, trial)
                self._check(answers, said)
                # one verdict an aspect where aligning failed, else one an aspect and judgement
                names = len(one.way.names)
                if len(said) != names * one.cases and (len(said) != names or any(verdict.failure is None for verdict in said)):
                    what = f"verdicts on '{question.id}' ({pairing.a} and {pairing.b}, trial {trial}) are missing"
                    raise InputError(f"{what}: the file was cut or changed", fix="judge its shard again: the replies are in the journal")
                self.verdicts.add(segment, Judged(place, trial, answers.how, said))
                scale.take(said)
        return []

    def _check(self, answers: AlignedPair, said: Sequence[ComparisonVerdict]) -> None:
        """Whether the verdicts are about these answers. Raises: InputError."""
        judged = any(one.failure is None or one.aligned for one in said)
        if answers.how == "failed" and (judged or any((one.failure or "").startswith(DISCARDED) for one in said)):
            self.lacking.append(said[0].question_id)
        elif (judged and not answers.judged) or (answers.judged and _lengths(said[0]) not in (None, (answers.words_a, answers.words_b))):
            what = f"the verdicts on '{said[0].question_id}' are about other answers than these"
            raise InputError(what, fix="judge the shards again with these files")


def _lengths(one: ComparisonVerdict) -> tuple[int, int] | None:
    """The words of the answers that were judged; null where none were: aligning them failed."""
    return None if one.length_a is None or one.length_b is None or one.failure is not None else (one.length_a, one.length_b)
