"""Scores and verdicts as files: JSONL, CSV, Parquet, and a run folder. Written a batch at a time, each file whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from kgeval.errors import InputError, KgevalError, raise_together, tried
from kgeval.limits import parse_json
from kgeval.records import LeftOutKnown, RunManifest, Score, ScoreReport, Verdict
from kgeval.tables.columns import write_csv, write_parquet
from kgeval.tables.output import replacing, write_text
from kgeval.tables.plain import check_readable, read_json
from kgeval.tables.stream import stream

FORMS = (".jsonl", ".csv", ".parquet")
COLUMNS = ("question_id", "system", "trial", "metric", "value", "status", "reason", "detail", "signature")
RESULTS = "results.jsonl"
FINGERPRINT = "fingerprint"
T = TypeVar("T", bound=BaseModel)


def is_result(path: Path) -> bool:
    """Whether scores are written there row by row: .jsonl, .csv, .parquet, or a run folder (a folder, or a name without an ending)."""
    return path.suffix.lower() in FORMS or is_folder(path)


def is_folder(path: Path) -> bool:
    """Whether the path means a run folder."""
    return path.is_dir() or not path.suffix


def results_of(output: Path) -> Path:
    """The file with the scores."""
    return output / RESULTS if is_folder(output) else output


def beside(output: Path, what: str) -> Path:
    """A file that belongs to a result: `scores.jsonl` has `scores.run.json` and `scores.verdicts.jsonl`, a run folder has `run.json`."""
    return output / what if is_folder(output) else output.with_name(f"{output.stem}.{what}")


def files_of(outputs: Iterable[Path]) -> list[Path]:
    """Every file that finish will write, for checks before a run."""
    files = []
    for output in outputs:
        if is_result(output):
            names = ("run.json", "summary.json", "verdicts.jsonl") if is_folder(output) else ("run.json", "verdicts.jsonl")
            files += [results_of(output), *(beside(output, name) for name in names)]
    return files


def write_scores(output: Path, scores: Iterable[Score]) -> Path:
    """Writes the scores in the form of the output's name. Returns the file."""
    path = results_of(output)
    forms: Mapping[str, Callable[[Path, Iterable[Score]], None]] = {".csv": _csv, ".parquet": _parquet}
    forms.get(path.suffix.lower(), _jsonl)(path, scores)
    return path


def _jsonl(path: Path, records: Iterable[Score | Verdict]) -> None:
    with replacing(path) as file:
        for record in records:
            file.write(record.model_dump_json() + "\n")


def _csv(path: Path, scores: Iterable[Score]) -> None:
    write_csv(path, COLUMNS, map(_cells, scores))


def _parquet(path: Path, scores: Iterable[Score]) -> None:
    write_parquet(path, COLUMNS, {"trial": int, "value": float}, map(_cells, scores))


def _cells(score: Score) -> dict[str, Any]:
    """The fields of a score for a table; `detail` is JSON text."""
    fields = {name: getattr(score, name) for name in COLUMNS}
    return {**fields, "detail": json.dumps(score.detail, ensure_ascii=False)}


def write_beside(output: Path, report: ScoreReport, fingerprint: str, verdicts: Iterable[Verdict] | None) -> list[Path]:
    """Writes what belongs to a result: summary and manifest, and the verdicts where there are some.

    Returns the files. Raises: KgevalError where some cannot be written, after all others were.

    The fingerprint stands among the manifest's arguments: a later run compares it before it takes anything over.
    """
    run = report.run.model_copy(update={"arguments": {**report.run.arguments, FINGERPRINT: fingerprint}})
    whole = report.model_copy(update={"run": run})
    texts = {"run.json": run, "summary.json": whole} if is_folder(output) else {"run.json": whole}
    done: list[Path] = []
    faults: list[KgevalError] = []
    for name, record in texts.items():
        tried(partial(write_text, beside(output, name), record.model_dump_json(indent=1) + "\n"), faults)
        done.append(beside(output, name))
    rest = iter(verdicts or ())
    path, first = beside(output, "verdicts.jsonl"), next(rest, None)
    if first is None:
        path.unlink(missing_ok=True)  # those of an earlier run do not belong to these scores
    else:
        tried(partial(_jsonl, path, chain([first], rest)), faults)
        done.append(path)
    raise_together(faults)
    return done


def lower_metrics(output: Path) -> frozenset[str]:
    """The metrics of a result of which a low value is the better one, as the report beside it says; none without one. Of kgeval's own the
    table of metrics knows that; of the user's only the report."""
    infos = report_beside(output).get("metrics")
    return frozenset(
        str(info.get("metric")) for info in infos or () if isinstance(info, dict) and info.get("better") == "lower"
    )


def known_in(output: Path) -> LeftOutKnown | None:
    """The questions that the report beside a result is without (--without-known); None where it is without none, or there is none."""
    known = report_beside(output).get("known")
    return LeftOutKnown.model_validate({name: known[name] for name in LeftOutKnown.model_fields if name in known}) if known else None


def report_beside(output: Path) -> dict[str, Any]:
    """The report beside a result as plain data; empty where there is none."""
    path = beside(output, "summary.json" if is_folder(output) else "run.json")
    report = read_json(path) if path.is_file() else None
    return report if isinstance(report, dict) else {}


def read_scores(output: Path) -> Iterator[Score]:
    """The scores of a result in any form, in their order. Raises: InputError for a file or a row that is no score."""
    path = results_of(output)
    if path.suffix.lower() == ".jsonl":
        yield from read_lines(path, Score)
        return
    for line in stream(path):
        try:
            value = line.value if line.fault is None else {}
            yield Score.model_validate({**value, "detail": json.loads(value["detail"])})
        except (ValidationError, ValueError, KeyError, TypeError) as cause:
            raise _no_record(line.where, Score) from cause


def read_verdicts(output: Path) -> Iterator[Verdict]:
    """The verdicts beside a result, in their order; none where there is no such file."""
    path = beside(output, "verdicts.jsonl")
    if path.exists():
        yield from read_lines(path, Verdict)


def read_lines(path: Path, kind: type[T]) -> Iterator[T]:
    """The records of a JSONL file that kgeval wrote, one a line. Raises: InputError naming the line."""
    check_readable(path)
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            try:
                yield kind.model_validate_json(raw)
            except ValidationError as cause:
                raise _no_record(f"{path.name}:{number}", kind) from cause


def _no_record(where: str, kind: type[BaseModel]) -> InputError:
    return InputError(f"{where}: is no {kind.__name__.lower()} as kgeval writes them", fix="name another file, or delete it")


def fingerprint_of(output: Path) -> str | None:
    """The fingerprint of the run that wrote a result; None where there is no manifest beside it, or none that can be read."""
    path = beside(output, "run.json")
    try:
        value = parse_json(path.read_text(encoding="utf-8"))
        run = RunManifest.model_validate(value if is_folder(output) else value["run"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    fingerprint = run.arguments.get(FINGERPRINT)
    return fingerprint if isinstance(fingerprint, str) else None


def command_of(output: Path) -> str | None:
    """The command that wrote a result, by the manifest beside it; None where there is none."""
    try:
        value = parse_json(beside(output, "run.json").read_text(encoding="utf-8"))
        return str(value.get("run", value)["command"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
