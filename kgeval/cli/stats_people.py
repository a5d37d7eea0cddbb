"""`kgeval stats correct`, `drift`: a judge beside labels of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgeval.cli.common import Option
from kgeval.cli.score_options import maps_of
from kgeval.cli.stats_options import FILE, SHOWN, begin, common_options, finish, notes_of, verdict_options, verdicts_of
from kgeval.errors import InputError

if TYPE_CHECKING:
    from kgeval.comparison.given.tables import Judged
    from kgeval.files.label_files import PairLabel
    from kgeval.manifest import Started
    from kgeval.records import Anchor, CorrectedRate, Drift

NO_SHARES = ("judge", "human", "cluster")


@click.command()
@verdict_options
@click.option(
    "--labels", "human", cls=Option, old="--human", multiple=True, type=FILE, metavar="FILE",
    help="Labels of people: question_id and label (a, b, tie or -1..1).",
)
@common_options(confidence=False)
def correct(**options: Any) -> int:
    """Correct a judge by few labels of people: PPI++ and Rogan-Gladen.

    FILES with a column of the judge (on every row, 0..1) and one of people (on few rows): the share is corrected. Verdict files with
    --labels: the relative win rate of each pair is corrected. The labelled rows must be drawn at random; hand-picked ones can turn the
    result round, and a test of selection warns where the judge's verdicts show it.

    Exit codes: 0 done, 2 wrong input.
    """
    started = begin("correct", options)
    if not options["human"]:
        return _shares(started, options)
    from kgeval.files.label_files import read_labels
    from kgeval.files.winners import said_by

    found, tables = verdicts_of(options)
    labels = read_labels(options["human"], winners=said_by(options["winners"]))
    rates = _rates(tables, labels, options)
    from kgeval.comparison.corrected import selected

    warning = selected(rates)
    parts = {"corrected": rates, "notes": [*([warning] if warning else []), *notes_of(found, tables)]}
    return finish(started, "correct", options, parts, found.rows)


def _rates(tables: Judged, labels: Sequence[PairLabel], options: Mapping[str, Any]) -> list[CorrectedRate]:
    """The corrections of every pair with labels. Raises: InputError where labels are about nothing that was judged."""
    from kgeval.comparison.corrected import corrected, labels_of

    if len(tables.tables) > 1 and any(label.system_a is None for label in labels):
        raise InputError("the labels do not say which systems they are about, and there are several pairs", fix="add system_a and system_b")
    rates: list[CorrectedRate] = []
    unknown: list[str] = []
    pairs = [{table.system_a, table.system_b} for table in tables.tables]
    for table in tables.tables:
        labelled = labels_of(table, labels)
        unknown += labelled.unknown
        if labelled.values:
            rates += corrected(table, labelled, seed=options["seed"])
    unknown += [
        f"{label.where}: no verdict on '{label.system_a}' and '{label.system_b}'"
        for label in labels if label.system_a is not None and {label.system_a, label.system_b} not in pairs
    ]
    if unknown and (not options["allow_missing"] or not rates):
        fix = "give the labels of these verdicts" + ("" if not rates else ", or leave the others out: --allow-missing")
        raise InputError(f"{len(unknown)} labels are about nothing that was judged", fix=fix, faults=unknown)
    if not rates:
        raise InputError("there is no label at all", fix="fill the field of the labels: a, b, tie, or a number from -1 to 1")
    return rates


def _shares(started: Started, options: Mapping[str, Any]) -> int:
    from kgeval.comparison.corrected import SELECTED
    from kgeval.comparison.given.shares import Item, corrected_shares
    from kgeval.files.share_files import read_shares

    rows, notes = read_shares(options["files"], maps_of(options["maps"]))
    shares, p = corrected_shares([Item(row.judge, row.human, row.cluster) for row in rows])
    if p is not None and p < SELECTED:
        notes = [f"the labelled rows are no random part of the judged ones (p = {p:.2g}): the corrections are not to be trusted", *notes]
    counts = {path.name: len(rows) for path in options["files"]} if len(options["files"]) == 1 else {"all files": len(rows)}
    return finish(started, "correct", options, {"shares": shares, "selection_p": p, "notes": notes}, counts)


@click.command()
@verdict_options
@click.option("--anchors", required=True, type=FILE, metavar="FILE", help="The labelled pairs: id, question, answer_a, answer_b, label.")
@click.option("--baseline", type=FILE, metavar="FILE", help="Earlier verdicts on the same pairs, or the JSON report of an earlier run.")
@common_options()
def drift(**options: Any) -> int:
    """Did the judge move? His verdicts (FILES) on a fixed set of labelled pairs, against people and against an earlier run.

    The question_id of a verdict is the anchor's id; the first system of a pair's first verdict is answer_a.

    Exit codes: 0 done, 2 wrong input.
    """
    from kgeval.comparison.drift import drift as measure
    from kgeval.files.anchor_files import read_anchors

    started = begin("drift", options)
    anchors = read_anchors(options["anchors"])
    found, tables = verdicts_of({**options, "allow_missing": True})
    _check_known(anchors, [one.question_id for one in found.verdicts])
    settings = {"seed": options["seed"], "confidence": options["confidence"], "procedure": tables.procedure}
    before = _baseline(options, anchors, settings)
    made = measure(anchors, found.verdicts, before, **settings)
    return finish(started, "drift", options, {"drift": made, "notes": notes_of(found, tables)}, found.rows)


def _check_known(anchors: Sequence[Anchor], questions: Sequence[str]) -> None:
    """Raises: InputError where no verdict is about an anchor."""
    ids = {anchor.id for anchor in anchors}
    if not ids & set(questions):
        others = ", ".join(list(dict.fromkeys(questions))[:SHOWN])
        raise InputError(
            f"no verdict is about an anchor; the verdicts are about: {others}",
            fix=f"the question_id of a verdict must be the anchor's id, such as '{anchors[0].id}'",
        )


def _baseline(options: Mapping[str, Any], anchors: Sequence[Anchor], settings: Mapping[str, Any]) -> Drift | None:
    """What the judge said earlier: of a report, or of verdicts."""
    path: Path | None = options["baseline"]
    if path is None:
        return None
    kept = report_drift(path)
    if kept is not None:
        return kept
    from kgeval.comparison.drift import drift as measure

    found, _ = verdicts_of({**options, "files": (path,), "allow_missing": True})
    _check_known(anchors, [one.question_id for one in found.verdicts])
    return measure(anchors, found.verdicts, None, **settings)


def report_drift(path: Path) -> Drift | None:
    """The drift that a JSON report keeps; null where the file is no report. Raises: InputError for a report without one."""
    from pydantic import ValidationError

    from kgeval.files import read_json
    from kgeval.records import Drift

    if path.suffix.lower() != ".json":
        return None
    try:
        value = read_json(path)
    except InputError as cause:
        if "not JSON" in cause.message:
            return None  # lines of verdicts under a .json name
        raise
    if not isinstance(value, dict) or "run" not in value:
        return None
    if value.get("drift") is None:
        raise InputError(f"{path}: the report holds no anchors", fix="give a report of a run with --anchors, or its verdicts")
    try:
        return Drift.model_validate(value["drift"])
    except ValidationError as cause:
        raise InputError(f"{path}: drift: {cause.errors()[0]['msg']}", fix="give a report as kgeval writes it") from cause
