"""When does a graph pay? Two novels of GraphRAG-Bench end to end, without a language model: `kgeval run` builds the graph by rules, audits
it, has the built-in systems answer all 226 questions, scores them, and says at which levels and depths the graph wins.

python tests/bench/graph_pays.py [--folder out/graph-pays]

What is real: texts, questions, gold, the graph by rules, retrieval with all-MiniLM-L6-v2. The reader takes its answer out of the
contexts, so the figures of answers are low; those of paths are of what was retrieved. docs/results-novels.md has the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

DATA = Path(os.environ.get("KGEVAL_TEST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data") / "graphrag-bench-novel"
BOOKS = ("Novel-2544", "Novel-58553")
CONFIG = """[source]
documents = ["documents.jsonl"]
[graph]
name = "novels"
[questions]
file = "questions.json"
[[systems]]
name = "vector"
spec = "vector"
[[systems]]
name = "graph"
spec = "graph"
settings = { elements = "names" }
[[systems]]
name = "graph+text"
spec = "graph+text"
settings = { elements = "names" }
[metrics]
names = ["token_f1", "semantic_similarity", "entity_recall", "path_complete", "path_coverage"]
[run]
folder = "run"
skip = ["check"]
[run.options.build]
extractor = "rules"
cooccurrence = true
[run.options.answers]
extractive = true
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("out/graph-pays"))
    folder: Path = parser.parse_args().folder.resolve()
    if not DATA.is_dir():
        raise SystemExit(f"{DATA} is absent: the novels of GraphRAG-Bench")
    folder.mkdir(parents=True, exist_ok=True)
    books = [json.loads(line) for line in (DATA / "corpus.jsonl").read_text("utf-8").splitlines()]
    (folder / "documents.jsonl").write_text("".join(
        json.dumps({"id": book["corpus_name"], "title": book["corpus_name"], "text": book["context"]}) + "\n"
        for book in books if book["corpus_name"] in BOOKS
    ), "utf-8")
    questions = json.loads((DATA / "questions.json").read_text("utf-8"))
    (folder / "questions.json").write_text(json.dumps([one for one in questions if one["source"] in BOOKS]), "utf-8")
    (folder / "kgeval.toml").write_text(CONFIG, "utf-8")
    home = ["--home", str(folder / "neo4j")]
    kgeval = [sys.executable, "-m", "kgeval"]
    try:
        subprocess.run([*kgeval, "run", *home], cwd=folder, check=True)
        sys.stdout.write((folder / "run" / "logs" / "scores.log").read_text("utf-8"))
    finally:
        subprocess.run([*kgeval, "server", "stop", *home], cwd=folder, check=False)


if __name__ == "__main__":
    main()
