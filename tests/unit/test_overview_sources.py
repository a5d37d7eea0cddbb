"""The one report: which files and folders are read, by what a report is known, and what is said of the others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from overview_world import EXAMPLES, KIND_FILES, audited, example, finding, manifest, mean, scored, whole, wrote

from kgeval.errors import InputError
from kgeval.overview.kinds import KINDS, kind_of
from kgeval.overview.sources import read_sources
from kgeval.records import (
    AnsweredSystem,
    AnswerReport,
    ModelUse,
    PipelineRun,
    RunPlace,
    StageRun,
)
from kgeval.reports.write import write_report


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_report_is_known_by_its_fields(kind: str) -> None:
    assert kind_of(json.loads(example(kind).read_text(encoding="utf-8"))) == kind


def test_other_records_and_other_json_are_no_reports() -> None:
    for file in sorted(EXAMPLES.glob("*/valid/*.json")):
        value = json.loads(file.read_text(encoding="utf-8"))
        if str(file.relative_to(EXAMPLES)) not in KIND_FILES.values() and not file.parts[-3].endswith("-report"):
            assert not isinstance(kind_of(value), str) or file.parts[-3] in ("index-record",), file
    assert [kind_of(value) for value in ([], {}, "x", None, 3, {"name": "package", "version": "1"})] == [None] * 6


def test_a_folder_is_searched_and_what_is_no_report_is_passed_over_with_a_note(tmp_path: Path) -> None:
    wrote(tmp_path / "deep" / "er", scores=scored({("a", "token_f1"): mean(0.5, 0.4, 0.6)}))
    (tmp_path / "package.json").write_text("{}", encoding="utf-8")
    (tmp_path / ".hidden.json").write_text("{", encoding="utf-8")
    found = read_sources([tmp_path])
    assert [one.kind for one in found.reports] == ["scores"]
    assert found.notes == ["passed over, no reports: 1 file (package.json)"]


def test_a_report_is_read_from_its_page_and_taken_once_where_its_json_is_there_too(tmp_path: Path) -> None:
    report = audited(finding("empty-name", 3, names=("</script>",)))
    write_report(report, tmp_path / "page.html")
    only = read_sources([tmp_path])
    assert only.reports[0].record == report and only.reports[0].page == tmp_path / "page.html"
    wrote(tmp_path, page=report)
    wrote(tmp_path / "copy", again=report)
    both = read_sources([tmp_path])
    assert [one.file.name for one in both.reports] == ["page.json"] and both.reports[0].page == tmp_path / "page.html"
    assert "1 file holds a report that another one holds too" in both.notes


def test_all_faults_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    good = json.loads(example("scores").read_text(encoding="utf-8"))
    for name, value in (("old", {**good, "schema_version": "0"}), ("new", {**good, "schema_version": "2"}), ("odd", {**good, "extra": 1})):
        (tmp_path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    (tmp_path / "cut.json").write_text('{"run": {\n  "kg', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_sources([tmp_path])
    told = "\n".join(caught.value.faults)
    assert re.search(r"old\.json: has schema version '0'.*make the report again with this kgeval", told)
    assert re.search(r"new\.json: has schema version '2'.*pip install --upgrade kgeval-toolkit", told)
    assert re.search(r"odd\.json: extra: unknown key", told) and re.search(r"cut\.json:2: not JSON", told) and len(caught.value.faults) == 4


def test_nothing_to_read_is_an_error_and_so_is_a_given_file_that_is_no_report(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no report of kgeval"):
        read_sources([tmp_path])
    (tmp_path / "x.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(InputError, match="is no report of kgeval"):
        read_sources([tmp_path / "x.json"])


def stage(kind: str, file: Path, state: str = "done", **more: object) -> StageRun:
    from kgeval.workflows.pipeline.ledger import digest_of

    given = {"id": kind, "kind": kind, "command": f"kgeval {kind}", "fingerprint": "f", "outputs": {f"out/{file.name}": digest_of(file)}}
    return StageRun.model_validate({**given, "state": state, **more})


def test_run_json_gives_the_places_and_failed_stages_are_said_aloud(tmp_path: Path) -> None:
    folder = wrote(tmp_path, scores=scored({("a", "token_f1"): mean(0.5, 0.4, 0.6)}), audit=audited(finding("empty-name", 0)))
    stages = [
        stage("scores", folder / "scores.json", place=RunPlace(dataset="novels", reader="small")),
        stage("audit", folder / "audit.json", place=RunPlace(dataset="novels"), outputs={"out/audit.json": "0" * 64}),
        stage("compare", folder / "none.json", "failed", reason="exit code 2; see logs/compare.log", outputs={}),
        stage("report", folder / "report.json", "running", outputs={}),
    ]
    wrote(folder, run=PipelineRun(kgeval="1.0", stages=stages))
    report = whole(folder)
    assert {one.kind: one.place for one in report.sources} == {
        "scores": RunPlace(dataset="novels", reader="small"), "audit": RunPlace(dataset="novels"),
    }
    assert not report.complete and report.verdict[0] == "Not all of the run is here: compare (failed)."
    assert [(one.id, one.state) for one in report.stages] == [("compare", "failed"), ("audit", "done")]
    assert report.stages[1].reason == "its file is not as the stage left it"
    assert report.priorities[0].title == "Stage compare is not done"
    graph = next(one for one in report.rubrics if one.system == "a").scores[0]
    assert graph.score == 5 and graph.figures[0].figure == "worst_error_share"  # the audit's graph is the one that `a` answers from


def test_two_data_sets_stand_apart_by_their_folders(tmp_path: Path) -> None:
    for name, value in (("novels", 0.5), ("medical", 0.8)):
        wrote(tmp_path / name, scores=scored({("a", "token_f1"): mean(value, value - 0.1, value + 0.1)}, run=manifest(at=int(value * 10))))
    for paths in ((tmp_path,), (tmp_path / "novels", tmp_path / "medical")):
        report = whole(*paths)
        found = {one.place.dataset: one.value for one in report.figures if one.name == "token_f1"}
        assert found == {"novels": 0.5, "medical": 0.8}
        assert {(one.place.dataset, one.scores[2].score) for one in report.rubrics} == {("novels", 2), ("medical", 4)}
    both = [tmp_path / name / "scores.json" for name in ("novels", "medical")]
    assert {one.place.dataset for one in whole(*both).figures} == {"novels", "medical"}


def test_files_of_kgeval_that_are_no_part_of_it_are_named_with_the_command_that_shows_them(tmp_path: Path) -> None:
    files = {"audit-diff": "kgeval audit diff BEFORE.json", "graphs-report": "kgeval audit shows it", "ratchet": "kgeval audit --ratchet"}
    wrote(tmp_path, scores=scored({("a", "token_f1"): mean(0.5, 0.4, 0.6)}))
    for name, words in files.items():
        for at, file in enumerate(sorted((EXAMPLES / name / "valid").glob("*.json"))):
            path = tmp_path / f"{name}{at}.json"
            path.write_bytes(file.read_bytes())
            with pytest.raises(InputError) as caught:
                read_sources([path])
            assert words in str(caught.value) and "no report of kgeval" not in str(caught.value)
            assert any(note.startswith(f"passed over: {path.name} is ") and words in note for note in read_sources([tmp_path]).notes)


def test_one_run_that_wrote_a_file_a_system_is_told_of_whole(tmp_path: Path) -> None:
    run = manifest("answer", arguments={"outputs": ["answers/"]})
    for n, name in enumerate(("closed-book", "graph", "vector"), start=1):
        use = [ModelUse(stage="answer", model="m", calls=100 * n, input_tokens=1_000 * n, cost=0.1 * n)]
        system = AnsweredSystem(system=name, signature=name, answers=100)
        text = AnswerReport(run=run.model_copy(update={"model_use": use}), systems=[system]).model_dump_json()
        (tmp_path / f"{name}.run.json").write_text(text, encoding="utf-8")
    (tmp_path / "copy.json").write_text((tmp_path / "graph.run.json").read_text(encoding="utf-8"), encoding="utf-8")
    report = whole(tmp_path)
    assert [one.of for one in report.figures] == ["closed-book", "graph", "vector"]
    assert (sum(one.use.calls for one in report.cost), sum(one.use.input_tokens for one in report.cost)) == (600, 6_000)
    assert {one.place.dataset for one in report.sources} == {None}, "systems of one run are no data sets"
    assert any("1 file holds a report that another one holds too" in note for note in report.notes)


def test_two_runs_with_a_file_a_system_each_stand_apart_by_their_folders(tmp_path: Path) -> None:
    for at, folder in enumerate(("first", "second")):
        (tmp_path / folder).mkdir()
        for name in ("graph", "vector"):
            system = AnsweredSystem(system=name, signature=name, answers=100)
            text = AnswerReport(run=manifest("answer", at=at), systems=[system]).model_dump_json()
            (tmp_path / folder / f"{name}.run.json").write_text(text, encoding="utf-8")
    assert sorted(str(one.place.dataset) for one in whole(tmp_path).sources) == ["first", "first", "second", "second"]


def test_a_broken_page_is_named(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<script type="application/gzip" id="report">H4sI</script>', encoding="utf-8")
    with pytest.raises(InputError) as wrong:
        read_sources([page])
    assert "page.html: the report in this page is broken" in str(wrong.value) + str(wrong.value.faults)
