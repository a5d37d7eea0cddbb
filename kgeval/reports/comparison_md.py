"""A comparison in Markdown, short enough for a comment on a pull request: verdict, thresholds and pairs are open, the rest is folded."""

from __future__ import annotations

from kgeval.format import chance, figure, number, share, signed
from kgeval.records import ComparisonReport, JudgeReport, PairResult
from kgeval.reports import comparison_view as shown
from kgeval.reports.comparison_checks import checks
from kgeval.reports.comparison_view import View, view_of
from kgeval.reports.comparison_words import facts, verdict
from kgeval.reports.markdown import cell, code, elsewhere, escape, fitted, notes, prose
from kgeval.reports.markdown import table as rows_of
from kgeval.reports.usage import usage_line

_PAIRS = 30
_ROWS = 60


def markdown(report: ComparisonReport) -> str:
    """The report in Markdown, at most MOST_CHARACTERS long: what does not fit is left out from the end, and that is said."""
    view = view_of(report)
    first, *others = [escape(line, longest=900) for line in verdict(view)]
    lines = "\n".join(f"- {line}" for line in [*others, *(escape(line, longest=500) for line in facts(view))])
    use = prose(usage_line(report.run)) if report.run.model_use else ""
    head, tail = ["# Comparison", f"**{first}**", lines], [notes(report.notes), use, _foot(report)]
    blocks = [_gates(view), _pairs(view), _ranking(view), _contrast(view), _checks(view)]
    blocks += [_groups(view), _judge(view), _alignment(view), _cost(view)]
    return fitted(head, blocks, tail)


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _pair(one: PairResult | JudgeReport) -> str:
    return "all pairs" if one.system_a is None else f"{_name(one.system_a)} against {_name(one.system_b or '')}"


def _name(text: str) -> str:
    return code(text, longest=60) if "@" in text else escape(text, longest=60)


def _relative(one: PairResult | None) -> str:
    if one is None:
        return "-"
    ends = shown.ends(one)
    return cell(f"**{signed(one.relative.value)}**" + (f" ({ends})" if ends else ""))


def _rates(one: PairResult) -> tuple[str, ...]:
    return tuple(cell(share(rate)) for rate in ((one.rates.win, one.rates.tie, one.rates.loss) if one.rates else (None,) * 3))


def _pairs(view: View) -> str:
    found = list(view.first())
    rows = [
        (_pair(one), *_rates(one), _relative(one), cell(chance(one.p_holm)), shown.points(one.gap.value),
         cell(share(one.detectable)), shown.scored(one) + (f" ({escape(shown.lost(one))})" if shown.lost(one) else ""))
        for one in found[:_PAIRS]
    ]
    heads = ("A against B", "A wins", "Ties", "B wins", "Relative (95 %)", "p (Holm)", "Points", "Finds", "Scored")
    return "## Pairs\n\n" + rows_of(heads, rows) + elsewhere(len(found) - _PAIRS) if rows else ""


def _gates(view: View) -> str:
    rows = [
        (f"{_name(gate.system_a)} against {_name(gate.system_b)}", escape(gate.aspect), f"{gate.figure} {'≥' if gate.least else '≤'} "
         f"{number(gate.limit)}", figure(gate.value, digits=4), "unanswered" if gate.met is None else "met" if gate.met else "**missed**")
        for gate in view.report.gates[:_PAIRS]
    ]
    heads = ("Pair", "Aspect", "Threshold", "Value", "Outcome")
    return "## Thresholds\n\n" + rows_of(heads, rows) + elsewhere(len(view.report.gates) - _PAIRS) if rows else ""


def _ranking(view: View) -> str:
    ranking = view.report.ranking
    if ranking is None:
        return ""
    rows = [
        ("-" if one.rank is None else str(one.rank), _name(one.system), shown.points(one.strength.value),
         shown.between(one.strength, shown.points) or "-", cell(share(one.average_win_rate)))
        for one in ranking.systems[:_PAIRS]
    ]
    reason = escape(ranking.reason or ("" if ranking.rankable else "no reason given"), longest=400)
    why = (reason if ranking.rankable else f"Not rankable: {reason}") + "\n\n" if reason else ""
    return "## Ranking\n\n" + why + rows_of(("Rank", "System", "Strength", "95 %", "Average win rate"), rows)


def _contrast(view: View) -> str:
    others = {name: view_of(view.report.model_copy(update={"pairs": pairs})) for name, pairs in view.report.contrast.items()}
    rows = [
        (_pair(one), _relative(one), *(_relative(other.result(one.system_a, one.system_b)) for other in others.values()))
        for one in list(view.first())[:_PAIRS]
    ]
    heads = ("A against B", f"{escape(view.report.procedure)} (this)", *(escape(name) for name in others))
    return "## What the biases did\n\n" + rows_of(heads, rows) if others and rows else ""


def _checks(view: View) -> str:
    """Where it stopped, A/A, labels of people, anchors."""
    made = []
    for part in checks(view):
        rows = [tuple(escape(text, longest=120) if text else "" for text in row) for row in part.rows[:_PAIRS]]
        lines = [escape(line, longest=400) for line in part.lines]
        made.append("\n\n".join([f"## {part.title}", rows_of(part.head, rows) + elsewhere(len(part.rows) - _PAIRS), *lines]))
    return "\n\n".join(made)


def _groups(view: View) -> str:
    rows = [
        (_pair(one), escape(one.aspect, longest=60), escape(shown.group_of(one).title, longest=60), _relative(one),
         cell(chance(one.p_holm)), shown.scored(one))
        for one in view.report.pairs[:_ROWS]
    ]
    text = rows_of(("A against B", "Aspect", "Group", "Relative (95 %)", "p (Holm)", "Scored"), rows)
    return _folded("By aspect, data set and level", text + elsewhere(len(view.report.pairs) - _ROWS)) if rows else ""


def _judge(view: View) -> str:
    rows = [
        (_pair(one), number(one.calls), *(cell(share(part)) for part in (
            one.first_wins.value, one.ab_win, one.ba_win, one.flips, one.ties, one.self_agreement)),
         cell(signed(one.raw.value)), cell(signed(one.length_controlled.value)))
        for one in view.report.judge[:_PAIRS]
    ]
    heads = ("A against B", "Calls", "First place wins", "A first", "A second", "Turned", "Ties", "Same again", "Raw", "At equal lengths")
    return _folded("The judge", rows_of(heads, rows)) if rows else ""


def _alignment(view: View) -> str:
    rows = [
        (f"{_name(one.system_a)} against {_name(one.system_b)}", escape(one.level or "all"),
         *(number(count) for count in (one.n, one.equal, one.adjusted, one.forced, one.discarded, one.failed)))
        for one in view.report.alignment[:_ROWS]
    ]
    heads = ("A against B", "Level", "n", "Equal", "Adjusted", "Forced", "Discarded", "Failed")
    return _folded("Bringing lengths together", rows_of(heads, rows)) if rows else ""


def _cost(view: View) -> str:
    rows = [
        (_name(one.system), cell(share(view.win_rate(one.system))), number(one.answers), *(
            "-" if value is None else number(value) for value in (one.words, one.tokens, one.seconds, one.calls, one.cost)))
        for one in view.report.systems[:_PAIRS]
    ]
    heads = ("System", "Win rate", "Answers", "Words", "Tokens", "Seconds", "Calls", "US dollars")
    return _folded("Tokens and time", rows_of(heads, rows)) if rows else ""


def _foot(report: ComparisonReport) -> str:
    run = report.run
    models = ", ".join(f"{one.role} {code(one.name, longest=60)}" for one in run.models)
    seed = "" if run.seed is None else f", seed {run.seed}"
    return f"kgeval {escape(run.kgeval)}{seed}, {escape(run.started)}, {run.seconds:.1f} s" + (f", {models}" if models else "")
