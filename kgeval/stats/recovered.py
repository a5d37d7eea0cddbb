"""The interval of a difference of two figures of which only the figures and their intervals are known."""

from __future__ import annotations

from math import sqrt

from kgeval.stats.intervals import Interval


def recovered(after: tuple[float, Interval], before: tuple[float, Interval]) -> Interval:
    """after - before, each a value within its interval of the same confidence: the ends' distances from their values stand for the
    variances (MOVER: Zou and Donner 2008, Statistics in Medicine 27:1693; of two Wilson intervals it is Newcombe's).

    It takes the two figures for independent. Over the same questions they go along with each other, and the interval is then wider than
    it need be: it errs on the side of no difference.
    """
    (now, ends_now), (then, ends_then) = after, before
    below = sqrt((now - ends_now.low) ** 2 + (ends_then.high - then) ** 2)
    above = sqrt((ends_now.high - now) ** 2 + (then - ends_then.low) ** 2)
    return Interval(now - then - below, now - then + above)
