"""Answers as files: where the answers of several systems go, the forms, and the partial file that grows while they come."""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any, Literal

from pydantic import ValidationError

from kgeval.errors import InputError, UsageError
from kgeval.files.partial import PartialFile, aside_note, private, stopped
from kgeval.files.score_forms import FINGERPRINT, beside, fingerprint_of, is_folder
from kgeval.files.stream import stream
from kgeval.files.tables import write_csv, write_parquet
from kgeval.records import Answer, AnsweredSystem, AnswerReport

Taking = Literal["nothing", "finished", "answered"]
FORMS = (".jsonl", ".json", ".csv", ".parquet")
COLUMNS = tuple(Answer.model_fields)
NESTED = ("contexts", "retrieved_nodes", "retrieved_relations", "triples", "citations", "aligned_to", "stages", "extra")
_TYPES = {
    "latency_s": float, "ttft_s": float, "cost": float, "input_tokens": int, "output_tokens": int, "calls": int, "trial": int,
}
_WHAT = "questions, systems or settings, so its answers"


@dataclass(frozen=True)
class Target:
    """One set of answers: the systems (by their place) whose answers are in it, and the files that hold all of them."""

    systems: tuple[int, ...]
    files: tuple[Path, ...]


def targets(outputs: Sequence[Path], systems: Sequence[str]) -> list[Target]:
    """Where the answers go: a folder, or a name with `{system}` in it, has one file a system; other names have the answers of all.

    Raises: UsageError for endings that are no form of answers, a mix of both, and two systems with one file.
    """
    own = [path for path in outputs if is_folder(path) or "{system}" in str(path)]
    if own and len(own) < len(outputs):
        fix = "give folders and names with {system}, or names of files for all systems, not both"
        raise UsageError("-o: one file a system and one file for all do not go together", fix=fix)
    if not own:
        found = [Target(tuple(range(len(systems))), tuple(dict.fromkeys(outputs)))]
    else:
        found = [Target((at,), tuple(_own(path, name) for path in dict.fromkeys(own))) for at, name in enumerate(systems)]
    files = [file for target in found for file in target.files]
    twice = sorted({str(file) for file in files if files.count(file) > 1})
    if twice:
        raise UsageError(f"two systems would be written to {', '.join(twice)}", fix="name the systems: --system NAME=SPEC")
    wrong = sorted({file.suffix or file.name for file in files if file.suffix.lower() not in FORMS})
    if wrong:
        raise UsageError(f"-o: answers are not written as {', '.join(wrong)}", fix=f"use one of {', '.join(FORMS)}, or a folder")
    return found


def _own(path: Path, system: str) -> Path:
    """A system's own file."""
    name = file_name(system)
    if "{system}" not in str(path):
        return path / f"{name}.jsonl"
    folder = not Path(str(path).replace("{system}", "")).suffix  # a name such as graph@theta=0.3 has no ending
    path = Path(str(path).replace("{system}", name))
    return path / "answers.jsonl" if folder else path


def file_name(system: str) -> str:
    """A system's name as a part of a file's name."""
    return re.sub(r"[^\w@+=,.-]", "_", system).lstrip(".")[:100] or "system"


def files_of(found: Iterable[Target]) -> list[Path]:
    """Every file that will be written, for checks before a run."""
    return [one for target in found for file in target.files for one in (file, beside(file, "run.json"))]


class AnswerFile:
    """The answers of a run. `outputs`: the files; none: they are kept until the end of the run only.

    `fingerprint`: of all that the answers depend on. `taking`: which of an earlier run are not asked for again: none, all that it
    finished, or those of them without an error. Thread-safe. Raises: as PartialFile, and InputError where an earlier run was made from
    something else.
    """

    def __init__(self, outputs: Sequence[Path], *, fingerprint: str, taking: Taking = "nothing") -> None:
        self._outputs, self._fingerprint = tuple(outputs), fingerprint
        self._earlier: dict[int, int] = {}  # key -> where its line starts, of answers that an earlier run finished
        self._places = 0
        self._file = PartialFile(self._outputs, fingerprint=fingerprint, what=_WHAT, ordered=True)
        try:
            if taking != "nothing" and self._outputs:
                self._take_over(taking)
            if self._file.empty:
                self._file.start()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> AnswerFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def aside(self) -> str | None:
        """What is said where rows of an earlier run were put aside."""
        return aside_note(self._file)

    def close(self) -> None:
        """Lets the partial file go; it stays where it is, unless no answer is in it."""
        self._file.close()

    def place(self, question: str, system: str, trial: int | None) -> tuple[int, bool]:
        """The next place among the answers, and whether an earlier run has this one. Answers are written in the order of the places."""
        with self._file.lock:
            place, self._places = self._places, self._places + 1
            at = self._earlier.get(_key(question, system, trial)) if self._earlier else None
            if at is not None:
                self._file.keep(at, place)
        return place, at is not None

    def add(self, place: int, answer: Answer) -> None:
        """Keeps an answer, on disk before this returns. Raises: IncompleteError where the disk is full; all before are kept."""
        line = _line_of(answer)
        with self._file.lock:
            self._file.add(line, place)

    def answers(self) -> Iterator[Answer]:
        """All answers of this run so far, those taken over too, in order."""
        return (Answer.model_validate(line["answer"]) for line in self._file.lines())

    def finish(self, report: AnswerReport) -> list[Path]:
        """Writes the outputs in their forms with the report beside them, and returns the files. The partial file goes if the run is
        complete. Raises: InputError where a file cannot be written; the partial file stays then."""
        run = report.run.model_copy(update={"arguments": {**report.run.arguments, FINGERPRINT: self._fingerprint}})
        text = report.model_copy(update={"run": run}).model_dump_json(indent=1) + "\n"
        done: list[Path] = []
        with self._file.finishing():
            for output in self._outputs:
                write_answers(output, self.answers())
                with private(beside(output, "run.json")) as file:
                    file.write(text)
                done += [output, beside(output, "run.json")]
        if report.complete:
            self._file.done()
        return done

    def _take_over(self, taking: Taking) -> None:
        """What an earlier run left: its partial file, else its results."""
        self._file.read_earlier(lambda line, at: self._from_line(line, at, taking))
        output = self._outputs[0]
        if not output.exists():
            return
        if self._file.empty:
            self._file.check_same(output, fingerprint_of(output))
            self._file.start()
        elif fingerprint_of(output) != self._fingerprint:
            return  # the partial file goes on, and will replace this result
        known = set(self._earlier)
        for answer in read_answers(output):
            if _key_of(answer) not in known:
                self._offer(answer, self._file.append(_line_of(answer)), taking)

    def _from_line(self, line: dict[str, Any], at: int, taking: Taking) -> None:
        with suppress(ValidationError):  # a line that is no answer is passed over: its question is asked again
            self._offer(Answer.model_validate(line.get("answer")), at, taking)

    def _offer(self, answer: Answer, at: int, taking: Taking) -> None:
        """Makes an earlier answer available, unless it has to be asked for again."""
        if answer.error is None or not (taking == "answered" or stopped(answer.error)):
            self._earlier[_key_of(answer)] = at


def _line_of(answer: Answer) -> bytes:
    return f'{{"answer":{as_json(answer)}}}\n'.encode()


def _key_of(answer: Answer) -> int:
    return _key(answer.question_id, answer.system, answer.trial)


def _key(question: str, system: str, trial: int | None) -> int:
    """Names an answer in few bytes."""
    return int.from_bytes(hashlib.blake2b(json.dumps([question, system, trial]).encode(), digest_size=8).digest(), "big")


def as_json(answer: Answer) -> str:
    """An answer as a line, without what it does not tell."""
    return answer.model_dump_json(exclude_none=True, exclude=None if answer.extra else {"extra"})


def write_answers(path: Path, answers: Iterable[Answer]) -> None:
    """Writes the answers in the form of the file's name, as a whole or not at all, readable by this user only."""
    forms: Mapping[str, Callable[[Path, Iterable[Answer]], None]] = {".json": _json, ".csv": _csv, ".parquet": _parquet}
    forms.get(path.suffix.lower(), _jsonl)(path, answers)


def _jsonl(path: Path, answers: Iterable[Answer]) -> None:
    with private(path) as file:
        for answer in answers:
            file.write(as_json(answer) + "\n")


def _json(path: Path, answers: Iterable[Answer]) -> None:
    with private(path) as file:
        start = "[\n"
        for answer in answers:
            file.write(start + as_json(answer))
            start = ",\n"
        file.write("[]\n" if start == "[\n" else "\n]\n")


def _csv(path: Path, answers: Iterable[Answer]) -> None:
    write_csv(path, COLUMNS, map(_cells, answers))


def _parquet(path: Path, answers: Iterable[Answer]) -> None:
    write_parquet(path, COLUMNS, _TYPES, map(_cells, answers))


def _cells(answer: Answer) -> dict[str, Any]:
    """The fields for a table: lists and objects are JSON text."""
    values = json.loads(as_json(answer))
    values |= {name: json.dumps(values[name], ensure_ascii=False) for name in NESTED if name in values}
    return {name: values.get(name) for name in COLUMNS}


def read_answers(path: Path) -> Iterator[Answer]:
    """The answers of a file that kgeval wrote, in their order. Raises: InputError for a row that is none."""
    for line in stream(path):
        try:
            given = line.value if line.fault is None else {}
            values = {name: value for name, value in given.items() if value is not None}
            values |= {name: json.loads(values[name]) for name in NESTED if isinstance(values.get(name), str)}
            yield Answer.model_validate({"answer": "", **values})
        except (ValidationError, ValueError, AttributeError) as cause:
            raise InputError(f"{line.where}: is no answer as kgeval writes them", fix="name another file, or delete it") from cause


class Counted:
    """Sums up answers of one system, one by one."""

    def __init__(self, system: str, variant: str | None, signature: str) -> None:
        self._names = (system, variant, signature)
        self._answers = self._empty = 0
        self._errors: Counter[str] = Counter()
        self._seconds = array("d")
        self._sums: dict[str, float] = {}

    def add(self, answer: Answer) -> None:
        """One more."""
        self._answers += 1
        if answer.error is not None:
            self._errors[cause_of(answer.error)] += 1
        else:
            self._empty += not answer.answer.strip()
            if answer.latency_s is not None:
                self._seconds.append(answer.latency_s)
        for name in ("input_tokens", "output_tokens", "calls", "cost"):
            if (value := getattr(answer, name)) is not None:
                self._sums[name] = self._sums.get(name, 0) + value

    def record(self) -> AnsweredSystem:
        """What was counted."""
        system, variant, signature = self._names
        sums: dict[str, Any] = {name: round(value, 6) if name == "cost" else int(value) for name, value in self._sums.items()}
        return AnsweredSystem(
            system=system, variant=variant, signature=signature, answers=self._answers, empty=self._empty,
            errors=dict(sorted(self._errors.items())), n_latency=len(self._seconds),
            latency_s=round(median(self._seconds), 6) if self._seconds else None,
            slowest_s=round(max(self._seconds), 6) if self._seconds else None, **sums,
        )


def cause_of(error: str) -> str:
    """The cause in an answer's error: the word before its colon; `other` where it has none."""
    found = re.match(r"([a-z][a-z_]{2,30})(?::|$)", error)
    return found[1] if found else "other"
