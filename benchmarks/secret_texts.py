"""Texts with made-up credentials of many kinds, and texts that only look so, put together anew from a seed.

Nothing here is a credential and none stands in the repository: the parts meet at run time, so that scanners stay quiet.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
import uuid
from collections.abc import Callable, Iterator
from typing import NamedTuple

MIXED = string.ascii_letters + string.digits
SAFE = MIXED + "-_"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
B32 = string.ascii_uppercase + "234567"


class Text(NamedTuple):
    """A text, its kind, and the credential in it (None where there is none)."""

    kind: str
    text: str
    secret: str | None = None


class Dice:
    """Chance that is the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def some(self, count: int, letters: str = MIXED) -> str:
        return "".join(self.chance.choice(letters) for _ in range(count))

    def bytes(self, count: int) -> str:
        return base64.b64encode(self.chance.randbytes(count)).decode()

    def one(self, *choices: str) -> str:
        return self.chance.choice(choices)

    def number(self, count: int) -> str:
        return self.one(*"123456789") + self.some(count - 1, string.digits)


def _jwt(dice: Dice) -> str:
    def part(record: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(record).encode()).decode().rstrip("=")

    head, body = {"alg": dice.one("HS256", "RS256", "ES256"), "typ": "JWT"}, {"sub": dice.number(6), "exp": 1893456000}
    return ".".join((part(dict(head)), part(dict(body)), dice.some(43, SAFE)))


def _pem(dice: Dice) -> str:
    kind = dice.one("", "RSA ", "EC ", "OPENSSH ")
    rows = [dice.bytes(48) for _ in range(5)]
    return "\n".join([f"-----BEGIN {kind}PRIVATE KEY-----", *rows, f"-----END {kind}PRIVATE KEY-----"])


def _password(dice: Dice) -> str:
    word = dice.one("Sommer", "tiger", "Blau", "moon", "Kaffee", "river")
    return f"{word}{dice.number(3)}{dice.one(*'!?*+#')}{dice.some(4)}"


CREDENTIALS: dict[str, Callable[[Dice], str]] = {
    "aws access key": lambda d: d.one("AK", "AS") + "IA" + d.some(16, B32),
    "github token": lambda d: "gh" + d.one("p", "o", "s", "u") + "_" + d.some(36),
    "github fine-grained": lambda d: "github" + "_pat_" + d.some(22) + "_" + d.some(59),
    "gitlab token": lambda d: "gl" + "pat-" + d.some(20, SAFE),
    "slack token": lambda d: "xo" + d.one("xb", "xp") + f"-{d.number(12)}-{d.number(12)}-{d.some(24)}",
    "slack webhook": lambda d: (
        "https://hooks.slack" + f".com/services/T{d.some(8, UPPER)}/B{d.some(9, UPPER)}/{d.some(24)}"
    ),
    "stripe key": lambda d: d.one("s", "r") + "k_" + d.one("live", "test") + "_" + d.some(24),
    "google api key": lambda d: "AI" + "za" + d.some(35, SAFE),
    "google oauth": lambda d: "GOC" + "SPX-" + d.some(28, SAFE),
    "openai key": lambda d: "sk-" + "proj-" + d.some(20) + "T3" + d.some(58, SAFE),
    "anthropic key": lambda d: "sk-" + "ant-api03-" + d.some(93, SAFE) + "AA",
    "npm token": lambda d: "np" + "m_" + d.some(36),
    "pypi token": lambda d: "py" + "pi-AgEIcHlwaS5vcmc" + d.some(120, SAFE),
    "sendgrid key": lambda d: "S" + "G." + d.some(22, SAFE) + "." + d.some(43, SAFE),
    "twilio key": lambda d: "S" + "K" + d.some(32, HEX),
    "telegram bot token": lambda d: d.number(10) + ":" + "AA" + d.some(33, SAFE),
    "hugging face token": lambda d: "h" + "f_" + d.some(17) + "7" + d.some(16),
    "docker token": lambda d: "dckr" + "_pat_" + d.some(27, SAFE),
    "digitalocean token": lambda d: "do" + "p_v1_" + d.some(64, HEX),
    "azure storage key": lambda d: "AccountKey" + "=" + d.bytes(64),
    "shopify token": lambda d: "shp" + "at_" + d.some(32, HEX),
    "vault token": lambda d: "hv" + "s." + d.some(24) + d.some(70, SAFE),
    "json web token": _jwt,
    "private key": _pem,
    "password": lambda d: (
        f"{d.one('password', 'Passwort', 'DB_PASSWORD', 'passphrase')}{d.one(': ', '=', ' is ')}" + _password(d)
    ),
    "password in an address": lambda d: (
        f"{d.one('postgres', 'mysql', 'https', 'redis')}://jane:" + d.some(14) + "@db.acme.test/app"
    ),
    "assigned key": lambda d: (
        d.one("api_key", "API_KEY", "client_secret", "secretKey", "access_token") + d.one('="', ": '", "=") + d.some(32)
    ),
    "bare random key": lambda d: d.some(20) + "9aZ" + d.some(20),
}
_CARRIERS = (
    "{}",
    "The key is {}",
    "Use {} for the deploy.",
    "TOKEN={}",
    '{{"token": "{}"}}',
    "- value: {}",
    "curl -H 'Authorization: Bearer {}' https://api.acme.test/v1",
    "Jane sent me this: {} (works until May)",
)
_OWN_CARRIER = frozenset(("private key", "password", "password in an address", "assigned key", "slack webhook"))


def credentials(each: int = 6, seed: int = 20261122) -> Iterator[Text]:
    """`each` texts of every kind of credential, each in another surrounding."""
    dice = Dice(seed)
    for kind, make in CREDENTIALS.items():
        for number in range(each):
            secret = make(dice)
            carrier = _CARRIERS[1 + number % 2] if kind in _OWN_CARRIER else _CARRIERS[number % len(_CARRIERS)]
            yield Text(kind, carrier.format(secret), secret)


def _digest(dice: Dice, name: str) -> str:
    return hashlib.new(name, dice.chance.randbytes(16)).hexdigest()


def _image(dice: Dice) -> str:
    heads = {"png": "iVBORw0KGgoAAAANSUhEUg", "jpeg": "/9j/4AAQSkZJRgABAQ", "gif": "R0lGODlhAQABAIAAA"}
    kind = dice.one(*heads)
    return f"![logo](data:image/{kind};base64,{heads[kind]}{dice.bytes(90)})"


def _public_key(dice: Dice) -> str:
    kind = dice.one("ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256")
    head = {"ssh-ed25519": "AAAAC3NzaC1lZDI1NTE5AAAAI", "ssh-rsa": "AAAAB3NzaC1yc2EAAAADAQABAAABAQ"}
    return f"{kind} {head.get(kind, 'AAAAE2VjZHNhLXNoYTItbmlzdHAyNTY')}{dice.bytes(60)} jane@laptop"


HARMLESS: dict[str, Callable[[Dice], str]] = {
    "git commit": lambda d: (
        f"{d.one('Fixed in', 'See commit', 'Reverts', 'commit')} {_digest(d, 'sha1')}{d.one('.', '', ' on main.')}"
    ),
    "short commit": lambda d: f"The bug came with {_digest(d, 'sha1')[: 7 + d.chance.randrange(6)]}.",
    "file hash": lambda d: f"{d.one('sha256', 'SHA-256', 'md5', 'checksum')}: {_digest(d, d.one('sha256', 'md5'))}",
    "image digest": lambda d: f"ghcr.io/acme/app@sha256:{_digest(d, 'sha256')}",
    "uuid": lambda d: (
        f"{d.one('The request id is', 'trace', 'Device', 'id =')} {uuid.UUID(bytes=d.chance.randbytes(16), version=4)}"
    ),
    "fact or event id": lambda d: f"{d.one('fact', 'evt', 'event', 'prop')}_{d.some(16, HEX)} was superseded.",
    "lockfile": lambda d: f'"integrity": "sha512-{d.bytes(64)}"',
    "go sum": lambda d: f"github.com/acme/lib v1.{d.number(2)}.0 h1:{d.bytes(32)}",
    "base64 image": _image,
    "public key": _public_key,
    "certificate": lambda d: (
        "-----BEGIN CERTIFICATE-----\n" + "\n".join(d.bytes(48) for _ in range(4)) + "\n-----END CERTIFICATE-----"
    ),
    "example key": lambda d: (
        d.one(
            "AK" + "IAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
            "sk_" + "test_your_key_here",
            "gh" + "p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "api_key=YOUR_API_KEY",
            "token: <your-token>",
            "password=changeme",
            'password: "${DB_PASSWORD}"',
            "API_KEY={{ api_key }}",
            "secret = os.environ['APP_SECRET']",
            "Bearer $TOKEN",
        )
        + d.one("", " is only an example.", " # replace it")
    ),
    "test key in prose": lambda d: (
        d.one(
            "The password was changed on Monday.",
            "The token expires in 30 minutes.",
            "The secret of the sauce is butter.",
            "Her API key is stored in the keychain.",
            "The key to the flat is under the pot.",
            "Jane forgot her password again.",
            "Reset tokens are valid for a day.",
            "The master key opens all 12 doors.",
            "passwords must have 12 characters",
            "The access token is refreshed every hour.",
            "Two-factor codes are sent by SMS.",
            "The secret santa is on 12/12.",
        )
        + f" ({d.number(3)})"
    ),
    "phone number": lambda d: (
        f"Call +{d.number(2)} {d.number(3)} {d.number(7)} or {d.number(3)}-{d.number(3)}-{d.number(4)}."
    ),
    "account number": lambda d: f"{d.one('Order', 'Invoice', 'IBAN DE', 'Ticket', 'Parcel')} {d.number(20)}",
    "address of a page": lambda d: (
        f"https://docs.acme.test/{d.some(8).lower()}/{d.some(22, SAFE)}?page={d.number(2)}&ref={d.some(11)}"
    ),
    "shared document": lambda d: "https://docs.google.com/document/d/" + d.some(44, SAFE) + "/edit",
    "long name": lambda d: (
        d.one(
            "test_that_the_importer_keeps_every_",
            "AbstractFactoryBuilderSingletonFor",
            "handle-incoming-request-of-user-",
        )
        + d.one("customer_record_in_order", "CustomerRecordsAndOrders", "profile-settings-page")
        + d.number(2)
    ),
    "file path": lambda d: (
        f"/srv/data/{d.some(6).lower()}/releases/2026-11-{d.number(2)}/build-{d.number(5)}/output/report-final.pdf"
    ),
    "time and version": lambda d: (
        f"v{d.number(1)}.{d.number(2)}.{d.number(2)}-rc.{d.number(1)}+build.2026112{d.number(1)}T{d.number(6)}Z"
    ),
    "content address": lambda d: f"ipfs://Qm{d.some(44, '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz')}",
    "etag": lambda d: f'ETag: "{d.some(32, HEX)}-{d.number(1)}"',
    "mac and ip": lambda d: (
        f"{':'.join(d.some(2, HEX) for _ in range(6))} got 10.{d.number(2)}.{d.number(2)}.{d.number(2)}, "
        f"fe80::{d.some(4, HEX)}:{d.some(4, HEX)}"
    ),
    "colour and css": lambda d: (
        f"background: #{d.some(6, HEX)}; color: #{d.some(8, HEX)}; --primary-token-color: #{d.some(6, HEX)};"
    ),
    "session name": lambda d: (
        f"session 2026-11-{d.number(2)}-{d.one('planning', 'retro')}-{d.some(8, HEX)} was archived"
    ),
}


def harmless(each: int = 14, seed: int = 20261123) -> Iterator[Text]:
    """`each` texts of every kind that only looks like a credential."""
    dice = Dice(seed)
    for kind, make in HARMLESS.items():
        for _ in range(each):
            yield Text(kind, make(dice))
