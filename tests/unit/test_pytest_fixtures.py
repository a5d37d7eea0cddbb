"""The fixtures that kgeval gives to users' suites, in suites of their own; on a graph: tests/neo4j/test_api_on_a_graph.py."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ANSWERS = '[{"question": "Who?", "answer": "Ann", "reference": "Ann Lee"}]'


def outcomes(folder: Path, suite: str, *words: str) -> tuple[dict[str, str], str]:
    """What became of each test of a suite, and what pytest printed; the fixtures come by the entry point, as at a user's."""
    (folder / "test_suite.py").write_text(suite)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NEO4J_", "PYTEST_", "KGEVAL_"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rA", "--tb=short", *words, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=False)
    return {name: outcome for outcome, name in re.findall(r"^([A-Z]+) \S*::(\w+)", done.stdout, re.MULTILINE)}, done.stdout + done.stderr


@pytest.mark.long
def test_they_load_nothing_heavy_before_a_test_asks(tmp_path: Path) -> None:
    suite = """
import sys

def test_light():
    assert "kgeval.workflows.pytest_plugin" in sys.modules
    heavy = {"neo4j", "pandas", "numpy", "pydantic", "click", "openai", "torch", "pyarrow", "graphdatascience"}
    assert not heavy & set(sys.modules)
    assert not {name for name in sys.modules if name.startswith("kgeval.")} - {"kgeval.workflows", "kgeval.workflows.pytest_plugin"}
"""
    # plugins of other packages may load what they like
    results, text = outcomes(tmp_path, suite, "-p", "no:hypothesispytest", "-p", "no:xdist")
    assert results == {"test_light": "PASSED"}, text
    results, text = outcomes(tmp_path, "def test_none(kgeval_audit): pass", "-p", "no:kgeval")
    assert results == {"test_none": "ERROR"} and "fixture 'kgeval_audit' not found" in text


@pytest.mark.long
def test_a_gate_that_is_missed_fails_the_test_with_a_line_for_each_and_no_traceback(tmp_path: Path) -> None:
    suite = f"""
import pytest
import kgeval

ANSWERS = {ANSWERS}
OPTIONS = {{"metrics": ["token_f1", "exact_match"]}}

def test_missed(kgeval_score):
    kgeval_score(ANSWERS, thresholds="token_f1>=0.9,exact_match>=0.5", must_pass=True, **OPTIONS)

def test_met(kgeval_score):
    assert kgeval_score(ANSWERS, thresholds="token_f1>=0.4", must_pass=True, **OPTIONS).exit_code == 0

def test_looked_at(kgeval_score):
    result = kgeval_score(ANSWERS, thresholds="token_f1>=0.9", **OPTIONS)
    assert [gate.met for gate in result.gates] == [False]

def test_without_a_gate(kgeval_score):
    with pytest.raises(kgeval.KgevalError, match="must_pass, and no gate is asked for"):
        kgeval_score(ANSWERS, must_pass=True, **OPTIONS)

def test_another_server(kgeval_audit):
    with pytest.raises(kgeval.KgevalError, match="127.0.0.1:1"):
        kgeval_audit("bolt://127.0.0.1:1", must_pass=True, fail_on="error")
"""
    results, text = outcomes(tmp_path, suite)
    assert results.pop("test_missed") == "FAILED" and set(results.values()) == {"PASSED"} and len(results) == 4, text
    assert re.search(r"gates of kgeval:\n  gate missed: answers: token_f1 >= \S+ \(0\.6667\)\n  gate missed: answers: exact_match >=", text)
    assert "kgeval/workflows" not in text


@pytest.mark.long
def test_a_suite_sets_its_graph_its_file_and_its_connection(tmp_path: Path) -> None:
    (tmp_path / "ci").mkdir()
    (tmp_path / "ci" / "kgeval.toml").write_text("[metrics]\nnames = ['exact_match']\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nkgeval_graph = velmouth\nkgeval_config = ci/kgeval.toml\n")
    (tmp_path / "conftest.py").write_text("""
import pytest

@pytest.fixture(scope="session")
def kgeval_connection():
    return "bolt://127.0.0.1:1"
""")
    suite = f"""
def test_settings(kgeval_session, kgeval_score):
    assert (kgeval_session.graph_name, kgeval_session.connection) == ("velmouth", "bolt://127.0.0.1:1")
    assert [score.metric for score in kgeval_score({ANSWERS}).scores] == ["exact_match"]
"""
    results, text = outcomes(tmp_path, suite)
    assert results == {"test_settings": "PASSED"}, text
    (tmp_path / "ci" / "kgeval.toml").unlink()
    results, text = outcomes(tmp_path, suite)
    assert results == {"test_settings": "ERROR"} and "kgeval.toml" in text, "a file that is named must be there"
