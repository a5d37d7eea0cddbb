"""The scores of several places beside each other: values by data set, their mean, and what one change does, all countable by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy import stats as reference

from kgeval.errors import InputError
from kgeval.records import CrossedReport, PipelineRun, RunManifest, RunPlace, StageRun
from kgeval.reports.views.crossed import metric_tables
from kgeval.reports.write import rendered
from kgeval.workflows.pipeline.crossing import crossed

RUN = RunManifest(kgeval="0", command="matrix", started="2026-01-01T00:00:00+00:00", seconds=0.0)
Values = dict[str, dict[str, list[float | None]]]


def place(folder: Path, name: str, values: Values, **at: object) -> StageRun:
    """A place with scores: system -> metric -> value a question (null: unscored)."""
    results = folder / name / "scores"
    results.mkdir(parents=True)
    with (results / "results.jsonl").open("w") as file:
        for system, metrics in values.items():
            for metric, given in metrics.items():
                for number, value in enumerate(given):
                    row = {
                        "question_id": f"q{number}", "system": system, "metric": metric, "value": value, "signature": "s",
                        "status": "scored" if value is not None else "unscored",
                    }
                    file.write(json.dumps(row) + "\n")
    return StageRun(
        id=f"{name}/scores", kind="scores", place=RunPlace(**at), command="", state="done", fingerprint="",  # type: ignore[arg-type]
        outputs={str(results.with_suffix(".json")): "", str(results.with_suffix(".html")): ""},
    )


def report(*stages: StageRun, lower: tuple[str, ...] = ()) -> CrossedReport:
    return crossed(PipelineRun(kgeval="0", stages=list(stages)), RUN, lower=lower)


def test_a_value_is_the_mean_over_questions_with_what_it_is_over(tmp_path: Path) -> None:
    found = report(place(tmp_path, "a", {"s": {"m": [1.0, 0.0, 0.5, None]}}))
    (cell,) = found.cells
    assert (cell.mean, cell.n, cell.n_scored, cell.datasets) == (0.5, 4, 3, 1)
    assert cell.low is not None and cell.low <= 0.5 <= (cell.high or 0)
    assert cell.spread is not None
    assert (cell.spread.minimum, cell.spread.q25, cell.spread.median, cell.spread.maximum) == (0.0, 0.25, 0.5, 1.0)
    assert [at for at, n in enumerate(cell.spread.bins) if n] == [0, 10, 19]


def test_known_questions_are_in_no_figure_of_a_place_whose_scores_are_without_them(tmp_path: Path) -> None:
    stage = place(tmp_path, "a", {"s": {"m": [1.0, 0.0, 0.5, 0.7]}})
    known = {"file": "known.json", "questions": 4, "left_out": 2, "ids": ["q0", "q3"], "closed_book": "c", "metric": "contains"}
    (tmp_path / "a" / "scores" / "summary.json").write_text(json.dumps({"metrics": [], "known": {**known, "scores": []}}))
    found = report(stage)
    assert [(cell.mean, cell.n) for cell in found.cells] == [(0.25, 2)] and found.known[0].left_out == 2
    assert "a closed book answers without any text: 2 at 1 place" in " ".join(rendered(found, "text").split())


def test_the_mean_over_data_sets_weighs_each_the_same(tmp_path: Path) -> None:
    found = report(
        place(tmp_path, "a", {"s": {"m": [1.0, 1.0]}}, dataset="a"), place(tmp_path, "b", {"s": {"m": [0.0, 0.5, 0.0, 0.5]}}, dataset="b"),
    )
    mean = next(one for one in found.cells if one.place.dataset is None)
    assert (mean.mean, mean.n, mean.datasets, mean.spread) == (0.625, 6, 2, None)


def test_there_is_no_mean_where_a_data_set_lacks_the_metric(tmp_path: Path) -> None:
    found = report(
        place(tmp_path, "a", {"s": {"m": [1.0], "k": [1.0, 0.0]}}, dataset="a"), place(tmp_path, "b", {"s": {"m": [0.0]}}, dataset="b"),
    )
    assert [one.metric for one in found.cells if one.place.dataset is None] == ["m"]


def test_an_ablation_is_compared_question_by_question(tmp_path: Path) -> None:
    base = [0.0, 0.0, 1.0, 1.0, 0.0, 0.5, 0.0, 0.0]
    other = [1.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, None]
    found = report(place(tmp_path, "a", {"graph": {"m": list(base)}, "graph@hops=2": {"m": other}}))
    (change,) = found.changes
    pairs = [(a, b) for a, b in zip(base, other, strict=True) if b is not None]
    assert (change.axis, change.base, change.changed, change.n) == ("setting", "as it is", "hops=2", 7)
    assert change.mean == pytest.approx(sum(b - a for a, b in pairs) / 7)
    exact = reference.permutation_test(
        ([b for _, b in pairs], [a for a, _ in pairs]), lambda x, y: (x - y).mean(), permutation_type="samples", n_resamples=10_000,
    )
    assert change.p == pytest.approx(exact.pvalue)
    assert change.p_holm == change.p and change.better is None


def test_which_way_a_change_goes_is_said_only_where_it_is_sure_and_with_the_metrics_own_direction(tmp_path: Path) -> None:
    values: Values = {"graph": {"good": [0.0] * 12, "bad": [0.0] * 12}, "graph@k=9": {"good": [1.0] * 12, "bad": [1.0] * 12}}
    found = report(place(tmp_path, "a", values), lower=("bad",))
    assert {one.metric: one.better for one in found.changes} == {"good": True, "bad": False}
    assert found.lower_is_better == ["bad"]


def test_p_is_corrected_over_the_whole_report(tmp_path: Path) -> None:
    values: Values = {"g": {"m": [0.0] * 6, "k": [0.0] * 6}, "g@a=1": {"m": [1.0] * 6, "k": [1.0] * 6}}
    found = report(place(tmp_path, "a", values))
    assert [one.p for one in found.changes] == [2 / 64, 2 / 64]
    assert [one.p_holm for one in found.changes] == [4 / 64, 4 / 64]


def test_shares_are_held_against_the_largest_and_readers_and_variants_against_the_first(tmp_path: Path) -> None:
    found = report(
        place(tmp_path, "1", {"s": {"m": [1.0, 0.5]}}, share=1.0, reader="r1"),
        place(tmp_path, "2", {"s": {"m": [0.5, 0.5]}}, share=0.5, reader="r1"),
        place(tmp_path, "3", {"s": {"m": [0.0, 0.0]}}, share=1.0, reader="r2"),
    )
    told = {(one.axis, one.base, one.changed): one.mean for one in found.changes}
    assert told == {("share", "1.0", "0.5"): -0.25, ("reader", "r1", "r2"): -0.75}


def test_changes_are_given_by_data_set_and_as_their_mean(tmp_path: Path) -> None:
    found = report(
        place(tmp_path, "a1", {"s": {"m": [0.0, 0.0]}}, dataset="a", variant="v1"),
        place(tmp_path, "a2", {"s": {"m": [1.0, 1.0]}}, dataset="a", variant="v2"),
        place(tmp_path, "b1", {"s": {"m": [0.0, 0.0, 0.0, 0.0]}}, dataset="b", variant="v1"),
        place(tmp_path, "b2", {"s": {"m": [0.5, 0.5, 0.5, 0.5]}}, dataset="b", variant="v2"),
    )
    told = {one.place.dataset: (one.mean, one.n, one.datasets) for one in found.changes}
    assert told == {"a": (1.0, 2, 1), "b": (0.5, 4, 1), None: (0.75, 6, 2)}


def test_a_place_without_scores_is_named(tmp_path: Path) -> None:
    failed = StageRun(id="b/scores", kind="scores", command="", state="failed", fingerprint="")
    found = report(place(tmp_path, "a", {"s": {"m": [1.0]}}), failed)
    assert found.missing == ["b/scores"]
    with pytest.raises(InputError, match="no place of this run has scores"):
        report(failed)


@pytest.mark.slow
def test_every_form_has_every_figure_and_no_name_steers_a_page(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    found = report(
        place(tmp_path, "a", {evil: {"m": [0.25, 0.25]}}, dataset="a|b", share=1.0),
        place(tmp_path, "b", {evil: {"m": [0.75, 0.25]}}, dataset="a|b", share=0.5),
    )
    for form in ("html", "md", "text", "json"):
        text = rendered(found, form)  # type: ignore[arg-type]
        assert "0.25" in text and "0.5" in text
    assert evil not in rendered(found, "html") and "<svg" in rendered(found, "html")
    assert evil not in rendered(found, "md")


def test_there_is_no_mean_of_a_place_that_one_data_set_lacks(tmp_path: Path) -> None:
    found = report(
        place(tmp_path, "a1", {"s": {"m": [0.0, 0.0]}}, dataset="a", variant="v1"),
        place(tmp_path, "a2", {"s": {"m": [1.0, 1.0]}}, dataset="a", variant="v2"),
        place(tmp_path, "b1", {"s": {"m": [0.0, 0.5]}}, dataset="b", variant="v1"),
        place(tmp_path, "c1", {"s": {"m": [0.5, 0.5]}}, dataset="c", variant="v1"),
        place(tmp_path, "c2", {"s": {"m": [1.0, 0.5]}}, dataset="c", variant="v2"),
    )
    assert [one.place.variant for one in found.cells if one.place.dataset is None] == ["v1"]
    assert {one.place.dataset: one.mean for one in found.changes} == {"a": 1.0, "c": 0.25}


def test_a_change_without_a_common_question_in_one_data_set_has_no_mean(tmp_path: Path) -> None:
    found = report(
        place(tmp_path, "a", {"g": {"m": [0.0, 0.5]}, "g@k=2": {"m": [1.0, 1.0]}}, dataset="a"),
        place(tmp_path, "b", {"g": {"m": [0.0, None]}, "g@k=2": {"m": [None, 1.0]}}, dataset="b"),
    )
    assert {one.place.dataset: (one.mean, one.n) for one in found.changes} == {"a": (0.75, 2), "b": (None, 0)}


def test_every_variant_stands_below_its_system_with_all_metrics_and_their_intervals(tmp_path: Path) -> None:
    values: Values = {"g": {"m": [0.0, 1.0], "k": [1.0, 1.0]}, "other": {"m": [0.0, 0.0]}, "g@h=2": {"m": [1.0, 1.0], "k": [None, None]}}
    found = report(place(tmp_path, "a", values), lower=("k",))
    (one,) = metric_tables(found)
    assert one.head == ("System", "m", "k (less is better)")
    assert [row[0] for row in one.rows] == ["g", "g@h=2", "other"]
    assert one.rows[0][1].startswith("0.500 [0, 1] n 2") and one.rows[1][2] == "– (0 of 2)" and one.rows[2][2] == "–"


def test_a_run_that_was_moved_is_read_where_it_is(tmp_path: Path) -> None:
    old = place(tmp_path / "old", "a", {"s": {"m": [1.0]}}, dataset="a")
    (tmp_path / "old").rename(tmp_path / "new")
    found = crossed(PipelineRun(kgeval="0", stages=[old]), RUN, folder=tmp_path / "new")
    assert [cell.mean for cell in found.cells] == [1.0]


def test_a_share_of_the_corpus_says_what_was_really_kept(tmp_path: Path) -> None:
    """Half was asked for, and 10 of 11 documents were kept, because questions name them."""
    stages = []
    for share, documents, tokens in ((1.0, 11, 5_000), (0.5, 10, 4_655)):
        folder = tmp_path / f"corpus-{share:g}"
        stages.append(place(tmp_path, f"corpus-{share:g}", {"s": {"m": [share, 0.0]}}, share=share))
        corpus = {"hash": "h", "documents": documents, "chunks": 1, "tokens": tokens, "words": 1, "tokenizer": "t"}
        (folder / "build.json").write_text(json.dumps({
            "system": "kgeval", "graph": "g", "corpus": corpus, "run": RUN.model_dump(), "seconds": 1.0, "entities": 1, "relations": 1,
        }))
        stages.append(StageRun(
            id=f"{share}/build", kind="build", place=RunPlace(share=share), command="", state="done", fingerprint="",
            outputs={str(folder / "build.json"): ""},
        ))
    found = report(*stages)
    (kept,) = found.corpora
    assert (kept.place.share, kept.documents, kept.of_documents, kept.tokens, kept.of_tokens) == (0.5, 10, 11, 4_655, 5_000)
    for form in ("text", "md", "html"):
        assert "10 of 11 documents" in " ".join(rendered(found, form).split()), form  # type: ignore[arg-type]
    assert "93.1 % of the tokens" in rendered(found, "md")


EXAMPLES = Path(__file__).parents[2] / "schemas" / "examples"


def built(folder: Path, name: str, tokens: int, entities: int, **at: object) -> list[StageRun]:
    """The stages build and audit of a place, with a corpus and a graph of this size."""
    build = json.loads(next((EXAMPLES / "index-record" / "valid").glob("*.json")).read_text())
    build |= {"corpus": {**build["corpus"], "tokens": tokens, "documents": 3, "chunks": 9}, "entities": entities, "seconds": 7.5}
    audit = json.loads((EXAMPLES / "audit-report" / "valid" / "small.json").read_text())
    audit["structure"] = {"entities": entities, "relations": 2 * entities, "density": 0.25, "community_algorithm": "louvain"}
    stages = []
    for kind, record in (("build", build), ("audit", audit)):
        file = folder / name / f"{kind}.json"
        file.write_text(json.dumps(record))
        stages.append(StageRun(
            id=f"{name}/{kind}", kind=kind, place=RunPlace(**at), command="", state="done", fingerprint="",  # type: ignore[arg-type]
            outputs={str(file): ""},
        ))
    return stages


def took(folder: Path, name: str, seconds: list[float], tokens: float) -> None:
    """What a place's answers took, as its score report says."""
    ordered = sorted(seconds)
    rank = {part: ordered[-(-part * len(ordered) // 100) - 1] for part in (50, 95, 99)}
    latency = {"n": len(ordered), "mean": sum(ordered) / len(ordered), **{f"p{part}": value for part, value in rank.items()}}
    cost = {"system": "graph", "n": len(ordered), "means": {"input_tokens": tokens}, "latency_s": latency, "by_hops": {"2": latency}}
    (folder / name / "scores" / "summary.json").write_text(json.dumps({"metrics": [], "costs": [cost]}))


@pytest.mark.slow
def test_what_answers_take_stands_beside_the_size_of_the_corpus_with_its_growth(tmp_path: Path) -> None:
    stages = []
    sizes = (("small", 0.25, 1_000, 50, 1.0), ("half", 0.5, 2_500, 80, 1.5), ("whole", 1.0, 8_000, 120, 3.0))
    for name, share, tokens, entities, slower in sizes:
        stages += [place(tmp_path, name, {"graph": {"m": [1.0, 0.0]}}, share=share)]
        stages += built(tmp_path, name, tokens, entities, share=share)
        took(tmp_path, name, [slower * value for value in (0.1, 0.2, 0.3, 0.4)], 400 + tokens / 100)
    found = report(*stages)
    assert [(one.place.share, one.structure["entities"], one.construction.tokens if one.construction else 0) for one in found.graphs] == [
        (0.25, 50, 1_000), (0.5, 80, 2_500), (1.0, 120, 8_000),
    ]
    (growth,) = found.growth
    assert (growth.unit, growth.size, growth.of_size, growth.smallest.share, growth.largest.share) == ("tokens", 1_000, 8_000, 0.25, 1.0)
    assert growth.factors == pytest.approx({
        "input_tokens": 480 / 410, "seconds_p50": 3.0, "seconds_p95": 3.0, "seconds_p99": 3.0,
    })
    text = " ".join(rendered(found, "md").split())
    assert "graph: with 8.0 x the tokens of the corpus, an answer takes 3.0 x the median seconds and 1.2 x the prompt tokens." in text
    assert "0.60 / 1.20 / 1.20" in text, "p50, p95 and p99 of the whole corpus"
    page = rendered(found, "html")
    assert "cost-seconds_p95" in page and "tokens of the corpus" in page, "curves"


def test_of_a_build_that_failed_no_earlier_record_is_taken(tmp_path: Path) -> None:
    stages = [place(tmp_path, "a", {"graph": {"m": [1.0]}}, share=1.0), *built(tmp_path, "a", 100, 9, share=1.0)]
    assert len(report(*stages).graphs) == 1
    failed = [stage.model_copy(update={"state": "failed"}) for stage in stages[1:]]
    assert report(stages[0], *failed).graphs == []


def test_data_sets_of_other_sizes_are_a_growth_too_by_entities_where_no_corpus_is_known(tmp_path: Path) -> None:
    stages = []
    for name, entities, tokens in (("a", 40, 300.0), ("b", 10, 150.0)):
        stages += [place(tmp_path, name, {"graph": {"m": [1.0]}}, dataset=name), built(tmp_path, name, 0, entities, dataset=name)[1]]
        took(tmp_path, name, [1.0], tokens)
    (growth,) = report(*stages).growth
    assert (growth.unit, growth.smallest.dataset, growth.largest.dataset, growth.factors["input_tokens"]) == ("entities", "b", "a", 2.0)


def test_sizes_in_tokens_are_held_against_the_whole_corpus(tmp_path: Path) -> None:
    found = report(
        place(tmp_path, "whole", {"graph": {"m": [1.0, 1.0]}}, share=1.0),
        place(tmp_path, "less", {"graph": {"m": [0.0, 1.0]}}, share=56_000.0),
    )
    assert found.shares == [56_000.0, 1.0]
    assert [(one.base, one.changed, one.mean) for one in found.changes] == [("1.0", "56000", -0.5)]
    assert "56,000 tokens" in rendered(found, "md")
