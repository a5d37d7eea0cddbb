"""The folder of an index: the documents, the card that says how it is made, and what the script tells of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, JsonValue, ValidationError

from kgeval.errors import InputError, UsageError
from kgeval.records import Corpus, Document
from kgeval.systems.adapters.catalog import AdapterInfo
from kgeval.tables.output import write_jsonl, write_text
from kgeval.text.tokens import TOKENIZER, count_tokens

CARD, DOCUMENTS, RESULT, STORE, LOG = "kgeval-adapter.json", "documents.jsonl", "index.json", "store", "index.log"


class IndexCard(BaseModel):
    """How an index is made; the scripts read it too. `local`: the embedding model runs in kgeval, not at the endpoint.

    `documents`: SHA-256 of the texts (None: the graph was there before). `dimensions`, `version`: told by the script; None before it
    has finished.
    """

    adapter: str
    model: str
    embedding_model: str
    local: bool = False
    settings: dict[str, JsonValue] = {}
    preset: str | None = None
    documents: str | None = None
    dimensions: int | None = None
    version: str | None = None

    @property
    def whole(self) -> bool:
        """The index step has finished."""
        return self.version is not None


class AskedCounts(BaseModel):
    """What the index step asked, as the relay counted it (scripts/adapter_relay.py). Tokens are None where a reply did not say them."""

    calls: int
    input_tokens: int | None
    output_tokens: int | None
    seconds: float
    embedding_calls: int
    embedding_tokens: int | None
    failed: int


class IndexReport(BaseModel):
    """What the script says of its index step; None: the package does not say."""

    entities: int | None
    relations: int | None
    chunks: int | None
    failures: dict[str, int]
    notes: list[str]
    stages: dict[str, float]
    seconds: float
    version: str
    dimensions: int
    asked: AskedCounts
    python: str

    @property
    def failed(self) -> int:
        """Documents that are not in the index."""
        return sum(self.failures.values())


def read_card(folder: Path, info: AdapterInfo) -> IndexCard:
    """The card of a finished index. Raises: InputError where there is none, or one of another adapter."""
    fix = f"kgeval system index {info.name} --documents DOCS --folder {folder}"
    try:
        card = IndexCard.model_validate_json((folder / CARD).read_text(encoding="utf-8"))
    except OSError as cause:
        raise InputError(f"{folder}: no index of {info.name} ({CARD} cannot be read)", fix=fix) from cause
    except ValidationError as cause:
        raise InputError(f"{folder / CARD}: not a card of kgeval's: {cause.error_count()} faults", fix=fix) from cause
    if card.adapter != info.name:
        raise InputError(f"{folder} is an index of {card.adapter}, not of {info.name}", fix=f"--system {card.adapter}, or another --folder")
    if not card.whole:
        raise InputError(f"{folder}: its index step did not finish", fix=f"{fix} --replace")
    return card


def check_free(folder: Path, *, replace: bool) -> None:
    """Raises: UsageError for a folder that holds anything; `replace`: anything but an index of kgeval's."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / CARD).is_file():
            raise UsageError(
                f"{folder} is not empty, and no index of kgeval's", fix="give --folder a new or empty folder",
            )
        if not replace:
            raise UsageError(
                f"{folder} holds an index already", fix="give another --folder, or --replace to make it anew",
            )


def prepare(folder: Path, card: IndexCard, documents: Sequence[Document], *, replace: bool) -> None:
    """Writes documents and card into a new folder, or an empty one; `replace`: into one of kgeval's, whose index is
    deleted, and nothing else that is in it. Raises: UsageError as `check_free` has it. """
    import shutil

    check_free(folder, replace=replace)
    folder.mkdir(parents=True, exist_ok=True)
    write_card(folder, card)  # first: from now on no finished index is here
    if (folder / STORE).is_dir():
        shutil.rmtree(folder / STORE)
    for name in (RESULT, LOG):
        (folder / name).unlink(missing_ok=True)
    rows = ({"id": document.id, "title": document.title, "text": document.text} for document in documents)
    write_jsonl(folder / DOCUMENTS, rows, kept=False)


def write_card(folder: Path, card: IndexCard) -> None:
    """Writes the card, whole or not at all."""
    write_text(folder / CARD, card.model_dump_json(indent=2), kept=False)


def read_report(folder: Path) -> IndexReport:
    """What the script wrote about its index. Raises: InputError where it did not."""
    try:
        return IndexReport.model_validate_json((folder / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValidationError) as cause:
        raise InputError(
            f"{folder / RESULT}: the script did not tell what it built: {cause}", fix="look into its log",
        ) from cause


def corpus(documents: Sequence[Document], chunks: int | None) -> Corpus:
    """The texts that an index is made from, counted as everywhere in kgeval."""
    return Corpus(
        hash=digest(documents), documents=len(documents), chunks=chunks,
        tokens=sum(count_tokens(document.text) for document in documents),
        words=sum(len(document.text.split()) for document in documents), tokenizer=TOKENIZER,
    )


def digest(documents: Sequence[Document]) -> str:
    """SHA-256 over the documents in the order of their ids: the same that `kgeval build` has for them."""
    from kgeval.building.state import content_hash, corpus_hash

    return corpus_hash((document.id, content_hash(document)) for document in documents)


def configuration(info: AdapterInfo, card: IndexCard, version: str) -> Mapping[str, JsonValue]:
    """The configuration card of [X table 18] with what was set."""
    return {
        **info.configuration_card, "package": f"{info.distribution} {version}", "modes": list(info.modes),
        "preset": card.preset,
        "model": card.model, "embedding_model": card.embedding_model, "embedding_local": card.local,
        "settings": card.settings,
    }
