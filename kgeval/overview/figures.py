"""The headline figures of every kind of report, each with what it is over, its interval and its signature."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kgeval.auditing.accuracy.report import best
from kgeval.auditing.diff_figures import METHODS
from kgeval.format import chance, labels_of
from kgeval.overview import structure
from kgeval.overview.advice import part_of
from kgeval.overview.coverage import TITLES as COVERAGE_TITLES
from kgeval.overview.score_verdict import headline_of
from kgeval.overview.sources import Source
from kgeval.questions.checking.check_table import PASSES
from kgeval.records import (
    AccuracyReport,
    AgreementReport,
    AnswerReport,
    AuditReport,
    CheckFigure,
    CheckReport,
    ComparisonReport,
    CompletenessReport,
    ContaminationReport,
    CoverageReport,
    CrossedCell,
    CrossedChange,
    CrossedReport,
    Estimate,
    Estimated,
    Gain,
    GenerationReport,
    IndexRecord,
    LoadReport,
    Mean,
    OverviewFigure,
    Part,
    Proportion,
    ScoreReport,
    Unit,
)
from kgeval.stats.intervals import quantile, wilson

WRONG = frozenset({"contradicted", "not_stated", "wrong_type", "not_an_entity", "wrong_redundant_or_irrelevant"})
MOST_GAINS = 60  # differences between systems, of the metric that the verdict speaks of
MOST_PAIRS = 60
Figures = Iterator[OverviewFigure]


def figures_of(source: Source) -> list[OverviewFigure]:
    """All headline figures of one report; none for kinds that have none."""
    where = {"place": source.place, "source": str(source.file)}
    maker = _MAKERS.get(source.kind)
    return [figure.model_copy(update=where) for figure in maker(source.record)] if maker else []


def _figure(part: Part, name: str, title: str, value: float | None, **more: Any) -> OverviewFigure:
    """A figure whose place and source are still to come."""
    return OverviewFigure(part=part, name=name, title=title, value=value, source="", **more)


def _estimated(
    part: Part, name: str, title: str,
    measured: Estimated | Estimate | Proportion | CheckFigure | Mean | Gain | CrossedCell | CrossedChange, **more: Any,
) -> OverviewFigure:
    """A figure with the interval that it has in its report."""
    if isinstance(measured, Estimated | Estimate):
        return _figure(part, name, title, measured.value, low=measured.low, high=measured.high, **more)
    share = measured.share if isinstance(measured, Proportion | CheckFigure) else measured.mean
    return _figure(part, name, title, share, low=measured.low, high=measured.high, **more)


def build(report: IndexRecord) -> Figures:
    """What the construction took, and what came of it. Nothing here is a sample."""
    of = report.system
    yield _figure("graph", "built_entities", "Entities built", report.entities, of=of, unit="count", exact=True)
    yield _figure("graph", "built_relations", "Relations built", report.relations, of=of, unit="count", exact=True)
    yield _figure("cost", "build_cost", "Cost of building", report.cost, of=of, unit="usd", better="lower")
    yield _figure("latency", "build_seconds", "Time to build", report.seconds, of=of, unit="seconds", better="lower")


def audit(report: AuditReport) -> Figures:
    """The structure's key figures, how many checks failed by severity, and each check's share of hits. All is counted, nothing sampled."""
    for figure in map(structure.figure_of, structure.KEY):
        value = report.structure.get(figure.id)
        if isinstance(value, int | float) and value == value:
            unit: Unit = "share" if figure.unit == "share" else "count" if isinstance(value, int) else "number"
            yield _figure("graph", figure.id, figure.title, value, unit=unit, exact=True, signature=_method(report, figure.id))
    answered = [finding for finding in report.findings if finding.status in ("passed", "failed")]
    for severity in ("error", "warning", "info"):
        failed = [finding.status == "failed" for finding in answered if finding.severity == severity]
        if n := len(failed):
            title = f"Failed checks: {severity}"
            yield _figure(
                "graph", f"failed_{severity}", title, sum(failed), unit="count", n=n, n_scored=n, better="lower", exact=True,
            )
    for finding in answered:
        if finding.share is not None and finding.group not in ("accuracy", "completeness"):
            yield _figure(
                "graph", finding.rule_id, finding.title, finding.share, n=finding.total, n_scored=finding.total, better="lower", exact=True,
                signature=finding.signature, note=f"{finding.severity}: {finding.status}",
            )


def _method(report: AuditReport, figure_id: str) -> str | None:
    """The named method that a structure figure rests on (the algorithm of the communities with its seed, a tokenizer), if there is one."""
    rests_on = (name for name, ids in METHODS.items() if figure_id in ids and report.structure.get(name) is not None)
    return next((f"{name}={report.structure[name]}" for name in rests_on), None)


def completeness(report: CompletenessReport) -> Figures:
    """Coverage of the gold set at the level of the verdict, in its bridging relations, in a control, and of its facts."""
    level = report.verdict_level or next((judgement.level for judgement in report.verdicts), None) or next(reversed(report.levels), None)
    against = f"against {report.gold.label}, {level} level"
    shares: list[tuple[str, str, Proportion]] = []
    if report.scope != "unmatched":  # else its figures are too high for anything to be concluded from them
        if level in report.levels and (report.gold.entities or report.gold.triples):
            found = report.levels[level]
            shares += [(name, f"Gold found: {title.lower()}", getattr(found, name)) for name, title in COVERAGE_TITLES.items()]
        for name, proportion in report.bridging.items():
            shares.append((f"bridging_{name}", f"Bridging relations found: {name.replace('_', ' ')}", proportion))
    for name, title, proportion in shares:
        if proportion.total:
            yield _estimated("graph", name, title, proportion, n=proportion.total, n_scored=proportion.total, better="higher", note=against)
    if report.control is not None and report.control.entity_coverage.total:
        proportion, title = report.control.entity_coverage, "Control: gold found that should not be"
        yield _estimated(
            "graph", "control_entity_coverage", title, proportion, n=proportion.total, n_scored=proportion.total, better="lower",
            note=against,
        )
    if (facts := report.facts) is not None and facts.retention.total:
        title = "Gold facts that follow from the graph"
        yield _estimated(
            "graph", "fact_retention", title, facts.retention, n=facts.n, n_scored=facts.n_scored, better="higher",
            note=f"judge {facts.judge}",
        )


def accuracy(report: AccuracyReport) -> Figures:
    """The most trustworthy estimate of each thing estimated."""
    first = best(report.estimates, report.estimates[0].of) if report.estimates else None
    latest = {estimate.of: estimate for estimate in report.estimates}
    # of the first thing estimated the one that its own report leads with
    for of, last in latest.items():
        estimate = first if first is not None and first.of == of else last
        lower = of in WRONG or of.endswith("_of_entailed")
        yield _estimated(
            "graph", f"{report.kind}_{of}", f"{report.kind.capitalize()}: {of.replace('_', ' ')}", estimate, n=estimate.n,
            n_scored=estimate.n_scored, better="lower" if lower else "higher", note=f"{labels_of(estimate)}; {estimate.method}",
        )


def questions(report: GenerationReport) -> Figures:
    """How many questions were made of those asked for."""
    yield _figure("scope", "questions_made", "Questions made", report.made, unit="count", n=report.asked, exact=True)


def check(report: CheckReport) -> Figures:
    """The share of questions that pass each check, set by set."""
    for set_ in report.sets:
        yield _figure("scope", "questions", "Questions", set_.n, of=set_.file, unit="count", exact=True)
        for figure in set_.figures:
            n = figure.passed + figure.failed
            if n or figure.unscored:
                passes = PASSES.get(figure.check, figure.check.replace("_", " "))
                yield _estimated(
                    "scope", f"questions_{figure.check}", f"Questions that pass {figure.check}: {passes}", figure, of=set_.file,
                    n=n + figure.unscored, n_scored=n, better="higher",
                )


def coverage(report: CoverageReport) -> Figures:
    """The share of each facet of the graph that a set of questions touches. Counted over the whole graph."""
    for set_ in report.sets:
        for figure in set_.figures:
            if figure.total is not None:
                yield _figure(
                    "scope", f"covered_{figure.facet}", f"Covered by questions: {figure.facet}", figure.share, of=set_.file,
                    n=figure.total, n_scored=figure.total, better="higher", exact=True,
                )


def answers(report: AnswerReport) -> Figures:
    """How many answers are none: errors, and empty ones."""
    for system in report.systems:
        if system.answers:
            lost = (system.empty + sum(system.errors.values())) / system.answers
            ends = wilson(lost, system.answers, quantile=quantile())
            yield _figure(
                "answers", "no_answer", "Answers that are errors or empty", lost, low=ends.low, high=ends.high, of=system.system,
                n=system.answers, n_scored=system.answers, better="lower", note=system.signature,
            )


def load(report: LoadReport) -> Figures:
    """What each system came to with so many questions in flight."""
    for system in report.systems:
        for level in system.levels:
            shared = {"of": system.system, "note": f"limit: {', '.join(level.limits)}" if level.limits else None}
            yield _estimated(
                "latency", f"per_second_{level.in_flight}", f"Answers a second, {level.in_flight} in flight", level.per_second,
                n=level.answered, n_scored=level.answered, unit="number", better="higher", **shared,
            )
            yield _estimated(
                "latency", f"load_p95_{level.in_flight}", f"Latency under load, p95, {level.in_flight} in flight", level.p95,
                n=level.n_latency, n_scored=level.n_latency, unit="seconds", better="lower", **shared,
            )


def scores(report: ScoreReport) -> Figures:
    """Every metric of every system, accuracy by hops, latency, cost, differences between systems."""
    info = {metric.metric: metric for metric in report.metrics}
    for summary in report.summaries:
        known, mean = info.get(summary.metric), summary.overall
        yield _estimated(
            part_of(summary.metric), summary.metric, summary.metric, mean, n=mean.n - mean.not_applicable, n_scored=mean.n_scored,
            of=summary.system, better=known.better if known else "higher", signature=known.signature if known else None,
        )
    for row in report.leaderboard:
        title = f"Mean of {len(row.levels)} levels, {row.metric}" + (f" on {row.dataset}" if row.dataset else "")
        note = None if row.complete else "not all four levels"
        yield _figure("answers", "mean_of_levels", title, row.average, of=row.system, better="higher", note=note)
    yield from _reasoning(report)
    yield from _took(report)
    metric = headline_of(report)
    better = "lower" if metric in info and info[metric].better == "lower" else "higher"
    for gain in [gain for gain in report.gains if gain.metric == metric][:MOST_GAINS]:
        yield _gain(gain, f"{gain.metric}_gain", f"{gain.metric}: paired difference", better)


def _gain(gain: Gain, name: str, title: str, better: str = "higher") -> OverviewFigure:
    of = f"{gain.system} - {gain.baseline}"
    return _estimated("baseline", name, title, gain, of=of, n=gain.n, n_scored=gain.n, unit="difference", better=better)


def _reasoning(report: ScoreReport) -> Figures:
    for chain in report.reasoning:
        for hops, mean in sorted(chain.accuracy_by_hop.items()):
            title = f"Questions of {hops} {'hop' if hops == '1' else 'hops'}: {chain.accuracy_metric}"
            yield _estimated(
                "reasoning", "hops_" + hops.replace("+", "_up"), title, mean, n=mean.n - mean.not_applicable, n_scored=mean.n_scored,
                of=chain.system, better="higher",
            )
        wrong = chain.wrong_step_answers
        shares = (("error_propagation", "Wrong answers after a wrong step", chain.error_propagation, wrong),
                  ("lucky", "Right answers after a wrong step", chain.lucky, wrong),
                  ("wrong_step_share", "Questions with a wrong step", chain.wrong_step_share, chain.questions))
        for name, title, value, n in shares:
            if value is not None:
                yield _figure("reasoning", name, title, value, of=chain.system, n=n, n_scored=n, better="lower")


def _took(report: ScoreReport) -> Figures:
    """Latency and cost of the answers."""
    for cost in report.costs:
        shared = {"of": cost.system, "n": cost.n, "better": "lower"}
        if (took := cost.latency_s) is not None and took.n:
            for name, value in (("p50", took.p50), ("p95", took.p95), ("p99", took.p99)):
                title = f"Seconds an answer, {name}"
                yield _figure("latency", f"latency_{name}", title, value, unit="seconds", n_scored=took.n, **shared)
        for stage, took in sorted(cost.stages.items()):
            if took.n:
                yield _figure("latency", f"{stage}_p50", f"Seconds in {stage}, p50", took.p50, unit="seconds", n_scored=took.n, **shared)
        for name, title, unit in (("cost", "Cost an answer", "usd"), ("total_tokens", "Tokens an answer", "number")):
            if (mean := cost.means.get(name)) is not None:
                yield _figure("cost", f"answer_{name}", title, mean, unit=unit, n_scored=cost.known.get(name, cost.n), **shared)


def contamination(report: ContaminationReport) -> Figures:
    """What the closed book knows, false answers, and what retrieval gains over it."""
    means = [
        ("closed_book_accuracy", "Closed book: right answers", report.accuracy),
        ("closed_book_attempted", "Closed book: attempted", report.attempted),
    ]
    for name, title, mean in means:
        note = f"{report.metric}, right from {report.right_from:g}"
        yield _estimated(
            "baseline", name, title, mean, of=report.closed_book, n=mean.n, n_scored=mean.n_scored, better="lower", note=note,
        )
    for answer in report.false_answers:
        title = "False answers to questions without one"
        yield _estimated(
            "grounding", "false_answers", title, answer.mean, of=answer.system, n=answer.mean.n, n_scored=answer.mean.n_scored,
            better="lower",
        )
    for gain in report.gains:
        yield _gain(gain, "gain_over_closed_book", f"Gain over the closed book: {gain.metric}")
    for gain in report.gains_without:
        yield _gain(gain, "gain_without_known", f"The same without questions that the closed book answers: {gain.metric}")
    if report.difference is not None:
        yield _figure(
            "baseline", "known_minus_unknown", "Answered by heart: known minus unknown documents", report.difference, unit="difference",
            low=report.difference_low, high=report.difference_high, of=report.closed_book,
        )


def comparison(report: ComparisonReport) -> Figures:
    """Each pair over all questions, in all aspects together and in each; then the judge and the checks of him."""
    chosen = [pair for pair in report.pairs if pair.by == "all"]
    pairs = list(dict.fromkeys((pair.system_a, pair.system_b) for pair in chosen))[:MOST_PAIRS]
    for pair in chosen:
        if (pair.system_a, pair.system_b) in pairs:
            shared = {"of": f"{pair.system_a} - {pair.system_b}", "n": pair.n, "n_scored": pair.n_scored, "signature": report.signature}
            scope = ", mean over data sets" if pair.mean_of_datasets else ""
            ending = ("" if pair.aspect == "overall" else f"_{pair.aspect}") + ("_of_datasets" if pair.mean_of_datasets else "")
            yield _estimated(
                "comparison", f"relative_win_rate{ending}", f"Relative win rate, {pair.aspect}{scope}", pair.relative, unit="difference",
                note=f"p {chance(pair.p_holm)} (Holm)" if pair.p_holm is not None else None, better="higher", **shared,
            )
            if pair.aspect == "overall" and not pair.mean_of_datasets and pair.rates is not None:
                for name, rate in (("win", pair.rates.win), ("tie", pair.rates.tie), ("loss", pair.rates.loss)):
                    yield _figure("comparison", name, f"Questions: {name}", rate, **shared)
    if report.ranking is not None and report.ranking.rankable:
        for ranked in report.ranking.systems:
            yield _estimated("comparison", "strength", "Strength (Bradley-Terry)", ranked.strength, of=ranked.system, unit="number")
    over_all = [judge for judge in report.judge if judge.system_a is None]
    for judge in over_all or report.judge[:MOST_PAIRS]:
        of = None if judge.system_a is None else f"{judge.system_a} - {judge.system_b}"
        yield _estimated("comparison", "first_wins", "Judge: the answer that stood first wins", judge.first_wins, n=judge.calls, of=of)
    for check in report.self_checks:
        title = "A system against itself: relative win rate (0 is right)"
        yield _estimated(
            "comparison", "self_check", title, check.relative, of=check.system, unit="difference", n=check.n, n_scored=check.n,
        )
    if (drift := report.drift) is not None:
        title = "Judge: agreement with people on the anchors"
        yield _estimated(
            "comparison", "anchor_agreement", title, drift.agreement, n=drift.anchors, n_scored=drift.n_scored, better="higher",
        )


def matrix(report: CrossedReport) -> Figures:
    """The means over data sets, and what each change does; single places stand in their own score reports."""
    lower = set(report.lower_is_better)
    for cell in report.cells:
        if cell.place.dataset is None and cell.datasets > 1:
            place = cell.place
            size = f"{place.share:.15g}" if place.share is not None and place.share > 1 else place.share  # tokens are whole
            where = ", ".join(str(axis) for axis in (place.variant, size, place.reader) if axis is not None)
            yield _estimated(
                "answers", f"{cell.metric}_mean", f"{cell.metric}, mean of {cell.datasets} data sets" + (f" ({where})" if where else ""),
                cell, of=cell.system, n=cell.n, n_scored=cell.n_scored, better="lower" if cell.metric in lower else "higher",
            )
    for change in report.changes:
        if change.place.dataset is None or len(report.datasets) <= 1:
            yield _estimated(
                "baseline", f"{change.metric}_change", f"{change.metric}: {change.base} to {change.changed}", change, of=change.system,
                n=change.n, n_scored=change.n, unit="difference", better="lower" if change.metric in lower else "higher",
                note=None if change.p_holm is None else f"p {chance(change.p_holm)} (Holm)",
            )


def agreement(report: AgreementReport) -> Figures:
    """How far people agree, and what is nearest to them."""
    shared = {"unit": "number", "better": "higher"}
    for people in report.people:
        if people.by == "all":
            title, n = f"People with each other, {people.aspect}: alpha", people.items_twice
            yield _estimated("comparison", "people_alpha", title, people.alpha_ordinal, n=n, n_scored=n, **shared)
    for near in report.predictors:
        if near.by == "all" and near.kind != "people":
            title = f"Agreement with people, {near.aspect}: Spearman"
            yield _estimated(
                "comparison", "agreement_with_people", title, near.spearman, n=near.n, n_scored=near.n, of=near.predictor, **shared,
            )


_MAKERS: dict[str, Callable[[Any], Figures]] = {
    "build": build, "audit": audit, "completeness": completeness, "accuracy": accuracy, "questions": questions, "check": check,
    "coverage": coverage, "answers": answers, "scores": scores, "contamination": contamination, "comparison": comparison,
    "matrix": matrix, "agreement": agreement, "load": load,
}
