"""Result files: three forms and the run folder, what an ended run leaves, and what a later run takes over."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgeval.errors import IncompleteError, InputError
from kgeval.records import Answer, Question, Row, RunManifest, Score, ScoreReport, Verdict
from kgeval.tables.score_forms import read_scores, read_verdicts, write_scores
from kgeval.tables.scores import ScoreFile, files_of, is_result, partial_of

RUN = RunManifest(kgeval="0", command="score", started="2026-01-01T00:00:00+00:00", seconds=1.0)


def report(*, complete: bool = True) -> ScoreReport:
    return ScoreReport(run=RUN, complete=complete)


def row(name: str, system: str = "s", trial: int | None = None) -> Row:
    answer = Answer(question_id=name, system=system, answer="A", trial=trial)
    return Row(n=0, where="f:1", question=Question(id=name, question="Q"), answer=answer)


def scores(name: str, *values: float | None, system: str = "s", trial: int | None = None) -> list[Score]:
    return [
        Score(
            question_id=name, system=system, metric=f"m{at}", value=value, status="unscored" if value is None else "scored",
            reason="no_reply: timeout" if value is None else None, detail={"tp": at}, signature=f"m{at}@1:abc", trial=trial,
        ) for at, value in enumerate(values)
    ]


def verdicts(name: str, system: str = "s", trial: int | None = None) -> list[Verdict]:
    return [
        Verdict(question_id=name, metric="answer_claims@contexts", system=system, item=n, text=f"claim {n}", label="supported", trial=trial)
        for n in (1, 2)
    ]


FORMS = ["scores.jsonl", "scores.csv", "scores.parquet", "run"]


def run(output: Path, names: Sequence[str], **options: object) -> ScoreFile:
    """A run over the names, each row with a score of its own; what is taken over is not added again."""
    file = ScoreFile([output], fingerprint="f", **options)  # type: ignore[arg-type]
    for name in names:
        if file.taken(row(name), None) is None:
            file.add(scores(name, 0.5, 1.0), verdicts(name))
    return file


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
NAME = TEXT.filter(lambda text: bool(text.strip()))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3), max_leaves=5,
)


@st.composite
def any_score(draw: st.DrawFn) -> Score:
    value = draw(st.none() | st.floats(0, 1))
    return Score(
        question_id=draw(NAME), system=draw(NAME), metric=draw(NAME), value=value,
        status="scored" if value is not None else "not_applicable",
        reason=draw(st.none() | NAME), detail=draw(st.dictionaries(st.text(max_size=5), JSON, max_size=3)), signature=draw(NAME),
        trial=draw(st.none() | st.integers(0, 99)),
    )


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(any_score(), min_size=1, max_size=4))
def test_what_is_written_is_read_back_equal(form: str, written: list[Score]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / form
        write_scores(output, written)
        assert list(read_scores(output)) == written


@pytest.mark.parametrize("form", FORMS)
def test_a_run_writes_scores_verdicts_manifest_and_summary_for_this_user_only(form: str, tmp_path: Path) -> None:
    output = tmp_path / "new folder" / form
    with run(output, ["1", "2"]) as file:
        written = file.finish(report())
    assert sorted(written) == sorted(files_of([output])) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in written)
    assert list(read_scores(output)) == [*scores("1", 0.5, 1.0), *scores("2", 0.5, 1.0)]
    assert list(read_verdicts(output)) == [*verdicts("1"), *verdicts("2")]
    summary = output / "summary.json" if form == "run" else output.with_name("scores.run.json")
    assert ScoreReport.model_validate_json(summary.read_text()).run.arguments == {"fingerprint": "f"}
    if form == "run":
        assert RunManifest.model_validate_json((output / "run.json").read_text()).arguments == {"fingerprint": "f"}


def test_several_outputs_get_the_same_scores_and_verdicts_can_be_left_out(tmp_path: Path) -> None:
    outputs = [tmp_path / "a.jsonl", tmp_path / "b.csv", tmp_path / "report.html", tmp_path / "c.json"]
    with ScoreFile(outputs, fingerprint="f", taking="nothing", verdicts=False) as file:
        file.add(scores("1", 0.5), verdicts("1"))
        assert list(file.scores()) == scores("1", 0.5)
        assert list(file.verdicts()) == []
        file.finish(report())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "a.run.json", "b.csv", "b.run.json"]
    assert list(read_scores(outputs[1])) == list(read_scores(outputs[0]))
    assert "claim 1" not in "".join(path.read_text() for path in tmp_path.iterdir())


def test_verdicts_of_an_earlier_run_do_not_stay_beside_new_scores(tmp_path: Path) -> None:
    output = tmp_path / "s.jsonl"
    with run(output, ["1"]) as file:
        assert tmp_path / "s.verdicts.jsonl" in file.finish(report())
    with run(output, ["1"], verdicts=False) as file:
        assert tmp_path / "s.verdicts.jsonl" not in file.finish(report())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.jsonl", "s.run.json"]


@pytest.mark.parametrize(("name", "result"), [
    ("a.jsonl", True), ("a.CSV", True), ("a.parquet", True), ("folder", True), ("a.html", False), ("a.json", False),
    ("a.xml", False), ("a.md", False),
])
def test_which_outputs_are_results(name: str, result: bool, tmp_path: Path) -> None:
    assert is_result(tmp_path / name) is result
    (tmp_path / "with.dot").mkdir()
    assert is_result(tmp_path / "with.dot")


def test_without_an_output_the_scores_are_there_for_the_summary_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with run(Path("report.html"), ["1"]) as file:
        assert [score.value for score in file.scores()] == [0.5, 1.0]
        assert file.finish(report()) == []
        assert not list(tmp_path.iterdir()), "its file has no name"


def test_scores_of_something_else_are_refused_with_the_way_out(tmp_path: Path) -> None:
    output = tmp_path / "s.jsonl"
    with run(output, ["1"]):
        pass
    before = partial_of(output).read_bytes()
    with pytest.raises(InputError, match="was made from other rows, metrics, models or settings") as refused:
        ScoreFile([output], fingerprint="other", taking="finished")
    assert "--resume" in refused.value.fix
    assert partial_of(output).read_bytes() == before
    with run(output, ["1"]) as file:
        file.finish(report())
    with pytest.raises(InputError, match="was made from other"):
        ScoreFile([output], fingerprint="other", taking="scored")
    (tmp_path / "s.run.json").unlink()
    with pytest.raises(InputError, match="nothing beside it tells how it was made"):
        ScoreFile([output], fingerprint="f", taking="finished")
    aside = ["s.jsonl.partial.1"]  # the rows of the run that was stopped: paid for, and not those of the one that finished
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.jsonl", *aside, "s.verdicts.jsonl"]


def test_systems_and_trials_are_rows_of_their_own_even_where_one_name_comes_twice(tmp_path: Path) -> None:
    output = tmp_path / "s.jsonl"
    keys: list[tuple[str, str, int | None]] = [("1", "a", None), ("1", "b", None), ("1", "a", 1), ("1", "a", 1)]
    with ScoreFile([output], fingerprint="f", taking="nothing") as file:
        for at, (name, system, trial) in enumerate(keys):
            assert file.taken(row(name, system, trial), 0) is None
            file.add(scores(name, at / 10, system=system, trial=trial), [])
    with ScoreFile([output], fingerprint="f", taking="finished") as file:
        taken = [file.taken(row(name, system, trial), 0) for name, system, trial in keys]
        assert [found[0].value for found in taken if found] == [0.0, 0.1, 0.2, 0.3]


def test_two_runs_cannot_write_one_output(tmp_path: Path) -> None:
    with run(tmp_path / "s.jsonl", ["1"]), pytest.raises(InputError, match="another run is writing it"):
        run(tmp_path / "s.jsonl", ["1"])


def test_further_outputs_are_locked_too_and_leave_nothing_behind(tmp_path: Path) -> None:
    both = [tmp_path / "a.jsonl", tmp_path / "b.csv"]
    with ScoreFile(both, fingerprint="f"), pytest.raises(InputError, match=r"b\.csv\.partial: another run is writing it"):
        ScoreFile([tmp_path / "c.jsonl", tmp_path / "b.csv"], fingerprint="f")
    assert list(tmp_path.iterdir()) == []
    with run(both[1], ["1"]):
        pass
    kept = partial_of(both[1]).read_bytes()
    with ScoreFile(both, fingerprint="f") as file:
        file.add(scores("1", 0.5), [])
        file.finish(report())
    assert partial_of(both[1]).read_bytes() == kept, "what another run left there is its own"


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_done(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written to") as refused:
        ScoreFile([tmp_path / "file" / "s.jsonl"], fingerprint="f", taking="nothing")
    assert refused.value.fix


def test_a_full_disk_is_one_error_and_every_row_before_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "s.jsonl"
    real = os.pwrite

    def full(file: int, data: bytes, at: int) -> int:
        real(file, bytes(data)[:10], at)
        raise OSError(errno.ENOSPC, "No space left on device")

    with run(output, ["1"]) as file:
        monkeypatch.setattr(os, "pwrite", full)
        with pytest.raises(IncompleteError, match=r"No space left on device; 1 finished rows are kept") as told:
            file.add(scores("2", 1.0), [])
        assert "--resume" in told.value.fix
        assert list(file.scores()) == scores("1", 0.5, 1.0)
        monkeypatch.undo()
    with ScoreFile([output], fingerprint="f", taking="finished") as file:
        assert file.taken(row("1"), None) is not None
        assert file.taken(row("2"), None) is None


def test_a_result_that_cannot_be_written_leaves_the_partial_file_and_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "s.jsonl"
    output.write_text("old")
    with run(output, ["1"]) as file:
        monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device")))
        with pytest.raises(InputError, match=r"s.jsonl: cannot be written: No space left on device; all 1 rows are kept in"):
            file.finish(report())
        monkeypatch.undo()
    assert output.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.jsonl", "s.jsonl.partial"]


def test_a_large_answer_in_a_verdict_and_hostile_texts_come_back(tmp_path: Path) -> None:
    texts = ["x" * 1_000_000, 'quote " brace } \n newline \x00 \u2028 =1+1', "\u202e"]
    found = [Verdict(question_id="1", metric="m@a", system="s", item=at, text=text) for at, text in enumerate(texts)]
    with ScoreFile([tmp_path / "s.jsonl"], fingerprint="f", taking="nothing") as file:
        file.add(scores("1", 0.5), found)
        file.finish(report())
    assert list(read_verdicts(tmp_path / "s.jsonl")) == found


def test_a_line_that_is_no_score_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps({"question_id": "1"}) + "\n")
    with pytest.raises(InputError, match=r"s.jsonl:1: is no score"):
        list(read_scores(path))


@pytest.mark.parametrize("finished", [False, True])
@pytest.mark.parametrize(("lacking", "resumed", "retried"), [
    (None, True, True), ("refused: the model refused", True, False), ("budget: the limit of 9 calls is reached", False, False),
])
def test_a_scored_row_that_lacks_verdicts_is_done_again(
    tmp_path: Path, lacking: str | None, resumed: bool, retried: bool, finished: bool,
) -> None:
    """An empty answer has its scores without the reference's claims; their verdicts belong into the file all the same."""
    output = tmp_path / "scores.jsonl"
    with ScoreFile([output], fingerprint="f") as file:
        file.add(scores("q1", 0.5), verdicts("q1")[:1], lacking=lacking)
        if finished:
            file.finish(report(complete=False))
    for taking, taken in (("finished", resumed), ("scored", retried)):
        with ScoreFile([output], fingerprint="f", taking=taking) as file:  # type: ignore[arg-type]
            assert (file.taken(row("q1"), None) is not None) == taken
