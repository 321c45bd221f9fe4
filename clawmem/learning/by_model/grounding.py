"""Check a model's statement against what was said: the quote, the names, numbers, times and days in normalised form."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from clawmem.learning.by_model.figures import WEEKDAYS, days_in, names_day, numbers_in, time_spans, times_in
from clawmem.learning.rules.language import SMALL

# Short forms that everybody in the field uses, each with the full name. Aliases of known entities are added to them.
_SHORT = {
    "k8s": "kubernetes", "pg": "postgresql", "postgres": "postgresql", "js": "javascript", "ts": "typescript",
    "py": "python", "gh": "github", "gha": "githubactions", "tf": "terraform", "gcp": "googlecloud",
    "aws": "amazonwebservices", "mac": "macos", "osx": "macos", "vscode": "visualstudiocode", "db": "database",
    "nyc": "newyork", "sf": "sanfrancisco", "la": "losangeles", "uk": "unitedkingdom", "us": "unitedstates",
    "usa": "unitedstates", "ny": "newyork", "vw": "volkswagen", "ms": "multiplesclerosis", "phd": "doctorate",
    "bday": "birthday", "appt": "appointment", "veggie": "vegetarian", "veg": "vegetarian", "bf": "boyfriend",
    "gf": "girlfriend", "mum": "mother", "mom": "mother", "dad": "father", "kid": "child", "kids": "children",
}  # fmt: skip
# The names of languages: a text in one of them need not name it as the statement does.
_LANGUAGES = frozenset(
    "german deutsch aleman allemand english englisch ingles anglais french franzosisch frances francais spanish "
    "spanisch espanol espagnol italian italienisch italiano italien portuguese portugiesisch portugues portugais dutch "
    "niederlandisch holandes neerlandais polish polnisch polaco polonais russian russisch ruso russe turkish turkisch "
    "turco turc chinese chinesisch chino chinois japanese japanisch japones japonais swedish danish norwegian".split()
)
_OF_SPEAKER = frozenset("the user assistant der die nutzer nutzerin benutzer benutzerin assistent".split())
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−"), "-")
_QUOTES = {**dict.fromkeys(map(ord, "‘’‚‛′`´"), "'"), **dict.fromkeys(map(ord, "“”„‟″«»"), '"')}
_SAME = _DASHES | _QUOTES
NOT_CLEAR = "not clear alone"
_WORD = re.compile(r"[^\W_](?:[\w.'’+#&/-]*[\w+#])?")
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+|\breported: )[\W_]*$")
_GERMAN = frozenset(
    "der das den dem des ein eine einen einem einer ist hat und nicht mit für von zum zur im am auf bei seit sein "
    "seine ihr ihre wird wohnt arbeitet ich mein meine wir uns auch nur noch jetzt habe bin".split()
)
_ENGLISH = frozenset("the is has of and to with for at in on her his their my i we not a an was".split())
_BEFORE_NOUN = frozenset(
    "der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner mein meine meinen meinem "
    "meiner sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere unseren jede jeden jedem jeder "
    "dieser diese dieses zum zur im am beim vom ins ans als ohne pro viel viele mehr zwei drei vier alle".split()
)
_BEFORE_ADJECTIVE = frozenset("in mit auf nach für von aus bei seit gegen zu über unter vor an".split())
_ADJECTIVE = re.compile(r"[a-zäöüß]{3,}(?:e|en|er|es|em)")
_NOUN_END = re.compile(
    r"\w{2,}(?:ung|heit|keit|schaft|tion|tät|nis|tum|ling|chen|ismus|ment|erin|ei|ie|enz|anz|er)(?:en|n|e|s)?"
)
_COMMON_NOUNS = frozenset(
    "nutzer nutzerin person sprecher frau mann tochter sohn schwester bruder mutter vater kind kinder eltern hund "
    "katze beruf arbeit firma haus wohnung stadt ort adresse termin frist projekt team sprache auto rad essen fleisch "
    "fisch kaffee tee name uhr jahr jahre monat monate woche wochen tag tage stunde stunden geburtstag datum antwort "
    "antworten urlaub reise schule uni universität stelle job chef chefin freund freundin partner partnerin nummer "
    "euro liste erdnüsse erdnuss milch hobby sport plan ziel code server datei tests test version".split()
)
_SHORTEST_STEM = 4


class Heard(NamedTuple):
    """What the one who states something can have it from: words, numbers and times of the texts, and known names.

    `squeezed` is all text without spaces and punctuation. `said` is the day of the statement.
    """

    text: str
    words: frozenset[str]
    squeezed: str
    numbers: frozenset[str]
    times: frozenset[str]
    known: frozenset[str]
    said: date
    german: bool


def heard(texts: Iterable[str], known: Iterable[str], day: date, language: str = "") -> Heard:
    """Return what was heard in some texts. `known` are names of entities; the language is that of `language`."""
    text = "\n".join(texts)
    words = frozenset(map(_key, _WORD.findall(text)))
    short = {_SHORT[word] for word in words if word in _SHORT}
    long = frozenset(word for name in known for word in (_key(name), *map(_key, _WORD.findall(name))))
    return Heard(
        text, words | short, _key(text) + "".join(sorted(short)), numbers_in(text), times_in(text), long, day,
        is_german(language or text),
    )  # fmt: skip


def with_names(known: Heard, texts: Iterable[str]) -> Heard:
    """Return what was heard, with the words of further texts that are no numbers: a name may be said later."""
    words = (_key(word) for text in texts for word in _WORD.findall(text))
    return known._replace(words=known.words | {word for word in words if word.isalpha()})


def with_titles(known: Heard, titles: Iterable[str]) -> Heard:
    """Return what was heard, with all words of each title of which the first word was said and begins no other."""
    names = [title.split() for title in dict.fromkeys(titles)]
    first = Counter(_key(words[0]) for words in names if words)
    meant = (words for words in names if words and first[_key(words[0])] == 1 and _key(words[0]) in known.words)
    return with_names(known, map(" ".join, meant))


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return where the quote stands in the text, or None.

    Differences in case, white space, quotation marks, dashes, accents and outer punctuation do not count.
    """
    bare = quote.strip()
    if not bare:
        return None
    place = text.find(bare)
    if place >= 0:
        return place, place + len(bare)
    wanted, _ = _folded(bare.strip("\"'“”„‚‘’«»….").strip())
    folded, places = _folded(text)
    place = folded.find(wanted) if wanted else -1
    if place < 0:
        return None
    return places[place], places[place + len(wanted) - 1] + 1


def unsaid(statement: str, known: Heard) -> str | None:
    """Return the first name, number, time or day of the statement that nobody said, or None."""
    rest = list(statement)
    for day in days_in(statement):
        words = statement[day.start : day.end].rstrip(".")
        if words not in known.text and not names_day(known.text, day, known.said):
            return statement[day.start : day.end]
        rest[day.start : day.end] = " " * (day.end - day.start)
    for start, end, meant in time_spans("".join(rest)):
        if not meant:  # a number, such as 2.87
            continue
        if not meant & known.times:
            return statement[start:end]
        rest[start:end] = " " * (end - start)
    left = "".join(rest)
    for match in _WORD.finditer(left):
        word = match[0]
        if any(text.isdigit() for text in word):
            if not _number_said(word, known):
                return word
        elif _looks_named(word) and not _name_said(word, left[: match.start()], known):
            return word
    return None


def is_about(statement: str, quote: str, speaker: str) -> bool:
    """Return whether the statement has something in common with its quote besides the speaker's name."""
    own, group = _content(statement) - _content(speaker), _content(quote)
    if own & group or numbers_in(statement) & numbers_in(quote) or times_in(statement) & times_in(quote):
        return True
    if any(_same_stem(text, other) for text in own for other in group):
        return True
    short = {_SHORT.get(text, text) for text in group}
    return bool({_SHORT.get(text, text) for text in own} & short) or bool(_pairs(statement) & _pairs(quote))


def is_german(text: str) -> bool:
    """Return whether a text reads as German, which writes every noun with a capital."""
    words = [word.casefold() for word in _WORD.findall(text)]
    german = sum(word in _GERMAN for word in words)
    return german > 1 and german > sum(word in _ENGLISH for word in words)


def _number_said(word: str, known: Heard) -> bool:
    if _key(word) in known.words or _SHORT.get(_key(word), "\0") in known.words:
        return True
    own = numbers_in(word)
    years = {str(known.said.year + near) for near in (-1, 0, 1)}
    return all(text in known.numbers or text in years for text in own) and bool(own)


def _looks_named(word: str) -> bool:
    return word[0].isupper() or word[0].istitle() or any(text.isupper() for text in word[1:])


def _name_said(word: str, before: str, known: Heard) -> bool:
    key = _key(re.sub(r"^[dljnDLJN]['’](?=\w)|['’]s$", "", word))  # d'Apolline, Ann's
    if not key or key in known.words or key in _OF_SPEAKER or key in _LANGUAGES or _SENTENCE_START.search(before):
        return True
    if len(key) >= _SHORTEST_STEM and key in known.squeezed:
        return True
    if key.endswith("s") and key[:-1] in known.words:  # PDFs, APIs: too short for stems
        return True
    if _SHORT.get(key, "\0") in known.words or any(_same_stem(key, other_word) for other_word in known.words):
        return True
    if key in WEEKDAYS and any(WEEKDAYS.get(other_word) == WEEKDAYS[key] for other_word in known.words):
        return True
    if key in known.known and any(_near(key, other_word) for other_word in known.words):
        return True
    return known.german and _is_common_noun(word, before)


def _is_common_noun(word: str, before: str) -> bool:
    """Return whether a capitalised German word reads as a noun: by the word before it, or its ending."""
    earlier, previous = ["", "", *before.casefold().split()][-2:]
    own = word.casefold()
    return (
        previous in _BEFORE_NOUN
        or (earlier in _BEFORE_NOUN | _BEFORE_ADJECTIVE and _ADJECTIVE.fullmatch(previous) is not None)
        or own in _COMMON_NOUNS
        or _NOUN_END.fullmatch(own) is not None
    )


def _same_stem(text: str, other: str) -> bool:
    """Return whether two words have the same beginning: all but the last three letters, and at least four."""
    least = max(_SHORTEST_STEM, max(len(text), len(other)) - 3)
    return len(text) >= least and len(other) >= least and text[:least] == other[:least]


def _near(text: str, other: str) -> bool:
    """Return whether two words differ by at most one letter: one more, one less, another, or two exchanged."""
    if abs(len(text) - len(other)) > 1 or min(len(text), len(other)) < _SHORTEST_STEM:
        return False
    start = next((n for n, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))
    a, b = text[start:], other[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])


def _content(text: str) -> frozenset[str]:
    return frozenset(key for word in _WORD.findall(text) if (key := _key(word)) and word.casefold() not in SMALL)


def _pairs(text: str) -> frozenset[str]:
    """Return the pairs of neighbouring letters of scripts that write no spaces between words."""
    runs = re.findall(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+", text)
    return frozenset(run[n : n + 2] for run in runs for n in range(len(run)) if len(run) == 1 or n < len(run) - 1)


@lru_cache(maxsize=65536)
def _key(text: str) -> str:
    """Return the letters and digits of a text without accents and case, and without the possessive."""
    bare = re.sub(r"['’]s\b", "", text.translate(_QUOTES))
    return "".join(name for name in unicodedata.normalize("NFKD", bare).casefold() if name.isalnum())


def _folded(text: str) -> tuple[str, list[int]]:
    """Return the text in the form for comparing quotes, and the place of each of its characters in the text."""
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for name in unicodedata.normalize("NFKD", character.translate(_SAME)).casefold():
            kind = unicodedata.category(name)
            if kind in ("Mn", "Cf"):
                continue
            folded = " " if name.isspace() else name
            if folded == " " and (not letters or letters[-1] == " "):
                continue
            letters.append(folded)
            places.append(place)
    return "".join(letters), places
