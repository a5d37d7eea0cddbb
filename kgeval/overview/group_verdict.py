"""When does a graph pay [X figure 7]? At which levels and depths one system is better than another, worse, or nothing can be said, and what
that costs in tokens and time: in sentences, from the report alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kgeval.format import chance, figure, joined, number, plural, plus, times
from kgeval.overview.score_verdict import ScoreTables, confidence, word
from kgeval.records import BothMeans, GainBy, GroupCost, GroupGain
from kgeval.rounding import is_zero, side

PAIRS = 2  # pairs with a paragraph; the others stand in the table
REASONS = 3  # groups whose reason is told one by one
TOKENS = {"prompt_tokens": "prompt tokens", "context_tokens": "context tokens"}
FIELDS: Mapping[GainBy, str] = {"level": "question type", "hops": "depth"}

Outcome = Literal["wins", "loses", "open"]
PROVEN: tuple[Outcome, ...] = ("wins", "loses")
CONCLUDED: Mapping[str, Outcome] = {"a better": "wins", "b better": "loses"}
Key = tuple[str, str, GainBy, str, str | None]


@dataclass(frozen=True)
class PairGroups:
    """Two systems by one metric: their rows of all datasets together and those within datasets. `graph`: the first answers from a graph and
    the second does not. `tests`: in the family of the correction."""

    system: str
    baseline: str
    metric: str
    lower: bool
    graph: bool
    tests: int
    rows: Sequence[GroupGain]
    costs: Mapping[Key, GroupCost]

    @property
    def subject(self) -> str:
        """What the first system is called within a sentence."""
        return "the graph" if self.graph else word(self.system)

    def outcome(self, row: GroupGain) -> Outcome:
        """As the report concludes it."""
        return CONCLUDED.get(row.conclusion or "", "open")

    def of(self, by: GainBy, dataset: str | None = None) -> list[GroupGain]:
        """Its rows of one field."""
        return [row for row in self.rows if row.by == by and row.dataset == dataset]

    def cost(self, row: GroupGain) -> GroupCost | None:
        """What the answers of the row's group took."""
        return self.costs.get(key_of(row))


def key_of(row: GroupGain | GroupCost) -> Key:
    return row.system, row.baseline, row.by, row.value, row.dataset


def pairs_of(tables: ScoreTables, metric: str | None) -> list[PairGroups]:
    """The pairs by this metric, those of a graph against a system without one first."""
    graph = {one.system for one in tables.report.systems if one.graph}
    costs = {key_of(cost): cost for cost in tables.report.costs_by_group}
    of_metric = [row for row in tables.report.gains_by_group if row.metric == metric]
    tests = sum(row.p is not None for row in of_metric)
    pairs = [
        PairGroups(
            system, baseline, metric or "", tables.lower(metric or ""), system in graph and baseline not in graph, tests,
            [row for row in of_metric if (row.system, row.baseline) == (system, baseline)], costs,
        )
        for system, baseline in dict.fromkeys((row.system, row.baseline) for row in of_metric)
    ]
    return sorted(pairs, key=lambda pair: not pair.graph)


def group_name(by: GainBy, value: str) -> str:
    """`complex reasoning`, `2 hops`."""
    return word(value).replace("_", " ") if by == "level" else f"{word(value)} hop{'' if value == '1' else 's'}"


def heading(tables: ScoreTables) -> str:
    """Of the section: a question about graphs only where one is compared with a system without."""
    pairs = pairs_of(tables, tables.headline)
    return "When does the graph pay?" if any(pair.graph for pair in pairs) else "Differences by question type and hops"


def short_lines(tables: ScoreTables) -> list[str]:
    """For the first screen: one sentence about the first pair."""
    pair = next(iter(pairs_of(tables, tables.headline)), None)
    rows = (pair.of("level") or pair.of("hops")) if pair else []
    if pair is None or not rows:
        return []
    parts = _proven_names(pair, [row for row in pair.rows if row.dataset is None])
    if opened := sum(pair.outcome(row) == "open" for row in rows):
        parts.append(f"nothing can be said at {number(opened)} of {plural(len(rows), FIELDS[rows[0].by])}")
    named = f"the graph ({word(pair.system)})" if pair.graph else word(pair.system)
    return [f"By {word(pair.metric)} against {word(pair.baseline)}, {named}: {'; '.join(parts)}."]


def paragraphs(tables: ScoreTables) -> list[str]:
    """The first PAIRS by the verdict's metric, each in up to three texts (types of questions; hops; datasets and cost), for renderers cut
    one that is longer than a screen; then how many other pairs there are."""
    pairs = pairs_of(tables, tables.headline)
    lines = [text for pair in pairs[:PAIRS] for sentences in _sentences(pair) if (text := " ".join(sentences))]
    return lines + ([f"{plural(len(pairs) - PAIRS, 'other pair')} of systems: in the table."] if len(pairs) > PAIRS else [])


def _sentences(pair: PairGroups) -> Iterator[list[str]]:
    graph = " (its answers come from a graph)" if pair.graph else ""
    corrected = f", by Holm's correction for {plural(pair.tests, 'test')}" if pair.tests > 1 else ""
    lower = ", where lower is better" if pair.lower else ""
    systems = f"{word(pair.system)}{graph} against {word(pair.baseline)}"
    sentences = [f"{systems} by {word(pair.metric)}{lower}, question by question{corrected}."]
    subject = "The graph" if pair.graph else word(pair.system)
    for by in FIELDS:
        rows = pair.of(by)
        for outcome in PROVEN:
            if those := [row for row in rows if pair.outcome(row) == outcome]:
                sentences.append(f"{subject} {outcome} at {joined([_proven(pair, row) for row in those], REASONS)}.")
        if opened := [row for row in rows if pair.outcome(row) == "open"]:
            sentences.append(_open(pair, opened))
        yield sentences
        sentences = []
    yield [*_datasets(pair), _price(pair)]


def _proven(pair: PairGroups, row: GroupGain) -> str:
    figures = [f"{_signed(row)}, n {number(row.n)}, p {chance(row.p)}, corrected {chance(row.p_holm)}"]
    if row.effect is not None:
        figures.append(f"d {row.effect:+.2f}")
    cost = pair.cost(row)
    tokens = _tokens_of(pair)
    factors = _factors(tokens, getattr(cost, tokens), cost.seconds) if cost else []
    return f"{group_name(row.by, row.value)} ({', '.join(figures)}{'; for ' + joined(factors) if factors else ''})"


def _open(pair: PairGroups, rows: Sequence[GroupGain]) -> str:
    """That nothing can be said, and why: it is not the same as no difference."""
    told = [f"{group_name(row.by, row.value)}: {reason(row, pair.tests)}" for row in rows[:REASONS]]
    told += [f"so it is at {joined([group_name(row.by, row.value) for row in rows[REASONS:]], 4)}"] if len(rows) > REASONS else []
    of = f"{number(len(rows))} of {plural(len(pair.of(rows[0].by)), FIELDS[rows[0].by])}"
    return f"Nothing can be said at {of}. {'. '.join(text[0].upper() + text[1:] for text in told)}."


def reason(row: GroupGain, tests: int) -> str:
    """Why nothing can be said of a group: what stands against a conclusion, an interval with 0 in it, or the correction."""
    if row.because:
        return "; ".join(row.because)
    if not row.differ:
        return f"both have the same score for all {number(row.n)} questions, which does not show that they are equal"
    if row.sd is None or is_zero(row.sd):  # all differ alike: of what a sample would find nothing can be told
        seen = ""
    elif row.detectable is None:
        seen = ", and no difference within the scale would be found"
    else:
        seen = f", and only a difference of {figure(row.detectable)} or more would be found in 4 of 5 such samples"
    if row.low is not None and row.high is not None and not side(row.low, row.high):
        return f"{_signed(row)}, n {number(row.n)}: the interval holds 0{seen}"
    held = f"p {chance(row.p)} is {chance(row.p_holm)} after the correction for {plural(tests, 'test')}"
    return f"{_signed(row)}, n {number(row.n)}: {held}{seen}"


def _signed(row: GroupGain) -> str:
    return ", ".join(filter(None, [plus(row.mean), confidence(row.low, row.high, sign=True)]))


def _datasets(pair: PairGroups) -> Iterator[str]:
    """Where several datasets are: by name only, the figures are in the table."""
    for dataset in dict.fromkeys(row.dataset for row in pair.rows if row.dataset is not None):
        parts = _proven_names(pair, [row for row in pair.rows if row.dataset == dataset])
        yield f"In {word(dataset)} alone, " + (f"{pair.subject} {' and '.join(parts)}." if parts else "nothing can be said.")


def _proven_names(pair: PairGroups, rows: Sequence[GroupGain]) -> list[str]:
    """`wins at complex reasoning and 3+ hops`, `loses at fact retrieval`."""
    names = {outcome: [group_name(row.by, row.value) for row in rows if pair.outcome(row) == outcome] for outcome in PROVEN}
    return [f"{outcome} at {joined(those, 4)}" for outcome, those in names.items() if those]


def _price(pair: PairGroups) -> str:
    """What an answer of the first takes, compared with the second, over all groups of the first field of which both tell."""
    tokens, amounts = _tokens_of(pair), ""
    for by in FIELDS:
        costs = [cost for row in pair.of(by) if (cost := pair.cost(row))]
        together = {name: _together(getattr(cost, name) for cost in costs) for name in (tokens, "seconds")}
        if factors := _factors(tokens, together[tokens], together["seconds"]):
            return f"Over these questions {pair.subject} takes {joined(factors)} of {word(pair.baseline)}."
        if (known := together[tokens]) is not None and not amounts:  # of a baseline that takes none there is no multiple
            amounts = f"{number(round(known.system))} {TOKENS[tokens]} an answer, {word(pair.baseline)} {number(round(known.baseline))}"
    if amounts:
        return f"Over these questions {pair.subject} takes {amounts}."
    return "What it costs in tokens and time is not known: the answers of both do not tell."


def _tokens_of(pair: PairGroups) -> str:
    """Which tokens the sentences are about: those of the prompt where all groups tell them, else those of the contexts."""
    costs = [cost for row in pair.rows if (cost := pair.cost(row))]
    return "prompt_tokens" if costs and all(cost.prompt_tokens for cost in costs) else "context_tokens"


def _together(known: Iterable[BothMeans | None]) -> BothMeans | None:
    """The means over several groups."""
    given = [one for one in known if one is not None]
    n = sum(one.n for one in given)
    if not n:
        return None
    own, other = (sum(getattr(one, side) * one.n for one in given) / n for side in ("system", "baseline"))
    return BothMeans(n=n, system=own, baseline=other)


def _factors(tokens: str, of_tokens: BothMeans | None, of_seconds: BothMeans | None) -> list[str]:
    """`5.8 x the context tokens`, `3.1 x the seconds`; what the second system takes nothing of has no factor."""
    named = ((of_tokens, TOKENS[tokens]), (of_seconds, "seconds"))
    return [f"{times(known.system / known.baseline)} the {what}" for known, what in named if known and known.baseline]
