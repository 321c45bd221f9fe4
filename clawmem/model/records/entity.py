"""Entities: named by their path below a PARA root, with `@agent/` before it for an agent's own."""

import re
import unicodedata

from clawmem.errors import InvalidInput
from clawmem.model.named_tuple import NamedTuple

ROOTS = ("projects", "areas", "resources", "archives")
AREA_KINDS = ("people", "companies")
# The place of the facts of a day that wait for promotion: `candidates/2026-11-20`, in `daily/`.
CANDIDATES = "candidates"
SUMMARY = "summary.md"
ITEMS = "items.json"
_LONGEST_NAME = 80
_LONGEST_FILE_NAME = 200
# Compiled where they are used: a search needs none of them.
_NAME = r"[^\W_](?:[\w.-]*\w)?"
_KNOWN_TO = r"(?P<name>.+) \(known to (?P<other>.+)\)"
_CANDIDATES = rf"{CANDIDATES}/\d{{4}}-\d\d-\d\d"
_AGENT = r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?"
_DEVICES = frozenset("con prn aux nul".split()) | {f"{port}{number}" for port in ("com", "lpt") for number in range(10)}


class Entity(NamedTuple):
    """A project, area, resource or archive that facts are about, as its `summary.md` describes it."""

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    kind: str | None = None


def slug(text: str) -> str:
    """Return a title as one lower-case path segment, or an empty text if nothing is usable."""
    folded = unicodedata.normalize("NFC", text).lower()
    name = re.sub(r"[^\w]+|_", "-", folded).strip("-")[:_LONGEST_NAME].strip("-")
    return f"{name}-name" if is_device(name) else name


def is_device(name: str) -> bool:
    """Return whether Windows keeps a file name, whatever its ending, for a device: no file there can have it."""
    return unicodedata.normalize("NFKC", name.partition(".")[0]).lower() in _DEVICES


def check_agent(text: str) -> str:
    """Return an agent id. Raise InvalidInput unless it consists of lower-case letters, digits, `-` and `_`."""
    if not re.fullmatch(_AGENT, text) or is_device(text):
        raise InvalidInput(f"'{text}' is not an agent id.", "Use lower-case letters, digits, - and _, such as finance.")
    return text


def is_agent(text: str) -> bool:
    """Return whether a text is an agent id."""
    return re.fullmatch(_AGENT, text) is not None


def check_name(text: str) -> str:
    """Return a normalized entity name; `people/NAME` is in `areas`. Raise InvalidInput if it is none."""
    value = unicodedata.normalize("NFC", text.strip()).lower().strip("/")
    parts = value.split("/")
    owner = [parts.pop(0)] if parts[0].startswith("@") else []
    if owner:
        check_agent(owner[0][1:])
    if parts and parts[0] in AREA_KINDS:
        parts.insert(0, "areas")
        value = "/".join([*owner, *parts])
    if is_candidate_place(value):
        return value
    if not parts or parts[0] not in ROOTS or not 2 <= len(parts) <= 3:
        name = slug(parts[-1]) if parts and slug(parts[-1]) else "NAME"
        raise InvalidInput(
            f"'{text}' is not an entity name.",
            f"Write projects/{name}, areas/people/{name}, areas/companies/{name}, areas/{name}, resources/{name} or "
            f"archives/{name}. There may be one folder in between, and @AGENT/ in front for an agent's own entity.",
        )
    for part in parts[1:]:
        if not re.fullmatch(_NAME, part) or ".." in part or len(part.encode()) > _LONGEST_FILE_NAME:
            raise _unfit(text, part)
    return value


def is_entity_name(text: str) -> bool:
    """Return whether a text is an entity name in normal form."""
    try:
        return check_name(text) == text
    except InvalidInput:
        return False


def check_new_name(text: str) -> str:
    """Return a name for a new entity. Raise InvalidInput also if it is too long or the folder of other entities."""
    value = check_name(text)
    parts = value.split("/")
    if is_candidate_place(value):
        raise InvalidInput(f"'{text}' is the place of facts that wait for promotion.", "Name an entity.")
    if parts[-2:] in (["areas", kind] for kind in AREA_KINDS):
        raise InvalidInput(f"'{text}' is a folder of entities, not an entity.", f"Write {value}/NAME.")
    for part in parts:
        if len(part) > _LONGEST_NAME or is_device(part):
            raise _unfit(text, part)
    return value


def _unfit(text: str, part: str) -> InvalidInput:
    return InvalidInput(
        f"'{text}' is not an entity name: '{part[:40]}' cannot be part of it.",
        f"Each part has letters and digits, with - _ . inside, and at most {_LONGEST_NAME} characters.",
    )


def candidate_place(day: str) -> str:
    """Return the place of the facts that were learned on a day and wait for promotion."""
    return f"{CANDIDATES}/{day}"


def is_candidate_place(name: str) -> bool:
    """Return whether a name is a place of facts that wait for promotion."""
    return re.fullmatch(_CANDIDATES, name) is not None


def owner_of(name: str) -> str | None:
    """Return the agent whose workspace contains the entity, or None for a global one."""
    return name[1:].split("/", 1)[0] if name.startswith("@") else None


def visible_owners(agent: str | None, entity: str | None = None) -> tuple[str, ...]:
    """Return the owners whose entities are served; '' is the global one.

    An agent also sees its own entities. A person sees those of an agent if they ask for one of its entities.
    """
    owner = agent or (owner_of(entity) if entity else None)
    return ("", owner) if owner else ("",)


def folder_of(name: str) -> str:
    """Return the vault path of the entity's folder."""
    if name.startswith("@"):
        agent, rest = name[1:].split("/", 1)
        return f"agents/{agent}/workspace/{rest}"
    return f"daily/{name}" if is_candidate_place(name) else f"life/{name}"


def items_path(name: str) -> str:
    """Return the vault path of the entity's facts."""
    return f"{folder_of(name)}/{ITEMS}"


def summary_path(name: str) -> str:
    """Return the vault path of the entity's summary."""
    return f"{folder_of(name)}/{SUMMARY}"


def name_of_path(path: str) -> str | None:
    """Return the entity that a vault file belongs to, or None."""
    parts = path.split("/")
    if parts[0] == "life":
        prefix, rest = "", parts[1:-1]
    elif parts[0] == "agents" and len(parts) > 4 and parts[2] == "workspace":
        prefix, rest = f"@{parts[1]}/", parts[3:-1]
    elif parts[0] == "daily" and parts[-1] == ITEMS:
        name = "/".join(parts[1:-1])
        return name if is_candidate_place(name) else None
    else:
        return None
    if parts[-1] not in (SUMMARY, ITEMS) or not 2 <= len(rest) <= 3 or rest[0] not in ROOTS:
        return None
    return prefix + "/".join(rest)


def kind_of(name: str) -> str:
    """Return the kind of an entity from its path: project, person, company, area, resource, archive or candidate."""
    parts = name.split("/")
    if parts[0].startswith("@"):
        parts = parts[1:]
    if parts[0] == "areas" and len(parts) == 3:
        return {"people": "person", "companies": "company"}.get(parts[1], "area")
    return parts[0][:-1]


def title_of(name: str) -> str:
    """Return a readable title from the last part of the name."""
    return " ".join(word.capitalize() for word in re.split(r"[-_]+", name.rsplit("/", 1)[-1]) if word)


def title_in(name: str, text: str) -> str | None:
    """Return the title of an entity as a text writes it, such as "Hye-jin Park", or None if it has no such name."""
    parts = [re.escape(word) for word in re.split(r"[-_]+", name.rsplit("/", 1)[-1]) if word]
    found = re.search(rf"(?<!\w){r'[ -]'.join(parts)}(?!\w)", text, re.IGNORECASE)
    return found[0] if found and not found[0][0].islower() else None


def known_to(name: str, other: str) -> str:
    """Return the name that tells a person from others of that name: by somebody who knows the person."""
    return f"{name} (known to {other})"


def name_and_other(title: str) -> tuple[str, str | None]:
    """Return the parts of a name made by `known_to`; of any other name, the name and None."""
    match = re.fullmatch(_KNOWN_TO, title)
    return (match["name"], match["other"]) if match else (title, None)
