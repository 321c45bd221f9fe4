"""A clause read as subject, verb group and rest: just enough grammar to tell what is said of whom."""

from __future__ import annotations

import re
from typing import NamedTuple

from clawmem.learning.verbs import FORMS, ING, PARTICIPLE, PAST, PRESENT, lemma_as, third_person

SELF, WE, MINE, NAME, THING = "i", "we", "mine", "name", "thing"

BE = "be"
BEEN = "been"
DOING = "doing"
HAVE_DONE = "have_done"
BEEN_DOING = "been_doing"
FUTURE = "future"
USED_TO = "used_to"
ABLE = "able"

_SUBJECT = re.compile(r"(?:(?P<i>[Ii])|(?P<we>[Ww]e))(?:'(?P<short>m|ve|ll|d|re))?(?=\s)")
_OWN = re.compile(r"(?:[Mm]y|[Oo]ur)\s")
_THE = re.compile(r"The\s")
_TRYING = re.compile(
    r"(?:Trying to|Planning (?:to|on|a)|Thinking (?:of|about)|Working on|Looking (?:into|for)) (?!.*\b(?:is|"
    r"was|are|has|can|will)\b)"
)
_WORD = re.compile(r"\S+")
_SHORT = {"m": "am", "ve": "have", "ll": "will", "d": "would", "re": "are"}
_NOT_NAMES = frozenset(
    "the this that these those it its he she they there here what who how when where why which if and but or "
    "so no yes "
    "not just been also still even maybe perhaps hope glad thanks wow yeah good great nice your you his her "
    "their some "
    "any all every each lots tons plenty much most one two such life time nothing everything everyone someone anything something people kids "
    "nature family music art love work school then now after before during while as to for in on at with from by of "
    "today yesterday tomorrow honestly actually sometimes always never once since until despite although "
    "because".split()
)
_DROPPED = frozenset(
    "just actually also basically honestly literally definitely totally finally recently lately even already kinda "
    "sorta certainly simply only personally initially originally eventually currently now still well".split()
)
_KEPT = frozenset(
    "really always never usually often sometimes mostly rarely regularly frequently generally normally "
    "typically both "
    "all mainly occasionally seldom fully successfully officially absolutely especially particularly still "
    "originally currently".split()
)
_BES = frozenset("am is are was were".split())
_NOT = {
    "isn't": "is", "aren't": "are", "wasn't": "was", "weren't": "were", "don't": "do", "doesn't": "does",
    "didn't": "did", "haven't": "have", "hasn't": "has", "hadn't": "had", "won't": "will", "can't": "can",
    "cannot": "can", "couldn't": "could", "wouldn't": "would", "shouldn't": "should", "dont": "do",
}  # fmt: skip
_UNREAL = frozenset("would could should might may must shall ought".split())
_BASE_ONLY = frozenset("put set hit cut quit let".split())
_IMPLIED = frozenset(
    "went took got started finished joined bought signed moved adopted graduated attended visited met won "
    "lost passed "
    "received booked volunteered ran hiked painted cooked baked became enrolled applied decided spent wrote "
    "completed "
    "watched played created organized hosted donated been gonna launched released switched deployed fixed "
    "shipped left quit "
    "had retired applied helped celebrated explored practiced learned tried".split()
)


class Reading(NamedTuple):
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


class _Group(NamedTuple):
    aspect: str
    lemma: str
    words: tuple[tuple[str, str], ...]
    next: int
    negated: bool
    ended: bool
    past: bool
    never: bool


def read(clause: str, past_hint: bool = False) -> Reading | None:
    """Read a clause whose first word starts its subject; None where its grammar is not understood."""
    match = _SUBJECT.match(clause)
    if match:
        person = SELF if match["i"] else WE
        return _with_group(
            clause, match[0].split("'")[0], person, match.end(), _SHORT.get(match["short"] or ""), past_hint
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


def _long_subject(clause: str, person: str, longest: int) -> Reading | None:
    """A subject of several words ends before the first finite verb."""
    for count, word in enumerate(_WORD.finditer(clause)):
        if count > longest:
            return None
        if count == 0 or not _finite(word[0].lower(), person):
            if count and person == NAME and not (word[0][0].isupper() and word[0].isalpha()):
                return None
            if count and word[0][-1] in ",;:":
                return None
            continue
        return _with_group(clause, clause[: word.start()].strip(), person, word.start(), None, False)
    return None


def _finite(word: str, person: str) -> bool:
    if word in _BES or word in _NOT or word in ("has", "have", "had", "will", "does", "must", "can"):
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


def _with_group(clause: str, subject: str, person: str, start: int, aux: str | None, past_hint: bool) -> Reading | None:
    tokens = [(word[0], word.start(), word.end()) for word in _WORD.finditer(clause[start : start + 200])]
    group = _Scan([token[0] for token in tokens], third=person not in (SELF, WE), past_hint=past_hint).group(aux)
    if group is None or group.next > len(tokens):
        return None
    end = tokens[group.next - 1][2] if group.next else 0
    rest = clause[start + end :].strip()
    ended = group.ended or bool(re.search(r"\b(?:anymore|any more|any longer)\b", rest) and group.negated)
    single = " ".join(word[0] for word in group.words)
    plural = " ".join(word[1] for word in group.words)
    return Reading(
        subject, person, group.aspect, group.lemma, single, plural, rest,
        group.negated, ended, group.past, group.never,
    )  # fmt: skip


class _Scan:
    """One pass over the words of a verb group, gathering what it will read like in the third person."""

    def __init__(self, tokens: list[str], third: bool, past_hint: bool) -> None:
        self.tokens = tokens
        self.third = third
        self.past_hint = past_hint
        self.at = 0
        self.words: list[tuple[str, str]] = []
        self.negated = self.ended = self.past = self.never = False

    def group(self, aux: str | None) -> _Group | None:
        first = aux or self.take()
        if first in _UNREAL or first is None:
            return None
        if first in _BES:
            return self.after_be(first)
        if first in ("have", "has", "had"):
            return self.after_have(first)
        if first in ("will", "gonna"):
            return self.after_will(first)
        if first in ("do", "does", "did"):
            return self.after_do(first)
        if first == "been":
            return self.after_been("has")
        if first == "can":
            return self.after_can()
        if first == "used" and self.peek() == "to":
            return self.after_used_to()
        return self.plain(first)

    def take(self) -> str | None:
        """The next word that belongs to the group, adverbs and negations noted on the way."""
        while self.at < len(self.tokens) and self.at < 10:
            word = self.tokens[self.at].lower()
            if word == "no" and self.peek(1) == "longer":
                self.ended = True
                self.at += 2
                continue
            if word in _NOT and not self.negated:
                self.negated = True
                self.at += 1
                return _NOT[word]
            self.at += 1
            if word == "not":
                self.negated = True
            elif word in _KEPT:
                self.never |= word == "never"
                self.words.append((word, word))
            elif word not in _DROPPED:
                return word
        return None

    def peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.tokens[place].lower() if place < len(self.tokens) else ""

    def say(self, single: str, plural: str | None = None) -> None:
        self.words.append((single, plural or single))

    def done(self, aspect: str, lemma: str) -> _Group:
        words = tuple(self.words)
        return _Group(aspect, lemma, words, self.at, self.negated, self.ended, self.past, self.never)

    def complement(self, aspect: str) -> _Group:
        """The word just taken is not a verb: it starts the rest."""
        self.at -= 1
        return self.done(aspect, "be")

    def after_be(self, be: str) -> _Group | None:
        self.past = be in ("was", "were")
        early, self.words = self.words, []
        word = self.take()
        late, self.words = self.words, early
        single = be if self.third else {"am": "is", "are": "is", "were": "was"}.get(be, be)
        self.say(single, {"am": "are", "is": "are", "was": "were"}.get(be, be) if not self.third else be)
        self.negation()
        self.words += late
        if word is None:
            return None
        if word == "gonna" or (word == "going" and self.peek() == "to" and self.base_at(1)):
            return self.going_to(word)
        lemma = lemma_as(word, ING)
        if lemma and word not in ("feeling", "loving"):
            self.say(word)
            return self.done(DOING, lemma)
        return self.complement(BE)

    def negation(self) -> None:
        if self.ended:
            self.say("no longer")
        elif self.negated:
            self.say("not")

    def base_at(self, ahead: int) -> bool:
        return lemma_as(self.peek(ahead).strip(",.!"), PRESENT) is not None or self.peek(ahead) == "be"

    def going_to(self, word: str) -> _Group | None:
        if word == "going":
            self.at += 1
        self.say("going to")
        return self.base(FUTURE)

    def base(self, aspect: str) -> _Group | None:
        """The next word must be a bare verb."""
        word = self.take()
        if word is None:
            return None
        if word == "be":
            following = self.take()
            lemma = lemma_as(following or "", ING)
            self.say("be")
            if lemma and following:
                self.say(following)
                return self.done(aspect, lemma)
            self.at -= 1 if following else 0
            return self.done(aspect, "be")
        lemma = lemma_as(word.strip(",.!"), PRESENT)
        if lemma is None or lemma != word.strip(",.!"):
            return None
        self.say(word)
        return self.done(aspect, lemma)

    def after_have(self, have: str) -> _Group | None:
        self.past = have == "had"
        early, self.words = self.words, []
        word = self.take()
        late, self.words = self.words, early
        single = "had" if self.past else "has"
        if word == "been":
            self.words += late
            return self.after_been(single)
        lemma = lemma_as(word or "", PARTICIPLE)
        if word is None or word == "to" or (word == "got" and self.peek() == "to"):
            return None
        if lemma:
            self.say(single, "had" if self.past else "have")
            self.negation()
            self.words += late
            self.say(word)
            return self.done(HAVE_DONE, lemma)
        self.words += late
        self.say(single, have if have != "has" else "has")
        self.at -= 1
        return None if self.negated else self.done(PAST if self.past else PRESENT, "have")

    def after_been(self, single: str) -> _Group | None:
        word = self.take()
        lemma = lemma_as(word or "", ING)
        kept, self.words = self.words, []
        self.say(single, "had" if single == "had" else "have")
        self.negation()
        self.words += kept
        self.say("been")
        if word is None:
            return None
        if lemma:
            self.say(word)
            return self.done(BEEN_DOING, lemma)
        return self.complement(BEEN)

    def after_will(self, will: str) -> _Group | None:
        if will == "gonna":
            self.say("is going to", "are going to")
        else:
            self.say("will")
        self.negation()
        return self.base(FUTURE)

    def after_do(self, do: str) -> _Group | None:
        word = self.take()
        lemma = lemma_as(word or "", PRESENT)
        if word is None or lemma is None:
            return None
        self.past = do == "did"
        if self.negated:
            self.say("did not" if self.past else "does not", "did not" if self.past else "do not")
            self.say(word)
        elif self.past:
            return None
        else:
            self.say(third_person(lemma), word)
        return self.done(PAST if self.past else PRESENT, lemma)

    def after_can(self) -> _Group | None:
        word = self.take()
        if word not in ("stand", "eat", "drink", "tolerate", "speak", "play"):
            return None
        if self.negated == (word in ("speak", "play")):
            return None
        self.say("cannot" if self.negated else "can")
        self.say(word)
        return self.done(ABLE, word)

    def after_used_to(self) -> _Group | None:
        self.at += 1
        self.say("used to")
        self.past = True
        return self.base(USED_TO)

    def plain(self, word: str) -> _Group | None:
        bare = word.rstrip(",.!")
        if bare == "wanna":
            self.say("wants to", "want to")
            return self.done(PRESENT, "want")
        present, past = lemma_as(bare, PRESENT), lemma_as(bare, PAST)
        if past and (not present or self.past_hint or bare in _BASE_ONLY or (present == past and present != "read")):
            self.past = True
            self.say(bare)
            return self.done(PAST, past)
        if present is None or (self.third != (bare == third_person(present))):
            return None
        if self.ended:
            self.say("no longer")
        self.say(third_person(present), bare)
        return self.done(PRESENT, present)
