"""What the audit says of nodes with two texts that are swapped."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from audited import told

from kgeval.graph.connect import Graph

Draw = Callable[[str], None]


def test_a_text_that_stands_elsewhere_in_the_other_property_is_swapped(graph: Graph, draw: Draw) -> None:
    """A town and its province, a first and a last name, a sex and an age."""
    draw("""UNWIND range(0, 39) AS i
            WITH i, ['Genova', 'Verona', 'Siena', 'Lucca'][i % 4] AS town, ['GE', 'VR', 'SI', 'LU'][i % 4] AS province,
              ['Anna', 'Berta', 'Carl', 'Dora', 'Emil'][i % 5] AS first, ['Meier', 'Huber', 'Wolf', 'Koch'][i % 4] AS last
            CREATE (:Donor {donorId: 'd' + i, city: CASE i WHEN 5 THEN province ELSE town END,
                province: CASE i WHEN 5 THEN town ELSE province END}),
              (:Guest {guestId: 'g' + i, firstName: CASE i WHEN 6 THEN last ELSE first END,
                lastName: CASE i WHEN 6 THEN first ELSE last END}),
              (:Specimen {number: 's' + i, sex: CASE WHEN i IN [7, 8] THEN 'adult' ELSE ['F', 'M'][i % 2] END,
                stage: CASE WHEN i IN [7, 8] THEN 'F' ELSE ['adult', 'larva'][i % 3 / 2] END})""")
    said = "elsewhere each stands in the other one"
    assert told(graph, "swapped-texts") == {
        "Donor d5": f"city VR, province Verona: {said}", "Wolf Berta": f"firstName Wolf, lastName Berta: {said}",
        "Specimen s7": f"sex adult, stage F: {said}", "Specimen s8": f"sex adult, stage F: {said}",
    }


@pytest.mark.parametrize("drawn", [
    # from and to hold the same towns
    "CREATE (:Leg {legId: i, origin: ['A', 'B', 'C', 'D'][i % 4], target: ['B', 'C', 'D', 'A'][i % 4]})",
    # a town that is called like its province, and one word in two properties for once
    "CREATE (:Town {townId: i, city: ['Genova', 'Verona', 'Siena'][i % 3], province: ['Genova', 'Verona', 'Siena'][i % 3]})",
    "CREATE (:Box {boxId: i, colour: ['red', 'blue', 'rose'][i % 3], plant: CASE i WHEN 4 THEN 'rose' ELSE ['fern', 'moss'][i % 2] END})",
    # a name that is a first and a last one, each beside another
    """CREATE (:Guest {guestId: i, firstName: CASE i WHEN 3 THEN 'Thomas' ELSE ['Ann', 'Bo', 'Cy'][i % 3] END,
         lastName: CASE i WHEN 5 THEN 'Thomas' ELSE ['Ek', 'Li', 'Ray'][i % 3] END})""",
    # answers in two questions of one form, and too few
    "CREATE (:Reply {replyId: i, before: ['yes', 'no'][i % 2], after: ['no', 'yes', 'no'][i % 3]})",
    """FOREACH (x IN CASE WHEN i < 15 THEN [1] ELSE [] END |
         CREATE (:Pair {pairId: i, a: CASE i WHEN 3 THEN 'y' ELSE 'x' END, b: CASE i WHEN 3 THEN 'x' ELSE 'y' END}))""",
])
def test_texts_that_stand_in_both_rightly_are_no_hit(graph: Graph, draw: Draw, drawn: str) -> None:
    draw(f"UNWIND range(0, 59) AS i {drawn}")
    assert told(graph, "swapped-texts") == {}
