"""Completeness: figures by level, what is missing, how each item was matched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from kgeval.format import first_of, interval, joined, number, plural, visible
from kgeval.overview.coverage import TITLES, judged, sentence
from kgeval.records import LEVELS, CompletenessReport, Coverage, FactRetention, FactVerdict, GoldMatch, Level, Proportion
from kgeval.reports.document import Block, Card, Cards, Cell, Details, Document, Items, Section, Table, Text, Tone
from kgeval.reports.measures import causes, full, of, share
from kgeval.reports.page import MOST_ROWS
from kgeval.reports.usage import usage
from kgeval.reports.views.parts import cut_at, drawn, findings_section, foot, gate_tally, gates_section, server_of

MEANINGS: dict[str, str] = {
    "entity_coverage": "Gold entities that the graph has.",
    "relation_completeness": "Gold triples whose ends are joined, in either direction.",
    "relation_completeness_directed": "Gold triples whose ends are joined in the gold direction.",
    "relation_completeness_with_predicate": "Gold triples joined by a relation of the same predicate, of those that name one.",
}
LEVEL_MEANINGS: dict[Level, str] = {
    "exact": "the same characters",
    "normalised": "the same without case, punctuation and leading article",
    "alias": "another name that the gold or the graph gives, or another form (title, initials, plural ...)",
    "fuzzy": "nearly the same words (similar, not the same: check them)",
    "embedding": "near in meaning (a guess: check them)",
}
BRIDGING: dict[str, str] = {
    "communities": "ends in two communities", "within_communities": "ends in one community (to compare with)",
    "documents": "ends in two documents",
}
SMALL_GROUPS = (
    "At the level of the verdict. Small groups have wide intervals: the line shows the 95 % interval of entities (of relations where the "
    "gold has no entities)."
)
BANDS = "below 70 % critical, 70 to 85 % acceptable, above 85 % strong"


def document(report: CompletenessReport) -> Document:
    """The verdict, figures by matching level, by type and document, facts, what is missing; on the page also how each item was found."""
    bands: dict[str | None, Tone] = {"critical": "error", "acceptable": "warning", "strong": "passed"}
    worst = min((judgement.band for judgement in report.verdicts if judgement.band), key=list(bands).index, default=None)
    tally: list[tuple[Tone, str]] = [
        (bands[judgement.band], f"{TITLES.get(judgement.figure, judgement.figure)}: {judgement.band}")
        for judgement in report.verdicts if judgement.band
    ]
    gold = report.gold
    notes = [*gold.notes, *report.notes, *(report.facts.notes if report.facts else []), *(f"passed over: {one}" for one in gold.faults)]
    size = ""
    if has_gold(report) or report.facts is None:
        size = f", {against(report)}: {plural(gold.entities, 'entity')}, {plural(gold.triples, 'triple')}"
    sections = [
        gates_section(report.gates),
        Section("Figures", [Cards(list(_cards(report, bands)))], id="figures", forms="page"), *(_gold(report) if has_gold(report) else ()),
        *([_facts(report.facts)] if report.facts else []), *(_lists(report) if has_gold(report) else ()), _gold_set(report),
        *([findings_section(report.findings)] if has_gold(report) else []),
    ]
    return Document(
        "Graph completeness", "completeness", sections, name=report.graph or "whole database",
        about=f"layout {visible(report.layout.name, longest=40)}{size}", server=server_of(report),
        lead=[verdict(report), *ideal_lines(report)], tone=bands.get(worst, ""), tally=[*gate_tally(report.gates), *tally], notes=notes,
        foot=usage(report.run),
        more="What is missing and how each item was matched: add -o report.html", end=foot(report.run, report.layout.name),
    )


def _cards(report: CompletenessReport, bands: Mapping[str | None, Tone]) -> Iterator[Card]:
    for judgement in report.verdicts:
        counted, title = judged(report, judgement), TITLES.get(judgement.figure, judgement.figure)
        if counted is None or not counted.total:
            yield Card(title, "", "none in the gold set")
            continue
        between = interval(counted.low, counted.high)
        over = of(counted) + (f", 95 %: {between}" if between else "")
        source = f" Verdict: {judgement.source}." if judgement.source else ""
        what = f"{over}, {judgement.level} level, {against(report)}. {MEANINGS.get(judgement.figure, '')}{source}"
        yield Card(title, share(counted), what, tone=bands.get(judgement.band, "open"), band=judgement.band or "")
    if report.facts:
        kept = report.facts.retention
        what = f"{full(kept)} of the judged facts. Judge: {report.facts.judge}."
        yield Card("Facts that follow", share(kept) if kept.total else "", what)
    if report.control:
        what = f"{of(report.control.entity_coverage)} entities of {report.control.how}. High would mean that the matching is too generous."
        yield Card("Control", share(report.control.entity_coverage), what)


def _gold(report: CompletenessReport) -> Iterator[Section]:
    """By level, type, document; bridging relations and predicates."""
    judged_at = {report.verdict_level, *(judgement.level for judgement in report.verdicts)}
    rows: list[Sequence[str | Cell]] = []
    short: list[Sequence[str | Cell]] = []
    run = [level for level in LEVELS if level in report.levels]
    for level in run:
        entities, *relations = cells(report.levels[level])
        name = f"{level}{' *' if level in judged_at else ''}"
        shares = [_amount(entities), *(Cell(share(value), of(value) if value.total else "") for value in relations)]
        apart = ", ".join(f"+{number(n)} {kind}" for kind, n in sorted(report.apart.get(level, {}).items()))
        rows.append((name, *shares, apart or "-", drawn(entities)))
        short.append((name, *(cell.text for cell in shares)))
    if run:
        short.append(("of", *(number(value.total) for value in cells(report.levels[run[-1]]))))
    meanings = [f"{level}: {text}" for level, text in LEVEL_MEANINGS.items()] + [f"{TITLES[id_]}: {text}" for id_, text in MEANINGS.items()]
    missed = [level for level in LEVELS if level not in report.levels]
    settings = settings_line(report)
    lines = [
        f"Marked *: the level of the verdict ({BANDS}). Each level adds to the one before.", pairs_line(report),
        f"Settings: {settings}." if settings else "", f"Not run: {', '.join(missed)}." if missed else "",
    ]
    head = ("Level (cumulative)", *TITLES.values())
    yield Section(f"Found, {against(report)}", [
        Table(head, short, forms="short"), Table((*head, "This level alone", ""), rows, words=frozenset({0, 5}), forms="long"),
        Text(control_line(report)), *(Text(line, style="hint") for line in lines if line),
        Text("Relations in the graph that match no gold are no errors: gold is never complete.", style="hint", forms="page"),
        Details("What levels and figures mean", [Items(meanings)]),
    ], id="levels")
    for title, table in (("By type", report.by_type), ("By document", report.by_document)):
        parts: list[Sequence[str | Cell]] = []
        for name, (entities, pairs, _, triples) in breakdown(table):
            mark = drawn(entities if entities.total else pairs)
            parts.append((Cell(name, user=True), _amount(entities), _amount(pairs), _amount(triples), mark))
        yield Section(title, [
            Text(SMALL_GROUPS, style="hint", forms="page"),
            Table(("Name", "Entities", "Relations (pair)", "Relations (triple)", ""), parts, long=10),
        ] if parts else [], forms="long")
    hint = (
        "Of the gold relations whose ends were both found: how many are joined. Questions over several hops need those between communities "
        "and documents."
    )
    joined_ends = [f"{name}: {full(value)}" for name, value in bridging(report) if value.total]
    yield Section("Bridging relations", [Text(hint, style="hint", forms="long"), Items(joined_ends)] if joined_ends else [])
    frequent = sorted(report.by_predicate.items(), key=lambda pair: (-pair[1].total, pair[0]))
    of_predicates = [(Cell(name, user=True), _amount(value), drawn(value)) for name, value in frequent]
    yield Section("By predicate", [Table(("Predicate", "Relations (pair)", ""), of_predicates)] if of_predicates else [], forms="page")


def _amount(value: Proportion) -> Cell:
    between = interval(value.low, value.high)
    return Cell(share(value), of(value) + (f"; 95 %: {between}" if between else "")) if value.total else Cell("-")


def _facts(facts: FactRetention) -> Section:
    lost = [Cell(fact.fact, user=True) for fact in facts.facts if fact.value is False]
    tones: dict[str, Tone] = {"follows": "passed", "does not follow": "error", "unscored": "open"}
    opened: list[Block] = [
        Details(fact.fact, [
            *([Text(fact.reason)] if fact.reason else []),
            Items(fact.retrieved, title="Judged on:") if fact.retrieved else Text("Nothing was retrieved."),
        ], tone=tones[fact_state(fact)], badge=fact_state(fact), chips=[fact.document] if fact.document else [])
        for fact in facts_in_order(facts)[:MOST_ROWS]
    ]
    return Section("Facts", [
        Text(facts_line(facts)), Text(f"Judge: {facts.judge}; embeddings: {facts.embedding_model}.", forms="long"),
        Items(lost, title="Do not follow, for example:", long=10, forms="md"), *opened,
        *cut_at(MOST_ROWS, len(facts.facts)),
    ], id="facts")


def _lists(report: CompletenessReport) -> Iterator[Section]:
    for kind, noun in (("entity", "entities"), ("relation", "relations")):
        items = missing(report, kind)
        marks = [(item.type, item.document, "bridging" if item.bridging else "") for item in items]
        brief = [
            Cell(item.name, note=", ".join(visible(mark, longest=40) for mark in given if mark), user=True)
            for item, given in zip(items, marks, strict=True)
        ]
        rows = [
            (Cell(item.name, note="bridging" if item.bridging else "", user=True), item.type or "none", item.document or "", item.why or "")
            for item in items
        ]
        yield Section(f"Missing {noun} ({number(len(items))}, {against(report)})", [
            Text("Gold items that no level found. Bridging relations stand first.", style="hint", forms="page"),
            Items(brief, short=5, long=10, forms="brief"),
            Table(("Gold item", "Type", "Document", "Why"), rows, words=frozenset(range(4)), forms="page"),
        ] if items else [Text("None is missing at any level that was run.", forms="page")], id=f"missing-{noun}")
    for kind, noun in (("entity", "entities"), ("relation", "relations")):
        found = matched(report, kind)
        counts = Counter(item.level for item in found)
        levels = ", ".join(f"{level}: {number(counts[level])}" for level in LEVELS if counts[level])
        places = [(Cell(item.name, user=True), item.level or "", score(item), _stands(item), item.document or "") for item in found]
        yield Section(f"{noun.capitalize()} that were found ({number(len(found))})", [
            Table(("Gold item", "Level", "Score", "In the graph", "Document"), places, words=frozenset({0, 1, 3, 4})),
        ] if found else [], hint=f"{levels}. The least certain matches stand first: look at them.", id=f"found-{noun}", forms="page")


def _stands(item: GoldMatch) -> str:
    """What stands for a gold item in the graph, and how."""
    names = [visible(ref.name, longest=160) + (f" ({visible(ref.type, longest=40)})" if ref.type else "") for ref in item.found]
    way = {True: "same direction", False: "other direction", None: ""}[item.directed] if item.kind == "relation" else ""
    same = "same predicate" if item.kind == "relation" and item.predicate else ""
    told = ", ".join(part for part in (way, same, visible(item.why, longest=200) if item.why else "") if part)
    return first_of(names, 3) + (f"; {told}" if told else "")


def _gold_set(report: CompletenessReport) -> Section:
    gold = report.gold
    parts = [plural(gold.entities, "entity"), plural(gold.triples, "triple")]
    parts += [f"{plural(len(gold.documents), 'document')} named"] if gold.documents else []
    parts += [f"{plural(gold.duplicates, 'duplicate')} dropped"] if gold.duplicates else []
    parts += [f"{plural(len(gold.faults), 'faulty row')} passed over"] if gold.faults else []
    if not has_gold(report) and report.facts:
        return Section("", [])
    return Section("The gold set", [
        Text(f"{gold_label(report)}: {', '.join(parts)}."),
        Details(f"Documents ({number(len(gold.documents))})", [Items(gold.documents)]) if gold.documents else Text("", forms="page"),
    ], id="gold", forms="long")


def cells(coverage: Coverage) -> tuple[Proportion, ...]:
    """The four figures in the order of TITLES."""
    return tuple(getattr(coverage, name) for name in TITLES)


def gold_label(report: CompletenessReport) -> str:
    """What the gold set is, to be printed beside every figure: `gold`, or the model's name and that it is no checked truth."""
    return visible(report.gold.label, longest=120)


def has_gold(report: CompletenessReport) -> bool:
    """False where only facts were judged, or the gold set is empty: figures by level mean nothing then."""
    return bool(report.gold.entities or report.gold.triples)


def against(report: CompletenessReport) -> str:
    """`against gold`, or `against` the ideal graph's label: printed beside every figure."""
    return f"against {gold_label(report)}"


UNMATCHED = (
    "No document of the gold set could be matched with a document of the graph, so every item was looked for in the whole graph: the "
    "figures are too high, and no verdict is given. Load the graph with its documents (kgeval import --documents map.csv), or "
    "ask for the whole graph (--whole-graph)."
)


def verdict(report: CompletenessReport) -> str:
    """The outcome in one or two sentences, computed from the report alone. Names the gold set unless it is plain gold."""
    parts = [sentence(report, judgement) for judgement in report.verdicts]
    facts = report.facts
    if facts is not None:
        kept = "no fact could be judged" if facts.retention.total == 0 else f"{full(facts.retention)} follow from the graph"
        parts.append(f"Facts: {kept}.")
    if not parts:
        return "There was nothing to look for: the gold set is empty."
    if report.scope == "unmatched":
        parts.insert(0, UNMATCHED)
    return " ".join(parts) + ("" if report.gold.label == "gold" else f" Measured {against(report)}.")


def control_line(report: CompletenessReport) -> str:
    """The control, or why there is none."""
    control = report.control
    if control is None:
        return f"No control: {visible(report.control_missing or 'none was made', longest=300)}"
    return (
        f"Control ({visible(control.how, longest=200)}): entities {full(control.entity_coverage)}, "
        f"relations (pair) {full(control.relation_completeness)}. High figures here would mean that the matching is too generous."
    )


def breakdown(table: Mapping[str, Coverage]) -> list[tuple[str, tuple[Proportion, ...]]]:
    """Types or documents with their figures, the largest first, so that no share of three items leads the list."""
    rows = [(name, cells(coverage)) for name, coverage in table.items()]
    return sorted(rows, key=lambda row: (-max(row[1][0].total, row[1][1].total), row[0]))


def bridging(report: CompletenessReport) -> list[tuple[str, Proportion]]:
    """Shares of bridging relations whose ends were both found, with their names in words."""
    order = list(BRIDGING)
    names = sorted(report.bridging, key=lambda name: (order.index(name) if name in order else len(order), name))
    return [(BRIDGING.get(name, visible(name, longest=60)), report.bridging[name]) for name in names]


def settings_line(report: CompletenessReport) -> str:
    """The thresholds of the levels: `fuzzy 90, similarity 0.85`; "" where none are recorded."""
    parts = [f"{key.replace('_', ' ')} {value:g}" if isinstance(value, float) else f"{key.replace('_', ' ')} {value}"
             for key, value in report.settings.items() if value not in (None, "") and not isinstance(value, (list, dict, bool))]
    return visible(", ".join(parts), longest=300) if parts else ""


def pairs_line(report: CompletenessReport) -> str:
    """How many distinct pairs of gold ends the graph joins, at the verdict's level; "" where that is not known."""
    coverage = report.levels.get(report.verdict_level) if report.verdict_level else None
    pairs = coverage.relation_pairs if coverage else None
    return f"Distinct pairs of ends that are joined: {full(pairs)}." if pairs is not None and pairs.total else ""


def missing(report: CompletenessReport, kind: str) -> list[GoldMatch]:
    """What was not found: bridging relations first (they cost most), then by document and name."""
    items = [item for item in report.missing if item.kind == kind]
    return sorted(items, key=lambda item: (not item.bridging, item.document or "", item.type or "", item.name))


def matched(report: CompletenessReport, kind: str) -> list[GoldMatch]:
    """What was found, the least certain first: embedding, fuzzy, alias, normalised, exact; low scores first."""
    items = [item for item in report.matched if item.kind == kind]
    places: dict[str | None, int] = {level: place for place, level in enumerate(LEVELS)}
    return sorted(items, key=lambda item: (-places.get(item.level, -1), item.score or 0.0, item.name))


def score(item: GoldMatch) -> str:
    """The similarity: 0..100 at the fuzzy level, 0..1 at the embedding level."""
    return "" if item.score is None else f"{item.score:.1f}" if item.level == "fuzzy" else f"{item.score:.3f}"


def facts_line(facts: FactRetention) -> str:
    """Fact retention with what it is over, its bounds and causes."""
    failures = causes(facts.failures)
    out = f"{full(facts.retention)} of the judged facts follow from the graph; n {number(facts.n)}, {number(facts.n_scored)} scored"
    if facts.n_scored < facts.n:
        bounds = f"if all of them did not or did follow: {interval(facts.bound_low, facts.bound_high)}"
        out += f" (unscored: {failures or 'no cause given'}; {bounds})"
    return f"{out}. {plural(facts.k, 'nearest entity')}, {plural(facts.hops, 'hop')} around them."


def facts_in_order(facts: FactRetention) -> list[FactVerdict]:
    """Facts that do not follow first, then the unscored ones, then those that follow."""
    order = {False: 0, None: 1, True: 2}
    return sorted(facts.facts, key=lambda fact: order[fact.value])


def fact_state(fact: FactVerdict) -> str:
    """`follows`, `does not follow` or `unscored`."""
    return {True: "follows", False: "does not follow", None: "unscored"}[fact.value]


def ideal_lines(report: CompletenessReport) -> list[str]:
    """How the ideal graph was made and how far people trust it; empty for another gold set."""
    ideal = report.ideal
    if ideal is None:
        return []
    texts = f"{plural(ideal.documents, 'document')} in {plural(ideal.chunks, 'chunk')}"
    lines = [f"Made by {visible(ideal.extractor, longest=120)} from {texts}."]
    if ideal.failures:
        lines.append(f"Parts that failed and are not in the gold set: {causes(ideal.failures)}.")
    if ideal.precision:
        told = joined([f"{visible(kind, longest=40)} {full(value)}" for kind, value in ideal.precision.items()])
        lines.append(f"Held to be right by people, of {number(ideal.labelled)} labelled items: {told}.")
    else:
        sheet = f" A sheet of {plural(ideal.sampled, 'item')} was written for them." if ideal.sampled else ""
        lines.append(f"Not checked by people: a missing item may be the model's mistake.{sheet}")
    return [*lines, *(visible(note, longest=400) for note in ideal.notes)]

