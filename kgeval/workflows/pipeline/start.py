"""A kgeval.toml to start from, with comments, for what was found. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kgeval.workflows.pipeline.discover import FoundFiles

Case = Literal["graph", "documents", "answers"]
CASES: dict[Case, str] = {
    "graph": "a graph in Neo4j", "documents": "documents or files that a graph is made from", "answers": "answers of RAG systems",
}


@dataclass(frozen=True)
class Surroundings:
    """What is known besides files. `project`: a name for a graph that is made;
    `uri`: of a Neo4j that answers; `graph`: the graph's name in it; `layout`: as it was recognised, with `nodes` in the database;
    `judge`: a model's name; `endpoint`: OPENAI_BASE_URL; `key`: whether OPENAI_API_KEY is set."""

    uri: str | None = None
    project: str | None = None
    graph: str | None = None
    layout: str | None = None
    nodes: int = 0
    judge: str | None = None
    endpoint: str | None = None
    key: bool = False
    notes: tuple[str, ...] = field(default=())


def case_of(looked: FoundFiles, known: Surroundings) -> Case:
    """What the folder and the database look like: answers that are there are to be scored; a graph is to be audited; else it is built."""
    if looked.answers:
        return "answers"
    return "graph" if known.nodes or not (looked.documents or looked.graphs) else "documents"


def text_of(case: Case, looked: FoundFiles, known: Surroundings) -> str:
    """The file: what applies is set, what may be wanted stands there as a comment."""
    parts = [_head(case), *_graph(case, looked, known), *_questions(case, looked), *_systems(case, looked), *_measures(case, looked, known)]
    return "\n\n".join(parts) + "\n"


def _head(case: Case) -> str:
    return "\n".join((
        f"# kgeval.toml for {CASES[case]}. `kgeval run` carries it out; `kgeval run --list` says what it would do.",
        "# Lines that start with # are off. Every key: kgeval help configuration and kgeval help run.",
        'schema_version = "1"',
    ))


def _graph(case: Case, looked: FoundFiles, known: Surroundings) -> Iterator[str]:
    yield "\n".join((
        "[graph]",
        _line("uri", known.uri or "neo4j://localhost:7687", on=known.uri is not None,
              note="without it kgeval starts its own Neo4j; the password is in NEO4J_PASSWORD, never here"),
        _line(
            "name", known.graph or known.project or "mygraph",
            on=case == "documents" or known.graph is not None or bool(looked.graphs and not known.nodes),
            note="which graph of the database",
        ),
        _line("layout", known.layout or "neo4j-graphrag", on=False, note="how it is stored; found by itself"),
    ))
    files = () if known.nodes else looked.graphs[:1]  # a graph that is there in a file need not be built from texts
    documents = looked.documents[:5] if case == "documents" and not files else ()
    yield "\n".join((
        _off("[source]", on=bool(documents or files))
        + "                     # what the graph is made from; leave out for a graph that is there",
        _line("documents", _texts(documents or looked.documents[:5] or ("docs/",)), on=bool(documents), note="kgeval build"),
        _line("files", _texts(files or ("graph.graphml",)), on=bool(files), note="or kgeval import"),
        _off('options = { extractor = "rules", cooccurrence = true }', on=bool(documents)),
        '# with a name in [model.extractor] leave the options out: a model reads better, and costs',
    ))
    gold = looked.gold[0] if looked.gold and case != "answers" else None
    yield "\n".join((
        _off("[gold]", on=gold is not None) + "                       # what the graph is held against",
        _line("file", gold or "gold.json", on=gold is not None, note="entities and triples that it should have"),
        _line("sample", 200, on=False, note="relations that the judge holds against their passages"),
    ))


def _questions(case: Case, looked: FoundFiles) -> Iterator[str]:
    there = looked.questions[0] if looked.questions else None
    makes = there is None and case != "answers"
    yield "\n".join((
        _off("[questions]", on=there is not None or makes),
        _line("file", there or "questions.jsonl", on=there is not None, note="questions that are there already"),
        _line("kinds", _texts(("hops=20", "negative=10")), on=makes, note="or made from the graph: kgeval questions kinds"),
    ))


def _systems(case: Case, looked: FoundFiles) -> Iterator[str]:
    if case == "answers":
        yield "[answers]\n" + _line("files", _texts(looked.answers[:20]), on=bool(looked.answers), note="answers that are there already")
    for name, spec, note in (("vector", "vector", "passages by embedding"), ("graph", "graph", "entities, and relations around them")):
        on = case != "answers"
        yield "\n".join((
            _off("[[systems]]", on=on) + f"                  # {note}", _line("name", name, on=on), _line("spec", spec, on=on),
        ))
    yield "\n".join((
        "# [[systems]]                  # yours: JSON lines in, JSON lines out (kgeval help system-protocol), or http:URL",
        '# name = "mine"', '# spec = "command:python my_system.py"',
    ))


def _measures(case: Case, looked: FoundFiles, known: Surroundings) -> Iterator[str]:
    metrics = ("lexical",) if case == "answers" else ("path_complete", "path_coverage", "id_recall", "exact_match")
    yield "[metrics]\n" + _line("names", _texts(metrics), on=True, note='kgeval metrics list; "usual" asks the judge')
    judge = known.judge is not None
    yield "\n".join((
        _off("[model.judge]", on=judge) + f"                # the key is in OPENAI_API_KEY{'' if known.key else ', which is not set now'}",
        _line("name", known.judge or "gpt-4o-mini", on=judge),
        _line("base_url", known.endpoint or "http://localhost:8000/v1", on=judge and known.endpoint is not None),
    ))
    parts = {"reader": "what the built-in systems answer with", "generator": "what writes questions", "extractor": "what builds the graph"}
    for part, what in parts.items():
        yield f"# [model.{part}]".ljust(30) + f" # {what}\n" + _line("name", known.judge or "gpt-4o-mini", on=False)
    yield "\n".join((
        "# [compare]                    # two or more systems against each other, without bias (kgeval help compare); needs the judge",
        _line("trials", 25, on=False), _line("repeats", 2, on=False),
    ))
    yield "\n".join(("[limits]", _line("cost", 5.0, on=False, note="USD, of a whole run"), _line("calls", 10_000, on=False)))
    yield "\n".join((
        "# [matrix]                     # crosses data sets, readers, shares of the corpus, ways to build the graph (kgeval help run)",
        "# corpus = [0.25, 0.5, 1.0]", "# [[matrix.variants]]", '# name = "small-chunks"', "# options = { chunk_size = 300 }",
    ))
    yield "[run]\n" + _line("folder", "out/run", on=True, note="everything is written below it")
    makes = not looked.questions and case != "answers"
    yield "\n".join((
        _off("[run.options.questions]", on=makes),
        _line("template", True, on=makes, note="questions are made by fixed forms: no model; off once [model.generator] is set"),
        _line("allow_fewer", True, on=makes, note="a small graph may not have as many"),
    ))
    yield "\n".join((
        _off("[run.options.answers]", on=case != "answers") + "         # flags of the command, without dashes",
        _line("extractive", True, on=case != "answers", note="answers are words of the passages: no model; off once [model.reader] is set"),
    ))


def _line(key: str, value: object, *, on: bool, note: str = "") -> str:
    shown = value if isinstance(value, str) and value.startswith("[") else _text(value)
    line = _off(f"{key} = {shown}", on=on)
    return f"{line:30} # {note}" if note else line


def _off(line: str, *, on: bool) -> str:
    return line if on else f"# {line}"


def _text(value: object) -> str:
    """A TOML value: JSON's strings and numbers are TOML's, but for the escape of DEL."""
    text = str(value) if isinstance(value, Path) else value
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _texts(values: Iterable[object]) -> str:
    return "[" + ", ".join(_text(value) for value in values) + "]"
