"""Redaction: what is not marked public in a record is in no form of the redacted report, whichever field it stands in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from annotated_types import Ge
from pydantic.fields import FieldInfo
from report_page import Page, unpacked

from kgeval.auditing.side_by_side import FAILED
from kgeval.metrics.path import path_picture
from kgeval.records import (
    Answer,
    AuditReport,
    CheckReport,
    ComparisonReport,
    GoldPath,
    GraphRef,
    GraphsReport,
    OverviewReport,
    Record,
    ScoreReport,
    StatsReport,
    WorstRow,
)
from kgeval.records.base import CAUSE, PATH, PUBLIC, PublicRecord
from kgeval.records.overview import Dimension
from kgeval.reports.kinds import KINDS
from kgeval.reports.page import Report
from kgeval.reports.redact import redacted
from kgeval.reports.write import rendered

MARKER = "A text of somebody's that no redacted report may hold"
# Notes that are partly ours: what of them may be a user's or a server's stands in such sentences.
NOTES: dict[type[Record], str] = {
    AuditReport: f"waiver 1: {MARKER}", GraphsReport: f"graph 'g' {FAILED}: {MARKER}", StatsReport: f"'{MARKER}' is there twice",
    ComparisonReport: f"nothing more was asked: {MARKER}",
}
# Where a text is private in some records of a class only, this is the field that says so, with the value for which it is.
CHOICES = ("error", "unscored", "document", "documents", "failed", "scored")


def filled(kind: type[Record], depth: int = 0) -> dict[str, Any]:
    """A record of the kind with something in every field: the marker in every text that is not marked public."""
    found: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        if name == "notes" and kind in NOTES:
            found[name] = [NOTES[kind]]
        elif name != "schema_version" and not (depth > 5 and not field.is_required()):
            found[name] = value_of(_annotation(field), issubclass(kind, PublicRecord), field, depth)
    return found


def _annotation(field: FieldInfo) -> Any:
    mark = next((one for one in field.metadata if one in (PUBLIC, CAUSE, PATH)), None)
    return Annotated[field.annotation, mark] if mark else field.annotation


def value_of(kind: Any, public: bool, field: FieldInfo, depth: int) -> Any:
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        if args[0] in (str,) and PATH in args:
            return f"/{MARKER}/file.json"
        return value_of(args[0], public or PUBLIC in args, field, depth)
    if origin in (Union, UnionType):
        arms = [arm for arm in args if arm is not type(None)]
        return value_of(arms[-1] if any(get_origin(arm) is dict for arm in arms) else arms[0], public, field, depth)
    if origin is Literal:
        return next((choice for choice in CHOICES if choice in args), args[0])
    if origin is list:
        return [value_of(args[0], public, field, depth)]
    if origin is tuple:
        return [value_of(arg, public, field, depth) for arg in args]
    if origin is dict:
        return {value_of(args[0], public, field, depth): value_of(args[1], public, field, depth)}
    if isinstance(kind, type) and issubclass(kind, Record):
        return filled(kind, depth + 1)
    if kind is bool:
        return False
    if kind in (int, float):
        return next((one.ge for one in field.metadata if isinstance(one, Ge)), 0) if kind is int else 0.5
    return "ours" if public else MARKER


def made(kind: type[Report]) -> Report:
    data = filled(kind)
    for one in _maps(data):
        if "passages" in one and "stratum" in one:
            one["passages"] = [0]
        if "lasting" in one:
            one["kind"] = "entity"
    if kind is CheckReport:
        data["sets"] *= 2
    if kind is OverviewReport:  # each of the five dimensions
        (rubric,) = data["rubrics"]
        rubric["scores"] = [{**rubric["scores"][0], "dimension": one} for one in get_args(Dimension)]
    if kind is GraphsReport:
        data["names"] = ["g"]
    return kind.model_validate(data)


def _maps(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _maps(one)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_private_text_of_any_record_is_in_a_redacted_form(kind: type[Report]) -> None:
    report = made(kind)
    for form in KINDS[kind].forms:
        assert MARKER.split("'")[0] not in unpacked(rendered(report, form, redact=True)), form


@pytest.mark.slow
@pytest.mark.parametrize("name", [MARKER, f"Ada -[{MARKER}]-> Ben"])
def test_a_relation_of_a_gold_path_without_a_type_is_in_no_redacted_form(name: str) -> None:
    """Its name may quote what the graph says: it must not get into a field that is public."""
    path = GoldPath(
        nodes=[GraphRef(key=end, name=end) for end in ("Ada", "Ben")], relations=[GraphRef(key="r", name=name, kind="relation")],
    )
    picture = path_picture(path, Answer(question_id="q", system="s", answer="x", retrieved_nodes=["Ada"]))
    row = WorstRow(system="s", metric="m", question_id="q", value=0.0, path=picture)
    report = ScoreReport.model_validate({**made(ScoreReport).model_dump(), "worst": [row.model_dump()]})
    page = rendered(report, "html")
    assert MARKER.split("'")[0] in page and MARKER[:30] in Page(page).report
    for form in KINDS[ScoreReport].forms:
        assert MARKER[:12] not in unpacked(rendered(report, form, redact=True)), form
    assert re.search(r"#[0-9a-f]{8}</text>", rendered(report, "html", redact=True))


def test_the_marker_stands_in_what_is_not_redacted() -> None:
    """The test above could not fail if it did not."""
    held = {kind.__name__ for kind in KINDS if MARKER in rendered(made(kind), "json")}
    without = {"SimulationReport", "CrossedReport", "QuestionStats", "Classification", "ProfileReport"}
    assert {kind.__name__ for kind in KINDS} - held == without


def test_a_redacted_record_is_one_of_its_kind_and_public_texts_stay() -> None:
    for kind in KINDS:
        bare = redacted(made(kind))
        assert kind.model_validate_json(bare.model_dump_json()) == bare
        assert bare.run is None or bare.run.command == "ours"
