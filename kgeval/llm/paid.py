"""What all starts of one run have asked of models, kept in the journal: a start that is killed tells nobody.

A request is noted before it is sent, so that one that was in flight at a kill counts (what it cost nobody knows). What
its reply took is written in one transaction with the reply, or before it. A start that ends with a complete report marks
what it told. The next start of the same run takes over what no report has told yet, and where it resumes, what the
newest report told.
"""

from __future__ import annotations

import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from kgeval.errors import ConfigError
from kgeval.llm.journal import AskedOf, Journal
from kgeval.llm.journal_file import guarded
from kgeval.records import ModelUse


@dataclass(frozen=True)
class Run:
    """Which run it is, the same whenever it is started again. `resumes`: it takes over rows of a start that was reported."""

    name: str
    resumes: bool = False


@dataclass
class Paid:
    """What this start of a run asks, and `earlier`: by stage, what earlier ones asked that this one goes on with. Thread-safe.

    Raises, when made: ConfigError for a journal that cannot be used.
    """

    journal: Journal
    run: Run
    model: str
    priced: bool
    start: str = field(default_factory=lambda: uuid.uuid4().hex)
    earlier: dict[str, ModelUse] = field(default_factory=dict, init=False)
    _taken: list[str] = field(default_factory=list, init=False)  # starts that `earlier` has

    def __post_init__(self) -> None:
        self.journal.claim(self.start)  # until the journal is closed: a start that lives tells by itself
        starts = self._starts()
        newest = max((reported for reported in starts.values() if reported is not None), default=None)
        for start, reported in starts.items():
            if (reported is None and self._ended(start)) or (self.run.resumes and reported is not None and reported == newest):
                self._taken.append(start)
        for use in self._uses():
            self.earlier[use.stage] = use

    def note(self, stage: str) -> None:
        """A request is about to be sent: it counts from now on. Raises: IncompleteError where that cannot be written."""
        cost = 0.0 if self.priced else None
        self.journal.note(AskedOf(self.run.name, self.start, stage, self.model, calls=1, cost=cost), wait=True)

    def add(self, stage: str, *, calls: int, seconds: float, input_tokens: int, output_tokens: int, cost: float) -> None:
        """What came of a request. `calls`: 1 of one that was not noted before (a batch's), else 0."""
        asked = AskedOf(
            self.run.name, self.start, stage, self.model, calls, input_tokens, output_tokens, cost if self.priced else None, seconds,
        )
        with suppress(ConfigError):  # the session is closed: a straggler
            self.journal.note(asked, wait=False)

    def told(self) -> None:
        """A complete report has told what this start asked and what was taken over. Raises: ConfigError."""
        self.journal.flush()
        now, starts = time.time(), (self.start, *self._taken)
        with guarded(self.journal.path), self.journal.connection() as db:
            db.executemany("UPDATE asked SET reported = ? WHERE run = ? AND start = ?", [(now, self.run.name, start) for start in starts])
            db.execute("DELETE FROM asked WHERE run = ? AND reported < ?", (self.run.name, now))

    def _starts(self) -> dict[str, float | None]:
        """When what each earlier start asked was reported; None: not yet."""
        with self.journal.connection() as db:
            rows = db.execute("SELECT start, reported FROM asked WHERE run = ? AND start <> ?", (self.run.name, self.start))
            return {str(start): reported for start, reported in rows}

    def _ended(self, start: str) -> bool:
        if not self.journal.claim(start):
            return False
        self.journal.release(start)
        return True

    def _uses(self) -> list[ModelUse]:
        """What the starts that are taken over asked, by stage."""
        sql = "SELECT start, stage, calls, input_tokens, output_tokens, cost FROM asked WHERE run = ? ORDER BY stage"
        with self.journal.connection() as db:
            rows = [row[1:] for row in db.execute(sql, (self.run.name,)) if row[0] in self._taken]
        uses = []
        for stage, group in groupby(rows, key=itemgetter(0)):
            _, calls, given, got, costs = zip(*group, strict=True)
            uses.append(ModelUse(
                stage=stage, model=self.model, earlier_calls=sum(calls), earlier_input_tokens=sum(given), earlier_output_tokens=sum(got),
                earlier_cost=None if None in costs else round(sum(costs), 6),
            ))
        return uses
