"""A model's identity: its name, its parameters and its endpoint's name. An address is none: servers move."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kgeval.building.run import check_settings
from kgeval.errors import UsageError
from kgeval.graph.load.mark import Mark
from kgeval.llm.calls import Endpoint, Limits, Reply, Task
from kgeval.llm.embed_sources import EndpointModel
from kgeval.llm.endpoints import endpoint_name, settled
from kgeval.llm.fake import FakeServer, Rule
from kgeval.llm.prompts import parse_prompt
from kgeval.llm.request import Request, make_request
from kgeval.llm.session import Models, open_models
from kgeval.text.extract.model import ModelExtractor
from kgeval.text.extract.schema import Allowed, Schema

PROMPT = parse_prompt("# ask: asks\n# slots: passage\n--- system ---\nBe brief.\n--- user ---\n{{passage}}\n", name="ask")


class Colour(Reply):
    shade: str
    colour: str


class Judged(Reply):
    reason: str
    colour: str


def request(url: str, *, name: str | None = None, reply: type[Reply] = Colour) -> Request:
    task: Task[Any] = Task("1", PROMPT, {"passage": "red car"}, reply)
    return make_request(task, settled(Endpoint("m", url, name=name)), items={})


@pytest.mark.parametrize("same", [
    ("http://localhost:8000/v1", "http://127.0.0.1:8000/v1/", "http://[::1]:8000/v1", "https://LOCALHOST:8000"),
    ("https://api.example.com/v1", "https://api.example.com:443/v1", "http://api.example.com:8443/v2", "https://api.example.com./v1"),
    ("http://gpu-3:80/v1", "http://gpu-3/v1", "https://gpu-3:443/v1"),
    ("https://8.8.8.8/v1", "https://8.8.8.8:9000/v1"),
])
def test_addresses_of_one_endpoint_are_one_key(same: tuple[str, ...]) -> None:
    assert len({request(url).key for url in same}) == 1


def test_addresses_of_different_endpoints_are_different_keys() -> None:
    urls = [
        "http://localhost:8000/v1", "http://localhost:8001/v1", "http://127.0.0.2:8000/v1", "http://a.localhost:8000/v1",
        "http://192.168.1.7:8000/v1", "http://192.168.1.7:8001/v1", "http://gpu-3:8000/v1", "http://gpu-3.lan:8000/v1",
        "https://api.example.com/v1", "https://api.example.org/v1",
        # a path may choose the model, whatever the request's body names
        "https://x.example.com/openai/deployments/large", "https://x.example.com/openai/deployments/small",
        "http://localhost:8000/small/v1",
    ]
    assert len({request(url).key for url in urls}) == len(urls)


def test_an_endpoint_with_a_name_may_move() -> None:
    moved = [request(url, name="our vLLM").key for url in ("http://localhost:8000/v1", "http://10.0.0.4:9/x", "https://gpu.example.com/v1")]
    assert len(set(moved)) == 1 and moved[0] != request("http://localhost:8000/v1").key
    assert request("http://localhost:9/v1", name="localhost:8000").key == request("http://localhost:8000/v1").key
    for wrong in ("", "  ", "a\nb", "x" * 201):
        with pytest.raises(UsageError, match="no usable name"):
            settled(Endpoint("m", "http://a/v1", name=wrong))


def test_vectors_are_known_by_model_and_endpoint() -> None:
    source = EndpointModel("e", "http://localhost:7/v1")
    assert source.identity == "e@localhost:7" == EndpointModel("e", "http://127.0.0.1:7/v1").identity
    assert EndpointModel("e", "http://localhost:8/v1", "ours").identity == "e@ours"


def extractor(
    folder: Path, url: str, *, name: str | None = None, schema: Schema | None = None, **parameters: Any,
) -> tuple[Models, ModelExtractor]:
    models = open_models(Endpoint("m", url, parameters, name), Limits(), role="extractor", journal=folder / "j.sqlite")
    return models, ModelExtractor(models, schema)


def settings(made: ModelExtractor) -> dict[str, Any]:
    return {"extractor": made.name, "extractor_signature": made.signature, "chunk_size": 600, **made.settings}


def refusal(there: dict[str, Any], now: ModelExtractor) -> UsageError | None:
    try:
        check_settings(Mark("novels", "ready", there), settings(now), {"model": "m", "gleanings": 0, "language": "en", "schema": None}, now)
    except UsageError as refused:
        return refused
    return None


@pytest.mark.parametrize(("other", "said"), [
    ({"url": "http://127.0.0.1:8001/v1"}, "endpoint localhost:8000 there, localhost:8001 now"),
    ({"url": "https://api.example.com/v1"}, "endpoint localhost:8000 there, api.example.com now"),
    ({"temperature": 0.5}, 'parameters {"temperature": 0} there, {"temperature": 0.5} now'),
    ({"schema": Schema("s.yaml", (Allowed("Ship"),))}, "schema hash suggested "),
])
def test_a_refusal_of_a_graph_names_the_setting_that_differs_and_the_way_out(tmp_path: Path, other: dict[str, Any], said: str) -> None:
    one, first = extractor(tmp_path, "http://localhost:8000/v1")
    two, second = extractor(tmp_path, **{"url": "http://127.0.0.1:8000/v1", **other})
    three, named = extractor(tmp_path, **{"url": "http://127.0.0.1:8000/v1", **other}, name="localhost:8000")
    with one, two, three:
        there = settings(first) | {"model": "m", "gleanings": 0, "language": "en"}
        refused = refusal(there, second)
        assert refused is not None and said in refused.message and "signature" not in refused.message
        assert "--replace" in refused.fix and ('endpoint = "localhost:8000"' in refused.fix) == ("url" in other)
        assert refusal(there, first) is None and (refusal(there, named) is None) == ("url" in other)


@pytest.mark.slow
def test_calls_of_another_port_are_found_where_the_endpoint_has_a_name(tmp_path: Path) -> None:
    seen = []
    for _ in range(2):
        with FakeServer(lambda _chat: Rule(reply={"shade": "dark", "colour": "red"})) as server:
            at = Endpoint("m", server.base_url, name="ours")
            with open_models(at, Limits(), role="judge", journal=tmp_path / "j.sqlite") as models:
                assert models.ask(Task("1", PROMPT, {"passage": "red car"}, Colour)).value is not None
            seen.append((server.base_url, len(server.requests)))
    assert seen[0][0] != seen[1][0] and [count for _, count in seen] == [1, 0]


def test_names_of_hosts() -> None:
    names = {
        "https://api.openai.com/v1": "api.openai.com", "https://openrouter.ai/api/v1": "openrouter.ai/api",
        "http://[fd00::1]:8/v1": "[fd00::1]:8", "http://localhost:80/v1": "localhost", "http://127.0.0.1:11434/v1": "localhost:11434",
        "https://generativelanguage.example.com/v1beta/openai": "generativelanguage.example.com/v1beta/openai",
    }
    assert {url: endpoint_name(url) for url in names} == names
