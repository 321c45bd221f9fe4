"""Classify values: a placeholder, code, a password, or random enough to be a key."""

from __future__ import annotations

import binascii
import math
import re
from functools import cache
from itertools import pairwise

PLACEHOLDER_PARTS = (
    "example sample dummy placeholder changeme change_me change-me your redacted insert replace fake xxxx .... **** "
    "____ 1234567890 0123456789 abcdefgh ${ {{ <"
).split()
PLACEHOLDERS = frozenset(
    "password passwd passphrase passcode secret secrets token tokens pass pwd apikey api_key none null nil true false "
    "undefined required optional missing hidden masked unset empty unknown default string prompt postgres "
    "guest hunter hashed encrypted plaintext plain-text rotated expired revoked invalid correct incorrect".split()
)
_NAMED_AFTER = ("pass", "pwd", "secret", "token", "key", "cred", "auth")
_CODE_STARTS = tuple(
    "$ < { [ * ( % & @ / ~ ./ ../ \\ os. env. process. self. this. settings. config. var. local. data. vault: op:// "
    "getenv ENC[ ! arn:".split()
)
_TECHNICAL = tuple(
    "base64 base32 sha1 sha256 sha512 md5 utf8 utf-8 oauth2 argon2 pbkdf2 http2 web3 mp3 mp4 k8s 1password 2fa rs256 "
    "hs256 es256".split()
)
_IDS = ("fact_", "event_", "evt_", "ev_", "session_", "commit_")
_HARMLESS_STARTS = (
    "AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "AAAAGnNr", "AAAAInNr",  # public SSH keys
    "iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "PHN2Zy", "JVBERi",  # images and documents
    "sha1-", "sha256-", "sha384-", "sha512-",  # integrity hashes
    "pk_live_", "pk_test_", "sb_publishable_", "phc_",  # keys that every visitor of a page gets
    "chatcmpl-", "msg_", "toolu_", "call_", "resp_", "run_", "thread_",
    "asst_", "file-", "req_", "cus_", "pi_", "price_",
    "sub_", "evt_", "cs_test_", "cs_live_",  # ids of what vendors keep
    "WebKitFormBoundary", "Part_", "boundary=",  # what parts mails and forms
    "eyJhbGciOi",  # the first part of a JSON Web Token, which only names an algorithm
)  # fmt: skip
_HARMLESS_BEFORE = (
    "sha1", "sha256", "sha384", "sha512", "md5", "digest", "checksum", "fingerprint", "integrity", "etag", "hash",
    "commit", "h1:", "base64,", "(public)", "public key", "publickey", "public_key", "public-key",
    "sitekey", "site key", "boundary",
    "=_", "pk.", "message-id", "spki", "x5t", "nonce",
    "serial=", "serial:", "serial number", "thumbprint", "modulus=", "keyid",
)  # fmt: skip
# Words that are common in samples and tests: words for a secret itself, and words beside them.
_OF_SAMPLES = frozenset(
    "password passwd passphrase passcode pass pwd secret token key credential test testing demo dummy sample foo bar"
    " abc sesame".split()
)
_BESIDE_SAMPLES = frozenset(
    "my your our the a an this some any user users username admin root login auth api jwt session csrf access private"
    " refresh client app db database server service account signing encryption wrong right correct incorrect valid"
    " invalid bad good new old current previous initial temp temporary default secure strong weak super very top plain"
    " simple easy safe another other different same first second hash hashed raw original expected provided given"
    " stored real not for of here goes value text string long random complex confirm dev development local"
    " baz def ghi xyz open alice bob john jane".split()
)
_COUNTING = "|".join(("123456789", "12345678", "1234567", "123456", "12345", "1234", "123", "12", "456", "789", r"\d"))
_HEX = frozenset("0123456789abcdefABCDEF-")
_SYMBOLS = frozenset("!@#$%^&*?+=~")
_NOT_BASE58 = frozenset("0OIl")
_PRODUCTS = tuple(
    """
office365 microsoft365 windows macos ubuntu debian python iphone ipad galaxy pixel playstation xbox fritzbox log4j
iso  covid cve- rfc http ipv ecma es20 rtx gtx usb typescript chrome firefox java php node
""".split()
)
# Words that join others in sentences of several languages, of three letters or more.
_JOINING = frozenset(
    """
the and you your this that with for are not never always from have will must should can it's into any our their its
his her who what when where which was been before after who und der die das ist nicht mit für auf den dem ein eine
sie wir nie niemals les des une pour dans est pas sur avec qui que vous nous jamais los las una para por con del
nunca como pero não uma com nunca per che non della sono mai het een van niet voor met nooit
""".split()
)
LONGEST_KEY = 200


@cache
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern on first use; compiling all of them would take many milliseconds."""
    return re.compile(pattern, flags)


def is_placeholder(value: str) -> bool:
    """Return whether a credential-shaped value is a placeholder: an example, a blank, or a run of few letters."""
    if len(value) > LONGEST_KEY:
        return False  # a key file or a long token holds any four letters by chance
    lower = value.lower()
    return len(set(lower[-16:])) <= 4 or any(part in lower for part in PLACEHOLDER_PARTS)


def is_stand_in(value: str) -> bool:
    """Return whether the value of a password or key is not a secret: a placeholder, a variable, an id or a path."""
    lower = value.lower().strip("\"'`.,;:!?)")
    if lower in PLACEHOLDERS or value.startswith(_CODE_STARTS) or lower.startswith(_IDS):
        return True
    if any(part in lower for part in PLACEHOLDER_PARTS) or len(set(lower)) <= 2 or "://" in lower:
        return True
    return _is_code(value) or (len(lower) == 36 and lower.count("-") == 4 and _HEX.issuperset(lower))


def says_nothing(value: str) -> bool:
    """Return whether the value of a password or key in code is not a secret: a stand-in, or sample text."""
    return is_stand_in(value) or is_sample(value)


def is_sample(value: str) -> bool:
    """Return whether a value in code is sample text: `secure_password123`, `my-secret-key-1`, `test123`.

    It must consist of such words and counting digits only, and contain one word for a secret.
    """
    found = _sample().fullmatch(value.lower())
    return found is not None and len(value) <= LONGEST_KEY and any(word in value.lower() for word in _OF_SAMPLES)


@cache
def _sample() -> re.Pattern[str]:
    words = "|".join(sorted({*_OF_SAMPLES, *_BESIDE_SAMPLES}, key=lambda word: (-len(word), word)))
    # Possessive, so that words with a common beginning are not tried again.
    return re.compile(rf"(?:(?>{words}|(?:{_COUNTING})(?!\d))[_.-]?)++!?")


def _is_code(value: str) -> bool:
    """Return whether a value is a call, an element, a dotted name, or a name without digits (`new_password`)."""
    value = value.rstrip(")]}:")
    head = value.replace("[", "(").split("(", 1)[0]
    names = head.split(".")
    if not all(name.isidentifier() for name in names):
        return False
    lower = value.lower()
    plain = not any(letter.isdigit() for letter in value)
    return head != value or (plain and (len(names) > 1 or any(name in lower for name in _NAMED_AFTER)))


def could_be_password(value: str) -> bool:
    """Return whether a word looks like a password: letters with digits or symbols, and not a technical term."""
    lower = value.lower()
    letters = any(letter.isalpha() for letter in value)
    digits = any(letter.isdigit() for letter in value)
    if not letters or not (digits or _SYMBOLS.intersection(value)):
        return False
    counted = lower.lstrip("0123456789").lstrip("-+")
    measure = (
        lower[0].isdigit()
        and counted.isalpha()
        and value[-len(counted) :] in (counted, counted.upper(), counted.title())
    )
    return not lower.startswith(_TECHNICAL) and not measure


def could_be_chosen(value: str) -> bool:
    """Return whether a word looks like a password that a person chose: letters with a symbol or at least two digits.

    Used where the text around it says less, so mail addresses, dates, versions, file names and products do not count.
    """
    value = value.rstrip(".,;:)").strip("*_`")
    digits = sum(letter.isdigit() for letter in value)
    symbols = sum(letter in _SYMBOLS for letter in value)
    if len(value) < 6 or not could_be_password(value) or says_nothing(value):
        return False
    if digits < 2 and not (digits and symbols) and symbols < 2:
        return False
    if value.lower().startswith(_PRODUCTS) or compiled(_NOT_CHOSEN).search(value):
        return False
    return bool(symbols) or not value.isupper() or "-" not in value


_NOT_CHOSEN = (
    r"[\u2e80-\ufaff]|@[\w-]{1,60}\.[a-z]{2,}|^[\w.-]{1,60}@[a-zA-Z]|^[+\d.,:/T-]+(?:[a-zA-Z%°€$]{1,4})?$|"
    r"^v?\d{1,4}(?:\.\d{1,6}){1,3}"
    r"|[\\/()\[\]{}<>]|\.[a-z]{2,5}\d?$|^[A-Z]{1,6}-?\d+$|^\d{1,4}[ap]m$|^[a-z]{1,3}\d{1,4}$|"
    r"^[?&]?\w{1,40}=[A-Za-z_]|^\d{1,4}-\w+$"
)


def is_mixed(value: str) -> bool:
    """Return whether a word of at least 20 characters looks random: hexadecimal, or changing between kinds often."""
    if not could_be_key(value, 20):
        return False
    if _HEX.issuperset(value):
        return len(value.replace("-", "")) >= 24
    kinds = [_kind(letter) for letter in value if letter.isalnum()]
    return sum(number != other for number, other in pairwise(kinds)) >= 0.3 * len(kinds)


def is_token(value: str) -> bool:
    """Return whether a word of at least 14 characters looks like a token: hexadecimal, or with a long part in which
    digits stand among the letters more than once. Names, dates, versions and UUIDs have no such part."""
    if not could_be_key(value, 14) or value.startswith(_HARMLESS_STARTS) or _is_text(value) or says_nothing(value):
        return False
    if _HEX.issuperset(value):
        return len(value.replace("-", "")) >= (28 if "-" in value else 24 if len(value) >= 20 else 14)
    part = max(re.split(r"[^A-Za-z0-9]", value), key=len)
    kinds = [_kind(letter) for letter in part]
    switches = sum(kind != after for kind, after in pairwise(kinds))
    groups = len(re.findall(r"(?<=[A-Za-z])\d+(?=[A-Za-z])", part))
    mixed = groups > (1 if len(value) >= 20 else 2) or (len(value) >= 20 and has_mixed_case(part))
    return len(part) >= 14 and switches >= 0.2 * len(part) and mixed


def is_row_of_words(value: str) -> bool:
    """Return whether words in a row could be a recovery phrase: nearly all differ and none only joins others."""
    words = re.findall(r"[^\W\d_]+", value.lower())
    return len(set(words)) * 4 > len(words) * 3 and _JOINING.isdisjoint(words)


def could_be_key(value: str, shortest: int) -> bool:
    """Return whether a word looks like a key or token: long enough, with letters and digits, and varied."""
    if len(value) < shortest:
        return False
    if not any(letter.isdigit() for letter in value):
        return len(value) >= 20 and value.isalpha() and value.isascii() and has_mixed_case(value)
    return any(letter.isalpha() for letter in value) and entropy(value) >= 3.0


def has_mixed_case(value: str) -> bool:
    """Return whether capitals stand among small letters as by chance, unlike in a name of several words."""
    if (
        not value.isupper()
        and not re.search("(?=[a-z]{0,3}[aeiouy])[a-z]{4}|[A-Z]{9}|[^A-Za-z]", value)
        and not value.islower()
    ):
        return True
    return sum(text.isupper() != other.isupper() for text, other in pairwise(value)) >= 0.36 * len(value)


def looks_random(run: str, before: str) -> bool:
    """Return whether a bare run of 32 to 200 characters looks like a key: mixed, with three kinds of characters.

    `before` is the text before it. Hashes, UUIDs, file data, public keys, addresses, paths and long names do not count.
    """
    core = run.rstrip("=").strip("-_/")
    if not 32 <= len(core) <= LONGEST_KEY or run.lstrip("-_=").startswith(_HARMLESS_STARTS) or is_placeholder(core):
        return False
    before = before.lower()
    if any(name in before for name in _HARMLESS_BEFORE) or _is_address(core) or _is_text(run):
        return False
    pieces = core.replace("_", "-").replace("/", "-").split("-")
    kinds = [[_kind(letter) for letter in piece if letter.isalnum()] for piece in pieces]
    if len({kind for piece in kinds for kind in piece}) < 3:
        return False
    # Capitalized words joined by dashes must not count as mixed.
    switches = sum(number != other for piece in kinds for number, other in pairwise(piece[1:]))
    return switches >= 0.42 * (len(core) - 2 * len(pieces)) and entropy(core) >= 4.0


def _is_address(core: str) -> bool:
    """Return whether a value is public by nature: a Bitcoin, IPFS or Solana address, or a captcha's site key."""
    if core.startswith("6L") and len(core) == 40 and core[8:13] == "AAAAA":
        return True
    if not core.isalnum():
        return False
    if len(core) in (43, 44) and _NOT_BASE58.isdisjoint(core):
        return True
    return (core[0] in "13" and len(core) <= 35) or (core.startswith("Qm") and len(core) == 46)


def _is_text(run: str) -> bool:
    """Return whether a value is base64 of plain words, as in logs and mails."""
    try:
        plain = binascii.a2b_base64(run + "=" * (-len(run) % 4), strict_mode=True).decode()
    except ValueError:
        return False
    return plain.isprintable() and plain.count(" ") * 12 >= len(plain)


def password_of_login(value: str) -> str:
    """Return the password of a name and a password in base64, and "" for any other value."""
    try:
        plain = binascii.a2b_base64(value + "=" * (-len(value) % 4), strict_mode=True).decode("ascii")
    except ValueError:
        return ""
    name, _, password = plain.partition(":")
    return password if name and plain.isprintable() else ""


def _kind(letter: str) -> int:
    return 0 if letter.isdigit() else 1 if letter.isupper() else 2


def entropy(text: str) -> float:
    """Return the Shannon entropy of the text, in bits per character."""
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in (text.count(letter) for letter in set(text)))
