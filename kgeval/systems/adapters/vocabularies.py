"""tiktoken's vocabularies for the packages of adapters: it fetches them from the network at first use, but they come with kgeval."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path
from typing import Any

from kgeval.errors import ConfigError
from kgeval.llm.places import cache_folder
from kgeval.llm.tokens import encoding

ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"  # tiktoken calls its file by the SHA-1 of this
ENCODINGS = ("o200k_base", "cl100k_base")


def vocabulary_folder(cache_dir: Path | None = None) -> Path:
    """A folder for TIKTOKEN_CACHE_DIR with the vocabularies of bpe-openai, made once (about a second). Raises: ConfigError."""
    folder = cache_folder(cache_dir) / "tiktoken"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in ENCODINGS:
            place = folder / hashlib.sha1(ADDRESS.format(name).encode(), usedforsecurity=False).hexdigest()
            if not place.exists():
                beside = place.with_name(f".{place.name}.{os.getpid()}")
                beside.write_bytes(_file_of(encoding(name)))
                beside.replace(place)
    except OSError as cause:
        what = f"{folder}: the vocabularies of tiktoken cannot be written: {cause.strerror or cause}"
        raise ConfigError(what, fix="make room in the cache folder, or set TIKTOKEN_CACHE_DIR to a folder that has them") from cause
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
