"""Which passages of a path say its relations: a passage that names both ends before one that does not."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter

from kgeval.questions.drafts import names_in
from kgeval.records import Passage, Structure


@dataclass(frozen=True)
class HopEvidence:
    """`passages`: one for each relation, each once, in the order of the path. `groups`: of each relation all chunk ids
    that say it. `missing`: relations without any passage, in words. `last`: the passage of the last relation."""

    passages: tuple[Passage, ...]
    groups: tuple[tuple[str, ...], ...]
    missing: tuple[str, ...]
    last: Passage | None


def hop_evidence(path: Structure) -> HopEvidence:
    """The evidence of each relation of a path: the passages that it names as its sources, else those that both its ends
    come from."""
    chosen, groups, missing = [], [], []
    for relation in path.relations:
        ends = [path.node(relation.source), path.node(relation.target)]
        ids = set(relation.chunk_ids) or set(ends[0].chunk_ids) & set(ends[1].chunk_ids)
        own = [(len(names_in(p.text, ends)), p) for p in path.passages if p.chunk_id in ids and p.text.strip()]
        if not own:
            missing.append(path.text_of(relation))
            continue
        best_first = [p for _, p in sorted(own, key=itemgetter(0), reverse=True)]  # stable: equal ones stay in order
        chosen.append(best_first[0])
        groups.append(tuple(dict.fromkeys(p.chunk_id for p in best_first if p.chunk_id)))
    once = tuple({(p.chunk_id, p.document, p.text): p for p in chosen}.values())
    return HopEvidence(once, tuple(dict.fromkeys(filter(None, groups))), tuple(missing), chosen[-1] if chosen else None)
