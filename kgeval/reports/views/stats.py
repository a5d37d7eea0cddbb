"""Statistics on own scores and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from kgeval.format import chance, figure, interval, number, percent, plural, share, visible
from kgeval.records import Drift, Estimated, JudgeReport, PairedResult, SequenceResult, StatsReport
from kgeval.reports.document import Document, Items, Section, Table

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
    parts = (_systems, _paired, _ranking, _judge, _power, _shares, _corrected, _checks, _sequences, _drift)
    sections = [section for part in parts for section in part(report)]
    return Document(
        _TITLES[report.kind], f"stats {report.kind}", [*sections, *([Section("", [Items(lacking, short=50)])] if lacking else [])],
        about=f"{read or 'no file'}; seed {report.seed}, confidence {report.confidence:g}", notes=report.notes,
        more="All figures: add -o report.json or -o report.html",
    )


def _part(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], lines: Sequence[str] = ()) -> Section:
    """A heading, a table, and lines below it."""
    words = frozenset(at for at, name in enumerate(head) if at == 0 or name in _WORDS)
    return Section(title, [Table(head, rows, words=words, short=MOST, long=MOST), Items(lines, short=20)])


def between(found: Estimated, form: Callable[[float], str] = figure) -> str:
    """low to high; - where there is none, or none with a width."""
    return interval(found.low, found.high, form) or "-"


def signed(value: float | None) -> str:
    """A difference, with its sign; - for null."""
    return figure(value, sign=True)


def causes(failures: Mapping[str, int]) -> str:
    """`2 no score, 1 no row`, or -."""
    return ", ".join(f"{n} {why}" for why, n in failures.items()) or "-"


def _level(report: StatsReport) -> str:
    return f"{100 * report.confidence:g} %"


def _systems(report: StatsReport) -> Iterator[Section]:
    if report.systems:
        rows = [
            (f"{one.system}, {one.metric}", figure(one.mean.value), between(one.mean), f"{one.n_scored} of {one.n}", causes(one.failures))
            for one in report.systems
        ]
        yield _part("Means over questions", ("System, metric", "mean", _level(report), "scored", "not scored"), rows)


def _paired(report: StatsReport) -> Iterator[Section]:
    if not report.paired:
        return
    several = len({one.metric for one in report.paired}) > 1
    names = [f"{one.system_a} - {one.system_b}" + (f", {one.metric}" if several else "") for one in report.paired]
    rows = [
        (name, signed(one.difference.value), between(one.difference, signed),
         chance(one.p), chance(one.p_holm), chance(one.wilcoxon_p), chance(one.mcnemar_p), signed(one.effect),
         figure(one.superiority), f"{one.n_scored} of {one.n}")
        for name, one in zip(names, report.paired, strict=True)
    ]
    lines = [
        f"{name}: {plural(one.n_scored, 'question')} {_finds(one)} with 80 % power; "
        f"for the difference seen, {'no number of' if one.needed is None else number(one.needed)} questions are needed."
        for name, one in zip(names, report.paired, strict=True) if one.sd
    ]
    lines += [f"{name}: not compared: {causes(one.failures)}." for name, one in zip(names, report.paired, strict=True) if one.failures]
    first = "Pair, metric" if several else "Pair"
    head = (first, "difference", _level(report), "p", "p Holm", "Wilcoxon", "McNemar", "d", "P(better)", "scored")
    yield _part("Differences by question", *_without_empty(head, rows), lines)


def _finds(one: PairedResult) -> str:
    return "find no difference that the scale has" if one.detectable is None else f"find a difference of {figure(one.detectable)}"


def _without_empty(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head and rows without columns that hold nothing but -."""
    kept = [at for at in range(len(head)) if any(row[at] != "-" for row in rows)]
    return tuple(head[at] for at in kept), [tuple(row[at] for at in kept) for row in rows]


def _ranking(report: StatsReport) -> Iterator[Section]:
    found = report.ranking
    if found is None:
        return
    rows = [
        (one.system, figure(one.average_win_rate), signed(one.strength.value), between(one.strength, signed),
         "-" if one.rank is None else str(one.rank), "-" if one.rank_low is None else f"{one.rank_low} to {one.rank_high}")
        for one in found.systems
    ]
    lines = [] if found.rankable else ["Not rankable: no finite strengths exist."]
    lines += [found.reason] if found.reason else []
    head = ("System", "average win rate", "strength (log)", _level(report), "rank", "ranks left open")
    yield _part("Order of the systems", head, rows, lines)
    pairs = [
        (f"{one.system_a} - {one.system_b}", *((share(one.rates.win), share(one.rates.tie), share(one.rates.loss)) if one.rates
         else ("-", "-", "-")), signed(one.relative.value), between(one.relative, signed), chance(one.p_holm),
         f"{one.n_scored} of {one.n}")
        for one in report.pairs
    ]
    yield _part("Pairs", ("Pair", "win", "tie", "loss", "win - loss", _level(report), "p Holm", "judged"), pairs)


def _judge(report: StatsReport) -> Iterator[Section]:
    for one in report.judge:
        name = "The judge over all pairs" if one.system_a is None else f"The judge on {one.system_a} and {one.system_b}"
        yield _part(name, ("Figure", "value", "95 %"), _judged(one), one.notes)
        if one.length_bins:
            bins = [
                (f"{one.low:g} to {one.high:g}", str(one.n), share(one.longer_wins), share(one.shorter_wins), share(one.ties))
                for one in one.length_bins
            ]
            yield _part("By difference in length (words)", ("Words", "n", "longer wins", "shorter wins", "ties"), bins)


def _judged(one: JudgeReport) -> list[tuple[str, ...]]:
    rows = [
        ("calls with an answer", number(one.calls), "-"),
        ("won by the answer that stood first", share(one.first_wins.value), between(one.first_wins, percent)),
        ("A wins where it stood first", share(one.ab_win), "-"), ("A wins where it stood second", share(one.ba_win), "-"),
        ("winner turns with the order", share(one.flips), "-"), ("ties", share(one.ties), "-"),
        ("repeats with the same winner", share(one.self_agreement), "-"),
        ("win - loss of A", signed(one.raw.value), between(one.raw, signed)),
    ]
    by_length = {"win - loss of A at equal lengths": one.length_controlled, "change of win - loss per 100 words more": one.length_slope}
    rows += [(name, signed(found.value), between(found, signed)) for name, found in by_length.items()]
    return [row for row in rows if row[1] != "-"]


def _power(report: StatsReport) -> Iterator[Section]:
    if report.power:
        rows = [
            (f"{one.system_a} - {one.system_b}, {one.metric}" if one.system_a else "as given", figure(one.sd), f"{100 * one.power:g} %",
             "-" if one.n is None else number(one.n), figure(one.detectable), signed(one.difference),
             "-" if one.needed is None else number(one.needed), one.tier or "-")
            for one in report.power
        ]
        yield _part("What a number of questions finds", ("Pair", "sd", "power", "n", "finds", "difference", "needs n", "tier"), rows)


def _shares(report: StatsReport) -> Iterator[Section]:
    if report.shares:
        rows = [
            (one.method, share(one.share.value), between(one.share, percent), f"{one.labels} of {one.n}", figure(one.power),
             share(one.sensitivity), share(one.specificity), one.reason or "")
            for one in report.shares
        ]
        head = ("Method", "share", "95 %", "labelled", "lambda", "sensitivity", "specificity", "why not")
        p = report.selection_p
        lines = [] if p is None else [f"p selection {chance(p)}: under 0.05, the labelled rows are no random part of the judged ones."]
        yield _part("The share, corrected", head, rows, lines)


def _corrected(report: StatsReport) -> Iterator[Section]:
    if report.corrected:
        rows = [
            (f"{one.system_a} - {one.system_b}", one.method, signed(one.relative.value), between(one.relative, signed),
             f"{one.labels} of {one.n}", chance(one.selection_p), one.reason or "")
            for one in report.corrected
        ]
        head = ("Pair", "method", "win - loss", "95 %", "labelled", "p selection", "why not")
        yield _part("Win - loss, corrected", head, rows, [SELECTION])


def _checks(report: StatsReport) -> Iterator[Section]:
    if report.self_checks:
        said = {True: "yes", False: "no", None: "not known"}
        rows = [
            (one.system, signed(one.relative.value), between(one.relative, signed), str(one.n), said[one.passed])
            for one in report.self_checks
        ]
        yield _part("A/A: a system against itself", ("Runs", "difference", _level(report), "questions", "passed"), rows)


def _sequences(report: StatsReport) -> Iterator[Section]:
    if report.sequences:
        rows = [
            (f"{one.system_a} - {one.system_b}", str(one.n), signed(one.relative.value), between(one.relative, signed),
             between(one.fixed, signed), _decision(one))
            for one in report.sequences
        ]
        head = ("Pair", "questions", "win - loss", "always valid", "only if nobody looked", "decision")
        lines = [
            f"{one.system_a} - {one.system_b}: {one.failures} questions have no result." for one in report.sequences if one.failures
        ]
        yield _part(f"Confidence sequence, {_level(report)}", head, rows, lines)


def _decision(one: SequenceResult) -> str:
    said = {"a": one.system_a, "b": one.system_b, "equal": "equal", "open": "open"}[one.decision]
    return said if one.decided_at is None else f"{said}, after {one.decided_at}"


def _drift(report: StatsReport) -> Iterator[Section]:
    if report.drift is not None:
        yield _part(DRIFT, ("Figure", "value", _level(report)), drift_rows(report.drift), drift_lines(report.drift))


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
            ("change of agreement", signed(change.value), between(change, signed)),
            ("p of the change (McNemar)", chance(one.change_p), "-"), ("verdicts that changed", share(one.changed), "-"),
            ("p of the changed verdicts (permutation)", chance(one.changed_p), "-"),
        ]
    return rows


def drift_lines(one: Drift) -> list[str]:
    """Whether the judge moved, and what was not judged."""
    judged = f"{one.n_scored} of {one.anchors} anchors were judged; not judged: {causes(one.failures)}."
    return [*moved_line(one), judged, *one.notes]


def moved_line(one: Drift) -> list[str]:
    """Whether the judge moved, in a sentence; nothing without a baseline."""
    if one.compared is None:
        return []
    return [{
        True: "The judge moved: scores of the two runs are not comparable.", False: "No sign that the judge moved.",
        None: "Whether the judge moved is not known.",
    }[one.moved]]
