"""Hits of all checks of duplicates as one list, by hand."""

from __future__ import annotations

from typing import Any

from kgeval.auditing.possible_duplicates import possible_duplicates
from kgeval.records import Example, Finding, GraphRef


def found(rule: str, *examples: tuple[list[str], str], group: str = "duplicates", **more: Any) -> Finding:
    listed = [Example(items=[thing(name) for name in names], why=why, **more) for names, why in examples]
    return Finding.model_validate({
        "rule_id": rule, "group": group, "status": "failed", "severity": "warning", "title": rule, "count": len(listed), "examples": listed,
    })


def thing(name: str) -> GraphRef:
    """`Ada/Person/7`: a name, a type, an element id."""
    shown, type_, element_id = name.split("/")
    return GraphRef(key=shown, name=shown, type=type_, element_id=element_id)


def test_the_surest_come_first_and_what_several_checks_found_stands_once() -> None:
    listed = possible_duplicates([
        found("similar-entity", (["Lake/Place/1", "Loch/Place/2"], "cosine 0.97")),
        found(
            "fragmented-entity", (["J. Okafor/Person/3", "Jonas Okafor/Person/4"], "initials"),
            (["Cara Bangley/Person/6", "Caraa Bangley/Person/5"], "spelling variant"), (["Acme Ltd/Firm/7", "ACME LTD/Firm/8"], "spacing"),
        ),
        found("same-record", (["Caraa Bangley/Person/5", "Cara Bangley/Person/6"], "the same phone")),
        found("type-conflict", (["Prize/Event/9", "Prize/Organization/10"], "")),
        found("duplicate-name", (["Ada/Person/11", "ada/Person/12", "Ada/Person/13"], "3 are called 'ada'")),
        found("isolated-entity", (["Bob/Person/14", "Bob/Person/15"], ""), group="connectivity"),
        found("duplicate-name", (["Eve/Person/16", "Eve/Person/17"], ""), waived="twins"),
    ])
    assert [(one.certainty, [item.name for item in one.items], one.checks) for one in listed] == [
        ("sure", ["Acme Ltd", "ACME LTD"], ("fragmented-entity",)),
        ("sure", ["Ada", "ada", "Ada"], ("duplicate-name",)),
        ("likely", ["Cara Bangley", "Caraa Bangley"], ("fragmented-entity", "same-record")),
        ("likely", ["J. Okafor", "Jonas Okafor"], ("fragmented-entity",)),
        ("likely", ["Prize", "Prize"], ("type-conflict",)),
        ("possible", ["Lake", "Loch"], ("similar-entity",)),
    ]
    assert listed[2].why == ("spelling variant", "the same phone")
