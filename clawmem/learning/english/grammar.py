"""Parse a clause into subject, verb group and rest."""

from __future__ import annotations

import re
from typing import NamedTuple

from clawmem.learning.english.verb_group import (
    ABLE,
    BE,
    BEEN,
    BEEN_DOING,
    BES,
    DOING,
    FUTURE,
    HAVE_DONE,
    NOT,
    USED_TO,
    scan_group,
)
from clawmem.learning.english.verbs import FORMS, PAST, PRESENT, lemma_as, third_person
from clawmem.learning.english.words import SEVERAL

__all__ = (
    "ABLE",
    "BE",
    "BEEN",
    "BEEN_DOING",
    "DOING",
    "FUTURE",
    "HAVE_DONE",
    "MINE",
    "NAME",
    "SELF",
    "THING",
    "USED_TO",
    "WE",
    "ParsedClause",
    "read",
)

SELF, WE, MINE, NAME, THING = "i", "we", "mine", "name", "thing"


_SUBJECT = re.compile(r"(?:(?P<i>[Ii])|(?P<we>[Ww]e))(?:'(?P<short>m|ve|ll|d|re)|(?P<bare>m|ve))?(?=\s)")
_OWN = re.compile(r"(?:[Mm]y|[Oo]ur)\s")
_THE = re.compile(r"The\s")
_TRYING = re.compile(
    r"(?:Trying to|Planning (?:to|on|a)|Thinking (?:of|about)|Working on|Looking (?:into|for)) (?!.*\b(?:is|"
    r"was|are|has|can|will)\b)"
)
_WORD = re.compile(r"\S+")
_ADVERB = re.compile(r"(?<=\w) (?:still|also|now|currently|just|really|both|actually)$")
_SHORT = {"m": "am", "ve": "have", "ll": "will", "d": "would", "re": "are"}
_NOT_NAMES = frozenset(
    "the this that these those it its he she they there here what who how when where why which if and but or "
    "so no yes "
    "not just been also still even maybe perhaps hope glad thanks wow yeah good great nice your you his her "
    "their some "
    "any all every each lots tons plenty much most one two such life time nothing everything everyone someone "
    "anything something people kids "
    "nature family music art love work school then now after before during while as to for in on at with from by of "
    "today yesterday tomorrow honestly actually sometimes always never once since until despite although "
    "because".split()
)
_IMPLIED = frozenset(
    "went took got started finished joined bought signed moved adopted graduated attended visited met won "
    "lost passed "
    "received booked volunteered ran hiked painted cooked baked became enrolled applied decided spent wrote "
    "completed "
    "watched played created organized hosted donated been gonna launched released switched deployed fixed "
    "shipped left quit "
    "had retired applied helped celebrated explored practiced learned tried".split()
)


class ParsedClause(NamedTuple):
    """A clause taken apart. `verb` is the verb group as it stands after a third-person subject, `plural` "
    "after "they".

    `aspect` is one of the constants above or present/past; `ended` says "no longer"; `rest` follows the verb.
    """

    subject: str
    person: str
    aspect: str
    lemma: str
    verb: str
    plural: str
    rest: str
    negated: bool = False
    ended: bool = False
    past: bool = False
    never: bool = False


def read(clause: str, past_hint: bool = False) -> ParsedClause | None:
    """Parse a clause whose first word starts its subject. Return None if the grammar is not understood."""
    match = _SUBJECT.match(clause)
    if match:
        person = SELF if match["i"] else WE
        return _with_group(
            clause,
            match["i"] or match["we"],
            person,
            match.end(),
            _SHORT.get(match["short"] or match["bare"] or ""),
            past_hint,
        )
    if _OWN.match(clause):
        return _long_subject(clause, MINE, 7)
    if _THE.match(clause):
        return _long_subject(clause, THING, 8)
    first = _WORD.match(clause)
    if first and (first[0].lower() in _IMPLIED or first[0] in ("Just", "Recently", "Finally", "Currently")):
        return _with_group(clause, "", SELF, 0, None, past_hint)
    if _TRYING.match(clause):
        return _with_group(clause, "", SELF, 0, "am", past_hint)
    return _long_subject(clause, NAME, 4) if first and _is_name(first[0]) else None


def _is_name(word: str) -> bool:
    """Whether a word that starts a clause can be somebody's name: capitalised, and no word of the language "
    "we know."""
    lowered = word.lower()
    known = lowered in _NOT_NAMES or lowered in FORMS or lowered.endswith(("ing", "ly"))
    return word[0].isupper() and word[1:].islower() and word.isalpha() and not known


def _long_subject(clause: str, person: str, longest: int) -> ParsedClause | None:
    """A subject of several words ends before the first finite verb."""
    several = False
    for count, word in enumerate(_WORD.finditer(clause)):
        if count > longest:
            return None
        if several and lemma_as(word[0], PRESENT) == word[0]:
            reading = _with_group(clause, _subject(clause, word.start()), WE, word.start(), None, False)
            return reading and reading._replace(person=person, verb=reading.plural)
        several |= person == MINE and word[0] in SEVERAL
        if count == 0 or not _finite(word[0].lower(), person):
            if count and person == NAME and not (word[0][0].isupper() and word[0].isalpha()):
                return None
            if count and word[0][-1] in ",;:":
                return None
            continue
        return _with_group(clause, _subject(clause, word.start()), person, word.start(), None, False)
    return None


def _subject(clause: str, verb: int) -> str:
    """What stands before the verb, without an adverb of it."""
    return _ADVERB.sub("", clause[:verb].strip())


def _finite(word: str, person: str) -> bool:
    if word in BES or word in NOT or word in ("has", "have", "had", "will", "does", "must", "can"):
        return True
    if word in ("works", "loves", "plans", "plays", "runs", "studies", "lives", "uses", "needs", "dates", "plants"):
        return True
    lemma = lemma_as(word, PRESENT)
    if lemma and word == third_person(lemma) and word not in ("books", "paints", "shows", "visits", "records", "films"):
        return True
    return lemma_as(word, PAST) is not None and word not in (
        "set",
        "put",
        "cut",
        "hit",
        "read",
        "planned",
        "used",
        "found",
    )


def _with_group(
    clause: str, subject: str, person: str, start: int, aux: str | None, past_hint: bool
) -> ParsedClause | None:
    tokens = [(word[0], word.start(), word.end()) for word in _WORD.finditer(clause[start : start + 200])]
    group = scan_group([token[0] for token in tokens], aux, person not in (SELF, WE), past_hint)
    if group is None or group.next > len(tokens):
        return None
    end = tokens[group.next - 1][2] if group.next else 0
    rest = clause[start + end :].strip()
    ended = group.ended or bool(re.search(r"\b(?:anymore|any more|any longer)\b", rest) and group.negated)
    single = " ".join(word[0] for word in group.words)
    plural = " ".join(word[1] for word in group.words)
    return ParsedClause(
        subject, person, group.aspect, group.lemma, single, plural, rest,
        group.negated, ended, group.past, group.never,
    )  # fmt: skip
