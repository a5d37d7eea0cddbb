"""Files of other judges: who won, read from any tool's fields; every fault at once with file, line, field and way out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgeval.errors import InputError, UsageError
from kgeval.records import ComparisonVerdict
from kgeval.tables.cells import Misfit
from kgeval.tables.label_files import read_anchors, read_labels, read_shares
from kgeval.tables.score_tables import ScoreSelection, read_score_tables
from kgeval.tables.verdict_files import VerdictsWanted, pairs_of, read_verdicts
from kgeval.tables.winners import coding_of, said_by


def wrote(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def verdicts(path: Path, **wanted: object) -> list[ComparisonVerdict]:
    return list(read_verdicts([path], VerdictsWanted(**wanted)).verdicts)  # type: ignore[arg-type]


def test_evalicas_csv_is_read_row_by_row(tmp_path: Path) -> None:
    path = wrote(tmp_path, "duels.csv", "left,right,winner\nx,y,left\nx,y,right\ny,x,tie\nx,y,draw\n")
    found = read_verdicts([path], VerdictsWanted())
    assert [one.winner for one in found.verdicts] == ["a", "b", "tie", "tie"]
    assert len({one.question_id for one in found.verdicts}) == 4
    assert found.by_row and "no question ids" in found.notes[0]
    assert pairs_of(found.verdicts) == [("x", "y")]


def test_fastchats_two_games_are_two_calls_with_exchanged_places(tmp_path: Path) -> None:
    row = {"question_id": 81, "model_1": "x", "model_2": "y", "g1_winner": "model_1", "g2_winner": "model_2", "turn": 2}
    found = verdicts(wrote(tmp_path, "mt.jsonl", lines(row, {**row, "question_id": 82, "g2_winner": "error"})))
    assert [(one.question_id, one.first, one.winner, one.aspect) for one in found] == [
        ("81", "x", "a", "turn 2"), ("81", "y", "b", "turn 2"), ("82", "x", "a", "turn 2"), ("82", "y", None, "turn 2"),
    ]
    assert found[3].failure == "no winner"


def test_benchmark_qeds_trials_are_exchanges_of_positions(tmp_path: Path) -> None:
    rows = [
        {"question": "q", "answer_1_name": "x", "answer_2_name": "y", "criteria": "diversity", "x_score": 1.0, "y_score": 0.0, "trial": 0},
        {"question": "q", "answer_1_name": "y", "answer_2_name": "x", "criteria": "diversity", "x_score": 0.5, "y_score": 0.5, "trial": 1},
        {"question": "q", "answer_1_name": "x", "answer_2_name": "y", "criteria": "diversity", "x_score": 0.0, "y_score": 1.0, "trial": 2},
    ]
    found = verdicts(wrote(tmp_path, "qed.jsonl", lines(*rows)))
    assert [(one.first, one.trial, one.winner, one.aspect) for one in found] == [
        ("x", 0, "a", "diversity"), ("y", 0, "tie", "diversity"), ("x", 1, "b", "diversity"),
    ]


def test_judgekits_swapped_rows_say_who_stood_first(tmp_path: Path) -> None:
    row = {"kind": "pairwise", "item_id": "i1", "judge_id": "j", "sample_index": 0, "choice": "a", "swapped": False, "a_len": 9, "b_len": 4}
    found = verdicts(wrote(tmp_path, "jk.jsonl", lines(row, {**row, "swapped": True}, {**row, "sample_index": 1, "choice": "tie"})))
    assert [(one.first, one.winner, one.trial) for one in found] == [("a", "a", 0), ("b", "a", 0), ("a", "tie", 1)]
    assert (found[0].length_a, found[0].length_b) == (9, 4)


def test_kgevals_own_verdicts_come_back_as_they_were(tmp_path: Path) -> None:
    one = ComparisonVerdict(
        question_id="q", system_a="x", system_b="y", first="y", trial=2, repeat=2, aspect="relevance", score_a=4, score_b=2, winner="a",
        length_a=10, length_b=12, aligned=True, dataset="d", level="node",
    )
    gone = one.model_copy(update={"trial": 3, "score_a": None, "score_b": None, "winner": None, "failure": "timeout: 60 s"})
    assert verdicts(wrote(tmp_path, "v.jsonl", one.model_dump_json() + "\n" + gone.model_dump_json() + "\n")) == [one, gone]


@pytest.mark.parametrize(("values", "coding"), [
    (["1", "2", "0"], {1.0: "a", 2.0: "b", 0.0: "tie"}), ([1, 1.5, 2], {1.0: "a", 1.5: "tie", 2.0: "b"}),
    (["1", "-1", "0"], {1.0: "a", -1.0: "b", 0.0: "tie"}), (["1", "0.5", "0"], {1.0: "a", 0.5: "tie", 0.0: "b"}), (["1"], {1.0: "a"}),
])
def test_numbers_are_read_where_only_one_coding_fits(values: list[object], coding: dict[float, str]) -> None:
    assert coding_of(values, {}).numbers == coding


@pytest.mark.parametrize("values", [["0", "1"], ["0"], ["7"], ["1", "-1", "2"]])
def test_numbers_that_may_mean_two_things_are_not_guessed(values: list[str]) -> None:
    with pytest.raises(Misfit):
        coding_of(values, {})


def test_winner_tells_what_the_numbers_mean(tmp_path: Path) -> None:
    path = wrote(tmp_path, "v.csv", "question_id,left,right,winner\nq1,x,y,1\nq2,x,y,0\n")
    with pytest.raises(InputError, match="different things") as wrong:
        verdicts(path)
    assert "--winner" in wrong.value.fix
    assert [one.winner for one in verdicts(path, winners=said_by(["1=a", "0=b"]))] == ["a", "b"]
    with pytest.raises(UsageError):
        said_by(["1:a"])


def test_every_fault_is_told_at_once_with_its_line_and_field(tmp_path: Path) -> None:
    path = wrote(tmp_path, "v.csv", (
        "question_id,left,right,winner,score_a,score_b\nq1,x,y,left,1,0\nq1,x,y,right,0,1\n,x,y,left,,\nq2,x,x,left,,\nq3,x,y,perhaps,,\n"
        "q4,x,y,,inf,1\nq5,x,y,,9,1\n"
    ))
    with pytest.raises(InputError) as wrong:
        verdicts(path, range=(0.0, 5.0))
    told = "\n".join(wrong.value.faults)
    for part in (
        "v.csv:3: a second verdict for the place of v.csv:2", "v.csv:4: question_id: the id of the question is lacking",
        "v.csv:5: right: 'x' stands against itself", "v.csv:6: winner: 'perhaps' is no winner",
        "v.csv:7: score_a: a finite number expected", "v.csv:8: winner: 9 is outside the range 0 to 5",
    ):
        assert part in told
    assert len(wrong.value.faults) == 6
    assert "--winner" in wrong.value.fix and "--map trial=FIELD" in wrong.value.fix


def test_a_system_named_like_the_word_for_the_other_side_is_not_guessed(tmp_path: Path) -> None:
    path = wrote(tmp_path, "v.csv", "question_id,left,right,winner\nq1,b,a,a\n")
    with pytest.raises(InputError, match="name of one system and the word for the other"):
        verdicts(path)


def test_fields_of_other_names_are_mapped_and_wrong_maps_refused(tmp_path: Path) -> None:
    path = wrote(tmp_path, "v.csv", "frage,one,two,better\nq1,x,y,x\n")
    with pytest.raises(InputError, match="no field for winner"):
        verdicts(path)
    maps = {"question_id": "frage", "system_a": "one", "system_b": "two", "winner": "better"}
    assert verdicts(path, maps=maps)[0].winner == "a"
    with pytest.raises(UsageError, match="no file has a field 'gone'"):
        verdicts(path, maps={"winner": "gone"})
    with pytest.raises(UsageError, match="'wins' is none of"):
        verdicts(path, maps={"wins": "better"})


def test_scores_are_read_from_long_wide_and_single_files_alike(tmp_path: Path) -> None:
    long = wrote(tmp_path, "long.csv", "question_id,system,score\nq1,x,0.5\nq1,y,1\nq2,x,\nq2,y,nan\n")
    wide = wrote(tmp_path, "wide.csv", "question_id,question,x,y\nq1,why?,0.5,1\nq2,how?,,nan\n")
    single = [wrote(tmp_path, f"{name}.jsonl", lines({"id": "q1", "score": score}, {"id": "q2", "score": None})) for name, score in
              (("x", 0.5), ("y", 1))]
    told = [
        sorted((cell.question_id, cell.system, cell.value, cell.cause) for cell in read_score_tables(paths, ScoreSelection()).cells)
        for paths in ([long], [wide], single)
    ]
    assert told[0] == [("q1", "x", 0.5, None), ("q1", "y", 1.0, None), ("q2", "x", None, "no score"), ("q2", "y", None, "no score")]
    assert told[0] == told[1] == told[2]


def test_unscored_rows_of_kgeval_keep_their_cause(tmp_path: Path) -> None:
    row = {"question_id": "q", "system": "x", "metric": "m", "value": None, "status": "unscored", "reason": "timeout: 60 s", "trial": None}
    other = {**row, "question_id": "p", "status": "not_applicable", "reason": "no reference"}
    cells = read_score_tables([wrote(tmp_path, "s.jsonl", lines(row, other))], ScoreSelection()).cells
    assert [cell.cause for cell in cells] == ["timeout", "not applicable"]


def test_faults_of_scores_are_told_at_once(tmp_path: Path) -> None:
    wide = wrote(tmp_path, "wide.csv", "question_id,x,y\nq1,0.5,1\nq2,inf,2\n,0.1,0.2\nq3,abc,0.3\nq1,0.1,0.1\n")
    with pytest.raises(InputError) as wrong:
        read_score_tables([wide], ScoreSelection(range=(0.0, 1.0)))
    told = "\n".join(wrong.value.faults)
    for part in (
        "wide.csv:3: x: a finite number expected", "wide.csv:3: y: 2 is outside the range 0 to 1", "wide.csv:4: question_id: is empty",
        "wide.csv:5: x: a number expected, found 'abc'", "wide.csv:6: a second score of 'x' for the place of wide.csv:2",
    ):
        assert part in told


def test_judgekits_own_scale_bounds_its_scores(tmp_path: Path) -> None:
    row = {"kind": "graded", "item_id": "i", "candidate_model": "x", "score": 6, "scale_min": 1, "scale_max": 5}
    with pytest.raises(InputError, match="6 is outside the range 1 to 5"):
        read_score_tables([wrote(tmp_path, "g.jsonl", lines(row))], ScoreSelection())


@pytest.mark.parametrize("ending", [".parquet", ".json", ".tsv"])
def test_scores_come_in_other_forms_too(tmp_path: Path, ending: str) -> None:
    rows = [{"question_id": "q1", "system": "x", "score": 0.25}, {"question_id": "q1", "system": "y", "score": 0.75}]
    path = tmp_path / f"s{ending}"
    if ending == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), path)
    elif ending == ".json":
        path.write_text(json.dumps(rows))
    else:
        path.write_text("question_id\tsystem\tscore\nq1\tx\t0.25\nq1\ty\t0.75\n")
    assert [(cell.system, cell.value) for cell in read_score_tables([path], ScoreSelection()).cells] == [("x", 0.25), ("y", 0.75)]


def test_labels_are_winners_or_numbers_and_empty_ones_are_not_yet_given(tmp_path: Path) -> None:
    path = wrote(tmp_path, "l.csv", "question_id,system_a,system_b,label\nq1,x,y,a\nq2,x,y,y\nq3,x,y,tie\nq4,x,y,0.4\nq5,x,y,\n")
    assert [(one.question_id, one.value) for one in read_labels([path])] == [("q1", 1.0), ("q2", -1.0), ("q3", 0.0), ("q4", 0.4)]


def test_faulty_labels_are_told_at_once(tmp_path: Path) -> None:
    path = wrote(tmp_path, "l.csv", "question_id,system_a,system_b,label\nq1,x,y,2.5\nq2,x,y,maybe\nq3,x,x,a\nq4,x,y,a\nq4,y,x,a\n")
    with pytest.raises(InputError) as wrong:
        read_labels([path])
    told = "\n".join(wrong.value.faults)
    for part in ("l.csv:2: label", "l.csv:3: label: 'maybe' is no label", "l.csv:4: system_b", "l.csv:6: a second label of 'l'"):
        assert part in told


def test_anchors_are_read_with_labels_by_aspect(tmp_path: Path) -> None:
    path = wrote(tmp_path, "a.csv", "id,question,answer_a,answer_b,label,label_relevance\n1,Who?,Ann,Bob,a,b\n2,Why?,So,So,tie,\n")
    one, two = read_anchors(path)
    assert (one.id, one.label, one.aspects) == ("1", "a", {"relevance": "b"})
    assert (two.label, two.aspects) == ("tie", {})


def test_faulty_anchors_are_told_at_once(tmp_path: Path) -> None:
    path = wrote(tmp_path, "a.csv", (
        "id,question,answer_a,answer_b,label\n1,Who?,Ann,Bob,a\n1,Who?,Ann,Bob,b\n2,,Ann,Bob,a\n3,Who?,Ann,Bob,best\n4,Who?,Ann,Ann,a\n5,W?,A,B,\n"
    ))
    with pytest.raises(InputError) as wrong:
        read_anchors(path)
    told = "\n".join(wrong.value.faults)
    for part in (
        "a.csv:3: id: '1' stands twice", "a.csv:4: question: is empty", "a.csv:5: label: 'best' is no winner",
        "a.csv:6: label: both answers are the same text", "a.csv:7: label: is empty",
    ):
        assert part in told
    with pytest.raises(InputError, match="no field for answer_b"):
        read_anchors(wrote(tmp_path, "b.csv", "id,question,answer_a,label\n1,Who?,Ann,a\n"))


def test_a_share_file_needs_the_judge_on_every_row(tmp_path: Path) -> None:
    good = wrote(tmp_path, "s.csv", "judge,human,question_id\n1,1,q1\n0,,q1\n")
    rows, notes = read_shares([good], {})
    assert [(row.judge, row.human, row.cluster) for row in rows] == [(1.0, 1.0, "q1"), (0.0, None, "q1")]
    assert notes == []
    with pytest.raises(InputError) as wrong:
        read_shares([wrote(tmp_path, "t.csv", "judge,human\n,1\n1.5,0\n1,x\n")], {})
    assert [fault.split(": ", 1)[0] for fault in wrong.value.faults] == ["t.csv:2", "t.csv:3", "t.csv:4"]
