"""The ideal graph: an extractor's own reading as gold set, its label on every form, and people who check a sample of it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kgeval.auditing.completeness.ideal import ideal_gold
from kgeval.auditing.completeness.ideal_sheet import checked, sampled, write_sheet
from kgeval.auditing.completeness.run import measure
from kgeval.building.state import Cutting
from kgeval.cli.main import cli
from kgeval.errors import IncompleteError, InputError, UsageError
from kgeval.llm.calls import Endpoint, Failure, Limits
from kgeval.llm.fake import Chat, FakeServer
from kgeval.llm.session import open_models
from kgeval.manifest import ModelUsage
from kgeval.records import CompletenessReport, Document, GoldEntity, Layout
from kgeval.reports.write import rendered
from kgeval.text.extract.mentions import ChunkSource, Extraction, Mention, RelationMention
from kgeval.text.extract.model import ModelExtractor
from kgeval.text.extract.rules import RulesExtractor

LAYOUT = Layout(
    name="plain", entity_labels=["Thing"], type_label_ignored=["Thing"], name_keys=["name"], relation_types=["R"],
    relation_label_key="predicate", document_labels=["Doc"], document_key="id", chunk_labels=["Chunk"], chunk_text_keys=["text"],
    chunk_id_keys=["id"], chunk_document_types=["OF"], mention_types=["IN"],
)
HARBOUR = Document(id="harbour", text="Ada Lindqvist commands the North Light. The North Light belongs to the Packet Line.")
STORM = Document(id="storm", text="Elias Thorn saw the North Light in the storm.")
GRAPH = """
CREATE (h:Doc {id: 'harbour'})<-[:OF]-(c:Chunk {id: 'c1', text: 'x'}), (s:Doc {id: 'storm'})<-[:OF]-(d:Chunk {id: 'c2', text: 'y'}),
  (ada:Thing {name: 'Ada Lindqvist'})-[:IN]->(c), (ship:Thing {name: 'north light'})-[:IN]->(c), (ship)-[:IN]->(d),
  (ada)-[:R {predicate: 'commands'}]->(ship)
"""


@dataclass(frozen=True)
class ByHand:
    """An extractor that knows what each text says."""

    known: dict[str, tuple[tuple[str, ...], tuple[tuple[int, str, int], ...]]]
    name: str = "by-hand"
    signature: str = "by-hand-1"

    def extract(self, sources: Iterable[ChunkSource]) -> Iterator[Extraction]:
        for source in sources:
            names, links = self.known.get(source.chunk.text, (None, ()))
            if names is None:
                yield Extraction(source.chunk.id, failure=Failure("timeout", "no reply"))
                continue
            yield Extraction(source.chunk.id, tuple(Mention(n) for n in names), tuple(RelationMention(a, b, p) for a, p, b in links))

    def asked(self) -> ModelUsage:
        return ModelUsage()


READ = ByHand({
    HARBOUR.text: (("Ada Lindqvist", "North Light", "Packet Line"), ((0, "commands", 1), (2, "owns", 1))),
    STORM.text: (("Elias Thorn", "North Light"), ((0, "saw", 1),)),
})


@pytest.mark.both_lines
@pytest.mark.long
def test_a_graph_is_held_against_what_the_extractor_read_in_each_document(graph, draw):
    draw(GRAPH)
    ideal = ideal_gold([HARBOUR, STORM], READ, made_by="by-hand")
    assert sorted((e.document, e.name) for e in ideal.gold.entities) == [
        ("harbour", "Ada Lindqvist"), ("harbour", "North Light"), ("harbour", "Packet Line"),
        ("storm", "Elias Thorn"), ("storm", "North Light"),
    ]
    report = measure(graph, LAYOUT, ideal.gold).model_copy(update={"ideal": ideal.record})
    assert report.levels["exact"].entity_coverage.count == 1, "Ada"
    assert (report.levels["normalised"].entity_coverage.count, report.levels["normalised"].entity_coverage.total) == (3, 5)
    assert (report.levels["normalised"].relation_completeness.count, report.levels["normalised"].relation_completeness.total) == (1, 3)
    assert report.by_document["storm"].entity_coverage.count == 1
    assert {item.name for item in report.missing if item.kind == "entity"} == {"Packet Line", "Elias Thorn"}


@pytest.mark.both_lines
@pytest.mark.long
def test_the_label_stands_beside_every_figure_in_every_form(graph, draw):
    draw(GRAPH)
    ideal = ideal_gold([HARBOUR, STORM], READ, made_by="model-9")
    report = measure(graph, LAYOUT, ideal.gold).model_copy(update={"ideal": ideal.record})
    label = "ideal graph by model-9, not checked by people"
    assert report.gold.label == label
    text, page, note = (rendered(report, form) for form in ("text", "html", "md"))
    assert label in " ".join(text.split()) and "Not checked by people: a missing item may be the model's mistake." in " ".join(text.split())
    assert note.count(label) >= 4 and page.count(f"against {label}") >= 6


def test_chunks_that_fail_are_counted_and_a_graph_of_nothing_is_refused():
    ideal = ideal_gold([HARBOUR, Document(id="x", text="Never seen before.")], READ, made_by="by-hand")
    assert ideal.record.failures == {"timeout": 1} and ideal.record.chunks == 2
    assert "1 of 2 chunks failed" in ideal.record.notes[0]
    with pytest.raises(IncompleteError, match=r"all 1 chunks failed \(timeout: 1\)"):
        ideal_gold([Document(id="x", text="Never seen.")], READ, made_by="by-hand")
    with pytest.raises(InputError, match="hold no text"):
        ideal_gold([Document(id="x", text="  ")], READ, made_by="by-hand")
    with pytest.raises(InputError, match="found no entity"):
        ideal_gold([Document(id="x", text="Hm.")], ByHand({"Hm.": ((), ())}), made_by="by-hand")


def test_people_check_a_sample_and_the_precision_stands_beside_the_coverage(tmp_path):
    ideal = ideal_gold([HARBOUR, STORM], READ, made_by="by-hand")
    sheet = tmp_path / "sheet.csv"
    items = sampled(ideal, 6)
    assert [item.id for item in items] == [item.id for item in sampled(ideal, 6)]
    assert sum(isinstance(item.gold, GoldEntity) for item in items) == 3, "half entities, half triples"
    write_sheet(sheet, items)
    assert sheet.stat().st_mode & 0o777 == 0o600
    rows = list(csv.DictReader(sheet.open(encoding="utf-8")))
    assert {row["passage"] for row in rows} <= {HARBOUR.text, STORM.text} and all(row["label"] == "" for row in rows)
    for row in rows:
        row["label"] = "" if row is rows[0] else ("wrong" if row["predicate"] == "owns" else "right")
    labelled = tmp_path / "labelled.csv"
    write_rows(labelled, rows)
    found = checked(ideal, labelled).record
    assert (found.sampled, found.labelled) == (6, 5) and found.notes == ["1 rows of the sheet have no label"]
    from statsmodels.stats.proportion import proportion_confint

    for kind, wanted in (("entities", "entity"), ("triples", "triple")):
        labels = [row["label"] for row in rows if row["kind"] == wanted and row["label"]]
        got, right = found.precision[kind], labels.count("right")
        assert (got.count, got.total) == (right, len(labels))
        assert (got.low, got.high) == pytest.approx(proportion_confint(right, len(labels), method="wilson"), abs=1e-9)
    assert checked(ideal, labelled).gold.label == "ideal graph by by-hand, a sample checked by people"


def test_a_sheet_is_never_overwritten_and_its_faults_come_all_at_once(tmp_path):
    ideal = ideal_gold([HARBOUR], READ, made_by="by-hand")
    sheet = tmp_path / "sheet.csv"
    write_sheet(sheet, sampled(ideal, 3))
    with pytest.raises(UsageError, match="may hold labels"):
        write_sheet(sheet, [])
    rows = list(csv.DictReader(sheet.open(encoding="utf-8")))
    with pytest.raises(InputError, match="no row has a label"):
        checked(ideal, sheet)
    rows[0]["label"], rows[1]["label"] = "perhaps", "yes"
    write_rows(sheet, [*rows, rows[1], {**rows[2], "id": "nobody"}])
    with pytest.raises(InputError) as caught:
        checked(ideal, sheet)
    assert [fault.split(": ")[0] for fault in caught.value.faults] == ["sheet.csv:2", "sheet.csv:5", "sheet.csv:6"]


def test_a_name_that_looks_like_a_formula_is_no_formula_on_the_sheet(tmp_path):
    text = "=HYPERLINK(1) said so."
    ideal = ideal_gold([Document(id="x", text=text)], ByHand({text: (("=HYPERLINK(1)",), ())}), made_by="by-hand")
    write_sheet(tmp_path / "s.csv", sampled(ideal, 1))
    (row,) = csv.DictReader((tmp_path / "s.csv").open(encoding="utf-8"))
    assert row["subject"] == "'=HYPERLINK(1)" and row["passage"].startswith("'=")


def test_a_model_behind_http_makes_the_gold_set(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "no-secret")
    with FakeServer(script=model_reply) as server:
        limits = Limits(max_error_rate=1.0)
        with open_models(Endpoint("reader-1", server.base_url), limits, role="extractor", journal=tmp_path / "j.db") as models:
            ideal = ideal_gold([HARBOUR], ModelExtractor(models), made_by=models.endpoint.model, cutting=Cutting(size=100, overlap=0))
    assert {entity.name for entity in ideal.gold.entities} == {"Ada Lindqvist", "North Light"}
    assert [(t.subject, t.predicate, t.object) for t in ideal.gold.triples] == [("Ada Lindqvist", "commands", "North Light")]


def test_the_command_makes_the_ideal_graph_writes_the_sheet_and_prints_the_label(address, graph, draw, tmp_path, monkeypatch):
    draw("CREATE (:Thing {name: 'Ada Lindqvist'})-[:KNOWS]->(:Thing {name: 'Varne'})")
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    (tmp_path / "harbour.txt").write_text("Ada Lindqvist met Elias Thorn in Varne. Elias Thorn sailed to Norway.", encoding="utf-8")
    report, sheet = tmp_path / "r.json", tmp_path / "sheet.csv"
    base = [
        "completeness", "--uri", address.uri, "--layout", "generic", "--ideal", str(tmp_path / "harbour.txt"), "--ideal-extractor", "rules",
    ]
    done = run([*base, "--ideal-export", str(sheet), "--ideal-sample", "4", "-o", str(report)])
    assert done.return_value == 0, done.output
    found = CompletenessReport.model_validate_json(report.read_text(encoding="utf-8"))
    assert found.ideal is not None and found.ideal.sampled == 4 and found.gold.label.startswith("ideal graph by kgeval's rules extractor")
    assert found.run.inputs[0].path.endswith("harbour.txt")
    assert found.gold.label in " ".join(done.stdout.split())
    names = {item.name for item in found.matched if item.kind == "entity"}
    assert {"Ada Lindqvist", "Varne"} <= names and "Norway" in {item.name for item in found.missing}
    rows = list(csv.DictReader(sheet.open(encoding="utf-8")))
    write_rows(sheet, [{**row, "label": "right"} for row in rows])
    done = run([*base, "--ideal-labels", str(sheet), "-f", "json"])
    assert done.return_value == 0, done.output
    assert json.loads(done.stdout)["ideal"]["labelled"] == 4
    dry = run([*base, "--dry-run"])
    assert dry.return_value == 0 and "asks no model" in dry.stdout


def test_the_command_judges_facts_with_a_model(address, graph, draw, tmp_path, monkeypatch):
    draw("CREATE (:Thing {name: 'Ada Lindqvist'})-[:COMMANDS]->(:Thing {name: 'North Light'})")
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    monkeypatch.setenv("OPENAI_API_KEY", "no-secret")
    (tmp_path / "facts.txt").write_text("Ada commands the North Light.\nIt rained.\n", encoding="utf-8")

    def judge(chat: Chat) -> object:
        return {"reason": "x", "follows": "Ada commands" in chat.text}

    with FakeServer(script=judge) as server:
        base = [
            "completeness", "--uri", address.uri, "--layout", "generic", "--facts", str(tmp_path / "facts.txt"), "--model", "judge-1",
            "--base-url", server.base_url, "--cache-dir", str(tmp_path / "cache"), "--embedding-device", "cpu", "--no-progress",
        ]
        dry = run([*base, "--dry-run"])
        assert dry.return_value == 0 and "judge-fact" in dry.stdout and server.requests == []
        both = run([*base, "--dry-run", "--ideal", str(tmp_path / "facts.txt")])  # the extractor's calls and the judge's
        assert both.return_value == 0 and "judge-fact" in both.stdout and "extract" in both.stdout and server.requests == []
        done = run([*base, "-f", "json", "--threshold", "fact_retention>=0.9"])
    assert done.return_value == 1, done.output
    found = CompletenessReport.model_validate_json(done.stdout)
    assert found.facts is not None and (found.facts.retention.count, found.facts.n) == (1, 2)
    assert [model.role for model in found.run.models] == ["judge"] and found.run.model_use[0].calls == 2
    assert found.run.inputs[-1].path.endswith("facts.txt") and "en/judge-fact" in found.run.prompt_hashes


def run(arguments: list[str]) -> Result:
    return CliRunner().invoke(cli, arguments, standalone_mode=False)


def model_reply(_: Chat) -> object:
    """What a model that reads well would extract."""
    names = (("Ada Lindqvist", "Person"), ("North Light", "Ship"))
    numbered = enumerate(names, start=1)
    entities = [{"number": at, "name": name, "type": kind, "description": "", "aliases": []} for at, (name, kind) in numbered]
    return {"entities": entities, "relations": [{"source": 1, "target": 2, "predicate": "commands", "description": ""}]}


def write_rows(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_rules_give_the_same_ideal_graph_twice():
    first, second = (ideal_gold([HARBOUR, STORM], RulesExtractor(), made_by="rules") for _ in range(2))
    assert [item.id for item in first.items] == [item.id for item in second.items]
