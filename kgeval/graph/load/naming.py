"""Labels, relation types and index keys from strangers' names. Written as parameters only; reserved names are never taken."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable

from kgeval.errors import UsageError
from kgeval.graph.load.model import NO_PREDICATE as NO_PREDICATE
from kgeval.graph.load.model import Entity, Relation

ENTITY, CHUNK, DOCUMENT, MARK = "__Entity__", "Chunk", "Document", "__KgevalGraph__"
RESERVED_TYPES = ("FROM_CHUNK", "FROM_DOCUMENT", "NEXT_CHUNK")
MOST_TYPES = 1000  # a store has room for some 65,000 labels, for ever: graphs that made labels of names have filled it (LightRAG #947)
LONGEST_TOKEN = 200
LONGEST_KEY = 1500  # characters; Neo4j's range index refuses entries above about 8,000 bytes


def check_graph_name(name: str) -> None:
    """Raises UsageError for a name that cannot be a graph's label."""
    if not name.strip() or name != name.strip() or "\0" in name or len(name) > LONGEST_TOKEN:
        raise UsageError(f"--graph {name[:60]!r}: not a graph's name", fix=f"1 to {LONGEST_TOKEN} characters, no space at its ends")
    if reserved(name):
        raise UsageError(f"--graph {name}: this label is reserved", fix="choose another; not Chunk, Document, or two leading _")


def reserved(label: str) -> bool:
    """True for labels that mean something else than an entity's type."""
    return label in (CHUNK, DOCUMENT) or label.startswith(("__", "_Bloom_"))


def type_labels(entities: Iterable[Entity], taken: Collection[str]) -> set[str]:
    """The types that become labels: not reserved, no graph's name (`taken`), not overlong; none where there are too many."""
    types = {entity.type for entity in entities if entity.type}
    fit = {t for t in types if fits_label(t, taken)}
    return fit if len(fit) <= MOST_TYPES else set()


def fits_label(kind: str, taken: Collection[str]) -> bool:
    """Whether a type may be a label: not reserved, no graph's name (`taken`), not overlong."""
    return not reserved(kind) and kind not in taken and len(kind) <= LONGEST_TOKEN and "\0" not in kind


def relation_types(relations: Iterable[Relation]) -> dict[str, str]:
    """Neo4j's relation type of each predicate: UPPER_SNAKE; all of them RELATED where there would be more than 1,000."""
    types = {p: upper_snake(p) for p in {relation.predicate for relation in relations} if p is not None}
    return types if len(set(types.values())) <= MOST_TYPES else dict.fromkeys(types, NO_PREDICATE)


def upper_snake(predicate: str) -> str:
    """`bornIn`, `born in` and `born-in` are BORN_IN; what leaves nothing, is overlong or reserved is RELATED."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", predicate[:LONGEST_TOKEN + 1])
    snake = re.sub(r"\W+", "_", spaced).strip("_").upper()
    return NO_PREDICATE if not snake or len(predicate) > LONGEST_TOKEN or snake in RESERVED_TYPES else snake


def name_key(name: str | None, normalise: Callable[[str], str]) -> str | None:
    """The normalised name for the index; an overlong one is cut and ends in its SHA-256, so that it stays distinct."""
    key = normalise(name) if name else ""
    if len(key) > LONGEST_KEY:
        key = f"{key[:LONGEST_KEY]} {hashlib.sha256(key.encode()).hexdigest()}"
    return key or None
