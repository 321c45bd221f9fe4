"""The event: something that happened, kept verbatim in a daily ledger, one JSON object per line.

Tell what is worth showing as said from what programs wrote for programs.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.facts.fact import REDACTED, is_low_trust, least_trust, trust_of_source
from clawmem.model.facts.reach import Reach
from clawmem.model.language.text import counted
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.strict_json import LEDGER_LINE_BYTES, read_json, refuse_unread

EVENT_ROLES = ("user", "assistant", "system", "tool", "note")


class Event(NamedTuple):
    """One event. `text` is verbatim, `timestamp` is ISO 8601 UTC, and `external_id` is the id from its source.

    `kind` is `message` for dialogue, else tool_call, tool_result, attachment, note or app. `recalled` marks text that
    came out of this memory and must not be learned again. `trust` limits the trust of its statements, if the source
    showed that the text was not written by its role.
    """

    id: str
    timestamp: str
    role: str
    text: str
    speaker: str | None = None
    session: str | None = None
    agent: str | None = None
    source: str | None = None
    external_id: str | None = None
    kind: str = "message"
    recalled: bool = False
    metadata: Mapping[str, Any] | None = None
    trust: str | None = None


# What the values of a record are, where they are not null, and what is said of another one.
_FORMS: Mapping[str, tuple[type, str]] = {
    **dict.fromkeys(Event._fields, (str, "not text")),
    "recalled": (bool, "neither true nor false"),
    "metadata": (dict, "not an object"),
    "trust": (object, ""),
}
_THE_USER = frozenset("user human me myself i".split())
# Kinds in which nobody speaks.
SILENT_KINDS = ("tool_call", "app")
MODEL_RUN = "model_run"
"""The key of an event's metadata that holds the record of a model run; only clawmem's own events have it."""
LINE_OF = "line_of"
"""The key of an event's metadata with the id of the message that its text tells in one line that stands alone."""
MARK, MARK_OF = "access", "access_of"
"""The keys of the metadata of a marked fact or message, and of the event that marks another message: who may see it."""
CHANNEL, COPIES, PARTICIPANTS = "channel", "cc", ("audience", "participants", "recipients", "to", "members", "cc")
"""The keys of the metadata in which the source of a message says who was in the conversation."""
FOR_SOME = (MARK, CHANNEL, *PARTICIPANTS)
ONE_TO_ONE = "one_to_one"
"""The key of the metadata of a message, or of a mark, whose audience are the two who spoke in its session, and not whom
its source named; its value is false in a mark that takes this audience away again, because others spoke there, too."""
ENTRY = "entry"
"""The key of the metadata of a row of a table, an entry or a card: its line. The events beside it say nothing of it."""
TITLE = "title"
"""The key of the metadata of the first message of a conversation that has a title: it is found by this, too."""
PLACE = "place"
"""The key of a fact's details with the place of its evidence in a document: a page, or the headings above it."""
LONGEST_LINE = 300
_OF_TOOLS = ("tool_call", "tool_result", "attachment")


def event_of_line(message: Event, line: str, agent: str | None) -> Event:
    """Return the event that keeps the line which tells a message alone: it is derived, found for the message and never
    shown, and nothing is learned from it."""
    from hashlib import sha256  # few events are written

    name = sha256(f"{message.id}\x1f{line}".encode()).hexdigest()[:16]
    about = {LINE_OF: message.id, "derived": True}
    return Event(
        f"evt_{name}", message.timestamp, "system", line, agent=agent, kind="line", recalled=True, metadata=about
    )


def line_of(event: Event) -> str | None:
    """Return the id of the message that an event tells in one line that stands alone, or None."""
    return _message_in(event, LINE_OF)


def is_hidden_in_part(message: Event) -> bool:
    """Return whether words of a message were taken out of it, or the whole is not to be found."""
    return message.recalled or REDACTED in message.text or "withheld" in (message.metadata or {})


def with_withheld(text: str, rows: Iterable[Sequence[Any]]) -> str:
    """Return the text of a message with what was withheld from it back in its places; a row has a place and words."""
    for start, words, *_ in rows:
        text = f"{text[:start]}{words}{text[start + len(words) :]}"
    return text


def as_said(event: Event) -> str:
    """Return the text of a message as it was said, which facts quote, also where words of it are hidden."""
    return with_withheld(event.text, (event.metadata or {}).get("withheld", ()))


def marked_by(event: Event) -> str | None:
    """Return the id of the message that an event marks, or None."""
    return _message_in(event, MARK_OF)


def _message_in(event: Event, key: str) -> str | None:
    target = (event.metadata or {}).get(key) if event.recalled else None
    return target if isinstance(target, str) else None


def trust_limit(event: Event) -> str | None:
    """Return the highest trust that the event's statements can have, or None if only its role limits it.

    The limit depends on role and kind, source, speaker, and what was seen at ingestion, and never on the text.
    """
    of_tool = "tool" if event.role == "tool" or event.kind in _OF_TOOLS else None
    named = trust_of_source(event.speaker) if event.speaker else None
    return least_trust(of_tool, event.trust, trust_of_source(event.source or ""), named)


def is_from_outside(event: Event) -> bool:
    """Return whether the text comes from a program or from outside rather than from a participant."""
    return is_low_trust(trust_limit(event))


def is_told_by_agent(event: Event) -> bool:
    """Return whether an agent wrote the text or handed it in: its own note, or a conversation as the agent tells it."""
    return trust_limit(event) == "agent" or (event.role == "note" and event.agent is not None)


def is_of_person(event: Event) -> bool:
    """Return whether a person says something here to the memory or an agent: only a person asks to forget."""
    return event.role in ("user", "note") and not is_from_outside(event) and not is_told_by_agent(event)


def may_ask_to_forget(event: Event) -> bool:
    """Return whether a person says something here, or an agent noted of its own what the user may have asked."""
    noted = event.role == "note" and event.agent is not None and not is_from_outside(event)
    return noted or is_of_person(event)


# What "that" means has no word after it: "ignore that warning" is about a warning.
_ALONE = r"(?=\W*$|\s*[,.;:!\u2013\u2014]|\s+-|\W+(?:please|and|bitte|und|it|it['’]s|i|we|keep|still|not|nicht|es)\b)"
# Compiled where a message is read: most commands only load this module.
_TAKES_BACK = (
    r"\W*(?:(?:no|oh|ah|oops|ups|ok|okay|hmm|sorry|actually|nein|ach|moment|perdón|pardon|non)\b\W*){0,4}"
    r"(?:(?:(?:scratch|strike|cancel|disregard|ignore) that|(?:ignore|disregard) my last(?: (?:message|sentence|remark|"
    r"comment|request|prompt|line|one))?|wait\W+no(?!\W+(?:no\W+)?(?:problem|one|idea|way|worries|rush)\b)|"
    r"streich das|ignorier das|warte\W+(?:nein|doch(?! bitte))|borra eso|espera\W+no|annule ça|attends?\W+non)\b"
    + _ALONE
    + "|"
    r"(?:ignore|disregard) what i (?:just )?said\b|i (?:take that back|misspoke|mistyped)\b|"
    r"wait\W+(?:(?:still|keep) (?=(?-i:[A-ZÀ-Þ]|\d))|(?:it )?(?:stays|remains)\b(?![^.!]*\?)|i was wrong)|"
    r"ich nehme das zurück|olvida lo que dije)"
)


def takes_back(text: str) -> bool:
    """Return whether a message begins by taking back the one before it: "Actually, scratch that, keep 51"."""
    return re.match(_TAKES_BACK, text, re.IGNORECASE) is not None


def taken_back(events: Iterable[Event]) -> dict[str, Event]:
    """Return for each of some messages, in order, the next one of the same speaker if that takes it back, by its id."""
    last: dict[tuple[str | None, str | None], Event] = {}
    found = {}
    for event in events:
        if event.role == "user" and event.kind == "message" and not event.recalled:
            key = (event.session, event.speaker)
            if key in last and takes_back(event.text):
                found[last[key].id] = event
            last[key] = event
    return found


def is_of_user(event: Event, user: Collection[str] = ()) -> bool:
    """Return whether the user says something here, and no other person; `user` are the names of the user."""
    return event.speaker is None or event.speaker.lower() in _THE_USER or event.speaker in user


def name_of_outsider(event: Event) -> str | None:
    """Return the name of a tool or an outsider for statements; it is never a name of the user."""
    metadata = event.metadata or {}
    named = (event.speaker, metadata.get("tool"), metadata.get("name"), metadata.get("file"), event.source)
    return next((str(other) for other in named if other and str(other).lower() not in _THE_USER), None)


def display_speaker(event: Event) -> str:
    """Return the speaker to show. A tool has no other name, and neither text from outside nor what an agent tells of
    the user is shown as the user's."""
    if event.role == "tool":
        return "tool"
    if event.role == "user" and event.speaker is None and is_from_outside(event):
        return "unknown"
    name = event.speaker or event.role
    if event.role in ("user", "note") and is_told_by_agent(event):
        return f"{name}, told by {event.agent or 'an agent'}"
    return name


def people_in(events: Iterable[Event]) -> frozenset[str]:
    """Return the people who speak in some events, without tools, systems, assistants and outsiders."""
    return frozenset(
        event.speaker
        for event in events
        if event.speaker and event.role in ("user", "note") and not is_from_outside(event)
    )


def is_visible_to(event: Event, owners: Collection[str], reach: Reach | None = None) -> bool:
    """Return whether an event is shown to those who see the entities of some owners.

    Conversations are visible to all, whichever agent ingested them. Notes on an agent's own pages are not.
    With `reach`, events of another workflow or project are not visible.
    """
    if reach is not None and not reach.sees_event(event.metadata):
        return False
    noted = event.role == "note" and (event.source or "").startswith(f"agents/{event.agent}/")
    return not noted or event.agent in owners


def is_page_line(event: Event) -> bool:
    """Return whether an event is a line of a daily page, found as a note, too, and no text taken in as a note."""
    return event.role == "note" and (event.source or "").startswith(("daily/", "agents/"))


def ledger_path(day: str) -> str:
    """Return the vault path of one day's ledger."""
    return f"ledger/{day}.jsonl"


def event_to_line(event: Event) -> str:
    """Return the event as one line of JSON, without keys that have no value."""
    record = {
        key: value
        for key, value in event._asdict().items()
        if value is not None and not (key == "kind" and value == "message") and not (key == "recalled" and not value)
    }
    return json.dumps(record, ensure_ascii=False)


def event_from_record(record: Mapping[str, Any]) -> Event:
    """Read one ledger record. Raise InvalidInput if a key is missing or has the wrong type."""
    for key in ("id", "timestamp", "role", "text"):
        if not isinstance(record.get(key), str):
            raise InvalidInput(f"the key '{key}' is missing or not text")
    for key, value in record.items():
        form, why = _FORMS.get(key, (object, ""))
        if value is not None and not isinstance(value, form):
            raise InvalidInput(f"the key '{key}' is {why}")
    unknown = record.keys() - _FORMS.keys()
    if not unknown:
        return Event(**record)
    known = {key: value for key, value in record.items() if key not in unknown}
    more = {key: record[key] for key in record if key in unknown}
    return Event(**{**known, "metadata": {**(known.get("metadata") or {}), **more}})


def render_events(events: Iterable[Event]) -> bytes:
    """Return the ledger lines of the events, each with a newline."""
    return "".join(event_to_line(event) + "\n" for event in events).encode()


def parse_events(data: bytes, path: str) -> tuple[Event, ...]:
    """Read a ledger file. Raise Unreadable, naming the line, if it is wrong."""
    return tuple(each_event(data, path))


def each_event(data: bytes, path: str) -> Iterator[Event]:
    """Yield the events of a ledger file, which may be many. Raise Unreadable, naming the line, at a wrong one."""
    refuse_unread(data, path)
    for number, line in enumerate(BytesIO(data), 1):
        if not line.strip():
            continue
        try:
            yield event_from_record(read_json(line.removesuffix(b"\n"), LEDGER_LINE_BYTES))
        except InvalidInput as problem:
            raise Unreadable(path, number, problem.message) from None
        except (ValueError, AttributeError, TypeError) as problem:
            raise Unreadable(path, number, f"it is not a JSON object ({problem})") from None


# The first words of the answers of agents' tools, and of what their programs add to a chat, where a transcript gives
# them to a person.
_OF_PROGRAMS = (
    "<system-reminder", "<command-", "<local-command-", "<tool_", "<function_", "</tool_", "</function_",
    "caveat: the messages below were generated", "todos have been modified successfully",
)  # fmt: skip
_WRITTEN = "(?:created|updated|written|edited|deleted|saved)"
_ON_FILES = (
    rf"(?:the )?file (?:\S+ )?(?:has been |was )?{_WRITTEN} successfully|the file \S*[/.]\S* has been {_WRITTEN}"
)
_HEAD = 200
# Data, markup and numbered lines in a tool's result; its prose is shown, with the warning that it is from outside.
_DATA = r"\s*(?:[{\[<]|[0-9]+\s*[\u2192:|\t]|[-+@]{2,3} |(?:diff|total) )"


# The beginning of the source of an event that has the text of a digested document.
OF_DOCUMENT = "document:"


def is_silent(event: Event) -> bool:
    """Return whether nobody speaks in an event: it is a program's own record, such as that of a model's run."""
    return event.role == "system" or event.kind in SILENT_KINDS


def is_document(event: Event) -> bool:
    """Return whether an event has the text of a digested document: nobody speaks in it, and answers quote it."""
    return event.kind == "attachment" and (event.source or "").startswith(OF_DOCUMENT)


def is_speech(event: Event) -> bool:
    """Return whether an event may be shown as said: no JSON, message or data of a tool, and no system text."""
    if is_silent(event):
        return False
    if event.role == "tool" and re.match(_DATA, event.text):
        return False
    head = event.text.lstrip()[:_HEAD].lower()
    return not head.startswith(_OF_PROGRAMS) and re.match(_ON_FILES, head) is None and not _is_json(event.text)


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


SOURCE = "clawmem"


def model_run(event: Event) -> Mapping[str, Any] | None:
    """Return the record of the model run in an event, or None for other events."""
    run = (event.metadata or {}).get(MODEL_RUN)
    return run if event.kind == "app" and event.source == SOURCE and isinstance(run, dict) else None


def runs_in(data: bytes, path: str) -> list[Mapping[str, Any]]:
    """Return the recorded runs of a ledger file, oldest first. Only the lines that may contain one are parsed."""
    mark = f'"{MODEL_RUN}"'.encode()
    lines = b"\n".join(line for line in data.split(b"\n") if mark in line)
    return [run for event in parse_events(lines, path) if (run := model_run(event)) is not None] if lines else []


def total_cents(runs: Iterable[Mapping[str, Any]]) -> float:
    """Return the total cost of the runs in cents. A manually edited invalid amount counts as 0."""
    return sum(max(0.0, _number(run, "cents")) for run in runs)


def unpriced_calls(runs: Iterable[Mapping[str, Any]]) -> int:
    """Return the calls whose price is not known."""
    return sum(int(_number(run, "calls")) for run in runs if run.get("priced") is False)


def unpriced_tokens(runs: Iterable[Mapping[str, Any]]) -> int:
    """Return the tokens of the calls whose price is not known."""
    return total_tokens(run for run in runs if run.get("priced") is False)


def total_tokens(runs: Iterable[Mapping[str, Any]]) -> int:
    """Return the tokens of prompts and answers of the runs."""
    return sum(int(_number(run, "prompt_tokens") + _number(run, "answer_tokens")) for run in runs)


def cost_line(run: Mapping[str, Any]) -> str:
    """Return what a run cost, on one line."""
    money = f"{_number(run, 'cents'):.4g} cents" if run.get("priced", True) else "price not known"
    calls = counted(int(_number(run, "calls")), "call")
    return f"cost of {run.get('model')}: {money}, {calls}, {total_tokens([run]):,} tokens"


def _number(run: Mapping[str, Any], key: str) -> float:
    value = run.get(key, 0)
    return float(value) if isinstance(value, int | float) else 0.0
