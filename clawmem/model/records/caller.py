"""Who asks, and when: the values every act takes instead of reading them from the machine."""

from datetime import datetime
from typing import NamedTuple

from clawmem.model.facts.ids import Entropy


class Caller(NamedTuple):
    """The agent on whose behalf an act runs (None for a person), its session, the time and random bytes."""

    now: datetime
    entropy: Entropy
    agent: str | None = None
    session: str | None = None
