"""Find out who wrote a record of a chat, by its role and keys alone: a person, a tool, a program, or unknown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.model.transcripts.message import role_of

_APPS = frozenset("app event app_event analytics telemetry metric".split())
_RESULT_KEYS = frozenset(
    "tool_call_id toolCallId tool_use_id toolUseId toolUseResult tool_result toolResult function_result "
    "sourceToolUseID sourceToolAssistantUUID".split()
)
_HOOK_KEYS = frozenset("hook hookName hook_name hookEvent hookEventName hook_event_name hookInfos hookOutput".split())
# Words in a kind or type that mean that a program wrote the text; `message`, `text` and `user` do not.
_OF_PROGRAMS = frozenset(
    "tool function result results observation output stdout stderr hook file attachment document resource retrieval "
    "search web page email mail webhook notification system reminder context memory".split()
)
_GROUP_KEYS = frozenset("group groupId group_id guild guildId is_group isGroup is_group_chat isGroupChat".split())
_GROUPS = frozenset("group supergroup channel guild room public".split())
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class Origin(NamedTuple):
    """The role and kind of a record's event, whether nobody said it, and whether its role may be wrong."""

    role: str
    kind: str = "message"
    recalled: bool = False
    doubtful: bool = False


def origin_of(record: Mapping[str, Any]) -> Origin:
    """Return the origin of a record. Raise ValueError if its role is unknown."""
    if is_app(record):
        return Origin("system", "app")
    role = role_of(record.get("role") or "user")
    if role != "user":
        return Origin(role)
    if not _HOOK_KEYS.isdisjoint(record):
        return Origin(role, recalled=True)
    if not _RESULT_KEYS.isdisjoint(record):
        return Origin("tool")
    kinds = _words(record.get("kind")) | _words(record.get("type"))
    if {"tool", "function", "hook", "observation", "stdout", "stderr"} & kinds:
        return Origin("tool")
    return Origin(role, doubtful=bool(kinds & _OF_PROGRAMS) or is_of_group(record))


def is_app(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an app event, in which nobody speaks."""
    named = (record.get("role"), record.get("type"), record.get("kind"))
    return any(isinstance(one, str) and one.lower() in _APPS for one in named)


def is_of_group(record: Mapping[str, Any]) -> bool:
    """Return whether a record comes from a group or a channel, in which many people write."""
    if any(record.get(key) not in (None, False, "", 0) for key in _GROUP_KEYS):
        return True
    return any(
        isinstance(record.get(key), str) and not _GROUPS.isdisjoint(_words(record[key]))
        for key in ("chatType", "chat_type", "channelType", "channel_type", "conversation_type", "kind", "type")
    ) or isinstance(record.get("channel"), str | dict)


def _words(value: Any) -> set[str]:
    return {one.lower() for one in _WORDS.findall(value)} if isinstance(value, str) else set()
