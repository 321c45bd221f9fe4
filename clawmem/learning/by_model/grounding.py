"""Check a model's statement against what was said: the quote, the names, numbers, times and days in normalised form.

The numbers, clock times and days in a text, in one form for digits and words (English and German).
"""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cache, lru_cache
from typing import NamedTuple

from clawmem.learning.rules.language import SMALL
from clawmem.model.language.date_words import DateMatch, find_dates

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
_ENGLISH_NUMBERS = {
    **{word: number for number, word in enumerate(_UNITS)},
    **{word: number for number, word in enumerate(_ORDINALS, 1)},
    **{word: 20 + 10 * number for number, word in enumerate(_TENS)},
    **{f"{word[:-1]}ieth": 20 + 10 * number for number, word in enumerate(_TENS)},
}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_GERMAN_UNITS = (
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn"
).split()
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_GERMAN_ORDINALS = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}
_MONTHS = {
    name: number
    for names in (
        "january february march april may june july august september october november december",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "jan feb mrz apr mai jun jul aug sept okt nov dez",
    )
    for number, name in enumerate(names.split(), 1)
}
WEEKDAYS = {
    name: number
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "mon tue wed thu fri sat sun",
        "mo di mi do fr sa so",
    )
    for number, name in enumerate(names.split())
} | {"sonnabend": 5, "tues": 1, "thurs": 3, "weds": 2}
_NEAR = {
    "today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1,
    "heute": 0, "morgen": 1, "übermorgen": 2, "gestern": -1, "vorgestern": -2,
}  # fmt: skip
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY = re.compile(
    r"\b(?:(?P<iy>\d{4})-(?P<im>\d\d)(?:-(?P<id>\d\d))?"
    r"|(?<!\d[./])(?P<nd>\d{1,2})[./](?P<nm>\d{1,2})[./](?P<ny>\d{4}|\d\d)?(?!\d)"
    rf"|(?P<dd>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? (?P<dm>{_MONTH})\b\.?(?:,? (?P<dy>\d{{4}}))?"
    rf"|(?P<mm>{_MONTH})\b\.? (?P<md>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (?P<my>\d{{4}}))?"
    rf"|(?P<om>{_MONTH})\b\.?,? (?P<oy>\d{{4}}))",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?<![\d.:,])(?P<h>\d{1,2})(?:[:.h](?P<m>\d\d)(?!\d|\.\d))?"
    r"(?:\s*(?P<half>[ap])\.?m\b\.?|\s*(?P<uhr>uhr|o['’]clock)\b(?:\s*(?P<um>\d{1,2})\b)?|(?=[^\w]|$))",
    re.IGNORECASE,
)
_HOUR = "|".join((*_UNITS[1:13], *_GERMAN_UNITS[1:13], "ein"))
_MINUTES = {"five": 5, "ten": 10, "twenty": 20, "fünf": 5, "zehn": 10, "zwanzig": 20}
_SHIFTS = {
    "half past": 30, "half": 30, "halb": -30, "quarter past": 15, "viertel nach": 15, "quarter to": -15,
    "viertel vor": -15, **{f"{word} {way}": minutes for word, minutes in _MINUTES.items() for way in ("past", "nach")},
    **{f"{word} {way}": -minutes for word, minutes in _MINUTES.items() for way in ("to", "vor")},
}  # fmt: skip
_SPOKEN = re.compile(
    rf"\b(?:(?P<how>{'|'.join(_SHIFTS)}|(?:at|by|um|gegen|bis|ab)(?! \w+ (?:past|to|nach|vor)\b)) )?"
    rf"(?P<hour>{_HOUR}|\d{{1,2}})\b(?P<pm> ?(?:p\.?m|a\.?m|uhr|o['’]clock)?)",
    re.IGNORECASE,
)
_NOON = {"noon": "12:00", "midday": "12:00", "mittag": "12:00", "mittags": "12:00"} | dict.fromkeys(
    ("midnight", "mitternacht"), "00:00"
)
_AWAY = re.compile(r"\b(?P<way>in|vor) (?P<count>\w+) (?P<unit>tage?n?|wochen?|monate?n?|jahre?n?)\b", re.IGNORECASE)
_UNIT_DAYS = {"t": 1, "w": 7}
_PARTS = re.compile(r"\b(?P<part>end|ende|mid|mitte|start|beginning|anfang)(?: of)? (?P<month>\w+)", re.IGNORECASE)
_PARTS_OF_HOUR = {
    "30": re.compile(r"\b(?:half an hour|half-hour|halben? stunde|media hora|demi-heure)\b", re.IGNORECASE),
    "15": re.compile(r"\b(?:quarter of an hour|quarter-hour|viertelstunde|cuarto de hora|quart d['’]heure)\b", re.I),
}
_NUMBER = re.compile(r"\d[\d.,'’]*")
_LETTERS = re.compile(r"[^\W\d_]+")
_NEXT = re.compile(r"\b(?:next|last|this|coming|nächste[nrsm]?|letzte[nrsm]?|diese[nrsm]?|kommende[nrsm]?)\b", re.I)
_WITHIN_DAYS = 21
_WITHIN_MONTH = 31
_NUMBERED = re.compile(
    r"\b(?:(\d{1,2})(?:st|nd|rd|th|er)|(?:am|den|dem|zum|bis|vom|el|al|le|au|du|il|día) (\d{1,2})\.?)(?![\d:.]\d|\w)",
    re.IGNORECASE,
)


class Day(NamedTuple):
    """A day or, without `day`, a month that a text names; `year` is None if it names none."""

    start: int
    end: int
    year: int | None
    month: int
    day: int | None


def numbers_in(text: str) -> frozenset[str]:
    """Return the numbers of a text as plain digits, whether written in digits or in words."""
    found = {_plain(match[0]) for match in _NUMBER.finditer(text)}
    found |= {part for match in _NUMBER.finditer(text) for part in re.split(r"\D+", match[0]) if part}
    words = [match[0].casefold() for match in _LETTERS.finditer(text)]
    found |= {str(number) for number in _english_numbers(words)}
    german = _german_numbers()
    found |= {str(german[word]) for word in words if word in german}
    found |= {minutes for minutes, part in _PARTS_OF_HOUR.items() if part.search(text)}
    return frozenset(found - {""})


def times_in(text: str) -> frozenset[str]:
    """Return the clock times of a text as HH:MM. A time without am or pm counts in both halves of the day."""
    found = {_NOON[word] for word in _words(text) if word in _NOON}
    for match in _TIME.finditer(text):
        if match["m"] or match["half"] or match["uhr"]:
            found |= _both_halves(int(match["h"]), int(match["m"] or match["um"] or 0), match["half"])
    german = _german_numbers()
    for match in _SPOKEN.finditer(text):
        if not match["how"] and not match["pm"].strip():
            continue
        word = match["hour"].lower()
        hour = int(word) if word.isdigit() else _ENGLISH_NUMBERS.get(word, german.get(word, 1))
        minutes = hour * 60 + _SHIFTS.get((match["how"] or "").lower(), 0)
        if 0 <= minutes < 24 * 60:
            found |= _both_halves(minutes // 60, minutes % 60, None)
    return frozenset(found)


def time_spans(text: str) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Yield where a text has clock times in digits, each with the times that it can mean."""
    for match in _TIME.finditer(text):
        if match["m"] or match["half"] or match["uhr"]:
            minutes = int(match["m"] or match["um"] or 0)
            yield match.start(), match.end(), frozenset(_both_halves(int(match["h"]), minutes, match["half"]))


def days_in(text: str) -> Iterator[Day]:
    """Yield the days and months that a text names in digits or by the names of months."""
    for match in _DAY.finditer(text):
        year = match["iy"] or match["ny"] or match["dy"] or match["my"] or match["oy"]
        month = match["im"] or match["nm"] or match["dm"] or match["mm"] or match["om"]
        day = match["id"] or match["nd"] or match["dd"] or match["md"]
        number = int(month) if month.isdigit() else _MONTHS[month.lower()]
        if 1 <= number <= 12 and (day is None or 1 <= int(day) <= 31):
            full = (2000 + int(year) if len(year) == 2 else int(year)) if year else None
            yield Day(match.start(), match.end(), full, number, int(day) if day else None)


def names_day(text: str, wanted: Day, message: date) -> bool:
    """Return whether a text that was said on a day names the wanted day or month, in figures or in words."""
    return any(_agrees(wanted, day, message) for day in days_in(text)) or _by_words(text, wanted, message)


def _agrees(wanted: Day, named: Day, day: date) -> bool:
    if wanted.month != named.month or (wanted.day and named.day and wanted.day != named.day):
        return (named.day, named.month) == (wanted.month, wanted.day)  # day and month in the other order
    if wanted.day and not named.day:
        return False
    return wanted.year is None or abs(wanted.year - (named.year or day.year)) <= (0 if named.year else 1)


def _by_words(text: str, wanted: Day, message: date) -> bool:
    year = wanted.year or message.year
    words = _words(text)
    months = {_MONTHS[word] for word in words if word in _MONTHS}
    if wanted.day is None:
        near = abs((year - message.year) * 12 + wanted.month - message.month) <= 1 and _NEXT.search(text)
        return wanted.month in months or bool(near) or wanted.month in {day.month for day in _read(text, message)}
    if wanted.month in months and str(wanted.day) in numbers_in(text):
        return True
    try:
        day = date(year, wanted.month, wanted.day)
    except ValueError:
        return False
    away = (day - message).days
    return (
        away == 0  # what is said of no other day is of that of the message
        or day in _read(text, message)
        or (any(WEEKDAYS.get(word) == day.weekday() for word in words if len(word) > 2) and abs(away) <= _WITHIN_DAYS)
        or any(_NEAR.get(word) == away for word in words)
        or any(_part(match, day) for match in _PARTS.finditer(text))
        or any(_away(match, away) for match in _AWAY.finditer(text))
        or (
            abs(away) <= _WITHIN_MONTH
            and any(str(wanted.day) in match.groups() for match in _NUMBERED.finditer(text))
            and wanted.day not in {day.day for day in _read(text, message)}
        )
    )  # fmt: skip


def _read(text: str, day: date) -> set[date]:
    found = (*find_dates(text, day), *find_dates(text, day, ahead=True))
    return {date.fromisoformat(match.day) for match in found if match.day and len(match.day) == 10}


def _part(match: re.Match[str], day: date) -> bool:
    if _MONTHS.get(match["month"].lower()) != day.month:
        return False
    last = monthrange(day.year, day.month)[1]
    return day.day == {"e": last, "m": 15, "s": 1, "b": 1, "a": 1}[match["part"][0].lower()]


def _away(match: re.Match[str], days: int) -> bool:
    counts = numbers_in(match["count"]) or ({"1"} if match["count"].lower().startswith("ein") else set())
    sign = 1 if match["way"].lower() == "in" else -1
    unit = match["unit"][0].lower()
    size, slack = _UNIT_DAYS.get(unit, 30 if unit == "m" else 365), (0 if unit in _UNIT_DAYS else 16)
    return any(count.isdigit() and abs(sign * int(count) * size - days) <= slack for count in counts)


def _both_halves(hour: int, minutes: int, half: str | None) -> set[str]:
    if hour > 24 or minutes > 59 or (half and hour > 12):
        return set()
    if half:
        return {f"{hour % 12 + (12 if half.lower() == 'p' else 0):02}:{minutes:02}"}
    return {f"{number % 24:02}:{minutes:02}" for number in (hour, hour + 12) if number == hour or hour <= 12}


def _plain(number: str) -> str:
    """Return a number without separators of thousands, and without a fraction of zeros."""
    bare = number.strip(".,'’")
    bare = re.sub(r"(?<=\d)[.,'’](?=\d{3}(?!\d))", "", bare).replace(",", ".")
    return (re.sub(r"\.0+$", "", bare)).lstrip("0") or ("0" if bare else "")


def _words(text: str) -> list[str]:
    return [match[0].casefold() for match in _LETTERS.finditer(text)]


def _english_numbers(words: list[str]) -> Iterator[int]:
    """Yield the values of runs of number words, and of each word alone."""
    total = current = 0
    running = False
    for word in [*words, ""]:
        if word in _ENGLISH_NUMBERS:
            yield _ENGLISH_NUMBERS[word]
            current += _ENGLISH_NUMBERS[word]
            running = True
            yield total + current
        elif word in _SCALES:
            current = max(1, current) * _SCALES[word]
            if word != "hundred":
                total, current = total + current, 0
            running = True
            yield total + current
        elif not (word == "and" and running):
            total, current, running = 0, 0, False


@cache
def _german_numbers() -> dict[str, int]:
    """Return the German words for 0 to 999, and the ordinals up to 31 in their inflected forms."""
    words = {0: "null", **{number: _german(number) for number in range(1, 1000)}}
    found = {word.casefold(): number for number, word in words.items()}
    for number in range(1, 32):
        stem = _GERMAN_ORDINALS.get(number) or words[number] + ("t" if number < 20 else "st")
        found.update({f"{stem}e{end}".casefold(): number for end in ("", "n", "r", "s", "m")})
    return found | {"einhundert": 100, "tausend": 1000, "eintausend": 1000}


def _german(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    lead = "" if not hundreds else ("" if hundreds == 1 else _GERMAN_UNITS[hundreds]) + "hundert"
    if not rest:
        return lead
    if rest < 20:
        return lead + _GERMAN_UNITS[rest]
    tens, unit = divmod(rest, 10)
    joined = "" if not unit else ("ein" if unit == 1 else _GERMAN_UNITS[unit]) + "und"
    return f"{lead}{joined}{_GERMAN_TENS[tens - 2]}"


def is_bare_weekday(text: str, found: DateMatch) -> bool:
    """Return whether a date of a text is a weekday alone, which may come again every week, and not since when."""
    words = _words(text[found.start : found.end])
    return not found.since and bool(words) and all(word in WEEKDAYS or word in ("on", "am") for word in words)


def day_of_when(text: str | None, last: bool = False) -> date | None:
    """Return the day of YYYY-MM-DD, YYYY-MM or YYYY: its first day, or with `last` its last one. None if invalid."""
    parts = (text or "").strip().split("T")[0].split("-")
    try:
        year, month, day = (*map(int, parts), 0, 0)[:3]
        if not last:
            return date(year, month or 1, day or 1)
        return date(year, month or 12, day or monthrange(year, month or 12)[1])
    except (ValueError, TypeError, IndexError):
        return None


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
    if _SHORT.get(key, "\0") in known.words or any(_same_stem(key, word) for word in known.words):
        return True
    if key in WEEKDAYS and any(WEEKDAYS.get(word) == WEEKDAYS[key] for word in known.words):
        return True
    if key in known.known and any(_near(key, word) for word in known.words):
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
