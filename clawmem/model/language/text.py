"""Text of facts: one line, printable, with a normal form for comparison."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from clawmem.errors import InvalidInput

LONGEST_FACT = 4000
# A number before a month is a day, as German, Dutch and the Nordic languages write it: "31. March".
_MONTH = (
    r"(?i:j[aä]n(?:uar[iy]?|ner)?|feb(?:ruar[iy]?)?|mar(?:ch|s)?|märz|maart|apr(?:il)?|ma[ijy]|mei|jun[ei]?|jul[iy]?"
    r"|aug(?:ust(?:us|i)?)?|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[csz](?:ember)?)\b"
)
LIST_MARK = rf"(?:[-*+]|\d{{1,9}}[.)](?!\s+{_MONTH}))"
"""Matches the mark of an item of a list, if it is used at the beginning of a line and white space follows."""
_SHORT_NAME = 4
# Text is compiled where it is used: most commands do not.
_EMPHASIS = r"(?s)(?<![\w`])(\*\*|(?!__\w+__)__)(?=\S)(.+?)(?<=\S)\1(?![\w`])"
_SPACES = re.compile(r"\s+")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
# Letters with a stroke, which have no form without it.
_LETTERS = str.maketrans("łøđħŧı", "lodhti")
_HIDDEN = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_CONTROLS = (*range(9), *range(11, 32), *range(127, 160))
_ESCAPES = {code: f"\\u{code:04x}" for code in (*_CONTROLS, *map(ord, _HIDDEN))}


DAY_OF_MONTH = rf"(?<=\d\.)(?<!\d{{3}}\.)\s+{_MONTH}"
"""Matches what follows the stop of such a day, where no sentence ends."""


def one_line(text: str) -> str:
    """Return the text with all white space folded into single spaces, trimmed."""
    return " ".join(text.split())


def without_emphasis(text: str) -> str:
    """Return a text of Markdown without its marks of bold print; those of `2**3`, `**options` and `__init__` stay."""
    return re.sub(_EMPHASIS, r"\2", text)


def visible(text: str) -> str:
    """Return the text with control and bidirectional characters written as `\\u001b`, except tabs and line breaks.

    On a terminal, they could hide, move or colour text.
    """
    return text if text.isprintable() else text.translate(_ESCAPES)


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """Return a JSON value with each text in it changed; keys stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: each_text(inner, change) for key, inner in value.items()}
    return [each_text(inner, change) for inner in value] if isinstance(value, list) else value


def counted(number: int, noun: str, many: str | None = None) -> str:
    """Return a number with its noun, in the plural (`many`, or with an s) unless the number is 1."""
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"


def shorten(text: str, most: int) -> str:
    """Return the text, shortened to `most` characters with an ellipsis if it is longer."""
    return text if len(text) <= most else text[:most].rstrip() + "…"


def all_of(number: int) -> str:
    """Return `both` for 2, else `all`."""
    return "both" if number == 2 else "all"


def some_of(names: Sequence[str], most: int = 3) -> str:
    """Return names for a sentence, at most `most` of them and the number of the others."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def check_statement(text: str, what: str = "fact") -> str:
    """Return a valid statement: one line, not empty, at most 4,000 characters, printable. Else raise InvalidInput."""
    statement = one_line(text)
    if not statement:
        raise InvalidInput(f"The {what} is empty.", f"Say the {what} in one sentence, or pass - to read it from stdin.")
    check_visible(statement, what)
    if len(statement) > LONGEST_FACT:
        raise InvalidInput(
            f"The {what} has {len(statement):,} characters; the limit is {LONGEST_FACT:,}.",
            "A fact is one atomic statement: split it, or keep the whole text with `clawmem ingest`."
            if what == "fact"
            else f"Say the {what} in fewer words.",
        )
    return statement


def check_choice(value: str | None, what: str, choices: Iterable[str]) -> None:
    """Raise InvalidInput for a value that is none of the choices; None, which is no value, passes."""
    if value is not None and value not in choices:
        raise InvalidInput(f"'{value}' is not {with_article(what)}.", f"Choose one of {', '.join(choices)}.")


def check_visible(text: str, what: str) -> None:
    """Raise InvalidInput if a text has a control character other than tab and line break, or a lone surrogate."""
    if text.isprintable():
        return
    for position, character in enumerate(text):
        if unicodedata.category(character) == "Cs":
            raise InvalidInput(
                f"The {what} is not UTF-8 text at position {position}.", "Write it, or set the terminal, in UTF-8."
            )
        if character in _HIDDEN or (character not in "\n\t" and unicodedata.category(character) == "Cc"):
            raise InvalidInput(
                f"The {what} has the control character U+{ord(character):04X} at position {position}.",
                "Remove it: it would hide or reorder text for whoever reads the history.",
            )


def as_one_file(path: str) -> str:
    """Return the common form of all paths that some file systems treat as equal, ignoring case and accent encoding."""

    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def with_article(word: str) -> str:
    """Return a word with the indefinite article that its first letter asks for."""
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"


def normal(text: str) -> str:
    """Return the common form of statements that differ only in case, spacing and outer punctuation."""
    if text.isascii() and text.isalnum():  # most are single words
        return text.lower()
    return _EDGES.sub("", _SPACES.sub(" ", unicodedata.normalize("NFKC", text)).casefold())


def near_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is spelled most like another one, in any case, or None if none is spelled like it."""
    from difflib import get_close_matches  # only after a mistake

    # Below, what is found has some letters of the name and another meaning: `private` and `predicate` have 0.75.
    cutoff = 0.7 if len(name) <= _SHORT_NAME else 0.8
    by_form = {text.lower(): text for text in known}
    near = get_close_matches(name.lower(), by_form, n=1, cutoff=cutoff)
    return by_form[near[0]] if near else None


def plain(text: str) -> str:
    """Return a text in normal form without accents, and with spaces for hyphens."""
    if not text.isascii():
        text = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
        text = text.translate(_LETTERS)
    return text.replace("-", " ")


def common_start(data: bytes, other: bytes) -> int:
    """Return how many bytes both begin with, by comparing slices: quick also for long files."""
    low, high = 0, min(len(data), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if data[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


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
# Singular and plural.
_NOUNS = (
    "child children, man men, woman women, person people, foot feet, tooth teeth, mouse mice, wife wives, life lives"
)
# A regular ending also leads to the group: `goes`, `going`, `taking`.
_ENDINGS = (("", ""), ("es", ""), ("s", ""), ("ing", ""), ("ing", "e"))


def _groups(table: str) -> Iterator[tuple[str, ...]]:
    return (tuple(group.split()) for group in table.split(","))


_BY_FORM = {form: tuple(dict.fromkeys(group)) for group in _groups(f"{_VERBS},{_NOUNS}") for form in group}


def forms_of(word: str) -> tuple[str, ...]:
    """Return the word and its irregular forms, if it has any, in lower case. Expects lower case."""
    for ending, put in _ENDINGS:
        if not word.endswith(ending):
            continue
        group = _BY_FORM.get(word.removesuffix(ending) + put)
        if group:
            return (word, *(form for form in group if form != word))
    return (word,)
