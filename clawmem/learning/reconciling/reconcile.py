"""Reconcile a proposition with the known facts: add it, ignore it, or replace, merge or retract facts.

Relations of learned facts: the predicate of the catalog for a phrase, and which values exclude each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from clawmem.learning.reconciling.gate import content_words, contradicts, negations, plain, word_beginnings
from clawmem.learning.rules.clauses import without_any_date
from clawmem.learning.rules.language import HAS_A
from clawmem.model.facts.catalog import Catalog, canonical_predicate, is_replaced, is_single
from clawmem.model.facts.fact import Fact, is_low_trust, trust_rank
from clawmem.model.facts.stated_value import ADDRESS, COUNTRY, NAMED, REGION, UNNAMED, are_exclusive, value_class
from clawmem.model.language.question import TIME_WORDS
from clawmem.model.language.text import normal
from clawmem.model.proposals.para import FactChange, Proposition
from clawmem.model.proposals.proposal import CANDIDATES

_MAX_UNDERSCORES = 4
# One verb in the present tense: a lasting state. A single past action ("went", "won") is not a relation.
_PRESENT = re.compile(r"[a-z]{3,}[^su]s")
_EMPTY = frozenset(
    "has does goes gets takes makes says comes thinks feels tries seems looks means wants needs knows keeps gives "
    "sees hopes finds lets puts shows tells asks hears plans starts stops begins spends becomes "
    "is was are be have had do did".split()
)
_OTHER_SIGNS = re.compile(r"[^a-z0-9]+")


def map_predicate(proposition: Proposition, catalog: Catalog, by_model: bool) -> Proposition:
    """Return the proposition with the catalog's predicate for its relation phrase, if it has no predicate."""
    phrase = proposition.relation_phrase
    if proposition.predicate or not proposition.object or not phrase or not is_lasting(phrase, by_model):
        return proposition
    return proposition._replace(predicate=canonical_predicate(catalog, phrase))


def is_lasting(phrase: str, by_model: bool) -> bool:
    """Return whether a relation phrase names a lasting relation.

    A model returns relations. The rules return the verb of the clause, and only the present tense means a state.
    """
    if by_model:
        return phrase not in _EMPTY and predicate_name(phrase).count("_") < _MAX_UNDERSCORES
    return _PRESENT.fullmatch(phrase) is not None and phrase not in _EMPTY


def predicate_name(phrase: str) -> str:
    """Return the phrase as a predicate name: lower case, words joined by underscores."""
    return _OTHER_SIGNS.sub("_", normal(phrase)).strip("_")


_CHANGE = re.compile(
    r"\b(?:now|nowadays|these days|currently|moved?|moving|relocat\w+|settled|switch\w*|chang\w+|joined|"
    r"start(?:ed|ing)|began|hired|new|became|since|instead|no longer|any ?more|left|quit|took|"
    r"upgrad\w+|bump\w+|renam\w+|replac\w+|"
    r"jetzt|nun|inzwischen|gezogen|umgezogen|gewechselt|umgestiegen|verschoben|neue[rns]?|nicht mehr)\b",
    re.IGNORECASE,
)
_AWAY = re.compile(r"\b(?:moved?|moving|relocat\w+|switch\w*|chang\w+|instead|no longer|left|quit)\b", re.IGNORECASE)
_JUST_BEFORE = re.compile(r"\b(?:now|nowadays|these days|currently),?\s*$", re.IGNORECASE)
_JUST_AFTER = re.compile(r"^,?\s*(?:now|nowadays|these days|at the moment|right now)\b", re.IGNORECASE)
_NO_COMPLEMENT = frozenset("deadline deadlines got due by on set moved to date new now".split())
_HOUR = re.compile(r"\d{1,2}(?:[:.]\d\d)?(?:am|pm)?|am|pm|noon|midnight|morning|evening|night|end")
_ANY_DAY = date(2024, 1, 1)
_NEAR = 16  # characters
_TIMES = (
    r"on (?:the side|weekends|weekdays|holidays|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)|at (?:the )?weekends?|"
    r"in (?:the )?(?:summers?|winters?|springs?|autumns?|mornings|evenings|afternoons)|at (?:night|times)|sometimes|"
    r"(?:part|half|most|some) of the (?:year|week|time|month)|half the (?:year|week|time)|every (?:other )?\w+"
)
_BESIDE = re.compile(
    rf"\b(?:(?<!^)also(?!,)|as well|too|part[- ]time|freelance|second (?:job|home)|{_TIMES})\b", re.IGNORECASE
)
_AT_TIMES = re.compile(rf"\b(?:{_TIMES}|when|while|during|before|after(?! all)|all the time|always)\b", re.IGNORECASE)
_MONTH = r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
# The form of a value for these predicates. Other text describes the value and is not one.
_LOOKS = {
    "birthday": re.compile(rf"^(?:on )?(?:the )?\d|^(?:on )?(?:{_MONTH})| of (?:{_MONTH})", re.IGNORECASE),
    "email": re.compile(r"@"),
    "phone": re.compile(r"\d\D*\d\D*\d"),
}


def mark_change(proposition: Proposition, text: str) -> Proposition:
    """Return the proposition with `anew` set if its words, or the words around them in `text`, state a change."""
    start, end = proposition.span
    near = _JUST_BEFORE.search(text[max(0, start - _NEAR) : start]) or _JUST_AFTER.search(text[end : end + _NEAR])
    return proposition._replace(anew=bool(near or _CHANGE.search(proposition.source_text)))


def of_same_thing(proposition: Proposition, related: Sequence[Fact]) -> list[Fact]:
    """The facts of a relation without those of something else.

    The deadline "on 9 June for the grant" is not that of the tax return, nor one that is for nothing named. "The port
    is 3000" may be said of another program than "the port is 8080" was, unless the text states a change.
    """
    if proposition.predicate == "set_to" and not (proposition.anew or proposition.former or proposition.corrects):
        return [
            fact
            for fact in related
            if proposition.ended or normal(fact.object or "") == normal(proposition.object or "")
        ]
    if proposition.predicate != "deadline":
        return list(related)
    return [fact for fact in related if _complement(fact.object) == _complement(proposition.object)]


def _complement(value: str | None) -> frozenset[str]:
    """What the value of a deadline says that it is for, besides the date."""
    words = content_words(without_any_date(value or "", _ANY_DAY)) - _NO_COMPLEMENT
    return frozenset(word for word in words if not _HOUR.fullmatch(word))


def drop_unfit_predicate(proposition: Proposition) -> Proposition:
    """Return the proposition without its predicate if the object is not a valid value ("my birthday is soon")."""
    looks = _LOOKS.get(proposition.predicate or "")
    if looks is None or proposition.ended or looks.search(proposition.object or ""):
        return proposition
    return proposition._replace(predicate=None, relation_phrase=None)


def as_additional(proposition: Proposition) -> Proposition:
    """Return the proposition without its predicate, as an additional value or as an exception at certain times."""
    return proposition._replace(
        predicate=None, relation_phrase=None if proposition.ended else _additional_phrase(proposition)
    )


def is_additional(proposition: Proposition, fact: Fact) -> bool:
    """Return whether a fact was stored as an additional value of the proposition's relation."""
    return fact.predicate is None and fact.relation_phrase == _additional_phrase(proposition)


def adds_value(proposition: Proposition, catalog: Catalog) -> bool:
    """Return whether the text says that this is not the only home, employer or job."""
    several = _kind(proposition, catalog) in ("place", "organisation") or proposition.predicate == "job"
    text = proposition.source_text
    return several and bool(_BESIDE.search(text)) and not _AWAY.search(text)


def rivals(proposition: Proposition, related: Sequence[Fact], catalog: Catalog) -> list[Fact]:
    """Return the facts that cannot be true together with the proposition.

    They have another value of the same sort, or a less detailed one ("Leeds" for "Leeds, England").
    """
    kind, value = _kind(proposition, catalog), proposition.object or ""
    return [
        fact for fact in related if are_exclusive(kind, value, fact.object or value) or _says_more(value, fact.object)
    ]


def outdated(proposition: Proposition, related: Sequence[Fact], catalog: Catalog) -> list[Fact]:
    """Return the facts that are no longer valid once the proposition is.

    These are its rivals, and after a change also less specific facts: whoever moves to Bergen leaves the flat too.
    """
    kind, value = _kind(proposition, catalog), proposition.object or ""
    sort = value_class(kind, value)
    if not proposition.anew or sort == ADDRESS:
        return rivals(proposition, related, catalog)
    if sort in (NAMED, COUNTRY, REGION, UNNAMED):
        return list(related)
    return [fact for fact in related if value_class(kind, fact.object or value) == sort]


def denies_only_at_times(denial: Proposition, fact: Fact) -> bool:
    """Return whether it denies a fact only at certain times ("I'm not vegetarian on Sundays")."""
    when = _AT_TIMES.search(denial.object or "")
    return bool(when) and _AT_TIMES.search(fact.object or "") is None


def _says_more(value: str, known: str | None) -> bool:
    words = content_words(known or "")
    return bool(words) and words <= content_words(value)


def _kind(proposition: Proposition, catalog: Catalog) -> str:
    entry = catalog.predicates.get(proposition.predicate or "")
    return entry.value if entry else ""


def _additional_phrase(proposition: Proposition) -> str:
    return f"also {(proposition.predicate or '').replace('_', ' ')}"


ADD = "add"
NOOP = "noop"
UPDATE = "update"
MERGE = "merge"
RETRACT = "retract"

_FACT_ID = re.compile(r"\bfact_[0-9a-f]{4,40}\b")
_ARTICLES = re.compile(r"^(?:the|a|an|his|her|their|its)\s+")
_NAME = "name"
_RATHER = re.compile(r" (?:to|over|rather than|instead of|than) ")
_ASIDE = re.compile(r",| (?:after all|any ?more|named|called|who|which|that|with|from|in|near|for|since|at|to|on|of)\b")
_ENDING = re.compile(
    r"\b(?:no longer|stopped|quit|sold|left|gave up|broke up|broke it off|resigned|laid off|fired|dropped|removed|"
    r"rid of|cancelled|does not|do not|is not|are not)\b"
)
_REFINEMENT = re.compile(
    r"(?:,| (?:(?:named|called|who|which|that|with|from|in|near|for|since)\b|"
    r"to (?:keep|avoid|make|ensure|maintain|reduce|improve|save|help)\b))"
)

# How a proposition can change a fact that it names, the strongest first: the outcome and its reason.
_NAMED_CHANGES = (
    ("replace", UPDATE, "The text says that the known fact changed."),
    ("refine", MERGE, "It says the same with more detail."),
    ("end", RETRACT, "The text says that this is over."),
    ("same", NOOP, "It restates what is known."),
)
BY_RULES = "heartbeat/rules"
# The workflows whose words no reader and no person chose.
RAW = (BY_RULES, CANDIDATES)
_DENIALS = frozenset("not never no nobody nothing nicht nie kein keine".split())
_STRENGTHS = [how for how, _, _ in _NAMED_CHANGES]


class ReconcileDecision(NamedTuple):
    """The decision about a proposition: the outcome, the ids of the target and contradicted facts, and the reason.

    `never` says that the replaced facts were never true. `beside` says that the proposition adds a value to a relation
    that otherwise has only one.
    """

    outcome: str
    targets: tuple[str, ...]
    reason: str
    contradicts: tuple[str, ...] = ()
    never: bool = False
    beside: bool = False


def reconcile(proposition: Proposition, same_subject: Sequence[Fact], catalog: Catalog) -> ReconcileDecision:
    """Decide about one proposition. Only current facts with the same subject, or named by id, can be targets."""
    named = _named(proposition, same_subject)
    if named:
        outcome = RETRACT if proposition.ended else UPDATE
        return ReconcileDecision(outcome, named, "The text names the changed fact by id.")
    standing = [fact for fact in same_subject if fact.is_current and _is_same(fact.subject, proposition.subject)]
    related = [fact for fact in standing if proposition.predicate and fact.predicate == proposition.predicate]
    related = of_same_thing(proposition, related)
    over = [fact for fact in related if _ENDING.search(fact.fact)]
    if proposition.ended:
        related += [fact for fact in standing if is_additional(proposition, fact)]
        return _ended(proposition, [fact for fact in related if fact not in over], catalog)
    agreeing = [fact for fact in standing if not contradicts(proposition.statement, fact.fact)]
    akin = [fact for fact in related if fact in agreeing]
    return (
        _resumed(proposition, over)
        or _restated(proposition, agreeing, akin)
        or _contradicted(proposition, [fact for fact in related if fact not in akin])
        or _replaced_by_name(proposition, related)
        or _corrected(proposition, related, catalog)
        or _single(proposition, related, over, catalog)
        or _refined(proposition, akin)
        or ReconcileDecision(ADD, (), "No known fact says the same or contradicts it.")
    )


def reconcile_named(
    proposition: Proposition, named: Mapping[str, Fact], same_place: Callable[[Fact], bool]
) -> ReconcileDecision | None:
    """Decide about a proposition that says by id which of the `named` facts it changes, and how.

    A fact counts only if its subject or predicate is that of the proposition, if the proposition names its subject, as
    in "Ash draws the icons, in place of Morwenna", if it has no subject, as what a person typed, and a word in common,
    or if `same_place` says that it is of the same entity or project, and if its source is not trusted more. Return None
    if none is left: then the facts are compared.
    """
    hows: dict[str, str] = {}
    for change in proposition.changes:
        fact = named.get(change.target)
        if fact is not None and _may_change(proposition, fact, same_place):
            again = plain(fact.fact) == plain(proposition.statement)
            if again and change.how == "end":
                continue  # no statement says that it is over
            how = "same" if again else change.how  # of several for one fact, the strongest is meant
            hows[fact.id] = min(how, hows.get(fact.id, how), key=_STRENGTHS.index)
    lossy = [key for key, how in hows.items() if how == "refine" and loses_detail(proposition, named[key])]
    if lossy and len(lossy) == len(hows):
        return ReconcileDecision(ADD, (), f"It does not say all that {lossy[0]} says.", beside=True)
    hows = {key: how for key, how in hows.items() if key not in lossy}
    for how, outcome, reason in _NAMED_CHANGES:
        if how in hows.values():
            targets = [key for key, how in hows.items() if how != "same"] if how != "same" else list(hows)[:1]
            return ReconcileDecision(outcome, tuple(targets), reason)
    return None


_INSTEAD = re.compile(
    r"\b(?:instead of|rather than|in place of|an?statt|anstelle von|statt) (?:the |plain )?([\w@][\w.+#@/-]*\w)",
    re.IGNORECASE,
)
# A rule with a part of its own ("use spaces in YAML") is not the rule that goes.
_USING = re.compile(
    r"(?P<not>\b(?:never|not|don't|no longer|nie|niemals|kein\w*) )?\b(?:uses?|using|runs?|prefers?|sticks? to|nutzt?|"
    r"nutze|verwende|verwendet|benutze|benutzt|nimm) (?:(?:only|always|just|nur|immer) )?(?P<what>[\w@][\w.+#@/-]*\w)\b"
    r"(?! (?:in|for|on|with|when|while|if|at|für|bei|wenn)\b(?! (?:this|the repo|the project|here|diese)))",
    re.IGNORECASE,
)


def given_up(order: Proposition) -> str | None:
    """Return what an order says to use no more: "use yarn here instead of pnpm"."""
    found = _INSTEAD.search(order.statement) if _USING.search(order.statement) else None
    return found[1] if found else None


def with_rule_replaced(order: Proposition, former: str, known: Mapping[str, Fact]) -> Proposition:
    """Return an order with the change of the one known rule that says to use what the order gives up."""
    rules = [
        key
        for key, fact in known.items()
        if any(not found["not"] and normal(found["what"]) == normal(former) for found in _USING.finditer(fact.fact))
    ]
    return order._replace(changes=(*order.changes, FactChange(rules[0], "replace"))) if len(rules) == 1 else order


def loses_detail(proposition: Proposition, fact: Fact) -> bool:
    """Return whether a fact of another message has a name, a number or a denial that a statement does not have."""
    having = normal(proposition.statement)
    words = (word.strip(".,;:!?()\"'") for word in fact.fact.split()[1:])
    named = [word for word in words if (word[1:] and word[0].isupper()) or word[-1:].isdigit() or word in _DENIALS]
    telling = [normal(word) for word in named if normal(word) not in TIME_WORDS]
    if fact.predicate and fact.predicate == proposition.predicate:
        having += normal(fact.object or "")  # the value is what is refined
    same_text = fact.source_event == proposition.event_id
    return not same_text and any(word.removesuffix("'s") not in having for word in telling)


def only_named_changes(
    proposition: Proposition, decision: ReconcileDecision, known: Mapping[str, Fact]
) -> ReconcileDecision:
    """Return the decision about what a model stated, without replacements that need `changes` of the answer.

    Two facts of one event are both true unless one names the other. A name is not replaced by another one, which may be
    that of another person without a known name: a person decides.
    """
    if decision.outcome != UPDATE or proposition.former:
        return decision
    if proposition.predicate == _NAME:
        reason = "Another name is known, and the answer does not say that it changed."
        return ReconcileDecision(ADD, (), reason, decision.targets)
    older = tuple(target for target in decision.targets if known[target].source_event != proposition.event_id)
    if older == decision.targets:
        return decision
    if older:
        return decision._replace(targets=older)
    return ReconcileDecision(ADD, (), "The same text says both.", beside=True)


def _may_change(proposition: Proposition, fact: Fact, same_place: Callable[[Fact], bool]) -> bool:
    subject = content_words(fact.subject or "")
    handed_over = bool(subject) and subject <= content_words(proposition.statement)
    about = _is_same(fact.subject, proposition.subject) or handed_over or same_place(fact)
    if not (about or subject):
        words = f"{proposition.statement} {proposition.source_text}"
        about = not word_beginnings(fact.fact).isdisjoint(word_beginnings(words))
    about = about or (fact.workflow in RAW and fact.source_event == proposition.event_id)  # better words for it
    alike = about or (fact.predicate is not None and fact.predicate == proposition.predicate)
    # What a source with low trust says about a fact of a trusted one is put to a person.
    trusted = trust_rank(proposition.trust) >= trust_rank(fact.trust) or is_low_trust(proposition.trust)
    return alike and trusted


def _named(proposition: Proposition, facts: Iterable[Fact]) -> tuple[str, ...]:
    ids = set(_FACT_ID.findall(proposition.source_text))
    return tuple(fact.id for fact in facts if fact.is_current and fact.id in ids)


def _ended(proposition: Proposition, related: Sequence[Fact], catalog: Catalog) -> ReconcileDecision:
    if proposition.object:
        over = [fact for fact in related if _overlap(fact.object, proposition.object)]
        named = [fact for fact in over if _head(fact.object or "") == _head(proposition.object)]
        part = [fact for fact in over if _names_part(fact.object, proposition.object)]
        over = named or (part if len(part) == 1 else [])
    else:
        over = [fact for fact in related if is_single(catalog, fact.predicate)]
    over = [fact for fact in over if not _is_older(proposition, fact)]
    if over and all(denies_only_at_times(proposition, fact) for fact in over):
        return ReconcileDecision(
            ADD, (), "It applies only at certain times, so the known fact stays valid.", beside=True
        )
    if over:
        return ReconcileDecision(RETRACT, _ids(over), "The text says that this is no longer true.")
    return ReconcileDecision(ADD, (), "It says that something unknown ended; the ending itself is kept.")


def _names_part(known: str | None, text: str) -> bool:
    """Return whether the text gives only names that a known value contains ("the Skoda" for "a blue Skoda Octavia")."""
    words = _ARTICLES.sub("", text).split()
    return bool(words) and all(word[0].isupper() for word in words) and set(words) <= set((known or "").split())


def _resumed(proposition: Proposition, over: Sequence[Fact]) -> ReconcileDecision | None:
    """Update the facts that had ended and are true again."""
    again = [fact for fact in over if _repeats(proposition, fact) and not _is_older(proposition, fact)]
    return ReconcileDecision(UPDATE, _ids(again), "It had ended and is true again.") if again else None


def _head(text: str) -> str:
    """Return the main noun of a value: the last word before its attributes."""
    return (_ASIDE.split(_without_article(text))[0].split() or [""])[-1]


def _restated(proposition: Proposition, standing: Sequence[Fact], related: Sequence[Fact]) -> ReconcileDecision | None:
    same = [fact for fact in standing if plain(fact.fact) == plain(proposition.statement)]
    same = same or [fact for fact in related if _repeats(proposition, fact)]
    return ReconcileDecision(NOOP, _ids(same[:1]), "It restates what is known.") if same else None


def _contradicted(proposition: Proposition, opposed: Sequence[Fact]) -> ReconcileDecision | None:
    """Ask a person if one of two equal statements is negated."""
    known = [fact for fact in opposed if _repeats(proposition, fact)]
    reason = "One of the two denies the other."
    return ReconcileDecision(ADD, (), reason, _ids(known)) if known else None


def _repeats(proposition: Proposition, fact: Fact) -> bool:
    if not proposition.object or not fact.object:
        return False
    if proposition.valid_from and fact.valid_from and proposition.valid_from != fact.valid_from:
        return False
    if proposition.predicate == "deadline" and _figures(proposition.statement) != _figures(fact.fact):
        return False  # "a paper deadline": the day stands in the statement alone
    new, old = _without_article(proposition.object), _without_article(fact.object)
    return new == old or bool(old.startswith(new) and _REFINEMENT.match(old[len(new) :]))


def _figures(text: str) -> list[str]:
    return re.findall(r"\d+", text)


def _replaced_by_name(proposition: Proposition, related: Sequence[Fact]) -> ReconcileDecision | None:
    if not proposition.former:
        return None
    gone = [
        fact
        for fact in related
        if _overlap(_chosen(fact.object), proposition.former) and not _is_older(proposition, fact)
    ]
    return ReconcileDecision(UPDATE, _ids(gone), f"The text says it replaces '{proposition.former}'.") if gone else None


def _chosen(known: str | None) -> str | None:
    """Return the preferred thing: the part before what it is preferred to."""
    return _RATHER.split(known)[0] if known else None


def _corrected(proposition: Proposition, related: Sequence[Fact], catalog: Catalog) -> ReconcileDecision | None:
    """Replace the single value that was wrong: a value that never changes, or the name of a relation."""
    if not proposition.corrects:
        return None
    fixed = is_single(catalog, proposition.predicate) and not is_replaced(catalog, proposition.predicate)
    phrase = proposition.relation_phrase or ""
    wrong = [fact for fact in related if fixed or (phrase.startswith(HAS_A) and fact.relation_phrase == phrase)]
    wrong = [fact for fact in wrong if not _is_older(proposition, fact)]
    if len(wrong) != 1:
        return None
    return ReconcileDecision(UPDATE, _ids(wrong), "The text corrects what was said before.", never=True)


def _single(
    proposition: Proposition, related: Sequence[Fact], over: Sequence[Fact], catalog: Catalog
) -> ReconcileDecision | None:
    # A denied value is not a value: "I don't live in Rome" does not contradict the known home.
    related = [fact for fact in related if negations(proposition.statement) <= negations(fact.fact)]
    if not related or not is_single(catalog, proposition.predicate):
        return None
    against = rivals(proposition, related, catalog)
    if not is_replaced(catalog, proposition.predicate):
        reason = f"'{proposition.predicate}' has one value that never changes, and another value is known."
        return ReconcileDecision(ADD, (), reason, _ids(against)) if against else None
    if against and adds_value(proposition, catalog):
        return ReconcileDecision(ADD, (), "The text adds a value to the known one.", beside=True)
    newer = [fact for fact in against if fact not in over and _is_older(proposition, fact)]
    if newer:
        return ReconcileDecision(
            NOOP, _ids(newer[:1]), f"It is older than {newer[0].id}, which stays.", _ids(newer[:1])
        )
    gone = outdated(proposition, related, catalog)
    reason = f"'{proposition.predicate}' has one value, and this one is newer."
    return ReconcileDecision(UPDATE, _ids(gone), reason) if gone else None


def _refined(proposition: Proposition, related: Sequence[Fact]) -> ReconcileDecision | None:
    poorer = [fact for fact in related if _richer(proposition.object, fact.object)]
    return ReconcileDecision(MERGE, _ids(poorer), "It says the same with more detail.") if len(poorer) == 1 else None


def _richer(new: str | None, old: str | None) -> bool:
    if not new or not old:
        return False
    more, less = _without_article(new), _without_article(old)
    return more.startswith(less) and _REFINEMENT.match(more[len(less) :]) is not None


def _is_older(proposition: Proposition, fact: Fact) -> bool:
    """Return whether the fact is newer than the proposition: valid from a later day, or said later."""
    if proposition.valid_from and fact.valid_from and proposition.valid_from != fact.valid_from:
        return proposition.valid_from < fact.valid_from
    # A remembered fact has no event: it was said when it was recorded.
    message = (fact.metadata or {}).get("said_at") or (None if fact.source_event else fact.timestamp)
    return bool(message and proposition.said_at) and str(proposition.said_at) < str(message)


def _is_same(text: str | None, other: str | None) -> bool:
    return bool(text and other) and plain(text or "") == plain(other or "")


def _without_article(text: str) -> str:
    return _ARTICLES.sub("", normal(text))


def _overlap(known: str | None, named: str) -> bool:
    """Return whether the words of one object contain those of the other."""
    if not known:
        return False
    group, other = content_words(known), content_words(named)
    return bool(group and other) and (group <= other or other <= group)


def _ids(facts: Iterable[Fact]) -> tuple[str, ...]:
    return tuple(fact.id for fact in facts)
