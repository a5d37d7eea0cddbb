"""`file:PATH`: answers that were made elsewhere, in any form that `kgeval score` reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from pydantic import JsonValue

from kgeval.errors import InputError, UsageError
from kgeval.files.partial import stopped
from kgeval.files.rows import Rows, RowSelection, open_rows
from kgeval.files.stream import STDIN
from kgeval.records import Answer
from kgeval.systems.outside.reply import Stamp, failed, signature_of
from kgeval.systems.system import Ask

SHOWN = 20


@dataclass(frozen=True)
class FileWanted:
    """A file of answers. `name`: of the system (empty: what its rows say, else the file's stem). `questions`: the file that is asked, for
    joining rows without ids; `asked`: the ids of the questions that are asked. `maps`: as --map, for the file. `settings`: `system`,
    the one that is meant where the file has several. `allow_missing`: questions without an answer are errors of their own, and answers
    to other questions are left out. `trials`: how many answers to each question are wanted.
    """

    path: Path
    questions: Path
    asked: Callable[[], Iterable[str]]
    name: str = ""
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    maps: Mapping[str, str] = field(default_factory=dict)
    allow_missing: bool = False
    allow_duplicates: bool = False
    max_bad_rows: float = 0.0
    trials: int = 1


class FileSystem:
    """A System that looks answers up. Raises: InputError, UsageError for files that cannot be understood, or lack answers."""

    adjusts = False
    parallel = 1
    variant: str | None = None

    def __init__(self, wanted: FileWanted) -> None:
        self._wanted = wanted
        given = dict(wanted.settings)
        system, mapped = given.pop("system", None), given.pop("map", {})
        if given or not isinstance(mapped, Mapping):
            raise UsageError(f"file: has no setting {', '.join(given) or 'map'}", fix="it has system=NAME and map.FIELD=NAME")
        if wanted.questions == STDIN:
            raise UsageError("file: the questions are read twice", fix="give them as a file, not on standard input")
        maps = {**wanted.maps, **{name: str(value) for name, value in mapped.items()}}
        self._rows = open_rows(RowSelection(
            (wanted.path,), questions=wanted.questions, maps=maps, system=wanted.name or None,
            # answers to questions that were filtered out are no fault, those to unknown ones are
            allow_missing=wanted.allow_missing, allow_duplicates=wanted.allow_duplicates, max_bad_rows=wanted.max_bad_rows,
        ))
        try:
            self._inside = self._system(self._rows, str(system) if system is not None else None)
            self.name = wanted.name or self._inside
            self.signature = signature_of("file", self.name, self._rows.digest())
            self._stamp = Stamp(self.name, None, self.signature)
            self._check()
        except BaseException:
            self._rows.close()
            raise

    def _system(self, rows: Rows, named: str | None) -> str:
        """The system that is meant. Raises: UsageError where the file has several, or not the one that is named."""
        known = [info.system for info in rows.systems]
        if named is not None and named not in known:
            raise UsageError(f"{self._wanted.path}: has no answers of {named}", fix=f"its systems are: {', '.join(known[:SHOWN])}")
        if named is None and len(known) > 1:
            what = f"{self._wanted.path}: has answers of {len(known)} systems: {', '.join(known[:SHOWN])}"
            raise UsageError(what, fix="choose one with --setting system=NAME")
        if not known:
            raise InputError(f"{self._wanted.path}: has no answer to any of the questions", fix="check that both files belong together")
        return named or known[0]

    def _check(self) -> None:
        """Raises: InputError for questions without an answer, all of them; UsageError for answers in trials that were not asked for."""
        lacking, more = [], False
        for name in self._wanted.asked():
            found = self._of(name)
            if len(found) < self._wanted.trials:
                lacking.append(f"{name}: " + (f"{len(found)} trials" if found else "no answer"))
            more = more or len(found) > self._wanted.trials
        if more:
            what = f"{self._wanted.path}: has several answers to a question, as trials"
            raise UsageError(what, fix="ask for as many with --trials N")
        if lacking and not self._wanted.allow_missing:
            shown = [*lacking[:SHOWN], *([f"... and {len(lacking) - SHOWN:,} more"] if len(lacking) > SHOWN else [])]
            raise InputError(
                f"{self._wanted.path}: questions without an answer in it: {len(lacking):,}", faults=shown,
                fix="complete the file; or --allow-missing, which makes each of them an answer with an error",
            )

    def _of(self, question: str) -> list[Answer]:
        return [answer for answer in self._rows.answers_to(question) if answer.system == self._inside]

    def answer(self, ask: Ask) -> Answer:
        """The answer of the file, with what it tells of time and tokens. One that lacks is an error of its own."""
        found = sorted(self._of(ask.question_id), key=lambda answer: answer.trial or 0)
        place = (ask.trial or 1) - 1
        if place >= len(found):
            return failed(ask, self._stamp, "no_answer", "the file has none to this question")
        if stopped(found[place].error):  # of the run that made the file: this one is not stopped by it
            return failed(ask, self._stamp, "no_answer", f"the file has none to this question: {found[place].error}")
        return found[place].model_copy(update={"trial": ask.trial, "signature": found[place].signature or self.signature})

    @property
    def notes(self) -> list[str]:
        """What was decided about the file; what was decided about the questions is said once for all systems."""
        return [note for note in self._rows.notes if not note.startswith(f"{self._wanted.questions.name}: ")]

    def close(self) -> None:
        """Deletes the temporary copy. May be called twice."""
        self._rows.close()

    def __enter__(self) -> FileSystem:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
