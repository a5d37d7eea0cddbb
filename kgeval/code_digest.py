"""What stands for a function of the user's own in signatures: its code, and the values that it was made with."""

from __future__ import annotations

import builtins
import hashlib
import inspect
import marshal
import re
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import Path, PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from pydantic import BaseModel

_PLAIN = (bool, int, float, complex, str, bytes, date, time, timedelta, Decimal, PurePath)
_NO_MEMBERS = ("__dict__", "__weakref__", "__firstlineno__", "__static_attributes__")
_HERE = uuid.uuid4().hex  # of this process: the identity of an object means nothing in another one


@dataclass
class _Seen:
    """`objects`: by their ids, each with its place among them, so that circles end; they are kept, else another one could get the id.
    `module`: of the function, whose classes are the user's."""

    by_class: bool
    module: str
    objects: dict[int, tuple[int, Any]] = field(default_factory=dict)

    def is_own(self, kind: type) -> bool:
        return kind.__module__ in ("__main__", self.module)


def digest_function(function: Callable[..., Any], *, by_class: bool = False) -> str:
    """First 16 hex digits of what the function does: its code and name, its default values, what it closes over, and the global values
    that it names where these are not in its file.

    The code of a module's function is the whole file, since it may call what stands beside it; of a notebook's or a script's the function
    itself and those that it names. An object of a class of the user's own is its attributes. A value that cannot be told by its content
    (an open model, a connection) stands for itself: no other object, and no other process, has the same digest; with `by_class` it stands
    for its class.
    """
    digest = hashlib.sha256()
    for part in _parts(function, _Seen(by_class, _module_of(function))):
        digest.update(f"{len(part)}:".encode() + part)
    return digest.hexdigest()[:16]


def has_file(function: Callable[..., Any]) -> bool:
    """Whether the function's code is a module's file, as it was when it was loaded."""
    return bool(_file_of(function))


def _parts(value: Any, seen: _Seen) -> Iterator[bytes]:
    """The content of a value, as pieces of bytes."""
    yield type(value).__qualname__.encode()
    if value is None or isinstance(value, _PLAIN):
        yield repr(value).encode("utf-8", "surrogatepass")
        return
    if id(value) in seen.objects:
        yield str(seen.objects[id(value)][0]).encode()
        return
    seen.objects[id(value)] = len(seen.objects), value
    yield from _compound(value, seen)


def _compound(value: Any, seen: _Seen) -> Iterator[bytes]:
    if isinstance(value, FunctionType):
        yield from _function(value, seen)
    elif isinstance(value, Mapping):
        for key, inside in value.items():
            yield from _parts(key, seen)
            yield from _parts(inside, seen)
    elif isinstance(value, Set):
        yield from sorted(b"".join(_parts(inside, replace(seen, objects=dict(seen.objects)))) for inside in value)
    elif isinstance(value, list | tuple):
        for inside in value:
            yield from _parts(inside, seen)
    elif isinstance(value, (BaseModel, re.Pattern, Enum, partial, MethodType, property, staticmethod, classmethod)) or (
        is_dataclass(value) and not isinstance(value, type)
    ):
        for inside in _members(value):
            yield from _parts(inside, seen)
    elif isinstance(value, ModuleType):
        yield f"{value.__name__} {getattr(value, '__version__', '')}".encode()
    elif isinstance(value, type):
        yield from _class(value, seen)
    elif isinstance(value, BuiltinFunctionType) and not hasattr(value.__self__, "__dict__"):
        yield f"{value.__module__}.{value.__qualname__}".encode()
    elif seen.is_own(type(value)) and hasattr(value, "__dict__"):
        yield from _parts(type(value), seen)
        yield from _parts(vars(value), seen)
    else:
        yield (f"{type(value).__module__}" if seen.by_class else f"{_HERE} {id(value)}").encode()


def _members(value: Any) -> list[Any]:
    if isinstance(value, BaseModel):
        return [value.model_dump(mode="json")]
    if isinstance(value, re.Pattern):
        return [value.pattern, value.flags]
    if isinstance(value, Enum):
        return [value.name, value.value]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, property):
        return [value.fget, value.fset, value.fdel]
    if isinstance(value, staticmethod | classmethod):
        return [value.__func__]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    return [getattr(value, field.name) for field in fields(value)]


def _function(function: FunctionType, seen: _Seen) -> Iterator[bytes]:
    yield function.__qualname__.encode()
    file = _file_of(function)
    yield file + str(function.__code__.co_firstlineno).encode() if file else _code_of(function)
    yield from _parts(function.__defaults__, seen)
    yield from _parts(function.__kwdefaults__, seen)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name.encode()
        try:
            yield from _parts(cell.cell_contents, seen)
        except ValueError:  # it is not filled yet
            yield b"empty"
    if file:
        return
    for name in sorted(_global_names(function.__code__)):
        if name in function.__globals__ and not hasattr(builtins, name):
            yield name.encode()
            yield from _parts(function.__globals__[name], seen)


def _class(value: type, seen: _Seen) -> Iterator[bytes]:
    """A class of the user's own by what it has, another one by its name and its module's version."""
    yield f"{value.__module__}.{value.__qualname__}".encode()
    if not seen.is_own(value):
        yield str(getattr(sys.modules.get(value.__module__.partition(".")[0]), "__version__", "")).encode()
        return
    yield from _parts(value.__bases__, seen)
    for name, member in vars(value).items():
        if name not in _NO_MEMBERS:
            yield name.encode()
            yield from _parts(member, seen)


def _global_names(code: CodeType) -> set[str]:
    inside = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return {*code.co_names}.union(*map(_global_names, inside))


def _module_of(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__module__", None) or type(function).__module__)


def _file_of(function: Callable[..., Any]) -> bytes:
    """The file of a module's function; empty where it has none, and of a script or notebook, whose file changes with every edit of what
    has nothing to do with it."""
    file = getattr(sys.modules.get(_module_of(function)), "__file__", None)
    if not file or _module_of(function) == "__main__":
        return b""
    try:
        return Path(file).read_bytes()
    except OSError:
        return b""


def _code_of(function: FunctionType) -> bytes:
    try:
        return inspect.getsource(function).encode("utf-8", "surrogatepass")
    except (OSError, TypeError):  # typed into a prompt
        return marshal.dumps(function.__code__)
