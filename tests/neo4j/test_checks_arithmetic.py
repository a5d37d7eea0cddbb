"""Numbers that break what all others keep: a proportion, a product, a sum, a count; and numbers that have nothing to do with each other."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

import kgeval
from kgeval.graph.connect import Graph

Values = Mapping[str, Any]
Line = tuple[Values, Values]  # of a relation, and of the node at its end
CHECKS = "unusual-ratio,broken-sum"


def nodes(graph: Graph, label: str, rows: Sequence[Values]) -> None:
    graph.write(
        f"UNWIND range(0, size($rows) - 1) AS i CREATE (n:{label} {{name: '{label} ' + (100 + i)}}) SET n += $rows[i]", {"rows": rows},
    )


def linked(graph: Graph, start: str, type_: str, end: str, rows: Sequence[tuple[Values, Sequence[Line]]]) -> None:
    """Nodes of `start`, each with relations to nodes of their own at the other end."""
    graph.write(
        f"""UNWIND range(0, size($rows) - 1) AS i
            CREATE (n:{start} {{name: '{start} ' + (100 + i)}}) SET n += $rows[i][0]
            WITH i, n UNWIND range(0, size($rows[i][1]) - 1) AS j
            CREATE (n)-[r:{type_}]->(m:{end} {{name: '{end} ' + (100 + i) + '/' + j}})
            SET r += $rows[i][1][j][0], m += $rows[i][1][j][1]""",
        {"rows": [[own, [list(line) for line in lines]] for own, lines in rows]},
    )


def said(graph: Graph) -> dict[str, dict[str, str]]:
    """By check what it says of each hit."""
    findings = kgeval.audit(graph.driver, checks=CHECKS, no_structure=True, examples=50).findings
    assert [(finding.rule_id, finding.reason) for finding in findings if finding.status == "error"] == []
    return {
        finding.rule_id: {example.items[0].name: example.why or "" for example in finding.examples}
        for finding in findings if finding.status == "failed"
    }


def money(dice: random.Random, middle: float = 3.0, wide: float = 1.0) -> float:
    return round(dice.lognormvariate(middle, wide), 2)


def test_numbers_out_of_proportion_are_found_on_nodes_on_relations_and_across(graph: Graph) -> None:
    dice = random.Random(1)
    parcels = [{"weightKg": (kg := money(dice, 1)), "volumeL": round(kg * dice.uniform(3, 5), 2)} for _ in range(60)]
    parcels[7] = {"weightKg": 2.5, "volumeL": 0.01}
    nodes(graph, "Parcel", parcels)
    permits: list[tuple[Values, list[Line]]] = [
        ({"cost": (cost := round(money(dice, 11))), "town": f"T{i}"}, [({}, {"fee": round(cost * 0.004 * dice.uniform(0.6, 1.8), 2)})])
        for i in range(120)
    ]
    permits[3] = ({"cost": 72_500, "town": "T3"}, [({}, {"fee": 30_450.0})])
    linked(graph, "Permit", "HAS_FEE", "Fee", permits)
    orders = [({"placed": f"2024-01-{1 + i % 28:02}"}, [({
        "unitPrice": round((price := money(dice)) * dice.choice((1, 1, 0.9, 0.8)), 2), "pieces": dice.randint(1, 9),
    }, {"listPrice": price}) for _ in range(2)]) for i in range(50)]
    orders[9][1][0][0]["unitPrice"] = round(6 * orders[9][1][0][1]["listPrice"], 2)
    linked(graph, "Order", "HAS_LINE", "Article", orders)
    runs = [
        ({"club": i}, [({"km": (km := money(dice, 2)), "minutes": round(km * dice.uniform(5, 7))}, {"town": f"T{i}"})]) for i in range(60)
    ]
    runs[5][1][0][0]["km"] = 10_000.0
    runs[5][1][0][0]["minutes"] = 60
    linked(graph, "Runner", "RAN", "Course", runs)
    found = said(graph)["unusual-ratio"]
    # what unusual-number tells of the runner's 10,000 km is not told again
    assert {name.split(" -[")[0] for name in found} == {"Parcel 107", "Permit 103", "Order 109"}
    assert found["Permit 103 -[HAS_FEE]-> Fee 103/0"].startswith("cost 72500, fee 30450.0: ratio 2.38, where 119 of 120 lie between ")


def bookings(dice: random.Random, *, wrong: bool) -> list[tuple[Values, list[Line]]]:
    rows: list[tuple[Values, list[Line]]] = []
    for i in range(60):
        people, price = dice.randint(1, 4), dice.choice((35.0, 45.0, 52.5, 80.0))
        rebate = {"rebate_pct": dice.choice((10, 20))} if i % 4 == 0 else {}
        amount = people * price * (1 - rebate.get("rebate_pct", 0) / 100)
        rows.append(({"people": people, "amount": 1.0 if wrong and i == 7 else round(amount, 2), **rebate}, [({}, {"price": price})]))
    return rows


def test_products_and_sums_that_do_not_add_up_are_found(graph: Graph) -> None:
    dice = random.Random(2)
    linked(graph, "Booking", "FOR", "Course", bookings(dice, wrong=True))
    bills = [{"net": (net := money(dice, 5)), "rate": (rate := dice.choice((7, 19))), "gross": round(net * (1 + rate / 100), 2)}
             for _ in range(50)]
    bills[4]["gross"] = bills[4]["net"]
    nodes(graph, "Bill", bills)
    pays = [{"base": (base := dice.randint(1800, 4000)), "bonus": (bonus := dice.choice((0, 100, 250, 400))),
             "deduction": (less := dice.randint(10, 90)), "payout": base + bonus - less} for _ in range(50)]
    pays[6]["payout"] += 900
    nodes(graph, "Pay", pays)
    boxes = [{"length": (a := dice.randint(2, 40)), "depth": (b := dice.randint(2, 40)), "height": (c := dice.randint(2, 40)),
              "volume": a * b * c} for _ in range(40)]
    boxes[8]["volume"] *= 10
    nodes(graph, "Box", boxes)
    sales = [({"day": f"2024-02-{1 + i % 28:02}"}, [
        ({"pieces": (n := dice.randint(1, 9)), "each": (each := money(dice)), "paid": round(n * each, 2)}, {"colour": "red"}),
    ]) for i in range(40)]
    sales[2][1][0][0]["paid"] = 777.77
    linked(graph, "Sale", "OF", "Thing", sales)
    found = said(graph)["broken-sum"]
    assert {name.split(" -[")[0] for name in found} == {"Booking 107", "Bill 104", "Pay 106", "Box 108", "Sale 102"}
    assert "; the others: 59 of 60 add up" in found["Booking 107 -[FOR]-> Course 107/0"]
    assert found["Bill 104"].startswith(f"gross {bills[4]['gross']}, but net {bills[4]['net']} * (1 + rate {bills[4]['rate']} %) = ")


def orders(dice: random.Random, count: int = 50) -> list[tuple[dict[str, Any], list[Line]]]:
    rows: list[tuple[dict[str, Any], list[Line]]] = []
    for _ in range(count):
        lines: list[Line] = [
            ({"pieces": dice.randint(1, 6), "unitPrice": money(dice)}, {"colour": "red"}) for _ in range(dice.randint(1, 5))
        ]
        rows.append(({"total": round(sum(line["pieces"] * line["unitPrice"] for line, _ in lines), 2)}, lines))
    return rows


def test_sums_and_counts_over_the_relations_of_a_node_are_checked(graph: Graph) -> None:
    dice = random.Random(3)
    ordered = orders(dice)
    ordered[5][0]["total"] += 100
    linked(graph, "Order", "HAS_LINE", "Article", ordered)
    teams: list[tuple[dict[str, Any], list[Line]]] = [
        ({"members": (n := dice.randint(1, 9))}, [({}, {"born": f"19{dice.randint(50, 99)}"}) for _ in range(n)]) for _ in range(40)
    ]
    teams[3][0]["members"] += 4
    linked(graph, "Team", "HAS_MEMBER", "Member", teams)
    plots = [({"cadastre": f"C{i}"}, [({"part": part}, {"born": f"19{50 + i % 40}"}) for part in dice.choice(
        (["1/1"], ["1/2", "1/2"], ["1/2", "1/4", "1/4"], ["1/3", "1/3", "1/3"]))]) for i in range(80)]
    plots[8] = ({"cadastre": "C8"}, [({"part": "1/2"}, {"born": "1950"})] * 3)
    linked(graph, "Plot", "OWNED_BY", "Owner", plots)
    mixes = [({"code": f"M{i}"}, [({"percent": part}, {"purity": "high"}) for part in dice.choice(
        ([60, 40], [70, 20, 10], [50, 25, 25], [90, 10]))]) for i in range(60)]
    mixes[9] = ({"code": "M9"}, [({"percent": 60}, {"purity": "high"}), ({"percent": 60}, {"purity": "high"})])
    linked(graph, "Mix", "CONTAINS", "Stuff", mixes)
    tours: list[tuple[Values, list[Line]]] = []
    for _ in range(80):
        seats = dice.choice((8, 12, 20, 30))
        left, groups = dice.randint(0, seats), []
        while left > 0:
            groups.append(min(left, dice.randint(1, 5)))
            left -= groups[-1]
        tours.append(({"seats": seats}, [({}, {"persons": group}) for group in groups]))
    tours[4] = ({"seats": 12}, [({}, {"persons": 5})] * 4)
    linked(graph, "Tour", "HAS_GROUP", "Group", tours)
    assert said(graph) == {"broken-sum": {
        "Order 105": f"total {ordered[5][0]['total']}, but sum of pieces * unitPrice over {len(ordered[5][1])} HAS_LINE = "
            f"{round(ordered[5][0]['total'] - 100, 2)}; the others: 49 of 50 add up",
        "Team 103": "members 6, but number of HAS_MEMBER = 2; the others: 39 of 40 add up",
        "Plot 108": "sum of part over 3 OWNED_BY is 1.5, not 1; the others: 79 of 80 add up",
        "Mix 109": "sum of percent over 2 CONTAINS is 120, not 100; the others: 59 of 60 add up",
        "Tour 104": "seats 12, less than the sum of persons over 4 HAS_GROUP, 20; the others: 72 of 73 add up",
    }}


def independent(graph: Graph, dice: random.Random) -> None:
    nodes(graph, "City", [{"population": int(money(dice, 10, 1.5)), "area": money(dice, 4, 1.2), "budget": int(money(dice, 12, 1.5))}
                          for _ in range(200)])


def people(graph: Graph, dice: random.Random) -> None:
    """A person of 180 kg, and a child."""
    rows = [
        {"heightCm": round(dice.gauss(175, 8)), "weightKg": round(dice.gauss(75, 12)), "shoeSize": dice.randint(36, 47)}
        for _ in range(150)
    ]
    rows[4].update(weightKg=180)
    rows[5].update(heightCm=95, weightKg=15)
    nodes(graph, "Person", rows)


def on_sale(graph: Graph, dice: random.Random) -> None:
    """Half price, and a third of it."""
    rows = [{"listPrice": (price := money(dice, 4, 1)), "price": round(price * dice.choice((1, 1, 1, 0.9, 0.8)), 2)} for _ in range(150)]
    for at, part in ((3, 0.5), (4, 0.36)):
        rows[at]["price"] = round(rows[at]["listPrice"] * part, 2)
    nodes(graph, "Product", rows)


def long_tail(graph: Graph, dice: random.Random) -> None:
    nodes(graph, "Post", [
        {"views": (views := int(money(dice, 6, 2)) + 1), "likes": int(views * dice.lognormvariate(-3, 0.8)) + 1} for _ in range(400)
    ])


def cartons(graph: Graph, dice: random.Random) -> None:
    """One in ten is sold by the carton."""
    nodes(graph, "Wine", [{"bottle": (price := money(dice)), "sold": round(price * (6 if i % 10 == 0 else 1) * dice.uniform(0.9, 1), 2)}
                          for i in range(150)])


def few(graph: Graph, dice: random.Random) -> None:
    rows = [{"cost": (cost := money(dice)), "fee": round(cost / 10, 2)} for _ in range(15)]
    rows[3]["fee"] *= 100
    nodes(graph, "Grant", rows)


def waived(graph: Graph, dice: random.Random) -> None:
    """A fee of nothing, and a credit."""
    rows = [{"cost": (cost := money(dice, 6)), "fee": round(cost * dice.uniform(0.08, 0.12), 2)} for _ in range(100)]
    rows[3]["fee"], rows[4]["fee"] = 0.0, -20.0
    nodes(graph, "Licence", rows)


def places_and_years(graph: Graph, dice: random.Random) -> None:
    rows = [{
        "latitude": round(dice.uniform(47, 54), 4), "longitude": round(dice.uniform(6, 15), 4), "opened": dice.randint(1850, 2020),
        "rank": i,
    } for i in range(100)]
    rows[3].update(latitude=0.001, rank=9_000)
    nodes(graph, "Stop", rows)


def small_numbers(graph: Graph, dice: random.Random) -> None:
    nodes(graph, "Flat", [{
        "rooms": (rooms := dice.randint(1, 5)), "baths": dice.randint(1, 2), "floors": 1, "windows": rooms + dice.randint(0, 3),
        "balcony": dice.randint(0, 1),
    } for _ in range(200)])


def single_pieces(graph: Graph, dice: random.Random) -> None:
    """Nearly all orders are of one piece, so that the amount is the price; a parcel of three costs less."""
    rows = [{"pieces": 1, "price": (price := money(dice)), "amount": price} for _ in range(100)]
    rows[3].update(pieces=3, amount=round(rows[3]["price"] * 2.5, 2))
    nodes(graph, "Sample", rows)


def staggered(graph: Graph, dice: random.Random) -> None:
    """One order in ten has a discount that is written nowhere."""
    nodes(graph, "Ticket", [{
        "people": (n := dice.randint(1, 6)), "price": (price := money(dice)), "amount": round(n * price * (0.8 if i % 10 == 0 else 1), 2),
    } for i in range(120)])


def rounded(graph: Graph, dice: random.Random) -> None:
    """Sums that differ from their parts by a cent or two, and one by five."""
    rows = orders(dice)
    for at, (own, _) in enumerate(rows):
        own["total"] = round(own["total"] + (0, 0.01, -0.01)[at % 3], 2)
    linked(graph, "Invoice", "HAS_POSITION", "Item", rows)


def not_filled_in(graph: Graph, dice: random.Random) -> None:
    """A total of nothing, none, and an order whose lines were not loaded."""
    rows = orders(dice)
    rows[3][0]["total"] = 0.0
    del rows[4][0]["total"]
    rows[5] = ({"total": 88.8}, [])
    linked(graph, "Delivery", "CARRIES", "Load", rows)


def partly_loaded(graph: Graph, dice: random.Random) -> None:
    """Companies with a number of employees, and some of these."""
    linked(graph, "Company", "EMPLOYS", "Employee", [
        ({"employees": int(money(dice, 4, 1)) + 1}, [
            ({"hours": dice.choice((20, 30, 40))}, {"salary": dice.randint(30, 90)}) for _ in range(dice.randint(0, 6))
        ]) for _ in range(100)
    ])


def ages_and_friends(graph: Graph, dice: random.Random) -> None:
    linked(graph, "Reader", "READ", "Book", [
        ({"age": dice.randint(10, 40), "score": dice.randint(1, 9)}, [
            ({"stars": dice.randint(1, 5)}, {"pages": dice.randint(90, 600)}) for _ in range(dice.randint(0, 9))
        ]) for _ in range(120)
    ])


def open_shares(graph: Graph, dice: random.Random) -> None:
    """Shares of companies that need not be one: half of them are in the hands of others."""
    linked(graph, "Firm", "HELD_BY", "Holder", [
        ({"code": f"F{i}"}, [({"percent": dice.choice((5, 10, 25, 50, 100))}, {"kind": "fund"}) for _ in range(dice.randint(1, 3))])
        for i in range(100)
    ])


def loose_limit(graph: Graph, dice: random.Random) -> None:
    """Halls that are never full, but for one evening with people who stand."""
    rows: list[tuple[Values, list[Line]]] = [
        ({"seats": dice.choice((400, 600, 900))}, [({}, {"persons": dice.randint(1, 40)}) for _ in range(dice.randint(1, 8))])
        for _ in range(80)
    ]
    rows[3] = ({"seats": 400}, [({}, {"persons": 60})] * 7)
    linked(graph, "Hall", "HELD", "Evening", rows)


def all_right(graph: Graph, dice: random.Random) -> None:
    """Everything adds up."""
    linked(graph, "Booking", "FOR", "Course", bookings(dice, wrong=False))
    linked(graph, "Order", "HAS_LINE", "Article", orders(dice))


def two_rates(graph: Graph, dice: random.Random) -> None:
    """Pairs of rates and amounts that have little to do with each other: a wage by the hour, and one by the month."""
    nodes(graph, "Job", [{"hours": dice.choice((20, 38, 40)), "wage": dice.randint(14, 60), "bonusPct": dice.choice((0, 5, 10)),
                          "yearly": dice.randint(20_000, 90_000)} for _ in range(120)])


INNOCENT: list[Callable[[Graph, random.Random], None]] = [
    independent, people, on_sale, long_tail, cartons, few, waived, places_and_years, small_numbers, single_pieces, staggered, rounded,
    not_filled_in, partly_loaded, ages_and_friends, open_shares, loose_limit, all_right, two_rates,
]


@pytest.mark.parametrize("family", INNOCENT, ids=lambda family: family.__name__)
def test_numbers_that_need_not_go_with_each_other_are_left_alone(graph: Graph, family: Callable[[Graph, random.Random], None]) -> None:
    family(graph, random.Random(7))
    assert said(graph) == {}


def test_nothing_is_read_where_no_property_holds_numbers(graph: Graph) -> None:
    nodes(graph, "Note", [{"text": f"Note {i}"} for i in range(40)])
    findings = kgeval.audit(graph.driver, checks=CHECKS, no_structure=True).findings
    assert [finding.status for finding in findings] == ["skipped", "skipped"]
