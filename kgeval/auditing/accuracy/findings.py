"""What the verdicts say is wrong, as findings of the group accuracy: they stand beside the checks in an audit report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgeval.auditing.accuracy.sample import Sample, SampleItem
from kgeval.records import AccuracyKind, Example, Finding, ItemVerdict, Severity

WHY = 600


@dataclass(frozen=True)
class Ailment:
    """One kind of fault: the label or flag that tells it, and the words of its finding."""

    rule_id: str
    mark: str
    severity: Severity
    title: str
    advice: str


AILMENTS: dict[AccuracyKind, tuple[Ailment, ...]] = {
    "relations": (
        Ailment("contradicted-relation", "contradicted", "error", "Relations that their passages contradict",
                "Remove or correct them: a traversal takes each as true. If there are many, look at the extraction prompt and model."),
        Ailment("unsupported-relation", "not_stated", "warning", "Relations that their passages do not state",
                "Check the source: either the fact was invented, or the relation points to the wrong passage."),
        Ailment("redundant-relation", "redundant", "info", "Relations that repeat another one of the same passage",
                "Merge relations that say the same fact; agree on one name a relation type."),
        Ailment("irrelevant-relation", "irrelevant", "info", "Relations that nobody would look up",
                "Leave page furniture out of the texts, and tell the extractor which relation types matter."),
    ),
    "entities": (
        Ailment("not-an-entity", "not_an_entity", "warning", "Entities that are no definite things of their passages",
                "Remove them or join them to what they stand for; they draw unrelated facts together."),
        Ailment("wrong-entity-type", "wrong_type", "warning", "Entities whose type their passages do not bear out",
                "Correct the type; give the extractor a list of types with a sentence each."),
    ),
    "duplicates": (
        Ailment("false-duplicate", "different", "info", "Listed duplicates that are two different things",
                "Do not merge these pairs; the share tells how far the lists of the duplicate checks can be trusted."),
    ),
}


INCONSISTENT = Ailment(
    "inconsistent-use", "inconsistent", "warning", "Types or predicates that the graph does not use so elsewhere",
    "Agree on one name for each type and predicate (--schema of kgeval build), and map the others to it.",
)


def findings(items: Sequence[ItemVerdict], kind: AccuracyKind, sample: Sample, *, most: int = 20) -> list[Finding]:
    """One finding a kind of fault, over the items of the sample with a label; people's labels count more than the judge's."""
    known = [item for item in items if item.human or item.label]
    by_people = sum(item.human is not None for item in known)
    drawn = f"a sample of {sample.design.drawn} of {sample.design.population} {kind}: the share is an estimate, see the accuracy report"
    reason = f"{drawn}; labels of a model{f', {by_people} of people' if by_people else ''}" if by_people < len(known) else drawn
    sampled = {item.id: item for item in sample.items}
    out = []
    uses = [item for item in items if item.consistency]
    for ailment in (*AILMENTS[kind], *([INCONSISTENT] if uses else [])):
        if ailment is INCONSISTENT:
            known, reason = uses, f"{drawn}; labels of people"
        hits = [item for item in known if _has(item, ailment.mark)]
        out.append(Finding(
            rule_id=ailment.rule_id, group="accuracy", severity=ailment.severity, title=ailment.title, advice=ailment.advice,
            status="skipped" if not known else "failed" if hits else "passed",
            count=len(hits) if known else None, total=len(known) if known else None, total_of=f"judged {kind}",
            share=len(hits) / len(known) if known else None, threshold="share <= 0",
            reason=reason if known else "no item has a label",
            examples=[_example(item, sampled[item.id]) for item in hits[:most]],
        ))
    return out


def _has(item: ItemVerdict, mark: str) -> bool:
    """Whether the item is marked so. A flag of the judge's falls away where people say that the relation is wrong."""
    if mark == INCONSISTENT.mark:
        return item.consistency == mark
    if mark in item.flags:
        return item.human in (None, "entailed")
    return (item.human or item.label) == mark


def _example(item: ItemVerdict, sampled: SampleItem) -> Example:
    """Who says so, the reason, and the passage."""
    use = [f"consistency: {item.consistency}"] if item.consistency else []
    why = f"people: {item.human}" if item.human else f"judge: {item.reason or item.label}"
    why = "; ".join([why, *use])
    if sampled.passages:
        text = " ".join(sampled.passages[0].text.split())
        shown = text if len(text) <= WHY else f"{text[:WHY]}..."
        why = f"{why} | passage {sampled.passages[0].chunk_id or ''}: “{shown}”"
    return Example(items=[item.item, *([sampled.partner] if sampled.partner else [])], why=why)
