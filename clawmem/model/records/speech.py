"""Tell what somebody said from what programs wrote."""

import json
import re

from clawmem.model.records.event import Event

_SILENT_ROLES = ("system", "tool")
_SILENT_KINDS = ("tool_call", "tool_result", "attachment", "app")
# What agents' tools answer, and what their programs add to a chat, where a transcript gives it to a person.
_OF_PROGRAMS = re.compile(
    r"\s*(?:(?:the )?file (?:\S+ )?(?:has been |was )?(?:created|updated|written|edited|deleted|saved) successfully"
    r"|the file \S+ has been (?:created|updated|written|edited)|todos have been modified successfully"
    r"|<(?:system-reminder|command-(?:name|message|args)|local-command-\w+|tool_(?:use|result)\w*|function_(?:calls|results))\b"
    r"|caveat: the messages below were generated)",
    re.IGNORECASE,
)


def is_speech(event: Event) -> bool:
    """Return whether a person or an assistant said or noted an event: no tool's JSON, result or system text."""
    if event.role in _SILENT_ROLES or event.kind in _SILENT_KINDS:
        return False
    return _OF_PROGRAMS.match(event.text) is None and not _is_json(event.text)


def _is_json(text: str) -> bool:
    """Return whether a whole text is a JSON object or array."""
    bare = text.strip()
    if (bare[:1], bare[-1:]) not in (("{", "}"), ("[", "]")):
        return False
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True
