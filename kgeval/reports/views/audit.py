"""The audit of one graph: the verdict, what to fix first and what it costs, figures, then every finding with its examples and Cypher.

The page is in the order in which people read it: who decides needs the first screen, who repairs the graph the findings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count

from kgeval.auditing.possible_duplicates import possible_duplicates
from kgeval.format import first_lines, first_of, number, percent, plural, visible
from kgeval.overview import priorities
from kgeval.overview import structure as figures
from kgeval.overview.findings import amount, taken_out
from kgeval.profiling.view import audit_section
from kgeval.records import GROUPS, HALF_LOADED, SEVERITIES, AuditReport, Finding, GraphRef, Group, Severity
from kgeval.reports import pictures, reading
from kgeval.reports.document import Block, Card, Cards, Cell, Code, Details, Document, Figure, Items, Raw, Section, Table, Text, Tone
from kgeval.reports.listing import Listing, drawn, dry_run, graph_flag, hits, layout_lines, listing, repair, repair_line
from kgeval.reports.plots import histogram
from kgeval.reports.usage import construction_line
from kgeval.reports.views import audit_diff
from kgeval.reports.views.parts import foot, gates_section, server_of, tone_of

DETAILED = 3  # findings to fix first with their advice on a terminal: the summary fits a screen
MOST_EXAMPLES = 100  # of a finding, on the page
MOST_THINGS = 6  # of one row
LAYOUT = "layout-line"  # the id of the parameter that the statements share
NO_GRADE = (
    "There is no overall grade: a graph can be sound in one group and broken in another. A check that was skipped or did not finish is "
    "never counted as passed."
)
SUREST_FIRST = (
    "Of what the checks of duplicates list. Sure: one name and one type; likely: names that mostly say one thing, or records with the same "
    "values; possible: look at both."
)
STATES = {"failed": 0, "error": 1, "incomplete": 1, "passed": 2}  # of the findings that are listed, in this order


def document(report: AuditReport) -> Document:
    """The short form fits a screen; Markdown has every failed check; the page every check, with examples and Cypher."""
    anchors, lines = _anchors(report.findings), layout_lines(report)
    sections = [
        Section("What to fix first", list(_first(report, anchors)), id="fix"),
        *([audit_diff.section(report.diff)] if report.diff else []),
        gates_section(report.gates), Section("Waivers", list(_waivers(report)), id="waivers", forms="long"),
        Section("Key figures", [_cards(report, figures.KEY)], id="figures"),
        Section("Checks by group", list(_groups(report)), id="groups"),
        *([audit_section(report.profile)] if report.profile else []),
        Section("Shape", list(_shape(report)), id="shape", wide=True, forms="page"),
        Section("Communities", list(_communities(report)), id="communities", forms="page"),
        Section("Types", list(_types(report)), id="types", wide=True, forms="page"),
        Section("Properties", list(_properties(report)), id="properties", forms="page"),
        *_one_thing(report),
        Section("Findings", [_table(report), *_findings(report, anchors)], id="findings", forms="long"),
        *_passed_with_hits(report), Section("Repairs", list(_repairs(report)), id="repairs", forms="md"),
        *_unanswered(report),
        Section("All figures", [_all_figures(report)], id="structure", forms="page"),
        *([Section("", [Code(lines, "Parameters that statements share", id=LAYOUT)], id="layout", forms="page")] if lines else []),
    ]
    place = f"layout {visible(report.layout.name, longest=40)}"
    void = [f"Caution: {note}." for note in report.notes if note.startswith(HALF_LOADED)]
    return Document(
        "Graph audit", "audit", sections, name=report.graph or "", about=place if report.graph else f"whole database, {place}",
        server=server_of(report), lead=[*void, *priorities.outcome(report), *_gate_lines(report), *reading.lines(report)],
        tone=next((f.severity for f in priorities.failed(report) if f.severity == "error"), ""), tally=list(_tally(report)),
        notes=[note for note in report.notes if not note.startswith(HALF_LOADED)],
        foot=[construction_line(report.construction)] if report.construction else [],
        more="All findings with examples and Cypher: add -o report.html", end=foot(report.run, report.layout.name),
    )


def _anchors(findings: Sequence[Finding]) -> dict[int, str]:
    """Where each finding stands on the page, by its identity: joined reports may bring several findings of one rule."""
    anchors: dict[int, str] = {}
    for finding in findings:
        name = "finding-" + re.sub(r"[^\w-]", "_", finding.rule_id)
        names = chain([name], (f"{name}-{at}" for at in count(2)))
        anchors[id(finding)] = next(anchor for anchor in names if anchor not in anchors.values())
    return anchors


def _tally(report: AuditReport) -> Iterator[tuple[Tone, str]]:
    bad = priorities.failed(report)
    for severity in SEVERITIES:
        if n := sum(f.severity == severity for f in bad):
            yield severity, _severities(severity, n)
    counts: tuple[tuple[Tone, int, str], ...] = (
        ("passed", sum(f.status == "passed" for f in report.findings), "passed"),
        ("open", len(priorities.unfinished(report)), "unfinished"), ("skipped", len(priorities.skipped(report)), "skipped"),
    )
    yield from ((tone, f"{number(n)} {word}") for tone, n, word in counts if n)


def _severities(severity: Severity, n: int) -> str:
    return f"{number(n)} info" if severity == "info" else plural(n, severity)


def _first(report: AuditReport, anchors: Mapping[int, str]) -> Iterator[Block]:
    bad, first = priorities.failed(report), priorities.fix_first(report)
    if not bad:
        yield Text("No check failed.", forms="page")
        return
    for at, finding in enumerate(first, start=1):
        line = f"{at}. {finding.severity}: {finding.title}: {_cost(finding, report)}"
        yield Items([Cell(line, tone=finding.severity)], longest=500, forms="short")
        if at <= DETAILED:
            repair = repair_line(finding.repair, graph_flag(report)) if finding.repair else ""
            hints = [_surest(finding), finding.advice, repair]
            yield from (Text(line, style="hint", forms="short") for line in hints if line)
        yield Details(
            f"{at}. {finding.title}", [
                Text(_cost(finding, report)),
                *([Text(named)] if (named := _surest(finding)) else []),
                Text(f"What to do: {finding.advice}" if finding.advice else "", link=("Examples and Cypher", f"#{anchors[id(finding)]}")),
            ], open=True, tone=finding.severity, badge=finding.severity,
        )
    yield Items([_in_one_line(finding, report) for finding in first], ordered=True, longest=900, forms="md")
    if rest := bad[len(first) :]:
        yield Text("then: " + first_of([f"{f.rule_id} ({number(f.count or 0)})" for f in rest], 4), style="hint", forms="short")
    if len(bad) > 1:
        yield Text(priorities.order(report), style="hint")


def _in_one_line(finding: Finding, report: AuditReport) -> str:
    named = _surest(finding)
    example = f" {named[:1].upper()}{named[1:]}." if named else ""
    return f"{finding.title} ({finding.severity}): {_cost(finding, report)}{example} {finding.advice}"


def _surest(finding: Finding) -> str:
    """`first of all: Wanda Wroath, Wenda Wroath (near spelling; 1 shared neighbour)`: the example that stands first, by name; "" where
    none is listed."""
    if not finding.examples or not any(item.name for item in finding.examples[0].items):
        return ""
    surest = finding.examples[0]
    names = first_of([visible(item.name, longest=60) for item in surest.items if item.name], 3)
    why = f" ({visible(surest.why, longest=100)})" if surest.why else ""
    return f"first of all: {names}{why}"


def _cost(finding: Finding, report: AuditReport) -> str:
    """`96 of 1,284 entities (7.5 %) cannot be reached by following relations: ...`, and why it may be nothing."""
    cost, why = priorities.cost(finding), priorities.artefact(finding, report)
    hits = _amount(finding, priorities.touches(finding, report))
    return f"{hits}{' ' if cost else ''}{cost}." + (f" But {why}." if why else "")


def _amount(finding: Finding, touches: str = "") -> str:
    """`58 of 1,284 entities (4.5 %, 0.4 % of all entities; 3 waived)`."""
    share = "" if finding.share is None else percent(finding.share)
    if touches.startswith(f", {share} of"):
        share = ""  # nearly all there are have been looked at: the one share says it
    about = "; ".join(filter(None, [f"{share}{touches}".lstrip(", "), ", ".join(taken_out(finding))]))
    return amount(finding, share=False) + (f" ({about})" if about else "")


def _gate_lines(report: AuditReport) -> Iterator[str]:
    """Gates, waived and known hits, waivers to look at: what the outcome must not be read without."""
    if report.gates:
        missed, silent = (sum(gate.met is state for gate in report.gates) for state in (False, None))
        yield f"{plural(len(report.gates), 'gate')}: {missed} missed, {silent} without an answer"
    if waived := sum(f.suppressed for f in report.findings):
        yield f"waived: {plural(waived, 'hit')} by {plural(sum(waiver.hits > 0 for waiver in report.waivers), 'waiver')}"
    if known := sum(f.known for f in report.findings):
        yield f"known from the ratchet file: {plural(known, 'hit')}"
    expired, stale = sum(waiver.expired for waiver in report.waivers), sum(waiver.stale for waiver in report.waivers)
    if expired or stale:
        yield f"waivers to look at: {expired} ended, {stale} without a match"


def _waivers(report: AuditReport) -> Iterator[Block]:
    waivers = []
    for waiver in report.waivers:
        hits_of = plural(waiver.hits, "hit") + (f", until {waiver.until}" if waiver.until else "")
        state = f"ended on {waiver.until}: its hits count" if waiver.expired else "matches nothing" if waiver.stale else hits_of
        match = "every hit" if waiver.match is None else Cell(waiver.match, user=True)
        waivers.append((Cell(waiver.rule, user=True), match, waiver.reason, state))
    if waivers:
        yield Table(("Check", "Match", "Reason", "Hits"), waivers, words=frozenset(range(4)), long=20)


def _cards(report: AuditReport, ids: tuple[str, ...]) -> Cards:
    return Cards([
        Card(one.figure.title, one.value or "", one.figure.what if one.value else one.reason) for one in figures.values(report, ids)
    ])


def _groups(report: AuditReport) -> Iterator[Block]:
    """A terminal shows those with a failed check."""
    head, words = ("Group", "Failed", "Passed", "Skipped"), frozenset({0, 1})
    rows: list[Sequence[str | Cell]] = []
    failing: list[Sequence[str | Cell]] = []
    for group, findings in _by_group(report).items():
        states = Counter(f.status for f in findings)
        severities = Counter(f.severity for f in findings if f.status == "failed")
        bad = [Cell(_severities(severity, severities[severity]), tone=severity) for severity in SEVERITIES if severities[severity]]
        unfinished = states["incomplete"] + states["error"]
        row = (
            Cell(group.capitalize(), link=f"#group-{group}" if len(findings) > states["skipped"] else "#skipped"),
            Cell("", more=bad) if bad else "-", number(states["passed"]) if states["passed"] else "-",
            Cell(number(states["skipped"]) if states["skipped"] else "-", note=f"{number(unfinished)} unfinished" if unfinished else ""),
        )
        rows.append(row)
        if bad:
            failing.append(row)
    if failing:
        yield Table(head, failing, words=words, short=len(failing), forms="short")
    if rows:
        yield Text(NO_GRADE, style="hint", forms="long")
        yield Table(head, rows, words=words, forms="long")


def _by_group(report: AuditReport) -> dict[Group, list[Finding]]:
    """The findings of each group that has any, in the order of GROUPS."""
    groups = {group: [f for f in report.findings if f.group == group] for group in GROUPS}
    return {group: findings for group, findings in groups.items() if findings}


def _shape(report: AuditReport) -> Iterator[Block]:
    yield _histogram(
        report, "degree_histogram", "Degrees", "How many entities have how many relations. A long tail to the right is normal; single "
        "points far out are hubs to look at.", axes=("relations of an entity (degree)", "entities"), words=("degree", "entity"),
    )
    yield _histogram(
        report, "component_size_histogram", "Components", "How many connected parts there are of each size. One large part and few small "
        "ones is what retrieval needs.", axes=("entities in a component", "components"), words=("entities in it", "component"),
    )


def _histogram(report: AuditReport, id_: str, title: str, hint: str, *, axes: tuple[str, str], words: tuple[str, str]) -> Block:
    """`axes`: what stands at them; `words`: what a value is, and what has it."""
    points = sorted((int(value), n) for value, n in figures.counts(report, id_) if value.isdigit())
    if not points:
        return _not_measured(report, id_, title)
    if points[0][0] == 0 and points[-1][0] > 20:
        hint += f" {number(points[0][1])} with {words[0]} 0 are not drawn: a logarithmic axis has no zero."
    drawing = histogram(points, x=axes[0], y=axes[1], name=id_.split("_", 1)[0])
    if not drawing:
        hint += f" All alike: {plural(points[0][1], words[1])}, {words[0]}: {number(points[0][0])}."
    return Figure(drawing or "", title, hint, data=Table((words[0], axes[1]), [(number(value), number(n)) for value, n in points]))


def _not_measured(report: AuditReport, id_: str, title: str) -> Text:
    return Text(f"{title}: not measured: {figures.why_skipped(report, id_) or 'the report holds no such figures'}")


def _communities(report: AuditReport) -> Iterator[Block]:
    if algorithm := report.structure.get("community_algorithm"):
        yield Text(f"Communities were found with {algorithm}.", style="hint")
    if figures.values(report, figures.COMMUNITY):
        yield _cards(report, figures.COMMUNITY)
    if community_map := pictures.community_map(report):
        yield community_map


def _types(report: AuditReport) -> Iterator[Block]:
    for id_, title in (("entities_by_type", "Entities by type"), ("relations_by_type", "Relations by type")):
        counts = figures.counts(report, id_)
        total, largest = sum(n for _, n in counts) or 1, max((n for _, n in counts), default=0) or 1
        rows = [(Cell(name, user=True), Cell(number(n), note=percent(n / total)), Cell("", bar=n / largest)) for name, n in counts]
        yield Table(("Name", "Count", ""), rows, title=title) if rows else _not_measured(report, id_, title)


def _properties(report: AuditReport) -> Iterator[Block]:
    """In how many of its bearers each property is filled, and the value types seen."""
    fills, kinds = report.structure.get("property_fill"), report.structure.get("property_types")
    kinds = kinds if isinstance(kinds, dict) else {}
    pairs = sorted(fills.items()) if isinstance(fills, dict) else []
    rows = [
        (Cell(name, user=True), percent(share), _kinds(kinds.get(name)), Cell("", bar=float(share)))
        for name, share in pairs if isinstance(share, (int, float))
    ]
    if rows:
        yield Details(f"How often each property is filled ({number(len(rows))})", [
            Table(("Property", "Filled", "Value types", ""), rows, words=frozenset({0, 2})),
        ])
    elif reason := figures.why_skipped(report, "property_fill"):
        yield Text(f"Not measured: {reason}")


def _kinds(found: object) -> str:
    """`STRING` or, where types mix, `STRING (98), INTEGER (2)`."""
    if not isinstance(found, dict):
        return ""
    pairs = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    return pairs[0][0] if len(pairs) == 1 else ", ".join(f"{kind} ({n:,})" for kind, n in pairs)


def _table(report: AuditReport) -> Table:
    """The failed checks in Markdown, with the first examples. 30 of them leave room for the rest of a comment."""
    rows = []
    for f in priorities.failed(report):
        examples = [
            Cell("", more=[Cell(visible(item.name, longest=60), user=True) for item in example.items[:4]], note=example.why or "")
            for example in f.examples[:3]
        ]
        rows.append((f.severity, Cell(f.title, more=[Cell(f.rule_id, user=True)]), _amount(f), Cell("", more=examples)))
    return Table(("Severity", "Check", "Found", "Examples"), rows, words=frozenset(range(4)), long=30, forms="md")


def _one_thing(report: AuditReport) -> Iterator[Section]:
    """What several checks took for one thing, as one list."""
    rows = [
        (
            Cell(found.certainty, tone="warning" if found.certainty == "sure" else ""),
            Cell("", more=[Cell(name, user=True) for name in first_lines([item.name for item in found.items], MOST_THINGS)]),
            Cell(", ".join(dict.fromkeys(item.type or "" for item in found.items)), user=True),
            "; ".join(visible(why, longest=200) for why in found.why), ", ".join(found.checks),
        )
        for found in possible_duplicates(report.findings)
    ]
    if rows:
        table = Table(("Certainty", "Things", "Type", "Why", "Found by"), rows, words=frozenset(range(5)), long=100)
        yield Section("What may be one thing", [Text(SUREST_FIRST, style="hint"), table], id="one-thing", forms="page")


def _findings(report: AuditReport, anchors: Mapping[int, str]) -> Iterator[Block]:
    """Each group with its answered and unfinished findings, failed ones first."""
    order = {id(f): at for at, f in enumerate(priorities.failed(report))}
    drawings = pictures.figures_of(report)
    if any(f.status in STATES for f in report.findings):
        yield Raw("filters.html.j2", {}, forms="page")
    for group, findings in _by_group(report).items():
        members = [f for f in findings if f.status in STATES]
        members.sort(key=lambda f: (STATES[f.status], order.get(id(f), 0), f.rule_id))
        if members:
            listed = [_finding(report, finding, anchors[id(finding)], drawings) for finding in members]
            yield Details(group.capitalize(), listed, open=True, id=f"group-{group}")


def _finding(report: AuditReport, finding: Finding, anchor: str, drawings: Mapping[str, Figure]) -> Details:
    drawing = drawings.get(finding.rule_id) if finding.picture else None  # of several findings of one rule one has it
    answered = finding.status in ("passed", "failed")
    tone = tone_of(finding)
    badge = tone if answered else "timed out" if finding.status == "incomplete" else "did not run"
    return Details(
        finding.title, list(_body(report, finding, drawing)), open=tone == "error", tone=tone, badge=badge,
        amount=_amount(finding) if answered else "no answer", id=anchor,
    )


def _body(report: AuditReport, finding: Finding, drawing: Figure | None) -> Iterator[Block]:
    """What it means, where it shows, and the statements."""
    if finding.status == "failed":
        yield Text(_cost(finding, report))
    elif finding.status != "passed":
        what = "Timed out" if finding.status == "incomplete" else "The query failed"
        yield Text(f"{what}: {finding.reason or 'no reason given'}. This is not a pass.")
    if finding.status in ("passed", "failed") and finding.reason:
        yield Text(f"{'Note' if finding.group in ('accuracy', 'completeness') else 'Left out'}: {finding.reason}.")
    if finding.advice and finding.status != "passed":
        yield Text(f"What to do: {finding.advice}")
    about = [
        finding.rule_id, f"severity {finding.severity}" if finding.status == "passed" else "",
        f"passes if {finding.threshold}" if finding.threshold else "", *(f"{key} = {value}" for key, value in finding.settings.items()),
        "" if finding.seconds is None else f"{finding.seconds:.2f} s",
    ]
    yield Text(" · ".join(filter(None, about)), style="hint")
    if drawing is not None:
        yield drawing
        if statement := drawn(report, finding):
            yield _statement(statement, "Cypher that draws this in Neo4j Browser", "It returns nodes and relations, by their element ids.")
    shown = finding.examples[:MOST_EXAMPLES]
    part = f" ({number(len(shown))} of {number(finding.count)})" if finding.count and len(finding.examples) < finding.count else ""
    rows = []
    for one in shown:
        taken = [Cell("waived", note=one.waived)] if one.waived is not None else [Cell("known")] if one.known else []
        rows.append((Cell("", more=[_thing(item) for item in one.items]), Cell(one.why or "", more=taken)))
    yield Table(("Where", "Why"), rows, title=f"Examples{part}", words=frozenset({0, 1}))
    yield from _statements(report, finding)


def _thing(item: GraphRef) -> Cell:
    about = [item.kind if item.kind != "entity" else "", item.type or "", item.element_id or ""]
    return Cell(item.name, user=True, note=", ".join(visible(part, longest=80) for part in about if part))


def _statements(report: AuditReport, finding: Finding) -> Iterator[Block]:
    """What shows the hits, what the check asks, and what can be done; a check that found nothing has nothing to list."""
    if finding.status == "passed" and not finding.count:
        return
    command = f"kgeval audit{graph_flag(report)} --check {visible(finding.rule_id, longest=80)} --examples 0 -o hits.csv"
    by_ids, query, fix = hits(report, finding), listing(report, finding), finding.repair
    if by_ids:
        yield _statement(by_ids, "Cypher that shows these in Neo4j Browser", "It returns nodes and relations, by their element ids.")
    if query and finding.query_lists == "rows":
        if finding.count:
            yield Text(f"All hits: {command}", style="hint")
        yield _statement(query, "Cypher of the rows that the check reads", "A step in Python finds the hits in these rows.")
    elif query:
        yield _statement(query, "Cypher to list them all" if finding.status == "failed" else "Cypher to list them")
    if fix and (statement := repair(report, finding)):
        how = "safe to run as it stands" if fix.safe else "unsafe: look at each first"
        about = " ".join(filter(None, [f"{fix.reason}." if fix.reason else "", fix.note]))
        if counted := dry_run(report, finding):
            yield _statement(counted, "Cypher that counts what the repair would do (reads only)", chosen=True)
        yield _statement(statement, "Cypher to look closer" if fix.reads else f"Cypher to repair them ({how})", about, chosen=True)
    elif fix and fix.reason:
        yield Text(fix.reason, style="hint")


def _statement(given: Listing, title: str, hint: str = "", *, chosen: bool = False) -> Code:
    """`chosen`: what it lacks is the reader's to choose; else kgeval makes it while it runs."""
    how = "${} is yours to choose{}: set it by hand." if chosen else "kgeval makes ${} while it runs{}: set it by hand."
    lacking = [how.format(name, f" ({doc})" if doc else "") for name, doc in given.missing]
    return Code(given.text(), title, hint=" ".join(filter(None, [hint, *lacking])), needs=LAYOUT if given.shares_layout else "")


def _repairs(report: AuditReport) -> Iterator[Block]:
    rows = [(Cell(f.rule_id, user=True), repair_line(f.repair, graph_flag(report))) for f in priorities.failed(report) if f.repair]
    if rows:
        yield Text("HTML and JSON reports have the Cypher with the names of this graph and the ids of the hits. kgeval never runs it.")
        yield Table(("Check", "Repair"), rows, words=frozenset({0, 1}), long=20)


def _passed_with_hits(report: AuditReport) -> Iterator[Section]:
    """The checks that found something and passed, for it is within their limits: a green check hides it."""
    found = [f for f in report.findings if f.status == "passed" and (f.count or 0) > f.suppressed]
    if not found:
        return
    found.sort(key=lambda f: (-(f.share or 0.0), f.rule_id))
    rows = [
        (Cell(f.title, more=[Cell(f.rule_id, user=True)]), _amount(f), Cell("", more=[
            Cell(visible(item.name, longest=60), user=True) for example in f.examples[:3] for item in example.items[:1]
        ]))
        for f in found
    ]
    yield Section("Passed with hits", [
        Text("These checks found something within their limits. What they found is listed all the same."),
        Table(("Check", "Found", "First of all"), rows, words=frozenset({0, 1, 2})),
    ], id="within-limits", forms="long")
    named = "; ".join(f"{f.title} ({_amount(f)})" for f in found[:3])
    more = f"; {plural(len(found) - 3, 'more check')}" if len(found) > 3 else ""
    yield Section("", [Text(f"Passed with hits, within their limits: {named}{more}")], forms="short")


def _unanswered(report: AuditReport) -> Iterator[Section]:
    """The checks without an answer, by the reason; on the page those that did not finish stand with the findings."""
    short = []
    for title, word, findings in (
        ("Skipped", "skipped", priorities.skipped(report)), ("Did not finish", "did not finish", priorities.unfinished(report)),
    ):
        grouped = priorities.reasons(findings)
        rows = [(reason, Cell("", more=[Cell(f.title, more=[Cell(f.rule_id, user=True)]) for f in of])) for reason, of in grouped]
        if word == "skipped":
            rows += [(skip.reason, Cell("", more=[Cell(id_, user=True) for id_ in skip.ids])) for skip in report.structure_skipped]
        why = [f"{reason} ({len(of)})" for reason, of in grouped]
        more = f"; {plural(len(why) - 3, 'more reason')}" if len(why) > 3 else ""
        checks = f"{plural(len(findings), 'check')} {word}"
        short += [Text(f"{checks}: {'; '.join(why[:3])}{more}")] if why else []
        yield Section(title, [
            Text(f"{checks}, never counted as passed." if findings else "No check was skipped. These figures were not measured:"),
            Table(("Why", "Checks and figures"), rows, words=frozenset({0, 1})),
        ] if rows else [], id=word.replace(" ", "-"), forms="long" if word == "skipped" else "md")
    yield Section("", short, forms="short")


def _all_figures(report: AuditReport) -> Table:
    rows = [
        (Cell(one.figure.title, note=one.figure.id), one.value or "-",
         ("" if one.value else f"Not measured: {one.reason}. ") + one.figure.what)
        for one in figures.values(report)
    ]
    return Table(("Figure", "Value", "What it says"), rows, words=frozenset({0, 2}))
