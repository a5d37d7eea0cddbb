"""The sheet for people: written blind (no verdict of a judge on it), read back with all its faults at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgeval.auditing.accuracy.judge import LABELS
from kgeval.auditing.accuracy.sample import Sample, SampleItem, SampleSpec
from kgeval.errors import InputError
from kgeval.records import AccuracyKind, HumanLabel
from kgeval.tables import sheets

MARK = "kgeval accuracy sheet"
SHOWN: dict[AccuracyKind, tuple[str, ...]] = {
    "relations": ("subject", "subject_type", "predicate", "object", "object_type", "description"),
    "entities": ("name", "type", "description"),
    "duplicates": ("name_a", "type_a", "about_a", "name_b", "type_b", "about_b"),
}
MEANINGS: dict[AccuracyKind, str] = {
    "relations": "entailed = the passage says so; contradicted = it says something that cannot be true together with it; "
    "not_stated = neither",
    "entities": "right = a real entity of the passage and its type fits; wrong_type = real, but the type is wrong; "
    "not_an_entity = a pronoun, a fragment, too general, or not in the passage",
    "duplicates": "same = both names stand for one thing; different = two things",
}
SPELLINGS = {
    "entails": "entailed", "supported": "entailed", "contradicts": "contradicted", "contradiction": "contradicted",
    "notstated": "not_stated", "unsupported": "not_stated", "neutral": "not_stated", "correct": "right", "wrongtype": "wrong_type",
    "notanentity": "not_an_entity",
    "no_entity": "not_an_entity", "duplicate": "same", "distinct": "different",
}


CONSISTENCY, USES = "consistency", ("consistent", "inconsistent")
USE: dict[AccuracyKind, str] = {
    "relations": "the graph joins such things elsewhere with this predicate too; inconsistent = it has another word or form for the same",
    "entities": "the graph gives such things this type elsewhere too; inconsistent = it gives them another",
}


@dataclass(frozen=True)
class HumanLabels:
    """What people said. `votes`: item id -> label of each annotator, in the order of the files; `rows`: ids on the sheets. `consistency`:
    the same of the column consistency; None where nothing stands in it."""

    votes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    rows: frozenset[str] = frozenset()
    labels: list[HumanLabel] = field(default_factory=list)
    consistency: HumanLabels | None = None

    def majority(self, item: str) -> str | None:
        """The label of most annotators; None without one, and where two labels have equally many."""
        counts = Counter(self.votes.get(item, ())).most_common(2)
        return None if not counts or (len(counts) > 1 and counts[0][1] == counts[1][1]) else counts[0][0]

    def share(self, item: str, labels: Sequence[str]) -> float | None:
        """The share (0..1) of the item's annotators that gave one of the wanted labels; None without a label."""
        written = self.votes.get(item, ())
        return sum(label in labels for label in written) / len(written) if written else None


def settings(spec: SampleSpec, graph: str | None) -> str:
    """The options that decide which items a sheet has, as they stand in its head."""
    named = re.sub(r"[\s()=]+", "_", graph or "")
    kept = {"kind": spec.kind, "seed": spec.seed, "strata": spec.strata, "per-passage": spec.per_passage, "graph": named}
    if spec.checks:
        kept["duplicate-check"] = ",".join(spec.checks)
    return " ".join(f"{name}={value}" for name, value in kept.items())


def write_sheet(
    path: Path, sample: Sample, spec: SampleSpec, *, graph: str | None, elsewhere: Mapping[str, str] | None = None,
) -> None:
    """The sample as CSV for people: comment lines with instructions, a header, one row an item, the label left empty. `elsewhere`: how the
    graph speaks of such things, by item id: then consistency is asked too.

    The file is for its owner's eyes only (0600). Raises: UsageError where it exists, so that no labelled work is lost.
    """
    asked = ["label", *([CONSISTENCY] if elsewhere is not None else [])]
    more = ["elsewhere"] if elsewhere is not None else []
    columns = ["id", *asked, *SHOWN[spec.kind], *more, "passage", "more_passages", "note"]
    basis = "Judge by names and what stands beside them." if spec.kind == "duplicates" else "Judge by the passages only."
    head = [  # `=` never begins these lines, so they are safe in a spreadsheet
        f"# {MARK} ({settings(spec, graph)} n={spec.n})",
        f"# Write one of these words into the column label: {', '.join(LABELS[spec.kind])}.",
        f"# {MEANINGS[spec.kind]}.",
        *([f"# {CONSISTENCY}: consistent = {USE[spec.kind]}.", "# elsewhere: what the graph has, and how often."] if more else []),
        f"# {basis} Label every row if you can; if not, the first rows in their order: the order is random.",
        "# Do not change ids. Several people: a copy of this file each, all given with --labels.",
    ]
    rows = (_row(item, spec.kind, [""] * len(asked), [(elsewhere or {}).get(item.id, "")] * len(more)) for item in sample.items)
    sheets.write_sheet(path, columns, rows, head=head)


def _row(item: SampleItem, kind: AccuracyKind, asked: list[str], more: list[str]) -> list[str]:
    """The cells of an item: a list is one line a part, None is empty."""
    values = [item.shown.get(name) for name in SHOWN[kind]]
    shown = ["\n".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value) for value in values]
    texts = [passage.text for passage in item.passages]
    return [item.id, *asked, *shown, *more, texts[0] if texts else "", "\n\n".join(texts[1:]), ""]


def read_sheets(paths: Sequence[Path], sample: Sample, spec: SampleSpec) -> HumanLabels:
    """The labels of one or several annotators (one file each, or a column `annotator`).

    Raises: InputError with every fault of every file: unknown ids, unknown labels, ids twice, another sample's sheet.
    """
    ids = {item.id for item in sample.items}
    faults: list[str] = []
    labels: list[HumanLabel] = []
    uses: list[HumanLabel] = []
    rows: set[str] = set()
    rows_of_use: set[str] = set()
    for path in paths:
        sheet = sheets.FilledSheet(path, faults)
        others = [fault for where, line in sheet.head for fault in _other_sample(where, line, spec)]
        faults += others
        if others or not sheet.has("id", "label"):  # no id of another sample can be known: one fault says it all
            continue
        for where, row in sheet.rows():
            item, written = row.get("id", "").strip(), row.get("label", "").strip()
            label = SPELLINGS.get(_word(written), _word(written))
            if item not in ids:
                faults.append(f"{where}: id '{item[:40]}' is not in this sample")
                continue
            rows.add(item)
            who = row.get("annotator", "").strip() or path.stem
            if CONSISTENCY in row:
                rows_of_use.add(item)
                use = row[CONSISTENCY].strip()
                if _word(use) in USES:
                    uses.append(HumanLabel(id=item, annotator=who, label=_word(use), metric=CONSISTENCY))
                elif use:
                    faults.append(f"{where}: {CONSISTENCY} '{use[:40]}' is none of {', '.join(USES)}")
            if label in LABELS[spec.kind]:
                labels.append(HumanLabel(id=item, annotator=who, label=label))
            elif written:
                faults.append(f"{where}: label '{written[:40]}' is none of {', '.join(LABELS[spec.kind])}")
    for given in (labels, uses):  # a row may have one of both
        counts = Counter((label.annotator, label.id) for label in given)
        what = "judged the consistency of" if given is uses else "labelled"
        faults += [f"annotator '{who}' {what} id '{item}' {n} times" for (who, item), n in counts.items() if n > 1]
    if faults:
        raise InputError(
            f"{', '.join(map(str, paths))}: {len(faults)} faults", faults=faults,
            fix=f"labels are {', '.join(LABELS[spec.kind])} or empty; --kind, --seed, --strata and --per-passage must be those of the "
            "sheet, and --n at least its n",
        )
    consistency = HumanLabels(_votes(uses), frozenset(rows_of_use), uses) if uses else None
    return HumanLabels(_votes(labels), frozenset(rows), labels, consistency)


def _word(written: str) -> str:
    """A label whatever its case, spaces and hyphens."""
    return re.sub(r"[^a-z]+", "_", written.casefold()).strip("_")


def _votes(labels: Sequence[HumanLabel]) -> dict[str, tuple[str, ...]]:
    votes: dict[str, tuple[str, ...]] = {}
    for vote in labels:
        votes[vote.id] = (*votes.get(vote.id, ()), vote.label)
    return votes


def _other_sample(where: str, head: str, spec: SampleSpec) -> Iterator[str]:
    """Faults where the head says that the sheet was drawn with other options."""
    if MARK not in head:
        return
    drawn_with = dict(part.split("=", 1) for part in head.partition("(")[2].rstrip(") ").split() if "=" in part)
    mine = {"kind": spec.kind, "seed": str(spec.seed), "strata": spec.strata, "per-passage": str(spec.per_passage)}
    if spec.kind == "duplicates":
        mine["duplicate-check"] = ",".join(spec.checks) or "all"
        drawn_with.setdefault("duplicate-check", "all")
    for name, value in mine.items():
        if drawn_with.get(name, value) != value:
            yield f"{where}: the sheet was drawn with --{name} {drawn_with[name]}, this run with --{name} {value}"
    if drawn_with.get("n", "").isdigit() and int(drawn_with["n"]) > spec.n:
        yield f"{where}: the sheet was drawn with --n {drawn_with['n']}, this run has only --n {spec.n}"
