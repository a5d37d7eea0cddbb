"""From an installed adapter to an open system: its script as a process that speaks JSONL, in the environment of its
package."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from kgeval.config import cache_folder, environment
from kgeval.errors import ConfigError, InputError, UsageError
from kgeval.llm.endpoints import DEFAULT_URL, address, api_key
from kgeval.llm.tokens import encoding
from kgeval.records import Answer
from kgeval.systems.adapters.catalog import AdapterInfo, adapter, scripts
from kgeval.systems.adapters.environment import place, python_of
from kgeval.systems.adapters.folder import IndexCard, read_card
from kgeval.systems.outside.command import CommandSystem, open_command
from kgeval.systems.system import Ask, ClosedAtEnd, Opening
from kgeval.tables.output import replacing

if TYPE_CHECKING:
    from kgeval.llm.prices import Price
    from kgeval.systems.spec import SystemSpec

# packages of adapters use tiktoken, which fetches its vocabularies from the network at first use: they come with kgeval
ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"  # tiktoken calls its file by the SHA-1 of this
ENCODINGS = ("o200k_base", "cl100k_base")


def vocabulary_folder(cache_dir: Path | None = None) -> Path:
    """A folder for TIKTOKEN_CACHE_DIR with the vocabularies of bpe-openai, made once (about a second). Raises:
    ConfigError."""
    folder = cache_folder(cache_dir) / "tiktoken"
    for name in ENCODINGS:
        place = folder / hashlib.sha1(ADDRESS.format(name).encode(), usedforsecurity=False).hexdigest()
        if place.exists():
            continue
        try:
            with replacing(place, binary=True, kept=False) as file:
                file.write(_file_of(encoding(name)))
        except InputError as cause:
            fix = "make room in the cache folder, or set TIKTOKEN_CACHE_DIR to a folder that has them"
            raise ConfigError(f"the vocabularies of tiktoken: {cause.message}", fix=fix) from cause
    return folder


def _file_of(known: Any) -> bytes:
    """The file as OpenAI publishes it, byte by byte: tiktoken checks its digest."""
    special = {known.encode_single_token(token) for token in known.special_tokens_set}
    lines = []
    for rank in range(known.max_token_value + 1):
        if rank not in special:
            try:
                token = known.decode_single_token_bytes(rank)
            except KeyError:  # numbers that no token has
                continue
            lines.append(base64.b64encode(token) + b" %d\n" % rank)
    return b"".join(lines)


# what a script's process gets of this one's environment: nothing that could be a secret of something else
PASSED = (
    "PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
    "TIKTOKEN_CACHE_DIR",
    "HF_HOME", "HF_HUB_OFFLINE", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS",
)
NEO4J = ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE")
# no package of these is to call home, and litellm is not to fetch its price list
QUIET = {
    "DO_NOT_TRACK": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1",
    "PYTHONWARNINGS": "ignore",
    "PYTHONUTF8": "1",
}
LOOPBACK = "127.0.0.1,localhost"


def open_adapter(spec: SystemSpec, opening: Opening) -> AdapterSystem:
    """An open adapter: its process started and greeted. Settings: those for answering, `model`, and `temperature`.

    Raises: UsageError (not installed, no --folder, no such mode or setting), InputError (no index), ConfigError,
    ModelError (no key). """
    info = adapter(spec.name)
    mode = spec.mode or info.modes[0]
    if mode not in info.modes:
        raise UsageError(f"{info.name} has no mode {mode}", fix=f"modes: {', '.join(info.modes)}")
    if opening.folder is None:
        raise UsageError(
            f"{info.name} needs the folder of its index", fix=f"--folder DIR, made by kgeval system index {info.name}",
        )
    settings = info.checked(opening.settings, answering=True)
    card = read_card(opening.folder, info)
    name = spec.label or (f"{info.name}:{mode}" if len(info.modes) > 1 else info.name)
    url = address(environment("OPENAI_BASE_URL") or DEFAULT_URL)
    prices = Prices(opening.price(str(settings.get("model") or card.model), url), opening.price(card.embedding_model, url), card.local)
    with ExitStack() as stack:
        more = local_embeddings(stack, card) if card.local and not opening.dry else {}
        script = replace(
            opening, settings={"adapter": info.name, "mode": mode, **settings}, environment={**variables(info), **more},
            say=lambda text: None,
        )
        system = open_command(
            argv(info, "answer", mode, settings), script, name=name, folder=opening.folder.resolve(),
            hello_seconds=opening.timeout,
        )
        return AdapterSystem(system, stack.pop_all(), prices)


@dataclass(frozen=True)
class Prices:
    """What the two models cost; None: not known. `local`: embedding is for nothing."""

    chat: Price | None
    embedding: Price | None
    local: bool

    def cost(self, given: int | None, answered: int | None, embedded: int | None) -> float | None:
        """USD of so many tokens; None where a count or a price that is needed is not known."""
        if given is None or answered is None or embedded is None or self.chat is None:
            return None
        if embedded == 0 or self.local:
            return round(self.chat.cost(given, answered), 9)
        return None if self.embedding is None else round(self.chat.cost(given, answered) + self.embedding.cost(embedded, 0), 9)


class AdapterSystem(ClosedAtEnd):
    """A System: the script's process, and what runs beside it for as long."""

    def __init__(self, inner: CommandSystem, beside: ExitStack, prices: Prices) -> None:
        self._inner, self._beside, self._prices = inner, beside, prices
        self.name, self.variant, self.signature = inner.name, inner.variant, inner.signature
        self.adjusts, self.parallel = inner.adjusts, inner.parallel

    @property
    def notes(self) -> list[str]:
        """What a reader of the answers should know."""
        return self._inner.notes

    @property
    def card(self) -> dict[str, JsonValue]:
        """What the script declares: how its index was made."""
        return self._inner.card

    def answer(self, ask: Ask) -> Answer:
        """The answer, as of any command, with its cost where prices are known."""
        answer = self._inner.answer(ask)
        embedded = answer.extra.get("embedding_tokens")
        cost = self._prices.cost(
            answer.input_tokens, answer.output_tokens, embedded if isinstance(embedded, int) else None,
        )
        return answer if cost is None else answer.model_copy(update={"cost": cost})

    def close(self) -> None:
        """Ends the process and what runs beside it. May be called twice."""
        try:
            self._inner.close()
        finally:
            self._beside.close()


def argv(
    info: AdapterInfo, task: str, mode: str = "", settings: Mapping[str, JsonValue] | None = None,
) -> tuple[str, ...]:
    """The command line, run in the index's folder. It names no path, so that a moved folder keeps its signature."""
    given = dict(settings or {})
    model = given.pop("model", None)
    words = ["python", "-m", info.module, task, "--folder", "."]
    words += ["--mode", mode] if mode else []
    words += ["--settings", json.dumps(given, sort_keys=True)] if given else []
    words += [f"--model={model}"] if model else []  # one word: a name may begin with a dash
    return tuple(words)


def variables(info: AdapterInfo) -> dict[str, str]:
    """The environment of a script's process. Raises: UsageError, ModelError where the address or the key is missing or
    wrong."""
    python = python_of(info)
    url = address(environment("OPENAI_BASE_URL") or DEFAULT_URL)
    passed = {name: os.environ[name] for name in PASSED if name in os.environ}
    if "TIKTOKEN_CACHE_DIR" not in passed:
        passed["TIKTOKEN_CACHE_DIR"] = str(vocabulary_folder())
    if info.neo4j:
        if environment("NEO4J_URI") is None:
            raise UsageError(f"{info.name} works on a Neo4j, and NEO4J_URI is not set", fix="set NEO4J_URI, NEO4J_USERNAME, NEO4J_PASSWORD")
        passed |= {name: os.environ[name] for name in NEO4J if name in os.environ}
    path = os.pathsep.join([str(python.parent), passed.get("PATH", os.defpath)])
    # requests to this machine are kept away from a proxy: the relay is here, and a proxy would get its key and all texts
    direct = passed.get("no_proxy") or passed.get("NO_PROXY")
    no_proxy = f"{direct},{LOOPBACK}" if direct else LOOPBACK
    return {
        **passed, **QUIET, "NO_PROXY": no_proxy, "no_proxy": no_proxy, "PATH": path, "VIRTUAL_ENV": str(place(info)),
        "PYTHONPATH": str(scripts()), "OPENAI_BASE_URL": url, "OPENAI_API_KEY": api_key(url),
    }


def local_embeddings(stack: ExitStack, card: IndexCard) -> dict[str, str]:
    """kgeval's own embedding model behind an address, for as long as the stack is open; the variables that tell the
    script of it."""
    from kgeval.llm.embed import open_embedder
    from kgeval.systems.adapters.embedding_server import EmbeddingServer

    server = stack.enter_context(EmbeddingServer(open_embedder(card.embedding_model)))
    server.vectors([secrets.token_hex(8)])  # a text that no cache holds: the model is loaded now, not on the first question's time
    return {"KGEVAL_EMBEDDINGS_URL": server.base_url, "KGEVAL_EMBEDDINGS_KEY": server.key}
