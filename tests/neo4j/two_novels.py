"""Two novels of GraphRAG-Bench with the triples behind their questions, as files that `kgeval build` reads."""

from __future__ import annotations

import json
from pathlib import Path

from kgeval.auditing.completeness.gold_files import read_gold

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "graphrag-bench-novel"
BOOKS = ("Novel-10356", "Novel-58553")


def files_of(data: Path, folder: Path) -> tuple[Path, Path]:
    """(documents, triples), written into the folder."""
    given = json.loads((data / "questions.json").read_text(encoding="utf-8"))
    gold, documents, triples = folder / "gold.json", folder / "books.jsonl", folder / "triples.jsonl"
    gold.write_text(json.dumps([question for question in given if question["source"] in BOOKS]), encoding="utf-8")
    rows = map(json.loads, (data / "corpus.jsonl").read_text(encoding="utf-8").splitlines())
    books = [{"id": row["corpus_name"], "title": row["corpus_name"], "text": row["context"]} for row in rows if row["corpus_name"] in BOOKS]
    documents.write_text("\n".join(map(json.dumps, books)), encoding="utf-8")
    facts = [
        {"subject": one.subject, "predicate": one.predicate, "object": one.object, "document": one.document}
        for one in read_gold([gold]).triples
    ]
    triples.write_text("\n".join(map(json.dumps, facts)), encoding="utf-8")
    return documents, triples


def build_arguments(documents: Path, triples: Path, *, chunk_size: int = 300) -> list[str]:
    """`kgeval build` of the graph that the figures are about. `chunk_size`: tokens; larger ones are fewer, and quicker to embed."""
    extractor = ["--extractor", "triples-file", "--triples", str(triples)]
    return ["build", str(documents), "--graph", "novels", *extractor, "--chunk-size", str(chunk_size), "--no-progress"]
