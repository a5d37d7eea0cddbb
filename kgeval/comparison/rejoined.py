"""A comparison whose verdicts are there already, in the parts of its shards: gone through like a run, with nobody asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kgeval.comparison.align.rule import AlignedPair
from kgeval.comparison.engine import JudgeRun, ScoresGiven
from kgeval.comparison.verdict_store import DISCARDED, JudgedTrial, Segment
from kgeval.errors import InputError
from kgeval.format import first_of
from kgeval.records import ComparisonVerdict

SHOWN = 5


class PartVerdicts(Protocol):
    """Verdicts in the order of a run (files.verdict_parts.MergedVerdicts)."""

    def take(self, name: tuple[str, str, str, str, int]) -> tuple[ComparisonVerdict, ...]:
        """The verdicts of (procedure, A, B, question, trial)."""

    def check_end(self) -> None:
        """Raises where there is more."""


@dataclass(frozen=True)
class Rejoined(JudgeRun):
    """`asker` is one that plays a dry run: it gives what the journal has. `parts`: their verdicts. `lacking`: questions whose
    answers, as they were judged, are not to be had here."""

    parts: PartVerdicts = field(kw_only=True)
    lacking: list[str] = field(default_factory=list)

    def carry_out(self) -> None:
        """Takes everything over. Raises: InputError where the parts have more or less than the run, or answers cannot be made up."""
        super().carry_out()
        self.parts.check_end()
        if self.lacking:
            shown = list(dict.fromkeys(self.lacking))
            raise InputError(
                f"answers that a model lengthened for the parts are not in this journal: {first_of(shown, SHOWN)}; "
                "nothing was asked or written", fix="name the journals of the parts: --import-journal FILE (repeatable), or --journal FILE",
            )

    def _judge(self, segment: Segment, places: Sequence[int]) -> list[JudgedTrial]:
        run, pairing, source = segment.run, segment.pairing, self.answers.of(segment.run)
        scores = self.scores.setdefault(run.procedure.name, ScoresGiven())
        aspects = len(run.procedure.aspect_names)
        for place in places:
            question = pairing.questions[place]
            for trial in range(1, run.trials + 1):
                verdicts = self.parts.take((run.procedure.name, pairing.a, pairing.b, question.id, trial))
                answers = source.pair(question, pairing.a, pairing.b, trial)
                self._check(answers, verdicts)
                # one verdict an aspect where aligning failed, else one an aspect and judgement
                all_failed = len(verdicts) == aspects and all(verdict.failure or verdict.unanswered for verdict in verdicts)
                if len(verdicts) != aspects * run.cases and not all_failed:
                    what = f"verdicts on '{question.id}' ({pairing.a} and {pairing.b}, trial {trial}) are missing"
                    raise InputError(f"{what}: the file was cut or changed", fix="judge its shard again: the replies are in the journal")
                self.verdicts.add(segment, JudgedTrial(place, trial, answers.how, verdicts))
                scores.take(verdicts)
        return []

    def _check(self, answers: AlignedPair, verdicts: Sequence[ComparisonVerdict]) -> None:
        """Whether the verdicts are about these answers. Raises: InputError."""
        first = verdicts[0]
        judged = any((verdict.failure is None and verdict.unanswered is None) or verdict.aligned for verdict in verdicts)
        if answers.how == "failed" and (judged or any((verdict.failure or "").startswith(DISCARDED) for verdict in verdicts)):
            self.lacking.append(first.question_id)
            return
        lengths = first.length_a, first.length_b
        known = None not in lengths and first.failure is None  # else aligning them failed
        if (judged and not answers.judged) or (answers.judged and known and lengths != (answers.words_a, answers.words_b)):
            what = f"the verdicts on '{first.question_id}' are about other answers than these"
            raise InputError(what, fix="judge the shards again with these files")
