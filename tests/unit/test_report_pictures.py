"""Pictures of graphs: names that can be read at 400 pixels, marks, colours, hostile names, and no more than there is."""

from __future__ import annotations

import json
import math
import random
import re
import sys
from collections.abc import Iterator
from itertools import combinations, permutations
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from browser import browser
from pydantic import ValidationError
from report_page import unpacked
from test_report_html import HOSTILE

from kgeval.errors import ConfigError, UsageError
from kgeval.records import (
    AuditReport,
    CommunityLink,
    CommunityMap,
    DrawnCommunity,
    DrawnNode,
    DrawnRelation,
    Finding,
    Picture,
)
from kgeval.reports import listing, pictures
from kgeval.reports.redact import redacted
from kgeval.reports.write import rendered
from kgeval.workflows.audit import AuditResult

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
TYPES = ("Person", "Place", "Ship", "Event", None)


def star(size: int, seed: int = 0, names: list[str] | None = None) -> Picture:
    """A marked node with others around it, some of them joined."""
    dice = random.Random(seed)
    words = ("Harbour", "Board", "of", "Velmouth", "Lantern", "Hill", "Observatory", "Grey", "Wether")
    given = names or [" ".join(dice.choices(words, k=dice.randint(1, 5))) for _ in range(size)]
    ends = [(0, at) for at in range(1, size) if dice.random() < 0.9] + [tuple(dice.sample(range(size), 2)) for _ in range(size // 2)]
    return Picture(
        nodes=[
            DrawnNode(
                element_id=f"4:x:{at}", name=name, type=TYPES[at % 5], kind="chunk" if at % 7 == 6 else "entity",
                mark=None if at else "hit",
            ) for at, name in enumerate(given)
        ],
        relations=[DrawnRelation(element_id=f"5:x:{at}", start=a, end=b, type=f"TYPE_{at % 3}") for at, (a, b) in enumerate(ends)],
    )


def texts(svg: str) -> Iterator[tuple[str, tuple[float, float, float, float]]]:
    """The texts of a drawing with the box that each takes."""
    for node in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        size = float(node.get("font-size", pictures.SIZE))
        x, y, wide = float(node.get("x", 0)), float(node.get("y", 0)), pictures.width_of(node.text or "", size)
        left = x if node.get("text-anchor") == "start" else x - wide / 2
        yield node.text or "", (left, y - 0.75 * size, left + wide, y + 0.2 * size)


def overlaps(svg: str) -> list[tuple[str, str]]:
    return [
        (one, other) for (one, a), (other, b) in combinations(texts(svg), 2)
        if a[0] < b[2] - 0.5 and b[0] < a[2] - 0.5 and a[1] < b[3] - 0.5 and b[1] < a[3] - 0.5
    ]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [1, 2, 7, 12, 13, 25])
def test_no_name_lies_over_another_and_none_leaves_the_drawing(size: int, seed: int) -> None:
    picture = star(size, seed)
    svg = pictures.neighbourhood(picture, pictures.colours_of([picture])).svg
    assert overlaps(svg) == []
    assert all(box[0] >= -0.5 and box[2] <= pictures.WIDTH + 0.5 for _, box in texts(svg))
    height = float(ElementTree.fromstring(svg).get("viewBox", "").split()[3])
    assert all(box[1] >= 0 and box[3] <= height for _, box in texts(svg))


@pytest.mark.parametrize("seed", range(3))
def test_names_of_wide_scripts_and_hostile_ones_have_room_too(seed: int) -> None:
    names = [
        *HOSTILE, "維爾茅斯港務局與燈塔", "مجلس ميناء", "W" * 100_000, "a\u0301\u0301\u0301\u0301\u0301" * 30, "", " ", "🜲🜲🜲🜲🜲🜲🜲🜲🜲🜲🜲🜲🜲",
    ]
    picture = star(len(names[:25]), seed, names[:25])
    svg = pictures.neighbourhood(picture, {}).svg
    assert overlaps(svg) == []
    assert len(svg) < 60_000
    assert {node.tag.removeprefix(SVG) for node in ElementTree.fromstring(svg).iter()} <= {
        "svg", "g", "title", "text", "line", "circle", "rect", "polygon",
    }


@pytest.mark.parametrize("size", [2, 3, 4, 13, 24, 25])
@pytest.mark.parametrize("name", ["Entity number {} of", "維爾茅斯港務局與燈塔{}"])
def test_around_a_crowded_hub_no_line_runs_through_another_node(size: int, name: str) -> None:
    """Rows of nodes would read as chains: the lines of a star would lie one upon the other."""
    picture = Picture(
        nodes=[DrawnNode(name=name.format(at), mark=None if at else "hit") for at in range(size)],
        relations=[DrawnRelation(start=0, end=at, type="KNOWS") for at in range(1, size)],
    )
    svg = pictures.neighbourhood(picture, {}).svg
    assert overlaps(svg) == []
    assert all(box[0] >= -0.5 and box[2] <= pictures.WIDTH + 0.5 for _, box in texts(svg))
    root = ElementTree.fromstring(svg)
    hub, *others = [
        tuple(float(one.get(name, 0)) for name in ("cx", "cy")) for one in root.iter(f"{SVG}circle") if one.get("class") != "ring"
    ]
    assert len(others) == size - 1
    for one, other in permutations(others, 2):
        x, y = one[0] - hub[0], one[1] - hub[1]
        length = math.hypot(x, y)
        along = ((other[0] - hub[0]) * x + (other[1] - hub[1]) * y) / length
        off = abs((other[0] - hub[0]) * y - (other[1] - hub[1]) * x) / length
        assert not (0 < along < length and off < 7), f"the line to {one} runs through {other}"


@pytest.mark.slow
def test_what_cannot_be_pushed_apart_stands_on_an_oval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "_pushed_apart", lambda spots: False)
    for size in range(2, 31):
        spots = [pictures.Spot(36.0 / (1 + at % 3), ["x" * (at % 19)] * (at % 4), loop=at % 5 == 0) for at in range(size)]
        pictures.place(spots, [(at % 4, at) for at in range(size)])
        inner = [pictures.Box(box.left + 1e-6, box.top + 1e-6, box.right, box.bottom) for box in (spot.box for spot in spots)]
        assert not any(a.meets(b) for a, b in combinations(inner, 2))
        assert all(spot.box.left >= -1e-6 and spot.box.right <= pictures.WIDTH + 1e-6 and spot.box.top >= -1e-6 for spot in spots)


def test_the_culprit_is_ringed_and_every_node_says_its_full_name() -> None:
    picture = star(5, names=["The Velmouth Harbour Board and its Committee", "b", "c", "d", "e"])
    root = ElementTree.fromstring(pictures.neighbourhood(picture, {}).svg)
    assert [node.get("class") for node in root.iter(f"{SVG}circle")].count("ring") == 1
    assert root.get("role") == "img"
    assert "Marked: The Velmouth Harbour Board and its Committee." in (root.get("aria-label") or "")
    assert "The Velmouth Harbour Board and its Committee (Person)" in {node.text for node in root.iter(f"{SVG}title")}


def test_a_drawing_is_the_same_each_time() -> None:
    picture = star(25, 3)
    assert pictures.neighbourhood(picture, {}).svg == pictures.neighbourhood(picture, {}).svg


def test_a_type_has_one_colour_in_all_pictures_of_a_report() -> None:
    many = Picture(nodes=[DrawnNode(name=str(at), type=f"T{at}") for at in range(12)])
    colours = pictures.colours_of([many, Picture(nodes=[DrawnNode(name="x", type="T11"), DrawnNode(name="y", type="T11")])])
    assert colours["T11"] == 1
    assert sorted(colours.values()) == list(range(1, len(pictures.COLOURS)))


def report_with(picture: Picture) -> AuditReport:
    report = AuditReport.model_validate_json((ROOT / "schemas/examples/audit-report/valid/small.json").read_text(encoding="utf-8"))
    bad = next(one for one in report.findings if one.status == "failed")
    changed = [one.model_copy(update={"picture": picture}) if one is bad else one for one in report.findings]
    return report.model_copy(update={"findings": changed})


def test_the_page_shows_the_picture_with_the_cypher_that_draws_it() -> None:
    report = report_with(star(6))
    bad: Finding = next(one for one in report.findings if one.picture)
    assert list(pictures.figures_of(report)) == [one.rule_id for one in report.findings if one.picture]
    shown = listing.drawn(report, bad)
    assert shown is not None
    assert "4:x:0" in shown.params and "5:x:0" in shown.params and "RETURN hit" in shown.query
    page = rendered(report, "html")
    assert page.count('class="graph" viewBox') == len(pictures.figures_of(report)) + bool(report.community_map)
    assert "Cypher that draws this in Neo4j Browser" in page


def test_redaction_takes_the_names_away_and_leaves_the_types() -> None:
    report = redacted(report_with(star(4, names=["Ada Lovelace", "Ben", "Cy", "Dee"])))
    page = unpacked(rendered(report, "html"))
    assert "Ada Lovelace" not in page and "Ada Love" not in page
    figure = next(iter(pictures.figures_of(report).values()))
    assert re.search(r"#[0-9a-f]{8}", figure.svg)
    assert "TYPE_0" in figure.svg and "Person" in figure.svg


@pytest.mark.slow
def test_a_report_without_pictures_is_read() -> None:
    data = json.loads((ROOT / "tests/graphs/example-report.json").read_text(encoding="utf-8"))
    del data["community_map"]
    for one in data["findings"]:
        del one["picture"]
    report = AuditReport.model_validate(data)
    assert pictures.figures_of(report) == {}
    assert pictures.community_map(report) is None
    assert 'class="graph"' not in rendered(report, "html")


@pytest.mark.parametrize(("wrong", "told"), [
    ({"nodes": []}, "at least 1 item"),
    ({"nodes": [{"name": "x"}], "relations": [{"start": 0, "end": 5, "type": "T"}]}, r"relations\[0\] joins 0 and 5; there are 1 nodes"),
    ({"nodes": [{"name": "x"}], "relations": [{"start": -1, "end": 0, "type": "T"}]}, r"relations\[0\] joins -1 and 0"),
])
def test_a_picture_that_cannot_be_drawn_is_no_record(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Picture.model_validate(wrong)


@pytest.mark.parametrize(("wrong", "told"), [
    ({"communities": [{"size": 3}, {"size": 2}], "links": [{"start": 0, "end": 7, "pairs": 2}]}, r"links\[0\] joins 0 and 7; there are 2"),
    ({"communities": [{"size": 0}, {"size": 2}]}, "greater than or equal to 1"),
    ({"communities": [{"size": 2}, {"size": 2}], "links": [{"start": 0, "end": 1, "pairs": 0}]}, "greater than or equal to 1"),
])
def test_a_map_that_cannot_be_drawn_is_no_record(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        CommunityMap.model_validate(wrong)


def test_a_picture_is_laid_out_for_pages_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    laid: list[int] = []
    place = pictures.place
    monkeypatch.setattr(pictures, "place", lambda spots, pairs: laid.append(len(spots)) or place(spots, pairs))
    report = report_with(star(6)).model_copy(update={"community_map": crowd(7)})
    rendered(report, "text")
    rendered(report, "md")
    assert laid == []
    rendered(report, "html")
    assert sorted(laid) == [6, 7]


def test_it_is_said_that_there_are_more_neighbours_where_their_number_is_not_known() -> None:
    picture = star(3).model_copy(update={"at_least": True})
    assert "There may be more neighbours" in pictures.neighbourhood(picture, {}).hint
    assert "More than 1 neighbour is not drawn." in pictures.neighbourhood(picture.model_copy(update={"more": 1}), {}).hint


def test_the_ring_of_a_relation_with_itself_is_within_the_drawing() -> None:
    loops = [DrawnRelation(start=at, end=at, type="SELF") for at in range(5)]
    picture = star(5).model_copy(update={"relations": loops})
    root = ElementTree.fromstring(pictures.neighbourhood(picture, {}).svg)
    rings = [one for one in root.iter(f"{SVG}circle") if one.get("fill") == "none" and one.get("class") is None]
    assert len(rings) == 5
    assert all(float(one.get("cy", 0)) - float(one.get("r", 0)) >= 1 for one in rings)


def test_a_long_name_has_one_hash_in_the_picture_and_in_the_example() -> None:
    name = "Person " + "y" * 300
    report = report_with(star(2, names=[name, "b"]))
    bad = next(one for one in report.findings if one.picture)
    example = bad.examples[0].model_copy(update={"items": [bad.examples[0].items[0].model_copy(update={"name": name})]})
    named = bad.model_copy(update={"examples": [example]})
    hidden = redacted(report.model_copy(update={"findings": [named if one is bad else one for one in report.findings]}))
    shown = next(one for one in hidden.findings if one.picture)
    assert shown.picture is not None and shown.picture.nodes[0].name == shown.examples[0].items[0].name
    assert "y" * 101 not in pictures.neighbourhood(star(2, names=[name, "b"]), {}).svg


def crowd(n: int, seed: int = 0) -> CommunityMap:
    dice = random.Random(seed)
    return CommunityMap(
        communities=[
            DrawnCommunity(size=500 // (at + 1) + 2, names=[f"Entity number {at}", "Another long name indeed", "c"] if at < 5 else [])
            for at in range(n)
        ],
        links=[
            CommunityLink(start=a, end=b, pairs=dice.randint(1, 90)) for a, b in combinations(range(n), 2) if dice.random() < 0.4
        ],
        more=7, more_entities=20, alone=11,
    )


@pytest.mark.parametrize("n", [2, 12, 30])
def test_the_map_of_communities_names_the_five_largest_and_counts_the_rest(n: int) -> None:
    figure = pictures.communities(crowd(n))
    assert overlaps(figure.svg) == []
    assert "Not drawn: 7 smaller communities with 20 entities, and 11 entities by themselves." in figure.hint
    links = len(crowd(n).links)
    assert (f"Of {links} lines the 60 strongest are drawn." in figure.hint) == (links > 60)
    assert figure.svg.count('<line class="edge"') == min(links, 60)
    assert [text for text, _ in texts(figure.svg) if text.startswith("Entity number")] == [f"Entity number {at}" for at in range(min(n, 5))]
    root = ElementTree.fromstring(figure.svg)
    areas = [float(one.get("r", 0)) ** 2 for one in root.iter(f"{SVG}circle")]
    assert areas[0] / areas[1] == pytest.approx(502 / 252, rel=0.02)


@pytest.mark.slow
def test_a_browser_finds_no_name_over_another_at_400_pixels(tmp_path: Path) -> None:
    report = report_with(star(25, 1)).model_copy(update={"community_map": crowd(30)})
    page = tmp_path / "page.html"
    page.write_text(rendered(report, "html"), encoding="utf-8")
    with browser(tmp_path / "profile") as seen:
        seen.open(page)
        seen.call("Emulation.setDeviceMetricsOverride", width=400, height=900, deviceScaleFactor=1, mobile=False)
        seen.evaluate("document.querySelectorAll('details.finding').forEach(one => { one.open = true })")
        found = seen.evaluate(_OVERLAPS)
    assert found == {"drawings": 2, "over": [], "small": []}


_OVERLAPS = """(() => {
  const drawings = [...document.querySelectorAll('svg.graph')], over = [], small = [];
  for (const drawing of drawings) {
    const frame = drawing.getBoundingClientRect();
    const boxes = [...drawing.querySelectorAll('text')].map(one => [one.textContent, one.getBoundingClientRect()]);
    boxes.forEach(([name, a], at) => {
      if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.right > innerWidth) over.push(name + ' leaves');
      if (a.height < 9) small.push(name);
      for (const [other, b] of boxes.slice(at + 1))
        if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2.5 && b.top < a.bottom - 2.5)
          over.push(name + ' | ' + other);
    });
  }
  return {drawings: drawings.length, over: over, small: small};
})()"""


def test_a_notebook_offers_the_picture_to_move_about_or_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    result = AuditResult(report_with(star(6)))
    bad = next(one.rule_id for one in result.findings if one.picture)
    monkeypatch.setitem(sys.modules, "neo4j_viz", None)
    with pytest.raises(ConfigError) as missing:
        result.show_graph()
    assert missing.value.fix == "pip install 'kgeval-toolkit[viz]'"
    with pytest.raises(UsageError) as wrong:
        result.show_graph("no-such-check")
    assert wrong.value.fix == f"the audit has those of: {bad}"
    stand_in = SimpleNamespace(
        Node=lambda **given: given, Relationship=lambda **given: given,
        VisualizationGraph=lambda **given: SimpleNamespace(render=lambda: given),
    )
    monkeypatch.setitem(sys.modules, "neo4j_viz", stand_in)
    shown = result.show_graph(bad)
    assert [one["color"] == pictures.HIT for one in shown["nodes"]] == [True, *[False] * 5]
    assert {one["source"] for one in shown["relationships"]} <= {one["id"] for one in shown["nodes"]}
    names = {one["properties"]["name"] for one in AuditResult(result.report, redact=True).show_graph(bad)["nodes"]}
    assert all(re.fullmatch(r"#[0-9a-f]{8}", name) for name in names)


@pytest.mark.slow
def test_neo4j_viz_takes_what_it_is_given() -> None:
    pytest.importorskip("neo4j_viz", reason="pip install neo4j-viz")
    page = AuditResult(report_with(star(25))).show_graph()
    assert "TYPE_0" in page.data
