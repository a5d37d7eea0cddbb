"""What a metric says that it costs is what it costs: each metric alone on one row, and the presets."""

from __future__ import annotations

from pathlib import Path

import pytest
from room import session
from scripted_judge import Judge

from kgeval.llm.fake import FakeServer
from kgeval.metrics.definition import Metric, MetricSettings
from kgeval.metrics.engine import Tools, score
from kgeval.metrics.select import select
from kgeval.metrics.signature import prompts_of
from kgeval.metrics.table import all_metrics
from kgeval.records import Answer, Citation, Passage, Question, Row

ALONE = [metric for metric in all_metrics().values() if metric.calls.isdecimal() and set(metric.tools) <= {"judge"}]
TRUE = "Paris is in France."
TEXT = "Paris is in France. Rome is in Italy."


def row() -> Row:
    """A row with everything that a metric without a graph can need."""
    passages = [Passage(text=TEXT, chunk_id="c1", document="d1"), Passage(text="Mud is brown.", chunk_id="c2", document="d1")]
    return Row(
        n=0, where="x:1",
        question=Question(
            id="1", question="Where is Paris?", reference=TRUE, evidence=[Passage(text="Paris lies in France.", chunk_id="c1")],
            points=[TRUE], statements=[TRUE], steps=[TRUE], document="d1", kind="k",
        ),
        answer=Answer(
            question_id="1", system="s", answer=TEXT, contexts=passages, citations=[Citation(claim=TRUE, chunk_id="c1")],
            reasoning=[TRUE],
        ),
    )


def calls(names: list[str], folder: Path) -> tuple[int, set[str]]:
    """Requests, and the prompts that were asked."""
    with FakeServer(Judge()) as server, session(server.base_url, folder / "j") as models:
        list(score([row()], select(names), Tools(models=models), MetricSettings()))
        return server.stats().requests, {name.removeprefix("en/") for name in models.asked().prompt_hashes}


@pytest.mark.parametrize("metric", ALONE, ids=lambda metric: metric.name)
def test_a_metric_alone_makes_the_calls_that_it_names_with_the_prompts_of_its_signature(metric: Metric, tmp_path: Path) -> None:
    made, asked = calls([metric.name], tmp_path)
    assert made == int(metric.calls)
    assert asked <= set(prompts_of(metric.asks))


@pytest.mark.parametrize(("preset", "together", "apart"), [("usual", 7, 9), ("ragchecker", 6, 33), ("lexical", 0, 0)])
def test_the_metrics_of_a_preset_share_their_calls(preset: str, together: int, apart: int, tmp_path: Path) -> None:
    assert calls([preset], tmp_path)[0] == together
    assert sum(int(metric.calls) for metric in select([preset]).metrics) == apart
