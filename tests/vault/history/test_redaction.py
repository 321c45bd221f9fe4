"""A redaction that stops in each of its phases is finished or dropped by the next command."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from clawmem.model.facts.fact import REDACTED
from clawmem.model.history.redaction import redacted
from clawmem.model.safety.written_forms import compile_needles, contains
from clawmem.vault.history import redaction
from clawmem.vault.vault import Vault
from tests.conftest import Command

SECRET = "silent-heron-plumtree"


def statements(clawmem: Command) -> list[str]:
    return sorted(fact["fact"] for fact in clawmem("list", "--json").data["facts"])


def fill(clawmem: Command) -> None:
    for number in range(12):
        text = f"Door {number} opens with {SECRET}." if number % 3 == 0 else f"Door {number} is red."
        clawmem("remember", text, "-e", "areas/house", env={"CLAWMEM_SEED": str(number)})


def left(vault: Path, environment: Mapping[str, str]) -> list[str]:
    return redaction.find_remains(Vault(vault, environment), lambda data: SECRET.encode() in data)


@pytest.mark.usefixtures("own_processes")
@pytest.mark.parametrize("phase", ["rewriting", "switching"])
def test_each_phase_is_finished_or_dropped(
    phase: str, clawmem: Command, vault_root: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import UTC, datetime

    from clawmem.memory.facts import redact as act
    from clawmem.model.records.caller import Caller

    fill(clawmem)
    old = statements(clawmem)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(redaction, "switch_refs" if phase == "rewriting" else "_move", stop)
    caller = Caller(datetime(2026, 11, 22, tzinfo=UTC), os.urandom)
    with pytest.raises(KeyboardInterrupt):
        act.redact(Vault(vault_root, environment), act.RedactTarget(pattern=SECRET), caller)
    assert (vault_root / ".git/clawmem/redacting.json").exists()
    result = clawmem("remember", "The next command.", "-e", "areas/other")
    assert result.code == 0 and "redaction" in result.err
    if phase == "rewriting":
        assert statements(clawmem) == sorted([*old, "The next command."])
    else:
        assert statements(clawmem) == sorted([*(text.replace(SECRET, REDACTED) for text in old), "The next command."])
        assert left(vault_root, environment) == []
    assert clawmem("doctor").code == 0


@pytest.mark.parametrize("note", ['{"phase": "rewriting"}', None], ids=["killed redaction", "killed sync"])
def test_locks_of_killed_gits_do_not_stand_in_the_way(
    note: str | None, clawmem: Command, vault_root: Path, environment: dict[str, str]
) -> None:
    fill(clawmem)
    ref = "clawmem/redacting/heads/main" if note else "remotes/origin/main"
    lock = vault_root / ".git/refs" / f"{ref}.lock"
    lock.parent.mkdir(parents=True)
    lock.write_bytes(b"")
    if note:
        (vault_root / ".git/clawmem/redacting.json").write_text(note)
    result = clawmem("redact", "--pattern", SECRET, "--yes")
    assert result.code == 0 and "removed main.lock, left behind by a git process that was killed" in result.err
    assert left(vault_root, environment) == []


def test_a_lock_among_the_reflogs_does_not_stand_in_the_way(
    clawmem: Command, vault_root: Path, environment: dict[str, str]
) -> None:
    fill(clawmem)
    (vault_root / ".git/logs/refs/heads/main.lock").write_bytes(b"")
    assert clawmem("redact", "--pattern", SECRET, "--yes").code == 0
    assert left(vault_root, environment) == []


def test_every_form_is_found_and_nothing_else() -> None:
    text = 'say "hé"\nand\\or'
    wanted = compile_needles((text,))
    for form in (text, " ".join(text.split()), text.casefold(), '\\"h\\u00e9\\"', 'say \\"hé\\"\\nand\\\\or'):
        assert contains(form.encode(), wanted) is (form != '\\"h\\u00e9\\"')
        assert redacted(b"<" + form.encode() + b">", wanted) in (b"<[redacted]>", b"<" + form.encode() + b">")
    assert redacted("the silent-her… end".encode(), compile_needles((SECRET,))) == "the [redacted]… end".encode()
    assert redacted(b"the silent-her end", compile_needles((SECRET,))) == b"the silent-her end"


def test_a_file_that_goes_while_it_is_looked_through_is_no_remainder(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Readers need no lock, and make files that pass: a cache that is half written, SQLite's own journals."""
    passing = vault.state / "half-passing"
    passing.write_text(SECRET)
    is_file = Path.is_file

    def gone_after(path: Path) -> bool:
        there = is_file(path)
        passing.unlink(missing_ok=True)
        return there or path == passing

    monkeypatch.setattr(Path, "is_file", gone_after)
    assert left(vault.root, vault.git.environment) == []
