"""The house: who may import whom, what loads lazily, who may print, and who may write to Neo4j."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import kgeval
from kgeval.graph.queries import blank, cypher_root

PACKAGE = Path(kgeval.__file__).parent
ROOMS = (
    "ending", "errors", "rounding", "records", "format", "limits", "code_digest", "config", "access", "tables", "manifest", "stats", "llm",
    "graph", "text", "names", "building", "profiling", "auditing", "questions", "systems", "metrics", "comparison", "overview", "reports",
    "workflows", "cli",
)
# rooms that hold one task whole, and where their parts stand among the others
TASKS = ("profiling",)
PARTS = {"record": "records", "options": "config", "view": "reports", "task": "workflows", "command": "cli"}
HEAVY = {
    "torch", "pandas", "neo4j", "graphdatascience", "lancedb", "openai", "matplotlib", "pyarrow", "scipy",
    "sentence_transformers", "transformers", "bert_score", "sacrebleu", "numpy", "nltk", "rouge_score", "jinja2", "spacy", "pypdf", "docx",
}
# the borders, where whatever is raised becomes a status: by a check, by code of the user's, by a stage of a run
BORDERS = {"auditing/attempts.py", "code_digest.py", "metrics/own.py", "workflows/pipeline/perform.py"}
LAZY_MODULES = {"graph/reading.py": "kgeval.graph.reading"}  # they subclass a heavy library, and are imported in functions only
WRITING_ROOMS = ("graph/load/", "building/")
ALGORITHMS = {
    "wcc", "scc", "degree", "louvain", "leiden", "knn", "pageRank", "page_rank", "betweenness", "labelPropagation",
    "localClusteringCoefficient", "local_clustering_coefficient", "triangleCount", "triangle_count", "nodeSimilarity",
    "node_similarity", "dijkstra", "allShortestPaths", "bridges", "articulationPoints", "articulation_points", "fastRP",
}
SOURCES = sorted(PACKAGE.rglob("*.py"))


@dataclass(frozen=True)
class Import:
    """One import: the whole module name, and whether it happens when the module is loaded."""

    module: str
    at_load: bool


@pytest.mark.slow
def test_a_room_imports_only_from_the_rooms_before_it() -> None:
    wrong = []
    for path in SOURCES:
        here = room_of(path)
        for found in imports(path):
            there = room_named(found.module) if found.module.startswith("kgeval.") else None
            if here and there in ROOMS and ROOMS.index(there) > ROOMS.index(here):
                wrong.append(f"{path.relative_to(PACKAGE)} imports {found.module}")
    assert wrong == []


@pytest.mark.slow
def test_only_the_fake_model_imports_the_fake_model() -> None:
    fake = PACKAGE / "llm" / "fake"
    assert [
        f"{path.relative_to(PACKAGE)} imports {found.module}" for path in SOURCES if fake not in path.parents for found in imports(path)
        if found.module.startswith("kgeval.llm.fake")
    ] == []


@pytest.mark.slow
def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions count; those for types alone do not."""
    modules = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path for path in SOURCES}
    needs = {name: {of for of in needed_by(tree_of(path), modules) if of in modules} - {name} for name, path in modules.items()}
    TopologicalSorter(needs).prepare()  # or it raises CycleError, which names the circle


def needed_by(tree: ast.AST, modules: Collection[str]) -> Iterator[str]:
    """What a module imports when it is loaded or later, but for types: the modules of ours by their whole names."""
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (full if (full := f"{node.module}.{alias.name}") in modules else node.module for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)) and not isinstance(node, ast.expr):
            left += ast.iter_child_nodes(node)  # an expression imports nothing


def test_every_module_stands_in_a_known_room() -> None:
    outside = {"__init__.py", "__main__.py"}
    assert [str(p.relative_to(PACKAGE)) for p in SOURCES if room_of(p) is None and p.name not in outside] == []


@pytest.mark.slow
def test_heavy_libraries_are_imported_inside_functions_only() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {found.module} at load"
        for path in SOURCES for found in imports(path)
        if found.at_load and found.module.split(".")[0] in HEAVY and str(path.relative_to(PACKAGE)) not in LAZY_MODULES
    ]
    assert wrong == []


@pytest.mark.slow
def test_modules_that_need_a_heavy_library_at_load_are_imported_inside_functions_only() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {found.module} at load"
        for path in SOURCES for found in imports(path) if found.at_load and found.module in LAZY_MODULES.values()
    ]
    assert wrong == []


@pytest.mark.long
def test_only_the_command_line_prints() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)}:{call.lineno}"
        for path in SOURCES if room_of(path) != "cli"
        for call in calls(path) if chain(call.func) in (["print"], ["click", "echo"], ["click", "secho"])
    ]
    assert wrong == []


@pytest.mark.long
def test_errors_are_not_swallowed_and_input_is_not_asserted() -> None:
    """A clause that catches everything only cleans up: it ends with a bare `raise`."""
    wrong = []
    for path in SOURCES:
        border = str(path.relative_to(PACKAGE)) in BORDERS
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Assert) or (isinstance(node, ast.ExceptHandler) and swallows(node) and not border):
                wrong.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert wrong == []


@pytest.mark.slow
def test_the_gds_client_never_runs_cypher_with_its_writing_default() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)}:{call.lineno}"
        for path in SOURCES for call in calls(path)
        if chain(call.func)[-1:] == ["run_cypher"] and "READ" not in ast.dump(call).upper()
    ]
    assert wrong == []


@pytest.mark.slow
def test_no_gds_algorithm_writes_to_the_database() -> None:
    wrong = []
    for path in SOURCES:
        for call in calls(path):
            names = chain(call.func)
            if names[-1:] == ["write"] and ("gds" in names or ALGORITHMS & set(names)):
                wrong.append(f"{path.relative_to(PACKAGE)}:{call.lineno}: {'.'.join(names)}")
    assert wrong == []


@pytest.mark.slow
def test_only_importers_and_builders_open_a_writing_transaction() -> None:
    """`Graph.write` and `Graph.schema_command`; graph/connect.py defines them."""
    wrong = []
    for path in SOURCES:
        place = path.relative_to(PACKAGE).as_posix()
        for call in calls(path):
            names = chain(call.func)
            writes = names[-1:] == ["schema_command"] or (names[-1:] == ["write"] and "graph" in [name.strip("_") for name in names[-2:-1]])
            if writes and not place.startswith(WRITING_ROOMS):
                wrong.append(f"{place}:{call.lineno}")
    assert wrong == []


def test_only_sessions_use_the_old_id_function() -> None:
    """A session of Aura Graph Analytics knows a node by its internal id and nothing else."""
    using = [p for p in cypher_files() if re.search(r"(?<![\w.@])id\s*\(", blank(p.read_text(encoding="utf-8")), re.IGNORECASE)]
    assert {p.parent.name for p in using} == {"session"}


@pytest.mark.parametrize(("word", "pattern"), [
    ("APOC", r"\bapoc\."),
    ("a writing GDS procedure", r"\bgds\.[\w.]+\.write\b"),
])
def test_no_cypher_file_uses(word: str, pattern: str) -> None:
    assert [p.name for p in cypher_files() if re.search(pattern, blank(p.read_text(encoding="utf-8")), re.IGNORECASE)] == [], word


def test_reading_cypher_files_hold_no_writing_clause() -> None:
    clause = r"\b(?:CREATE|MERGE|DELETE|SET|REMOVE|DROP|LOAD\s+CSV|FOREACH)\b"
    texts = {p: p.read_text(encoding="utf-8") for p in cypher_files()}
    reading = [p for p, text in texts.items() if p.parent.name not in ("load", "write", "repair") or "// mode: read" in text]
    assert {p.parent.name for p in reading} >= {"audit", "repair"}
    assert [p.name for p in reading if re.search(clause, blank(p.read_text(encoding="utf-8")))] == []


def test_the_rooms_are_told_apart() -> None:
    """The helpers below do what the tests above rely on."""
    source = "import scipy\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas\ndef f():\n    import torch\n"
    found = {i.module: i.at_load for i in _imports(ast.parse(source), "kgeval.x")}
    assert found == {"scipy": True, "typing.TYPE_CHECKING": True, "typing": True, "pandas": False, "torch": False}
    assert chain(ast.parse("gds.louvain.write", mode="eval").body) == ["gds", "louvain", "write"]
    assert room_of(PACKAGE / "graph" / "load" / "x.py") == "graph"


def room_of(path: Path) -> str | None:
    return room_named(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))


def room_named(module: str) -> str | None:
    """The room of a module. A room that holds one task whole has parts that stand where others keep such things."""
    _, first, *rest = [*module.split("."), ""]
    return PARTS.get(rest[0], first) if first in TASKS else first if first in ROOMS else None


def cypher_files() -> list[Path]:
    return sorted(cypher_root().rglob("*.cypher"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> list[Import]:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return list(_imports(tree_of(path), ".".join(parts[:-1])))


def _imports(tree: ast.AST, package: str, *, at_load: bool = True) -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, at_load) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            yield Import(module, at_load)
            yield from (Import(f"{module}.{alias.name}", at_load) for alias in node.names)
        else:
            typing_only = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports(node, package, at_load=at_load and not inside and not typing_only)


@cache
def calls(path: Path) -> list[ast.Call]:
    return [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]


def swallows(handler: ast.ExceptHandler) -> bool:
    everything = handler.type is None or chain(handler.type)[-1] in ("Exception", "BaseException")
    last = handler.body[-1]
    return everything and not (isinstance(last, ast.Raise) and last.exc is None)


def chain(node: ast.AST) -> list[str]:
    """`a.b().c` as ["a", "b", "c"]."""
    if isinstance(node, ast.Attribute):
        return [*chain(node.value), node.attr]
    if isinstance(node, ast.Call):
        return chain(node.func)
    return [node.id] if isinstance(node, ast.Name) else [""]
