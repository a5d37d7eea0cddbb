"""Pairs that the user has labelled same or different: recall, precision and B-cubed of the duplicate checks on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from kgeval.auditing.accuracy.duplicates import ListedPairs
from kgeval.errors import InputError
from kgeval.records import Estimate
from kgeval.stats.intervals import Interval, quantile, wilson
from kgeval.stats.partitions import PrecisionRecall, b_cubed, joined, pairwise
from kgeval.tables.output import restore_cell
from kgeval.tables.sheets import table_lines
from kgeval.text.signs import identity_key

SAME = {"same", "1", "yes", "true", "duplicate", "match"}
DIFFERENT = {"different", "0", "no", "false", "distinct"}
COLUMNS = ("name_a", "name_b", "label")
Entity = tuple[str, str]


@dataclass(frozen=True)
class GoldPair:
    """Two entities by normalised name and type ("" = any), whether they are the same, and the user's class of the case."""

    a: Entity
    b: Entity
    same: bool
    failure_class: str = ""


def read_pairs(path: Path) -> list[GoldPair]:
    """A table or rows with name_a, name_b, label (same, different), and where wanted type_a, type_b, class.

    Raises: InputError with every fault: missing columns, empty names, unknown labels, one pair with both labels.
    """
    out: list[GoldPair] = []
    faults: list[str] = []
    header: list[str] = []
    for line in table_lines(path, "\t" if path.suffix.casefold() == ".tsv" else ","):
        if line.fault:
            faults.append(f"{line.where}: {line.fault}")
        elif not header:
            header = [str(cell).strip().casefold() for cell in line.value]
            missing = [name for name in COLUMNS if name not in header]
            if missing:
                fix = "columns: name_a, name_b, label; type_a, type_b, class"
                raise InputError(f"{line.where}: no column {', '.join(missing)}", fix=fix)
        else:
            pair, fault = _pair({name: restore_cell(str(cell).strip()) for name, cell in zip(header, line.value, strict=False)})
            out += [pair] if pair else []
            faults += [f"{line.where}: {fault}"] if fault else []
    labels: dict[tuple[Entity, Entity], bool] = {}
    faults += [
        f"{pair.a[0]} and {pair.b[0]} are labelled same and different"
        # setdefault gives the label that the pair had first, so only a later line that contradicts it is a fault
        for pair in out if labels.setdefault((pair.a, pair.b), pair.same) != pair.same
    ]
    if faults or not out:
        what = f"{len(faults)} faults" if faults else "no pairs"
        raise InputError(f"{path}: {what}", faults=faults, fix="labels are same and different")
    return out


def _pair(row: Mapping[str, str]) -> tuple[GoldPair | None, str | None]:
    ends = [(identity_key(row.get(f"name_{end}", "")), row.get(f"type_{end}", "").casefold()) for end in "ab"]
    label = row.get("label", "").casefold()
    if not all(name for name, _ in ends):
        return None, "a name is empty"
    if label not in SAME | DIFFERENT:
        return None, f"label '{label[:40]}' is neither same nor different"
    return GoldPair(*_ordered(ends[0], ends[1]), label in SAME, row.get("class", "")), None


def _ordered(a: Entity, b: Entity) -> tuple[Entity, Entity]:
    return (a, b) if a <= b else (b, a)


@dataclass(frozen=True)
class GoldPairCounts:
    """Labelled pairs (`n`): how many are the same, how many the checks list, and how many of the listed ones are the same (`right`)."""

    n: int
    same: int
    listed: int
    right: int


def share_interval(hits: int, pairs: int) -> Interval | None:
    """Wilson's interval of hits / pairs, each pair as one independent draw; None where there are none."""
    return wilson(hits / pairs, pairs, quantile=quantile()) if pairs else None


@dataclass(frozen=True)
class OnGold:
    """What the checks are worth on the labelled pairs. `classes`: counts by the user's class, "" = none given; `by_class`: their shares."""

    pairs: PrecisionRecall
    cubed: PrecisionRecall
    counts: GoldPairCounts
    classes: dict[str, GoldPairCounts]
    by_class: list[Estimate]

    def figures(self) -> dict[str, float | int | None]:
        """The plain numbers of the report."""
        counts = self.counts
        precision, recall = share_interval(counts.right, counts.listed), share_interval(counts.right, counts.same)
        return {
            "gold_pairs": counts.n, "gold_same": counts.same, "gold_listed": counts.listed, "gold_right": counts.right,
            "pairwise_precision": self.pairs.precision, "pairwise_recall": self.pairs.recall, "pairwise_f1": self.pairs.f1,
            "pairwise_precision_low": precision.low if precision else None,
            "pairwise_precision_high": precision.high if precision else None,
            "pairwise_recall_low": recall.low if recall else None, "pairwise_recall_high": recall.high if recall else None,
            "bcubed_precision": self.cubed.precision, "bcubed_recall": self.cubed.recall, "bcubed_f1": self.cubed.f1,
        }


def against_gold(listed: ListedPairs, gold: Sequence[GoldPair]) -> OnGold:
    """The checks' pairs against the labelled ones. Entities meet by normalised name, and by type where the file gives one."""
    # a pair that is labelled twice counts once
    pairs = sorted({(p.a, p.b): p for p in gold}.items())
    listed_keys = _keys(listed)
    flags = [ends in listed_keys for ends, _ in pairs]  # whether the checks list the pair
    true = [pair.same for _, pair in pairs]
    records = sorted({end for ends, _ in pairs for end in _distinct_records(*ends)})
    listed_groups = joined(records, [_distinct_records(*ends) for (ends, _), flag in zip(pairs, flags, strict=True) if flag])
    true_groups = joined(records, [_distinct_records(*ends) for ends, pair in pairs if pair.same])
    classes: dict[str, list[tuple[bool, bool]]] = {}
    for (_, pair), flag in zip(pairs, flags, strict=True):
        classes.setdefault(pair.failure_class, []).append((flag, pair.same))
    by_class = [row for name, cases in sorted(classes.items()) if name for row in _of_class(name, cases)]
    counted = {name: _counted(cases) for name, cases in sorted(classes.items())}
    every = _counted(list(zip(flags, true, strict=True)))
    return OnGold(pairwise(flags, true), b_cubed(listed_groups, true_groups), every, counted, by_class)


def _counted(cases: Sequence[tuple[bool, bool]]) -> GoldPairCounts:
    """Of cases (listed, same)."""
    same, listed = sum(same for _, same in cases), sum(flag for flag, _ in cases)
    return GoldPairCounts(len(cases), same, listed, sum(flag and same for flag, same in cases))


def _distinct_records(a: Entity, b: Entity) -> tuple[tuple[str, str, int], tuple[str, str, int]]:
    """Two records; a pair of one name and one type (a same-name collision) is two records of that name."""
    return (*a, 0), (*b, int(a == b))


def _keys(listed: ListedPairs) -> set[tuple[Entity, Entity]]:
    """What the checks list, with and without types."""
    keys: set[tuple[Entity, Entity]] = set()
    for pair in listed.pairs:
        a, b = ([(identity_key(end.name), kind) for kind in {(end.type or "").casefold(), ""}] for end in (pair.a, pair.b))
        keys |= {_ordered(left, right) for left, right in product(a, b)}
    return keys


def _of_class(name: str, cases: Sequence[tuple[bool, bool]]) -> list[Estimate]:
    """Precision and recall within one class of the user's, each pair counted as an independent draw."""
    out = []
    for of, kept in (("recall", [flag for flag, same in cases if same]), ("precision", [same for flag, same in cases if flag])):
        if (interval := share_interval(sum(kept), len(kept))) is not None:
            share = sum(kept) / len(kept)
            out.append(Estimate(
                of=f"{of}: {name}", labelled_by="people", method="labelled pairs; Wilson interval", n=len(kept), n_scored=len(kept),
                value=share, low=interval.low, high=interval.high, bound_low=share, bound_high=share,
            ))
    return out
