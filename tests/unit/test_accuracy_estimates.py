"""From verdicts and labels to the report: who said what, what is missing, and what is said about it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgeval.auditing.accuracy.duplicates import ListedPair, ListedPairs, around, scripts
from kgeval.auditing.accuracy.estimates import LabelEvidence, main_estimates, share_names, split
from kgeval.auditing.accuracy.gold_pairs import GoldPair, GoldPairCounts, against_gold, read_pairs
from kgeval.auditing.accuracy.judge import ItemJudgement, TripleVerdicts, batches, verdicts
from kgeval.auditing.accuracy.report import Results, accuracy_report, best
from kgeval.auditing.accuracy.sample import Sample, SampleItem
from kgeval.auditing.accuracy.sheet import HumanLabels
from kgeval.errors import InputError
from kgeval.llm.calls import Failure, Outcome
from kgeval.llm.prompts import load_prompt
from kgeval.manifest import Started
from kgeval.records import Estimate, GraphRef, HumanLabel, Layout, Passage, SampleDesign

RUN = Started("accuracy", {}).manifest()


def item(at: int, **more: object) -> SampleItem:
    name = f"S{at} -[{'KNOWS' if at % 2 else 'LIKES'}]-> O{at}"
    return SampleItem(
        id=f"i{at}", ref=GraphRef(element_id=f"e{at}", key=name, name=name, type="KNOWS" if at % 2 else "LIKES", kind="relation"),
        shown={"subject": f"S{at}", "predicate": "KNOWS", "object": f"O{at}"}, stratum="", cluster=f"|c{at // 2}|0", home=f"c{at // 2}",
        weight=10.0, passages=(Passage(text=f"text {at // 2}", chunk_id=f"c{at // 2}", document=f"d{at // 10}"),), **more,
    )


def sample(n: int = 40, clusters: int = 200, **more: object) -> Sample:
    items = [item(at, **more) for at in range(n)]
    design = SampleDesign(
        method="m", seed=0, wanted=n, drawn=n, population=2 * clusters, without_source=0, clusters=clusters, clusters_drawn=n // 2,
    )
    return Sample(items, design, {"": clusters})


def judged(labels: list[str | None], flags: dict[int, tuple[str, ...]] | None = None) -> dict[str, ItemJudgement]:
    return {
        f"i{at}": ItemJudgement(f"i{at}", label, "because", (flags or {}).get(at, ()), cause=None if label else "timeout")
        for at, label in enumerate(labels)
    }


def people(labels: dict[int, str], rows: int | None = None) -> HumanLabels:
    votes = {f"i{at}": (label,) for at, label in labels.items()}
    given = [HumanLabel(id=name, annotator="ada", label=vote[0]) for name, vote in votes.items()]
    return HumanLabels(votes, frozenset(f"i{at}" for at in range(rows)) if rows else frozenset(votes), given)


def report(results: Results):
    return accuracy_report(results, graph="g", layout=Layout(name="kgeval"), run=RUN)


def test_every_label_and_flag_gets_its_share_and_items_without_a_verdict_are_not_wrong() -> None:
    labels = ["entailed"] * 24 + ["contradicted"] * 4 + ["not_stated"] * 8 + [None] * 4
    found = main_estimates(LabelEvidence(sample(), "relations", judged(labels, {0: ("redundant",), 1: ("redundant", "irrelevant")}), None))
    shares = {e.of: e for e in found}
    accuracy = shares["accuracy"]
    assert (accuracy.n, accuracy.n_scored, accuracy.failures) == (40, 36, {"timeout": 4})
    assert accuracy.value == pytest.approx(24 / 36)
    assert (accuracy.bound_low, accuracy.bound_high) == (pytest.approx(24 / 40), pytest.approx(28 / 40))
    assert shares["contradicted"].value == pytest.approx(4 / 36)
    assert shares["not_stated"].value == pytest.approx(8 / 36)
    assert (shares["redundant_of_entailed"].value, shares["redundant_of_entailed"].n_scored) == (pytest.approx(2 / 24), 24)
    assert shares["wrong_redundant_or_irrelevant"].value == pytest.approx(14 / 36)
    assert all("uncorrected" in e.method for e in found)
    assert set(shares) <= share_names().keys()


def test_if_nothing_could_be_judged_there_is_no_share_and_the_bounds_are_0_and_1() -> None:
    found = report(Results("relations", sample(), judged([None] * 40)))
    accuracy = found.estimates[0]
    assert (accuracy.value, accuracy.low, accuracy.high, accuracy.bound_low, accuracy.bound_high) == (None, None, None, 0.0, 1.0)
    assert found.needed == {}
    assert {f.status for f in found.findings} == {"skipped"}
    assert {i.status for i in found.items} == {"unscored"}
    assert found.items[0].reason == "timeout: because"


def test_types_and_documents_are_split_and_their_items_add_up() -> None:
    labels = ["entailed", "contradicted"] * 20
    found = report(Results("relations", sample(), judged(labels)))
    assert {e.of: (e.n, e.value) for e in found.by_type} == {"KNOWS": (20, 0.0), "LIKES": (20, 1.0)}
    assert {e.of: e.n for e in found.by_document} == {"d0": 10, "d1": 10, "d2": 10, "d3": 10}


def test_consistency_of_people_stands_beside_accuracy_with_its_types_findings_and_agreement() -> None:
    """By hand: of 40 items 20 have a use, 5 of them another; the even ones are of the type LIKES, and all 5 are even."""
    uses = people({at: "inconsistent" if at % 8 == 0 else "consistent" for at in range(40) if at < 20 or at % 8 == 0})
    also = people(dict.fromkeys(range(10), "consistent"))
    both = replace(uses, labels=[*uses.labels, *(label.model_copy(update={"annotator": "bob"}) for label in also.labels)])
    given = replace(people(dict.fromkeys(range(40), "entailed")), consistency=both)
    found = report(Results("relations", sample(), judged(["entailed"] * 40), given))
    use = next(e for e in found.estimates if e.of == "consistent")
    assert (use.labelled_by, use.n_scored, use.value) == ("people", 22, pytest.approx(17 / 22)) and use.low < use.value < use.high
    assert best(found.estimates, "consistent") == use and found.estimates[0].of == "accuracy"
    assert {e.of: (e.n_scored, e.value) for e in found.consistent_by_type} == {"LIKES": (12, pytest.approx(7 / 12)), "KNOWS": (10, 1.0)}
    finding = next(f for f in found.findings if f.rule_id == "inconsistent-use")
    assert (finding.count, finding.total, finding.status) == (5, 22, "failed") and "consistency: inconsistent" in finding.examples[0].why
    assert [item.consistency for item in found.items[:2]] == ["inconsistent", "consistent"]
    assert found.agreement["consistency_raw"] == pytest.approx(8 / 10), "of the ten that both labelled, ada calls two inconsistent"
    assert report(Results("relations", sample(), judged(["entailed"] * 40))).consistent_by_type == []


def test_crossed_strata_have_estimates_of_their_own() -> None:
    strata = [replace(one, stratum=f"{one.type} x {one.document}") for one in sample().items]
    crossed = Sample(strata, sample().design, dict.fromkeys((one.stratum for one in strata), 50))
    labels = ["entailed", "contradicted"] * 20
    found = report(Results("relations", crossed, judged(labels), crossed=True))
    assert {e.of: (e.n, e.value) for e in found.by_stratum} == {
        f"{kind} x d{at}": (5, value) for kind, value in (("KNOWS", 0.0), ("LIKES", 1.0)) for at in range(4)
    }
    assert report(Results("relations", crossed, judged(labels))).by_stratum == []


def test_a_census_says_that_there_is_no_sampling_error() -> None:
    whole = sample(40, clusters=20)
    found = report(Results("relations", whole, judged(["entailed"] * 30 + ["not_stated"] * 10)))
    assert (found.estimates[0].low, found.estimates[0].high) == (0.75, 0.75)
    assert "no sampling error" in found.estimates[0].method


def test_people_alone_give_the_shares_of_the_other_labels_too() -> None:
    labels = {at: ("entailed", "contradicted", "not_stated", "entailed", "entailed")[at % 5] for at in range(40)}
    found = report(Results("relations", sample(), people=people(labels)))
    assert {e.labelled_by for e in found.estimates} == {"people"}
    assert {e.of: e.value for e in found.estimates} == pytest.approx({"accuracy": 0.6, "contradicted": 0.2, "not_stated": 0.2})
    assert best(found.estimates, "contradicted").low < 0.2


def test_rows_that_nobody_labelled_make_nothing_surer() -> None:
    """A sheet of everything of which half is filled in tells as much as a sheet of that half."""
    whole, labels = sample(40, clusters=20), {at: "entailed" if at % 5 else "not_stated" for at in range(20)}
    long, short = (report(Results("relations", whole, people=people(labels, rows))).estimates[0] for rows in (40, 20))
    assert (long.n, long.n_scored, short.n, short.n_scored) == (40, 20, 20, 20)
    assert (long.low, long.high) == (short.low, short.high)
    assert long.high - long.low > 0.2
    assert "no sampling error" not in long.method
    by_type = [split(LabelEvidence(whole, "relations", {}, people(labels, rows)), lambda item: item.type)[0] for rows in (40, 20)]
    assert (by_type[0].low, by_type[0].high) == (by_type[1].low, by_type[1].high)


def test_verdicts_that_failed_leave_doubt_even_where_everything_was_drawn() -> None:
    said = [None if at % 2 else "entailed" if at % 8 else "not_stated" for at in range(40)]
    (half,) = [e for e in report(Results("relations", sample(40, clusters=20), judged(said))).estimates if e.of == "accuracy"]
    assert (half.value, half.n_scored) == (0.75, 20)
    assert half.high - half.low > 0.2
    assert "no sampling error" not in half.method


def test_the_needed_size_is_by_the_design_effect_of_the_interval() -> None:
    """Without any error seen: an interval of the width that was printed needs about the items that were judged."""
    found = report(Results("relations", sample(40), judged(["entailed"] * 40)))
    first = found.estimates[0]
    assert first.design_effect is None
    assert first.interval_effect == 1.5  # 2 items a cluster, half alike
    printed = report(Results("relations", sample(40), judged(["entailed"] * 40), half_widths=((1 - first.low) / 2,)))
    widths = {float(width): n for width, n in printed.needed.items()}
    assert 36 <= widths[min(widths, key=lambda width: abs(width - (1 - first.low) / 2))] <= 44


def test_a_parallel_relation_of_an_item_is_shown_beside_it() -> None:
    """The same words twice in the graph: redundant is for the judge to see, also where only one of the two was drawn."""
    first, second = item(0), item(1)
    twin = first.ref.name
    near = {0: (second.ref.name, twin, "X -[R]-> Y"), 1: (first.ref.name, twin, "X -[R]-> Y")}
    items = [SampleItem(**{**one.__dict__, "beside": near[at]}) for at, one in enumerate((first, second))]
    (call,) = batches(items, "relations", load_prompt("judge-triples"))
    assert sorted(call.task.slots["beside"]) == [first.ref.name, "X -[R]-> Y"]


def test_people_and_judge_together_give_both_corrections_beside_each_alone() -> None:
    truth = ["entailed", "entailed", "not_stated", "entailed"] * 10
    said = ["entailed", "entailed", "entailed", "entailed", "entailed", "entailed", "not_stated", "entailed"] * 5
    labels = {at: truth[at] for at in range(20)}
    found = report(Results("relations", sample(), judged(said), people(labels)))
    assert [(e.labelled_by, e.method[:6]) for e in found.estimates[:4]] == [
        ("judge corrected by people", "PPI++ "), ("judge corrected by people", "Rogan-"), ("people", "ratio "), ("judge", "ratio "),
    ]
    assert (found.estimates[2].value, found.estimates[2].n) == (0.75, 20)
    assert found.estimates[3].value == pytest.approx(0.875)
    assert 0.7 <= found.estimates[0].value <= 0.8
    assert found.agreement["n"] == 20
    assert found.agreement["raw"] == pytest.approx(1 - 3 / 20)
    assert best(found.estimates, "accuracy") is found.estimates[0]
    assert not any("uncorrected" in note for note in found.notes)


def test_labels_of_people_count_more_than_the_judges_in_findings() -> None:
    found = report(Results("relations", sample(4), judged(["contradicted"] * 4), people({0: "entailed"})))
    contradicted = next(f for f in found.findings if f.rule_id == "contradicted-relation")
    assert (contradicted.count, contradicted.total, contradicted.group, contradicted.severity) == (3, 4, "accuracy", "error")
    assert contradicted.examples[0].why == "judge: because | passage c0: “text 0”"
    assert "a sample of 4 of 400 relations" in contradicted.reason


def test_hand_picked_labels_are_called_so() -> None:
    said = ["entailed"] * 30 + ["not_stated"] * 10
    picked = dict.fromkeys(range(30, 40), "not_stated")
    notes = report(Results("relations", sample(), judged(said), people(picked))).notes
    assert any("do not look random" in note for note in notes)
    assert any("left out before the last labelled one" in note for note in notes)
    fair = report(Results("relations", sample(), judged(said[::-1]), people(dict.fromkeys(range(20), "entailed")))).notes
    assert not any("left out before" in note for note in fair)


def test_rows_without_a_label_are_counted() -> None:
    found = report(Results("relations", sample(), {}, people(dict.fromkeys(range(8), "entailed"), rows=12)))
    assert (found.estimates[0].n, found.estimates[0].n_scored, found.estimates[0].failures) == (12, 8, {"no label": 4})
    assert found.estimates[0].bound_low == pytest.approx(8 / 12)
    assert any("4 of 12 rows" in note for note in found.notes)


def test_stored_confidence_is_set_against_the_verdicts() -> None:
    found = report(Results("relations", sample(40, confidence=0.9), judged(["entailed"] * 20 + ["not_stated"] * 20)))
    (row,) = [b for b in found.calibration if b.n]
    assert (row.n, row.confidence, row.accuracy) == (40, pytest.approx(0.9), 0.5)
    assert any("calibration error 0.400" in note for note in found.notes)
    odd = report(Results("relations", sample(4, confidence=7.0), judged(["entailed"] * 4)))
    assert odd.calibration == []
    assert any("not calibrated" in note for note in odd.notes)


def test_wanted_half_widths_come_with_the_usual_ones() -> None:
    found = report(Results("relations", sample(), judged(["entailed", "not_stated"] * 20), half_widths=(0.07,)))
    assert list(found.needed) == ["0.1", "0.07", "0.05", "0.03", "0.02"]
    assert sorted(found.needed.values()) == list(found.needed.values())


def test_the_best_estimate_is_the_corrected_one_but_never_rogan_gladen() -> None:
    def one(by: str, method: str, value: float | None) -> Estimate:
        return Estimate(of="accuracy", labelled_by=by, method=method, n=1, n_scored=1, value=value)

    rows = [one("judge corrected by people", "PPI++", None), one("judge corrected by people", "Rogan-Gladen", 0.4),
            one("judge", "x", 0.9), one("people", "x", 0.5)]
    assert best(rows, "accuracy").value == 0.5
    assert best(rows, "other") is None


# --- the judge's side

PROMPT = load_prompt("judge-triples")


def test_items_of_one_passage_are_asked_together_and_the_passage_is_shown_once() -> None:
    calls = batches(sample(6).items, "relations", PROMPT)
    assert [[i.id for i in call.items] for call in calls] == [["i0", "i1"], ["i2", "i3"], ["i4", "i5"]]
    assert calls[0].task.slots["passages"] == [{"for_items": "all", "text": "text 0"}]
    assert len(calls[0].task.items) == 2


def test_a_passage_of_one_item_only_says_so() -> None:
    first, second = item(0), item(1)
    more = SampleItem(**{**first.__dict__, "passages": (*first.passages, Passage(text="more", chunk_id="z"))})
    (call,) = batches([more, second], "relations", PROMPT)
    assert call.task.slots["passages"] == [{"for_items": "all", "text": "text 0"}, {"for_items": [call.task.tags[0]], "text": "more"}]


def test_what_comes_back_is_matched_by_number_and_what_is_missing_keeps_its_cause() -> None:
    calls = batches(sample(4).items, "relations", PROMPT)
    answer = TripleVerdicts.model_validate({"items": [
        {"tag": calls[0].task.tags[1], "reason": "x", "label": "contradicted", "redundant": True, "irrelevant": False},
    ]})
    outcomes = [
        Outcome("i0", answer, answers={2: answer.items[0]}, missing={1: Failure("missing_item", "never came")}, calls=("k1",)),
        Outcome("i2", None, Failure("budget", "0 calls")),
    ]
    found = list(verdicts(calls, outcomes))
    assert [(v.id, v.label, v.cause, v.call) for v in found] == [
        ("i0", None, "missing_item", None), ("i1", "contradicted", None, "k1"), ("i2", None, "budget", None), ("i3", None, "budget", None),
    ]
    assert found[1].flags == ()  # a flag of a relation that is not entailed means nothing


# --- pairs

def entity(name: str, kind: str = "PERSON") -> GraphRef:
    return GraphRef(element_id=f"e-{name}", key=name, name=name, type=kind)


def listed(*pairs: tuple[str, str]) -> ListedPairs:
    return ListedPairs([ListedPair(entity(a), entity(b), "same name", f"{a}={b}") for a, b in pairs])


def gold(a: str, b: str, same: bool, failure_class: str = "") -> GoldPair:
    return GoldPair((a, ""), (b, ""), same, failure_class)


def test_recall_needs_labelled_pairs_and_is_counted_by_hand() -> None:
    """Listed: a=b, c=d. True: a=b, e=f. So precision 1/2, recall 1/2; c and d wrongly joined, e and f wrongly apart."""
    found = against_gold(
        listed(("A", "B"), ("C", "D")), [gold("a", "b", True, "alias"), gold("c", "d", False, "alias"), gold("e", "f", True, "initials")],
    )
    assert (found.pairs.precision, found.pairs.recall) == (0.5, 0.5)
    assert found.cubed.precision == pytest.approx((2 + 2 * 0.5 + 2) / 6)
    assert found.cubed.recall == pytest.approx((2 + 2 + 2 * 0.5) / 6)
    assert {e.of: e.value for e in found.by_class} == {"recall: alias": 1.0, "precision: alias": 0.5, "recall: initials": 0.0}


def test_counts_say_how_many_are_listed_and_how_many_of_those_are_right_by_class() -> None:
    found = against_gold(
        listed(("A", "B"), ("C", "D"), ("X", "Y")), [gold("a", "b", True, "alias"), gold("c", "d", False, "alias"), gold("e", "f", True)],
    )
    assert found.counts == GoldPairCounts(n=3, same=2, listed=2, right=1)
    assert found.classes == {"": GoldPairCounts(1, 1, 0, 0), "alias": GoldPairCounts(2, 1, 2, 1)}
    figures = found.figures()
    assert (figures["gold_right"], figures["pairwise_precision"]) == (1, 0.5)
    assert figures["pairwise_precision_low"] == pytest.approx(0.0945, abs=1e-4)  # Wilson, 1 of 2
    assert figures["pairwise_precision_high"] == pytest.approx(0.9055, abs=1e-4)
    nothing = against_gold(listed(), [gold("a", "b", False)]).figures()
    assert (nothing["pairwise_precision_low"], nothing["pairwise_recall_low"]) == (None, None)


def test_collisions_meet_by_how_many_records_a_check_lists() -> None:
    """Of two collisions one is listed: one wrong pair, one rightly left alone."""
    found = against_gold(listed(("Ada", "Ada")), [gold("ada", "ada", False), gold("bob", "bob", False)])
    assert found.counts == GoldPairCounts(n=2, same=0, listed=1, right=0)
    assert found.cubed.precision == (0.5 + 0.5 + 1 + 1) / 4


def test_a_same_name_collision_is_two_records() -> None:
    found = against_gold(listed(("Ada", "Ada")), [gold("ada", "ada", False)])
    assert found.pairs.precision == 0.0
    assert found.cubed.precision == 0.5


def test_labelled_pairs_are_read_with_all_their_faults(tmp_path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("name_a,name_b,label,class\nThe Beatles,beatles,same,article\nX,Y,perhaps,\n,Y,same,\n", encoding="utf-8")
    with pytest.raises(InputError) as wrong:
        read_pairs(path)
    assert len(wrong.value.faults) == 2
    path.write_text("name_a,name_b,label\nA. Lovelace,Ada Lovelace,same\nAda Lovelace,a. lovelace,different\n", encoding="utf-8")
    with pytest.raises(InputError) as wrong:
        read_pairs(path)
    assert "labelled same and different" in wrong.value.faults[0]
    path.write_text("name_a,name_b\nx,y\n", encoding="utf-8")
    with pytest.raises(InputError, match="no column label"):
        read_pairs(path)


def test_scripts_and_quotes() -> None:
    assert scripts("Москва") != scripts("Moscow")
    assert scripts("Ada-1") == scripts("Bob")
    assert "needle" in around("x " * 500 + "needle" + " y" * 500, "Needle")
    assert len(around("x " * 5000, "absent")) <= 300


def test_a_split_without_any_label_is_empty_of_values() -> None:
    rows = split(LabelEvidence(sample(4), "relations", judged([None] * 4), None), lambda one: one.type)
    assert {row.value for row in rows} == {None}
