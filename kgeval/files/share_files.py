"""Files where a judge said right or wrong of many items and people of few: one column each. Every fault is told at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgeval.files.cells import Misfit, name
from kgeval.files.given import Faults, Sheet, check_maps, fields_of, lacking, sheet_of, signed
from kgeval.files.plain import Line

FIELDS: Mapping[str, tuple[str, ...]] = {
    "judge": ("judge", "judge_label", "judge_passed", "prediction"), "human": ("human", "human_label", "human_passed", "gold", "people"),
    "cluster": ("cluster", "question_id", "document"),
}
WAY_OUT = "name them (--map judge=FIELD --map human=FIELD); for verdicts on pairs of systems give the labels with --labels FILE"
MEANINGS = {"judge": "the judge's verdict, 0 to 1, on every row", "human": "the person's label, 0 to 1, empty where there is none"}


@dataclass(frozen=True, slots=True)
class Row:
    """A judged item: verdict and label in 0..1, label null where nobody gave one; `cluster`: items with the same one go together."""

    judge: float
    human: float | None
    cluster: str


def is_share_file(path: Path, maps: Mapping[str, str]) -> bool:
    """Whether the first row of a file has both fields (by name or --map). Raises: InputError for a file that cannot be read."""
    faults = Faults()
    fields = fields_of(sheet_of(path, faults), {one: FIELDS[one] for one in MEANINGS}, maps)
    return all(one in fields for one in MEANINGS)


def read_shares(paths: Sequence[Path], maps: Mapping[str, str]) -> tuple[list[Row], list[str]]:
    """The rows of all files, and notes. Raises: InputError with every fault: a verdict that is lacking, a value outside 0..1."""
    faults = Faults()
    sheets = [sheet_of(path, faults) for path in paths]
    check_maps(maps, FIELDS, sheets)
    found: list[Row] = []
    notes: list[str] = []
    for sheet in sheets:
        fields = fields_of(sheet, FIELDS, maps)
        gone = {ours: meaning for ours, meaning in MEANINGS.items() if ours not in fields}
        if gone:
            faults.add(sheet.file, "", lacking(sheet, "cannot be corrected", gone), WAY_OUT)
            continue
        if "cluster" not in fields:
            notes.append(f"{sheet.file}: no field for what belongs together (--map cluster=FIELD): each row counts as independent")
        found += _rows(sheet, fields, faults)
    faults.stop("labels")
    return found, notes


def _rows(sheet: Sheet, fields: Mapping[str, str], faults: Faults) -> Iterator[Row]:
    for line in sheet.rows:
        judge, human = (_share(line, fields[one], faults) for one in ("judge", "human"))
        if judge is None:
            if line.value.get(fields["judge"]) in (None, ""):
                faults.add(line.where, fields["judge"], "the judge's verdict is lacking")
            continue
        cluster = None
        try:
            cluster = name(line.value.get(fields["cluster"])) if "cluster" in fields else None
        except Misfit as cause:
            faults.add(line.where, fields["cluster"], str(cause))
        yield Row(judge, human, cluster if cluster is not None else line.where)


def _share(line: Line, field: str, faults: Faults) -> float | None:
    try:
        value = signed(line.value.get(field))
        if value is not None and not 0 <= value <= 1:
            raise Misfit(f"{value:g} is outside 0 to 1")
    except Misfit as cause:
        faults.add(line.where, field, str(cause))
        return None
    return value
