"""Where the limits of files reach into pypdf: its time, its fonts, and what it refuses itself."""

from __future__ import annotations

import ctypes
import gc
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from typing import Any

from kgeval.graph.load.values import Misfit
from kgeval.limits import TooLargeError, file_limits, too_large

# What a character of a font is counted as, in bytes. It takes 100 to 200 of memory: the fonts of a page have half a GB, which is enough for
# 39 that map all characters. Real ones map those that they have.
CHARACTER = 100
# Characters of one font by pypdf's own limits, which harm nobody.
FEW = 200_000
_TELL_OF_FONT: ContextVar[Callable[[Any], None] | None] = ContextVar("tell_of_font", default=None)


class StopError(BaseException):
    """Ends the reading of a page. No Exception: the library goes on after any in a form that a page draws."""


class OutOfTimeError(StopError):
    """The time for a file is spent."""


class FontsError(StopError):
    """The fonts that are in use map more characters than are kept."""


@contextmanager
def stopped_after(seconds: int) -> Iterator[Callable[[], None]]:
    """Raises OutOfTimeError in the code below, wherever it is, once this thread has used so many seconds of a processor.

    Gives a function that looks at the clock, and raises too. On Linux a thread looks as well: the library can take minutes over one
    operator or one font, and asks nobody in between. What is one call of C (a regex, a decompression) ends first.
    """
    until = time.thread_time() + seconds

    def check_time() -> None:
        if time.thread_time() > until:
            raise OutOfTimeError

    clock_of = getattr(time, "pthread_getcpuclockid", None)  # not on macOS
    if clock_of is None:
        yield check_time
        return
    reader = threading.get_ident()
    clock = clock_of(reader)
    ended, lock = threading.Event(), threading.Lock()

    def watch() -> None:
        # a thread uses at most as much of a processor as time goes by
        while (left := until - time.clock_gettime(clock)) > 0:
            if ended.wait(left + 0.01):
                return
        with lock:
            if not ended.is_set():
                _raise_in(reader, OutOfTimeError)

    def end_watch() -> None:
        with lock:
            ended.set()
        _raise_in(reader, None)  # what was sent and has not come

    threading.Thread(target=watch, name="kgeval-pdf-clock", daemon=True).start()
    try:
        yield check_time
    finally:
        # it may come here too, once
        try:
            end_watch()
        except OutOfTimeError:
            end_watch()
            raise


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Has a thread raise an error at its next step in Python; None: takes back one that it has not raised yet."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None if error is None else ctypes.py_object(error))


@contextmanager
def fonts_counted(check_time: Callable[[], None]) -> Iterator[None]:
    """Raises FontsError where the fonts that are in use at a time map more characters than the limit of bytes allows.

    The library reads all fonts that a page names, also those that it does not use, and each may map 65,536 characters in 60 bytes.
    """
    held = 0

    def is_too_much() -> bool:
        return held > FEW and held * CHARACTER > file_limits().unpacked

    def forget(count: int) -> None:
        nonlocal held
        held -= count

    def count_font(font: Any) -> None:
        nonlocal held
        count = len(font.character_map) + len(font.character_widths)
        held += count
        weakref.finalize(font, forget, count).atexit = False
        check_time()
        if is_too_much():
            gc.collect()  # what has read a form refers to itself, and would keep its fonts
            if is_too_much():
                raise FontsError

    _have_fonts_told()
    token = _TELL_OF_FONT.set(count_font)
    try:
        yield
    finally:
        _TELL_OF_FONT.reset(token)


@cache
def _have_fonts_told() -> None:
    """Has pypdf tell, to whom it concerns in this context, of each font that it has read. It has no hook of its own there; in a version to
    come that lacks the name used here, fonts are bounded by the time alone."""
    try:
        from pypdf.generic._font import Font

        read = Font.from_font_resource.__func__  # type: ignore[attr-defined]  # a class method
    except (ImportError, AttributeError):
        return

    @wraps(read)
    def read_and_tell(cls: type[Any], *resource: Any, **named: Any) -> Any:
        font = read(cls, *resource, **named)
        if tell := _TELL_OF_FONT.get():
            tell(font)
        return font

    Font.from_font_resource = classmethod(read_and_tell)  # type: ignore[assignment, method-assign]


@contextmanager
def forms_watched() -> Iterator[Callable[[], int]]:
    """Gives a function that says how many forms have been passed over so far: too large, damaged, or beyond the 5,000th on a page. The
    library goes on after each, and only its log says so."""
    missed = 0

    def count_missed(record: logging.LogRecord) -> bool:
        nonlocal missed
        missed += str(record.msg).startswith(("Impossible to decode XFormObject", "Exceeded %(limit)d form XObject"))
        return False

    log = logging.getLogger("pypdf._page")
    level = log.level
    log.setLevel(logging.WARNING)
    log.addFilter(count_missed)
    try:
        yield lambda: missed
    finally:
        log.removeFilter(count_missed)
        log.setLevel(level)


def refusal(cause: Exception, name: str, page: int | None = None) -> TooLargeError | Misfit:
    """What pypdf's refusal of a file or of a page means: which of our limits it is, or a fault where none of them would help.

    pypdf has one kind of error for all its limits, and says in words which it was.
    """
    where = name if page is None else f"{name}: page {page:,}"
    said = str(cause)
    if ("page tree" in said and "entr" in said) or (page is None and "array element" in said):  # a list of pages, without a tree
        return too_large(where, "a PDF of more pages than that", "pages")
    if "number of tokens" in said:
        return too_large(where, "a stream of more drawing steps than are read in that time", "seconds")
    if is_of_unpacked(cause):
        return too_large(where, f"a stream unpacks to more than a third of that ({said[:100].rstrip('.')})", "unpacked")
    has = "has" if page is None else f"page {page:,} has"
    return Misfit(f"{has} what no PDF needs, and is not read ({said[:100].rstrip('.')}): print it to a new PDF")


def is_of_unpacked(cause: Exception) -> bool:
    """Whether a refusal of pypdf is that of a stream that unpacks to more than a third of our limit of bytes."""
    return str(cause).startswith(("Limit reached while decompressing", "Array-based stream has at least", "Stream decoding exceeded"))
