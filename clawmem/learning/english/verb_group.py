"""Parse the verb group of a clause: aspect, lemma, and third-person form."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.learning.english.verbs import ING, PARTICIPLE, PAST, PRESENT, lemma_as, third_person

BE = "be"
BEEN = "been"
DOING = "doing"
HAVE_DONE = "have_done"
BEEN_DOING = "been_doing"
FUTURE = "future"
USED_TO = "used_to"
ABLE = "able"
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
BES = frozenset("am is are was were".split())
NOT = {
    "isn't": "is", "aren't": "are", "wasn't": "was", "weren't": "were", "don't": "do", "doesn't": "does",
    "didn't": "did", "haven't": "have", "hasn't": "has", "hadn't": "had", "won't": "will", "can't": "can",
    "cannot": "can", "couldn't": "could", "wouldn't": "would", "shouldn't": "should", "dont": "do",
}  # fmt: skip
_UNREAL = frozenset("would could should might may must shall ought".split())
_BASE_ONLY = frozenset("put set hit cut quit let".split())


class VerbGroup(NamedTuple):
    """A verb group. `words` has the singular and the plural form, `next` is the number of words read."""

    aspect: str
    lemma: str
    words: tuple[tuple[str, str], ...]
    next: int
    negated: bool
    ended: bool
    past: bool
    never: bool


def scan_group(tokens: list[str], aux: str | None, third: bool, past_hint: bool) -> VerbGroup | None:
    """Parse the verb group at the start of `tokens`, after an auxiliary contracted with the subject ("I've")."""
    return _VerbGroupScan(tokens, third, past_hint).group(aux)


class _VerbGroupScan:
    """One pass over the words of a verb group, gathering what it will read like in the third person."""

    def __init__(self, tokens: list[str], third: bool, past_hint: bool) -> None:
        self.tokens = tokens
        self.third = third
        self.past_hint = past_hint
        self.at = 0
        self.words: list[tuple[str, str]] = []
        self.negated = self.ended = self.past = self.never = False

    def group(self, aux: str | None) -> VerbGroup | None:
        first = aux or self.take()
        if first in _UNREAL or first is None:
            return None
        if first in BES:
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
            if word in NOT and not self.negated:
                self.negated = True
                self.at += 1
                return NOT[word]
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

    def done(self, aspect: str, lemma: str) -> VerbGroup:
        words = tuple(self.words)
        return VerbGroup(aspect, lemma, words, self.at, self.negated, self.ended, self.past, self.never)

    def complement(self, aspect: str) -> VerbGroup:
        """The word just taken is not a verb: it starts the rest."""
        self.at -= 1
        return self.done(aspect, "be")

    def after_be(self, be: str) -> VerbGroup | None:
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

    def going_to(self, word: str) -> VerbGroup | None:
        if word == "going":
            self.at += 1
        self.say("going to")
        return self.base(FUTURE)

    def base(self, aspect: str) -> VerbGroup | None:
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

    def after_have(self, have: str) -> VerbGroup | None:
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

    def after_been(self, single: str) -> VerbGroup | None:
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

    def after_will(self, will: str) -> VerbGroup | None:
        if will == "gonna":
            self.say("is going to", "are going to")
        else:
            self.say("will")
        self.negation()
        return self.base(FUTURE)

    def after_do(self, do: str) -> VerbGroup | None:
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

    def after_can(self) -> VerbGroup | None:
        word = self.take()
        if word not in ("stand", "eat", "drink", "tolerate", "speak", "play"):
            return None
        if self.negated == (word in ("speak", "play")):
            return None
        self.say("cannot" if self.negated else "can")
        self.say(word)
        return self.done(ABLE, word)

    def after_used_to(self) -> VerbGroup | None:
        self.at += 1
        self.say("used to")
        self.past = True
        return self.base(USED_TO)

    def plain(self, word: str) -> VerbGroup | None:
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
