"""`kgeval report` through the command line: forms, gates, exit codes, baselines, and what wrong input is told."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from overview_world import audited, example, finding, gate, mean, scored, wrote

from kgeval.cli.main import run
from kgeval.overview.kinds import KINDS
from kgeval.records import OverviewReport, PipelineRun, StageRun

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "130")


def good(folder: str, value: float = 0.5, bad: int = 0) -> str:
    values = {("a", "token_f1"): mean(value, value - 0.05, value + 0.05)}
    return str(wrote(Path(folder), scores=scored(values), audit=audited(finding("empty-name", bad))))


def told(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> tuple[str, str]:
    assert run(["report", *arguments]) == code, capsys.readouterr().err
    said = capsys.readouterr()
    return said.out, said.err


def test_all_forms_are_written_and_links_lead_to_the_pages(capsys: pytest.CaptureFixture[str]) -> None:
    good("run", bad=1)
    Path("run/audit.html").write_text("<p>the audit</p>", encoding="utf-8")
    files = [f"out/r{ending}" for ending in (".html", ".json", ".md", ".xml", ".sarif")]
    _, err = told(capsys, 0, "run", "-q", *(word for file in files for word in ("-o", file)))
    assert all(f"wrote {file}" in err for file in files)
    report = OverviewReport.model_validate_json(Path("out/r.json").read_text(encoding="utf-8"))
    assert [one.page for one in report.sources] == [str(Path("..") / "run" / "audit.html"), None]
    (link,) = set(re.findall(r'href="(\./[^"]*)"', Path("out/r.html").read_text(encoding="utf-8")))
    assert (Path("out") / link).resolve() == Path("run/audit.html").resolve()
    assert {Path(one.path).name for one in report.run.inputs} == {"audit.json", "scores.json"}
    assert all(one.sha256 for one in report.run.inputs)


def test_the_report_of_an_earlier_run_in_the_folder_is_no_source(capsys: pytest.CaptureFixture[str]) -> None:
    good("run")
    for _ in range(2):
        out, _ = told(capsys, 0, "run", "-o", "run/report.json", "-o", "run/report.html", "-f", "json")
    assert [one["kind"] for one in json.loads(out)["sources"]] == ["audit", "scores"]
    _, err = told(capsys, 2, "run/report.json")
    assert "made by kgeval report itself" in err and "--baseline" in err


def test_thresholds_and_fail_on_are_gates(capsys: pytest.CaptureFixture[str]) -> None:
    good("run", bad=2)
    told(capsys, 0, "run", "--threshold", "token_f1>=0.5")
    _, err = told(capsys, 1, "run", "--threshold", "a:token_f1>=0.6")
    assert "gate missed: a: token_f1 >= 0.6" in err
    _, err = told(capsys, 1, "run", "--fail-on", "warning", "-o", "r.json")
    assert "gate missed: fail-on no check of severity warning or worse fails" in err
    made = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert [(gate["met"], gate["value"]) for gate in made["gates"] if gate["name"] == "fail-on"] == [(False, 1)]
    assert not any("fail-on" in one["title"] for one in made["priorities"]), "the failed check is there itself"
    _, err = told(capsys, 3, "run", "--threshold", "faithfulness>=0.6")
    assert "gate not answered: faithfulness >= 0.6" in err
    _, err = told(capsys, 2, "run", "--threshold", "nonsense", "--threshold", "token_f1>=7", "--threshold", "token_f1==0.3")
    assert "'nonsense': this is not NAME>=X" in err and "7 is not a number from 0 to 1" in err and "'==0.3' is no limit" in err


def test_gates_over_nothing_that_was_judged_or_compared_have_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    """No audit among the sources; no figure that the baseline has too."""
    wrote(Path("scores"), scores=scored({("a", "mrr"): mean(0.5)}))
    wrote(Path("others"), scores=scored({("b", "token_f1"): mean(0.5)}))
    told(capsys, 0, "scores")
    _, err = told(capsys, 3, "scores", "--fail-on", "error")
    assert "gate not answered: fail-on" in err
    told(capsys, 3, "scores", "--baseline", "others", "--fail-on-worse")
    told(capsys, 0, "scores", "--baseline", "scores", "--fail-on-worse")


def test_a_missed_gate_of_a_source_is_exit_code_1_and_an_unfinished_source_3(capsys: pytest.CaptureFixture[str]) -> None:
    wrote(Path("missed"), scores=scored({("a", "mrr"): mean(0.2)}, gates=[gate("a", "mrr", 0.5, 0.2, False)]))
    out, _ = told(capsys, 1, "missed")
    assert "Gates: 1 missed." in out
    wrote(Path("cut"), scores=scored({("a", "mrr"): mean(0.2)}, complete=False))
    _, err = told(capsys, 3, "cut")
    assert "not complete: cut/scores.json: it was stopped before its end" in err


def test_a_failed_stage_is_exit_code_3_and_the_report_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    good("run")
    failed = StageRun(id="compare", kind="compare", command="kgeval compare", state="failed", fingerprint="f", reason="exit code 2")
    wrote(Path("run"), run=PipelineRun(kgeval="1.0", stages=[failed]))
    out, err = told(capsys, 3, "run", "-o", "r.md")
    assert "not complete: stage compare (failed)" in err and Path("r.md").is_file() and "compare (failed)" in out


def test_worse_than_the_baseline_fails_only_where_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    good("old", 0.7), good("new", 0.4)
    out, _ = told(capsys, 0, "new", "--baseline", "old")
    assert "0 better, 1 worse" in out
    told(capsys, 1, "new", "--baseline", "old", "--fail-on-worse")
    told(capsys, 0, "old", "--baseline", "new", "--fail-on-worse")
    out, _ = told(capsys, 0, "old", "--baseline", "old", "--fail-on-worse")
    assert "0 better, 0 worse, 0 within noise" in out
    _, err = told(capsys, 2, "old", "--fail-on-worse")
    assert "--baseline RUN" in err


def test_settings_come_from_kgeval_toml(capsys: pytest.CaptureFixture[str]) -> None:
    wrote(Path("run"), audit=audited(finding("empty-name", 2, names=("Ada",))))
    Path("kgeval.toml").write_text('[report]\noutputs = ["from-toml.md"]\nredact = true\n', encoding="utf-8")
    told(capsys, 0, "run", "-q", "--title", "Secret")
    text = Path("from-toml.md").read_text(encoding="utf-8")
    assert "Secret" not in text and "empty-name" in text
    Path("bad.toml").write_text("[report]\ncolour = 1\n", encoding="utf-8")
    _, err = told(capsys, 2, "run", "-c", "bad.toml")
    assert "report.colour: unknown key" in err


def test_wrong_input_is_told_before_anything_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    good("run")
    Path("empty").mkdir()
    Path("cut.json").write_text("{", encoding="utf-8")
    for arguments, words in (
        (["empty"], "no report of kgeval in empty"), (["cut.json"], "cut.json:1: not JSON"), (["none"], "does not exist"),
        (["run", "--baseline", "cut.json"], "cut.json:1: not JSON"), (["run", "-o", "x.pdf"], "unknown ending '.pdf'"),
        (["run/audit.json", "-o", "run/audit.json"], "would replace a file that is read"), ([], "Missing argument"),
    ):
        assert words in told(capsys, 2, *arguments)[1], arguments
    assert not Path("x.pdf").exists()


def test_an_output_never_replaces_a_report_that_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    good("run")
    before = Path("run/audit.json").read_bytes()
    _, err = told(capsys, 2, "run", "-o", "run/audit.json")
    assert "would replace a file that is read" in err and Path("run/audit.json").read_bytes() == before


@pytest.mark.slow
def test_every_kind_of_report_goes_in_by_itself_and_all_together(capsys: pytest.CaptureFixture[str]) -> None:
    for kind in KINDS:
        assert run(["report", str(example(kind)), "-f", "md"]) in (0, 1, 3), kind
        capsys.readouterr()
    out, _ = told(capsys, 3, *(str(example(kind)) for kind in KINDS), "-f", "json")
    assert {one["kind"] for one in json.loads(out)["sources"]} == set(KINDS)
