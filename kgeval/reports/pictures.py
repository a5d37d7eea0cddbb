"""Pictures of graphs as inline SVG: the neighbourhood of a finding, the map of communities, the gold path of a question.

Nodes stand as far apart as there are steps between them; what would overlap is pushed apart, so that every name can be read on a page
of 400 pixels. Shapes and colours are attributes, for pages without our style sheet; its classes give them the colours of light and dark
pages. Names are users' texts.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import combinations, pairwise, zip_longest
from typing import Any, NamedTuple

from markupsafe import escape

from kgeval.errors import library
from kgeval.format import number, plural, visible
from kgeval.overview.priorities import failed
from kgeval.records import AuditReport, CommunityLink, CommunityMap, DrawnNode, DrawnRelation, Picture, WorstRow
from kgeval.reports.document import Cell, Figure, Table, columns

WIDTH = 300.0  # units of a drawing: the pixels that a page of 400 leaves it
SIZE, SMALL = 11.0, 10.0  # of names, of relations
COLOURS = ("#7b8794", "#2f6fc2", "#c8601a", "#2b8a57", "#9a4fb8", "#a87f00", "#c2416f", "#1b8a99", "#7a5a44")  # 0: of all other types
HIT = "#b3261e"
MOST_LINKS = 60
LISTED = "The picture as a list"
CROWD = 12  # nodes; more have one line of their name
AIR = 16.0  # between bands of a drawing
LOOP_UP, LOOP_R = 12.0, 7.0  # of the ring of a relation with itself: how far above its node, and its radius
TEXTS = ("chunk", "document")
Colours = Mapping[str, int]


class Box(NamedTuple):
    """A rectangle: its borders."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        return self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom


@dataclass
class Spot:
    """A thing that has a place: a circle or square of radius `r` round (x, y), and the lines of its name below. `loop`: a ring above
    it, for a relation with itself."""

    r: float
    lines: list[str] = field(default_factory=list)
    size: float = SIZE
    loop: bool = False
    x: float = 0.0
    y: float = 0.0

    def __post_init__(self) -> None:
        air = 4.0
        self.half = max(self.r, *(width_of(line, self.size) / 2 for line in self.lines), 0) + air  # of the width that it takes
        self.above = max(self.r, LOOP_UP + LOOP_R if self.loop else 0) + air
        self.below = self.r + air + (len(self.lines) * self.size * 1.2 + 3 if self.lines else 0)

    @property
    def box(self) -> Box:
        """All that it takes, with a little air."""
        return Box(self.x - self.half, self.y - self.above, self.x + self.half, self.y + self.below)

    def boxes(self) -> list[Box]:
        """Its circle with the ring above, and each line of its name."""
        found = [Box(self.x - self.r, self.y - self.above + 4, self.x + self.r, self.y + self.r)]
        for at, line in enumerate(self.lines):
            half, top = width_of(line, self.size) / 2, self.y + self.r + 3 + at * self.size * 1.2
            found.append(Box(self.x - half, top, self.x + half, top + self.size * 1.2))
        return found


def figures_of(report: AuditReport) -> dict[str, Figure]:
    """The pictures of an audit's findings, by rule id; those of the findings to look at first."""
    drawn = [(one, one.picture) for one in failed(report) if one.picture is not None]
    colours = colours_of(picture for _, picture in drawn)
    return {one.rule_id: neighbourhood(picture, colours) for one, picture in drawn}


def neighbourhood(picture: Picture, colours: Colours) -> Figure:
    """What lies around the things that are marked."""
    one_type = _one_type(picture)
    most = "More than " if picture.at_least else ""
    hints = [
        "In red: what the finding is about.", "Squares are texts." if _has_texts(picture) else "",
        f"All lines between entities are {visible(one_type, longest=60)}." if one_type else "",
        f"{most}{plural(picture.more, 'neighbour')} {'is' if picture.more == 1 else 'are'} not drawn." if picture.more
        else "There may be more neighbours: not all relations were looked at." if picture.at_least else "",
    ]
    wide = len(picture.nodes) <= CROWD  # names on two lines where there is room
    draw = partial(_drawing, picture, colours, radius=(10.0, 7.0), longest=16 if wide else 14, most=2 if wide else 1)
    return Figure(draw, "Around the first example", " ".join(filter(None, hints)), data=_list(picture), data_title=LISTED)


def movable(picture: Picture, colours: Colours) -> Any:
    """The picture as neo4j-viz shows it in a notebook: to be moved about. Raises: ConfigError where it is not installed."""
    viz = library("neo4j_viz")
    nodes = [
        viz.Node(
            id=str(at), caption=short(node.name, 30), size=24 if node.mark == "hit" else 14,
            color=HIT if node.mark == "hit" else COLOURS[0 if node.kind in TEXTS else colours.get(node.type or "", 0)],
            properties={"name": visible(node.name), "type": visible(node.type or "none"), "element_id": node.element_id or ""},
        ) for at, node in enumerate(picture.nodes)
    ]
    relations = [
        viz.Relationship(
            id=str(at), source=str(one.start), target=str(one.end), caption=short(_called(one), 30),
            color=HIT if one.mark == "hit" else COLOURS[0],
        ) for at, one in enumerate(picture.relations)
    ]
    return viz.VisualizationGraph(nodes=nodes, relationships=relations)


def community_map(report: AuditReport) -> Figure | None:
    """The communities of an audit's graph; None where the report has none."""
    return communities(report.community_map) if report.community_map and len(report.community_map.communities) > 1 else None


def communities(given: CommunityMap) -> Figure:
    """A circle a community, its area by its entities, lines by what joins them."""
    links = sorted(given.links, key=lambda one: -one.pairs)[:MOST_LINKS]
    left = [
        *([f"{plural(given.more, 'smaller community')} with {plural(given.more_entities, 'entity')}"] if given.more else []),
        *([f"{plural(given.alone, 'entity')} by {'itself' if given.alone == 1 else 'themselves'}"] if given.alone else []),
    ]
    hint = (
        "A circle is a community, its area the number of its entities; a line says that relations join two of them, a thick one many. "
        "The largest are called by their best-connected entities."
        + (f" Of {number(len(given.links))} lines the {MOST_LINKS} strongest are drawn." if len(given.links) > MOST_LINKS else "")
        + (f" Not drawn: {', and '.join(left)}." if left else "")
    )
    data = Table(("community", "entities", "joined pairs with the others here"), [
        (Cell(", ".join(one.names) or f"community {at + 1}", user=bool(one.names)), number(one.size),
         number(sum(link.pairs for link in given.links if at in (link.start, link.end)))) for at, one in enumerate(given.communities)
    ])
    return Figure(partial(_communities_drawn, given, links), "Communities and what joins them", hint, data=data, data_title=LISTED)


def _communities_drawn(given: CommunityMap, links: Sequence[CommunityLink]) -> str:
    largest = max(one.size for one in given.communities)
    spots = [
        Spot(max(4.0, 36 * math.sqrt(one.size / largest)), [line for name in one.names for line in lines_of(name, 18, 1)])
        for one in given.communities
    ]
    place(spots, [(one.start, one.end) for one in links])
    most = max((one.pairs for one in links), default=1)
    parts = [
        f'<line class="edge" x1="{spots[one.start].x:.1f}" y1="{spots[one.start].y:.1f}" x2="{spots[one.end].x:.1f}" '
        f'y2="{spots[one.end].y:.1f}" stroke="#8b95a1" stroke-width="{1 + 5 * math.sqrt(one.pairs / most):.1f}" stroke-opacity=".5">'
        f"<title>{plural(one.pairs, 'pair')} of entities</title></line>" for one in links
    ]
    for one, spot in zip(given.communities, spots, strict=True):
        named = f": {', '.join(visible(name, longest=100) for name in one.names)}" if one.names else ""
        size = _text([number(one.size)], spot.x, spot.y + 3.5, SMALL) if spot.r >= 3 + width_of(number(one.size), SMALL) / 2 else ""
        parts.append(
            f"<g><title>{escape(plural(one.size, 'entity') + named)}</title>"
            f'<circle class="community" cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{spot.r:.1f}" fill="#bfe3dc" stroke="#2a9d8f" '
            f'stroke-width="1.5"/>{size}{_text(spot.lines, spot.x, spot.y + spot.r + 3 + spot.size)}</g>'
        )
    about = f"Map of {len(given.communities)} communities; the largest has {plural(largest, 'entity')}."
    return _svg(parts, max(spot.box.bottom for spot in spots), about)


def paths_of(rows: Sequence[WorstRow]) -> list[Figure | None]:
    """The gold path of each row of a score report, in one set of colours."""
    colours = colours_of(row.path for row in rows if row.path)
    return [path_figure(row.path, colours) if row.path else None for row in rows]


def path_figure(picture: Picture, colours: Colours) -> Figure:
    """A gold path: one below the other where it is a chain."""
    marks = [*(one.mark for one in picture.nodes), *(one.mark for one in picture.relations)]
    size = picture.size or len(marks)  # earlier records count what is drawn alone
    retrieved = marks.count("found") if picture.found is None else picture.found
    asked = any(mark is not None for mark in marks)
    missing = ", ".join(visible(node.name, longest=60) for node in picture.nodes if node.mark == "missing")
    relations = sum(one.mark == "missing" for one in picture.relations)
    lost = "; ".join(filter(None, [missing, plural(relations, "relation") if relations else ""]))
    dashed = f" Dashed: not retrieved ({lost})." if lost else ""
    hint = "What the answer needs, from the question's entity on."
    if asked:
        hint = "All of it was retrieved." if retrieved == size else f"Retrieved: {retrieved} of {size}.{dashed}"
    if not_drawn := size - len(marks):
        lost_too = not_drawn - (retrieved - marks.count("found"))
        too = f" (not retrieved: {number(lost_too)})" if asked and lost_too else ""
        hint += f" Not drawn: {plural(not_drawn, 'relation')} without two ends on the path{too}."
    title = "Gold path" + (", and what was retrieved of it" if asked else "")
    return Figure(partial(_path, picture, colours), title, hint, data=_list(picture), data_title=LISTED)


def _path(picture: Picture, colours: Colours) -> str:
    """The drawing of a gold path: asked for on a page alone, so that no other form waits for its layout."""
    if (chain := _chain(picture)) is not None:
        return _ladder(chain, colours)
    return _drawing(picture, colours, radius=(8.0, 8.0), longest=16, most=2)


def colours_of(pictures: Iterable[Picture]) -> dict[str, int]:
    """A colour (a place in COLOURS) for each of the types that stand most often on these pictures; all others share the first."""
    types = Counter(node.type for picture in pictures for node in picture.nodes if node.kind not in TEXTS and node.type)
    return {name: at for at, (name, _) in enumerate(sorted(types.items(), key=lambda pair: (-pair[1], pair[0]))[: len(COLOURS) - 1], 1)}


def width_of(text: str, size: float) -> float:
    """How wide a text is at most, in fonts without serifs."""
    return size * sum(map(_em, text))


@cache
def _em(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    if char in "mwMW@%—…":
        return 1.0
    if char in "iljtfrI.,:;'|!()[] -":
        return 0.42
    return 0.78 if char.isupper() or ord(char) > 0x2FF else 0.64


def short(text: str, longest: int) -> str:
    """A name on one line, cut to so many characters, with at most two marks above a letter."""
    line = visible(text, longest=200)
    calm = [char for at, char in enumerate(line) if not all(map(unicodedata.combining, line[max(0, at - 2) : at + 1])) or at < 2]
    return "".join(calm) if len(calm) <= longest else "".join(calm[: longest - 1]).rstrip() + "…"


def lines_of(text: str, longest: int, most: int) -> list[str]:
    """A name on at most `most` lines of about `longest` characters, parted between words; a wide script takes fewer characters."""
    fits = longest * 0.64
    lines = [""]
    for word in short(text, longest * most).split(" "):
        joined = f"{lines[-1]} {word}".strip()
        if not lines[-1] or width_of(joined, 1) <= fits or len(lines) == most:
            lines[-1] = joined
        else:
            lines.append(word)
    return [_fitted(line, fits) for line in lines if line]


def _fitted(line: str, width: float) -> str:
    """The line, cut where it is wider than so many ems."""
    if width_of(line, 1) <= width + 1:
        return line
    while line and width_of(line, 1) > width:
        line = line[:-1]
    return line.rstrip("… ") + "…"


def place(spots: Sequence[Spot], pairs: Iterable[tuple[int, int]]) -> None:
    """Gives the spots their places within WIDTH, from y = 0 down: joined ones near each other, and none over another."""
    neighbours = _joined(len(spots), pairs)
    hub = max(range(len(spots)), key=lambda node: (len(neighbours[node]), -node))
    # the nodes of a crowded star, pushed apart, would get into the lines of others
    star = CROWD < len(spots) <= len(neighbours[hub]) + 1 and sum(map(len, neighbours)) <= 3 * len(spots)
    if star or not _by_distance(spots, neighbours):
        _round(spots, hub)
    ends, shift = -AIR, -math.inf  # bands with nothing in them are closed, as between parts that nothing joins
    for spot in sorted(spots, key=lambda one: one.box.top):
        shift = max(shift, spot.box.top - ends - AIR)
        spot.y -= shift
        ends = max(ends, spot.box.bottom)


def _joined(nodes: int, pairs: Iterable[tuple[int, int]]) -> list[set[int]]:
    """The neighbours of each of so many nodes, without loops and directions."""
    neighbours: list[set[int]] = [set() for _ in range(nodes)]
    for a, b in pairs:
        if a != b:
            neighbours[a].add(b)
            neighbours[b].add(a)
    return neighbours


def _steps(neighbours: Sequence[set[int]], start: int) -> dict[int, int]:
    """How many steps it is from a node to each that it reaches, itself too."""
    steps, order = {start: 0}, [start]
    for node in order:
        for other in neighbours[node] - steps.keys():
            steps[other] = steps[node] + 1
            order.append(other)
    return steps


def _by_distance(spots: Sequence[Spot], neighbours: Sequence[set[int]]) -> bool:
    """Places as far from each other as there are steps between. False where names cannot be pushed apart."""
    steps = [_steps(neighbours, node) for node in range(len(neighbours))]
    apart = 1 + max(far for found in steps for far in found.values())  # else parts that nothing joins are thrown out of sight
    xs, ys = _with_least_stress([[float(found.get(other, apart)) for other in range(len(steps))] for found in steps])
    area = sum(2 * spot.half * (spot.above + spot.below) for spot in spots)
    height = max(90.0, 1.6 * area / WIDTH) if len(spots) > 1 else 0.0
    for spot, x, y in zip(spots, xs, ys, strict=True):
        spot.x = spot.half + (WIDTH - 2 * spot.half) * _share(x, xs)
        spot.y = height * _share(y, ys)
    return _pushed_apart(spots)


def _with_least_stress(distances: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """Places whose distances are as near to those asked for as Kamada and Kawai (1989) want it: the squared relative errors least. Found by
    majorization (Gansner, Koren and North 2004) from a circle, without scipy, which takes longer to load than a whole page to write."""
    import numpy as np

    wanted = np.array(distances)
    weights = np.where(wanted > 0, 1 / np.maximum(wanted, 1) ** 2, 0.0)
    solved = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    turns = 2 * np.pi * np.arange(len(wanted)) / len(wanted)
    places = np.column_stack((np.cos(turns), np.sin(turns)))
    for _ in range(300):
        apart = np.linalg.norm(places[:, None] - places[None, :], axis=2)
        pull = weights * wanted / np.maximum(apart, 1e-9)
        before, places = places, solved @ ((np.diag(pull.sum(axis=1)) - pull) @ places)
        if np.abs(places - before).max() < 1e-3:
            break
    return places[:, 0].tolist(), places[:, 1].tolist()


def _share(value: float, values: Sequence[float]) -> float:
    low, high = min(values), max(values)
    return (value - low) / (high - low) if high > low else 0.5


def _pushed_apart(spots: Sequence[Spot]) -> bool:
    """Moves what overlaps away from each other, along the shorter way; downwards there is room. False where that does not end."""
    boxes = [spot.box for spot in spots]
    for _ in range(250):  # where it ends, it does so before 170
        clear = True
        for i, j in combinations(range(len(spots)), 2):
            a, b = boxes[i], boxes[j]
            if not a.meets(b):
                continue
            clear, one, other = False, spots[i], spots[j]
            across = min(a.right - b.left, b.right - a.left) / 2 + 0.1
            down = min(a.bottom - b.top, b.bottom - a.top) / 2 + 0.1
            if across < down:
                step = across if (one.x, one.y) <= (other.x, other.y) else -across
                one.x, other.x = one.x - step, other.x + step
            else:
                step = down if (one.y, one.x) <= (other.y, other.x) else -down
                one.y, other.y = one.y - step, other.y + step
            for spot in (one, other):
                spot.x = min(max(spot.x, spot.half), WIDTH - spot.half)
            boxes[i], boxes[j] = one.box, other.box
        if clear:
            return True
    return False


def _round(spots: Sequence[Spot], hub: int) -> None:
    """For stars, and the last resort: the hub in a band of its own, the others on an oval, in the order in which they lay round it.

    Rows would read as chains: all lines would run along them. None is over another, for a name is narrower than half of WIDTH.
    """
    middle, x, y = spots[hub], spots[hub].x, spots[hub].y
    others = sorted((spot for spot in spots if spot is not middle), key=lambda one: math.atan2(one.x - x, y - one.y))  # left side first
    left, right = others[: len(others) // 2], others[len(others) // 2 :][::-1]  # both from below upwards
    bands = [[one] if other is None else [one, other] for one, other in zip_longest(right, left)]
    bands.insert((len(bands) + 1) // 2, [middle])
    bottom = 0.0
    for band in bands[::-1]:
        for spot in band:
            spot.y = bottom + max(one.above for one in band)
        bottom = max(spot.y + spot.below for spot in band)
    reach = max(abs(spot.y - middle.y) for spot in spots) + 1
    for spot in spots:
        side = 0 if spot is middle else -1 if spot in left else 1
        away = WIDTH / 2 * math.sqrt(1 - ((spot.y - middle.y) / reach) ** 2)
        spot.x = WIDTH / 2 + side * min(max(away, spot.half), WIDTH / 2 - spot.half)


def _drawing(picture: Picture, colours: Colours, *, radius: tuple[float, float], longest: int, most: int) -> str:
    """Lines, then nodes over them, then names; at the end what the colours mean. `radius`: of marked nodes, of others; `longest`, `most`:
    characters and lines of a name."""
    loops = {one.start for one in picture.relations if one.start == one.end}
    spots = [
        Spot(radius[0 if node.mark else 1], lines_of(node.name, longest, most), loop=at in loops) for at, node in enumerate(picture.nodes)
    ]
    place(spots, [(one.start, one.end) for one in picture.relations])
    groups: dict[tuple[int, int], list[DrawnRelation]] = {}
    for one in picture.relations:
        groups.setdefault((one.start, one.end), []).append(one)
    lines = {(start, end): _line(spots[start], spots[end]) for start, end in groups}
    parts = [
        _edge(picture, relations, lines[pair], directed=picture.directed and not _is_link(picture, relations[0]))
        for pair, relations in groups.items()
    ]
    taken = [box for spot in spots for box in spot.boxes()]
    named = [] if _one_type(picture) else sorted(groups.items(), key=lambda pair: not any(one.mark for one in pair[1]))
    for (start, end), relations in named:
        touches = len(groups) <= 8 or picture.nodes[start].mark or picture.nodes[end].mark or any(one.mark for one in relations)
        if touches and start != end and not _is_link(picture, relations[0]):
            parts += _label(relations, lines[start, end], taken)
    parts += [_node(node, spot, colours) for node, spot in zip(picture.nodes, spots, strict=True)]
    return _with_legend(parts, picture, colours, max(spot.box.bottom for spot in spots) + 6)


def _one_type(picture: Picture) -> str | None:
    """What all relations are called, where there are several and one name for them: said once, not at each line."""
    types = [_called(one) for one in picture.relations if not _is_link(picture, one)]
    return types[0] if len(types) > 2 and len(set(types)) == 1 else None


def _is_link(picture: Picture, one: DrawnRelation) -> bool:
    """Whether a relation joins a text, and says no more than where something stands."""
    return any(picture.nodes[at].kind in TEXTS for at in (one.start, one.end))


def _line(a: Spot, b: Spot) -> tuple[float, float, float, float]:
    """From border to border, with a little air for the arrow."""
    length = math.hypot(b.x - a.x, b.y - a.y) or 1.0
    dx, dy = (b.x - a.x) / length, (b.y - a.y) / length
    return a.x + dx * (a.r + 1), a.y + dy * (a.r + 1), b.x - dx * (b.r + 4), b.y - dy * (b.r + 4)


def _edge(picture: Picture, relations: Sequence[DrawnRelation], line: tuple[float, float, float, float], *, directed: bool) -> str:
    one, link = relations[0], _is_link(picture, relations[0])
    marks = {relation.mark for relation in relations}
    kind = "edge" + (" hit" if "hit" in marks else " missing" if "missing" in marks else "") + (" link" if link else "")
    stroke, width = (HIT, 2.4) if "hit" in marks else ("#8b95a1", 1.3)
    dashes = ' stroke-dasharray="4 3"' if "missing" in marks else ' stroke-dasharray="1 3"' if link else ""
    x1, y1, x2, y2 = line
    if one.start == one.end:  # the ends of the line lie on both sides of nothing: a ring above the node
        fill, shape = ' fill="none"', f'<circle cx="{x1 - 1:.1f}" cy="{y1 - LOOP_UP:.1f}" r="{LOOP_R:g}" fill="none"/>'
    else:
        fill, shape = "", f'<line x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}"{dashes}/>'
        shape += _arrow(x1, y1, x2, y2, stroke) if directed else ""
    title = escape("; ".join(dict.fromkeys(_sentence(picture, relation) for relation in relations)))
    return f'<g class="{kind}" stroke="{stroke}" stroke-width="{width}"{fill}><title>{title}</title>{shape}</g>'


def _arrow(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    corners = ((x2 + 3 * dx, y2 + 3 * dy), (x2 - 4 * dx - 3 * dy, y2 - 4 * dy + 3 * dx), (x2 - 4 * dx + 3 * dy, y2 - 4 * dy - 3 * dx))
    return f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}" fill="{colour}" stroke="none"/>'


def _label(relations: Sequence[DrawnRelation], line: tuple[float, float, float, float], taken: list[Box]) -> Iterator[str]:
    """What a relation is called, where along its line there is room; nowhere else, for its title has it."""
    names = list(dict.fromkeys(short(_called(one), 18) for one in relations))
    text = names[0] + (f" +{len(relations) - 1}" if len(relations) > 1 else "")
    half, (x1, y1, x2, y2) = width_of(text, SMALL) / 2 + 1, line
    for share in (0.5, 0.4, 0.6, 0.3, 0.7):
        x, y = x1 + (x2 - x1) * share, y1 + (y2 - y1) * share
        box = Box(x - half, y - SMALL * 0.6, x + half, y + SMALL * 0.6)
        if box.left >= 0 and box.right <= WIDTH and box.top >= 0 and not any(box.meets(other) for other in taken):
            taken.append(box)
            kind = "type hit" if any(one.mark == "hit" for one in relations) else "type"
            yield _text([text], x, y + SMALL * 0.35, SMALL, kind)
            return


def _node(node: DrawnNode, spot: Spot, colours: Colours) -> str:
    hit = node.mark == "hit"
    circle = f'cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{spot.r:.1f}"'
    ring = f'<circle class="ring" {circle} fill="none" stroke="{HIT}" stroke-width="2.5"/>' if hit else ""
    name = _text(spot.lines, spot.x, spot.y + spot.r + 3 + spot.size * 0.85, spot.size, "hit" if hit else "")
    return f"<g><title>{escape(_title(node))}</title>{_shape(node, spot.x, spot.y, spot.r - (4 if hit else 0), colours)}{ring}{name}</g>"


def _shape(node: DrawnNode, x: float, y: float, r: float, colours: Colours) -> str:
    """Entities are circles, texts squares; what was not retrieved is hollow."""
    text, at = node.kind in TEXTS, colours.get(node.type or "", 0)
    kind, colour = ("text", COLOURS[0]) if text else (f"t{at}", COLOURS[at])
    hollow = node.mark == "missing" or node.kind == "other"
    paint = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="3 2"' if hollow else f'fill="{colour}"'
    kind += " hollow" if hollow else ""
    if text:
        side = 2 * r - 2
        return f'<rect class="{kind}" x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" width="{side:.1f}" height="{side:.1f}" rx="2" {paint}/>'
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" {paint}/>'


def _text(lines: Sequence[str], x: float, y: float, size: float = SIZE, kind: str = "", anchor: str = "") -> str:
    """Lines one below the other; `y`: the first one's base line. Size, anchor and colour are those of the whole drawing where not given."""
    own = {"class": kind, "font-size": f"{size:g}" if size != SIZE else "", "text-anchor": anchor}
    more = "".join(f' {name}="{value}"' for name, value in own.items() if value)
    return "".join(f'<text x="{x:.1f}" y="{y + at * size * 1.2:.1f}"{more}>{escape(line)}</text>' for at, line in enumerate(lines))


def _with_legend(drawn: Sequence[str], picture: Picture, colours: Colours, top: float) -> str:
    """The picture, below it from `top` on the types that are on it with their colours."""
    shown = {node.type for node in picture.nodes if node.kind not in TEXTS}
    types = [name for name in sorted(colours, key=lambda one: colours[one]) if name in shown]
    entries = [(f"t{colours[name]}", COLOURS[colours[name]], short(name, 22)) for name in types]
    if types and any(node.kind not in TEXTS and node.type not in colours for node in picture.nodes):
        entries.append(("t0", COLOURS[0], "other"))
    if types and _has_texts(picture):
        entries.append(("text", COLOURS[0], "text"))
    parts, x, y = list(drawn), 6.0, top + 8
    for kind, colour, name in entries:
        width = 16 + width_of(name, SMALL) + 10
        if x > 6 and x + width > WIDTH:
            x, y = 6.0, y + 15
        corners = 2 if kind == "text" else 5
        shape = f'<rect class="{kind}" x="{x:.1f}" y="{y - 5:.1f}" width="10" height="10" rx="{corners}" fill="{colour}"/>'
        parts.append(shape + _text([name], x + 14, y + 3.5, SMALL, "type", "start"))
        x += width
    return _svg(parts, y + 8 if entries else top, _alternative(picture))


def _chain(picture: Picture) -> Picture | None:
    """The picture with nodes and relations in the order of their chain, from the end that comes first; None where they are no chain."""
    pairs = {frozenset((one.start, one.end)): one for one in picture.relations}
    neighbours, size = _joined(len(picture.nodes), [(one.start, one.end) for one in picture.relations]), len(picture.nodes)
    if size > 12 or len(picture.relations) != size - 1 or max(map(len, neighbours)) > 2:
        return None
    order = [min(range(size), key=lambda at: (len(neighbours[at]), at))]
    while further := neighbours[order[-1]] - set(order):
        order.append(min(further))
    if len(order) < size:
        return None
    place = {node: at for at, node in enumerate(order)}
    steps = [pairs[frozenset(pair)] for pair in pairwise(order)]
    return picture.model_copy(update={
        "nodes": [picture.nodes[at] for at in order],
        "relations": [one.model_copy(update={"start": place[one.start], "end": place[one.end]}) for one in steps],
    })


def _ladder(picture: Picture, colours: Colours) -> str:
    """A chain from top to bottom: names in full, what joins them between."""
    parts: list[str] = []
    for at, node in enumerate(picture.nodes):
        y = 14 + at * 52.0
        if at:
            one = picture.relations[at - 1]
            line = (16.0, y - 44, 16.0, y - 12) if one.end == at else (16.0, y - 8, 16.0, y - 40)
            parts.append(_edge(picture, [one], line, directed=picture.directed))
            parts.append(_text([_ladder_name(_called(one), one.mark, SMALL)], 32, y - 22, SMALL, "type", "start"))
        name = _text([_ladder_name(node.name, node.mark, SIZE)], 32, y + 4, SIZE, "", "start")
        parts.append(f"<g><title>{escape(_title(node))}</title>{_shape(node, 16, y, 7, colours)}{name}</g>")
    return _with_legend(parts, picture, colours, 14 + (len(picture.nodes) - 1) * 52.0 + 18)


def _ladder_name(name: str, mark: str | None, size: float) -> str:
    """A name on a ladder, and whether the thing was not retrieved."""
    more = ": not retrieved" if mark == "missing" else ""
    return _fitted(short(name, 45), (WIDTH - 33) / size - width_of(more, 1) - 1) + more


def _svg(parts: Iterable[str], height: float, said: str) -> str:
    """The element; `said`: the text that stands for it."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="0 0 {WIDTH:g} {height:.0f}" role="img" '
        f'font-size="{SIZE:g}" text-anchor="middle" fill="currentColor" '
        f'aria-label="{escape(visible(said, longest=900))}">{"".join(parts)}</svg>'
    )


def _title(node: DrawnNode) -> str:
    of = {"chunk": "a chunk", "document": "a document", "other": "no entity of this graph"}.get(node.kind, node.type)
    return visible(node.name, longest=100) + (f" ({visible(of, longest=60)})" if of else "")


def _sentence(picture: Picture, one: DrawnRelation) -> str:
    start, end = (visible(picture.nodes[at].name, longest=60) for at in (one.start, one.end))
    return f"{start} -[{visible(_called(one), longest=60)}]-> {end}"


def _called(one: DrawnRelation) -> str:
    return one.type or one.name or ""


def _alternative(picture: Picture) -> str:
    """The picture in words."""
    marked, lost = (
        ", ".join(visible(node.name, longest=60) for node in picture.nodes if node.mark == mark) for mark in ("hit", "missing")
    )
    return " ".join(filter(None, [
        f"A graph of {plural(len(picture.nodes), 'node')} and {plural(len(picture.relations), 'relation')}.",
        f"Marked: {marked}." if marked else "", f"Not retrieved: {lost}." if lost else "",
        "; ".join(_sentence(picture, one) for one in picture.relations[:8]),
    ]))


def _has_texts(picture: Picture) -> bool:
    return any(node.kind in TEXTS for node in picture.nodes)


def _list(picture: Picture) -> Table | None:
    """The relations as rows."""
    return columns(picture.relations, {
        "from": lambda one: Cell(picture.nodes[one.start].name, user=True),
        "relation": lambda one: Cell(_called(one), user=True),
        "to": lambda one: Cell(picture.nodes[one.end].name, user=True),
    }, words=frozenset({0, 1, 2})) if picture.relations else None
