"""The files of a comparison: reports, verdicts, and the folder of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.cli.compare_shards import manifests_of
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.cli.compare_run import Job
    from kgeval.comparison.engine import Run
    from kgeval.config import Config
    from kgeval.records import ComparisonReport

VERDICTS = (".jsonl", ".csv")
IN_FOLDER = ("verdicts.jsonl", "aligned.jsonl", "comparison.json", "comparison.html", "run.json")


@dataclass(frozen=True)
class Outputs:
    """`verdicts`: files of verdicts; `folders`: run folders; `reports`: the rest."""

    verdicts: tuple[Path, ...]
    folders: tuple[Path, ...]
    reports: tuple[Path, ...]

    @property
    def growing(self) -> tuple[Path, ...]:
        """The verdict files; the first is the one beside which verdicts are kept as they come."""
        return (*self.verdicts, *(folder / "verdicts.jsonl" for folder in self.folders))

    def write(self, job: Job, run: Run, report: ComparisonReport) -> list[Path]:
        """Writes verdict files and folders. With --redact verdicts have no reasons, and folders no answers. Raises: InputError."""
        redact = bool(job.options["redact"])
        written = run.verdicts.written(redact=redact)
        for path in manifests_of(self, job.options):
            _manifest(path, report, redact=redact)
        for folder in self.folders:
            written += _folder(folder, job, run, report)
        return written


def outputs_of(config: Config, options: Mapping[str, Any], inputs: Sequence[Path]) -> Outputs:
    """Where things go. Raises: UsageError for endings that are none, files that cannot be written, and files that are read."""
    from kgeval.files.score_forms import is_folder
    from kgeval.records import ComparisonReport
    from kgeval.reports.write import blocked, check_outputs

    given = [Path(one) for one in options["outputs"]] or [Path(name) for name in config.report.outputs]
    if Path("-") in given:
        raise UsageError("-o -: an output is a file or a folder", fix="-f json prints the report; --verdicts FILE keeps the verdicts")
    folders = tuple(dict.fromkeys(path for path in given if is_folder(path)))
    files = [path for path in dict.fromkeys(given) if path not in folders]
    told = [options["verdicts"]] if options["verdicts"] else []
    if wrong := [str(path) for path in told if path.suffix.lower() not in VERDICTS]:
        raise UsageError(f"--verdicts {wrong[0]}: unknown ending", fix=f"use one of {', '.join(VERDICTS)}")
    lines = [path for path in files if path.suffix.lower() == ".jsonl"]  # a .csv of -o has the figures of the pairs
    verdicts = tuple(dict.fromkeys([*lines, *told]))
    reports = tuple(path for path in files if path not in lines)
    check_outputs(reports, ComparisonReport)
    made = Outputs(verdicts, folders, reports)
    inside = [*(folder / name for folder in folders for name in IN_FOLDER), *manifests_of(made, options)]
    if faults := [f"{path}: {why}" for path in (*verdicts, *inside) if (why := blocked(path))]:
        raise UsageError("; ".join(faults), fix="name another file or folder with -o")
    read = {path.resolve() for path in inputs}
    if lost := [str(path) for path in (*verdicts, *reports, *inside) if path.resolve() in read]:
        raise UsageError(f"-o would replace a file that is read: {', '.join(lost)}", fix="name another file or folder with -o")
    return made


def _folder(folder: Path, job: Job, run: Run, report: ComparisonReport) -> list[Path]:
    """Everything but the verdicts, which are there already."""
    from kgeval.files.partial import private
    from kgeval.reports.write import write_report

    redact = bool(job.options["redact"])
    written = []
    for name in ("comparison.json", "comparison.html"):
        write_report(report, folder / name, redact=redact)
        written.append(folder / name)
    _manifest(folder / "run.json", report, redact=redact)
    written.append(folder / "run.json")
    if redact:
        (folder / "aligned.jsonl").unlink(missing_ok=True)  # that of an earlier run
        return written
    with private(folder / "aligned.jsonl") as file:
        for line in _aligned(job, run):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return [*written, folder / "aligned.jsonl"]


def _manifest(path: Path, report: ComparisonReport, *, redact: bool) -> None:
    from kgeval.files.partial import private
    from kgeval.reports.write import cleared

    with private(path) as file:
        file.write((cleared(report) if redact else report).run.model_dump_json(indent=2) + "\n")


def _aligned(job: Job, run: Run) -> Iterator[dict[str, Any]]:
    """The answers as they were judged; a trial with the same two as the one before it has no line."""
    for segment in run.verdicts.segments:
        if segment.round is not job.settings.main:
            continue
        before: tuple[int, tuple[str, str] | None] = (-1, None)
        for place, trial, how in run.verdicts.outcomes(segment):
            question = segment.pairing.questions[place]
            texts = job.opened.aligned.texts(segment.pairing.a, segment.pairing.b, question.id, trial)
            if texts is None or before == (place, texts):
                continue
            before = place, texts
            yield {
                "question_id": question.id, "system_a": segment.pairing.a, "system_b": segment.pairing.b, "trial": trial, "how": how,
                "answer_a": texts[0], "answer_b": texts[1],
            }
