"""What an installed schedule lacks is named by `doctor` and `cron show`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmem.model.settings.schedule import interval_schedule
from clawmem.setup import cron
from clawmem.setup.cron import CRONTAB, SYSTEMD
from clawmem.setup.schedule_check import schedule_lacks
from clawmem.vault.vault import Vault
from tests.conftest import Command
from tests.setup.test_cron import CRONTAB as CRONTAB_PROGRAM
from tests.setup.test_cron import SYSTEMCTL

KEY = "MY_MODEL_KEY"


@pytest.fixture
def around(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """The environment with a `crontab` and a `systemctl`."""
    place = tmp_path / "bin"
    place.mkdir()
    for name, text in (("crontab", CRONTAB_PROGRAM), ("systemctl", SYSTEMCTL)):
        (place / name).write_text(text)
        (place / name).chmod(0o755)
    return {**environment, "PATH": f"{place}:{environment['PATH']}"}


def _table(around: dict[str, str]) -> Path:
    return Path(around["HOME"]) / "table"


CHANGES: dict[str, tuple[Callable[[str, str], str], str]] = {
    "program": (lambda line, root: line.replace("/python", "/no-python"), "is not there, or cannot be run."),
    "start": (lambda line, root: line.replace("'clawmem' 'heartbeat'", "'no_clawmem' 'heartbeat'"), "cannot start"),
    "vault": (lambda line, root: line.replace(root, "/elsewhere"), "of another vault, /elsewhere."),
    "git": (
        lambda line, root: line.replace("PATH='", "PATH='/nowhere' OLD='"),
        "git is not found on its PATH, /nowhere",
    ),
    "unreadable": (lambda line, root: line.replace("'clawmem' 'heartbeat'", "'clawmem"), "cannot be read."),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_line_that_lacks_something_is_named(
    what: str, vault: Vault, around: dict[str, str], clawmem: Command
) -> None:
    home = Path(around["HOME"])
    cron.install_crontab(vault, around, interval_schedule("30m"), dry_run=False)
    assert schedule_lacks(vault, around, home, CRONTAB) == ()
    change, sentence = CHANGES[what]
    table = _table(around)
    table.write_text(change(table.read_text(), str(vault.root)))
    lacks = schedule_lacks(vault, around, home, CRONTAB)
    assert any(lack.endswith(sentence) or sentence in lack for lack in lacks), lacks
    doctor = clawmem("doctor", "--json", env={"PATH": around["PATH"]})
    items = [problem for problem in doctor.data["problems"] if problem["check"] == "schedule"]
    assert [other["severity"] for other in items] == ["warning"] * len(lacks)
    assert sentence in clawmem("cron", "show", env={"PATH": around["PATH"]}).err


def test_a_key_that_the_entry_does_not_set_is_named(vault: Vault, around: dict[str, str], clawmem: Command) -> None:
    clawmem("config", "set", "llm.model", "openai/tested")
    clawmem("config", "set", "llm.api_key_env", KEY)
    vault = Vault(vault.root, vault.git.environment, vault.disk)
    home = Path(around["HOME"])
    cron.install_crontab(vault, around, interval_schedule("30m"), dry_run=False)
    (lack,) = schedule_lacks(vault, around, home, CRONTAB)
    assert lack.startswith(f"it does not set {KEY}, which holds the key of llm")
    table, line = _table(around), _table(around).read_text()
    table.write_text(f"# mine\n{KEY} = 'a key'\n{line}")
    assert schedule_lacks(vault, around, home, CRONTAB) == ()
    table.write_text(line.replace("PATH=", f"{KEY}=key PATH="))
    assert schedule_lacks(vault, around, home, CRONTAB) == ()
    cron.install_systemd(vault, around, home, interval_schedule("2h"), dry_run=False)
    assert len(schedule_lacks(vault, around, home, SYSTEMD)) == 1
    service = home / ".config/systemd/user" / f"{cron.unit_name(vault)}.service"
    service.write_text(service.read_text().replace("[Service]\n", f'[Service]\nEnvironment="{KEY}=key"\n'))
    assert schedule_lacks(vault, around, home, SYSTEMD) == ()


def test_a_key_in_a_drop_in_or_a_file_of_variables_is_found(
    vault: Vault, around: dict[str, str], clawmem: Command, tmp_path: Path
) -> None:
    clawmem("config", "set", "llm.model", "openai/tested")
    clawmem("config", "set", "llm.api_key_env", KEY)
    vault = Vault(vault.root, vault.git.environment, vault.disk)
    home = Path(around["HOME"])
    cron.install_systemd(vault, around, home, interval_schedule("2h"), dry_run=False)
    folder = home / ".config/systemd/user" / f"{cron.unit_name(vault)}.service.d"
    folder.mkdir()
    keys = tmp_path / "keys.env"
    keys.write_text(f"# secrets\n{KEY}=key\n")
    for text, number in (
        (f"[Service]\nEnvironment={KEY}=key\n", 0),
        (f"[Service]\nEnvironmentFile={keys}\n", 0),
        (f"[Service]\nEnvironmentFile={keys}\nEnvironmentFile=\n", 1),
        # What cannot be read from here may hold the key.
        ("[Service]\nEnvironmentFile=-/run/no-such-file\n", 0),
        ("[Service]\nNice=5\n", 1),
    ):
        (folder / "override.conf").write_text(text)
        assert len(schedule_lacks(vault, around, home, SYSTEMD)) == number, text


def test_a_program_of_a_model_that_the_entry_does_not_find_is_named(
    vault: Vault, around: dict[str, str], clawmem: Command
) -> None:
    clawmem("config", "set", "llm.preset", "claude")
    vault = Vault(vault.root, vault.git.environment, vault.disk)
    cron.install_crontab(vault, around, interval_schedule("30m"), dry_run=False)
    (lack,) = schedule_lacks(vault, around, Path(around["HOME"]), CRONTAB)
    assert lack.startswith("the program claude, which calls the model, is not found on its PATH, ")
    program = Path(around["PATH"].partition(":")[0]) / "claude"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert len(schedule_lacks(vault, around, Path(around["HOME"]), CRONTAB)) == 1, "the entry is as it was"
    cron.install_crontab(vault, around, interval_schedule("30m"), dry_run=False)
    assert schedule_lacks(vault, around, Path(around["HOME"]), CRONTAB) == ()


def test_a_line_for_a_vault_that_was_moved_is_named(vault: Vault, around: dict[str, str], clawmem: Command) -> None:
    cron.install_crontab(vault, around, interval_schedule("30m"), dry_run=False)
    moved = vault.root.with_name("elsewhere")
    vault.root.rename(moved)
    doctor = clawmem("doctor", "--json", cwd=moved, env={"PATH": around["PATH"], "CLAWMEM_VAULT": str(moved)})
    (message,) = [problem["message"] for problem in doctor.data["problems"] if problem["check"] == "schedule"]
    assert message.startswith(f"The crontab has a heartbeat for {vault.root}, where no vault is any more.")


def test_without_an_entry_nothing_is_missing(vault: Vault, around: dict[str, str]) -> None:
    home = Path(around["HOME"])
    assert [schedule_lacks(vault, around, home, by) for by in (CRONTAB, SYSTEMD)] == [(), ()]
    assert shutil.which("crontab", path=around["PATH"])
