"""The draft: a requested fact before it has an id, a time and an entity."""

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

from clawmem.errors import InvalidInput
from clawmem.model.facts.codec import OTHER_NAMES, fact_from_record, stated_in
from clawmem.model.facts.fact import BESIDE, LINK_TYPES, TRUSTS, UNSET_ID, Fact, FactLink
from clawmem.model.facts.reach import check_scope
from clawmem.model.facts.validity import PLANS
from clawmem.model.language.dates import after_end, begin_instant, parse_end, parse_moment, parse_start, stamp
from clawmem.model.language.text import check_choice, check_statement, check_visible, one_line
from clawmem.model.lifecycle.premises import without_own_record
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.strict_json import texts_in

# Only the vault sets the identity, status, recording times and counters.
_OWN_KEYS = frozenset("id status timestamp access_count last_accessed superseded_by".split())
_LONGEST_WORD = 80
_BY_VERB = {"supersedes": "supersede", "merges": "merge", BESIDE: "review approve --beside"}
_OCCASIONS = frozenset(
    "appointment breakfast brunch concert conference deadline demo dinner exam flies flight fly interview lunch match"
    " meeting meetup party picnic planned presentation rehearsal reunion review scheduled trip viewing visit visits"
    " wedding webinar workshop abendessen abgabefrist besprechung besuch besucht feier fliegen fliegt flug geplant"
    " hochzeit konferenz konzert mittagessen prüfung reise termin treffen".split()
)
# First words that rules and other things begin with, too: "Review policy from 3 March 2027: ...".
_ALSO_OTHER = frozenset("conference deadline presentation review trip visit".split())
# An occasion with its names and its day, which a tab stands for, and nothing else.
_OF_OCCASION = (
    r"(?:with|at|in|on|for|to|from|until|and|mit|bei|beim|am|im|um|vom|von|bis|nach|und|\d[\w:.]*|[^\Wa-z_][\w.'’&-]*"
    r"|(?:the|my|our|dem|der|den|meine[mnr]?|unsere[mnr]?) [\w'’-]+)"
)
_ONLY_OCCASION = re.compile(rf"\w+(?:,? {_OF_OCCASION})*,? \t(?: {_OF_OCCASION})*[.!]?")
# What begins on a day, or is bounded by it, is not over after it, unless a last day is named, too.
_LASTING = frozenset(
    "after as before begin begins by from open opens since start starting starts until beginnt seit startet vor".split()
)
_SEVERAL_DAYS = re.compile(
    r"\b(?:from|vom|von) [^:;]{1,20}? (?:to|till|until|bis) (?:the )?"
    r"(?:\d{4}-|(?:\d{1,2}\S* (?:of )?)?(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]))",
    re.IGNORECASE,
)
# The end of what a sentence states, in its own words: "until 5 May", "from 3 to 5 May", "is away next week".
_MAY_END = re.compile(
    r"\b(?:until|till|up to|through|to|bis|today|tonight|tomorrow|this|next|heute|morgen|nächste\w?|diese\w?)\b",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    r"(?:\b(?:until|till|bis)|(?P<range>\b(?:up to|through|(?:from|vom|von)\b[^,;:]{1,30}?\b(?:to|bis))))(?: the)? $",
    re.IGNORECASE,
)
_BEFORE_DATE = re.compile(r"(?:(?:until|till|up to|through|to|bis) )?(?:the )?", re.IGNORECASE)
_IS_FOR_NOW = re.compile(
    r"^(?!.*\b(?:after|as of|from|since|start\w*|ab|seit) \w+(?: \w+)?$).*\b(?:is|are|am|will be|ist|sind|bin)\b"
    r"(?:.* (?:abroad|absent|away|busy|closed|here|ill|off|on (?:\w+ )?(?:call|duty|holidays?|leave|vacation)|out|sick|"
    r"travell?ing|unavailable|abwesend|krank|unterwegs|verreist|zu)\b.*)? "
    r"(?:(?P<short>today|tonight|this \w+)|tomorrow|next \w+)$",
    re.IGNORECASE,
)
_BEHIND_DATE = re.compile(r"(?: at \d[\d:.]*(?: ?[ap]m)?| um \d[\d:.]*(?: Uhr)?| weg| away| off)?[.!]*")
_SEVERAL_CLAUSES = re.compile(
    r"[;:]|\b(?:who|which|because|so that|but|aber|weil)\b|(?:,| and| und) "
    r"(?:then |now |also |is|are|was|has|will|he|she|they|it|we|I|ist|hat|er|sie|wir)\b"
)
_SHORT, _SHORTEST = 8, 6  # words
LINKED_BY_HAND = tuple(link_kind for link_kind in LINK_TYPES if link_kind not in _BY_VERB)
_LINES = tuple("source source_event workflow scope project agent relation_phrase subject predicate object".split())


class Draft(NamedTuple):
    """A checked fact without identity, the requested entity (None: clawmem decides), and the ignored keys.

    `title` is the title of the entity, if it is new. `line` is the line of the input that it comes from, if that
    has many. `here` is the project of the repository: what is about the work there is about that."""

    fact: Fact
    entity: str | None = None
    left_out: tuple[str, ...] = ()
    title: str | None = None
    line: int | None = None
    default: str | None = None
    here: str | None = None


def draft_from_record(record: Mapping[str, Any], now: datetime, dated: bool = True) -> Draft:
    """Return a draft from loose keys in any known layout. Raise InvalidInput if a value is wrong.

    Days such as "on Friday" count from `now`. If it is not known when they were said (not `dated`), they are no dates.
    Keys that only the vault sets are ignored and listed in `left_out`.
    """
    entity = record.get("entity")
    if entity is not None and not isinstance(entity, str):
        raise InvalidInput("The key 'entity' must be text.")
    own = tuple(key for key in record if OTHER_NAMES.get(key, key) in _OWN_KEYS)
    argument = {
        key: value for key, value in record.items() if key not in own and key not in ("entity", "default_entity")
    }
    if "fact" not in argument and (stated := stated_in(argument)):
        argument["fact"] = stated
    if not isinstance(argument.get("fact"), str):
        raise InvalidInput('The key \'fact\' is missing: each line needs at least {"fact": "..."}.')
    argument["fact"] = check_statement(argument["fact"])
    argument["id"] = UNSET_ID
    try:
        fact = fact_from_record(argument)
    except InvalidInput as problem:
        raise InvalidInput(
            f"The fact cannot be stored: {problem.message}.", "Correct that value and try again."
        ) from None
    return Draft(without_own_record(_normalised(fact, now, dated)), entity, own, default=record.get("default_entity"))


def _normalised(fact: Fact, now: datetime, dated: bool) -> Fact:
    check_choice(fact.trust, "trust level", TRUSTS)
    if not fact.category.replace("-", "").replace("_", "").isalnum() or len(fact.category) > _LONGEST_WORD:
        category = fact.category[:_LONGEST_WORD]
        raise InvalidInput(f"'{category}' is not a category.", "Use one word, such as preference or milestone.")
    valid_from = parse_start(fact.valid_from, now, ahead=True) if fact.valid_from else None
    valid_to = parse_end(fact.valid_to, now, ahead=True) if fact.valid_to else None
    if valid_from and valid_to and (after_end(valid_to) or valid_to) <= begin_instant(valid_from):
        raise InvalidInput(
            f"The fact would end ({valid_to}) before it begins ({valid_from}).", "Swap the two dates, or drop one."
        )
    if (fact.category.lower() in PLANS or _is_occasion(fact.fact)) and not (valid_from or valid_to):
        valid_to = _planned_for(fact.fact, now, dated, fact.category.lower() in PLANS)
    elif not (valid_from or valid_to):
        valid_to = _end_in_words(fact.fact, now, dated)
    _check_verbatim(fact)
    check_scope(fact.scope, fact.workflow, fact.project)
    lines: dict[str, Any] = {key: _line(getattr(fact, key), key.replace("_", " ")) for key in _LINES}
    return fact._replace(
        **lines,
        category=fact.category.lower(),
        valid_from=valid_from,
        valid_to=valid_to,
        related_entities=tuple(
            dict.fromkeys(check_statement(related_entity, "related entity") for related_entity in fact.related_entities)
        ),
        tags=checked_tags(fact.tags),
        links=tuple(_checked_link(link, now) for link in fact.links),
    )


def _end_in_words(statement: str, now: datetime, dated: bool) -> str | None:
    """Return the last day of what a sentence of one clause states, if that is how it ends; else None."""
    if not _MAY_END.search(statement) or _SEVERAL_CLAUSES.search(statement):
        return None
    from clawmem.model.language.date_words import find_dates, in_english, recurs  # it takes milliseconds to load

    text = re.sub(r"\b(?:the )?end of (?!the\b)", "", in_english(statement.replace("’", "'"), now.date()))
    found = [match for match in find_dates(text, now.date(), ahead=True) if match.span and (dated or not match.label)]
    if not found or recurs(statement) or not _BEHIND_DATE.fullmatch(text[found[-1].end :]):
        return None
    date, text = found[-1], text[: found[-1].end]
    last = date.span.last if date.span else None
    opening = _BEFORE_DATE.match(text, date.start)
    until = _UNTIL.search(text[: opening.end() if opening else date.start])
    coming = last is not None and last >= now.date().isoformat()
    if until and not (until["range"] and not (coming and re.search(r"\d", text[date.start :]))):
        return last  # "from Monday to Friday" recurs, and a range that is past may be what a text covers
    now_only, count = _IS_FOR_NOW.match(text), len(text.split())
    lasts = now_only and date.relative and count <= (_SHORTEST if now_only["short"] else _SHORT)
    return last if lasts and coming else None


_UNFINISHED = frozenset(
    "is are was were of the a an and or to in with for that has have ist sind und der die das".split()
)
_SHORT_MONTH = "(?:february|feb|april|apr|june|jun|september|sept?|november|nov|februar|juni)"
_NO_DAY = re.compile(
    rf"\b(?:31(?:st|\.)? (?:of )?{_SHORT_MONTH}|30(?:th|\.)? (?:of )?feb(?:ruary?)?"
    rf"|{_SHORT_MONTH} 31|feb(?:ruary?)? 30)\b(?!:)",
    re.IGNORECASE,
)


def doubt_about(statement: str) -> str | None:
    """Return what is odd about a statement, as the rest of a sentence, or None: it states nothing, or a day that no
    month has."""
    words = [word for word in re.findall(r"[\w'’-]+", statement) if any(map(str.isalnum, word))]
    if statement.rstrip().endswith("?") and words:
        return "reads as a question: `clawmem recall` answers one"
    stops = not statement[-1:].isalnum() or words[-1].lower() not in _UNFINISHED  # "Bruno left; Annika is."
    if not words or (len(words) == 1 and statement.isascii()) or not stops:
        return "states nothing alone; `clawmem undo` takes it back"
    if found := _NO_DAY.search(statement):
        return f"names a day that does not exist: {found[0]}"
    return None


def _is_occasion(statement: str) -> bool:
    """Return whether a statement is about something that is over after its last day, such as a dinner."""
    words = set(_lower_words(statement))
    return not _OCCASIONS.isdisjoint(words) and (
        _LASTING.isdisjoint(words) or _SEVERAL_DAYS.search(statement) is not None
    )


def _lower_words(statement: str) -> list[str]:
    return [word.strip(".,:;!?()").lower() for word in statement.split()]


def _planned_for(statement: str, now: datetime, dated: bool, by_category: bool) -> str | None:
    """Return the last day that a plan names, or None. A day that comes again each year or week is no end, and one that
    has passed only where nothing but an occasion is said: "Dinner with Jane on 8 November."."""
    # It takes milliseconds to load.
    from clawmem.model.language.date_words import find_dates, in_english, last_coming_day, recurs

    if recurs(statement):
        return None
    text = in_english(statement, now.date())
    dates = [found for found in find_dates(text, now.date(), ahead=True) if dated or not found.label]
    first, after = _lower_words(statement)[0], text[dates[-1].end :] if dates else ""
    if first in _ALSO_OTHER and len(after.split()) > 3 and not by_category:
        return None
    passed = dates and first in _OCCASIONS and _ONLY_OCCASION.fullmatch(text[: dates[0].start] + "\t" + after)
    return last_coming_day(dates, now.date()) or (last_coming_day(dates, date.min) if passed else None)


def _line(text: str | None, what: str) -> str | None:
    return check_statement(text, what) if text is not None else None


def _check_verbatim(fact: Fact) -> None:
    """Check the texts that may have several lines; quoted words stay as the event has them."""
    if fact.source_text is not None and fact.source_event is None:
        check_visible(fact.source_text, "evidence")
    for text in texts_in([fact.details, fact.metadata, fact.extra]):
        check_visible(text, "text beside the fact")


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags in lower case, each once, split at commas. Raise InvalidInput for a long or hidden one."""
    return tuple(dict.fromkeys(_tag(tag) for text in tags for tag in text.split(",") if tag.strip()))


def _tag(text: str) -> str:
    tag = one_line(text).lower()
    check_visible(tag, "tag")
    if len(tag) > _LONGEST_WORD:
        raise InvalidInput(f"A tag has {len(tag):,} characters; the limit is {_LONGEST_WORD}.", "Use a few words.")
    return tag


def check_link_kind(kind: str) -> None:
    """Raise InvalidInput for an unknown link type, and for one that only a verb of its own creates."""
    if kind in _BY_VERB:
        raise InvalidInput(f"'{kind}' links cannot be created by hand.", f"Use `clawmem {_BY_VERB[kind]}`.")
    if kind not in LINK_TYPES:
        raise InvalidInput(f"'{kind}' is not a link type.", f"Choose one of {', '.join(LINKED_BY_HAND)}.")


def _checked_link(link: FactLink, now: datetime) -> FactLink:
    check_link_kind(link.type)
    if not all(isinstance(text, str | None) for text in (link.reason, link.at)):
        raise InvalidInput("The reason and the time of a link must be text.")
    at = parse_moment(link.at, now) if link.at else stamp(now)
    return FactLink(link.type, _line(link.to, "fact of a link") or "", _line(link.reason, "reason"), at)
