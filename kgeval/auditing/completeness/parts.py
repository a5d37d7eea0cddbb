"""A long stream in parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def parts(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of `size`, the last one shorter; nothing is read ahead."""
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part
