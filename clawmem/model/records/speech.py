"""Tell what is worth showing as said from what programs wrote for programs."""

import json
import re

from clawmem.model.records.event import Event

_SILENT_KINDS = ("tool_call", "app")
# The first words of the answers of agents' tools, and of what their programs add to a chat, where a transcript gives
# them to a person.
_OF_PROGRAMS = (
    "<system-reminder", "<command-", "<local-command-", "<tool_", "<function_", "</tool_", "</function_",
    "caveat: the messages below were generated", "todos have been modified successfully",
)  # fmt: skip
_WRITTEN = "(?:created|updated|written|edited|deleted|saved)"
_ON_FILES = re.compile(
    rf"(?:the )?file (?:\S+ )?(?:has been |was )?{_WRITTEN} successfully|the file \S*[/.]\S* has been {_WRITTEN}"
)
_HEAD = 200
# Data, markup and numbered lines in a tool's result; its prose is shown, with the warning that it is from outside.
_DATA = re.compile(r"\s*(?:[{\[<]|[0-9]+\s*[\u2192:|\t]|[-+@]{2,3} |(?:diff|total) )")


def is_speech(event: Event) -> bool:
    """Return whether an event may be shown as said: no JSON, message or data of a tool, and no system text."""
    if event.role == "system" or event.kind in _SILENT_KINDS:
        return False
    if event.role == "tool" and _DATA.match(event.text):
        return False
    head = event.text.lstrip()[:_HEAD].lower()
    return not head.startswith(_OF_PROGRAMS) and _ON_FILES.match(head) is None and not _is_json(event.text)


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
