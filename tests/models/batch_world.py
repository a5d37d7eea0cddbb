"""Runs of `kgeval score` by batches in the folder of a test, and the same ones live."""

from __future__ import annotations

from pathlib import Path

from shard_world import score, write_world

from kgeval.cli.main import run
from kgeval.llm.fake import FakeServer


def world(server: FakeServer, *more: str, n: int = 6) -> list[str]:
    """Arguments of a run; `live` takes the same ones, with a journal of its own."""
    return [*write_world(Path(), n), "--model", "m", "--base-url", server.base_url, "--journal", "batch.sqlite", *more]


def batched(arguments: list[str], *more: str) -> int:
    return score(*arguments, "--batch", "--batch-poll", "0.01", *more)


def live(arguments: list[str]) -> bytes:
    """The scores of a live run, which nothing from the batches reaches."""
    at = arguments.index("--journal")
    assert score(*arguments[:at], "--journal", "live.sqlite", "-o", "live.jsonl") == 0
    return Path("live.jsonl").read_bytes() + Path("live.verdicts.jsonl").read_bytes()


def written() -> bytes:
    return Path("batch.jsonl").read_bytes() + Path("batch.verdicts.jsonl").read_bytes()


def lines_sent(server: FakeServer) -> int:
    return server.stats().by_path.get("/v1/chat/completions", 0)


def nothing_is_left(server: FakeServer) -> None:
    """No batch under way, no file of ours, here or at the provider."""
    assert run(["cache", "batches", "list", "--journal", "batch.sqlite", "-f", "json"]) == 0
    assert list(Path().glob("batch.sqlite.batches.*.jsonl")) == []
    assert server.model.batches.files == {}
