"""Irregular English word forms, which a stemmer does not connect: `go` also finds `went` and `gone`."""

from __future__ import annotations

from collections.abc import Mapping

# The forms of one word are a group, and groups are separated by commas. Very common words are left out.
_GROUPS = (
    "begin began begun, bite bit bitten, blow blew blown, break broke broken, bring brought, build built, buy bought, "
    "catch caught, choose chose chosen, come came, deal dealt, dig dug, draw drew drawn, drink drank drunk, "
    "drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt, fight fought, find found, "
    "fly flew flown, forget forgot forgotten, forgive forgave forgiven, freeze froze frozen, give gave given, "
    "go went gone, grow grew grown, hang hung, hear heard, hide hid hidden, hold held, keep kept, know knew known, "
    "lay laid, lead led, leave left, lend lent, lose lost, make made, mean meant, meet met, pay paid, "
    "ride rode ridden, ring rang rung, rise rose risen, run ran, say said, see saw seen, sell sold, send sent, "
    "shake shook shaken, shine shone, shoot shot, sing sang sung, sink sank sunk, sit sat, sleep slept, "
    "speak spoke spoken, spend spent, stand stood, steal stole stolen, stick stuck, strike struck, "
    "swim swam swum, take took taken, teach taught, tell told, think thought, throw threw thrown, "
    "understand understood, wake woke woken, wear wore worn, win won, write wrote written, "
    "child children, man men, woman women, person people, foot feet, tooth teeth, mouse mice, wife wives, life lives"
)
# A regular ending also leads to the group: `goes`, `going`, `taking`.
_ENDINGS = (("", ""), ("es", ""), ("s", ""), ("ing", ""), ("ing", "e"))


def _by_form() -> Mapping[str, tuple[str, ...]]:
    groups = [tuple(group.split()) for group in _GROUPS.split(",")]
    return {form: group for group in groups for form in group}


_BY_FORM = _by_form()


def forms_of(word: str) -> tuple[str, ...]:
    """Return the word and its irregular forms, if it has any, in lower case. Expects lower case."""
    for ending, put in _ENDINGS:
        if not word.endswith(ending):
            continue
        group = _BY_FORM.get(word.removesuffix(ending) + put)
        if group:
            return (word, *(form for form in group if form != word))
    return (word,)
