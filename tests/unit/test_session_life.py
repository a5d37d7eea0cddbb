"""The life of a session, against a stand-in account: what it costs is said first, and it is deleted whatever happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from graphdatascience.procedure_surface.utils.config_converter import ConfigConverter
from graphdatascience.session import AuraAPICredentials, AuraApiError, DbmsConnectionInfo, SessionMemory
from pyarrow import ArrowException
from requests import ConnectionError as Unreachable
from session_account import KEY, Account, Database

import kgeval
from kgeval.config import Config
from kgeval.errors import ConfigError, ConnectError, QueryError, UsageError
from kgeval.graph import aura
from kgeval.graph.algorithms import Expected
from kgeval.graph.aura import MEMORIES, AuraOptions, credentials, in_session
from kgeval.graph.aura.calls import limited
from kgeval.graph.aura.session import AuraSession
from kgeval.graph.aura.view import remote_parameters
from kgeval.graph.failures import QueryTimeout
from kgeval.graph.processes import mark
from kgeval.graph.queries import all_queries
from kgeval.records import Layout
from kgeval.workflows.session import Session as TaskSession

SMALL = Expected(entities=3, relations=2, self_loops=0)
FIXED = AuraOptions(memory="2GB")


def run(
    account: Account, *, use: int = 1, options: AuraOptions = FIXED, database: Any = None, then: BaseException | None = None,
) -> list[str]:
    """Asks a session for its client `use` times, then raises `then`. What was said."""
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        account.events.append("said")

    database = database or Database()
    with in_session(database, options, say=say, connect=account.connect, environ=KEY) as session:  # type: ignore[arg-type]
        for _ in range(use):
            session._connected(SMALL)
        if then:
            raise then
    assert database.algorithms is None
    return said


def test_a_session_is_created_once_after_its_cost_is_said_and_deleted_at_the_end() -> None:
    account = Account()
    said = run(account, use=3)
    assert account.events == ["connect", "list", "said", "create", "delete", "said"]
    assert "2GB" in said[0]
    assert "charges" in said[0]
    assert "60 minutes" in said[0]
    assert account.sessions == {}


def test_a_session_that_no_algorithm_asked_for_is_never_created() -> None:
    account = Account()
    run(account, use=0)
    assert account.events == ["connect", "list"]


@pytest.mark.parametrize("cause", [RuntimeError("boom"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_it_is_deleted_when_the_audit_breaks_off(cause: BaseException) -> None:
    account = Account()
    with pytest.raises(type(cause)):
        run(account, then=cause)
    assert account.sessions == {}


def test_an_interrupt_while_it_starts_deletes_what_has_begun() -> None:
    account = Account(faults={"create": KeyboardInterrupt()})
    with pytest.raises(KeyboardInterrupt):
        run(account)
    assert account.sessions == {}


def test_a_creation_that_failed_is_deleted_and_not_paid_for_a_second_time() -> None:
    account = Account(faults={"create": RuntimeError("Failed to get or create session: out of stock")})
    said: list[str] = []
    with in_session(Database(), FIXED, say=said.append, connect=account.connect, environ=KEY) as session:  # type: ignore[arg-type]
        for _ in range(2):
            with pytest.raises(ConnectError, match="out of stock"):
                session._connected(SMALL)
    assert account.events.count("create") == 1
    assert account.sessions == {}


def test_a_deletion_that_fails_is_told_with_the_way_out_and_hides_nothing() -> None:
    account = Account(faults={"delete": AuraApiError("no", status_code=500)})
    assert "goes on to cost" in run(account)[-1]
    with pytest.raises(ZeroDivisionError):
        run(account, then=ZeroDivisionError())


def test_a_session_that_aura_no_longer_finds_is_not_called_deleted() -> None:
    account = Account()
    said: list[str] = []
    with in_session(Database(), FIXED, say=said.append, connect=account.connect, environ=KEY) as session:  # type: ignore[arg-type]
        session._connected(SMALL)
        account.sessions.clear()
    assert "warning: Aura finds no session of this name" in said[-1]


def test_an_interrupt_in_the_deletion_tells_what_goes_on_to_cost() -> None:
    account = Account(faults={"delete": KeyboardInterrupt()})
    said: list[str] = []
    whole = in_session(Database(), FIXED, say=said.append, connect=account.connect, environ=KEY)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt), whole as session:
        session._connected(SMALL)
    assert "the deletion was interrupted" in said[-1] and "goes on to cost" in said[-1]


def test_a_connection_that_cannot_be_closed_does_not_cost_the_report() -> None:
    def broken() -> None:
        raise ArrowException("gone")

    account = Account(client=lambda: SimpleNamespace(close=broken))
    assert "deleted" in run(account)[-1]


def test_a_client_that_cannot_reach_its_session_is_not_waited_for_twice() -> None:
    account = Account(faults={"create": ArrowException("no route to the session")})
    with in_session(Database(), FIXED, say=lambda _: None, connect=account.connect, environ=KEY) as session:  # type: ignore[arg-type]
        for _ in range(2):
            with pytest.raises(ConnectError, match="no route to the session"):
                session._connected(SMALL)
        assert not session.used
    assert account.events.count("create") == 1
    assert account.sessions == {}


def test_the_address_says_which_instance_it_is_before_the_environment_does() -> None:
    def instance(database: Database) -> str:
        session = AuraSession(database, FIXED, Account(), print, instance="other999")  # type: ignore[arg-type]
        return str(session._database().aura_instance_id)

    proxied = Database()
    proxied.info = proxied.info.model_copy(update={"uri": "neo4j+s://graph.example:7687"})
    assert instance(Database()) == "abc12345"
    assert instance(proxied) == "other999"


def test_sessions_of_dead_processes_of_this_machine_are_deleted_and_all_others_kept() -> None:
    host = mark().removeprefix("kgeval_").rsplit("_", 2)[0]
    others = {f"{mark()}_77": "alive", "kgeval_elsewhere_999999_1_1": "far", "my-own": "own"}
    account = Account(sessions={f"kgeval_{host}_999999_1_1": "dead", **others})
    said = run(account)
    assert account.sessions == others
    assert "left behind" in said[0]


def test_a_session_of_the_users_own_is_used_and_left_alone() -> None:
    account = Account(sessions={"mine": "7"})
    said = run(account, options=AuraOptions(memory="2GB", name="mine"))
    assert account.sessions == {"mine": "7"}
    assert "left alone" in said[0]


def test_a_named_session_that_was_not_there_is_deleted() -> None:
    account = Account()
    run(account, options=AuraOptions(memory="2GB", name="mine"))
    assert account.sessions == {}


def test_in_aura_the_session_is_attached_to_the_instance_of_the_address() -> None:
    account = Account()
    run(account, options=AuraOptions())
    database: DbmsConnectionInfo = account.asked["db_connection"]
    assert (database.aura_instance_id, database.uri, database.password, database.database) == ("abc12345", None, "word", "neo4j")
    assert account.asked["cloud_location"] is None
    assert account.asked["memory"] == "8GB"  # as estimated
    assert account.asked["ttl"].total_seconds() == 3600


def test_a_cluster_is_named_by_its_address_and_needs_a_cloud_location() -> None:
    account = Account()
    run(account, options=AuraOptions(memory="4GB", cloud="gcp:europe-west1"), database=Database(aura=False))
    assert account.asked["db_connection"].uri == "neo4j://cluster.example:7687"
    assert (account.asked["cloud_location"].provider, account.asked["cloud_location"].region) == ("gcp", "europe-west1")


@pytest.mark.parametrize(("aura", "cloud", "told"), [
    (False, None, "gcp:europe-west1"), (True, "gcp:europe-west1", "leave out --gds-session-cloud"),
])
def test_a_cloud_location_that_does_not_fit_is_refused_before_anything_is_paid(aura: bool, cloud: str | None, told: str) -> None:
    account = Account()
    with pytest.raises(UsageError) as caught:
        run(account, options=AuraOptions(cloud=cloud), database=Database(aura=aura))
    assert told in caught.value.fix
    assert "create" not in account.events


@pytest.mark.parametrize(("cause", "told"), [
    (AuraApiError("Failed to authorize", status_code=401), "AURA_CLIENT_SECRET"), (AuraApiError("no", status_code=403), "enabled"),
    (Unreachable("no route"), "api.neo4j.io"), (RuntimeError("access to multiple projects: `{}`"), "AURA_PROJECT_ID"),
])
@pytest.mark.parametrize("where", ["connect", "list"])
def test_what_aura_refuses_is_told_with_its_way_out(cause: Exception, told: str, where: str) -> None:
    account = Account(faults={where: cause})
    with pytest.raises(ConnectError) as caught:
        run(account)
    assert told in caught.value.fix
    assert "create" not in account.events


def test_a_database_that_cannot_send_graphs_is_refused_before_anything_is_asked_of_aura() -> None:
    account = Account()
    with pytest.raises(ConnectError, match="v1, v2"):
        run(account, database=Database(versions=("v1", "v2")))
    assert account.events == []


def test_the_embedded_server_needs_no_session() -> None:
    database = Database(aura=False)
    database.info = database.info.model_copy(update={"embedded": True})
    with pytest.raises(UsageError, match="embedded"):
        run(Account(), database=database)


def test_the_key_comes_from_the_environment_under_either_name_and_is_never_shown() -> None:
    assert credentials(KEY) == credentials({name.removeprefix("AURA_"): value for name, value in KEY.items()})
    assert credentials(KEY).project == "project"
    assert "geheim" not in repr(credentials(KEY))
    with pytest.raises(ConfigError, match=r"AURA_CLIENT_SECRET is not set"):
        credentials({"AURA_CLIENT_ID": "id", "AURA_CLIENT_SECRET": " "})


def test_the_key_reaches_the_client_as_the_client_wants_it() -> None:
    given = credentials(KEY)
    assert AuraAPICredentials(given.client_id, given.client_secret, given.project).project_id == "project"


@pytest.mark.parametrize("wrong", [
    {"memory": "3GB"}, {"ttl": 0}, {"ttl": 10_081}, {"cloud": "gcp"}, {"cloud": "moon:base1"}, {"name": "a b"}, {"name": ""},
])
def test_options_that_cannot_be_meant_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        AuraOptions(**wrong)


def test_the_sizes_are_those_of_the_client() -> None:
    assert list(MEMORIES) == [str(size) for size in SessionMemory.all_values()]


@pytest.mark.parametrize("layout", [
    Layout(name="a", entity_labels=["E"], name_keys=["name"], relation_types=["R"]),
    Layout(name="b", entity_labels=["E"], name_keys=["n"], relation_types=["R"], scope_property="g", scope_value="x", scope_label="S"),
])
def test_the_parameters_pass_the_client_unchanged(layout: Layout) -> None:
    """The client turns the keys of maps to camel case and drops nulls, which would empty the graph without a word."""
    parameters = remote_parameters(layout)
    assert ConfigConverter.convert_to_gds_config(queryParameters=parameters) == {"queryParameters": parameters}
    assert set(parameters) == {p.name for p in all_queries()["remote-graph"].params}


def test_the_query_holds_nothing_that_the_client_refuses() -> None:
    text = all_queries()["remote-graph"].text
    assert "gds.graph.project.remote" in text
    assert not [word for word in ("undirectedRelationshipTypes", "inverseIndexedRelationshipTypes") if word in text]


def test_a_call_stops_at_its_time_limit_and_its_errors_come_through() -> None:
    import threading

    gate = threading.Event()
    with pytest.raises(QueryTimeout):
        limited(gate.wait, 0.05)
    gate.set()
    assert limited(lambda: 7, None) == 7
    with pytest.raises(ZeroDivisionError):
        limited(lambda: 1 // 0, 5)


def test_a_time_out_of_the_clients_own_is_an_error_of_the_session() -> None:
    def late() -> None:
        raise TimeoutError("read timed out")

    with pytest.raises(QueryError, match="read timed out"):
        limited(late, 5)


def test_a_session_is_opened_once_and_only_by_who_runs_algorithms(monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs money: no dry run opens one, and the tasks of one session share it."""
    opened: list[object] = []

    @contextmanager
    def counted(graph: object, options: object, **_: object) -> Iterator[None]:
        opened.append(options)
        yield
        opened.append("closed")

    monkeypatch.setattr(aura, "in_session", counted)
    with TaskSession("connect", gds_session=FIXED) as session:
        session.__dict__["graph"] = Database()
        session.task("audit", dry=True).open_algorithms()
        assert session.task("completeness").graph is session.graph and opened == []
        for _ in range(2):
            session.task("audit").open_algorithms()
        assert opened == [FIXED]
    assert opened == [FIXED, "closed"]
    config = Config.model_validate({"graph": {"session": {"use": True}}})
    assert kgeval.score([{"id": "q", "question": "?", "answer": "a", "reference": "a"}], metrics="token_f1", config=config).exit_code == 0
    with kgeval.connect(config=config, gds_session=False) as session:
        assert session.gds_session is None
