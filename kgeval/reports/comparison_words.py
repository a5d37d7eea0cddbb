"""The verdict of a comparison in plain words: who is better, by how much, how sure; or what this sample would have found."""

from __future__ import annotations

from collections.abc import Iterator

from kgeval.format import chance, joined, number, plural, share, signed
from kgeval.records import PairResult, Stopped
from kgeval.reports.comparison_view import ALPHA, ALWAYS, FEW, View, between, few, lost, points, stamp, swap_sides, word

MOST_PAIRS = 6  # sentences


def verdict(view: View) -> list[str]:
    """The sentences of the verdict; the first one says it all, if only one is read, and whose verdict it is."""
    first = list(view.first())
    if not first:
        return ["There is no pair of systems in this report."]
    lines = [_leaders(view)] if len(view.systems) > 2 and len(first) > 1 else []
    clearest = sorted(first, key=lambda one: -abs(one.relative.value or 0.0))
    lines += [sentence(one, view.stop(one.system_a, one.system_b)) for one in clearest[:MOST_PAIRS]]
    if len(clearest) > MOST_PAIRS:
        lines.append(f"{plural(len(clearest) - MOST_PAIRS, 'pair')} more: in the tables and heat maps.")
    judges = dict.fromkeys(word(one.name) for one in view.report.run.models if one.role == "judge")
    return [f"{lines[0].removesuffix('.')}; judge: {joined(list(judges))}.", *lines[1:]] if judges else lines


def winner(one: PairResult, stop: Stopped | None) -> str | None:
    """a or b where a difference was found, null else: never under FEW questions. Where the comparison stopped when it was sure, the
    confidence sequence decides: the p-value of a sample that was looked at again and again means nothing."""
    if stop is not None:
        return stop.decision if stop.decision in ("a", "b") else None
    if few(one) or one.always_valid or one.p_holm is None or one.p_holm > ALPHA or not one.relative.value:
        return None
    return "a" if one.relative.value > 0 else "b"


def sentence(one: PairResult, stop: Stopped | None = None) -> str:
    """One pair in words."""
    a, b = word(one.system_a), word(one.system_b)
    if one.rates is None or one.relative.value is None:
        return f"Nothing can be said of {a} and {b}: none of {plural(one.n, 'question')} has a result ({lost(one) or 'not judged'})."
    if few(one) and stop is None:
        return _too_few(a, b, one)
    side = winner(one, stop)
    if side is None:
        return _undecided(a, b, one, stop) if stop is not None else _no_difference(a, b, one)
    better, worse = (a, b) if side == "a" else (b, a)
    wins, losses = (one.rates.win, one.rates.loss) if side == "a" else (one.rates.loss, one.rates.win)
    gap = "" if not one.gap.value else f", {points(abs(one.gap.value)).lstrip('+')} points {'more' if _agree(one) else 'fewer'} on average"
    return (
        f"{better} is better than {worse}: it wins {share(wins)} and loses {share(losses)} of {number(one.n_scored)} questions, "
        f"{share(one.rates.tie)} are ties{gap}; relative win rate {_size(one, side)}{_sure(one, stop)}."
    )


def _agree(one: PairResult) -> bool:
    return (one.gap.value or 0.0) * (one.relative.value or 0.0) > 0


def _size(one: PairResult, side: str = "a") -> str:
    """The relative win rate with its interval, seen from a side."""
    seen = one if side == "a" else swap_sides(one)
    ends, always = between(seen.relative), f", {ALWAYS}" if one.always_valid else ""
    return signed(seen.relative.value) + (f" (95 %{always}: {ends})" if ends else "")


def _sure(one: PairResult, stop: Stopped | None) -> str:
    if stop is not None:
        return f"; the comparison stopped when it was sure, after {plural(stop.questions, 'question')}"
    return f", p {_is(one.p_holm)} (Holm)"


def _is(p: float | None) -> str:
    text = chance(p)
    return text if text.startswith("<") else f"= {text}"


def _too_few(a: str, b: str, one: PairResult) -> str:
    if one.n_scored == 1:
        return f"One question says nothing of others: {a} against {b}, relative win rate {signed(one.relative.value)} on it."
    return (
        f"Too few questions to compare {a} and {b}: {number(one.n_scored)} have a result, and under {FEW} nothing is concluded; "
        f"relative win rate {_size(one)} on them."
    )


def _undecided(a: str, b: str, one: PairResult, stop: Stopped) -> str:
    """Stopped as equal, or at the end of the questions without a decision."""
    if stop.decision == "equal":
        return (
            f"{a} and {b} are equal within {share(stop.tie_region)}: relative win rate {_size(one)}; the comparison stopped when it was "
            f"sure, after {plural(stop.questions, 'question')}."
        )
    over = "" if stop.questions == stop.of_questions else f" of {number(stop.of_questions)}"
    return (
        f"Not decided between {a} and {b}: relative win rate {_size(one)} after {number(stop.questions)}{over} questions; neither a winner "
        f"nor equality within {share(stop.tie_region)} is sure."
    )


def _no_difference(a: str, b: str, one: PairResult) -> str:
    if one.rates is not None and one.rates.tie == 1:
        return f"No difference found between {a} and {b}: all of {plural(one.n_scored, 'question')} are ties."
    p = "" if one.p_holm is None else f", p {_is(one.p_holm)} (Holm)"
    alone = f" Alone it would count as found (p {_is(one.p)}), but not among all pairs of this comparison." if _alone(one) else ""
    found = (
        " A difference may be there all the same." if one.detectable is None else
        f" This sample of {number(one.n_scored)} questions would have found {share(one.detectable)} or more with 80 % power; a smaller "
        "difference may be there."
    )
    return f"No difference found between {a} and {b}: relative win rate {_size(one)}{p}.{alone}{found}"


def _alone(one: PairResult) -> bool:
    return one.p is not None and one.p_holm is not None and one.p <= ALPHA < one.p_holm


def _leaders(view: View) -> str:
    """The best system, and those that it was not found to be better than."""
    best, over = view.systems[0], f"{plural(len(view.systems), 'system')}, {plural(len(view.pairs), 'pair')}"
    if not any(one.rates for one in view.first()):
        return f"{over}: nothing can be said of their order, no pair has a result."
    found: dict[str, list[str]] = {}
    for other in view.systems[1:]:
        found.setdefault(_against(view, best, other), []).append(other)
    ranking = view.report.ranking
    if set(found) == {"wins"}:
        return f"{over}: {word(best)} is better than every other system."
    if ranking is None or not ranking.rankable:
        why = "there is no ranking" if ranking is None else word(ranking.reason or "no reason given", 300)
        return f"{over}: they cannot be ranked ({why})."
    if "loses" in found:
        return f"{over}: {word(best)} has the highest strength, but loses to {_named(found['loses'])}."
    parts = {"equal": "equal to", "open": "not found to be better than", "unknown": "not compared with"}
    told = "; ".join(f"it is {text} {_named(found[how])}" for how, text in parts.items() if how in found)
    return f"{over}: {word(best)} has the highest strength, but {told}."


def _named(systems: list[str], most: int = 4) -> str:
    left = [f"{number(len(systems) - most)} more"] if len(systems) > most else []
    return joined([*(word(one) for one in systems[:most]), *left])


def _against(view: View, best: str, other: str) -> str:
    """wins, loses, equal (sure to lie within the tie region), open, or unknown (no result)."""
    found, stop = view.result(best, other), view.stop(best, other)
    if found is None or found.rates is None:
        return "unknown"
    side = winner(found, stop)
    if side is None:
        return "equal" if stop is not None and stop.decision == "equal" else "open"
    return "wins" if side == "a" else "loses"


def facts(view: View) -> Iterator[str]:
    """How the figures came to be, in one or two lines."""
    yield f"Procedure: {stamp(view)}."
    yield f"Signature: {word(view.report.signature, 300)}"
