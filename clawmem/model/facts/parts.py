"""A sentence that says several things: "Lena works at Fjordbank and lives in Bergen." without one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clawmem.model.language.languages import STOPWORDS, word_list
from clawmem.model.language.text import forms_of

_JOINT = re.compile(r",? (?:and|but|while|und|sowie|y|et) |[,;] ")
_HELPING = frozenset("is am are was were has have had can must will should may does do ist sind hat es est".split())
_BEFORE_NOUN = frozenset(
    "a an the my your his her its our their this these two three four five some many no ein eine einen der die das "
    "mein meine un una el la mi une le ma mon".split()
)
_PREPOSITIONS = frozenset("at in on to by for with from of about as near bei in mit von zu en a de con chez à".split())
_ADVERBS = frozenset("also now then still often always sometimes usually currently auch jetzt".split())
_FOREIGN_WE = frozenset("ich wir yo je".split())
_WE = _FOREIGN_WE | frozenset("i we you they".split())
_NO_VERBS = frozenset(
    "named called child children man men woman women person people foot feet tooth teeth mouse mice wife wives"
    " life".split()
)
_HIS = re.compile(r"^(?:his|her|its|their) ", re.IGNORECASE)
_LEAST_CLEAR = 0.2


def parts_of(text: str) -> tuple[str, Sequence[str]]:
    """Return whom or what a sentence is about, and its parts, each with a sense of its own; none if it says one
    thing."""
    parts = _parts(text.rstrip(" ."))
    first = parts[0].split() if len(parts) > 1 else []
    verb = _verb(first) if first else None
    if verb is None:
        return "", []
    if _form(parts[1], first, verb) != "noun":
        return " ".join(first[:verb]), parts
    begin = _to_object(first, verb, parts[1])  # of "I speak German and Dutch" both are spoken
    return " ".join(begin), [" ".join(first[len(begin) :]), *parts[1:]]


def subject_of(text: str) -> str:
    """Return the words of a sentence before its verb; none where the verb is not known."""
    words = text.split()
    return " ".join(words[: _verb(words) or 0]) if words else ""


def clear_part(scores: Sequence[float], least: float, apart: float = _LEAST_CLEAR) -> int | None:
    """Return which part has the highest score, if that is at least so much, and so far apart from the others."""
    *_, second, best = [least - apart, *sorted(scores)] if scores else (0.0, least - 1)
    return scores.index(best) if best >= least and best - second >= apart else None


def without_part(text: str, at: int) -> str | None:
    """Return a sentence without one of its parts, or None where the rest would be no sentence."""
    parts = _parts(text.rstrip(" ."))
    first = parts[0].split()
    kept = _without(parts, at, first, _verb(first) or 0)
    if kept is None:
        return None
    [joint, *_] = re.findall(r" (and|but|while|und|sowie|y|et) ", text) or ["and"]
    joined = ", ".join(kept[:-1]) + (f" {joint} " if kept[:-1] else "") + kept[-1]
    return f"{joined[0].upper()}{joined[1:]}{'.' if text.rstrip().endswith('.') else ''}"


def _parts(text: str) -> list[str]:
    """Return the parts of a sentence: what only says where a place lies is none, as in "lives in Bonn, Germany"."""
    pieces = [part for part in _JOINT.split(text) if part]
    parts: list[str] = []
    for piece in pieces:
        aside = piece.istitle() and " " not in piece and (piece is pieces[-1] or not pieces[-1][0].isupper())
        aside = aside and bool(parts) and parts[-1].split()[-1].istitle()
        if parts and (aside or piece in STOPWORDS) and f"{parts[-1]}, {piece}" in text:
            parts[-1] += f", {piece}"
        else:
            parts.append(piece)
    return parts


def _without(parts: Sequence[str], at: int, first: Sequence[str], verb: int) -> list[str] | None:
    """Return the other parts; where the first one goes, the next begins with its subject, or with its verb, too."""
    forms = [_form(part, first, verb) for part in parts]
    following = forms[at + 1] if at + 1 < len(parts) else ""
    if at:
        return None if following == "noun" and forms[at] != "noun" else [*parts[:at], *parts[at + 1 :]]
    subject = " ".join(first[:verb])
    begin = {"clause": "", "verb": f"{subject} "}.get(following, f"{' '.join(_to_object(first, verb, parts[1]))} ")
    owner = re.split(r"['’]s?(?= |$)", subject)[0] + "'s "
    return [_HIS.sub(lambda _: owner, begin + parts[1]), *parts[2:]]


def _verb(words: Sequence[str]) -> int | None:
    """Return the place of the verb of a clause, which begins with its subject, or None."""
    named = next((at for at, word in enumerate(words) if not word[0].isupper()), 0)
    begins = words[0].lower() not in _BEFORE_NOUN and not words[named - 1].endswith(("'s", "’s"))
    if named and begins and words[named].lower() not in _PREPOSITIONS:
        return next((at for at in range(named, len(words)) if words[at] not in _ADVERBS), None)
    helping = (at for at, word in enumerate(words) if at and word.lower() in _HELPING)
    return next(helping, next((at for at, word in enumerate(words) if at > 1 and _is_verb(word)), None))


def _is_verb(word: str) -> bool:
    if word.lower() in _HELPING or (word.islower() and word not in _NO_VERBS and re.search(r"(?:[^su]s|ed)$", word)):
        return True
    return _is_irregular(word)


def _is_irregular(word: str) -> bool:
    return word not in _NO_VERBS and len(forms_of(word)) > 1


def _is_plain_verb(word: str) -> bool:
    """Return whether a word is a verb without an ending, as after "I", and no noun."""
    past = {f"{word}ed", f"{word}d", f"{word.removesuffix('y')}ied"}
    return _is_irregular(word) or not past.isdisjoint(word_list("common"))


def _form(part: str, first: Sequence[str], verb: int) -> str:
    """Return whether a part is a clause of its own, begins with its verb, or is a noun."""
    words = [word for word in part.split() if word not in _ADVERBS]
    if not words:
        return "noun"
    begin = words[0]
    if begin.lower() in _BEFORE_NOUN or begin[0].isupper():
        place = _verb(words)
        is_clause = place and (begin.lower() in _WE or _is_verb(words[place]))
        return "clause" if is_clause else "noun"
    same_ending = begin[-1:] == first[verb][-1:] and begin[-1:] in "st"
    if first[0].lower() in _WE:
        foreign = first[0].lower() in _FOREIGN_WE and begin.lower() not in _PREPOSITIONS
        return "verb" if foreign or _is_plain_verb(begin) or begin in _HELPING else "noun"
    return "verb" if _is_verb(begin) or same_ending else "noun"


def _to_object(first: Sequence[str], verb: int, noun: str) -> Sequence[str]:
    """Return the words of a clause before its object, which stands in the place of another noun."""
    after = range(verb + 1, len(first))
    if noun.split()[0].lower() in _BEFORE_NOUN:
        return first[: next((at for at in after if first[at].lower() in _BEFORE_NOUN), verb + 1)]
    return first[: max((at for at in after if first[at].lower() in _PREPOSITIONS), default=verb) + 1]
