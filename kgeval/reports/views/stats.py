"""Statistics on own scores and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from kgeval.format import chance, figure, interval, number, percent, plural, plus, share, visible
from kgeval.records import Drift, Estimated, JudgeReport, Outcome, PairedResult, PairResult, Ranking, SequenceResult, StatsMean, StatsReport
from kgeval.records.base import OfPair
from kgeval.reports.document import Document, Items, Section, Table, columns
from kgeval.reports.measures import questions_needed

MOST = 200  # rows of a table
_TITLES = {
    "paired": "Paired comparison", "rank": "Order of systems", "judge": "The judge", "power": "Power",
    "correct": "Corrected by labels of people", "aa": "A/A check", "sequential": "Confidence sequence", "drift": "Judge drift",
}
DRIFT = "The judge on the anchors"
_WORDS = ("method", "why not", "decision", "tier", "not scored", "passed")  # columns that hold words
SELECTION = "p selection: under 0.05, the labelled questions are no random part of the judged ones, and no correction holds."


def document(report: StatsReport) -> Document:
    """What the report holds, in the order in which it is read; questions that some have and others lack, the first few by name."""
    read = ", ".join(f"{visible(one.file, longest=60)} ({plural(one.rows, 'row')})" for one in report.inputs)
    lacking = [
        f"{name}: {plural(len(gone), 'question')} lacking that others have: {', '.join(gone[:5])}{' ...' if len(gone) > 5 else ''}"
        for name, gone in report.missing.items()
    ]
    sections = [*_sections(report, f"{100 * report.confidence:g} %"), Section("", [Items(lacking, short=50)])]
    return Document(
        _TITLES[report.kind], f"stats {report.kind}", [one for one in sections if not all(block.empty for block in one.blocks)],
        about=f"{read or 'no file'}; seed {report.seed}, confidence {report.confidence:g}", notes=report.notes,
        more="All figures: add -o report.json or -o report.html",
    )


def _part(title: str, table: Table, lines: Sequence[str] = ()) -> Section:
    """A heading, a table, and lines below it."""
    words = frozenset(at for at, name in enumerate(table.head) if at == 0 or name in _WORDS)
    return Section(title, [replace(table, words=words, short=MOST, long=MOST), Items(lines, short=20)])


def between(found: Estimated, form: Callable[[float], str] = figure) -> str:
    """low to high; - where there is none, or none with a width."""
    return interval(found.low, found.high, form) or "-"


def causes(failures: Mapping[str, int]) -> str:
    """`2 no score, 1 no row`, or -."""
    return ", ".join(f"{n} {why}" for why, n in failures.items()) or "-"


def _of(one: OfPair) -> str:
    return f"{one.system_a} - {one.system_b}"


def _scored(one: StatsMean | PairedResult) -> str:
    """`120 of 120 in 12 groups, as sure as 31`."""
    sure = "" if one.effective is None else f", as sure as {round(one.effective)}"
    return f"{one.n_scored} of {one.n}" + ("" if one.groups is None else f" in {plural(one.groups, 'group')}{sure}")


def _sections(report: StatsReport, level: str) -> Iterator[Section]:
    """All that a report can hold; `level`: of its intervals. What it does not hold has an empty table."""
    yield _part("Means over questions", columns(report.systems, {
        "System, metric": lambda one: f"{one.system}, {one.metric}",
        "mean": lambda one: figure(one.mean.value),
        level: lambda one: between(one.mean),
        "scored": _scored,
        "not scored": lambda one: causes(one.failures),
    }))
    yield _paired(report, level)
    if report.ranking is not None:
        yield from _ranking(report.ranking, report.pairs, level)
    for judge in report.judge:
        name = "The judge over all pairs" if judge.system_a is None else f"The judge on {judge.system_a} and {judge.system_b}"
        yield _part(name, Table(("Figure", "value", "95 %"), _judged(judge)), judge.notes)
        yield _part("By difference in length (words)", columns(judge.length_bins, {
            "Words": lambda one: f"{one.low:g} to {one.high:g}",
            "n": lambda one: str(one.n),
            "longer wins": lambda one: share(one.longer_wins),
            "shorter wins": lambda one: share(one.shorter_wins),
            "ties": lambda one: share(one.ties),
        }))
    yield _part("What a number of questions finds", columns(report.power, {
        "Pair": lambda one: f"{one.system_a} - {one.system_b}, {one.metric}" if one.system_a else "as given",
        "sd": lambda one: figure(one.sd),
        "power": lambda one: f"{100 * one.power:g} %",
        "n": lambda one: number(one.n),
        "finds": lambda one: figure(one.detectable),
        "difference": lambda one: plus(one.difference),
        "needs n": questions_needed,
        "tier": lambda one: one.tier or "-",
    }))
    p = report.selection_p
    lines = [] if p is None else [f"p selection {chance(p)}: under 0.05, the labelled rows are no random part of the judged ones."]
    yield _part("The share, corrected", columns(report.shares, {
        "Method": lambda one: one.method,
        "share": lambda one: share(one.share.value),
        "95 %": lambda one: between(one.share, percent),
        "labelled": lambda one: f"{one.labels} of {one.n}",
        "lambda": lambda one: figure(one.power),
        "sensitivity": lambda one: share(one.sensitivity),
        "specificity": lambda one: share(one.specificity),
        "why not": lambda one: one.reason or "",
    }), lines if report.shares else ())
    yield _part("Win - loss, corrected", columns(report.corrected, {
        "Pair": _of,
        "method": lambda one: one.method,
        "win - loss": lambda one: plus(one.relative.value),
        "95 %": lambda one: between(one.relative, plus),
        "labelled": lambda one: f"{one.labels} of {one.n}",
        "p selection": lambda one: chance(one.selection_p),
        "why not": lambda one: one.reason or "",
    }), [SELECTION] if report.corrected else ())
    yield _part("A/A: a system against itself", columns(report.self_checks, {
        "Runs": lambda one: one.system,
        "difference": lambda one: plus(one.relative.value),
        level: lambda one: between(one.relative, plus),
        "questions": lambda one: str(one.n),
        "passed": lambda one: {True: "yes", False: "no", None: "not known"}[one.passed],
    }))
    yield _part(f"Confidence sequence, {level}", columns(report.sequences, {
        "Pair": _of,
        "questions": lambda one: str(one.n),
        "win - loss": lambda one: plus(one.relative.value),
        "always valid": lambda one: between(one.relative, plus),
        "only if nobody looked": lambda one: between(one.fixed, plus),
        "decision": _decision,
    }), [f"{_of(one)}: {one.failures} questions have no result." for one in report.sequences if one.failures])
    if report.drift is not None:
        yield _part(DRIFT, Table(("Figure", "value", level), drift_rows(report.drift)), drift_lines(report.drift))


def _paired(report: StatsReport, level: str) -> Section:
    """Differences by question, and what it takes to find one."""
    several = len({one.metric for one in report.paired}) > 1

    def name(one: PairedResult) -> str:
        return _of(one) + (f", {one.metric}" if several else "")

    return _part("Differences by question", columns(report.paired, {
        "Pair, metric" if several else "Pair": name,
        "difference": lambda one: plus(one.difference.value),
        level: lambda one: between(one.difference, plus),
        "p": lambda one: chance(one.p),
        "p Holm": lambda one: chance(one.p_holm),
        "Wilcoxon": lambda one: chance(one.wilcoxon_p),
        "McNemar": lambda one: chance(one.mcnemar_p),
        "d": lambda one: plus(one.effect),
        "P(better)": lambda one: figure(one.superiority),
        "scored": _scored,
    }).filled(), [
        *(f"{name(pair)}: {_concluded(one)}." for pair, one in zip(report.paired, report.outcomes, strict=False)),
        *(f"{name(one)}: {plural(one.n_scored, 'question')} {_finds(one)} with 80 % power; {_needs(one)}."
          for one in report.paired if one.sd),
        *(f"{name(one)}: not compared: {causes(one.failures)}." for one in report.paired if one.failures),
    ])


def _concluded(one: Outcome) -> str:
    """What may be concluded, the higher score being the better one."""
    if one.conclusion == "not decidable":
        return f"not decidable: {'; '.join(one.because)}"
    return {"a better": f"{one.system_a} is better", "b better": f"{one.system_b} is better"}.get(one.conclusion, one.conclusion)


def _finds(one: PairedResult) -> str:
    return "find no difference that the scale has" if one.detectable is None else f"find a difference of {figure(one.detectable)}"


def _needs(one: PairedResult) -> str:
    """A mean difference of 0 needs no number: none would show it."""
    if one.needed is None and one.needed_above is None:
        return "no difference was seen"
    return f"for the difference seen, {questions_needed(one)} questions are needed"


def _ranking(ranking: Ranking, pairs: Sequence[PairResult], level: str) -> Iterator[Section]:
    yield _part("Order of the systems", columns(ranking.systems, {
        "System": lambda one: one.system,
        "average win rate": lambda one: figure(one.average_win_rate),
        "strength (log)": lambda one: plus(one.strength.value),
        level: lambda one: between(one.strength, plus),
        "rank": lambda one: "-" if one.rank is None else str(one.rank),
        "ranks left open": lambda one: "-" if one.rank_low is None else f"{one.rank_low} to {one.rank_high}",
    }), [*([] if ranking.rankable else ["Not rankable: no finite strengths exist."]), *([ranking.reason] if ranking.reason else [])])
    yield _part("Pairs", columns(pairs, {
        "Pair": _of,
        "win": lambda one: share(one.rates.win if one.rates else None),
        "tie": lambda one: share(one.rates.tie if one.rates else None),
        "loss": lambda one: share(one.rates.loss if one.rates else None),
        "win - loss": lambda one: plus(one.relative.value),
        level: lambda one: between(one.relative, plus),
        "p Holm": lambda one: chance(one.p_holm),
        "judged": lambda one: f"{one.n_scored} of {one.n}",
    }))


def _judged(one: JudgeReport) -> list[tuple[str, ...]]:
    rows = [
        ("calls with an answer", number(one.calls), "-"),
        ("won by the answer that stood first", share(one.first_wins.value), between(one.first_wins, percent)),
        ("A wins where it stood first", share(one.ab_win), "-"), ("A wins where it stood second", share(one.ba_win), "-"),
        ("winner turns with the order", share(one.flips), "-"), ("ties", share(one.ties), "-"),
        ("repeats with the same winner", share(one.self_agreement), "-"),
        *((name, plus(found.value), between(found, plus)) for name, found in (
            ("win - loss of A", one.raw), ("win - loss of A at equal lengths", one.length_controlled),
            ("change of win - loss per 100 words more", one.length_slope),
        )),
    ]
    return [row for row in rows if row[1] != "-"]


def _decision(one: SequenceResult) -> str:
    decision = {"a": one.system_a, "b": one.system_b, "equal": "equal", "open": "open"}[one.decision]
    return decision if one.decided_at is None else f"{decision}, after {one.decided_at}"


def drift_rows(one: Drift) -> list[tuple[str, ...]]:
    """The judge on the anchors: agreement, and against a baseline what changed and whether he moved."""
    rows: list[tuple[str, ...]] = [
        ("agreement with the labels", share(one.agreement.value), between(one.agreement, percent)),
        ("kappa", figure(one.kappa), "-"),
        *((f"agreement, {aspect}", share(found.value), between(found, percent)) for aspect, found in one.aspects.items()),
    ]
    if one.compared is not None and one.baseline_agreement is not None:
        change = one.change or Estimated()
        before = one.baseline_agreement
        rows += [
            (f"agreement in the baseline ({one.compared} pairs in both)", share(before.value), between(before, percent)),
            ("change of agreement", plus(change.value), between(change, plus)),
            ("p of the change (McNemar)", chance(one.change_p), "-"), ("verdicts that changed", share(one.changed), "-"),
            ("p of the changed verdicts (permutation)", chance(one.changed_p), "-"),
        ]
    return rows


def drift_lines(one: Drift) -> list[str]:
    """Whether the judge moved (nothing without a baseline), and what was not judged."""
    moved = {
        True: "The judge moved: scores of the two runs are not comparable.", False: "No sign that the judge moved.",
        None: "Whether the judge moved is not known.",
    }[one.moved]
    judged = f"{one.n_scored} of {one.anchors} anchors were judged; not judged: {causes(one.failures)}."
    return [*([] if one.compared is None else [moved]), judged, *one.notes]
