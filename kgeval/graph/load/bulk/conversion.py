"""What one conversion keeps between batches: numbers of nodes, counts, faults, and the nodes that are only named by others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.graph.load import naming, table_files
from kgeval.graph.load.bulk.id_numbers import IdNumbers, keys
from kgeval.graph.load.bulk.sheets import IDS, LABEL, SEPARATOR, ToolSheet

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from kgeval.graph.load.bulk.cells import CellFaults
    from kgeval.graph.load.bulk.source import InputTable, TableBatch

MOST_LISTED = 1000
ENTITIES, CHUNKS, DOCUMENTS = "entities", "chunks", "documents"
NODE_LABEL = {ENTITIES: naming.ENTITY, CHUNKS: naming.CHUNK, DOCUMENTS: naming.DOCUMENT}


@dataclass(frozen=True)
class BadRow:
    """A bad row, by its number in the file."""

    path: Path
    row: int
    what: str


class TooManyTypesError(Exception):
    """More than 1,000 types or predicates: the stage begins again without labels (relation types) made of them."""


@dataclass
class Conversion:
    """The state of one conversion. `name_keys`: a column of names -> their normal forms for the index."""

    folder: Path
    graph: str
    name_keys: Callable[[Any], Any]
    progress: Callable[[str, int, int], None] = lambda _stage, _done, _total: None
    ids: dict[str, IdNumbers] = field(default_factory=lambda: {kind: IdNumbers() for kind in NODE_LABEL})
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[BadRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    numbers: int = 0

    def take(self, count: int) -> np.ndarray[Any, Any]:
        """New numbers for as many nodes."""
        import numpy as np

        self.numbers += count
        return np.arange(self.numbers - count, self.numbers, dtype=np.int64)

    def fault(self, table: InputTable, batch: TableBatch, faults: CellFaults) -> None:
        """Bad rows of a batch."""
        self.counts["bad"] += len(faults)
        for position in sorted(faults)[:MOST_LISTED]:
            if len(self.faults) < MOST_LISTED:
                self.faults.append(BadRow(table.path, table.row(batch.first + position), faults[position]))

    def torn(self, table: InputTable) -> None:
        """Rows of a file that the reader could not take apart."""
        self.counts["bad"] += len(table.torn_rows) - table.blank
        self.counts["rows"] += len(table.torn_rows) - table.blank
        self.faults += [BadRow(table.path, *torn_row) for torn_row in table.torn[: max(0, MOST_LISTED - len(self.faults))]]

    def heard(self, kind: str, rows: int) -> None:
        """So many more rows of a kind are converted."""
        self.counts[f"read {kind}"] += rows
        self.progress(f"converting {kind}", self.counts[f"read {kind}"], 0)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """What was counted and noted is forgotten where it ends in TooManyTypesError; numbers stay taken."""
        before = (Counter(self.counts), list(self.faults), list(self.notes))
        try:
            yield
        except TooManyTypesError:
            self.counts, self.faults, self.notes = before
            raise

    def label(self, kind: str) -> str:
        """Both labels that every node of a kind carries, joined as the tool wants them."""
        return f"{NODE_LABEL[kind]}{SEPARATOR}{self.graph}"


class NamedNodes:
    """Nodes of one kind that other rows only name: numbered and written when they are met first."""

    def __init__(self, conversion: Conversion, kind: str, *, dangling: bool = False) -> None:
        """`dangling`: they are marked, since the input has a list of such nodes that lacks them."""
        self._conversion, self._kind, self._dangling = conversion, kind, dangling
        self.sheet = ToolSheet(conversion.folder, f"named-{kind}")

    def numbers(self, ids: pa.Array) -> np.ndarray[Any, Any]:
        """The number of each id; unknown ones become nodes."""
        import numpy as np
        import pyarrow as pa

        known = self._conversion.ids[self._kind]
        id_keys = keys(ids)
        numbers = known.find(id_keys)
        unknown = np.flatnonzero(numbers < 0)
        if len(unknown):
            new, first, back = np.unique(id_keys[unknown], return_index=True, return_inverse=True)
            order = np.argsort(first)  # numbered in the order in which they are met
            new_numbers = np.empty(len(new), np.int64)
            new_numbers[order] = self._conversion.take(len(new))
            known.add(new, new_numbers)
            numbers[unknown] = new_numbers[back]
            texts = ids.take(pa.array(unknown[first[order]]))
            columns = {IDS: pa.array(new_numbers[order]), LABEL: same(self._conversion.label(self._kind), texts), "id": texts}
            if self._kind == ENTITIES:  # id and name are what the relation says
                columns |= {"name": texts, "name_key": self._conversion.name_keys(texts)}
            elif self._kind == DOCUMENTS:
                columns["title"] = texts
            if self._dangling:
                columns["dangling"] = same(True, texts)
            self.sheet.write(columns)
        return numbers


def same(value: Any, like: pa.Array) -> pa.Array:
    """A column of one value, as long as another."""
    import pyarrow as pa

    return pa.repeat(pa.scalar(value), len(like))


def tables(paths: tuple[Path, ...], kind: str) -> list[tuple[InputTable, table_files.Columns]]:
    """The files of one kind, looked at: what each column is."""
    from kgeval.graph.load.bulk.source import InputTable

    columns = [table_files.columns(path, kind) for path in paths]
    return [(InputTable(path, of.names), of) for path, of in zip(paths, columns, strict=True)]
