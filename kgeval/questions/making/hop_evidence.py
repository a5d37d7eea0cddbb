"""Which passages of a path say its relations: a passage that names both ends before one that does not."""

from __future__ import annotations

from dataclasses import dataclass

from kgeval.questions.drafts import names_in
from kgeval.records import Passage, Structure, StructureRelation


@dataclass(frozen=True)
class HopEvidence:
    """`passages`: one for each relation, each once, in the order of the path. `groups`: of each relation all chunk ids that say it.
    `missing`: relations without any passage, in words. `last`: the passage of the last relation."""

    passages: tuple[Passage, ...]
    groups: tuple[tuple[str, ...], ...]
    missing: tuple[str, ...]
    last: Passage | None


def hop_evidence(path: Structure) -> HopEvidence:
    """The evidence of each relation of a path."""
    chosen, groups, missing = [], [], []
    for relation in path.relations:
        own = _passages(path, relation)
        if not own:
            missing.append(path.text_of(relation))
            continue
        chosen.append(own[0])
        groups.append(tuple(dict.fromkeys(passage.chunk_id for passage in own if passage.chunk_id)))
    once = tuple({(p.chunk_id, p.document, p.text): p for p in chosen}.values())
    return HopEvidence(once, tuple(dict.fromkeys(group for group in groups if group)), tuple(missing), chosen[-1] if chosen else None)


def _passages(path: Structure, relation: StructureRelation) -> list[Passage]:
    """The passages of a relation, best first: those that it names as its sources, else those that both its ends come from."""
    ends = [path.node(relation.source), path.node(relation.target)]
    ids = set(relation.chunk_ids) or set(ends[0].chunk_ids) & set(ends[1].chunk_ids)
    own = [passage for passage in path.passages if passage.chunk_id in ids and passage.text.strip()]
    return sorted(own, key=lambda passage: -len(names_in(passage.text, ends)))
