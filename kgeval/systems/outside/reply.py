"""What a system outside gave back, as an Answer. A reply that does not fit is an error with its causes, never a made-up
value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from kgeval.config import environment
from kgeval.llm.endpoints import scrub
from kgeval.records import Answer
from kgeval.systems.system import Ask, System
from kgeval.tables import cells
from kgeval.tables.convert import answer_of
from kgeval.tables.fields import ROWS
from kgeval.tables.stream import plain

OURS = ("trial", "signature", "variant", "aligned_to", "error")  # kgeval sets these itself
TAKEN = tuple(name for name, one in ROWS.items() if one.owner == "answer" and name not in OURS)
LONGEST_ERROR = 500


def signature_of(kind: str, *parts: object) -> str:
    """A system's signature: its kind, and 12 hex digits of a SHA-256 of all that its answers depend on, as far as it is
    known."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return f"{kind}:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def failed(ask: Ask, system: System, cause: str, detail: str = "") -> Answer:
    """The record of a question without an answer. What looks like a key is taken out of `detail`."""
    words = scrub(whole(detail), environment("OPENAI_API_KEY") or "")[:LONGEST_ERROR]
    return Answer(
        question_id=ask.question_id, system=system.name, variant=system.variant, answer="", trial=ask.trial,
        signature=system.signature, error=f"{cause}: {words}" if words else cause,
    )


def answer_from(reply: Mapping[str, Any], ask: Ask, system: System, *, seconds: float) -> Answer:
    """The answer of a system that a reply tells. `seconds`: how long it took, where the reply does not say.

    A reply with `error` has failed; one without an answer, or with a field that does not fit, has failed too:
    `bad_reply`. """
    if not cells.absent(error := reply.get("error")):
        return failed(ask, system, "system_error", str(error))
    faults: list[str] = []
    fields = _fields(reply, faults)
    fields = {
        "latency_s": round(seconds, 6), **fields, "system": system.name, "variant": system.variant, "trial": ask.trial,
        "signature": system.signature,
    }
    converted = answer_of("", ask.question_id, fields, faults) if not faults else None
    if converted is None:
        return failed(ask, system, "bad_reply", "; ".join(fault.removeprefix(": ") for fault in faults))
    return converted[0]


def _fields(reply: Mapping[str, Any], faults: list[str]) -> dict[str, Any]:
    """The fields of the record that a reply has, by kgeval's names; the rest is kept in `extra`."""
    fields: dict[str, Any] = {}
    used = {"id", "answer", "error", "extra", "system", "question_id", "question", *OURS}
    try:
        text = cells.answer_text(reply.get("answer"))
        if text is None:
            faults.append("answer: missing" if "answer" not in reply else "answer: null, and no error beside it")
        fields["answer"] = text
        if (extra := cells.mapping(reply.get("extra"))) is not None:
            fields["extra"] = extra
    except cells.Misfit as misfit:
        faults.append(f"answer or extra: {misfit}")
    for name in TAKEN:
        aliases = [alias for alias in ROWS[name].names if alias in reply]
        used |= set(aliases)
        try:
            value = next((value for alias in aliases if (value := ROWS[name].read(reply[alias])) is not None), None)
        except cells.Misfit as misfit:
            faults.append(f"{name}: {misfit}")
            continue
        if value is not None:
            fields[name] = value
    rest = {name: plain(value) for name, value in reply.items() if name not in used and not cells.absent(value)}
    if rest or fields.get("extra"):
        fields["extra"] = {**rest, **plain(fields.get("extra", {}))}
    return fields


def whole(text: str) -> str:
    """The text without half surrogate pairs, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
