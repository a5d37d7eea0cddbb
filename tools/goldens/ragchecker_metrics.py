"""RAGChecker's eleven figures, by its own functions, on random verdicts and on the borders. E, N, C: entailed, neutral, contradicted.

Only its `computation` module is loaded: the rest of the package wants models.
"""

from __future__ import annotations

import importlib
import random
import sys
import types
from importlib.metadata import distribution
from typing import Any

from common import write

WORDS = {"E": "Entailment", "N": "Neutral", "C": "Contradiction"}
CASES = 60


def main() -> None:
    package = types.ModuleType("ragchecker")
    package.__path__ = [str(distribution("ragchecker").locate_file("ragchecker"))]
    sys.modules["ragchecker"] = package
    computation = importlib.import_module("ragchecker.computation")
    container = importlib.import_module("ragchecker.container")
    draws = random.Random(20241107)
    borders = [
        verdicts(draws, 0, 3, 2), verdicts(draws, 3, 0, 2), verdicts(draws, 3, 2, 0), verdicts(draws, 0, 0, 0), verdicts(draws, 1, 1, 1),
    ]
    cases = borders + [verdicts(draws, draws.randint(1, 8), draws.randint(1, 6), draws.randint(1, 5)) for _ in range(CASES)]
    write("ragchecker", ("ragchecker", "numpy"), [case | {"theirs": theirs(case, computation, container)} for case in cases])


def verdicts(draws: random.Random, answer: int, reference: int, contexts: int) -> dict[str, Any]:
    """Verdicts of so many claims of the answer and of the reference; `from_*`: one letter a context, for each claim."""

    def some(count: int, supported: float) -> str:
        return "".join("E" if draws.random() < supported else draws.choice("NC") for _ in range(count))

    return {
        "contexts": contexts, "right": some(answer, 0.5), "recalled": some(reference, 0.5),
        "from": [some(contexts, 0.3) for _ in range(answer)], "found": [some(contexts, 0.35) for _ in range(reference)],
    }


def theirs(case: dict[str, Any], computation: Any, container: Any) -> dict[str, float]:
    def words(letters: str) -> list[str]:
        return [WORDS[letter] for letter in letters]

    result = container.RAGResult(
        query_id="1", query="q", gt_answer="g", response="r", answer2response=words(case["right"]), response2answer=words(case["recalled"]),
        retrieved2response=[words(one) for one in case["from"]], retrieved2answer=[words(one) for one in case["found"]],
    )
    figures = {}
    for name, function in computation.METRIC_FUNC_MAP.items():
        try:
            function(result)
            figures[name] = float(result.metrics[name])
        except (IndexError, ValueError) as error:
            figures[name] = type(error).__name__
    return figures


if __name__ == "__main__":
    main()
