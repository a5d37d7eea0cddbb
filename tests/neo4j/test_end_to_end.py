"""The whole way at the command line, offline: a graph, hop questions that it proves, systems that answer, retrieval figures by hop.

What must come out: one hop around the entry entities finds whole paths of one hop and not those of two; two hops find both.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from two_novels import DATA, build_arguments, files_of

import kgeval
from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.records import Mean, Question, ScoreReport

SAMPLE = Path(kgeval.__file__).parent / "sample"
SYSTEMS = ("vector", "graph", "graph@hops=2")
METRICS = "path_coverage,path_complete,id_recall,exact_match"


@pytest.fixture(scope="module")
def at(address: Address, connection: Graph) -> Iterator[list[str]]:
    """Options that lead to the suite's server, emptied."""
    connection.write("MATCH (n) CALL (n) { DETACH DELETE n }")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEO4J_PASSWORD", address.password)
        patch.setenv("NEO4J_USERNAME", address.username)
        yield ["--uri", address.uri]


def way(folder: Path, at: list[str], graph: str, *kinds: str) -> tuple[list[Question], ScoreReport]:
    """Generates, answers and scores; the questions and the report."""
    questions, report = folder / "questions.jsonl", folder / "scores.json"
    where = [*at, "--graph", graph]
    assert run(["questions", "generate", *where, "--kind", ",".join(kinds), "--template", "--seed", "7", "--tries", "60", "-q",
                "-o", str(questions)]) == 0
    assert run(["answer", str(questions), *where, "--system", "vector", "--system", "graph", "--ablate", "graph:hops=2", "--extractive",
                "--cache-dir", str(folder / "cache"), "--no-progress", "-q", "-o", f"{folder}/answers/"]) == 0
    answers = [str(folder / "answers" / f"{system}.jsonl") for system in SYSTEMS]
    assert run(["score", *answers, "--questions", str(questions), "--metrics", METRICS, "-q", "--no-progress", "-o", str(report)]) == 0
    given = [Question.model_validate_json(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    return given, ScoreReport.model_validate_json(report.read_text(encoding="utf-8"))


def by_hop(report: ScoreReport, metric: str) -> dict[str, dict[str, Mean]]:
    """System -> hops -> mean of a metric."""
    found: dict[str, dict[str, Mean]] = {}
    for group in report.groups:
        if (group.metric, group.by) == (metric, "hops"):
            found.setdefault(group.system, {})[group.value] = group.overall
    return found


def shows_where_one_hop_fails(report: ScoreReport, *, n: int) -> None:
    """One hop has all paths of one hop; of two hops far fewer than an expansion by two hops has."""
    whole = by_hop(report, "path_complete")
    means = {system: {hops: one.mean for hops, one in values.items()} for system, values in whole.items()}
    assert all(one.n_scored == n for values in whole.values() for one in values.values())
    assert means["graph"]["1"] == pytest.approx(1.0)
    assert means["graph@hops=2"]["2"] >= means["graph"]["2"] + 0.3
    assert means["graph"]["3+"] < 0.5


@pytest.fixture(scope="module")
def sample(at: list[str], tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Question], ScoreReport]:
    assert run(["import", str(SAMPLE / "graph.json"), *at, "--graph", "sample"]) == 0
    return way(tmp_path_factory.mktemp("sample"), at, "sample", "hops=10", "negative=4")


@pytest.mark.long
def test_on_the_sample_graph_a_table_shows_where_one_hop_fails(sample: tuple[list[Question], ScoreReport]) -> None:
    questions, report = sample
    assert len(questions) == 34
    shows_where_one_hop_fails(report, n=10)
    assert not report.reasoning or report.complete


@pytest.mark.long
def test_every_answer_is_the_reference_of_its_own_cypher(
    sample: tuple[list[Question], ScoreReport], connection: Graph,
) -> None:
    for question in sample[0]:
        rows = connection.read(question.cypher or "")
        assert {next(iter(row.values())) for row in rows} == (set() if question.level == "negative" else {question.reference})


@pytest.mark.long
def test_negative_questions_take_no_part_in_path_figures(sample: tuple[list[Question], ScoreReport]) -> None:
    found = {one.system: one.overall for one in sample[1].summaries if one.metric == "path_coverage"}
    assert {system: (mean.n_scored, mean.not_applicable) for system, mean in found.items()} == dict.fromkeys(SYSTEMS, (30, 4))


@pytest.mark.long
@pytest.mark.skipif(not DATA.is_dir(), reason="the novels of GraphRAG-Bench are not here (shared/data/graphrag-bench-novel)")
def test_on_a_graph_of_two_novels_templates_ask_over_one_relation_and_say_why_not_over_two(
    at: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    """The rules that read this graph out of texts make relations such as "was set out for by": no two of them follow each other that a
    template can ask along. A nonsense question was made of each before."""
    assert run([*build_arguments(*files_of(DATA, tmp_path), chunk_size=1200), *at]) == 0
    assert run(["questions", "generate", *at, "--graph", "novels", "--kind", "hop_1=5,hop_2=5", "--template", "--seed", "7",
                "--tries", "60", "-o", str(tmp_path / "q.jsonl")]) == 3
    told = "".join(capsys.readouterr())
    assert "5 of 10 questions were made" in told and "(not_worded): no template says" in told
