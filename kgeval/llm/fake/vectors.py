"""Embeddings without a model: hashed character trigrams, so that similar texts have similar vectors."""

from __future__ import annotations

import base64
import math
import struct
import zlib


def embed(text: str, dimensions: int) -> list[float]:
    """A vector of unit length. Texts that share most trigrams point the same way; an empty text has a vector of its own."""
    padded = f"  {' '.join(text.casefold().split())} "
    vector = [0.0] * dimensions
    for at in range(len(padded) - 2):
        code = zlib.crc32(padded[at : at + 3].encode("utf-8", "surrogatepass"))
        vector[code % dimensions] += 1.0 if code & 0x80000000 else -1.0
    length = math.sqrt(sum(value * value for value in vector))
    if length == 0:
        return [1.0, *[0.0] * (dimensions - 1)]
    return [value / length for value in vector]


def packed(vector: list[float]) -> str:
    """The vector as base64 of little-endian float32, the form that the openai client asks for."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
