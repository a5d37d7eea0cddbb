"""Log lines for who wants to know more: `kgeval -v`, `-vv`, `--log-file`. On stderr or in a file for its owner only."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from kgeval.cli.common import visible

F = TypeVar("F", bound=Callable[..., Any])
LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)


def log_options(command: F) -> F:
    """-v, -vv, --log-file; to be handed to start_logging."""
    for option in reversed((
        click.option(
            "-v", "--verbose", count=True, envvar="KGEVAL_VERBOSE",
            help="Tell of retries and of replies that cannot be used; -vv also what servers say, which may repeat your texts.",
        ),
        click.option(
            "--log-file", type=click.Path(path_type=Path), envvar="KGEVAL_LOG_FILE", metavar="FILE",
            help="Append these lines to FILE, as -v does, instead of showing them.",
        ),
    )):
        command = option(command)
    return command


def start_logging(verbose: int, log_file: Path | None) -> Callable[[], None]:
    """Sends kgeval's log lines to stderr, or from -v on to the file. What comes back ends that. Raises: InputError for a file that
    cannot be written."""
    shown = _handler(logging.StreamHandler(sys.stderr), "kgeval: %(message)s", LEVELS[min(verbose, 2)] if log_file is None else LEVELS[0])
    handlers: list[logging.Handler] = [shown]
    if log_file is not None:
        from kgeval.tables.output import open_log

        filed = logging.StreamHandler(open_log(log_file, append=True))
        handlers.append(_handler(filed, "%(asctime)s %(levelname)s %(threadName)s %(message)s", LEVELS[2 if verbose > 1 else 1]))
    logger = logging.getLogger("kgeval")
    before = logger.level
    logger.setLevel(min(handler.level for handler in handlers))
    for handler in handlers:
        logger.addHandler(handler)

    def end() -> None:
        logger.setLevel(before)
        for handler in handlers:
            logger.removeHandler(handler)
        if log_file is not None:
            filed.stream.close()

    return end


class _OneLine(logging.Formatter):
    """A record on one line, control and direction characters written out: nothing that a server says steers a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(" ".join(super().format(record).splitlines()))


def _handler(handler: logging.Handler, form: str, level: int) -> logging.Handler:
    handler.setFormatter(_OneLine(form))
    handler.setLevel(level)
    return handler
