"""Agent harnesses: the programs in which agents run, the names of their events, and what their hooks print.

Sources: the hook references of Claude Code 2.1, Codex 0.169, Gemini CLI 0.61 and Cursor (`hooks.json`, version 1), and
the plugin hooks of OpenClaw 2026.9.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.event import Event
from clawmem.model.safety.recalled_text import mask_recalled

READER = "CLAWMEM_READER"
"""Set for a program that is asked as a model: in it, every hook and every tool of clawmem does nothing."""
START, PROMPT, COMPACT, END = "start", "prompt", "compact", "end"
"""What happens: a session begins or goes on after a compaction, a person asks, the conversation is about to be
shortened, a session ends."""
DELEGATED, RETURNED = "delegated", "returned"
"""What happens: an agent hands work to a sub-agent, and the sub-agent is done."""
TURN = "turn"
"""What happens: an agent has answered, and waits for the person."""
_CLAUDE = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "SubagentStart": DELEGATED,
    "SubagentStop": RETURNED,
    "Stop": TURN,
    "PreCompact": COMPACT,
    "SessionEnd": END,
}
_HARNESSES: dict[str, dict[str, str]] = {
    "claude-code": _CLAUDE,
    "codex": _CLAUDE,
    "gemini": {
        "SessionStart": START,
        "BeforeAgent": PROMPT,
        "AfterAgent": TURN,
        "PreCompress": COMPACT,
        "SessionEnd": END,
    },
    "cursor": {
        "sessionStart": START,
        "beforeSubmitPrompt": PROMPT,
        "stop": TURN,
        "preCompact": COMPACT,
        "sessionEnd": END,
    },
    # Names of the plugins that `clawmem setup` writes.
    "opencode": {"session_start": START, "chat_message": PROMPT, "session_end": END},
    "openclaw": {"session_start": START, "before_prompt_build": PROMPT, "session_end": END},
}
HARNESSES = tuple(_HARNESSES)
RULE_FILES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md")
"""The names of the files in which people write rules for the agents of a project, or for all of theirs."""
TRANSCRIPTS = {
    **{name: (name,) for name in HARNESSES},
    "openclaw": ("openclaw", "openclaw-trajectory"),
}
"""The formats in which a harness writes down its conversations."""
HARNESS = "harness"
"""The key of an event's metadata with the harness whose transcript somebody else imported; see `harness_of`."""
HANDED_IN = {"openclaw": "openclaw-trajectory", "opencode": "opencode"}
"""The formats of conversations that a harness hands in by `clawmem ingest` after each turn: it writes no transcript."""
PLAIN = {text: text for text in (START, PROMPT, TURN, COMPACT, END)}
"""The names of events for a program of one's own; its hooks print plain text."""

# Who asks says so before or after what is pasted: of a longer prompt, so many characters of each end are kept.
_END_CHARACTERS = 1_000


class HookCall(NamedTuple):
    """What a harness says when it calls a hook: its session, folder and transcript, what the person asks, and whether
    the agent's turn was an answer to a hook."""

    session: str | None = None
    folder: str | None = None
    transcript: str | None = None
    prompt: str = ""
    source: str = ""
    again: bool = False


def harness_of(event: Event) -> str | None:
    """Return the harness with which a session was held: that of its transcript, or else who stored the event."""
    harness = (event.metadata or {}).get(HARNESS)
    return (harness if isinstance(harness, str) else None) or event.agent


def events_of(harness: str) -> Mapping[str, str]:
    """Return what each event of a harness means, by the event's name."""
    return {**PLAIN, **_HARNESSES.get(harness, {})}


def native_events(harness: str) -> tuple[str, ...]:
    """Return the names of the events of a harness that clawmem answers."""
    return tuple(_HARNESSES[harness])


def read_call(data: bytes) -> HookCall:
    """Read what a harness writes to a hook's stdin. What is missing or wrong is left out."""
    try:
        record = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return HookCall()
    if not isinstance(record, dict):
        return HookCall()
    roots = record.get("workspace_roots")
    folder = record.get("cwd") or (roots[0] if isinstance(roots, list) and roots else None)
    session = record.get("session_id") or record.get("conversation_id")
    # The transcript of a sub-agent stands beside that of its session.
    transcript = record.get("agent_transcript_path") or record.get("transcript_path")
    prompt = _text(record.get("prompt")) or ""
    if "<" in prompt:
        prompt = mask_recalled(prompt).strip()  # Gemini CLI puts what a hook gave before the words of the person
    if len(prompt) > 2 * _END_CHARACTERS:
        prompt = f"{prompt[:_END_CHARACTERS]}\n{prompt[-_END_CHARACTERS:]}"
    source = _text(record.get("source")) or ""
    again = bool(record.get("stop_hook_active") or record.get("loop_count"))
    return HookCall(_text(session), _text(folder), _text(transcript), prompt, source, again)


def printed(harness: str, event: str, text: str) -> str:
    """Return what a hook prints so that the harness gives the text to its model."""
    # The plugins that OpenClaw and OpenCode load read plain text.
    if event in PLAIN or harness not in _HARNESSES or harness in HANDED_IN or not text:
        return text
    if events_of(harness)[event] == TURN:
        answers = {"cursor": {"followup_message": text}, "gemini": {"decision": "deny", "reason": text}}
        return json.dumps(answers.get(harness, {"decision": "block", "reason": text}))
    if harness == "cursor":
        # The client takes the context of a prompt, too, only beside the word that the prompt goes on.
        goes_on = {"continue": True} if events_of(harness)[event] == PROMPT else {}
        return json.dumps({**goes_on, "additional_context": text})
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
