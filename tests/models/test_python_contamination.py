"""`kgeval.contamination` from Python: rows of every kind, what the command gives, a judge that is asked once, a plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from test_contamination import CLOSED_RIGHT, alone, both, contamination, judge, report_in, world  # noqa: F401  # alone: a fixture

import kgeval
from kgeval.errors import InputError, UsageError
from kgeval.llm.fake import FakeServer
from kgeval.llm.plan import Plan


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("form", ["list", "iterator", "frame", "frames", "files"])
def test_rows_of_every_kind_give_what_the_command_gives(form: str, tmp_path: Path) -> None:
    paths = world(tmp_path)
    closed, vector = rows(paths["closed-book"]), rows(paths["vector"])
    answers: Any = {
        "list": closed + vector, "iterator": iter(closed + vector), "frame": pd.DataFrame(closed + vector),
        "frames": [pd.DataFrame(closed), pd.DataFrame(vector)], "files": [paths["closed-book"], paths["vector"]],
    }[form]
    known = kgeval.contamination(iter(rows(paths["questions"])), answers=answers, config=False)
    assert contamination(*both(paths), "-o", tmp_path / "r.json", "-q") == 0
    expected = report_in(tmp_path)
    beside = {"run", "notes"}  # notes name files
    assert known.report.model_dump(exclude=beside) == expected.model_dump(exclude=beside)
    assert (known.marked, known.exit_code, known.messages, known.gates) == (list(CLOSED_RIGHT), 0, (), [])
    table = known.to_pandas().set_index(["system", "metric"])
    whole = table.loc[("vector", "contains")]
    assert (whole["value"], whole["n"], whole["n_without"]) == (7 / 8, 8, 5) and whole["value_without"] == 4 / 5
    assert "questions" in {file.path for file in known.report.run.inputs}
    assert json.loads(known.save("again.json").read_text(encoding="utf-8"))["marked"] == known.marked


def test_scores_that_were_made_are_not_made_again_and_a_judge_is_planned_first(tmp_path: Path) -> None:
    paths = world(tmp_path)
    questions, answers = paths["questions"], rows(paths["closed-book"]) + rows(paths["vector"])
    with FakeServer(judge) as server:
        options: dict[str, Any] = {"judge": "j", "base_url": server.base_url, "journal": tmp_path / "j.sqlite", "config": False}
        plan = kgeval.contamination(questions, answers=answers, dry_run=True, **options)
        assert isinstance(plan, Plan) and server.stats().requests == 0
        judged = kgeval.contamination(questions, answers=answers, **options)
        asked = server.stats().requests
        assert plan.calls[0] <= asked <= plan.calls[1] and (judged.report.metric, judged.report.how) == ("binary_accuracy", "judge")
        scores = kgeval.score(answers, questions=questions, metrics="binary_accuracy", **options)
        given = kgeval.contamination(questions, scores=scores, closed_book="closed-book", config=False)
        assert server.stats().requests == asked, "finished calls are never paid twice"
    assert given.marked == judged.marked == list(CLOSED_RIGHT)


def test_a_budget_ends_early_and_raises_nothing(tmp_path: Path) -> None:
    paths = world(tmp_path)
    with FakeServer(judge) as server:
        known = kgeval.contamination(
            paths["questions"], answers=[paths["closed-book"], paths["vector"]], judge="j", base_url=server.base_url,
            journal=tmp_path / "j.sqlite", max_calls=2, max_concurrency=1, config=False,
        )
    assert known.exit_code == 3 and known.messages[0].startswith("incomplete: ")


def test_documents_with_dates_come_as_rows_and_faults_are_told_at_once(tmp_path: Path) -> None:
    paths = world(tmp_path)
    dated = [{"document": "old", "published": 1900}, {"document": "new", "published": "2030-01-01"}]
    options: dict[str, Any] = {"answers": [paths["closed-book"], paths["vector"]], "config": False}
    known = kgeval.contamination(paths["questions"], documents=dated, model_cutoff="2024-06", **options)
    assert {one.document: one.known for one in known.report.documents} == {"old": True, "new": False}
    with pytest.raises(InputError, match=r"documents"):
        kgeval.contamination(paths["questions"], documents=[{"document": "old", "published": "long ago"}], model_cutoff="2024", **options)
    with pytest.raises(UsageError) as caught:
        kgeval.contamination(paths["questions"], model_cutoff="2024", reader="r", right_from=0.5, config=False)
    for part in ("neither answers nor scores", "documents and model_cutoff belong together", "reader is for probe"):
        assert part in str(caught.value)
