"""Whose word one record of a chat is, by its role and its keys alone: a person's, a tool's, a program's, or unclear."""

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
# Words of a kind or type that say that a program gave the text; `message`, `text`, `user` and the like do not.
_OF_PROGRAMS = frozenset(
    "tool function result results observation output stdout stderr hook file attachment document resource retrieval "
    "search web page email mail webhook notification system reminder context memory".split()
)
_GROUP_KEYS = frozenset("group groupId group_id guild guildId is_group isGroup is_group_chat isGroupChat".split())
_GROUPS = frozenset("group supergroup channel guild room public".split())
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class Origin(NamedTuple):
    """The role and the kind of a record's event, whether nobody said it, and whether it may be another's word than that
    of the role."""

    role: str
    kind: str = "message"
    recalled: bool = False
    doubtful: bool = False


def origin_of(record: Mapping[str, Any]) -> Origin:
    """Whose word the record is; ValueError where its role is none."""
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
    """Whether a record is an event of a program, in which nobody speaks."""
    named = (record.get("role"), record.get("type"), record.get("kind"))
    return any(isinstance(one, str) and one.lower() in _APPS for one in named)


def is_of_group(record: Mapping[str, Any]) -> bool:
    """Whether a record says that it comes from a group or a channel, where many write."""
    if any(record.get(key) not in (None, False, "", 0) for key in _GROUP_KEYS):
        return True
    return any(
        isinstance(record.get(key), str) and not _GROUPS.isdisjoint(_words(record[key]))
        for key in ("chatType", "chat_type", "channelType", "channel_type", "conversation_type", "kind", "type")
    ) or isinstance(record.get("channel"), str | dict)


def _words(value: Any) -> set[str]:
    return {one.lower() for one in _WORDS.findall(value)} if isinstance(value, str) else set()
