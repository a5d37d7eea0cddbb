"""What a check with a Python step gets and gives back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kgeval.auditing.graph_reader import GraphReader
from kgeval.auditing.partial_scan import PartialScan
from kgeval.errors import UndeclaredSettingError
from kgeval.graph.connect import Row
from kgeval.graph.queries import Query
from kgeval.records import Example

if TYPE_CHECKING:
    from kgeval.llm.embed import Embedder

T = TypeVar("T")


@dataclass(frozen=True)
class Embedding:
    """What makes vectors for checks, beside the graph. `anew`: also where the graph stores its own. `cache_dir`: kgeval's cache
    folder, where they are kept (None: the user's). `say`: is told what goes on."""

    embedder: Embedder
    anew: bool = False
    cache_dir: Path | None = None
    say: Callable[[str], None] = lambda text: None

    @property
    def settings(self) -> dict[str, str | bool | None]:
        """What a signature says of it."""
        return {"model": self.embedder.name, "endpoint": self.embedder.endpoint, "anew": self.anew}


class CheckSettings(Mapping[str, Any]):
    """What a check may read of the settings: those that its rule declares, and no others. `signature` stands for exactly these."""

    def __init__(self, check: str, values: Mapping[str, Any]) -> None:
        self._check, self._values = check, values

    def __getitem__(self, name: str) -> Any:
        """Raises: UndeclaredSettingError."""
        if name not in self._values:
            raise UndeclaredSettingError(f"the check {self._check}", name, self._values)
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def signature(self) -> str:
        """ID:12 hex digits, a SHA-256 of all values. A part of the graph that is looked at is none of them: of a sample the same is asked,
        of fewer things; nor is what the graph is."""
        asked = {name: value for name, value in self._values.items() if name not in ("part", "profile")}
        if isinstance(embedding := asked.get("embedding"), Embedding):
            asked["embedding"] = embedding.settings
        text = json.dumps([self._check, asked], sort_keys=True, ensure_ascii=False)
        return f"{self._check}:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


class SharedReads:
    """What checks that run one behind the other read of the same graph, read once; `forget` lets it go, unless there is little of it: a
    server far away is not asked for that again."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, Any] = {}

    def get(self, key: Hashable, read: Callable[[], T]) -> T:
        """What `read` gave the first time; nobody may change it. What a failed read raises goes to the check that asked, and the next one
        reads itself: each has the time limit of its own queries."""
        if key not in self._kept:
            self._kept[key] = read()
        value: T = self._kept[key]
        return value

    def copy(self) -> SharedReads:
        """The same, of which what is read from now on is no part."""
        made = SharedReads()
        made._kept = {**self._kept}
        return made

    def forget(self) -> None:
        """Lets go what was read, which may be as large as a name for each entity, but what says that it is `little`."""
        self._kept = {key: value for key, value in self._kept.items() if getattr(value, "little", False)}


ENTITIES = 1_000  # in a row: a row over Bolt costs the client ten times what is in it
RELATIONS_OF = 200  # entities whose relations make up a row
SLICES = {
    "entity-slices": ("element_id", "key", "name", "type", "aliases"),
    "entity-source-slices": ("element_id", "key", "name", "type", "aliases", "chunks", "ids"),
    "same-record": ("element_id", "key", "name", "label", "values"),
    "relation-source-slices": ("element_id", "ends", "sources", "details"),
}


@dataclass(frozen=True, kw_only=True)
class CheckRun(GraphReader):
    """One check about to run: the graph, its bound layout, the query file, the settings that it declares, and limits (`timeout` in
    seconds). `sample`: hits that it lists at most; `shown`: how many of one property it names. `shared`: what other checks have read."""

    query: Query
    settings: Mapping[str, Any] = field(default_factory=dict)
    sample: int = 5
    shown: int = 5
    shared: SharedReads = field(default_factory=SharedReads)

    @property
    def part(self) -> PartialScan:
        """What a check of strings looks at. Raises: UndeclaredSettingError."""
        part: PartialScan = self.settings["part"]
        return part

    @property
    def embedding(self) -> Embedding | None:
        """What makes vectors, if that is wanted. Raises: UndeclaredSettingError."""
        embedding: Embedding | None = self.settings["embedding"]
        return embedding

    def pool(self) -> dict[str, Any]:
        """Layout, sample, the part to look at where the check may look at one, and the settings."""
        part = self.part.params() if "part" in self.settings else {}
        return {**super().pool(), "sample": self.sample, "shown": self.shown, **part, **self.settings}

    def read_once(self, key: Hashable, read: Callable[[], T]) -> T:
        """What `read` gives of the entities that this check is asked of, read once for all checks that are asked of the same."""
        return self.shared.get((key, self.layout.model_dump_json()), read)

    def own_rows(self, **more: Any) -> list[Row]:
        """All rows of the check's own query."""
        return self.rows_asked(self.query, **more)

    def outcome(self, *, note: str | None = None, **given: Any) -> CheckOutcome:
        """What the check's own query counts and lists. `given`: what a step gives it besides the settings."""
        row = self.own_rows(**given)[0]
        return CheckOutcome(row["count"], row["total"], examples_of(row["sample"]), note, parameters=given)

    def outcome_of(
        self, rows: Sequence[Row], hits: str, total: int, said: Callable[[Row, Example], Example] = lambda _, found: found, **given: Any,
    ) -> CheckOutcome:
        """What rows of the check's own query count (under `hits`) and list, together, of `total`. `said`: an example of a row, with what is
        to be said of it. `given`: what a step gave the query besides the settings."""
        examples = [said(row, example) for row in rows for example in examples_of(row["sample"])]
        return CheckOutcome(sum(row[hits] for row in rows), total, examples[: self.sample], parameters=given)

    def slices(self, name: str, *, slice: int = ENTITIES, **more: Any) -> Iterator[list[list[Any]]]:
        """Rows of one of the queries of `SLICES`, many at a time, as lists in its order: for millions of relations a dict each is too
        much. Flat memory."""
        with closing(self.stream(name, slice=slice, **more)) as rows:
            for row in rows:
                yield row["rows"]

    def sliced_rows(self, name: str, **more: Any) -> Iterator[Row]:
        """As `slices`, one by one as dicts."""
        for rows in self.slices(name, **more):
            for values in rows:
                yield dict(zip(SLICES[name], values, strict=True))


@dataclass(frozen=True)
class CheckOutcome:
    """`count` hits of `total`, with examples (at most `Check.sample`, in a fixed order).

    `note`: what the count leaves out, such as a search that ended at its limit; it is printed with the finding. `examples_total`: how many
    there are in all, where that does not follow from `count`: pairs share entities, and a few may hold every entity that is counted.
    `repair`: Cypher that was made for these hits, where names cannot be parameters. `parameters`: what a step gave the check's own query
    besides its settings, so that the query that is shown lists the same. `covers`: of a cause, element ids of more things that its hits
    bring with them, such as relations at entities that are to go. `cannot`: why the graph gives no answer, in place of one.
    """

    count: int
    total: int
    examples: list[Example] = field(default_factory=list)
    note: str | None = None
    examples_total: int | None = None
    repair: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    covers: list[str] = field(default_factory=list)
    cannot: str | None = None


def one_each(examples: Iterable[Example]) -> Iterator[Example]:
    """Of the examples of one node or relation the first, which is the surest."""
    seen = set()
    for example in examples:
        if example.items[0].element_id not in seen:
            seen.add(example.items[0].element_id)
            yield example


def examples_of(sample: Iterable[Mapping[str, Any]]) -> list[Example]:
    """The `sample` column of an audit query as records. None names and keys become "", so that a nameless entity can be shown."""


    def text(value: Any) -> str:
        return "" if value is None else str(value)[:300]

    def item(given: Mapping[str, Any]) -> dict[str, Any]:
        return {**given, "key": text(given.get("key") or given.get("name")), "name": text(given.get("name"))}

    return [Example.model_validate({**row, "items": [item(reference) for reference in row["items"]]}) for row in sample]
