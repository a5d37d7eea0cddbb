"""kgeval.toml: read whole, refused whole, every fault named at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgeval.config import Config, environment, load
from kgeval.errors import ConfigError


def test_without_a_file_the_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load() == Config()
    assert (load().audit.examples, load().audit.timeout, load().audit.fail_on) == (5, 120.0, None)


def test_the_file_of_the_working_folder_is_found_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kgeval.toml").write_text('[graph]\nname = "velmouth"\n', encoding="utf-8")
    assert load().graph.name == "velmouth"


def test_every_section_is_read(tmp_path: Path) -> None:
    config = load(written(tmp_path, """
        [graph]
        uri = "bolt://localhost:7687"
        layout = { name_keys = ["title"] }
        [audit]
        skip = ["vectors"]
        thresholds = { isolated-entity = 0.02 }
        fail_on = "error"
        [report]
        outputs = ["out.html"]
        redact = true
    """))
    assert (config.graph.uri, config.graph.layout) == ("bolt://localhost:7687", {"name_keys": ["title"]})
    assert (config.audit.skip, config.audit.thresholds, config.audit.fail_on) == (("vectors",), {"isolated-entity": 0.02}, "error")
    assert (config.report.outputs, config.report.redact) == (["out.html"], True)


def test_all_unknown_keys_and_wrong_values_are_named_at_once(tmp_path: Path) -> None:
    file = written(tmp_path, '[graph]\npasword = "x"\n[audit]\nexamples = "many"\nfail_on = "fatal"\n[reprot]\n')
    with pytest.raises(ConfigError) as caught:
        load(file)
    said = caught.value.message
    assert str(file) in said
    assert "graph.pasword: unknown key" in said
    assert "audit.examples:" in said
    assert "audit.fail_on:" in said
    assert "reprot: unknown key" in said
    assert caught.value.exit_code == 2


def test_a_password_has_no_place_in_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"graph\.password: unknown key"):
        load(written(tmp_path, '[graph]\npassword = "secret"\n'))


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file") as caught:
        load(tmp_path / "absent.toml")
    assert "--config" in caught.value.fix


@pytest.mark.parametrize("content", [b"[graph\n", b'[graph]\nname = "\xff"\n', b"a = 1\na = 2\n"])
def test_what_is_no_toml_in_utf8_is_refused_with_the_file_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "kgeval.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"kgeval\.toml") as caught:
        load(file)
    assert caught.value.fix == "the file must be TOML in UTF-8"


def test_an_older_or_newer_schema_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="schema_version"):
        load(written(tmp_path, 'schema_version = "99"\n'))


def test_an_empty_environment_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGEVAL_TRIED", "")
    assert environment("KGEVAL_TRIED") is None
    monkeypatch.setenv("KGEVAL_TRIED", "x")
    assert environment("KGEVAL_TRIED") == "x"


def written(folder: Path, text: str) -> Path:
    file = folder / "kgeval.toml"
    file.write_text("\n".join(line.strip() for line in text.splitlines()), encoding="utf-8")
    return file
