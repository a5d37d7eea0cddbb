"""What a stage of a run works with: what the file says of it, else what the run was given; and what goes wrong in a stage."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from kgeval.config import Config, EmbeddingOptions
from kgeval.graph.aura import AuraOptions
from kgeval.workflows.pipeline.execute import RunProgress, left
from kgeval.workflows.pipeline.kinds import KINDS
from kgeval.workflows.pipeline.perform import Performer, planned, session_of
from kgeval.workflows.pipeline.plan import RunRequest, stages_of
from kgeval.workflows.pipeline.stages import MatrixPlace, Stage
from kgeval.workflows.session import Session


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and nothing said by the environment."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("KGEVAL_", "NEO4J_", "AURA_"))]:
        monkeypatch.delenv(name)


def stage(kind: str = "audit", **given: Any) -> Stage:
    return Stage(KINDS[kind], MatrixPlace(), (Path("q.jsonl"),), given)


def opened(made: Stage, base: Session) -> Session:
    return session_of(made, base, lambda text: None)


def test_a_stage_without_an_address_of_its_own_has_the_runs() -> None:
    base = Session("run", "bolt://host", username="ann", database="d")
    for kind in ("audit", "answers", "scores"):
        made = opened(stage(kind), base)
        assert (made.connection, made.username, made.database, made.home) == ("bolt://host", "ann", "d", None), kind
    at_home = opened(stage("answers"), Session("run", home=Path("h")))
    assert (at_home.connection, at_home.home) == (None, Path("h"))
    own = opened(stage(uri="bolt://own"), base)
    assert (own.connection, own.username, own.database) == ("bolt://own", None, None)
    assert opened(stage(home=Path("h")), base).connection is None
    assert opened(stage(database="other"), base).database == "other"
    assert opened(stage("report"), base).connection is None, "it opens none"


def test_the_home_of_a_run_counts_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://elsewhere")
    monkeypatch.setenv("NEO4J_USERNAME", "ann")
    made = opened(stage(), Session("run", home=Path("h")))
    assert (made.connection, made.username, made.home) == (None, None, Path("h"))
    alone = opened(stage(), Session("run"))
    assert (alone.connection, alone.username) == ("bolt://elsewhere", "ann")


def test_a_session_that_was_handed_over_keeps_its_graph_its_layout_and_its_embeddings() -> None:
    driver: Any = object()
    base = Session(
        "run", driver, graph_name="g", layout="neo4j-graphrag", layout_keys={"name_keys": "title"},
        embedding=EmbeddingOptions(embedding_model="m", embedding_batch=8),
    )
    made = opened(stage(), base)
    assert (made.connection, made.graph_name, made.layout, made.layout_keys) == (driver, "g", "neo4j-graphrag", {"name_keys": "title"})
    assert (made.embedding.embedding_model, made.embedding.embedding_batch) == ("m", 8)
    said = opened(stage(graph_name="h", layout="auto", embedding_model="n"), base)
    assert (said.graph_name, said.layout, said.embedding.embedding_model) == ("h", "auto", "n")


def test_a_gds_session_is_the_runs_where_the_stage_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AURA_CLIENT_ID", "AURA_CLIENT_SECRET"):
        monkeypatch.setenv(name, "x")
    base = Session("run", gds_session=AuraOptions(memory="8GB", ttl=90))
    assert opened(stage(), base).gds_session == base.gds_session
    assert opened(stage(gds_session_ttl=30), base).gds_session == AuraOptions(memory="8GB", ttl=30)
    assert opened(stage("answers"), base).gds_session is None, "it has none"


def test_what_the_environment_says_of_a_session_is_a_number_where_it_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AURA_CLIENT_ID", "AURA_CLIENT_SECRET"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("KGEVAL_AUDIT_GDS_SESSION", "1")
    monkeypatch.setenv("KGEVAL_AUDIT_GDS_SESSION_TTL", "30")
    monkeypatch.setenv("KGEVAL_AUDIT_EMBEDDING_BATCH", "16")
    made = opened(stage(), Session("run"))
    assert made.gds_session == AuraOptions(ttl=30) and made.embedding.embedding_batch == 16


def test_a_smaller_limit_of_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Config.model_validate({"limits": {"cost": 100, "calls": 50}}).limits
    monkeypatch.setenv("KGEVAL_SCORE_COST_LIMIT", "1")
    monkeypatch.setenv("KGEVAL_SCORE_MAX_CALLS", "7")
    assert left(limits, stage("scores"), RunProgress()) == {"cost_limit": 1.0, "max_calls": 7}
    assert left(limits, stage("scores"), RunProgress(cost=99.5, calls=49)) == {"cost_limit": 0.5, "max_calls": 1}


def test_code_that_ends_the_process_fails_its_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(*_: object) -> None:
        raise SystemExit(0)

    monkeypatch.setattr("kgeval.workflows.score.prepare", ends)
    assert Performer(Session("run"))(stage("scores"), Path("log")) == 2
    log = Path("log").read_text()
    assert "Traceback" in log and "SystemExit" in log


def test_a_library_that_is_missing_is_said_in_a_dry_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacks(*_: object) -> None:
        raise ImportError("No module named 'spacy'", name="spacy")

    monkeypatch.setattr("kgeval.workflows.score.prepare", lacks)
    assert "pip install 'kgeval-toolkit[spacy]'" in planned(stage("scores"), Session("run"))


def test_stages_of_a_file_without_a_graph_are_given_the_address(tmp_path: Path) -> None:
    config = Config.model_validate({"questions": {"file": "q.jsonl"}, "systems": [{"name": "v", "spec": "vector"}]})
    made = {one.kind.name: one for one in stages_of(RunRequest(config, None, tmp_path, {"uri": "bolt://host"}))}
    assert opened(made["answers"], Session("run", "bolt://host")).connection == "bolt://host"
