"""`kgeval audit --with`: findings of other reports count for the gates; a built graph says what building it took."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kgeval.cli.main import run
from kgeval.graph.connect import Address
from kgeval.records import AuditReport

EXAMPLES = Path(__file__).parents[2] / "schemas" / "examples"
ACCURACY = EXAMPLES / "accuracy-report" / "valid" / "harbour.json"
COMPLETENESS = EXAMPLES / "completeness-report" / "valid" / "harbour.json"


@pytest.fixture
def kgeval(address: Address, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    return lambda *arguments: run([str(argument) for argument in arguments])


@pytest.fixture
def sound(draw: Callable[[str], None]) -> None:
    """A graph of kgeval's own layout under the name that the example reports are about."""
    draw("""CREATE (:__KgevalGraph__ {name: 'harbour', format: 'triples'}), (a:__Entity__:harbour {id: 'a', name: 'Ada', name_key: 'ada'}),
            (b:__Entity__:harbour {id: 'b', name: 'Varne', name_key: 'varne'}), (a)-[:LIVES_IN {predicate: 'lives in'}]->(b)""")


CHECK = ("audit", "--graph", "harbour", "--layout", "kgeval", "--check", "isolated-entity", "--no-structure")


def test_findings_that_join_count_for_the_gate(
    sound: None, kgeval: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    assert kgeval(*CHECK, "--fail-on", "info", "-q") == 0
    assert kgeval(*CHECK, "--with", COMPLETENESS, "--fail-on", "error", "-q") == 0, "missing gold is a warning"
    assert kgeval(*CHECK, "--with", COMPLETENESS, "--fail-on", "warning", "-q") == 1
    out = tmp_path / "r.json"
    assert kgeval(*CHECK, "--with", COMPLETENESS, "--with", ACCURACY, "--fail-on", "error", "-q", "-o", out) == 1
    report = AuditReport.model_validate_json(out.read_text(encoding="utf-8"))
    assert [f.group for f in report.findings] == ["connectivity", "completeness", "accuracy"]
    assert {Path(file.path).parent.parent.name for file in report.run.inputs} == {"accuracy-report", "completeness-report"}
    assert report.run.arguments["with_reports"] == [str(COMPLETENESS), str(ACCURACY)] and report.construction is None
    assert "warning: --with" not in capsys.readouterr().err


def test_a_report_of_another_graph_joins_with_a_warning(
    draw: Callable[[str], None], kgeval: Callable[..., int], capsys: pytest.CaptureFixture[str],
) -> None:
    draw("CREATE (:Thing {name: 'Ada'})-[:KNOWS]->(:Thing {name: 'Bo'})")
    assert kgeval("audit", "--layout", "generic", "--check", "isolated-entity", "--no-structure", "--with", ACCURACY) == 0
    assert "is about graph harbour, this audit about the whole database" in capsys.readouterr().err


def test_a_broken_report_is_refused_before_anything_is_asked(
    kgeval: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "x.json").write_text('{"gold": 1, "levels": 2}', encoding="utf-8")
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    assert kgeval("audit", "--with", tmp_path / "x.json") == 2
    error = capsys.readouterr().err
    assert "x.json: has schema version None" in error and "cannot be reached" not in error


def test_the_audit_of_a_built_graph_says_what_building_took(
    graph: object, kgeval: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "harbour.txt").write_text("Ada Lindqvist met Elias Thorn in Varne. Elias Thorn sailed to Norway.", encoding="utf-8")
    assert kgeval("build", tmp_path / "harbour.txt", "--graph", "tale", "--extractor", "rules") == 0
    capsys.readouterr()
    assert kgeval("audit", "--graph", "tale", "-f", "json", "--check", "isolated-entity", "--no-structure") == 0
    built = json.loads(capsys.readouterr().out)["construction"]
    assert built["system"].startswith("kgeval build (rules") and built["seconds"] > 0
    assert (built["documents"], built["chunks"], built["calls"], built["input_tokens"]) == (1, 1, 0, 0)
    assert kgeval("audit", "--graph", "tale", "--check", "isolated-entity", "--no-structure") == 0
    assert "from 1 document (1 chunk and" in " ".join(capsys.readouterr().out.split())
