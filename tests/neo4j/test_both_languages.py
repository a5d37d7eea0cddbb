"""Every Cypher file is accepted by the server in the newest version of the language that it speaks: what an owner may make the default."""

from __future__ import annotations

import pytest

from kgeval.errors import QueryError
from kgeval.graph.binding import MOST, bind_text
from kgeval.graph.connect import Graph
from kgeval.graph.layouts import load_profile
from kgeval.graph.queries import Query, all_queries

ONLY_BESIDE_A_SESSION = "session"  # the folder whose files may call what an ordinary server does not have
LAYOUT = load_profile("lightrag").layout.model_copy(update={
    "relation_types": ["R", "OF"], "valid_from_key": "since", "valid_to_key": "until", "type_label_rank": {"A": 0}, "scope_label": "g",
})
FOLDERS = sorted({query.folder for query in all_queries().values()})


def newest(graph: Graph) -> str:
    rows = graph.read("CALL dbms.components() YIELD name, versions WHERE name = 'Cypher' RETURN versions")
    return max((str(version) for row in rows for version in row["versions"]), key=float, default="5")  # 5.26 knows one, and names none


def refused(graph: Graph, query: Query, language: str, *, most: int) -> str | None:
    """What the server says against the file; null if it can be planned. Parameters need no values for that. `most`: names in its text."""
    text = bind_text(query.text, LAYOUT, most=most)[0] if query.speaks_roles else query.text
    try:
        graph.write(f"CYPHER {language} EXPLAIN {text}")
    except QueryError as cause:
        return f"{query.name} as Cypher {language}: {cause}"
    return None


@pytest.mark.long
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_can_be_planned(graph: Graph, folder: str) -> None:
    files = [query for query in all_queries().values() if query.folder == folder and not (folder == ONLY_BESIDE_A_SESSION and query.needs)]
    language = newest(graph)
    if language == "5":  # the only one that it knows: tests/neo4j/test_audit_cli.py runs every other file that reads
        files = [query for query in files if query.mode == "write" or "graph_name" in {param.name for param in query.params}]
    assert [fault for query in files for most in (MOST, 0) if (fault := refused(graph, query, language, most=most))] == []


@pytest.mark.parametrize("text", ["RETURN gds.no.such.function(1) AS x", "MATCH (n) RETURN"])
def test_what_is_no_cypher_is_refused(graph: Graph, text: str) -> None:
    with pytest.raises(QueryError):
        graph.write(f"CYPHER {newest(graph)} EXPLAIN {text}")
