"""A row of a file as kgeval's records: the question's part, and one answer or several. Every fault of a row at once."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from kgeval.records import Answer, Question
from kgeval.tables import cells
from kgeval.tables.cells import Misfit
from kgeval.tables.fields import ROWS, coerced, level_of
from kgeval.tables.shapes import FileNames, ShapeReading, ShapeRole, check_steady, reading_of, top
from kgeval.tables.shapes.benchmarks import BROKEN_FACTS
from kgeval.tables.shapes.derive import BROKEN, DERIVE
from kgeval.tables.stream import plain

NO_ANSWER = "the answer is null in the file"
RETRIEVAL_ONLY = "the file holds what was retrieved and no answers"
ANSWERS = ("answer", "generated_texts", "answers")
_MISSING = object()
T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class Converted:
    """One row. `question`: fields of the record without its id, where the row has any. `answers`: fields of the records, without
    question_id; `system` is absent where the row does not name it. `id` None: the row has none."""

    where: str
    id: str | None
    question: dict[str, Any]
    answers: list[dict[str, Any]]
    faults: list[str]


@dataclass
class Converter:
    """Reads the rows of one file. A field that turns up later is read as if it had been there from the start."""

    file: str
    stem: str
    role: ShapeRole
    table: bool = False
    maps: Mapping[str, str] = field(default_factory=dict)
    with_questions: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    names: set[str] = field(default_factory=set)
    reading: ShapeReading | None = None
    _getters: list[tuple[str, Callable[[Mapping[str, Any]], Any]]] = field(default_factory=list)
    _left: frozenset[str] = frozenset()

    def learn(self, names: set[str]) -> None:
        """Takes note of the names of fields. Raises: InputError where their meaning cannot be told, or would change."""
        names = names - self.names
        self.names |= names
        file = FileNames(self.file, frozenset(self.names), self.role, self.maps, self.with_questions)
        before, self.reading = self.reading, reading_of(file)
        if before is not None:
            check_steady(before, self.reading, file, names)
        self._getters = [
            (name, getter) for name, paths in self.reading.fields.items() if (getter := _getter(paths, self.names)) is not None
        ]
        used = {path for paths in self.reading.fields.values() for path in paths if path in self.names}
        dropped = {"answer", "context"} if self.role == "questions" else set()
        self._left = frozenset(self.names - used - set(self.reading.shape.ignored) - dropped)

    def row(self, where: str, row: Mapping[str, Any]) -> Converted:
        """The row as fields of records, with its faults as `where: field: what`."""
        if not row.keys() <= self.names:
            self.learn(set(row))
        faults: list[str] = []
        raw = self._raw(row, faults)
        read = self._read(raw, faults)
        if self.table and "answer" not in read and any(name in row for name in self._answer_names()):
            read["answer"] = ""  # a table cannot tell an empty text from null
        question = self._question(read)
        answers = list(self._answers(raw, read, faults)) if self.role == "answers" else []
        return Converted(where, read.get("id"), question, answers, [f"{where}: {fault}" for fault in faults])

    def _answer_names(self) -> tuple[str, ...]:
        return self.reading.fields.get("answer", ()) if self.reading else ()

    def _raw(self, row: Mapping[str, Any], faults: list[str]) -> dict[str, Any]:
        """kgeval's name -> value as it stands in the file. Absent values are left out, but for an answer that is None."""
        values: dict[str, Any] = {}
        for name, getter in self._getters:
            value = getter(row)
            # a query that a system left empty is not valid; where a table has no value it cannot be told from none
            empty_query = name == "cypher" and isinstance(value, str) and not self.table
            if value is not _MISSING and (name == "answer" or empty_query or not cells.absent(value)):
                values[name] = value
        extra = {name: value for name in self._left if not cells.absent(value := row.get(name))}
        if extra:
            values["extra"] = {**extra, **_mapping(values.get("extra"))}
        shape = self.reading.shape if self.reading else None
        if shape is not None and shape.derive:
            try:
                DERIVE[shape.derive](row, values, self.stem)
            except Misfit as misfit:
                faults.append(str(misfit))
        return values

    def _read(self, raw: Mapping[str, Any], faults: list[str]) -> dict[str, Any]:
        if isinstance(raw.get("answer"), dict | list):  # an answer for each system or trial: read one by one
            raw = {name: value for name, value in raw.items() if name != "answer"}
        values, misfits = coerced(raw.items(), ROWS)
        faults.extend(f"{name}: {misfit}{self._called(name)}" for name, misfit in misfits.items())
        return {name: value for name, value in values.items() if value is not None}

    def _called(self, name: str) -> str:
        """The file's own name of a field, where it is another."""
        paths = [path for path in (self.reading.fields.get(name, ()) if self.reading else ()) if top(path) in self.names]
        return f" (field '{paths[0]}')" if paths and paths[0] != name else ""

    def _question(self, read: dict[str, Any]) -> dict[str, Any]:
        fields = {ROWS[name].record or name: value for name, value in read.items() if ROWS[name].owner == "question"}
        # A list under the name of the right answer: each is as right, and the record has a place for one and a place for the others.
        if right := fields.pop("reference", None):
            fields["reference"] = right[0]
            if others := [*right[1:], *fields.get("references", [])]:
                fields["references"] = others
        if (level := fields.get("level")) is not None:
            fields["level"] = level_of(level) or level
        elif (kind := fields.get("kind")) is not None:
            level = next((level for word in ([kind] if isinstance(kind, str) else kind) if (level := level_of(word))), None)
            if level:
                fields["level"] = level
        if self.role == "questions" and (extra := _extra(read)):
            fields["extra"] = extra
        elif BROKEN in read.get("extra", {}):
            fields["extra"] = {BROKEN: read["extra"][BROKEN]}
        if BROKEN in read.get("extra", {}):
            self.counts["broken"] += len(read["extra"][BROKEN])
        self.counts["broken_facts"] += len(read.get("extra", {}).get(BROKEN_FACTS, ()))
        return fields

    def _answers(self, raw: Mapping[str, Any], read: Mapping[str, Any], faults: list[str]) -> Iterator[dict[str, Any]]:
        """One answer; one for each system where the answer is a map; one for each trial where it is a list."""
        shared = {name: value for name, value in read.items() if ROWS[name].owner == "answer"}
        if "system" in read:
            shared["system"] = read["system"]
        if (contexts := self._contexts(raw, read, faults)) is not None:
            shared["contexts"] = contexts
        if extra := _extra(read):
            shared["extra"] = extra
        value = raw.get("answer", _MISSING)
        if isinstance(value, Mapping):
            self.counts["by_system"] += 1
            for system, text in value.items():
                yield {**shared, "system": str(system), **_text(text, shared, faults, f"answer of {system}")}
        elif isinstance(value, list):
            # A list of one is one answer: some tools write a list whatever they have.
            self.counts["lists"] += len(value) > 1
            if not value:
                yield {**shared, "answer": "", "error": shared.get("error", NO_ANSWER)}
            for number, text in enumerate(value, start=1):
                trial = {"trial": number} if len(value) > 1 else {}
                yield {**shared, **trial, **_text(text, shared, faults, f"answer {number}")}
        else:
            yield {**shared, **self._single(value, read, faults)}

    def _single(self, value: Any, read: Mapping[str, Any], faults: list[str]) -> dict[str, Any]:
        if "answer" in read:
            return {"answer": read["answer"]}
        if value is not _MISSING:
            self.counts["null"] += 1
            return {"answer": "", "error": read.get("error", NO_ANSWER)}
        if self.reading is not None and self.reading.shape.without_answer:
            return {"answer": "", "error": RETRIEVAL_ONLY}
        if "error" in read:
            return {"answer": ""}
        known = [name for name in self._answer_names() if name in self.names]
        self.counts["no_field"] += not known
        looked = ", ".join(known or [name for name in self._answer_names() if name not in ANSWERS[1:]])
        faults.append(f"answer: missing (looked for: {looked or 'no field'}; null is an empty answer)")
        return {"answer": ""}

    def _contexts(self, raw: Mapping[str, Any], read: Mapping[str, Any], faults: list[str]) -> list[dict[str, Any]] | None:
        """The contexts, with ids and scores from the lists beside them."""
        entries: list[dict[str, Any]] | None = read.get("contexts")
        if entries is not None and isinstance(raw.get("contexts"), str) and len(entries) == 1 and entries[0].get("text") == raw["contexts"]:
            self.counts["one_text"] += 1
        ids, scores = read.get("context_ids"), read.get("context_scores")
        if ids is not None:
            if entries is None:
                entries = [{"text": "", "chunk_id": item} for item in ids]
            elif len(ids) != len(entries):
                faults.append(f"context_ids: {len(ids)} ids for {len(entries)} contexts" + self._called("context_ids"))
            else:
                entries = [{**passage, "chunk_id": item} for passage, item in zip(entries, ids, strict=True)]
        if entries is not None and scores is not None and len(scores) == len(entries):
            numbers = [isinstance(item, int | float) and not isinstance(item, bool) for item in scores]
            entries = [{**p, "score": s} if is_number else p for p, s, is_number in zip(entries, scores, numbers, strict=True)]
        return entries


def _text(value: Any, shared: Mapping[str, Any], faults: list[str], what: str) -> dict[str, Any]:
    try:
        text = cells.answer_text(value)
    except Misfit as misfit:
        faults.append(f"{what}: {misfit}")
        text = ""
    return {"answer": text} if text is not None else {"answer": "", "error": shared.get("error", NO_ANSWER)}


def _extra(read: Mapping[str, Any]) -> dict[str, Any]:
    return {name: plain(value) for name, value in read.get("extra", {}).items() if name != BROKEN}


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _getter(given: tuple[str, ...], names: set[str]) -> Callable[[Mapping[str, Any]], Any] | None:
    """Takes the first of the names that has a value in a row; a None where all that are there are None. None: none is in the file."""
    direct = [one for one in given if one in names]
    paths = [one for one in given if one not in names and top(one) in names]
    if not direct and not paths:
        return None
    # Nearly every field: one lookup a row instead of a loop.
    if len(direct) == 1 and not paths:
        only = direct[0]
        return lambda row: row.get(only, _MISSING)

    def get(row: Mapping[str, Any]) -> Any:
        blank: Any = _MISSING
        for path in given:
            value = row.get(path, _MISSING) if path in names else _walk(row, path.split("."))
            if value is not _MISSING:
                if not cells.absent(value):
                    return value
                blank = value
        return blank

    return get


def _walk(value: Any, steps: list[str]) -> Any:
    """The value at a dotted path; `part[]` goes through every item of a list."""
    for index, step in enumerate(steps):
        if not isinstance(value, Mapping):
            return _MISSING
        value = value.get(step.removesuffix("[]"), _MISSING)
        if step.endswith("[]") and isinstance(value, list):
            inner = [_walk(item, steps[index + 1:]) if steps[index + 1:] else item for item in value]
            return [item for item in inner if item is not _MISSING]
    return value


def id_of(question: str) -> str:
    """The id of a question that has none: made from its text, so that it is the same in every file."""
    return "q-" + hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def question_of(where: str, name: str, fields: Mapping[str, Any], faults: list[str]) -> tuple[Question, str] | None:
    """The record of a question and its JSON. None where the fields do not fit; then the faults say why."""
    return _made(Question, {**fields, "id": name}, where, faults)


def answer_of(where: str, name: str, fields: Mapping[str, Any], faults: list[str]) -> tuple[Answer, str] | None:
    """The record of an answer and its JSON. None where the fields do not fit; then the faults say why."""
    return _made(Answer, {**fields, "question_id": name}, where, faults)


def _made(kind: type[T], fields: Mapping[str, Any], where: str, faults: list[str]) -> tuple[T, str] | None:
    try:
        record = kind(**fields)
        # What was not given must not be there: the staging compares and merges questions by the names in their JSON.
        return record, record.model_dump_json(exclude_defaults=True)
    except ValidationError as cause:
        for error in cause.errors(include_url=False, include_input=False):
            faults.append(f"{where}: {'.'.join(str(part) for part in error['loc'])}: {error['msg']}")
    except PydanticSerializationError:
        # JSON's \ud800 alone is a text for Python, and UTF-8 cannot hold it.
        broken = [name for name, value in fields.items() if not _encodes(value)]
        faults.extend(f"{where}: {name}: holds half a surrogate pair (a broken \\u escape)" for name in broken or ["the row"])
    return None


def _encodes(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return True
