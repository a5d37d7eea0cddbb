"""`file:PATH`: answers that were made elsewhere, in any form that `kgeval score` reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kgeval.errors import InputError, UsageError
from kgeval.format import first_lines
from kgeval.records import Answer
from kgeval.systems.outside.reply import failed, signature_of
from kgeval.systems.system import Ask, ClosedAtEnd, Opening
from kgeval.tables.answers import stopped
from kgeval.tables.rows import RowSelection, open_rows
from kgeval.tables.stream import STDIN

SHOWN = 20


class FileSystem(ClosedAtEnd):
    """A System that looks answers up. `name`: its own (empty: what its rows say). Settings: `system`, the one that is
    meant where the file has several, and `map.FIELD`. With `allow_missing` questions without an answer are errors of
    their own, and answers to other questions are left out. Raises: InputError, UsageError for files that cannot be
    understood, or lack answers."""

    adjusts = False
    parallel = 1
    variant: str | None = None

    def __init__(self, path: Path, opening: Opening, *, name: str = "") -> None:
        self._path, self._opening = path, opening
        settings = dict(opening.settings)
        system, mapped = settings.pop("system", None), settings.pop("map", {})
        if settings or not isinstance(mapped, Mapping):
            raise UsageError(
                f"file: has no setting {', '.join(settings) or 'map'}", fix="it has system=NAME and map.FIELD=NAME",
            )
        if opening.questions == STDIN:
            raise UsageError("file: the questions are read twice", fix="give them as a file, not on standard input")
        self._rows = open_rows(RowSelection(
            (path,), questions=opening.questions,
            maps={**opening.maps, **{name: str(value) for name, value in mapped.items()}},
            system=name or None,
            # answers to questions that were filtered out are no fault, those to unknown ones are
            allow_missing=opening.allow_missing, allow_duplicates=opening.allow_duplicates,
            max_bad_rows=opening.max_bad_rows,
        ))
        try:
            self._inside = self._system(str(system) if system is not None else None)
            self.name = name or self._inside
            self.signature = signature_of("file", self.name, self._rows.digest())
            self._check()
        # rows are in a temporary file: no one else would let it go
        except BaseException:
            self._rows.close()
            raise

    def _system(self, named: str | None) -> str:
        """The system that is meant. Raises: UsageError where the file has several, or not the one that is named."""
        known = [info.system for info in self._rows.systems]
        if named is not None and named not in known:
            raise UsageError(
                f"{self._path}: has no answers of {named}", fix=f"its systems are: {', '.join(known[:SHOWN])}",
            )
        if named is None and len(known) > 1:
            what = f"{self._path}: has answers of {len(known)} systems: {', '.join(known[:SHOWN])}"
            raise UsageError(what, fix="choose one with --setting system=NAME")
        if not known:
            raise InputError(
                f"{self._path}: has no answer to any of the questions", fix="check that both files belong together",
            )
        return named or known[0]

    def _check(self) -> None:
        """Raises: InputError for questions without an answer, all of them; UsageError for answers in trials that were
        not asked for."""
        lacking, more = [], False
        for question_id in self._opening.asked():
            n = len(self._of(question_id))
            if n < self._opening.trials:
                lacking.append(f"{question_id}: " + (f"{n} trials" if n else "no answer"))
            more = more or n > self._opening.trials
        if more:
            what = f"{self._path}: has several answers to a question, as trials"
            raise UsageError(what, fix="ask for as many with --trials N")
        if lacking and not self._opening.allow_missing:
            raise InputError(
                f"{self._path}: questions without an answer in it: {len(lacking):,}", faults=first_lines(lacking, SHOWN),
                fix="complete the file; or --allow-missing, which makes each of them an answer with an error",
            )

    def _of(self, question: str) -> list[Answer]:
        return [answer for answer in self._rows.answers_to(question) if answer.system == self._inside]

    def answer(self, ask: Ask) -> Answer:
        """The answer of the file, with what it tells of time and tokens. One that lacks is an error of its own."""
        answers = sorted(self._of(ask.question_id), key=lambda answer: answer.trial or 0)
        place = (ask.trial or 1) - 1
        if place >= len(answers):
            return failed(ask, self, "no_answer", "the file has none to this question")
        answer = answers[place]
        if stopped(answer.error):  # of the run that made the file: this one is not stopped by it
            return failed(ask, self, "no_answer", f"the file has none to this question: {answer.error}")
        return answer.model_copy(update={"trial": ask.trial, "signature": answer.signature or self.signature})

    @property
    def notes(self) -> list[str]:
        """What was decided about the file; what was decided about the questions is said once for all systems."""
        return [note for note in self._rows.notes if not note.startswith(f"{self._opening.questions.name}: ")]

    def close(self) -> None:
        """Deletes the temporary copy. May be called twice."""
        self._rows.close()
