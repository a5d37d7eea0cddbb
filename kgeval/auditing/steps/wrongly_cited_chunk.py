"""wrongly-cited-chunk: chunks that many entities come from alone, of which they say nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.source_names import cannot_judge, other_texts_of, sourced_names, wrongly_cited
from kgeval.format import plural
from kgeval.records import Example, GraphRef


def run(check: CheckRun) -> CheckOutcome:
    """`count`: chunks that most of the entities that come from them alone cite wrongly; `total`: chunks with text. The entities are
    covered."""
    found = sourced_names(check)
    if cannot := cannot_judge(found):
        return CheckOutcome(0, 0, cannot=cannot)
    read, others = found.sources, other_texts_of(check)
    cited = wrongly_cited(found, others)
    keys = read.chunks.keys() if cited else []
    examples = [_example(keys[number], own, others or {}) for number, own in list(cited.items())[: check.sample]]
    covers = [read.known.roll.element_id(at) for own in cited.values() for at in own]
    return CheckOutcome(len(cited), len(read.chunks), examples, covers=covers)


def _example(key: tuple[str, str], own: Sequence[int], others: Mapping[int, int]) -> Example:
    element_id, name = key
    held = sum(at in others for at in own)
    why = f"{plural(len(own), 'entity')} come from it alone, and it names none of them; {held:,} of them stand in other chunks"
    return Example(items=[GraphRef(element_id=element_id, key=name, name=name, kind="chunk")], why=why)
