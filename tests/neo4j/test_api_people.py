"""`kgeval.accuracy` and `kgeval.completeness` on a real graph: labels and gold as objects of every kind, gates, what the command gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import neo4j
import pandas as pd
import pytest
from test_api_on_a_graph import driver, sample, secrets  # noqa: F401  # fixtures

import kgeval
from kgeval.cli.main import run
from kgeval.errors import GateError, InputError, UsageError
from kgeval.graph.connect import Address
from kgeval.llm.fake import FakeServer
from kgeval.llm.fake.request import Chat
from kgeval.llm.plan import Plan
from kgeval.records import AccuracyReport, CompletenessReport, GoldEntity, GoldTriple

HERE: dict[str, Any] = {"graph": "velmouth", "n": 12, "seed": 3}


def judged(chat: Chat) -> Any:
    """A judge that finds every item entailed."""
    flags = {"reason": "known", "label": "entailed", "redundant": False, "irrelevant": False}
    return {"items": [{"tag": number, **flags} for number in chat.items]}


def labels(count: int, label: str = "entailed") -> list[dict[str, Any]]:
    """Labels of the sample of HERE: the first is wrong, the others as given."""
    with kgeval.connect(config=False) as session:
        drawn = kgeval.accuracy(session, **HERE, no_model=True, sheet=f"{count}.csv")
    ids = list(drawn.to_pandas()["id"])[:count]
    return [{"id": ids[0], "label": "not stated"}, *({"id": name, "label": label} for name in ids[1:])]


@pytest.fixture(autouse=True)
def somewhere(secrets: None, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("OPENAI_API_KEY", "k")


@pytest.mark.both_lines
@pytest.mark.long
def test_a_sheet_alone_gives_the_drawn_items_and_no_share(driver: neo4j.Driver) -> None:  # noqa: F811
    drawn = kgeval.accuracy(driver, **HERE, no_model=True, sheet="sheet.csv", config=False)
    items = drawn.to_pandas()
    assert (drawn.labelled, drawn.exit_code, drawn.estimates) == (False, 0, [])
    assert len(items) >= 12 and set(items["status"]) == {"unscored"} and all(items["passages"])
    assert Path("sheet.csv").read_text(encoding="utf-8").count("\n") > len(items)
    with pytest.raises(UsageError, match="is there already"):
        kgeval.accuracy(driver, **HERE, no_model=True, sheet="sheet.csv", config=False)


@pytest.mark.long
@pytest.mark.parametrize("form", ["list", "frame", "iterator", "file", "several"])
def test_labels_of_every_kind_give_what_the_command_gives(form: str, driver: neo4j.Driver, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    rows = labels(10)
    pd.DataFrame(rows).to_csv("ann.csv", index=False)
    given: Any = {
        "list": rows, "frame": pd.DataFrame(rows), "iterator": iter(rows), "file": "ann.csv", "several": [pd.DataFrame(rows), "ann.csv"],
    }[form]
    true = kgeval.accuracy(driver, **HERE, labels=given, config=False)
    assert run(["accuracy", "--graph", "velmouth", "-n", "12", "--seed", "3", "--labels", "ann.csv", "-f", "json"]) == 0
    expected = AccuracyReport.model_validate_json(capsys.readouterr().out)
    assert true.estimates == expected.estimates and true.estimates[0].value == 0.9
    assert list(true.to_pandas()["human"])[:2] == ["not_stated", "entailed"]
    assert true.report.agreement["annotators"] == (2 if form == "several" else 1)
    if form != "file":
        assert all(not str(file.path).startswith("/") for file in true.report.run.inputs), "files of rows have the names of keywords"


@pytest.mark.both_lines
@pytest.mark.long
def test_gates_of_shares_are_looked_at_or_raised(driver: neo4j.Driver) -> None:  # noqa: F811
    options: dict[str, Any] = {**HERE, "labels": labels(10), "config": False}
    true = kgeval.accuracy(driver, thresholds=["accuracy>=0.95", "contradicted=0.1", "precision>=0.5"], **options)
    assert [(gate.name, gate.met) for gate in true.gates] == [("accuracy", False), ("contradicted", True), ("precision", None)]
    assert true.exit_code == 3 and [message.partition(":")[0] for message in true.messages] == ["gate missed", "gate not answered"]
    with pytest.raises(GateError, match=r"accuracy >= 0.95 \(0.9: labelled by people\); gate not answered: precision >= 0.5"):
        true.raise_for_gates()
    kgeval.accuracy(driver, thresholds="accuracy>=0.9", **options).raise_for_gates()


@pytest.mark.long
def test_a_judge_is_planned_asked_once_and_corrected_by_labels(driver: neo4j.Driver, tmp_path: Path) -> None:  # noqa: F811
    with FakeServer(judged) as server:
        options: dict[str, Any] = {
            **HERE, "judge": "j", "base_url": server.base_url, "journal": tmp_path / "j.sqlite", "config": False,
        }
        plan = kgeval.accuracy(driver, dry_run=True, sheet="sheet.csv", **options)
        assert isinstance(plan, Plan) and server.stats().requests == 0 and not Path("sheet.csv").exists()
        alone = kgeval.accuracy(driver, **options)
        asked = server.stats().requests
        assert plan.calls[0] <= asked <= plan.calls[1] and alone.estimates[0].value == 1.0
        both = kgeval.accuracy(driver, labels=labels(10), **options)
        assert server.stats().requests == asked, "finished calls are never paid twice"
    assert {one.labelled_by for one in both.estimates} == {"judge", "people", "judge corrected by people"}
    assert "accuracy" in both.rendered("html").lower() and both.save("both.json").is_file()


def test_faulty_labels_and_options_are_told_all_at_once(driver: neo4j.Driver) -> None:  # noqa: F811
    wrong = [{"id": "nobody", "label": "entailed"}, {"id": labels(2)[0]["id"], "label": "perhaps"}]
    with pytest.raises(InputError) as caught:
        kgeval.accuracy(driver, **HERE, labels=wrong, config=False)
    assert [fault.partition(":")[0] for fault in caught.value.faults] == ["labels"] * 2
    assert "nobody" in caught.value.faults[0] and "perhaps" in caught.value.faults[1]
    with pytest.raises(UsageError, match=r"pairs is for kind duplicates; duplicate_checks is for kind duplicates"):
        kgeval.accuracy(driver, labelled_pairs=[{"name_a": "a"}], duplicate_checks="duplicate-name", config=False)
    with pytest.raises(UsageError, match="batch: unknown"):
        kgeval.accuracy(driver, **HERE, judge="j", batch=True, config=False)


@pytest.mark.long
def test_labelled_pairs_as_rows_give_recall_without_a_model(driver: neo4j.Driver) -> None:  # noqa: F811
    given = (("dunmere ", "same"), ("Velmouth", "different"))
    pairs = [{"name_a": "Dunmere", "name_b": name, "label": label} for name, label in given]
    found = kgeval.accuracy(driver, graph="velmouth", kind="duplicates", labelled_pairs=pairs, config=False)
    assert found.report.duplicates["gold_pairs"] == 2 and found.exit_code == 0


GOLD: list[dict[str, Any]] = [
    {"name": "Dunmere", "type": "Place"}, {"name": "Atlantis", "type": "Place"},
    {"subject": "Caspar Wren", "predicate": "works for", "object": "Velmouth Harbour Board"},
]


@pytest.mark.both_lines
@pytest.mark.long
@pytest.mark.parametrize("form", ["list", "frame", "iterator", "records", "several", "file"])
def test_gold_of_every_kind_gives_what_the_command_gives(form: str, driver: neo4j.Driver, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    Path("gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in GOLD), encoding="utf-8")
    entities = [GoldEntity(**row) for row in GOLD[:2]]
    given: Any = {
        "list": GOLD, "frame": pd.DataFrame(GOLD), "iterator": iter(GOLD), "records": [*entities, GoldTriple(**GOLD[2])],
        "several": [pd.DataFrame(GOLD[:2]), pd.DataFrame(GOLD[2:])], "file": "gold.jsonl",
    }[form]
    lacks = kgeval.completeness(driver, graph="velmouth", gold=given, config=False)
    assert run(["completeness", "--graph", "velmouth", "--gold", "gold.jsonl", "-f", "json"]) == 0
    expected = CompletenessReport.model_validate_json(capsys.readouterr().out)
    assert lacks.report.levels == expected.levels
    table = lacks.to_pandas().set_index("name")
    assert table["level"].notna().to_dict() == {one.name: one.level is not None for one in (*expected.matched, *expected.missing)}
    assert not table["level"].notna()["Atlantis"] and table["level"]["Dunmere"] == "exact"
    assert lacks.report.run.inputs[0].path == {"several": "gold-1", "file": "gold.jsonl"}.get(form, "gold")


@pytest.mark.long
def test_gates_of_gold_plans_and_faults(driver: neo4j.Driver, tmp_path: Path) -> None:  # noqa: F811
    options: dict[str, Any] = {"graph": "velmouth", "config": False}
    lacks = kgeval.completeness(driver, gold=GOLD, thresholds="entity_coverage@exact>=0.9", **options)
    assert lacks.exit_code == 1 and [gate.met for gate in lacks.gates] == [False]
    with pytest.raises(GateError, match=r"entity_coverage \(exact\) >= 0.9 \(0.75\)"):
        lacks.raise_for_gates()
    with pytest.raises(UsageError, match="gold and ideal are two gold sets"):
        kgeval.completeness(driver, gold=GOLD, ideal=[{"id": "d", "text": "x"}], **options)
    with pytest.raises(InputError, match="gold") as caught:
        kgeval.completeness(driver, gold=[{"colour": "red"}], **options)
    assert str(tmp_path) not in str(caught.value)
    text = "Caspar Wren works for the Velmouth Harbour Board. Caspar Wren lives in Dunmere."
    plan = kgeval.completeness(driver, ideal=[{"id": "d", "text": text}], ideal_extractor="rules", dry_run=True, **options)
    assert plan.calls == (0, 0) and "asks no model" in str(plan)
    ideal = kgeval.completeness(driver, ideal=[{"id": "d", "text": text}], ideal_extractor="rules", whole_graph=True, **options)
    assert ideal.report.ideal is not None and not ideal.to_pandas().empty
