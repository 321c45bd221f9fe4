"""Single files of the work tree: what is written, what stays because somebody edited it, and what is too large."""

from __future__ import annotations

from clawmem.model.records.strict_json import YAML_BYTES, UnreadFile
from clawmem.vault.disk import PARTIAL_PREFIX
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import update_file, write_file
from tests.faults.checks import git

PATH = "projects/boat/plan.yaml"


def test_a_file_that_somebody_edited_stays(vault: Vault) -> None:
    assert update_file(vault, PATH, None, b"a: 1\n")
    assert not update_file(vault, PATH, b"a: 0\n", b"a: 2\n")
    assert vault.read(PATH) == b"a: 1\n"
    assert update_file(vault, PATH, b"a: 0\n", b"a: 1\n"), "it has these contents already"
    assert update_file(vault, PATH, b"a: 1\n", None)
    assert not vault.path(PATH).parent.exists()


def test_a_file_too_large_to_read_is_written_by_git(vault: Vault, environment: dict[str, str]) -> None:
    data = b"# long\n" * (YAML_BYTES // 4)
    source = vault.root.parent / "source.yaml"
    source.write_bytes(data)
    blob = git(vault.root, environment, "hash-object", "-w", str(source)).strip()
    write_file(vault, PATH, UnreadFile.of(blob, len(data), YAML_BYTES))
    assert vault.path(PATH).read_bytes() == data
    assert not [path for path in vault.state.iterdir() if path.name.startswith(PARTIAL_PREFIX)]
