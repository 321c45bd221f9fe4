"""The caller of an act: values that every act takes instead of reading them from the machine."""

from datetime import datetime

from clawmem.model.facts.ids import Entropy
from clawmem.model.named_tuple import NamedTuple


class Caller(NamedTuple):
    """The agent for whom an act runs (None for a person), its session, the time, and a source of random bytes.

    `unattended` means that neither a person nor an agent decides what happens: a heartbeat."""

    now: datetime
    entropy: Entropy
    agent: str | None = None
    session: str | None = None
    unattended: bool = False
