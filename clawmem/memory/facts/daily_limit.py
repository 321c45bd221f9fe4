"""The number of lessons that an agent of type learner may store in a day."""

from __future__ import annotations

from clawmem.errors import Refused
from clawmem.index.search.scoped import facts_of_day
from clawmem.memory.scope import WriteScope
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import counted
from clawmem.model.settings.settings import LEARNER

LESSON = "lesson"


def check_daily_limit(work: WriteScope, lessons: int) -> None:
    """Raise Refused if so many more lessons are beyond what the calling agent may store in a day (UTC)."""
    agent = work.caller.agent
    if not lessons or agent is None or work.vault.settings.agent_value(agent, "type") != LEARNER:
        return
    most = int(work.vault.settings.agent_value(agent, "lessons_per_day"))
    stored = facts_of_day(work.index, LESSON, agent, stamp(work.caller.now)[:10])
    if stored + lessons > most:
        text = f"The agent {agent} may store {counted(most, 'lesson')} a day"
        key = f"agents.{agent}.lessons_per_day"
        raise Refused(
            f"{text}; {stored} are stored, and {lessons} more came.",
            f"Keep the most important ones. A person sets the limit: `clawmem config get {key}`.",
        )
