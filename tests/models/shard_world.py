"""Answers of two systems to some questions, with what makes runs differ: missing, empty and failed answers, levels, trials of answering."""

from __future__ import annotations

import json
from pathlib import Path

from kgeval.cli.main import run

METRICS = "token_f1,factual_correctness,faithfulness"
LEVELS = ("fact_retrieval", "complex_reasoning", "contextual_summarize", "creative_generation")


def write_world(folder: Path, n: int = 24) -> list[str]:
    """The files. Returns the arguments of `kgeval score` that name them and the metrics."""
    questions = [
        {
            "id": f"q{i}", "question": f"Who built mill {i}?", "reference": f"Mill {i} was built by Ada {i}. It burnt down.",
            "level": LEVELS[i % 4], "evidence": [{"text": f"Mill {i} was built by Ada {i}."}], "kind": "bridge" if i % 3 else "comparison",
        } for i in range(n)
    ]
    _lines(folder / "questions.jsonl", questions)
    for system in ("a", "b"):
        rows = [_answer(system, i) for i in range(n) if not (system == "b" and i % 7 == 3)]
        _lines(folder / f"{system}.jsonl", rows)
    answers = [str(folder / f"{system}.jsonl") for system in ("a", "b")]
    return [*answers, "--questions", str(folder / "questions.jsonl"), "--metrics", METRICS]


def _answer(system: str, i: int) -> dict[str, object]:
    if i % 11 == 5:
        return {"question_id": f"q{i}", "answer": "", "error": "timeout"}
    said = f"Mill {i} was built by Ada {i}. It stands in {system}." if (i + len(system)) % 3 else f"Bob {i} built it."
    contexts = [f"Mill {i} was built by Ada {i}.", f"Rain over {system}{i}."]
    return {"question_id": f"q{i}", "answer": said, "contexts": contexts, "seconds": 1.5}


def _lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def score(*arguments: object) -> int:
    return run(["score", *[str(argument) for argument in arguments], "--no-progress", "-q"])


def join(*arguments: object) -> int:
    return run(["merge-shards", *[str(argument) for argument in arguments], "-q"])


def in_shards(folder: Path, of: int, *arguments: object, ending: str = ".jsonl") -> list[Path]:
    """Scores the shards one after the other. Returns the parts."""
    folder.mkdir(exist_ok=True)
    parts = [folder / f"{number}{ending}" for number in range(1, of + 1)]
    for number, part in enumerate(parts, 1):
        assert score(*arguments, "--shard", f"{number}/{of}", "-o", part) == 0
    return parts


def summary(report: Path, *without: str) -> dict[str, object]:
    """A report's JSON without what tells when and how it was made."""
    found: dict[str, object] = json.loads(report.read_text())
    return {name: value for name, value in found.items() if name not in ("run", *without)}
