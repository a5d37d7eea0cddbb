"""What a run that makes questions did: per kind how many were asked for, made, turned down and why."""

from __future__ import annotations

from pydantic import Field

from kgeval.records.base import Record
from kgeval.records.manifest import RunReport


class KindCount(Record):
    """One kind of question in a run. `structures` = made + rejected + failed + duplicates, unless the kind failed as a whole.

    `structures`: pieces of the graph that were tried. `rejected`: no question came of them, by cause; `failed`: a model or the graph did
    not answer, by cause; `duplicates`: dropped, by how they were found (exact, normalised, embedding). `examples`: for each cause, the
    words for its first case. `why`: why there are fewer than asked.
    """

    kind: str
    group: str
    level: str
    asked: int
    made: int
    structures: int
    rejected: dict[str, int] = Field(default_factory=dict)
    failed: dict[str, int] = Field(default_factory=dict)
    duplicates: dict[str, int] = Field(default_factory=dict)
    examples: dict[str, str] = Field(default_factory=dict)
    why: str | None = None


class GenerationReport(RunReport):
    """Stands beside a file of questions (`X.run.json`). `complete`: false where a budget, failures or an interruption ended the run.

    `dataset`: as the questions name it; `graph`, `layout`: what they were made from.
    """

    dataset: str | None = None
    graph: str | None = None
    layout: str | None = None
    seed: int
    profile: str
    complete: bool = True
    kinds: list[KindCount]
    notes: list[str] = Field(default_factory=list)

    @property
    def asked(self) -> int:
        """Questions asked for, over all kinds."""
        return sum(one.asked for one in self.kinds)

    @property
    def made(self) -> int:
        """Questions made, over all kinds."""
        return sum(one.made for one in self.kinds)
