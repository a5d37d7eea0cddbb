"""Layout files: every fault named at once, single keys replaced, and literals that can be pasted."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from kgeval.cli.derive import given_of
from kgeval.cli.layout import layout
from kgeval.config import SessionOptions
from kgeval.errors import ConfigError, UsageError
from kgeval.graph.layouts import load_profile, names, override, profiles
from kgeval.graph.layouts.write import KEYS, to_toml
from kgeval.graph.literals import cypher_literal, cypher_name
from kgeval.records import Layout

BUILT_IN = {
    "neo4j-graphrag", "llm-graph-builder", "langchain", "langchain-nobase", "llamaindex", "lightrag", "lightrag-1.4", "nano-graphrag",
    "msgraphrag-notebook", "ms-graphrag-neo4j", "graphiti", "cognee", "neo4j-agent-memory", "kg-gen", "kgeval", "generic",
}


def write(folder: Path, text: str) -> str:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_all_writers_have_a_layout_and_generic_is_last() -> None:
    assert set(names()) == BUILT_IN
    assert names()[-1] == "generic"


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_a_layout_is_called_like_its_file_and_says_how_it_is_recognised(name: str) -> None:
    profile = load_profile(name)
    assert profile.name == name
    assert profile.description
    assert profile.detect.marks or name == "generic"


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_a_shown_layout_reads_back_as_itself(name: str, tmp_path: Path) -> None:
    found = load_profile(name).layout
    assert load_profile(write(tmp_path, to_toml(found))).layout == found


def test_no_layout_has_its_own_entities_chunks_or_documents_as_structure() -> None:
    for profile in profiles().values():
        used = {*profile.entity_labels, *profile.chunk_labels, *profile.document_labels}
        assert used.isdisjoint(profile.entity_excluded_labels), profile.name


def test_every_key_of_a_layout_is_explained() -> None:
    assert set(KEYS) == set(Layout.model_fields) - {"relations_join_entities_only", "label_names", "label_details", "type_label_rank"}


def test_an_unknown_layout_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="no layout 'langchian'") as wrong:
        load_profile("langchian")
    assert "langchain" in wrong.value.fix


def test_all_faults_of_a_file_are_named_at_once(tmp_path: Path) -> None:
    file = write(tmp_path, 'entity_label = ["X"]\nname_key = "n"\nsource_limit = "many"\n[detect]\nmark = []\n')
    with pytest.raises(ConfigError) as wrong:
        load_profile(file)
    for text in (file, "entity_label: unknown key", "name_key: unknown key", "source_limit", "detect.mark: unknown key"):
        assert text in wrong.value.message


def test_a_layout_without_entities_names_or_with_two_scopes_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, 'scope_label = "a"\nscope_property = "b"\n[detect]\nmarks = ["lable:X"]\n')
    with pytest.raises(ConfigError, match=r"entity_labels.*name_keys.*scope_label, scope_property.*'lable:X' is no signal"):
        load_profile(file)


@pytest.mark.parametrize("text", ["entity_labels = [", "\x00"])
def test_a_file_that_is_no_toml_says_so(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"mine\.toml"):
        load_profile(write(tmp_path, text))


def test_a_file_that_is_not_utf8_says_so(tmp_path: Path) -> None:
    file = tmp_path / "latin.toml"
    file.write_bytes(b'name = "\xe9"')
    with pytest.raises(ConfigError, match=r"latin\.toml"):
        load_profile(str(file))


def test_a_file_may_start_from_a_built_in_layout(tmp_path: Path) -> None:
    found = load_profile(write(tmp_path, 'extends = "graphiti"\nname_keys = ["title"]\n'))
    assert (found.name, found.name_keys, found.scope_property) == ("mine", ["title"], "group_id")
    with pytest.raises(ConfigError, match="no layout 'nothing'"):
        load_profile(write(tmp_path, 'extends = "nothing"\n'))


def test_single_keys_are_replaced_and_texts_become_what_the_key_holds() -> None:
    base = load_profile("lightrag").layout
    changed = override(base, {"name_keys": "title, name", "weight_key": "", "source_limit": "50"})
    assert (changed.name_keys, changed.weight_key, changed.source_limit) == (["title", "name"], None, 50)
    assert override(base, {"name_keys": ["x"]}).name_keys == ["x"]
    assert base.weight_key == "weight"


def test_all_unknown_keys_of_an_override_are_named() -> None:
    faults = r"nane_keys: unknown key \(did you mean name_keys\?\); wieght_key: unknown key \(did you mean weight_key\?\)"
    with pytest.raises(ConfigError, match=faults):
        override(load_profile("generic").layout, {"wieght_key": "w", "nane_keys": "n"})


def test_overrides_on_the_command_line_are_key_and_value() -> None:
    assert given_of(SessionOptions, {"layout_keys": ("a=b=c", "d=")}) == {"layout_keys": {"a": "b=c", "d": ""}}
    with pytest.raises(UsageError, match="--set x, y"):
        given_of(SessionOptions, {"layout_keys": ("x", "a=b", "y")})


@pytest.mark.parametrize(
    ("value", "literal"),
    [(None, "null"), (True, "true"), (3, "3"), (0.5, "0.5"), ("it's", "'it\\'s'"), ("a\\b\n", "'a\\\\b\\n'"), ("\x00", "'\\u0000'"),
     ([1, "a"], "[1, 'a']"), ({"a b": 1, "c`": None}, "{`a b`: 1, `c```: null}"), ({"b", "a"}, "['a', 'b']")],
)
def test_values_become_cypher_literals(value: object, literal: str) -> None:
    assert cypher_literal(value) == literal


def test_what_cypher_cannot_hold_is_refused() -> None:
    for value, error in ((float("nan"), ValueError), (object(), TypeError), ("\ud800", ValueError)):
        with pytest.raises(error):
            cypher_literal(value)
    for name in ("", "a\0b"):
        with pytest.raises(ValueError, match="must not"):
            cypher_name(name)


def test_names_and_keys_of_maps_stay_on_one_line() -> None:
    assert cypher_literal({"two\nlines": 1, "a`b": 2}) == "{`two\\u000Alines`: 1, `a``b`: 2}"
    assert cypher_name("x\x9by") == "`x\\u009By`"


def test_list_and_show_work_without_a_server() -> None:
    run = CliRunner().invoke
    assert all(name in run(layout, ["list"]).output for name in BUILT_IN)
    assert 'scope_property = "group_id"' in run(layout, ["show", "graphiti"]).output
    assert '"name": "langchain"' in run(layout, ["show", "langchain", "-f", "json"]).output


def test_a_file_can_be_checked_without_a_server(tmp_path: Path) -> None:
    file = write(tmp_path, 'extends = "generic"\n')
    assert "the file is right" in CliRunner().invoke(layout, ["check", file, "--file-only"]).output
    assert isinstance(CliRunner().invoke(layout, ["check", write(tmp_path, "x = 1"), "--file-only"]).exception, ConfigError)
