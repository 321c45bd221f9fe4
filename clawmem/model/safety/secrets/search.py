"""Search a text for credentials by shape, by name, and by randomness."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from clawmem.model.safety.secrets.find import (
    ESCAPED,
    INVISIBLE,
    SecretSearch,
    beginnings,
    candidate_rules,
    find_secrets,
)
from clawmem.model.safety.secrets.looks import (
    compiled,
    could_be_chosen,
    could_be_key,
    could_be_password,
    is_placeholder,
    is_sample,
    is_stand_in,
    is_token,
    looks_random,
    password_of_login,
    says_nothing,
)
from clawmem.model.safety.secrets.rules import INSIDE, NOUNS, SHORT_NOUNS, SHORTEST_TOKEN, STARTING

Hit = tuple[str, int, int]
"""Rule, start, end."""

_PATTERNS = {rule: pattern for rule, _, pattern in INSIDE}
_RESTS = {rule: (starts, rest) for rule, starts, rest in STARTING}
_SHORTEST_ASSIGNED_KEY = 12
_SHORTEST_SPOKEN_KEY = 16
_HEADERS = ("bearer-token", "basic-authorization")
_PART_NAME = r"(?i:[a-z0-9](?:pass|pw)$)"

_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_RUN = r"[A-Za-z0-9+/_-]{32,}={0,2}"
_SIGN = r"""(\\?["'`*_]{0,3}\]?\s{0,3}(?::=|=>|==?|:)[*_]{0,2}\s{0,3}|\s{1,3}(?:is|was):?\s{1,3})"""
_ASSIGNED = _SIGN + r"""(\\?["'`]?)([^\s"'`,;]{6,200})"""
_NEXT_NAME = r"-?\s{0,3}[A-Za-z_][\w.-]{0,80}\s{0,2}[=:](?=\s|$|[^\s]*$|[^\s]*\s)"
_HEADER_NAME = (
    r"(?:X-(?:[A-Za-z0-9]{1,20}-){0,4}|(?:[A-Z][A-Za-z]{1,20}-){1,4})(?:Api-?)?(?:Token|Key|Secret|Auth|Pat)$"
)
# Headers that hold ids in the form of a UUID, and no key.
_ID_HEADERS = (
    "idempotency request trace correlation cache partition surrogate page next continuation sync cursor websocket csrf "
    "xsrf dedup client-token row sort lock job message event"
).split()
_UUID_NAMES = (
    r"(?i:api[_-]?keys?|access[_-]?tokens?|auth[_-]?tokens?|api[_-]?tokens?|client[_-]?secret|secret[_-]?key)$"
)
_OPTION = r"""([ =]{1,3})(["'`]?)([^\s"'`,;]{6,200})"""
_HEADER = r"\s{1,3}([A-Za-z0-9._~+/-]{16,}=*)"
_PUBLIC = (
    r"\"(?:n|x|y)\\?\"\s{0,3}:\s{0,3}\\?\"[\w-]{20,700}|"
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}(?:CERTIFICATE(?: REQUEST)?|PUBLIC KEY(?: BLOCK)?|SIGNATURE|CRL)-----[^-]*"
    r"(?:-{1,4}(?!-)[^-]*)*-----END"
)
_LONG = r"(?<![A-Za-z0-9])[A-Za-z0-9][A-Za-z0-9_.~+/-]{12,600}[A-Za-z0-9]={0,2}(?![A-Za-z0-9_~+/-])"
# The nouns that say what a long word is. Those for other things come first: a `cache key` or `key id` is no credential.
_OTHER_NOUNS = (
    r"commit|sha-?\d*|hash(?:es)?|checksum|digest|md5|blake\w{0,3}|fingerprint|thumbprint|ids?|identifier|uuid|guid|ulid|"
    r"kennung|etag|revision|rev|build|artifact|image|layer|blob|container|snapshot|trace\w{0,6}|span|request|correlation|"
    r"boundary|signature|integrity|nonce|address|adresse|tx|txn|transaction|contract|order|invoice|tracking|parcel|"
    r"serial|filename|file|datei|path|pfad|branch|release|version|example|placeholder|dummy|sample|fake|beispiel|"
    r"exemple|ejemplo|"
    r"(?:idempotency|cache|primary|foreign|partition|sort|shard|row|object|s3|bucket|lookup|dedup\w{0,9}|surrogate|index|"
    r"public|publishable|pub|site|host|map|hash|dict|group|query|i18n|translation|registry)[ _-]?keys?|"
    r"(?:csrf|xsrf|page|next|continuation|sync|cursor|push|device|pagination|resume)[ _-]?token|"
    r"(?:key|token|secret|credential|client|access[ _-]key|schlüssel)[ _-]?(?:id|hash|name|fingerprint|version|file)s?"
)
_NOUN = (
    rf"(?<![^\W_])(?i:(?P<other>{_OTHER_NOUNS})(?:s|es)?(?![^\W\d_])|(?:{'|'.join(SHORT_NOUNS)})s?(?![^\W\d_]))"
    rf"|(?<=[a-z0-9])(?:Key|Pat|Auth|Pass|(?P<id>Id|ID|Hash))(?![a-z])|(?i:{'|'.join(NOUNS)})"
)
_NEAR = 90
_CLAUSE_ENDS = r"[.!?;]\s|\n\s{0,9}\n|[\"'],\s{0,9}\\?[\"']"
_SAYS = r"(?i:^\W{0,8}(?:[^\W\d_]{1,12}\W{1,3}){0,4}$)"
_NEXT = r"(?i:^\\?[\"'`*]{0,3}(?:\s{0,2}[:=]\s{0,2}|\s(?:is|ist|lautet|est|es|è|é)\s|\s)\\?[\"'`*]{0,3}$)"
_SAID_AFTER = r"(?i:^[\"'`)»\]]{0,3}\s{0,2}(?:is|was|as|ist|als|est|comme|es|como|è|come|é|[(=←—–-])\s?[^\n.]{0,40})"
_NO_OWNERS = frozenset("the a an my your our this that each every new old der die das le la el il de het".split())
_HASH_LENGTHS = (32, 40, 64)
# Parts in front of a random one that say that it is a credential: `live_`, `acme_sk_`.
_TELLING_PARTS = frozenset(
    "live test prod production sandbox sk ak rk key apikey token tok secret sec pat access refresh priv private"
    " auth".split()
)
# A number, an address or an id of a key; private keys are longer.
_NUMBER = r"0[xX][0-9A-Fa-f]{1,40}"
_DISCORD = r"(?<![\w.-])[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![\w-])"


def search(text: str, lower: str, asked: SecretSearch) -> Iterator[Hit]:
    """Yield the credentials to look for, in order and without overlaps. `lower` is the text in lower case."""
    found = list(_in_plain_text(text, lower, asked))
    if asked.hidden:
        for form in plain_forms(text):
            found += [_back(form.places, (hit.rule, hit.start, hit.end), text) for hit in find_secrets(form.text)]
        for form, rules in joined_forms(text):
            found += [_back(form.places, hit, text) for rule in rules for hit in _by_rule(rule, form.text)]
    return _merged(found)


def _in_plain_text(text: str, lower: str, asked: SecretSearch) -> Iterator[Hit]:
    for rule in asked.rules:
        yield from _by_rule(rule, text)
    for rule, end, option in asked.named:
        yield from _after_header(text, rule, end) if rule in _HEADERS else _after_name(text, rule, end, option)
    if asked.places:
        from clawmem.model.safety.secrets.places import find_at_places

        yield from find_at_places(text, lower, asked.places)
    if asked.phrases:
        from clawmem.model.safety.secrets.places import find_recovery_phrases

        yield from find_recovery_phrases(text)
    if asked.announced or asked.bare:
        yield from _long_words(text, asked)
    if asked.bare:
        yield from _bare(text)


def _back(places: Sequence[int], hit: Hit, text: str) -> Hit:
    """Map a hit in another form of the text to the text itself."""
    rule, start, end = hit
    first, last = places[start], places[end]
    return rule, first, first + len(text[first:last].rstrip(" \t\n\\"))


def _by_rule(rule: str, text: str) -> Iterator[Hit]:
    for start, end in _shapes(rule, text):
        if not _CHECKS.get(rule, is_placeholder)(text[start:end]):
            yield rule, start, end


def _shapes(rule: str, text: str) -> Iterator[tuple[int, int]]:
    if rule in _PATTERNS:
        for match in compiled(_PATTERNS[rule]).finditer(text):
            yield match.span(match.lastindex or 0)
        return
    starts, rest = _RESTS[rule]
    for start in starts.split():
        ended = 0
        for place in beginnings(text, start):
            # What stands inside a match is not tried again, so that the search stays linear.
            found = compiled(rest).match(text, place + len(start)) if place >= ended else None
            if found:
                ended = found.end()
                yield found.span(found.lastindex) if found.lastindex else (place, ended)


def _after_name(text: str, rule: str, end: int, option: bool) -> Iterator[Hit]:
    """Yield the value after a name: `password = ...`, `"api_key": "..."`, `the password is ...`, `--token ...`."""
    hit = _assigned(text, rule, end, option)
    if hit is None and rule == "password" and not option:
        from clawmem.model.safety.secrets.words import find_spoken_password  # few texts speak of passwords

        span = find_spoken_password(text, end)
        hit = (rule, *span) if span else None
    if hit:
        yield hit


def _assigned(text: str, rule: str, end: int, option: bool) -> Hit | None:
    match = compiled(_OPTION if option else _ASSIGNED).match(text, end)
    if match is None:
        return None
    if ("\n" in match[1] and _is_next_name(text, match)) or (rule != "password" and _names_another(text, end)):
        return None
    # A value in a sentence needs to look more like a secret than one in quotes or after an equals sign.
    spoken = not match[2] and "=" not in match[1]
    value = match[3].rstrip(".!?)") if spoken else match[3].rstrip("\\")
    seen = value.split("\\n", 1)[0]
    name = compiled(r"[A-Za-z_]*$").search(text, max(0, end - 40), end)
    full = compiled(r"[A-Za-z0-9_-]*$").search(text, max(0, end - 60), end)
    if _is_uuid_of_a_key(seen, full[0] if full else "", match[1]):
        return rule, match.start(3), match.start(3) + len(value)
    # A person may really have the password `password1`; in code it is a sample.
    in_sentence = rule == "password" and (spoken or match[1].strip(" :\n*_") in ("is", "was"))
    # `pass` and `pw` are also words of code: a value assigned to them must look like a password.
    loose = spoken or (name is not None and name[0].endswith(("pass", "pw")))
    if len(seen) < 6 or (is_stand_in if in_sentence else says_nothing)(seen) or not _fits(seen, rule, loose):
        return None
    if name is not None and compiled(_PART_NAME).search(name[0]) and not could_be_chosen(seen):
        return None
    return rule, match.start(3), match.start(3) + len(value)


def _names_another(text: str, end: int) -> bool:
    """Return whether the name that ends at `end` is of something else: `next page token`."""
    nouns = list(compiled(_NOUN).finditer(text, max(0, end - 40), end))
    return bool(nouns) and nouns[-1].end() == end and _is_other(nouns[-1])


def _is_next_name(text: str, match: re.Match[str]) -> bool:
    """Return whether the value is really the next line's name, because the value itself is empty."""
    return "=" in match[1] or compiled(_NEXT_NAME).match(text, match.start(3)) is not None


def _is_uuid_of_a_key(value: str, name: str, sign: str) -> bool:
    """Return whether an environment variable contains a key in the form of a UUID, as several vendors use."""
    is_variable = name.isupper() and "IDEMPOTENCY" not in name and "=" in sign and "_" in name
    return _is_uuid(value) and (is_variable or _names_a_key(name, sign))


def _names_a_key(name: str, sign: str) -> bool:
    """Return whether a name is that of a header or a setting for a key: `X-Acme-Token`, `api_key`."""
    if any(word in name.lower() for word in _ID_HEADERS):
        return False
    header = ":" in sign and compiled(_HEADER_NAME).search(name)
    return bool(header or (not sign.isspace() and compiled(_UUID_NAMES).search(name)))


def _fits(value: str, rule: str, spoken: bool) -> bool:
    if rule == "password":
        return could_be_password(value) if spoken else True
    return could_be_key(value, _SHORTEST_SPOKEN_KEY if spoken else _SHORTEST_ASSIGNED_KEY)


_CHECKS: dict[str, Callable[[str], bool]] = {
    "url-password": says_nothing,
    "url-token": lambda value: not is_token(value),
}
"""Whether what a rule of shape matches is no credential, for the rules for which `is_placeholder` does not tell."""


def _after_header(text: str, rule: str, end: int) -> Iterator[Hit]:
    match = compiled(_HEADER).match(text, end)
    if match is None or is_stand_in(match[1]) or _is_sample_login(match[1]):
        return
    if could_be_key(match[1], _SHORTEST_SPOKEN_KEY) or (rule == "basic-authorization" and password_of_login(match[1])):
        yield rule, match.start(1), match.end(1)


def _is_sample_login(value: str) -> bool:
    """Return whether a value is base64 of a name and a sample password."""
    return is_sample(password_of_login(value).replace(" ", "_"))


def _long_words(text: str, asked: SecretSearch) -> Iterator[Hit]:
    """Yield long random words that a noun near them or their own beginning calls credentials."""
    public = _public_blocks(text)
    for match in compiled(_LONG).finditer(text):
        word, (start, end) = match[0], match.span()
        before, after = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
        if compiled(_NUMBER).fullmatch(word):
            continue
        in_address = "://" in re.split(r"\s", before)[-1] and before[-1] not in "=:"
        if in_address or after[:1] == "@" or any(first <= start < last for first, last in public):
            continue
        if not (is_token(word) or _is_uuid(word) or _is_mixed(word)) or _is_sample_login(word):
            continue
        if asked.announced and _is_announced(word, before, after):
            yield "announced-token", start, end
        elif asked.bare and is_token(word) and _tells_token(word):
            yield "prefixed-token", start, end


def _is_announced(word: str, before: str, after: str) -> bool:
    """Return whether the last noun before a random word, or else the first one said after it, is of a credential."""
    clause = compiled(_CLAUSE_ENDS).split(before)[-1]
    nouns = list(compiled(_NOUN).finditer(clause))
    if not nouns:
        match = compiled(_SAID_AFTER).match(compiled(_CLAUSE_ENDS).split(after)[0])
        nouns = list(compiled(_NOUN).finditer(match[0])) if match else []
        if not nouns or any(map(_is_other, nouns)) or len(word) < SHORTEST_TOKEN or not is_token(word):
            return False
        return not _is_hash_long(word) or (match is not None and _has_owner(nouns, match[0]))
    if _is_other(nouns[-1]):
        return False
    gap = clause[nouns[-1].end() :]
    if "public" in gap.lower():
        return False
    in_header = nouns[-1][0].lower().startswith("authoriz")
    # Most words of the length of a hash, and most UUIDs, are no credentials; nor are short words.
    follows = compiled(_NEXT).search(gap) is not None
    if not is_token(word) and not _is_uuid(word):
        return follows
    if len(word) < SHORTEST_TOKEN or _is_uuid(word):
        return in_header or (follows and _has_owner(nouns, clause))
    another = any(map(_is_other, nouns)) or ("/" in clause.rsplit(None, 1)[-1] and not clause.endswith("="))
    named = follows and clause[: nouns[-1].start()].endswith("_")
    return not _is_hash_long(word) or named or (not another and compiled(_SAYS).search(gap) is not None)


def _is_other(noun: re.Match[str]) -> bool:
    return bool(noun["other"] or noun["id"])


def _has_owner(nouns: Sequence[re.Match[str]], clause: str) -> bool:
    """Return whether the last noun says whose key it is, and nothing else is named: `API key`, `ACME_TOKEN`."""
    owner = compiled(r"([^\W\d_]+)['’]?[ _-]?$").search(clause, 0, nouns[-1].start())
    return not any(map(_is_other, nouns)) and owner is not None and owner[1].lower() not in _NO_OWNERS


def _is_uuid(word: str) -> bool:
    return compiled(_UUID).fullmatch(word) is not None


def _is_mixed(word: str) -> bool:
    """Return whether a word is random enough for a credential if its noun stands directly before it."""
    parts = re.findall(r"\d+", word), re.findall("[A-Za-z]{5}", word)
    return word.isalnum() and len(parts[0]) > 1 and not parts[1] and could_be_key(word, SHORTEST_TOKEN)


def _is_hash_long(word: str) -> bool:
    return (len(word) in _HASH_LENGTHS or "-" in word) and set(word) <= set("0123456789abcdef-")


def _tells_token(word: str) -> bool:
    """Return whether a word begins as keys do: short parts, one of which says so, and then a random one."""
    parts = re.split(r"[_.-]", word)
    tail = max(parts, key=len)
    heads = parts[: parts.index(tail)]
    if not 1 <= len(heads) <= 4 or max(map(len, heads)) > 10 or not heads[0][:1].isalpha() or not is_token(tail):
        return False
    if _TELLING_PARTS.intersection(map(str.lower, heads)):
        return not _is_hash_long(tail)
    return (
        f"{heads[-1]}_{tail}" in word
        and len(tail) >= 30
        and heads[0].islower()
        and not compiled("[0-9a-fA-F]+").fullmatch(tail)
    )


def _bare(text: str) -> Iterator[Hit]:
    """Yield long runs that look random and have no name."""
    if text.count(".") >= 2:
        for match in compiled(_DISCORD).finditer(text):
            if looks_random(match[0].replace(".", ""), ""):
                yield "discord-token", match.start(), match.end()
    public = _public_blocks(text)
    for match in compiled(_RUN).finditer(text):
        if any(start <= match.start() < end for start, end in public):
            continue
        before = text[max(0, match.start() - 200) : match.start()]
        word = before.rsplit(None, 1)[-1] if before and not before[-1].isspace() else ""
        follows = text[match.end() : match.end() + 1]
        nouns = list(compiled(_NOUN).finditer(before, max(0, len(before) - _NEAR)))
        if nouns and _is_other(nouns[-1]) and compiled(_NEXT).search(before[nouns[-1].end() :]):
            continue
        if "://" not in word and follows != "@" and looks_random(match[0], before[-24:]):
            yield "random-token", match.start(), match.end()


def _public_blocks(text: str) -> list[tuple[int, int]]:
    """Return where certificates, public keys and signatures are; they look random but are public."""
    some = "-----BEGIN " in text or '"kty' in text
    return [match.span() for match in compiled(_PUBLIC).finditer(text)] if some else []


def _merged(found: list[Hit]) -> Iterator[Hit]:
    """Merge overlapping hits; the rule that was tried first names the result."""
    asked: dict[str, int] = {}
    for rule, _, _ in found:
        asked.setdefault(rule, len(asked))
    current: Hit | None = None
    for hit in sorted(found, key=lambda each: each[1:]):
        if current is None or hit[1] >= current[2]:
            if current:
                yield current
            current = hit
        else:
            current = (min(current[0], hit[0], key=asked.__getitem__), current[1], max(current[2], hit[2]))
    if current:
        yield current


_HIDDEN = re.compile(f"[{INVISIBLE}]+")
_BEFORE_QUOTE = re.compile(r'\\(?=")')
_WIDE = re.compile(r"[\uff01-\uff5e]+")
_BREAK = re.compile(r"(?<=[A-Za-z0-9_+/=-])(?:\\?\r?\n|\\n)[ \t]{0,8}(?=[A-Za-z0-9_+/=-])")
_PERCENT = re.compile(r"%[2-7][0-9A-Fa-f]")


class TextForm(NamedTuple):
    """A text in another form, and for each of its characters the position in the original text."""

    text: str
    places: list[int]


def plain_forms(text: str) -> Iterator[TextForm]:
    """Yield the text with plain quotes, then without invisible characters and with plain letters for wide ones."""
    if ESCAPED in text:
        yield _without(_whole(text), _BEFORE_QUOTE, _nothing)
    wide = None if text.isascii() else _WIDE.search(text)
    hidden = None if text.isascii() else _HIDDEN.search(text)
    if hidden or wide:
        form = _without(_whole(text), _HIDDEN, _nothing)
        yield _without(form, _WIDE, lambda found: unicodedata.normalize("NFKC", found))


def joined_forms(text: str) -> Iterator[tuple[TextForm, tuple[str, ...]]]:
    """Yield the text with joined lines, and the text without percent-encoding, each with the rules to look for.

    Only these rules apply, because joined lines form words that nobody wrote.
    """
    for pattern, change in ((_BREAK, _nothing), (_PERCENT, _decoded)):
        if pattern.search(text):
            asked = candidate_rules(pattern.sub(lambda match: change(match[0]), text))  # noqa: B023 - it is called here
            if asked:
                yield _without(_whole(text), pattern, change), asked


def _nothing(_: str) -> str:
    return ""


def _decoded(escape: str) -> str:
    return chr(int(escape[1:], 16))


def _whole(text: str) -> TextForm:
    return TextForm(text, list(range(len(text) + 1)))


def _without(form: TextForm, pattern: re.Pattern[str], change: Callable[[str], str]) -> TextForm:
    pieces: list[str] = []
    places: list[int] = []
    number = 0
    for match in pattern.finditer(form.text):
        new = change(match[0])
        pieces += [form.text[number : match.start()], new]
        places += form.places[number : match.start()]
        # Wide letters keep their positions; a decoded escape is at the start of the escape.
        places += [form.places[match.start() + (n if len(new) == len(match[0]) else 0)] for n in range(len(new))]
        number = match.end()
    pieces.append(form.text[number:])
    return TextForm("".join(pieces), places + form.places[number:])
