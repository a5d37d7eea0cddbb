"""What the answers' side of a comparison came to: pairs, lengths, meaning and use, in temporary tables, summed up from there."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from kgeval.comparison.align.meaning import kept
from kgeval.comparison.align.rule import AlignedPair
from kgeval.comparison.sources import FAR
from kgeval.errors import IncompleteError
from kgeval.limits import inflate_bytes
from kgeval.llm.answer_store import key_of
from kgeval.llm.characters import whole
from kgeval.records import AlignmentCount, Answer, Quantiles, Question, SystemUse
from kgeval.records.comparison_judge import Estimated
from kgeval.tables.temporary import private_folder
from kgeval.text.length import count_words

if TYPE_CHECKING:
    from kgeval.llm.asker import Asker

MEASURES = ("words", "tokens", "seconds", "calls", "cost")
_WHERE = "a = ? AND b = ?"
_TABLES = """
CREATE TABLE texts (hash TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE pairs (a TEXT, b TEXT, question TEXT, numbers TEXT, trial INTEGER, level TEXT, how TEXT NOT NULL, attempt INTEGER,
  before INTEGER, after INTEGER, text_a TEXT, text_b TEXT, PRIMARY KEY (a, b, question, numbers)) WITHOUT ROWID;
CREATE TABLE changed (a TEXT, b TEXT, question TEXT, numbers TEXT, system TEXT, trial INTEGER, level TEXT, free TEXT, aligned TEXT,
  draw TEXT, claims INTEGER, kept INTEGER, PRIMARY KEY (a, b, question, numbers, system)) WITHOUT ROWID;
CREATE TABLE uses (system TEXT, question TEXT, number INTEGER, words REAL, tokens REAL, seconds REAL, calls REAL, cost REAL,
  mark TEXT, PRIMARY KEY (system, question, number)) WITHOUT ROWID;
"""
_PAIR = (
    "INSERT INTO pairs VALUES (?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET trial = min(trial, excluded.trial), "
    "level = excluded.level, how = excluded.how, attempt = excluded.attempt, before = excluded.before, after = excluded.after, "
    "text_a = excluded.text_a, text_b = excluded.text_b"
)
# a check of the meaning is kept where the drawn text is still the same: another answer needs another check
_CHANGED = (
    "INSERT INTO changed (a, b, question, numbers, system, trial, level, free, aligned, draw) VALUES (?,?,?,?,?,?,?,?,?,?) "
    "ON CONFLICT DO UPDATE SET trial = min(trial, excluded.trial), free = excluded.free, aligned = excluded.aligned, draw = excluded.draw, "
    "claims = CASE WHEN draw = excluded.draw THEN claims END, kept = CASE WHEN draw = excluded.draw THEN kept END"
)


class AlignmentSettings(Protocol):
    """What of the settings the sums depend on."""

    @property
    def trials(self) -> int: ...

    @property
    def meaning_sample(self) -> int: ...

    @property
    def seed(self) -> int: ...


@dataclass(frozen=True)
class MeaningCheck:
    """One aligned answer whose meaning is checked: the marks of its text before and after."""

    a: str
    b: str
    question: str
    numbers: str
    system: str
    free: str
    aligned: str


@dataclass(frozen=True)
class PairPlace:
    """A pair's question: `numbers`: which of the systems' answers ("1:1"); `trial`: the first one that used them, from 1."""

    a: str
    b: str
    question: str
    numbers: str
    trial: int
    level: str | None = None


def _mark(text: str) -> str:
    """What stands for a text: equal texts have one mark."""
    return hashlib.sha256(whole(text).encode()).hexdigest()


class AlignmentLog:
    """The rows of one comparison, in a temporary SQLite file of this user's only, so that memory stays flat. Thread-safe."""

    def __init__(self, settings: AlignmentSettings) -> None:
        self._settings = settings
        self._folder = private_folder("rows")
        self._path = self._folder.path / "pairs.sqlite"
        self._lock = threading.RLock()
        with self._guarded():
            self._db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")  # who goes through a query sees no rows that come meanwhile
            # the file goes with the process: nothing in it need survive a power cut
            self._db.execute("PRAGMA synchronous = OFF")
            self._db.execute("PRAGMA cache_size = -4096")
            self._db.executescript(_TABLES)

    def close(self) -> None:
        """Deletes the tables. May be called twice."""
        with self._lock:
            self._db.close()
        self._folder.close()

    def text(self, mark: str) -> str | None:
        """The text of a mark."""
        row = self._one("SELECT body FROM texts WHERE hash = ?", (mark,))
        return inflate_bytes(row[0], "a text in the journal").decode() if row is not None else None

    def _keep_text(self, text: str) -> str:
        """Keeps a text once, and returns its mark."""
        # texts stand once under their hash: an answer is in as many pairs as there are other systems
        mark = _mark(text)
        if self._one("SELECT 1 FROM texts WHERE hash = ?", (mark,)) is None:
            self._run("INSERT OR IGNORE INTO texts VALUES (?,?)", (mark, zlib.compress(whole(text).encode(), 1)))
        return mark

    def _one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        with self._lock, self._guarded():
            return self._db.execute(sql, values).fetchone()

    def _all(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """The rows of a query, through a connection of their own."""
        with self._guarded(), closing(sqlite3.connect(self._path, isolation_level=None)) as db:
            yield from db.execute(sql, values)

    def _run(self, sql: str, values: Sequence[Any] = ()) -> None:
        with self._lock, self._guarded():
            self._db.execute(sql, values)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as cause:
            raise IncompleteError(
                f"{self._path.parent}: pairs cannot be kept there: {cause}",
                fix="make room on that disk, or name a folder on another one in TMPDIR, and run the same command again",
            ) from cause

    def note(self, place: PairPlace, pair: AlignedPair, free: tuple[Answer, Answer]) -> None:
        """What came of a pair."""
        marks = [self._keep_text(answer.answer) for answer in (pair.a, pair.b)]
        where = (place.a, place.b, place.question, place.numbers)
        self._run(_PAIR, (
            *where, place.trial, place.level, pair.how, pair.attempt, pair.gap_before, abs(pair.words_a - pair.words_b), *marks,
        ))
        if not pair.judged:
            return
        own = place.numbers.split(":")
        for system, number, before, after, mark in zip((place.a, place.b), own, free, (pair.a, pair.b), marks, strict=True):
            if before.answer != after.answer:  # the draw knows no pair, so that pairs which share an answer share its check
                draw = key_of(self._settings.seed, system, place.question, number, mark)
                self._run(_CHANGED, (*where, system, place.trial, place.level, self._keep_text(before.answer), mark, draw))

    def used(self, system: str, question: str, number: int, answer: Answer) -> None:
        """What a free answer took."""
        sent, received = answer.input_tokens, answer.output_tokens
        tokens = None if sent is None or received is None else sent + received
        values = (count_words(answer.answer), tokens, answer.latency_s, answer.calls, answer.cost)
        self._run("INSERT OR REPLACE INTO uses VALUES (?,?,?,?,?,?,?,?,?)", (system, question, number, *values, _mark(answer.answer)))

    def repeated(self, system: str) -> tuple[int, int]:
        """Questions that a system has the same answer to each time, word for word, and questions with several answers."""
        sql = "SELECT count(DISTINCT mark) = 1 AS same FROM uses WHERE system = ? GROUP BY question HAVING count(*) > 1"
        same, several = self._one(f"SELECT coalesce(sum(same), 0), count(*) FROM ({sql})", (system,))  # noqa: S608
        return same, several

    def use(self, system: str) -> SystemUse:
        """Means over the free answers of a system."""
        # SQL leaves out what a system does not tell: each mean is over those that tell it, and says how many
        sums = ", ".join(f"avg({name}), count({name})" for name in MEASURES)
        count, *figures = self._one(
            f"SELECT count(*), {sums} FROM uses WHERE system = ? AND number % ? <= ?",  # noqa: S608
            # second runs are numbered from FAR on: modulo it they are trials of their own again
            (system, FAR, self._settings.trials),
        )
        means, known = figures[0::2], figures[1::2]
        return SystemUse(
            system=system, answers=count, known={name: n for name, n in zip(MEASURES, known, strict=True) if n},
            **dict(zip(MEASURES, means, strict=True)),
        )

    def texts(self, a: str, b: str, question: str, numbers: str) -> tuple[str, str] | None:
        """The two texts of a pair as they were judged."""
        marks = self._one(
            f"SELECT text_a, text_b FROM pairs WHERE {_WHERE} AND question = ? AND numbers = ?",  # noqa: S608
            (a, b, question, numbers),
        )
        text_a, text_b = map(self.text, marks or ("", ""))
        return None if text_a is None or text_b is None else (text_a, text_b)

    def seen(self, a: str, b: str, most: int) -> list[tuple[str, str]]:
        """The marks of both texts, as they were judged, of a pair's first questions: at most `most`; those that failed have none."""
        sql = f"SELECT text_a, text_b FROM pairs WHERE {_WHERE} AND trial = 1 AND how <> 'failed' ORDER BY question LIMIT ?"  # noqa: S608
        return list(self._all(sql, (a, b, most)))

    def to_check(self, a: str, b: str) -> Iterator[MeaningCheck]:
        """The sample of a pair's aligned answers that nobody has checked yet, in the order of the draw."""
        for row in self._sample(a, b):
            if row[0] is None:
                yield MeaningCheck(a, b, *row[3:])

    def check(self, check: MeaningCheck, question: Question | None, judge: Asker) -> None:
        """Asks whether one aligned answer keeps the claims of the free one. A call that fails leaves it unchecked."""
        free, aligned = self.text(check.free), self.text(check.aligned)
        if question is None or free is None or aligned is None:
            return
        claims = kept(question, Answer(question_id=question.id, system=check.system, answer=free), aligned, judge)
        if claims.failure is None:
            self._run(
                f"UPDATE changed SET claims = ?, kept = ? WHERE {_WHERE} AND question = ? AND numbers = ? AND system = ?",  # noqa: S608
                (claims.claims, claims.supported, check.a, check.b, check.question, check.numbers, check.system),
            )

    def counts(self, a: str, b: str) -> Iterator[AlignmentCount]:
        """The pair overall, then by level."""
        sql = f"SELECT level, how, attempt, before, after FROM pairs WHERE {_WHERE} AND trial <= ?"  # noqa: S608
        rows = list(self._all(sql, (a, b, self._settings.trials)))
        checked = [row for row in self._sample(a, b) if row[0]]
        yield self._count(a, b, None, rows, checked)
        for level in sorted({row[0] for row in rows if row[0] is not None}):
            yield self._count(a, b, level, [row for row in rows if row[0] == level], [row for row in checked if row[2] == level])

    def _count(self, a: str, b: str, level: str | None, rows: Sequence[Any], checked: Sequence[Any]) -> AlignmentCount:
        hows = Counter(how for _, how, *_ in rows)
        attempts = Counter(attempt for _, how, attempt, *_ in rows if how == "adjusted")
        return AlignmentCount(
            system_a=a, system_b=b, level=level, n=len(rows), equal=hows["equal"], adjusted=hows["adjusted"], forced=hows["forced"],
            discarded=hows["discarded"], silent=hows["silent"], failed=hows["failed"],
            attempts={str(attempt): count for attempt, count in sorted(attempts.items())},
            gap_before=_quantiles([row[3] for row in rows if row[1] != "failed"]),
            gap_after=_quantiles([row[4] for row in rows if row[1] not in ("failed", "silent", "discarded")]),
            meaning_checked=len(checked), kept_meaning=_kept(checked, self._settings.seed),
        )

    def _sample(self, a: str, b: str) -> list[Any]:
        """(claims, kept, level, question, numbers, system, free, aligned) of a pair's sample."""
        sql = (
            f"SELECT claims, kept, level, question, numbers, system, free, aligned FROM changed WHERE {_WHERE} AND trial <= ? "  # noqa: S608
            "ORDER BY draw LIMIT ?"
        )
        return list(self._all(sql, (a, b, self._settings.trials, self._settings.meaning_sample)))


def _quantiles(values: Sequence[int]) -> Quantiles | None:
    import numpy as np

    from kgeval.metrics.summary.costs import quantiles

    return quantiles(np.array(values, dtype=float))


def _kept(checked: Sequence[Any], seed: int) -> Estimated:
    """The mean share of claims kept, with its interval over questions: answers to one question are no independent ones."""
    from kgeval.stats.bootstrap import bootstrap_mean

    shares: dict[str, list[float]] = {}
    for claims, supported, _, question, *_ in checked:
        shares.setdefault(question, []).append(supported / claims)
    means = [sum(values) / len(values) for _, values in sorted(shares.items())]
    return Estimated.of(sum(means) / len(means) if means else None, bootstrap_mean(means, seed=seed))
