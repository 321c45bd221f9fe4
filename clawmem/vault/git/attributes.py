"""Git attributes that keep vault files byte for byte: no conversion that the user's attributes ask for is applied."""

from __future__ import annotations

from pathlib import Path

from clawmem.vault.git.refs import common_dir_of
from clawmem.vault.vault import Vault

# `info/attributes` takes precedence over every .gitattributes. Without it git would compare converted bytes with the
# bytes that clawmem committed, and report the same files as changed forever.
_KINDS = ("*.md", "*.json", "*.jsonl", "*.yaml")
_ATTRIBUTES = "".join(f"{kind} !diff -text -filter -ident -working-tree-encoding\n" for kind in _KINDS)


def install_attributes(vault: Vault) -> None:
    """Write the attributes and the merge driver configuration, once. An existing attributes file is not changed."""
    path = _attributes_path(vault)
    if vault.disk.read(path) is None:
        from clawmem.vault.git.driver import install_driver  # only in a new clone

        install_driver(vault)
        vault.disk.replace(path, _ATTRIBUTES.encode(), vault.state)


def has_attributes(vault: Vault) -> bool:
    """Return whether the attributes file exists, written by clawmem or by the user."""
    return _attributes_path(vault).exists()


def _attributes_path(vault: Vault) -> Path:
    return common_dir_of(vault.git_dir) / "info" / "attributes"
