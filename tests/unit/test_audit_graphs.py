"""Several graphs side by side: the same figures as rows, a column a graph, whatever was audited where."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from test_audit_diff import example, finding, report, run_of

import kgeval
from kgeval.auditing.side_by_side import side_by_side, with_tokens
from kgeval.cli.audit import audit as command
from kgeval.cli.main import run
from kgeval.errors import ConnectError, GateError, QueryError
from kgeval.records import AuditReport, GraphsReport
from kgeval.reports.write import rendered
from kgeval.workflows import audit_several
from kgeval.workflows.audit_several import is_file_name
from kgeval.workflows.session import Session

EXAMPLE = Path(__file__).parents[1] / "graphs" / "example-report.json"
HOSTILE = "=1+1 <script>alert(1)</script> | \x1b[31m"


def small(name: str, entities: int, relations: int, **more: Any) -> AuditReport:
    counts = {"entities": entities, "relations": relations, "entities_by_type": {"T": entities}}
    numbers = {**counts, "average_degree": 2 * relations / entities}
    return report(graph=name, structure={**numbers, **more})


def call(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(one) for one in arguments], standalone_mode=False)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two reports: 4 entities with 3 relations and a failed check, 8 entities with 12 relations and none."""
    one = small("one", 4, 3).model_copy(update={"findings": [finding(count=1, total=4, severity="error", examples=[example("Ada")])]})
    two = small("two", 8, 12).model_copy(update={"findings": [finding(count=0, total=8, severity="error")]})
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, made in zip(paths, (one, two), strict=True):
        path.write_text(rendered(made, "json"), encoding="utf-8")
    return paths


def test_a_row_has_the_figure_of_every_graph_and_null_where_there_is_none() -> None:
    made = side_by_side(["a", "b"], [small("a", 4, 3, diameter=2), small("b", 8, 12)], run_of())
    assert {row.id: row.values for row in made.figures} == {
        "entities": [4, 8], "relations": [3, 12], "average_degree": [1.5, 3.0], "diameter": [2, None],
    }
    assert [row.id for row in made.figures][:3] == ["entities", "relations", "average_degree"], "in the order of the figures' page"


def test_a_check_that_one_graph_cannot_answer_has_its_reason_and_no_count() -> None:
    first, second = report(finding(count=1)), report(finding(count=None, reason="no chunks", severity="error"), finding("other", 0))
    rows = side_by_side(["a", "b"], [first, second], run_of()).checks
    assert [(row.rule_id, row.severity) for row in rows] == [("isolated-entity", "error"), ("other", "warning")]
    assert (rows[0].cells[1].status, rows[0].cells[1].count, rows[0].cells[1].reason) == ("skipped", None, "no chunks")
    assert rows[1].cells[0].status is None


def test_densities_come_from_the_counts_and_the_tokens_of_the_corpus() -> None:
    told = with_tokens(small("a", 4, 3), 500).structure
    assert (told["tokens"], told["entities_per_1k_tokens"], told["relations_per_10k_tokens"]) == (500, 8.0, 60.0)
    own = small("b", 4, 3, tokens=100)
    assert with_tokens(own, 500) is own, "a report that counted its own tokens keeps them"
    skipped = small("c", 4, 3).model_copy(update={"structure_skipped": with_skips("tokens", "entities_per_1k_tokens", "diameter")})
    assert [skip.ids for skip in with_tokens(skipped, 500).structure_skipped] == [["diameter"]]
    assert "entities_per_1k_tokens" not in with_tokens(small("d", 4, 3), 0).structure


def with_skips(*ids: str) -> list[Any]:
    return report(structure_skipped=[{"ids": list(ids), "reason": "no texts"}]).structure_skipped


def test_what_the_columns_do_not_share_is_said() -> None:
    one = small("a", 4, 3, tokens=10).model_copy(update={"findings": [finding(settings={"n": 1})]})
    two = small("b", 4, 3, tokens=20).model_copy(update={"run": run_of(kgeval="0.2.0"), "findings": [finding(settings={"n": 2})]})
    notes = side_by_side(["a", "b"], [one, two], run_of()).notes
    assert [note.split(":")[0] for note in notes] == [
        "the graphs have different versions of kgeval", "the graphs have different texts that tokens were counted over (tokens)",
        "asked with different settings or thresholds, not to be compared",
    ]


@pytest.mark.slow
def test_report_files_are_put_side_by_side_without_a_database(files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("ship " * 500, encoding="utf-8")
    outputs = [word for ending in ("html", "md", "csv", "json") for word in ("-o", tmp_path / f"g.{ending}")]
    done = call(*files, "--corpus", tmp_path / "corpus.txt", *outputs)
    assert done.return_value == 0
    made = GraphsReport.model_validate_json((tmp_path / "g.json").read_text(encoding="utf-8"))
    assert made.names == ["one", "two"] and [len(row.values) for row in made.figures] == [2] * len(made.figures)
    densities = {row.id: row.values for row in made.figures}["entities_per_1k_tokens"]
    assert densities[1] == pytest.approx(2 * densities[0])
    page = (tmp_path / "g.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 5, "a plot for each of entities, relations, two densities, average degree"
    table = list(csv.reader(io.StringIO((tmp_path / "g.csv").read_text(encoding="utf-8"))))
    assert table[0] == ["kind", "id", "one", "two"] and ["figure", "entities", "4", "8"] in table
    assert ["status", "isolated-entity", "failed", "passed"] in table
    again = call(tmp_path / "g.json", "-f", "json")
    assert GraphsReport.model_validate_json(again.stdout).figures == made.figures, "its own JSON is read back"


def test_the_exit_code_is_the_worst_of_all(files: list[Path], tmp_path: Path) -> None:
    assert call(*files, "-q").return_value == 0
    assert call(*files, "-q", "--fail-on", "error").return_value == 1
    value = json.loads(files[1].read_text(encoding="utf-8"))
    value["findings"][0] |= {"status": "incomplete", "count": None}
    files[1].write_text(json.dumps(value), encoding="utf-8")
    assert call(*files, "-q", "--fail-on", "error").return_value == 3


def test_waived_and_known_hits_are_counted_beside_each_other_too() -> None:
    one = report(finding(count=5, suppressed=2, known=3, status="passed"))
    made = side_by_side(["a", "b"], [one, report(finding(count=1, total=10))], run_of())
    for form in ("text", "md", "html"):
        assert "50.0 % (5; 2 waived; 3 known)" in rendered(made, form), form
    rows = {(row[0], row[1]): row[2:] for row in csv.reader(io.StringIO(rendered(made, "csv")))}
    assert rows["suppressed", "isolated-entity"] == ["2", "0"] and rows["known", "isolated-entity"] == ["3", "0"]


def test_names_in_csv_are_no_formulas_and_no_codes_of_a_terminal() -> None:
    made = side_by_side(["=1+1", "\t=1", "a\x1b[31m\u202e"], [report(finding(count=1))] * 3, run_of())
    assert rendered(made, "csv").splitlines()[0] == "kind,id,'=1+1,'\t=1,a[U+001B][31m[U+202E]"


def test_a_report_whose_figures_timed_out_stays_incomplete(files: list[Path]) -> None:
    value = json.loads(files[0].read_text(encoding="utf-8"))
    value["run"]["exit_code"] = 3
    files[0].write_text(json.dumps(value), encoding="utf-8")
    assert call(*files, "-q").return_value == 3


def test_a_word_is_a_file_if_it_ends_with_json_or_is_a_page_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.md").write_text("#", encoding="utf-8")
    assert [is_file_name(word) for word in ("r.json", "here.md", "novel.md", "x.HTML", "G")] == [True, True, False, False, False]


class Lost:
    """Stands for an open graph; each graph's audit is a report or an error."""

    info = None

    def __init__(self, **outcomes: AuditReport | BaseException) -> None:
        self.outcomes, self.asked = outcomes, list[str]()

    def audit(self, session: object, prepared: object, name: str, *, bound: object) -> tuple[AuditReport, None]:
        self.asked.append(name)
        if isinstance(found := self.outcomes[name], BaseException):
            raise found
        return found, None


@pytest.fixture
def audit_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[int, GraphsReport]]:
    """Audits the graphs of a stand-in side by side: exit code and report."""
    monkeypatch.chdir(tmp_path)

    def audited(lost: Lost, *more: str) -> tuple[int, GraphsReport]:
        monkeypatch.setattr(Session, "graph", lost)
        monkeypatch.setattr(audit_several, "_bound", lambda session, names: dict.fromkeys(names))
        monkeypatch.setattr(audit_several, "audited", lost.audit)
        code = command.main([*lost.outcomes, "-q", "--no-progress", "-o", "g.json", *more], standalone_mode=False)
        return code, GraphsReport.model_validate_json((tmp_path / "g.json").read_text(encoding="utf-8"))

    return audited


def test_what_is_finished_outlives_the_failure_of_another_graph(
    audit_of: Callable[..., tuple[int, GraphsReport]], capsys: pytest.CaptureFixture[str],
) -> None:
    one, three = small("one", 4, 3), small("three", 8, 12)
    lost = Lost(one=one, two=QueryError("the schema of Ada is broken"), three=three)
    code, made = audit_of(lost)
    assert (code, made.names, lost.asked) == (3, ["one", "three"], ["one", "two", "three"])
    assert made.notes[0] == "graph two could not be audited: the schema of Ada is broken"
    err = capsys.readouterr().err
    assert "graph two could not be audited: the schema of Ada" in err and "auditing one" not in err, "--no-progress"
    assert "Ada" not in rendered(made, "json", redact=True) and "graph two could not be audited (#" in rendered(made, "json", redact=True)


def test_a_lost_server_is_not_asked_again_and_without_any_report_it_is_an_error(
    audit_of: Callable[..., tuple[int, GraphsReport]],
) -> None:
    lost = Lost(one=small("one", 4, 3), two=ConnectError("gone"), three=small("three", 8, 12))
    code, made = audit_of(lost)
    assert (code, made.names, lost.asked) == (3, ["one"], ["one", "two"])
    assert made.notes[:2] == ["graph two could not be audited: gone", "stopped before these were audited: three"]
    with pytest.raises(ConnectError, match="gone"):
        audit_of(Lost(one=ConnectError("gone"), two=small("two", 4, 3)))


def test_an_interrupted_command_keeps_what_was_done_and_a_call_of_python_is_interrupted(
    audit_of: Callable[..., tuple[int, GraphsReport]],
) -> None:
    lost = Lost(one=small("one", 4, 3), two=KeyboardInterrupt(), three=small("three", 8, 12))
    code, made = audit_of(lost)
    assert (code, made.names, made.notes[0]) == (130, ["one"], "interrupted before these were audited: two, three")
    with pytest.raises(KeyboardInterrupt):
        kgeval.audit("bolt://127.0.0.1:1", graph=["one", "two", "three"], config=False)


def test_the_gates_of_every_graph_are_gates_of_the_result(files: list[Path]) -> None:
    both = kgeval.audit("bolt://127.0.0.1:1", graph=files, fail_on="error", config=False)
    gates = [(f"{gate.of}: {gate.name}", gate.met) for gate in both.gates]
    assert (both.exit_code, gates) == (1, [("one: fail-on", False), ("two: fail-on", True)])
    assert both.messages == ["gate missed: one: fail-on no check of severity error fails (1: isolated-entity)"]
    with pytest.raises(GateError, match=re.escape(both.messages[0])):
        both.raise_for_gates()
    assert "| one: fail-on no check of severity error fails | 1 | **missed** | isolated-entity |" in both.rendered("md")


def test_graphs_of_one_name_are_told_apart_by_their_files(files: list[Path], tmp_path: Path) -> None:
    other = tmp_path / "c.json"
    other.write_text(files[0].read_text(encoding="utf-8"), encoding="utf-8")
    done = call(files[0], other, files[1], "-f", "json")
    assert json.loads(done.stdout)["names"] == ["one (a.json)", "one (c.json)", "two"]


@pytest.mark.parametrize(("arguments", "words"), [
    (["a.json"], "one report has nothing to stand beside"), (["a.json", "a.json"], "is given twice"),
    (["a.json", "nowhere.json"], "no such file"), (["a.json", "b.html"], "only the JSON form"), (["G", "G", "x.json"], "G: is given twice"),
    (["a.json", "b.json", "--graph", "G"], "named as arguments and by --graph"),
    (["a.json", "b.json", "-o", "r.sarif"], "has no form '.sarif'"),
    (["a.json", "b.json", "-f", "xml"], "has no form 'xml'"), (["a.json", "b.json", "-o", "a.json"], "would replace a file that is read"),
    (["a.json", "b.json", "--fail-on-worse", "error"], "needs an earlier report"),
    (["a.json", "b.json", "--baseline", "nowhere.json"], "nowhere.json: no such file"),
])
def test_wrong_graphs_are_named_before_anything_runs(
    arguments: list[str], words: str, files: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(files[0].parent)
    Path("b.html").write_text("<p>", encoding="utf-8")
    assert run(["audit", *arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.slow
def test_hostile_names_stay_names_in_every_form() -> None:
    made = side_by_side([HOSTILE, "b"], [small(HOSTILE, 4, 3), small("b", 8, 12)], run_of())
    assert "<script>alert" not in rendered(made, "html") and "<script>alert" not in rendered(made, "md")
    assert "\x1b" not in rendered(made, "text")
    assert rendered(made, "csv").splitlines()[0].startswith("kind,id,'=1+1")


def test_redaction_leaves_names_out_of_every_column() -> None:
    one = report(finding(count=1, examples=[example("Ada")]), graph="a")
    made = side_by_side(["a", "b"], [one, one], run_of())
    assert "Ada" in rendered(made, "json") and "Ada" not in rendered(made, "json", redact=True)


def test_a_graph_called_diff_and_the_command_of_that_name_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "diff", "--help"]) == 0
    assert "BEFORE.json" in capsys.readouterr().out
    assert run(["audit", "--help"]) == 0
    told = capsys.readouterr().out
    assert "[GRAPH | REPORT.json]" in told and "diff" in told and "--baseline" in told


def test_many_graphs_fit_a_terminal_in_parts() -> None:
    names = [f"graph number {n}" for n in range(7)]
    made = side_by_side(names, [small(name, n + 1, n) for n, name in enumerate(names)], run_of())
    shown = rendered(made, "text")
    assert sum(line.startswith("Figure ") for line in shown.splitlines()) > 1, "each part has the names of the figures"
    assert all(name in shown.partition("Figures")[2] for name in names)
    assert max(map(len, shown.splitlines())) <= 100
