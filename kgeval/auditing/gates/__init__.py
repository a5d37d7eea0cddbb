"""What decides: limits with severities, waivers, and the ratchet of accepted debt. Pure: hits and settings in, a judgement out.

`limits`: what may be (`isolated-entity<=0.05`, `giant_share>=0.5`). `waivers`: hits that somebody answers for (`[[ignore]]`). `keys`: how a
hit is told again after a graph is rebuilt. `ratchet`: the debt of an earlier audit. `judging`: the hits of one check against all of them.
`rows`: the gates of a whole audit as they were answered.
"""

from kgeval.auditing.gates.judging import CheckJudgement, Gates, judged, silenced
from kgeval.auditing.gates.keys import keys_of
from kgeval.auditing.gates.limits import Limits, WrittenThreshold, read_limits, written_as_flag, written_in_file
from kgeval.auditing.gates.ratchet import READ_FIX, differences, read_ratchet
from kgeval.auditing.gates.rows import FAIL_ON, RATCHET, failing, gate_rows, waiver_notes, waiver_rows
from kgeval.auditing.gates.waivers import Waiver

__all__ = [
    "FAIL_ON",
    "RATCHET",
    "READ_FIX",
    "CheckJudgement",
    "Gates",
    "Limits",
    "Waiver",
    "WrittenThreshold",
    "differences",
    "failing",
    "gate_rows",
    "judged",
    "keys_of",
    "read_limits",
    "read_ratchet",
    "silenced",
    "waiver_notes",
    "waiver_rows",
    "written_as_flag",
    "written_in_file",
]
