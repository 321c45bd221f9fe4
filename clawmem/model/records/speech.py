"""Tell what is worth showing as said from what programs wrote for programs."""

import json
import re

from clawmem.model.records.event import Event

_SILENT_KINDS = ("tool_call", "app")
# What agents' tools answer, and what their programs add to a chat, where a transcript gives it to a person.
_OF_PROGRAMS = re.compile(
    r"\s*(?:(?:the )?file (?:\S+ )?(?:has been |was )?(?:created|updated|written|edited|deleted|saved) successfully"
    r"|the file \S+ has been (?:created|updated|written|edited)|todos have been modified successfully"
    r"|</?(?:system-reminder|command-(?:name|message|args)|local-command-\w+|tool_(?:use|result)\w*|function_\w+)\b"
    r"|caveat: the messages below were generated)",
    re.IGNORECASE,
)
# Data, markup and numbered lines in a tool's result; its prose is shown, with the warning that it is from outside.
_DATA = re.compile(r"\s*(?:[{\[<]|[0-9]+\s*[\u2192:|\t]|[-+@]{2,3} |(?:diff|total) )")


def is_speech(event: Event) -> bool:
    """Return whether an event may be shown as said: no JSON, message or data of a tool, and no system text."""
    if event.role == "system" or event.kind in _SILENT_KINDS or _OF_PROGRAMS.match(event.text):
        return False
    if event.role == "tool" and _DATA.match(event.text):
        return False
    return not _is_json(event.text)


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
