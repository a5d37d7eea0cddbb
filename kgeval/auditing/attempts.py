"""The one border where whatever a check or a figure raises becomes a status with its cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from kgeval.errors import QueryError
from kgeval.graph.failures import ConnectionLost, OutOfMemory, ProjectionLost, QueryEnded, QueryTimeout, translated
from kgeval.graph.memory import TooLarge
from kgeval.graph.retries import once_more

T = TypeVar("T")


@dataclass(frozen=True)
class PartFailure:
    """Why a part did not run to its end. `skipped`: it was not begun. `lost`: the server is gone, nothing more can be asked. `crowded`: the
    server had too little memory or time for it, which may be so because of other queries. `unprojected`: the projection that it was given
    is gone."""

    status: Literal["incomplete", "error", "skipped"]
    reason: str
    lost: bool = False
    crowded: bool = False
    unprojected: bool = False


@dataclass(frozen=True)
class PartResult(Generic[T]):
    """What a part gave, or why it gave nothing."""

    value: T | None = None
    failure: PartFailure | None = None


def attempt(work: Callable[[], T]) -> PartResult[T]:
    """Runs one part. Never raises but for an interruption: a time-out is `incomplete`, what would take too much memory `skipped`, anything
    else is `error`. Where the connection breaks in the midst of what cannot be asked again by itself, rows under way or a projection, the
    part is run once more."""
    try:
        with translated():
            return PartResult(value=once_more(work))
    except QueryTimeout as cause:
        return PartResult(failure=PartFailure("incomplete", f"time limit: {cause.message}", crowded=True))
    except QueryEnded as cause:
        return PartResult(failure=PartFailure("incomplete", cause.message))
    except TooLarge as cause:
        return PartResult(failure=PartFailure("skipped", cause.message))
    except ConnectionLost as cause:
        return PartResult(failure=PartFailure("error", cause.message, lost=True))
    except ProjectionLost as cause:
        return PartResult(failure=PartFailure("error", cause.message, unprojected=True))
    except QueryError as cause:
        return PartResult(failure=PartFailure("error", cause.message, crowded=isinstance(cause, OutOfMemory)))
    except Exception as cause:  # noqa: BLE001 - the per-item border: the run goes on, the cause is kept
        return PartResult(failure=PartFailure("error", f"{type(cause).__name__}: {str(cause)[:500]}"))
