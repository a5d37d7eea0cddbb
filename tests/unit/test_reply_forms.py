"""The reply forms as they are sent: models write fields in the schema's order, so a reason must stand before what it is the reason for."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

import kgeval
from kgeval.comparison.judge import replies as judge_replies
from kgeval.llm.calls import Endpoint, Reply, Tagged
from kgeval.llm.request import Request
from kgeval.llm.schemas import MODES, shape_of

NOT_HERE = ("kgeval.systems.adapters", "kgeval.llm.fake.__main__", "kgeval.__main__")  # scripts that run in other environments
REASONS = {"reason", "explanation"}


def reply_forms() -> list[type[Reply]]:
    """Every reply class of the package, and those that a comparison makes for its aspects."""
    for module in pkgutil.walk_packages(kgeval.__path__, "kgeval."):
        if not module.name.startswith(NOT_HERE):
            importlib.import_module(module.name)
    made = [make(["relevance", "comprehensiveness"]) for make in (
        judge_replies.graded_pairs, judge_replies.graded, judge_replies.chosen, judge_replies.forced,
    )]
    own = [form for form in subclasses(Reply) if form.__module__.startswith("kgeval.") and form is not Tagged]
    return list(dict.fromkeys([*own, *made]))


def subclasses(parent: type[Reply]) -> Iterator[type[Reply]]:
    for form in parent.__subclasses__():
        yield form
        yield from subclasses(form)


def objects(node: Any) -> Iterator[dict[str, Any]]:
    """Every object of a schema that has named fields."""
    if isinstance(node, list):
        for part in node:
            yield from objects(part)
    elif isinstance(node, dict):
        if isinstance(node.get("properties"), dict) and node.get("type") == "object":
            yield node
        for part in node.values():
            yield from objects(part)


def sent_schema(form: type[Reply], mode: str) -> Any:
    """The schema as it stands in the request's bytes, for a mode that sends one; in the others the text that stands for it."""
    request = Request(Endpoint("m", "http://127.0.0.1:1/v1"), "system", "user", shape_of(form), prompt="p", prompt_hash="h", stage="s")
    body = json.loads(json.dumps(request.body(mode)))  # type: ignore[arg-type]
    if mode == "json_schema":
        return body["response_format"]["json_schema"]["schema"]
    if mode == "object_schema":
        return body["response_format"]["schema"]
    return json.loads(body["messages"][0]["content"].split("JSON Schema:\n")[1])


FORMS = reply_forms()


def test_there_are_forms_with_reasons() -> None:
    assert len(FORMS) > 50
    assert sum(any(REASONS & set(part["properties"]) for part in objects(shape_of(form).schema)) for form in FORMS) >= 22


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.__module__.removeprefix('kgeval.')}.{form.__name__}")
def test_fields_are_sent_as_declared_and_a_reason_before_what_it_decides(form: type[Reply]) -> None:
    for mode in MODES:
        schema = sent_schema(form, mode)
        shown = list(schema["properties"])
        assert shown == [name for name in form.model_fields if name in shown]
        for part in objects(schema):
            names = [name for name in part["properties"] if name != "tag"]
            assert part["required"] == list(part["properties"])
            assert not REASONS & set(names[1:]), f"{names}: the reason comes first"
