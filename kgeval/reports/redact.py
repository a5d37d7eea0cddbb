"""Leaves users' texts out of a report: one walk over its record. Every text that is not marked public where the record is defined
(records/base.py) becomes a short hash. RULES has what a mark cannot say: texts that are public in some records of a class only."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from pathlib import PurePath
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from kgeval.auditing.side_by_side import FAILED
from kgeval.records import (
    AccuracyReport,
    AgreementReport,
    AuditReport,
    CheckCell,
    ClosedBookGroup,
    ComparisonReport,
    CoverageFigure,
    Drift,
    Finding,
    FindingChange,
    GraphRef,
    GraphsReport,
    GroupSummary,
    OverviewDiff,
    OverviewExample,
    OverviewReport,
    OverviewSource,
    OverviewStage,
    ProbeResult,
    Record,
    ScoreReport,
    StatsReport,
)
from kgeval.records.base import CAUSE, PATH, PUBLIC, PublicRecord
from kgeval.reports.views.scores import is_reading

Hasher = Callable[[str], str]
R = TypeVar("R", bound=Record)

# Labels, relation types, property names and index names are the graph's vocabulary, not its contents: they stay.
CONTENT = ("entity", "relation", "chunk", "document", "community")
OTHER = "another cause"
_CAUSE = re.compile(r"[a-z0-9_]{1,20}([ -][a-z0-9_]{1,20}){0,3}")
_QUOTES = re.compile(r"'[^']")  # a name or value of a file
_SERVER_SAYS = (
    re.compile(r"^(nothing more was asked: )(.+)()$", re.DOTALL),
    re.compile(r"^([a-z0-9_ -]{1,40}: )(.+)(: [^:]+ is not asked any more)$", re.DOTALL),
)
_KEPT_ARGUMENTS = ("fail_on", "forms", "form", "redact", "seed")


def redacted(report: R) -> R:
    """The report with every private text replaced by a hash such as `#3f9c0a1b`; figures, types, names of systems and our own words stay.

    The same text has the same hash everywhere in one report. The hash is keyed with the whole report, so that a guess cannot be confirmed
    by someone who has only the redacted one.
    """
    secret = hashlib.sha256(report.model_dump_json().encode("utf-8", "replace")).digest()

    def hashed(text: str) -> str:
        return "#" + hmac.new(secret, text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:8] if text else ""

    return _record(report, hashed)


def _record(record: R, hashed: Hasher) -> R:
    special = RULES[type(record)](record, hashed) if type(record) in RULES else {}
    if isinstance(record, PublicRecord):
        return record
    fields = {name: field for name, field in type(record).model_fields.items() if name not in special}
    update = {name: _value(getattr(record, name), _marked(field.annotation, field.metadata), hashed) for name, field in fields.items()}
    return record.model_copy(update={**update, **special})


def _marked(annotation: Any, marks: list[Any]) -> Any:
    """A field's annotation with the mark that pydantic keeps apart from it."""
    mark = next((one for one in marks if one in (PUBLIC, CAUSE, PATH)), None)
    return Annotated[annotation, mark] if mark else annotation


def _value(value: Any, kind: Any, hashed: Hasher) -> Any:
    """A value of a field, or a part of one. `kind`: its annotation."""
    if isinstance(value, Record):
        return _record(value, hashed)
    if not isinstance(value, (str, list, tuple, dict)):
        return value
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        if PUBLIC in args:
            return value
        if CAUSE in args and isinstance(value, str):
            return value if _CAUSE.fullmatch(value) else OTHER
        if PATH in args and isinstance(value, str):
            return PurePath(value).name
        return _value(value, args[0], hashed)
    if origin in (Union, UnionType):
        return _value(value, next((arm for arm in args if _fits(value, arm)), str), hashed)
    if isinstance(value, str):
        return value if origin is Literal else hashed(value)
    if isinstance(value, dict):
        of_key, of_value = args or (str, str)
        found: dict[Any, Any] = {}
        for key, one in value.items():
            name, new = _value(key, of_key, hashed), _value(one, of_value, hashed)
            found[name] = found[name] + new if name in found and isinstance(new, int) else new
        return found
    parts = args if isinstance(value, tuple) and ... not in args else [args[0] if args else str] * len(value)
    return type(value)(_value(one, part, hashed) for one, part in zip(value, parts, strict=True))


def _fits(value: Any, arm: Any) -> bool:
    """Whether a text, list or map can be of this arm of a union."""
    base = get_args(arm)[0] if get_origin(arm) is Annotated else arm
    return base is type(value) or get_origin(base) is type(value) or (isinstance(value, str) and get_origin(base) is Literal)


def _reference(ref: GraphRef, _: Hasher) -> dict[str, Any]:
    return {} if ref.kind in CONTENT else {"key": ref.key, "name": ref.name}


def _finding(finding: Finding | CheckCell | FindingChange, hashed: Hasher) -> dict[str, Any]:
    """Reasons are our own words, but for a query that failed: a server's message may quote data."""
    states = (finding.status_before, finding.status_after) if isinstance(finding, FindingChange) else (finding.status,)
    quoted = finding.reason and "error" in states
    return {"reason": f"the query failed ({hashed(finding.reason or '')})" if quoted else finding.reason}


def _group(one: GroupSummary | ClosedBookGroup, _: Hasher) -> dict[str, Any]:
    return {} if one.by == "document" else {"value": one.value}


def _coverage(figure: CoverageFigure, _: Hasher) -> dict[str, Any]:
    """The Cypher that lists documents and communities names them."""
    if figure.facet in ("documents", "communities"):
        return {"query": None, "parameters": {}}
    return {name: getattr(figure, name) for name in ("groups", "missing", "query", "parameters")}


def _audit(report: AuditReport, hashed: Hasher) -> dict[str, Any]:
    return {"notes": [f"a note of this audit ({hashed(note)})" if note.startswith("waiver ") else note for note in report.notes]}


def _graphs(report: GraphsReport, hashed: Hasher) -> dict[str, Any]:
    """Each audit on its own: its hashes are those of its own report."""
    notes = [f"{note.split(FAILED)[0]}{FAILED} ({hashed(note)})" if FAILED in note else note for note in report.notes]
    return {"reports": [redacted(source) for source in report.reports], "notes": notes}


def _accuracy(report: AccuracyReport, hashed: Hasher) -> dict[str, Any]:
    """Strata are types or documents."""
    types = {one.of for one in report.by_type}
    strata = {name if name in types else hashed(name): n for name, n in report.design.strata.items()}
    return {
        "by_document": [one.model_copy(update={"of": hashed(one.of)}) for one in report.by_document],
        "by_stratum": [one.model_copy(update={"of": hashed(one.of)}) for one in report.by_stratum],
        "design": report.design.model_copy(update={"strata": strata}),
        "items": [
            _record(item, hashed).model_copy(update={"stratum": item.stratum}) if item.stratum in types else _record(item, hashed)
            for item in report.items
        ],
    }


def _agreement(report: AgreementReport, hashed: Hasher) -> dict[str, Any]:
    """Without the names of files of labels, which may be those of people."""
    named = report.run.arguments.get("labels")
    if not isinstance(named, list):
        return {}
    arguments = {**report.run.arguments, "labels": [hashed(str(name)) for name in named]}
    return {"run": report.run.model_copy(update={"arguments": arguments})}


def _comparison(report: ComparisonReport, hashed: Hasher) -> dict[str, Any]:
    """Notes stay but for what a server says in them: all others are our own words, names of systems and files, and numbers."""
    def note(text: str) -> str:
        said = next((match for pattern in _SERVER_SAYS if (match := pattern.match(text))), None)
        return text if said is None else said[1] + hashed(said[2]) + said[3]

    return {"notes": [note(text) for text in report.notes]}


def _drift(_one: Drift, _: Hasher) -> dict[str, Any]:
    """No marks, from which a guessed text could be confirmed: such a report is no baseline any more."""
    return {"marks": {}}


def _overview(report: OverviewReport, _: Hasher) -> dict[str, Any]:
    """Options may quote anything; of paths only the last part stays."""
    run = report.run.model_copy(update={
        "arguments": {name: value for name, value in report.run.arguments.items() if name in _KEPT_ARGUMENTS},
        "inputs": [file.model_copy(update={"path": PurePath(file.path).name}) for file in report.run.inputs],
    })
    return {"title": None, "notes": [], "run": run}


RULES: Mapping[type[Record], Callable[[Any, Hasher], dict[str, Any]]] = {
    GraphRef: _reference, Finding: _finding, CheckCell: _finding, FindingChange: _finding, GroupSummary: _group, ClosedBookGroup: _group,
    CoverageFigure: _coverage, AuditReport: _audit, GraphsReport: _graphs, AccuracyReport: _accuracy, AgreementReport: _agreement,
    ComparisonReport: _comparison, Drift: _drift, OverviewReport: _overview,
    ScoreReport: lambda one, hashed: {"notes": [note if is_reading(note) else hashed(note) for note in one.notes]},
    StatsReport: lambda one, hashed: {"notes": [hashed(note) if _QUOTES.search(note) else note for note in one.notes]},
    OverviewExample: lambda one, hashed: {} if one.kind in CONTENT else {"names": one.names, "lasting": one.lasting, "waived": one.waived},
    OverviewSource: lambda one, hashed: {"page": None}, OverviewStage: lambda one, hashed: {"reason": None},
    ProbeResult: lambda one, hashed: {} if one.status == "unscored" else {"reason": one.reason},
    OverviewDiff: lambda one, hashed: {"notes": []},
}
