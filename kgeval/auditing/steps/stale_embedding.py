"""stale-embedding: pairs of properties that say what an embedding was made from, and what is there now; the Cypher compares them."""

from __future__ import annotations

import re

from kgeval.auditing.check import CheckOutcome, CheckRun
from kgeval.profiling.record import GraphProfile, LabelProfile

HASH = r"(?:hash|checksum|md5|sha\d*|digest)"
TEXT = r"(?:text|content|body|chunk|description|name)"
HASH_END = re.compile(rf"{HASH}$")
# of a property's name in small letters without signs: what was embedded, what is there now, and how the two are compared
WAYS = (
    (re.compile(rf"(?:embed|embedding|embedded|vector){TEXT}?{HASH}"), re.compile(rf"{TEXT}?{HASH}"), "same"),
    (re.compile(rf"embedd?(?:ed|ing){TEXT}"), re.compile(TEXT), "same"),
    (
        re.compile(r"(?:embedded|vectori[sz]ed|(?:embed|embedding|vector)(?:last)?(?:updated|created|generated|made)?)(?:at|on|time|timestamp|date)"),
        re.compile(rf"{TEXT}?(?:last)?(?:updated|modified|changed|edited)(?:at|on|time|timestamp|date)?"), "time",
    ),
)


def run(check: CheckRun) -> CheckOutcome:
    """`count`: nodes whose text is another one than what was embedded; `total`: nodes that say so."""
    profile: GraphProfile | None = check.settings["profile"]
    pairs = [pair for label in profile.labels if label.label and (pair := _pair(label)) is not None] if profile else []
    if not pairs:
        return CheckOutcome(0, 0, note="no label keeps when, or from what, its embeddings were made")
    return check.outcome(compared=pairs)


def _pair(label: LabelProfile) -> dict[str, str] | None:
    """The surest pair of properties of a label: a hash or a text before a time."""
    plain = {values.key: re.sub(r"[\W_]", "", values.key).lower() for values in label.properties}
    for then, now, how in WAYS:
        made = [key for key, text in plain.items() if then.fullmatch(text)]
        there = [key for key, text in plain.items() if now.fullmatch(text) and key not in made]
        if how == "same" and made:  # embedded_text belongs to text, not to name
            there = [key for key in there if plain[made[0]].endswith(plain[key])] or (there if HASH_END.search(plain[made[0]]) else [])
        if made and there:
            return {"label": label.label, "now": there[0], "then": made[0], "how": how}
    return None
