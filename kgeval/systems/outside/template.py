"""How a JSON endpoint is asked and read: a request with slots, and paths to the parts of its reply."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pydantic import JsonValue

from kgeval.config import environment
from kgeval.errors import ConfigError, UsageError
from kgeval.files.fields import ROWS
from kgeval.systems.outside.reply import TAKEN
from kgeval.systems.system import Ask

SLOTS = ("id", "question", "trial", "target_words", "attempt", "previous")
READABLE = ("answer", "error", *TAKEN)
_SLOT = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_STEP = re.compile(r"([^.\[\]]+)((?:\[\d*\])*)(?:\.|$)")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SECRET = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
MISSING = object()


def chat_template(settings: Mapping[str, JsonValue]) -> JsonValue:
    """The request to an endpoint of OpenAI's kind. Raises: UsageError without a model."""
    model, parameters, prompt = settings.get("model"), settings.get("parameters", {}), settings.get("system_prompt")
    if not isinstance(model, str) or not model.strip():
        fix = "--setting model=NAME for a chat endpoint, --setting 'request.NAME={{question}}' for others"
        raise UsageError("http: needs a model, or a request", fix=fix)
    if not isinstance(parameters, Mapping):
        raise UsageError("http: parameters have names in them", fix="write for example parameters.temperature=0")
    first: list[JsonValue] = [{"role": "system", "content": prompt}] if prompt else []
    return {"temperature": 0, **parameters, "model": model.strip(), "messages": [*first, {"role": "user", "content": "{{question}}"}]}


def checked_url(url: str) -> str:
    """An address as it is. Raises: UsageError for one that is none, or that holds a secret."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{url[:100]}: no address", fix="it looks like http:https://host/path")
    if parts.username or parts.password or any("key" in name.lower() or "token" in name.lower() for name, _ in parse_qsl(parts.query)):
        raise UsageError("an address must not hold a user, a password or a key", fix="give it as a header: headers.NAME=${VARIABLE}")
    return url.strip()


def check_request(template: JsonValue) -> None:
    """Raises: UsageError for slots that do not exist, and where the question is not in the request at all."""
    used = set(_slots(template))
    if unknown := sorted(used - set(SLOTS)):
        raise UsageError(f"request: there is no slot {', '.join(unknown)}", fix=f"slots are {', '.join(SLOTS)}, written {{{{question}}}}")
    if "question" not in used:
        raise UsageError("request: the question is nowhere in it", fix="put {{question}} where the endpoint expects it")


def _slots(template: JsonValue) -> list[str]:
    if isinstance(template, Mapping):
        return [name for value in template.values() for name in _slots(value)]
    if isinstance(template, list):
        return [name for value in template for name in _slots(value)]
    return _SLOT.findall(template) if isinstance(template, str) else []


def request_of(template: JsonValue, ask: Ask) -> JsonValue:
    """The request for a question: a text that is one slot becomes the slot's value (null where there is none), and slots inside a text
    are written into it. The question is a JSON value in the end: no text of it can become a part of the request."""
    values: dict[str, JsonValue] = {"id": ask.question_id, **{name: getattr(ask, name) for name in SLOTS if name != "id"}}
    return _filled(template, values)


def _filled(template: JsonValue, values: Mapping[str, JsonValue]) -> JsonValue:
    if isinstance(template, Mapping):
        return {name: _filled(value, values) for name, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, values) for value in template]
    if not isinstance(template, str):
        return template
    if (only := _SLOT.fullmatch(template)) is not None:
        return values[only[1]]
    return _SLOT.sub(lambda found: "" if values[found[1]] is None else str(values[found[1]]), template)


def check_paths(paths: Mapping[str, Any]) -> dict[str, str]:
    """The paths of a reply by kgeval's names. Raises: UsageError for a name that is no field of an answer, and for no path."""
    unknown = sorted(set(paths) - set(READABLE))
    if unknown:
        fix = f"fields are {', '.join(one for one in READABLE if one == 'error' or one in ROWS)}"
        raise UsageError(f"response: an answer has no field {', '.join(unknown)}", fix=fix)
    wrong = sorted(name for name, path in paths.items() if not isinstance(path, str) or not _is_path(path))
    if wrong:
        raise UsageError(f"response: no path for {', '.join(wrong)}", fix="write for example data.answer, sources[].text or items[0].text")
    return {name: str(path) for name, path in paths.items()}


def _is_path(path: str) -> bool:
    return bool(path) and "".join(found[0] for found in _STEP.finditer(path)) == path and not path.endswith(".")


def walk(value: Any, path: str) -> Any:
    """The value at a path: `a.b`; `a[].b` is the b of each item, those without one left out; `a[0]` is one item. MISSING: not there."""
    for found in _STEP.finditer(path):
        if not isinstance(value, Mapping) or found[1] not in value:
            return MISSING
        value = value[found[1]]
        for place in re.findall(r"\[(\d*)\]", found[2]):
            if not isinstance(value, list):
                return MISSING
            if not place:
                rest = path[found.end():]
                items = [walk(item, rest) if rest else item for item in value]
                return [item for item in items if item is not MISSING]
            if int(place) >= len(value):
                return MISSING
            value = value[int(place)]
    return value


def fields_of(body: Any, paths: Mapping[str, str]) -> dict[str, Any]:
    """The fields that a reply has, where `paths` say."""
    return {name: value for name, path in paths.items() if (value := walk(body, path)) is not MISSING}


def reply_of(body: Any, paths: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a reply that answers. Raises: ValueError where neither an answer nor an error is there."""
    found = fields_of(body, paths)
    if "answer" not in found and "error" not in found:
        has = ", ".join(map(str, list(body)[:10])) if isinstance(body, Mapping) else type(body).__name__
        raise ValueError(f"the reply has no {paths['answer']} (it has: {has})")
    return found


def headers_of(given: Mapping[str, Any]) -> dict[str, str]:
    """The headers, `${NAME}` replaced by the environment variable.

    Raises: ConfigError for variables that are not set, and for secrets that are written out: they would stand in files.
    """
    bare = sorted(name for name, value in given.items() if _SECRET.search(name) and not _VARIABLE.search(str(value)))
    if bare:
        fix = f"put it into an environment variable and write for example {bare[0]} = \"${{MY_KEY}}\""
        raise ConfigError(f"headers: {', '.join(bare)}: a secret is not written into settings", fix=fix)
    missing = sorted({name for value in given.values() for name in _VARIABLE.findall(str(value)) if environment(name) is None})
    if missing:
        raise ConfigError(f"headers: the environment has no {', '.join(missing)}", fix=f"set it: export {missing[0]}=...")
    return {name: _VARIABLE.sub(lambda found: environment(found[1]) or "", str(value)) for name, value in given.items()}
