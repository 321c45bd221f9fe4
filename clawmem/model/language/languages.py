"""Languages other than English: their words, stems and scripts, from one file each in `data/`.

A file is read when a text may be in its language: most English questions read none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, cast

from clawmem.model.language.text import plain

CODES = ("de", "fr", "es", "it", "pt", "nl", "pl", "ru")
JAPANESE, CHINESE = "ja", "zh"
EVERY = (*CODES, JAPANESE, CHINESE)
# Words of most English sentences; they would make searches slower and worse.
STOPWORDS = frozenset(
    "a about after all also am an and any are as at be because been before being but by can could did do does doing "
    "for from get got had has have having he her here hers him his how i if in into is it its just like me more most "
    "my no not of on only or other our out over own she should so some such than that the their them then there "
    "these they this those to too under up us very was we were what when where which while who whom whose why will "
    "with would you your".split()
)
_CJK = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_HIRAGANA = "\u3040-\u309f"
_OF_ONE_SCRIPT = f"[{_HIRAGANA}]+|[\u30a0-\u30ff\uff66-\uff9f]+|[^{_HIRAGANA}\u30a0-\u30ff\uff66-\uff9f]+"
_WORD = re.compile(r"[^\W_]+")
_ATE = re.compile(r"\bate\b", re.IGNORECASE)
_ELIDED = re.compile("^[^\\W_]{1,6}['’](?=[^\\W_]{2})")
# Question words of other languages that are English words, too.
_ALSO_ENGLISH = frozenset("come dove hoe".split())
# So many letters of a word stay whatever ending it has.
_SHORTEST = 3


@cache
def rows(code: str) -> Mapping[str, Any]:
    """Return the rows of the file of a language."""
    loader = cast(Any, __spec__).loader  # pkgutil would take a millisecond to import
    found: Mapping[str, Any] = json.loads(loader.get_data(__file__.replace("languages.py", f"data/{code}.json")))
    return found


@cache
def word_list(name: str) -> frozenset[str]:
    """Return the words of a list in `data/`: `common` has the 4,000 most frequent words that are one token of the
    cl100k_base vocabulary with a space before them, `recovery_phrase` those of wallets' recovery phrases (BIP 39)."""
    data: bytes = cast(Any, __spec__).loader.get_data(__file__.replace("languages.py", f"data/{name}.txt"))
    return frozenset(data.decode().split())


@cache
def words_of(code: str, *names: str) -> frozenset[str]:
    """Return the words of some rows of a language, with and without accents. The row `stop` is in a file of all."""
    words = {word for name in names for word in rows(code).get(name, "").split() if name != "stop" or code not in CODES}
    return frozenset(words.union(map(plain, words), stop_words()[code] if "stop" in names and code in CODES else ()))


@cache
def stop_words() -> Mapping[str, frozenset[str]]:
    """Return the stop words of each language but Japanese and Chinese, with and without accents."""
    return {code: frozenset(words.split()) for code, words in rows("stop").items()}


@cache
def pattern_of(code: str, name: str) -> re.Pattern[str]:
    """Return the pattern for a row of patterns."""
    parts = "|".join(rows(code)[name])
    end = "" if name == "forget_verbs" else r"\b"
    return re.compile(parts if code in (JAPANESE, CHINESE) else rf"\b(?:{parts}){end}", re.IGNORECASE)


def matches(text: str, name: str) -> bool:
    """Return whether a text has what a row of one of its languages describes."""
    return any(pattern_of(code, name).search(text) for code in languages_of(text))


@lru_cache(maxsize=256)
def languages_of(text: str) -> tuple[str, ...]:
    """Return the languages that a text may be in, by its stop words, else by its letters; none if it is in English, or
    if nothing tells: one stop word, but for a question word in front, may be a name such as Mia."""
    if has_characters(text):
        return (JAPANESE if re.search("[\u3040-\u30ff]", text) else CHINESE,)
    written = _WORD.findall(text.lower())
    words = set(written)
    english = len(words & STOPWORDS)
    if text.isascii() and 2 * english >= len(words):
        return ()
    shared = {code: len(words & stop) for code, stop in stop_words().items()}
    most = max(shared.values())
    found = tuple(code for code in CODES if shared[code] == most)
    first = written[0] if written and ("?" in text or written[0] not in _ALSO_ENGLISH) else ""
    if most > english and (most > 1 or any(first in words_of(code, "asking") for code in found)):
        return found
    odd = {letter for letter in text.lower() if not letter.isascii() and letter.isalpha()} if not text.isascii() else ()
    return tuple(code for code in found if odd <= set(rows(code)["letters"])) if most >= english and odd else ()


def dated_languages(text: str) -> tuple[str, ...]:
    """Return the languages that a text may be in by its words for days and times, or by its other words."""
    found = languages_of(text)
    if has_characters(text):
        return found if found == (JAPANESE,) else (CHINESE, JAPANESE)
    words = set(_WORD.findall(text.lower()))
    if not words or (text.isascii() and 2 * len(words & STOPWORDS) >= len(words)):
        return ()
    return (*found, *(code for code in CODES if code not in found and not words.isdisjoint(_time_words(code))))


@cache
def _time_words(code: str) -> frozenset[str]:
    """Return the words for days, months and periods that are not the English ones, too."""
    data = rows(code)
    names = [name for row in ("units", "months", "days") for group in data[row].values() for name in group]
    words = {word for name in names for word in _WORD.findall(name) if len(word) >= _SHORTEST}
    sides = (word for row in ("last", "next") for pattern in data[row] for word in _WORD.findall(pattern))
    words.update(word for word in sides if len(word) > _SHORTEST)
    return frozenset(words - data["units"].keys() - data["months"].keys())


def without_elision(word: str) -> str:
    """Return a French or Italian word without what is joined to it: `auto` for `l'auto`."""
    return _ELIDED.sub("", word)


@lru_cache(maxsize=20_000)
def root(code: str, word: str) -> str:
    """Return what the forms of a word have in common, without accents: its stem, and that without further endings."""
    data = rows(code)
    begin = data.get("participle", "")
    if begin and word.startswith(begin) and word.endswith(("t", "en", "d")) and len(word) > 2 * _SHORTEST:
        word = word.removeprefix(begin)
    stem = plain(_stemmer(code)(word))
    endings = data.get("endings", "").split()
    if not data.get("stemmer"):
        return stem[: -len(end)] if (end := _ending(stem, endings, _SHORTEST)) else stem
    while end := _ending(stem, endings, _SHORTEST + 1):
        stem = stem[: -len(end)]
    return stem


def _ending(stem: str, endings: Iterable[str], least: int) -> str:
    return next((end for end in endings if stem.endswith(end) and len(stem) - len(end) >= least), "")


@cache
def _stemmer(code: str) -> Callable[[str], str]:
    name = rows(code).get("stemmer")
    if name is None:
        return str
    from whoosh.lang import snowball  # takes milliseconds to import

    stem: Callable[[str], str] = getattr(snowball, name)().stem
    return stem


@cache
def _irregular(code: str) -> Mapping[str, tuple[str, ...]]:
    groups = [tuple(group.split()) for group in rows(code).get("irregular", ())]
    return {form: group for group in groups for written in group for form in (written, plain(written))}


def irregular_forms(code: str, word: str) -> tuple[str, ...]:
    """Return the other forms of a word that no rule of its language makes."""
    return _irregular(code).get(word, ())


@cache
def _character() -> re.Pattern[str]:
    # So many characters take milliseconds to compile, a tenth of what a command loads.
    return re.compile(f"[{_CJK}]")


def has_characters(text: str) -> bool:
    """Return whether a text has Chinese or Japanese characters, between which stands no space."""
    return not text.isascii() and max(text) >= _CJK[0] and _character().search(text) is not None


def spaced(text: str) -> str:
    """Return a text with each Chinese or Japanese character as a word of its own, as keyword engines index it.

    The English stem of `ate` is `at`, so it is indexed as `eat`."""
    text = _ATE.sub("eat", text)
    return _character().sub(r" \g<0> ", text) if has_characters(text) else text


def runs_apart(text: str) -> str:
    """Return a text with spaces around its rows of Chinese or Japanese characters."""
    return re.sub(f"[{_CJK}]+", r" \g<0> ", text) if has_characters(text) else text


def pairs(run: str) -> list[str]:
    """Return each two characters of a row that stand side by side; of one character, itself."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def telling_pairs(run: str, code: str) -> list[str]:
    """Return the pairs of a row of characters without the words of most sentences: particles, endings, "who", "where".

    Words are not looked up. Chinese is cut at such words, Japanese where the script changes."""
    if code == CHINESE:
        parts = _stop_parts(code).split(run)
    else:
        parts, before = [], ""
        for part in re.findall(_OF_ONE_SCRIPT, run):
            parts.append(_of_hiragana(part, before) if re.match(f"[{_HIRAGANA}]", part) else part)
            before = part
        parts = [part for part in parts if part not in words_of(code, "stop")]
    return [pair for part in parts if part for pair in pairs(part)]


def _of_hiragana(part: str, before: str) -> str:
    """Return the word in a row of Hiragana, without particles; empty for an ending of the character before it."""
    particle = re.match("|".join(sorted(words_of(JAPANESE, "particles"), key=len, reverse=True)), part)
    if before and particle is None:
        return ""
    part = part[particle.end() :] if before and particle else part
    if _stop_parts(JAPANESE).sub("", part) == "":
        return ""
    return part if len(part) < _SHORTEST else re.sub("[はがをにでとのもへ]$", "", part)


@cache
def _stop_parts(code: str) -> re.Pattern[str]:
    return re.compile("|".join(sorted(words_of(code, "stop"), key=len, reverse=True)))
