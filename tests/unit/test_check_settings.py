"""A check gets the settings that its rule declares and no others; its signature stands for exactly these."""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, get_args

import pytest

from kgeval.auditing import engine, rulebook
from kgeval.auditing.check import CheckRun, CheckSettings, Embedding
from kgeval.auditing.diff_sides import why_incomparable
from kgeval.auditing.engine import EngineOptions, check_settings
from kgeval.auditing.partial_scan import PartialScan
from kgeval.auditing.rulebook import Rule, Wide, load_rules
from kgeval.errors import UndeclaredSettingError
from kgeval.graph.queries import all_queries
from kgeval.records import Finding, Layout

RULES = load_rules()
OTHER: dict[type, Any] = {float: 0.123, int: 7, str: "another"}


class Model:
    """As much of an Embedder as a signature needs."""

    endpoint = None

    def __init__(self, name: str) -> None:
        self.name = name


def finding(rule: Rule, options: EngineOptions) -> Finding:
    return engine._finding(rule, Layout(name="a"), "passed", options)


def signature(rule: Rule, **options: Any) -> str:
    made = finding(rule, EngineOptions([rule], **options)).signature
    assert made is not None
    return made


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_the_signature_of_a_finding_moves_with_each_setting_of_its_rule_and_with_no_other(rule: Rule) -> None:
    same = signature(rule)
    assert re.fullmatch(rf"{rule.id}:[0-9a-f]{{12}}", same)
    for name, default in rule.settings.items():
        other = (not default) if isinstance(default, bool) else OTHER[type(default)]
        assert signature(rule, settings={rule.id: {name: other}}) != same, name
        assert signature(rule, settings={rule.id: {name: default}}) == same, "the default, written out"
    foreign = {other.id: dict.fromkeys(other.settings, 1) for other in RULES.values() if other.id != rule.id}
    assert signature(rule, settings=foreign, examples=0, timeout=1.0, concurrent_queries=4) == same
    assert (signature(rule, schema={"types": ["Person"]}) != same) == ("schema" in rule.reads)
    models = [signature(rule, embedding=Embedding(Model(name))) for name in ("m", "n")]  # type: ignore[arg-type]
    assert len({same, *models}) == (3 if "embedding" in rule.reads else 1)
    assert signature(rule, part=PartialScan(0.1, 3)) == same, "of a sample the same is asked, of fewer things"


def test_words_are_part_of_what_a_check_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = RULES["pronoun-entity"]
    same = signature(rule)
    monkeypatch.setattr(rulebook, "word_list", lambda stem: ["thee"])
    assert signature(rule) != same


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_a_check_declares_what_its_query_and_its_step_read_of_the_whole_audit(rule: Rule) -> None:
    declared = {param.name for param in all_queries()[rule.id].params}
    assert ("schema" in rule.reads) == ("schema" in declared)
    assert ("part" in rule.reads) == ("sample_share" in declared) == ("sample_seed" in declared)
    source = inspect.getsource(importlib.import_module(rule.step)) if rule.step else ""
    if "embedding" not in rule.reads:
        assert not re.search(r"\b(neighbours|cosines)\(|\.embedding\b", source)
    for name in re.findall(r"settings\[.(\w+).\]", source):
        assert name in {*rule.settings, *rule.words, *rule.reads}
    assert set(rule.reads) <= set(get_args(Wide))


def test_a_check_that_reads_what_it_does_not_declare_is_told_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = RULES["type-inconsistency"]
    settings = check_settings(rule, EngineOptions([rule]))
    assert set(settings) == {*rule.settings, *rule.words} and "part" not in settings
    for read in (lambda: settings["min_cosine"], lambda: settings.get("min_cosine", 0.5)):
        with pytest.raises(UndeclaredSettingError, match=r"check type-inconsistency reads the setting min_cosine.*not declare.*declared: "):
            read()
    graph: Any = None
    run = CheckRun(graph, Layout(name="a"), query=all_queries()[rule.id], settings=settings)
    for name in ("part", "embedding"):
        with pytest.raises(UndeclaredSettingError, match=f"check type-inconsistency reads the setting {name}"):
            getattr(run, name)


def test_in_an_audit_such_a_check_is_an_error_with_that_reason_and_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = RULES["type-inconsistency"].model_copy(update={"needs": []})

    class Step:
        @staticmethod
        def run(check: CheckRun) -> Any:
            return check.settings["top_k"]

    monkeypatch.setattr(engine.importlib, "import_module", lambda _: Step)
    graph: Any = SimpleNamespace(info=SimpleNamespace(hidden=[]))
    found, _ = engine._run(graph, Layout(name="a"), rule, EngineOptions([rule]), engine.PartResult(value={}), None)
    assert found.status == "error" and found.count is None
    assert "the check type-inconsistency reads the setting top_k, which it does not declare" in (found.reason or "")


def test_two_audits_with_other_embeddings_are_not_compared_as_if_they_asked_the_same() -> None:
    rule = RULES["fragmented-entity"]
    plain = finding(rule, EngineOptions([rule]))
    embedded = finding(rule, EngineOptions([rule], embedding=Embedding(Model("m"))))  # type: ignore[arg-type]
    assert plain.settings == embedded.settings and plain.parameters == embedded.parameters
    assert why_incomparable(plain, plain) is None
    assert why_incomparable(plain, embedded) == "it read other words, or other embeddings"
    moved = finding(rule, replace(EngineOptions([rule]), settings={rule.id: {"max_crowd": 7}}))
    assert (why_incomparable(plain, moved) or "").startswith("max_crowd = ")


def test_a_view_is_a_mapping_of_what_it_holds() -> None:
    view = CheckSettings("c", {"a": 1, "part": PartialScan(0.5)})
    assert dict(view) == {"a": 1, "part": PartialScan(0.5)} and len(view) == 2 and "b" not in view
