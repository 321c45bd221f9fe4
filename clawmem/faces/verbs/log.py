"""`clawmem log`."""

from __future__ import annotations

from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import LIMIT, Parameter
from clawmem.faces.parts.past import entry_data, entry_line
from clawmem.memory.history.log import LogBounds
from clawmem.memory.history.log import log as act
from clawmem.model.language.dates import end_of, parse_end, parse_start


def log(
    call: Call,
    about: str | None,
    limit: int | None,
    since: str | None,
    until: str | None,
    author: str | None,
    everything: bool,
) -> Answer:
    """Oldest first. An entity's history includes the paths it had before."""
    caller, vault = call.runtime.caller(), call.runtime.vault()
    bounds = LogBounds(
        limit or vault.settings.whole("history.limit"),
        start_of(parse_start(since, caller.now)) if since else None,
        end_of(parse_end(until, caller.now)) if until else None,
        author,
        everything,
    )
    told = act(vault, about, caller, bounds)
    notices = list(told.notices)
    if told.truncated:
        notices.append(f"there are older entries; --limit {bounds.limit * 10} shows more")
    data = {
        "about": {"kind": told.kind, "name": told.name},
        "history": [entry_data(entry) for entry in told.entries],
        "cut": told.truncated,
    }
    talk = () if told.entries else ("No commit matches.",)
    return Answer(data, map(entry_line, told.entries), notices, talk=talk)


def start_of(moment: str) -> str:
    """The first instant a written time covers."""
    return f"{moment}T00:00:00Z" if len(moment) == 10 else moment


VERB = Command(
    log,
    (
        Parameter(
            "about",
            "An entity or a fact; all of the vault without.",
            metavar="[ENTITY|FACT_ID]",
            completes="fact or entity",
        ),
        LIMIT._replace(help="How many entries, the newest."),
        Parameter("since", "Not before this date.", ("--since",)),
        Parameter("until", "Not after this date; a day, month or year counts whole.", ("--until",)),
        Parameter("author", "Only what this agent or person did.", ("--author", "--by"), completes="agent"),
        Parameter("everything", "Folded accesses too.", ("--all",), bool, False),
    ),
    {"about": {"kind": str, "name": (str, None)}, "history": ["entry"], "cut": bool},
    ("clawmem log --since yesterday", "clawmem log areas/people/jane"),
)
