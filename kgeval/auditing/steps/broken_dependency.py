"""broken-dependency: values that go against what stands with another value everywhere else: another town's postal code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kgeval.auditing.check import CheckOutcome, CheckRun, examples_of
from kgeval.graph.connect import Row
from kgeval.profiling.record import Dependency, GraphProfile
from kgeval.records import Example

BROKEN, ALWAYS = 0.02, 2  # share of nodes and relations that may go against it; two always may
PURE = 0.9  # share of the groups that hold one value
Rule = dict[str, str | int | bool | None]


def run(check: CheckRun) -> CheckOutcome:
    """`count`: nodes and relations that go against one; `total`: rows of what was asked, the most of one."""
    profile: GraphProfile | None = check.settings["profile"]
    asked = [_asked(at, one) for at, one in enumerate(profile.dependencies if profile else [])]
    if not asked:
        return CheckOutcome(0, 0)
    rows = [row for row in check.own_rows(rules=asked) if _is_kept(row)]
    told = [row for row in rows if row["told"]]
    hits = {id: None for row in told for id in row["ids"]}
    given = [rule for rule in asked if rule["at"] in {row["at"] for row in told or rows}]
    examples = list(_one_each(examples_of(example for row in _surest(told) for example in row["sample"])))
    return CheckOutcome(len(hits), sum(row["rows"] for row in rows), examples[: check.sample], parameters={"rules": given})


def _asked(at: int, one: Dependency) -> Rule:
    return {
        "at": at, "type": one.type, "start": one.start, "end": one.end, "first": one.first.key, "first_of": one.first.side,
        "last": one.last.key, "last_of": one.last.side, "equal": one.equal,
    }


def _is_kept(row: Row) -> bool:
    """Whether nearly all of the graph keeps it, not only the sample."""
    return bool(row["wrong"] <= max(ALWAYS, BROKEN * row["rows"]) and (row["groups"] == 1 or row["pure"] >= PURE * row["groups"] - 1))


def _surest(rows: Sequence[Row]) -> list[Row]:
    """Those first that most rows keep."""
    return sorted(rows, key=lambda row: row["wrong"] / row["rows"])


def _one_each(examples: Iterable[Example]) -> Iterator[Example]:
    """Of a node that goes against several the surest."""
    seen = set()
    for example in examples:
        if example.items[0].element_id not in seen:
            seen.add(example.items[0].element_id)
            yield example
