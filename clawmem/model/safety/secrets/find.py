"""Find credentials in text, by rule or because they look random, so that they never enter the history.

Every write is checked, so this module only does the cheap test which rules could match. The rules and their patterns
are loaded only when one could.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import count

from clawmem.model.named_tuple import NamedTuple
from clawmem.model.safety.secrets.place_rules import PLACES
from clawmem.model.safety.secrets.rules import (
    ADDRESS,
    INSIDE,
    KEY_STEMS,
    NAMES,
    NOUNS,
    PART_NAMES,
    SHORT_NAMES,
    SHORT_NOUNS,
    SHORTEST_NEXT,
    STARTING,
)

_STARTS = tuple((start, rule) for rule, starts, _ in STARTING for start in starts.split())
_INSIDE = tuple(
    (part, rule) for rule, parts, _ in INSIDE for part in parts.split() if rule not in ("url-password", "url-token")
)
_NAMES = tuple((name, rule) for rule, names in NAMES.items() for name in names.split("|"))
_NEAR = tuple((word, rule) for rule, place in PLACES.items() for word in place.words.split("|"))
INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u180e"
ESCAPED = '\\"'
"""A quote in a line of JSON, as a fact is kept."""
_RECORD_IDS = ("fact_", "event_", "evt_")
_NOUNS = tuple((noun, "") for noun in (*NOUNS, *SHORT_NOUNS))
_Row = tuple[str, str]
"""A literal, and the rule that it is of."""
_TABLES: tuple[tuple[_Row, ...], ...] = (_STARTS, _INSIDE, _NAMES, _NEAR, _NOUNS)
_LETTERS = r"[^\W\d_]+"
# From this text on it pays to know in which words the letters of a literal stand: most words of a vault are the same.
_FEW = 100
_texts = count()
_DIGITS = frozenset("0123456789")
_LONG_WORD = 32
_SHORTEST_TAIL = 16


class SecretSearch(NamedTuple):
    """What to look for in a text.

    `rules` are rules of shape. `named` are positions after a name, `places` are rules of place. The flags ask for
    random words near a noun for credentials, for those that nothing announces, for rows of words that could be a
    recovery phrase, and for forms that hide something.
    """

    rules: tuple[str, ...]
    named: tuple[tuple[str, int, bool], ...] = ()
    places: tuple[str, ...] = ()
    announced: bool = False
    bare: bool = False
    phrases: bool = False
    hidden: bool = False


class SecretMatch(NamedTuple):
    """A credential: the rule that matched, and its half-open range of characters."""

    rule: str
    start: int
    end: int


def find_secret(text: str, unnamed: bool = True) -> SecretMatch | None:
    """Return the first credential in the text, or None. See `find_secrets` for `unnamed`."""
    found = find_secrets(text, unnamed)
    return found[0] if found else None


def find_known_secret(text: str) -> SecretMatch | None:
    """Return the first credential with a known shape, for texts that may look random, such as session ids."""
    rules = candidate_rules(text)
    if not rules:
        return None
    from clawmem.model.safety.secrets.search import search

    return next((SecretMatch(*hit) for hit in search(text, "", SecretSearch(rules))), None)


def find_secrets(text: str, unnamed: bool = True) -> tuple[SecretMatch, ...]:
    """Return every credential in the text, in order and without overlaps. Takes time linear in the text.

    With `unnamed`, a long word that looks random counts even if no name announces it.
    """
    text = text if text.isascii() else text.replace("\u2019", "'")
    lower = _lowered(text)
    starts, inside, names, near, nouns = _tables(lower)
    asked = SecretSearch(
        candidate_rules(text, starts, inside),
        tuple(_named_places(lower, names)),
        tuple(_places(text, dict.fromkeys(rule for word, rule in near if word in lower))),
        any(noun in lower for noun, _ in nouns) and any(map(_may_be_token, text.split())),
        unnamed and _has_long_word(text),
        _has_row_of_words(text),
        _may_hide(text, starts),
    )
    if not any(asked):
        return ()
    # The patterns take a millisecond to load, and ordinary text rarely gets here.
    from clawmem.model.safety.secrets.search import search

    return tuple(SecretMatch(*hit) for hit in search(text, lower, asked))


def _tables(lower: str) -> Sequence[Sequence[_Row]]:
    """Return those rows of each table whose literal may occur in a text in lower case."""
    if next(_texts) < _FEW:
        return _TABLES
    places = {place for run in set(re.findall(_LETTERS, lower)) for place in _places_in(run)}
    found: tuple[list[_Row], ...] = tuple([] for _ in _TABLES)
    for table, row in sorted(places.union(place for _, place in _by_start()[""])):
        found[table].append(_TABLES[table][row])
    return found


@cache
def _by_start() -> Mapping[str, Sequence[tuple[str, tuple[int, int]]]]:
    """Return the longest run of letters of each literal in the tables, in lower case, with its place, by the first two
    of them."""
    found: dict[str, list[tuple[str, tuple[int, int]]]] = {"": []}
    for table, rows in enumerate(_TABLES):
        for row, (literal, _) in enumerate(rows):
            letters = max(re.findall(_LETTERS, _lowered(literal)), key=len, default="")
            found.setdefault(letters[:2], []).append((letters, (table, row)))
    return found


@lru_cache(maxsize=30_000)
def _places_in(run: str) -> Sequence[tuple[int, int]]:
    """Return the places of the literals whose letters stand in a run of letters."""
    starts = _by_start()
    near = ((at, starts.get(run[at : at + size], ())) for size in (1, 2) for at in range(len(run) - size + 1))
    return tuple(place for at, found in near for letters, place in found if run.startswith(letters, at))


def _places(text: str, rules: Iterable[str]) -> Iterator[str]:
    """Yield those rules of a place for which a text has what they need besides their word."""
    has_mixed = cache(lambda least: any(_is_mixed_word(word) for word in text.split() if len(word) >= least))
    for rule in rules:
        needs = PLACES[rule].needs
        if isinstance(needs, str):
            found = not needs or any(sign in text for sign in needs.split("|"))
        else:
            found = has_mixed(needs) or (rule == "wallet-key" and "[" in text)
        if found:
            yield rule


def _is_mixed_word(word: str) -> bool:
    """Return whether a word has letters and a digit, and is neither a time nor an id of a record."""
    word = word.lstrip("\"'")
    return not (word.isalpha() or _DIGITS.isdisjoint(word) or word[:4].isdigit() or word.startswith(_RECORD_IDS))


def _may_be_token(word: str) -> bool:
    return len(word) >= SHORTEST_NEXT and not (word.isalpha() or _DIGITS.isdisjoint(word))


def redact(text: str) -> str:
    """Return the text with each credential replaced by `[redacted: rule]`."""
    parts = []
    number = 0
    for match in find_secrets(text):
        parts += [text[number : match.start], f"[redacted: {match.rule}]"]
        number = match.end
    return "".join([*parts, text[number:]])


def candidate_rules(text: str, starts: Sequence[_Row] = _STARTS, inside: Sequence[_Row] = _INSIDE) -> tuple[str, ...]:
    """Return the rules whose words occur in the text, each once."""
    rules = [rule for start, rule in starts if start in text and next(beginnings(text, start), None) is not None]
    rules += [rule for part, rule in inside if part in text]
    if ADDRESS in text and "@" in text:
        rules += [rule for rule, part, _ in INSIDE if part == ADDRESS]
    return tuple(dict.fromkeys(rules))


def beginnings(text: str, start: str) -> Iterator[int]:
    """Yield where a word starts with `start`, with enough after it to be a credential."""
    for place in places_of(text, start):
        tail = text[place + len(start) : place + len(start) + _SHORTEST_TAIL]
        inside = start[0].isalnum() and text[place - 1 : place].isalnum()
        if len(tail) == _SHORTEST_TAIL and tail.split() == [tail] and not inside:
            yield place


def places_of(text: str, word: str) -> Iterator[int]:
    """Yield where a word stands in a text, without overlaps."""
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + len(word))


def _named_places(lower: str, names: Sequence[_Row]) -> Iterator[tuple[str, int, bool]]:
    """Yield where a value may follow a name of a credential: rule, end of the name, whether it is an option."""
    for word, rule in names:
        if word in lower:
            for place in places_of(lower, word):
                end = place + len(word)
                if word in SHORT_NAMES and (
                    lower[end : end + 1].isalnum()
                    or (lower[place - 1 : place].isalnum() and (word not in PART_NAMES or lower[end : end + 1] != "="))
                ):
                    continue
                if word != "key" or lower[max(0, place - 12) : place].rstrip("_- ").endswith(KEY_STEMS):
                    yield from _named_place(lower, rule, place, end)


def _named_place(lower: str, rule: str, place: int, end: int) -> Iterator[tuple[str, int, bool]]:
    near = lower[end : end + 6]
    if rule in ("bearer-token", "basic-authorization"):
        if near[:1] == " " and (rule == "bearer-token" or "authorization" in lower[max(0, place - 24) : place]):
            yield rule, end, False
    elif near[:1] == " " and "--" in lower[max(0, place - 16) : place].rsplit(" ", 1)[-1]:
        yield rule, end, True
    elif rule == "password" or any(sign in near for sign in ("=", ":", " is", " was")):
        yield rule, end, False


def _lowered(text: str) -> str:
    """Return the text in lower case with the same length, even if a letter's lower case is longer."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)


def _has_long_word(text: str) -> bool:
    """Return whether a word is as long as an unannounced key and has capitals or parts; addresses are skipped."""
    long = (word for word in text.split() if len(word) >= _LONG_WORD and ("_" in word or not word.islower()))
    return any(not 0 <= word.find("://") < _LONG_WORD for word in long)


def _has_row_of_words(text: str) -> bool:
    """Return whether twelve words of three to eight letters follow each other, as in a recovery phrase."""
    row = 0
    for word in text.split():
        word = word.strip(",.0123456789)[]\"'")
        row = row + 1 if 3 <= len(word) <= 8 and word.isalpha() else row if not word else 0
        if row == 12:
            return True
    return False


def _may_hide(text: str, starts: Sequence[_Row]) -> bool:
    """Return whether the text could hide a credential: invisible or wide letters, escaped quotes or lines, percents."""
    if not text.isascii() and (max(text) >= "\uff01" or any(letter in text for letter in INVISIBLE)):
        return True
    if ESCAPED in text:
        return True
    if "\n" in text or "\\n" in text:
        return any(start in text for start, _ in starts)
    return "%" in text
