"""The sample graph: current, and clean by construction apart from what is planted."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

import kgeval

ROOT = Path(__file__).parents[2]
SAMPLE = Path(kgeval.__file__).parent / "sample"
GRAPH = json.loads((SAMPLE / "graph.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_the_sample_files_are_what_the_maker_makes() -> None:
    for name, text in maker().texts().items():
        assert (SAMPLE / name).read_text(encoding="utf-8") == text, f"run: python tools/make_sample.py ({name} is not current)"


def test_the_chunks_are_the_paragraphs_of_the_documents() -> None:
    for document in GRAPH["graph"]["documents"]:
        text = (SAMPLE / "documents" / f"{document['id']}.md").read_text(encoding="utf-8")
        chunks = [c["text"] for c in GRAPH["graph"]["chunks"] if c["document"] == document["id"]]
        assert text == "\n\n".join([f"# {document['title']}", *chunks]) + "\n"


def test_it_is_as_large_as_the_docs_say() -> None:
    assert len(GRAPH["graph"]["documents"]) == 11
    assert 150 <= len(GRAPH["nodes"]) <= 300
    assert 250 <= len(GRAPH["links"]) <= 500
    assert len({node["id"] for node in GRAPH["nodes"]}) == len(GRAPH["nodes"])


def test_every_rule_of_the_manifest_is_told_once() -> None:
    manifest = json.loads((SAMPLE / "defects.json").read_text(encoding="utf-8"))
    told = [row["rule_id"] for key in ("planted", "skipped", "passed") for row in manifest[key]]
    assert sorted(told) == sorted(set(told))
    assert all(row["items"] and row["note"] for row in manifest["planted"])


def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_sample", ROOT / "tools" / "make_sample.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
