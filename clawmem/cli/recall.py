"""`clawmem recall`."""

# No `annotations` from the future here: Typer would compile every option's type again from text.

from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.cli.filters import filter_of
from clawmem.cli.reading import text_or_stdin
from clawmem.cli.words import fact_data, fact_line
from clawmem.errors import InvalidInput
from clawmem.serving.recall import Recalled
from clawmem.serving.recall import recall as act


def recall(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(help="The question, or - for stdin.")],
    limit: Annotated[int | None, typer.Option("--limit", "-n", help="How many facts.", min=1, max=1000)] = None,
    entity: Annotated[str | None, typer.Option("--entity", "-e", help="Only facts of this entity.")] = None,
    category: Annotated[str | None, typer.Option("--category", "-c", help="Only facts of this category.")] = None,
    tag: Annotated[str | None, typer.Option("--tag", "-t", help="Only facts with this tag.")] = None,
    as_of: Annotated[str | None, typer.Option(help="What was true then, as we know now.")] = None,
    include_superseded: Annotated[
        bool, typer.Option("--include-superseded", help="Replaced and withdrawn facts too, labelled.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show each hit's path and each channel's account.")
    ] = False,
) -> int:
    """An agent sees its own facts and the global ones, its own first."""
    face = Face.of(ctx)
    asked = text_or_stdin(question).strip()
    if not asked:
        raise InvalidInput("The question is empty.", "Ask it in words: clawmem recall 'where does Jane live?'")
    caller, vault = face.runtime.caller(), face.runtime.vault()
    wanted = filter_of(caller, entity, category, tag, as_of, include_superseded)
    result = act(vault, asked, caller, wanted, limit or vault.settings.whole("defaults.limit"))
    return face.done(_data(result), _lines(result, explain), result.notices)


def _data(result: Recalled) -> dict[str, object]:
    return {
        "facts": [
            {
                **fact_data(one.fact, one.entity),
                "score": one.score,
                "tier": one.tier,
                "channels": {name: round(score, 4) for name, score in one.channels.items()},
            }
            for one in result.found
        ],
        "channels": {name: channel._asdict() for name, channel in result.channels.items()},
    }


def _lines(result: Recalled, explain: bool) -> list[str]:
    lines = []
    for one in result.found:
        lines.append(fact_line(one.fact, one.entity))
        if explain:
            paths = ", ".join(f"{name} {score:.2f}" for name, score in one.channels.items())
            lines.append(f"    score {one.score:.3f} = {paths}; {one.tier}")
    if not result.found:
        lines.append("Nothing was found.")
    if explain or not result.found:
        for name, channel in result.channels.items():
            lines.append(
                f"channel {name}: " + (f"{channel.hits} hits" if channel.ran else f"did not run, {channel.why_not}")
            )
    return lines
