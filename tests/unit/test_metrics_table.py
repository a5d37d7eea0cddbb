"""The table of metrics: every one has its texts, asks for facts that exist, and its signature moves with what it reads."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, fields, replace
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner

from kgeval.cli.main import run
from kgeval.cli.metrics import metrics as command
from kgeval.errors import UsageError
from kgeval.llm.prompts import Prompt, load_prompt
from kgeval.metrics import pages, signature
from kgeval.metrics.definition import Metric, MetricSettings, Need, Tool
from kgeval.metrics.options import OPTIONS
from kgeval.metrics.select import LACKING, select
from kgeval.metrics.signature import Tooling, metric_info, prompts_of
from kgeval.metrics.table import EVERY, PRESETS, all_metrics
from kgeval.records import LEVELS_OF_X

DOCS = Path(__file__).resolve().parents[2] / "docs"
METRICS = list(all_metrics().values())
OTHER = {float: 0.123, int: 7, bool: True}


@pytest.fixture(params=METRICS, ids=lambda metric: metric.name)
def metric(request: pytest.FixtureRequest) -> Metric:
    found: Metric = request.param
    return found


def test_a_metric_has_a_name_a_group_and_every_text(metric: Metric) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*", metric.name)
    assert metric.group in pages.GROUPS
    assert metric.calls.strip() and metric.version >= 1
    for text in (metric.summary, metric.definition, metric.source):
        assert len(text.strip()) > 3 and "\n" not in text.strip()
    assert len(metric.summary) <= 110, "the summary is one line of a table"


def test_a_metric_says_what_it_cannot_tell(metric: Metric) -> None:
    assert len(pages.limits().get(metric.name, "")) > 20


def test_no_limits_are_written_for_metrics_that_do_not_exist() -> None:
    assert set(pages.limits()) <= set(all_metrics())


def test_a_metric_needs_only_what_a_row_can_have_and_tools_that_exist(metric: Metric) -> None:
    assert set(metric.needs) <= set(get_args(Need)) == set(LACKING) == set(pages.NEEDS)
    assert set(metric.tools) <= set(get_args(Tool)) == set(pages.TOOLS)
    assert len(set(metric.needs)) == len(metric.needs) and len(set(metric.asks)) == len(metric.asks)


def test_a_metric_asks_for_facts_that_have_a_meaning(metric: Metric) -> None:
    assert [fact for fact in metric.asks if pages.fact_words(fact) is None] == []


def test_a_metric_that_asks_a_judge_says_so_and_one_that_costs_nothing_asks_none(metric: Metric) -> None:
    asked = {fact for fact in metric.asks if ("@" in fact and not fact.endswith("@graph")) or fact.startswith(("claims", "rating"))}
    if asked:
        assert "judge" in metric.tools
    if metric.calls == "0":
        assert not asked


def test_a_metric_names_only_settings_that_exist(metric: Metric) -> None:
    assert set(metric.settings) <= {field.name for field in fields(MetricSettings)} == set(OPTIONS)


def test_every_setting_is_read_by_some_metric() -> None:
    assert {name for one in METRICS for name in one.declared} == set(OPTIONS)


def test_a_variant_has_its_base_in_the_table_and_says_how_it_differs(metric: Metric) -> None:
    base = pages.base_of(metric.name)
    if base is not None:
        assert base in all_metrics()
        assert metric.definition != all_metrics()[base].definition
        assert metric in pages.variants_of(base)


def test_two_metrics_never_share_name_or_definition() -> None:
    assert [(a.name, b.name) for a, b in combinations(METRICS, 2) if a.name == b.name or a.definition == b.definition] == []


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_names_only_metrics_that_exist_each_once_a_level(preset: str) -> None:
    for level, names in PRESETS[preset].items():
        assert level == EVERY or level in LEVELS_OF_X
        assert [name for name in names if name not in all_metrics()] == []
        assert len(set(names)) == len(names)
    assert preset not in all_metrics()
    select([preset])


def test_every_metric_stands_in_the_docs_that_people_write(metric: Metric) -> None:
    written = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md") if path.name != "cli.md")
    assert re.search(rf"\b{metric.name}\b", written)


@pytest.mark.slow
def test_the_signature_moves_with_a_setting_that_the_metric_reads_and_with_no_other(metric: Metric) -> None:
    same = metric_info(metric, MetricSettings(), Tooling()).signature
    for field in fields(MetricSettings):
        default = getattr(MetricSettings(), field.name)
        value: Any = {"leiden": "louvain"}.get(default, OTHER.get(type(default)))
        moved = metric_info(metric, replace(MetricSettings(), **{field.name: value}), Tooling()).signature
        assert (moved != same) == (field.name in metric.declared), field.name


def test_the_signature_moves_with_the_models_that_the_metric_uses_and_with_no_other(metric: Metric) -> None:
    same = metric_info(metric, MetricSettings(), Tooling()).signature
    other: dict[Tool, Tooling] = {
        "judge": Tooling(judge={"model": "m", "language": "en"}), "embedder": Tooling(embedder={"model": "e"}),
        "graph": Tooling(graph={"neo4j": "5"}),
    }
    used = {"graph" if tool == "gds" else tool for tool in metric.tools}
    if any(fact.startswith("triples:") for fact in metric.asks):
        used.add("judge")  # it makes the triples that the file does not have
    if "steps@graph" in metric.asks:
        used.add("graph")  # it tells which steps it holds, where there is one
    for tool, tooling in other.items():
        assert (metric_info(metric, MetricSettings(), tooling).signature != same) == (tool in used), tool
    newer = replace(metric, version=metric.version + 1)
    assert metric_info(newer, MetricSettings(), Tooling()).signature != same
    assert same.startswith(f"{metric.name}@{metric.version}:")


def test_the_signature_has_the_text_of_every_prompt_that_may_be_asked(metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Tooling(judge={"model": "m", "language": "en"})
    info = metric_info(metric, MetricSettings(), judge)
    assert set(info.parameters.get("prompts", {})) == set(prompts_of(metric.asks))  # type: ignore[call-overload]
    for name in prompts_of(metric.asks):
        def changed(wanted: str, _: str, name: str = name) -> Prompt:
            return replace(load_prompt(wanted), hash="another text" if wanted == name else load_prompt(wanted).hash)

        with monkeypatch.context() as patch:
            patch.setattr(signature, "load_prompt", changed)
            assert metric_info(metric, MetricSettings(), judge).signature != info.signature


def test_the_page_of_a_metric_has_all_that_is_known_of_it(metric: Metric) -> None:
    page = pages.metric_page(metric)
    texts = (
        metric.name, pages.sentence(metric.summary), pages.sentence(metric.definition), pages.spelled(metric.source), metric.calls,
    )
    assert all(text in page for text in texts)
    assert not re.search(r"\[[ZDXKM]\b", page), "papers are spelled out"
    assert all(f"`{fact}`" in page for fact in metric.asks)
    assert all(f"- `{name}` = " in page for name in metric.declared)
    assert all(f"- `{variant.name}`" in page for variant in pages.variants_of(metric.name))


def test_list_prints_every_metric_on_a_line_of_its_own_and_the_presets() -> None:
    done = CliRunner().invoke(command, ["list"])
    assert done.exit_code == 0
    first = [line.split()[0] for line in done.output.splitlines() if line.strip()]
    assert [name for name in first if name in all_metrics()] == list(all_metrics())
    assert all(preset in done.output for preset in PRESETS)


def test_list_as_json_has_everything_and_narrows_by_group_and_preset() -> None:
    said = json.loads(CliRunner().invoke(command, ["list", "--format", "json"]).output)
    assert [one["name"] for one in said["metrics"]] == list(all_metrics())
    assert set(said["presets"]) == set(PRESETS)
    settings = asdict(MetricSettings())
    assert all(one["settings"][name] == settings[name] for one in said["metrics"] for name in one["settings"])
    said = json.loads(CliRunner().invoke(command, ["list", "--format", "json", "--group", "grounding", "--preset", "ragchecker"]).output)
    assert {one["name"] for one in said["metrics"]} >= {"hallucination", "self_knowledge", "faithfulness"}
    assert {one["group"] for one in said["metrics"]} == {"grounding"}


@pytest.mark.parametrize(("arguments", "near"), [
    (["show", "faithfullness"], "faithfulness"), (["show", "graphrag-bnech"], "graphrag-bench"),
    (["list", "--group", "retreival"], "retrieval"), (["list", "--preset", "methodolgy"], "methodology"), (["show", "qqqqq"], "ragchecker"),
])
def test_an_unknown_name_exits_with_2_and_the_nearest_one(arguments: list[str], near: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["metrics", *arguments]) == UsageError("x", fix="y").exit_code == 2
    assert near in capsys.readouterr().err


@pytest.mark.parametrize("preset", PRESETS)
def test_show_prints_a_preset_by_level(preset: str) -> None:
    done = CliRunner().invoke(command, ["show", preset])
    assert done.exit_code == 0 and "(not there)" not in done.output
    assert all(f"- {name}: " in done.output for names in PRESETS[preset].values() for name in names)
    assert all(level in done.output for level in PRESETS[preset] if level != EVERY)
