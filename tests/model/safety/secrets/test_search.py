"""Which rule finds what in each sample, and in what forms, as `found.txt` lists it: the rule and the place.

After a change that is meant to alter it, run this file with `CLAWMEM_UPDATE_TRANSCRIPTS=1` and read the difference.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from clawmem.model.safety.secrets.find import find_known_secret, find_secret, find_secrets
from tests.model.safety.secrets.test_find import HARMLESS, POSITIVES
from tests.model.safety.secrets.test_places import GIVEN
from tests.model.safety.secrets.test_words import TOLD

TABLE = Path(__file__).with_name("found.txt")
UPDATE = "CLAWMEM_UPDATE_TRANSCRIPTS" in os.environ  # tests run without the variable


def places(text: str, unnamed: bool = True) -> str:
    return " ".join(f"{match.rule} {match.start}-{match.end}" for match in find_secrets(text, unnamed))


def rows() -> Iterator[str]:
    samples = [(rule, text) for rule, text in POSITIVES]
    samples += [(f"places {number}", text) for number, (text, _) in enumerate(GIVEN)]
    samples += [(f"words {text[:24]!r}", text) for text, _ in TOLD]
    for name, text in samples:
        forms = {
            "": text,
            "in JSON": json.dumps({"fact": text}),
            "after another line": f"x = 1\n{text}\ny = 2",
            "in the middle": f"Since May it is so: {text}, and nobody else knows.",
        }
        found = {form: places(whole) for form, whole in forms.items()}
        found["only known shapes"] = places(text, unnamed=False)
        known = find_known_secret(text)
        found["known"] = known.rule if known else ""
        yield f"{name}: " + " | ".join(f"{form}: {place}".lstrip(": ") for form, place in found.items())


def test_the_rule_and_the_place_of_each_sample() -> None:
    found = list(rows())
    if UPDATE:
        TABLE.write_text("\n".join(found) + "\n")
    assert TABLE.read_text().splitlines() == found


HEX32, HEX40, MIXED = (
    "5b0e6a7f1c2d3948a6b7c8d9e0f1a2b3",
    "9fceb02d0ae598e95dc970b74767f19372d61af8",
    "a1B2c3D4e5F6g7H8i9J0k1L2",
)
UUID = "550e8400-e29b-41d4-a716-446655440000"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f"the token is {MIXED}", "assigned-token"),
        (f"my token for the door of the old shop by the sea is {MIXED}", "announced-token"),
        (f"the commit is {MIXED}", None),
        (f"the token id is {MIXED}", None),
        (f"{MIXED} is the token", "announced-token"),
        (f"{MIXED} is the commit", None),
        (f"{MIXED} is what I saw. The token is gone", None),
        (f"The token is gone. I saw {MIXED}", None),
        (f"secret {HEX32}", "announced-token"),
        (f"{HEX32} (auth token)", "announced-token"),
        (f"{HEX32} (the token)", None),
        ("gpg key 0x7A31C0DE55E1B2F4", None),
        ("SMTPPASS=Kirschkern.40", "password"),
        ("bypass=true-for-all", None),
        ('$settings["host"]["password"] = "KirschkernTal";', "password"),
        (f"app_secret {HEX32}", "announced-token"),
        (f"hash of the secret {HEX32}", None),
        (f"commit_id 1, app_secret {HEX32}", "announced-token"),
        (f"the commit {HEX40} has no secret", None),
        (f"{HEX40} is the secret", None),
        (f"the API key {UUID}", "announced-token"),
        (f"the key {UUID}", None),
        (f"{UUID} is the token", None),
        (f"ACME_API_KEY={UUID}", "assigned-key"),
        (f"IDEMPOTENCY_KEY={UUID}", None),
        (f"X-Acme-Token: {UUID}", "assigned-token"),
        (f"X-Request-Token: {UUID}", None),
        (f"https://acme.test/token/{MIXED}", None),
        (f"to the token {MIXED}@acme.test", None),
        (f"next page token: {MIXED}", None),
        (f"api token, or next page token: {MIXED}", None),
        ("api_key=a1B2c3D4e5F6", "assigned-key"),
        ("api_key=a1B2c3D4e5F", None),
        (f"publishable key: {MIXED}", None),
        ("the key is 3107qqwe5520rtzu8841", "announced-token"),
        ("the key of the map is 3107qqwe5520rtzu8841", None),
        ("the key is 3107qqwertzu8841", None),
        ("the key is users42settings2024plan", None),
        (f"acme_live_{MIXED}{HEX32[:12]}", "prefixed-token"),
        (f"acme_snapshot_{HEX40}", None),
        (f"-----BEGIN CERTIFICATE-----\nMIIB token of {MIXED}\n-----END CERTIFICATE-----", None),
    ],
)
def test_what_a_noun_says_of_a_random_word(text: str, rule: str | None) -> None:
    found = find_secret(text)
    assert (found.rule if found else None) == rule


def test_what_is_harmless_is_so_in_every_form() -> None:
    for text in HARMLESS:
        assert (find_secrets(text), find_known_secret(text)) == ((), None)
    bare = "aQ7zR2kX9mT4vB8nL1pS6wY3cF5hJ0dGuE2rK7tM"
    assert find_secrets(bare, unnamed=False) == () != find_secrets(bare)
