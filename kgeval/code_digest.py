"""What stands for a function of the user's own in signatures: its code, and the values that it was made with."""

from __future__ import annotations

import builtins
import dis
import hashlib
import inspect
import re
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cached_property, partial
from pathlib import Path, PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

from pydantic import BaseModel

DEEPEST = 40  # objects within each other; what is deeper is told as if it could not be told by its content
_PLAIN = (bool, int, float, complex, str, bytes, date, time, timedelta, Decimal, PurePath)
_HERE = uuid.uuid4().hex  # of this process: the identity of an object means nothing in another one


def digest_function(function: Callable[..., Any], *, by_class: bool = False) -> str:
    """First 16 hex digits of what the function does: its code and name, its default values, what it closes over, and the global values
    that it names where these are not in its file.

    The code of a module's function is the whole file, since it may call what stands beside it; of a notebook's or a script's the function
    itself and those that it names. An object of a class of the user's own is its class's code and its attributes, as they are now. A value
    that cannot be told by its content (an open model, a connection) stands for itself: no other object, and no other process, has the same
    digest. With `by_class`, for what is paid for, it stands for its class, and a list, dict or set that the function or an object holds for
    its type: it may be a log or a cache, and a run that goes on would be paid for again.
    """
    digest = hashlib.sha256()
    for part in _Teller(by_class, _module_of(function)).parts(function):
        digest.update(f"{len(part)}:".encode() + part)
    return digest.hexdigest()[:16]


def has_file(function: Callable[..., Any]) -> bool:
    """Whether the function's code is a module's file, as it was when it was loaded."""
    return isinstance(function, FunctionType) and bool(_file_of(function))


@dataclass
class _Teller:
    """Tells values by their content, as pieces of bytes. `module`: of the function, whose classes are the user's. `seen`: objects by their
    ids, each with its place among them, so that circles end; they are kept, else another one could get the id."""

    by_class: bool
    module: str
    seen: dict[int, tuple[int, Any]] = field(default_factory=dict)
    depth: int = 0

    def parts(self, value: Any) -> Iterator[bytes]:
        yield type(value).__qualname__.encode()
        if value is None or isinstance(value, _PLAIN):
            # not repr: Python refuses to write the largest whole numbers in tens
            yield f"{value:x}".encode() if isinstance(value, int) else repr(value).encode("utf-8", "surrogatepass")
        elif id(value) in self.seen:
            yield f"seen {self.seen[id(value)][0]}".encode()
        elif self.depth >= DEEPEST:
            yield self._itself(value)
        else:
            self.seen[id(value)] = len(self.seen), value
            self.depth += 1
            try:
                yield from self._content(value)
            except Exception:  # noqa: BLE001 - a container of the user's own may raise what it likes
                yield self._itself(value)
            finally:
                self.depth -= 1
            yield b"end"

    def _content(self, value: Any) -> Iterator[bytes]:
        if isinstance(value, FunctionType):
            yield from self._function(value)
        elif isinstance(value, Mapping):
            yield from self._all(part for pair in list(value.items()) for part in pair)
        elif isinstance(value, Set):
            # each by itself: what was seen in another one depends on their order, which is that of hashes
            yield from sorted(b"".join(_Teller(self.by_class, self.module, depth=self.depth).parts(part)) for part in value)
        elif isinstance(value, list | tuple):
            yield from self._all(value)
        elif isinstance(value, ModuleType):
            yield f"{value.__name__} {getattr(value, '__version__', '')}".encode()
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, BuiltinFunctionType):
            holder = value.__self__
            yield f"{value.__module__}.{value.__qualname__}".encode()
            yield from () if holder is None or isinstance(holder, ModuleType) else self.parts(holder)
        elif (held := _held_by(value)) is not None:
            yield from self._all(held)
        elif self._is_own(type(value)) or is_dataclass(value) or isinstance(value, BaseModel):
            yield from self.parts(type(value))
            for name, held in _attributes(value):
                yield name.encode()
                yield from self._state(held)
        else:
            yield self._itself(value)

    def _state(self, held: Any) -> Iterator[bytes]:
        """What a function or an object holds. `by_class`: a list, dict or set that it may fill while it works is told by its type alone."""
        if self.by_class and isinstance(held, list | dict | set | bytearray):
            yield type(held).__qualname__.encode()
        else:
            yield from self.parts(held)

    def _all(self, values: Iterable[Any]) -> Iterator[bytes]:
        for value in values:
            yield from self.parts(value)

    def _function(self, function: FunctionType) -> Iterator[bytes]:
        file = _file_of(function)
        yield function.__qualname__.encode()
        yield file + str(function.__code__.co_firstlineno).encode() if file else _code_of(function)
        yield from self.parts(function.__defaults__)
        yield from self.parts(function.__kwdefaults__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            yield name.encode()
            try:
                held = cell.cell_contents
            except ValueError:  # it is not filled yet
                continue
            yield from self._state(held)
        for name in sorted(_global_names(function.__code__)) if not file else ():
            if name in function.__globals__ and not hasattr(builtins, name):
                yield name.encode()
                yield from self._state(function.__globals__[name])

    def _class(self, value: type) -> Iterator[bytes]:
        """A class of the user's own by what it has, another one by its name and its module's version."""
        yield f"{value.__module__}.{value.__qualname__}".encode()
        if not self._is_own(value):
            yield str(getattr(sys.modules.get(value.__module__.partition(".")[0]), "__version__", "")).encode()
            return
        yield from self.parts(value.__bases__)
        for name, member in list(vars(value).items()):
            if self._tells(member) and (isinstance(member, FunctionType) or not name.startswith("__")):
                yield name.encode()
                yield from self.parts(member)

    def _is_own(self, kind: type) -> bool:
        return kind.__module__ in ("__main__", self.module)

    def _tells(self, member: Any) -> bool:
        """Whether a member of a class is something that its author wrote: what libraries put beside it has no content to be told."""
        telling = (*_PLAIN, FunctionType, Mapping, Set, list, tuple, type, re.Pattern, Enum, partial)
        return member is None or isinstance(member, telling) or _held_by(member) is not None or self._is_own(type(member))

    def _itself(self, value: Any) -> bytes:
        kind = type(value)
        return f"{kind.__module__}.{kind.__qualname__}".encode() if self.by_class else f"{_HERE} {id(value)}".encode()


def _held_by(value: Any) -> list[Any] | None:
    """What an object that only holds others does with them: a bound method its function and object, a cached function that which is
    cached; None for what is no such."""
    if isinstance(value, re.Pattern):
        return [value.pattern, value.flags]
    if isinstance(value, Enum):
        return [value.name, value.value]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, property):
        return [value.fget, value.fset, value.fdel]
    if isinstance(value, cached_property):
        return [value.func]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, staticmethod | classmethod):
        return [value.__func__]
    wrapped = inspect.getattr_static(value, "__wrapped__", None)
    return None if wrapped is None else [wrapped]


def _attributes(value: Any) -> list[tuple[str, Any]]:
    """The attributes of an object with their values: those of its own and those of slots. Nothing of its code runs."""
    own = getattr(value, "__dict__", None)
    found = dict(own) if isinstance(own, dict) else {}
    for kind in type(value).__mro__:
        for name, member in vars(kind).items():
            if isinstance(member, MemberDescriptorType):
                try:
                    found[name] = member.__get__(value)
                except AttributeError:  # it is not set yet
                    continue
    return list(found.items())


def _global_names(code: CodeType) -> set[str]:
    """The global names that the code reads; not those of attributes."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return names.union(*(_global_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)))


def _module_of(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__module__", None) or type(function).__module__)


def _file_of(function: FunctionType) -> bytes:
    """The file of a module's function; empty where it has none, and of a script or notebook, whose file changes with every edit of what
    has nothing to do with it."""
    module = str(function.__globals__.get("__name__"))  # `__module__` may be that of a function that it wraps
    file = getattr(sys.modules.get(module), "__file__", None)
    if not file or module == "__main__":
        return b""
    try:
        return Path(file).read_bytes()
    except OSError:
        return b""


def _code_of(function: FunctionType) -> bytes:
    try:
        return inspect.getsource(function.__code__).encode("utf-8", "surrogatepass")
    except (OSError, TypeError):  # typed into a prompt
        return "\n".join(_steps(function.__code__)).encode("utf-8", "surrogatepass")


def _steps(code: CodeType) -> Iterator[str]:
    """What code does, as text: not `marshal`, whose bytes depend on who else holds a constant."""
    yield f"{code.co_name} {code.co_varnames} {code.co_names} {code.co_code.hex()}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _steps(constant)
        else:
            yield f"{sorted(map(repr, constant))}" if isinstance(constant, frozenset) else f"{constant!r}"
