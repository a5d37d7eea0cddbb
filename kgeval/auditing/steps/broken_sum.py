"""broken-sum: nodes and relations whose numbers do not add up as those of nearly all others do: a total, a product, a count."""

from __future__ import annotations

from collections.abc import Iterator

from kgeval.auditing.arithmetic import ALWAYS, BROKEN, KEPT, Rule, group_rules, row_rules
from kgeval.auditing.check import CheckOutcome, CheckRun, examples_of, one_each
from kgeval.auditing.number_tables import NumberSample, number_sample
from kgeval.graph.connect import Row
from kgeval.records import Example

MOST = 60  # rules that are counted, those first that most rows of the sample keep


def run(check: CheckRun) -> CheckOutcome:
    """`count`: nodes and relations that break a rule; `total`: nodes and relations of the rules that nearly all keep."""
    asked = [rule.asked(at) for at, rule in enumerate(_learned(number_sample(check)))]
    if not asked:
        return CheckOutcome(0, 0)
    rows = [row for row in check.own_rows(rules=asked) if _is_kept(row)]
    told = [row for row in rows if row["hits"]]
    hits = {id for row in told for id in row["ids"]}
    given = [asked[row["at"]] for row in told or rows]
    examples = list(one_each(_examples(told)))
    return CheckOutcome(len(hits), sum(row["rows"] for row in rows), examples[: check.sample], parameters={"rules": given})


def _learned(sample: NumberSample) -> list[Rule]:
    """The rules of the sample; of each number one rule of rows, of its own node if it has one."""
    of_rows: dict[tuple[str, str], Rule] = {}
    for rule in (rule for table in sample.tables for rule in row_rules(table)):
        total = rule.table.columns[rule.total or 0]
        of_rows.setdefault((total.owner, total.key), rule)
    rules = [*of_rows.values(), *(rule for table in sample.groups for rule in group_rules(table))]
    return sorted(rules, key=lambda rule: -rule.kept)[:MOST]


def _is_kept(row: Row) -> bool:
    """Whether nearly all of the graph keeps it, not only the sample."""
    return bool(row["kept"] >= min(KEPT * row["rows"], row["rows"] - 1) and row["hits"] <= max(ALWAYS, BROKEN * row["rows"]))


def _examples(rows: list[Row]) -> Iterator[Example]:
    """Of all rules, those that most rows keep first."""
    for row in sorted(rows, key=lambda row: row["hits"] / row["rows"]):
        for example in examples_of(row["sample"]):
            yield example.model_copy(update={"why": f"{example.why}; the others: {row['kept']:,} of {row['rows']:,} add up"})
