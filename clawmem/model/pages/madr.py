"""Decisions as MADR pages (Markdown Architectural Decision Records, version 4): written and read.

The headings and the front matter are those of the template at https://adr.github.io/madr/.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.facts.fact import RETRACTED, SUPERSEDED, Fact
from clawmem.model.facts.gates import DECISION_MAKERS, FAILED, REVERTED, outcomes_of
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import normal, one_line
from clawmem.model.pages.summary import yaml_scalar
from clawmem.model.records.entity import slug

CONTEXT, DRIVERS, OPTIONS = "Context and Problem Statement", "Decision Drivers", "Considered Options"
OUTCOME, CONSEQUENCES, CONFIRMATION = "Decision Outcome", "Consequences", "Confirmation"
PROS_AND_CONS, MORE = "Pros and Cons of the Options", "More Information"
_LONGEST_SLUG = 60
_ABOUT = "This decision is about "
_OWN = re.compile(r"Fact: `(fact_\w+)` in ")
_READ = (CONTEXT, DRIVERS, OPTIONS, OUTCOME, CONSEQUENCES, PROS_AND_CONS)
_CHOSEN = re.compile(r'Chosen option: *"(?P<option>.+?)" *(?:, *because\b *(?P<why>.*))?$', re.DOTALL)
_HEADING = re.compile(r"(#{1,3}) +(.*?)(?: +#+)?")
_ITEM = re.compile(r"[*+-] +(.*)")
_BAD = re.compile(r"(?:Bad|Neutral), because +(.*)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


class MadrPage(NamedTuple):
    """A page: the name of its file, and its text."""

    name: str
    text: str


class MadrDecision(NamedTuple):
    """What a page says: the decision, the reason, and the rejected options with their reasons (or '').

    `details` are those of the fact, such as `context` and `decision_makers`. `date` is as written. `fact`
    is the id of the fact whose export the page is. `left_out` names the parts that have no place in a fact."""

    decided: str
    why: str
    alternatives: tuple[tuple[str, str], ...] = ()
    status: str | None = None
    details: Mapping[str, Any] = {}
    date: str | None = None
    fact: str | None = None
    left_out: tuple[str, ...] = ()


def madr_pages(decisions: Sequence[tuple[Fact, str]], facts: Mapping[str, Fact]) -> tuple[MadrPage, ...]:
    """Return a page for each decision (with its entity), numbered from 1 in the order of time, then of ids.

    `facts` are the facts that the decisions link to, by id. The same decisions give the same bytes."""
    ordered = sorted(decisions, key=lambda decision: (decision[0].timestamp, decision[0].id))
    names = {fact.id: _file_name(number, fact) for number, (fact, _) in enumerate(ordered, 1)}
    return tuple(MadrPage(names[fact.id], _page(fact, entity, names, facts)) for fact, entity in ordered)


def read_madr(text: str) -> MadrDecision:
    """Return the decision of a page. Raise InvalidInput that names the missing section or the line."""
    front, body, first = _parted(text)
    sections = _sections(_COMMENT.sub(lambda found: "\n" * found[0].count("\n"), body), first)
    title = next((name for level, name in sections if level == 1), None)
    if not title:
        raise InvalidInput("The page has no title: a line that begins with `# `.", _HINT)
    found = {name.lower(): section for (level, name), section in sections.items() if level > 1}
    outcome = found.get(OUTCOME.lower())
    if outcome is None:
        raise InvalidInput(f"The page has no section `## {OUTCOME}`.", _HINT)
    line, words = outcome
    chosen = _CHOSEN.match(" ".join(words.split()))
    if chosen is None:
        raise InvalidInput(f'Line {line}: the section does not begin with `Chosen option: "...", because ...`.', _HINT)
    option = chosen["option"].strip()
    why = (chosen["why"] or "").strip() or " ".join(found.get(CONTEXT.lower(), (0, ""))[1].split())
    if not why:
        raise InvalidInput(f"Line {line}: the decision has no reason.", "Write `, because ...` after the option.")
    options = _items(found.get(OPTIONS.lower(), (0, ""))[1])
    named = ((other_option, _against(found.get(other_option.lower(), (0, ""))[1])) for other_option in options)
    others = tuple((_unlinked(name), why) for name, why in named if not _unlinked(name).startswith(option))
    decided = title if option.lower() in title.lower() or not options else f"{title}: {option}"
    context = " ".join(found.get(CONTEXT.lower(), (0, ""))[1].split())
    details = {
        "option": option if normal(option) != normal(decided) else "",
        DECISION_MAKERS: front.get("decision-makers") or front.get("deciders") or "",
        "context": "" if context.startswith(_ABOUT) else context,
        "drivers": _items(found.get(DRIVERS.lower(), (0, ""))[1]),
        "consequences": _items(found.get(CONSEQUENCES.lower(), (0, ""))[1]),
    }
    own = _OWN.search(found.get(MORE.lower(), (0, ""))[1])
    return MadrDecision(
        decided,
        why.rstrip("."),
        others,
        front.get("status"),
        {key: value for key, value in details.items() if value},
        front.get("date"),
        own[1] if own else None,
        tuple(_left_out(front, sections, options, own is not None)),
    )


def _items(words: str) -> list[str]:
    return [match[1].strip() for line in words.splitlines() if (match := _ITEM.fullmatch(line.strip()))]


def _left_out(
    front: Mapping[str, str], sections: Mapping[tuple[int, str], tuple[int, str]], options: Sequence[str], own: bool
) -> Iterator[str]:
    """Yield the names of the keys and sections of a page that a fact has no place for."""
    yield from (key for key in ("consulted", "informed") if front.get(key))
    known = {option.lower() for option in (*_READ, *options, *([MORE] if own else []))}
    for (level, name), (_, words) in sections.items():
        if level > 1 and name.lower() not in known and words.strip():
            yield name
    if any(item.startswith("Good,") for option in options for item in _items(sections.get((3, option), (0, ""))[1])):
        yield "the arguments for the options"


def status_of(fact: Fact, names: Mapping[str, str] = {}) -> str:
    """Return the status that a page gives a decision, by its state and its last outcome."""
    if fact.status == SUPERSEDED:
        by = names.get(fact.superseded_by or "", "")
        return f"superseded by ADR-{by[:4]}" if by else "superseded"
    if fact.status == RETRACTED:
        return "rejected"
    last = outcomes_of(fact)[-1:]
    return "deprecated" if last and last[0].get("outcome") in (FAILED, REVERTED) else "accepted"


def _file_name(number: int, fact: Fact) -> str:
    words = slug(fact.fact)[:_LONGEST_SLUG].rpartition("-")[0] if len(slug(fact.fact)) > _LONGEST_SLUG else ""
    return f"{number:04}-{words or slug(fact.fact) or 'decision'}.md"


def _page(fact: Fact, entity: str, names: Mapping[str, str], facts: Mapping[str, Fact]) -> str:
    details = fact.details or {}
    why = _text(details.get("why"))
    chosen = _plain(fact.fact)
    options = [
        (_plain(_text(alternative.get("option"))), _text(alternative.get("why")))
        for alternative in _alternatives(details)
    ]
    day = max(
        [
            day_of(fact.timestamp),
            *(day_of(str(outcome.get("at"))) for outcome in outcomes_of(fact) if outcome.get("at")),
        ]
    )
    front = [f"status: {yaml_scalar(status_of(fact, names))}", f"date: {day}"]
    makers = details.get(DECISION_MAKERS)
    front += [f"decision-makers: {yaml_scalar(makers if isinstance(makers, str) else fact.agent or 'user')}"]
    drivers = _texts(details.get("drivers"))
    parts = [
        "---\n" + "\n".join(front) + "\n---",
        f"# {_escaped(chosen)}",
        f"## {CONTEXT}",
        _escaped(_context(fact, entity, why)),
        *([f"## {DRIVERS}", "\n".join(f"* {_escaped(driver)}" for driver in drivers)] if drivers else []),
        f"## {OPTIONS}",
        "\n".join(f"* {_escaped(text)}" for text in dict.fromkeys((chosen, *(option for option, _ in options)))),
        f"## {OUTCOME}",
        f'Chosen option: "{_escaped(chosen)}", because {_escaped(why or "no reason was recorded")}.',
    ]
    effects = [*_texts(details.get("consequences")), *(_effect(outcome) for outcome in outcomes_of(fact))]
    parts += [f"### {CONSEQUENCES}", "\n".join(f"* {_escaped(effect)}" for effect in effects)] if effects else []
    argued = [(option, against) for option, against in options if against and option != chosen]
    parts += [f"## {PROS_AND_CONS}"] if argued else []
    for option, against in dict(argued).items():
        parts += [f"### {_escaped(option)}", f"* Bad, because {_escaped(_plain(against))}"]
    parts += [f"## {MORE}", "\n".join(f"* {text}" for text in _more(fact, entity, names, facts))]
    return "\n\n".join(parts) + "\n"


def _context(fact: Fact, entity: str, why: str) -> str:
    details = fact.details or {}
    if context := _text(details.get("context")):
        return f"{context}."
    known = {"task": details.get("task"), "workflow": details.get("workflow"), "stage": details.get("stage")}
    where = ", ".join(f"{key} {value}" for key, value in known.items() if value)
    about = f"{_ABOUT}{entity}" + (f" ({where})" if where else "") + "."
    return f"{about} The reason: {why}." if why else about


def _effect(outcome: Mapping[str, Any]) -> str:
    word = _text(outcome.get("outcome"))
    sign = "Bad" if word in (FAILED, REVERTED) else "Good"
    note = _plain(_text(outcome.get("note")))
    day = day_of(str(outcome.get("at") or ""))
    return f"{sign}, because it {word}{f' ({day})' if day else ''}{f': {note}' if note else ''}"


def _more(fact: Fact, entity: str, names: Mapping[str, str], facts: Mapping[str, Fact]) -> Iterator[str]:
    yield f"Fact: `{fact.id}` in `{entity}`"
    for link in fact.links:
        name, other = names.get(link.to), facts.get(link.to)
        shown = f"[ADR-{name[:4]}]({name})" if name else f"`{link.to}`"
        words = f": {_escaped(_plain(other.fact))}" if other is not None else ""
        yield f"{link.type.replace('_', ' ').capitalize()} {shown}{words}"


def _alternatives(details: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    items = details.get("alternatives")
    return (
        [record for record in items if isinstance(record, Mapping) and record.get("option")]
        if isinstance(items, list)
        else []
    )


def _texts(value: Any) -> list[str]:
    return [one_line(text) for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return one_line(value).rstrip(". ") if isinstance(value, str) else ""


def _plain(text: str) -> str:
    """Return text as one line that can be a heading, which ends without a mark."""
    return one_line(text).rstrip(".,;:!? ")


def _escaped(text: str) -> str:
    """Return text in which a Markdown reader sees no markup that the words do not mean: tags, links, code, emphasis."""
    marked = re.sub(r"([\\`*_\[\]<])", r"\\\1", text)
    return re.sub(r"^([#+>~=-]|[0-9]+(?=[.)]))", lambda at: f"{at[1]}\\" if at[1].isdigit() else f"\\{at[1]}", marked)


def _unlinked(text: str) -> str:
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def _unescaped(text: str) -> str:
    return re.sub(r"\\([\\`*_\[\]<>#+~=.)-])", r"\1", text)


def _parted(text: str) -> tuple[dict[str, str], str, int]:
    """Return the plain values of the front matter, the text after it, and the number of its first line."""
    lines = text.replace("\r\n", "\n").lstrip("\ufeff").split("\n")
    if lines[0].strip() != "---":
        return {}, "\n".join(lines), 1
    end = next((at for at, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    if end is None:
        raise InvalidInput("Line 1: the front matter does not end: a line `---` is missing.", _HINT)
    front: dict[str, str] = {}
    last = ""
    for line in lines[1:end]:
        key, mark, value = line.partition(":")
        if last and (item := _ITEM.fullmatch(line.strip())):  # a list below its key
            front[last] = ", ".join(filter(None, (front[last], item[1].strip("\"' "))))
        elif mark and not line.startswith((" ", "#")):
            last = key.strip()
            front[last] = value.strip().strip("[]").strip("\"'")
    return front, "\n".join(lines[end + 1 :]), end + 2


def _sections(body: str, first: int) -> dict[tuple[int, str], tuple[int, str]]:
    """Return the text below each heading with the number of the heading's line, by level and title."""
    found: dict[tuple[int, str], tuple[int, str]] = {}
    current, fenced = (0, ""), False
    for number, line in enumerate(body.split("\n"), first):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        match = None if fenced else _HEADING.fullmatch(line.strip())
        if match:
            current = (len(match[1]), _unescaped(match[2].strip()))
            found.setdefault(current, (number, ""))
        elif current in found:
            at, words = found[current]
            found[current] = (at, f"{words}{_unescaped(line)}\n")
    return found


def _against(words: str) -> str:
    """Return the arguments against an option, as one text."""
    return "; ".join(match[1].strip().rstrip(".") for item in _items(words) if (match := _BAD.fullmatch(item)))


_HINT = "The template is at https://adr.github.io/madr/."
