"""Who may write where: an agent its own workspace and what all share, never another agent's; a person everything."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from clawmem.model.records.entity import folder_of, name_of_path
from clawmem.model.settings.settings import Settings

OWN, LIFE, RECORDS, CONFIGURATION, ALL = "own", "life", "records", "settings", "all"
_RECORDS = ("ledger/", "daily/", "review/", "wiki/")
_PROPOSALS = "review/"
# Acts on behalf of the vault, whoever starts them: they write what the events and the facts say, wherever that is.
UPKEEP = frozenset(
    "heartbeat learn settle fold decay synthesize promote adapt tacit summaries memory doctor upkeep sync "
    "complete unite".split()
)


class WriteRights(NamedTuple):
    """What an agent may write: nothing where it is `read_only`, else the places, as the settings name them."""

    read_only: bool
    places: tuple[str, ...]


def rights_of(settings: Settings, agent: str) -> WriteRights:
    """The rights of an agent: its own entry in the settings, else that of every agent, else the default."""
    return WriteRights(
        settings.agent_value(agent, "read_only") is True,
        tuple(str(settings.agent_value(agent, "write")).split(", ")),
    )


def forbidden(agent: str, rights: WriteRights, paths: Collection[str], purpose: str) -> str | None:
    """The first path that the agent may not write, None where it may write them all."""
    if rights.read_only:
        return next(iter(paths), None)
    if purpose in UPKEEP:
        return None
    return next((path for path in paths if not _may(agent, rights, path)), None)


def _may(agent: str, rights: WriteRights, path: str) -> bool:
    return path.startswith(_PROPOSALS) or any(_covers(place, agent, path) for place in rights.places)


def _covers(place: str, agent: str, path: str) -> bool:
    if place == OWN:
        return path.startswith(f"agents/{agent}/")
    if place == LIFE:
        return path.startswith("life/")
    if place == RECORDS:
        return path.startswith(_RECORDS) or path == "MEMORY.md"
    if place == CONFIGURATION:
        return "/" not in path
    if place == ALL:
        return True
    folder = folder_of(place) if "/" in place or not place.startswith("@") else f"agents/{place[1:]}"
    return path.startswith(f"{folder}/")


def in_words(path: str) -> str:
    """What a path is, as a person calls it."""
    entity = name_of_path(path)
    if entity:
        return entity
    return f"the settings ({path})" if path.endswith(".yaml") else path


def allowed(rights: WriteRights) -> str:
    """Where an agent may write, in words."""
    said = {
        OWN: "its own workspace", LIFE: "life/", RECORDS: "the ledger and the daily notes",
        CONFIGURATION: "the settings", ALL: "everything",
    }  # fmt: skip
    return "nothing" if rights.read_only else ", ".join(said.get(place, place) for place in rights.places)
