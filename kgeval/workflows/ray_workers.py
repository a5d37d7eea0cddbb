"""Shards on Ray: a Ray of our own on this machine, or a cluster that is there.

Ray's own statistics, dashboard and logs on the driver are off. A Ray of our own listens on the loopback address only, lets in only
who has the token that this process drew, and keeps its logs in a folder of this user's only, which goes with it. Tasks get plain
data, not objects of kgeval's; Ray moves them in its own way, so whoever can reach a cluster must be trusted (docs/large-batches.md).
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kgeval.ending import unused_name
from kgeval.errors import ConfigError, UsageError, install, installed
from kgeval.workflows.workers import EndedWorker, Worker, carry_out

STARTS = 4
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DISABLE_IMPORT_WARNING": "1"}
OWN = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # the switch that makes Ray bind to the loopback address, on Linux too
    "RAY_AUTH_MODE": "token", "RAY_enable_metrics_collection": "0",
}


def check_ray() -> None:
    """Raises: UsageError where Ray is not installed."""
    if not installed("ray"):
        raise UsageError("--executor ray needs Ray, which is not installed", fix=f"{install('ray')}, or --executor local")


def run_ray(
    shards: Sequence[Worker], *, workers: int, go_on: Callable[[EndedWorker], bool], address: str | None = None,
) -> Iterator[EndedWorker]:
    """As run_local, on Ray. `address` None: a Ray of our own with one CPU a worker, ended afterwards; else a cluster, of which at most
    `workers` CPUs are used.

    Raises: UsageError without Ray, ConfigError where the cluster cannot be reached.
    """
    check_ray()
    own = {} if address else {**OWN, "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    with _variables({**QUIET, **own}), _own_folder() as folder:
        import ray

        try:
            _connect(ray, address, workers, folder)
            yield from _spread(ray, shards, workers, go_on)
        finally:
            ray.shutdown()


def _connect(ray: Any, address: str | None, workers: int, folder: str) -> None:
    where = f"the Ray cluster at {address}" if address else "a Ray of this machine"
    local = {"num_cpus": workers, "include_dashboard": False, "_node_ip_address": "127.0.0.1", "_temp_dir": f"{folder}/ray"}
    try:
        if address is not None:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
            return
        if any(_begun(ray, **local) for _ in range(STARTS)):
            return
        why = "it did not start in time"
    except (ConnectionError, RuntimeError, ValueError, OSError) as cause:
        why = type(cause).__name__
    raise ConfigError(f"{where} cannot be used: {why}", fix="check --ray-address, or use --executor local")


@contextmanager
def _own_folder() -> Iterator[str]:
    """Where a Ray of our own has its sockets and logs, in a folder more: Ray opens its own to everybody. Sockets' paths must be short, so
    it is not below a long TMPDIR."""
    folder = unused_name(Path("/tmp" if Path("/tmp").is_dir() else tempfile.gettempdir()), "kgeval-ray-")  # noqa: S108
    try:
        folder.mkdir(mode=0o700)
        yield str(folder)
    finally:
        for _ in range(3):  # a process of Ray's that is ending may still write there
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(0.3)


def _begun(ray: Any, **how: Any) -> bool:
    """Starts a Ray of our own. False where it was too slow: Ray gives its processes 15 and 30 s, and a busy machine may need more."""
    try:
        ray.init(address="local", log_to_driver=False, logging_level="ERROR", **how)
    except Exception as cause:
        _end_begun(cause)
        ray.shutdown()
        if type(cause) is Exception and "timed out during startup" in str(cause):  # Ray has no class of its own for this
            return False
        raise
    return True


def _end_begun(cause: BaseException) -> None:
    """Ends the processes of a start that failed: Ray leaves them to the end of this one, where they slow the next start."""
    trace = cause.__traceback__
    while trace is not None:
        node: Any = trace.tb_frame.f_locals.get("self")
        if hasattr(node, "kill_all_processes"):
            node.kill_all_processes(check_alive=False, wait=True)
        trace = trace.tb_next


def _spread(ray: Any, shards: Sequence[Worker], workers: int, go_on: Callable[[EndedWorker], bool]) -> Iterator[EndedWorker]:
    # a shard that a lost node took with it is begun again by the user, who then knows: never twice unasked, it may cost
    task = ray.remote(num_cpus=1, max_retries=0)(_work)
    waiting, running = list(reversed(shards)), dict[Any, Worker]()
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                shard = waiting.pop()
                running[task.remote(asdict(shard))] = shard
            (reference, *_), _ = ray.wait(list(running), num_returns=1)
            ended = _end(ray, reference, running.pop(reference))
            if not go_on(ended):
                yield ended
                yield from (EndedWorker(shard.name, 130, "not begun") for shard in waiting)
                waiting = []
                _cancel(ray, running)
            else:
                yield ended
    finally:
        _cancel(ray, running)


def _cancel(ray: Any, running: Mapping[Any, Worker]) -> None:
    """Interrupts what runs, and waits a little for it to keep what it has."""
    for reference in running:
        ray.cancel(reference, force=False)
    if running:
        ray.wait(list(running), num_returns=len(running), timeout=30)


def _end(ray: Any, reference: Any, worker: Worker) -> EndedWorker:
    try:
        reply = ray.get(reference)
    except (ray.exceptions.RayError, KeyboardInterrupt) as cause:
        if isinstance(cause, KeyboardInterrupt):
            raise
        return EndedWorker(worker.name, 130, f"its worker was lost: {type(cause).__name__}")
    return EndedWorker(worker.name, int(reply["code"]), str(reply["messages"]))


def _work(worker: dict[str, Any]) -> dict[str, Any]:
    """On a worker: the shard in a process of its own there."""
    return asdict(carry_out(Worker(**worker)))


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    """Environment variables for as long as Ray runs; those that it sets itself go with it too."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)
