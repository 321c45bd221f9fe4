"""`clawmem access show|who|why|grant|revoke|mark`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Answer, Call, Command
from clawmem.faces.parts.parameters import REASON, Parameter
from clawmem.memory.access import SeenBy, decide_access, known_access, mark, seen_by
from clawmem.model.forms import to_record
from clawmem.model.language.dates import begin_instant, end_of, parse_end, parse_start, stamp
from clawmem.model.records.access import EVERYTHING, AccessMark, Grant, Person, Verdict
from clawmem.model.records.layout import ACCESS

_WHO = Parameter("The person, by id or name, or a role.")
_KINDS = Parameter(f"The kinds of content, or {EVERYTHING}.")
_OF = Parameter("Only of this person; the default is of anybody.", ("--of",), metavar="NAME")
_ID = Parameter("A fact or a message, by id.")


def show(call: Call) -> Answer:
    """Show the people, the kinds of content that not everybody may see, the rules, and the grants that are recorded."""
    policy, grants = known_access(call.runtime.vault())
    lines = [f"{name}  {_person(person)}" for name, person in policy.people.items()]
    lines += ["", *(f"{name}  {about}" for name, about in policy.kinds.items())]
    rules = [
        f"{rule.role} may see {', '.join(rule.may)}" + (f" as {rule.relation} of somebody" if rule.relation else "")
        for rule in policy.rules
    ]
    channels = [f"messages of {name} are for {', '.join(names)}" for name, names in policy.channels.items()]
    lines += [row for part in (rules, channels, map(_grant, grants)) for row in _part(part)]
    return Answer({**to_record(policy), "grants": [to_record(grant) for grant in grants]}, lines)


def _part(lines: Iterable[str]) -> list[str]:
    """Return some lines behind an empty one, or nothing."""
    rows = list(lines)
    return ["", *rows] if rows else []


def who(call: Call, target: Annotated[str, _ID]) -> Answer:
    """List for each person whether they may see a fact or a message, and why."""
    found = seen_by(call.runtime.vault(), call.runtime.caller(), target)
    lines = [_verdict(name, each) for name, each in found.verdicts.items()]
    return Answer(_seen(found, found.verdicts), lines)


def why(
    call: Call,
    target: Annotated[str, _ID],
    person: Annotated[str, Parameter("The person, by id or name.", ("--for",), metavar="NAME")],
) -> Answer:
    """Say why somebody may or may not see a fact or a message."""
    vault = call.runtime.vault()
    known = known_access(vault).policy.person(person)
    if known is None:
        raise InvalidInput(f"{ACCESS} has no person '{person}'.", "`clawmem access show` lists them.")
    found = seen_by(vault, call.runtime.caller(), target)
    lines = [f"{found.id} is {each.in_words}" for each in found.marks] or [f"{found.id} is not marked"]
    verdicts = {known.id: found.verdicts[known.id]}
    lines.append(_verdict(known.id, verdicts[known.id]))
    return Answer(_seen(found, verdicts), lines)


def grant(
    call: Call,
    who: Annotated[str, _WHO],
    kinds: Annotated[list[str], _KINDS],
    of: Annotated[str | None, _OF],
    since: Annotated[str | None, Parameter("From this day or time on; the default is now.", ("--since",))],
    until: Annotated[str | None, Parameter("Up to the end of this day, or this time.", ("--until",))],
    reason: Annotated[str | None, REASON],
) -> Answer:
    """Let a person or a role see kinds of content. What is decided later counts more than what was decided before, and
    more than the rules."""
    return _decided(call, Grant("", "", who, tuple(kinds), of, True, since, until, reason))


def revoke(
    call: Call,
    who: Annotated[str, _WHO],
    kinds: Annotated[list[str] | None, _KINDS._replace(default=())],
    of: Annotated[str | None, _OF],
    reason: Annotated[str | None, REASON],
) -> Answer:
    """Let a person or a role no longer see kinds of content, from now on; the default is all, and what was said to them
    with others. What they said themselves, and what everybody may see, stays."""
    return _decided(call, Grant("", "", who, tuple(kinds or (EVERYTHING,)), of, False, reason=reason))


def mark_(
    call: Call,
    targets: Annotated[list[str], Parameter("Facts and messages, by id.")],
    kinds: Annotated[list[str] | None, Parameter("A kind of content; may be repeated.", ("--kind",))],
    about: Annotated[
        list[str] | None, Parameter("A person whom it is about; may be repeated.", ("--about",), metavar="NAME")
    ],
    audience: Annotated[
        list[str] | None,
        Parameter("A person or role for whom it is; may be repeated.", ("--audience",), metavar="NAME"),
    ],
) -> Answer:
    """Mark facts and messages: their kinds of content and whom they are about, or for whom they are. With kinds alone,
    they stay for whom they are; `--audience all` changes that. With an audience alone, they keep their kinds. Without
    an option everybody may see them."""
    wanted = AccessMark(tuple(kinds or ()), tuple(about or ()), tuple(audience or ()))
    marked = mark(call.runtime.vault(), call.runtime.caller(), targets, wanted)
    lines = [f"{name} is {each.in_words}" for name, each in marked.marks.items()]
    return Answer({"ids": list(marked.marks), "commit": marked.commit}, lines, marked.notices)


def _decided(call: Call, wanted: Grant) -> Answer:
    caller = call.runtime.caller()
    since = begin_instant(parse_start(wanted.since, caller.now)) if wanted.since else None
    until = end_of(parse_end(wanted.until, caller.now)) if wanted.until else None
    if until is not None and until <= (since or stamp(caller.now)):
        raise InvalidInput(f"--until {wanted.until} is not after the beginning.", "Name a later day.")
    decided = decide_access(call.runtime.vault(), caller, wanted._replace(since=since, until=until))
    return Answer(
        {"grant": to_record(decided.grant), "commit": decided.commit}, [_grant(decided.grant)], decided.notices
    )


def _person(person: Person) -> str:
    relations = [f"{name} of {', '.join(others)}" for name, others in person.of.items()]
    return ", ".join(filter(None, (", ".join(person.name), person.role, *relations)))


def _grant(grant: Grant) -> str:
    verb = "may see" if grant.allows else "may no longer see"
    text = f"{grant.id}  {grant.timestamp[:10]}  {grant.who} {verb} {', '.join(grant.may)}"
    text += f" of {grant.of}" if grant.of else ""
    text += f", from {grant.since[:10]}" if grant.since else ""
    text += f", until {grant.until[:10]}" if grant.until else ""
    return text + (f" ({grant.reason})" if grant.reason else "")


def _verdict(name: str, verdict: Verdict) -> str:
    return f"{name} {'may' if verdict.allowed else 'may not'} see it: {verdict.why}"


def _seen(found: SeenBy, verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    marks = [to_record(each._replace(parts=(), decided=False), (None, (), False)) for each in found.marks]
    return {"id": found.id, "marks": marks, "people": {name: each._asdict() for name, each in verdicts.items()}}


_GRANT = {
    "id": str, "timestamp": str, "who": str, "may": [str], "of?": str, "allows?": bool, "since?": str, "until?": str,
    "reason?": str, "by?": str,
}  # fmt: skip
_SEEN = {
    "id": str,
    "marks": [{"kinds?": [str], "about?": [str], "audience?": [str], "speaker?": str}],
    "people": {str: Verdict},
}

VERB = {
    "show": Command(
        show,
        {
            "people?": {str: {"name?": [str], "role?": str, "of?": {str: [str]}, "id?": str}},
            "kinds?": {str: str},
            "rules?": [{"role": str, "may": [str], "relation?": str}],
            "channels?": {str: [str]},
            "grants": [_GRANT],
        },
        ("clawmem access show",),
    ),
    "who": Command(who, _SEEN, ("clawmem access who fact_1a2b",)),
    "why": Command(why, _SEEN, ("clawmem access why fact_1a2b --for clara",)),
    "grant": Command(
        grant,
        {"grant": _GRANT, "commit": str},
        ("clawmem access grant rina schedule --of lucia --until 2026-12-31 --reason 'she drives'",),
    ),
    "revoke": Command(revoke, {"grant": _GRANT, "commit": str}, ("clawmem access revoke rina schedule --of lucia",)),
    "mark": Command(
        mark_,
        {"ids": [str], "commit": str},
        ("clawmem access mark fact_1a2b --kind health --about lucia", "clawmem access mark fact_5e6f --audience clara"),
    ),
}
