"""Numbers in another unit among numbers that spread widely, beyond a compact distribution, and among very few; and those that are right."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import pytest

import kgeval
from kgeval.auditing.steps.unusual_number import NumberRange, usual_numbers
from kgeval.graph.connect import Graph

Draw = Callable[[str], None]
DRAWN = random.Random(11)
MINUTES = [DRAWN.randint(1, 90) for _ in range(600)]
PRICES = [round(DRAWN.lognormvariate(1.9, 0.9), 2) for _ in range(140)]
RAM = [*[4] * 20, *[8] * 35, *[16] * 45, *[32] * 32, *[64] * 22, *[128] * 33, *[256] * 20, *[512] * 15]
HOURS = [round(DRAWN.lognormvariate(1.5, 1), 2) for _ in range(200)]
POPULATIONS = [int(DRAWN.lognormvariate(8, 1.2)) for _ in range(150)]
TAIL = max(PRICES)
UNITS = [
    # name, numbers, and those that are told
    ("minute", MINUTES, [670, 812]), ("ram_gb", RAM, [16384, 16384, 32768, 32768]), ("ram_gb", RAM, [65536, 131072]),
    ("precio_medio", PRICES, [round(TAIL * 6, 2), round(TAIL * 9, 2), round(TAIL * 11, 2)]),
    ("unit_price", PRICES, [round(TAIL * 7, 2), round(TAIL * 8, 2), round(TAIL * 12, 2)]),
    ("runtime_h", HOURS, [max(HOURS) * 9, max(HOURS) * 11, max(HOURS) * 13, max(HOURS) * 14]),
    ("grz_max", [0.4, 0.8, 0.3, 0.6, 0.6, 0.35, 0.4], [40]), ("dose_g", [1.2, 1.5, 1.1, 1.3, 1.4, 1.6], [1250]),
    ("power_mw", [420, 510, 480, 390, 450, 600], [0.47]),
    # right: one large job, two large jobs, open quantities, a long film, a wide spread of few, one great thing among few, small counts
    ("manHours", HOURS, [max(HOURS) * 14], []), ("manHours", HOURS, [max(HOURS) * 12, max(HOURS) * 14], []),
    ("population", POPULATIONS, [max(POPULATIONS) * 9, max(POPULATIONS) * 11, max(POPULATIONS) * 13], []),
    ("einwohner", POPULATIONS, [max(POPULATIONS) * 9, max(POPULATIONS) * 11, max(POPULATIONS) * 13], []),
    ("omzet", POPULATIONS, [max(POPULATIONS) * 9, max(POPULATIONS) * 11, max(POPULATIONS) * 13], []),
    ("preis", PRICES, [TAIL * 40], []), ("runtime", [DRAWN.randint(80, 180) for _ in range(300)], [432], []),
    ("measure", [0.3, 3, 12, 40, 0.8, 7], [4000], []), ("length_km", [21, 25, 40, 33, 28, 30], [480], []),
    ("rooms", [1, 2, 3, 2, 1, 2], [120], []), ("price", [12.5, 14, 13, 15, 11, 12], [1300], []),
    ("ram_gb", [*RAM, 768, 1024, 1536, 2048], [3072, 4096], []),
]


def parts(numbers: Iterable[float]) -> list[NumberRange]:
    """As the server counts them."""
    found: dict[int, list[float]] = defaultdict(list)
    for one in numbers:
        found[math.floor(math.log10(one) * 20)].append(one)
    return sorted((NumberRange(len(known), min(known), max(known)) for known in found.values()), key=lambda part: part.low)


@pytest.mark.parametrize("case", UNITS, ids=[f"{case[0]}-{at}" for at, case in enumerate(UNITS)])
def test_numbers_in_another_unit_are_told(case: tuple[Any, ...]) -> None:
    key, others, more = case[:3]
    found = case[3] if len(case) > 3 else more
    usual = usual_numbers(key, parts([*others, *more]))
    told = [one for one in [*others, *more] if usual is not None and not usual.low <= one <= usual.high]
    assert sorted(told) == sorted(found)


@pytest.mark.parametrize("draw_one", [
    lambda drawn: drawn.lognormvariate(3, 1.5), lambda drawn: drawn.lognormvariate(3, 2), lambda drawn: drawn.paretovariate(1.5),
    lambda drawn: 1 + drawn.expovariate(0.01), lambda drawn: 1 + int(drawn.lognormvariate(2, 1)),
])
def test_the_tail_of_a_heavy_distribution_is_no_other_unit(draw_one: Callable[[random.Random], float]) -> None:
    drawn = random.Random(5)
    draws = [[draw_one(drawn) for _ in range(size)] for size in (7, 40, 150, 500) for _ in range(40)]
    told = [usual for numbers in draws if (usual := usual_numbers("measure", parts(numbers))) is not None and usual.high < max(numbers)]
    assert len(told) <= 1


def test_numbers_in_another_unit_are_named(graph: Graph, draw: Draw) -> None:
    draw("""UNWIND range(1, 200) AS i
            CREATE (:Server {serverId: 's' + i, 
                ram_gb: CASE WHEN i IN [3, 4] THEN 16384 WHEN i = 5 THEN 32768 ELSE toInteger(2 ^ (2 + i % 8)) END})""")
    finding: Any = kgeval.audit(graph.driver, checks="unusual-number", no_structure=True, examples=20).findings[0]
    assert [(example.items[0].name, example.why) for example in finding.examples] == [
        (f"Server s{i}", f"ram_gb {value}: 197 of 200 lie between 4 and 512") for i, value in ((3, 16384), (4, 16384), (5, 32768))
    ]
