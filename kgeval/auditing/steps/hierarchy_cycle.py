"""hierarchy-cycle: things of which each stands above the next, and the last above the first."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.auditing.entity_columns import number_of
from kgeval.auditing.suspects import plain_words
from kgeval.names.forms import is_person
from kgeval.profiling.record import GraphProfile
from kgeval.records import Example, GraphRef
from kgeval.text.relation_kinds import leads_nowhere_back, ranking
from kgeval.text.wordlists import word_set

BATCH = 1_000  # nodes a query
TRIED = 100  # nodes of a part from which a shortest circle is looked for
SHOWN = 6  # nodes of a circle that its sentence names
LEAST = 20  # relations between nodes of one label that may show a hierarchy, whatever their type is called
ONE_EACH, FEW = 0.97, 0.05  # shares of nodes there: with one relation, at least, and on circles, at most
STEPS = 3  # of a way that shows it
OFTEN = 1.1  # relations a node of the label, at most
LEAST_NAMED = 8  # relations between nodes of one label whose type says that it never leads back
MOST_DENSE = 200_000  # relations of a type that are read for their shape
TANGLES = 2  # parts that lead back to themselves, at most, of a type that is no hierarchy by its name, unless few nodes are in them
SHORT = 3  # nodes of such a part, where the shape alone says that nothing leads back; of a named one twice as many
DENSE, LEAST_BY_CHANCE = 1.5, 10.0  # relations a node, and short circles among as many by chance, from which a shape says something
ONE_WAY = 0.9  # share of relations from the older to the younger node (or back), above which the order of writing explains the shape
# words of types and labels between which one leads back now and then, or direction says little
MUTUAL = word_set("""
    knows know friend friends friendship likes like loves follows follow following follower link links linked hyperlink married
    marriage spouse partner sibling brother sister cousin neighbour neighbor neighbours near adjacent similar same related relates
    alike matches connected connects connection connect calls call called invokes function method imports import uses use road route
    flight flies train bus ferry distance travels message messages sent sends send mail email wrote writes replied replies reply
    mentions mention cites cite cited reference references refers retweeted transfers transfer transferred paid pays payment trades
    trade traded sells buys lends owes plays played beat beats defeated against versus opponent rival competes interacts
    interacts_with binds regulates activates inhibits collaborates collaborated coauthor works worked meets met visited trusts rates
    recommends translates translation synonym antonym kennt freund mag folgt verlinkt verheiratet nachbar ahnlich aehnlich verwandt
    verbunden ruft strasse flug nachricht zitiert connait ami aime suit lien marie voisin similaire lie vol conoce amigo gusta sigue
    enlace casado vecino parecido camino vuelo mensaje cita conosce amico piace segue sposato vicino simile strada volo messaggio
    conhece gosta vizinho kent vriend volgt getrouwd buur lijkt vlucht bericht
""")


class Hierarchy:
    """The relations of the types that say one thing. Nodes by numbers."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.age: list[int] = []  # by node the number in its element id
        self.ends: dict[int, dict[int, str]] = defaultdict(dict)  # by start the ends of its relations, and their type

    def add(self, start: str, end: str, type_: str) -> None:
        """Adds a relation."""
        self.ends[self._number(start)].setdefault(self._number(end), type_)

    def is_shown(self) -> bool:
        """Whether the relations alone show a hierarchy: nearly each node leads to one (or is reached from one), and ways go on for three
        steps and more, as in a tree or a chain; not as in couples."""
        return self._goes_up(self.ends) or self._goes_up(self._turned())

    def _turned(self) -> dict[int, dict[int, str]]:
        turned: dict[int, dict[int, str]] = defaultdict(dict)
        for start, ends in self.ends.items():
            for end, type_ in ends.items():
                turned[end][start] = type_
        return turned

    def _goes_up(self, ends: Mapping[int, Mapping[int, str]]) -> bool:
        others = {start: [end for end in reached if end != start] for start, reached in ends.items()}
        above = {start: reached[0] for start, reached in others.items() if len(reached) == 1}
        if len(above) < max(LEAST, ONE_EACH * sum(map(bool, others.values()))):
            return False
        return any(len({start, *_upwards(start, above)}) > STEPS for start in above)

    def _number(self, element_id: str) -> int:
        if element_id not in self.ids:
            self.ids[element_id] = len(self.ids)
            self.age.append(number_of(element_id))
        return self.ids[element_id]

    def circles(self) -> list[list[int]]:
        """For each part of which everything leads to everything, the nodes of a shortest circle, the oldest node first."""
        return [self._shortest(nodes) for nodes in self.tangles()]

    def leads_back_by_mistake(self) -> bool:
        """Whether parts that lead back are slips of a relation that by its name does not: one or two parts, or hardly any of its nodes."""
        tangles = self.tangles()
        inside = sum(map(len, tangles))
        is_few = len(tangles) <= TANGLES and all(len(nodes) <= 2 * SHORT for nodes in tangles)
        return is_few or inside <= FEW * len(self.ids)

    def never_leads_back(self) -> bool:
        """Whether nothing but one or two short circles leads back, where as many relations by chance would make many; and not because all
        were written from the older node to the younger one."""
        joined = [(start, end) for start, ends in self.ends.items() for end in ends]
        each = len(joined) / max(1, len(self.ids))
        forward = sum(self.age[start] < self.age[end] for start, end in joined)
        if each < DENSE or not 1 - ONE_WAY <= forward / len(joined) <= ONE_WAY:
            return False
        by_chance = sum(each**size / size for size in range(2, SHORT + 2))
        tangles = self.tangles()
        return by_chance >= LEAST_BY_CHANCE and len(tangles) <= TANGLES and all(len(nodes) <= SHORT for nodes in tangles)

    def tangles(self) -> list[list[int]]:
        """The parts of which everything leads to everything."""
        import numpy as np
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        joined = [(start, end) for start, ends in self.ends.items() for end in ends]
        if not joined:
            return []
        size = len(self.ids)
        matrix = coo_array((np.ones(len(joined)), tuple(np.array(joined).T)), shape=(size, size))
        _, part_of = connected_components(matrix, connection="strong")
        parts: dict[int, list[int]] = defaultdict(list)
        for node, part in enumerate(part_of.tolist()):
            parts[part].append(node)
        return [nodes for nodes in parts.values() if len(nodes) > 1]

    def _shortest(self, nodes: list[int]) -> list[int]:
        """A shortest circle through one of the first nodes of a part."""
        inside = set(nodes)
        circle = min((self._way_back(first, inside) for first in sorted(nodes, key=self.age.__getitem__)[:TRIED]), key=len)
        start = min(range(len(circle)), key=lambda at: self.age[circle[at]])
        return [*circle[start:], *circle[:start]]

    def _way_back(self, first: int, inside: set[int]) -> list[int]:
        """The nodes of a shortest way from the first one back to it; there is one."""
        came_from: dict[int, int] = {}
        left = deque([first])
        while left:
            node = left.popleft()
            for end in self.ends[node]:
                if end == first:
                    way = [node]
                    while way[-1] != first:
                        way.append(came_from[way[-1]])
                    return way[::-1]
                if end in inside and end not in came_from:
                    came_from[end] = node
                    left.append(end)
        raise ValueError(f"nothing leads back to node {first}")


def _upwards(node: int, above: Mapping[int, int]) -> Iterator[int]:
    """The first nodes on the way up."""
    for _ in range(STEPS):
        if node not in above:
            return
        node = above[node]
        yield node


def run(check: CheckRun) -> CheckOutcome:
    """`count`: nodes on the listed circles, of which each part that leads back to itself has one; `total`: nodes in hierarchies. Each
    example is a shortest circle."""
    profile: GraphProfile | None = check.settings["profile"]
    types = [found.type for found in profile.types if found.says == "type"] if profile else []
    known = {type_: said for type_ in types if (said := ranking(type_, check.layout))}
    perhaps = {type_: type_ for type_ in (_may_rank(profile) if profile else ()) if type_ not in known}
    if not known and not perhaps:
        return CheckOutcome(0, 0)
    read = _read(check, {**perhaps, **known})
    named = {*known.values()}
    read = {name: one for name, one in read.items() if name in named or _ranks(name, one)}
    parts = [(name, hierarchy, hierarchy.circles()) for name, hierarchy in sorted(read.items())]
    found = [(hierarchy, circle) for _, hierarchy, circles in parts for circle in circles]
    found.sort(key=lambda item: len(item[1]))
    return CheckOutcome(
        sum(len(circle) for _, circle in found), sum(len(hierarchy.ids) for hierarchy in read.values()),
        _examples(check, found[: check.sample]), examples_total=len(found),
    )


def _ranks(type_: str, one: Hierarchy) -> bool:
    """Whether the relations of a type that is no hierarchy by its name alone lead back by mistake, where they do."""
    if leads_nowhere_back(type_):
        return one.leads_back_by_mistake()
    if one.is_shown():
        return sum(map(len, one.circles())) <= FEW * len(one.ids)
    return MUTUAL.isdisjoint(plain_words(type_)) and one.never_leads_back()


def _may_rank(profile: GraphProfile) -> Iterator[str]:
    """Relation types of what people made between nodes of one label that may say what stands above what: by their names; because each node
    may have one; or because there are many, of things that are not people or code."""
    nodes = {label.label: label.nodes for label in profile.labels if label.kind in ("hand-made", "RDF")}
    for relation in profile.types:
        labels = {(ends.start, ends.end) for ends in relation.ends}
        if relation.says != "type" or len(labels) != 1:
            continue
        (start, end), = labels
        if start != end or start not in nodes:
            continue
        is_thing = not is_person(start.casefold())
        if leads_nowhere_back(relation.type) and is_thing and relation.count >= LEAST_NAMED:
            yield relation.type
        elif relation.directed and relation.count >= LEAST:
            may_be_tangled = is_thing and MUTUAL.isdisjoint(plain_words(start)) and relation.count <= MOST_DENSE
            if relation.count <= OFTEN * nodes[start] or may_be_tangled:
                yield relation.type


def _read(check: CheckRun, known: Mapping[str, str]) -> dict[str, Hierarchy]:
    """By what they say (`known`, by type) the relations that say it."""
    read: dict[str, Hierarchy] = defaultdict(Hierarchy)
    for rows in check.slices("hierarchy-cycle", types=sorted(known)):
        for start, end, type_ in rows:
            read[known[type_]].add(start, end, type_)
    return read


def _examples(check: CheckRun, found: Sequence[tuple[Hierarchy, list[int]]]) -> list[Example]:
    ids = [{number: element_id for element_id, number in hierarchy.ids.items()} for hierarchy, _ in found]
    wanted = [own[node] for own, (_, circle) in zip(ids, found, strict=True) for node in circle]
    named = {
        row["element_id"]: {**row, "name": row["name"] or row["element_id"]} for row in check.rows_of("entity-lines", wanted, size=BATCH)
    }
    examples = []
    for own, (hierarchy, circle) in zip(ids, found, strict=True):
        rows = [named[own[node]] for node in circle if own[node] in named]
        items = [GraphRef(element_id=row["element_id"], key=row["name"], name=row["name"], type=row["type"]) for row in rows]
        types = sorted({hierarchy.ends[start][end] for start, end in zip(circle, [*circle[1:], circle[0]], strict=True)})
        shown = [row["name"][:60] for row in rows]
        way = " -> ".join([*shown[:SHOWN], "..."] if len(shown) > SHOWN else [*shown, *shown[:1]])
        examples.append(Example(items=items, why=f"{', '.join(types)[:100]}: {way}", counts=len(circle)))
    return examples
