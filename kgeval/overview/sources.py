"""The reports of a run: from folders, files, and pages that hold their report as JSON. All faults of all files at once."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from kgeval.errors import InputError
from kgeval.format import number, plural
from kgeval.limits import inflate_bytes, parse_json
from kgeval.overview.kinds import ELSEWHERE, KINDS, Reported, kind_of, validated
from kgeval.records import AnswerReport, IndexRecord, OverviewReport, PipelineRun, RunPlace, SourceKind, StageRun
from kgeval.tables.plain import check_readable, decode

_DATA, _END = b"""<script type="application/gzip" id="report">""", b"</script>"
_RUN = ".run.json"
_PASSED_OVER = 5  # names in the note


@dataclass(frozen=True)
class Source:
    """One report. `file`: where it was read, or what a result of Python is called; `page`: its HTML page; `sha256`: of the file's bytes;
    `stage`: of the run, that made it; `root`: the folder or file that was given, by its name."""

    kind: SourceKind
    record: Reported
    file: Path
    page: Path | None
    sha256: str
    place: RunPlace = field(default_factory=RunPlace)
    stage: str | None = None
    root: str = ""


@dataclass
class Sources:
    """All reports of one run. `stages`: of its ledger; `changed`: stages whose files are not as they left them; `whole`: earlier reports
    of this kind, which only a baseline may be; `files`: those that were read; `names`: what some of them are called in the report."""

    reports: list[Source] = field(default_factory=list)
    stages: list[StageRun] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    whole: list[tuple[Path, OverviewReport]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    names: Mapping[Path, str] = field(default_factory=dict)


def read_sources(paths: Sequence[Path], names: Mapping[Path, str] = MappingProxyType({})) -> Sources:
    """The reports of files and folders (searched through; run.json says what stands where). `names`: what some of the files are called in
    the report.

    A report that stands in several files is taken once, its JSON before its page. Raises: InputError with every fault of every file:
    unreadable, not JSON, another schema version, broken fields, no report at all; and where there is no report.
    """
    faults: list[str] = []
    found = Sources(names=names)
    skipped: list[Path] = []
    for path in paths:
        _one_run(path, found, skipped, faults)
    if faults:
        raise InputError("these reports cannot be used", fix="correct or leave out these files", faults=faults)
    if not found.reports and not found.whole:
        raise InputError(
            f"no report of kgeval in {', '.join(map(str, paths))}",
            fix="give the folder of kgeval run, or report files: .json, or .html as kgeval writes them",
        )
    if skipped:
        listed = ", ".join(path.name for path in skipped[:_PASSED_OVER]) + " ..." * (len(skipped) > _PASSED_OVER)
        found.notes.append(f"passed over, no reports: {plural(len(skipped), 'file')} ({listed})")
    found.reports = apart(_once(found.reports, found.notes))
    return found


def _one_run(path: Path, found: Sources, skipped: list[Path], faults: list[str]) -> None:
    """Everything of one path, added to `found`."""
    here: list[Source] = []
    ledgers: list[tuple[Path, PipelineRun]] = []
    for file in _files_of(path):
        try:
            _one_file(file, found, here, ledgers, skipped, given=not path.is_dir())
        except InputError as fault:
            faults += fault.faults or (fault.message,)
    for folder, ledger in ledgers:
        found.stages += ledger.stages
        here = [_placed(source, folder, ledger, found.changed) for source in here]
    name = found.names.get(path)
    root = path.resolve().name if path.is_dir() else name or path.stem
    found.reports += [replace(source, root=root, file=Path(name or source.file)) for source in here]


def _files_of(path: Path) -> Iterator[Path]:
    """The file; of a folder: every .json below it, and every .html without its .json, in the order of their names."""
    if not path.is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        own = {name for name in names if not name.startswith(".")}
        yield from (Path(folder, name) for name in sorted(own) if name.endswith(".json"))
        yield from (Path(folder, name) for name in sorted(own) if name.endswith(".html") and f"{name[:-5]}.json" not in own)


def _read(path: Path) -> tuple[Any, str]:
    """The object that a file holds (null: a page without a report), and the SHA-256 of its bytes. Raises: InputError for a file that cannot
    be read or is no JSON."""
    check_readable(path)
    data = path.read_bytes()
    mark = hashlib.sha256(data).hexdigest()
    if path.suffix.lower() in (".html", ".htm"):
        before, _, inside = data.rpartition(_DATA)
        packed, end, _ = inside.partition(_END)
        if not end or len(before) + len(inside) == len(data):
            return None, mark
        try:
            data = inflate_bytes(base64.b64decode(packed), str(path))
        except (ValueError, zlib.error) as cause:
            raise InputError(f"{path}: the report in this page is broken", fix="give the report's JSON, or make the page again") from cause
    text = decode(data, str(path))
    try:
        return parse_json(text), mark
    except ValueError as cause:
        where = f"{path}:{cause.lineno}" if isinstance(cause, json.JSONDecodeError) else str(path)
        raise InputError(f"{where}: not JSON: {getattr(cause, 'msg', str(cause)[:100])}", fix="correct the file there") from cause


def _one_file(
    path: Path, found: Sources, here: list[Source], ledgers: list[tuple[Path, PipelineRun]], skipped: list[Path], *, given: bool,
) -> None:
    """`given`: the file was named itself. Raises: InputError for a broken report, and for a file that was given and is no report."""
    value, sha256 = _read(path)
    kind, name = kind_of(value), str(path)
    if kind is PipelineRun:
        ledgers.append((path.parent, validated(PipelineRun, value, name)))
    elif kind is OverviewReport:
        found.whole.append((path, validated(OverviewReport, value, name)))
    elif isinstance(kind, str):
        record: Reported = validated(KINDS[kind], value, name)
        page = path if path.suffix != ".json" else path.with_suffix(".html")
        here.append(Source(kind, record, path, page if page.is_file() else None, sha256))
    elif given:
        raise InputError(f"{name}: is {'no report of kgeval' if kind is None else ELSEWHERE[kind]}")
    elif kind is not None:
        found.notes.append(f"passed over: {path.name} is {ELSEWHERE[kind]}")
        return
    elif not (isinstance(value, dict) and {"kgeval", "command", "started"} <= set(value)):  # the run.json of a result's folder has these
        skipped.append(path)
        return
    found.files.append(path)


def _placed(source: Source, folder: Path, ledger: PipelineRun, changed: list[str]) -> Source:
    """The report with the place and the stage that run.json has it under; a file that was changed since is noted."""
    try:
        parts = source.file.relative_to(folder).parts
    except ValueError:
        return source
    beside = source.file.name.endswith(_RUN)  # X.run.json stands beside X.jsonl, which is what the stage is known by
    tail = (*parts[:-1], parts[-1].removesuffix(_RUN) + ".jsonl") if beside else parts
    claims = [
        (not beside and digest != source.sha256, len(PurePosixPath(output).parts), stage)
        for stage in ledger.stages for output, digest in stage.outputs.items() if PurePosixPath(output).parts[-len(tail):] == tail
    ]
    if not claims:
        return source
    other, _, stage = min(claims, key=lambda claim: claim[:2])
    if other:
        changed.append(stage.id)
    return replace(source, place=stage.place, stage=stage.id)


def _once(reports: Sequence[Source], notes: list[str]) -> list[Source]:
    """Each report once: a scoring run stands in a folder and in its report files. A report is known by its kind, its command line, when
    it was started and what it tells of: one run of `kgeval answer -o DIR/` writes a report a system."""
    kept: dict[tuple[str, str, str], Source] = {}
    # the one that run.json places comes first: it knows its stage; then JSON, before the page that holds it
    ordered = sorted(reports, key=lambda source: (source.stage is None, source.file.suffix != ".json", len(source.file.parts)))
    for source in ordered:
        graph = str(getattr(source.record, "graph", None))
        kept.setdefault((*_run_of(source), json.dumps([graph, *_systems(source)])), source)
    twice = len(reports) - len(kept)
    if twice:
        notes.append(f"{number(twice)} {'file holds' if twice == 1 else 'files hold'} a report that another one holds too")
    chosen = {id(source) for source in kept.values()}
    order = list(KINDS)
    return sorted((source for source in reports if id(source) in chosen), key=lambda source: (order.index(source.kind), str(source.file)))


def _run_of(source: Source) -> tuple[str, str]:
    """Kind and run of a report."""
    run = source.record.run
    options = {name: value for name, value in run.arguments.items() if name != "fingerprint"}
    return source.kind, json.dumps([run.command, run.started, options], sort_keys=True)


def _systems(source: Source) -> list[str]:
    """The systems that a report of answers or of an index tells of."""
    if isinstance(source.record, IndexRecord):
        return [source.record.system, str(source.record.variant)]
    return sorted(system.system for system in source.record.systems) if isinstance(source.record, AnswerReport) else []


def apart(reports: Sequence[Source]) -> list[Source]:
    """The reports with places of their own: where several of one kind stand at one place, each run is called a data set by its folder,
    else by the folder of the file, else by the file. What one run says of different systems stands at one place."""
    def run(source: Source) -> tuple[str, str] | str:
        return _run_of(source) if _systems(source) else str(source.file)

    piles = Counter((kind, place) for kind, place, _ in {(source.kind, source.place, run(source)) for source in reports})
    crowded = {key for key, count in piles.items() if count > 1}
    for names in ([source.root for source in reports], [source.file.resolve().parent.name for source in reports]):
        named = list(zip(reports, names, strict=True))
        runs = {(source.kind, source.place, run(source), name) for source, name in named if (source.kind, source.place) in crowded}
        apart_now = {(kind, place, name) for kind, place, _, name in runs}
        if crowded and len(apart_now) == len(runs) == sum(piles[key] for key in crowded):
            return [_called(source, name) for source, name in named]
    return [_called(source, source.file.stem) if (source.kind, source.place) in crowded else source for source in reports]


def _called(source: Source, name: str) -> Source:
    dataset = name if source.place.dataset is None else f"{name}/{source.place.dataset}"
    return replace(source, place=source.place.model_copy(update={"dataset": dataset}))
