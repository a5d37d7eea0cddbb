"""open-path: relations without another way between their ends, which nearly all others of their type have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgeval.auditing.check import CheckOutcome, CheckRun, examples_of, one_each
from kgeval.auditing.ways_around import Kept, Relations, Way, kinds_of, ways_of
from kgeval.profiling.record import GraphProfile

SLICE = 10_000  # relations a row
MOST = 20  # ways of which it is told what has none


def run(check: CheckRun) -> CheckOutcome:
    """`count`: relations without a way that all others have; `total`: relations of types with such a rule, each type once."""
    profile: GraphProfile | None = check.settings["profile"]
    kinds = kinds_of(profile) if profile and not profile.is_from_texts else []
    ways = ways_of(kinds)
    if not ways:
        return CheckOutcome(0, 0)
    used = {at for way in ways for at in way.circle}
    relations = Relations()
    for row in check.stream("relations-by-ends", kinds=[kind.asked() for kind in kinds if kind.at in used], slice=SLICE):
        relations.prefix = row["prefix"]
        relations.add(row["at"], row["starts"], row["ends"])
    found = _kept(relations, ways)
    total = sum({one.way.of.at: len(relations.starts[one.way.of.at]) for one in found}.values())
    broken = list(_one_of_a_circle([one for one in found if one.open]))[:MOST]
    if not broken:
        return CheckOutcome(0, total)
    starts = [sorted({f"{relations.prefix}{start}" for start, _ in one.open}) for one in broken]
    rows = check.own_rows(paths=[one.way.asked(at, starts[at]) for at, one in enumerate(broken)])
    said = ((example, _why(broken[row["at"]])) for row in rows for example in examples_of(row["sample"]))
    examples = list(one_each(example.model_copy(update={"why": why}) for example, why in said))
    given = [one.way.asked(at) for at, one in enumerate(broken)]
    return CheckOutcome(len(examples), total, examples[: check.sample], parameters={"paths": given})


def _kept(relations: Relations, ways: Sequence[Way]) -> list[Kept]:
    """Those that nearly all keep, the surest first."""
    rows = {way.of.at: relations.sampled(way.of) for way in ways}
    kept = [relations.kept(way, rows[way.of.at]) for way in ways]
    return sorted((one for one in kept if one is not None), key=lambda one: (len(one.open) / one.known, len(one.way.steps), one.by_chance))


def _one_of_a_circle(broken: Sequence[Kept]) -> Iterator[Kept]:
    """Of relations that close one circle those of one type: what is wrong of one is told of the others too."""
    told: list[Way] = []
    for one in broken:
        way = one.way
        if not any(way.of != other.of and (way.circle <= other.circle or other.circle <= way.circle) for other in told):
            told.append(way)
            yield one


def _why(one: Kept) -> str:
    way = one.way
    have = f"which {one.known - len(one.open):,} of {one.known:,} {way.of.type[:60]} have"
    drawn = [_arrow(step.types, along=step.along) for step in way.steps]
    nodes = [step.target[:60] for step in way.steps[:-1]]
    if not nodes:
        return f"no {drawn[0]} between the two, {have}"
    middle = "".join(f" ({node}) {arrow}" for node, arrow in zip(nodes, drawn[1:], strict=True))
    return f"no {way.of.start[:60]} {drawn[0]}{middle} {way.of.end[:60]}, {have}"


def _arrow(types: Sequence[str], *, along: bool) -> str:
    names = " or ".join(name[:60] for name in types)
    return f"-[{names}]->" if along else f"<-[{names}]-"
