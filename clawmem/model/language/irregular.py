"""Irregular English word forms, which a stemmer does not connect: `go` also finds `went` and `gone`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

# Base form, past tense, and the past participle where it differs; verbs are separated by commas.
_VERBS = (
    "begin began begun, bite bit bitten, blow blew blown, break broke broken, bring brought, build built, buy bought, "
    "catch caught, choose chose chosen, come came come, deal dealt, dig dug, draw drew drawn, drink drank drunk, drive "
    "drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, fight fought, find found, fly flew flown, "
    "forget forgot forgotten, forgive forgave forgiven, freeze froze frozen, give gave given, go went gone, grow grew "
    "grown, hang hung, hear heard, hide hid hidden, hold held, keep kept, know knew known, lay laid, lead led, leave "
    "left, lend lent, lose lost, make made, mean meant, meet met, pay paid, ride rode ridden, ring rang rung, rise "
    "rose risen, run ran run, say said, see saw seen, sell sold, send sent, shake shook shaken, shine shone, "
    "shoot shot, sing sang sung, sink sank sunk, sit sat, sleep slept, speak spoke spoken, spend spent, stand stood, "
    "steal stole stolen, stick stuck, strike struck, swim swam swum, take took taken, teach taught, tell told, "
    "think thought, throw threw thrown, understand understood, wake woke woken, wear wore worn, "
    "win won, write wrote written"
)
# Verbs that are too common, or whose forms are too ambiguous, for a search.
_COMMON_VERBS = (
    "be was been, bear bore born, beat beat beaten, become became become, bet bet, cancel cancelled canceled, cut cut, "
    "do did done, get got gotten, have had, hit hit, hurt hurt, let let, put put, quit quit, read read, rebuild "
    "rebuilt, reread reread, rewrite rewrote rewritten, set set, sew sewed sewn, show showed shown, split split, tear "
    "tore torn, wed wed"
)
# Singular and plural.
_NOUNS = (
    "child children, man men, woman women, person people, foot feet, tooth teeth, mouse mice, wife wives, life lives"
)
# A regular ending also leads to the group: `goes`, `going`, `taking`.
_ENDINGS = (("", ""), ("es", ""), ("s", ""), ("ing", ""), ("ing", "e"))


def _groups(table: str) -> Iterator[tuple[str, ...]]:
    return (tuple(group.split()) for group in table.split(","))


_BY_FORM = {form: tuple(dict.fromkeys(group)) for group in _groups(f"{_VERBS},{_NOUNS}") for form in group}


def irregular_verbs() -> Mapping[str, tuple[str, ...]]:
    """Return the past tense of each irregular verb, and its past participle where it differs."""
    return {base: tuple(forms) for base, *forms in _groups(f"{_VERBS},{_COMMON_VERBS}")}


def forms_of(word: str) -> tuple[str, ...]:
    """Return the word and its irregular forms, if it has any, in lower case. Expects lower case."""
    for ending, put in _ENDINGS:
        if not word.endswith(ending):
            continue
        group = _BY_FORM.get(word.removesuffix(ending) + put)
        if group:
            return (word, *(form for form in group if form != word))
    return (word,)
