"""The vault's files are kept byte for byte: what a person's git attributes would convert, is not converted."""

from __future__ import annotations

from pathlib import Path

from clawmem.vault.git.refs import common_dir_of
from clawmem.vault.vault import Vault

# In `info/attributes` these win over every .gitattributes. Without them git would compare converted bytes with
# the bytes that clawmem committed, and find the same files changed for ever.
_KINDS = ("*.md", "*.json", "*.jsonl", "*.yaml")
_ATTRIBUTES = "".join(f"{kind} -text -filter -ident -working-tree-encoding\n" for kind in _KINDS)


def install_attributes(vault: Vault) -> None:
    """Tell git to convert nothing in the files that clawmem owns, and how to merge them, once; rules that a person
    wrote there are left alone."""
    path = _rules(vault)
    if vault.disk.read(path) is None:
        from clawmem.vault.git.driver import install_driver  # a clone that clawmem meets for the first time

        install_driver(vault)
        vault.disk.replace(path, _ATTRIBUTES.encode(), vault.state)


def has_attributes(vault: Vault) -> bool:
    """Whether git has been told, or a person has written rules of their own."""
    return _rules(vault).exists()


def _rules(vault: Vault) -> Path:
    return common_dir_of(vault.git_dir) / "info" / "attributes"
