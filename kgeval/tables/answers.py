"""Answers as files: where the answers of several systems go, in which forms, and what is summed up of them."""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from pydantic import ValidationError

from kgeval.errors import InputError, KgevalError, UsageError, named_again, raise_together, tried
from kgeval.records import Answer, AnsweredSystem, AnswerReport
from kgeval.tables.columns import write_csv, write_parquet
from kgeval.tables.output import replacing, write_text
from kgeval.tables.score_forms import FINGERPRINT, beside, is_folder
from kgeval.tables.stream import stream

STOPPED = ("budget", "error_rate", "cancelled")  # causes of what was not even asked, because the run was stopped
PASSING = ("connection", "timeout", "rate_limited", "server_error")  # causes that pass: whoever asks again later may get an answer
FORMS = (".jsonl", ".json", ".csv", ".parquet")
COLUMNS = tuple(Answer.model_fields)
NESTED = ("contexts", "retrieved_nodes", "retrieved_relations", "triples", "citations", "reasoning", "aligned_to", "stages", "extra")
_TYPES = {
    "latency_s": float, "ttft_s": float, "cost": float, "input_tokens": int, "output_tokens": int, "calls": int, "trial": int,
}


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
        groups = [Target(tuple(range(len(systems))), tuple(dict.fromkeys(outputs)))]
    else:
        groups = [Target((index,), tuple(_own(path, name) for path in dict.fromkeys(own))) for index, name in enumerate(systems)]
    files = [file for target in groups for file in target.files]
    if twice := named_again(map(str, files)):
        raise UsageError(f"two systems would be written to {', '.join(twice)}", fix="name the systems: --system NAME=SPEC")
    wrong = sorted({file.suffix or file.name for file in files if file.suffix.lower() not in FORMS})
    if wrong:
        raise UsageError(f"-o: answers are not written as {', '.join(wrong)}", fix=f"use one of {', '.join(FORMS)}, or a folder")
    return groups


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
    return [path for target in found for file in target.files for path in (file, beside(file, "run.json"))]


def as_json(answer: Answer) -> str:
    """An answer as a line, without what it does not tell."""
    return answer.model_dump_json(exclude_none=True, exclude=None if answer.extra else {"extra"})


def write_answers(path: Path, answers: Iterable[Answer]) -> None:
    """Writes the answers in the form of the file's name, as a whole or not at all, readable by this user only."""
    forms: Mapping[str, Callable[[Path, Iterable[Answer]], None]] = {".json": _json, ".csv": _csv, ".parquet": _parquet}
    forms.get(path.suffix.lower(), _jsonl)(path, answers)


def _jsonl(path: Path, answers: Iterable[Answer]) -> None:
    with replacing(path) as file:
        for answer in answers:
            file.write(as_json(answer) + "\n")


def _json(path: Path, answers: Iterable[Answer]) -> None:
    with replacing(path) as file:
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


def write_with_report(files: Sequence[Path], answers: Callable[[], Iterable[Answer]], report: AnswerReport, fingerprint: str) -> list[Path]:
    """Writes the answers in the form of each file's name, and the report beside them (X.run.json); returns all files. The fingerprint
    stands among the manifest's arguments. Raises: KgevalError where some cannot be written, after all others were."""
    run = report.run.model_copy(update={"arguments": {**report.run.arguments, FINGERPRINT: fingerprint}})
    text = report.model_copy(update={"run": run}).model_dump_json(indent=1) + "\n"
    written: list[Path] = []
    faults: list[KgevalError] = []
    for path in files:
        # Asked for anew: an iterator is used up by the first file.
        tried(partial(write_answers, path, answers()), faults)
        tried(partial(write_text, beside(path, "run.json"), text), faults)
        written += [path, beside(path, "run.json")]
    raise_together(faults)
    return written


def read_answers(path: Path) -> Iterator[Answer]:
    """The answers of a file that kgeval wrote, in their order. Raises: InputError for a row that is none."""
    for line in stream(path):
        try:
            fields = line.value if line.fault is None else {}
            values = {name: value for name, value in fields.items() if value is not None}
            # A table holds lists and objects as JSON text.
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
    match = re.match(r"([a-z][a-z_]{2,30})(?::|$)", error)
    return match[1] if match else "other"


def may_pass(reason: str | None) -> bool:
    """Whether a reason says that nothing came though it was asked, for a cause that passes."""
    return (reason or "").partition(":")[0] in PASSING


def stopped(reason: str | None) -> bool:
    """Whether a reason says that this was not even asked, because the run was stopped: it is not finished."""
    return (reason or "").partition(":")[0] in STOPPED
