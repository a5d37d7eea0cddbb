"""`kgeval audit diff` and the reports of a diff: files in, forms and exit codes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from report_page import unpacked
from test_audit_diff import example, finding, report

from kgeval.auditing.diff import diff
from kgeval.auditing.report_files import read_audits
from kgeval.cli.audit import audit as command
from kgeval.errors import InputError
from kgeval.records import AuditDiff, AuditReport
from kgeval.reports.write import rendered

EXAMPLE = Path(__file__).parents[1] / "graphs" / "example-report.json"
COMPLETENESS = (EXAMPLE.parents[2] / "schemas" / "examples" / "completeness-report" / "valid" / "harbour.json").read_text(encoding="utf-8")


def call(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(one) for one in arguments], standalone_mode=False, catch_exceptions=True)


def written(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


@pytest.fixture
def old() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    return value


def test_the_command_writes_every_form_and_its_gate_sets_the_exit_code(old: dict[str, Any], tmp_path: Path) -> None:
    worse = json.loads(json.dumps(old))
    for one in worse["findings"]:
        if one["rule_id"] == "duplicate-name":
            one["count"], one["share"] = one["count"] * 2, one["share"] * 2
    a, b = written(tmp_path / "a.json", old), written(tmp_path / "b.json", worse)
    outputs = [word for ending in ("html", "md", "xml", "json") for word in ("-o", tmp_path / f"d.{ending}")]
    done = call("diff", a, b, "--fail-on-worse", "error", *outputs)
    assert done.return_value == 1 and "Duplicate names" in done.stdout
    assert "worse than before: duplicate-name" in done.stderr
    made = AuditDiff.model_validate_json((tmp_path / "d.json").read_text(encoding="utf-8"))
    assert made.run is not None and made.run.exit_code == 1 and len(made.run.inputs) == 2
    assert '<failure type="error"' in (tmp_path / "d.xml").read_text(encoding="utf-8")
    assert "116 of 1,284" in (tmp_path / "d.md").read_text(encoding="utf-8")
    assert call("diff", b, a, "--fail-on-worse", "info").return_value == 0
    assert call("diff", a, b).return_value == 0


def test_the_command_reads_files_of_several_graphs(old: dict[str, Any], tmp_path: Path) -> None:
    other = {**old, "graph": "second"}
    a, b = written(tmp_path / "a.json", {"reports": [old, other]}), written(tmp_path / "b.json", {"reports": [other, old]})
    done = call("diff", a, b, "-f", "json")
    made = AuditDiff.model_validate_json(done.stdout)
    assert [one.graph_after for one in made.graphs] == ["second", "museum"]
    assert "Graph second" in rendered(made, "text") and "second" in rendered(made, "html")


def test_a_graph_that_only_one_file_holds_is_no_pass(old: dict[str, Any], tmp_path: Path) -> None:
    other = {**old, "graph": "second"}
    both, one = written(tmp_path / "a.json", {"reports": [old, other]}), written(tmp_path / "b.json", {"reports": [old]})
    for sides, name in (((both, one), "a.json"), ((one, both), "a.json")):
        assert call("diff", *sides).return_value == 0
        done = call("diff", *sides, "--fail-on-worse", "error", "-o", tmp_path / "d.xml", "-f", "md")
        assert done.return_value == 3 and f"gate not answered: graph second is only in {tmp_path / name}" in done.stderr
        assert "Gate without an answer: graph second is only in" in done.stdout
        assert '<error type="unpaired"' in (tmp_path / "d.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize(("value", "words"), [
    ("{", "not JSON"), ("[]", "is no report"), ({"a": 1}, "is no report of kgeval"),
    ({"gold": {}, "levels": {}}, "is a completeness report"), ({"reports": []}, "holds no report"),
    ({"schema_version": "2", "layout": {}, "findings": [], "run": {}}, "schema version '2'"),
    ({"layout": {}, "findings": 7, "run": {}}, "layout.name: Field required"),
    ({"written": "x", "rules": []}, "is a ratchet file"), (COMPLETENESS, "is a completeness report"), ("", "is empty"),
])
def test_what_is_no_audit_report_is_refused_with_its_name(value: Any, words: str, tmp_path: Path) -> None:
    bad = written(tmp_path / "bad.json", value)
    with pytest.raises(InputError) as caught:
        read_audits(bad)
    assert words in str(caught.value) and "bad.json" in str(caught.value) and caught.value.fix


def test_a_schema_version_that_is_no_number_is_refused_like_another_one(tmp_path: Path) -> None:
    for version in ("\u00b2", "9" * 5000, "x", ""):
        (tmp_path / "r.json").write_text(json.dumps({"layout": {}, "findings": [], "run": {}, "schema_version": version}), encoding="utf-8")
        with pytest.raises(InputError, match="has schema version"):
            read_audits(tmp_path / "r.json")


def test_an_output_never_replaces_a_report_that_is_read(old: dict[str, Any], tmp_path: Path) -> None:
    a = written(tmp_path / "a.json", old)
    done = call("diff", a, EXAMPLE, "-o", a)
    assert "would replace a file that is read" in str(done.exception)
    assert json.loads(a.read_text(encoding="utf-8")) == old


def test_redaction_hashes_the_examples_and_keeps_types_and_counts() -> None:
    made = diff(report(finding(count=1, examples=[example("Ada")])), report(finding(count=1, examples=[example("Bob")])))
    for form in ("text", "md", "html", "json"):
        assert "Bob" in rendered(made, form)  # type: ignore[arg-type]
        hidden = unpacked(rendered(made, form, redact=True))  # type: ignore[arg-type]
        assert "Bob" not in hidden and "Ada" not in hidden


def test_the_diff_stands_in_the_audits_own_reports(old: dict[str, Any]) -> None:
    now = report(finding(count=2, examples=[example("<b>Bob"), example("Ada")]))
    then = report(finding(count=1, examples=[example("Ada")]))
    both = now.model_copy(update={"diff": diff(then, now, names=("last.json", "this audit"))})
    assert "Compared with last.json" in rendered(both, "text") and "1 worse" in rendered(both, "text")
    assert "## Compared with last" in rendered(both, "md") and "newly" not in rendered(both, "md")
    page = rendered(both, "html")
    assert 'id="diff"' in page and "&lt;b&gt;Bob" in page and "<b>Bob" not in page
    assert AuditReport.model_validate_json(rendered(both, "json")) == both
    assert "Bob" not in unpacked(rendered(both, "html", redact=True))
