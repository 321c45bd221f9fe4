"""Find what a sentence about a credential gives, wherever in it: a word that looks chosen, a code of digits, or a cell.

The noun announces, the shape decides: the grammar between the two is not read, so one list serves every language.
This module is loaded only if a text contains one of the words of its rules in `PLACES`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from clawmem.model.safety.secrets.looks import (
    could_be_chosen,
    could_be_key,
    could_be_password,
    has_mixed_case,
    is_sample,
    is_stand_in,
)
from clawmem.model.safety.secrets.place_rules import LOCKS, OPENING, PASSWORD_NOUNS
from clawmem.model.safety.secrets.rules import SHORTEST_TOKEN
from clawmem.model.safety.secrets.words import ABOUT, LABELS, RULES_ABOUT, is_joined

Hit = tuple[str, int, int]
"""Rule, start, end."""

# A sentence; a small letter goes on with it, because a password may end like one.
_ENDS = r"(?<=[.!?;])\s+(?![a-zà-ÿ])|\\?\n|\\n|\"[\s,:{}\[\]]{1,9}\""
_CHAT = r"\W{0,3}(?:[\d:]{4,8}\W{1,3})?[\w.-]{1,20}(?: \w{1,12})?(?::|>)\s"


def _nouns(words: str) -> str:
    return "|".join(
        rf"(?<![^\W_]){word}(?![^\W_])" if len(word) < 6 and word.isascii() else word for word in words.split("|")
    )


_PASSWORD = rf"(?P<random>secret(?!sf)|token|api[ -]key)|(?P<opens>{OPENING})|{_nouns(PASSWORD_NOUNS)}"
_WORD = r"(?:[!#-&*+\--:=?-Z^_a-z~\\\u00c0-\u024f\u0400-\u04ff]|(?<=\w)'(?=\d)){6,64}"
# What names a thing that is no credential, directly before the value.
_NAMED = (
    rf"(?:^|\W)(?:{'|'.join(sorted(LABELS))}|called|named|ssid|hei(?:ß|ss)t|s'appelle|se llama|si chiama|"
    r"model\w{0,3}|modell|room|raum|zimmer|entry|eintrag|part|row|rij|rang|file|pr|nr|no|nummer|numer|number|numéro|número|numero|"
    r"table|build|job|on|channel|invoice|bill|rechnung|factura|facture|order|router|repo\w{0,6}|branch|commit|server|"
    r"host|course|exam|flight|under|unter|sous|at|um|alle|om|kl)\W{0,3}(?:(?:is|ist|est|es|è|é) )?\W{0,3}$"
)
_CODE = (
    r"code|kode|codice|c[oó]dig|\bpin|\bkod|\bkód|код|пін|пин|geheimz|combina|kombin|šifr|[şs]ifre|parol|番号|密码|"
    r"비밀번호|비번"
)
_ENTER = (
    r"enter|typ(?:e|ing)\b|punch|press|tipp|eingeb|drück|\bgib|\btape|compose|tecle|marc[ao]|digit|\babr|quita|"
    r"desactiv|disins|disatt|spegn|kapat|\btoets|\bslå|unlock|opens? with|öffnet|geht (?:auf )?mit|otw[ieó]|wpis|"
    r"wyłącz|yaz|lock is|turn|dreh"
)
_NO_CODE = r"error|fault|fehler|erreur|\bzip|post(?:al|leit|code|nummer|kod)|pocztow|review|promo|qr|source code|\bbar"
_SIDE = (
    r"\d{1,2}\W{1,3}(?:left|right|links|rechts|gauche|droite|izquierda|derecha|esquerda|direita|sinistra|destra|lewo|"
    r"prawo|влево|вправо)"
)
_DIGITS = (
    rf"(?<![a-zа-я\d.,:/#+-])({_SIDE}(?:\W{{1,3}}(?:[a-z]{{1,5}}\W{{1,2}})?{_SIDE}){{2,4}}|"
    r"\d{1,2}(?:[ -]\d{2}){2,3}|\d{4,8}[#*]?|\d{1,4}[a-zа-я]\d{1,5})"
    r"(?![a-zа-я%€$£°]|[.,:/-]\d|\s?(?:kg|m|cm|km|euros?|eur|usd|h|uhr|chf|kr|zł|watt|mm|g)\b|\s?[€$£])"
)
_TIME = r"[0-2]\d[0-5][05]"
_COLUMN = (
    r"(?:\w{1,20}[_ .-])?(?:passwor[dt]|passwd|pass|pwd|pw|kennwort|contraseña|senha|mot de passe|wachtwoord|hasło|"
    r"пароль|secret|token|api[_ -]?key)(?:[_ .-]\w{1,10})?"
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def find_near(text: str, lower: str, rule: str) -> Iterator[Hit]:
    """Yield what a rule finds: `near-password` and `near-code` in sentences, `table-column` in tables."""
    if rule == "table-column":
        yield from _cells(text, lower)
        return
    start = 0
    for end in (*(found.end() for found in _compiled(_ENDS).finditer(text)), len(text)):
        yield from (_words if rule == "near-password" else _codes)(text, lower, start, end)
        start = end


def _words(text: str, lower: str, start: int, end: int) -> Iterator[Hit]:
    nouns = [noun for noun in _compiled(_PASSWORD).finditer(lower, start, end) if not _is_about(lower, noun.end())]
    if not nouns or end - start > 400 or RULES_ABOUT.search(lower, start, end):
        return
    if lower[end - 3 : end].rstrip().endswith("?") or (
        lower.endswith(("\n", "\\n"), start, end)
        and _compiled(_CHAT).match(lower, start)
        and _compiled(_CHAT).match(lower, end)
    ):
        following = _compiled(_ENDS).search(text, end)  # the answer
        end = following.start() if following else len(lower)
    chosen, phrase = any(not noun["random"] for noun in nouns), "phrase" in lower[start:end]
    opens = all(noun["opens"] for noun in nouns)
    for found in _compiled(_WORD).finditer(text, start, end):
        value = found[0].strip("*_,:;-=>").rstrip(".,;:?)")
        place = text.index(value, found.start())
        # Events open with something, too.
        fits = (
            (_is_chosen(value) and not (opens and value.isalnum()))
            or _is_long_number(value)
            or (phrase and is_joined(value.replace(".", "-")))
        )
        if (
            text[found.end() : found.end() + 1] != "("
            and ((chosen and fits) or _is_random(value))
            and not _is_named(lower, start, place)
        ):
            yield "near-password", place, place + len(value)


def _is_named(lower: str, start: int, place: int) -> bool:
    """Return whether the words before a place name something that is no credential."""
    return _compiled(_NAMED).search(lower, max(start, place - 40), place) is not None


def _is_about(lower: str, end: int) -> bool:
    """Return whether the noun that ends there only begins the name of something else: `password manager`."""
    following = _compiled(r"\w*[\s_-]{1,2}([^\W\d_]+)").match(lower, end)
    return following is not None and following[1] in ABOUT


def _is_chosen(value: str) -> bool:
    """Return whether a word looks chosen and is no name of a model or a ticket, nor a part of a hash."""
    shouted = value.isupper() and value.rstrip("!?#$%&").isalnum()
    return (
        could_be_chosen(value)
        and not _compiled("=[$%<{(]").search(value)
        and not shouted
        and not set(value) <= set("0123456789abcdef")
    )


def _is_long_number(value: str) -> bool:
    """Return whether a value is as long as the keys of digits that routers print."""
    return value.isdigit() and 16 <= len(value) <= 20 and len(set(value)) > 4


def _is_random(value: str) -> bool:
    """Return whether a short word changes between letters of both cases and digits as by chance."""
    letters, numbers = re.sub(r"\d", "", value), re.findall(r"\d+", value)
    return (
        10 <= len(value) < SHORTEST_TOKEN
        and value.isalnum()
        and len(numbers) > 1
        and has_mixed_case(letters)
        and not value.isupper()
    )


def _codes(text: str, lower: str, start: int, end: int) -> Iterator[Hit]:
    lock = _compiled(_nouns(LOCKS)).search(lower, start, end)
    coded = _compiled(_CODE).search(lower, start, end)
    if lock is None or end - start > 300 or _compiled(_NO_CODE).search(lower, start, end):
        return
    entered = [enter.span() for enter in _compiled(_ENTER).finditer(lower, start, end)]
    if lower[end - 3 : end].rstrip().endswith("?"):
        following = _compiled(_ENDS).search(text, end)
        end = following.start() if following else len(lower)
    for found in _compiled(_DIGITS).finditer(lower, start, end):
        if re.fullmatch(r"(?:19|20)\d\d(?:\d{4})?", found[0]) or _is_named(lower, start, found.start()):
            continue
        gaps = (lower[last : found.start()] or lower[found.end() : first] for first, last in entered)
        said = any(0 < len(gap) < 30 and not set(gap) & set(",;.:") for gap in gaps)
        if coded or (said and not re.fullmatch(_TIME, found[0])):
            yield "near-code", found.start(), found.end()


def _bare(cell: str) -> str:
    return cell.removesuffix("\\n").strip(" \"'`*\\\r\n")


def _cells(text: str, lower: str) -> Iterator[Hit]:
    """Yield the cells of a table or of comma-separated values below a column that a name of a credential heads."""
    columns: tuple[str, int, tuple[int, ...]] = ("", 0, ())
    start = 0
    for line in re.split(r"(?<=\n)|(?<=\\n)", lower):
        sign = next((sign for sign in "|\t;," if line.count(sign) > 0), "")
        cells = line.split(sign) if sign else []
        headed = tuple(n for n, cell in enumerate(cells) if _compiled(_COLUMN).fullmatch(_bare(cell)))
        if headed and not columns[2] and not {*line} & {*"=()"} and sum(map(bool, map(str.strip, cells))) > 1:
            columns = sign, len(cells), headed
        elif columns[2] and sign == columns[0] and len(cells) == columns[1]:
            for number in columns[2]:
                first = start + sum(len(cell) + 1 for cell in cells[:number])
                cell = text[first : first + len(cells[number])]
                value = _bare(cell)
                fits = len(value) >= 6 and (could_be_password(value) or could_be_key(value, 12))
                if fits and not is_stand_in(value) and not is_sample(value):
                    yield "table-column", first + cell.index(value), first + cell.index(value) + len(value)
        else:
            columns = "", 0, ()
        start += len(line)
