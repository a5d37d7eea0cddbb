"""The table of all kinds of questions, and what `--kind` means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from kgeval.errors import UsageError
from kgeval.questions.kind import Kind

MODULES = ("graph_text", "graphrag_bench", "kasiak", "hops", "negative", "summary")
MOST = 1_000_000


@dataclass(frozen=True)
class Order:
    """So many questions of a kind."""

    kind: Kind
    n: int


@cache
def all_kinds() -> dict[str, Kind]:
    """Every kind by its name, group by group."""
    found: dict[str, Kind] = {}
    for name in MODULES:
        if find_spec(f"kgeval.questions.making.{name}") is not None:
            kinds: tuple[Kind, ...] = import_module(f"kgeval.questions.making.{name}").KINDS
            found |= {kind.name: kind for kind in kinds}
    return found


def groups() -> dict[str, tuple[Kind, ...]]:
    """The kinds of every group, by its name."""
    kinds = all_kinds().values()
    return {name: tuple(kind for kind in kinds if kind.group == name) for name in dict.fromkeys(kind.group for kind in kinds)}


def orders_of(words: Sequence[str], n: int) -> tuple[Order, ...]:
    """What `--kind` asks for: KIND, GROUP, KIND=N, GROUP=N (so many of each of its kinds); `n` where no number is given.

    A kind's own name beats the group of that name. Raises: UsageError for all words that are wrong, and for a kind named twice.
    """
    orders, faults = list[Order](), list[str]()
    for word in words:
        name, sign, number = (part.strip() for part in word.partition("="))
        kinds = (all_kinds()[name],) if name in all_kinds() else groups().get(name, ())
        if not kinds:
            faults.append(f"'{name}' is no kind of question{_meant(name)}")
        elif sign and not (number.isdecimal() and 0 < int(number) <= MOST):
            faults.append(f"'{word}': '{number}' is no number from 1 to {MOST:,}")
        else:
            orders += [Order(kind, int(number) if sign else n) for kind in kinds]
    names = [order.kind.name for order in orders]
    faults += [f"'{name}' is named twice" for name in dict.fromkeys(names) if names.count(name) > 1]
    if faults:
        fix = f"kinds are {', '.join(all_kinds())}; kgeval questions kinds tells what each is"
        raise UsageError("--kind: " + "; ".join(faults), fix=fix)
    return tuple(orders)


def _meant(name: str) -> str:
    near = get_close_matches(name.replace("-", "_"), [*all_kinds(), *groups()], n=1)
    return f" (did you mean {near[0]}?)" if near else ""
