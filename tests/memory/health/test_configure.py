"""Settings are read, listed and changed; a change is one commit that touches one line."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from clawmem.errors import InvalidInput, NotFound, SecretFound, Unreadable
from clawmem.memory.health.configure import all_settings, change_setting, setting
from clawmem.model.records.caller import Caller
from clawmem.model.settings.settings import LOCAL, SETTINGS
from clawmem.vault.vault import Vault


def git(vault: Vault, *arguments: str) -> str:
    """Plain git in the vault."""
    return subprocess.run(["git", *arguments], cwd=vault.root, capture_output=True, text=True, check=True).stdout


def again(vault: Vault) -> Vault:
    """The same vault as the next command sees it."""
    return Vault(vault.root, vault.git.environment)


def test_a_change_is_one_commit_of_one_line(vault: Vault, caller: Caller) -> None:
    change_setting(vault, caller, "agents.finance.write", "own, settings")
    vault = again(vault)
    before = (vault.root / "clawmem.yaml").read_text().split("\n")
    change = change_setting(vault, caller._replace(agent="finance"), "lock.wait_seconds", "60")
    assert (change.old, change.new, change.commit) == (10.0, 60.0, vault.head().commit)
    after = (vault.root / "clawmem.yaml").read_text().split("\n")
    assert [line for line in after if line not in before] == ["  wait_seconds: 60"]
    assert len(after) == len(before)
    assert git(vault, "log", "-1", "--format=%s|%an|%(trailers:key=Clawmem-Op,valueonly)").strip() == (
        "config(lock.wait_seconds): 10 -> 60|finance|config"
    )
    change_setting(vault, caller, "review.routes", "")
    change_setting(again(vault), caller, "review.routes", "* ada@example.org")
    subject = git(vault, "log", "-1", "--format=%s").strip()
    assert subject == "config(review.routes): (empty) -> '*' ada@example.org"
    assert git(vault, "status", "--porcelain") == ""
    assert setting(again(vault), "lock.wait_seconds").value == 60.0


def test_the_same_value_makes_no_commit(vault: Vault, caller: Caller) -> None:
    head = vault.head()
    assert change_setting(vault, caller, "defaults.limit", "10").commit is None
    assert vault.head() == head


def test_an_edit_of_the_same_length_counts(vault: Vault) -> None:
    path = vault.root / "clawmem.yaml"
    for limit in (20, 30):
        path.write_text(re.sub(r"\n  limit: \d\d\n", f"\n  limit: {limit}\n", path.read_text()))
        assert setting(again(vault), "defaults.limit").value == limit


def test_a_key_that_the_file_leaves_out_is_added_below_its_section(vault: Vault, caller: Caller) -> None:
    path = vault.root / "clawmem.yaml"
    path.write_text("# mine\nformat: 1\ndefaults:\n  entity: areas/home\n")
    assert setting(again(vault), "defaults.limit").origin == "default"
    change_setting(again(vault), caller, "defaults.limit", "5")
    assert path.read_text() == "# mine\nformat: 1\ndefaults:\n  entity: areas/home\n  limit: 5\n"
    assert setting(again(vault), "defaults.limit").origin == "vault"


def test_every_setting_can_be_set_and_reads_back(vault: Vault, caller: Caller) -> None:
    values = {"bool": "true", "entity": "projects/x", "text": "a: b", "words": "claude -p", "pairs": "a = b"}
    values |= {"optional": "openai/gpt-4o-mini", "variable": "MY_KEY", "address": "postgresql:///memory"}
    values |= {"routes": "kind:fact ada@example.org", "delegations": "kind:fact bot Ada"}
    for each in sorted(SETTINGS, key=lambda each: each.key == "git.sign"):  # nothing can be signed here
        value = each.choices[-1] if each.kind == "choice" else values.get(each.kind) or f"{each.high:.0f}"
        change = change_setting(again(vault), caller, each.key, value)
        assert setting(again(vault), each.key).value == change.new
        if each.key in LOCAL:
            assert (change.commit, change.file) == (None, ".git/clawmem/local.yaml")
        else:
            assert (change.commit is None) == (change.old == change.new)


def test_all_settings_say_value_and_origin(vault: Vault) -> None:
    found = all_settings(vault)
    assert [state.setting for state in found] == list(SETTINGS)
    assert {state.setting.key: state.value for state in found} == {setting.key: setting.default for setting in SETTINGS}


@pytest.mark.parametrize(
    ("key", "near"),
    [("lock.wait", "lock.wait_seconds"), ("defualts.limit", "defaults.limit"), ("limit", "defaults.limit")],
)
def test_an_unknown_key_names_those_that_come_near(key: str, near: str, vault: Vault, caller: Caller) -> None:
    for act in (lambda: setting(vault, key), lambda: change_setting(vault, caller, key, "1")):
        with pytest.raises(NotFound) as caught:
            act()
        assert "Did you mean" in caught.value.hint
        assert near in caught.value.hint


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("defaults.limit", "many"),
        ("defaults.limit", "0"),
        ("index.keyword", "lucene"),
        ("defaults.entity", "../../etc"),
        ("git.sign", "maybe"),
        ("vault.name", " "),
    ],
)
def test_a_value_that_does_not_fit_changes_nothing(key: str, value: str, vault: Vault, caller: Caller) -> None:
    head = vault.head()
    with pytest.raises(InvalidInput):
        change_setting(vault, caller, key, value)
    assert vault.head() == head


def test_settings_that_do_not_parse_are_not_edited(vault: Vault, caller: Caller) -> None:
    path: Path = vault.root / "clawmem.yaml"
    path.write_text("lock: [\n")
    with pytest.raises(Unreadable, match=r"clawmem\.yaml"):
        change_setting(again(vault), caller, "defaults.limit", "5")
    assert path.read_text() == "lock: [\n"


@pytest.mark.parametrize(
    ("hidden", "what"),
    [
        ("a\x1b[31m", "has the control character"),
        ("\u202e", "has the control character"),
        ("\udcff", "is not UTF-8 text"),
    ],
)
def test_a_value_hides_nothing(vault: Vault, caller: Caller, hidden: str, what: str) -> None:
    with pytest.raises(InvalidInput, match=rf"value of vault\.name {what}"):
        change_setting(vault, caller, "vault.name", hidden)


def test_a_value_that_is_a_credential_is_refused_or_masked(vault: Vault, caller: Caller) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with pytest.raises(SecretFound, match=r"value of vault\.name"):
        change_setting(vault, caller, "vault.name", token)
    change_setting(vault, caller, "secrets.action", "redact")
    masking = Vault(vault.root, vault.git.environment)
    assert change_setting(masking, caller, "vault.name", f"mine {token}").new == "mine [redacted: github-token]"
    assert Vault(vault.root, vault.git.environment).settings.words("vault.name") == "mine [redacted: github-token]"
