"""Gates of `kgeval audit` on a real graph: exit codes, files, waivers, and a ratchet that outlives a rebuild."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.graph.load import mark
from kgeval.graph.load.mark import half_loaded
from kgeval.records import Ratchet

ONE = ("audit", "-q", "--no-structure", "--check")
PEOPLE = ["Ada", "Bob", "The Cy", "cy", "Dee", "Dee"]
DRAW = """
UNWIND range(0, size($names) - 1) AS at
CREATE (:__Entity__:Person:small {id: toString($start + at), name: $names[at], name_key: toLower($names[at]), type: 'Person'})
"""
MARK = "MERGE (:__KgevalGraph__:small {name: 'small', status: 'ready'})"


@pytest.fixture
def kgeval(address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: run([str(a) for a in arguments])


def people(graph: Graph, names: list[str], start: int = 0) -> None:
    graph.write("MATCH (e:__Entity__) DETACH DELETE e")
    graph.write(MARK)
    graph.write(DRAW, {"names": names, "start": start})


def read(path: str | Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return value


def finding(path: str | Path, rule: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in read(path)["findings"] if one["rule_id"] == rule)
    return found


@pytest.mark.both_lines
@pytest.mark.long
def test_limits_of_severities_decide_with_fail_on(graph: Graph, kgeval: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    people(graph, PEOPLE)  # six of six isolated
    Path("kgeval.toml").write_text('[audit.thresholds]\nisolated-entity = { warning = 0.5, error = "<=6 hits" }\n')
    assert kgeval(*ONE, "isolated-entity", "-o", "r.json", "-o", "r.md", "-o", "r.xml", "-o", "r.sarif", "-o", "r.html") == 0
    assert (finding("r.json", "isolated-entity")["severity"], finding("r.json", "isolated-entity")["status"]) == ("warning", "failed")
    assert kgeval(*ONE, "isolated-entity", "--fail-on", "warning") == 1
    assert kgeval(*ONE, "isolated-entity", "--threshold", "isolated-entity:error<=5 hits") == 1
    assert "gate missed: isolated-entity error: hits <= 5 (6)" in capsys.readouterr().err
    assert kgeval(*ONE, "isolated-entity", "--threshold", "isolated-entity:info<=0") == 0
    assert kgeval(*ONE, "isolated-entity", "--threshold", "self-loop<=0.1") == 3
    assert kgeval(*ONE, "isolated-entity", "--threshold", "giant_share>=0.1") == 2


def test_fail_on_says_what_failed_in_its_own_call(graph: Graph, kgeval: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    people(graph, PEOPLE)
    assert kgeval(*ONE, "duplicate-name", "--fail-on", "warning", "-o", "a.json") == 1
    assert "gate missed: fail-on no check of severity warning or worse fails (1: duplicate-name)" in capsys.readouterr().err
    assert [(gate["name"], gate["met"]) for gate in read("a.json")["gates"]] == [("fail-on", False)]
    assert kgeval(*ONE, "duplicate-name", "-o", "b.json") == 0
    assert kgeval("audit", "-q", "a.json", "b.json") == 0, "the gate of another call does not decide this one"
    assert kgeval("audit", "-q", "a.json", "b.json", "--fail-on", "warning") == 1
    assert kgeval("audit", "-q", "a.json", "b.json", "--threshold", "duplicate-name<=0.1") == 2
    assert "reports in files keep the gates of their own audits" in capsys.readouterr().err


def test_a_gate_over_checks_that_could_not_be_judged_is_no_pass(graph: Graph, kgeval: Callable[..., int], capsys: Any) -> None:
    """Where names are under another key than the layout says, no check of names can be judged."""
    people(graph, PEOPLE)
    nameless = (*ONE, "names,duplicates", "--set", "name_keys=foo", "-o", "r.json")
    assert kgeval(*nameless) == 0
    assert kgeval(*nameless, "--fail-on", "error") == 3
    assert "gate not answered: fail-on" in capsys.readouterr().err
    assert not {one["status"] for one in read("r.json")["findings"]} & {"passed", "failed"}


@pytest.mark.both_lines
@pytest.mark.long
def test_structure_figures_are_gates_and_no_answer_is_no_pass(graph: Graph, kgeval: Callable[..., int]) -> None:
    people(graph, PEOPLE)
    one = ("audit", "-q", "--check", "isolated-entity", "-o", "r.json")
    assert kgeval(*one, "--threshold", "isolated_share<=1", "--threshold", "entities>=6") == 0
    assert kgeval(*one, "--threshold", "isolated_share<=0.5") == 1
    assert read("r.json")["gates"] == [{
        "name": "isolated_share", "of": None, "at": None, "limit": "<= 0.5", "severity": None, "value": 1.0, "met": False, "reason": None,
        "decides": True,
    }]
    assert kgeval(*one, "--threshold", "tokens>=1") == 3
    assert read("r.json")["gates"][0]["reason"] == "no chunk texts in the graph; give the texts with --corpus"


def test_waivers_are_counted_in_every_form(graph: Graph, kgeval: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    people(graph, PEOPLE)
    Path("kgeval.toml").write_text("""
        [[ignore]]
        rule = "connectivity"
        match = "person:d*"
        reason = "known to Eve"
        [[ignore]]
        rule = "isolated-entity"
        match = "Zed"
        reason = "gone"
        [[ignore]]
        rule = "isolated-entity"
        reason = "was agreed"
        until = 2020-01-01
    """)
    outputs = [part for end in ("json", "md", "xml", "sarif", "html") for part in ("-o", f"r.{end}")]
    assert kgeval("audit", "--no-structure", "--check", "isolated-entity", *outputs, "--threshold", "isolated-entity<=4 hits") == 0
    out, err = capsys.readouterr()
    assert "waiver 2 (rule isolated-entity, match Zed) matches nothing any more" in err
    assert "waiver 3 (rule isolated-entity) ended on 2020" in err
    assert "waived: 2 hits by 1 waiver" in out
    found = finding("r.json", "isolated-entity")
    assert (found["count"], found["suppressed"], found["status"]) == (6, 2, "passed")
    assert [(one["hits"], one["stale"], one["expired"]) for one in read("r.json")["waivers"]] == [
        (2, False, False), (0, True, False), (0, False, True),
    ]
    assert "known to Eve" in Path("r.html").read_text()
    assert "waived: 2 hits by 1 waiver" in Path("r.md").read_text() and "known to Eve" in Path("r.md").read_text()
    assert '<property name="suppressed" value="2" />' in Path("r.xml").read_text()
    results = read("r.sarif")["runs"][0]["results"]
    assert [one["suppressions"] for one in results] == [[{"kind": "external", "status": "accepted", "justification": "known to Eve"}]]
    assert kgeval(*ONE, "isolated-entity", "--redact", "-o", "r.json", "-o", "r.sarif") == 0
    assert "to Eve" not in Path("r.json").read_text() + Path("r.sarif").read_text()


def test_a_ratchet_outlives_a_rebuild_and_only_what_is_new_fails(
    graph: Graph, kgeval: Callable[..., int], capsys: pytest.CaptureFixture[str],
) -> None:
    checks = ("audit", "-q", "--no-structure", "--check", "isolated-entity,duplicate-name")
    people(graph, PEOPLE)
    assert kgeval(*checks, "--write-ratchet", "debt.json") == 0
    assert stat.S_IMODE(Path("debt.json").stat().st_mode) == 0o600
    debt = Ratchet.model_validate(read("debt.json"))
    assert {one.rule_id: one.keys for one in debt.rules} == {
        "duplicate-name": {"person: cy": 1, "person: dee": 1},
        "isolated-entity": {"person: ada": 1, "person: bob": 1, "person: cy": 2, "person: dee": 2},
    }
    graph.write("CREATE (:Other) CREATE (:Other)")
    people(graph, ["dee", "CY", "Cy", "BOB", "Dee", "ada"], start=50)  # other ids, order, case
    assert kgeval(*checks, "--ratchet", "debt.json", "-o", "r.json") == 0
    assert [(one["known"], one["status"]) for one in read("r.json")["findings"]] == [(2, "passed"), (6, "passed")]
    people(graph, [*PEOPLE, "Dee"])
    assert kgeval(*checks, "--ratchet", "debt.json", "-o", "r.json", "-o", "r.xml") == 1
    assert "ratchet no check fails on new hits (2: duplicate-name 1, isolated-entity 1)" in capsys.readouterr().err
    failure = ElementTree.parse("r.xml").find("testsuite[@name='gates']/testcase/failure")
    assert failure is not None and failure.get("message") == "2: duplicate-name 1, isolated-entity 1"
    assert (failure.text or "").splitlines()[1:] == ["duplicate-name: Dee | Dee | Dee", "isolated-entity: Dee"]
    assert kgeval(*checks, "--ratchet", "debt.json", "--redact", "-o", "hashed.xml") == 1
    hashed = ElementTree.parse("hashed.xml").find("testsuite[@name='gates']/testcase/failure")
    assert hashed is not None and "Dee" not in (hashed.text or "") and "isolated-entity: #" in (hashed.text or "")
    assert [(one["known"], one["count"], one["status"]) for one in read("r.json")["findings"]] == [(2, 3, "failed"), (6, 7, "failed")]
    assert kgeval(*checks, "--ratchet", "debt.json", "--fail-on", "error") == 0 or "error" in {
        one["severity"] for one in read("r.json")["findings"]
    }
    assert kgeval(*checks, "--write-ratchet", "hidden.json", "--redact") == 0
    assert "dee" not in Path("hidden.json").read_text()
    assert kgeval(*checks, "--ratchet", "hidden.json") == 0


def test_files_are_never_lost(graph: Graph, kgeval: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    people(graph, PEOPLE)
    assert kgeval(*ONE, "isolated-entity", "--write-ratchet", "d.json") == 0
    kept = Path("d.json").read_bytes()
    for more in (("--ratchet", "d.json", "--write-ratchet", "d.json"), ("--ratchet", "d.json", "-o", "d.json"), ("--write-ratchet", "."),
                 ("--write-ratchet", "x.json", "-o", "x.json"), ("--write-ratchet", "/dev/full"), ("--ratchet", "none.json")):
        assert kgeval(*ONE, "isolated-entity", *more) == 2, more
    assert Path("d.json").read_bytes() == kept and Path("/dev/full").is_char_device()
    other = read("d.json") | {"graph": "elsewhere", "layout": "lightrag"}
    Path("other.json").write_text(json.dumps(other))
    capsys.readouterr()
    assert kgeval(*ONE, "isolated-entity", "--ratchet", "other.json", "-o", "r.json") == 0
    err = capsys.readouterr().err
    assert "it is about graph elsewhere" in err and "layout lightrag" in err and len(read("r.json")["notes"]) == 2


@pytest.mark.both_lines
@pytest.mark.long
def test_a_graph_that_is_loaded_by_half_is_said_to_be_so_and_no_gate_is_answered(
    graph: Graph, kgeval: Callable[..., int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An import that was interrupted leaves its mark `loading`: what is there is no graph to judge."""
    people(graph, PEOPLE)
    gate = (*ONE, "isolated-entity", "--threshold", "isolated-entity<=1")
    assert kgeval(*gate, "-o", "before.json") == 0
    assert "half-loaded" not in capsys.readouterr().err
    graph.write("MATCH (g:__KgevalGraph__ {name: 'small'}) SET g.status = 'loading', g.format = 'triples'")
    for command in (ONE[:3], ("doctor",), ("layout", "detect"), ("layout", "check", "kgeval"), ("audit", "--dry-run")):
        assert kgeval(*command) == 0
        assert capsys.readouterr().err.count("warning: half-loaded, not the whole graph: graph small: an import began") == 1, command
    kgeval("questions", "generate", "-o", "q.jsonl", "-n", "2", "--kind", "hop_1", "--template")
    assert capsys.readouterr().err.count("warning: half-loaded") == 1
    looks: list[str | None] = []
    monkeypatch.setattr(mark, "half_loaded", lambda graph, name, labels=(): looks.append(name) or half_loaded(graph, name, labels))
    assert kgeval(*gate, "--graph", "small", "-o", "r.json", "-o", "r.md") == 3
    assert looks == ["small"], "the mark is read once"
    err = capsys.readouterr().err
    assert "gate not answered: isolated-entity" in err and err.count("warning: half-loaded") == 1
    assert read("r.json")["notes"][0].startswith("half-loaded") and read("r.json")["gates"][0]["reason"] == read("r.json")["notes"][0]
    assert Path("r.md").read_text().count("Caution: half-loaded") == 1
    assert kgeval(*ONE, "isolated-entity", "--baseline", "before.json", "--fail-on-worse", "error") == 3
    assert capsys.readouterr().err.count("gate not answered") == 1
    graph.write("MATCH (e:__Entity__) DETACH DELETE e")
    assert kgeval(*ONE, "isolated-entity", "--graph", "small") == 2
    assert "warning: half-loaded" in capsys.readouterr().err
