"""Who may see what: people and rules (`governance/access.yaml`), and grants (`governance/grants.jsonl`).

What is marked (a message or a fact) has an audience, or kinds of content and whom it is about. What is not marked is
for everybody who reads this memory. What is marked is for nobody but those whom the audience, a rule or a grant names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Annotated, Any, NamedTuple

from clawmem.errors import InvalidInput, UnreadableKey
from clawmem.model.forms import ONE_OR_MORE, FilledText, TimeText, no_other_keys, read_in_file, render_lines, to_record
from clawmem.model.language.dates import end_of, moment_of
from clawmem.model.language.text import near_name, normal
from clawmem.model.records.event import (
    CHANNEL,
    COPIES,
    MARK,
    MARK_OF,
    ONE_TO_ONE,
    PARTICIPANTS,
    Event,
    is_hidden_in_part,
    is_of_person,
)
from clawmem.model.records.layout import ACCESS
from clawmem.model.records.parsing import Yaml, read_log, yaml_value
from clawmem.model.search.passage import MOST_PARTS

GRANTS_PATH = "governance/grants.jsonl"
PREFIX = "grant_"
EVERYTHING = "all"
"""In place of the kinds of content in a rule or a grant."""

_ABSENT = (None, (), False)
_TITLES = frozenset(("dr", "mr", "mrs", "ms", "prof", "herr", "frau"))
Names = Annotated[tuple[FilledText, ...], ONE_OR_MORE]


@no_other_keys
class Person(NamedTuple):
    """Somebody who reads this memory, a person or an agent: the names, the role, and for each relation to others, such
    as `doctor`, the ids of these. The id is the key in the file."""

    name: Names = ()
    role: str = ""
    of: Mapping[str, Names] = {}
    id: str = ""

    def is_named(self, text: str) -> bool:
        """Return whether a text is the id or a name of the person."""
        return _form(text) in {_form(name) for name in (self.id, *self.name)}


@no_other_keys
class Rule(NamedTuple):
    """What a role may see: kinds of content, or `all`. With a relation, only of those to whom the person has it. With
    `grants`, whoever has the role lets others see it, by saying so in a message."""

    role: FilledText
    may: Names
    relation: FilledText | None = None
    grants: bool = False


@no_other_keys
class Policy(NamedTuple):
    """The people by id, the kinds of content that not everybody may see, each in a few words, what roles may see, and
    for each channel the people and roles whom it is for."""

    people: Mapping[str, Person] = {}
    kinds: Mapping[str, FilledText] = {}
    rules: tuple[Rule, ...] = ()
    channels: Mapping[str, Names] = {}

    def sees_everything(self, grants: Sequence[Grant], person: Person, moment: str) -> bool:
        """Return whether a rule lets the role of a person see everything of everybody, and nothing was withdrawn."""
        of_all = (rule.role for rule in self.rules if rule.relation is None and EVERYTHING in rule.may)
        if person.role not in of_all:
            return False
        own = reversed(grants_to(grants, person, moment))
        later = takewhile(lambda grant: not (grant.allows and grant.of is None and EVERYTHING in grant.may), own)
        return all(grant.allows for grant in later)

    def knows(self, text: str) -> bool:
        """Return whether a text names a person, a role or everybody."""
        return text == EVERYTHING or text in roles_of(self) or self.person(text) is not None

    def faults(self) -> Iterator[str]:
        """Yield what the policy names and does not have, a sentence each."""
        people, named = self.people.values(), {rule.role for rule in self.rules}
        of = [(person.id, what, name) for person in people for what in person.of for name in person.of[what]]
        rows = [(f"{who} is {what} of", name) for who, what, name in of if not self.person(name)]
        for channel, names in self.channels.items():
            rows += [(f"The channel {channel} is for", name) for name in self.unknown_in(names)]
        rows += [("A rule is for the role", name) for name in sorted(named - {person.role for person in people})]
        needed = {rule.relation for rule in self.rules if rule.relation} - {what for _, what, _ in of}
        rows += [("A rule is for the relation", name) for name in sorted(needed)]
        yield from (f"{what} '{name}', which `people` lacks." for what, name in rows)
        for person in people:
            if person.role not in named and (near := near_name(person.role, named)):
                yield f"{person.id} has the role '{person.role}', which no rule names. Is it '{near}'?"

    def pattern_of(self, person: Person) -> re.Pattern[str]:
        """Return what finds the names of a person in a text: whole ones, or a first name that nobody else has. Case
        counts, because `will` is a word."""
        first = [name.split()[0] for other in self.people.values() for name in other.name]
        own = [name.split()[0] for name in person.name if "." not in name]
        short = [name for name in own if first.count(name) == 1 and name.casefold() not in _TITLES]
        names = "|".join(map(re.escape, (*person.name, *short))) or "(?!)"
        return re.compile(rf"(?<!\w)(?:{names})(?!\w)")

    def meant_by(self, text: str) -> Sequence[str]:
        """Return the people and roles whom a name of an audience means: those of a channel, or of a line of receivers
        such as `Tom Berg <tom@example.org>, sam`, or the name itself. A channel that a policy with channels lacks is
        for nobody; where it has none, every channel is for everybody."""
        if text.startswith("#"):
            channels = {name.casefold().removeprefix("#"): names for name, names in self.channels.items()}
            return channels.get(text[1:].casefold(), () if channels else (EVERYTHING,))
        if not any(sign in text for sign in ",;<") or self.knows(text):
            return (text,)
        found = [[part.strip(' "') for part in (each, *each.strip(" >").split("<"))] for each in re.split("[,;]", text)]
        known = [next(filter(self.knows, parts), None) for parts in found]
        # Without an address, "Berg, Tom" may be a single name.
        return [name for name in known if name] if "@" in text or all(known) else (text,)

    def is_for(self, audience: Sequence[str], person: Person) -> bool:
        """Return whether a name of an audience means a person."""
        names = [name for text in audience for name in self.meant_by(text)]
        return any(name in (EVERYTHING, person.role) or person.is_named(name) for name in names)

    def unknown_in(self, audience: Sequence[str]) -> list[str]:
        """Return the names of an audience that mean nobody."""
        meant = {name: self.meant_by(name) for name in audience}
        return [name for name in meant if not any(name[0] == "#" or self.knows(each) for each in meant[name])]

    def person(self, text: str) -> Person | None:
        """Return the person with this id or name."""
        return self.people.get(text) or next((each for each in self.people.values() if each.is_named(text)), None)


class Grant(NamedTuple):
    """A person or a role may see kinds of content, of one person or of all, in a time; with `allows` false, may not.
    Of two that say something of the same, the later one counts."""

    id: str
    timestamp: TimeText
    who: str
    may: Names
    of: str | None = None
    allows: bool = True
    since: TimeText | None = None
    until: TimeText | None = None
    reason: str | None = None
    by: str | None = None

    @property
    def in_words(self) -> str:
        """What is decided, as a part of a sentence."""
        of = f" of {self.of}" if self.of else ""
        return f"{'granted' if self.allows else 'withdrawn'}: {', '.join(self.may)}{of}"


class ToldGrant(NamedTuple):
    """A grant as a model reads it in a message: who may see which kinds of content, of whom, or no longer may."""

    who: FilledText
    may: Names
    of: FilledText | None = None
    allows: bool = True
    until: TimeText | None = None


class AccessPart(NamedTuple):
    """Words of a message that tell only some of its kinds of content, or none, and whom these words are about."""

    words: str
    kinds: tuple[str, ...]
    about: tuple[str, ...] = ()


class AccessMark(NamedTuple):
    """How a message or a fact is marked: its kinds of content, the people it is about, and the people and roles it is
    for. Whoever said it may see it. Who may not see all of a message may see those of its parts whose kinds allow
    it. A person `decided` it: no model adds to it."""

    kinds: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    audience: tuple[str, ...] = ()
    speaker: str | None = None
    parts: tuple[AccessPart, ...] = ()
    decided: bool = False

    @property
    def restricts(self) -> bool:
        """Return whether not everybody may see what has this mark."""
        return bool(self.kinds or self.audience)

    def of_part(self, part: AccessPart) -> AccessMark:
        """Return the mark of a part of what has this mark. An audience is for all of it."""
        return self._replace(kinds=part.kinds, about=part.about, parts=())

    @property
    def in_words(self) -> str:
        """The mark as the end of a sentence."""
        about = f" of {', '.join(self.about)}" if self.about else ""
        parts = [f"for {', '.join(self.audience)}"] if self.audience else []
        parts += [f"{', '.join(self.kinds)}{about}"] if self.kinds else []
        return "; ".join(parts) or "for everybody"


class Verdict(NamedTuple):
    """Whether somebody may see something, and why, as the end of a sentence."""

    allowed: bool
    why: str


ACCESS_HINT = (
    f"Write a file `{ACCESS}` with two lines such as `people: {{lucia: {{name: Lucia Gomez, role: patient}}}}` and"
    " `kinds: {health: Diagnoses and medicines.}`."
)
"""What to do where a memory has no policy."""


def parse_policy(data: bytes, path: str, yaml: Yaml) -> Policy:
    """Read the policy. Raise Unreadable, which names the key, if it has the wrong form."""
    return policy_from(yaml_value(data, path, yaml), path)


def policy_from(value: Any, path: str = ACCESS) -> Policy:
    """Return the policy in the value of a YAML file. Raise Unreadable, which names the key."""
    policy = read_in_file(Policy, {} if value is None else value, path)
    for place, rule in enumerate(policy.rules):
        for kind in rule.may:
            if kind not in (*policy.kinds, EVERYTHING):
                raise UnreadableKey(path, ("rules", place, "may"), f"names '{kind}', which is none of the kinds")
    return policy._replace(people={name: person._replace(id=name) for name, person in policy.people.items()})


def parse_grants(data: bytes, path: str, yaml: Yaml) -> tuple[Grant, ...]:
    """Read the log of grants. Raise Unreadable, with the line and the key."""
    return read_log(Grant, data, path, yaml)


def with_grants(log: bytes, grants: Sequence[Grant]) -> bytes:
    """Return the log of grants with some more behind it."""
    gap = b"\n" if log and not log.endswith(b"\n") else b""
    return log + gap + render_lines(grants)


def mark_from(value: Any, speaker: str | None = None) -> AccessMark:
    """Return the mark in a value of metadata. What is no mark, or has a wrong value, is for nobody but its speaker."""
    if not isinstance(value, Mapping):
        return AccessMark(kinds=("",), speaker=speaker)
    texts = {key: _names(value.get(key), blank=key == "kinds") for key in ("kinds", "about", "audience")}
    if not {"kinds", "audience"} & value.keys() and (value.keys() - {"about", "speaker"}):
        return AccessMark(kinds=("",), speaker=speaker)
    kinds = tuple(kind.casefold() for kind in texts["kinds"])
    return AccessMark(kinds, texts["about"], texts["audience"], speaker, tuple(_parts(value.get("parts"))))


def _parts(value: Any) -> Iterator[AccessPart]:
    """Yield the parts in a value of metadata. One that does not say its kinds is none."""
    for record in value if isinstance(value, list | tuple) else ():
        words = record.get("words") if isinstance(record, Mapping) and "kinds" in record else None
        if isinstance(words, str) and words.strip():
            kinds = tuple(kind.casefold() for kind in _names(record["kinds"]))
            yield AccessPart(words, kinds, _names(record.get("about")))


def _names(value: Any, blank: bool = False) -> tuple[str, ...]:
    """Return the texts in a value, each once. A `blank` one may be among them: a kind of content for nobody."""
    texts = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
    return tuple(dict.fromkeys(str(text).strip() for text in texts if blank or str(text).strip()))


def mark_of_event(event: Event) -> AccessMark:
    """Return the mark of a message: its own, or who was in the conversation as far as its source said so."""
    metadata = event.metadata or {}
    if MARK in metadata:
        return mark_from(metadata[MARK], event.speaker)._replace(parts=())
    named = (_names(metadata.get(key)) for key in PARTICIPANTS if key != COPIES)
    receivers = next(filter(None, named), ()) or channel_in(metadata)
    audience = tuple(dict.fromkeys((*receivers, *_names(metadata.get(COPIES)))))
    return AccessMark(audience=audience, speaker=event.speaker)


def channel_in(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the channel of a message as a name of an audience, `#desk`; nothing without a channel."""
    channel = metadata.get(CHANNEL)
    return (f"#{channel.strip().removeprefix('#')}",) if isinstance(channel, str) and channel.strip() else ()


def mark_text(mark: AccessMark) -> str:
    """Return a mark as text, equal for equal marks; empty for what everybody may see."""
    return json.dumps(to_record(mark, _ABSENT), ensure_ascii=False, sort_keys=True) if mark.restricts else ""


def mark_in(text: str) -> AccessMark:
    """Return the mark that a text of `mark_text` tells."""
    record = json.loads(text)
    kinds, about, audience = (tuple(record.get(key, ())) for key in ("kinds", "about", "audience"))
    parts = (AccessPart(part["words"], *(tuple(part.get(key, ())) for key in ("kinds", "about")))
             for part in record.get("parts", ()))  # fmt: skip
    return AccessMark(kinds, about, audience, record.get("speaker"), tuple(parts), record.get("decided", False))


def event_of_mark(
    message: Event,
    mark: AccessMark,
    caller_agent: str | None,
    by_reader: bool = False,
    before: int = 0,
    one_to_one: bool | None = None,
) -> Event:
    """Return the event that marks a message; it is never shown or learned from. Of several the last one counts, but
    what a model marked `by_reader` only adds to what is marked already. `one_to_one` says that the
    audience are the two who spoke, or if false no longer. `before` is how many marks the message had: the same mark
    again, after another one, is another event."""
    from hashlib import sha256  # few messages are marked

    record = to_record(mark._replace(speaker=None), _ABSENT)
    about = {MARK_OF: message.id, MARK: record, **({"derived": True} if by_reader else {})}
    about |= {} if one_to_one is None else {ONE_TO_ONE: one_to_one}
    again = f"\x1f{before}" if before else ""
    name = sha256(f"{message.id}\x1f{json.dumps(about, sort_keys=True)}{again}".encode()).hexdigest()[:16]
    when = message.timestamp
    return Event(f"evt_{name}", when, "system", "", agent=caller_agent, kind="mark", recalled=True, metadata=about)


def narrowest(marks: Sequence[AccessMark]) -> dict[str, list[str]]:
    """Return a mark, as metadata, that nobody may see who may not see one of these: all kinds and people, and those who
    are in each audience."""
    kinds, about = (
        list(dict.fromkeys(name for mark in marks for name in getattr(mark, key))) for key in ("kinds", "about")
    )
    audiences = [mark.audience for mark in marks if mark.audience]
    shared = [name for name in audiences[0] if all(name in names for names in audiences)] if audiences else []
    if audiences and not shared:
        kinds.append("")  # for nobody
    found = {"kinds": kinds, "about": about, "audience": shared}
    return {key: names for key, names in found.items() if names}


def marked_again(before: str | None, event: Event, message: Event) -> str:
    """Return the mark of a message, as text, after the event that marks it. Its parts are those that stand in the
    message, at most `MOST_PARTS`; one that is hidden in any part has none."""
    metadata, speaker = event.metadata or {}, message.speaker
    mark = mark_from(metadata.get(MARK), speaker)
    parts = () if is_hidden_in_part(message) else (part for part in mark.parts if part.words in message.text)
    mark = mark._replace(parts=tuple(parts)[:MOST_PARTS])
    if not metadata.get("derived"):
        return mark_text(mark._replace(decided=True))
    if metadata.get(ONE_TO_ONE) is False:
        old = mark_in(before or "{}")
        ends = not old.decided and {*old.audience} == {*mark.audience}
        return mark_text(old._replace(audience=())) if ends else before or ""
    if before:
        old = mark_in(before)
        if old.decided:
            return before
        # A mark without parts is for the whole message, whoever made it.
        shown = (*old.parts, *mark.parts) if old.parts or not old.kinds else ()
        kinds, about = (
            tuple(dict.fromkeys((*first, *more))) for first, more in ((old.kinds, mark.kinds), (old.about, mark.about))
        )
        is_narrower = mark.audience and {*mark.audience} < {*old.audience}
        audience = mark.audience if is_narrower or not old.audience else old.audience
        mark = AccessMark(kinds, about, audience, speaker, shown[:MOST_PARTS])
    return mark_text(mark)


def verdict(policy: Policy, grants: Sequence[Grant], person: Person, mark: AccessMark, moment: str) -> Verdict:
    """Return whether a person may see what has a mark, at a moment (ISO 8601 UTC)."""
    if not mark.restricts:
        return Verdict(True, "it is for everybody")
    if mark.speaker and person.is_named(mark.speaker):
        return Verdict(True, f"{person.id} said it")
    if mark.audience:
        found = _of_audience(policy, grants, person, mark.audience, moment)
        if not (found.allowed and mark.kinds):
            return found
    verdicts = [
        _of_kind(policy, grants, person, kind, whom, moment) for kind in mark.kinds for whom in mark.about or (None,)
    ]
    return next((found for found in verdicts if not found.allowed), verdicts[0])


def _of_audience(
    policy: Policy, grants: Sequence[Grant], person: Person, audience: Sequence[str], moment: str
) -> Verdict:
    """Return whether a person may see what was said to an audience. What was granted or withdrawn of everything decides
    first, then who is in the audience, then a role that may see everything."""
    if (found := _latest(policy, grants, person, EVERYTHING, None, moment)) is not None:
        return found
    if policy.is_for(audience, person):
        return Verdict(True, f"it is for {', '.join(audience)}")
    if policy.sees_everything(grants, person, moment):
        return Verdict(True, f"the role {person.role} may see {EVERYTHING}")
    return Verdict(False, f"it is for {', '.join(audience)}")


def grants_to(grants: Sequence[Grant], person: Person, moment: str) -> list[Grant]:
    """Return the grants and withdrawals to a person that are in force at a moment, the latest last."""
    own = [grant for grant in grants if grant.who == person.role or person.is_named(grant.who)]
    return sorted((grant for grant in own if _in_force(grant, moment)), key=lambda grant: grant.timestamp)


def _latest(
    policy: Policy, grants: Sequence[Grant], person: Person, kind: str, whom: str | None, moment: str
) -> Verdict | None:
    """Return what the latest grant or withdrawal says of a kind of content of somebody, or None without one."""
    for grant in reversed(grants_to(grants, person, moment)):
        of_whom = grant.of is None or (whom is not None and _same(policy, grant.of, whom))
        if of_whom and {kind, EVERYTHING} & {text.casefold() for text in grant.may}:
            what = f"{kind or 'what is marked so'}{f' of {whom}' if whom else ''}"
            says = "granted to" if grant.allows else "withdrawn from"
            return Verdict(grant.allows, f"{what} was {says} {grant.who} on {grant.timestamp[:10]} ({grant.id})")
    return None


def _of_kind(
    policy: Policy, grants: Sequence[Grant], person: Person, kind: str, whom: str | None, moment: str
) -> Verdict:
    """Return whether a person may see one kind of content of somebody, or of nobody in particular (None)."""
    kinds = {kind, EVERYTHING}
    what = f"{kind or 'what is marked so'}{f' of {whom}' if whom else ''}"
    if (found := _latest(policy, grants, person, kind, whom, moment)) is not None:
        return found
    if whom and person.is_named(whom):
        return Verdict(True, f"it is about {person.id}")
    for rule in policy.rules:
        if rule.role != person.role or not kinds & {text.casefold() for text in rule.may}:
            continue
        if rule.relation is None:
            return Verdict(True, f"the role {rule.role} may see {what}")
        related = person.of.get(rule.relation, ())
        if whom and any(_same(policy, name, whom) for name in related):
            return Verdict(True, f"{person.id} is {rule.relation} of {whom}")
    return Verdict(False, f"no rule and no grant lets {person.id} see {what}")


def _in_force(grant: Grant, moment: str) -> bool:
    now = moment_of(moment)
    return moment_of(grant.since or grant.timestamp) <= now and (not grant.until or now < moment_of(grant.until))


def _same(policy: Policy, name: str, other: str) -> bool:
    """Return whether two texts name the same person."""
    person = policy.person(name)
    return _form(name) == _form(other) or (person is not None and person.is_named(other))


def grant_of_message(policy: Policy, message: Event, told: ToldGrant) -> Grant | None:
    """Return the grant that a message makes, or None if it does not name who may see it, or its speaker may not decide
    it: whom it is about, or whose role grants what it may see."""
    from hashlib import sha256  # few messages grant something

    speaker = policy.person(message.speaker or "")
    kinds = tuple(kind.casefold() for kind in told.may)
    known = {EVERYTHING, *(kind.casefold() for kind in policy.kinds)}
    if speaker is None or not is_of_person(message) or not kinds or not known.issuperset(kinds):
        return None
    granting = policy._replace(rules=tuple(rule for rule in policy.rules if rule.grants))
    wholes = [told.of] if told.of else [None, speaker.id]
    decided = [
        of
        for of in wholes
        if all(_of_kind(granting, (), speaker, kind, of, message.timestamp).allowed for kind in kinds)
    ]
    if not decided or not _is_named(policy, told.who, message.text, speaker):
        return None
    name = sha256(f"{message.id}\x1f{told!r}".encode()).hexdigest()[:8]
    until = None if told.until is None else end_of(told.until)
    grant = Grant(f"{PREFIX}{name}", message.timestamp, told.who, kinds, decided[0], told.allows, until=until)
    return grant._replace(reason=f"said in {message.id}", by=speaker.id)


def _is_named(policy: Policy, who: str, text: str, speaker: Person) -> bool:
    """Return whether a text has a word of a name of the person, or of the role, which is no name of the speaker."""
    person = policy.person(who)
    if person is None and who not in roles_of(policy):
        return False
    names = (who.replace("_", " "),) if person is None else person.name
    own = {word for name in speaker.name for word in normal(name).split()} if person != speaker else set()
    words = {word for name in names for word in normal(name).split() if len(word) > 2} - own
    return any(word.removesuffix("s") in words or word in words for word in re.findall(r"\w+", normal(text)))


def roles_of(policy: Policy) -> set[str]:
    """Return the roles that people have or rules name."""
    return {*(person.role for person in policy.people.values()), *(rule.role for rule in policy.rules)} - {""}


@lru_cache(maxsize=4096)
@lru_cache(maxsize=10_000)
def _form(name: str) -> str:
    """Return the common form of the spellings of a name: `Dr Chen` and `dr. chen`."""
    return " ".join(normal(name).replace(".", " ").split())


def check_known(
    policy: Policy, people: Sequence[str], kinds: Sequence[str], who: str | None = None, audience: Sequence[str] = ()
) -> None:
    """Raise InvalidInput if the policy does not know some people, kinds of content, a person or role `who`, or names of
    an audience."""
    for name in people:
        if policy.person(name) is None:
            raise InvalidInput(f"{ACCESS} has no person '{name}'.", f"It has {', '.join(policy.people) or 'none'}.")
    for name in policy.unknown_in(audience) if who is None or (who != EVERYTHING and policy.knows(who)) else [who]:
        known = ", ".join((*policy.people, *sorted(roles_of(policy)), *(f"#{channel}" for channel in policy.channels)))
        raise InvalidInput(f"{ACCESS} has no person and no role '{name}'.", f"It has {known or 'none'}.")
    for kind in kinds:
        if kind not in (*policy.kinds, EVERYTHING):
            known = ", ".join((*policy.kinds, EVERYTHING))
            raise InvalidInput(f"{ACCESS} has no kind of content '{kind}'.", f"It has {known}.")
