"""The secret gate on generated texts: nearly every credential is caught, and next to nothing harmless is stopped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.safety import ROOT, stopped
from benchmarks.secret_texts import CREDENTIALS, HARMLESS, credentials, harmless
from clawmem.errors import SecretFound
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.safety.secrets.find import redact
from clawmem.vault.vault import Vault
from tests.conftest import Command

SEEDS = range(1, 8)


def test_the_sets_are_as_large_as_they_claim() -> None:
    assert len(CREDENTIALS) >= 20 and len(list(credentials())) >= 100
    assert len(HARMLESS) >= 15 and len(list(harmless())) >= 300
    assert list(credentials()) == list(credentials())


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_caught_and_what_is_stopped_falsely(seed: int) -> None:
    missed, false = stopped(seed)
    assert len(missed) <= 0.02 * len(list(credentials())), missed
    assert len(false) <= 0.01 * len(list(harmless())), false


def test_nothing_of_a_credential_is_left_after_redaction() -> None:
    for credential in credentials(each=3, seed=5):
        assert credential.secret
        value = credential.secret.rpartition("=")[2] or credential.secret
        left = redact(credential.text)
        assert value[-12:] not in left or "address" in credential.kind, (credential.kind, left)


@pytest.mark.parametrize("kind", CREDENTIALS)
def test_no_kind_gets_into_a_vault(kind: str, vault: Vault, caller: Caller) -> None:
    text = next(each for each in credentials(each=2, seed=9) if each.kind == kind)
    with pytest.raises(SecretFound):
        remember(vault, [draft_from_record({"fact": " ".join(text.text.split())}, caller.now)], caller)


def test_a_transcript_keeps_out_credentials_alone(clawmem: Command, vault_root: Path) -> None:
    bad, good = list(credentials(each=1, seed=3)), list(harmless(each=2, seed=3))
    lines = [
        json.dumps({"role": "user", "content": text.text, "session": str(n)}) for n, text in enumerate([*bad, *good])
    ]
    result = clawmem("ingest", "-", "--json", given="\n".join(lines))
    assert len(result.data["skipped"]) == len(bad) and result.data["added"] == len(good)
    kept = "".join(path.read_text() for path in (vault_root / "ledger").glob("*.jsonl"))
    assert not [text.kind for text in bad if text.secret and text.secret in kept]


def test_no_credential_stands_in_the_repository_word_for_word() -> None:
    source = "".join(path.read_text() for path in (ROOT / "benchmarks").glob("*.py"))
    assert not [credential.kind for credential in credentials() if credential.secret and credential.secret in source]
