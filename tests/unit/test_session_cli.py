"""The flags of --gds-session: what is wrong with them is said before a connection is made, and never with the key in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from session_account import Account, Database

from kgeval.cli.main import run
from kgeval.config import load
from kgeval.graph.aura import AuraOptions
from kgeval.graph.aura.session import AuraSession
from kgeval.workflows.audit import gds_session_notes
from kgeval.workflows.session import gds_session_of

NOTHING = dict.fromkeys(("memory", "ttl", "cloud", "name"))
KEYS = ("AURA_CLIENT_ID", "AURA_CLIENT_SECRET", "AURA_PROJECT_ID", "CLIENT_ID", "CLIENT_SECRET", "PROJECT_ID")


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AURA_CLIENT_ID", "id")
    monkeypatch.setenv("AURA_CLIENT_SECRET", "geheim")


@pytest.mark.parametrize(("flags", "told"), [
    (["--gds-session"], "AURA_CLIENT_ID and AURA_CLIENT_SECRET are not set"),
    (["--gds-session-memory", "8GB", "--gds-session-name", "x"], "--gds-session-memory, --gds-session-name without a session"),
])
def test_flags_without_a_key_or_without_the_session_are_refused(
    flags: list[str], told: str, capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["audit", "--uri", "bolt://127.0.0.1:1", *flags]) == 2
    said = capsys.readouterr().err
    assert told in said
    assert "cannot be reached" not in said


def test_a_size_that_does_not_exist_is_refused_with_those_that_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    key(monkeypatch)
    assert run(["audit", "--uri", "bolt://127.0.0.1:1", "--gds-session", "--gds-session-memory", "3GB"]) == 2
    said = capsys.readouterr().err
    assert "512GB" in said
    assert "geheim" not in said


def test_no_session_is_planned_unless_it_is_asked_for() -> None:
    assert gds_session_of(load(None), use=False, parts=NOTHING) is None


def test_flags_go_before_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    key(monkeypatch)
    (tmp_path / "kgeval.toml").write_text('[graph.session]\nuse = true\nmemory = "4GB"\nttl = 10\ncloud = "aws:us-east-1"\n')
    found = gds_session_of(load(Path("kgeval.toml")), use=False, parts={**NOTHING, "memory": "8GB"})
    assert found == AuraOptions(memory="8GB", ttl=10, cloud="aws:us-east-1")


def test_a_key_in_the_file_is_an_unknown_key(tmp_path: Path) -> None:
    (tmp_path / "kgeval.toml").write_text('[graph.session]\nclient_secret = "geheim"\n', encoding="utf-8")
    with pytest.raises(Exception, match="client_secret") as caught:
        load(None)
    assert "geheim" not in str(caught.value)


def test_a_memory_limit_beside_a_session_of_the_file_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    key(monkeypatch)
    Path("kgeval.toml").write_text("[graph.session]\nuse = true\n", encoding="utf-8")
    assert run(["audit", "--uri", "bolt://127.0.0.1:1", "--memory-limit", "2g", "-c", "kgeval.toml"]) == 2
    assert "--gds-session-memory" in capsys.readouterr().err


def test_the_report_says_a_session_ran_the_algorithms_only_where_one_did() -> None:
    session = AuraSession(Database(), AuraOptions(), Account(), print)  # type: ignore[arg-type]
    assert gds_session_notes(None) == []
    assert "none was used" in gds_session_notes(session)[0]
    session._client = object()
    assert "ran in a session" in gds_session_notes(session)[0]
