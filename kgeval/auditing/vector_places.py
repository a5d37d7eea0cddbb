"""Where a graph keeps embeddings: those that a writer makes for all entities or chunks alike, and labels that have their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kgeval.auditing.check import CheckRun
from kgeval.profiling.record import GraphProfile, LabelProfile
from kgeval.records import Layout


@dataclass(frozen=True)
class VectorPlaces:
    """`apart`: labels of entities that are asked each for itself: people embed films and not their actors. `labels`: of these and of what
    is neither entity nor chunk (documents, communities, memories), those with embeddings, and the property."""

    apart: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """As the queries take them."""
        return {"apart": list(self.apart), "vector_places": [{"label": label, "key": key} for label, key in self.labels]}


def vector_places(check: CheckRun) -> VectorPlaces:
    """By the profile of the graph; nothing is apart where that is not known."""
    profile: GraphProfile | None = check.settings["profile"]
    if profile is None:
        return VectorPlaces()
    chunks, entities = {*check.layout.chunk_labels}, {*check.layout.entity_labels}
    own = [label for label in profile.labels if label.label and not _is_alike(label, chunks, entities)]
    return VectorPlaces(
        tuple(label.label for label in own if label.label in entities),
        tuple((label.label, key) for label in own for key in label.embeddings),
    )


def _is_alike(label: LabelProfile, chunks: set[str], entities: set[str]) -> bool:
    """Whether the label is one of the chunks', or of a writer's entities, all of which are embedded alike."""
    labels = {label.label, *label.with_it}
    return bool(labels & chunks) or (label.is_from_texts and bool(labels & entities))


def vector_lengths(check: CheckRun, places: VectorPlaces) -> dict[str, int]:
    """The length of the vector index over each kind (entity, chunk) or label, where indexes say exactly one. Asks for the indexes."""
    layout: Layout = check.layout
    wanted = {
        "entity": (layout.embedding_key, {*layout.entity_labels, *layout.type_label_ignored} - {*layout.chunk_labels}),
        "chunk": (layout.chunk_embedding_key, set(layout.chunk_labels)),
        **{label: (key, {label}) for label, key in places.labels},
    }
    rows, lengths = check.rows("entry-indexes"), dict[str, int]()
    for kind, (key, labels) in wanted.items():
        found = {row["dimensions"] for row in rows if key in row["keys"] and labels & set(row["labels"]) and row["dimensions"]}
        if len(found) == 1:
            lengths[kind] = found.pop()
    return lengths
