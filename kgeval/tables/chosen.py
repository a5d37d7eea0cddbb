"""Which of the checked rows a run takes (filters choose questions, so that every system gets the same), and what each system has."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from kgeval.errors import InputError
from kgeval.records import SystemInfo
from kgeval.tables.row_selection import Filters
from kgeval.tables.shards import Shard
from kgeval.tables.staging import Staging, question_values

LISTED = 5


def choose(staging: Staging, filters: Filters) -> list[str]:
    """Marks the rows that are left out. Returns notes. Raises: InputError where nothing is left, with the values that there are."""
    if not filters.any:
        return []
    total = staging.one("SELECT count(*) FROM answers")[0]
    if filters.systems:
        _check_systems(staging, filters.systems)
    # `limit` and `sample` count what the other filters leave, so they come after them.
    _by_values(staging, filters)
    staging.run("UPDATE questions SET kept = 0 WHERE kept AND id NOT IN (SELECT question FROM answers WHERE kept)")
    _at_most(staging, filters)
    staging.run("UPDATE answers SET kept = 0 WHERE question NOT IN (SELECT id FROM questions WHERE kept)")
    left = staging.one("SELECT count(*), count(DISTINCT question) FROM answers WHERE kept")
    if not left[0]:
        raise InputError("the filters leave no row", fix=f"the rows have: {_values(staging)}")
    return [f"filters: {left[0]:,} of {total:,} rows; questions: {left[1]:,}"]


def choose_questions(staging: Staging, filters: Filters) -> list[str]:
    """As choose, for questions without answers."""
    if not filters.any:
        return []
    total = staging.one("SELECT count(*) FROM questions")[0]
    _by_values(staging, filters)
    _at_most(staging, filters)
    left = staging.one("SELECT count(*) FROM questions WHERE kept")[0]
    if not left:
        raise InputError("the filters leave no question", fix=f"the questions have: {_values(staging)}")
    return [f"filters: {left:,} of {total:,} questions"]


def choose_shard(staging: Staging, shard: Shard) -> list[str]:
    """Leaves out the questions and rows of other shards. Returns a note. A shard may be empty."""
    total = staging.one("SELECT count(*) FROM answers WHERE kept")[0]
    staging.function("in_shard", shard.has)
    staging.run("UPDATE questions SET kept = 0 WHERE kept AND NOT in_shard(id)")
    staging.run("UPDATE answers SET kept = 0 WHERE kept AND NOT in_shard(question)")
    left = staging.one("SELECT count(*), count(DISTINCT question) FROM answers WHERE kept")
    return [f"shard {shard}: {left[0]:,} of {total:,} rows; questions: {left[1]:,}"]


def _at_most(staging: Staging, filters: Filters) -> None:
    """Keeps the first, or a sample, of the questions that are left."""
    if filters.limit is not None:
        _keep(staging, "n", filters.limit)
    if filters.sample is not None:
        staging.function("draw", lambda name: hashlib.sha256(f"{filters.seed}:{name}".encode()).digest())
        _keep(staging, "draw(id)", filters.sample)


def _keep(staging: Staging, order: str, count: int) -> None:
    """Keeps the first `count` of the kept questions. A sample is the lowest hashes of seed and id: the same whatever the order."""
    sql = f"UPDATE questions SET kept = 0 WHERE kept AND id NOT IN (SELECT id FROM questions WHERE kept ORDER BY {order} LIMIT ?)"  # noqa: S608
    staging.run(sql, (count,))


def _check_systems(staging: Staging, wanted: Sequence[str]) -> None:
    known = [name for (name,) in staging.run_all("SELECT DISTINCT system FROM answers ORDER BY system")]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise InputError(f"--filter-system: no answers of {', '.join(unknown)}", fix=f"the systems are: {', '.join(known)}")
    marks = ", ".join("?" for _ in wanted)
    staging.run(f"UPDATE answers SET kept = 0 WHERE system NOT IN ({marks})", tuple(wanted))  # noqa: S608


def _by_values(staging: Staging, filters: Filters) -> None:
    """Leaves out the questions that have none of the wanted values."""
    tests: list[tuple[str, frozenset[Any]]] = [
        ("id", frozenset(filters.ids)), ("level", frozenset(filters.levels)), ("kind", frozenset(filters.kinds)),
        ("dataset", frozenset(filters.datasets)), ("document", frozenset(filters.documents)), ("hops", frozenset(filters.hops)),
    ]
    tests = [(name, wanted) for name, wanted in tests if wanted]
    if tests:
        staging.function("wanted", lambda body: _fits(question_values(body), tests))
        staging.run("UPDATE questions SET kept = 0 WHERE NOT wanted(body)")


def _fits(question: Mapping[str, Any], tests: Sequence[tuple[str, frozenset[Any]]]) -> bool:
    for name, wanted in tests:
        value = question.get(name)
        if not wanted & frozenset(value if isinstance(value, list) else [value]):
            return False
    return True


def _values(staging: Staging) -> str:
    """The first values of the fields that filters look at."""
    known: dict[str, dict[Any, None]] = {}
    for (body,) in staging.run_all("SELECT body FROM questions ORDER BY n LIMIT 1000"):
        values = question_values(body)
        for name in ("level", "kind", "dataset", "document", "hops"):
            value = values.get(name)
            known.setdefault(name, {}).update(dict.fromkeys(value if isinstance(value, list) else [] if value is None else [value]))
    return "; ".join(f"{name} {', '.join(map(str, list(known[name])[:8]))}" for name in known if known[name]) or "none of these fields"


def system_infos(staging: Staging, known: Sequence[str] = ()) -> tuple[tuple[SystemInfo, ...], list[str]]:
    """The systems in the order of their first row, and notes about the questions that one of them did not answer. `known`: systems in
    their order, of which some may have no row here."""
    sql = (
        "SELECT system, count(*), sum(error), sum(empty AND NOT error), count(DISTINCT trial) FROM answers WHERE kept "
        "GROUP BY system ORDER BY min(n)"
    )
    infos, notes = [], []
    counts = {row[0]: row for row in staging.run_all(sql)}
    for system in known or counts:
        _, answers, errors, empty, trials = counts.get(system, (system, 0, 0, 0, 1))
        without = "FROM questions q WHERE kept AND NOT EXISTS (SELECT 1 FROM answers a WHERE a.question = q.id AND a.system = ? AND a.kept)"
        missing = staging.one(f"SELECT count(*) {without}", (system,))[0]
        infos.append(SystemInfo(
            system=system, answers=answers, errors=errors, empty=empty, questions_missing=missing, trials=trials,
        ))
        if missing:
            first = [name for (name,) in staging.run_all(f"SELECT id {without} ORDER BY n LIMIT {LISTED}", (system,))]
            more = ", ..." if missing > len(first) else ""
            notes.append(f"{system}: questions without an answer of this system: {missing:,} ({', '.join(first)}{more})")
    return tuple(infos), notes
