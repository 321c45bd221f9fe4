"""Which facts the words of a person name, where no fact has all of the words: those of a kind ("her job"), with a name
or a number in another spelling, or near in meaning. What others are said to have or to be is not the person's own."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import NamedTuple

from clawmem.errors import AmbiguousId, InvalidInput, NotFound
from clawmem.index.search.channels import FactFilter, facts_in_rows
from clawmem.index.search.lookup import (
    PlacedFact,
    TakenIds,
    all_facts,
    by_ids,
    entities,
    entities_called,
    entities_known_as,
    find_fact,
    people_by_first_name,
)
from clawmem.index.search.replaced import successor
from clawmem.index.vectors import facts_by_meaning
from clawmem.index.vectors.local_model import has_near_word
from clawmem.memory.entities.places import find_entity
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.catalog import Catalog, canonical_predicate, predicates_asked
from clawmem.model.facts.fact import FACT_PREFIX, RETRACTED, Fact, new_fact_id
from clawmem.model.facts.parts import clear_part, parts_of, subject_of, without_part
from clawmem.model.facts.validity import validity
from clawmem.model.language.languages import STOPWORDS
from clawmem.model.language.text import normal, some_of
from clawmem.model.lifecycle.chain import REPLACING_LINKS
from clawmem.model.proposals.quarantine import quarantine_rule
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import Entity, owner_of
from clawmem.model.records.event import Event
from clawmem.model.search.meant import (
    ASPECT,
    EXAMPLE,
    SAME,
    SPECIAL,
    as_written,
    closeness,
    is_name,
    kinds_of,
    longer_name,
    means,
    names_somebody,
    places_of,
    same_word,
    spelled_alike,
    telling_words,
    tokens_of,
)
from clawmem.vault.vault import Vault

# So much of what is named a fact says at least, and two facts that differ less fit as well.
_LEAST, _APART = 0.6, 0.15
_NEAR, _NEAR_WORD = 0.6, 0.55
_MOST_NEAR = 3
_MOST_COMPARED = 2_000
# Words of a change, and of how something is, which no fact needs to have.
_OF_CHANGE = frozenset(
    "don doesn didn isn aren wasn won haven hasn never stopped stop former previous old new often exactly info "
    "information record entry memory kein keine keinen mehr nicht ya dejé arrêté plus".split()
)
_ASPECTS = ASPECT | frozenset("version status kind type model brand habit preference restriction restrictions".split())
_MINE = re.compile(r"(?i)\b(?:i|my|mine|user|user's|ich|mein\w*|mi|mis|je|mon|ma|mes|моя|мой|моё|мои|меня)\b")
_IDENTIFIER = re.compile(r"[\d@/_+]|\.\w")
_HYPHEN = re.compile(r"(?<=\b[a-z]{2})-(?=[a-z])|(?<=[a-z]{3})-(?=[a-z])")
_YEAR = r"((?:1[89]|20)\d\d)"
_YEARS = re.compile(
    rf"(?i)(?:\b([\w']+) )?(?<!\d){_YEAR}\b(?: ?(?:to|until|till|and|bis|und|a|al|à|et|y|-|–) ?{_YEAR}\b)?"
)
_UNTIL = frozenset("until till before bis vor hasta antes jusqu'en avant до".split())
_SINCE = frozenset("since from after seit ab nach depuis dès desde с".split())
# A request for everything that was said of something.
ALL = re.compile(
    r"\b(?:what(?:ever)? (?:i|we|you|he|she|they)|everything|anything|all (?:of|that|about|the)|"
    r"was (?:ich|du|wir|man|er|sie)|alles|lo que|todo|ce que|tout)\b",
    re.IGNORECASE,
)
# One common word names a few facts and messages; what many have in common is not what was meant.
_MOST_BY_ONE_WORD = 3
_SHOWN = "`clawmem recall` shows facts with their ids."
Named = tuple[str, ...]
"""The words that may name a target, best first: those that name something known are meant."""
JUST_SAID: Named = ()
"""The target that is the last message before the request."""
ITSELF: Named = ("",)
"""The target that is what the request itself says."""


class Wanted(NamedTuple):
    """What some words ask for: names and numbers, which a fact has, the other words, the predicates that they ask for,
    whether it is the person's own, and the years of a state."""

    names: tuple[str, ...]
    rest: tuple[str, ...]
    predicates: Collection[str]
    mine: bool
    person: str
    catalog: Catalog
    years: Sequence[tuple[int, int]] = ()

    def fit(self, text: str, subject: str = "") -> float:
        """Return how much of the words a text says, from 0 to 1; names that its subject has are no part of it."""
        words = (*self.names, *self.rest)
        near = [word for token in tokens_of(subject) for word in words if (closeness(word, token) or 0.0) >= EXAMPLE]
        left = [word for word in words if word not in near and not places_of(word, subject, [word])]
        return _says(self, left or self.rest, text)


def _wanted_by(says: str, vault: Vault) -> Wanted:
    """Return what the words of a person ask for."""
    says = as_written(says)
    tokens = tokens_of(_HYPHEN.sub(" ", says))
    kinds = (word for word in tokens if any(kinds_of(word).values()) and word.lower() not in STOPWORDS)
    words = list(dict.fromkeys((*telling_words(_HYPHEN.sub(" ", says)), *kinds)))
    words = [word for word in words if word.casefold() not in _OF_CHANGE]
    if re.search(r"(?i)\bhow old\b|\bwie alt\b", says):
        words.append("age")
    years = _years_of(says)
    words = [word for word in words if not (years and re.fullmatch(_YEAR, word))]
    named = [word for word in words if is_name(word) and not kinds_of(word) and word.casefold() not in _ASPECTS]
    names = tuple(word for word in words if word in named or _IDENTIFIER.search(word))
    rest = tuple(word for word in words if word not in names)
    bare = tuple(word for word in rest if word.casefold() not in _ASPECTS)
    person, mine = vault.settings.words("user.name"), _MINE.search(says) is not None
    catalog = vault.catalog_or_none() or Catalog()
    return Wanted(names, bare or rest, predicates_asked(catalog, says), mine, person, catalog, years)


def _years_of(text: str) -> list[tuple[int, int]]:
    """Return the periods that a text states, each as its first and its last year."""
    periods = []
    for word, first, last in _YEARS.findall(text):
        begin = 0 if not last and word.lower() in _UNTIL else int(first)
        periods.append((begin, int(last or (9999 if word.lower() in _SINCE else first))))
    return periods


def _held(fact: Fact, years: Sequence[tuple[int, int]]) -> bool:
    """Return whether a fact held in some years, by its words or by its validity; of no years, whether it is current."""
    since, until = validity(fact)
    stated = _years_of(fact.fact) or [(int((since or "0")[:4]), int((until or "9999")[:4]))] * bool(since or until)
    inside = any(begin <= first and last <= end for first, last in years for begin, end in stated)
    return inside and fact.status != RETRACTED if years else fact.is_current


def fact_named(work: WriteScope, says: str) -> PlacedFact:
    """Return the fact that an id or some words name. Raise NotFound, or AmbiguousId with the facts that fit as well."""
    if says.startswith(FACT_PREFIX):
        return find_fact(work.index, says)
    wanted = _wanted_by(says, work.vault)
    with suppress(NotFound, AmbiguousId):
        found = find_fact(work.index, says)
        if not asks_more(work, says) and not (wanted.mine and _is_of_another(wanted, found.fact)):
            return found
    fitting = facts_meant(work, says)
    if not fitting and asks_more(work, says):
        raise NotFound(f"No current fact says what '{says}' asks for.", f"{_SHOWN}{nearest_to(work, says)}")
    if not fitting:
        try:
            return find_fact(work.index, says)
        except NotFound as unknown:
            raise NotFound(unknown.message, f"{unknown.hint}{nearest_to(work, says)}") from None
    return only_of(fitting, says)


def asks_more(work: WriteScope, says: str) -> bool:
    """Return whether words ask for something without a word that says it, as "how old Jane is" does."""
    return not set(_wanted_by(says, work.vault).rest).issubset(telling_words(_HYPHEN.sub(" ", as_written(says))))


def only_of(fitting: Sequence[PlacedFact], says: str) -> PlacedFact:
    """Return the only one of some facts. Raise AmbiguousId, which shows them, if there are several."""
    if len(fitting) > 1:
        shown = some_of([f"{placed.fact.id} ({placed.fact.fact})" for placed in fitting])
        raise AmbiguousId(says, [placed.fact.id for placed in fitting], f"Name one by its id: {shown}.")
    return fitting[0]


def facts_named(work: WriteScope, says: str, every: bool = False) -> list[PlacedFact]:
    """Return the current facts that say best what some words name: one, or those that fit as well. With `every`, all
    that say it."""
    wanted = _wanted_by(says, work.vault)
    fitting = _fitting(work, wanted, _facts_of(work, wanted))
    if every or len(fitting) < 2:
        return [placed for placed, _ in fitting]
    best = max(score for _, score in fitting)
    return list(_plainest([placed for placed, score in fitting if score > best - _APART], wanted))


def facts_meant(work: WriteScope, says: str) -> list[PlacedFact]:
    """Return the facts that some words name, current or held in a year that is named, or else those in place of what
    they named."""
    return facts_named(work, says) or successors_named(work, says)


def successors_named(work: WriteScope, says: str) -> list[PlacedFact]:
    """Return the current facts in place of those that gave what some words name another value: "my gym is X"."""
    words = telling_words(says)
    if all(map(is_name, words)):
        return []
    own = (None, work.caller.agent)
    wanted = _wanted_by(says, work.vault)
    replaced = [each for each in all_facts(work.index) if each.fact.superseded_by and owner_of(each.entity) in own]
    named = (placed.fact for placed in replaced if means(words, subject_of(placed.fact.fact)))
    named = (fact for fact in named if not (wanted.mine and _is_of_another(wanted, fact)))
    return list(by_ids(work.index, {now.id for fact in named if (now := successor(work.index, fact))}).values())


def _facts_of(work: WriteScope, wanted: Wanted) -> list[PlacedFact]:
    """Return the facts that held when it is wanted, without those that say it of others than the person."""
    own = (None, work.caller.agent)
    facts = [each for each in all_facts(work.index) if owner_of(each.entity) in own and _held(each.fact, wanted.years)]
    return [placed for placed in facts if not (wanted.mine and _is_of_another(wanted, placed.fact))]


def of_others(work: WriteScope, says: str) -> set[str]:
    """Return the facts that have the words of a person for something of their own, and say it of others; none where no
    fact says it of the person."""
    wanted = _wanted_by(says, work.vault)
    words = telling_words(as_written(says))
    having = [placed.fact for placed in all_facts(work.index) if wanted.mine and means(words, placed.fact.fact)]
    others = {fact.id for fact in having if _is_of_another(wanted, fact)}
    return others if len(others) < len(having) else set()


def _fitting(work: WriteScope, wanted: Wanted, facts: Sequence[PlacedFact]) -> list[tuple[PlacedFact, float]]:
    """Return the facts that say enough of what is wanted, each with how much."""
    named = _with_names(work, wanted.names, facts)
    if not wanted.rest:
        # What has the names was found by its words.
        return [(placed, SAME) for placed in named] if wanted.names else []
    texts = {placed.fact.id: f"{placed.fact.fact} {placed.fact.object or ''}" for placed in named}
    scored = [(placed, _says(wanted, wanted.rest, texts[placed.fact.id], placed.fact.predicate)) for placed in named]
    found = [(placed, score) for placed, score in scored if score >= _LEAST]
    known = [word for word in wanted.rest if kinds_of(word)]
    if found or len(known) == len(wanted.rest):
        return found
    unknown = [word for word in wanted.rest if word not in known]
    return [
        (placed, _NEAR)
        for placed in named[-_MOST_COMPARED:]
        if all(has_near_word([word], tokens_of(placed.fact.fact.lower()), _NEAR_WORD) for word in unknown)
        and (not known or _says(wanted, known, texts[placed.fact.id]) >= _LEAST)
    ]


def _says(wanted: Wanted, words: Collection[str], text: str, predicate: str | None = None) -> float:
    """Return how much of some words a text says, by its words and by the names of its relations."""
    bare, catalog = f" {normal(text)} ", wanted.catalog
    relations = {name for phrase, name in catalog.names.items() if " " in phrase and f" {phrase} " in bare}
    relations |= {name} if (name := canonical_predicate(catalog, predicate or "")) else set()
    phrases = [each for name in relations for each in (name, *catalog.predicates[name].phrases)]
    near = _nearness(words, " ".join((text, *phrases)))
    share = sum(near) / len(near) if near else 0.0
    return max(share, _NEAR if relations.intersection(wanted.predicates) else 0.0)


def _nearness(words: Collection[str], text: str) -> list[float]:
    """Return how near each of some words is to the nearest word of a text, below 0 if one is contrary to it."""
    near = [[closeness(word, token) or 0.0 for token in tokens_of(text)] for word in words]
    return [max(each, default=0.0) or min(each, default=0.0) for each in near]


def _with_names(work: WriteScope, names: Sequence[str], facts: Sequence[PlacedFact]) -> list[PlacedFact]:
    """Return the facts with all names, else those with another spelling of them."""
    if not names:
        return list(facts)
    places = entities_called(work.index, [normal(" ".join(names))])
    found = [
        placed
        for placed in facts
        if all(places_of(name, placed.fact.fact, names) for name in names)
        or (placed.entity in places and not has_names(names, placed.fact.fact))
    ]
    others = (placed for placed in facts if all(spellings_in(name, placed.fact.fact) for name in names))
    return found or list(others)


def spellings_in(name: str, text: str) -> list[str]:
    """Return the other spellings of a name in a text."""
    tokens = (*tokens_of(text), *re.findall(r"[\u30a0-\u30ff]{2,}", text))
    return [token for token in tokens if spelled_alike(name, token)]


def _before(wanted: Wanted, text: str) -> list[str]:
    """Return the telling words of a text before the first that is wanted: whom or what it says that of."""
    for token in re.finditer(r"[^\s,;]+", text):
        bare = token[0].strip(".!?()\"'").removesuffix("'s").removesuffix("’s")
        if any((closeness(word, bare) or 0.0) >= EXAMPLE for word in wanted.rest):
            begin = tokens_of(text[: token.start()])
            words = [word for word in telling_words(text) if word in begin]
            return [word for word in words if not any(places_of(name, word, [name]) for name in wanted.names)]
    return []


def _is_of_another(wanted: Wanted, fact: Fact) -> bool:
    """Return whether a fact says of somebody else than its owner what is wanted: "My sister lives in Lyon"."""
    before = _before(wanted, fact.fact)
    others = (word for word in before if names_somebody(word) or (is_name(word) and not kinds_of(word)))
    return any(word not in wanted.person and not _MINE.match(word) for word in others) and not wanted.names


def _plainest(near: Sequence[PlacedFact], wanted: Wanted) -> Sequence[PlacedFact]:
    """Return those of some facts that hold still, and of these those that say it of nobody and nothing else."""
    holding = [placed for placed in near if not placed.fact.valid_to] or near
    return [placed for placed in holding if not _before(wanted, placed.fact.fact)] or holding


def nearest_to(work: WriteScope, says: str) -> str:
    """Return a hint with the current facts that are closest in meaning to some words; empty where that is not known.

    They are named and nothing is done with them: "the production database" is as close to the one for staging."""
    wanted = FactFilter(("", *filter(None, [work.caller.agent])))
    scores = facts_by_meaning(work.vault, work.index, says, wanted).scores
    rows = sorted(scores, key=lambda n: -scores[n])[:_MOST_NEAR]
    placed = facts_in_rows(work.index, rows)
    near = [placed[n].fact for n in rows if n in placed]
    shown = [f"{fact.id} ({fact.fact})" for fact in near if fact.is_current and quarantine_rule(fact) is None]
    return f" Near in meaning: {some_of(shown)}." if shown else ""


def rest_of(work: WriteScope, says: str, placed: PlacedFact) -> PlacedFact | None:
    """Return a new fact with what a fact says beside what some words name, or None if they name all of it. Raise
    InvalidInput if that is unclear."""
    fact, word = placed.fact, says.strip().removeprefix(FACT_PREFIX)
    about, parts = parts_of(fact.fact)
    if not parts or fact.id.removeprefix(FACT_PREFIX).startswith(word) or means(telling_words(fact.fact), says):
        return None
    wanted = _wanted_by(says, work.vault)
    scores = [wanted.fit(part, about) for part in parts]
    at = clear_part(scores, _LEAST)
    if at is None and wanted.rest and max(scores) < _LEAST and not is_meant(telling_words(says), fact):
        message = f"'{says}' may be all or a part of: {fact.fact}"
        raise InvalidInput(message, f"Name the part in its own words, or all by its id: {fact.id}.")
    return None if at is None else _rest(work, placed, at)


def rest_beside(work: WriteScope, new: Fact, placed: PlacedFact) -> PlacedFact | None:
    """Return a new fact with what a fact says beside the value that a new fact replaces, or None if that is all, or the
    new fact says the rest, too."""
    old, told = (set(map(normal, tokens_of(fact.fact))) for fact in (placed.fact, new))
    about, parts = parts_of(placed.fact.fact)
    shared = (old & told).difference(map(normal, tokens_of(about)))
    at = clear_part(
        [len(shared.intersection(map(normal, tokens_of(part)))) / (len(shared) or 1) for part in parts], _LEAST
    )
    rest = None if at is None else _rest(work, placed, at)
    if rest is None or set(telling_words(rest.fact.fact)) <= set(telling_words(new.fact)):
        return None
    # "Tom lives in Bonn with two dogs" still has the old value.
    return None if old & told <= set(map(normal, tokens_of(rest.fact.fact))) else rest


def _rest(work: WriteScope, placed: PlacedFact, at: int) -> PlacedFact | None:
    """Return a new fact without a part of one. It has no quote and no reason, which say the rest, too."""
    old = placed.fact
    text = without_part(old.fact, at)
    if text is None:
        return None
    if old.object and old.object not in text:
        old = old._replace(predicate=None, object=None)
    links = tuple(each for each in old.links if each.type not in REPLACING_LINKS)
    bare = old._replace(relation_phrase=None, source_text=None, source_span=None, details=None, links=links)
    return PlacedFact(
        bare._replace(id=new_fact_id(work.caller.entropy, TakenIds(work.index)), fact=text), placed.entity
    )


def words_meant(
    target: Named,
    known: Sequence[PlacedFact],
    events: Sequence[Event],
    request: Event | None,
    said: Mapping[tuple[str, ...], Collection[str]],
) -> tuple[str, ...]:
    """Return the words of the first wording of a target that name something known. `said` are the messages that are
    meant by words that name somebody, by the words.

    Of a request, one common word names nothing if many facts and messages have it. "Ewa's number" does not mean all
    that was said of Ewa."""
    for wording in target:
        every = telling_words(wording)
        if every in said and all(map(is_name, every)):
            return ()
        rest = tuple(word for word in every if word.casefold() not in ASPECT)
        bare = len(rest) < len(every) and all(map(is_name, rest))
        for words in (every,) if every in said or bare else dict.fromkeys((every, rest)):
            found = [placed for placed in known if is_meant(words, placed.fact)]
            others = [event for event in events if (not request or event.id != request.id) and means(words, event.text)]
            common = request and len(words) == 1 and not (words[0][0].isupper() or SPECIAL.search(words[0]))
            if (found or others) and not (common and len(found) + len(others) > _MOST_BY_ONE_WORD):
                return words
    return ()


def of_longer_names(
    work: WriteScope, target: Named, known: Sequence[PlacedFact]
) -> tuple[list[tuple[str, ...]], list[PlacedFact]]:
    """Return the words of a target with the longer names that its names begin, where a known fact has these words, and
    the facts that say it of such a name in other words."""
    exact: dict[tuple[str, ...], None] = {}
    near: dict[str, PlacedFact] = {}
    named = ((wording, name) for wording in target for name in filter(is_name, telling_words(wording)))
    for words_said, name in named:
        for longer in set(filter(None, (longer_name(name, placed.fact.fact) for placed in known))):
            says = as_written(words_said).replace(name, longer)
            words = telling_words(says)
            if len(words) == len(telling_words(longer)):
                continue  # a name alone means all that is known of somebody
            if any(is_meant(words, placed.fact) for placed in known):
                exact[words] = None
            else:
                near |= {placed.fact.id: placed for placed in facts_named(work, says)}
    return sorted(exact), list(near.values())


def own_before(events: Sequence[Event], request: Event) -> list[Event]:
    """Return the messages of whoever asks before the request in the same conversation, in order."""
    mine = [
        event
        for event in events
        if (event.session, event.role, event.speaker) == (request.session, request.role, request.speaker)
    ]
    return list(takewhile(lambda event: event.id != request.id, sorted(mine, key=lambda event: event.timestamp)))


def said_of_one_named(target: Named, before: Sequence[Event]) -> dict[tuple[str, ...], list[str]]:
    """Return the messages that are meant by words that name somebody: the last one with a name alone, and those that
    say a thing of somebody whom the message before names ("She is pregnant")."""
    found: dict[tuple[str, ...], list[str]] = {}
    for words in map(telling_words, target):
        names = [word for word in words if is_name(word)]
        rest = [word for word in words if not is_name(word)]
        naming = [
            all(any(same_word(name, token) for token in tokens_of(event.text)) for name in names) for event in before
        ]
        if names and not rest:
            ids = [event.id for event, names_it in zip(before, naming, strict=True) if names_it][-1:]
        else:
            ids = [event.id for event, names_it in zip(before[1:], naming, strict=False) if names_it]
            ids = [event.id for event in before if event.id in ids and means(rest, event.text)] if names else []
        found |= {words: ids} if ids else {}
    return found


def named_entity(work: WriteScope, says: str, caller: Caller) -> Entity | None:
    """Return the entity that these words name, but not the one for what belongs to none. The first name of a person is
    a name of the person if no other begins with it."""
    if not telling_words(says):
        return None
    named = set(entities_known_as(work.index, says)) or set(people_by_first_name(work.index, [normal(says)]))
    with suppress(NotFound, InvalidInput):
        named = named or {find_entity(work.index, says, caller)}
    named -= {work.vault.settings.words("defaults.entity")}
    return next((entity for entity in entities(work.index) if named == {entity.name}), None)


def has_names(words: Sequence[str], text: str) -> bool:
    """Return whether a text has all of some words, also in a longer name."""
    tokens = tokens_of(text)
    return all(any(same_word(word, token) for token in tokens) for word in words)


def is_meant(words: Sequence[str], fact: Fact) -> bool:
    """Return whether words name a fact as it is stated, or as it was said: "esse" is no form of "isst"."""
    return means(words, f"{fact.fact} {fact.object or ''}") or means(words, fact.source_text or "")
