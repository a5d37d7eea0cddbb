"""Leaves users' texts out of completeness and accuracy reports: names, facts, passages and documents become short hashes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from kgeval.records import (
    AccuracyReport,
    CompletenessReport,
    Estimate,
    FactRetention,
    GoldMatch,
    GoldSet,
    ItemVerdict,
    Passage,
)
from kgeval.reports.redact import Hasher, hasher, redacted_finding, redacted_ref

T = TypeVar("T")


def redacted_completeness(report: CompletenessReport) -> CompletenessReport:
    """The report without names, facts, passages, documents, faulty rows and notes that may quote them. Types and figures stay."""
    hashed = hasher(report)
    control = report.control
    return report.model_copy(update={
        "gold": _gold(report.gold, hashed), "by_document": _keys(report.by_document, hashed),
        "control": control and control.model_copy(update={"how": hashed(control.how)}),
        "control_missing": report.control_missing and hashed(report.control_missing),
        "matched": [_match(item, hashed) for item in report.matched], "missing": [_match(item, hashed) for item in report.missing],
        "facts": report.facts and _facts(report.facts, hashed), "sample": [_passage(one, hashed) for one in report.sample],
        "findings": [redacted_finding(finding, hashed) for finding in report.findings],
        "notes": _all(report.notes, hashed), "ideal": report.ideal and report.ideal.model_copy(update={
            "notes": _all(report.ideal.notes, hashed),
        }),
    })


def redacted_accuracy(report: AccuracyReport) -> AccuracyReport:
    """The report without names, passages, documents, reasons and notes that may quote them. Types, labels and figures stay."""
    hashed = hasher(report)
    by_document = [_estimate(one, hashed) for one in report.by_document]
    types = {one.of for one in report.by_type}

    def stratum(name: str) -> str:
        return name if name in types else hashed(name)

    return report.model_copy(update={
        "by_document": by_document, "items": [_item(item, hashed, stratum) for item in report.items],
        "passages": [_passage(passage, hashed) for passage in report.passages],
        "design": report.design.model_copy(update={"strata": _keys(report.design.strata, stratum)}),
        "findings": [redacted_finding(finding, hashed) for finding in report.findings], "notes": _all(report.notes, hashed),
    })


def _gold(gold: GoldSet, hashed: Hasher) -> GoldSet:
    update = {"documents": _all(gold.documents, hashed), "faults": _all(gold.faults, hashed), "notes": _all(gold.notes, hashed)}
    return gold.model_copy(update=update)


def _match(item: GoldMatch, hashed: Hasher) -> GoldMatch:
    return item.model_copy(update={
        "name": hashed(item.name), "document": _maybe(item.document, hashed), "why": _maybe(item.why, hashed),
        "found": [redacted_ref(ref, hashed) for ref in item.found],
    })


def _facts(facts: FactRetention, hashed: Hasher) -> FactRetention:
    shown = [
        fact.model_copy(update={
            "id": hashed(fact.id), "fact": hashed(fact.fact), "document": _maybe(fact.document, hashed),
            "reason": _maybe(fact.reason, hashed), "retrieved": _all(fact.retrieved, hashed),
        })
        for fact in facts.facts
    ]
    return facts.model_copy(update={"facts": shown, "notes": _all(facts.notes, hashed)})


def _item(item: ItemVerdict, hashed: Hasher, stratum: Hasher) -> ItemVerdict:
    return item.model_copy(update={
        "id": hashed(item.id), "item": redacted_ref(item.item, hashed), "text": hashed(item.text), "reason": _maybe(item.reason, hashed),
        "stratum": _maybe(item.stratum, stratum), "cluster": _maybe(item.cluster, hashed),
    })


def _passage(passage: Passage, hashed: Hasher) -> Passage:
    return passage.model_copy(update={
        "text": hashed(passage.text), "chunk_id": _maybe(passage.chunk_id, hashed), "document": _maybe(passage.document, hashed),
    })


def _estimate(one: Estimate, hashed: Hasher) -> Estimate:
    return one.model_copy(update={"of": hashed(one.of)})


def _keys(table: Mapping[str, T], hashed: Hasher) -> dict[str, T]:
    return {hashed(name): value for name, value in table.items()}


def _all(texts: Iterable[str], hashed: Hasher) -> list[str]:
    return [hashed(text) for text in texts]


def _maybe(text: str | None, hashed: Hasher) -> str | None:
    return None if text is None else hashed(text)
