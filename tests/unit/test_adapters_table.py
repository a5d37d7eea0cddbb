"""The ready adapters: their table, presets, settings, command lines, and what runs in other environments."""

from __future__ import annotations

import ast
import hashlib
import sys
from pathlib import Path
from typing import Any

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.building.state import corpus_hash, row_of
from kgeval.config import environment
from kgeval.errors import InputError, ModelError, UsageError
from kgeval.metrics.summary.build import is_index_of
from kgeval.records import Document
from kgeval.systems.adapters import ADAPTERS, folder
from kgeval.systems.adapters import environment as environments
from kgeval.systems.adapters.catalog import adapter, catalog, scripts
from kgeval.systems.adapters.folder import CARD, IndexCard, digest, prepare, read_card, write_card
from kgeval.systems.adapters.launch import PASSED, argv, variables, vocabulary_folder
from kgeval.tables.stream import loads

SCRIPTS = sorted(scripts().glob("*.py"))


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the scripts share, imported as they do."""
    monkeypatch.syspath_prepend(str(scripts()))
    import adapter_base

    return adapter_base


def test_the_list_of_names_is_that_of_the_table() -> None:
    assert tuple(catalog()) == ADAPTERS


@pytest.mark.parametrize("name", ADAPTERS)
def test_each_adapter_has_a_script_modes_and_a_version_it_was_tried_with(name: str) -> None:
    info = adapter(name)
    assert (scripts() / f"{info.module}.py").is_file()
    assert info.modes and info.tried and info.requirements
    assert len({one.name for one in info.settings}) == len(info.settings)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_imports_the_standard_library_its_package_and_never_kgeval(path: Path) -> None:
    """At load only the standard library and what the scripts share: --help of a script must not load a package."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    loaded = {name for node in tree.body for name in imported(node)}
    everything = {name for node in ast.walk(tree) for name in imported(node)}
    assert loaded <= set(sys.stdlib_module_names) | {"adapter_base", "adapter_relay"}
    assert "kgeval" not in everything


def imported(node: ast.AST) -> list[str]:
    """The top modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    return [(node.module or "").partition(".")[0]] if isinstance(node, ast.ImportFrom) else []


@pytest.mark.parametrize(("name", "preset"), [
    ("graphrag", {
        "chunk_token_size": 1000, "chunk_overlap_token_size": 100, "summarize_descriptions_max_length": 500, "max_cluster_size": 10,
        "community_reports_max_length": 2000, "community_reports_max_input_length": 8000,
    }),
    ("lightrag", {
        "chunk_token_size": 1200, "chunk_overlap_token_size": 100, "top_k": 30, "max_entity_tokens": 4000, "max_relation_tokens": 4000,
        "max_total_tokens": 12000,
    }),
    ("fast-graphrag", {"entity_ranking_policy": 0.005, "relation_ranking_policy": 64, "chunk_ranking_policy": 8}),
    ("hipporag", {
        "retrieval_top_k": 5, "linking_top_k": 5, "max_qa_steps": 3, "qa_top_k": 5,
        "graph_type": "facts_and_sim_passage_node_unidirectional",
    }),
    ("nano-graphrag", {}), ("neo4j-graphrag", {}),
])
def test_the_preset_of_the_paper_has_the_values_of_its_appendix(name: str, preset: dict[str, Any]) -> None:
    info = adapter(name)
    assert info.preset("xiang") == {"temperature": 0.7, **preset}
    assert info.checked(info.preset("xiang"), answering=False) == info.preset("xiang")


def test_faulty_settings_are_named_all_at_once() -> None:
    with pytest.raises(UsageError) as wrong:
        adapter("lightrag").checked({"topk": 3, "top_k": "many", "chunk_token_size": 5, "temperature": 9}, answering=True)
    for part in ("topk: no such setting; did you mean top_k?", "'many' is no whole number", "belongs to the index", "temperature"):
        assert part in wrong.value.message


@pytest.mark.long
@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["top_k", "model", "temperature", "entity_resolution", "x"]), st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers()),
)))
def test_any_settings_are_taken_or_refused_never_something_else(wanted: dict[str, Any]) -> None:
    for name in ("lightrag", "neo4j-graphrag"):
        try:
            taken = adapter(name).checked(wanted, answering=True)
        except UsageError:
            continue
        assert set(taken) == set(wanted)


@pytest.mark.parametrize("value", ["-5", "inf", "nan", -1, float("inf")])
def test_a_number_below_zero_or_without_end_is_refused_as_text_too(value: Any) -> None:
    for name, setting in (("lightrag", "top_k"), ("hipporag", "damping")):
        with pytest.raises(UsageError, match=setting):
            adapter(name).checked({setting: value}, answering=True)


def test_no_environment_is_made_with_a_python_that_the_scripts_do_not_run_on() -> None:
    assert all(tuple(map(int, info.python[0].split("."))) >= (3, 11) for info in catalog().values())


def test_an_unknown_adapter_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="did you mean lightrag"):
        adapter("lihgtrag")


def test_a_command_line_names_no_path_no_secret_and_no_text_that_could_be_an_option() -> None:
    words = argv(adapter("lightrag"), "answer", "hybrid", {"top_k": 3, "model": "--help"})
    assert words == (
        "python", "-m", "adapter_lightrag", "answer", "--folder", ".", "--mode", "hybrid", "--settings", '{"top_k": 3}', "--model=--help",
    )


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment that looks installed."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tiktoken"))
    monkeypatch.setenv("KGEVAL_SYSTEMS_DIR", str(tmp_path))
    for name in ("lightrag", "neo4j-graphrag"):
        home = tmp_path / name
        (home / "bin").mkdir(parents=True)
        (home / "pyvenv.cfg").touch()
        found = environments.Installed(adapter=name, version="1", python="3.11.7", requirements=(), by="pip", seconds=1, bytes=1)
        (home / environments.MARKER).write_text(found.model_dump_json())
    return tmp_path


def test_a_process_gets_only_what_it_needs_of_the_environment(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    monkeypatch.setenv("NEO4J_PASSWORD", "secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of something else")
    got = variables(adapter("lightrag"))
    assert not {name for name in got if "NEO4J" in name or "AWS" in name}
    assert got["OPENAI_API_KEY"] == "sk-1" and got["PATH"].startswith(str(made / "lightrag" / "bin"))
    assert set(PASSED) & {"OPENAI_API_KEY", "NEO4J_PASSWORD"} == set()
    assert variables(adapter("neo4j-graphrag"))["NEO4J_PASSWORD"] == "secret"


def test_a_folder_of_vocabularies_that_the_user_named_is_taken_as_it_is(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    (made / "a-file").touch()
    monkeypatch.setenv("KGEVAL_CACHE_DIR", str(made / "a-file"))  # no folder can be made there
    assert variables(adapter("lightrag"))["TIKTOKEN_CACHE_DIR"] == str(made / "tiktoken")


def test_requests_to_this_machine_go_round_a_proxy(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert variables(adapter("lightrag"))["no_proxy"] == "127.0.0.1,localhost"
    monkeypatch.setenv("NO_PROXY", "inside.example")
    got = variables(adapter("lightrag"))
    assert got["NO_PROXY"] == got["no_proxy"] == "inside.example,127.0.0.1,localhost" and got["HTTPS_PROXY"] == "http://proxy:1"


def test_a_relative_folder_of_environments_holds_in_every_folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script runs in the index's folder: a relative PATH would find another Python there."""
    monkeypatch.chdir(made.parent)
    monkeypatch.setenv("KGEVAL_SYSTEMS_DIR", made.name)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert variables(adapter("lightrag"))["PATH"].startswith(f"{made / 'lightrag' / 'bin'}:")


def test_what_is_missing_is_said_before_anything_starts(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NEO4J_URI", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="graphrag is not installed"):
        variables(adapter("graphrag"))
    with pytest.raises(UsageError, match="NEO4J_URI is not set"):
        variables(adapter("neo4j-graphrag"))
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        variables(adapter("lightrag"))


def test_removing_takes_an_environment_and_refuses_any_other_folder(made: Path) -> None:
    assert environments.remove(adapter("lightrag")) and not environments.remove(adapter("lightrag"))
    other = made / "graphrag"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="no environment of kgeval's"):
        environments.remove(adapter("graphrag"))
    assert environment("KGEVAL_SYSTEMS_DIR") == str(made)


def test_a_removal_that_is_interrupted_leaves_nothing_that_seems_installed(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments.shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        environments.remove(adapter("lightrag"))
    monkeypatch.undo()
    monkeypatch.setenv("KGEVAL_SYSTEMS_DIR", str(made))
    assert environments.installed(adapter("lightrag")) is None
    assert environments.remove(adapter("lightrag")) and not (made / "lightrag").exists()


def interrupted(path: Path) -> None:
    raise KeyboardInterrupt


def test_a_python_that_a_package_does_not_work_with_is_refused(made: Path) -> None:
    info = adapter("lightrag").model_copy(update={"python": ("2.6", "2.8")})
    with pytest.raises(UsageError, match=r"works with Python 2\.6"):
        environments.install(info, python=None, say=lambda text: None)
    with pytest.raises(UsageError, match="no such Python"):
        environments.install(adapter("lightrag"), python="/nowhere/python", say=lambda text: None)
    (made / "python").write_bytes(b"\x7fELF, and then nothing")
    (made / "python").chmod(0o755)
    with pytest.raises(UsageError, match="no Python that runs"):
        environments.install(adapter("lightrag"), python=str(made / "python"), say=lambda text: None)


def test_a_folder_that_is_no_index_is_never_written_to_or_deleted(tmp_path: Path) -> None:
    card, documents = IndexCard(adapter="lightrag", model="m", embedding_model="e"), [Document(id="a", text="A text.")]
    prepare(tmp_path / "new", card, documents, replace=False)
    with pytest.raises(UsageError, match="holds an index already"):
        prepare(tmp_path / "new", card, documents, replace=False)
    (tmp_path / "new" / "notes.txt").write_text("mine")
    (tmp_path / "new" / "store").mkdir()
    prepare(tmp_path / "new", card, documents, replace=True)
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"notes.txt", CARD, "documents.jsonl"}
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("mine")
    with pytest.raises(UsageError, match="no index of kgeval's"):
        prepare(tmp_path / "thesis", card, documents, replace=True)
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "mine"


def test_only_a_finished_index_of_the_same_adapter_is_asked(tmp_path: Path) -> None:
    card = IndexCard(adapter="lightrag", model="m", embedding_model="e")
    with pytest.raises(InputError, match="no index of lightrag"):
        read_card(tmp_path, adapter("lightrag"))
    write_card(tmp_path, card)
    with pytest.raises(InputError, match="did not finish"):
        read_card(tmp_path, adapter("lightrag"))
    with pytest.raises(InputError, match="index of lightrag, not of graphrag"):
        read_card(tmp_path, adapter("graphrag"))
    (tmp_path / CARD).write_text("{")
    with pytest.raises(InputError, match="not a card"):
        read_card(tmp_path, adapter("lightrag"))
    write_card(tmp_path, card.model_copy(update={"version": "1"}))
    assert read_card(tmp_path, adapter("lightrag")).model == "m"


def test_the_digest_of_documents_does_not_depend_on_their_order_but_on_every_text() -> None:
    one, two = Document(id="a", text="x"), Document(id="b", text="y")
    assert digest([one, two]) == digest([two, one]) != digest([one, Document(id="b", text="z")])


@pytest.mark.slow
def test_the_digest_is_that_of_a_graph_built_from_the_same_documents() -> None:
    documents = [Document(id="b", title="T", text="y"), Document(id="a", text="x")]
    rows = [row_of(one, (), (), made_by="m", old=None) for one in documents]
    assert digest(documents) == corpus_hash((row.id, row.hash) for row in rows)


@pytest.mark.slow
@settings(deadline=None)
@given(st.text(alphabet="ab \n", max_size=200), st.integers(1, 9), st.integers(0, 8))
def test_pieces_of_a_text_hold_all_its_words_in_order(text: str, words: int, overlap: int) -> None:
    sys.path.insert(0, str(scripts()))
    try:
        from adapter_base import cut
    finally:
        sys.path.remove(str(scripts()))
    pieces = [piece.split() for piece in cut(text, words, overlap)]
    step = max(1, words - overlap)
    assert all(len(piece) <= words for piece in pieces)
    assert [word for at, piece in enumerate(pieces) for word in (piece if at == 0 else piece[words - step :])] == text.split()


def test_an_index_belongs_to_all_modes_and_variants_of_its_system_and_to_no_other() -> None:
    assert all(is_index_of("lightrag", system) for system in ("lightrag", "lightrag:mix", "lightrag:mix@top_k=5"))
    assert not any(is_index_of("lightrag", system) for system in ("lightrag2", "light", "graphrag"))


def test_a_graphs_size_is_that_of_networkx(tmp_path: Path, shared: Any) -> None:
    graph = networkx.karate_club_graph()
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    assert shared.graphml_size(tmp_path / "g.graphml") == (graph.number_of_nodes(), graph.number_of_edges())
    assert shared.graphml_size(tmp_path / "none.graphml") == (None, None)


def test_documents_with_the_same_file_name_stay_apart_for_lightrag(shared: Any) -> None:
    from adapter_lightrag import places

    names = places([{"id": "a/x.txt"}, {"id": "b/x.txt"}, {"id": "c\\x.txt"}, {"id": "/"}])
    assert list(names.values()) == ["a/x.txt", "b/x.txt", "c\\x.txt", "/"] and len(names) == 4
    crossed = places([{"id": "x.txt"}, {"id": "2-x.txt"}, {"id": "c/x.txt"}, {"id": "a<SEP>b"}])
    assert list(crossed.values()) == ["x.txt", "2-x.txt", "c/x.txt", "a<SEP>b"] and not any("<SEP>" in name for name in crossed)


def test_scripts_and_kgeval_call_the_files_of_an_index_alike(shared: Any) -> None:
    assert (shared.CARD, shared.DOCUMENTS, shared.RESULT) == (CARD, folder.DOCUMENTS, folder.RESULT)
    assert job(shared).store.name == folder.STORE


def job(shared: Any, **settings: Any) -> Any:
    return shared.Job(Path("f"), "", settings, "m", "e", 2, "", "")


def test_zero_is_a_setting_and_not_the_default(shared: Any) -> None:
    assert job(shared, overlap=0).setting("overlap", 100) == 0
    assert job(shared, overlap=None).setting("overlap", 100) == job(shared).setting("overlap", 100) == 100


def test_a_reply_can_hold_whatever_a_package_puts_into_it(shared: Any) -> None:
    """A line that cannot be written would end the process, one that cannot be read would be waited for until the time-out."""
    text = shared.line({"id": "q", "answer": "half \ud800 \u2028", "contexts": [{"score": float("nan"), "document": Path("a")}]})
    assert text.isascii() and "\n" not in text
    assert loads(text) == {"id": "q", "answer": "half \ud800 \u2028", "contexts": [{"score": None, "document": "a"}]}


@pytest.mark.slow
def test_tiktoken_gets_its_vocabularies_from_kgeval_byte_by_byte(tmp_path: Path) -> None:
    """The digests are those that tiktoken checks; without the files it goes to the network, and offline it fails."""
    folder = vocabulary_folder(tmp_path)
    assert {hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()} == {
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    }
