"""What `kgeval init` finds in a folder, and the file that it writes for it."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from kgeval.cli.main import cli
from kgeval.config import Config, read
from kgeval.records import AuditReport, ScoreReport
from kgeval.reports.write import write_report
from kgeval.workflows.pipeline.check import check, faults_of
from kgeval.workflows.pipeline.discover import look
from kgeval.workflows.pipeline.plan import RunRequest, stages_of
from kgeval.workflows.pipeline.start import Case, Surroundings, case_of, text_of

ANSWER = {"id": "1", "question": "Who?", "response": "Ann.", "retrieved_contexts": ["Ann did."]}
QUESTION = {"id": "1", "question": "Who?", "reference": "Ann."}


def write(path: Path, *rows: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_files_are_told_by_their_first_rows(tmp_path: Path) -> None:
    write(tmp_path / "sys.jsonl", ANSWER)
    write(tmp_path / "q.jsonl", QUESTION)
    write(tmp_path / "gold.jsonl", {"subject": "Ann", "predicate": "knows", "object": "Ben"})
    write(tmp_path / "texts" / "corpus.jsonl", {"id": "d1", "text": "Ann did."})
    (tmp_path / "texts" / "more.md").write_text("# More")
    (tmp_path / "README.md").write_text("about this folder")
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "graph_chunk_entity_relation.graphml").write_text("<graphml/>")
    found = look(tmp_path)
    assert (found.answers, found.questions, found.gold) == ((tmp_path / "sys.jsonl",), (tmp_path / "q.jsonl",), (tmp_path / "gold.jsonl",))
    assert found.documents == (tmp_path / "texts",) and found.graphs == (tmp_path / "export",)


def test_what_cannot_be_told_and_what_kgeval_wrote_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text("{")
    (tmp_path / "empty.csv").write_text("")
    write(tmp_path / "scores.jsonl", {"question_id": "1", "system": "s", "metric": "m", "value": 1, "status": "scored", "signature": "x"})
    write(tmp_path / "report.json", {"schema_version": "1", "question": "x"})
    write(tmp_path / ".hidden" / "q.jsonl", QUESTION)
    write(tmp_path / "out" / "q.jsonl", QUESTION)
    found = look(tmp_path)
    assert (found.answers, found.questions, found.documents, found.gold, found.graphs) == ((), (), (), (), ())


@pytest.mark.parametrize("case", ["graph", "documents", "answers"])
@pytest.mark.parametrize("full", [False, True])
def test_the_file_is_valid_and_has_something_to_do(tmp_path: Path, case: Case, full: bool) -> None:
    if full:
        write(tmp_path / 'a "quoted" name.jsonl', ANSWER)
        write(tmp_path / "q.jsonl", QUESTION)
        write(tmp_path / "gold.jsonl", {"subject": "a", "object": "b"})
    write(tmp_path / "docs" / "corpus.jsonl", {"id": "d1", "text": "Ann did."})
    known = Surroundings(uri="neo4j://localhost:7687", graph="g", nodes=5, judge="m", key=True) if full else Surroundings(uri="neo4j://localhost:1")
    config = Config.model_validate(tomllib.loads(text_of(case, look(tmp_path), known)))
    assert faults_of(config) == []


def test_every_line_that_is_off_is_valid_when_it_is_on(tmp_path: Path) -> None:
    text = text_of("answers", look(tmp_path), Surroundings())
    lines = []
    for line in text.splitlines()[2:]:
        bare = line.removeprefix("# ")
        lines.append(bare if "=" in bare or bare.startswith("[") else line)
    on = "\n".join(lines).replace('files = ["graph.graphml"]', "").replace('kinds = ["hops=20", "negative=10"]', "")
    Config.model_validate(tomllib.loads(on))


@pytest.mark.parametrize(("name", "graph"), [("My Project 2", "my-project-2"), ("Chunk", "chunk"), ("__x__", "x"), ("...", "mygraph")])
def test_a_graph_that_is_made_is_called_after_its_folder(
    tmp_path: Path, name: str, graph: str, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NEO4J_URI", raising=False)
    folder = tmp_path / "in" / name if name != "..." else tmp_path / "\u2026"
    write(folder / "docs" / "corpus.jsonl", {"id": "d1", "text": "Ann did."})
    done = CliRunner().invoke(cli, ["init", str(folder), "-o", "-"], standalone_mode=False)
    assert Config.model_validate(tomllib.loads(done.stdout)).graph.name == graph


@pytest.mark.parametrize("what", ["documents", "graph files", "answers"])
def test_what_is_written_passes_the_checks_of_a_run(tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("KGEVAL_", "NEO4J_"))]:
        monkeypatch.delenv(name)
    if what == "documents":
        write(tmp_path / "docs" / "corpus.jsonl", {"id": "d1", "text": "Ann did."})
    elif what == "graph files":
        (tmp_path / "g.graphml").write_text("<graphml/>")
    else:
        write(tmp_path / "a.jsonl", ANSWER)
        write(tmp_path / "q.jsonl", QUESTION)
    assert CliRunner().invoke(cli, ["init"], standalone_mode=False).exception is None
    config, faults = read(None)
    stages = stages_of(RunRequest(config, None, config.run.folder))
    check(config, stages, faults, None)
    assert {"scores", "report"} <= {stage.kind.name for stage in stages}


def test_an_empty_folder_is_said_to_be_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEO4J_URI", raising=False)
    done = CliRunner().invoke(cli, ["init", str(tmp_path), "-o", "-"], standalone_mode=False)
    assert "nothing was found to work on" in done.stderr


def test_answers_come_before_a_graph_and_a_graph_before_documents(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "d.jsonl", {"id": "d1", "text": "Ann did."})
    assert case_of(look(tmp_path), Surroundings()) == "documents"
    assert case_of(look(tmp_path), Surroundings(nodes=3)) == "graph"
    write(tmp_path / "a.jsonl", ANSWER)
    assert case_of(look(tmp_path), Surroundings(nodes=3)) == "answers"


def test_the_command_writes_once_and_says_what_is_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEO4J_URI", raising=False)
    write(tmp_path / "a.jsonl", ANSWER)
    done = CliRunner().invoke(cli, ["init"], standalone_mode=False)
    assert "wrote kgeval.toml: answers of RAG systems" in done.output and "kgeval run --list" in done.output
    again = CliRunner().invoke(cli, ["init"], standalone_mode=False)
    assert "is there already" in str(again.exception)
    forced = CliRunner().invoke(cli, ["init", "--force", "--for", "graph"], standalone_mode=False)
    assert forced.exception is None and "a graph in Neo4j" in (tmp_path / "kgeval.toml").read_text()


def init(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> Config:
    """What the written file says. No Neo4j, no model."""
    monkeypatch.chdir(folder)
    for name in ("NEO4J_URI", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    done = CliRunner().invoke(cli, ["init", *words])
    assert done.exit_code == 0, done.output
    return read(folder / "kgeval.toml")[0]


@pytest.mark.parametrize("others", [(), ("answers.jsonl",), ("docs/a.md",), ("answers.jsonl", "docs/a.md")])
def test_a_graph_file_that_is_found_is_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: tuple[str, ...]) -> None:
    write(tmp_path / "graph.json", {"nodes": [{"id": "a"}], "links": []})
    for name in others:
        write(tmp_path / name, ANSWER)
    config = init(tmp_path, monkeypatch)
    assert config.source is not None and [path.name for path in config.source.files] == ["graph.json"] and not config.source.documents
    assert config.graph.name and bool(config.answers.files) == ("answers.jsonl" in others)


def test_what_is_asked_for_is_taken_before_what_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "graph.json", {"nodes": [{"id": "a"}], "links": []})
    write(tmp_path / "docs" / "a.md", "text")
    config = init(tmp_path, monkeypatch, "--for", "documents")
    assert config.source is not None and not config.source.files and config.source.documents


def test_a_graph_that_names_the_version_of_its_form_is_a_graph(tmp_path: Path) -> None:
    graph = {"schema_version": "1", "nodes": [{"id": "a"}], "links": []}
    for indent in (None, 2):
        (tmp_path / "graph.json").write_text(json.dumps(graph, indent=indent))
        assert look(tmp_path).graphs == (tmp_path / "graph.json",)


@pytest.mark.slow
def test_what_kgeval_wrote_is_offered_as_nothing(tmp_path: Path) -> None:
    examples = Path(__file__).resolve().parents[2] / "schemas" / "examples"
    report = ScoreReport.model_validate_json((examples / "score-report" / "valid" / "harbour.json").read_text(encoding="utf-8"))
    for ending in (".md", ".json", ".html"):
        write_report(report, tmp_path / f"scores{ending}")
    for path in (examples / "audit-report" / "valid").glob("*.json"):  # these hold nodes and edges
        audit = AuditReport.model_validate_json(path.read_text(encoding="utf-8"))
        write_report(audit, tmp_path / f"audit-{path.stem}.json")
    for kind in ("verdict", "comparison-verdict", "score", "human-label", "structure"):
        rows = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((examples / kind / "valid").glob("*.json"))]
        write(tmp_path / f"{kind}.jsonl", *rows)
    write(tmp_path / "runs" / "run.json", {"schema_version": "1", "kgeval": "0.1.0", "stages": []})
    write(tmp_path / "runs" / "questions.jsonl", QUESTION)
    (tmp_path / "runs" / "notes.txt").write_text("a log")
    found = look(tmp_path)
    assert not (found.documents or found.questions or found.answers or found.graphs or found.gold)
    (tmp_path / "mine.md").write_text("# Scores\n\nA text of my own.")
    assert look(tmp_path).documents == (tmp_path / "mine.md",)
