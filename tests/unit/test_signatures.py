"""What makes two runs the same: every setting that decides the rows or the verdicts is in the mark that a resumed run compares."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kgeval.comparison.align.rule import AlignmentRule
from kgeval.comparison.judge.grades import chosen_aspects
from kgeval.comparison.judge.procedures import judge_procedure
from kgeval.comparison.verdict_store import ProcedureRun
from kgeval.llm.calls import Endpoint
from kgeval.metrics.select import Selection
from kgeval.metrics.table import all_metrics
from kgeval.workflows.compare import signature_of
from kgeval.workflows.score import fingerprint


def of_scores(levels: dict[str, frozenset[str]]) -> str:
    scoring: Any = SimpleNamespace(
        infos=[SimpleNamespace(signature="token_f1@1:0")], selection=Selection((all_metrics()["token_f1"],), levels),
        options=SimpleNamespace(trials=1),
    )
    rows: Any = SimpleNamespace(digest=lambda: "rows")
    return fingerprint(scoring, rows)


def test_scores_of_a_metric_for_other_levels_are_another_run() -> None:
    marks = {of_scores({}), of_scores({"token_f1": frozenset({"path"})}), of_scores({"token_f1": frozenset({"path", "fact"})})}
    assert len(marks) == 3
    assert of_scores({"token_f1": frozenset({"a", "b"})}) == of_scores({"token_f1": frozenset({"b", "a"})})


JUDGE = Endpoint("judge", "http://one/v1", {"temperature": 0}, name="one")


def session(endpoint: Endpoint, hashes: str = "h") -> Any:
    return SimpleNamespace(endpoint=endpoint, language="en", prompt=lambda name: SimpleNamespace(hash=f"{name}-{hashes}"))


def of_comparison(rule: AlignmentRule, reader: Any = None, judge: Any = None) -> str:
    run = ProcedureRun(judge_procedure("scores", chosen_aspects(())), trials=1, repeats=1, aligned=rule.on)
    comparison: Any = SimpleNamespace(
        settings=SimpleNamespace(main=run, rule=rule, show="none", tie_region=0.0), options=SimpleNamespace(stop_when_sure=False),
        opened=SimpleNamespace(
            models=judge or session(JUDGE), padding=None, tools=SimpleNamespace(models=reader),
            aligned=SimpleNamespace(trial_kind="rejudge"),
        ),
    )
    return signature_of(comparison)


FORCED = AlignmentRule()


def test_who_adds_words_stands_in_the_signature_of_a_comparison_with_address_and_parameters() -> None:
    reader = Endpoint("reader", "http://one/v1", {"temperature": 0}, name="one")
    others = [replace(reader, name="two"), replace(reader, parameters={"temperature": 1}), replace(reader, model="other")]
    marks = {of_comparison(FORCED, session(endpoint)) for endpoint in (reader, *others)}
    assert len(marks) == 4 and of_comparison(FORCED, session(reader)) in marks
    assert of_comparison(FORCED, session(reader, "new prompts")) not in marks


@pytest.mark.parametrize("rule", [replace(FORCED, on=False), replace(FORCED, force=False)])
def test_where_no_words_are_added_the_reader_changes_nothing(rule: AlignmentRule) -> None:
    reader = Endpoint("reader", "http://one/v1", {}, name="one")
    assert of_comparison(rule, session(reader)) == of_comparison(rule, session(replace(reader, name="two"))) == of_comparison(rule)
