"""Builds graphs of three real novels with the rules extractor, and measures them beside LightRAG's of the same books. Not a test.

    python tests/bench/novels.py [--data ../shared/data/graphrag-bench-novel]

The books are the three with the most questions; the extractor was tuned on the other five. Needs an embedded server (a home of its
own, or KGEVAL_TEST_URI, which is wiped). Prints the tables of docs/results-novels.md.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from neo4j_server import server

from kgeval.auditing.completeness.gold import Gold
from kgeval.auditing.completeness.gold_files import read_gold
from kgeval.auditing.completeness.run import measure
from kgeval.auditing.engine import EngineOptions, audit
from kgeval.auditing.rulebook import load_rules
from kgeval.building.run import BuildSettings, build
from kgeval.building.state import Cutting, sources_of
from kgeval.cli.main import run as kgeval
from kgeval.config import CompletenessOptions
from kgeval.graph.connect import Graph, open_graph
from kgeval.graph.layouts import bind, load_profile
from kgeval.records import CompletenessReport, Coverage, Document
from kgeval.text.extract.rules import RulesExtractor

BOOKS = ("Novel-10356", "Novel-2544", "Novel-58553")
VARIANTS: Mapping[str, RulesExtractor] = {
    "rules": RulesExtractor(),
    "rules, nouns from 5 uses": RulesExtractor(nouns=5),
    "rules, co-occurrence": RulesExtractor(cooccurrence=True),
}


def books(data: Path) -> list[Document]:
    """The three books."""
    rows = (json.loads(line) for line in (data / "corpus.jsonl").read_text(encoding="utf-8").splitlines())
    found = {row["corpus_name"]: row["context"] for row in rows}
    return [Document(id=name, title=name, text=found[name]) for name in BOOKS]


def gold_of(data: Path, folder: Path) -> Gold:
    """The gold triples of the three books, from a question file that is written into `folder`."""
    questions = json.loads((data / "questions.json").read_text(encoding="utf-8"))
    file = folder / "gold.json"
    file.write_text(json.dumps([q for q in questions if q["source"] in BOOKS]), encoding="utf-8")
    return read_gold([file])


def speed(documents: list[Document]) -> None:
    """Words a second of the extractor alone, the best of three; by the processor's clock, which other programs disturb less."""
    print("\n## The extractor alone\n\n| book | words | chunks | processor seconds | words a second |\n|---|---|---|---|---|")
    for document in documents:
        sources, times = sources_of(document, Cutting()), []
        for _ in range(3):
            started = time.process_time()
            list(RulesExtractor().extract(sources))
            times.append(time.process_time() - started)
        words = len(document.text.split())
        print(f"| {document.id} | {words:,} | {len(sources)} | {min(times):.2f} | {words / min(times):,.0f} |")


def built(graph: Graph, documents: list[Document]) -> None:
    """Builds each book alone, with the times of the stages, then all variants of the three together."""
    print("\n## Chunk, extract, resolve and load one book\n")
    print("| book | words | entities | relations | merges | seconds | words a second | stages |\n" + "|---" * 8 + "|")
    for document in documents:
        record = build(graph, [document], RulesExtractor(), BuildSettings("one", replace=True))
        stages = ", ".join(f"{name} {seconds:.2f}" for name, seconds in record.stages.items())
        rate = record.corpus.words / record.seconds
        print(f"| {document.id} | {record.corpus.words:,} | {record.entities:,} | {record.relations:,} | {sum(record.merges.values())} "
              f"| {record.seconds:.1f} | {rate:,.0f} | {stages} |")
    for at, extractor in enumerate(VARIANTS.values()):
        build(graph, documents, extractor, BuildSettings(f"v{at}", replace=True))


def completeness(graph: Graph, gold: Gold) -> None:
    """Entity coverage and relation completeness of every variant and of LightRAG's graph."""
    print(f"\n## Against the gold: {len(gold.entities)} entities, {len(gold.triples)} triples, {len(gold.faults)} broken ones left out\n")
    heads = "graph | entities | relations | level | entities found | relations found | by book (entities, relations) | control"
    print(f"| {heads} |\n" + "|---" * 8 + "|")
    layout = load_profile("kgeval").layout
    for name, label in [*((f"v{at}", text) for at, text in enumerate(VARIANTS)), ("lightrag", "LightRAG, gpt-4o-mini")]:
        bound = bind(graph, layout, name)
        size = graph.read(SIZE, {"graph": name, "books": list(BOOKS)})[0]
        for level in (("exact", "normalised"), ("exact", "normalised", "alias"), ("exact", "normalised", "alias", "fuzzy")):
            report = measure(graph, bound, gold, CompletenessOptions(levels=level))
            print(f"| {label} | {size['e']:,} | {size['r']:,} | {level[-1]} | {_row(report)} |")


SIZE = """
MATCH (e:__Entity__) WHERE $graph IN labels(e) AND EXISTS { (e)-[:FROM_CHUNK]->()-[:FROM_DOCUMENT]->(d) WHERE d.title IN $books }
OPTIONAL MATCH (e)-[r]->(:__Entity__) RETURN count(DISTINCT e) AS e, count(r) AS r"""


def _row(report: CompletenessReport) -> str:
    level = max(report.levels, key=list(report.levels).index)
    both = report.levels[level]
    apart = "; ".join(f"{book}: {_share(own, True)}, {_share(own, False)}" for book, own in sorted(report.by_document.items()))
    control = report.control
    print_control = f"{control.entity_coverage.count} of {control.entity_coverage.total}" if control else "none"
    return f"{_share(both, True)} | {_share(both, False)} | {apart} | {print_control}"


def _share(coverage: Coverage, entities: bool) -> str:
    found = coverage.entity_coverage if entities else coverage.relation_completeness
    return f"{found.count} of {found.total} ({(found.share or 0):.1%})"


def audited(graph: Graph) -> None:
    """The findings of an audit of the plain variant."""
    print("\n## Audit of the rules extractor's graph\n\n| check | found | of |\n|---|---|---|")
    layout = bind(graph, load_profile("kgeval").layout, "v0")
    for finding in audit(graph, layout, EngineOptions(list(load_rules().values()))).findings:
        if finding.status == "failed":
            print(f"| {finding.rule_id} | {finding.count} | {finding.total} {finding.total_of} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[3] / "shared" / "data" / "graphrag-bench-novel")
    data: Path = parser.parse_args().data
    documents = books(data)
    speed(documents)
    with tempfile.TemporaryDirectory() as folder, server() as address, open_graph(address) as graph:
        os.environ.update(NEO4J_URI=address.uri, NEO4J_PASSWORD=address.password)
        gold = gold_of(data, Path(folder))
        built(graph, documents)
        if kgeval(["import", str(data / "lightrag"), "--graph", "lightrag", "--replace", "--no-progress"]):
            return 1
        completeness(graph, gold)
        audited(graph)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
