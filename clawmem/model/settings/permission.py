"""Who may write where: an agent its own folder and what all agents share, a person everything."""

from collections.abc import Collection

from clawmem.model.kinds import ALL, CONFIGURATION, EVERYONE, LIFE, OWN, RECORDS, YAML, handling
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import folder_of, name_of_path
from clawmem.model.records.layout import agent_of
from clawmem.model.settings.settings import CONSUMER, LEARNER, TOOL, Settings

# Operations on behalf of the vault, whoever starts them: they may write every file.
UPKEEP = frozenset(
    "heartbeat learn settle fold condense decay synthesize promote adapt summaries memory guardrails premises "
    "wiki doctor upkeep sync complete unite".split()
)


class WriteRights(NamedTuple):
    """What an agent may write: nothing where it is `read_only`, otherwise the places that the settings name."""

    read_only: bool
    places: tuple[str, ...]


def rights_of(settings: Settings, agent: str) -> WriteRights:
    """The rights of an agent: from its own entry in the settings, from that of all agents, or the default. A learner
    writes its own folder and its domain; a consumer and a tool write nothing."""
    kind = settings.agent_value(agent, "type")
    read_only = settings.agent_value(agent, "read_only") is True or kind in (TOOL, CONSUMER)
    domain = str(settings.agent_value(agent, "domain"))
    places = str(settings.agent_value(agent, "write")) if kind != LEARNER or domain == ALL else f"{OWN}, {domain}"
    return WriteRights(read_only, tuple(places.split(", ")))


def forbidden(agent: str, rights: WriteRights, paths: Collection[str], purpose: str) -> str | None:
    """The first path that the agent may not write, None where it may write them all."""
    if rights.read_only:
        return next(iter(paths), None)
    if purpose in UPKEEP:
        return None
    return next((path for path in paths if not _may(agent, rights, path)), None)


def _may(agent: str, rights: WriteRights, path: str) -> bool:
    return EVERYONE in handling(path).places or any(_covers(place, agent, path) for place in rights.places)


def _covers(place: str, agent: str, path: str) -> bool:
    """Whether a place of the settings covers a path: a class of kinds, or a folder."""
    if place == ALL:
        return True
    if place in (OWN, LIFE, RECORDS, CONFIGURATION):
        # Entities exist in life/ and in an agent's folder: one class covers the one, and one the other.
        mine = agent_of(path) == agent if place == OWN else agent_of(path) is None
        return place in handling(path).places and mine
    folder = folder_of(place) if "/" in place or not place.startswith("@") else f"agents/{place[1:]}"
    return path.startswith(f"{folder}/")


def in_words(path: str) -> str:
    """A path in the words of a person."""
    entity = name_of_path(path)
    if entity:
        return entity
    return f"the settings ({path})" if handling(path).merge == YAML else path


def allowed(rights: WriteRights) -> str:
    """Where an agent may write, in words."""
    record = {
        OWN: "its own workspace", LIFE: "life/", RECORDS: "the ledger and the daily notes",
        CONFIGURATION: "the settings", ALL: "everything",
    }  # fmt: skip
    return "nothing" if rights.read_only else ", ".join(record.get(place, place) for place in rights.places)
