"""Hop questions on a graph of two real novels, answered by the built-in systems without a model: where does each one fail? Not a test.

    python tests/bench/hops_of_novels.py [--data ../shared/data/graphrag-bench-novel] [--n 30]

Prints the table of docs/results-hops.md. The graph: the triples behind the questions of GraphRAG-Bench about two of its novels, with the
chunks that they stand in. Needs an embedded server of its own, or KGEVAL_TEST_URI, which is wiped.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from neo4j_server import server

from kgeval.cli.main import run as kgeval
from kgeval.format import number
from kgeval.records import ScoreReport

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "neo4j"))
from two_novels import DATA, build_arguments, files_of

SYSTEMS = ("vector", "graph", "graph@hops=2", "graph@hops=3", "graph+text")
METRICS = ("path_complete", "path_coverage", "id_recall", "exact_match")


def measured(folder: Path, data: Path, n: int) -> ScoreReport:
    """Builds, makes the questions, has them answered, scores."""
    questions, report = folder / "questions.jsonl", folder / "scores.json"
    answers = [str(folder / "answers" / f"{system}.jsonl") for system in SYSTEMS]
    graph = ["--graph", "novels"]
    for arguments in (
        build_arguments(*files_of(data, folder)),
        ["questions", "generate", *graph, "--kind", f"hops={n}", "--template", "--seed", "7", "-o", str(questions)],
        ["answer", str(questions), *graph, "--system", "vector", "--system", "graph", "--system", "graph+text", "--ablate",
         "graph:hops=2,3", "--extractive", "--cache-dir", str(folder / "cache"), "--no-progress", "-o", f"{folder}/answers/"],
        ["score", *answers, "--questions", str(questions), "--metrics", ",".join(METRICS), "-q", "--no-progress", "-o", str(report)],
    ):
        if kgeval(arguments) not in (0, 3):
            raise SystemExit(f"failed: kgeval {' '.join(arguments)}")
    return ScoreReport.model_validate_json(report.read_text(encoding="utf-8"))


def table(report: ScoreReport) -> str:
    """Metrics and hops by systems."""
    means = {(g.metric, g.value, g.system): g.overall for g in report.groups if g.by == "hops"}
    lines = [f"| metric | hops | n | {' | '.join(f'`{system}`' for system in SYSTEMS)} |", "|---" * (3 + len(SYSTEMS)) + "|"]
    for metric in METRICS:
        for hops in ("1", "2", "3+"):
            found = [means[metric, hops, system] for system in SYSTEMS]
            cells = [f"{number(round(mean.mean or 0.0, 3))} [{mean.low or 0.0:.2f}, {mean.high or 0.0:.2f}]" for mean in found]
            lines.append(f"| {metric} | {hops} | {found[0].n_scored} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--n", type=int, default=30)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server() as address:
        os.environ.update(NEO4J_URI=address.uri, NEO4J_PASSWORD=address.password)
        print(table(measured(Path(folder), given.data, given.n)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
