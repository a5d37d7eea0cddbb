"""`import kgeval`: what it gives, what it costs to import, and what is said of arguments that cannot be used. Without a server."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import neo4j
import numpy as np
import pandas as pd
import pytest
from test_audit_diff import example, finding, report

import kgeval
from kgeval.cli.derive import given_of
from kgeval.config import AuditOptions, Config
from kgeval.errors import ConfigError, ConnectError, InputError, UsageError
from kgeval.records import Gate
from kgeval.reports.write import rendered
from kgeval.workflows.api import AUDIT
from kgeval.workflows.audit import AuditResult, audit_request
from kgeval.workflows.imports import ImportResult
from kgeval.workflows.keywords import Connection
from kgeval.workflows.result import Result

NOWHERE = "bolt://127.0.0.1:1"
PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_DATABASE", "NEO4J_PASSWORD"):
        monkeypatch.delenv(name, raising=False)


def test_importing_it_loads_nothing_heavy_and_every_public_name_is_there() -> None:
    code = "import sys, kgeval; print(*sorted({name.partition('.')[0] for name in sys.modules} & set(sys.argv[1:])))"
    heavy = ["neo4j", "pandas", "numpy", "pydantic", "click", "graphdatascience", "openai", "torch", "rich", "pyarrow", "pytest"]
    done = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
    for name in kgeval.__all__:
        assert getattr(kgeval, name) is not None and name in dir(kgeval)
        assert name == "__version__" or inspect.getdoc(getattr(kgeval, name)), name
    with pytest.raises(AttributeError, match="no attribute 'audits'"):
        _ = kgeval.audits  # type: ignore[attr-defined]


def test_the_page_lists_the_public_names_and_no_other() -> None:
    table = PAGE.partition("\n## Names\n")[2].partition("\n\nRecords are frozen")[0]
    listed = [name for name in re.findall(r"`([\w.]+)`", table) if name != "result.report"]
    assert sorted(listed) == sorted(kgeval.__all__) == sorted({*kgeval._PUBLIC, "__version__"})


FUNCTIONS = [name for name, module in kgeval._PUBLIC.items() if module == "kgeval.workflows.api"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_is_typed_and_its_docstring_is_a_contract(name: str) -> None:
    function = getattr(kgeval, name)
    text, parts = inspect.getdoc(function) or "", ("Args:", "Returns:", "Raises:")
    assert [text.count(f"\n{part}") for part in parts] == [1, 1, 1], "each part once"
    assert sorted(parts, key=text.index) == list(parts) and "{options}" not in text
    arguments = text.partition("Args:")[2].partition("Returns:")[0]
    parameters = [one for one in inspect.signature(function).parameters.values() if one.kind is not one.VAR_KEYWORD]
    assert all(one.annotation is not one.empty for one in parameters) and function.__annotations__["return"]
    shared = set(Connection.model_fields)  # `connect` has them, the others say "those of `connect`"
    needed = shared | {"connection"} if name == "connect" else {one.name for one in parameters} - shared
    missing = [one for one in needed if not re.search(rf"(^|[\s,`]){one}`?( \(|:|,)", arguments)]
    assert not missing and (name == "connect" or "`connect`" in arguments)


def test_help_signature_and_page_have_every_option_of_the_one_definition() -> None:
    signature, text = inspect.signature(kgeval.audit), inspect.getdoc(kgeval.audit) or ""
    for name, field in AuditOptions.model_fields.items():
        assert signature.parameters[name].default == field.get_default(call_default_factory=True)
        assert f"\n{name} (" in text.replace("    ", ""), name
        assert f"| `{name}` |" in PAGE, name


def test_what_a_command_was_given_holds_a_zero_and_not_what_was_left_out() -> None:
    given = {"examples": 0, "seed": None, "checks": (), "no_structure": False, "fail_on": "error", "settings": ("a.b=1", "a.c = x=y")}
    assert given_of(AuditOptions, given) == {"examples": 0, "fail_on": "error", "settings": {"a.b": "1", "a.c": "x=y"}}


def test_values_come_as_python_has_them() -> None:
    given: dict[str, Any] = {"checks": "names", "skip": ["vectors"], "schema_file": Path("s.toml"), "corpus": "texts"}
    given |= {"examples": np.int64(3), "timeout": None}
    request = audit_request(Config(), {**given, "settings": {"super-node.min_degree": 50, "inverse-duplicate.any_label": True}})
    made = request.options
    assert (made.checks, made.skip, made.schema_file, made.corpus) == (("names",), ("vectors",), "s.toml", Path("texts"))
    assert (made.examples, made.timeout, made.settings) == (3, 120.0, {"super-node.min_degree": 50, "inverse-duplicate.any_label": True})
    with pytest.raises(ConnectError):
        kgeval.audit(NOWHERE, timeout=None, schema_file=Path("database"), graph=None)


def test_all_faults_of_a_call_are_told_at_once_before_anything_is_opened() -> None:
    with pytest.raises(UsageError) as caught:
        kgeval.audit(5, chekcs=["x"], examples="many", graph=3, layuot="a", embedding_batch=0)  # type: ignore[call-overload]
    told = str(caught.value)
    for part in ("chekcs: unknown (did you mean checks?)", "layuot: unknown (did you mean layout?)", "examples: ", "embedding_batch: ",
                 "graph: a name or a list of names is needed, not int", "connection: a neo4j.Driver, an address, a session or None"):
        assert part in told, part


@pytest.mark.parametrize(("options", "words"), [
    ({"fail_on_worse": "error"}, "fail_on_worse needs an earlier report"),
    ({"sample_share": 0.1, "write_ratchet": "a.json"}, "sample_share does not go with write_ratchet"),
    ({"checks": "nope"}, "no such check: nope"),
    ({"thresholds": ["isolated-entity<=2"]}, "no share"),
    ({"settings": {"super-node.min_degree": "many"}}, "whole number"),
    ({"embedding_model": "x"}, "embedding_model without embed"),
    ({"graph": ["a", "b"], "ratchet": "r.json"}, "are about one graph"),
    ({"graph": ["a", "b"], "dry_run": True}, "dry_run looks at one graph"),
    ({"graph": []}, "an empty list"),
    ({"gds_session": {"memroy": "8GB"}}, "gds_session.memroy: unknown"),
    ({"home": "here"}, "exclude each other"),
])
def test_options_that_do_not_fit_are_told_in_the_words_of_python(options: dict[str, Any], words: str) -> None:
    with pytest.raises((UsageError, InputError, ConfigError)) as caught:
        kgeval.audit(NOWHERE, **options)
    assert words in str(caught.value)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: kgeval.audit(NOWHERE, checks="sef-loop", examples=-1, thresholds="foo<=1", settings={"x.y": 1}),
     ("examples: ", "no such check: sef-loop", "'foo': no such check or figure", "'x.y' is no setting")),
    (lambda: kgeval.audit(NOWHERE, checks="sef-loop", thresholds="foo<=1"), ("sef-loop", "'foo': no such check or figure")),
    (lambda: kgeval.score([{"id": 1, "answer": "a"}], metrics="tokn_f1", trials=0, thresholds="x>=0.5", settings={"tua": 1}, config=False),
     ("trials: ", "'tokn_f1' (did you mean token_f1?)", "no metric x", "'tua': no such setting (did you mean tau?)")),
    (lambda: kgeval.completeness(NOWHERE, thresholds="foo>=0.5", hops=9), ("hops: ", "'foo>=0.5': no such figure", "nothing to hold")),
    (lambda: kgeval.accuracy(NOWHERE, thresholds="foo>=0.5", n=0), ("n: ", "foo")),
])
def test_faulty_values_names_and_thresholds_are_told_at_once(call: Callable[[], Any], words: Sequence[str]) -> None:
    with pytest.raises(UsageError) as caught:
        call()
    assert [word for word in words if word not in caught.value.message] == []


def test_messages_and_errors_of_files_name_keywords_not_flags(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "kgeval")
    with AUDIT.called({}) as call:
        call.session.say("--seed 3 again, or -o x.html; kgeval audit --seed 3 does the same")
    assert caplog.messages == ["seed 3 again, or output x.html; kgeval audit --seed 3 does the same"]
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError) as caught:
        AuditResult(report()).save(tmp_path / "file" / "x.json")
    assert " -o" not in str(caught.value) and "is no folder" in str(caught.value)


def test_words_that_are_no_flags_and_commands_to_type_stay_as_they_are() -> None:
    text = "choose one with --graph NAME; or use an endpoint: --embedding-url URL --embedding-model NAME"
    assert AUDIT.worded(text) == 'choose one with graph="NAME"; or use an endpoint: embedding_url="URL", embedding_model="NAME"'
    text = "use --layout NAME, --with or --setting; kgeval audit --examples 0 lists all (a--b, --force, -- comment)"
    assert AUDIT.worded(text) == (
        "use layout=\"NAME\", with_reports or settings; kgeval audit --examples 0 lists all (a--b, --force, -- comment)"
    )


def test_it_reads_kgeval_toml_as_the_command_does_unless_told_not_to(tmp_path: Path) -> None:
    Path("kgeval.toml").write_text("[audit]\nchecks = ['nope']\n", encoding="utf-8")
    with pytest.raises(UsageError, match="no such check: nope"):
        kgeval.audit(NOWHERE)
    with pytest.raises(ConnectError):
        kgeval.audit(NOWHERE, config=False)
    with pytest.raises(ConnectError):
        kgeval.audit(NOWHERE, checks=["isolated-entity"])
    Path("kgeval.toml").write_text("[audit]\nchekcs = 1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"audit\.chekcs: unknown key"):
        kgeval.audit(NOWHERE)


def test_a_session_has_its_connection_and_takes_no_other() -> None:
    with kgeval.connect(NOWHERE, database="x") as session, pytest.raises(UsageError, match="database: the session has its own"):
        kgeval.audit(session, database="y")


@pytest.mark.parametrize(("made", "words"), [
    (lambda: neo4j.AsyncGraphDatabase.driver(NOWHERE), "not an asynchronous driver"),
    (lambda: neo4j.GraphDatabase.driver(NOWHERE), "cannot be reached"),
])
def test_a_driver_that_cannot_be_used_is_a_plain_error(made: Any, words: str) -> None:
    with pytest.raises(ConnectError, match=words):
        kgeval.audit(made())


class OtherServer:
    """A session of a server of another version, as far as it is asked for its version."""

    def __init__(self, version: str) -> None:
        self.version = version

    def __enter__(self) -> OtherServer:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, *_: Any) -> Any:
        row = {"version": self.version, "edition": "community", "name": "neo4j", "v": "2.6.9"}
        return Rows([neo4j.Record(row)])


class Rows(list[neo4j.Record]):
    """A result."""

    def keys(self) -> list[str]:
        return self[0].keys()

    def consume(self) -> SimpleNamespace:
        return SimpleNamespace(plan=None, query_type="r")


ON_A_GRAPH: list[Callable[[Any], Any]] = [
    kgeval.audit, lambda driver: kgeval.generate_questions(driver, kinds="hops", template=True),
    lambda driver: kgeval.check_questions(
        [{"id": "q", "question": "Who?", "cypher": "RETURN 1", "reference": "1"}], connection=driver, no_model=True,
    ),
    lambda driver: kgeval.completeness(driver, gold=[{"name": "Ann"}]),
    lambda driver: kgeval.accuracy(driver, no_model=True, sheet="sheet.csv"),
    lambda driver: kgeval.import_graph(graph="a", connection=driver, nodes=pd.DataFrame([{"id": "a", "name": "A"}])),
    lambda driver: kgeval.build([{"id": "a", "text": "Ann built it."}], graph="a", connection=driver, extractor="rules"),
]


@pytest.mark.parametrize("version", ["4.4.44", "5.25.1"])
def test_a_driver_of_a_server_that_is_too_old_is_refused_by_every_function_and_stays_open(
    version: str, monkeypatch: pytest.MonkeyPatch,
) -> None:
    with neo4j.GraphDatabase.driver(NOWHERE) as driver:
        monkeypatch.setattr(driver, "session", lambda **_: OtherServer(version))
        monkeypatch.setattr(driver, "close", lambda: pytest.fail("the driver is the caller's"))
        for call in ON_A_GRAPH:
            with pytest.raises(ConnectError, match=f"Neo4j {version} is too old") as fault:
                call(driver)
            assert fault.value.fix == "kgeval needs Neo4j 5.26 or later"
        monkeypatch.undo()


def test_a_server_whose_protocol_is_too_old_for_quiet_sessions_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**_: object) -> None:
        what = "Notification filtering is not supported for the Bolt Protocol (4, 4). Server Agent 'Neo4j/4.4.44'"
        raise neo4j.exceptions.ConfigurationError(what)

    with neo4j.GraphDatabase.driver(NOWHERE) as driver:
        monkeypatch.setattr(driver, "session", refused)
        with pytest.raises(ConnectError, match=r"this Neo4j is too old: .*Neo4j/4\.4\.44") as fault:
            kgeval.audit(driver)
    assert fault.value.fix == "kgeval needs Neo4j 5.26 or later"


def test_a_closed_driver_is_a_plain_error_of_every_function() -> None:
    driver = neo4j.GraphDatabase.driver(NOWHERE)
    driver.close()
    for call in ON_A_GRAPH:
        with pytest.raises(ConnectError, match=r"\(from the driver\): Neo4j cannot be reached: .*closed") as fault:
            call(driver)
        assert fault.value.fix.startswith("open a new driver")


def test_what_a_generator_of_documents_raises_comes_through_before_a_server_is_looked_for() -> None:
    def documents() -> Iterator[dict[str, str]]:
        yield {"id": "a", "text": "Ann built it."}
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        kgeval.build(documents(), graph="a", connection=NOWHERE, extractor="rules")


@pytest.mark.parametrize(("nodes", "words"), [
    (pd.DataFrame([["a", "A", "B"]], columns=["id", "name", "name"]), "nodes: columns of the same name: name"),
    (pd.DataFrame([["a", "A"]], columns=["id", 7]), "nodes: names of columns that are no text: 7"),
    (pd.DataFrame([{"id": "a", "year": 1907}, {"id": "b", "year": "about 1907"}]), "nodes: .*year"),
])
def test_a_table_that_no_file_can_hold_is_refused_before_a_server_is_looked_for(nodes: pd.DataFrame, words: str) -> None:
    with pytest.raises(InputError, match=words) as fault:
        kgeval.import_graph(graph="a", connection=NOWHERE, nodes=nodes)
    assert "parquet" not in str(fault.value)


def test_nothing_is_set_for_the_whole_process(monkeypatch: pytest.MonkeyPatch) -> None:
    import os
    import signal

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers], dict(os.environ), threading.active_count()
    with pytest.raises(ConnectError):
        kgeval.audit(NOWHERE)
    assert ([signal.getsignal(number) for number in numbers], dict(os.environ), threading.active_count()) == before


@pytest.fixture
def result() -> AuditResult:
    """Two checks, one failed; a gate that is met, one that is missed, one without an answer."""
    gates = [
        Gate(name="self-loop", limit="share <= 0.1", value=0.0, met=True),
        Gate(name="isolated-entity", limit="share <= 0.1", value=0.3, met=False),
        Gate(name="modularity", limit=">= 0.3", met=None, reason="no GDS"),
    ]
    isolated = finding(count=3, total=10, examples=[example("Ada <b>")])
    return AuditResult(report(isolated, finding("self-loop", count=0), gates=gates, structure={"entities": 10}))


def test_a_result_gives_rows_figures_and_its_record(result: AuditResult) -> None:
    rows = result.to_pandas().set_index("check")
    assert (rows.loc["isolated-entity", "count"], rows.loc["isolated-entity", "share"]) == (3, 0.3)
    assert rows.loc["isolated-entity", "examples"][0]["items"][0]["name"] == "Ada <b>"
    assert result.figures == {"entities": 10}
    assert result.to_dict() == result.report.model_dump(mode="json")
    assert [one.rule_id for one in result.findings] == ["isolated-entity", "self-loop"]


def test_gates_are_looked_at_and_raise_only_when_asked(result: AuditResult) -> None:
    assert [gate.met for gate in result.gates] == [True, False, None]
    with pytest.raises(kgeval.GateError) as caught:
        result.raise_for_gates()
    assert "gate missed: isolated-entity share <= 0.1 (0.3)" in str(caught.value)
    assert "gate not answered: modularity >= 0.3 (no GDS)" in str(caught.value) and "self-loop" not in str(caught.value)
    AuditResult(result.report.model_copy(update={"gates": result.gates[:1]})).raise_for_gates()


def test_a_result_is_saved_by_the_ending_and_another_is_refused_by_name(result: AuditResult, tmp_path: Path) -> None:
    for ending in ("html", "json", "md", "csv", "xml", "sarif"):
        file = result.save(tmp_path / f"r.{ending}")
        assert file.read_text(encoding="utf-8").strip() == rendered(result.report, ending).strip()
    assert "Ada" not in result.save(tmp_path / "hidden.json", redact=True).read_text(encoding="utf-8")
    with pytest.raises(UsageError, match=r"\.docx"):
        result.save(tmp_path / "r.docx")


@pytest.mark.parametrize("kind", [
    kind for name in kgeval.__all__ if isinstance(kind := getattr(kgeval, name), type) and issubclass(kind, Result)
])
def test_the_repr_of_a_result_is_short(kind: type[Result]) -> None:
    assert kind.__repr__ is Result.__repr__, "not what a dataclass writes: the whole record"


def test_a_summary_names_calls_and_the_text_of_a_command_its_flags() -> None:
    loaded = ImportResult("g", "tables", {}, (), 1.0, dry=True)
    assert str(loaded).endswith("Next: call it without dry_run") and loaded.rendered("text").endswith("run it without --dry-run\n")
    done = ImportResult("g", "tables", {}, (), 1.0, home=Path("h"))
    assert str(done).endswith("Next: kgeval.audit(graph='g', home='h')")
    assert done.rendered("text").endswith("Next: kgeval audit --graph g --home h\n")
    checked = kgeval.check_questions([{"id": "a", "question": "Who?", "reference": "Ann"}], no_model=True, config=False)
    assert 'result.save("report.json"); the questions with their checks: result.save("checked.jsonl")' in str(checked)
    assert "add -o report.json" in checked.rendered("text") and " -o " not in str(checked)
    assert checked._repr_html_().startswith("<iframe "), "every kind of report has a page"


def test_a_notebook_shows_the_page_in_a_frame_and_print_the_summary(result: AuditResult) -> None:
    page = result._repr_html_()
    assert page.startswith("<iframe") and "<b>" not in page and "sandbox" in page
    shown = rendered(result.report, "text").rstrip("\n")
    assert str(result) == shown.replace("add -o report.html", 'result.save("report.html")') != shown
    assert repr(result) == f"AuditResult(exit_code={result.exit_code})"
