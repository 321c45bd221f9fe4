"""`clawmem context`."""

from __future__ import annotations

from clawmem.cli.face import Face
from clawmem.cli.filters import filter_of
from clawmem.cli.parameters import Parameter
from clawmem.cli.reading import text_or_stdin
from clawmem.cli.standpoint import AS_OF_HELP, AT_HELP, standpoint
from clawmem.cli.words import context_data
from clawmem.serving.context.context import context as act

PARAMETERS = (
    Parameter("question", "What the agent is about to do, or - for stdin."),
    Parameter("budget", "The most tokens.", ("--budget", "-b"), int, least=1),
    Parameter("entity", "Only facts of this entity.", ("--entity", "-e")),
    Parameter("as_of", AS_OF_HELP, ("--as-of",)),
    Parameter("at", AT_HELP, ("--at",)),
    Parameter("evidence", "Each fact's quote, its event and day.", ("--evidence",), bool, False),
)


def context(
    face: Face,
    question: str | None,
    budget: int | None,
    entity: str | None,
    as_of: str | None,
    at: str | None,
    evidence: bool,
) -> int:
    """The text is ready for a system prompt and says what it left out."""
    here = standpoint(face, at)
    caller, vault = here.caller, here.vault
    asked = text_or_stdin(question).strip() if question else None
    wanted = filter_of(vault, caller, entity, as_of=as_of)
    most = budget or vault.settings.whole("context.budget")
    done = act(vault, caller, most, asked, wanted.entity, wanted.as_of, evidence)
    data = {"context": context_data(done), **here.data}
    return face.done(data, [done.text], (*here.notices, *done.notices))
