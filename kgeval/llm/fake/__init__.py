"""Fakes that are part of the product: a scripted model, and an HTTP server that speaks the OpenAI protocol, with faults on demand.

`python -m kgeval.llm.fake --port 8001` starts the server; `FakeServer` (a thread) and `FakeProcess` start one from a test.
See docs/fake-model.md.
"""

from kgeval.llm.fake.faults import KINDS
from kgeval.llm.fake.log import Logged, Stats
from kgeval.llm.fake.model import Options
from kgeval.llm.fake.reader import reads
from kgeval.llm.fake.request import Chat
from kgeval.llm.fake.script import Rule, Script, read_script
from kgeval.llm.fake.server import FakeProcess, FakeServer

__all__ = ["KINDS", "Chat", "FakeProcess", "FakeServer", "Logged", "Options", "Rule", "Script", "Stats", "read_script", "reads"]
