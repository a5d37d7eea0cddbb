"""A run's scores and rows -> its report. Each is read once (rows twice where a metric by words is to say what is right); memory is one
float a system, metric and question, and what is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgeval.errors import UsageError
from kgeval.metrics.summary.audit_join import TouchedQuestions, audit_joins, flagged
from kgeval.metrics.summary.claims import ClaimTable
from kgeval.metrics.summary.costs import CHARACTERS, Costs
from kgeval.metrics.summary.coverage import Coverage
from kgeval.metrics.summary.drawn import Drawn
from kgeval.metrics.summary.gains import MOST_DATASETS, gains, group_costs, group_gains
from kgeval.metrics.summary.gates import evaluate
from kgeval.metrics.summary.groups import (
    Grouping,
    Traits,
    context_bands,
    context_summaries,
    group_summaries,
    grouping,
    mean_by_type,
)
from kgeval.metrics.summary.means import mean_of_values
from kgeval.metrics.summary.outcomes import OutcomeInputs, concluded, headline_metric, part_doubts
from kgeval.metrics.summary.reasoning import Chains, accuracy_of
from kgeval.metrics.summary.spread import repeats, spread
from kgeval.metrics.summary.values import RunScores, Values
from kgeval.metrics.summary.worst import Worst
from kgeval.metrics.table import all_metrics
from kgeval.records import (
    LEVELS_OF_X,
    AuditJoin,
    AuditReport,
    CostSummary,
    GroupSummary,
    IndexRecord,
    KnownInScores,
    LeaderRow,
    LeftOutKnown,
    MetricInfo,
    MetricSummary,
    Row,
    RunManifest,
    Score,
    ScoreReport,
    SystemInfo,
    Verdict,
    WithWithout,
)
from kgeval.stats.ranks import ranks

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from kgeval.stats.thresholds import Threshold

    Whole = npt.NDArray[np.int64]

# The leaderboard of GraphRAG-Bench [X figure 6]: systems by the mean of their means at the four levels.

DEFAULT_METRIC = "answer_accuracy"
CLAIM_ROWS = 5  # questions whose claims are listed

Levels = Mapping[str, float]


def leaderboard(found: Mapping[tuple[str, str | None], Levels], *, metric: str) -> list[LeaderRow]:
    """One board a dataset, best system first. `found`: (system, dataset) -> level -> mean of the metric, higher is better.

    The mean is over levels, not over questions, as the paper's board has it (a vendor's question-weighted 63.73 was 62.62 this way). A
    system without all four levels stands below those that have them: its average is over other questions. Equal averages share a
    rank (1, 2, 2, 4). Levels other than the four are not looked at; a system with none of them has no row.
    """
    rows = []
    for dataset in sorted({dataset for _, dataset in found}, key=lambda name: (name is None, name or "")):
        board = [_row(system, dataset, levels, metric) for (system, of), levels in found.items() if of == dataset]
        rows += _ranked([row for row in board if row is not None])
    return rows


def _row(system: str, dataset: str | None, levels: Levels, metric: str) -> LeaderRow | None:
    known = {level: levels[level] for level in LEVELS_OF_X if level in levels}
    if not known:
        return None
    average = sum(known.values()) / len(known)
    return LeaderRow(
        rank=1, system=system, dataset=dataset, metric=metric, average=average, levels=known, complete=len(known) == len(LEVELS_OF_X),
    )


def _ranked(rows: list[LeaderRow]) -> list[LeaderRow]:
    rows.sort(key=lambda row: (not row.complete, -row.average, row.system))
    above = sum(row.complete for row in rows)  # those without all levels come after them, whatever their average
    whole, parts = ranks([row.average for row in rows[:above]]), ranks([row.average for row in rows[above:]])
    places = [*whole, *(above + rank for rank in parts)]
    return [row.model_copy(update={"rank": rank}) for row, rank in zip(rows, places, strict=True)]


def levels_by_dataset(values: Values, questions: Whole, groups: Grouping) -> dict[str | None, dict[str, float]]:
    """dataset -> level -> mean over the scored questions. None stands for questions without a dataset.

    A group that the report leaves out (a dataset beyond the most frequent) is left out here too.
    """
    import numpy as np

    datasets: dict[str | None, Whole] = dict(groups.members("dataset", questions))
    rest = np.flatnonzero(groups.traits.numbers("dataset", questions) < 0)
    if len(rest):
        datasets[None] = rest
    by_dataset: dict[str | None, dict[str, float]] = {}
    for dataset, places in datasets.items():
        part = values.value[places]
        means = {
            level: float(np.sort(inside).mean())
            for level, members in groups.members("level", questions[places]) if len(inside := part[members][~np.isnan(part[members])])
        }
        if means:
            by_dataset[dataset] = means
    return by_dataset


def lacking_levels(rows: list[LeaderRow]) -> list[str]:
    """A sentence for every row that is not over all four levels."""
    notes = []
    for row in rows:
        if not row.complete:
            missing = ", ".join(level for level in LEVELS_OF_X if level not in row.levels)
            where = f" on {row.dataset}" if row.dataset else ""
            notes.append(f"leaderboard: {row.system}{where} has no {row.metric} at {missing}; its average is over the other levels")
    return notes


Scores = Callable[[], Iterator[Score]]
Rows = Callable[[], Iterator[Row]]
Verdicts = Callable[[], Iterator[Verdict]]


@dataclass(frozen=True)
class SummaryOptions:
    """How a run is summed up. `against`: the system that the others are compared with; `cluster`: what questions share that say less
    together (`Question.drawn_with`); `accuracy_metric`: of the leaderboard and of chains of reasoning.

    `known`: questions that a model answers without any text, which all figures are without; `missing`: by system, how many of the other
    questions it did not answer.

    `worst`: answers listed a system and metric. `stopped`: the run did not come to its end. `verdicts`: what the worst answers' reasons are
    taken from; None: from the counts of their scores. `audit`: the graph's, to join with; `index_records`: builds, by system.
    """

    seed: int = 0
    against: str | None = None
    cluster: str | None = None
    accuracy_metric: str | None = None
    gates: Sequence[Threshold] = ()
    worst: int = 5
    stopped: bool = False
    notes: Sequence[str] = ()
    verdicts: Verdicts | None = None
    audit: AuditReport | None = None
    index_records: Sequence[IndexRecord] = ()
    known: LeftOutKnown | None = None
    missing: Mapping[str, int] = field(default_factory=dict)


@dataclass
class _Parts:
    """The report's parts as they grow, metric by metric."""

    summaries: list[MetricSummary] = field(default_factory=list)
    groups: list[GroupSummary] = field(default_factory=list)
    joined: list[AuditJoin] = field(default_factory=list)
    levels: dict[tuple[str, str | None], dict[str, float]] = field(default_factory=dict)
    quality: dict[str, dict[str, float]] = field(default_factory=dict)
    silent: dict[tuple[str, str], int] = field(default_factory=dict)


@dataclass
class _RunData:
    """What was read: scores, what the questions are, what the answers took, the worst ones, what touches the audit; `graphs`: systems whose
    answers name nodes or relations that were retrieved."""

    table: RunScores
    traits: Traits
    drawn: Drawn
    coverage: Coverage
    claims: ClaimTable
    costs: Costs
    worst: Worst
    chains: Chains
    touched: TouchedQuestions | None
    notes: list[str]
    graphs: set[str] = field(default_factory=set)


def build_report(
    scores: Scores, rows: Rows, *, infos: Sequence[MetricInfo], systems: Sequence[SystemInfo], run: RunManifest, options: SummaryOptions,
) -> ScoreReport:
    """The report of a run. `scores`, `rows`: give the run's scores and rows from their beginning; their order changes nothing.

    Raises: InputError for scores of other settings, metrics or systems than the run's, and for two scores of one answer;
    UsageError for an unknown baseline or a leaderboard by a metric that is not computed.
    """
    names = [entry.system for entry in systems]
    metric = check_options(options, infos, names)
    all_questions, all_drawn = RunScores(infos, names, {}), Drawn(options.cluster)
    if options.known is not None:
        scores, rows = _without(frozenset(options.known.ids), scores, rows, all_questions, all_drawn)
    read = _read(scores, rows, infos, names, options)
    groups = grouping(read.traits)
    parts = _parts(read, groups, infos, systems, metric, options)
    leaders = leaderboard(parts.levels, metric=metric) if metric else []
    costs = _costs(read.costs, groups, names, parts, options)
    notes = [*options.notes, *groups.notes, *read.notes, *lacking_levels(leaders)]
    if (lost := len(read.table.questions) - read.traits.count) > 0:
        notes.append(f"{lost:,} scored questions are not among the rows: they are in no group")
    if read.touched is not None:
        notes += [read.touched.note(), *(f"audit: {note}" for note in read.touched.flagged.notes)]
    for built in sorted({record.system for record in options.index_records}):
        if not any(is_index_of(built, system) for system in names):
            notes.append(f"no answers of {built} are here: its index record is left out")
    if len(groups.shown["dataset"]) > MOST_DATASETS:
        notes.append(f"differences by level and hops are of all datasets together: there are more than {MOST_DATASETS}")
    headline = headline_metric(parts.summaries, infos, [row.metric for row in leaders])
    covered = read.coverage.of(systems)
    inputs = OutcomeInputs(
        read.table, {info.metric: info for info in infos}, names, parts.summaries,
        gains(
            read.table, names, infos, baseline=options.against, graphs=read.graphs, seed=options.seed, drawn=read.drawn,
            coverage=read.coverage,
        ),
        headline, options.against, read.drawn, read.coverage, covered, read.claims, options.seed,
    )
    conclusions = concluded(inputs)
    with_graph = [system.model_copy(update={"graph": system.system in read.graphs}) for system in systems]
    missing = {entry.system: options.missing.get(entry.system, entry.questions_missing) for entry in systems}
    return ScoreReport(
        run=run, complete=not options.stopped, known=_known(options, all_questions, all_drawn, parts.summaries), systems=with_graph,
        metrics=list(infos), summaries=parts.summaries, groups=parts.groups,
        leaderboard=leaders, costs=costs, reasoning=read.chains.summaries(seed=options.seed),
        drawn=read.drawn.unit, outcomes=conclusions.outcomes, survived=conclusions.survived, claims=read.claims.totals(names),
        claim_rows=list(read.claims.rows(names, headline, CLAIM_ROWS)) if headline else [], gains=conclusions.gains,
        gains_by_group=group_gains(
            read.table, names, infos, groups, baseline=options.against, graphs=read.graphs, seed=options.seed, drawn=read.drawn,
            coverage=read.coverage, covered=covered,
            doubts=lambda figures, p, part: part_doubts(inputs, figures, p, part.questions, alone=part.codes is None),
        ),
        costs_by_group=group_costs(read.table, names, read.costs, groups, baseline=options.against, graphs=read.graphs),
        joined=parts.joined, worst=read.worst.rows(names),
        gates=evaluate(options.gates, parts.summaries, complete=not options.stopped, missing=missing, silent=parts.silent),
        notes=notes,
    )


def _without(known: frozenset[str], scores: Scores, rows: Rows, everything: RunScores, drawn: Drawn) -> tuple[Scores, Rows]:
    """Scores and rows of the questions that are not known. All scores go into `everything` as they are read, what all questions were drawn
    in into `drawn`."""
    def unknown_scores() -> Iterator[Score]:
        for score in scores():
            everything.add(score)
            if score.question_id not in known:
                yield score

    def unknown_rows() -> Iterator[Row]:
        for row in rows():
            drawn.add(everything.questions.number(row.question.id), row.question)
            everything.lose(row)
            if row.question.id not in known:
                yield row

    return unknown_scores, unknown_rows


def _known(
    options: SummaryOptions, everything: RunScores, drawn: Drawn, summaries: Sequence[MetricSummary],
) -> KnownInScores | None:
    """What was left out, and every mean on all questions beside that without the known ones."""
    if options.known is None:
        return None
    means = []
    for summary in summaries:
        values, questions = everything.values(summary.system, summary.metric)
        means.append(WithWithout(
            system=summary.system, metric=summary.metric, without=summary.overall,
            overall=mean_of_values(values, seed=options.seed, codes=drawn.of(questions)),
        ))
    return KnownInScores(**options.known.model_dump(), scores=means)


def check_options(options: SummaryOptions, infos: Sequence[MetricInfo], systems: Sequence[str]) -> str | None:
    """The leaderboard's metric, None if there is none to make it by. For whoever wants to know before anything is scored.

    Raises: UsageError that names every system and metric that the run does not have.
    """
    better = {info.metric: info.better for info in infos}
    named = {options.against, *(gate.of for gate in options.gates)}
    unknown = sorted(name for name in named if name is not None and name not in systems)
    faults = [f"no system is called {name[:100]}" for name in unknown]
    if unknown:
        faults.append(f"the systems are {', '.join(systems) or 'none'}")
    if (metric := options.accuracy_metric) is not None and better.get(metric) != "higher":
        faults.append(f"{metric} is not computed in this run" if metric not in better else f"{metric}: lower is better, it is no accuracy")
    if faults:
        raise UsageError("; ".join(faults), fix="name a system and a metric of this run; kgeval metrics list shows all metrics")
    return metric or (DEFAULT_METRIC if DEFAULT_METRIC in better else None)


def _read(scores: Scores, rows: Rows, infos: Sequence[MetricInfo], systems: Sequence[str], options: SummaryOptions) -> _RunData:
    metrics = all_metrics()
    aspects = {info.metric: metrics[info.metric].aspects for info in infos if info.metric in metrics}
    # chains keep their accuracy question by question, so only the one that counts is kept
    right, note = (options.accuracy_metric, None) if options.accuracy_metric else accuracy_of([info.metric for info in infos], rows)
    table = RunScores(infos, systems, aspects)
    read = _RunData(
        table, Traits(), Drawn(options.cluster), Coverage(), ClaimTable.of(table, infos), Costs(), Worst(infos, options.worst),
        Chains(right),
        TouchedQuestions(flagged(options.audit)) if options.audit is not None else None, [note] if note else [],
    )
    for score in scores():
        read.table.add(score)
        read.claims.see(score)
        read.worst.see(score)
        read.chains.add(score)
    read.table.check()
    # only now is it known whose texts are shown: a second pass over the rows, so that no text of the others is ever held
    read.worst.fetch()
    for row in rows():
        number = read.table.questions.number(row.question.id)
        read.traits.add(number, row.question)
        read.drawn.add(number, row.question)
        read.coverage.add(number, row.answer)
        read.table.lose(row)
        read.costs.add(number, row.answer)
        read.worst.read_row(row)
        if row.answer.retrieved_nodes or row.answer.retrieved_relations:
            read.graphs.add(row.answer.system)
        read.chains.read(row, read.drawn.code(number))
        if read.touched is not None:
            read.touched.add(number, row.question)
    if options.verdicts is not None:
        read.worst.read_verdicts(options.verdicts())
        read.claims.read_verdicts(options.verdicts())
    read.claims.enter(systems)
    return read


def _parts(
    read: _RunData, groups: Grouping, infos: Sequence[MetricInfo], systems: Sequence[SystemInfo], leading: str | None,
    options: SummaryOptions,
) -> _Parts:
    """One system and metric after the other, so that only one set of values is unfolded at a time."""
    parts = _Parts()
    count = len(read.table.questions)
    trials = {system.system: system.trials for system in systems}
    bands = context_bands({system: read.costs.by_question(system, CHARACTERS, count, errors=True) for system in trials})
    sides = read.touched.sides(count) if read.touched is not None else None
    for system in trials:
        for info in infos:
            values, questions = read.table.values(system, info.metric)
            codes = read.drawn.of(questions)
            parts.silent[system, info.metric] = int(values.silent.sum())
            grouped = group_summaries(system, info.metric, values, questions, groups, seed=options.seed, drawn=read.drawn)
            parts.groups += grouped
            if system in bands:
                parts.groups += context_summaries(
                    system, info.metric, values, bands[system][questions], seed=options.seed, codes=codes,
                )
            parts.summaries.append(MetricSummary(
                system=system, metric=info.metric, overall=mean_of_values(values, seed=options.seed, codes=codes),
                by_type_mean=mean_by_type(grouped),
                repeats=repeats(read.table.runs(system, info.metric)) if draws(info.metric, trials[system]) else None,
                spread=spread(values.value[values.scored]),
                aspects=read.table.mean_aspects(system, info.metric),
            ))
            if sides is not None:
                parts.joined += audit_joins(system, info.metric, values, questions, sides, seed=options.seed, codes=codes)
            if info.metric == leading:
                parts.levels |= {(system, dataset): means for dataset, means in levels_by_dataset(values, questions, groups).items()}
            metric = all_metrics().get(info.metric)
            is_quality = info.better == "higher" and (metric is None or metric.group == "answers")
            if is_quality and (rate := read.costs.quality(system, values, questions)) is not None:
                parts.quality.setdefault(system, {})[info.metric] = rate
    return parts


def draws(metric: str, trials: int) -> bool:
    """Whether repetitions of a metric are draws: of the answers where these have trials, else of a judge or of the user's own code. No
    request at all is no second draw: that it gives the same says nothing."""
    known = all_metrics().get(metric)
    return trials > 1 or known is None or bool(known.asks)


def _costs(costs: Costs, groups: Grouping, systems: Sequence[str], parts: _Parts, options: SummaryOptions) -> list[CostSummary]:
    summaries = []
    for system in systems:
        built = [record for record in options.index_records if is_index_of(record.system, system)]
        summary = costs.summary(system, groups, baseline=options.against, built=built)
        if summary is not None:
            summaries.append(summary.model_copy(update={"quality_per_1k_tokens": parts.quality.get(system, {})}))
    return summaries


def is_index_of(built: str, system: str) -> bool:
    """One index serves all modes and variants of a system: that of lightrag is also lightrag:hybrid's and lightrag:hybrid@top_k=5's."""
    return system == built or system.startswith((f"{built}:", f"{built}@"))
