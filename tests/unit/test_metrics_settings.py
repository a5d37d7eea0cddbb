"""A metric and a fact get the settings that they declare and no others, and a signature stands for exactly these."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import kgeval.metrics
from kgeval.errors import UndeclaredSettingError
from kgeval.metrics import bertscore, definition
from kgeval.metrics.definition import (
    SETTING_NAMES,
    Metric,
    MetricSettings,
    MetricValue,
    SettingsView,
    Subject,
    scored,
)
from kgeval.metrics.engine import Tools, result, score
from kgeval.metrics.facts import (
    FACT_SETTINGS,
    Cosines,
    CypherRun,
    Expired,
    Grounded,
    ItemVerdicts,
    JudgedItem,
    PairCounts,
    RowFacts,
    StoredMatches,
    TextList,
    Triples,
)
from kgeval.metrics.own import criterion_metric
from kgeval.metrics.own import metric as own_metric
from kgeval.metrics.select import Selection
from kgeval.metrics.signature import Tooling, metric_info
from kgeval.metrics.table import all_metrics
from kgeval.records import Answer, Citation, GoldPath, Passage, Question, Row, Triple

METRICS = list(all_metrics().values())
OTHER: dict[type, Any] = {float: 0.123, int: 7, bool: True}
CLAIMS = ItemVerdicts(tuple(JudgedItem(n, f"claim {n}", "supported", rating=1.0, sources=(1,)) for n in (1, 2)))
ROW = Row(
    n=0, where="x:1",
    question=Question(
        id="q", question="Who built the mill?", reference="Ada built the mill.", evidence=[Passage(text="Ada built it.", chunk_id="c")],
        points=["Ada"], statements=["Ada built it."], steps=["Ada built it."], document="d", cypher="RETURN 1", kind="k",
        path=GoldPath(text=["Ada built it."]),
    ),
    answer=Answer(
        question_id="q", system="s", answer="Ada built it.", contexts=[Passage(text="Ada built it.", chunk_id="c")],
        citations=[Citation(document="d")], cypher="RETURN 1", retrieved_nodes=["4:x:1"], reasoning=["Ada built it."],
    ),
)


class Every(dict[str, Any]):
    """A fact of one kind under every name."""

    def __init__(self, fact: Any) -> None:
        super().__init__()
        self._fact = fact

    def __missing__(self, name: str) -> Any:
        return self._fact

    def get(self, name: str, default: Any = None) -> Any:
        return self._fact


def all_facts() -> RowFacts:
    """Facts of a row of which everything is known, so that a metric comes to its end."""
    pair = PairCounts(
        entities=2, context_entities=2, matched=1, triples=2, triples_matched=1, by_entity=(0.5,), by_community=(0.5,), modularity=(0.1,),
    )
    return RowFacts(
        texts=Every(TextList(("claim 1", "claim 2"))), checks=Every(CLAIMS), cosines=Every(Cosines((0.5,))),
        triples=Every(Triples((Triple(subject="Ada", predicate="built", object="it"),))), pairs=Every(pair),
        stored=StoredMatches(entities=2, matched=1), grounded=Grounded(CLAIMS, ("4:x:1",), ("t",)),
        cypher=CypherRun(valid=True, matches=True, rows=1, gold_rows=1), expired=Expired(1, 1, 0),
    )


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """Names of the settings that are read through a view."""
    names: set[str] = set()

    class Probe(SettingsView):
        def __getattribute__(self, name: str) -> Any:
            if name in SETTING_NAMES:
                names.add(name)
            return super().__getattribute__(name)

    monkeypatch.setattr(definition, "SettingsView", Probe)
    yield names


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_reads_each_setting_that_it_declares_and_no_other(
    metric: Metric, reads: set[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Scorer:
        def score(self, *_: object) -> Any:
            import numpy as np

            return [np.ones(1)] * 3

    monkeypatch.setattr(bertscore, "load_scorer", lambda _model: Scorer())
    value = metric.value(Subject(ROW, all_facts(), MetricSettings()))
    assert value.status == "scored" or not metric.settings, value
    assert reads == set(metric.settings)


def reading(name: str, *settings: str, asks: tuple[str, ...] = ()) -> Metric:
    """A metric that reads tau, and declares `settings`."""
    def compute(subject: Subject) -> MetricValue:
        return scored(subject.settings.tau)

    return Metric(name, "own", "s", "d", "here", compute, settings=settings, asks=asks)


def test_a_metric_that_reads_an_undeclared_setting_ends_the_run_with_its_name_and_the_settings() -> None:
    lying = reading("lying", "delta")
    with pytest.raises(UndeclaredSettingError, match=r"metric lying reads the setting tau, which it does not declare.*declared: delta"):
        lying.value(Subject(ROW, RowFacts(), MetricSettings()))
    with pytest.raises(UndeclaredSettingError, match="metric lying reads the setting tau"):
        list(score([ROW], Selection((lying,), {}), Tools(), MetricSettings()))
    honest = result(Subject(ROW, RowFacts(), MetricSettings(tau=0.25)), Selection((reading("honest", "tau"),), {}), Tools())
    assert honest.scores[0].value == 0.25


def test_no_way_round_leads_to_the_settings_of_the_run() -> None:
    def sly(subject: Subject) -> MetricValue:
        return scored(subject.run_settings.tau)

    def default(subject: Subject) -> MetricValue:
        return scored(getattr(subject.settings, "tau", 0.5))

    for compute in (sly, default):
        with pytest.raises(UndeclaredSettingError, match="metric mine reads the setting tau"):
            Metric("mine", "own", "s", "d", "here", compute).value(Subject(ROW, RowFacts(), MetricSettings()))


def test_a_setting_that_a_fact_is_found_out_with_does_not_reach_a_metric_that_reads_it_itself() -> None:
    """Else a metric could read what its fact declares today and no longer declares tomorrow."""
    with pytest.raises(UndeclaredSettingError, match="reads the setting tau"):
        reading("m", asks=("pairs:faithfulness",)).value(Subject(ROW, RowFacts(), MetricSettings()))


def test_a_fact_gets_what_it_declares_and_no_more() -> None:
    subject = Subject(ROW, RowFacts(), MetricSettings(tau=0.9, query_timeout=7))
    assert subject.settings_for("pairs:faithfulness").values == {"tau": 0.9}
    assert subject.settings_for("triples:contexts").query_timeout == 7
    undeclared = {"pairs:faithfulness": "delta", "triples:answer": "query_timeout", "cypher": "ordered", "points": "community_seed"}
    for fact, name in undeclared.items():
        with pytest.raises(UndeclaredSettingError, match=f"fact {fact} reads the setting {name}, which it does not declare"):
            getattr(subject.settings_for(fact), name)


def test_only_the_settings_there_are_can_be_declared() -> None:
    with pytest.raises(AttributeError, match="tow"):
        reading("m", "tow").value(Subject(ROW, RowFacts(), MetricSettings()))
    assert {name for names in FACT_SETTINGS.values() for name in names} <= set(SETTING_NAMES)


def test_nothing_but_the_definition_and_who_hands_them_on_names_the_settings_of_a_run() -> None:
    folder = Path(next(iter(kgeval.metrics.__path__)))
    named = {str(path.relative_to(folder)) for path in folder.rglob("*.py") if re.search(r"\.run_settings\b", path.read_text())}
    assert named == {"definition.py", "references.py"}


def test_the_signature_stands_for_the_view_of_a_metric_with_that_of_its_facts() -> None:
    metric = all_metrics()["kg_matching_faithfulness"]
    view = metric.settings_view(MetricSettings(tau=0.8))
    parameters = metric_info(metric, MetricSettings(tau=0.8), Tooling()).parameters
    held = {"tau": 0.8, "delta": 0.5, "edge_cost": 0.1, "undirected": False, "query_timeout": 30.0}
    assert view.values == held and {name: parameters[name] for name in parameters if name in SETTING_NAMES} == held
    assert "query_timeout" in all_metrics()["kg_grounding"].declared and "query_timeout" in all_metrics()["stale_context_share"].declared
    assert "ordered" not in all_metrics()["cypher_valid"].declared


def test_two_settings_of_one_metric_have_two_signatures_where_it_declares_them_and_one_where_not() -> None:
    metric = reading("honest", "tau", asks=("cypher:match",))
    same = metric_info(metric, MetricSettings(), Tooling()).signature
    for field in fields(MetricSettings):
        default = getattr(MetricSettings(), field.name)
        other = replace(MetricSettings(), **{field.name: {"leiden": "louvain"}.get(default, OTHER.get(type(default), "another"))})
        assert (metric_info(metric, other, Tooling()).signature != same) == (field.name in ("tau", "ordered")), field.name


def test_what_the_user_sets_of_a_layout_is_in_the_signature_of_what_reads_the_graph() -> None:
    plain = Tooling(graph={"neo4j": "5", "layout": "generic"})
    mine = Tooling(graph={"neo4j": "5", "layout": "generic", "layout_settings": {"keys": {"name_keys": "title"}}})
    for name, moves in (("kg_grounding", True), ("stepwise_accuracy", True), ("token_f1", False)):
        infos = [metric_info(all_metrics()[name], MetricSettings(), tooling).signature for tooling in (plain, mine)]
        assert (infos[0] != infos[1]) == moves, name


def test_metrics_of_ones_own_get_no_settings() -> None:
    import kgeval as api

    @own_metric
    def mine(row: api.MetricRow) -> float:
        assert not hasattr(row, "settings")
        return 1.0

    graded = criterion_metric(api.Criterion(name="helpful", question="Does it help?", grades={1: "no", 2: "yes"}))
    assert mine.metric.declared == graded.declared == ()
    assert mine.metric.value(Subject(ROW, RowFacts(), MetricSettings())).value == 1.0


def test_views_are_equal_where_what_they_hold_is() -> None:
    def view(reader: str, settings: MetricSettings) -> SettingsView:
        return SettingsView(reader, settings, ("tau",))

    assert view("a", MetricSettings()) == view("b", MetricSettings(delta=0.1)) != view("a", MetricSettings(tau=0.1))
    assert "tau" in repr(view("a", MetricSettings())) and len({view("a", MetricSettings()), view("b", MetricSettings())}) == 1
    with pytest.raises(UndeclaredSettingError):
        SettingsView("another", view("a", MetricSettings()), ("delta",))
