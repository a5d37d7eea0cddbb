"""How many of an audit's errors and warnings are true, by check and kind of graph, as two readers hold them to be. Not a test.

    python tests/bench/precision.py [GRAPH ...] [--labels tests/labelled/hits] [--sheets FOLDER] [--most 30] [--write]

GRAPH: a file of JSON lines (a node {"n", "labels", "p"} or a relation {"r", "from", "to", "p"} a line, .gz or not; constraints too) or
what `kgeval import` reads; without any, the graphs of ../shared/data that are there. Each is loaded into an empty database and audited
with defaults. Of each finding of severity error or warning at most --most hits count, picked by their names.

Labels: GRAPH.csv with the columns check, hit (a digest of its text), reader_a, reader_b; yes or no, empty where a reader did not say. A
hit is true where its owner would act on it. --sheets writes the texts of hits that nobody has labelled, for a reader to fill in without
seeing the other's. Printed:
findings, hits, labelled ones, the share that both hold to be true with its interval (graphs as clusters of many), and how often the two
agree. Fewer than 20 labelled hits, or hits of one graph only, are "not measured".
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from neo4j_server import server, wipe

sys.path.insert(0, str(Path(__file__).parents[1]))
from property_graphs import load_property_graph

import kgeval
from kgeval.auditing.hit_shares import LEAST_GRAPHS, LEAST_HITS
from kgeval.auditing.rulebook import load_rules
from kgeval.graph.connect import Address, Graph, open_graph
from kgeval.graph.literals import cypher_name
from kgeval.profiling.record import FROM_TEXTS
from kgeval.stats.clusters import arranged, ratio

SHARED = Path(__file__).parents[3] / "shared" / "data"
FIGURES = Path(kgeval.__file__).parent / "auditing" / "precision.toml"
LABELS = Path(__file__).parents[1] / "labelled" / "hits"
MANY = 1_000_000  # graphs in the world, of which these were read
YES, NO = "yes", "no"


@dataclass(frozen=True)
class Hit:
    """One hit of a finding. `labels`: what the two readers say, None for nothing."""

    graph: str
    kind: str
    check: str
    severity: str
    text: str
    labels: tuple[bool | None, bool | None]

    @property
    def is_true(self) -> bool | None:
        """Whether the readers who say something all hold it to be true; None where nobody does."""
        said = [label for label in self.labels if label is not None]
        return all(said) if said else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="*", type=Path, help="files of JSON lines, or what kgeval import reads")
    parser.add_argument("--labels", type=Path, default=LABELS)
    parser.add_argument("--sheets", type=Path, help="write hits without a label here")
    parser.add_argument("--write", action="store_true", help="write kgeval/auditing/precision.toml, which the pages of the checks show")
    parser.add_argument("--most", type=int, default=30, help="hits of a finding that count")
    options = parser.parse_args()
    graphs = options.graphs or [
        *sorted((SHARED / "property-graphs").glob("*.jsonl.gz")), *sorted(p for p in (SHARED / "wild-extracted").glob("*") if p.is_dir()),
    ]
    if not graphs:
        sys.exit(f"no graph given, and {SHARED} is not there")
    hits: list[Hit] = []
    with server() as address, open_graph(address) as graph:
        for path in graphs:
            own = list(hits_of(path, address, graph, options.labels, options.most))
            hits += own
            if options.sheets:
                write_sheet(options.sheets, path, own)
    rows = precisions(hits)
    print_table(rows)
    if options.write:
        write_figures(rows)


def hits_of(path: Path, address: Address, graph: Graph, labels: Path, most: int) -> Iterator[Hit]:
    """The errors and warnings of one graph, as the rules have them whatever was measured."""
    clear(graph)
    name = path.name.split(".")[0]
    loaded = None
    if path.is_file() and ".jsonl" in path.suffixes:
        load_property_graph(graph, path)
    else:
        loaded = "precision"
        kgeval.import_graph(path, graph=loaded, connection=graph.driver)
    report = kgeval.audit(graph.driver, graph=loaded, examples=0).report
    known = read_labels(labels / f"{name}.csv")
    kind = report.profile.kind if report.profile else "?"
    for finding in report.findings:
        rule = load_rules()[finding.rule_id]
        severity = rule.severity_in.get(report.profile.kind, rule.severity) if report.profile else rule.severity
        if finding.status != "failed" or severity not in ("error", "warning"):  # also those that are information for what was measured
            continue
        texts = sorted({hit_text(example) for example in finding.examples}, key=lambda text: hashlib.sha256(text.encode()).hexdigest())
        for text in texts[:most]:
            yield Hit(name, kind, finding.rule_id, severity, text, known.get((finding.rule_id, digest(text)), (None, None)))


def hit_text(example: Any) -> str:
    """A hit as readers see it and labels know it: its things with their types, and why."""
    things = [f"{item.name[:100]} <{item.type}>" if item.type else item.name[:100] for item in example.items[:4]]
    return " | ".join(" ".join(part.split()) for part in (*things, (example.why or "")[:100]))


def digest(text: str) -> str:
    """What stands for a hit in the files of labels: no graph of others is copied there."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_labels(path: Path) -> dict[tuple[str, str], tuple[bool | None, bool | None]]:
    """(check, hit) -> what the readers say."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        said = {YES: True, NO: False, "": None}
        return {(row["check"], row["hit"]): (said[row["reader_a"]], said[row["reader_b"]]) for row in csv.DictReader(file)}


def write_sheet(folder: Path, path: Path, hits: list[Hit]) -> None:
    """The hits that have no label, to be filled in."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{path.name.split('.')[0]}.csv").open("w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file, lineterminator="\n")
        sheet.writerow(["check", "hit", "label"])
        sheet.writerows([hit.check, hit.text, ""] for hit in hits if hit.is_true is None)


@dataclass(frozen=True)
class Precision:
    """What readers hold of the hits of a check on graphs of a kind. `low`, `high`: with graphs as clusters of many; None where one graph
    tells nothing of others. `agreement`: of the hits that both labelled, the share that they label alike."""

    check: str
    made: str
    hits: int
    labelled: int
    true: int
    graphs: int
    low: float | None
    high: float | None
    agreement: float | None
    findings: int
    findings_true: int

    @property
    def is_measured(self) -> bool:
        """Whether it says something of other graphs."""
        return self.labelled >= LEAST_HITS and self.graphs >= LEAST_GRAPHS


def precisions(hits: list[Hit]) -> list[Precision]:
    """By check and kind of graph, then over all errors and all warnings."""
    groups: dict[tuple[str, str], list[Hit]] = defaultdict(list)
    for hit in hits:
        made = "extracted" if hit.kind in FROM_TEXTS else "made"
        groups[hit.check, made].append(hit)
        groups[f"all {hit.severity}s", made].append(hit)
    return [precision_of(check, made, own) for (check, made), own in sorted(groups.items())]


def precision_of(check: str, made: str, hits: list[Hit]) -> Precision:
    """Of one group of hits."""
    labelled = [hit for hit in hits if hit.is_true is not None]
    both = [hit for hit in hits if None not in hit.labels]
    graphs = sorted({hit.graph for hit in labelled})
    low = high = None
    if labelled:
        clusters = arranged([hit.graph for hit in labelled], dict.fromkeys(graphs, "all"), {"all": MANY})
        estimate = ratio(np.array([float(bool(hit.is_true)) for hit in labelled]), np.ones(len(labelled)), clusters)
        if estimate is not None:
            low, high = estimate.low, estimate.high
    findings: Counter[tuple[str, str]] = Counter((hit.graph, hit.check) for hit in labelled)
    right = Counter((hit.graph, hit.check) for hit in labelled if hit.is_true)
    return Precision(
        check, made, len(hits), len(labelled), sum(bool(hit.is_true) for hit in labelled), len(graphs), low, high,
        sum(hit.labels[0] == hit.labels[1] for hit in both) / len(both) if both else None,
        len(findings), sum(right[finding] * 2 > times for finding, times in findings.items()),
    )


def print_table(rows: list[Precision]) -> None:
    """The figures, a line each."""
    print(f"{'check':26}{'graphs':12}{'hits':>6}{'labelled':>10}{'true':>6}  share (95 %)          agree  findings mostly true")
    for row in rows:
        share = "-" if not row.labelled else f"{row.true / row.labelled:.2f}"
        if row.low is not None and row.high is not None:
            share += f" ({row.low:.2f} to {row.high:.2f})"
        share += "" if row.is_measured else " not measured"
        agree = "-" if row.agreement is None else f"{row.agreement:.2f}"
        graphs = f"{row.graphs} {row.made}"
        counts = f"{row.hits:6}{row.labelled:10}{row.true:6}"
        print(f"{row.check:26}{graphs:12}{counts}  {share:35}{agree:>6}  {row.findings_true} of {row.findings}")


def write_figures(rows: list[Precision]) -> None:
    """Writes what the pages of the checks say."""
    lines = [
        "# How many hits of each check two readers hold to be true, by kind of graph: extracted from texts, or made by people.",
        "# Written by tests/bench/precision.py --write; do not edit.", "",
    ]
    for row in rows:
        if row.check.startswith("all ") or not row.labelled:
            continue
        lines += ["[[share]]", f'check = "{row.check}"', f'made = "{row.made}"', f"labelled = {row.labelled}", f"true = {row.true}"]
        lines += [f"graphs = {row.graphs}", f"measured = {str(row.is_measured).lower()}"]
        if row.low is not None and row.high is not None:
            lines.append(f"interval = [{row.low:.4f}, {row.high:.4f}]")
        lines.append("")
    FIGURES.write_text("\n".join(lines), encoding="utf-8")


def clear(graph: Graph) -> None:
    """Empties the database, of constraints too."""
    wipe(graph)
    for row in graph.read("SHOW CONSTRAINTS YIELD name RETURN name"):
        graph.schema_command(f"DROP CONSTRAINT {cypher_name(row['name'])}")


if __name__ == "__main__":
    main()
