"""Reads files of questions and answers into the staging: every row checked, joined with its question by id or by text."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from kgeval.errors import Faults, InputError, UsageError
from kgeval.records import Answer, Question
from kgeval.tables.convert import Converted, Converter, answer_of, id_of, question_of
from kgeval.tables.fields import ROWS
from kgeval.tables.plain import Line
from kgeval.tables.row_selection import RowSelection
from kgeval.tables.shapes import ShapeRole, top
from kgeval.tables.staging import Staging
from kgeval.tables.stream import STDIN, is_table, stream

T = TypeVar("T")
SHOWN = 20
PEEKED = 50
FIX = "correct the rows; --map NAME=FIELD says which field is which (kgeval help answer-files lists them)"
FIRST = "; --allow-duplicates keeps the first of the rows with one id"
NAMED = 5
_HOW_READ = re.compile(r": read as .+, rows: [\d,]+$")
_SAID = {
    "one_text": "rows whose contexts are one text, which is one context: {n}",
    "null": "null answers, read as empty with an error: {n}",
    "by_system": "rows with answers of several systems: {n}",
    "lists": "rows with a list of answers, read as trials 1, 2, ...: {n}",
    "broken": "groups of evidence_triple that are broken (a comma inside a name) and left out of the gold paths: {n}",
    "broken_facts": "supporting facts that name no sentence of the context, left out of the evidence: {n}",
}


def only_how_read(note: str) -> bool:
    """True for a note that says how a file was read, and nothing that bears on a result."""
    return _HOW_READ.search(note) is not None


@dataclass
class _Doubles:
    """Rows whose id an earlier row has, where they are left out: how many, and the ids of the first. Where they are faults: `refused`."""

    ids: dict[str, None] = field(default_factory=dict)
    count: int = 0
    refused: bool = False

    def add(self, name: str, count: int) -> None:
        self.count += count
        if count:
            self.ids[name] = None

    def note(self, what: str) -> Iterator[str]:
        """A note, where something was left out."""
        if self.count:
            shown = ", ".join(list(self.ids)[:NAMED]) + (", ..." if len(self.ids) > NAMED else "")
            yield f"{what}, left out: {self.count:,} (id {shown})"


class RowReader:
    """Reads the files into the staging. `notes`: what was decided on the way."""

    def __init__(self, wanted: RowSelection, staging: Staging) -> None:
        self._wanted = wanted
        self._staging = staging
        self._faults = Faults()  # of single rows: these may be passed over
        self._broken = Faults()  # of whole files, and of what an option says
        self._rows = self._bad = 0
        self._labels = _labels([*wanted.answers, *([wanted.questions] if wanted.questions else [])])
        self._mapped: set[str] = set()
        self._ids_in_questions = False
        self._left_out = 0
        self._no_answer = self._gold_differs = False
        self._questions_twice = _Doubles()
        self._repeated = _Doubles()
        self._namesakes: dict[str, list[str]] = {}  # id -> the ids of all questions that came under it, where these are several
        self._answers_twice = _Doubles()
        self._seen: set[str] = set()
        self.notes: list[str] = []

    def read_all(self) -> None:
        """Reads the questions, then the answers. Raises: InputError with all faults."""
        if self._wanted.questions is not None:
            self._questions(self._wanted.questions)
        stems = Counter(path.stem for path in dict.fromkeys(self._wanted.answers))
        for path in dict.fromkeys(self._wanted.answers):
            # Systems are called by their files: two files of one name are told apart by their folders.
            named = "stdin" if path == STDIN else path.stem if stems[path.stem] == 1 else f"{path.absolute().parent.name}/{path.stem}"
            rows, bad = self._rows, self._bad
            self._answers(path, self._wanted.system or named)
            if self._rows > rows and self._rows - rows == self._bad - bad and self._wanted.max_bad_rows:
                self._broken.add(f"{self._label(path)}: none of its {self._rows - rows:,} rows can be read, so nothing would be left")
        for ours, theirs in self._wanted.maps.items():
            if theirs not in self._mapped:
                self._broken.add(f"--map {ours}={theirs}: no file has such a field (they have: {_some(self._seen)})")
        passed = bool(self._bad) and self._bad <= self._wanted.max_bad_rows * self._rows
        # Where rows are faulty and not left out, a text may only seem to be lacking: the row that has it is among them.
        if passed or not self._faults.count:
            for fault in self._without_text():
                self._broken.add(fault)
        if self._broken.count or (self._faults.count and not passed):
            count = self._broken.count + self._faults.count
            what = "1 fault" if count == 1 else f"{count:,} faults"
            lines = [*self._broken.lines(SHOWN), *self._faults.lines(SHOWN)]
            raise InputError(f"the rows have {what}; nothing was done", fix=self._fix(), faults=lines)
        if passed:
            shown = "; ".join(self._faults.lines(NAMED))
            self.notes.append(f"bad rows, left out: {self._bad:,} of {self._rows:,} ({shown})")
        self.notes.extend(self._questions_twice.note("questions with the id of an earlier one"))
        self.notes.extend(self._repeated.note("rows that repeat a question"))
        kept = [name for names in self._namesakes.values() for name in names[1:]]
        if kept:
            shown = ", ".join(kept[:NAMED]) + (", ..." if len(kept) > NAMED else "")
            self.notes.append(f"other questions under the id of an earlier one, kept under a new id: {len(kept):,} ({shown})")
        self.notes.extend(self._answers_twice.note("answers of a system to a question that it has answered in an earlier row"))
        if self._left_out:
            self.notes.append(f"answers to questions that {self._label(self._wanted.questions)} lacks, left out: {self._left_out:,}")
        if self._staging.overruled:
            file = self._label(self._wanted.questions)
            self.notes.append(f"answers whose rows have other gold than {file}, which is used: {self._staging.overruled:,}")
        for name, count in self._staging.by_system.items():
            self.notes.append(f"questions whose {name} differs by system, each scored against its own: {count:,}")

    def _fix(self) -> str:
        """The way out of the faults."""
        field = f"; --map answer=FIELD says which field is the answer (there are: {_some(self._seen)})" if self._no_answer else ""
        gold = "; give the gold that counts for all systems with --questions" if self._gold_differs else ""
        # Rounded up: the share that is shown has to be enough when it is given.
        least = min(1.0, math.ceil(self._bad / max(1, self._rows) * 1e4) / 1e4)
        passing = f"; --max-bad-rows {least:g} leaves the {self._bad:,} bad of {self._rows:,} rows out"
        first = FIRST if self._answers_twice.refused else ""
        return FIX + field + gold + first + (passing if self._bad and not self._broken.count and least < 0.5 else "")

    def _label(self, path: Path | None) -> str:
        return self._labels[path] if path is not None else ""

    def _converted(self, path: Path, role: ShapeRole) -> Iterator[Converted]:
        """The rows of a file. At its end: its notes, and faults where only some rows have an id."""
        label = self._label(path)
        converter = Converter(
            label, path.stem, role, table=is_table(path), maps=self._wanted.maps,
            with_questions=self._wanted.questions is not None and role == "answers",
        )
        lines = stream(path, label)
        # The names of fields say which tool wrote the file, and a row does not have those that are empty in it.
        first = list(islice(lines, PEEKED))
        converter.learn({name for line in first if line.fault is None for name in line.value})
        count = with_id = 0
        ids: list[str] = []  # places of the first rows without one
        for line in chain(first, lines):
            self._rows += 1
            if (row := self._row(line, converter)) is not None:
                # All rows so far have an id, so this one is bad, and not the file.
                if row.id is None and with_id == count > 0 and self._wanted.max_bad_rows:
                    self._fault(f"{row.where}: id: missing, other rows of the file have one")
                    continue
                count += 1
                with_id += row.id is not None
                if row.id is None:
                    ids.append(row.where)
                yield row
        if with_id and with_id < count:
            for where in ids:
                self._broken.add(f"{where}: id: missing, other rows of the file have one")
        self._note(converter, label, count, made=count > 0 and not with_id)

    def _row(self, line: Line, converter: Converter) -> Converted | None:
        # Not a bad row: how much of the file is lost with it nobody can tell, so no share of bad rows allows it.
        if line.ends:
            self._broken.add(f"{line.where}: {line.fault}")
        elif line.fault is not None:
            self._fault(f"{line.where}: {line.fault}")
        return converter.row(line.where, line.value) if line.fault is None else None

    def _fault(self, *faults: str) -> None:
        """A bad row, with its faults; without any it is none."""
        self._bad += bool(faults)
        for fault in faults:
            self._faults.add(fault)

    def _note(self, converter: Converter, label: str, count: int, *, made: bool) -> None:
        self._mapped |= {theirs for theirs in self._wanted.maps.values() if theirs in converter.names or top(theirs) in converter.names}
        self._seen |= converter.names
        name = converter.reading.shape.name if converter.reading else ""
        self.notes.append(f"{label}: read as {name}, rows: {count:,}")
        counts = converter.counts
        self._no_answer |= counts["no_field"] > 0
        self.notes.extend(f"{label}: {_SAID[key].format(n=f'{counts[key]:,}')}" for key in _SAID if counts[key])
        if made:
            joined = converter.role == "answers" and self._wanted.questions is not None
            self.notes.append(f"{label}: rows have no id: {'joined by' if joined else 'it is made from'} the question's text")

    def _questions(self, path: Path) -> None:
        for row in self._converted(path, "questions"):
            faults = list(row.faults)
            text = row.question.get("question")
            if text is None:
                faults.append(f"{row.where}: question: missing or empty")
            elif not faults:
                self._ids_in_questions |= row.id is not None
                record = question_of(row.where, row.id or id_of(text), row.question, faults)
                if record is not None:
                    self._question(row, *record, faults)
            self._fault(*faults)

    def _question(self, row: Converted, question: Question, body: str, faults: list[str]) -> None:
        """Adds a question. A row that says again what an earlier one said is left out; another question under the same id is kept, with
        a number after it (published sets have such ids)."""
        if self._staging.add_question(question, body, row.where) is None:
            return
        if self._wanted.allow_duplicates:
            self._questions_twice.add(question.id, 1)
            return
        names = self._namesakes.get(question.id, [question.id])
        if any(self._staging.says(name, body) for name in names):
            self._repeated.add(question.id, 1)
            return
        number = len(names) + 1
        while self._staging.one("SELECT 1 FROM questions WHERE id = ?", (f"{question.id}#{number}",)):
            number += 1
        record = question_of(row.where, f"{question.id}#{number}", row.question, faults)
        if record is not None:
            self._staging.add_question(*record, row.where)
            self._namesakes[question.id] = [*names, record[0].id]

    def _answers(self, path: Path, system: str) -> None:
        own = self._wanted.names.get(path)
        for row in self._converted(path, "answers"):
            for fields in row.answers if own is not None else ():
                fields["system"] = own
            faults = list(row.faults)
            name = self._id(row, faults) if not faults else None
            if name is not None:
                self._one(row, name, system, faults)
            self._fault(*faults)

    def _id(self, row: Converted, faults: list[str]) -> str | None:
        """The id of the row's question. None with a fault, or where the row is left out."""
        text = row.question.get("question")
        if self._wanted.questions is None:
            if row.id is None and text is None:
                faults.append(f"{row.where}: question: missing, and no id either")
            return row.id or (id_of(text) if text else None)
        if row.id is not None and self._ids_in_questions:
            ids = [row.id] if self._staging.one("SELECT 1 FROM questions WHERE id = ?", (row.id,)) else []
            if row.id in self._namesakes:
                same = self._namesakes[row.id]
                ids = [name for name in self._staging.ids_of_text(text or "") if name in same] or ([] if text else same)
        else:
            ids = self._staging.ids_of_text(text or "")
        if len(ids) == 1:
            return ids[0]
        what = f"'{row.id}'" if row.id is not None and self._ids_in_questions else f"this text ({(text or 'none')[:60]!r})"
        file = self._label(self._wanted.questions)
        if ids:
            way_out = "give its text, or --allow-duplicates for the first" if row.id in self._namesakes else "give ids"
            faults.append(f"{row.where}: question: {len(ids)} questions of {file} have {what}; {way_out}")
        elif self._wanted.allow_missing:
            self._left_out += len(row.answers)
        else:
            faults.append(f"{row.where}: id: {file} has no question with {what} (--allow-missing leaves it out)")
        return None

    def _one(self, row: Converted, name: str, system: str, faults: list[str]) -> None:
        question = question_of(row.where, name, {"question": "", **row.question}, faults)
        answers = [answer_of(row.where, name, {"system": system, **fields}, faults) for fields in row.answers]
        if faults or question is None:
            return
        valid = [answer for answer in answers if answer is not None]
        first = self._firsts(name, valid)
        if valid and not first:
            return  # what a second row says of its question does not count either
        other = self._staging.merge_question(*question, row.where, {answer.system for answer, _ in first})
        if other and self._wanted.allow_duplicates and name in self._questions_twice.ids | self._answers_twice.ids:
            self._answers_twice.add(name, len(first))  # it answers the question that was left out
            return
        faults += other
        self._gold_differs |= any(": other gold than " in fault for fault in other)
        if other:
            return
        gold = json.loads(question[1])
        for answer in first:
            if (twice := self._staging.add_answer(*answer, row.where, gold)) is not None:
                self._answers_twice.refused = True
                faults.append(twice)

    def _firsts(self, name: str, answers: list[tuple[Answer, str]]) -> list[tuple[Answer, str]]:
        """The answers; where duplicates are allowed, those that no earlier row gave."""
        if not self._wanted.allow_duplicates:
            return answers
        first = [answer for answer in answers if not self._staging.has_answer(answer[0])]
        self._answers_twice.add(name, len(answers) - len(first))
        return first

    def _without_text(self) -> Iterator[str]:
        """Faults of rows whose question has no text in any file."""
        sql = "SELECT a.place, a.question FROM answers a JOIN questions q ON q.id = a.question WHERE q.mark IS NULL ORDER BY a.n"
        for place, name in [] if self._faults.count else self._staging.run_all(sql):
            yield f"{place}: question: no file has the text of question '{name}' (give the questions with --questions)"


def _some(names: set[str]) -> str:
    return ", ".join(sorted(names)[:SHOWN]) + (" ..." if len(names) > SHOWN else "")


def _labels(paths: list[Path]) -> dict[Path, str]:
    """How the files are called in messages: by name, or by path where two have one name."""
    names = Counter(path.name for path in dict.fromkeys(paths))
    return {path: "stdin" if path == STDIN else path.name if names[path.name] == 1 else str(path) for path in paths}


def staged(wanted: RowSelection, choose: Callable[[Staging], T]) -> tuple[Staging, list[str], T]:
    """All rows of the files, read, checked and kept; what was decided about the files; and what `choose` says of the rows, which it may
    leave out. Whoever gets the staging closes it.

    Raises: InputError for files that cannot be read, names that cannot be understood, and rows with faults (all of them at once);
    UsageError for --map with an unknown field.
    """
    _check_maps(wanted)
    staging = Staging()
    try:
        reader = RowReader(wanted, staging)
        with staging.writing():
            reader.read_all()
            chosen = choose(staging)
        return staging, reader.notes, chosen
    except BaseException:
        staging.close()
        raise


def _check_maps(wanted: RowSelection) -> None:
    """Raises: UsageError for --map with an unknown field, and where standard input would be read twice."""
    unknown = [name for name in wanted.maps if name not in ROWS]
    if unknown:
        fix = f"write NAME=FIELD, with one of these as NAME: {', '.join(ROWS)}"
        raise UsageError(f"--map: no field is called {', '.join(unknown)}", fix=fix)
    if [*wanted.answers, wanted.questions].count(STDIN) > 1:
        raise UsageError("standard input can be read once only", fix="write '-' for one file")
