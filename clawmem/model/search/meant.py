"""Whether words of a person mean a text: all of them are in it, in any form, and a longer name is not meant by a
shorter one. Whom a question is about: which of the found facts are about the people and things that it names.

Kinds of things that facts are about, by their names in several languages and by examples: `job` names a fact that
somebody works as a teacher, and `Wohnort` the fact where somebody lives.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar, cast

from clawmem.model.language.languages import has_characters, languages_of, root, rows, word_list, words_of
from clawmem.model.language.question import COMMON_WORDS, STOPWORDS, search_words
from clawmem.model.language.text import normal, plain
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import kind_of, title_of

# A number of seven digits or more is one word, however its digits are grouped; a day is none.
_NUMBER = r"(?<![\w.@])\+?\d(?!\d{3}-\d\d-\d\d)(?:[ ()./-]{0,2}\d){6,18}(?![\w@])"
_TOKEN = rf"{_NUMBER}|[^\W_](?:[\w.@+/-]*\w)?"  # compiled where it is used: no question needs it
SPECIAL = re.compile(r"[\d@./_+-]")
_ADDRESS, _SHORTEST_SPELLED = re.compile(r"[@/]"), 5  # one letter makes another address
_DAY, _SHORTEST_CODE = re.compile(r"\d{4}-\d\d(?:-\d\d)?|(?:1[89]|20)\d\d"), 4
_ENDING = re.compile(r"(?:ing|ed|en|es|[estny])$")
_DOUBLED = re.compile(r"(.)\1$")
_FEWEST = 3
# A number may be written as words, each for a digit.
_DIGITS = {
    word: str(at % 10)
    for at, word in enumerate(
        "zero one two three four five six seven eight nine null eins zwei drei vier fünf sechs sieben acht neun cero "
        "uno dos tres cuatro cinco seis siete ocho nueve zéro un deux trois quatre cinq six sept huit neuf".split()
    )
}
_SPELLED_NUMBER = rf"(?i)\b(?:{'|'.join(_DIGITS)})(?:[ -](?:{'|'.join(_DIGITS)})\b){{2,18}}"
_IDENTIFIER = re.compile(r"[\d@]")
# Scripts whose letters are called by words that begin with them, and how consonants are written in one way.
_BY_FIRST_LETTER = frozenset(("GREEK", "ARABIC", "HEBREW"))
_SOUNDS = (
    *(("x", "ks"), ("ph", "f"), ("sch|sh", "s"), ("[ck]h", "h"), ("zh", "z"), ("gh", "g"), ("[cq]", "k"), ("w", "v")),
    *(("[aeiouyj]", ""), (r"(.)\1+", r"\1")),
)
# A telephone number with the code of its country, and without it.
_ABROAD, _AT_HOME = re.compile(r"\+|00"), re.compile(r"0(?!0)")
_COUNTRY = re.compile(
    r"1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|(?:2[1-689]|3[578]|42|5[09]|6[7-9]|8[05789]|9[679])\d"
)
_SPELLED_ADDRESS = r"[\w+-]++(?:(?:\.| dot )[\w+-]++)*+ ?(?:\(at\)|\[at\]| at ) ?[\w-]++(?:(?:\.| dot )[\w-]++)*+"
# Words that say nothing of what is meant, in the languages in which a request is understood.
_PLAIN = STOPWORDS | frozenset(
    "user users forget delete remove erase drop everything anything all old again please memory shared anymore longer "
    "ich mein meine meinen meiner mich mir der die das den dem ein eine dass ist bin sind war im am zu von alles "
    "nutzer nutzerin yo mi mis el la los las una que de en es soy y todo usuario usuaria je mon ma mes le les des du "
    "un une qu j est suis et tout utilisateur utilisatrice "
    "tell told say said mention mentioned write wrote thing things stuff business real pasted posted earlier "
    "up there gesagt geschrieben erzählt vom zum zur beim bei aus auf nach über von "
    "hab habe hätte hätten dürfen sollen sagen wegen mit für sache sachen lo del con dije "
    "conté sobre avec sur dit ai raconté chose truc "
    "where what who whom whose when how much many which why now present current currently latest wo was wer wen wem "
    "wann wie viel welche welcher welches où qui quoi quand comment combien quel quelle donde dónde qué quién cuándo "
    "cómo cuánto cuál".split()
)
# What is to be forgotten of something: the value was said, and not this word.
ASPECT = frozenset(
    "amount size number name date day time place location spot address value detail details fact rule part topic news "
    "name namen nummer betrag höhe größe ort adresse datum regel thema zahl nombre número cantidad lugar dirección "
    "fecha regla tema nom numéro montant lieu adresse règle sujet endroit".split()
)


def telling_words(text: str) -> tuple[str, ...]:
    """Return the words of a request that say what is meant, each once."""
    if has_characters(text):
        return search_words(text)
    found = (word.removesuffix("'s") for word in tokens_of(text.replace("’", "'")))
    stop = frozenset[str]().union(*(words_of(code, "stop") for code in languages_of(text)))  # not names such as Mia
    telling = (word for word in found if word.casefold() not in _PLAIN and word not in stop)
    return tuple(dict.fromkeys(word for word in telling if len(word) > 1 or word.isdigit()))


def says_hardly(text: str) -> bool:
    """Return whether a text is small talk by its length: "Good to know." has hardly a telling word."""
    return len(telling_words(text)) < _FEWEST


def tokens_of(text: str) -> list[str]:
    """Return the words of a text; a number is one, however its digits are grouped."""
    return re.findall(_TOKEN, text)


def as_written(text: str) -> str:
    """Return a text with the addresses that it spells as they are written, "lars at fjord dot no" as `lars@fjord.no`,
    and with the digits of a number in a row."""
    text = re.sub(_SPELLED_ADDRESS, lambda found: _address(found[0]), text)
    return re.sub(
        _SPELLED_NUMBER, lambda found: "".join(_DIGITS[word] for word in re.split("[ -]", found[0].lower())), text
    )


def _address(spelled: str) -> str:
    name, host = re.split(r" ?(?:\(at\)|\[at\]| at ) ?", spelled, maxsplit=1)
    address = f"{name}@{host}".replace(" dot ", ".")
    return address if "." in address.partition("@")[2] and (" dot " in spelled or " at " not in spelled) else spelled


def means(words: Sequence[str], text: str) -> bool:
    """Return whether a text has all words, in any form. A longer name is not meant by a shorter one."""
    if not words or all(places_of(word, text, words) for word in words):
        return bool(words)
    if not any(map(_IDENTIFIER.search, words)) or (written := as_written(text)) == text:
        return False
    return all(places_of(word, written, words) for word in words)


def places_of(word: str, text: str, words: Sequence[str]) -> list[int]:
    """Return where a text has one of the words that name something."""
    if has_characters(word):
        return [found.start() for found in re.finditer(re.escape(word), text)]
    found = [(token[0], token.start(), token.end()) for token in re.finditer(_TOKEN, text)]
    asked = {other_word.casefold() for other_word in words}
    spelled = _squeezed(word) if SPECIAL.search(word) and not _ADDRESS.search(word) else ""
    return [
        token[1]
        for place, token in enumerate(found)
        if (_is_form(word, token[0], text) and not _in_longer_name(found, place, text, asked))
        or (len(spelled) >= _SHORTEST_SPELLED and _spells(spelled, [pair[0] for pair in found[place:]]))
    ]


def _squeezed(word: str) -> str:
    return re.sub(r"[\W_]", "", word.casefold())


def _spells(spelled: str, tokens: Sequence[str]) -> bool:
    """Return whether some words begin with another spelling of a name: `nord lys 4` for `NORD-LYS 4`."""
    text = ""
    for token in tokens:
        if _ADDRESS.search(token) or len(text) >= len(spelled):
            break
        text += _squeezed(token)
    return text == spelled


def same_word(word: str, other: str) -> bool:
    """Return whether two words are forms of one, or spell one number, and not two names."""
    text, two = _folded(word), _folded(other)
    if text == two or SPECIAL.search(text + two):
        return text == two or (_is_number(text) and _is_number(two) and _same_number(text, two))
    if word[0].isupper() and other[0].isupper() and text != two + "s" and not _of_one_noun(text, two):
        return False
    return min(len(text), len(two)) > 2 and max(len(text), len(two)) > 3 and _stem(text) == _stem(two)


def _folded(word: str) -> str:
    return word.casefold() if word.isascii() else unicodedata.normalize("NFKC", word).casefold()


def _same_number(number: str, other: str) -> bool:
    """Return whether two numbers have the same digits, but for the code of the country."""
    if _AT_HOME.match(number):
        number, other = other, number
    digits, home = _digits(number), _digits(other)
    if not (_ABROAD.match(number) and _AT_HOME.match(other)):
        return digits == home
    code = digits.removeprefix("00").removesuffix(home[1:])
    return digits.endswith(home[1:]) and _COUNTRY.fullmatch(code) is not None


def _is_form(word: str, other: str, text: str) -> bool:
    """Return whether two words are forms of one, in English or a language of a text. Names have forms only in some."""
    if same_word(word, other):
        return True
    one, two = plain(word.casefold()), plain(other.casefold())
    if one[:3] != two[:3] or SPECIAL.search(one + two):
        return False
    names = word[0].isupper() and other[0].isupper()
    codes = (code for code in languages_of(text) if not names or "names_inflected" in rows(code))
    return any(root(code, one) == root(code, two) for code in codes)


def spelled_alike(word: str, other: str) -> bool:
    """Return whether two words are one name in other letters, as José and Jose, or Алексей and Aleksei. Names in two
    scripts are compared by their consonants."""
    if same_word(word, other) or SPECIAL.search(word + other):
        return False
    one, two = plain(_folded(word)), plain(_folded(other))
    if one.isascii() and two.isascii():
        return not (word + other).isascii() and re.sub("(?<=[aou])e", "", one) == re.sub("(?<=[aou])e", "", two)
    return one.isascii() != two.isascii() and _consonants(_folded(word)) == _consonants(_folded(other)) != ""


def _consonants(name: str) -> str:
    """Return the consonants of a name, as its letters are called in Unicode where they are not Latin ones."""
    found = ""
    for letter in re.sub("γ(?=[ιε])", "", name):
        called = unicodedata.name(letter, "").partition(" WITH ")[0].split() or [""]
        spoken = letter if called[0] == "LATIN" else called[-1].lower()
        found += spoken[0] if called[0] in _BY_FIRST_LETTER else "" if spoken in ("sign", "yeru", "mark") else spoken
    for sounds, sound in _SOUNDS:
        found = re.sub(sounds, sound, found)
    return found


def _is_number(word: str) -> bool:
    return re.fullmatch(_NUMBER, word) is not None


def _digits(number: str) -> str:
    return re.sub(r"\D", "", number)


def _of_one_noun(word: str, other: str) -> bool:
    """Return whether two words with a capital are forms of one German noun, as `Hunde` and `Hunden` are. Other endings
    make another name: `Ann` is not `Anna`, and `Robert` is not `Roberts`."""
    short, long = sorted((word, other), key=len)
    return long.removeprefix(short) in ("n", "en", "es", "ern")


def _stem(word: str) -> str:
    return _DOUBLED.sub(r"\1", _ENDING.sub("", word))


def _in_longer_name(found: Sequence[tuple[str, int, int]], place: int, text: str, asked: Collection[str]) -> bool:
    """Return whether a name stands beside another word of the same name that was not asked for."""
    word, start, end = found[place]
    beside = [found[place - 1]] if place and text[found[place - 1][2] : start] == " " else []
    if beside and text[: beside[0][1]].rstrip()[-1:] in ("", ".", "!", "?", ":", "-"):
        beside = [] if beside[0][0].casefold() in word_list("common") else beside
    beside += [found[place + 1]] if place + 1 < len(found) and text[end : found[place + 1][1]] == " " else []
    names = (pair[0] for pair in beside if pair[0][0].isupper() and pair[0].casefold() not in _PLAIN)
    return word[0].isupper() and any(name.casefold() not in asked for name in names)


def longer_name(name: str, text: str) -> str:
    """Return the longer name that a name begins in a text, as `Petra Lind` for `Petra`; empty if there is none."""
    words = text.replace("’", "'").split()
    longer = [name] if name in words else []
    for word in words[words.index(name) + 1 :] if longer else ():
        bare = word.rstrip(".,;:!?").removesuffix("'s")
        longer += [bare] if bare[:1].isupper() else []
        if not bare[:1].isupper() or bare != word:
            break
    return " ".join(longer) if len(longer) > 1 else ""


def is_name(word: str) -> bool:
    """Return whether a word is written as a name."""
    return word[0].isupper() and not SPECIAL.search(word)


def is_code(word: str) -> bool:
    """Return whether a word is a number or an identifier of its own, and no day or year."""
    return len(word) >= _SHORTEST_CODE and any(map(str.isdigit, word)) and not _DAY.fullmatch(word)


class Statement(NamedTuple):
    """What a sentence states: a value, which is codes (`exact`) or else names, and the words of what has it."""

    value: tuple[str, ...]
    about: tuple[str, ...]
    exact: bool


def statement_of(sentence: str) -> Statement | None:
    """Return what a sentence states, or None if it has no value. Its first word may have a capital for its place."""
    words = telling_words(sentence)
    codes = tuple(filter(is_code, words))
    value = codes or tuple(filter(is_name, words[1:]))
    rest = [word for word in words if word not in value]
    about = [word for word in rest if word.casefold() not in COMMON_WORDS] or rest
    return Statement(value, tuple(about), bool(codes)) if value else None


def repeats(statement: Statement, sentence: str, answered: str | None = None) -> bool:
    """Return whether a sentence has the value of a statement, and is about the same or says nothing else. `answered` is
    the message that an assistant answers: names are a value only there."""
    value, about, exact = statement
    if not means(value, sentence) or not (exact or answered):
        return False
    shared = sum(bool(places_of(word, f"{sentence}\n{answered or ''}", about)) for word in about)
    if exact and not shared:
        rest = (word for word in telling_words(sentence) if word.casefold() not in COMMON_WORDS)
        return not any(not any(same_word(word, other) for other in value) for word in rest)
    return shared >= (1 if exact else max(1, len(about) - 1))


PERSON = "person"
# A possessive in a question names whom it asks about, and one that begins a statement whom that is about.
_OWNER = re.compile(r"\b([^\W\d_][\w-]*)['’]s\b")
_ASKING = ("user", "the user")
_WORD = re.compile(r"[^\W_]+")
Key = TypeVar("Key")


def owners_asked(question: str) -> frozenset[str]:
    """Return the names that have a possessive in a question, in lower case."""
    return frozenset(filter(None, map(_owner, _OWNER.findall(question))))


def belongs_to(text: str, place: str = "") -> str:
    """Return the name of whom a text is about by its first words or its entity, in lower case, or an empty text."""
    owner = _OWNER.match(text)
    if owner is not None and _owner(owner[1]):
        return _owner(owner[1])
    return _normal_title(place) if place and kind_of(place) == PERSON else ""


def _owner(word: str) -> str:
    """Return a name in lower case; an empty text for a word such as that of "That's"."""
    lowered = word.lower()
    return lowered if word[0].isupper() and lowered not in STOPWORDS and lowered not in COMMON_WORDS else ""


class FactPlace(NamedTuple):
    """What says whom a fact is about: its subject in normal form, and its entity."""

    subject: str | None
    entity: str


def name_words(words: Collection[str], people: Collection[str]) -> frozenset[str]:
    """Return those of a question's search words that only name people, given the names of people in normal form.

    There are none if all other words are everyday words: then the names are what is asked about.
    """
    found = {part for name in people for part in name.split()}.intersection(words)
    return frozenset(found) if set(words) - found - COMMON_WORDS else frozenset()


def named_and_others(
    question: str,
    names: Collection[str],
    called: Mapping[str, str],
    found: Mapping[Key, FactPlace],
    having: Callable[[Collection[Key], Sequence[str]], Collection[Key]],
) -> tuple[Collection[Key], Collection[Key]]:
    """Return which of the found facts are about what a question names, and which about others than a named person.

    `names` is all that can be a name in the question, and `called` has the entities with such a title or alias.
    `having` returns those of some facts that have one of some words. A name is a person's if the entity is a person, or
    if it is written with a capital inside the question. A fact that mentions the person is not about others.
    """
    names = set(names)
    capitals = {word.lower() for word in _WORD.findall(question)[1:] if word[0].isupper()}

    def counts(name: str) -> bool:
        return name in names and (name not in STOPWORDS or name in capitals)

    @cache
    def name_of_entity(entity: str) -> str | None:
        """Return the name by which the question calls an entity; a person's first name is enough."""
        title = _normal_title(entity)
        first = _first_names(entity, title, names) if kind_of(entity) == PERSON else []
        return next(filter(counts, (called.get(entity, ""), title, *first)), None)

    named: set[Key] = set()
    persons: set[str] = set()
    for key, place in found.items():
        subject = place.subject or ""
        name = subject if counts(subject) else name_of_entity(place.entity)
        if name:
            named.add(key)
            # "My mother" asks the user, and is about somebody else.
            if name not in _ASKING and (kind_of(place.entity) == PERSON or name.split()[0] in capitals):
                persons.add(name)
    if not persons:
        return named, ()
    rest = found.keys() - named
    return named, rest - set(having(rest, sorted(persons)))


@lru_cache(maxsize=4096)
def _normal_title(entity: str) -> str:
    return normal(title_of(entity))


def _first_names(entity: str, title: str, names: Collection[str]) -> list[str]:
    """Return the first name of a person, and those of the names with a hyphen that begin the person's."""
    path = entity.rpartition("/")[2]
    return [*title.split()[:1], *(name for name in names if "-" in name and path.startswith(f"{name}-"))]


SAME, RELATED, EXAMPLE = 1.0, 0.8, 0.7
# Two examples of a kind tell two things apart: a red bicycle is not the blue one.
CONTRARY = -1.0
# So many letters in common are one root: `allergy` and `allergic`.
_ROOT = 5
_ROOT_PART = 0.6
_OTHERS = frozenset(
    "family mother father sister brother wife husband partner child son daughter friend boss mentor colleague".split()
)


@cache
def _kinds() -> dict[str, dict[str, bool]]:
    """Return the kinds of each word, and whether it is a name of the kind, and not only an example."""
    loader = cast(Any, __spec__).loader
    rows = json.loads(loader.get_data(__file__.replace("meant.py", "kinds.json")))
    found: dict[str, dict[str, bool]] = {}
    for kind, columns in rows.items():
        for is_name, column in ((False, columns[1]), (True, columns[0])):
            for word in column.split():
                found.setdefault(word, {})[kind] = is_name
    return found


def kinds_of(word: str) -> dict[str, bool]:
    """Return the kinds of a word, in any case, in the plural and the genitive, and whether it is a name of each."""
    text = normal(word)
    bare = text.removesuffix("s")
    return _kinds().get(text) or _kinds().get(bare) or _kinds().get(bare.removesuffix("e")) or {}


def names_somebody(word: str) -> bool:
    """Return whether a word says who somebody is to another, such as `sister`."""
    return not _OTHERS.isdisjoint(kinds_of(word))


@lru_cache(maxsize=1 << 16)
def closeness(word: str, other: str) -> float | None:
    """Return how near two words are, from 0 to 1; None if that is not known, and CONTRARY for `cat` and `dog`."""
    text, two = normal(word), normal(other)
    if text == two or same_word(word, other):
        return SAME
    ours, theirs = kinds_of(word), kinds_of(other)
    shared = ours.keys() & theirs.keys()
    if any(ours[kind] and theirs[kind] for kind in shared):
        return RELATED
    if any(ours[kind] or theirs[kind] for kind in shared):
        return EXAMPLE
    if ours and theirs:
        return CONTRARY if shared else 0.0
    least = max(_ROOT, round(_ROOT_PART * max(len(text), len(two))))
    is_root = (
        text[:least] == two[:least] and text.isalpha() and two.isalpha() and not (word.istitle() and other.istitle())
    )
    return RELATED if is_root else None
