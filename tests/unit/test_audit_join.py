"""Scores joined to an audit: which questions touch what was flagged, and how much worse they do."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.errors import InputError, UsageError
from kgeval.metrics.summary.audit_join import NameIndex, TouchedQuestions, flagged, read_audit, tokens
from kgeval.metrics.summary.build import SummaryOptions, build_report
from kgeval.records import (
    Answer,
    AuditReport,
    Example,
    Finding,
    GoldPath,
    GraphRef,
    Layout,
    MetricInfo,
    Passage,
    Question,
    Row,
    RunManifest,
    Score,
    ScoreReport,
    SystemInfo,
)

RUN = RunManifest(kgeval="0", command="kgeval audit", started="2026-01-01T00:00:00+00:00", seconds=1)


def entity(name: str, type_: str | None = None, **more: Any) -> GraphRef:
    return GraphRef.model_validate({"key": f"key of {name}", "name": name, "type": type_, "kind": "entity", **more})


def finding(rule: str, *refs: GraphRef, **more: Any) -> Finding:
    given_ = {"rule_id": rule, "group": "names", "status": "failed", "severity": "warning", "title": rule, "count": len(refs), **more}
    return Finding.model_validate({**given_, "examples": [Example(items=[ref]) for ref in refs]})


def audit(*findings: Finding, graph: str | None = None) -> AuditReport:
    return AuditReport(graph=graph, run=RUN, layout=Layout(name="kgeval"), findings=list(findings))


def question(**more: Any) -> Question:
    return Question.model_validate({"id": "q", "question": "?", **more})


def rules_of(report: AuditReport, asked: Question) -> list[str]:
    """The rules that the question touches something of."""
    touched = TouchedQuestions(flagged(report))
    touched.add(0, asked)
    return [rule for number, rule in enumerate(touched.flagged.rules) if touched.bits.get(0, 0) >> number & 1]


HARBOUR = audit(
    finding("duplicate-name", entity("Ada Marsh", "Person", element_id="4:1"), entity("The Lantern", "Ship")),
    finding("self-loop", GraphRef(element_id="5:7", key="Ada -[KNOWS]-> Ada", name="Ada -[KNOWS]-> Ada", kind="relation")),
    finding("saturated-source-list", GraphRef(key="chunk-3", name="chunk-3", kind="chunk")),
    finding("pronoun-entity", entity("she", "Person")),
    finding("isolated-entity", entity("Tom", "Person"), status="passed"),
)


@pytest.mark.parametrize(("asked", "rules"), [
    (question(path=GoldPath(nodes=[entity("another name", element_id="4:1")])), ["duplicate-name"]),
    (question(path=GoldPath(nodes=[entity("x", key="key of Ada Marsh")])), ["duplicate-name"]),
    (question(structure=[entity("ADA  marsh", "person", key="1")]), ["duplicate-name"]),
    (question(structure=[entity("Ada Marsh", key="1")]), ["duplicate-name"]),
    (question(structure=[entity("Ada Marsh", "Harbour", key="1")]), []),
    (question(structure=[GraphRef(key="Ada Marsh", name="Ada Marsh", kind="type")]), ["duplicate-name"]),
    (question(path=GoldPath(relations=[GraphRef(key="r", name="ada -[knows]-> ada", kind="relation")])), ["self-loop"]),
    (question(evidence=[Passage(text="", chunk_id="chunk-3")]), ["saturated-source-list"]),
    (question(evidence_ids=[["c1", "chunk-3"]]), ["saturated-source-list"]),
    (question(evidence=[Passage(text="That night ada MARSH's ship, “the lantern”, sank.")]), ["duplicate-name"]),
    (question(path=GoldPath(text=["Ada Marsh commands the Lantern"])), ["duplicate-name"]),
    (question(evidence=[Passage(text="Ada Marshall met Tom; she left.")]), []),
    (question(path=GoldPath(nodes=[entity("She", "Person")])), ["pronoun-entity"]),
    (question(document="Ada Marsh", evidence_ids=[["ADA marsh"]]), []),
    (question(), []),
])
def test_a_question_touches_what_its_path_structure_evidence_or_texts_name(asked: Question, rules: list[str]) -> None:
    assert rules_of(HARBOUR, asked) == rules


@pytest.mark.parametrize("name", ["She", "the company", "unknown", "1850", "12 %", "il"])
def test_a_name_that_says_nothing_is_not_looked_for_in_texts_though_the_report_does_not_list_it_as_one(name: str) -> None:
    report = audit(finding("super-node", entity(name), entity("Ada Marsh")))
    assert rules_of(report, question(evidence=[Passage(text=f"In that year {name} went away.")])) == []
    assert rules_of(report, question(evidence=[Passage(text="Ada Marsh went away.")])) == ["super-node"]
    assert rules_of(report, question(path=GoldPath(nodes=[entity(name)]))) == ["super-node"], "by path it is the same thing"


def test_names_are_found_in_languages_without_spaces_and_with_signs_between_letters() -> None:
    names = NameIndex([("東京", 1), ("हिन्दी भाषा", 2), ("O'Neil & Sons", 4), ("เชียงใหม่", 8)])
    assert names.in_text("彼は東京都に住んでいる") == 1
    assert names.in_text("वह हिन्दी भाषा बोलता है") == 2
    assert names.in_text("a letter to O’NEIL and O'Neil, Sons.") == 4
    assert names.in_text("ไปเชียงใหม่") == 8
    assert names.in_text("हन्दा भाष, 京東") == 0


@settings(max_examples=80, deadline=None)
@given(st.lists(st.text("ab é京", min_size=1, max_size=5), max_size=6), st.text("ab é京-", max_size=30))
def test_mentions_are_those_that_a_plain_search_finds(names: list[str], text: str) -> None:
    known = NameIndex((name, 1 << at) for at, name in enumerate(names))
    words = tokens(text)
    found = 0
    for at, name in enumerate(names):
        own = tokens(name)
        own = own[1:] if len(own) > 1 and own[0] == "a" and name.strip().startswith("a ") else own  # a leading article
        hit = any(words[start : start + len(own)] == own for start in range(len(words)))
        found |= bool(own and hit) << at
    assert known.in_text(text) == found


@pytest.mark.slow
def test_a_hundred_thousand_texts_against_ten_thousand_names_take_no_longer_a_text_than_against_ten() -> None:
    many, few = (NameIndex((f"name{n} of thing{n % 7}", 1) for n in range(count)) for count in (10_000, 10))
    text = " ".join(f"name{n} word of thing" for n in range(500))

    def seconds(names: NameIndex) -> float:
        started = time.process_time()
        for _ in range(20):
            names.in_text(text)
        return time.process_time() - started

    assert min(seconds(many) for _ in range(3)) < 5 * min(seconds(few) for _ in range(3))


def test_a_finding_that_lists_only_examples_is_named() -> None:
    notes = flagged(audit(finding("duplicate-name", entity("a"), count=2_000), finding("self-loop", entity("b")))).notes
    assert notes == ("duplicate-name: 1 of 2,000 listed; run kgeval audit --examples 0 to join them all",)


def test_severity_limits_what_is_joined() -> None:
    found = audit(finding("duplicate-name", entity("a"), severity="info"), finding("self-loop", entity("b"), severity="error"))
    assert flagged(found, least="warning").rules == ("self-loop",)


def joined(report: AuditReport, values: list[tuple[Question, float | None]]) -> ScoreReport:
    rows = [Row(n=n, where="f", question=q, answer=Answer(question_id=q.id, system="S", answer="x")) for n, (q, _) in enumerate(values)]
    scores = [
        Score(question_id=q.id, system="S", metric="token_f1", value=v, status="scored" if v is not None else "unscored",
              reason=None if v is not None else "timeout: 60 s", signature="t@1:0") for q, v in values
    ]
    return build_report(
        lambda: iter(scores), lambda: iter(rows),
        infos=[MetricInfo(metric="token_f1", summary="", definition="", source="", signature="t@1:0")],
        systems=[SystemInfo(system="S", answers=len(rows))], run=RUN, options=SummaryOptions(audit=report),
    )


def named(n: int, text: str) -> Question:
    return question(id=f"q{n}", evidence=[Passage(text=text)] if text else [])


def test_touched_questions_are_compared_with_the_others_and_those_without_anything_to_look_at_are_on_neither_side() -> None:
    values: list[tuple[Question, float | None]] = [(named(n, "Ada Marsh sailed."), 0.2 + 0.1 * (n % 2)) for n in range(6)]
    values += [(named(10 + n, "Nobody sailed."), 0.8 + 0.1 * (n % 2)) for n in range(6)]
    values += [(named(20, ""), 0.0), (named(21, "Ada Marsh again."), None)]
    found = joined(HARBOUR, values)
    assert [one.rule for one in found.joined] == [None, "duplicate-name"]
    for one in found.joined:
        assert (one.touched.n, one.touched.n_scored, one.touched.failures, one.untouched.n) == (7, 6, {"timeout": 1}, 6)
        assert one.difference == pytest.approx(-0.6)
        assert one.low is not None and one.high is not None and -0.75 < one.low < -0.6 < one.high < -0.45
    note = (
        "audit: of 14 questions 7 touch something flagged (0 by path or structure, 0 by chunk or document, 7 only by a name in their "
        "texts); 1 have nothing to look at and are left out"
    )
    assert note in found.notes


def test_a_rule_with_fewer_than_five_questions_on_a_side_has_no_line_of_its_own() -> None:
    values: list[tuple[Question, float | None]] = [(named(n, "Ada Marsh."), 0.2) for n in range(4)]
    values += [(named(10 + n, "Nobody."), 0.8) for n in range(8)]
    assert [one.rule for one in joined(HARBOUR, values).joined] == [None]
    assert joined(HARBOUR, values[4:]).joined == [], "nothing is touched: there is nothing to compare"


def test_an_audit_report_is_read_alone_or_by_the_name_of_its_graph(tmp_path: Path) -> None:
    one, two = audit(graph="harbour"), audit(graph="novel")
    single, several = tmp_path / "one.json", tmp_path / "two.json"
    single.write_text(one.model_dump_json(), encoding="utf-8")
    several.write_text(json.dumps({"reports": [one.model_dump(), two.model_dump()]}), encoding="utf-8")
    assert read_audit(single) == one
    assert read_audit(several, "novel") == two
    with pytest.raises(UsageError, match="has these graphs: harbour, novel"):
        read_audit(several)
    with pytest.raises(UsageError, match="these graphs: harbour"):
        read_audit(single, "novel")


def test_a_file_that_is_no_audit_report_is_refused_with_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "no.json"
    file.write_text('{"schema_version": "1", "findings": "none"}', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_audit(file)
    assert any(fault.startswith("findings:") for fault in caught.value.faults)
    file.write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(InputError):
        read_audit(file)


def test_the_report_that_an_audit_writes_is_read_and_joined() -> None:
    found = flagged(read_audit(Path(__file__).parents[1] / "graphs" / "example-report.json"))
    assert found.rules and found.ids and len(found.texts)
    assert any(note.endswith("run kgeval audit --examples 0 to join them all") for note in found.notes)


def test_a_difference_of_questions_that_come_in_documents_is_over_documents() -> None:
    import numpy as np

    from kgeval.metrics.summary.audit_join import _difference_interval

    rng = np.random.default_rng(4)
    codes = np.repeat(np.arange(1, 13), 10)
    values = np.clip(0.5 + (rng.normal(size=12) * 0.2)[codes - 1] + rng.normal(size=120) * 0.1, 0, 1)
    touched = codes <= 6
    sides = [(values[mask], codes[mask], np.ones(int(mask.sum()), dtype=bool)) for mask in (touched, ~touched)]
    over_documents = _difference_interval(sides, 0)
    over_questions = _difference_interval([(own, None, there) for own, _, there in sides], 0)
    assert over_documents is not None and over_questions is not None
    assert over_documents.high - over_documents.low > 2 * (over_questions.high - over_questions.low)
    assert over_documents.low <= values[touched].mean() - values[~touched].mean() <= over_documents.high
