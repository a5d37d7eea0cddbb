"""The headers of the Cypher files: shipped ones are sound, and each fault is refused in plain words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kgeval.auditing.rulebook import load_rules
from kgeval.errors import QueryError
from kgeval.graph.queries import DRY, all_queries, blank, load, parse

SOUND = """// count-all: how many nodes there are.
// Counted, not estimated.
//
// :param least => 5              -- INTEGER: fewest
//
// returns: count INTEGER
// mode: read
MATCH (n) WITH count(n) AS count WHERE count >= $least RETURN count
"""

FAULTY = {
    "another name": (SOUND.replace("count-all:", "count-some:"), "line 1 says 'count-some', the file is called 'count-all'"),
    "no sentence": (SOUND.replace(": how many nodes there are.", ":"), "line 1 has no sentence after the name"),
    "no mode": (SOUND.replace("// mode: read\n", ""), "'// mode: read' or '// mode: write' is missing"),
    "unknown mode": (SOUND.replace("mode: read", "mode: both"), "'// mode: read' or '// mode: write' is missing"),
    "no columns": (SOUND.replace("// returns: count INTEGER\n", ""), "'// returns:' names no column"),
    "no reading": (SOUND.replace("RETURN count", "RETURN @rank(n) AS count"), "@rank(n) is no role of a layout"),
    "no statement": ("// count-all: nothing.\n// returns: count INTEGER\n// mode: read\n", "the statement is missing"),
    "two statements": (SOUND.rstrip() + ";\nMATCH (m) RETURN m\n", "more than one statement"),
    "undeclared parameter": (SOUND.replace("$least", "$least + $more"), "$more is used but not declared"),
    "unused parameter": (SOUND.replace("$least", "1"), "$least is declared but not used"),
    "undeclared procedure": (
        SOUND.replace("MATCH (n)", "CALL gds.wcc.stream('g') YIELD nodeId AS n"), "gds.wcc.stream is called but not in 'needs'",
    ),
    "unknown role": (SOUND.replace("WITH count", "WHERE @is(n, Ghost) WITH count"), "@is(n, Ghost) is no role of a layout"),
    "unknown role in a pattern": (SOUND.replace("(n)", "(n:@Ghost)", 1), "(n:@Ghost) is no role of a layout"),
    "unknown type": (SOUND.replace("MATCH (n)", "MATCH (n)-[r:@Relation]-()"), "[r:@Relation] is no role of a layout"),
    "unknown field": (SOUND.replace("WITH count", "WHERE n.@colour WITH count"), "n.@colour is no role of a layout"),
    "half a form": (SOUND.replace("WITH count", "WHERE @ WITH count"), "@ is no role of a layout"),
    "a field's parameter": (
        SOUND.replace("least", "type_key").replace("(n)", "(n:@Entity)", 1), "$type_key is called as a field of the layout",
    ),
    "procedure not called": (SOUND.replace("// mode", "// needs: gds.wcc.stream\n// mode"), "gds.wcc.stream is in 'needs' but not called"),
}


def test_every_shipped_file_is_sound() -> None:
    queries = all_queries()
    assert queries
    assert all(query.summary and query.columns for query in queries.values() if query.mode == "read")


def test_every_shipped_parameter_has_an_example_and_says_what_it_is() -> None:
    wrong = [f"{q.name}: {p.name}" for q in all_queries().values() for p in q.params if not p.example or not p.doc]
    assert wrong == []


def test_a_sound_file_has_no_fault() -> None:
    query, faults = parse(SOUND, Path("audit/count-all.cypher"))
    assert faults == []
    assert (query.summary, query.doc) == ("how many nodes there are.", "Counted, not estimated.")
    assert [(p.name, p.example, p.doc) for p in query.params] == [("least", "5", "INTEGER: fewest")]
    assert (query.columns, query.mode, query.folder) == (("count",), "read", "audit")


@pytest.mark.parametrize("text", SOUND.splitlines()[-1:])
def test_a_statement_without_header_is_refused(text: str) -> None:
    _, faults = parse(text, Path("count-all.cypher"))
    assert "line 1 says '', the file is called 'count-all'" in faults


@pytest.mark.parametrize(("text", "words"), FAULTY.values(), ids=FAULTY)
def test_one_fault_is_refused_in_these_words_and_no_others(text: str, words: str) -> None:
    _, faults = parse(text, Path("count-all.cypher"))
    assert faults == [words]


def test_all_faults_of_all_files_come_at_once(tmp_path: Path) -> None:
    (tmp_path / "one.cypher").write_text(SOUND.replace("$least", "1"), encoding="utf-8")
    (tmp_path / "two.cypher").write_text(SOUND.replace("count-all", "two").replace("mode: read", ""), encoding="utf-8")
    with pytest.raises(QueryError) as caught:
        load(tmp_path)
    assert caught.value.message.splitlines()[1:] == [
        "  one.cypher: line 1 says 'count-all', the file is called 'one'",
        "  one.cypher: $least is declared but not used",
        "  two.cypher: '// mode: read' or '// mode: write' is missing",
    ]


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "count-all.cypher").write_text(SOUND, encoding="utf-8")
    with pytest.raises(QueryError, match="the name is taken by"):
        load(tmp_path)


def test_dollar_signs_in_strings_names_and_comments_are_no_parameters() -> None:
    kept = blank("RETURN '$a', \"$b\", `$c`, $d // $e\n/* $f */")
    assert "$d" in kept
    assert not any(name in kept for name in ("$a", "$b", "$c", "$e", "$f"))


def test_dynamic_labels_are_no_parameters_of_their_own() -> None:
    text = SOUND.replace("(n)", "(n:$any(['A', 'B']))")
    assert parse(text, Path("count-all.cypher"))[1] == []


def test_no_query_asks_for_more_threads_than_gds_gives_without_a_licence() -> None:
    asked = {q.name: int(n) for q in all_queries().values() for n in re.findall(r"oncurrency: (\d+)", q.text)}
    assert asked and max(asked.values()) <= 4
    given = {rule.id: rule.settings["concurrency"] for rule in load_rules().values() if "concurrency" in rule.settings}
    assert given == {"similar-entity": 1}


WRITES = """// mend: mends.
//
// :param name => 'x'      -- STRING: a name
//
// returns: mended INTEGER
// mode: write
MATCH (n {name: $name})
// writes:
SET n.mended = true
// counts:
RETURN count(n) AS mended
"""


def test_a_repair_brings_its_dry_run_which_is_the_repair_without_what_writes(tmp_path: Path) -> None:
    (tmp_path / "repair").mkdir()
    (tmp_path / "repair" / "mend.cypher").write_text(WRITES, encoding="utf-8")
    dry = load(tmp_path)["dry-mend"]
    assert (dry.mode, dry.columns, dry.folder, [param.name for param in dry.params]) == ("read", ("mended",), "repair", ["name"])
    assert dry.text.splitlines()[-2:] == ["MATCH (n {name: $name})", "RETURN count(n) AS mended"] and "SET" not in dry.text
    (tmp_path / "repair" / "mend.cypher").write_text(WRITES.replace("// writes:\n", ""), encoding="utf-8")
    with pytest.raises(QueryError, match="a repair has one part between '// writes:' and '// counts:'"):
        load(tmp_path)


def test_every_repair_is_of_one_graph() -> None:
    """What it changes is asked for its role, which holds the graph that it is of."""
    files = [query for query in all_queries().values() if query.folder == "repair" and query.name != "look-at-hits"]
    repairs = [query for query in files if not query.name.startswith(DRY)]
    assert {query.name for query in repairs} == {rule.repair for rule in load_rules().values() if rule.repair}
    for query in repairs:
        first = blank(query.text).index("MATCH")
        assert re.search(r"\(\w+:@(?:Entity|Chunk)\)|@is\(\S+, (?:Entity|Chunk)\)", query.text[first:]), query.name
