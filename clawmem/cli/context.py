"""`clawmem context`."""

# No `annotations` from the future here: Typer would compile every option's type again from text.

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.cli.filters import filter_of
from clawmem.cli.reading import text_or_stdin
from clawmem.cli.standpoint import AS_OF_HELP, AT_HELP, standpoint
from clawmem.cli.words import context_data
from clawmem.serving.context import context as act


def context(
    ctx: typer.Context,
    question: Annotated[str | None, typer.Argument(help="What the agent is about to do, or - for stdin.")] = None,
    budget: Annotated[int | None, typer.Option("--budget", "-b", help="The most tokens.", min=1)] = None,
    entity: Annotated[str | None, typer.Option("--entity", "-e", help="Only facts of this entity.")] = None,
    as_of: Annotated[str | None, typer.Option(help=AS_OF_HELP)] = None,
    at: Annotated[str | None, typer.Option(help=AT_HELP)] = None,
    evidence: Annotated[bool, typer.Option("--evidence", help="Each fact's quote, its event and day.")] = False,
) -> int:
    """The text is ready for a system prompt and says what it left out."""
    face = Face.of(ctx)
    here = standpoint(face, at)
    caller, vault = here.caller, here.vault
    asked = text_or_stdin(question).strip() if question else None
    wanted = filter_of(caller, entity, as_of=as_of)
    most = budget or vault.settings.whole("context.budget")
    done = act(vault, caller, most, asked, wanted.entity, wanted.as_of, evidence)
    data = {"context": context_data(done), **here.data}
    return face.done(data, [done.text], (*here.notices, *done.notices))
