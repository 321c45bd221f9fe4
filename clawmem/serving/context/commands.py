"""The commands in a served text that show its reader the rest."""

from clawmem.index.search.channels import FactFilter
from clawmem.model.facts.reach import PROJECT
from clawmem.model.language.question import search_words
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages.tokens import servable, shorten

# A longer question is repeated by its search words alone, as far as there is room.
_LONGEST_ASKED = 80


class FollowUpCommands(NamedTuple):
    """The commands that list a filter's facts, that answer a question, and that show weak hits, events and notes, too.

    Without a question, the last two are the command that lists.
    """

    list: str
    recall: str
    others: str


def follow_up_commands(wanted: FactFilter, question: str | None) -> FollowUpCommands:
    """Return the commands with the options of this reader's filter."""
    items = (
        ("agent", next((owner for owner in wanted.owners if owner), None)),
        ("entity", wanted.entity),
        ("category", wanted.category and shell_quoted(wanted.category)),
        ("tag", wanted.tag and shell_quoted(wanted.tag)),
        ("as-of", wanted.as_of),
        ("since", wanted.since),
        ("until", wanted.until),
        *_scope_options(wanted),
    )
    options = "".join(f" --{name} {value}" for name, value in items if value)
    listed = f"clawmem list{options}"
    if not question:
        return FollowUpCommands(listed, listed, listed)
    short = question if len(question) <= _LONGEST_ASKED else " ".join(search_words(question))
    recall = f"clawmem recall {shell_quoted(short)}{options}"
    return FollowUpCommands(listed, recall, f"{recall}{' --in all' if options else ''} --all")


def _scope_options(wanted: FactFilter) -> tuple[tuple[str, str | None], ...]:
    reach = wanted.reach
    if reach is None or reach.others_hidden:
        return ()
    # The project is that of the folder in which the reader runs the command.
    scope = None if reach.scope == PROJECT and reach.workflow else reach.scope
    return ("workflow", reach.workflow), ("scope", scope)


def shell_quoted(words: str) -> str:
    """Return words as one shell argument, shortened and on one line."""
    text = shorten(servable(words), _LONGEST_ASKED).replace("`", "'")
    return "'" + text.replace("'", "'\\''") + "'"


def replaced_remark(wanted: FactFilter, question: str, moment: str) -> str:
    """Return the remark that facts of a moment were replaced later and left out, with the command to show them."""
    shows = follow_up_commands(wanted._replace(as_of=moment), question).recall
    return f"facts that were valid on {moment} were replaced later: show them with `{shows}`"
