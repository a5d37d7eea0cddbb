"""What kgeval writes goes through one door (`kgeval.tables.output`), or stands here with the reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from output_walk import KEPT, READING, READING_THERE, WALKED, options_with_paths
from test_architecture import PACKAGE, SOURCES, calls, chain

DOOR = "tables/output.py"
# By file: what it writes with, and why that is not an output of kgeval
BESIDE = {
    "config/trust.py": "what is trusted: entries of mode 0600 in the user's state folder (0700)",
    "ending.py": "new files of mode 0600, for those that stand here with `open_new`",
    "limits.py": "an archive in memory",
    "tables/temporary.py": "the temporary files of the door, the locks of outputs, folders of this user's that go with the process",
    "tables/spool.py": "a temporary file without a name",
    "tables/staging.py": "a temporary SQLite file in a folder of this user's",
    "auditing/blocking.py": "temporary files without a name",
    "auditing/entity_columns.py": "a temporary file without a name",
    "metrics/conditions.py": "a temporary file without a name",
    "workflows/keywords.py": "rows handed over as objects, in a folder of this user's that goes with the call",
    "workflows/pipeline/ledger.py": "the lock of a run folder",
    "comparison/alignment_log.py": "a temporary SQLite file in a folder of this user's",
    "graph/server/home.py": "the home of the embedded server (0700): a name that marks what it left as kgeval's, 0600 from the start",
    "graph/server/classes.py": "files for Java in a folder of its own (0700)",
    "graph/server/process.py": "the log of the embedded server before, in its home",
    "graph/server/exchange.py": "the store of the embedded server, moved as a whole",
    "graph/server/jars.py": "jars, checked by their SHA-256",
    "graph/load/bulk/sheets.py": "tables for the importer of Neo4j in a folder of this user's; no person reads them",
    "llm/journal.py": "the locks beside the journal",
    "llm/journal_file.py": "the journal, a SQLite file of mode 0600",
    "llm/text_table.py": "a LanceDB table, moved as a whole into a folder of this user's",
    "llm/batch/rounds.py": "lines for a provider, 0600, deleted when they are sent",
    "llm/batch/wire.py": "what a provider sends, 0600, deleted when it is read",
    "llm/batch/store.py": "the SQLite file of batches under way, 0600",
    "systems/adapters/scripts/adapter_base.py": "runs in an environment without kgeval, in the index's own folder",
    "cli/common.py": "stdout after a closed pipe",
    "cli/derive.py": "the text of a help page",
}
MODES = frozenset("wax+")
# names that write, whatever they are called on
WRITING = {
    "write_text", "write_bytes", "touch", "symlink_to", "hardlink_to", "chmod", "rename", "to_csv", "to_parquet", "to_excel", "to_json",
    "to_feather", "to_pickle", "ParquetWriter", "mkstemp", "mkdtemp", "NamedTemporaryFile", "TemporaryFile", "TemporaryDirectory",
    "copyfile", "copy2", "copytree", "move", "DictWriter", "Workbook", "FileHandler", "open_new", "open_part",
}
# chains that write
CHAINS = {
    ("csv", "writer"), ("json", "dump"), ("pickle", "dump"), ("np", "save"), ("np", "savez"), ("shutil", "copy"), ("sqlite3", "connect"),
    ("os", "open"), ("os", "link"), ("os", "symlink"), ("os", "replace"), ("pq", "write_table"), ("os", "mkfifo"), ("pcsv", "write_csv"),
}
THROUGH_IT = {"tables/columns.py": ["ParquetWriter"]}  # a file of the door's is handed over


def writes(call: ast.Call) -> str | None:
    """How a call writes a file; null if it does not."""
    names = chain(call.func)
    name = names[-1]
    if (name in ("open", "fdopen") and names[:1] != ["os"]) or names == ["os", "fdopen"]:
        places = call.args[:1] if isinstance(call.func, ast.Attribute) and names[0] not in ("io", "os", "gzip") else call.args[1:2]
        modes = [*places, *(word.value for word in call.keywords if word.arg == "mode")]
        texts = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
        return name if any(MODES & set(text) for text in texts if set(text) <= MODES | set("rbt")) else None
    if name == "write_text" and len(names) == 1:
        return None  # the door's
    if name == "replace" and isinstance(call.func, ast.Attribute) and len(call.args) == 1 and not call.keywords:
        return name
    if name == "ZipFile" and len(call.args) + len(call.keywords) > 1:
        return name
    return name if name in WRITING or tuple(names[-2:]) in CHAINS else None


def found() -> Iterator[tuple[str, str, int]]:
    for path in SOURCES:
        place = path.relative_to(PACKAGE).as_posix()
        for call in calls(path):
            how = writes(call)
            if place != DOOR and how is not None and how not in THROUGH_IT.get(place, ()):
                yield place, how, call.lineno


@pytest.mark.slow
def test_every_file_is_written_through_the_door() -> None:
    assert [f"kgeval/{place}:{line}: {how}" for place, how, line in found() if place not in BESIDE] == []


@pytest.mark.slow
def test_no_reason_stands_for_what_is_not_there() -> None:
    assert {place for place, _, _ in found()} == set(BESIDE)


@pytest.mark.parametrize(("text", "how"), [
    ("open(path, 'w')", "open"), ("open(path)", None), ("path.open('x')", "open"), ("path.open('rb')", None),
    ("path.open(mode='a')", "open"), ("os.fdopen(handle, 'wb')", "fdopen"), ("path.write_text(text)", "write_text"),
    ("write_text(path, text)", None), ("part.replace(target)", "replace"), ("text.replace('a', 'b')", None),
    ("replace(record, name=1)", None), ("csv.writer(file)", "writer"), ("frame.to_csv(path)", "to_csv"), ("os.open(path, 0)", "open"),
    ("shutil.copyfile(a, b)", "copyfile"), ("ZipFile(path, 'w')", "ZipFile"), ("ZipFile(data)", None), ("json.dump(x, file)", "dump"),
])
def test_calls_that_write_are_told_from_others(text: str, how: str | None) -> None:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    assert writes(call) == how


def test_the_door_is_there() -> None:
    assert (Path(PACKAGE) / DOOR).is_file()


def test_every_option_with_a_path_reads_or_is_walked() -> None:
    known = {option for options in WALKED.values() for option in options}
    found_options = set(options_with_paths())
    others = {(command, option) for command, option in found_options if option not in READING | KEPT}
    assert others - READING_THERE == known
