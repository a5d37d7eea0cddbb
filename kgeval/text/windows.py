"""Windows over a text that is longer than a model reads, and excerpts around one that fit into a budget. Pure.

An embedding model reads 256 or 512 word pieces and drops the rest without a word: a chunk that is longer is indexed by its windows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kgeval.text.sentences import Span, sentences

OVERLAP = 0.25
"""Share of a window that the next one repeats at most: what is said across a border stands whole in one of them."""


def windows(
    text: str, most: int, lengths: Callable[[Sequence[str]], Sequence[int]], *, overlap: float = OVERLAP,
) -> list[Span]:
    """Windows of whole sentences, none longer than `most` by `lengths`, as (start, end); together they hold every character that is no
    whitespace. One that holds the whole text where it is short enough. A sentence that is too long is halved between words. `overlap`: the
    share of a window that the next one repeats at most."""
    if lengths([text])[0] <= most:
        return [(0, len(text))]
    units = _units(text, sentences(text), most, lengths)
    sizes = lengths([text[start:end] for start, end in units])
    spans, first = list[Span](), 0
    while True:
        last, used = first, sizes[first]
        while last + 1 < len(units) and used + sizes[last + 1] <= most:
            last += 1
            used += sizes[last]
        spans.append((units[first][0], units[last][1]))
        if last + 1 == len(units):
            break
        following, again = last + 1, 0
        while following - 1 > first and again + sizes[following - 1] <= overlap * most:
            following -= 1
            again += sizes[following]
        first = following
    return _units(text, spans, most, lengths)  # joined, some tokenizers count more than in parts


def excerpt(text: str, at: Span, most: int, count: Callable[[str], int]) -> str:
    """The text where it has at most so many tokens. Else the sentences of the place `at` and those around it, as many as fit; where not
    even these do, what fits from there on, cut between words."""
    if count(text) <= most:
        return text
    spans = sentences(text)
    sizes = [count(text[start:end]) + 1 for start, end in spans]
    inside = [n for n, (start, end) in enumerate(spans) if start < at[1] and end > at[0]] or [0]
    first, last = inside[0], inside[-1]
    used = count(text[spans[first][0] : spans[last][1]])
    if used > most:
        return _shortened(text[max(at[0], spans[first][0]) : spans[last][1]], most, count)
    while True:
        ahead = last + 1 < len(spans) and used + sizes[last + 1] <= most
        back = first > 0 and used + sizes[first - 1] <= most
        if ahead and (not back or last - inside[-1] <= inside[0] - first):
            last += 1
            used += sizes[last]
        elif back:
            first -= 1
            used += sizes[first]
        else:
            return text[spans[first][0] : spans[last][1]]


def shares(sizes: Sequence[int], budget: int) -> list[int]:
    """What each of these gets of a budget: the same for all, and what short ones leave over goes to the longer ones."""
    allotted, left = [0] * len(sizes), budget
    for place, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        allotted[index] = min(sizes[index], left // (len(sizes) - place))
        left -= allotted[index]
    return allotted


def _units(text: str, spans: Sequence[Span], most: int, lengths: Callable[[Sequence[str]], Sequence[int]]) -> list[Span]:
    """The spans, those that are too long in halves until none is."""
    while True:
        sizes = lengths([text[start:end] for start, end in spans])
        if all(size <= most or end - start < 2 for size, (start, end) in zip(sizes, spans, strict=True)):
            return list(spans)
        sized = zip(sizes, spans, strict=True)
        spans = [part for size, span in sized for part in ([span] if size <= most or span[1] - span[0] < 2 else _halves(text, span))]


def _halves(text: str, span: Span) -> list[Span]:
    start, end = span
    middle = (start + end) // 2
    space = text.rfind(" ", start + 1, middle + 1)
    border = space if space > (start + middle) // 2 else middle
    return [(start, border), (border, end)]


def _shortened(text: str, most: int, count: Callable[[str], int]) -> str:
    """The beginning of a text, cut between words where it has some."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle]) <= most else (low, middle - 1)
    space = len(text) if low == len(text) else text.rfind(" ", low // 2, low + 1)
    return text[: space if space > 0 else low].rstrip()
