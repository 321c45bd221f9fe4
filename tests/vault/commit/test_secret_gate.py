"""The credential check of all changes: new credentials are refused, existing ones block nothing."""

from __future__ import annotations

import json
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.secret_texts import credentials, harmless
from clawmem.errors import SecretFound
from clawmem.heartbeat.loop import run_heartbeat
from clawmem.memory.entities.entities import archive_entity
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, merge, retract, supersede
from clawmem.memory.history.undo import undo
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Author, Change
from clawmem.model.settings.settings import Settings, settings_from_mapping
from clawmem.vault.commit.secret_gate import _added, screened
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import ReadSet

SECRET = next(
    credential.secret for credential in credentials() if credential.kind == "github token" and credential.secret
)
JANE = "areas/people/jane"
ITEMS = f"life/{JANE}/items.json"
PLAIN = settings_from_mapping({})
MASKING = settings_from_mapping({"secrets": {"action": "redact"}})


def _draft(caller: Caller, fact: str) -> Draft:
    return draft_from_record({"fact": fact, "entity": JANE}, caller.now)


@pytest.fixture
def tainted(vault: Vault, caller: Caller, environment: dict[str, str]) -> list[str]:
    """Two facts that hold a credential, brought in with plain git, and a fact that holds none; their ids."""
    words = [f"Jane's token is {SECRET}", f"Jane's old token was {SECRET}", "Jane likes tea"]
    result = remember(vault, [_draft(caller, f"Jane's note {n}") for n in range(2)], caller)
    items = vault.root / ITEMS
    for number, fact in enumerate(words[:2]):
        items.write_text(items.read_text().replace(f"Jane's note {number}", fact))
    subprocess.run(["git", "commit", "-qam", "from elsewhere"], cwd=vault.root, env=environment, check=True)
    kept = [remembered_fact.fact.id for remembered_fact in result.facts]
    return [*kept, remember(vault, [_draft(caller, words[2])], caller).facts[0].fact.id]


def test_what_stands_already_stops_nobody(vault: Vault, caller: Caller, tainted: list[str]) -> None:
    first, second, third = tainted
    link(vault, first, "supports", third, caller, "both of Jane")
    merged = merge(vault, [second, third], _draft(caller, "Jane had a token and likes tea"), caller, "one")
    assert merged.outcome[0] == "merged"
    gone = retract(vault, first, caller, "not hers")
    undo(vault, gone.commit or "", caller)
    supersede(vault, first, _draft(caller, "Jane has no token"), caller)
    archive_entity(vault, JANE, caller)
    assert SECRET in (vault.read("life/archives/jane/items.json") or b"").decode()


@pytest.mark.usefixtures("without_vectors", "tainted")
def test_upkeep_is_not_stuck_by_it(vault: Vault, caller: Caller) -> None:
    result = run_heartbeat(vault, caller)
    assert not result.failed and result.commits
    assert run_heartbeat(vault, caller).commits == ()


def test_upkeep_still_looks_at_who_asks(vault: Vault, caller: Caller) -> None:
    change = Change("fold(facts): one", {"daily/x.md": b"x\n"}, (("Session", SECRET),))
    with transaction(vault, caller.now, "fold") as started, pytest.raises(SecretFound, match="The session"):
        started.commit([change])
    words = change._replace(writes={"daily/x.md": f"- {SECRET}\n".encode()}, trailers=())
    with transaction(vault, caller.now, "fold") as started, pytest.raises(SecretFound, match="daily/x"):
        started.commit([words], "note")
    with transaction(vault, caller.now, "note") as started:
        assert len(started.commit([words], "fold")) == 1


def test_more_of_a_kind_that_stands_already_is_new(vault: Vault, caller: Caller, tainted: list[str]) -> None:
    other = SECRET[:-4] + ("aB3d" if not SECRET.endswith("aB3d") else "C4e5")
    with pytest.raises(SecretFound, match="The field 'reason'"):
        retract(vault, tainted[0], caller, f"it is {other} now")


def _screened(change: Change, vault: Vault, settings: Settings = PLAIN) -> Change:
    seen = ReadSet(vault)
    seen.record_written(dict.fromkeys(change.writes))
    return screened([change], seen, settings, "note")[0]


def test_every_part_of_a_change_is_looked_at(vault: Vault) -> None:
    clean = Change("note(x): a", {"daily/x.md": b"a\n"})
    for change, where in (
        (clean._replace(subject=SECRET), "What the commit would say"),
        (clean._replace(body=SECRET), "What the commit would say"),
        (clean._replace(trailers=(("Source", SECRET),)), "The source"),
        (clean._replace(author=Author(SECRET, "a@b")), "The name of the agent"),
        (clean._replace(writes={f"life/projects/{SECRET}/items.json": b"[]\n"}), "The name"),
        (clean._replace(writes={"daily/x.md": SECRET.encode()}), "daily/x.md"),
        (clean._replace(writes={ITEMS: json.dumps([{"links": [{"reason": SECRET}]}]).encode()}), "The field 'reason'"),
        (clean._replace(writes={"life/x/summary.md": f'---\ntitle: "{SECRET}"\n'.encode()}), "The field 'title'"),
    ):
        with pytest.raises(SecretFound) as found:
            _screened(change, vault)
        assert (
            found.value.message.startswith(f"{where} contains what looks like a credential")
            and SECRET not in found.value.message
        )
    assert _screened(clean, vault) == clean


def test_a_masked_change_says_the_rest_and_no_beginning_of_it(vault: Vault) -> None:
    change = Change(
        f"note(x): it is {SECRET}, and {SECRET[:17]}…", {"daily/x.md": f"- it is {SECRET}.\n".encode()}, body=SECRET
    )
    masked = _screened(change, vault, MASKING)
    assert masked.writes == {"daily/x.md": b"- it is [redacted: github-token].\n"}
    assert (masked.subject, masked.body) == ("note(x): it is [redacted], and [redacted]…", "[redacted]")


def test_what_cannot_be_masked_is_refused(vault: Vault) -> None:
    bare = Change("config(x): y", {"clawmem.yaml": f"vault:\n  name: {SECRET}\n".encode()})
    with pytest.raises(SecretFound):
        _screened(bare, vault, MASKING)


def test_each_kind_is_stopped_in_a_page(vault: Vault) -> None:
    for credential in credentials(each=2, seed=4):
        with pytest.raises(SecretFound):
            _screened(Change("note(x): a", {"daily/x.md": credential.text.encode()}), vault)


def test_what_only_looks_so_passes_in_words_and_pages(vault: Vault) -> None:
    for text in harmless(each=4, seed=4):
        change = Change(f"note(x): {' '.join(text.text.split())}"[:150], {"daily/x.md": text.text.encode()}, body="b")
        assert _screened(change, vault) is change


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abcd"), max_size=8))
def test_added_lines_are_those_that_were_not_there(before: list[str], after: list[str]) -> None:
    old, new = ("\n".join(lines).encode() for lines in (before, after))
    assert {line for line in after if line not in before} <= set(_added(old, new).split("\n"))
    assert set(_added(old, new).split("\n")) <= {*after, ""}
