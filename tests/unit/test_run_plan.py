"""Which stages a configuration stands for, in which order, and what is wrong with one before anything is started."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from kgeval.cli.main import cli
from kgeval.config import Config, read
from kgeval.errors import ConfigError
from kgeval.workflows.pipeline import graphs
from kgeval.workflows.pipeline.check import check, faults_of
from kgeval.workflows.pipeline.ledger import Ledger, fingerprint
from kgeval.workflows.pipeline.plan import RunRequest, stages_of
from kgeval.workflows.pipeline.stages import MatrixPlace, Stage
from kgeval.workflows.session import Session

SYSTEMS = [{"name": "vector", "spec": "vector"}, {"name": "graph", "spec": "graph"}]


def stages(**sections: object) -> dict[str, Stage]:
    """The stages of a configuration, by id."""
    config = Config.model_validate(sections)
    return {stage.id: stage for stage in stages_of(RunRequest(config, Path("kgeval.toml"), Path("out")))}


def test_a_graph_that_is_there_is_audited_and_reported() -> None:
    assert list(stages(graph={"name": "g"})) == ["audit", "report"]


def test_answers_alone_are_scored_without_any_graph() -> None:
    found = stages(answers={"files": ["a.jsonl"]}, questions={"file": "q.jsonl"}, metrics={"names": ["lexical"]})
    assert list(found) == ["check", "scores", "report"]
    assert found["scores"].argv[:4] == ("score", "a.jsonl", "--questions", "q.jsonl")
    assert "--graph" not in found["scores"].argv


def test_from_documents_everything_follows_in_order() -> None:
    found = stages(
        source={"documents": ["docs"]}, questions={"kinds": ["hops=5"]}, systems=SYSTEMS, metrics={"names": ["lexical"]},
        gold={"file": "gold.json"},
    )
    assert list(found) == ["build", "audit", "completeness", "questions", "check", "coverage", "answers", "scores", "report"]
    for stage in found.values():
        assert all(list(found).index(need) < list(found).index(stage.id) for need in stage.needs), stage.id
    assert found["answers"].needs == ("build", "questions")
    assert "questions" in found["scores"].needs and "audit" in found["scores"].needs


def test_a_comparison_is_only_run_where_it_is_asked_for() -> None:
    base = {"systems": SYSTEMS, "questions": {"file": "q.jsonl"}, "graph": {"name": "g"}}
    assert "compare" not in stages(**base)
    assert "compare" in stages(**base, compare={})


def test_the_closed_book_brings_the_contamination_stage() -> None:
    found = stages(systems=[*SYSTEMS, {"name": "closed", "spec": "closed-book"}], questions={"file": "q.jsonl"}, graph={"name": "g"})
    assert found["contamination"].argv[:4] == ("contamination", "q.jsonl", "--answers", "out/answers.jsonl")


def test_sizes_of_the_corpus_may_be_tokens_with_the_whole_one_first() -> None:
    found = stages(
        source={"documents": ["docs"]}, questions={"file": "q.jsonl"}, systems=SYSTEMS, metrics={"names": ["lexical"]},
        matrix={"corpus": [1.0], "corpus_tokens": [56_000, 1_132_000]},
    )
    builds = [stage for stage in found.values() if stage.kind.name == "build"]
    assert [stage.id for stage in builds] == ["corpus-1/build", "corpus-1132000/build", "corpus-56000/build"]
    assert "--corpus-tokens 56000 --keep q.jsonl" in builds[2].line and "--graph run-56000" in builds[2].line
    assert "--corpus-tokens" not in builds[0].line and "--share" not in builds[0].line
    assert [MatrixPlace(share=share).parts for share in (1 / 3, 1_132_000)] == [("corpus-0.333333",), ("corpus-1132000",)]
    told = faults_of(Config.model_validate({"matrix": {"corpus": [0.5, 1.0], "corpus_tokens": [56_000]}}))
    assert any(fault.startswith("matrix.corpus: 0.5: shares and corpus_tokens cannot be crossed") for fault in told)


def test_scores_and_comparisons_wait_for_the_known_questions_where_they_are_to_be_without_them() -> None:
    closed = [*SYSTEMS, {"name": "closed", "spec": "closed-book"}]
    base = {"systems": closed, "questions": {"file": "q.jsonl"}, "graph": {"name": "g"}, "metrics": {"names": ["lexical"]}, "compare": {}}
    assert list(stages(**base)).index("scores") < list(stages(**base)).index("contamination")
    config = Config.model_validate({**base, "run": {"without_known": True}})
    found = {stage.id: stage for stage in stages_of(RunRequest(config, None, Path("out"), known=True))}
    for name in ("scores", "compare"):
        assert list(found).index("contamination") < list(found).index(name) and "contamination" in found[name].needs
        assert "--without-known out/contamination.json" in found[name].line
    of_file = {stage.id: stage for stage in stages_of(RunRequest(config, None, Path("out"), known=Path("ids.txt")))}
    assert "--without-known ids.txt" in of_file["scores"].line and Path("ids.txt") in of_file["scores"].inputs
    assert "contamination" not in of_file["scores"].needs


def test_known_questions_that_nobody_can_find_are_a_fault() -> None:
    told = faults_of(Config.model_validate({"systems": SYSTEMS, "run": {"without_known": True, "skip": ["contamination"]}}))
    for fault in ("no system answers without texts", "needs the stage contamination"):
        assert any(fault in line for line in told)
    assert any("ids.txt: no such file" in fault for fault in faults_of(Config.model_validate({"run": {"without_known": "ids.txt"}})))


def test_a_file_of_known_questions_that_is_none_and_a_comparison_that_cannot_leave_them_out_are_faults_before_the_run(
    tmp_path: Path,
) -> None:
    other, ids = tmp_path / "other.json", tmp_path / "ids.txt"
    other.write_text('{"id": "q1"}')
    ids.write_text("q1\n")
    found = faults(graph={"name": "g"}, run={"without_known": str(other)})
    assert found == [f"run.without_known: {other}: no report of kgeval contamination (give the .json report of kgeval contamination, or "
                     "the ids that its --marked writes, one a line)"]
    own = {"systems": SYSTEMS, "graph": {"name": "g"}, "run": {"without_known": str(ids)}, "questions": {"file": str(ids)}}
    told = [fault for fault in faults(**own, compare={"stop_when_sure": True}) if "stop_when_sure" in fault]
    assert told == [
        "compare.stop_when_sure: does not go with without_known, which leaves questions out afterwards (leave one of them out)",
    ]


def test_a_profile_of_questions_is_read_before_the_run_and_a_changed_one_is_another_run(tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    profile.write_text("styl = ['x']\nfacts = 3\n")
    base = {
        "questions": {"kinds": ["node=2"], "profile": str(profile)}, "graph": {"name": "g"}, "model": {"generator": {"name": "m"}},
    }
    config = Config.model_validate(base)
    stage = stages(**base)["questions"]
    with pytest.raises(ConfigError, match=r"questions.profile: .*mine.toml: facts: .*; styl: unknown key"):
        check(config, [stage], [], None)
    profile.write_text("facts = ['what floats']\n")
    check(config, [stage], [], None)
    before = fingerprint(stage, config, earlier={})
    profile.write_text("facts = ['what sinks']\n")
    assert fingerprint(stage, config, earlier={}) != before


def test_the_matrix_crosses_variants_shares_and_readers() -> None:
    found = stages(
        source={"documents": ["docs"], "options": {"chunk_size": 600}}, questions={"kinds": ["hops=5"]}, systems=SYSTEMS,
        metrics={"names": ["lexical"]},
        matrix={
            "corpus": [0.5, 1.0], "variants": [{"name": "v1"}, {"name": "v2", "options": {"chunk_size": 300}}],
            "readers": [{"name": "r1", "model": "m1"}, {"name": "r2", "model": "m2", "base_url": "http://localhost:1/v1"}],
        },
    )
    kinds = [stage.kind.name for stage in found.values()]
    assert (kinds.count("build"), kinds.count("answers"), kinds.count("scores"), kinds.count("questions")) == (4, 8, 8, 1)
    assert (kinds.count("matrix"), kinds.count("report")) == (1, 1)
    small = found["v2/corpus-0.5/build"]
    assert small.argv[:8] == ("build", "docs", "--graph", "run-v2-0.5", "--chunk-size", "300", "--share", "0.5")
    assert small.argv[8:10] == ("--keep", "out/questions.jsonl") and "questions" in small.needs
    assert found["v1/corpus-1/r2/answers"].argv[4:8] == ("--model", "m2", "--base-url", "http://localhost:1/v1")
    assert set(found["matrix"].needs) == {stage.id for stage in found.values() if stage.kind.name == "scores"}


def test_each_data_set_has_its_own_graph_questions_and_folder() -> None:
    found = stages(
        systems=SYSTEMS, metrics={"names": ["lexical"]},
        matrix={"datasets": [
            {"name": "a", "graph": "ga", "questions": "a.jsonl"}, {"name": "b", "documents": ["b/"], "questions": "b.jsonl"},
        ]},
    )
    assert found["a/answers"].argv[:4] == ("answer", "a.jsonl", "--graph", "ga") and "a/build" not in found
    assert found["b/build"].argv[:4] == ("build", "b", "--graph", "b")
    assert found["b/scores"].outputs[0] == Path("out/b/scores.json")


def test_ablations_become_variants_of_one_setting() -> None:
    found = stages(
        graph={"name": "g"}, questions={"file": "q.jsonl"}, systems=SYSTEMS, metrics={"names": ["lexical"]},
        ablations=[{"system": "graph", "setting": "texts", "values": [True, False]}],
    )
    assert "graph:texts=true,false" in found["answers"].argv and "matrix" in found


def test_a_skipped_stage_is_nobodys_need() -> None:
    found = stages(
        source={"documents": ["docs"]}, questions={"file": "q.jsonl"}, systems=SYSTEMS, metrics={"names": ["lexical"]},
        run={"skip": ["build", "audit", "report"]},
    )
    assert "build" not in found and "report" not in found
    assert found["answers"].needs == () and "--audit" not in found["scores"].argv


def test_options_of_a_stage_come_last_as_flags() -> None:
    options = {"examples": 3, "check": ["isolated-entity", "super-node"], "redact": True}
    found = stages(graph={"name": "g"}, run={"options": {"audit": options}})
    assert found["audit"].argv[-7:] == ("--examples", "3", "--check", "isolated-entity", "--check", "super-node", "--redact")
    off = stages(graph={"name": "g"}, run={"options": {"audit": {"quiet": False}}})
    assert "--quiet" not in off["audit"].argv


def test_every_fault_is_named_at_once(tmp_path: Path) -> None:
    file = tmp_path / "kgeval.toml"
    file.write_text(
        'nonsense = 1\n[source]\ndocuments = ["not-there/"]\nfiles = ["neither.json"]\n[gold]\nsample = 5\n'
        '[questions]\nkinds = ["hopps=3"]\n'
        '[[systems]]\nname = "a"\nspec = "grafh"\n[[systems]]\nname = "a"\nspec = "vector"\n[metrics]\nnames = ["faithfullness"]\n'
        '[[ablations]]\nsystem = "b"\nsetting = "hops"\nvalues = [1]\n[run]\nskip = ["audits"]\n[matrix]\ncorpus = [0.5, 7]\n'
        '[compare]\n[run.options.scoring]\ntrials = 1\n[model.reader]\nendpoint = "ours"\n'
        '[[matrix.readers]]\nname = "r"\nmodel = "m"\nbase_url = "http://localhost:1/v1"\n',
    )
    config, faults = read(file)
    with pytest.raises(ConfigError) as caught:
        check(config, stages_of(RunRequest(config, file, tmp_path / "out")), faults, file)
    found = str(caught.value).splitlines()
    for part in (
        "nonsense: unknown key", "matrix.corpus.1", "not-there", "neither.json", "gold.sample: needs a judge", "questions.kinds",
        "systems.0.spec", "several are called a", "metrics.names", "ablations.0.system", "run.skip", "run.options",
        "source: documents and files exclude",
        "compare: needs a judge", "model.reader.endpoint: would name",
    ):
        assert any(part in fault for fault in found), (part, found)


@pytest.mark.parametrize("text", ["", "[limits]\ncalls = 3\n"])
def test_a_file_with_nothing_to_do_says_so(tmp_path: Path, text: str) -> None:
    file = tmp_path / "kgeval.toml"
    file.write_text(text)
    config, faults = read(file)
    assert not faults
    assert any("nothing to do" in fault for fault in faults_of(config))


def test_an_audit_alone_is_enough(tmp_path: Path) -> None:
    file = tmp_path / "kgeval.toml"
    file.write_text('[graph]\nname = "g"\n')
    config, faults = read(file)
    assert [*faults, *faults_of(config)] == []


def test_what_is_left_of_a_faulty_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "kgeval.toml"
    file.write_text(
        '[matrix]\ncorpus = [5, 0.5, 6, 1.0, 7, 8, 9, 10, 11, 12, 13]\n'
        '[audit]\nexamples = "x"\nskip = ["rare-type"]\n[[systems]]\nname = "s"\n',
    )
    config, faults = read(file)
    assert config.matrix.corpus == [0.5, 1.0]
    assert config.audit.skip == ("rare-type",) and config.audit.examples == 5
    assert config.systems == [] and len(faults) == 11


def test_what_changes_no_result_is_kept_apart_from_what_does() -> None:
    config = Config.model_validate({"questions": {"file": "q.jsonl"}, "systems": SYSTEMS, "graph": {"name": "g"}})
    given = RunRequest(config, Path("k.toml"), Path("out"), connection={"home": "h"}, common={"journal": "j"})
    (answers,) = [stage for stage in stages_of(given) if stage.kind.name == "answers"]
    assert answers.unsaid == {"journal": "j", "config_file": Path("k.toml")} and not {"j", "k.toml"} & set(answers.argv)
    assert answers.line.endswith("--journal j -c k.toml") and "h" in answers.argv


def test_graphs_are_the_runs_own_or_only_read() -> None:
    read = stages(graph={"name": "g"}, questions={"file": "q.jsonl"}, systems=SYSTEMS)
    assert {stage.reads for stage in read.values() if stage.kind.name != "report"} == {"g"}
    whole = stages(graph={"uri": "neo4j://localhost:7687"})
    assert whole["audit"].reads == ""
    made = stages(source={"documents": ["docs"]}, questions={"file": "q.jsonl"}, systems=SYSTEMS)
    assert made["build"].makes == "run" and {stage.reads for stage in made.values()} == {None}
    loaded = stages(source={"files": ["g.json"]}, run={"skip": ["import"]})
    assert loaded["audit"].reads == "run"


def test_no_two_data_sets_write_one_graph() -> None:
    found = stages(
        graph={"name": "g"}, source={"documents": ["docs"]}, questions={"file": "q.jsonl"},
        matrix={"datasets": [{"name": "a"}, {"name": "b", "documents": ["b"]}, {"name": "c", "graph": "own"}], "corpus": [0.5, 1.0]},
    )
    made = [stage.makes for stage in found.values() if stage.kind.name == "build"]
    assert made == ["g-a", "g-a-0.5", "g-b", "g-b-0.5", "own", "own-0.5"]


def test_a_comparison_has_the_systems_as_hooks_and_judges_again_unless_it_is_told_otherwise() -> None:
    base: dict[str, Any] = {
        "systems": [*SYSTEMS, {"name": "old", "spec": "file:old.jsonl"}], "questions": {"file": "q.jsonl"}, "graph": {"name": "g"},
        "run": {"options": {"answers": {"extractive": True}}},
    }
    argv = stages(**base, compare={})["compare"].argv
    assert argv[:4] == ("compare", "out/answers.jsonl", "--questions", "q.jsonl")
    assert argv[4:10] == ("--trial-kind", "rejudge", "--system", "vector", "--system", "graph")
    assert "--extractive" in argv and argv[argv.index("--graph") + 1] == "g" and "old" not in argv
    assert "--trial-kind" not in stages(**base, compare={"trial_kind": "regenerate"})["compare"].argv
    ablated = stages(**base, compare={}, ablations=[{"system": "graph", "setting": "hops", "values": [2]}])["compare"].argv
    assert ablated.count("--filter-system") == 3
    files = stages(answers={"files": ["a.jsonl", "b.jsonl"]}, questions={"file": "q.jsonl"}, compare={})["compare"].argv
    assert "--system" not in files and "--graph" not in files


def test_a_reader_of_a_matrix_also_answers_for_a_comparison() -> None:
    base: dict[str, Any] = {"systems": SYSTEMS, "questions": {"file": "q.jsonl"}, "graph": {"name": "g"}, "compare": {}}
    found = stages(**base, matrix={"readers": [{"name": "r", "model": "m"}, {"name": "far", "model": "n", "base_url": "http://localhost:1/v1"}]})
    argv = found["r/compare"].argv
    assert argv[argv.index("--reader") + 1] == "m"
    assert "--system" not in found["far/compare"].argv


def test_a_run_needs_answers_and_measures_no_load_and_communities_need_a_model() -> None:
    config = Config.model_validate({
        "systems": SYSTEMS, "questions": {"file": "q.jsonl"}, "graph": {"name": "g"}, "run": {"options": {"answers": {"load": "1,4"}}},
    })
    reads = {"systems": [{"name": "c", "spec": "communities"}], "graph": {"name": "g"}, "questions": {"file": "q.jsonl"}}
    extractive = Config.model_validate({**reads, "run": {"options": {"answers": {"extractive": True}}}})
    with pytest.raises(ConfigError, match="systems: c: communities needs a model"):
        check(extractive, stages_of(RunRequest(extractive, None, Path("out"))), [], None)
    with pytest.raises(ConfigError, match="load: measures, and gives no answers"):
        check(config, stages_of(RunRequest(config, None, Path("out"))), [], None)


@pytest.mark.parametrize("name", ["../x", "..", ".", "a/b", "", ".hidden", "a b", "x\n"])
def test_no_name_leaves_the_folder_of_the_run(name: str) -> None:
    for section in ("datasets", "variants", "readers"):
        entry = {"name": name, **({"model": "m"} if section == "readers" else {})}
        with pytest.raises(ValidationError):
            Config.model_validate({"matrix": {section: [entry]}})


def test_every_stage_wrong_in_one_place_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("KGEVAL_", "NEO4J_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "docs").mkdir()
    (tmp_path / "kgeval.toml").write_text(WRONG)
    done = CliRunner().invoke(cli, ["run"], standalone_mode=False)
    assert isinstance(done.exception, ConfigError) and done.exception.exit_code == 2
    text = str(done.exception)
    for part in (
        "source: the graph is built by a model", "gold.file: gone.json", "audit.checks: no such check: nonsense", "audit.thresholds", "1.5",
        "audit.settings", "questions.kinds: hop_1, hop_2, hop_3: need a generator", "systems: vector: need a reader",
        "systems.0.settings: ", "hop", "ablations.0: ", "ablations.0.values: a value with a comma", "metrics.settings: ",
        "metrics.thresholds: ",
        "metrics.names: faithfulness: need a judge", "compare: needs a judge", "compare.aspects: ", "compare: needs two systems",
        "run.options.scores: ", "--trails", "run.options.import: no such stage in this run", "matrix.datasets.0.name: logs",
        "limits.rpm", "typo: unknown key",
    ):
        assert part in text, (part, text)
    assert not (tmp_path / "out").exists()


def faults(**sections: object) -> list[str]:
    """What is wrong with a run, a line each, before it is started."""
    config = Config.model_validate(sections)
    made = stages_of(RunRequest(config, None, Path("out"), known=config.run.without_known))
    try:
        check(config, made, (), None)
    except ConfigError as fault:
        return [line.strip() for line in str(fault).splitlines()[1:-1]]
    return []


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file of each name that is used, and nothing said by the environment."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("KGEVAL_", "NEO4J_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "docs").mkdir()
    for name in ("a.jsonl", "gold.json", "labels.csv"):
        (tmp_path / name).touch()
    return tmp_path


ANSWERS: dict[str, Any] = {"answers": {"files": ["a.jsonl"]}}


def test_sections_of_commands_bring_their_stages(bare: Path) -> None:
    assert "scores" in stages(**ANSWERS, score={"metrics": ["lexical"]})
    assert "scores" in stages(**ANSWERS, run={"options": {"scores": {"metrics": "token_f1"}}})
    found = stages(graph={"name": "g"}, completeness={"gold": ["gold.json"]})
    assert found["completeness"].inputs == (Path("gold.json"),) and "gold" not in found["completeness"].given
    assert stages(graph={"name": "g"}, completeness={"gold": ["gold.json"]}, gold={"file": "h.json"})["completeness"].inputs == (
        Path("h.json"),
    )
    assert faults(graph={"name": "g"}, completeness={"gold": ["gone.json"]}) == ["completeness.gold: gone.json: no such file or folder"]


def test_metrics_of_the_stage_itself_count(bare: Path) -> None:
    judged = {"metrics": {"names": ["faithfulness"]}}
    needs = "faithfulness: need a judge (set name in [model.judge], or leave them out)"
    assert faults(**ANSWERS, **judged) == [f"metrics.names: {needs}"]
    assert faults(**ANSWERS, **judged, score={"metrics": ["token_f1"]}) == []
    assert faults(**ANSWERS, **judged, run={"options": {"scores": {"metrics": "token_f1"}}}) == []
    assert faults(**ANSWERS, score={"metrics": ["faithfulness"]}) == [f"score.metrics: {needs}"]
    assert faults(**ANSWERS, score={"metrics": ["faithfulness"]}, model={"judge": {"name": "j"}}) == []


@pytest.mark.parametrize("section", [
    {"source": {"documents": ["docs"]}, "build": {"extractor": "rules"}},
    {"graph": {"name": "g"}, "questions": {"kinds": ["hops=3"], "template": True}},
    {"graph": {"name": "g"}, "gold": {"sample": 5}, "accuracy": {"no_model": True, "labels": ["labels.csv"]}},
    {"graph": {"name": "g"}, "audit": {"schema_file": "database"}},
])
def test_what_a_section_says_of_its_stage_is_enough(bare: Path, section: dict[str, Any]) -> None:
    assert faults(**section) == []


def test_what_a_section_lacks_is_said_before_the_start(bare: Path) -> None:
    assert faults(graph={"name": "g"}, gold={"sample": 5}) == ["gold.sample: needs a judge (set name in [model.judge])"]
    assert "no_model leaves nothing to do" in faults(graph={"name": "g"}, gold={"sample": 5}, accuracy={"no_model": True})[0]
    assert faults(graph={"name": "g"}, audit={"schema_file": "gone"}) == ["audit.schema_file: gone: no such file"]
    assert "no such file" in faults(graph={"name": "g"}, run={"options": {"audit": {"schema": "gone"}}})[0]
    assert "built by a model" in faults(source={"documents": ["docs"]})[0]


def test_an_option_that_cannot_be_hides_no_other_fault(bare: Path) -> None:
    found = faults(
        graph={"name": "g"}, **ANSWERS, audit={"checks": ["nonsense"]}, score={"metrics": ["faithfulness"]},
        run={"options": {"audit": {"timeout": "x"}, "scores": {"trials": "x", "metrics": "token_f1", "threshold": "token_f1>>2"}}},
    )
    for part in ("audit.checks: no such check: nonsense", "--timeout: no number", "--trials: no whole number", "score.thresholds: "):
        assert any(part in line for line in found), (part, found)
    assert len(found) == 4


def test_forms_and_files_that_a_report_cannot_have_are_said_before_the_start(bare: Path) -> None:
    options = {
        "scores": {"format": "sarif"}, "audit": {"output": "extra.txt"}, "build": {"format": "html", "output": "b.md"},
        "report": {"format": "csv"}, "completeness": {"format": "xml", "output": ["c.html", "c.xml"]},
    }
    found = faults(
        source={"documents": ["docs"]}, build={"extractor": "rules"}, **ANSWERS, metrics={"names": ["lexical"]},
        gold={"file": "gold.json"}, run={"options": options},
    )
    for part in (
        "run.options.scores: a score report has no form 'sarif' (choose one of: text, md, html, xml, csv, json)",
        "run.options.audit: extra.txt: unknown ending '.txt'", "run.options.build: b.md: unknown ending",
        "run.options.build: this stage has no form 'html' (choose text or json)",
        "run.options.report: a report over a run has no form 'csv'",
        "run.options.completeness: a completeness report has no form 'xml'",
        "run.options.completeness: c.xml: a completeness report has no",
    ):
        assert any(line.startswith(part) for line in found), (part, found)
    assert len(found) == 7


def test_a_graph_that_is_to_be_replaced_may_be_there(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(graphs, "is_built", lambda graph, name: True)
    monkeypatch.setattr(graphs, "_asked", lambda session, ask: (asked.append("once"), ask(None))[1])
    for section in ({}, {"replace": True}):
        config = Config.model_validate({"source": {"documents": ["docs"]}, "build": {"extractor": "rules", **section}})
        made = stages_of(RunRequest(config, None, bare / "out"))
        if section:
            graphs.check_graphs(made, Ledger(bare / "out"), Session("run", config=config))
        else:
            with pytest.raises(ConfigError, match="these graphs are there already"):
                graphs.check_graphs(made, Ledger(bare / "out"), Session("run", config=config))
    assert asked == ["once"]


WRONG = """
[source]
documents = ["docs"]
[gold]
file = "gone.json"
[audit]
checks = ["nonsense"]
[audit.thresholds]
isolated-entity = 1.5
[audit.settings]
"super-node.min_degre" = 1
[questions]
kinds = ["hops=3"]
[[systems]]
name = "vector"
spec = "vector"
[systems.settings]
hop = 2
[[ablations]]
system = "vector"
setting = "k"
values = ["1,2"]
[metrics]
names = ["faithfulness"]
thresholds = ["faithfulness>>2"]
[metrics.settings]
taux = 1
[compare]
aspects = ["wit"]
[limits]
rpm = -1
[matrix]
typo = 1
[[matrix.datasets]]
name = "logs"
[run.options.scores]
trails = 3
[run.options.import]
dry_run = true
"""


def test_a_preset_of_the_answers_names_their_reader_and_goes_to_the_comparison(tmp_path: Path) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_text("{}")
    base = {
        "systems": SYSTEMS, "questions": {"file": str(questions)}, "graph": {"name": "g"}, "compare": {}, "model": {"judge": {"name": "j"}},
    }

    def checked(**answers: str) -> None:
        config = {**base, "run": {"options": {"answers": answers}}}
        check(Config.model_validate(config), list(stages(**config).values()), (), None)

    with pytest.raises(ConfigError, match="vector, graph: need a reader"):
        checked()
    with pytest.raises(ConfigError, match=r"preset.*'kasiak' or 'xiang'"):
        checked(preset="edge")
    checked(preset="xiang")
    found = stages(**base, run={"options": {"answers": {"preset": "xiang"}}})
    assert all("--preset xiang" in " ".join(found[stage].argv) for stage in ("answers", "compare"))
